"""Metrics of counts of any size against rational arithmetic."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outperform import metrics
from tests.loops import each

HUGE = (2**53 + 1, 2**63 - 1, 10**18)
TOLERANCE = 1e-12


def share(top, bottom):
    return Fraction(top, bottom) if bottom else Fraction(0)


def per_class(name, tp, fp, fn, tn):
    if name == "informedness":
        defined = (tp + fn) and (fp + tn)
        return Fraction(tp, tp + fn) - Fraction(fp, fp + tn) if defined else Fraction(0)
    return {
        "precision": share(tp, tp + fp),
        "recall": share(tp, tp + fn),
        "specificity": share(tn, tn + fp),
        "f1": share(2 * tp, 2 * tp + fp + fn),
        "jaccard": share(tp, tp + fp + fn),
    }[name]


def exact(name, table):
    """Return the metric of a table of Python integers, class 0 for binary ones."""
    n_classes = len(table)
    total = sum(map(sum, table))
    actual = [sum(row) for row in table]
    predicted = [sum(column) for column in zip(*table, strict=True)]
    hits = [table[k][k] for k in range(n_classes)]
    chance = sum(a * p for a, p in zip(actual, predicted, strict=True))
    if name == "accuracy":
        return share(sum(hits), total)
    if name == "balanced_accuracy":
        recalls = [Fraction(h, a) for h, a in zip(hits, actual, strict=True) if a]
        return share(sum(recalls), len(recalls))
    if name == "cohen_kappa":
        apart = total * total - chance
        return 1 - Fraction((total - sum(hits)) * total, apart) if apart else None
    if name == "matthews_corrcoef":
        spread = (total**2 - sum(a * a for a in actual)) * (
            total**2 - sum(p * p for p in predicted)
        )
        with mpmath.workdps(80):
            root = mpmath.sqrt(spread)
            return (sum(hits) * total - chance) / root if spread else Fraction(0)
    family, _, average = name.partition("_")
    cells = [
        (h, p - h, a - h, total - a - p + h)
        for h, a, p in zip(hits, actual, predicted, strict=True)
    ]
    if average == "micro":
        return per_class(family, *(sum(column) for column in zip(*cells, strict=True)))
    values = [per_class(family, *cell) for cell in cells]
    if average == "":
        return values[0]
    weights = actual if average == "weighted" and total else [1] * n_classes
    return sum(w * v for w, v in zip(weights, values, strict=True)) / sum(weights)


def assert_exact(table, margins):
    for name in metrics.names():
        metric = metrics.get(name)
        value = float(metric.evaluate(margins, [0] if metric.average == "binary" else None))
        expected = exact(name, table)
        if expected is None:
            assert np.isnan(value)
        else:
            assert abs(value - float(expected)) <= TOLERANCE, (name, value, float(expected))


def given_margins(table):
    """Margins from sums in Python integers, as a table of outcomes hands them over."""
    return metrics.Margins(
        hits=np.array([table[k][k] for k in range(len(table))], dtype=object),
        actual=np.array([sum(row) for row in table], dtype=object),
        predicted=np.array([sum(column) for column in zip(*table, strict=True)], dtype=object),
    )


@each("a", HUGE)
@each("b", [*HUGE, 0, 1, 7])
@each("c", [*HUGE, 0, 3])
def test_two_classes(a, b, c):
    for table in ([[a, b], [c, 5]], [[5, b], [c, a]], [[b, a], [5, c]], [[a, a], [b, c]]):
        assert_exact(table, metrics.Margins.from_confusion(table))
        assert_exact(table, given_margins(table))


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_machine_integers_at_their_limit_do_not_wrap(dtype):
    top = 2**63 - 1
    table = [[top, 3, 1], [top, top, 0], [2, 5, top]]
    assert_exact(table, metrics.Margins.from_confusion(np.array(table, dtype=dtype)))


COUNTS = st.one_of(
    st.just(0), st.integers(0, 20), st.sampled_from(HUGE), st.integers(0, 10**30), st.just(2**64)
)


@given(
    st.integers(2, 5).flatmap(
        lambda n: st.lists(st.lists(COUNTS, min_size=n, max_size=n), min_size=n, max_size=n).filter(
            lambda table: any(map(any, table))
        )
    )
)
def test_any_table_of_whole_numbers(table):
    assert_exact(table, metrics.Margins.from_confusion(table))
    assert_exact(table, given_margins(table))


def test_matthews_of_rare_classes_where_the_plain_formula_gives_up():
    table = [[10**18, 2], [3, 5]]
    value = float(metrics.get("matthews_corrcoef").evaluate(metrics.Margins.from_confusion(table)))
    assert value == pytest.approx(float(exact("matthews_corrcoef", table)), rel=1e-14)
    assert value > 0.66
