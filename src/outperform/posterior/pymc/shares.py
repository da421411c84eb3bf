"""A share of right answers that all classes have in common, before and beside a learned mass.

With a mass of s documents, a class of n documents says as much of the share as
``w = (1 + s) n / (1 + s + n)`` documents would that had one share: the width of what is
known of it shrinks from that of a few classes to that of all documents as s grows, which
makes a funnel of both. The chain walks in its logit's distance from where w puts it, in
units of that width.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from outperform._optional import require
from outperform._typing import AnyArray


def common_share(name: str, mass: Any, *, right: AnyArray, totals: AnyArray, dims: str) -> Any:
    """Return a variable that is uniform between 0 and 1 for each classifier.

    Parameters
    ----------
    name
        What to call it.
    mass
        The learned mass of each classifier.
    right, totals
        Documents ``(classifier, truth)`` that were called right, and all of them.
    dims
        The name of the axis.
    """
    pm = require("pymc", extra="pymc", purpose="a PyMC model")
    pt = require("pytensor.tensor", extra="pymc", purpose="a PyMC model")
    return pm.CustomDist(
        name,
        mass,
        logp=lambda value, mass: pt.zeros_like(value),
        random=lambda mass, rng=None, size=None: rng.uniform(size=size),
        default_transform=_transform()(right / np.maximum(totals, 1), totals),
        initval=(1 + right.sum(axis=1)) / (2 + totals.sum(axis=1)),
        dims=dims,
    )


@cache
def _transform() -> Any:
    pm = require("pymc", extra="pymc", purpose="a PyMC model")
    pt = require("pytensor.tensor", extra="pymc", purpose="a PyMC model")

    class CommonShare(pm.distributions.transforms.Transform):  # type: ignore[misc, name-defined]
        name = "share"

        def __init__(self, rates: AnyArray, totals: AnyArray) -> None:
            self.rates, self.totals = rates, totals

        def forward(self, value: Any, *inputs: Any) -> Any:
            place, width = self._known(inputs)
            return (pt.log(value) - pt.log1p(-value) - place) / width

        def backward(self, value: Any, *inputs: Any) -> Any:
            place, width = self._known(inputs)
            return pt.sigmoid(place + width * value)

        def log_jac_det(self, value: Any, *inputs: Any) -> Any:
            place, width = self._known(inputs)
            logit = place + width * value
            return pt.log(width) - pt.softplus(logit) - pt.softplus(-logit)

        def _known(self, inputs: tuple[Any, ...]) -> tuple[Any, Any]:
            """Return place and width of the logit after so many documents' worth."""
            mass = 1 + inputs[-1][:, None]
            worth = mass * self.totals / (mass + self.totals)
            right = 0.5 + (worth * self.rates).sum(axis=-1)
            wrong = 0.5 + (worth * (1 - self.rates)).sum(axis=-1)
            return pt.log(right) - pt.log(wrong), pt.sqrt(1 / right + 1 / wrong)

    return CommonShare
