"""Other class proportions from the outcomes to the words: every verb, every kind of data."""

from __future__ import annotations

import json

import numpy as np
import pytest

import outperform as op
from outperform.errors import DataError, UsageError
from tests.lazily import lazily
from tests.loops import each

stats = lazily("scipy.stats")
f1_score = lazily("sklearn.metrics.f1_score")

FAST = {"n_draws": 2_000, "random_state": 1, "n_jobs": 1, "rope": 0.01}


@pytest.fixture(scope="module")
def balanced():
    """1,000 items of each of two classes; A finds less and raises fewer false alarms."""
    rng = np.random.default_rng(7)
    truth = np.repeat([0, 1], 1_000)

    def model(recall, false):
        return (rng.random(2_000) < np.where(truth == 1, recall, false)).astype(int)

    return truth, model(0.80, 0.02), model(0.95, 0.06)


def at(data, shares, *, pos_label=None, **rows):
    """Count A and B, to be answered at other shares."""
    truth, *predictions = data
    seen = op.Outcomes.from_labels(truth, dict(zip("AB", predictions, strict=False)), **rows)
    return seen.at_prevalence(shares, pos_label=pos_label)


def compared(data, shares, *, groups=None, labels=None, **asked):
    """Compare A and B at other shares; one share is that of the positive class."""
    seen = at(data, shares, groups=groups, labels=labels, pos_label=asked.get("pos_label"))
    return op.compare(seen, "A", "B", labels=labels, **asked)


def weights(truth, shares):
    """Return what each item counts at other shares, for scikit-learn."""
    labels, codes, counts = np.unique(truth, return_inverse=True, return_counts=True)
    return np.array([shares[label.item()] for label in labels])[codes] / counts[codes]


def test_the_decision_turns_round_in_production(balanced):
    naive = op.compare(*balanced, **FAST)
    there = compared(balanced, 0.02, **FAST)
    assert (naive.decision.symbol, there.decision.symbol) == ("≪", "≫")


@pytest.mark.parametrize("given", [0.02, {1: 0.02}, {0: 0.98, 1: 0.02}])
def test_known_shares_of_two_classes_may_be_written_in_three_ways(balanced, given):
    first = compared(balanced, 0.02, **FAST)
    other = compared(balanced, given, **FAST)
    np.testing.assert_allclose(first.draws, other.draws, rtol=0, atol=1e-12)


def test_the_observed_value_is_scikit_learns_with_weights(balanced, four):
    truth, a, b = balanced
    c = compared((truth, a, b), 0.02, **FAST)
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
        c = compared((truth, a, b), shares, metric=metric, pos_label=pos_label, **FAST)
        assert c.a.observed == pytest.approx(f1_score(truth, a, sample_weight=weight, **settings))
        assert abs(c.a.mean - c.a.observed) < c.a.sd


def test_the_test_sets_own_values_stand_in_the_note(balanced, names):
    truth, a, b = balanced
    c = compared((truth, a, b), 0.02, **FAST)
    note = next(one for one in c.findings if one.name == "other_prevalence")
    assert note.level == "note"
    assert "P(prediction | class) is the same in both" in note.message
    for predicted in (a, b):
        assert f"{f1_score(truth, predicted):.4f}" in note.message
    assert "other_prevalence" not in names(op.compare(truth, a, b, **FAST))


def test_few_errors_that_weigh_more_are_a_warning(table, names):
    few = table((450, 20, 20, 10), (1, 3, 2, 494))
    there = few.at_prevalence(0.02)
    c = op.compare(there, "a", "b", **FAST)
    (found,) = (one for one in c.findings if one.name == "few_errors_weigh_more")
    assert found.level == "warning"
    assert "a has 4 errors in class 0, where each item counts 49 times" in found.message
    assert "few_errors_weigh_more" not in names(op.compare(few, "a", "b", **FAST))
    for metric in ("recall", "specificity", "balanced_accuracy"):
        within = op.compare(there, "a", "b", metric=metric, **FAST)
        assert "few_errors_weigh_more" not in names(within)
    # Where the positive class grows instead, errors among the negatives are light.
    grown = few.at_prevalence(0.9)
    assert "few_errors_weigh_more" not in names(op.compare(grown, "a", "b", **FAST))


