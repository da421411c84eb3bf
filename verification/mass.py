"""What does the ICDM model's prior mass of 1 do, and what does freeing it change?

On 20 Newsgroups: every classifier's macro-F1 and every pair's difference by prior
"hierarchical", whose rows weigh one item, and by prior "learned", which learns how much
recalls, splits of errors and prevalence weigh. On the whole test set, and on every seventh
or every 37th of its items, from several starts, so that these sets have no item in common.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

import outperform as op
from outperform._typing import FloatArray
from outperform.posterior.class_priors import class_sizes, recall_posterior
from verification import markdown

METRIC = "f1_macro"
PRIORS = ("hierarchical", "learned")
_ROPE = 0.005
_N_DRAWS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Thinned:
    """Every so manieth item, from several starts."""

    step: int
    starts: int


WORLDS = (Thinned(step=1, starts=1), Thinned(step=7, starts=5), Thinned(step=37, starts=5))


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """One classifier's macro-F1 by both priors, and the mass that is learned."""

    name: str
    observed: float
    pulls: tuple[float, ...]
    widths: tuple[float, ...]
    mass: tuple[float, ...]  # 2.5%, 50% and 97.5% quantile


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """A pair's difference of macro-F1 by both priors."""

    name: str
    observed: float
    pulls: tuple[float, ...]
    widths: tuple[float, ...]
    decisions: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What was found on one set of items."""

    n: int
    levels: tuple[Level, ...]
    gaps: tuple[Gap, ...]


Task = tuple[Thinned, int]
Found = Mapping[Thinned, Sequence[Seen]]


def look(task: Task) -> Seen:
    """Compare all classifiers on one set of items."""
    thinned, start = task
    news = op.datasets.load_news20()
    kept = slice(start, None, thinned.step)
    answers = {name: said[kept] for name, said in news.predictions.items()}
    seen = op.Outcomes.from_labels(news.y_true[kept], answers)
    pairs = {names: _compare(seen, names) for names in combinations(seen.models, 2)}
    levels = {}
    for (a, b), found in pairs.items():
        levels[a], levels[b] = [one.a for one in found], [one.b for one in found]
    return Seen(
        n=seen.n,
        levels=tuple(_level(seen, name, levels[name]) for name in seen.models),
        gaps=tuple(_gap(names, found) for names, found in pairs.items()),
    )


def _compare(seen: op.Outcomes, names: tuple[str, str]) -> list[op.Comparison]:
    return [
        op.compare(
            seen,
            *names,
            metric=METRIC,
            prior=prior,
            paired=False,
            rope=_ROPE,
            n_draws=_N_DRAWS,
            random_state=0,
            n_jobs=1,
        )
        for prior in PRIORS
    ]


def _level(seen: op.Outcomes, name: str, found: Sequence[op.results.Estimate]) -> Level:
    return Level(
        name=name,
        observed=found[0].observed,
        pulls=tuple(one.mean - one.observed for one in found),
        widths=tuple(one.hdi.width for one in found),
        mass=tuple(mass_quantiles(seen.confusion(name)).tolist()),
    )


def mass_quantiles(counts: FloatArray) -> FloatArray:
    """Return the 2.5%, 50% and 97.5% quantile of the mass of recalls, from its grid."""
    totals, right = counts.sum(axis=1).astype(np.float64), np.diagonal(counts).astype(np.float64)
    grid = recall_posterior(right, totals - right, class_sizes(totals)).grid
    below = np.append(0.0, np.cumsum(grid.probabilities.sum(axis=(0, 2))))
    axis = grid.axes[1]
    edges = np.linspace(1.5 * axis[0] - axis[1] / 2, 1.5 * axis[-1] - axis[-2] / 2, axis.size + 1)
    found: FloatArray = np.exp(np.interp([0.025, 0.5, 0.975], below, edges))
    return found


def _gap(names: tuple[str, str], found: Sequence[op.Comparison]) -> Gap:
    observed = found[0].a.observed - found[0].b.observed
    return Gap(
        name=" − ".join(names),
        observed=observed,
        pulls=tuple(one.mean - observed for one in found),
        widths=tuple(one.hdi.width for one in found),
        decisions=tuple(one.decision.symbol for one in found),
    )


def tables(found: Found) -> dict[str, str]:
    """Return a table of levels and one of differences: means over sets, of the mass medians."""
    head = ("items", "sets", "observed", "mass 1: pull", "width", "learned: pull", "width")
    levels = [row for sets in found.values() for row in _level_rows(sets)]
    gaps = [row for sets in found.values() for row in _gap_rows(sets)]
    decisions = ("mass 1: decisions", "learned: decisions")
    return {
        "mass_levels.md": markdown.table(("classifier", *head, "learned mass"), levels),
        "mass_differences.md": markdown.table(("A − B", *head, *decisions), gaps),
    }


def failures(found: Found) -> list[str]:
    """Return the classifiers whose macro-F1 is pulled less by a mass of 1 than by a learned one."""
    failed = []
    for thinned, sets in found.items():
        for ours in _by_place(sets, "levels"):
            fixed, learned = np.abs(np.mean([one.pulls for one in ours], axis=0))
            if not learned < fixed:
                failed.append(
                    f"mass, {thinned}, {ours[0].name}: {learned:.4f} by learned, {fixed:.4f}"
                )
    return failed


def _level_rows(sets: Sequence[Seen]) -> Iterator[list[str]]:
    for ours in _by_place(sets, "levels"):
        low, middle, high = np.median([one.mass for one in ours], axis=0)
        yield [ours[0].name, *_shared(sets, ours), f"{middle:.0f} ({low:.0f} to {high:.0f})"]


def _gap_rows(sets: Sequence[Seen]) -> Iterator[list[str]]:
    for ours in _by_place(sets, "gaps"):
        decisions = zip(*(one.decisions for one in ours), strict=True)
        yield [ours[0].name, *_shared(sets, ours), *(" ".join(symbols) for symbols in decisions)]


def _by_place(sets: Sequence[Seen], what: str) -> list[tuple[Any, ...]]:
    """Return the same level, or gap, of all sets together."""
    return list(zip(*(getattr(one, what) for one in sets), strict=True))


def _shared(sets: Sequence[Seen], ours: Sequence[Level | Gap]) -> list[str]:
    n = np.mean([one.n for one in sets])
    observed = np.mean([one.observed for one in ours])
    pulls = np.mean([one.pulls for one in ours], axis=0)
    widths = np.mean([one.widths for one in ours], axis=0)
    shown = []
    for pull, width in zip(pulls, widths, strict=True):
        shown += [f"{pull:+.3f}", f"{width:.3f}"]
    return [f"{n:,.0f}", str(len(sets)), f"{observed:.3f}", *shown]
