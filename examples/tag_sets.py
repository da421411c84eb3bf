"""What both examples share: two tag sets compared by the same tagger, and the outcome printed."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from tagging import CrfTagger

import outperform as op
from outperform.data.spans import get_scheme
from outperform.progress import on_progress

METRICS = {"precision": "P", "recall": "R", "f1": "F1"}
REPETITIONS = 3
ROPE = 0.01
DRAWS = 200_000
SEED = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Sentences with their tags, and the two tag sets that taggers learn them in.

    Parameters
    ----------
    title
        What is tagged.
    tokens, tags
        The sentences; tags are of the first tag set.
    schemes
        The tag sets of A and of B.
    features
        What the taggers see: a name in `tagging.FEATURES`.
    """

    title: str
    tokens: list[list[str]]
    tags: list[list[str]]
    schemes: tuple[str, str]
    features: str

    def span_counts(self) -> np.ndarray:
        """Return how many spans of each type every sentence has, ``(n_sentences, n_types)``."""
        scheme = get_scheme(self.schemes[0])
        found = [[kind for _, _, kind in scheme.read(tags).spans] for tags in self.tags]
        types = sorted({kind for kinds in found for kind in kinds})
        return np.array([[kinds.count(kind) for kind in types] for kinds in found])


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What came out of one task.

    Parameters
    ----------
    task
        What was tagged.
    comparisons
        One for each of `METRICS`.
    factors
        How many times as large the sd of F1, and of its difference, is with one weight for
        each sentence as it would be if spans were independent.
    seconds
        How long the trainings took, and all of it.
    """

    task: Task
    comparisons: dict[str, op.Comparison]
    factors: tuple[float, float]
    seconds: tuple[float, float]


def measure(task: Task, *, draws: int = DRAWS, jobs: int | None = None) -> Measured:
    """Train on both halves of each repetition in both tag sets, and compare."""
    began = time.perf_counter()
    first, second = (
        CrfTagger(scheme, gold_scheme=task.schemes[0], features=task.features)
        for scheme in task.schemes
    )
    trained = began

    def progress(done: int, of: int) -> None:
        nonlocal trained
        trained = time.perf_counter()
        end = "\n" if done == of else ""
        print(f"\r{task.title}: {done} of {of} trainings", end=end, file=sys.stderr, flush=True)

    with on_progress(progress):
        f1 = op.cross_compare(
            first,
            second,
            task.tokens,
            task.tags,
            cv=op.BlockedTwoFold(REPETITIONS, balance=task.span_counts(), random_state=SEED),
            metric="f1",
            scheme=task.schemes[0],
            rope=ROPE,
            names=task.schemes,
            n_draws=draws,
            random_state=SEED,
            n_jobs=jobs,
        )
    comparisons = {metric: f1 if metric == "f1" else f1.with_metric(metric) for metric in METRICS}
    factors = sd_factors(f1.details.outcomes)
    now = time.perf_counter()
    return Measured(
        task=task,
        comparisons=comparisons,
        factors=factors,
        seconds=(trained - began, now - began),
    )


def sd_factors(folds: Iterable[op.Outcomes]) -> tuple[float, float]:
    """Return the mean over folds of sd by sentences over sd by spans, of F1 and of ΔF1.

    Neither has a prior, so that nothing but the sentences makes the difference.
    """
    ratios = []
    for fold in folds:
        sds = []
        for seen in (fold, fold.ungroup()):
            c = op.compare(
                seen,
                *fold.models,
                metric="f1",
                prior="bootstrap",
                rope=ROPE,
                random_state=SEED,
            )
            sds.append((c.a.sd, c.b.sd, c.sd))
        with np.errstate(invalid="ignore"):  # few sentences may leave no spread at all
            ratios.append(np.divide(sds[0], sds[1]))
    of_a, of_b, of_difference = np.mean(ratios, axis=0).tolist()
    return (of_a + of_b) / 2, of_difference


# What is printed


def write(measured: Measured, *, markdown: bool) -> str:
    """Return the outcome of one task as text."""
    task, (of_f1, of_difference) = measured.task, measured.factors
    title = f"{task.title}: {task.schemes[0]} against {task.schemes[1]}"
    trained, whole = measured.seconds
    bullet = "- " if markdown else ""
    lines = [
        f"### {title}" if markdown else f"{title}\n{'=' * len(title)}",
        "",
        f"{len(task.tokens):,} sentences, {sum(map(len, task.tokens)):,} tokens, "
        f"{task.span_counts().sum():,} spans; {REPETITIONS}×2 blocked folds, ROPE ±{ROPE:g}, "
        f"{measured.comparisons['f1'].draws.size:,} draws, seed {SEED}.",
        "",
        *(_as_markdown if markdown else _as_text)(list(_rows(measured))),
        "",
        f"{bullet}sd by sentences over sd by spans: F1 {of_f1:.2f}, ΔF1 {of_difference:.2f}.",
        *(bullet + line for line in _findings(measured)),
        f"{bullet}{4 * REPETITIONS} trainings took {trained:.0f} s, all of it {whole:.0f} s, "
        f"with {os.cpu_count()} cores.",
        "",
    ]
    return "\n".join(lines)


def _rows(measured: Measured) -> Iterator[list[str]]:
    a, b = measured.task.schemes
    yield [
        "metric",
        a,
        b,
        "unpaired P(H0)",
        "P(H1)",
        "accepts",
        "paired P(H1)",
        f"mean of {a} − {b}",
        "95% HDI",
        "decision",
    ]
    for metric, shown in METRICS.items():
        c = measured.comparisons[metric]
        yield [
            shown,
            f"{c.a.observed:.4f}",
            f"{c.b.observed:.4f}",
            _probability(c.details.unpaired.p_h0),
            _probability(c.details.unpaired.p_h1),
            c.details.unpaired.accepted,
            _probability(c.p_h1),
            _signed(c.mean),
            f"{_signed(c.hdi.low)} to {_signed(c.hdi.high)}",
            f"{c.decision.symbol} {c.decision.words}",
        ]


def _probability(value: float) -> str:
    """Return four digits; what draws say is near 0 or 1 is not known to be 0 or 1."""
    if value < 0.0001:
        return "< 0.0001"
    return "> 0.9999" if value > 0.9999 else f"{value:.4f}"


def _signed(value: float) -> str:
    return f"{value:+.4f}".replace("-", "−")


def _as_markdown(rows: list[list[str]]) -> list[str]:
    head, *body = rows
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *body)]


def _as_text(rows: list[list[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def _findings(measured: Measured) -> Iterator[str]:
    """Yield each finding once, with the metrics whose comparisons have it."""
    having: dict[tuple[str, str], list[str]] = {}
    for metric, shown in METRICS.items():
        c = measured.comparisons[metric]
        for kind, findings in (("paired", c.findings), ("unpaired", c.details.unpaired.findings)):
            for finding in findings:
                key = f"{finding.level} {finding.name}", finding.message
                having.setdefault(key, []).append(f"{shown} {kind}")
    for (name, message), where in having.items():
        everywhere = len(where) == 2 * len(METRICS)
        yield f"{name} ({'all' if everywhere else ', '.join(where)}): {message}"


def main(
    tasks: Callable[[Path], Iterable[Task]], *, about: str, arguments: list[str] | None
) -> None:
    """Read the command line, measure every task and print it."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("corpora", type=Path, help="the folder of the corpora")
    parser.add_argument("--markdown", action="store_true", help="print tables as Markdown")
    parser.add_argument(
        "--draws", type=int, default=DRAWS, help=f"of each posterior; {DRAWS:,} by default"
    )
    parser.add_argument(
        "--jobs", type=int, default=-1, help="trainings at once; as many as cores by default"
    )
    parser.add_argument("--sentences", type=int, help="take only so many of the first sentences")
    args = parser.parse_args(arguments)
    for task in tasks(args.corpora):
        part = replace(
            task,
            tokens=task.tokens[: args.sentences],
            tags=task.tags[: args.sentences],
        )
        measured = measure(part, draws=args.draws, jobs=args.jobs)
        print(write(measured, markdown=args.markdown), flush=True)
