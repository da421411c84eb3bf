"""How many effective draws a second, beside the same model in PyMC with NUTS?

The paired model of one class against the rest (SIGIR 2016, section 3.1.2) in
its compact form: a binomial number of positive documents with a Beta(1, 1)
prior, and in either class a multinomial over the four outcome pairs with a
Dirichlet(1, 1, 1, 1) prior. PyMC samples it as it comes: 4 chains of 1,000
draws after 1,000 of tuning, which counts, on all cores.

PyMC is no part of the development environment. Where it cannot be imported,
the script makes a virtual environment of its own in ``build/bench-pymc``,
installs the package and the dependency group ``bench`` into it and runs itself
there, so that both sides share one process. That and compiling the model take
a few minutes, the first time only; what was compiled is kept in
``build/bench-pymc-compiled``.

    python bench/bench_pymc.py [--write]
"""

from __future__ import annotations

import importlib.util
import logging
import os
import statistics
import subprocess
import sys
import time
import venv
import warnings
from functools import partial
from typing import Any

import numpy as np
from measuring import Timing, seconds
from recording import ROOT, Row, report, wants_writing

HOME = ROOT / "build" / "bench-pymc"
COMPILED = ROOT / "build" / "bench-pymc-compiled"
DRAWS = 50_000
CHAINS = 4
ROUNDS = 2
CALLS = 15  # of compare, before each run of PyMC
MOST_ERRORS = 4.0  # two right answers are further apart once in 16,000 times


def run_where_pymc_is() -> int:
    """Run this script in an environment that has PyMC; make it if need be."""
    python = HOME / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not (HOME / "ready").exists():
        print(f"installing PyMC into {HOME.relative_to(ROOT)}, once", flush=True)
        venv.create(HOME, with_pip=True, clear=True)
        pip = [str(python), "-m", "pip", "install", "--quiet"]
        for wanted in (["--upgrade", "pip"], ["--editable", ".", "--group", "bench"]):
            done = subprocess.run([*pip, *wanted], cwd=ROOT, capture_output=True, text=True)
            if done.returncode:
                print(done.stderr, file=sys.stderr)
                return done.returncode
        (HOME / "ready").touch()
    return subprocess.run([str(python), __file__, *sys.argv[1:]], cwd=ROOT).returncode


def build_model(pm: Any, cells: np.ndarray) -> Any:
    """Return the paired model; ``cells[truth, 2 a + b]`` counts the documents."""
    totals = cells.sum(axis=1)
    with pm.Model() as model:
        prevalence = pm.Beta("prevalence", 1.0, 1.0)
        rows = pm.Dirichlet("rows", np.ones((2, 4)))
        pm.Binomial("positives", totals.sum(), prevalence, observed=totals[1])
        pm.Multinomial("cells", totals, rows, observed=cells)

        def f1(first: int, second: int) -> Any:
            hits = prevalence * (rows[1, first] + rows[1, second])
            spurious = (1.0 - prevalence) * (rows[0, first] + rows[0, second])
            return 2.0 * hits / (prevalence + hits + spurious)

        pm.Deterministic("difference", f1(2, 3) - f1(1, 3))
    return model


class Run:
    """One run of PyMC: its draws, and its seconds by what they were spent on."""

    def __init__(self, pm: Any, model: Any, **chosen: Any) -> None:
        start, spent = time.perf_counter(), processor_time()
        trace = pm.sample(
            model=model, progressbar=False, compute_convergence_checks=False, **chosen
        )
        self.whole = time.perf_counter() - start
        self.processor = processor_time() - spent
        self.sampling = float(trace.posterior.attrs["sampling_time"])
        self.draws = trace.posterior["difference"].values  # (chains, draws)
        self.divergent = int(trace.sample_stats["diverging"].sum())


def processor_time() -> float:
    """Return the processor seconds of this process and of its children that ended."""
    return sum(os.times()[:4])


def main(write: bool) -> int:
    os.environ["PYTENSOR_FLAGS"] = f"base_compiledir={COMPILED}"
    warnings.simplefilter("ignore")  # of ArviZ on its future and PyTensor on BLAS
    import arviz
    import pymc

    logging.getLogger("pymc").setLevel(logging.ERROR)
    return measure(pymc, arviz, write)


