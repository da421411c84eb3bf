"""Every metric equals scikit-learn's on random tables, its rules for 0/0 included."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from outperform import metrics
from tests.lazily import lazily

reference = lazily("sklearn.metrics")

AVERAGES = ("micro", "macro", "weighted")
TOLERANCE = 1e-12


class Answers:
    """scikit-learn's answers for one table, one family of metrics at a time."""

    def __init__(self, table, classes, one):
        truth, prediction = np.nonzero(table)
        self.labels = truth, prediction
        self.weight = {"sample_weight": table[truth, prediction]}
        self.chosen = {"labels": classes, "zero_division": 0.0, **self.weight}
        self.one = {"labels": [one], "average": None, "zero_division": 0.0, **self.weight}
        self.classes = classes
        self.one_class = one

    def prf(self, average, beta=1.0):
        if average == "binary":
            values = reference.precision_recall_fscore_support(*self.labels, beta=beta, **self.one)
            return [value[0] for value in values[:3]]
        return reference.precision_recall_fscore_support(
            *self.labels, beta=beta, average=average, **self.chosen
        )[:3]

    def jaccard(self, average):
        if average == "binary":
            return reference.jaccard_score(*self.labels, **self.one)[0]
        return reference.jaccard_score(*self.labels, average=average, **self.chosen)

    def one_vs_rest(self, average):
        """Return specificity and informedness, worked out from scikit-learn's 2×2 tables."""
        classes = [self.one_class] if average == "binary" else self.classes
        tables = reference.multilabel_confusion_matrix(*self.labels, labels=classes, **self.weight)
        tables = tables.sum(axis=0, keepdims=True) if average == "micro" else tables
        tn, fp, fn, tp = tables.reshape(-1, 4).T
        positives, negatives = tp + fn, tn + fp
        specificity = [n and a / n for a, n in zip(tn, negatives, strict=True)]
        informedness = [
            a / p + b / n - 1 if p and n else 0.0
            for a, p, b, n in zip(tp, positives, tn, negatives, strict=True)
        ]
        weights = positives if average == "weighted" and positives.any() else None
        return [np.average(values, weights=weights) for values in (specificity, informedness)]

    def whole(self, name):
        function = {
            "accuracy": reference.accuracy_score,
            "balanced_accuracy": reference.balanced_accuracy_score,
            "matthews_corrcoef": reference.matthews_corrcoef,
            "cohen_kappa": reference.cohen_kappa_score,
        }[name]
        return function(*self.labels, **self.weight)


def suffix(average):
    return "" if average == "binary" else f"_{average}"


def prf_by_name(answers, average):
    names = (f"{word}{suffix(average)}" for word in ("precision", "recall", "f1"))
    return dict(zip(names, answers.prf(average), strict=True))


def one_vs_rest_by_name(answers, average):
    names = (f"{word}{suffix(average)}" for word in ("specificity", "informedness"))
    return dict(zip(names, answers.one_vs_rest(average), strict=True))


FAMILIES = {
    **{
        f"prf{suffix(average)}": lambda answers, average=average: prf_by_name(answers, average)
        for average in ("binary", *AVERAGES)
    },
    **{
        f"jaccard{suffix(average)}": lambda answers, average=average: {
            f"jaccard{suffix(average)}": answers.jaccard(average)
        }
        for average in ("binary", *AVERAGES)
    },
    **{
        f"rest{suffix(average)}": lambda answers, average=average: one_vs_rest_by_name(
            answers, average
        )
        for average in ("binary", *AVERAGES)
    },
    **{
        name: lambda answers, name=name: {name: answers.whole(name)}
        for name in ("accuracy", "balanced_accuracy", "matthews_corrcoef", "cohen_kappa")
    },
    "f2_macro": lambda answers: {"f2_macro": answers.prf("macro", 2.0)[2]},
    "f0.5": lambda answers: {"f0.5": answers.prf("binary", 0.5)[2]},
}


