"""The items behind a comparison: which, whose, and how far each moves the difference."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest

import outperform as op
from outperform.comparison.items import room
from outperform.errors import UsageError
from tests.lazily import lazily
from tests.loops import each

sk = lazily("sklearn.metrics")

RNG = np.random.default_rng(20_261_117)


def made(n_classes: int, n: int = 40) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a truth in which every class occurs twice, and two models."""
    truth = np.concatenate([np.repeat(np.arange(n_classes), 2), RNG.integers(0, n_classes, n)])
    a, b = (
        np.where(RNG.random(truth.size) < right, truth, RNG.integers(0, n_classes, truth.size))
        for right in (0.8, 0.6)
    )
    return truth, a, b


METRICS = [
    ("accuracy", 2, {}, sk.accuracy_score),
    ("accuracy", 4, {}, sk.accuracy_score),
    ("f1", 2, {}, sk.f1_score),
    ("precision", 2, {"pos_label": 0}, lambda y, p: sk.precision_score(y, p, pos_label=0)),
    ("recall", 3, {"pos_label": 2}, lambda y, p: sk.recall_score(y == 2, p == 2)),
    ("balanced_accuracy", 3, {}, sk.balanced_accuracy_score),
    ("f1_macro", 4, {}, lambda y, p: sk.f1_score(y, p, average="macro")),
    ("f1_weighted", 4, {}, lambda y, p: sk.f1_score(y, p, average="weighted")),
    ("matthews_corrcoef", 3, {}, sk.matthews_corrcoef),
]


@each(("metric", "n_classes", "asked", "score"), METRICS)
def test_influence_is_what_scikit_learn_says_without_the_item(metric, n_classes, asked, score):
    truth, a, b = made(n_classes)
    c = op.compare(truth, a, b, metric=metric, rope=0.01, n_draws=100, **asked)
    found = c.item_table(which="all")
    assert sorted(one.id for one in found) == list(range(truth.size))
    for one in found:
        kept = np.arange(truth.size) != one.id
        without = score(truth[kept], a[kept]) - score(truth[kept], b[kept])
        assert one.influence == pytest.approx(c.observed - without, abs=1e-12)
    sizes = [abs(one.influence) for one in found]
    assert sizes == sorted(sizes, reverse=True)


def test_influence_with_importance_weights():
    truth, a, b = made(3)
    weights = RNG.choice([0.0, 0.5, 1.0, 2.5], truth.size, p=[0.1, 0.3, 0.3, 0.3])
    c = op.compare(truth, a, b, metric="f1_macro", rope=0.01, n_draws=100, sample_weight=weights)
    found = c.item_table(which="all")
    assert {one.id for one in found} == set(np.flatnonzero(weights).tolist())
    for one in found:
        less = np.where(np.arange(truth.size) == one.id, 0.0, weights)
        without = [sk.f1_score(truth, p, average="macro", sample_weight=less) for p in (a, b)]
        expected = c.observed - (without[0] - without[1])
        assert one.influence == pytest.approx(expected, abs=1e-12)


def test_influence_at_other_class_proportions():
    truth, a, b = made(2)
    shares = {0: 0.9, 1: 0.1}
    c = op.compare(truth, a, b, metric="accuracy", rope=0.01, n_draws=100).at_prevalence(shares)

    def value(kept, predicted):
        right = (truth == predicted) & kept
        return sum(share * right[truth == k].sum() / (kept & (truth == k)).sum()
                   for k, share in shares.items())  # fmt: skip

    for one in c.item_table(which="all"):
        kept = np.arange(truth.size) != one.id
        assert one.influence == pytest.approx(c.observed - value(kept, a) + value(kept, b))


