"""Draws of every run, and of what they say of the runs that were not seen."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from outperform._typing import FloatArray
from outperform.comparison.runs.reading import Side
from outperform.comparison.scored import Asked
from outperform.posterior import Trained, child, draw_mean, draw_mean_difference

_RUN_STREAM = 2**30  # far from the numbers of the blocks of draws


class RunDraws(NamedTuple):
    """Draws of each run's metric, of each model's mean over all runs, and of A − B."""

    values: FloatArray  # (n_models, n_draws)
    a: Trained
    b: Trained
    difference: Trained


def draw_runs(
    question: Asked,
    values: FloatArray,
    sides: tuple[Side, Side],
    seed: np.random.SeedSequence,
) -> RunDraws:
    """Draw the means over all runs, given draws of those that were seen."""
    bounds = question.metric.bounds
    a, b = (values[list(side.places)] for side in sides)
    streams = [child(seed, _RUN_STREAM + place) for place in range(3)]
    return RunDraws(
        values=values,
        a=draw_mean(a, bounds=bounds, seed=streams[0]),
        b=draw_mean(b, bounds=bounds, seed=streams[1]),
        difference=draw_mean_difference(a, b, bounds=bounds, seed=streams[2]),
    )


def of_these_runs(drawn: RunDraws, sides: tuple[Side, Side]) -> FloatArray:
    """Return draws of A − B of the means of the runs that were seen."""
    a, b = (drawn.values[list(side.places)].mean(axis=0) for side in sides)
    return np.asarray(a - b)
