"""From numbers to rows: verdicts, doubts about them, and the order of concern."""

from __future__ import annotations

import numpy as np

from outperform._typing import AnyArray, FloatArray
from outperform.comparison.checks import SAFE_ERRORS
from outperform.comparison.matching import never_match
from outperform.comparison.question import Question
from outperform.decision import Decision, Ends, Interval, Rope, decide, margin
from outperform.outcomes import Slices
from outperform.slices.drawing import Numbers
from outperform.slices.row import SliceRow


def conclude_rows(
    question: Question,
    slices: Slices,
    numbers: Numbers,
    *,
    observed: FloatArray,
    like_whole: FloatArray,
    rope: Rope,
    prob: float,
    n_draws: int,
) -> tuple[SliceRow, ...]:
    """Return a row for each slice, the most concerning first.

    Concern is the probability that A is worse than B by more than the ROPE;
    among equals the worse mean comes first, then the slices' own order.
    """
    better = question.metric.greater_is_better
    below, inside, above, greater = (column.tolist() for column in numbers.masses)
    worse, good = (below, above) if better else (above, below)
    near = _near_an_edge(numbers.ends, rope)
    unmatched = never_match(question, 0) or never_match(question, 1)
    rows = []
    for place, key in enumerate(slices):
        hdi = numbers.ends.interval(place, prob)
        mean, sd, sd_error = (float(column[place]) for column in numbers.spreads)
        seen = observed[:, place].tolist()
        decision = decide(hdi, rope, greater_is_better=better)
        rows.append(
            SliceRow(
                key=key,
                n=int(slices.n[place]),
                observed_a=seen[0],
                observed_b=seen[1],
                observed=seen[0] - seen[1],
                mean=mean,
                sd=sd,
                sd_error=sd_error,
                n_draws=n_draws,
                hdi=hdi,
                p_worse=worse[place],
                p_equivalent=inside[place],
                p_better=good[place],
                p_greater=greater[place],
                decision=Decision.UNDECIDED if unmatched else decision,
                like_whole=float(like_whole[place]),
                coarse=bool(near[place]) and _is_coarse(hdi, rope),
            )
        )
    sign = 1.0 if better else -1.0
    return tuple(sorted(rows, key=lambda row: (-row.p_worse, sign * row.mean)))


def count_decisions(rows: tuple[SliceRow, ...]) -> dict[Decision, int]:
    """Return how many slices have each verdict."""
    counts = dict.fromkeys(Decision, 0)
    for row in rows:
        counts[row.decision] += 1
    return counts


def _near_an_edge(ends: Ends, rope: Rope) -> AnyArray:
    """Return which slices deserve the exact question, of which there are few."""
    near = np.zeros(len(ends.low), dtype=bool)
    for end, error in ((ends.low, ends.mcse_low), (ends.high, ends.mcse_high)):
        for edge in (rope.low, rope.high):
            near |= np.abs(end - edge) < SAFE_ERRORS * error
    return near


def _is_coarse(hdi: Interval, rope: Rope) -> bool:
    gap, error = margin(hdi, rope)
    return gap < SAFE_ERRORS * error
