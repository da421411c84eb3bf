"""Samplers timed in one run: exact draws, NUTS by three libraries, the papers' Metropolis.

Two questions of the papers, both of multinomial naive Bayes against the support vector
machine with L2 penalty on 20 Newsgroups: F1 of category 8, paired (SIGIR 2016, figure 6),
and macro-F1 of 20 classes by the hierarchical model, unpaired (ICDM 2015, table IV).
Every sampler runs once, on all cores; before each, `compare` is called a few
times, with 50,000 draws as in the papers. The lengths of the first question are those of
``engine="pymc"``, Metropolis with 50,000 draws; those of the second are cut so that the run
takes minutes. Importing is not counted. Compiling is, apart, as far as PyTensor has not kept
it from a former run; the first run takes a few minutes more.

    python bench/bench_pymc.py [--write] [--case NUMBER] [SAMPLER…]
"""

from __future__ import annotations

import argparse
import importlib
import os
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pymc_home
from measuring import Timing, machine, seconds, three_digits
from recording import Row, keep, markdown_table, report

import outperform as op
from outperform.posterior import pymc as chains
from outperform.posterior.base import margins_of
from outperform.posterior.dirichlet import dense_counts

A, B = "nb_mult", "svm_l2"
CATEGORY = 8
DRAWS = 50_000
CALLS = 3  # of compare, before each sampler
MOST_ERRORS = 4.0  # two right answers are further apart once in 16,000 times
SAMPLERS = {
    "nuts": "NUTS, PyMC",
    "nutpie": "NUTS, nutpie",
    "numpyro": "NUTS, numpyro",
    "metropolis": "Metropolis, PyMC",
}
LIBRARIES = ("pymc", "nutpie", "numpyro", "jax", "arviz")
HEAD = (
    "sampler",
    "draws",
    "to begin",
    "sampling",
    "R-hat",
    "effective draws",
    "a second",
    "exact has times as many",
    "by processor time",
    "Monte Carlo error",
    "what stands against it",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A question of a paper: for `compare`, as a PyMC model, and how the paper fared."""

    title: str
    outcomes: op.Outcomes
    options: dict[str, Any]
    build: Callable[[], Any]
    n_classes: int
    samplers: dict[str, op.PyMC]
    paper: tuple[str, str, str]  # who, seconds, Monte Carlo error

    def exact(self) -> op.Comparison:
        return op.compare(
            self.outcomes, A, B, n_draws=DRAWS, random_state=1, n_jobs=-1, **self.options
        )

    def difference(self, trace: Any) -> np.ndarray:
        """Return the draws of the difference, a chain a row."""
        drawn = chains.confusions(trace.posterior, n_models=2, n_classes=self.n_classes)
        metric = op.metrics.get(self.options["metric"])
        classes = [1] if self.n_classes == 2 else None
        sums = [op.metrics.Margins(**margins_of(one)._asdict()) for one in drawn]
        a, b = (metric.evaluate(one, classes) for one in sums)
        return (a - b).reshape(trace.posterior.sizes["chain"], -1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What one sampler did: its seconds, the draws' diagnostics and their mean."""

    begin: float
    sampling: float
    processor: float
    chain: chains.Chain
    mean: float
    full: float = 0.0  # seconds of sampling at the length that `engine="pymc"` has by default

    @property
    def rate(self) -> float:
        """How many effective draws a second of the whole call brings."""
        return self.chain.n_effective / (self.begin + self.sampling)

    @property
    def processor_rate(self) -> float:
        """How many a second of all processors together brings, whatever else they do."""
        return self.chain.n_effective / self.processor


def papers_cases() -> list[Case]:
    news = op.datasets.load_news20()
    seen = op.Outcomes.from_labels(news.y_true, {name: news.predictions[name] for name in (A, B)})
    label = news.target_names[CATEGORY]
    pairs = dense_counts(seen.binarize(label)).astype(np.int64)
    tables = np.stack([seen.confusion(name) for name in (A, B)])
    return [
        Case(
            title=f"F1 of category {CATEGORY}, paired",
            outcomes=seen,
            options={"metric": "f1", "pos_label": label, "rope": 0.05},
            build=lambda: chains.paired(pairs),
            n_classes=2,
            samplers={name: op.PyMC(sampler=name, progress=False) for name in SAMPLERS},
            paper=("SIGIR 2016: Metropolis–Hastings, one chain", "up to 20 s", "at most 0.002"),
        ),
        Case(
            title="Macro-F1 of 20 classes, hierarchical, unpaired",
            outcomes=seen,
            options={
                "metric": "f1_macro",
                "prior": "hierarchical",
                "paired": False,
                "rope": 0.005,
            },
            build=lambda: chains.hierarchical(tables),
            n_classes=20,
            samplers={
                **{
                    name: op.PyMC(sampler=name, draws=500, tune=400, progress=False)
                    for name in ("nuts", "nutpie", "numpyro")
                },
                "metropolis": op.PyMC(
                    sampler="metropolis", chains=2, draws=100, tune=100, progress=False
                ),
            },
            paper=("ICDM 2015: Metropolis–Hastings, one chain", "", "0.000"),
        ),
    ]


def walk(case: Case, name: str) -> Run:
    """Sample a case by one sampler."""
    sampler, start, spent = case.samplers[name], time.perf_counter(), processor_time()
    trace = chains.sample(case.build(), sampler, seed=np.random.SeedSequence(1), n_jobs=-1)
    draws = case.difference(trace)
    whole = time.perf_counter() - start
    sampling = float(trace.posterior.attrs["sampling_time"])
    lost = chains.count_divergences(trace)
    return Run(
        begin=whole - sampling,
        sampling=sampling,
        processor=processor_time() - spent,
        chain=chains.diagnose(draws, sampler=SAMPLERS[name], divergences=lost),
        mean=float(draws.mean()),
        full=sampling * length(op.PyMC(sampler=name)) / length(sampler),
    )


def processor_time() -> float:
    """Return the processor seconds of this process and of its children that ended."""
    return sum(os.times()[:4])


def length(sampler: op.PyMC) -> int:
    """Return how many steps all chains make."""
    return sampler.chains * (sampler.tune_per_chain + sampler.draws_per_chain)


def measure(case: Case, names: Sequence[str]) -> tuple[Run, list[Run]]:
    """Return the direct engine's run and those of the samplers."""
    timing, runs = Timing(), []
    case.exact()
    for name in names:
        for _ in range(CALLS):
            timing.run(case.exact)
        runs.append(walk(case, name))
        print(f"{case.title}: {runs[-1]}", flush=True)
    compared = case.exact()
    chain = chains.diagnose(compared.draws.reshape(4, -1), sampler="exact", divergences=0)
    exact = Run(
        begin=0.0,
        sampling=timing.median,
        processor=statistics.median(timing.processor),
        chain=chain,
        mean=compared.mean,
    )
    return exact, runs


def disagreements(case: Case, exact: Run, runs: Sequence[Run]) -> list[str]:
    """Say which chains converged to something else."""
    found = []
    for run in runs:
        gap = (run.mean - exact.mean) / np.hypot(run.chain.mcse, exact.chain.mcse)
        if run.chain.converged and abs(gap) > MOST_ERRORS:
            found.append(f"{case.title}, {run.chain.sampler}: {gap:+.1f} Monte Carlo errors away")
    return found


def lines_of(case: Case, exact: Run, runs: Sequence[Run]) -> list[list[str]]:
    lines = []
    for run in (exact, *runs):
        chain, against, is_exact = run.chain, list(run.chain.faults), run is exact
        if against and run.full > run.sampling:
            against.append(f"at full length it would take {seconds(run.full)}")
        lines.append(
            [
                f"**{chain.sampler}**" if is_exact else chain.sampler,
                f"{chain.n_draws:,}",
                "0" if is_exact else seconds(run.begin),
                seconds(run.sampling),
                f"{chain.rhat:.3f}",
                f"{chain.n_effective:,.0f}",
                three_digits(run.rate),
                three_digits(exact.rate / run.rate),
                three_digits(exact.processor_rate / run.processor_rate),
                f"{chain.mcse:.5f}",
                "; ".join(against) or "nothing",
            ]
        )
    who, took, error = case.paper
    return [*lines, [who, f"{DRAWS:,}", "", took, "", "", "", "", "", error, ""]]


def summary(case: Case, exact: Run, run: Run) -> list[Row]:
    """Return what the table of speeds shows of it."""
    rates = {"sampling only": run.chain.n_effective / run.sampling, "whole call": run.rate}
    return [
        Row(
            f"effective draws a second of `compare`, {case.title}",
            three_digits(exact.rate),
            f"{run.chain.sampler}, {name}",
            three_digits(rate),
            three_digits(exact.rate / rate),
            "at least 1,000" if name == "sampling only" else "",
        )
        for name, rate in rates.items()
    ]


def measured_with() -> str:
    versions = [f"{name} {importlib.import_module(name).__version__}" for name in LIBRARIES]
    return f"{machine()}, {', '.join(versions)}"


def main() -> int:
    args = read_command()
    warnings.simplefilter("ignore")  # of ArviZ on its future and PyTensor on BLAS
    stamp = measured_with()
    kept, pages, rows, wrong = {}, [], [], []
    for number, case in enumerate(papers_cases(), 1):
        if args.case not in (None, number):
            continue
        exact, runs = measure(case, args.samplers or list(SAMPLERS))
        kept[case.title] = lines_of(case, exact, runs)
        pages.append(f"**{case.title}**\n\n{markdown_table(HEAD, kept[case.title])}")
        rows += summary(case, exact, runs[0])
        wrong += disagreements(case, exact, runs)
    print("\n".join(pages), *wrong, sep="\n")
    whole = args.case is None and not args.samplers and not wrong
    report("pymc", rows, write=args.write and whole)
    if args.write and whole:
        text = "\n".join([*pages, f"Measured in one run with {stamp}.\n"])
        keep("samplers", {"machine": stamp, "head": HEAD, "cases": kept}, {"samplers.md": text})
    return 1 if wrong else 0


def read_command() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="keep the results of a whole run")
    parser.add_argument("--case", type=int, choices=(1, 2), help="only one of the questions")
    parser.add_argument("samplers", nargs="*", help=f"by default all: {', '.join(SAMPLERS)}")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(pymc_home.run(main))
