"""Spans and malformed places worked by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from outperform.data.spans import get_scheme
from outperform.data.tag_schemes import Scheme
from outperform.errors import DataError
from tests.loops import each


def words(*lengths):
    """Return the spans of words in a row."""
    spans, start = [], 0
    for length in lengths:
        spans.append((start, start + length, "span"))
        start += length
    return tuple(spans)


# tags, spans by default, spans strictly, malformed
BMES = [
    ("", (), (), ()),
    ("S", words(1), words(1), ()),
    ("B E", words(2), words(2), ()),
    ("B M E", words(3), words(3), ()),
    ("B M M E S B E", words(4, 1, 2), words(4, 1, 2), ()),
    ("S S S", words(1, 1, 1), words(1, 1, 1), ()),
    # A begin that nothing ends.
    ("B", words(1), (), (0,)),
    ("B S", words(1, 1), ((1, 2, "span"),), (0,)),
    ("B B E", words(1, 2), ((1, 3, "span"),), (0,)),
    ("B M S", words(2, 1), ((2, 3, "span"),), (1,)),
    ("B M", words(2), (), (1,)),
    # An inside or an end that nothing begins.
    ("M E", words(2), (), (0,)),
    ("E", words(1), (), (0,)),
    ("S E S", words(1, 1, 1), ((0, 1, "span"), (2, 3, "span")), (1,)),
    ("S M M E", words(1, 3), words(1), (1,)),
    ("B E E", words(2, 1), words(2), (2,)),
    ("B E M E", words(2, 2), words(2), (2,)),
    ("B O E", ((0, 1, "span"), (2, 3, "span")), (), (0, 2)),
]

BB2B3MES = [
    ("S", words(1), words(1), ()),
    ("B E", words(2), words(2), ()),
    ("B B2 E", words(3), words(3), ()),
    ("B B2 B3 E", words(4), words(4), ()),
    ("B B2 B3 M E", words(5), words(5), ()),
    ("B B2 B3 M M M E S", words(7, 1), words(7, 1), ()),
    # Tags that a shorter or a longer word would have: the word is one by default.
    ("B M E", words(3), (), (0, 1)),
    ("B B3 E", words(3), (), (0, 1)),
    ("B B2 M E", words(4), (), (1, 2)),
    ("B B2 B2 E", words(4), (), (1, 2)),
    ("B B2 B3 B3 E", words(5), (), (2, 3)),
    # Words without a beginning or an end.
    ("B2 E", words(2), (), (0,)),
    ("B B2", words(2), (), (1,)),
    ("B B2 S", words(2, 1), ((2, 3, "span"),), (1,)),
    ("B B E", words(1, 2), ((1, 3, "span"),), (0,)),
    ("B B2 E B3 E", words(3, 2), words(3), (3,)),
]

# Types, and the schemes whose prefixes depend on their neighbours.
TYPED = [
    ("IOB2", "B-PER I-PER O B-LOC", ((0, 2, "PER"), (3, 4, "LOC")), None, ()),
    ("IOB2", "B-PER I-LOC", ((0, 1, "PER"), (1, 2, "LOC")), ((0, 1, "PER"),), (1,)),
    ("IOB2", "I-PER I-PER", ((0, 2, "PER"),), (), (0,)),
    ("IOB2", "B-a-b I-a-b", ((0, 2, "a-b"),), None, ()),
    ("IOB2", "B I O B-PER", ((0, 2, "span"), (3, 4, "PER")), None, ()),
    ("IOB2", "B-PER O-PER I-PER", ((0, 1, "PER"), (2, 3, "PER")), ((0, 1, "PER"),), (1, 2)),
    ("IOB1", "I-PER I-PER B-PER O", ((0, 2, "PER"), (2, 3, "PER")), None, ()),
    ("IOB1", "I-PER I-LOC", ((0, 1, "PER"), (1, 2, "LOC")), None, ()),
    ("IOB1", "O B-PER I-PER", ((1, 3, "PER"),), ((2, 3, "PER"),), (1,)),
    ("IOB1", "I-PER B-LOC", ((0, 1, "PER"), (1, 2, "LOC")), ((0, 1, "PER"),), (1,)),
    ("IOE1", "I-PER E-PER I-PER", ((0, 2, "PER"), (2, 3, "PER")), None, ()),
    ("IOE1", "I-PER E-PER O", ((0, 2, "PER"),), (), (1,)),
    ("IOE1", "I-PER E-PER I-LOC", ((0, 2, "PER"), (2, 3, "LOC")), ((2, 3, "LOC"),), (1,)),
    ("IOE2", "I-PER E-PER E-LOC", ((0, 2, "PER"), (2, 3, "LOC")), None, ()),
    ("IOE2", "I-PER O E-PER", ((0, 1, "PER"), (2, 3, "PER")), ((2, 3, "PER"),), (0,)),
    ("IOBES", "S-PER B-PER I-PER E-PER", ((0, 1, "PER"), (1, 4, "PER")), None, ()),
    ("IOBES", "B-PER E-LOC", ((0, 1, "PER"), (1, 2, "LOC")), (), (0, 1)),
    ("BILOU", "U-PER B-PER L-PER", ((0, 1, "PER"), (1, 3, "PER")), None, ()),
    ("BILOU", "U-PER L-PER", ((0, 1, "PER"), (1, 2, "PER")), ((0, 1, "PER"),), (1,)),
]

ROWS = [
    *(("BMES", *row) for row in BMES),
    *(("BB2B3MES", *row) for row in BB2B3MES),
    *TYPED,
]


@each(("name", "tags", "lenient", "strict", "malformed"), ROWS)
def test_spans_worked_by_hand(name, tags, lenient, strict, malformed):
    scheme = get_scheme(name)
    tags = tags.split()
    assert scheme.read(tags) == (lenient, malformed)
    assert scheme.read(tags, strict=True) == (lenient if strict is None else strict, malformed)


@pytest.mark.parametrize(
    "column", [tuple, np.array, lambda tags: pd.Series(tags, index=[7, 8, 9]), pl.Series]
)
def test_tags_may_come_in_any_column(column):
    tags = ["B-PER", "I-PER", "O"]
    scheme = get_scheme("IOB2")
    assert scheme.read(column(tags)) == scheme.read(tags)


def test_another_delimiter():
    scheme = Scheme(name="mine", roles={"B": "begin", "I": "inside", "O": "outside"}, delimiter="_")
    assert scheme.read(["B_x-y", "I_x-y"]).spans == ((0, 2, "x-y"),)


@each(
    ("name", "tags", "words"),
    [
        ("IOB2", ["O", "E-PER"], "IOB2 must begin with B, I, O; got 'E-PER' at position 1; "),
        ("IOB2", ["B-PER", "E-PER"], "fit IOBES or BMES or BB2B3MES$"),
        ("IOB2", ["U-PER"], "fit BILOU$"),
        ("IOB2", ["Q-PER"], "for a custom scheme, pass a table of prefixes and roles"),
        ("IOB2", ["PER"], "got 'PER' at position 0"),
        ("IOB2", ["b-PER"], "got 'b-PER' at position 0"),
        ("IOB2", [""], "got '' at position 0"),
        ("IOB2", ["O", "B-"], "must have a type after '-'; got 'B-' at position 1"),
        ("IOB2", ["O", None], "a tag must be text; got None at position 1"),
        ("BMES", "BMES", "must be a list of text; got str 'BMES'"),
    ],
)
def test_what_is_no_tag_is_refused(name, tags, words):
    with pytest.raises(DataError, match=words):
        get_scheme(name).read(tags)
