"""Tags of spans, and back again."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outperform.data.spans import get_scheme, scheme_names
from outperform.errors import DataError, UsageError
from tests.loops import each

OWN = {"X": "begin", "Y": "inside", "Z": "end", "W": "single", "_": "outside"}
ALL = [*scheme_names(), OWN]


@st.composite
def spans_in_a_row(draw):
    """Return spans with gaps of 0, 1 or 2 between them, and a length that holds them."""
    spans, position = [], 0
    for gap, length, kind in draw(
        st.lists(
            st.tuples(
                st.integers(0, 2), st.integers(1, 7), st.sampled_from(["PER", "a-b", "span"])
            ),
            max_size=6,
        )
    ):
        spans.append((position + gap, position + gap + length, kind))
        position += gap + length
    return spans, position + draw(st.integers(0, 2))


@pytest.mark.parametrize("scheme", ALL, ids=str)
@given(case=spans_in_a_row(), shuffled=st.randoms(use_true_random=False))
def test_what_is_written_is_well_formed_and_read_again(scheme, case, shuffled):
    scheme, (spans, length) = get_scheme(scheme), case
    mixed = list(spans)
    shuffled.shuffle(mixed)
    tags = scheme.write(mixed, length)
    assert len(tags) == length
    assert scheme.read(tags) == (tuple(spans), ())


@each("scheme", scheme_names())
def test_tags_are_well_formed_exactly_if_they_are_written_again(scheme):
    # All sequences of up to four tags with two types, so that no case is left out.
    scheme = get_scheme(scheme)
    inside = [prefix for prefix, role in scheme.roles.items() if role != "outside"]
    pool = ["O", *(f"{prefix}-{kind}" for prefix in inside for kind in ("PER", "LOC"))]
    for length in range(5):
        for tags in product(pool, repeat=length):
            spans, malformed = scheme.read(tags)
            assert (scheme.write(spans, length) == list(tags)) == (not malformed), tags


@each(
    ("name", "spans", "tags"),
    [
        ("IOB1", [(0, 2, "P"), (2, 3, "P"), (3, 4, "L")], "I-P I-P B-P I-L O"),
        ("IOB2", [(0, 2, "P"), (2, 3, "P"), (3, 4, "L")], "B-P I-P B-P B-L O"),
        ("IOE1", [(0, 2, "P"), (2, 3, "P"), (3, 4, "L")], "I-P E-P I-P I-L O"),
        ("IOE1", [(1, 2, "P"), (2, 3, "P"), (3, 5, "P")], "O E-P E-P I-P I-P"),
        ("IOE2", [(0, 2, "P"), (2, 3, "P"), (3, 4, "L")], "I-P E-P E-P E-L O"),
        ("IOBES", [(0, 3, "P"), (3, 4, "P")], "B-P I-P E-P S-P O"),
        ("BILOU", [(0, 3, "P"), (3, 4, "P")], "B-P I-P L-P U-P O"),
        ("BMES", [(0, 4, "span"), (4, 5, "span")], "B M M E S"),
        ("BB2B3MES", [(0, 1, "span"), (1, 3, "span"), (3, 5, "span")], "S B E B E"),
        ("BB2B3MES", [(0, 3, "span"), (3, 5, "span")], "B B2 E B E"),
        ("BB2B3MES", [(0, 4, "span"), (4, 5, "span")], "B B2 B3 E S"),
        ("BB2B3MES", [(0, 5, "span")], "B B2 B3 M E"),
        ("BB2B3MES", [(0, 7, "span")], "B B2 B3 M M M E"),
    ],
)
def test_tags_worked_by_hand(name, spans, tags):
    tags = tags.split()
    assert get_scheme(name).write(spans, len(tags)) == tags


@each(
    ("spans", "words"),
    [
        ([(0, 2, "P"), (1, 3, "L")], r"must not overlap.*\(0, 2, 'P'\) and \(1, 3, 'L'\)"),
        ([(1, 2, "P"), (0, 3, "L")], "must not lie inside one another"),
        ([(0, 2, "P"), (0, 3, "L")], "must not lie inside one another"),
        ([(0, 2, "P"), (0, 2, "P")], "must not lie inside one another"),
        ([(0, 4, "P")], r"0 <= start < end <= 3, the length of the sequence; got \(0, 4, 'P'\)"),
        ([(-1, 2, "P")], "0 <= start"),
        ([(2, 2, "P")], "the end is exclusive"),
        ([(0, 2, "")], "the type of a span must be text"),
        ([(0, 2, None)], "the type of a span must be text"),
        ([(0, 2, None), (0, 2, "P")], "the type of a span must be text"),
        ([(0, 2)], "start, end and type"),
        ([(0, 1.5, "P")], "must be integers"),
    ],
)
def test_spans_that_tags_cannot_say_are_refused(spans, words):
    with pytest.raises(DataError, match=words):
        get_scheme("IOB2").write(spans, 3)


def test_a_scheme_that_cannot_say_it_is_named():
    io = get_scheme({"I": "inside", "O": "outside"})
    assert io.write([(0, 2, "P"), (2, 3, "L")], 3) == ["I-P", "I-P", "I-L"]
    with pytest.raises(DataError, match="cannot separate these spans: adjacent spans"):
        io.write([(0, 2, "P"), (2, 3, "P")], 3)
    pairs = get_scheme({"B": "begin", "E": "end", "O": "outside"})
    with pytest.raises(DataError, match="no tags for a span of length 1"):
        pairs.write([(0, 1, "P")], 2)
    with pytest.raises(DataError, match="no tags for a span of length 3"):
        get_scheme({"B": "begin", "O": "outside"}).write([(0, 3, "P")], 3)
    full = get_scheme({"B": "begin", "I": "inside"})
    with pytest.raises(UsageError, match="position 2 is not covered"):
        full.write([(0, 2, "P")], 3)
