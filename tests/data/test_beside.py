"""Outcomes of two models of which nobody knows what they shared."""

from __future__ import annotations

import numpy as np
import pytest

import outperform as op
from outperform.data.checks import code_of
from outperform.data.views import stand_beside
from outperform.errors import DataError, UsageError


def alone(name, truth, predictions):
    return op.Outcomes.from_labels(truth, {name: predictions})


def test_tables_stand_beside_each_other_with_all_classes():
    new, old = alone("new", list("abb"), list("abc")), alone("old", list("dd"), list("da"))
    found = stand_beside(new, old)
    assert not found.paired
    assert found.labels == ("a", "b", "c", "d")
    for one in (new, old):
        (name,) = one.models
        kept = found.confusion(name)[np.ix_(*[[code_of(found, x) for x in one.labels]] * 2)]
        assert kept.tolist() == one.confusion(name).tolist()
        assert found.confusion(name).sum() == one.n


def test_it_is_what_unpairing_gives():
    both = op.Outcomes.from_labels([1, 0, 1, 1], {"new": [1, 0, 0, 1], "old": [1, 1, 0, 0]})
    assert stand_beside(both.select(["new"]), both.select(["old"])) == both.unpair()


def test_what_cannot_stand_beside_each_other():
    new = alone("new", [1, 0], [1, 0])
    with pytest.raises(UsageError, match="different names"):
        stand_beside(new, new)
    with pytest.raises(DataError, match="mixture"):
        stand_beside(new, alone("old", ["x", "y"], ["x", "y"]))
    with pytest.raises(DataError, match="kinds"):
        stand_beside(new, op.Outcomes.from_correct({"old": [1, 0]}))