def test_recall_is_exact_and_the_same_at_any_prevalence(balanced):
    asked = {"metric": "recall", "prior": "uniform", **FAST}
    plain = op.compare(*balanced, **asked)
    there = compared(balanced, 0.02, **asked)
    assert there.exact
    assert (there.mean, there.sd, there.hdi) == (plain.mean, plain.sd, plain.hdi)
    assert there.bayes_factor_point_null().bf01 == pytest.approx(
        plain.bayes_factor_point_null().bf01
    )
    specificity = compared(balanced, 0.02, metric="specificity", **FAST)
    assert specificity.exact


def test_f1_of_one_model_is_exact_where_production_was_counted(balanced):
    given = {"n_draws": 20_000, "random_state": 1}
    found = op.estimate(at(balanced, {0: 980, 1: 20}), "A", **given)
    assert found.exact
    assert found.draws.mean() == pytest.approx(found.mean, abs=4.5 * found.sd / np.sqrt(20_000))
    assert found.draws.std() == pytest.approx(found.sd, rel=0.03)
    known = op.estimate(at(balanced, 0.02), "A", random_state=1)
    assert not known.exact
    assert known.sd < found.sd


def test_a_distribution_widens_what_is_known_exactly(balanced):
    known = op.estimate(at(balanced, 0.02), "A", random_state=1)
    vague = op.estimate(at(balanced, stats.beta(4, 196)), "A", random_state=1)
    assert vague.sd > 1.5 * known.sd
    assert "about fraud" not in vague.report()
    assert "re-weighted to about 1 0.02" in vague.report()


def test_one_class_of_four_against_the_rest(four):
    truth, a, b = four
    asked = {"metric": "f1", "pos_label": "spam", **FAST}
    one = compared((truth, a, b), {"spam": 0.01}, **asked)
    assert one.spec.view.n_classes == 2
    _, counts = np.unique(truth, return_counts=True)
    mix = 0.99 * counts[:3] / counts[:3].sum()
    every = dict(zip(("ham", "jam", "lamb"), mix.tolist(), strict=True)) | {"spam": 0.01}
    whole = compared((truth, a, b), every, **asked)
    assert whole.spec.view.n_classes == 4
    assert whole.observed == pytest.approx(one.observed)
    # The same question, with a prior on two classes or on four.
    assert whole.mean == pytest.approx(one.mean, abs=0.5 * one.sd)
    assert whole.sd == pytest.approx(one.sd, rel=0.15)


def test_specificity_of_one_class_of_four_has_no_closed_form_and_is_right(four):
    truth, a, b = four
    shares = {"ham": 0.7, "jam": 0.2, "lamb": 0.07, "spam": 0.03}
    c = compared((truth, a, b), shares, metric="specificity", pos_label="spam", **FAST)
    weight = weights(truth, shares)
    negative = truth != "spam"
    expected = (weight * (a != "spam"))[negative].sum() / weight[negative].sum()
    assert not c.exact
    assert c.a.observed == pytest.approx(expected)
    assert abs(c.a.mean - expected) < c.a.sd
    recall = compared((truth, a, b), shares, metric="recall", pos_label="spam", **FAST)
    assert recall.exact


def test_disagreements_between_other_classes_do_not_count(names):
    truth = ["x"] * 40 + ["y"] * 40 + ["z"] * 40
    a, b = list(truth), list(truth)
    a[:30], b[:30] = ["y"] * 30, ["z"] * 30  # never x for either
    shares = {"x": 0.2, "y": 0.3, "z": 0.5}
    c = compared((truth, a, b), shares, metric="precision", pos_label="x", **FAST)
    assert "few_disagreements" in names(c)


def test_with_metric_and_by_class_keep_the_prevalence(balanced, four):
    c = compared(balanced, 0.02, **FAST)
    macro = c.with_metric("f1_macro")
    assert macro.spec.view_prevalence.prevalence == c.spec.view_prevalence.prevalence
    table = c.by_class()
    assert table[1].observed == pytest.approx(c.observed)
    assert macro.observed == pytest.approx((table[0].observed + table[1].observed) / 2)
    truth, a, b = four
    shares = {"ham": 0.7, "jam": 0.2, "lamb": 0.07, "spam": 0.03}
    whole = compared((truth, a, b), shares, metric="f1_macro", prior="unit", **FAST)
    rows = whole.by_class()
    assert np.mean([row.observed for row in rows]) == pytest.approx(whole.observed)
    assert "re-weighted to" in str(rows).replace("\n", " ")
    # All rows are of the same draws, so their mean is the macro average, draw by draw.
    drawn = whole._ask(whole.spec, rope=whole.rope, seed=rows["ham"].seed)
    np.testing.assert_allclose(np.mean([row.draws for row in rows], axis=0), drawn.draws)
    some = compared((truth, a, b), {"ham": 0.9}, metric="f1_macro", **FAST).by_class()
    assert [row.spec.view.n_classes for row in some] == [2, 4, 4, 4]


