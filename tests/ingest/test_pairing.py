"""Pairing a run with a stored baseline, document by document."""

from __future__ import annotations

import numpy as np
import pytest

import outperform as op
from outperform.errors import DataError
from outperform.ingest import Baseline, Rows
from outperform.ingest.pairing import pair_rows

NAMES = ("new", "old")


def column(values):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def run(ids, truth, predictions):
    return Rows(ids=column(ids), truth=column(truth), predictions=column(predictions))


def stored(ids, truth, predictions):
    return Baseline(ids=column(ids), truth=column(truth), predictions=column(predictions))


def test_documents_are_paired_by_id_whatever_their_order():
    rng = np.random.default_rng(0)
    ids = [f"d{k}" for k in range(200)]
    truth, new, old = (rng.choice(["a", "b", "c"], 200).tolist() for _ in range(3))
    order = rng.permutation(200).tolist()
    shuffled = [[column_[k] for k in order] for column_ in (ids, truth, old)]
    found = pair_rows(run(ids, truth, new), stored(*shuffled), names=NAMES)
    assert found == op.Outcomes.from_labels(truth, {"new": new, "old": old})


def test_numbers_stored_as_text_are_the_same_truth():
    found = pair_rows(
        run(["x", "y"], [1, 0], [1, 1]), stored(["x", "y"], ["1", "0"], ["1", "0"]), names=NAMES
    )
    assert found.labels in ((0, 1), ("0", "1"))
    assert [one.name for one in found.findings] == ["labels_converted"]


def test_only_common_documents_count_if_that_is_asked_for():
    new = run(["a", "b", "c"], [1, 0, 1], [1, 0, 1])
    old = stored(["b", "c", "d"], [0, 1, 1], [0, 0, 1])
    with pytest.raises(DataError, match=r"1 of the baseline are missing here \('d'\) and 1 here"):
        pair_rows(new, old, names=NAMES)
    found = pair_rows(new, old, names=NAMES, on_missing="drop")
    assert found.n == 2
    assert [one.name for one in found.findings] == ["unmatched_ids_dropped"]


def test_no_common_document_is_refused_whatever_was_asked_for():
    with pytest.raises(DataError, match="share no document: 'a' here, 'b' in the baseline"):
        pair_rows(run(["a"], [1], [1]), stored(["b"], [1], [1]), names=NAMES, on_missing="drop")


def test_a_changed_truth_needs_a_word():
    new, old = run(["a", "b"], [1, 1], [1, 1]), stored(["a", "b"], [1, 0], [1, 0])
    with pytest.raises(DataError, match=r"of 1 of 2 documents is not the baseline's \('b'\)"):
        pair_rows(new, old, names=NAMES)
    found = pair_rows(new, old, names=NAMES, new_truth=True)
    assert [one.name for one in found.findings] == ["truth_changed"]
    assert found.confusion("old").tolist() == [[0, 0], [1, 1]]


def test_many_examples_are_cut():
    ids = [f"d{k}" for k in range(100)]
    with pytest.raises(DataError, match=r"99 of the baseline .* 'd5', …\)"):
        pair_rows(run(["d0"], [1], [1]), stored(ids, [1] * 100, [1] * 100), names=NAMES)
