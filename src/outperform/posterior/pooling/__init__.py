"""Many slices at once: each has its own posterior, pulled toward the whole."""

from outperform.posterior.pooling.counting import pool_slices
from outperform.posterior.pooling.drawing import SlicesPosterior

__all__ = ["SlicesPosterior", "pool_slices"]
