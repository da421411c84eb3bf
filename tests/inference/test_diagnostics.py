"""Findings: each of them comes where it should, and stays away where it should not."""

from __future__ import annotations

import numpy as np
import pytest

import outperform as op
from outperform.decision.rope import probability_error
from tests.loops import each

FEW = {"n_draws": 2_000, "random_state": 1}


def level(result, name):
    return {finding.name: finding.level for finding in result.findings}[name]


def message(result, name):
    return next(finding.message for finding in result.findings if finding.name == name)


def parameter(result, name):
    return next(finding.parameter for finding in result.findings if finding.name == name)


def test_a_large_clean_comparison_has_none(table):
    seen = table([4_000, 600, 300, 500], [500, 300, 600, 4_000])
    for metric in ("f1", "precision", "accuracy", "f1_macro"):
        c = op.compare(seen, "a", "b", metric=metric, rope=0.005, n_draws=20_000, random_state=1)
        assert c.findings == ()


def test_default_rope(two, names):
    assert level(op.compare(*two, **FEW), "default_rope") == "note"
    assert "±0.01" in message(op.compare(*two, **FEW), "default_rope")
    assert "default_rope" not in names(op.compare(*two, rope=0.01, **FEW))


def test_zero_width_rope(two, names):
    c = op.compare(*two, rope=0, **FEW)
    assert level(c, "zero_width_rope") == "warning"
    assert c.bayes_factor is None
    assert "zero_width_rope" not in names(op.compare(*two, rope=1e-9, **FEW))


def test_prior_pull_of_small_data(two, names):
    small = op.compare(*(column[:12] for column in two), rope=0.05, **FEW)
    assert level(small, "prior_pull_on_levels") == "note"
    assert "observed" in message(small, "prior_pull_on_levels")
    strong = op.compare(*(column[:12] for column in two), rope=0.05, prior=20.0, **FEW)
    assert level(strong, "prior_pull") == "warning"
    assert f"the observed {strong.observed:+.4f} to" in message(strong, "prior_pull")
    large = op.compare(*(np.tile(column, 50) for column in two), rope=0.05, **FEW)
    assert not {"prior_pull", "prior_pull_on_levels"} & set(names(large))


def test_prior_pull_of_flat_rows_with_many_classes(four, names):
    many = [np.tile(column, 200) for column in four]
    flat = op.compare(*many, metric="accuracy", prior="uniform", rope=0.01, **FEW)
    assert "its own prior mass" in message(flat, "prior_pull")
    assert "prior_pull" not in names(op.compare(*many, metric="accuracy", rope=0.01, **FEW))


def test_few_disagreements_warn(table, names):
    c = op.compare(table([500, 4, 5, 50], [50, 0, 0, 500]), "a", "b", rope=0.001, **FEW)
    assert level(c, "few_disagreements") == "warning"
    assert "9 items" in message(c, "few_disagreements")
    more = op.compare(table([500, 5, 5, 50], [50, 0, 0, 500]), "a", "b", rope=0.001, **FEW)
    assert "few_disagreements" not in names(more)


def test_equivalence_is_withheld_where_no_prior_expects_disagreement(table):
    seen = table([5_000, 0, 0, 200], [100, 0, 0, 5_000])
    for metric in ("f1", "accuracy", "recall", "precision", "f1_macro"):
        c = op.compare(seen, "a", "b", metric=metric, prior="bootstrap", rope=0.01, **FEW)
        assert c.hdi.width == 0.0
        assert c.decision is op.Decision.UNDECIDED
        assert level(c, "few_disagreements") == "serious"
        assert "withheld" in message(c, "few_disagreements")
        assert c.p_equivalent == 1.0


def test_equivalence_stands_where_the_prior_expects_disagreement(table):
    seen = table([5_000, 0, 0, 200], [100, 0, 0, 5_000])
    c = op.compare(seen, "a", "b", metric="recall", rope=0.01, **FEW)
    assert c.spec.prior.name == "unit"
    assert c.decision is op.Decision.EQUIVALENT
    assert level(c, "few_disagreements") == "warning"
    tiny = op.compare(seen, "a", "b", metric="recall", rope=0.01, prior=1e-3, **FEW)
    assert tiny.decision is op.Decision.UNDECIDED


