"""Spans counted: by hand, against seqeval and nervaluate, and what is refused."""

from __future__ import annotations

import random

import pytest
import seqeval.scheme
from nervaluate.evaluator import Evaluator
from seqeval.metrics import f1_score, precision_score, recall_score

import outperform as op
from outperform import Outcomes
from outperform.data.spans import get_scheme
from outperform.data.views import count_of
from outperform.errors import DataError, UsageError
from tests.corpora import corpus
from tests.loops import each

# Three documents and an empty one. A has one boundary error, one type error and a spurious
# span where nothing is; B misses one span and makes the same type error.
GOLD = [[(0, 2, "PER"), (3, 4, "LOC")], [(1, 2, "LOC")], [], []]
A = [[(0, 2, "PER"), (3, 5, "LOC")], [(1, 2, "PER")], [(0, 1, "PER")], []]
B = [[(0, 2, "PER")], [(1, 2, "PER")], [], []]


def cells(outcomes):
    """Return the cells as labels, with None for "no span", and how often each occurred."""
    (table,) = outcomes.tables
    names = [*outcomes.labels, None]
    rows = [tuple(names[code] for code in row) for row in table.cells.tolist()]
    return dict(zip(rows, table.counts.tolist(), strict=True))


@pytest.fixture
def seen():
    return Outcomes.from_spans(GOLD, {"a": A, "b": B})


# By hand


def test_a_boundary_error_and_a_type_error_are_two_spans_each(seen):
    assert cells(seen) == {
        ("PER", "PER", "PER"): 1,  # found by both
        ("LOC", None, None): 2,  # one with a wrong boundary or not at all, one with a wrong type
        (None, "LOC", None): 1,  # the wrong boundary
        (None, "PER", "PER"): 1,  # the wrong type, by both
        (None, "PER", None): 1,  # where nothing is
    }
    assert seen.labels == ("LOC", "PER")
    assert seen.kind == "spans"


def test_margins_of_each_type(seen):
    a, b = seen.margins("a"), seen.margins("b")
    assert [counts.tolist() for counts in a] == [[0, 1], [2, 1], [1, 3]]
    assert [counts.tolist() for counts in b] == [[0, 1], [2, 1], [0, 2]]
    assert count_of(seen, "a", "tp", positive=1) == 1
    assert count_of(seen, "a", "fp", positive=1) == 2
    assert count_of(seen, "a", "fn", positive=0) == 2


def test_documents_without_spans_are_documents(seen):
    assert seen.n == 4
    assert seen.ungroup().n == 6
    assert seen.groups.repeats.sum() == 4


def test_metrics_by_hand(seen):
    def observed(metric, **options):
        c = op.compare(seen, "a", "b", metric=metric, random_state=0, n_draws=100, **options)
        return c.a.observed, c.b.observed

    assert observed("precision") == (1 / 4, 1 / 2)
    assert observed("recall") == (1 / 3, 1 / 3)
    assert observed("f1") == observed("f1_micro") == pytest.approx((2 / 7, 2 / 5))
    assert observed("jaccard") == (1 / 6, 1 / 4)
    assert observed("f1", pos_label="PER") == pytest.approx((2 / 4, 2 / 3))
    assert observed("f1_macro") == pytest.approx((1 / 4, 1 / 3))
    assert observed("f1_weighted") == pytest.approx((1 / 6, 2 / 9))
    assert observed("precision_macro", labels=["PER"]) == pytest.approx((1 / 3, 1 / 2))
    assert observed("recall_weighted") == (1 / 3, 1 / 3)
    assert observed(op.metrics.fbeta(2)) == pytest.approx((5 / 16, 5 / 14))


def test_groups_put_documents_together():
    apart = Outcomes.from_spans(GOLD, {"a": A})
    joined = Outcomes.from_spans(GOLD, {"a": A}, groups=["x", "y", "x", "z"])
    assert (apart.n, joined.n) == (4, 3)
    assert cells(apart) == cells(joined)
    one = Outcomes.from_spans(GOLD, {"a": A}, groups=[0, 0, 0, 0]).groups
    assert one.repeats.tolist() == [1]
    assert one.times.tolist() == list(cells(apart).values())


