"""Spans of random tags, against seqeval's default and strict reading."""

from __future__ import annotations

import random

import pytest
import seqeval.scheme
from seqeval.metrics.sequence_labeling import get_entities

from outperform.data.spans import get_scheme
from tests.loops import each

NAMES = ["IOB1", "IOB2", "IOE1", "IOE2", "IOBES", "BILOU"]
TYPES = ["PER", "LOC", "creative-work"]
ROUNDS = 2_000
LONGEST = 12

# Seqeval's default reading knows B, I, E, S and O only.
NEAREST = {"L": "E", "U": "S"}


def pool(scheme):
    """Return every tag that a scheme has for the types."""
    inside = [prefix for prefix, role in scheme.roles.items() if role != "outside"]
    return ["O", *(f"{prefix}-{kind}" for prefix in inside for kind in TYPES)]


def random_tags(scheme, rng):
    return [rng.choice(pool(scheme)) for _ in range(rng.randint(0, LONGEST))]


def random_spans(rng, length):
    """Return spans that often touch each other and often share a type."""
    spans, start = [], rng.randint(0, 2)
    while start < length:
        end = min(length, start + rng.choice([1, 1, 2, 3]))
        spans.append((start, end, rng.choice(TYPES)))
        start = end + rng.choice([0, 0, 1])
    return spans


def corrupted_tags(scheme, rng):
    """Return well-formed tags of which up to three are replaced."""
    length = rng.randint(0, LONGEST)
    tags = scheme.write(random_spans(rng, length), length)
    for _ in range(rng.randint(0, 3) if tags else 0):
        tags[rng.randrange(length)] = rng.choice(pool(scheme))
    return tags


def default_spans(tags):
    known = [NEAREST.get(tag[0], tag[0]) + tag[1:] for tag in tags]
    return tuple((start, last + 1, kind) for kind, start, last in get_entities(known))


def strict_spans(tags, name):
    found = seqeval.scheme.Entities([tags], scheme=getattr(seqeval.scheme, name)).entities[0]
    return tuple((entity.start, entity.end, entity.tag) for entity in found)


@each("make", [random_tags, corrupted_tags])
@each("name", NAMES)
def test_spans_are_seqevals(name, make):
    scheme, rng = get_scheme(name), random.Random(f"{name} {make.__name__}")
    for _ in range(ROUNDS):
        tags = make(scheme, rng)
        assert scheme.read(tags).spans == default_spans(tags), tags
        assert scheme.read(tags, strict=True).spans == strict_spans(tags, name), tags


@each("name", NAMES)
def test_without_malformed_tags_both_readings_agree_up_to_the_known_gap(name):
    # Seqeval's strict IOE1 does not let E open a span after O or another type.
    scheme, rng = get_scheme(name), random.Random(name)
    apart = 0
    for _ in range(ROUNDS):
        length = rng.randint(0, LONGEST)
        spans = random_spans(rng, length)
        tags = scheme.write(spans, length)
        strict = set(strict_spans(tags, name))
        lost = set(spans) - strict
        assert scheme.read(tags) == (tuple(spans), ())
        assert strict <= set(spans)
        assert all(end == start + 1 and tags[start][0] == "E" for start, end, _ in lost)
        apart += bool(lost)
    assert (apart > 0) == (name == "IOE1")


def test_seqevals_default_reading_does_not_know_the_last_and_the_unit_of_bilou():
    tags = ["U-PER", "U-PER", "O"]
    with pytest.warns(UserWarning, match="seems not to be NE tag"):
        found = get_entities(tags)
    assert [(start, last) for _, start, last in found] != [(0, 0), (1, 1)]
    assert default_spans(tags) == ((0, 1, "PER"), (1, 2, "PER"))


def test_the_two_places_where_strict_reading_gives_up_more_than_the_scheme_asks():
    ioe1 = get_scheme("IOE1").read(["E-PER", "I-PER"], strict=True)
    assert ioe1 == (((1, 2, "PER"),), ())
    iob1 = get_scheme("IOB1").read(["I-PER", "B-PER", "B-LOC"], strict=True)
    assert iob1 == (((0, 1, "PER"),), (2,))


def test_a_planted_fault_is_caught():
    # IOB2 read with the rules of IOB1 differs from seqeval's IOB2 somewhere.
    rng, scheme = random.Random(1), get_scheme("IOB1")
    drawn = [random_tags(scheme, rng) for _ in range(100)]
    assert any(scheme.read(tags, strict=True).spans != strict_spans(tags, "IOB2") for tags in drawn)
