"""From the posteriors of all slices to the numbers of each, block by block."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from outperform._typing import FloatArray
from outperform.comparison.question import Question
from outperform.decision import (
    Ends,
    MassRows,
    Rope,
    Spreads,
    masses_rows,
    narrowest_rows,
    spreads_rows,
)
from outperform.errors import DataError
from outperform.metrics import Margins
from outperform.posterior import SlicesPosterior, Sums, spread_blocks


class Numbers(NamedTuple):
    """What the draws of each slice say, one value a slice."""

    spreads: Spreads
    ends: Ends
    masses: MassRows


def draw_numbers(
    posterior: SlicesPosterior,
    question: Question,
    *,
    rope: Rope,
    prob: float,
    n_draws: int,
    seed: Any,
    n_jobs: int | None,
) -> Numbers:
    """Draw every slice and keep its numbers; the draws themselves are not kept."""
    n_slices, length = posterior.n_slices, posterior.block_length(n_draws)
    columns = np.empty((11, n_slices))
    pieces = posterior.pieces(n_draws, question.measured.needs)
    whole = posterior.draw_whole(seed, n_draws) if len(pieces) == 1 else None

    def make_work() -> Callable[[Any, int], None]:
        draw = _differences(posterior, question, pieces, whole)

        def work(generator: Any, block: int) -> None:
            places = slice(block * length, min((block + 1) * length, n_slices))
            differences = draw(generator, places)
            differences.sort(axis=1)
            columns[:, places] = [
                *spreads_rows(differences),
                *narrowest_rows(differences, prob),
                *masses_rows(differences, rope),
            ]

        return work

    spread_blocks(
        make_work,
        n_blocks=-(-n_slices // length),
        n_gammas=posterior.n_gammas * n_draws * n_slices,
        seed=seed,
        n_jobs=n_jobs,
    )
    _refuse_undefined(question, columns[0])
    return Numbers(Spreads(*columns[:3]), Ends(*columns[3:7]), MassRows(*columns[7:]))


def _differences(
    posterior: SlicesPosterior,
    question: Question,
    pieces: Sequence[int],
    whole: FloatArray | None,
) -> Callable[[Any, slice], FloatArray]:
    """Return a function that draws A − B of neighbouring slices, ``(n_slices, n_draws)``."""
    metric, classes = question.measured, question.classes
    worker = posterior.worker(metric.needs, whole)

    def draw(generator: Any, places: slice) -> FloatArray:
        found = np.empty((places.stop - places.start, sum(pieces)))
        start = 0
        for length in pieces:
            a, b = (
                metric.evaluate(
                    Margins(**drawn._asdict()) if isinstance(drawn, Sums) else drawn, classes
                )
                for drawn in worker(generator, places, length)
            )
            np.subtract(a, b, out=found[:, start : start + length])
            start += length
        return found

    return draw


def _refuse_undefined(question: Question, means: FloatArray) -> None:
    if np.isnan(means).any():
        raise DataError(
            f"{question.metric.name} is 0/0 in some draws of "
            f"{int(np.isnan(means).sum()):,} slices; use another metric"
        )
