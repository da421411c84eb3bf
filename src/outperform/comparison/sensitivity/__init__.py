"""How much the prior matters: the same comparison under other priors and other ROPEs."""

from outperform.comparison.sensitivity.asking import sensitivity
from outperform.comparison.sensitivity.result import Sensitivity

__all__ = ["Sensitivity", "sensitivity"]
