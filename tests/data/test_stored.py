"""Stored outcomes: whatever happens to a file, it is refused or read as what was stored."""

from __future__ import annotations

import copy
import json
import random

import pytest

from outperform import Outcomes
from outperform._files import MOST, signed
from outperform.errors import DataError
from tests.loops import each

NAMES = {"a": ["NA", "1", "", "x"], "b": ["x", "1", "", "x"]}
STORED = {
    "classes": Outcomes.from_labels(["NA", "01", "", "x"], NAMES),
    "slices": Outcomes.from_labels([3, -1, 3], {"a": [3, 3, 3]}, by={"day": [1, 1, 2]}),
    "groups": Outcomes.from_labels([1, 0, 1], {"a": [1, 1, 0]}, groups=["x", "x", "y"]),
    "weights": Outcomes.from_correct({"a": [1, 0, 1]}, sample_weight=[0.5, 2.0, 1.25]),
    "sets": Outcomes.from_label_sets([{"p", "q"}, set()], {"a": [{"p"}, {"q"}]}),
    "spans": Outcomes.from_spans([[(0, 1, "L")], []], {"a": [[(0, 1, "L")], [(1, 2, "P")]]}),
    "unpaired": Outcomes.from_confusion({"a": [[1, 2], [3, 4]], "b": [[4, 3], [2, 1]]}),
    "pool": Outcomes.from_pool([1, 0], {"a": [1, 0, 1], "b": [1, 1, 1]}, which=[0, 1]),
    "huge": Outcomes.from_counts([True, False], {"a": [True, True]}, [2**64 + 1, 2**53 + 1]),
    "sum": Outcomes.from_labels(["é"], {"a": ["é"]}) + Outcomes.from_labels(["\n"], {"a": ["é"]}),
}


def edited(name, *path, value):
    """Return the JSON text of outcomes with another value at a path, and a checksum that fits."""
    data = copy.deepcopy(STORED[name].to_dict())
    inside = data
    for step in path[:-1]:
        inside = inside[step]
    inside[path[-1]] = value
    return json.dumps(signed(data))


# The text


@each(
    ("text", "words"),
    [
        (b"", "Expecting value"),
        (b" ", "Expecting value"),
        ("[" * 100_000, "nested too deeply"),
        ('{"format":' * 100_000, "nested too deeply"),
        ('{"schema": ' + "9" * 5_000 + "}", "digits"),
        (b"\xef\xbb\xbf{}", "byte order mark"),
        (b'{"format": "\xff"}', "not UTF-8: invalid start byte at byte 12"),
        (b"\xff\xfe{\x00}\x00", "not UTF-8"),
        ('{"format": 1, "format": 1}', "the key 'format' occurs twice"),
        ('{"format": NaN}', "NaN is not a number"),
        ('{"format": [-Infinity]}', "-Infinity is not a number"),
        ("{} {}", "Extra data"),
        ("{'format': 1}", "property name"),
        ('{"format": "\n"}', "control character"),
    ],
)
def test_what_is_no_json_of_ours_is_told(text, words):
    with pytest.raises(DataError, match=f"this JSON does not contain outcomes: .*{words}"):
        Outcomes.from_json(text)


# The fields, behind a checksum that fits


