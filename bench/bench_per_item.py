"""What does a node for each item cost, beside the same posterior from counts?

The paired binary model of SIGIR 2016 in both forms: as the paper draws it, with a node
for each item, and compact, with a count for each outcome. They have the same density
in the same coordinates, so NUTS takes the same steps, and what differs is the cost of one
step: a gradient of the log density. It is timed at one point, the two forms in turns, on
category 8 of 20 Newsgroups and on its items repeated to a million. At 7,532 items
the chains are run too, 4 of 500 draws after 500.

    python bench/bench_per_item.py [--write]
"""

from __future__ import annotations

import sys
import time
import warnings
from typing import Any

import numpy as np
import pymc_home
from measuring import Timing, machine, seconds, three_digits
from recording import keep, markdown_table, wants_writing

import outperform as op
from outperform.posterior import pymc as chains

A, B = "nb_mult", "svm_l2"
CATEGORY = 8
MILLION = 1_000_000
ROUNDS = 9
SHORT = op.PyMC(draws=500, tune=500, progress=False)
HEAD = ("items", "what", "per item", "compact", "ratio")


def items(n: int | None) -> list[np.ndarray]:
    """Return truth and both predictions, 1 for the category; repeated to n items."""
    news = op.datasets.load_news20()
    label = news.target_names[CATEGORY]
    said = [news.y_true, news.predictions[A], news.predictions[B]]
    found = [(values == label).astype(np.int64) for values in said]
    return found if n is None else [np.resize(values, n) for values in found]


def both_forms(n: int | None) -> dict[str, Any]:
    rows = items(n)
    counts = np.zeros((2, 2, 2), dtype=np.int64)
    np.add.at(counts, tuple(rows), 1)
    return {"per item": chains.per_item_paired(*rows), "compact": chains.paired(counts)}


def gradients(models: dict[str, Any]) -> dict[str, Timing]:
    """Time a gradient of each model: as many calls a round as take about a tenth of a second."""
    calls = {name: gradient(model) for name, model in models.items()}
    times = {name: Timing() for name in calls}
    often = {name: repeats(call) for name, call in calls.items()}
    for _ in range(ROUNDS):
        for name, call in calls.items():
            start = time.perf_counter()
            for _ in range(often[name]):
                call()
            times[name].wall.append((time.perf_counter() - start) / often[name])
    return times


def gradient(model: Any) -> Any:
    """Return a function that evaluates log density and gradient where sampling begins."""
    from pymc.blocking import DictToArrayBijection

    point = model.initial_point()
    function = model.logp_dlogp_function(ravel_inputs=True)
    function.set_extra_values({})
    where = DictToArrayBijection.map(point)
    return lambda: function(where)


def repeats(call: Any) -> int:
    call()
    start = time.perf_counter()
    call()
    return max(1, int(0.1 / (time.perf_counter() - start)))


def walks(models: dict[str, Any]) -> dict[str, float]:
    """Return the seconds of sampling of each form; compiling is not counted."""
    found = {}
    for name, model in models.items():
        trace = chains.sample(model, SHORT, seed=np.random.SeedSequence(1), n_jobs=-1)
        found[name] = float(trace.posterior.attrs["sampling_time"])
    return found


def line(n: int, what: str, slow: float, fast: float) -> list[str]:
    return [f"{n:,}", what, seconds(slow), seconds(fast), three_digits(slow / fast)]


def main() -> int:
    write = wants_writing(__doc__)
    warnings.simplefilter("ignore")  # of ArviZ on its future and PyTensor on BLAS
    lines = []
    for n in (None, MILLION):
        models = both_forms(n)
        times = [timing.median for timing in gradients(models).values()]
        total = len(items(n)[0])
        lines.append(line(total, "one gradient", *times))
        print(lines[-1], flush=True)
        if n is None:
            lines.append(line(total, "4 chains of 500 draws after 500", *walks(models).values()))
            print(lines[-1], flush=True)
    import pymc

    stamp = f"{machine()}, pymc {pymc.__version__}"
    text = f"{markdown_table(HEAD, lines)}\nMeasured in one run with {stamp}.\n"
    print(f"\n{text}")
    if write:
        found = {"machine": stamp, "head": HEAD, "rows": lines}
        keep("per_item", found, {"per_item.md": text})
    return 0


if __name__ == "__main__":
    sys.exit(pymc_home.run(main))
