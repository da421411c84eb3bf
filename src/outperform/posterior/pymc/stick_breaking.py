"""Coordinates in which Dirichlet cells are easy to sample."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from outperform._typing import AnyArray
from outperform.errors import require

# Weights below exp(-300) are negligible, and an inverse weight times a gradient must not overflow.
_LOWEST = -300.0
_LINEAR = 40.0  # above this, softplus(x) equals x to the last digit
_NEWTON = 12  # maximum number of steps; a few are enough


def sticks(counts: AnyArray, likely: AnyArray | float = 1.0) -> Any:
    """Return the transform, for ``default_transform=`` of ``pm.Dirichlet``.

    The numbers do not affect the posterior, only the speed.

    Parameters
    ----------
    counts
        Number of items in each cell, in the shape of the variable.
    likely
        Approximate equivalent number of items of the prior.
    """
    counts = np.asarray(counts, dtype=np.float64)
    return _transform()(counts, counts + likely)


def _medians(weights: AnyArray) -> AnyArray:
    """Return approximate medians of Dirichlet cells, at least 10⁻³⁰⁰."""
    weights = np.maximum(weights, 1e-3)
    cells = weights * np.exp2(-1 / weights)  # the approximate median of a gamma variable
    return np.asarray(cells / cells.sum(axis=-1, keepdims=True))


@cache
def _transform() -> Any:
    pm = require("pymc", extra="pymc", purpose="a PyMC model")
    pt = require("pytensor.tensor", extra="pymc", purpose="a PyMC model")

    def softplus(value: Any) -> Any:
        # JAX differentiates softplus through exp(±value), which must stay finite.
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
            centre, scale, p, q = self._known(inputs)
            y = pt.where(logit < 0, p * logit, q * logit)
            for _ in range(_NEWTON):  # the inverse has no closed form
                slope = pt.sigmoid(y) / q + pt.sigmoid(-y) / p
                y = y - (pt.softplus(y) / q - pt.softplus(-y) / p - logit) / slope
            return (y - centre) / scale

        def backward(self, value: Any, *inputs: Any) -> Any:
            logs, _ = self._logarithms(value, inputs)
            cells = pt.exp(pt.maximum(logs, _LOWEST))
            return pt.take_along_axis(cells, self.back, axis=-1)

        def log_jac_det(self, value: Any, *inputs: Any) -> Any:
            # Cell k depends only on its own coordinate and all previous ones, so the matrix is
            # triangular, and d log cell / d coordinate = (1 − v) · d logit / d coordinate.
            (logs, rests), shapes = self._logarithms(value, inputs), self._shapes(inputs)
            centre, scale, p, q = self._known(inputs)
            y = centre + scale * value
            slopes = rests + pt.log(scale * (pt.sigmoid(y) / q + pt.sigmoid(-y) / p))
            # Cells clipped by backward must still have the Dirichlet density. A shape of 10⁻¹⁵ has
            # logarithms of 10¹⁵, so their product is computed first.
            cut = shapes * logs - (shapes - 1) * _LOWEST
            bent = pt.where(logs > _LOWEST, logs, cut)
            last = bent[..., -1] - logs[..., -1]
            return (bent[..., :-1] + slopes).sum(axis=-1) + last

        def _shapes(self, inputs: tuple[Any, ...]) -> Any:
            # JAX compiles only arrays of known shape.
            shapes = pt.specify_shape(inputs[-1], self.order.shape)
            return pt.take_along_axis(shapes, self.order, axis=-1)

        def _known(self, inputs: tuple[Any, ...]) -> tuple[Any, Any, Any, Any]:
            """Return the location and scale of y, and the powers p and q."""
            after = self._shapes(inputs) + self.counts
            own = after[..., :-1]
            left = pt.cumsum(after[..., ::-1], axis=-1)[..., ::-1][..., 1:]
            p, q = own / (1 + own), left / (1 + left)
            centre = p * q * (pt.log(own) - pt.log(left))
            return centre, pt.sqrt(1 / (1 + own) + 1 / (1 + left)), p, q

        def _logarithms(self, value: Any, inputs: tuple[Any, ...]) -> tuple[Any, Any]:
            """Return the logarithms of all cells, and of ``1 − v`` of all but the last."""
            centre, scale, p, q = self._known(inputs)
            y = centre + scale * value
            logit = pt.softplus(y) / q - pt.softplus(-y) / p
            broken, rests = -softplus(-logit), -softplus(logit)
            left, whole = pt.cumsum(rests, axis=-1), pt.zeros_like(value[..., :1])
            logs = pt.concatenate([broken, whole], axis=-1) + pt.concatenate([whole, left], axis=-1)
            return logs, rests

    return Sticks


# Prior of the spread of rates over classes, as in the direct engine: location around the log of the
# mean count, scale (half-Cauchy) and skew of a generalised gamma.
_LOCATIONS, _SCALES, _SKEWS = (-6.0, 3.0), (0.1, 3.5), (-4.0, 2.0)
# Integration points for the share of classes without items, in standard units.
_NODES = np.linspace(-32.0, 96.0, 1281)
_NEAR_ZERO = 0.05


def class_counts(totals: AnyArray, *, dims: tuple[str, str]) -> Any:
    """Return the Poisson rate of each class, inside a model context.

    If every class has items, the class list is assumed to contain only observed classes.

    Parameters
    ----------
    totals
        Items ``(classifier, truth)``.
    dims
        Names of the axes.
    """
    pm = require("pymc", extra="pymc", purpose="a PyMC model")
    pt = require("pytensor.tensor", extra="pymc", purpose="a PyMC model")
    middle = np.log(np.maximum(totals.mean(axis=1), 0.5))
    low, high = (middle + end for end in _LOCATIONS)
    location = pm.Uniform("location", low, high, dims=dims[0])[:, None]
    angle = pm.Uniform("angle", *np.arctan(_SCALES), dims=dims[0])
    scale = pm.Deterministic("scale", pt.tan(angle), dims=dims[0])[:, None]  # half-Cauchy
    skew = pm.Uniform("skew", *_SKEWS, dims=dims[0])[:, None]
    # Approximately standard normal given the counts, whatever the scale.
    score = pm.Flat("scores", dims=dims)
    known = totals + scale**-2
    centre = (totals * np.log(np.maximum(totals, 0.5)) + location * scale**-2) / known
    log_rate = centre + score / pt.sqrt(known)
    prior = _log_density((log_rate - location) / scale, skew) - pt.log(scale)
    log_counts = totals * log_rate - pt.exp(log_rate)
    pm.Potential("rates", (prior + log_counts - 0.5 * pt.log(known)).sum())
    listed = totals.min(axis=1) > 0
    if listed.any():
        density = pt.exp(_log_density(_NODES, skew)) * (_NODES[1] - _NODES[0])
        some = -pt.expm1(-pt.exp(pt.minimum(location + scale * _NODES, _LINEAR)))
        log_some = pt.log((density * some).sum(axis=1))
        pm.Potential("listed", -totals.shape[1] * (log_some * listed).sum())
    return pt.exp(log_rate)


def _log_density(standard: Any, skew: Any) -> Any:
    """Return Prentice's log density of standardised log rates; normal if the skew is 0."""
    pt = require("pytensor.tensor", extra="pymc", purpose="a PyMC model")
    small = pt.abs(skew) < _NEAR_ZERO
    shape = pt.where(small, 1.0, skew) ** -2
    whole = -0.5 * pt.log(shape) - pt.gammaln(shape) + shape * (pt.log(shape) - 1)
    scale = pt.where(small, -0.5 * np.log(2 * np.pi) - skew**2 / 12, whole)
    tilted = pt.minimum(skew * standard, 300.0)
    near = pt.abs(tilted) < _NEAR_ZERO
    series = 1 / 2 + tilted * (1 / 6 + tilted * (1 / 24 + tilted * (1 / 120 + tilted / 720)))
    safe = pt.where(near, 1.0, tilted)
    return scale - standard**2 * pt.where(near, series, (pt.expm1(safe) - safe) / safe**2)
