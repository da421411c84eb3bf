"""P-values: tests on items, on classes and on folds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from outperform.nhst.folds import corrected_resampled_t, f_5x2, t_5x2
from outperform.nhst.items import (
    TestResult,
    mcnemar,
    paired_t_over_classes,
    sign_test,
    sign_test_over_classes,
    welch_test,
)
from outperform.wrong_calls import unknown_export

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


if not TYPE_CHECKING:  # else every misspelled name would pass the type checker

    def __getattr__(name: str) -> object:
        """Answer a wrong guess with the name to type."""
        raise AttributeError(
            name if name.startswith("__") else unknown_export(__name__, name, __all__)
        )
