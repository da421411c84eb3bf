"""Blocked cross-validation: repeated halves whose training sets share a quarter of the data."""

from outperform.comparison.blocked.bayes_test import bcv_compare, bcv_estimate
from outperform.comparison.blocked.checking import check_blocked
from outperform.comparison.blocked.correlation import Correlation
from outperform.comparison.blocked.cross import CrossComparison, cross_compare
from outperform.comparison.blocked.result import BlockedComparison, BlockedEstimate
from outperform.comparison.blocked.splitter import BlockedTwoFold

__all__ = [
    "BlockedComparison",
    "BlockedEstimate",
    "BlockedTwoFold",
    "Correlation",
    "CrossComparison",
    "bcv_compare",
    "bcv_estimate",
    "check_blocked",
    "cross_compare",
]
