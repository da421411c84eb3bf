"""Comparisons under stated rates of wrong gold labels."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import outperform as op
from outperform.data.prevalence import LabelErrors
from outperform.errors import UndefinedBayesFactorError, UsageError
from outperform.posterior.predictive import by_truth
from tests.lazily import lazily
from tests.loops import each

accuracy_score = lazily("sklearn.metrics.accuracy_score")
f1_score = lazily("sklearn.metrics.f1_score")
recall_score = lazily("sklearn.metrics.recall_score")

# Truth (rows) by the predictions of A and of B, as counts; rates that differ by class.
TABLE = np.array([[[500, 40], [80, 20]], [[30, 50], [10, 280]]])
NOISE = np.array([[0.95, 0.05], [0.2, 0.8]])


def counts_of(table, labels=(0, 1)):
    """Return outcomes with the counts of a joint table."""
    cells = list(itertools.product(range(len(labels)), repeat=3))
    truth, a, b = ([labels[cell[place]] for cell in cells] for place in range(3))
    counts = [int(table[cell]) for cell in cells]
    return op.Outcomes.from_counts(truth, {"A": a, "B": b}, counts)


def gold_of(table, noise):
    """Return the expected table by gold label, which is whole here."""
    found = np.einsum("yg,yab->gab", noise, table)
    assert np.allclose(found, np.rint(found))
    return np.rint(found).astype(int)


def compared(seen, metric="accuracy", **options):
    return op.compare(seen, "A", "B", metric=metric, rope=0.02, random_state=3, **options)


def relabelled(rng, truth, noise):
    """Draw gold labels."""
    return (rng.random((len(truth), 1)) > noise[truth].cumsum(axis=1)[:, :-1]).sum(axis=1)


# Against closed forms


def test_symmetric_errors_of_two_classes_stretch_accuracy():
    c = compared(counts_of(TABLE))
    e = 0.03
    found = c.with_label_errors(e)
    for plain, now in ((c.a, found.a), (c.b, found.b)):
        assert now.observed == pytest.approx((plain.observed - e) / (1 - 2 * e))
        # The draws are not those of the closed form that the plain comparison has.
        error = 4 * now.draws.std() / np.sqrt(now.draws.size)
        assert now.mean == pytest.approx((plain.mean - e) / (1 - 2 * e), abs=error)
        assert now.sd == pytest.approx(plain.sd / (1 - 2 * e), rel=0.03)
    assert found.sd == pytest.approx(c.sd / (1 - 2 * e), rel=0.03)


@each("metric", ["accuracy", "f1", "recall", "precision", "f1_macro"])
def test_what_the_errors_did_is_undone_also_where_they_differ_by_class(metric):
    # M instead of its transpose gives other numbers, as the rates differ.
    gold = counts_of(gold_of(TABLE, NOISE))
    found = compared(gold, metric).with_label_errors({0: 0.05, 1: 0.2})
    true = compared(counts_of(TABLE), metric)
    assert found.a.observed == pytest.approx(true.a.observed)
    assert found.b.observed == pytest.approx(true.b.observed)
    assert abs(compared(gold, metric).a.observed - true.a.observed) > 0.01
    # The prior of one item a class, and the curvature of the metric, are of the order 1 / n.
    assert found.a.mean == pytest.approx(true.a.mean, abs=0.006)


def test_a_class_that_is_called_positive_is_the_one_with_its_rate():
    gold = gold_of(TABLE, NOISE)
    for positive, labels in (("yes", ("no", "yes")), ("no", ("no", "yes"))):
        seen, true = counts_of(gold, labels), counts_of(TABLE, labels)
        c = op.compare(seen, "A", "B", metric="recall", pos_label=positive, rope=0.02)
        found = c.with_label_errors({"no": 0.05, "yes": 0.2})
        expected = op.compare(true, "A", "B", metric="recall", pos_label=positive, rope=0.02)
        assert found.a.observed == pytest.approx(expected.a.observed)


@pytest.mark.parametrize("metric", ["accuracy", "f1_macro", "cohen_kappa", "f1"])
def test_three_classes_by_a_matrix(metric):
    rng = np.random.default_rng(5)
    table = 100 * rng.integers(1, 5, (3, 3, 3))
    table[range(3), range(3), range(3)] += 1_500
    noise = np.array([[0.9, 0.07, 0.03], [0.02, 0.95, 0.03], [0.1, 0.05, 0.85]])
    gold = gold_of(table, noise)
    labels = ("x", "y", "z")
    options = {"prior": "unit", **({"pos_label": "z"} if metric == "f1" else {})}
    c = compared(counts_of(gold, labels), metric, **options)
    true = compared(counts_of(table, labels), metric, **options)
    as_rows = {
        "x": {"y": 0.07, "z": 0.03}, "y": {"x": 0.02, "z": 0.03}, "z": {"x": 0.1, "y": 0.05}
    }  # fmt: skip
    for rates in (noise, noise.tolist(), as_rows):
        found = c.with_label_errors(rates)
        assert found.a.observed == pytest.approx(true.a.observed)
        assert found.b.observed == pytest.approx(true.b.observed)
    assert found.a.mean == pytest.approx(found.a.observed, abs=0.005)


def test_errors_of_a_class_are_spread_over_the_classes_that_are_ever_true():
    seen = op.Outcomes.from_labels(
        list("xyz" * 60), {"A": [*"xyz" * 59, "x", "y", "none"], "B": list("xyz" * 60)}
    )
    c = op.compare(seen, "A", "B", metric="accuracy", rope=0.02, random_state=0)
    errors = c.with_label_errors(0.1).spec.view_errors
    assert errors.labels == ("none", "x", "y", "z")
    assert errors.matrix[1].tolist() == pytest.approx([0, 0.9, 0.05, 0.05])
    assert errors.matrix[0].tolist() == [1, 0, 0, 0]


def test_the_wrong_way_around_would_be_seen():
    """Plant the bug: the inverse of M where that of its transpose belongs."""
    gold = gold_of(TABLE, NOISE).sum(axis=2)[..., None].astype(float)
    right = by_truth(gold, np.linalg.inv(NOISE.T))[..., 0]
    wrong = by_truth(gold, np.linalg.inv(NOISE))[..., 0]
    assert np.allclose(right, TABLE.sum(axis=2))
    assert np.abs(wrong - TABLE.sum(axis=2)).max() > 50


# Draws


def test_no_errors_give_the_same_draws():
    c = compared(counts_of(TABLE), "f1")
    for rates in (None, 0, 0.0, {0: 0.0, 1: 0}, np.eye(2)):
        assert np.array_equal(c.with_label_errors(rates).draws, c.draws)
    stated = c.with_label_errors(0.03)
    assert np.array_equal(stated.with_label_errors(None).draws, c.draws)
    assert not np.array_equal(stated.draws, c.draws)


def test_the_draws_are_those_of_the_gold_labels_mapped_one_by_one():
    # Two models of the same predictions stay equal in every draw, so pairing is kept.
    same = np.zeros((2, 2, 2), dtype=int)
    same[0, 0, 0], same[0, 1, 1], same[1, 0, 0], same[1, 1, 1] = 60, 9, 7, 40
    found = compared(counts_of(same), "f1", prior="bootstrap").with_label_errors({0: 0.02, 1: 0.1})
    assert np.abs(found.draws).max() < 1e-12
    assert found.a.draws.std() > 0.01


def test_no_draw_leaves_the_metric_s_range_where_rates_are_at_their_limit():
    table = np.zeros((2, 2, 2), dtype=int)
    table[0, 0, 0], table[0, 1, 1], table[1, 0, 0], table[1, 1, 1] = 95, 5, 4, 46
    table[1, 1, 0], table[0, 0, 1] = 6, 4
    for metric in ("accuracy", "f1", "precision", "recall"):
        found = compared(counts_of(table), metric).with_label_errors(0.06)
        for draws in (found.a.draws, found.b.draws):
            assert draws.min() >= 0
            assert draws.max() <= 1 + 1e-12


def test_what_is_put_back_keeps_predictions_and_cells_that_are_right():
    rng = np.random.default_rng(2)
    weights = rng.dirichlet(np.full(16, 0.3), 500).T.reshape(4, 4, 500)
    noise = 0.9 * np.eye(4) + 0.025
    found = by_truth(weights, np.linalg.inv(noise.T))
    assert np.allclose(found.sum(axis=0), weights.sum(axis=0))
    hits = found[range(4), range(4)]
    assert (hits >= 0).all()
    assert (hits <= weights.sum(axis=0) + 1e-15).all()
    plain = np.einsum("yg,gan->yan", np.linalg.inv(noise.T), weights)
    inside = ((hits > 0) & (hits < weights.sum(axis=0))).all(axis=0)
    assert inside.any()
    assert np.allclose(found[..., inside], plain[..., inside])


# Simulation

TEST_SETS = 200


def _simulated(metric, noise, shares, sizes=400):
    """Return how often the 95% HDI of A − B and of A hold what a great test set has."""
    rng = np.random.default_rng(11)
    k = len(noise)

    def drawn(n):
        truth = rng.choice(k, n, p=shares)
        models = [
            np.where(rng.random(n) < right, truth, rng.integers(0, k, n)) for right in (0.85, 0.75)
        ]
        return truth, models

    scores = {
        "accuracy": accuracy_score,
        "f1": f1_score,
        "recall": recall_score,
        "f1_macro": lambda y, p: f1_score(y, p, average="macro"),
    }
    truth, (a, b) = drawn(2_000_000)
    of_a = scores[metric](truth, a)
    apart = of_a - scores[metric](truth, b)
    held, own, wrong = 0, 0, 0
    for _ in range(TEST_SETS):
        truth, (a, b) = drawn(sizes)
        gold = relabelled(rng, truth, noise)
        c = op.compare(gold, a, b, metric=metric, rope=0.02, n_draws=2_000, random_state=1,
                       prior="unit")  # fmt: skip
        found = c.with_label_errors(noise)
        held += found.hdi.low <= apart <= found.hdi.high
        own += found.a.hdi.low <= of_a <= found.a.hdi.high
        wrong += any(one.name == "label_errors_do_not_fit" for one in found.findings)
    return held / TEST_SETS, own / TEST_SETS, wrong


@pytest.mark.parametrize(
    "metric",
    ["f1", *(pytest.param(one, marks=pytest.mark.slow) for one in ("accuracy", "recall"))],
)
def test_intervals_hold_the_truth_as_often_as_they_say(metric):
    difference, own, wrong = _simulated(metric, np.array([[0.96, 0.04], [0.12, 0.88]]), [0.6, 0.4])
    error = np.sqrt(0.95 * 0.05 / TEST_SETS)
    assert difference >= 0.95 - 3 * error
    assert own >= 0.95 - 3 * error
    assert wrong <= 8  # of 200, one in a hundred or fewer: P(X > 8 | 2) is 0.0002


def test_many_classes_with_sparse_cells_are_not_biased_by_their_zeros():
    # Cut at zero, the 90 empty cells would eat up the correction, and 46.5% would hold A.
    k, rate = 10, 0.1
    noise = (1 - rate * k / (k - 1)) * np.eye(k) + rate / (k - 1)
    difference, own, wrong = _simulated("accuracy", noise, np.full(k, 1 / k), sizes=600)
    error = np.sqrt(0.95 * 0.05 / TEST_SETS)
    assert difference >= 0.95 - 3 * error
    assert own >= 0.95 - 3 * error
    assert wrong <= 8


# What is said


def test_the_rates_are_in_the_answer_and_the_findings_say_what_they_assume():
    found = compared(counts_of(TABLE)).with_label_errors({1: 0.1, 0: 0.02})
    assert "accuracy without label errors" in str(found)
    assert "wrong gold labels: 2% of 0 and 10% of 1" in " ".join(str(found).split())
    assert "label_errors=2% of 0 and 10% of 1" in found.signature
    (told,) = (one for one in found.findings if one.name == "label_errors")
    assert told.level == "note"
    assert "2% of 0 and 10% of 1" in told.message
    assert f"accuracy is {compared(counts_of(TABLE)).a.observed:.4f} for A" in told.message
    assert found.to_dict()["label_errors"] == {
        "classes": [0, 1], "rates": pytest.approx([0.02, 0.1]), "same": False
    }  # fmt: skip
    assert "label_errors" not in compared(counts_of(TABLE)).to_dict()
    assert found.distribution is None


def test_rates_that_the_data_contradict_are_told():
    seen = counts_of(TABLE)  # of 410 items of class 1 A misses 80
    fits = compared(seen).with_label_errors({0: 0.1})
    assert not any(one.name == "label_errors_do_not_fit" for one in fits.findings)
    found = compared(seen).with_label_errors({0: 0.3})
    (told,) = (one for one in found.findings if one.name == "label_errors_do_not_fit")
    assert told.level == "warning"
    assert "items labelled 1 that A predicts as 0" in told.message


def test_empty_cells_do_not_contradict_rates_of_which_they_expect_less_than_an_item():
    table = np.zeros((3, 3, 3), dtype=int)
    table[range(3), range(3), range(3)] = 40
    table[0, 0, 1], table[1, 2, 1], table[2, 2, 0] = 12, 11, 13
    found = compared(counts_of(table, "xyz"), prior="unit").with_label_errors(0.02)
    assert [one.name for one in found.findings if one.level == "warning"] == []


# Asking again


def test_the_rates_stay_with_the_comparison():
    stated = compared(counts_of(gold_of(TABLE, NOISE)), "f1").with_label_errors({0: 0.05, 1: 0.2})
    true = compared(counts_of(TABLE), "f1")
    assert stated.with_metric("recall").a.observed == pytest.approx(
        true.with_metric("recall").a.observed
    )
    assert stated.with_rope(0.1).rope.high == 0.1
    assert np.array_equal(stated.with_rope(0.1).draws, stated.draws)
    for label in (0, 1):
        one = stated.by_class()[label]
        assert one.a.observed == pytest.approx(true.by_class()[label].a.observed)
    rows = stated.by_class().to_frame()
    assert rows["sign_test_p"].isna().all()
    found = stated.sensitivity()
    assert all("label_errors" in one.to_dict() for one in found)


def test_items_move_the_difference_by_what_the_map_says():
    rng = np.random.default_rng(0)
    gold, a, b = rng.integers(0, 3, (3, 60))
    a[:40], b[:30] = gold[:40], gold[:30]
    for options in ({"metric": "accuracy"}, {"metric": "f1", "pos_label": 2}):
        c = op.compare(gold, a, b, rope=0.02, random_state=0, prior="unit", **options)
        stated = c.with_label_errors({0: 0.1, 2: 0.05})
        table = stated.item_table(which="all").to_frame()
        place = int(table.index[0])
        row = int(table["id"].iloc[place])
        keep = np.arange(60) != row
        less = op.compare(gold[keep], a[keep], b[keep], rope=0.02, prior="unit", **options)
        without = less.with_label_errors({0: 0.1, 2: 0.05})
        assert table["influence"].iloc[place] == pytest.approx(stated.observed - without.observed)


def test_sensitivity_shows_the_decision_under_each_rate():
    c = compared(counts_of(TABLE))
    found = c.sensitivity(label_errors=[0.01, {1: 0.1}])
    assert found.priors[-2:] == ("wrong labels: 1%", "wrong labels: 10% of 1")
    one = found["wrong labels: 10% of 1"]
    assert np.array_equal(one.draws, c.with_label_errors({1: 0.1}).draws)
    assert set(found.apart) == {"wrong labels: 1%", "wrong labels: 10% of 1"}
    with pytest.raises(UsageError, match="must be a list"):
        c.sensitivity(label_errors=0.03)


def test_sensitivity_says_how_many_wrong_labels_would_change_the_decision():
    c = compared(counts_of(TABLE))
    (told,) = (one for one in c.sensitivity().findings if one.name == "wrong_labels")
    assert told.message == c.fragility().headline
    stated = c.with_label_errors(0.02)  # which has no such number
    assert all(one.name != "wrong_labels" for one in stated.sensitivity().findings)


def test_a_tree_of_draws_says_that_it_has_no_way_back():
    pytest.importorskip("xarray")
    tree = compared(counts_of(TABLE)).with_label_errors(0.02).to_datatree()
    with pytest.raises(UsageError, match="label errors are not stored"):
        op.from_datatree(tree)


# Groups and weights


def test_groups_of_one_item_are_items():
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 2, 400)
    a, b = (np.where(rng.random(400) < share, truth, 1 - truth) for share in (0.9, 0.8))
    options = {"metric": "f1", "rope": 0.02, "random_state": 0}
    alone = op.compare(truth, a, b, prior="bootstrap", **options).with_label_errors(0.03)
    grouped = op.compare(truth, a, b, groups=np.arange(400), **options).with_label_errors(0.03)
    assert grouped.observed == pytest.approx(alone.observed)
    assert grouped.sd == pytest.approx(alone.sd, rel=0.05)
    twice = op.compare(
        *(np.tile(one, 2) for one in (truth, a, b)), groups=np.tile(np.arange(400), 2), **options
    ).with_label_errors(0.03)
    assert twice.sd == pytest.approx(alone.sd, rel=0.05)


# Refusals


@each(
    ("rates", "words"),
    [
        (0.5, "carry almost no information about"),
        (0.9, "carry almost no information about"),
        ({0: 0.55, 1: 0.44}, "carry almost no information about"),
        (-0.1, "of at least 0 and below 1"),
        (1.0, "of at least 0 and below 1"),
        (float("nan"), "of at least 0 and below 1"),
        ({2: 0.1}, "class"),
        ({}, "contains no class"),
        ({0: "many"}, "of at least 0 and below 1"),
        ({0: {0: 0.9, 1: 0.1}}, "wrong labels; the remaining share"),
        ("3%", "a mapping from true classes"),
        (True, "a mapping from true classes"),
        ([[0.9, 0.1]], "a mapping from true classes"),
        ([[0.9, 0.2], [0.1, 0.9]], "sum to 1"),
    ],
)
def test_rates_that_make_no_sense_are_refused(rates, words):
    with pytest.raises(UsageError, match=words):
        compared(counts_of(TABLE)).with_label_errors(rates)


def test_data_without_one_gold_label_an_item_are_refused():
    right = op.Outcomes.from_correct({"A": [1, 0, 1, 1] * 9, "B": [1, 1, 0, 0] * 9})
    with pytest.raises(UsageError, match=r"only correctness.*from_judged"):
        compared(right).with_label_errors(0.03)
    sets = op.Outcomes.from_label_sets(
        [["x"], ["y"]] * 9, {"A": [["x"], []] * 9, "B": [["y"]] * 18}
    )
    with pytest.raises(UsageError, match="several labels"):
        compared(sets, "f1_micro").with_label_errors(0.03)
    tags = [["B-PER", "O"]] * 9
    spans = op.Outcomes.from_tags(tags, {"A": tags, "B": [["O", "O"]] * 9}, scheme="IOB2")
    with pytest.raises(UsageError, match="spans"):
        compared(spans, "f1").with_label_errors(0.03)
    judged = op.Outcomes.from_judged(
        {"A": [1, 0] * 20, "B": [1, 1] * 20}, human={"A": [1.0] * 40, "B": [1.0, 0.0] * 20}
    )
    with pytest.raises(UsageError, match="were rated by a judge"):
        compared(judged).with_label_errors(0.03)
    scores = op.Scores.from_values({"A": [1.0, 2.0, 3.0] * 5, "B": [2.0, 2.0, 1.0] * 5})
    with pytest.raises(UsageError, match="scores"):
        op.compare(scores, "A", "B", rope=0.1).with_label_errors(0.03)
    several = op.Outcomes.from_annotators(
        np.array([[0, 1, 0], [1, 1, 0]] * 20),
        {"A": [0, 1] * 20, "B": [1, 1] * 20},
        truth="majority",
    )
    with pytest.raises(UsageError, match="several annotators"):
        compared(several).with_label_errors(0.03)


def test_other_questions_are_refused():
    c = compared(counts_of(TABLE))
    stated = c.with_label_errors(0.03)
    for method in ("exact", "kde"):
        with pytest.raises(UndefinedBayesFactorError, match="stated label errors"):
            stated.bayes_factor_point_null(method=method)
    with pytest.raises(UsageError, match="plan assumes that gold labels"):
        op.plan(pilot=stated.spec.data, a="A", b="B", metric="accuracy")
    with pytest.raises(UsageError, match="already"):
        stated.fragility()
    of_runs = {"A": {"1": [0, 1] * 20, "2": [0, 1] * 20}, "B": {"3": [1, 1] * 20, "4": [0, 0] * 20}}
    runs = op.compare_runs([0, 1] * 20, of_runs["A"], of_runs["B"], metric="accuracy", rope=0.02,
                           n_draws=500, random_state=0)  # fmt: skip
    with pytest.raises(UsageError, match="takes the gold labels as right"):
        runs.with_label_errors(0.03)


def test_too_many_classes_are_refused():
    labels = [f"c{k:03}" for k in range(101)]
    seen = op.Outcomes.from_labels(
        labels * 2, {"A": labels * 2, "B": labels[1:] * 2 + ["c000"] * 2}
    )
    with pytest.raises(UsageError, match="up to 100 classes"):
        LabelErrors.from_param(0.03, seen, seen.labels)
