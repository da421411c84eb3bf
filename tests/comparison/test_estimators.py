"""``ComparisonDisplay``: what it draws is what ``compare`` says, whichever way it is made."""

from __future__ import annotations

import numpy as np
import pytest

import outperform as op
from outperform.errors import UsageError
from outperform.results import ComparisonDisplay
from tests.lazily import lazily

plt = lazily("matplotlib.pyplot")


load_breast_cancer = lazily("sklearn.datasets.load_breast_cancer")
load_iris = lazily("sklearn.datasets.load_iris")
RidgeClassifier = lazily("sklearn.linear_model.RidgeClassifier")
log_loss = lazily("sklearn.metrics.log_loss")
roc_auc_score = lazily("sklearn.metrics.roc_auc_score")
GaussianNB = lazily("sklearn.naive_bayes.GaussianNB")
make_pipeline = lazily("sklearn.pipeline.make_pipeline")
StandardScaler = lazily("sklearn.preprocessing.StandardScaler")
DecisionTreeClassifier = lazily("sklearn.tree.DecisionTreeClassifier")

ASKED = {"rope": 0.01, "random_state": 0, "n_draws": 500}


@pytest.fixture(scope="module")
def trained():
    X, y = load_breast_cancer(return_X_y=True)
    bayes = make_pipeline(StandardScaler(), GaussianNB()).fit(X[::2], y[::2])
    tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X[::2], y[::2])
    return bayes, tree, X[1::2], y[1::2]


@pytest.fixture
def ax():
    figure, ax = plt.subplots()
    yield ax
    plt.close(figure)


def test_every_way_compares_the_same(trained, ax):
    bayes, tree, X, y = trained
    c = op.compare(y, bayes.predict(X), tree.predict(X), names=("GaussianNB", "tree"), **ASKED)
    ways = [
        ComparisonDisplay.from_comparison(c, ax=ax),
        ComparisonDisplay.from_predictions(
            y, bayes.predict(X), tree.predict(X), names=("GaussianNB", "tree"), ax=ax, **ASKED
        ),
        ComparisonDisplay.from_estimator(
            bayes, tree, X, y, names=("GaussianNB", "tree"), ax=ax, **ASKED
        ),
    ]
    for display in ways:
        assert isinstance(display, ComparisonDisplay)
        assert display.ax_ is ax
        assert display.figure_ is ax.figure
        assert display.comparison.to_dict() == c.to_dict()
    assert ax.get_xlabel() == c.plot(plt.figure().subplots()).get_xlabel()
    plt.close()


def test_it_can_be_drawn_again_and_opens_a_figure(trained, ax):
    bayes, tree, X, y = trained
    display = ComparisonDisplay.from_estimator(bayes, tree, X, y, ax=ax, **ASKED)
    assert display.comparison.names == ("GaussianNB", "DecisionTreeClassifier")
    assert display.plot() is display
    assert display.ax_ is not ax
    assert display.figure_.axes == [display.ax_]
    plt.close(display.figure_)


@pytest.mark.parametrize("pos_label", [None, 1, 0])
def test_scores_of_two_classes(trained, ax, pos_label):
    bayes, tree, X, y = trained
    asked = {**ASKED, "metric": "roc_auc", "pos_label": pos_label}
    found = ComparisonDisplay.from_estimator(bayes, tree, X, y, ax=ax, **asked).comparison
    column = 1 if pos_label is None else pos_label
    for one, estimator in ((found.a, bayes), (found.b, tree)):
        wanted = roc_auc_score(y == column, estimator.predict_proba(X)[:, column])
        assert one.observed == pytest.approx(wanted, abs=1e-12)


def test_scores_of_many_classes_and_of_distances(ax):
    X, y = load_iris(return_X_y=True)
    bayes, tree = GaussianNB().fit(X[::2], y[::2]), DecisionTreeClassifier(max_depth=1)
    tree.fit(X[::2], y[::2])
    asked = {**ASKED, "metric": "log_loss"}
    found = ComparisonDisplay.from_estimator(bayes, tree, X[1::2], y[1::2], ax=ax, **asked)
    wanted = log_loss(y[1::2], tree.predict_proba(X[1::2]))
    assert found.comparison.b.observed == pytest.approx(wanted, abs=1e-9)
    X, y = X[y < 2], y[y < 2]
    ridge = RidgeClassifier().fit(X[::2], y[::2])
    noise = np.random.default_rng(1).normal(size=X.shape)
    other = RidgeClassifier().fit(noise[::2], y[::2])
    asked["metric"] = "roc_auc"
    found = ComparisonDisplay.from_estimator(ridge, other, X[1::2], y[1::2], ax=ax, **asked)
    assert found.comparison.a.observed == 1.0


def test_what_cannot_predict_is_refused(trained):
    _, tree, X, y = trained
    with pytest.raises(UsageError, match="must be a trained estimator with predict;"):
        ComparisonDisplay.from_estimator(object(), tree, X, y)
    with pytest.raises(UsageError, match="must be a trained estimator with predict;"):
        ComparisonDisplay.from_estimator(type(GaussianNB()), tree, X, y)
    labels = type("Labels", (), {"predict": lambda self, X: X})()
    with pytest.raises(UsageError, match="decision_function or predict_proba"):
        ComparisonDisplay.from_estimator(labels, tree, X, y, metric="roc_auc")