FIELDS = [
    ("classes", ("schema",), True, "schema True"),
    ("classes", ("schema",), 2.0, "schema 2.0"),
    ("classes", ("schema",), "2", "schema '2'"),
    ("classes", ("schema",), 3, "upgrade"),
    ("classes", ("schema",), None, "schema None"),
    ("classes", ("kind",), "other", "kind must be one of"),
    ("classes", ("kind",), ["classes"], "kind must be one of"),
    ("classes", ("kind",), "label_sets", "the field 'sets' must be present"),
    ("classes", ("extra",), 1, "unknown field extra"),
    ("classes", ("models",), "ab", "models must be a list"),
    ("classes", ("models",), ["a", 1], r"models\[1\] must be text"),
    ("classes", ("models", 0), "\ud800", r"models\[0\] must be text without lone surrogates"),
    ("classes", ("labels", 0), "\udfff", "lone surrogates"),
    ("classes", ("labels", 0), None, r"labels\[0\] must be an integer"),
    ("classes", ("labels", 0), 1.0, r"labels\[0\] must be an integer"),
    ("classes", ("labels",), [0, 1, 2, 3, "x"], "of one type"),
    ("huge", ("labels",), [0, True], "of one type"),
    ("classes", ("tables",), {}, "tables must be a list"),
    ("classes", ("tables", 0), [], r"tables\[0\] must be an object"),
    ("classes", ("tables", 0, "cells"), {}, "cells must be a list"),
    ("classes", ("tables", 0, "cells", 1), [0, 0], r"cells\[1\] must be a list of the same length"),
    ("classes", ("tables", 0, "cells", 0, 0), 0.7, "an integer .* got 0.7"),
    ("classes", ("tables", 0, "cells", 0, 0), "0", "an integer .* got '0'"),
    ("classes", ("tables", 0, "cells", 0, 0), False, "an integer .* got False"),
    ("classes", ("tables", 0, "cells", 0, 0), None, "an integer .* got None"),
    ("classes", ("tables", 0, "cells", 0, 0), -1, "an integer .* got -1"),
    ("classes", ("tables", 0, "cells", 0, 0), 2**70, "an integer .* got 1180591620717411303424"),
    ("classes", ("tables", 0, "cells", 0, 0), 2**62, "not in labels"),
    ("classes", ("tables", 0, "cells", 0), [1, 2, 2], "a cell occurs twice"),
    ("classes", ("tables", 0, "counts", 0), 0, "or its count is zero"),
    ("classes", ("tables", 0, "counts", 0), 1.0, "an integer .* got 1.0"),
    ("classes", ("tables", 0, "counts", 0), True, "an integer .* got True"),
    ("classes", ("tables", 0, "counts", 0), 10**30, r"from 0 to 10\*\*27"),
    ("classes", ("tables", 0, "counts", 0), 10**400, r"from 0 to 10\*\*27; got 1000.*…"),
    ("classes", ("tables", 0, "counts", 0), MOST, r"can contain at most 10\*\*27"),
    ("classes", ("findings",), [1, 2, 3], r"findings\[0\] must be a list"),
    ("classes", ("findings",), [[["x"], "warning", {"a": 1}]], r"findings\[0\]\[0\] must be text"),
    ("classes", ("findings",), [["x", "bogus", "words"]], "one of 'note', 'warning', 'serious'"),
    ("classes", ("findings",), [["x", "warning", 1]], r"findings\[0\]\[2\] must be text"),
    ("classes", ("findings",), [["X\n", "warning", "words"]], "the name of a finding"),
    ("classes", ("findings",), [["x", "serious", "words"]], "cannot contain the serious finding"),
    ("classes", ("sources", 0, "sha256"), "0" * 63, "64 lower-case"),
    ("classes", ("sources", 0, "sha256"), "A" * 64, "64 lower-case"),
    ("classes", ("sources", 0, "n"), "4", r"sources\[0\].n must be an integer"),
    ("classes", ("sources", 0, "telling"), 0, "true or false"),
    ("classes", ("sources", 0, "file"), "x", r"unknown field sources\[0\].file"),
    ("classes", ("sources",), [{}], r"sources\[0\].name is missing"),
    ("classes", ("sets",), [], "the field 'sets' must be present"),
    ("slices", ("slices", "keys", 0), [1], r"slices.keys\[0\]\[0\] must be text"),
    ("slices", ("slices", "by"), [], "names"),
    ("slices", ("slices", "cells", 0), [0, 1, 1], "a slice occurs twice"),
    ("slices", ("slices",), None, "slices must be an object"),
    ("groups", ("tables", 0, "groups", "weights"), [1.0], "either the field 'times' or"),
    ("groups", ("tables", 0, "groups", "times", 0), 2**63, "must be an integer from 0"),
    ("groups", ("tables", 0, "groups", "repeats", 0), 10**26, "do not add up to the table"),
    ("weights", ("tables", 0, "groups", "weights"), [1e308] * 3, "a finite number"),
    ("weights", ("tables", 0, "groups", "weights", 0), "1", "finite positive number"),
    ("weights", ("tables", 0, "groups", "weights", 0), 10**400, "finite positive number"),
    ("sets", ("sets", 1), [0.0], r"element 0 of sets\[1\] must be an integer"),
    ("sets", ("sets", 1), 0, r"sets\[1\] must be a list"),
    ("unpaired", ("models",), ["a", "b", "c"], "do not match"),
    ("unpaired", ("tables", 0, "cells", 0), [0, 0, 0], "of the same length as the first"),
    ("pool", ("pool", "counts", 0), 10**30, "an integer"),
    ("pool", ("pool", "cells", 0), [1, 1], "occurs twice"),
    ("spans", ("slices",), {"by": ["x"], "keys": [], "cells": [], "counts": []}, "slice"),
]


@each(("name", "path", "value", "words"), FIELDS)
def test_a_wrong_field_is_told_with_its_place(name, path, value, words):
    with pytest.raises(DataError, match=words):
        Outcomes.from_json(edited(name, *path, value=value))


def test_a_value_that_json_cannot_hold_is_told_too():
    for value in (10**5000, [[]] * 3, object(), {1: 2}, float("nan")):
        for field in STORED["classes"].to_dict():
            data = STORED["classes"].to_dict() | {field: value}
            with pytest.raises(DataError):
                Outcomes.from_dict(data)


