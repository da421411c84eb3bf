"""Small things about specs, draws and diagnostics that nothing else would notice."""

from __future__ import annotations

import numpy as np
import pytest

import outperform as op
from outperform.errors import ResourceError
from outperform.inference import items as of_items
from outperform.inference.diagnostics import _errors
from outperform.inference.spec import make_spec
from outperform.inference.suite import average, contrast_draws, questions
from tests.lazily import lazily

stats = lazily("scipy.stats")


def test_recall_of_label_sets_sees_hits_that_either_model_lacks():
    truth = [{"x", "y"}] * 12
    a = [{"x"}] * 4 + [{"x", "y"}] * 3 + [{"x", "y", "z"}] * 5
    b = [{"y"}] * 4 + [{"x"}] * 3 + [{"x", "y"}] * 5
    for one, two in ((a, b), (b, a)):
        found = op.compare(truth, one, two, metric="recall_micro", n_draws=100, random_state=0)
        # Four with other hits, three with fewer; z is no hit, so five look alike.
        assert found.spec.n_apart((0, 1)) == 7


def test_the_prior_of_each_label_lets_either_model_be_right_alone():
    rows = np.arange(1.0, 9.0).reshape(2, 2, 2)  # truth, A, B
    truth, a = [{"x"}, {"y"}, set()], [{"x"}, set(), {"y"}]
    shapes = op.Prior(rows=rows, prevalence=1.0)
    found = op.compare(truth, a, a, metric="f1_macro", prior=shapes, n_draws=100, random_state=0)
    # Only A is right: (0, 0, 1) where the label is absent, (1, 1, 0) where it is there.
    assert found.spec.prior_disagreement == 2 * (rows[0, 0, 1] + rows[1, 1, 0]) == 2 * (2 + 7)


def test_hours_count_a_weight_for_each_class_of_a_metric_of_classes(monkeypatch):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 4, 60)
    scores = {name: rng.dirichlet(np.ones(4), 60) for name in "ab"}
    seen = op.Scores.from_arrays(truth, scores)
    asked = {"n_draws": 1_000, "random_state": 0, "n_jobs": 1, "rope": 0.01}
    # 60 items, 1,000 draws, two models: 120,000 weights, and four times as many by class.
    monkeypatch.setattr(of_items, "_WEIGHTS_AN_HOUR", 120_000 / 1.9)
    op.compare(seen, "a", "b", metric="log_loss", **asked)
    with pytest.raises(ResourceError, match="about 8 hours"):
        op.compare(seen, "a", "b", metric="roc_auc_ovr", **asked)


def test_groups_without_weights_are_not_called_importance_weights(names):
    truth, a, b = np.arange(60) % 2, np.arange(60) % 3 > 0, np.arange(60) % 5 > 0
    groups, weights = np.arange(60) // 3, 1.0 + np.arange(60) % 4
    asked = {"n_draws": 200, "random_state": 0}
    plain = op.compare(truth, a.astype(int), b.astype(int), groups=groups, **asked)
    assert "importance_weights" not in names(plain)
    weighed = op.compare(truth, a.astype(int), b.astype(int), sample_weight=weights, **asked)
    assert "importance_weights" in names(weighed)


@pytest.mark.parametrize(("low", "high", "raised"), [(3.11, 3.27, False), (3.31, 3.5, True)])
def test_items_chosen_by_their_grades_are_found_by_a_test_of_two_sides(low, high, raised, names):
    # One side alone would be below a thousandth from 3.09 standard errors on, two from 3.29.
    rng = np.random.default_rng(5)
    judge = rng.normal(size=200)

    def errors(some):
        return (judge[some].mean() - judge.mean()) / np.sqrt(
            judge[some].var() * (1 - 60 / 200) / 60
        )

    looked = next(
        some
        for some in (rng.permutation(np.argsort(judge)[-150:])[:60] for _ in range(10_000))
        if low < errors(some) < high
    )
    human = np.full(200, np.nan)
    human[looked] = judge[looked] + 0.1 * rng.normal(size=60)
    seen = op.Scores.from_judged({"a": judge}, human={"a": human}, drawn="random")
    found = op.estimate(seen, "a", n_draws=200, random_state=0)
    assert ("not_drawn_as_declared" in names(found)) == raised


@pytest.mark.parametrize(
    ("metrics", "bounds"), [("accuracy", (0.0, 1.0)), ("matthews_corrcoef", (-1.0, 1.0))]
)
def test_a_mean_over_tasks_has_the_bounds_of_its_metric(metrics, bounds):
    truth = np.arange(40) % 2
    tasks = {
        name: op.Outcomes.from_labels(truth, {"a": truth, "b": np.arange(40) % step > 0})
        for name, step in (("x", 3), ("y", 5))
    }
    suite = op.Suite(tasks, metrics=metrics, ropes=0.01)
    asked = questions(suite, make_spec, prior=None, paired=True, labels=None, pos_label=None)
    assert average(suite, asked).bounds == bounds


def test_scores_are_paired_only_if_asked_to_be():
    rng = np.random.default_rng(0)
    truth = np.arange(80) % 2
    scores = {"a": truth + rng.normal(size=80), "b": truth + rng.normal(size=80)}
    seen = op.Scores.from_arrays(truth, scores)
    asked = {"metric": "roc_auc", "n_draws": 200, "random_state": 0}
    pairs = {paired: op.compare(seen, "a", "b", paired=paired, **asked) for paired in (True, False)}
    assert pairs[True].spec.paired
    assert not pairs[False].spec.paired
    assert not op.estimate(seen, "a", **asked).spec.paired


def test_two_models_on_other_tasks_have_a_t_to_three_digits():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(6, 2))
    pull = (values - values.mean(axis=0)) / np.sqrt(6 * 5)
    off = contrast_draws(pull - pull.mean(axis=1, keepdims=True), 5, 1_000_000, rng)
    gap = values[:, 0] - values[:, 1]
    law = stats.t(5, scale=gap.std(ddof=1) / np.sqrt(6))
    # One degree of freedom more or less in the prior of the covariance moves this by 0.005.
    share = (off[0] - off[1] < law.ppf(0.9)).mean()
    assert share == pytest.approx(0.9, abs=4 * np.sqrt(0.09 / 1_000_000))


@pytest.mark.parametrize(
    ("metric", "expected"),
    [({"metric": "accuracy"}, [1, 1, 2]), ({"metric": "f1", "pos_label": 0}, [1, 1])],
)
def test_against_the_rest_an_error_among_the_others_is_none(metric, expected):
    truth, said = [0, 0, 1, 1, 2, 2], [1, 0, 1, 2, 1, 0]
    found = op.estimate(truth, said, **metric, n_draws=100, random_state=0)
    assert _errors(found.spec, found.spec.view.models[0]).tolist() == expected
