"""Which class is positive, which classes are averaged over, which model answers."""

from __future__ import annotations

import numpy as np
import pytest

import outperform as op
from outperform.errors import DataError, UsageError
from tests.lazily import lazily
from tests.loops import each

f1_score = lazily("sklearn.metrics.f1_score")
precision_score = lazily("sklearn.metrics.precision_score")
recall_score = lazily("sklearn.metrics.recall_score")

FEW = {"n_draws": 500, "rope": 0.05, "random_state": 1}


@pytest.mark.parametrize(
    ("labels", "positive"), [([0, 1], 1), ([False, True], True)], ids=["numbers", "booleans"]
)
def test_the_positive_class_of_usual_pairs_is_known(labels, positive, two):
    truth, a, b = (np.array(labels)[codes] for codes in two)
    for names in (truth, list(truth.tolist())):
        c = op.compare(names, a, b, metric="f1", **FEW)
        assert c.spec.pos_label is positive or c.spec.pos_label == positive
        assert c.a.observed == pytest.approx(f1_score(truth, a))
    other = op.compare(truth, a, b, metric="f1", pos_label=labels[0], **FEW)
    assert other.a.observed == pytest.approx(f1_score(truth, a, pos_label=labels[0]))


@pytest.mark.parametrize("labels", [["no", "yes"], [1, 2], [-1, 1]])
def test_any_other_pair_must_name_it(labels, two):
    truth, a, b = (np.array(labels)[codes] for codes in two)
    with pytest.raises(
        UsageError, match=rf"positive class of 'f1' with pos_label={labels[0]!r} or"
    ):
        op.compare(truth, a, b, metric="f1", **FEW)
    for label in labels:
        c = op.compare(truth, a, b, pos_label=label, **FEW)
        assert c.a.observed == pytest.approx(f1_score(truth, a, pos_label=label))
        assert f"pos_label={label!r}" in c.signature


@pytest.mark.parametrize("metric", ["f1", "precision", "recall", "f2"])
def test_more_classes_need_an_average_or_a_class(metric, four):
    words = rf"{metric}_macro'.*'{metric}_micro'.*'{metric}_weighted'.*pos_label="
    with pytest.raises(UsageError, match=words):
        op.compare(*four, metric=metric, **FEW)


def test_a_class_of_many_is_that_class_against_the_rest(four):
    truth, a, b = four
    for metric, score in (("precision", precision_score), ("recall", recall_score)):
        c = op.compare(*four, metric=metric, pos_label="jam", **FEW)
        alone = op.compare(truth == "jam", a == "jam", b == "jam", metric=metric, **FEW)
        expected = score(truth, a, labels=["jam"], average=None)[0]
        assert c.a.observed == pytest.approx(expected)
        assert c.spec.prior.name == "unit"
        assert np.array_equal(c.draws, alone.draws)
        assert c.mean == alone.mean


@each("label", ["Jam", "", 1, 0.5, None])
def test_an_unknown_class_is_named_with_those_that_there_are(label, four):
    with pytest.raises(UsageError, match=r"unknown class.*ham, jam, lamb, spam|pos_label="):
        op.compare(*four, metric="f1", pos_label=label, **FEW)


@pytest.mark.parametrize("only", [0, 1])
def test_zeros_or_ones_alone_still_have_both_classes(only, names):
    same = [only] * 30
    c = op.compare(same, same, same, metric="f1", **FEW)
    assert c.spec.pos_label == 1
    assert c.spec.data.labels == (0, 1)
    assert "class_without_truth" in names(c)
    assert c.decision in (op.Decision.UNDECIDED, op.Decision.EQUIVALENT)


def test_one_class_alone_has_no_accuracy():
    with pytest.raises(DataError, match=r"only the class 'x' occurs.*labels="):
        op.compare(["x"] * 9, ["x"] * 9, ["x"] * 9, metric="accuracy", **FEW)
    c = op.compare(["x"] * 9, ["x"] * 9, ["x"] * 9, metric="accuracy", labels=["x", "y"], **FEW)
    assert c.a.observed == 1.0