def test_only_disagreements_that_the_metric_sees_count(names):
    truth = [0] * 300 + [1] * 300 + [2] * 300
    right = list(truth)
    # Wrong on the same 40 items, each in another way: accuracy sees no difference.
    a, b = right.copy(), right.copy()
    a[:40], b[:40] = [1] * 40, [2] * 40
    for metric in ("accuracy", "balanced_accuracy", "recall_macro", "f1_micro"):
        c = op.compare(truth, a, b, metric=metric, prior="bootstrap", rope=0.01, **FEW)
        assert c.decision is op.Decision.UNDECIDED
        assert level(c, "few_disagreements") == "serious"
    c = op.compare(truth, a, b, metric="f1_macro", prior="bootstrap", rope=0.01, **FEW)
    assert "few_disagreements" not in names(c)
    # Recall looks at the positive items only, specificity at the others.
    for metric, positive in (("recall", 1), ("specificity", 0)):
        truth = [positive] * 100 + [1 - positive] * 100
        a, b = list(truth), list(truth)
        a[100:140] = b[140:180] = [positive] * 40
        c = op.compare(truth, a, b, metric=metric, prior="bootstrap", rope=0.01, **FEW)
        assert c.decision is op.Decision.UNDECIDED
        assert "few_disagreements" in names(c)
        c = op.compare(truth, a, b, metric="precision", prior="bootstrap", rope=0.01, **FEW)
        # Without a false positive precision is 1 whatever the weights are.
        assert ("few_disagreements" in names(c)) == (positive == 0)


def test_unpaired_comparisons_know_no_disagreements(table, names):
    seen = table([500, 0, 0, 50], [50, 0, 0, 500])
    assert "few_disagreements" not in names(op.compare(seen, "a", "b", paired=False, **FEW))


def test_sparse_cells(table, names):
    sparse = op.compare(table([50, 20, 9, 0], [3, 3, 3, 80]), "a", "b", rope=0.05, **FEW)
    assert "a has 9 false negatives" in message(sparse, "sparse_cells")
    assert "a has 6 false positives" in message(sparse, "sparse_cells")
    full = op.compare(table([50, 20, 20, 10], [10, 10, 10, 80]), "a", "b", rope=0.05, **FEW)
    assert "sparse_cells" not in names(full)
    macro = op.compare(table([50, 20, 9, 0], [3, 3, 3, 80]), "a", "b", metric="f1_macro", **FEW)
    assert "sparse_cells" not in names(macro)


def test_sparse_classes(four, names):
    assert "sparse_classes" not in names(op.compare(*four, metric="f1_macro", **FEW))
    rare = [np.append(column, ["rare"] * 9) for column in four]
    c = op.compare(*rare, metric="f1_macro", **FEW)
    assert "1 of 5 classes" in message(c, "sparse_classes")
    ten = [np.append(column, ["rare"] * 10) for column in four]
    assert "sparse_classes" not in names(op.compare(*ten, metric="f1_macro", **FEW))


def test_class_without_truth(four, names):
    truth, a, b = four
    odd = a.copy()
    odd[:5] = "clam"
    c = op.compare(truth, odd, b, metric="accuracy", **FEW)
    assert "Class 'clam' is never true; results for it" in message(c, "class_without_truth")
    c = op.compare(truth, odd, b, metric="f1_macro", **FEW)
    assert "Class 'clam' is never true, so" in message(c, "predicted_never_true")
    assert "class_without_truth" not in names(c)
    plain = names(op.compare(*four, metric="f1_macro", **FEW))
    assert {"class_without_truth", "predicted_never_true"}.isdisjoint(plain)
    odd[5:9] = "yam"
    c = op.compare(truth, odd, b, metric="f1_macro", **FEW)
    assert "Classes 'clam' and 'yam' are never true" in message(c, "predicted_never_true")
    known = ["clam", "ham", "jam", "lamb", "spam"]
    named = op.compare(truth, odd, b, metric="f1_macro", labels=known, **FEW)
    assert "Class 'clam' is never true; results for it" in message(named, "class_without_truth")
    for positive, side in ((True, "positive"), (False, "negative")):
        c = op.compare([not positive] * 40, [True, False] * 20, [False] * 40, **FEW)
        assert f"The {side} class is never true" in message(c, "class_without_truth")


