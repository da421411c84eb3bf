"""Does "so many more items would probably decide it" come true?

The 7,532 test items of 20 Newsgroups are cut down to a quarter, and every pair of classifiers
is compared in every group against the rest. Where that is undecided, it is predicted how probably
the other three quarters decide; then they are revealed. Normal theory, which is what a comparison
prints, predicts every quarter; ``more_data()``, which simulates, some of them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np

import outperform as op
from outperform._typing import AnyArray, FloatArray
from outperform.datasets import News20
from outperform.planning.goals import firm_goal
from outperform.planning.more_data import outlook_of
from verification import markdown
from verification.chance import share_is_off

SEED = 20_261_122
ROPE = 0.05
PAIRS = tuple(combinations(("nb_bern", "nb_mult", "svm_l1", "svm_l2"), 2))
SHARE = 0.25
# Of so many quarters only the first is simulated for every group and pair.
EVERY = 10
EDGES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
# Realised shares may be off by so many of their errors, and by this much besides.
SLACK = 0.1
STORED = Path(__file__).parents[1] / "docs" / "figures" / "more_data.json"
_N_DRAWS = 5_200
_N_SIMULATIONS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Predicted:
    """One undecided comparison of a quarter, and what became of it."""

    pair: str
    group: str
    theory: float
    simulated: float | None
    decided: bool


def quarters(first: int, last: int) -> list[Predicted]:
    """Predict and check the quarters ``first`` to ``last`` (not included)."""
    news = op.datasets.load_news20()
    found = []
    for number in range(first, last):
        chosen = np.random.default_rng([SEED, number]).permutation(len(news.y_true))
        part = chosen[: round(SHARE * len(chosen))]
        for pair in PAIRS:
            for group in news.target_names:
                one = _predict(news, part, pair, group, simulate=number % EVERY == 0)
                if one is not None:
                    found.append(one)
    return found


def _predict(
    news: News20,
    part: AnyArray,
    pair: tuple[str, str],
    group: str,
    *,
    simulate: bool,
) -> Predicted | None:
    now = compared(news, pair, group, part)
    if now.decision.decided:
        return None
    goal = firm_goal("decided", now.rope, greater_is_better=True)
    rest = len(news.y_true) - len(part)
    theory = float(outlook_of(now).probability(goal, rest))
    simulated = None
    if simulate:
        # A search for what theory predicts simulates about as many items as will come.
        aim = float(np.clip(theory, 0.02, 0.98))
        more = now.more_data(target=aim, n_simulations=_N_SIMULATIONS, random_state=SEED, n_jobs=1)
        simulated = more.probability(rest)
    decided = whole(pair, group)
    return Predicted(
        pair=" − ".join(pair), group=group, theory=theory, simulated=simulated, decided=decided
    )


@cache
def whole(pair: tuple[str, str], group: str) -> bool:
    """Return whether all items decide between a pair in one group."""
    return compared(op.datasets.load_news20(), pair, group, None).decision.decided


def compared(
    news: News20, pair: tuple[str, str], group: str, part: AnyArray | None
) -> op.Comparison:
    """Compare a pair in one group against the rest, on some of the items or all."""
    chosen = slice(None) if part is None else part
    truth = np.asarray(news.y_true)[chosen] == group
    a, b = (np.asarray(news.predictions[name])[chosen] == group for name in pair)
    found: op.Comparison = op.compare(
        truth,
        a,
        b,
        metric="f1",
        rope=ROPE,
        n_draws=_N_DRAWS,
        random_state=SEED,
        n_jobs=1,
    )
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """Comparisons of about the same predicted probability."""

    n: int
    predicted: float
    realised: float
    error: float  # of the realised share


def bins(
    predicted: Sequence[float], decided: Sequence[bool], together: Sequence[str] | None = None
) -> list[Bin]:
    """Bin comparisons by what was predicted; those that belong together share an error."""
    values: FloatArray = np.asarray(predicted)
    came = np.asarray(decided, dtype=np.float64)
    whose = (
        np.arange(len(values)) if together is None else np.unique(together, return_inverse=True)[1]
    )
    place = np.clip(np.searchsorted(EDGES, values, side="right") - 1, 0, len(EDGES) - 2)
    return [
        _bin(values[place == one], came[place == one], whose[place == one])
        for one in range(len(EDGES) - 1)
        if (place == one).any()
    ]


def _bin(values: FloatArray, came: FloatArray, whose: AnyArray) -> Bin:
    """Return one bin; the error of its share is that of a mean of clusters, at least 1/(2n)."""
    share = float(came.mean())
    sums = np.bincount(whose, weights=came - share)
    error = max(float(np.sqrt(sums @ sums)), 0.5) / len(came)
    return Bin(n=len(came), predicted=float(values.mean()), realised=share, error=error)


def by_road(found: Sequence[Predicted]) -> dict[str, list[Bin]]:
    """Return the bins of what was printed, and of what was simulated."""
    some = [one for one in found if one.simulated is not None]
    return {
        "printed": bins(
            [one.theory for one in found],
            [one.decided for one in found],
            [one.group for one in found],
        ),
        "simulated": bins(
            [one.simulated for one in some if one.simulated is not None],
            [one.decided for one in some],
            [one.group for one in some],
        ),
    }


def stored(found: Sequence[Predicted]) -> str:
    """Return the bins for the figure."""
    rows = {road: [asdict(one) for one in group] for road, group in by_road(found).items()}
    return json.dumps(rows, indent=1) + "\n"


def table(found: Sequence[Predicted]) -> str:
    """Return what was predicted beside what came."""
    rows = [
        [
            road,
            f"{one.n:,}",
            f"{100 * one.predicted:.0f}%",
            markdown.percent(one.realised, one.error),
        ]
        for road, group in by_road(found).items()
        for one in group
    ]
    header = ("predicted by", "comparisons", "predicted", "decided, %")
    return markdown.table(header, rows) + (
        "\nUndecided comparisons of quarters of the 7,532 items: F1 of each group against the "
        f"rest, all six pairs of classifiers, ROPE ±{ROPE}. Quarters overlap, and all of one group "
        "and pair end alike: the errors are those of twenty groups, not of so many comparisons.\n"
    )


def failures(found: Sequence[Predicted]) -> list[str]:
    """Return whether on the whole more, or less, was predicted than came."""
    missed = []
    for road, group in by_road(found).items():
        total = sum(one.n for one in group)
        realised, predicted = (
            sum(one.n * getattr(one, name) for one in group) / max(total, 1)
            for name in ("realised", "predicted")
        )
        if share_is_off(realised, total, predicted - SLACK, predicted + SLACK):
            gap = realised - predicted
            missed.append(f"more-data: {road}: {gap:+.3f} more decided than predicted")
    return missed