def measure(pm: Any, az: Any, write: bool) -> int:
    import outperform as op

    news = op.datasets.load_news20()
    label, a, b = news.target_names[8], news.predictions["nb_bern"], news.predictions["nb_mult"]
    ask = partial(
        op.compare, news.y_true, a, b, metric="f1", pos_label=label, rope=0.05, n_draws=DRAWS
    )
    truth, is_a, is_b = (values == label for values in (news.y_true, a, b))
    cells = np.bincount(4 * truth + 2 * is_a + is_b, minlength=8).reshape(2, 4)

    ask()
    warm = Run(pm, build_model(pm, cells), chains=1, draws=10, tune=10, random_seed=1)
    print(f"PyMC {pm.__version__}, warming up: compiled in {seconds(warm.whole - warm.sampling)}")
    ours, runs = Timing(), []
    for place in range(ROUNDS):
        for _ in range(CALLS):
            ours.run(ask)
        runs.append(Run(pm, build_model(pm, cells), chains=CHAINS, random_seed=2 + place))
    comparison = ask(random_state=1)
    rates = effective_rates(az, runs)
    show(az, runs, ours, comparison.draws, rates)
    right = agree(az, np.concatenate([run.draws for run in runs]), comparison.draws)
    report("pymc", rows_of(pm, DRAWS / ours.median, rates), write=write and right)
    return 0 if right else 1


def effective(az: Any, draws: np.ndarray) -> float:
    """Return ArviZ's bulk effective size of draws ``(chains, draws)``."""
    return float(az.ess(draws, method="bulk"))


def effective_rates(az: Any, runs: list[Run]) -> dict[str, float]:
    """Return effective draws a second, by what is counted as time; medians over the runs."""
    sizes = np.array([effective(az, run.draws) for run in runs])
    spent = {
        "sampling only": [run.sampling for run in runs],
        "whole call, compiled code cached": [run.whole for run in runs],
        "processor time of the whole call": [run.processor for run in runs],
    }
    return {name: float(np.median(sizes / np.array(took))) for name, took in spent.items()}


def show(
    az: Any, runs: list[Run], ours: Timing, draws: np.ndarray, rates: dict[str, float]
) -> None:
    for place, run in enumerate(runs, 1):
        print(
            f"PyMC, round {place}: sampling {seconds(run.sampling)}, whole call "
            f"{seconds(run.whole)}, processor {seconds(run.processor)}; effective draws "
            f"{effective(az, run.draws):,.0f} of {run.draws.size:,}, {run.divergent} divergences"
        )
    own = effective(az, draws.reshape(4, -1))
    print(f"compare: {ours}; effective draws, by the same measure, {own:,.0f} of {draws.size:,}")
    own_rates = dict.fromkeys(rates, DRAWS / ours.median)
    own_rates["processor time of the whole call"] = DRAWS / statistics.median(ours.processor)
    for name, rate in rates.items():
        own = own_rates[name]
        print(f"{name}: {own:,.0f} effective draws a second / {rate:,.0f} = {own / rate:,.0f}")


def agree(az: Any, theirs: np.ndarray, ours: np.ndarray) -> bool:
    """Print mean and sd of both sides; say whether they differ by more than chance."""
    gaps = []
    for name, (mine, error), (other, other_error) in zip(
        ("mean", "sd"), moments(az, ours[None]), moments(az, theirs), strict=True
    ):
        gaps.append((mine - other) / np.hypot(error, other_error))
        print(f"{name}: {mine:.6f} and {other:.6f}, {gaps[-1]:+.2f} joint Monte Carlo errors")
    return max(map(abs, gaps)) <= MOST_ERRORS


def moments(az: Any, draws: np.ndarray) -> list[tuple[float, float]]:
    """Return mean and sd of draws ``(chains, draws)``, each with its Monte Carlo error."""
    mean, sd = draws.mean(), draws.std(ddof=1)
    squares = (draws - mean) ** 2
    sizes = [float(az.ess(values, method="mean")) for values in (draws, squares)]
    # d sd = d variance / (2 sd)
    return [(mean, sd / sizes[0] ** 0.5), (sd, squares.std() / sizes[1] ** 0.5 / (2 * sd))]


def rows_of(pm: Any, own: float, rates: dict[str, float]) -> list[Row]:
    whats = {
        "sampling only": "effective draws a second of the first `compare` call",
        "whole call, compiled code cached": "the same",
    }
    return [
        Row(
            what,
            three_digits(own),
            f"PyMC {pm.__version__} NUTS, {name}",
            three_digits(rates[name]),
            three_digits(own / rates[name]),
            "at least 1,000" if name == "sampling only" else "",
        )
        for name, what in whats.items()
    ]


def three_digits(value: float) -> str:
    return f"{float(f'{value:.3g}'):,.0f}"


if __name__ == "__main__":
    if importlib.util.find_spec("pymc") is None:
        sys.exit(run_where_pymc_is())
    sys.exit(main(wants_writing(__doc__)))