@each("name", STORED)
def test_every_field_is_needed(name):
    data = STORED[name].to_dict()
    for field in set(data) - {"pool", "slices"}:
        rest = {one: data[one] for one in data if one != field}
        with pytest.raises(DataError):
            Outcomes.from_dict(rest if field == "sha256" else signed(rest))


def test_findings_of_counting_come_back_whatever_their_name():
    data = STORED["classes"].to_dict()
    data["findings"] = [["of_tomorrow", "warning", "Words."], ["repeated_rows", "serious", "Once."]]
    found = Outcomes.from_dict(signed(data)).findings
    assert [(one.name, one.level) for one in found] == [
        ("of_tomorrow", "warning"), ("repeated_rows", "serious")
    ]  # fmt: skip


# The checksum


@each("name", STORED)
def test_an_edited_file_is_refused(name):
    data = STORED[name].to_dict()
    assert Outcomes.from_dict(data) == STORED[name]
    if name != "weights":  # whose sum of weights nothing else would tell
        data["sources"][0]["n"] += 1
    else:
        data["tables"][0]["groups"]["weights"][0] += 0.25
    with pytest.raises(DataError, match="does not match"):
        Outcomes.from_dict(data)


@pytest.mark.parametrize("name", ["classes", "slices", "sum"])
def test_no_flipped_bit_gives_other_outcomes(name):
    seen = STORED[name]
    stored = bytearray(seen.to_json().encode("utf-8"))
    for place in range(8 * len(stored)):
        stored[place // 8] ^= 1 << place % 8
        try:
            found = Outcomes.from_json(bytes(stored))
        except DataError:
            pass
        else:
            assert found.to_dict() == seen.to_dict()
        stored[place // 8] ^= 1 << place % 8


@each("name", STORED)
def test_no_cut_file_gives_other_outcomes(name):
    stored = STORED[name].to_json().encode("utf-8")
    for size in range(len(stored)):
        with pytest.raises(DataError):
            Outcomes.from_json(stored[:size])


# Seeded mutations of every field, with a checksum that fits


HOSTILE = [
    None, True, False, 0, 1, 2, -1, 7, 2**31, 2**53 + 1, 2**63 - 1, 2**63, 2**70, 10**26, MOST,
    MOST + 1, 10**400, 0.0, 0.5, 1.0, 1e308, -1e308, 1e-320, "", "0", "x", "é", "\ud800", "serious",
    [], [0], [[]], [[0]], [[0, 0]], [1.0], ["x"], [None], {}, {"a": 1}, {"cells": [], "counts": []},
    "a" * 5_000, [0] * 500, [[0, 0, 0]] * 3,
]  # fmt: skip


def places(value, path=()):
    """Yield the path of every value inside, at any depth."""
    yield path
    if isinstance(value, (dict, list)):
        inside = value.items() if isinstance(value, dict) else enumerate(value)
        for key, one in list(inside):
            yield from places(one, (*path, key))


def deep(rng):
    value = rng.choice(HOSTILE)
    for _ in range(rng.choice([1, 3, 200])):
        value = [value] if rng.random() < 0.5 else {"cells": value}
    return value


def mutated(data, rng):
    """Return plain values with one to three changes at random places."""
    data = copy.deepcopy(data)
    for _ in range(rng.choice([1, 1, 2, 3])):
        *path, last = rng.choice([one for one in places(data) if one])
        inside = data
        for step in path:
            inside = inside[step]
        change = rng.choice(["replace", "replace", "deep", "drop", "twice", "other"])
        if change == "replace":
            inside[last] = copy.deepcopy(rng.choice(HOSTILE))
        elif change == "deep":
            inside[last] = deep(rng)
        elif change == "drop":
            del inside[last]
        elif change == "twice" and isinstance(inside, list):
            inside.extend(copy.deepcopy([inside[last]]) * rng.choice([1, 1, 300]))
        else:
            *outer, end = rng.choice([one for one in places(data) if one])
            value = data
            for step in (*outer, end):
                value = value[step]
            inside[last] = copy.deepcopy(value)
        if not data:
            return data
    return data


@each("name", STORED)
def test_mutated_outcomes_are_refused_or_sound(name):
    rng = random.Random(name)
    plain = STORED[name].to_dict()
    for _ in range(60):
        data = mutated(plain, rng)
        try:
            found = Outcomes.from_json(json.dumps(signed(data)))
            assert Outcomes.from_json(found.to_json()) == found
            assert found.n <= MOST
            found.select(found.models[::-1])
            if found.pool is None:  # which does not add up with itself
                assert (found + found).n == 2 * found.n
        except DataError:
            pass
