"""Comparisons of every kind that a report must show."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import outperform as op

STEADY = [[80, 10, 20], [78, 12, 22], [81, 9, 19], [77, 11, 23], [79, 10, 21], [78, 13, 22]]
WILD = [[90, 5, 10], [92, 4, 8], [40, 50, 60], [45, 60, 55], [88, 9, 12], [60, 20, 40]]
WEAK = [[40, 30, 60], [41, 31, 59], [42, 30, 58], [39, 31, 61], [41, 32, 59], [40, 29, 60]]


def labels(n: int = 400, n_classes: int = 4, seed: int = 1) -> tuple[Any, Any, Any]:
    """Return a truth and two classifiers that are right in four and in three cases of five."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_classes, size=n)
    a, b = (
        np.where(rng.random(n) < right, truth, rng.integers(n_classes, size=n))
        for right in (0.8, 0.6)
    )
    return truth, a, b


def _error_rate(confusion: Any) -> Any:
    return 1 - np.trace(confusion) / confusion.sum(axis=(0, 1))


def sampled() -> op.Comparison:
    return op.compare(
        *labels(), metric="f1_macro", rope=0.05, names=("bert", "gpt"), random_state=1
    )


def default_rope() -> op.Comparison:
    return op.compare(*labels(90), metric="f1_macro", n_draws=2_000, random_state=1)


def exact() -> op.Comparison:
    seen = op.Outcomes.from_correct({"a": [1] * 90 + [0] * 10, "b": [1] * 80 + [0] * 20})
    return op.compare(seen, "a", "b", metric="accuracy", rope=0.03, random_state=1)


def unequal_ends() -> op.Comparison:
    return sampled().with_rope((-0.02, 0.07))


def one_sided() -> op.Comparison:
    return exact().with_rope((0, 0.0333))


def no_width() -> op.Comparison:
    return sampled().with_rope(0)


def tie() -> op.Comparison:
    truth, a, _ = labels(60, 2)
    asked = {"metric": "f1", "rope": 0.01, "n_draws": 2_000, "random_state": 1}
    return op.compare(truth, a, a, prior="uniform", **asked)


def withheld_equivalence() -> op.Comparison:
    truth, a, _ = labels(3_000, 2)
    return op.compare(truth, a, a, metric="f1", rope=0.01, prior="bootstrap", random_state=1)


def withheld_difference() -> op.Comparison:
    against = [[tp + fn - 80, 60, 80] for tp, _, fn in WILD]
    return op.compare_cv_counts(WILD, against, rope=0.01, random_state=0)


def folds() -> op.Comparison:
    return op.compare_cv_counts(STEADY, WEAK, rope=0.01, random_state=0, names=("crf", "rules"))


def lower_is_better() -> op.Comparison:
    metric = op.metrics.from_function(
        _error_rate, vectorized=True, bounds=(0, 1), greater_is_better=False
    )
    return op.compare(*labels(), metric=metric, rope=0.05, n_draws=2_000, random_state=1)


def unbounded() -> op.Comparison:
    metric = op.metrics.from_function(lambda c: 1_000 * _error_rate(c), vectorized=True)
    return op.compare(*labels(), metric=metric, rope=40, n_draws=2_000, random_state=1)


def unpaired() -> op.Comparison:
    seen = op.Outcomes.from_confusion({"a": [[40, 5], [9, 46]], "b": [[41, 4], [12, 43]]})
    return op.compare(seen, "a", "b", metric="recall", rope=0.04, pos_label=1, random_state=1)


def spans() -> op.Comparison:
    gold = [["B-PER", "I-PER", "O", "B-LOC"], ["O", "B-PER", "O", "O"]] * 30
    one = [["B-PER", "I-PER", "O", "B-LOC"], ["O", "B-LOC", "O", "O"]] * 30
    two = [["B-PER", "O", "O", "B-LOC"], ["O", "B-PER", "O", "B-LOC"]] * 30
    seen = op.Outcomes.from_tags(gold, {"one": one, "two": two}, scheme="IOB2")
    return op.compare(seen, "one", "two", metric="f1", rope=0.05, n_draws=2_000, random_state=1)


def many_classes() -> op.Comparison:
    return op.compare(*labels(900, 30), metric="accuracy", rope=0.01, n_draws=2_000, random_state=1)


KINDS: dict[str, Callable[[], op.Comparison]] = {
    kind.__name__: kind
    for kind in (
        sampled,
        default_rope,
        exact,
        unequal_ends,
        one_sided,
        no_width,
        tie,
        withheld_equivalence,
        withheld_difference,
        folds,
        lower_is_better,
        unbounded,
        unpaired,
        spans,
        many_classes,
    )
}