def test_tags_are_the_spans_they_mean():
    gold = [["B-PER", "I-PER", "O", "B-LOC"], ["O", "B-LOC"]]
    tagged = [["B-PER", "I-PER", "O", "O"], ["B-LOC", "I-LOC"]]
    by_tags = Outcomes.from_tags(gold, {"m": tagged}, scheme="IOB2")
    by_spans = Outcomes.from_spans(
        [[(0, 2, "PER"), (3, 4, "LOC")], [(1, 2, "LOC")]],
        {"m": [[(0, 2, "PER")], [(0, 2, "LOC")]]},
    )
    assert by_tags == by_spans


def test_bare_counts_are_the_ungrouped_table(seen):
    table = cells(seen)
    truth, a, b = zip(*table, strict=True)
    bare = Outcomes.from_span_counts(truth, {"a": a, "b": b}, list(table.values()))
    assert bare == seen.ungroup()


def test_true_positives_and_errors_alone_are_unpaired():
    counted = Outcomes.from_tp_fp_fn({"A": (8, 1, 2), "B": (0, 0, 0)}, label="PER")
    assert not counted.paired
    assert [int(counts[0]) for counts in counted.margins("A")] == [8, 10, 9]
    assert [int(counts[0]) for counts in counted.margins("B")] == [0, 0, 0]
    assert Outcomes.from_json(counted.to_json()) == counted
    assert Outcomes.from_tp_fp_fn({"A": (10**25, 1, 0)}).n == 10**25 + 1


# Against seqeval and nervaluate

NAMES = ["IOB1", "IOB2", "IOE1", "IOE2", "IOBES", "BILOU"]
TYPES = ["PER", "LOC", "creative-work"]
NEAREST = {"L": "E", "U": "S"}  # seqeval's default reading knows B, I, E, S and O only


def pool(name):
    roles = get_scheme(name).roles
    inside = [prefix for prefix, role in roles.items() if role != "outside"]
    return ["O", "O", "O", *(f"{prefix}-{kind}" for prefix in inside for kind in TYPES)]


def random_tags(name, rng, n_sentences=60):
    return [[rng.choice(pool(name)) for _ in range(rng.randint(1, 12))] for _ in range(n_sentences)]


def corrupted(sentences, tags, rng, rate):
    return [[rng.choice(tags) if rng.random() < rate else tag for tag in s] for s in sentences]


def check_against_seqeval(seen, gold, taggers, **options):
    scores = {"precision": precision_score, "recall": recall_score, "f1": f1_score}
    for score, theirs in scores.items():
        for average in ("micro", "macro", "weighted"):
            c = op.compare(seen, "a", "b", metric=f"{score}_{average}", random_state=0, n_draws=100)
            for name, ours in (("a", c.a), ("b", c.b)):
                expected = theirs(gold, taggers[name], average=average, zero_division=0, **options)
                assert ours.observed == pytest.approx(expected, abs=1e-12), (score, average)


@each("strict", [False, True])
@each("name", NAMES)
def test_metrics_are_seqevals(name, strict):
    rng = random.Random(f"{name} {strict}")
    gold = random_tags(name, rng)
    taggers = {m: corrupted(gold, pool(name), rng, rate) for m, rate in (("a", 0.1), ("b", 0.3))}
    seen = Outcomes.from_tags(gold, taggers, scheme=name, strict=strict)
    if strict:
        options = {"mode": "strict", "scheme": getattr(seqeval.scheme, name)}
    else:
        options = {}
        rename = {m: [[NEAREST.get(t[0], t[0]) + t[1:] for t in s] for s in tags]
                  for m, tags in {"gold": gold, **taggers}.items()}  # fmt: skip
        gold, taggers = rename["gold"], rename
    check_against_seqeval(seen, gold, taggers, **options)


@pytest.fixture(scope="module")
def wnut():
    """The test set of W-NUT 2017 and two copies with some tags replaced."""
    gold = op.read_conll(corpus("wnut17") / "emerging.test.annotated")["tag"]
    rng = random.Random(17)
    tags = sorted({tag for sentence in gold for tag in sentence})
    return gold, {m: corrupted(gold, tags, rng, rate) for m, rate in (("a", 0.05), ("b", 0.1))}