def test_class_never_predicted(four, names):
    truth, a, b = four
    silent = np.where(b == "jam", "ham", b)
    c = op.compare(truth, a, silent, metric="f1_macro", names=("new", "old"), **FEW)
    text = message(c, "class_never_predicted")
    assert "old never predicts 'jam'" in text
    assert "undefined" in text
    assert "class_never_predicted" not in names(op.compare(*four, metric="f1_macro", **FEW))


def test_values_that_the_data_do_not_define_are_named():
    truth, one, two = [0] * 30, [0] * 30, [0] * 25 + [1] * 5
    kappa = op.compare(truth, one, two, metric="cohen_kappa", **FEW)
    assert np.isnan(kappa.a.observed)
    assert "cohen_kappa of A is 0/0 (NaN)" in message(kappa, "undefined_in_data")
    alone = op.estimate([0] * 30, [0] * 30, metric="cohen_kappa", labels=[0, 1], n_draws=200)
    assert "undefined_in_data" in {finding.name for finding in alone.findings}
    mixed, constant = [0, 1] * 15, [0] * 30
    matthews = op.compare(mixed, constant, mixed, metric="matthews_corrcoef", **FEW)
    assert matthews.a.observed == 0.0
    assert "of A is 0/0, because its predictions are a single class" in message(
        matthews, "undefined_in_data"
    )
    defined = op.compare(mixed, mixed[::-1], mixed, metric="cohen_kappa", **FEW)
    assert "undefined_in_data" not in {finding.name for finding in defined.findings}


def test_a_prior_pulls_only_where_there_is_one(four):
    truth, a, b = (np.append(column[:30], ["rare"]) for column in four)
    unit = op.compare(truth, a, b, metric="f1_macro", prior="unit", **FEW)
    none = op.compare(truth, a, b, metric="f1_macro", prior="bootstrap", **FEW)
    assert "prior_pull_on_levels" in {finding.name for finding in unit.findings}
    assert "prior_pull_on_levels" not in {finding.name for finding in none.findings}


def test_without_a_prior_nothing_rests_on_it(four):
    truth, a, b = four
    odd = a.copy()
    odd[:5] = "clam"
    silent = np.where(b == "jam", "ham", b)
    rare = [np.append(column, ["rare"] * 9) for column in (truth, odd, silent)]
    c = op.compare(*rare, metric="f1_macro", prior="bootstrap", **FEW)
    assert {"predicted_never_true", "class_never_predicted", "sparse_classes"} <= {
        finding.name for finding in c.findings
    }
    named = op.compare(*rare, metric="matthews_corrcoef", prior="bootstrap", **FEW)
    assert message(named, "class_without_truth").endswith(
        "the data contain no information about it."
    )
    assert message(c, "sparse_classes").endswith("averages over classes depend on few items.")
    assert not any("prior" in finding.message for finding in c.findings)
    nearly = np.append("jam" if a[0] != "jam" else "ham", a[1:])
    close = op.compare(truth, a, nearly, metric="f1_macro", prior="bootstrap", rope=0.1, **FEW)
    assert "there is no prior to expect more" in message(close, "few_disagreements")


def test_a_single_one_is_singular(table):
    c = op.compare(table([50, 20, 1, 0], [30, 30, 30, 80]), "a", "b", rope=0.05, **FEW)
    assert "a has 1 false negative" in message(c, "sparse_cells")
    assert "a has 1 false negatives" not in message(c, "sparse_cells")


def test_one_item_is_singular():
    c = op.compare([1], [1], [0], **FEW)
    assert message(c, "few_items").startswith("The data contain only 1 item,")
    assert message(c, "few_disagreements").startswith("The models disagree on only 1 item;")


def test_monte_carlo_too_coarse_at_an_edge(two, names):
    c = op.compare(*two, metric="f1", rope=0.01, n_draws=20_000, random_state=1)
    assert not c.exact
    assert "monte_carlo_too_coarse" not in names(c)
    edge = c.with_rope(c.hdi.low + c.hdi.mcse_low)
    assert level(edge, "monte_carlo_too_coarse") == "warning"
    assert parameter(edge, "monte_carlo_too_coarse") == "n_draws"
    for errors, flagged in ((5.5, True), (6.5, False)):  # six are safe
        near = c.with_rope((-0.01, c.hdi.low - errors * c.hdi.mcse_low))
        assert ("monte_carlo_too_coarse" in names(near)) is flagged
    exact = op.compare(*two, metric="recall", rope=0.01)
    assert "monte_carlo_too_coarse" not in names(exact.with_rope(exact.hdi.low))