def test_rank_scorecard_and_gate_take_it(balanced):
    seen, c = at(balanced, 0.02), compared(balanced, 0.02, **FAST)
    ranking = op.rank(seen, **FAST)
    assert ranking.names == ("A", "B")
    assert ranking["A"].observed == pytest.approx(c.a.observed)
    assert ranking.compare("A", "B").observed == pytest.approx(c.observed)
    card = op.scorecard(seen, "A", "B", metrics=["f1", "precision"], **FAST)
    assert card["f1"].observed == pytest.approx(c.observed)
    guards = [("recall", 0, 0.02), ("f1", 0, 0.02)]
    gate = op.gate(seen, "A", "B", guards=guards, pos_label=1, **FAST)
    assert gate.main.observed == pytest.approx(c.observed)
    # The share is of class 1, also for a guard on class 0.
    assert gate.guards[1].observed == pytest.approx(c.by_class()[0].observed)


@each("prior", ["uniform", "unit", "hierarchical", "learned", "bootstrap"])
@each("paired", [True, False])
def test_every_model_agrees(balanced, prior, paired):
    c = compared(balanced, 0.02, prior=prior, paired=paired, **FAST)
    assert c.mean == pytest.approx(c.observed, abs=0.5 * c.sd)
    assert 0.02 < c.sd < 0.07


