"""Coordinates in which Dirichlet cells are easy to sample."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from outperform._typing import AnyArray
from outperform.errors import require

# What is below exp(-300) weighs nothing, and its inverse times a gradient must not overflow.
_LOWEST = -300.0
_LINEAR = 40.0  # from where on softplus(x) is x to the last digit
_NEWTON = 12  # steps, of which a few suffice


def sticks(counts: AnyArray, likely: AnyArray | float = 1.0) -> Any:
    """Return the transform, for ``default_transform=`` of ``pm.Dirichlet``.

    Any numbers give the same posterior; good ones give it sooner.

    Parameters
    ----------
    counts
        How many items each cell holds, in the shape of the variable.
    likely
        About how many more the prior is worth.
    """
    counts = np.asarray(counts, dtype=np.float64)
    return _transform()(counts, counts + likely)


def _medians(weights: AnyArray) -> AnyArray:
    """Return about what Dirichlet cells are half of the time, not below 10⁻³⁰⁰."""
    weights = np.maximum(weights, 1e-3)
    cells = weights * np.exp2(-1 / weights)  # the median of a Gamma number, nearly
    return np.asarray(cells / cells.sum(axis=-1, keepdims=True))


@cache
def _transform() -> Any:
    pm = require("pymc", extra="pymc", purpose="a PyMC model")
    pt = require("pytensor.tensor", extra="pymc", purpose="a PyMC model")

    def softplus(value: Any) -> Any:
        # JAX differentiates its own through exp(±value), which must stay finite.
        return pt.where(value > _LINEAR, value, pt.softplus(pt.clip(value, _LOWEST, _LINEAR)))

    class Sticks(pm.distributions.transforms.Transform):  # type: ignore[misc, name-defined]
        name = "sticks"

        def __init__(self, counts: AnyArray, weights: AnyArray) -> None:
            self.order = np.argsort(weights, axis=-1, kind="stable")
            self.back = np.argsort(self.order, axis=-1)
            self.counts = np.take_along_axis(counts, self.order, axis=-1)
            self.start = _medians(weights)

        def forward(self, value: Any, *inputs: Any) -> Any:
            cells = pt.take_along_axis(value, self.order, axis=-1)
            left = pt.cumsum(cells[..., ::-1], axis=-1)[..., ::-1]
            logit = pt.log(cells[..., :-1]) - pt.log(left[..., 1:])
            place, scale, p, q = self._known(inputs)
            y = pt.where(logit < 0, p * logit, q * logit)
            for _ in range(_NEWTON):  # what logit y gives has no closed form
                slope = pt.sigmoid(y) / q + pt.sigmoid(-y) / p
                y = y - (pt.softplus(y) / q - pt.softplus(-y) / p - logit) / slope
            return (y - place) / scale

        def backward(self, value: Any, *inputs: Any) -> Any:
            logs, _ = self._logarithms(value, inputs)
            cells = pt.exp(pt.maximum(logs, _LOWEST))
            return pt.take_along_axis(cells, self.back, axis=-1)

        def log_jac_det(self, value: Any, *inputs: Any) -> Any:
            # Cell k is what its own coordinate and those before it say: the matrix is
            # triangular, and d log cell / d coordinate = (1 − v) · d logit / d coordinate.
            (logs, rests), shapes = self._logarithms(value, inputs), self._shapes(inputs)
            place, scale, p, q = self._known(inputs)
            y = place + scale * value
            slopes = rests + pt.log(scale * (pt.sigmoid(y) / q + pt.sigmoid(-y) / p))
            # The density of cells that backward cut off is Dirichlet's, had it seen them. A
            # shape of 10⁻¹⁵ has logarithms of 10¹⁵: their product is taken before all else.
            cut = shapes * logs - (shapes - 1) * _LOWEST
            bent = pt.where(logs > _LOWEST, logs, cut)
            last = bent[..., -1] - logs[..., -1]
            return (bent[..., :-1] + slopes).sum(axis=-1) + last

        def _shapes(self, inputs: tuple[Any, ...]) -> Any:
            # JAX compiles only what it knows the shape of.
            shapes = pt.specify_shape(inputs[-1], self.order.shape)
            return pt.take_along_axis(shapes, self.order, axis=-1)

        def _known(self, inputs: tuple[Any, ...]) -> tuple[Any, Any, Any, Any]:
            """Return place and scale of y, and the powers p and q."""
            after = self._shapes(inputs) + self.counts
            own = after[..., :-1]
            left = pt.cumsum(after[..., ::-1], axis=-1)[..., ::-1][..., 1:]
            p, q = own / (1 + own), left / (1 + left)
            place = p * q * (pt.log(own) - pt.log(left))
            return place, pt.sqrt(1 / (1 + own) + 1 / (1 + left)), p, q

        def _logarithms(self, value: Any, inputs: tuple[Any, ...]) -> tuple[Any, Any]:
            """Return the logarithms of all cells, and of ``1 − v`` of all but the last."""
            place, scale, p, q = self._known(inputs)
            y = place + scale * value
            logit = pt.softplus(y) / q - pt.softplus(-y) / p
            taken, rests = -softplus(-logit), -softplus(logit)
            left, whole = pt.cumsum(rests, axis=-1), pt.zeros_like(value[..., :1])
            logs = pt.concatenate([taken, whole], axis=-1) + pt.concatenate([whole, left], axis=-1)
            return logs, rests

    return Sticks


def common_share(name: str, mass: Any, *, right: AnyArray, totals: AnyArray, dims: str) -> Any:
    """Return a variable that is uniform between 0 and 1 for each classifier.

    Parameters
    ----------
    name
        What to call it.
    mass
        The learned mass of each classifier.
    right, totals
        Items ``(classifier, truth)`` that were called right, and all of them.
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
        default_transform=_share_transform()(right / np.maximum(totals, 1), totals),
        initval=(1 + right.sum(axis=1)) / (2 + totals.sum(axis=1)),
        dims=dims,
    )


@cache
def _share_transform() -> Any:
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
            """Return place and width of the logit after so many items' worth."""
            mass = 1 + inputs[-1][:, None]
            worth = mass * self.totals / (mass + self.totals)
            right = 0.5 + (worth * self.rates).sum(axis=-1)
            wrong = 0.5 + (worth * (1 - self.rates)).sum(axis=-1)
            return pt.log(right) - pt.log(wrong), pt.sqrt(1 / right + 1 / wrong)

    return CommonShare