@pytest.mark.parametrize("strict", [False, True])
def test_metrics_on_wnut_are_seqevals(wnut, strict):
    gold, taggers = wnut
    seen = Outcomes.from_tags(gold, taggers, scheme="IOB2", strict=strict)
    assert seen.n == len(gold)
    options = {"mode": "strict", "scheme": seqeval.scheme.IOB2} if strict else {}
    check_against_seqeval(seen, gold, taggers, **options)


def test_counts_on_wnut_are_nervaluates_strict_ones(wnut):
    gold, taggers = wnut
    seen = Outcomes.from_tags(gold, taggers, scheme="IOB2")
    kinds = list(seen.labels)
    theirs = Evaluator(gold, taggers["a"], tags=kinds, loader="list").evaluate()
    strict = theirs["overall"]["strict"]
    hits, actual, predicted = (int(counts.sum()) for counts in seen.margins("a"))
    assert (hits, actual, predicted) == (strict.correct, strict.possible, strict.actual)


def test_a_planted_fault_is_caught(wnut):
    # If types did not count, the numbers would not be seqeval's.
    gold, taggers = wnut
    blind = [[tag.split("-")[0] for tag in sentence] for sentence in gold]
    seen = Outcomes.from_tags(gold, taggers, scheme="IOB2")
    untyped = {m: [[tag.split("-")[0] for tag in s] for s in tags] for m, tags in taggers.items()}
    other = Outcomes.from_tags(blind, untyped, scheme="IOB2")
    assert other.margins("a").hits.sum() > seen.margins("a").hits.sum()


# Findings


@pytest.mark.parametrize(
    ("strict", "means"),
    [
        (False, "as in conlleval"),
        (True, "Spans with such tags were dropped, as in strict reading"),
    ],
)
def test_malformed_tags_are_counted(strict, means):
    gold = [["O", "B-X"], ["B-X", "O"]]
    tagged = [["O", "I-X"], ["I-X", "I-Y"]]
    seen = Outcomes.from_tags(gold, {"m": tagged}, scheme="IOB2", strict=strict)
    (finding,) = seen.findings
    assert (finding.name, finding.level) == ("malformed_tags", "warning")
    assert finding.message.startswith(
        "tags of 'm': 3 tags are not allowed at that position in IOB2 (first: 'I-X', sentence 0, "
        "token 1)"
    )
    assert means in finding.message
    assert seen.margins("m").hits.sum() == (0 if strict else 2)
    c = op.estimate(seen, "m", random_state=0, n_draws=100)
    assert "malformed_tags" in {one.name for one in c.findings}


def test_types_that_look_alike_are_a_finding():
    seen = Outcomes.from_spans([[(0, 1, "PER")]], {"m": [[(0, 1, "per")]]})
    assert [finding.name for finding in seen.findings] == ["near_duplicate_labels"]


# What is refused, and in which words

ONE = [[(0, 2, "X")]]

REFUSED = [
    ([[(0, 2, "X"), (0, 2, "X")]], ONE, "gold: document 0 has the span (0, 2, 'X') twice"),
    (ONE, [[(0, 2, "X"), (0, 2, "X")]],
     "spans of 'm': document 0 has the span (0, 2, 'X') twice"),
    ([[(0, 2)]], ONE, (
        "gold: document 0 must be a list of (start, end, type) with integers; got [(0, 2)]"
    )),
    ([[(0.5, 2, "X")]], ONE, (
        "gold: document 0 must be a list of (start, end, type) with integers; got [(0.5, 2, "
        "'X')]"
    )),
    ([[("0", 2, "X")]], ONE, "with integers; got [('0', 2, 'X')]"),
    ([None], ONE, "gold: document 0 must be a list of (start, end, type)"),
    ([[(3, 2, "X")]], ONE,
     "gold: document 0 has a span that ends at 2, before its start at 3"),
    ([[(0, 2, None)]], ONE,
     "gold: document 0: types must be text, an integer or a boolean; got None"),
    ([[(0, 2, 1)]], ONE, "span types must all have the same Python type; got int and str"),
    ([[(0, 2, 1)]], [[(0, 2, True)]], (
        "span types must all have the same Python type; got bool and int"
    )),
    ([[], []], ONE, (
        "gold has 2 documents but spans of 'm' has 1; both must list the same documents in the "
        "same order"
    )),
    ([], [], "gold has no documents; at least one is needed"),
    ([[]], [[]], "neither gold nor the predictions contain any span"),
    (None, ONE, "gold must be a list with one entry per document"),
    ("gold", ONE, "gold must be a list with one entry per document"),
]  # fmt: skip


