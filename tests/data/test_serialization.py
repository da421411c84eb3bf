"""Outcomes as JSON and back; damage is told, never counted."""

from __future__ import annotations

import copy
import json

import pytest

from outperform import Outcomes
from outperform._files import signed
from outperform.errors import DataError
from tests.loops import each

EXAMPLES = {
    "text": Outcomes.from_labels(["NA", "01", ""], {"a": ["NA", "1", ""], "b": ["x", "1", ""]}),
    "numbers": Outcomes.from_labels([3, -1], {"a": [3, 3]}),
    "booleans": Outcomes.from_labels([True, False], {"a": [True, True]}),
    "huge": Outcomes.from_counts([1, 0], {"a": [1, 0]}, [2**64 + 1, 2**53 + 1]),
    "unpaired": Outcomes.from_confusion({"a": [[1, 2], [3, 4]], "b": [[4, 3], [2, 1]]}),
    "correct": Outcomes.from_correct({"a": [1, 0], "b": [1, 1]}),
    "converted": Outcomes.from_labels([1, 0], {"a": ["1", "0"]}),
    "one class": Outcomes.from_labels(["x"], {"a": ["x"]}),
}


@each("name", EXAMPLES)
def test_the_round_trip_loses_nothing(name):
    seen = EXAMPLES[name]
    back = Outcomes.from_json(seen.to_json())
    assert back == seen
    assert back.labels == seen.labels
    assert [type(label) for label in back.labels] == [type(label) for label in seen.labels]
    assert (back.kind, back.findings, back.n) == (seen.kind, seen.findings, seen.n)
    assert Outcomes.from_dict(seen.to_dict()) == seen
    json.dumps(seen.to_dict(), allow_nan=False)


def test_the_schema_is_named():
    data = EXAMPLES["text"].to_dict()
    assert (data["format"], data["schema"]) == ("outperform/outcomes", 2)


def changed(**fields):
    """Return outcomes with other fields, and with the checksum of these."""
    return signed(copy.deepcopy(EXAMPLES["text"].to_dict()) | fields)


TABLE = EXAMPLES["text"].to_dict()["tables"][0]


@each(
    ("data", "words"),
    [
        ({}, "format"),
        (changed(format="other"), "format"),
        (changed(schema=1), r"schema 1 cannot be read \(known: 2\)"),
        (changed(labels=["a", 0.5]), r"labels\[1\] must be an integer"),
        (changed(labels=["a", "a", "b", "c", "d"]), "twice"),
        (changed(labels=["x", "NA", "1", "01", ""]), "sorted"),
        (changed(kind="other"), "kind"),
        (changed(models=["a"]), "do not match"),
        (changed(models=["a", "a"]), "twice"),
        (changed(tables=[]), "do not match"),
        (changed(tables=[{"cells": TABLE["cells"]}]), "damaged"),
        (changed(tables=[{**TABLE, "counts": [1]}]), "one count"),
        (
            changed(tables=[{**TABLE, "counts": [1, 1, -1]}]),
            "element 2 of .* an integer",
        ),
        (changed(tables=[{**TABLE, "counts": [1, 1, 0.5]}]), "must be an integer .* got 0.5"),
        (changed(tables=[{**TABLE, "cells": [[0, 0, 0], [1, 1, 1], [9, 0, 0]]}]), "not in labels"),
        (changed(tables=[{**TABLE, "cells": [[0, 0], [1, 1], [2, 2]]}]), "do not match"),
        (changed(findings=[["too", "few"]]), r"findings\[0\] must be a list of 3"),
    ],
)
def test_damage_is_told(data, words):
    with pytest.raises(DataError, match=words):
        Outcomes.from_dict(data)


@each("text", ["", "{", "[1, 2]", "null", '"outcomes"'])
def test_other_text_is_not_read_as_outcomes(text):
    with pytest.raises(DataError, match="outcomes"):
        Outcomes.from_json(text)
