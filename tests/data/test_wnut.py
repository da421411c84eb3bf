"""Spans of real tags: W-NUT 2017, against seqeval and nervaluate."""

from __future__ import annotations

import random
import time

import pytest
import seqeval.scheme
from nervaluate.evaluator import Evaluator
from seqeval.metrics.sequence_labeling import get_entities

import outperform as op
from outperform.data.spans import get_scheme
from tests.corpora import corpus
from tests.loops import each

FILES = ["wnut17train.conll", "emerging.dev.conll", "emerging.test.annotated"]


@pytest.fixture(scope="module", params=FILES)
def gold(request):
    return op.read_conll(corpus("wnut17") / request.param)["tag"]


@pytest.fixture(scope="module")
def predicted(gold):
    """Return the gold tags with one in twelve replaced by a tag that occurs."""
    rng = random.Random(17)
    pool = sorted({tag for tags in gold for tag in tags})
    return [[rng.choice(pool) if rng.random() < 1 / 12 else tag for tag in tags] for tags in gold]


def read_all(sentences, **options):
    scheme = get_scheme("IOB2")
    return [scheme.read(tags, **options).spans for tags in sentences]


def counts(gold, predicted):
    """Return the spans found, spurious and missed, over all sentences."""
    pairs = [(set(ours), set(theirs)) for ours, theirs in zip(gold, predicted, strict=True)]
    return (
        sum(len(ours & theirs) for ours, theirs in pairs),
        sum(len(theirs - ours) for ours, theirs in pairs),
        sum(len(ours - theirs) for ours, theirs in pairs),
    )


def test_the_spans_are_seqevals(gold, predicted):
    sentences = gold + predicted
    assert read_all(sentences) == [
        tuple((start, last + 1, kind) for kind, start, last in get_entities(tags))
        for tags in sentences
    ]
    found = seqeval.scheme.Entities(sentences, scheme=seqeval.scheme.IOB2).entities
    assert read_all(sentences, strict=True) == [
        tuple((one.start, one.end, one.tag) for one in sentence) for sentence in found
    ]


@each("loader", ["dict", "list"])
def test_the_counts_are_nervaluates(gold, predicted, loader):
    # Nervaluate's strict mode calls a wrong prediction incorrect where it overlaps a gold span,
    # and spurious elsewhere; a gold span that no prediction was held against is missed. So what
    # is spurious to us is its actual - correct, and what is missed to us its possible - correct.
    spans, guesses = read_all(gold), read_all(predicted)
    kinds = sorted({kind for sentence in (*spans, *guesses) for _, _, kind in sentence})
    given = {
        "list": (gold, predicted),
        "dict": tuple(
            [
                [{"label": kind, "start": start, "end": end - 1} for start, end, kind in sentence]
                for sentence in sentences
            ]
            for sentences in (spans, guesses)
        ),
    }[loader]
    strict = Evaluator(*given, tags=kinds, loader=loader).evaluate()["overall"]["strict"]
    correct, spurious, missed = counts(spans, guesses)
    assert strict.partial == 0
    assert strict.incorrect > 0
    assert correct == strict.correct
    assert spurious == strict.incorrect + strict.spurious == strict.actual - strict.correct
    assert missed == strict.incorrect + strict.missed == strict.possible - strict.correct


def test_the_sizes_of_the_files():
    # One span of the development set opens with I, so that strict reading leaves it out.
    sizes = {}
    for name in FILES:
        tags = op.read_conll(corpus("wnut17") / name)["tag"]
        sizes[name] = (
            len(tags),
            sum(map(len, tags)),
            sum(map(len, read_all(tags))),
            sum(map(len, read_all(tags, strict=True))),
        )
    assert sizes == {
        "wnut17train.conll": (3394, 62730, 1975, 1975),
        "emerging.dev.conll": (1009, 15733, 836, 835),
        "emerging.test.annotated": (1287, 23394, 1079, 1079),
    }


def test_reading_the_largest_file_takes_well_below_a_second():
    tags = op.read_conll(corpus("wnut17") / FILES[0])["tag"]
    start = time.process_time()
    read_all(tags)
    assert time.process_time() - start < 0.5
