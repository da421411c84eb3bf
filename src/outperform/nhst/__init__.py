"""The frequentist companions: p-values for readers who ask for them."""

from outperform.nhst.classes import paired_t_over_classes, sign_test_over_classes
from outperform.nhst.documents import mcnemar, sign_test, welch_test
from outperform.nhst.folds import corrected_resampled_t, f_5x2, t_5x2
from outperform.nhst.result import TestResult

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