def test_groups_are_weighed_whole(balanced):
    truth, a, b = balanced
    plain = compared((truth, a, b), 0.02, prior="bootstrap", **FAST)
    single = compared((truth, a, b), 0.02, groups=np.arange(2_000), **FAST)
    assert single.sd == pytest.approx(plain.sd, rel=0.1)
    large = compared((truth, a, b), 0.02, groups=np.arange(2_000) // 20, **FAST)
    assert large.spec.n_groups == 100
    assert large.observed == pytest.approx(plain.observed)


def test_a_function_of_ones_own_sees_the_weighed_table(balanced):
    def f1(confusion):
        return 2 * confusion[1, 1] / (confusion[1].sum(axis=0) + confusion[:, 1].sum(axis=0))

    metric = op.metrics.from_function(f1, name="own", vectorized=True)
    own = compared(balanced, 0.02, metric=metric, **FAST)
    named = compared(balanced, 0.02, metric="f1", **FAST)
    np.testing.assert_allclose(own.draws, named.draws, atol=1e-12)
    assert own.observed == pytest.approx(named.observed)


def test_the_prior_of_the_bayes_factor_has_the_same_prevalence(balanced):
    c = compared(balanced, 0.02, **FAST)
    rng = np.random.default_rng(0)
    right, false = (rng.dirichlet([1 / 4] * 4, 200_000) for _ in range(2))
    recall = right[:, 0] + right[:, 1], right[:, 0] + right[:, 2]
    alarm = false[:, 0] + false[:, 1], false[:, 0] + false[:, 2]
    a, b = (2 * 0.02 * r / (0.02 * (1 + r) + 0.98 * f) for r, f in zip(recall, alarm, strict=True))
    inside = np.mean(np.abs(a - b) <= 0.01)
    from outperform.inference import engine

    found = engine.prior_inside(c.spec, c.rope)
    assert found.inside == pytest.approx(inside, abs=4.5 * np.sqrt(0.25 / 20_000))
    plain = engine.prior_inside(op.compare(*balanced, **FAST).spec, c.rope)
    assert abs(plain.inside - inside) > 0.05


def test_it_is_in_the_signature_the_words_and_the_json(balanced):
    c = compared(balanced, {0: 980, 1: 20}, **FAST)
    assert "prevalence=0: 980 and 1: 20 of 1,000" in c.signature
    facts = json.loads(json.dumps(c.to_dict()))["prevalence"]
    assert facts["classes"] == [0, 1]
    assert facts["shares"] == pytest.approx([981 / 1002, 21 / 1002])
    assert (facts["source"], facts["n_counted"]) == ("counts", 1_000)
    for text in (repr(c), str(c), c.report(), c.to_latex(), c.to_html()):
        assert "at production prevalence" in " ".join(text.split())
    assert "prevalence" not in op.compare(*balanced, **FAST).to_dict()


def test_the_draws_do_not_depend_on_threads(balanced):
    seen, asked = at(balanced, stats.beta(20, 980)), {**FAST, "n_draws": 9_000}
    one, two = (op.compare(seen, "A", "B", **{**asked, "n_jobs": n}) for n in (1, 2))
    np.testing.assert_array_equal(one.draws, two.draws)


def test_a_class_without_items_needs_a_prior():
    truth, a, b = [0] * 50 + [1] * 50, [0] * 45 + [1] * 55, [0] * 55 + [1] * 45
    asked = {"labels": [0, 1, 2], "metric": "f1_macro", **FAST}
    given = {0: 0.5, 1: 0.4, 2: 0.1}
    with pytest.raises(DataError, match="A has no items of class 2"):
        compared((truth, a, b), given, prior="bootstrap", **asked)
    c = compared((truth, a, b), given, **asked)
    assert np.isnan(c.observed)
    assert c.to_dict()["observed"] is None
    assert "class_without_truth" in {one.name for one in c.findings}
    assert str(c)
    partial = compared((truth, a, b), {0: 0.3}, prior="bootstrap", **asked)
    assert np.isfinite(partial.draws).all()


def test_what_has_no_class_proportions_refuses_them():
    spans = op.Outcomes.from_tp_fp_fn({"A": (80, 10, 20), "B": (70, 15, 30)})
    right = op.Outcomes.from_correct({"A": [1, 0, 1], "B": [1, 1, 0]})
    sets = op.Outcomes.from_label_sets([{1, 2}, {1}], {"m": [{1, 2}, {1, 2}]})
    for seen, words in (
        (spans, "no true negatives"),
        (right, "only correctness"),
        (sets, "have no classes"),
    ):
        with pytest.raises(UsageError, match=words):
            seen.at_prevalence(0.02)


def test_one_share_of_an_averaged_metric_needs_a_class(four):
    with pytest.raises(UsageError, match="pos_label"):
        compared(four, 0.02, metric="f1_macro", **FAST)
    named = compared(four, 0.02, metric="f1_macro", pos_label="spam", **FAST)
    again = compared(four, {"spam": 0.02}, metric="f1_macro", **FAST)
    np.testing.assert_array_equal(named.draws, again.draws)


# The numbers that an argument of each verb gave before outcomes carried the proportions


@pytest.fixture(scope="module")
def small():
    """600 items of two classes and 400 of three, two models each."""
    rng = np.random.default_rng(7)
    truth = np.repeat([0, 1], 300)

    def model(recall, false):
        return (rng.random(600) < np.where(truth == 1, recall, false)).astype(int)

    two = op.Outcomes.from_labels(truth, {"A": model(0.80, 0.02), "B": model(0.95, 0.06)})
    labels = np.array(["ham", "jam", "spam"])
    truth = np.repeat(labels, [200, 150, 50])

    def noisy(rate):
        return np.where(rng.random(400) < rate, truth, labels[rng.integers(0, 3, 400)])

    predictions = {"A": noisy(0.8), "B": noisy(0.7)}
    three = op.Outcomes.from_labels(truth, predictions)
    grouped = op.Outcomes.from_labels(truth, predictions, groups=np.arange(400) // 4)
    return two, three, grouped


ASKED = {"n_draws": 500, "random_state": 1, "n_jobs": 1}
UNIFORM = {"prior": "uniform", **ASKED}


def same(found, mean, sd, last):
    """See that a posterior is the one that was recorded."""
    assert (found.mean, found.sd, found.draws[-1]) == pytest.approx((mean, sd, last), rel=1e-10)


@each(
    ("given", "compared", "estimated"),
    lambda: [
        (0.02, (0.20191745371687875, 0.08811695509135693, 0.12581061605186405),
         (0.589505968168758, 0.08384697106518872, 0.6177606033561254)),
        ({1: 20, 0: 980}, (0.18519078560766536, 0.08346127410761245, 0.25790443542765834),
         (0.5984917005889692, 0.09028542108491712, 0.49734887741235134)),
        (stats.beta(4, 196), (0.17712561420822345, 0.0835499919688777, 0.29583936491563395),
         (0.5667682435405116, 0.1340680937801045, 0.5067043962051424)),
    ],
)  # fmt: skip
def test_two_classes_as_recorded(small, given, compared, estimated):
    two, _, _ = small
    there = two.at_prevalence(given)
    same(op.compare(there, "A", "B", rope=0.01, **UNIFORM), *compared)
    same(op.compare(two, "A", "B", rope=0.01, **UNIFORM).at_prevalence(given), *compared)
    same(op.estimate(there, "A", **UNIFORM), *estimated)
    same(op.estimate(two, "A", **UNIFORM).at_prevalence(given), *estimated)


def test_every_verb_as_recorded(small):
    two, three, grouped = small
    asked = {"rope": 0.01, **ASKED}
    there = three.at_prevalence({"ham": 0.7, "jam": 0.2, "spam": 0.1})
    unit, uniform = ({"prior": prior, **asked} for prior in ("unit", "uniform"))
    macro = op.compare(there, "A", "B", metric="f1_macro", **unit)
    same(macro, 0.1216839937861522, 0.033443000556608767, 0.13272165351411858)
    same(
        macro.with_metric("accuracy"),
        0.10675341207609813,
        0.029062747852357348,
        0.12473011770444398,
    )
    same(macro.by_class()["spam"], 0.17656906689328236, 0.06449056998640955, 0.10853188718725593)
    spam = grouped.at_prevalence({"spam": 0.02})
    found = op.compare(spam, "A", "B", metric="f1", pos_label="spam", **asked)
    same(found, 0.11458531817473758, 0.04403693317063072, 0.08548493398577062)
    ranking = op.rank(there, metric="accuracy", **unit)
    same(ranking["A"].estimate, 0.8520016074311944, 0.020454063019252598, 0.837646016789367)
    same(ranking.compare("A", "B"), 0.10675341207609813, 0.029062747852357348, 0.12473011770444398)
    card = op.scorecard(there, "A", "B", metrics=["accuracy", "f1_macro"], **unit)
    same(card["f1_macro"], 0.1216839937861522, 0.033443000556608767, 0.13272165351411858)
    fraud = two.at_prevalence(0.02)
    gate = op.gate(fraud, "A", "B", metric="f1", guards=[("f1", 0, 0.02)], pos_label=1, **uniform)
    same(gate.main, 0.19332763806467326, 0.08973983871736417, 0.21336949712901299)
    same(gate.guards[0], 0.0217216581111348, 0.008898234536193506, 0.025661647664948162)


def test_a_comparison_asked_again_at_home_is_the_first(small):
    two, _, _ = small
    home = op.compare(two, "A", "B", rope=0.01, **ASKED)
    there = home.at_prevalence(0.02)
    assert "prevalence" in there.to_dict()
    np.testing.assert_array_equal(there.at_prevalence(None).draws, home.draws)


def test_what_answers_at_the_datas_proportions_refuses_others(small, tmp_path):
    two, _, _ = small
    there = two.at_prevalence(0.02)
    bits = [0, 1, 1, 0]
    parts = op.Outcomes.from_labels(bits, {"A": bits, "B": bits}, by={"day": list("MTTM")})
    for ask in (
        lambda: op.compare_runs(there, ["A"], ["B"]),
        lambda: op.compare_slices(parts.at_prevalence(0.02), "A", "B"),
        lambda: op.plan(pilot=there, rope=0.01),
    ):
        with pytest.raises(UsageError, match=r"proportions of the data.*at_prevalence\(None\)"):
            ask()
    with pytest.raises(UsageError, match="a monitor has its own prevalence="):
        op.Monitor(tmp_path, "A", "B").add(there, key="Mon")
    folds = op.compare_cv_counts([[10, 1, 2]] * 6, [[9, 2, 3]] * 6, n_draws=500)
    with pytest.raises(UsageError, match="compare_cv_counts uses the class proportions of"):
        folds.at_prevalence(0.02)
    c = op.compare([0, 1, 1], [0.1, 0.4, 0.6], [0.2, 0.3, 0.9], metric="roc_auc", rope=0.1)
    with pytest.raises(UsageError):
        c.at_prevalence(0.02)
    with pytest.raises(UsageError, match="belongs to a comparison"):
        op.compare(two, "A", "B", rope=0.01, **ASKED).a.at_prevalence(0.02)


def test_a_monitor_has_its_own(small, tmp_path):
    two, _, _ = small
    monitor = op.Monitor(tmp_path, "A", "B", rope=0.01, prevalence=0.02, n_draws=500)
    monitor.add(two, key="Mon")
    assert monitor.latest.spec.data.prevalence == two.at_prevalence(0.02).prevalence
    assert "at production prevalence" in repr(monitor.latest)