def test_influence_of_costs_and_of_a_users_own_function():
    truth, a, b = made(3)
    price = np.array([[0, 2, 3], [1, 0, 5], [4, 1, 0]])
    by_price = op.metrics.cost(price, labels=[0, 1, 2])
    for metric, score in (
        (by_price, lambda y, p: price[y, p].mean()),
        (lambda c: c[0, 1] / c.sum(axis=(0, 1)), lambda y, p: ((y == 0) & (p == 1)).mean()),
    ):
        c = op.compare(truth, a, b, metric=metric, rope=0.1, n_draws=100)
        for one in c.item_table(which="all", top=15):
            kept = np.arange(truth.size) != one.id
            without = score(truth[kept], a[kept]) - score(truth[kept], b[kept])
            assert one.influence == pytest.approx(c.observed - without, abs=1e-12)


def test_influence_of_label_sets():
    truth = RNG.integers(0, 2, (18, 3))
    a, b = (truth ^ (RNG.random(truth.shape) < rate) for rate in (0.15, 0.35))
    seen = op.Outcomes.from_label_sets(truth, {"a": a, "b": b}, ids=[f"i{k}" for k in range(18)])
    c = op.compare(seen, "a", "b", metric="f1_macro", rope=0.05, n_draws=100)
    found = c.item_table()
    flips = (truth == a).all(axis=1) != (truth == b).all(axis=1)
    assert {one.id for one in found} == {f"i{k}" for k in np.flatnonzero(flips)}
    for one in found:
        kept = np.arange(18) != int(one.id[1:])
        without = [sk.f1_score(truth[kept], p[kept], average="macro") for p in (a, b)]
        expected = c.observed - (without[0] - without[1])
        assert one.influence == pytest.approx(expected, abs=1e-12)
    assert isinstance(found.table()["truth"][0], str)


SETS = {
    "accuracy": (lambda y, p, w: sk.accuracy_score(y, p, sample_weight=w), {}),
    "f1_samples": (
        lambda y, p, w: sk.f1_score(y, p, average="samples", sample_weight=w, zero_division=0),
        {},
    ),
    "f1_macro": (
        lambda y, p, w: sk.f1_score(y[:, :2], p[:, :2], average="macro", sample_weight=w),
        {"labels": [0, 1]},
    ),
    "f1": (lambda y, p, w: sk.f1_score(y[:, 2], p[:, 2], sample_weight=w), {"pos_label": 2}),
}


@each("metric", SETS)
@pytest.mark.parametrize("grouped", [True, False])
def test_influence_of_weighted_label_sets(metric, grouped):
    score, asked = SETS[metric]
    truth = RNG.integers(0, 2, (18, 3))
    a, b = (truth ^ (RNG.random(truth.shape) < rate) for rate in (0.15, 0.35))
    weights = RNG.uniform(0.5, 3.0, 18)
    groups = RNG.integers(0, 6, 18) if grouped else None
    seen = op.Outcomes.from_label_sets(
        truth, {"a": a, "b": b}, sample_weight=weights, groups=groups
    )
    c = op.compare(seen, "a", "b", metric=metric, rope=0.05, n_draws=100, **asked)
    for one in c.item_table(which="all", top=6):
        kept = np.arange(18) != one.id
        x, y = (score(truth[kept], p[kept], weights[kept]) for p in (a, b))
        assert one.influence == pytest.approx(c.observed - (x - y), abs=1e-12)


def spans_of(n):
    """Return true spans of n documents, and those of two models and of one that invents."""
    gold, a, b, invented = [], [], [], [[(40, 41, "ORG")]] * n
    for _ in range(n):
        starts = RNG.choice(20, RNG.integers(0, 5), replace=False).tolist()
        true = [(k, k + 1 + k % 2, ("LOC", "PER", "ORG")[RNG.integers(3)]) for k in sorted(starts)]
        gold.append(true)
        for own, missed in ((a, 0.1), (b, 0.3)):
            own.append([one for one in true if RNG.random() > missed])
            own[-1] += [(30, 31, "PER")] if RNG.random() < 0.3 else []
    return gold, a, b, invented


