"""Priors as values: what is believed about prevalence and rows before the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from outperform._typing import FloatArray
from outperform.errors import UsageError, unknown_name

_SMALLEST = 1e-300


@dataclass(frozen=True, eq=False)
class Prior:
    """Dirichlet shapes for the class proportions and for what is predicted in each class.

    Parameters
    ----------
    rows
        The shape of every cell of a class: one number for all, or an array of
        shape ``(n_classes, n_classes)`` (each model's own confusion rows; for
        paired models their product, with the same mass in each row), or of
        shape ``(n_classes, n_classes, n_classes)`` for a pair of models.
    prevalence
        The shape of every class: one number, or one per class.
    name
        What to call it in a signature.

    Examples
    --------
    >>> import outperform as op
    >>> op.Prior(rows=1.0, prevalence=2.0)
    Prior(rows=1, prevalence=2)
    >>> op.Prior.from_param("jeffreys")
    Prior('jeffreys')
    """

    rows: Any = 1.0
    prevalence: Any = 1.0
    name: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", _checked(self.rows, "rows", dimensions=(0, 2, 3)))
        object.__setattr__(
            self, "prevalence", _checked(self.prevalence, "prevalence", dimensions=(0, 1))
        )

    @classmethod
    def from_param(cls, prior: str | float | Sequence[Any] | Prior | None) -> Prior:
        """Take a name, a number, an array of row shapes or a prior.

        Parameters
        ----------
        prior
            ``"uniform"`` or None, ``"jeffreys"``, the shape of every cell, an
            array for ``rows``, or a prior, which is returned as it is.
        """
        if isinstance(prior, Prior):
            return prior
        if prior is None:
            return _NAMED["uniform"]
        if isinstance(prior, str):
            if prior not in _NAMED:
                raise UsageError(unknown_name("prior", prior, _NAMED))
            return _NAMED[prior]
        return cls(rows=prior)

    def row_shapes(self, n_classes: int, n_models: int) -> FloatArray:
        """Return shapes of ``(n_classes, n_classes, …)``: truth, then each model's prediction.

        Parameters
        ----------
        n_classes
            How many classes there are.
        n_models
            How many models are paired.
        """
        full = (n_classes,) * (1 + n_models)
        if self.rows.ndim == 0:
            return np.full(full, float(self.rows))
        if self.rows.shape == full:
            return np.array(self.rows)
        if self.rows.shape != (n_classes, n_classes):
            raise UsageError(
                f"prior rows must be a number or an array of shape {(n_classes, n_classes)} or "
                f"{full}; got shape {self.rows.shape}"
            )
        return product_rows(self.rows, n_models)

    def prevalence_shapes(self, n_classes: int) -> FloatArray:
        """Return one shape per class.

        Parameters
        ----------
        n_classes
            How many classes there are.
        """
        if self.prevalence.ndim == 1 and self.prevalence.size != n_classes:
            raise UsageError(
                f"prior prevalence must have {n_classes} values; got {self.prevalence.size}"
            )
        return np.broadcast_to(self.prevalence, (n_classes,)).astype(np.float64)

    def __repr__(self) -> str:
        if self.name is not None:
            return f"Prior({self.name!r})"
        return f"Prior(rows={_short(self.rows)}, prevalence={_short(self.prevalence)})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Prior) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        return (
            self.rows.shape,
            self.rows.tobytes(),
            self.prevalence.shape,
            self.prevalence.tobytes(),
        )


def product_rows(rows: FloatArray, n_models: int) -> FloatArray:
    """Return the product prior: each model's marginal is ``rows``, each row's mass is kept.

    With row mass ``s``, a pair of predictions gets ``ω_jk · ω_jl / s_j``.
    """
    mass = rows.sum(axis=1)
    # A row without mass has no shares; whether it may have none is the posterior's business.
    shares = rows / np.where(mass > 0, mass, 1.0)[:, None]
    joint = mass
    for model in range(n_models):
        shape = (len(mass),) + (1,) * model + (rows.shape[1],)
        joint = joint[..., None] * shares.reshape(shape)
    product: FloatArray = joint
    return product


def _checked(value: Any, what: str, *, dimensions: tuple[int, ...]) -> FloatArray:
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise UsageError(f"prior {what} must be numbers; got {value!r}") from error
    if array.ndim not in dimensions or not array.size:
        raise UsageError(f"prior {what} has the wrong shape {array.shape}")
    if not np.all(np.isfinite(array)) or array.min() < 0:
        raise UsageError(f"prior {what} must be finite and not negative; got {value!r}")
    if np.any((array > 0) & (array < _SMALLEST)):
        raise UsageError(f"prior {what} below {_SMALLEST} cannot be told from zero; got {value!r}")
    array.setflags(write=False)
    return array


def _short(array: FloatArray) -> str:
    return f"{float(array):g}" if array.ndim == 0 else f"<array {'x'.join(map(str, array.shape))}>"


_NAMED = {
    "uniform": Prior(rows=1.0, prevalence=1.0, name="uniform"),
    "jeffreys": Prior(rows=0.5, prevalence=0.5, name="jeffreys"),
}
