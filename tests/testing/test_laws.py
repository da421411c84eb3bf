"""``check_metric``: built-in metrics obey the laws, and a planted fault of each kind is caught."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest

import outperform as op
from outperform.errors import UsageError
from outperform.metrics import Basis, Metric, Order, Sums, Whole
from outperform.testing import check_metric
from tests.loops import each

RANDOM = np.random.default_rng(11)
N = 40
TRUTH = RANDOM.integers(0, 2, N)
ANSWERS = np.where(RANDOM.random(N) < 0.8, TRUTH, 1 - TRUTH)
CHANCES = RANDOM.beta(2 + 2 * TRUTH, 4 - 2 * TRUTH).round(2)
GRADES = RANDOM.gamma(2.0, size=N)
TARGETS = RANDOM.gamma(3.0, size=N)
TEXTS = [" ".join(RANDOM.choice([*"abcde"], RANDOM.integers(3, 9))) for _ in range(N)]
ANY = (-math.inf, math.inf)


def own(how, *, merge="terms", bounds=ANY, name="own", **options):
    return Metric(name=name, label=name, how=how, merge=merge, bounds=bounds, **options)


def of_grades(function, *, merge="rows", terms=None):
    """Return a metric of a function of weights and grades in the order of the rows."""
    basis = Basis(reads="grade", terms=terms)
    return own(Order(basis=basis, prepare=Prepared, settings=(function,)), merge=merge)


class Prepared:
    """A function of weights and grades."""

    def __init__(self, items, function):
        self.values, self.function = items.values, function
        self.pick = items.units.picker(np.arange(len(items.values)))
        self.seen = 0

    def worker(self):
        def evaluate(weights):
            self.seen += 1
            return self.function(self, self.pick(weights))

        return evaluate


def mean(ready, weights):
    return weights @ ready.values / weights.sum(axis=1)


def first(means):
    return means[0]


# Metrics that obey


def test_built_in_metrics_of_labels_obey():
    for name in op.metrics.names():
        check_metric(name, TRUTH, ANSWERS, pos_label=1)


@each("name", ["roc_auc", "average_precision", "log_loss", "brier_score", "ece", "ece_debiased"])
def test_built_in_metrics_of_scores_obey(name):
    check_metric(name, TRUTH, CHANCES, pos_label=1)


@each("name", ["rmse", "mae", "r2", "pearson", "poisson_deviance", "mean", "median", "p90"])
def test_built_in_metrics_of_numbers_obey(name):
    graded = name in op.metrics.score_names(graded=True) or name == "p90"
    check_metric(name, None if graded else TARGETS, GRADES)


@each("name", ["wer", "cer", "bleu", "chrf", "ter"])
def test_built_in_metrics_of_texts_obey(name):
    if name not in ("wer", "cer"):
        pytest.importorskip("sacrebleu")
    check_metric(name, TEXTS, TEXTS[::-1])


def test_own_metrics_that_are_right_obey():
    check_metric(of_grades(mean), None, GRADES)
    squares = of_grades(lambda r, w: mean(r, w**2), merge="never")
    check_metric(squares, None, GRADES)
    check_metric(own(Sums(basis=Basis(reads="grade"), combine=first)), None, GRADES)
    check_metric(lambda y, s, w: np.average(s, weights=w), TRUTH, CHANCES)
    counts = op.Outcomes.from_labels(TRUTH, {"a": ANSWERS, "b": 1 - ANSWERS})
    check_metric(lambda c: np.trace(c) / c.sum(), counts)
    statistics = op.Scores.from_statistics({"a": np.stack([GRADES, TARGETS], axis=1)})
    check_metric(lambda means: means[0] / means[1], statistics)


# A planted fault of each kind


def changes_weights(ready, weights):
    values = mean(ready, weights)
    weights[:, 0] = 0
    return values


def relative_to_others(ready, weights):
    return mean(ready, weights) / weights.max()


def counts_calls(ready, weights):
    return mean(ready, weights) + ready.seen


def not_divided(ready, weights):
    return weights @ ready.values


def of_the_first(ready, weights):
    return weights[:, 0] / weights.sum(axis=1)


def of_squares(ready, weights):
    return mean(ready, weights**2)


def of_their_number(ready, weights):
    return mean(ready, weights) * len(ready.values)


@each(
    ("law", "function"),
    [
        ("together", changes_weights),
        ("together", relative_to_others),
        ("together", counts_calls),
        ("scale", not_divided),
        ("order", of_the_first),
        ("merging", of_squares),
        ("merging", of_their_number),
    ],
)
def test_a_planted_fault_of_an_order_is_caught(law, function):
    with pytest.raises(AssertionError, match=f"'own' breaks the law '{law}'.* To fix: "):
        check_metric(of_grades(function), None, GRADES)


@each(
    ("law", "terms"),
    [
        ("order", lambda grades: grades * np.arange(len(grades))),
        ("merging", lambda grades: grades / len(grades)),
    ],
)
def test_a_planted_fault_of_terms_is_caught(law, terms):
    metric = own(Sums(basis=Basis(reads="grade", terms=terms), combine=first))
    with pytest.raises(AssertionError, match=f"'own' breaks the law '{law}'"):
        check_metric(metric, None, GRADES)


def test_a_planted_fault_of_combine_is_caught():
    metric = own(Sums(basis=Basis(reads="grade"), combine=lambda means: means[0] - means.mean()))
    with pytest.raises(AssertionError, match="'own' breaks the law 'together'"):
        check_metric(metric, None, GRADES)


def changes_margins(margins, rows):
    value = margins.hits.sum(axis=0) / margins.total
    margins.actual[:] *= 2
    margins.actual[0] += 1
    return value


@each(
    ("law", "how"),
    [
        ("scale", Whole(function=lambda c: c[0, 0], of="confusion")),
        ("together", Whole(function=lambda c: c[0, 0] / c.sum(), of="confusion", vectorized=True)),
        ("together", Sums(basis=Basis(reads="labels"), combine=changes_margins)),
        ("scale", Sums(basis=Basis(reads="labels"), combine=lambda m, rows: m.hits[0])),
    ],
)
def test_a_planted_fault_of_a_metric_of_labels_is_caught(law, how):
    with pytest.raises(AssertionError, match=f"'own' breaks the law '{law}'"):
        # A function of the whole confusion matrix has no positive class.
        check_metric(own(how), TRUTH, ANSWERS, pos_label=None if isinstance(how, Whole) else 1)


def test_a_planted_fault_of_a_function_of_rows_is_caught():
    with pytest.raises(AssertionError, match="'custom' breaks the law 'order'"):
        check_metric(lambda y, s, w: w[0] / w.sum(), TRUTH, CHANCES)


def test_a_reader_that_depends_on_the_order_is_caught():
    def read(references, texts):
        return np.array([[len(text), 1 + place] for place, text in enumerate(texts)])

    metric = own(Sums(basis=Basis(read=read), combine=lambda means: means[0] / means[1]))
    with pytest.raises(AssertionError, match="'own' breaks the law 'order'"):
        check_metric(metric, None, TEXTS)


@each(("name", "aliases"), [("auc", ()), ("own", ("macro-f1",))])
def test_a_name_or_an_alias_that_is_built_in_is_caught(name, aliases):
    metric = own(Sums(basis=Basis(reads="grade"), combine=first), name=name, aliases=aliases)
    with pytest.raises(AssertionError, match=r"has the name or alias '(auc|macro-f1)', .*rename"):
        check_metric(metric, None, GRADES)


def test_returned_values_are_checked():
    metric = own(Sums(basis=Basis(reads="grade"), combine=first), bounds=(0.0, 0.1))
    with pytest.raises(UsageError, match="within its bounds"):
        check_metric(metric, None, GRADES)


def test_what_cannot_be_checked_is_refused():
    with pytest.raises(UsageError, match="pass y_true and the prediction of one model"):
        check_metric("f1", TRUTH)
    scores = op.Scores.from_values({"a": GRADES})
    with pytest.raises(UsageError, match="pass y_true and the prediction of one model"):
        check_metric("mean", scores, GRADES)
    with pytest.raises(UsageError, match="at least 3 items"):
        check_metric("mean", None, [1.0, 2.0])
    with pytest.raises(UsageError, match="unknown metric 'gmaen'"):
        check_metric("gmaen", TRUTH, ANSWERS)
    sets = op.Outcomes.from_label_sets([{"a"}, {"b"}, {"a", "b"}], {"a": [{"a"}, {"a"}, {"b"}]})
    with pytest.raises(UsageError, match="one label each"):
        check_metric("f1_samples", sets)


def test_importing_it_costs_no_numpy():
    code = "import sys, outperform.testing; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