@each("shift", [0.5, 5.5, 6.5, -0.5, -5.5, -6.5])
def test_monte_carlo_too_coarse_near_two_thirds(two, names, shift):
    c = op.compare(*two, metric="f1", rope=0.01, n_draws=20_000, random_state=1)
    above = 2 / 3 + shift * probability_error(2 / 3, 20_000)
    near = c.with_rope((-0.01, float(np.quantile(c.draws, 1 - above))))
    assert near.decision.symbol == (">" if shift > 0 else "?")
    assert ("monte_carlo_too_coarse" in names(near)) is (abs(shift) < 6)


def test_hdi_and_equal_tails_disagree(table, names):
    c = op.compare(table([30, 8, 0, 0], [0, 0, 0, 30]), "a", "b", metric="recall", rope=0.01)
    assert c.hdi.low != pytest.approx(c.eti.low, abs=1e-4)
    between = (c.hdi.low + c.eti.low) / 2
    odd = c.with_rope(between)
    assert level(odd, "hdi_and_equal_tails_disagree") == "note"
    assert "≫" in message(odd, "hdi_and_equal_tails_disagree") or odd.decision.symbol == "≫"
    assert "hdi_and_equal_tails_disagree" not in names(c.with_rope(c.hdi.low / 10))


def test_unpaired_outcomes(names):
    seen = op.Outcomes.from_confusion({"a": [[50, 10], [20, 80]], "b": [[40, 20], [30, 70]]})
    c = op.compare(seen, "a", "b", rope=0.05, **FEW)
    assert level(c, "unpaired_outcomes") == "warning"
    assert not c.spec.paired
    assert "unpaired_outcomes" not in names(op.compare(seen, "a", "b", paired=False, **FEW))


def test_few_items(two, names):
    assert "9 items" in message(op.compare(*(column[:9] for column in two), **FEW), "few_items")
    one = op.compare([1], [1], [0], **FEW)
    assert "1 item," in message(one, "few_items")
    assert one.hdi.width > 0.5
    assert "few_items" not in names(op.compare(*(column[:10] for column in two), **FEW))


@pytest.mark.parametrize("prior", ["unit", "bootstrap"])
def test_few_items_are_outweighed_by_the_prior_if_there_is_one(two, prior):
    nine = op.compare(*(column[:9] for column in two), prior=prior, **FEW)
    assert ("outweighs" in message(nine, "few_items")) == (prior == "unit")


def test_findings_about_labels_reach_the_result(names):
    truth = ["cat", "dog", ""] * 20
    guess = ["Cat", "dog", ""] * 20
    c = op.compare(truth, guess, truth, metric="f1_macro", **FEW)
    assert {"near_duplicate_labels", "empty_label"} <= set(names(c))
    converted = op.compare([1, 0] * 20, ["1", "0"] * 20, [1.0, 0.0] * 20, **FEW)
    assert "labels_converted" in names(converted)
    assert converted.spec.data.labels == (0, 1)
    plain = op.compare(["a", "b"] * 20, ["a", "b"] * 20, ["b", "b"] * 20, pos_label="a", **FEW)
    assert not {"near_duplicate_labels", "empty_label", "labels_converted"} & set(names(plain))


def test_findings_are_sentences_with_a_level(two):
    c = op.compare(*(column[:12] for column in two), **FEW)
    assert c.findings
    for finding in c.findings:
        assert finding.level in ("note", "warning", "serious")
        assert finding.message.endswith(".")
        assert str(finding) == f"{finding.level}: {finding.message} [{finding.name}]"
    assert len({finding.name for finding in c.findings}) == len(c.findings)


def test_equal_models_lean_to_neither_side(two):
    truth, a, _ = two
    for seed in range(5):
        for options in ({}, {"prior": "unit"}, {"prior": "hierarchical"}, {"paired": False}):
            c = op.compare(truth, a, a, rope=0.001, n_draws=500, random_state=seed, **options)
            assert c.decision in (op.Decision.UNDECIDED, op.Decision.LEANING_EQUIVALENT)
