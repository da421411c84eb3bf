"""P-VALUES: tests on items, classes and folds."""

from __future__ import annotations

from outperform.nhst.folds import corrected_resampled_t, f_5x2, t_5x2
from outperform.nhst.items import (
    TestResult,
    mcnemar,
    paired_t_over_classes,
    sign_test,
    sign_test_over_classes,
    welch_test,
)

__all__ = [
    "TestResult",
    "corrected_resampled_t",
    "f_5x2",
    "mcnemar",
    "paired_t_over_classes",
    "sign_test",
    "sign_test_over_classes",
    "t_5x2",
    "welch_test",
]