def gap(name, expected, margins, classes, one):
    """Return how far a metric is from scikit-learn's value, NaN for NaN counted as 0."""
    metric = metrics.get(name)
    chosen = {None: None, "binary": np.array([one])}.get(metric.average, classes)
    value = float(metric.evaluate(margins, chosen))
    if np.isnan(expected):
        return 0.0 if np.isnan(value) else np.inf
    return abs(value - expected) if np.isfinite(value) else np.inf


def compare(n_tables, families_of, random_table, rng):
    """Return the largest gap and the number of tables for each metric."""
    gaps, seen = {}, {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i in range(n_tables):
            n_classes = 2 + i % 49
            table = random_table(rng, n_classes)
            classes = np.arange(n_classes)
            if i % 3 == 0:  # as scikit-learn's labels=: some classes, in any order
                classes = rng.permutation(n_classes)[: rng.integers(1, n_classes + 1)]
            one = int(rng.integers(n_classes))
            margins = metrics.Margins.from_confusion(table)
            answers = Answers(table, classes, one)
            for family in families_of(i):
                for name, expected in FAMILIES[family](answers).items():
                    distance = gap(name, expected, margins, classes, one)
                    gaps[name] = max(gaps.get(name, 0.0), distance)
                    seen[name] = seen.get(name, 0) + 1
    return gaps, seen


def test_the_families_cover_the_whole_table(rng, random_table):
    _, seen = compare(1, lambda i: FAMILIES, random_table, rng)
    assert set(seen) == {*metrics.names(), "f2_macro", "f0.5"}


def test_two_thousand_tables_take_turns_through_the_metrics(rng, random_table):
    order = list(FAMILIES)
    gaps, seen = compare(2_000, lambda i: [order[i % len(order)]], random_table, rng)
    assert min(seen.values()) >= 100
    assert {name: value for name, value in gaps.items() if value > TOLERANCE} == {}


@pytest.mark.slow
def test_ten_thousand_tables_through_every_metric(rng, random_table):
    gaps, seen = compare(10_000, lambda i: FAMILIES, random_table, rng)
    assert set(seen.values()) == {10_000}
    assert {name: value for name, value in gaps.items() if value > TOLERANCE} == {}


def test_names_are_those_of_the_scorers_and_mean_the_same(rng):
    from sklearn.base import BaseEstimator, ClassifierMixin

    class Echo(ClassifierMixin, BaseEstimator):
        """An estimator whose predictions are its input."""

        classes_ = np.array([0, 1])

        def predict(self, X):
            return X

    truth, prediction = rng.integers(2, size=(2, 97))
    table = np.bincount(2 * truth + prediction, minlength=4).reshape(2, 2)
    margins = metrics.Margins.from_confusion(table)
    ours = set(metrics.names()) & set(reference.get_scorer_names())
    assert len(ours) == 19
    for name in sorted(ours):
        metric = metrics.get(name)
        classes = [1] if metric.average == "binary" else None
        expected = reference.get_scorer(name)(Echo(), prediction, truth)
        assert metric.evaluate(margins, classes) == pytest.approx(expected, abs=TOLERANCE)


def test_names_beyond_the_scorers_are_known():
    beyond = set(metrics.names()) - set(reference.get_scorer_names())
    assert {name.partition("_")[0] for name in beyond} == {"specificity", "informedness", "cohen"}


def test_specificity_and_informedness_by_scikit_learns_other_roads():
    table = np.array([[50, 7], [3, 20]])
    truth, prediction = np.nonzero(table)
    weight = {"sample_weight": table[truth, prediction]}
    margins = metrics.Margins.from_confusion(table)
    other_recall = reference.recall_score(truth, prediction, pos_label=0, **weight)
    adjusted = reference.balanced_accuracy_score(truth, prediction, adjusted=True, **weight)
    specificity = metrics.get("specificity").evaluate(margins, [1])
    informedness = metrics.get("informedness").evaluate(margins, [1])
    assert specificity == pytest.approx(other_recall, abs=TOLERANCE)
    assert informedness == pytest.approx(adjusted, abs=TOLERANCE)
