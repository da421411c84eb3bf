"""Names for the types that every room shares."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
AnyArray: TypeAlias = NDArray[Any]

Label: TypeAlias = str | int | bool
"""A class is text, a whole number or a truth value; nothing else."""

Seed: TypeAlias = int | np.random.SeedSequence | np.random.Generator | np.random.RandomState | None


class Distribution(Protocol):
    """One exact marginal posterior: everything a report needs, without draws."""

    @property
    def mean(self) -> float: ...

    @property
    def sd(self) -> float: ...

    @property
    def support(self) -> tuple[float, float]: ...

    def cdf(self, value: float) -> float: ...

    def sf(self, value: float) -> float: ...

    def pdf(self, value: float) -> float: ...

    def quantile(self, probability: float) -> float: ...


Progress: TypeAlias = Callable[[int, int], None]
"""Called with how much is done, and with how much there is."""
