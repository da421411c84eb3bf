"""Users' own metrics of scores: functions of truth, score and weight, called once a draw."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from outperform._typing import AnyArray, FloatArray
from outperform.errors import UsageError
from outperform.metrics.functions import check_bounds
from outperform.metrics.of_scores.prepared import Evaluate
from outperform.metrics.of_scores.units import Units

ScoreFunction: TypeAlias = Callable[[Any, Any, Any], Any]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Called:
    """A user's function and what it is called with; the weights add up to the documents."""

    name: str
    function: ScoreFunction
    truth: AnyArray | None
    score: FloatArray
    units: Units
    bounds: tuple[float, float]

    def worker(self) -> Evaluate:
        """Return a function of weights."""
        n = len(self.score)
        pick = self.units.picker(np.arange(n))
        truth = None if self.truth is None else _locked(self.truth)
        score = _locked(self.score)

        def evaluate(weights: FloatArray) -> FloatArray:
            values = np.empty(len(weights))
            for place in range(len(weights)):
                weight = pick(weights[place : place + 1])[0]
                weight = weight * (n / weight.sum())  # a copy: the function may change it
                values[place] = self._number(self.function(truth, score, weight))
            check_bounds(self.name, values, self.bounds)
            return np.clip(values, *self.bounds)

        return evaluate

    def _number(self, answer: Any) -> float:
        number = np.asarray(answer)
        if number.ndim or number.dtype.kind not in "biuf" or np.isnan(number):
            shown = f"an array of shape {number.shape}" if number.ndim else repr(answer)
            raise UsageError(
                f"the metric function {self.name!r}(y_true, score, weight) must return one number; "
                f"it returned {shown}"
            )
        return float(number)


def _locked(array: AnyArray) -> AnyArray:
    view = array.view()
    view.flags.writeable = False
    return view
