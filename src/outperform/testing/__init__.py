"""Assertions for people who gate in pytest."""

from outperform.testing.assertions import assert_better, assert_not_worse

__all__ = ["assert_better", "assert_not_worse"]