@each("metric", ["f1_macro", "f1_micro", "recall_weighted", "precision_macro"])
@each("labels", [["jam", "spam"], ["spam", "jam"], ["spam"]])
def test_labels_choose_the_classes_averaged_over_and_drop_no_row(metric, labels, four):
    truth, a, _ = four
    score = {"f1": f1_score, "recall": recall_score, "precision": precision_score}
    name, average = metric.split("_")
    c = op.compare(*four, metric=metric, labels=labels, **FEW)
    expected = score[name](truth, a, labels=labels, average=average)
    assert c.a.observed == pytest.approx(expected, abs=1e-12)
    assert c.n == 800
    assert "labels=given" in c.signature


def test_all_labels_are_no_choice_and_unseen_ones_count(four):
    truth, a, _ = four
    every = ["ham", "jam", "lamb", "spam"]
    plain = op.compare(*four, metric="f1_macro", **FEW)
    assert np.array_equal(
        op.compare(*four, metric="f1_macro", labels=every, **FEW).draws, plain.draws
    )
    wider = op.compare(*four, metric="f1_macro", labels=[*every, "yam"], **FEW)
    expected = f1_score(truth, a, labels=[*every, "yam"], average="macro", zero_division=0.0)
    assert wider.a.observed == pytest.approx(expected)
    assert wider.spec.data.n_classes == 5


@each("labels", [["jam", 1], [1, 2], ["jam", "jam"], [], "jam", [None]])
def test_labels_that_are_none_are_refused(labels, four):
    with pytest.raises((DataError, UsageError), match="labels"):
        op.compare(*four, metric="f1_macro", labels=labels, **FEW)


@each(
    ("metric", "options", "prior"),
    [
        ("f1_macro", {}, "learned"),
        ("accuracy", {}, "learned"),
        ("f1", {"pos_label": "jam"}, "unit"),
        ("f1_macro", {"prior": "jeffreys"}, "jeffreys"),
        ("f1_macro", {"prior": "bootstrap"}, "bootstrap"),
    ],
)
def test_priors_by_default(metric, options, prior, four):
    c = op.compare(*four, metric=metric, **options, **FEW)
    assert c.spec.prior.name == prior
    assert f"prior={prior}" in c.signature
    assert c.to_dict()["prior"] == prior


def test_the_default_is_the_same_in_every_verb(two, four):
    few = {"n_draws": 500, "random_state": 1}
    assert op.estimate(*four[:2], metric="f1_macro", **few).spec.prior.name == "learned"
    assert op.estimate(*two[:2], metric="f1_macro", **few).spec.prior.name == "unit"
    assert op.compare(*two, metric="accuracy", **FEW).spec.prior.name == "unit"
    assert op.estimate(*four[:2], pos_label="jam", **few).spec.prior.name == "unit"
    models = dict(zip("ab", four[1:], strict=True))
    assert op.rank(four[0], models, metric="f1_macro", **FEW).spec.prior.name == "learned"


def test_a_prior_is_known_by_name_or_by_its_shapes(two):
    with pytest.raises(UsageError, match=r"unknown prior 'jefreys'; did you mean 'jeffreys'\?"):
        op.compare(*two, prior="jefreys", **FEW)
    c = op.compare(*two, prior=0.5, **FEW)
    assert "| prior=Prior(rows=0.5, prevalence=1) |" in c.signature
    assert c.to_dict()["prior"] == "Prior(rows=0.5, prevalence=1)"


def test_right_or_wrong_answers_accuracy_only():
    seen = op.Outcomes.from_correct({"a": [1, 1, 0, 1] * 20, "b": [1, 0, 0, 1] * 20})
    c = op.compare(seen, "a", "b", metric="accuracy", rope=0.05, n_draws=500)
    assert c.a.observed == 0.75
    assert c.observed == 0.25
    assert c.exact
    # A ~ Dir over (both, A only, B only, neither) with a quarter of an item each.
    assert c.mean == pytest.approx(20 / 81)
    for metric in ("f1_micro", "recall_micro"):
        assert op.compare(seen, "a", "b", metric=metric, rope=0.05, n_draws=500).mean == c.mean
    for metric in ("f1", "f1_macro", "matthews_corrcoef"):
        with pytest.raises(UsageError, match=r"record only correctness.*accuracy"):
            op.compare(seen, "a", "b", metric=metric, rope=0.05)