SPAN_METRICS = [
    ("f1", {}), ("f1_macro", {}), ("f1_weighted", {}), ("recall", {"pos_label": "LOC"}),
    ("precision_micro", {"labels": ["LOC", "PER"]}), ("f1_macro", {"labels": ["LOC", "PER"]}),
]  # fmt: skip


@each(("metric", "asked"), SPAN_METRICS)
def test_influence_of_spans_is_the_difference_without_the_document(metric, asked):
    gold, *models = spans_of(25)

    def seen(kept, **known):
        true, *said = ([one[k] for k in kept] for one in (gold, *models))
        return op.Outcomes.from_spans(true, dict(zip("abc", said, strict=True)), **known)

    def compared(outcomes):
        return op.compare(outcomes, *"ab", metric=metric, rope=0.01, n_draws=100, **asked)

    named = seen(range(25), ids=[f"d{k}" for k in range(25)])
    c = compared(named)
    for one in (found := c.item_table(which="all")):
        without = compared(seen([k for k in range(25) if f"d{k}" != one.id])).observed
        assert one.influence == pytest.approx(c.observed - without, abs=1e-12)
    assert {one.id for one in found} == {f"d{k}" for k in range(25)}
    # Groups, a third model and a sum move nothing.
    grouped = seen(range(25), ids=[f"d{k}" for k in range(25)], groups=np.arange(25) // 5)
    halves = seen(range(10)) + seen(range(10, 25))
    for outcomes in (grouped, halves):
        again = compared(outcomes).item_table(which="all")
        got = sorted((str(one.id).strip("d"), one.influence) for one in again)
        for (k, moved), (j, expected) in zip(
            got, sorted((one.id[1:], one.influence) for one in found), strict=True
        ):
            assert (k, moved) == (j, pytest.approx(expected, abs=1e-12))


def test_documents_of_spans_show_who_does_better():
    gold = [[(0, 2, "PER"), (4, 5, "LOC")], [(0, 1, "LOC")], [], [(3, 4, "PER")]]
    a = [[(0, 2, "PER"), (4, 5, "LOC")], [(0, 1, "PER")], [], []]
    b = [[(0, 2, "PER"), (4, 6, "LOC")], [(0, 1, "LOC")], [], [(3, 4, "LOC")]]
    c = op.compare(op.Outcomes.from_spans(gold, {"a": a, "b": b, "c": gold}), "a", "b",
                   rope=0.01, n_draws=100)  # fmt: skip
    found = {one.id: one for one in c.item_table(which="all")}
    assert {k: one.right for k, one in found.items()} == {0: "a", 1: "b", 2: "both", 3: "a"}
    assert c.item_table().right == (1, 2, 1, 0)
    assert found[0].b == ((0, 2, "PER"), (4, 6, "LOC"))
    row = next(one for one in c.item_table().to_frame().itertuples() if one.id == 0)
    assert (row.truth, row.b) == ("PER 0–2, LOC 4–5", "PER 0–2, LOC 4–6")
    assert "a does better on 2 items" in str(c.item_table())
    places = op.compare(c.spec.data, "a", "b", pos_label="LOC", rope=0.01, n_draws=100)
    only = places.item_table(which="all")
    assert {one.id: one.right for one in only} == {0: "a", 1: "b", 2: "both", 3: "a"}
    tags = op.Outcomes.from_tags([["B-PER", "O"]], {"a": [["B-PER", "O"]], "b": [["O", "O"]]},
                                 scheme="IOB2", ids=["s1"])  # fmt: skip
    (one,) = op.compare(tags, "a", "b", rope=0.01, n_draws=100).item_table()
    assert (one.id, one.truth, one.b, one.right) == ("s1", ((0, 1, "PER"),), (), "a")
    counted = op.Outcomes.from_span_counts(["X", "X"], {"a": ["X", None], "b": ["X", "X"]}, [3, 2])
    with pytest.raises(UsageError, match="no longer contain"):
        op.compare(counted, "a", "b", rope=0.01, n_draws=100).item_table()


def test_scores_compare_item_by_item():
    a, b = RNG.random(30), RNG.random(30)
    seen = op.Scores.from_values({"a": a, "b": b}, ids=[f"q{k}" for k in range(30)])
    c = op.compare(seen, "a", "b", rope=0.1, n_draws=100)
    for one in c.item_table():
        place = int(one.id[1:])
        kept = np.arange(30) != place
        assert one.influence == pytest.approx(c.observed - (a - b)[kept].mean(), abs=1e-12)
        assert (one.a, one.b) == (a[place], b[place])
        assert one.right == ("a" if a[place] > b[place] else "b")
    truth = (RNG.random(30) < 0.5).astype(int)
    c = op.compare(truth, a, b, metric="log_loss", rope=0.1, n_draws=100)
    best = c.item_table()[0]
    kept = np.arange(30) != best.id
    without = sk.log_loss(truth[kept], a[kept]) - sk.log_loss(truth[kept], b[kept])
    assert best.influence == pytest.approx(c.observed - without, abs=1e-12)
    losses = [sk.log_loss([truth[best.id]], [p[best.id]], labels=[0, 1]) for p in (a, b)]
    assert best.right == "AB"[losses[1] < losses[0]]
    ranked = op.compare(truth, a, b, metric="roc_auc", rope=0.1, n_draws=100).item_table()
    assert {one.influence for one in ranked} == {None} == {one.right for one in ranked}


def test_flips_and_who_is_right():
    bits = list(product((1, 0), repeat=2))
    seen = op.Outcomes.from_correct(
        {"a": [one for one, _ in bits], "b": [one for _, one in bits]}, ids=list("wxyz")
    )
    c = op.compare(seen, "a", "b", rope=0.1, n_draws=100)
    assert {one.id: one.right for one in c.item_table(which="all")} == {
        "w": "both", "x": "a", "y": "b", "z": "neither",
    }  # fmt: skip
    assert c.item_table().right == (1, 1, 1, 1)
    assert c.item_table().table().keys == ("id", "right", "influence")
    swapped = op.compare(seen, "b", "a", rope=0.1, n_draws=100).item_table()
    assert {one.id: one.right for one in swapped} == {"x": "a", "y": "b"}


def test_more_can_be_shown_by_id_or_by_place():
    truth, a, b = made(2)
    texts = [f"text {k}" for k in range(truth.size)]
    plain = op.compare(truth, a, b, metric="accuracy", n_draws=100)
    for values in (texts, np.array(texts), pd.Series(texts), dict(enumerate(texts))):
        for one in plain.item_table(columns={"text": values}):
            assert one.columns == {"text": f"text {one.id}"}
    ids = [f"m{k}" for k in range(truth.size)]
    seen = op.Outcomes.from_labels(truth, {"a": a, "b": b}, ids=ids)
    named = op.compare(seen, "a", "b", metric="accuracy", n_draws=100)
    for values in (dict(zip(ids, texts, strict=True)), pd.Series(texts, index=ids)):
        for one in named.item_table(columns={"text": values}):
            assert one.columns == {"text": f"text {one.id[1:]}"}
    assert (
        named.item_table(columns={"id": dict(zip(ids, texts, strict=True))}).table().keys[-1]
        == "id_given"
    )
    with pytest.raises(UsageError, match="map the ids"):
        named.item_table(columns={"text": texts})
    with pytest.raises(UsageError, match="has 2 values"):
        plain.item_table(columns={"text": ["a", "b"]})


def test_order_of_ids_is_natural_and_top_cuts():
    seen = op.Outcomes.from_correct(
        {"a": [1] * 12, "b": [0] * 12}, ids=[f"q{k}" for k in range(12)][::-1]
    )
    c = op.compare(seen, "a", "b", rope=0.1, n_draws=100)
    assert [one.id for one in c.item_table()] == [f"q{k}" for k in range(12)]
    assert len(c.item_table(top=3)) == 3
    assert c.item_table(top=3).right == (0, 12, 0, 0)


def test_room_is_how_far_the_interval_would_have_to_move():
    for a, b, rope in ((90, 60, 0.01), (60, 90, 0.01), (70, 70, 0.2), (71, 70, 0.01)):
        seen = op.Outcomes.from_correct(
            {"a": [1] * a + [0] * (100 - a), "b": [1] * b + [0] * (100 - b)}
        )
        c = op.compare(seen, "a", "b", rope=rope, n_draws=100)
        moved = room(c)
        ends = [edge - end for edge in (c.rope.low, c.rope.high) for end in (c.hdi.low, c.hdi.high)]
        if c.decision.decided:
            assert abs(moved) == pytest.approx(min(map(abs, ends)))


def test_every_format():
    truth, a, b = made(3)
    found = op.compare(truth, a, b, metric="f1_macro", rope=0.01, n_draws=100).item_table()
    frame = found.to_frame()
    assert list(frame.columns) == ["id", "truth", "a", "b", "right", "influence"]
    assert len(frame) == len(found) == found.to_polars().height == found.to_arrow().num_rows
    assert found.to_dict()["kind"] == "items"
    assert found.to_markdown().count("\n") > len(found)
    assert "got" in str(found)
    assert "got" in repr(found)
    assert "<table" in found.to_html()


@pytest.mark.parametrize(
    "make",
    [
        lambda: op.compare(
            op.Outcomes.from_confusion({"a": [[30, 1], [1, 20]], "b": [[3, 1], [2, 1]]}), "a", "b",
            n_draws=100,
        ),
        lambda: op.compare(
            op.Outcomes.from_counts([1, 0], {"a": [1, 0], "b": [0, 0]}, [5, 6]), "a", "b",
            n_draws=100,
        ),
        lambda: op.compare(
            op.Outcomes.from_json(
                op.Outcomes.from_labels([1, 0, 1], {"a": [1, 0, 0], "b": [0, 1, 1]}).to_json()
            ),
            "a", "b", n_draws=100,
        ),
        lambda: op.compare(
            op.Outcomes.from_labels(
                [1, 0, 1], {"a": [1, 0, 0], "b": [0, 1, 1]}, by={"day": [1, 1, 2]}
            ).slice(1),
            "a", "b", n_draws=100,
        ),
    ],
)  # fmt: skip
def test_rows_that_were_not_kept_are_refused_with_a_mend(make):
    with pytest.raises(UsageError, match="id="):
        make().item_table()


def test_folds_and_wrong_arguments_are_refused():
    rows = np.array([[10, 2, 3], [11, 3, 2]])
    with pytest.raises(UsageError, match="compare_cv_counts"):
        op.compare_cv_counts(
            rows, rows + np.array([0, 1, 0]), counts="tp_fp_fn", n_draws=100
        ).item_table()
    c = op.compare([1, 0, 1], [1, 0, 0], [0, 1, 1], n_draws=100)
    with pytest.raises(UsageError, match="flips"):
        c.item_table(which="flip")
    with pytest.raises(UsageError, match="a whole number"):
        c.item_table(top=-1)


def test_influences_at_shares_of_several_classes_are_those_of_leaving_items_out():
    rng = np.random.default_rng(0)
    truth, a, b = rng.integers(0, 3, (3, 90))
    a[:60], b[:50] = truth[:60], truth[:50]

    def asked(kept):
        seen = op.Outcomes.from_labels(truth[kept], {"A": a[kept], "B": b[kept]})
        there = seen.at_prevalence({1: 0.2, 2: 0.1})
        return op.compare(there, "A", "B", metric="f1", pos_label=2, rope=0.02, n_draws=500)

    whole = asked(np.arange(90))
    row = whole.item_table(which="all").to_frame().iloc[0]
    without = asked(np.arange(90) != int(row["id"]))
    assert row["influence"] == pytest.approx(whole.observed - without.observed)
