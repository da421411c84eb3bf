"""prevalence= from the question to the words: every verb, every kind of data."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import f1_score

import outperform as op
from outperform.errors import DataError, UsageError

FAST = {"n_draws": 2_000, "random_state": 1, "n_jobs": 1, "rope": 0.01}


@pytest.fixture(scope="module")
def balanced():
    """1,000 documents of each of two classes; A finds less and raises fewer false alarms."""
    rng = np.random.default_rng(7)
    truth = np.repeat([0, 1], 1_000)

    def model(recall, false):
        return (rng.random(2_000) < np.where(truth == 1, recall, false)).astype(int)

    return truth, model(0.80, 0.02), model(0.95, 0.06)


def weights(truth, shares):
    """Return what each document counts at other shares, for scikit-learn."""
    labels, codes, counts = np.unique(truth, return_inverse=True, return_counts=True)
    return np.array([shares[label.item()] for label in labels])[codes] / counts[codes]


def test_the_verdict_turns_round_in_production(balanced):
    naive = op.compare(*balanced, **FAST)
    there = op.compare(*balanced, prevalence=0.02, **FAST)
    assert (naive.decision.symbol, there.decision.symbol) == ("≪", "≫")


@pytest.mark.parametrize("given", [0.02, {1: 0.02}, {0: 0.98, 1: 0.02}])
def test_known_shares_of_two_classes_may_be_written_in_three_ways(balanced, given):
    first = op.compare(*balanced, prevalence=0.02, **FAST)
    other = op.compare(*balanced, prevalence=given, **FAST)
    np.testing.assert_allclose(first.draws, other.draws, rtol=0, atol=1e-12)


def test_the_observed_value_is_scikit_learns_with_weights(balanced, four):
    truth, a, b = balanced
    c = op.compare(truth, a, b, prevalence=0.02, **FAST)
    weight = weights(truth, {0: 0.98, 1: 0.02})
    assert c.a.observed == pytest.approx(f1_score(truth, a, sample_weight=weight))
    assert c.b.observed == pytest.approx(f1_score(truth, b, sample_weight=weight))
    truth, a, b = four
    shares = {"ham": 0.7, "jam": 0.2, "lamb": 0.07, "spam": 0.03}
    weight = weights(truth, shares)
    for metric, settings in (
        ("f1_macro", {"average": "macro"}),
        ("f1", {"labels": ["spam"], "average": "macro"}),
    ):
        pos_label = "spam" if metric == "f1" else None
        c = op.compare(truth, a, b, metric=metric, pos_label=pos_label, prevalence=shares, **FAST)
        assert c.a.observed == pytest.approx(f1_score(truth, a, sample_weight=weight, **settings))
        assert abs(c.a.mean - c.a.observed) < c.a.sd


def test_the_test_sets_own_values_stand_in_the_note(balanced, names):
    truth, a, b = balanced
    c = op.compare(truth, a, b, prevalence=0.02, **FAST)
    note = next(one for one in c.findings if one.name == "other_prevalence")
    assert note.level == "note"
    assert "P(prediction | class) is the same there" in note.message
    for predicted in (a, b):
        assert f"{f1_score(truth, predicted):.4f}" in note.message
    assert "other_prevalence" not in names(op.compare(truth, a, b, **FAST))


def test_few_errors_that_weigh_more_are_a_warning(table, names):
    few = table((450, 20, 20, 10), (1, 3, 2, 494))
    c = op.compare(few, "a", "b", prevalence=0.02, **FAST)
    (found,) = (one for one in c.findings if one.name == "few_errors_weigh_more")
    assert found.level == "warning"
    assert "a has 4 errors in class 0, where a document counts 49 times" in found.message
    assert "few_errors_weigh_more" not in names(op.compare(few, "a", "b", **FAST))
    for metric in ("recall", "specificity", "balanced_accuracy"):
        within = op.compare(few, "a", "b", metric=metric, prevalence=0.02, **FAST)
        assert "few_errors_weigh_more" not in names(within)
    # Where the positive class grows instead, errors among the negatives are light.
    assert "few_errors_weigh_more" not in names(op.compare(few, "a", "b", prevalence=0.9, **FAST))


def test_recall_is_exact_and_the_same_at_any_prevalence(balanced):
    plain = op.compare(*balanced, metric="recall", **FAST)
    there = op.compare(*balanced, metric="recall", prevalence=0.02, **FAST)
    assert there.exact
    assert (there.mean, there.sd, there.hdi) == (plain.mean, plain.sd, plain.hdi)
    assert there.point_null().bf01 == pytest.approx(plain.point_null().bf01)
    specificity = op.compare(*balanced, metric="specificity", prevalence=0.02, **FAST)
    assert specificity.exact


def test_f1_of_one_model_is_exact_where_production_was_counted(balanced):
    truth, a, _ = balanced
    given = {"n_draws": 20_000, "random_state": 1, "prevalence": {0: 980, 1: 20}}
    found = op.estimate(truth, a, **given)
    assert found.exact
    assert found.draws.mean() == pytest.approx(found.mean, abs=4.5 * found.sd / np.sqrt(20_000))
    assert found.draws.std() == pytest.approx(found.sd, rel=0.03)
    known = op.estimate(truth, a, random_state=1, prevalence=0.02)
    assert not known.exact
    assert known.sd < found.sd


def test_a_distribution_widens_what_is_known_exactly(balanced):
    known = op.estimate(*balanced[:2], prevalence=0.02, random_state=1)
    vague = op.estimate(*balanced[:2], prevalence=stats.beta(4, 196), random_state=1)
    assert vague.sd > 1.5 * known.sd
    assert "about fraud" not in vague.report()
    assert "re-weighted to about 1 0.02" in vague.report()


def test_one_class_of_four_against_the_rest(four):
    truth, a, b = four
    asked = {"metric": "f1", "pos_label": "spam", **FAST}
    one = op.compare(truth, a, b, prevalence={"spam": 0.01}, **asked)
    assert one.question.view.n_classes == 2
    _, counts = np.unique(truth, return_counts=True)
    mix = 0.99 * counts[:3] / counts[:3].sum()
    every = dict(zip(("ham", "jam", "lamb"), mix.tolist(), strict=True)) | {"spam": 0.01}
    whole = op.compare(truth, a, b, prevalence=every, **asked)
    assert whole.question.view.n_classes == 4
    assert whole.observed == pytest.approx(one.observed)
    # The same question, with a prior on two classes or on four.
    assert whole.mean == pytest.approx(one.mean, abs=0.5 * one.sd)
    assert whole.sd == pytest.approx(one.sd, rel=0.15)


def test_specificity_of_one_class_of_four_has_no_closed_form_and_is_right(four):
    truth, a, b = four
    shares = {"ham": 0.7, "jam": 0.2, "lamb": 0.07, "spam": 0.03}
    c = op.compare(truth, a, b, metric="specificity", pos_label="spam", prevalence=shares, **FAST)
    weight = weights(truth, shares)
    negative = truth != "spam"
    expected = (weight * (a != "spam"))[negative].sum() / weight[negative].sum()
    assert not c.exact
    assert c.a.observed == pytest.approx(expected)
    assert abs(c.a.mean - expected) < c.a.sd
    recall = op.compare(truth, a, b, metric="recall", pos_label="spam", prevalence=shares, **FAST)
    assert recall.exact


def test_disagreements_between_other_classes_do_not_count(names):
    truth = ["x"] * 40 + ["y"] * 40 + ["z"] * 40
    a, b = list(truth), list(truth)
    a[:30], b[:30] = ["y"] * 30, ["z"] * 30  # never x for either
    c = op.compare(
        truth,
        a,
        b,
        metric="precision",
        pos_label="x",
        prevalence={"x": 0.2, "y": 0.3, "z": 0.5},
        **FAST,
    )
    assert "few_disagreements" in names(c)


def test_with_metric_and_by_class_keep_the_prevalence(balanced, four):
    c = op.compare(*balanced, prevalence=0.02, **FAST)
    macro = c.with_metric("f1_macro")
    assert macro.question.placed.prevalence == c.question.placed.prevalence
    table = c.by_class()
    assert table[1].observed == pytest.approx(c.observed)
    assert macro.observed == pytest.approx((table[0].observed + table[1].observed) / 2)
    truth, a, b = four
    shares = {"ham": 0.7, "jam": 0.2, "lamb": 0.07, "spam": 0.03}
    whole = op.compare(truth, a, b, metric="f1_macro", prevalence=shares, **FAST)
    rows = whole.by_class()
    assert np.mean([row.observed for row in rows]) == pytest.approx(whole.observed)
    assert "re-weighted to" in str(rows).replace("\n", " ")
    # All rows are of the same draws, so their mean is the macro average, draw by draw.
    drawn = whole.ask_also(whole.question, rope=whole.rope, seed=rows["ham"].seed)
    np.testing.assert_allclose(np.mean([row.draws for row in rows], axis=0), drawn.draws)
    some = op.compare(truth, a, b, metric="f1_macro", prevalence={"ham": 0.9}, **FAST).by_class()
    assert [row.question.view.n_classes for row in some] == [2, 4, 4, 4]


def test_rank_scorecard_and_gate_take_it(balanced):
    truth, a, b = balanced
    c = op.compare(truth, a, b, prevalence=0.02, names=("a", "b"), **FAST)
    ranking = op.rank(truth, {"b": b, "a": a}, prevalence=0.02, **FAST)
    assert ranking.names == ("a", "b")
    assert ranking["a"].observed == pytest.approx(c.a.observed)
    assert ranking.compare("a", "b").observed == pytest.approx(c.observed)
    card = op.scorecard(truth, a, b, metrics=["f1", "precision"], prevalence=0.02, **FAST)
    assert card["f1"].observed == pytest.approx(c.observed)
    gate = op.gate(
        truth,
        a,
        b,
        prevalence=0.02,
        guards=[("recall", 0, 0.02), ("f1", 0, 0.02)],
        pos_label=1,
        **FAST,
    )
    assert gate.main.observed == pytest.approx(c.observed)
    # The share is of class 1, also for a guard on class 0.
    assert gate.guards[1].observed == pytest.approx(c.by_class()[0].observed)


@pytest.mark.parametrize("model", ["flat", "unit", "hierarchical", "free", "bootstrap"])
@pytest.mark.parametrize("paired", [True, False])
def test_every_model_agrees(balanced, model, paired):
    c = op.compare(*balanced, model=model, paired=paired, prevalence=0.02, **FAST)
    assert c.mean == pytest.approx(c.observed, abs=0.5 * c.sd)
    assert 0.02 < c.sd < 0.07


def test_groups_are_weighed_whole(balanced):
    truth, a, b = balanced
    plain = op.compare(truth, a, b, model="bootstrap", prevalence=0.02, **FAST)
    single = op.compare(truth, a, b, groups=np.arange(2_000), prevalence=0.02, **FAST)
    assert single.sd == pytest.approx(plain.sd, rel=0.1)
    large = op.compare(truth, a, b, groups=np.arange(2_000) // 20, prevalence=0.02, **FAST)
    assert large.question.n_groups == 100
    assert large.observed == pytest.approx(plain.observed)


def test_a_function_of_ones_own_sees_the_weighed_table(balanced):
    def f1(confusion):
        return 2 * confusion[1, 1] / (confusion[1].sum(axis=0) + confusion[:, 1].sum(axis=0))

    metric = op.metrics.from_function(f1, name="own", vectorized=True)
    own = op.compare(*balanced, metric=metric, prevalence=0.02, **FAST)
    named = op.compare(*balanced, metric="f1", prevalence=0.02, **FAST)
    np.testing.assert_allclose(own.draws, named.draws, atol=1e-12)
    assert own.observed == pytest.approx(named.observed)


def test_the_prior_of_the_bayes_factor_has_the_same_prevalence(balanced):
    c = op.compare(*balanced, prevalence=0.02, **FAST)
    rng = np.random.default_rng(0)
    right, false = (rng.dirichlet([1] * 4, 200_000) for _ in range(2))
    recall = right[:, 0] + right[:, 1], right[:, 0] + right[:, 2]
    alarm = false[:, 0] + false[:, 1], false[:, 0] + false[:, 2]
    a, b = (2 * 0.02 * r / (0.02 * (1 + r) + 0.98 * f) for r, f in zip(recall, alarm, strict=True))
    inside = np.mean(np.abs(a - b) <= 0.01)
    from outperform.comparison import engine

    found = engine.prior_inside(c.question, c.rope)
    assert found.inside == pytest.approx(inside, abs=4.5 * np.sqrt(0.25 / 20_000))
    plain = engine.prior_inside(op.compare(*balanced, **FAST).question, c.rope)
    assert abs(plain.inside - inside) > 0.05


def test_it_is_in_the_signature_the_words_and_the_json(balanced):
    c = op.compare(*balanced, prevalence={0: 980, 1: 20}, **FAST)
    assert "prevalence=0: 980 and 1: 20 of 1,000" in c.signature
    facts = json.loads(json.dumps(c.to_dict()))["prevalence"]
    assert facts["classes"] == [0, 1]
    assert facts["shares"] == pytest.approx([981 / 1002, 21 / 1002])
    assert (facts["source"], facts["n_counted"]) == ("counts", 1_000)
    for text in (repr(c), str(c), c.report(), c.to_latex(), c.to_html()):
        assert "at production prevalence" in " ".join(text.split())
    assert "prevalence" not in op.compare(*balanced, **FAST).to_dict()


def test_the_draws_do_not_depend_on_threads(balanced):
    given = {**FAST, "prevalence": stats.beta(20, 980), "n_draws": 9_000}
    one, two = (op.compare(*balanced, **{**given, "n_jobs": n}) for n in (1, 2))
    np.testing.assert_array_equal(one.draws, two.draws)


def test_a_class_without_documents_needs_a_prior():
    truth, a, b = [0] * 50 + [1] * 50, [0] * 45 + [1] * 55, [0] * 55 + [1] * 45
    asked = {"labels": [0, 1, 2], "metric": "f1_macro", **FAST}
    given = {0: 0.5, 1: 0.4, 2: 0.1}
    with pytest.raises(DataError, match="no document of A is of class 2"):
        op.compare(truth, a, b, model="bootstrap", prevalence=given, **asked)
    c = op.compare(truth, a, b, prevalence=given, **asked)
    assert np.isnan(c.observed)
    assert c.to_dict()["observed"] is None
    assert "class_without_truth" in {one.name for one in c.findings}
    assert str(c)
    partial = op.compare(truth, a, b, model="bootstrap", prevalence={0: 0.3}, **asked)
    assert np.isfinite(partial.draws).all()


def test_what_has_no_class_proportions_refuses_them(balanced):
    spans = op.Outcomes.from_tp_fp_fn({"A": (80, 10, 20), "B": (70, 15, 30)})
    right = op.Outcomes.from_correct({"A": [1, 0, 1], "B": [1, 1, 0]})
    scores = op.Scores.from_arrays([0, 1, 1], {"A": [0.1, 0.4, 0.6], "B": [0.2, 0.3, 0.9]})
    for seen, metric, words in (
        (spans, "f1", "no true negatives"),
        (right, "accuracy", "only right or wrong"),
        (scores, "roc_auc", "these are scores"),
    ):
        with pytest.raises(UsageError, match=words):
            op.compare(seen, "A", "B", metric=metric, prevalence=0.02, **FAST)


def test_one_share_of_an_averaged_metric_needs_a_class(four):
    with pytest.raises(UsageError, match="pos_label"):
        op.compare(*four, metric="f1_macro", prevalence=0.02, **FAST)
    named = op.compare(*four, metric="f1_macro", prevalence=0.02, pos_label="spam", **FAST)
    again = op.compare(*four, metric="f1_macro", prevalence={"spam": 0.02}, **FAST)
    np.testing.assert_array_equal(named.draws, again.draws)