@each(("gold", "predicted", "words"), REFUSED)
def test_spans_that_are_refused(gold, predicted, words):
    with pytest.raises(DataError) as caught:
        Outcomes.from_spans(gold, {"m": predicted})
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ([1], "groups must have one group per item; got 1 groups for 4 items"),
        (7, "groups must be a list with the group of each item"),
        ("abcd", "groups must be a list with the group of each item"),
        ([[1], [2], [3], [4]], "groups must be names or numbers, one per item"),
    ],
)
def test_groups_that_are_refused(groups, words):
    with pytest.raises(DataError) as caught:
        Outcomes.from_spans(GOLD, {"a": A}, groups=groups)
    assert str(caught.value) == words


TAGS_REFUSED = [
    (["B-X", "O"], ["B-X", "O"],
     "gold must be a list of tag lists, one per sentence; got the text 'B-X' as sentence 0. Put "
     "a single sentence in a list"),
    ([["O", "O"]], [["O"]],
     "sentence 0 has 2 gold tags and 1 tags of 'm'; both must have one tag per token"),
    ([["O"]], [["O"], ["O"]], "gold has 1 documents but tags of 'm' has 2"),
    ([["O"], None], [["O"], None], "sentence 1 must be a list of tags, in gold and in 'm'"),
    ([["O"], ["S-X"]], [["O"], ["O"]],
     "gold, sentence 1: a tag of IOB2 must begin with B, I, O; got 'S-X' at position 0"),
    ([["O"]], [[1]], "tags of 'm', sentence 0: a tag must be text; got 1 at position 0"),
]  # fmt: skip


@each(("gold", "tagged", "words"), TAGS_REFUSED)
def test_tags_that_are_refused(gold, tagged, words):
    with pytest.raises(DataError) as caught:
        Outcomes.from_tags(gold, {"m": tagged}, scheme="IOB2")
    assert words in str(caught.value)


def test_models_come_by_name():
    for predictions in ({}, [A]):
        with pytest.raises(UsageError, match="pass predictions by model name"):
            Outcomes.from_spans(GOLD, predictions)


@each(
    ("truth", "found", "counts", "error", "words"),
    [
        (
            ["X"],
            ["Y"],
            [1],
            UsageError,
            ("a span with the wrong type as one missed and one spurious"),
        ),
        ([None], [None], [1], UsageError, "each cell is one span"),
        (["X"], ["X", "X"], [1], DataError, "must have one value per cell; got 1, 2"),
        (["X"], ["X"], [1, 2], DataError, "one value per cell, 1 in all; got shape (2,)"),
        (["X"], ["X"], [0], DataError, "all counts are zero"),
        (["X"], ["X"], [-1], DataError, "counts must not be negative; got -1"),
        (["X"], ["X"], [0.5], DataError, "counts must be integers; got 0.5"),
        (["X", 1], ["X", 1], [1, 1], DataError, "same Python type; got int and str"),
        (None, ["X"], [1], DataError, "truth must be a list with one type, or None, per cell"),
        (["X"], "X", [1], DataError, "predictions of 'm' must be a list"),
    ],
)
def test_span_counts_that_are_refused(truth, found, counts, error, words):
    with pytest.raises(error) as caught:
        Outcomes.from_span_counts(truth, {"m": found}, counts)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("triple", "words"),
    [
        ((1, 1), "counts of 'm' must be three numbers, (tp, fp, fn); got shape (2,)"),
        ((1, -1, 0), "counts of 'm' must not be negative; got -1"),
        ((1.5, 1, 1), "counts of 'm' must be integers; got 1.5"),
        ((0, 0, 0), "all counts are zero; at least one must be positive"),
    ],
)
def test_triples_that_are_refused(triple, words):
    with pytest.raises(DataError) as caught:
        Outcomes.from_tp_fp_fn({"m": triple})
    assert str(caught.value) == words


def test_the_label_of_triples_is_a_label():
    with pytest.raises(DataError, match="label must be text, an integer or a boolean"):
        Outcomes.from_tp_fp_fn({"m": (1, 1, 1)}, label=1.5)
