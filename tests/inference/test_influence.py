"""Groups that carry the metric: their influence by brute force, and what it does to intervals."""

from __future__ import annotations

import numpy as np
import pytest

import outperform as op
from outperform.posterior import influence as posterior_influence
from outperform.posterior.gammas import spread_factors
from tests.lazily import lazily
from tests.loops import each
from verification import influence
from verification import rare_labels as rare_labels_study

sk = lazily("sklearn.metrics")
stats = lazily("scipy.stats")

ASKED = {"rope": 0.01, "n_draws": 2_000, "random_state": 1}


def some_items(seed=0, n=240, n_classes=3, n_groups=25):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_classes, n)
    models = [np.where(rng.random(n) < p, truth, rng.integers(0, n_classes, n)) for p in (0.7, 0.6)]
    return truth, *models, rng.integers(0, n_groups, n)


def effective(values):
    """Return (Σ u²)² / Σ u⁴ of the values without each group."""
    squares = np.square(np.mean(values) - np.array(values))
    return squares.sum() ** 2 / np.square(squares).sum()


def without_each(groups, value):
    return [value(groups != group) for group in np.unique(groups)]


CLASSES = {
    "accuracy": sk.accuracy_score,
    "f1_macro": lambda y, p: sk.f1_score(y, p, average="macro"),
    "f1_weighted": lambda y, p: sk.f1_score(y, p, average="weighted"),
    "matthews_corrcoef": sk.matthews_corrcoef,
    "balanced_accuracy": sk.balanced_accuracy_score,
}


@each("metric", CLASSES)
def test_the_effective_number_is_that_of_counting_again_without_each_group(metric):
    truth, a, b, groups = some_items()
    score = CLASSES[metric]
    c = op.compare(truth, a, b, metric=metric, groups=groups, **ASKED)
    wanted = without_each(
        groups, lambda kept: score(truth[kept], a[kept]) - score(truth[kept], b[kept])
    )
    assert c.spec.n_carrying() == pytest.approx(effective(wanted), rel=1e-9)
    # Sizes alone, which were the rule before, say something else.
    assert c.spec.view.groups.n_even != pytest.approx(effective(wanted), rel=0.2)
    alone = op.estimate(truth, a, metric=metric, groups=groups, n_draws=100)
    wanted = without_each(groups, lambda kept: score(truth[kept], a[kept]))
    assert alone.spec.n_carrying() == pytest.approx(effective(wanted), rel=1e-9)


def test_groups_that_look_alike_count_as_often_as_they_are():
    truth, a, b, groups = some_items(n_groups=12)
    twice = [np.tile(one, 2) for one in (truth, a, b)]
    again = np.concatenate([groups, groups + 12])
    c = op.compare(*twice, metric="accuracy", groups=again, **ASKED)
    assert len(c.spec.view.groups.repeats) == 12
    score = sk.accuracy_score
    wanted = without_each(
        again,
        lambda kept: score(twice[0][kept], twice[1][kept]) - score(twice[0][kept], twice[2][kept]),
    )
    assert c.spec.n_carrying() == pytest.approx(effective(wanted), rel=1e-9)


@pytest.mark.parametrize("metric", ["roc_auc", "average_precision", "brier_score"])
def test_scores(metric):
    rng = np.random.default_rng(3)
    truth, groups = rng.random(150) < 0.4, rng.integers(0, 20, 150)
    a, b = (np.clip(rng.random(150) * 0.7 + 0.3 * truth, 0, 1) for _ in range(2))
    score = {
        "roc_auc": sk.roc_auc_score,
        "average_precision": sk.average_precision_score,
        "brier_score": sk.brier_score_loss,
    }[metric]
    c = op.compare(truth, a, b, metric=metric, groups=groups, **ASKED)
    wanted = without_each(
        groups, lambda kept: score(truth[kept], a[kept]) - score(truth[kept], b[kept])
    )
    assert c.spec.n_carrying() == pytest.approx(effective(wanted), rel=1e-7)


def f1_of_labels(truth, said):
    """Return macro-F1 with half a hit and half of each error added to every label."""
    hits, wrong = (truth & said).sum(axis=0) + 0.5, (truth ^ said).sum(axis=0) + 1.0
    return np.mean(2 * hits / (2 * hits + wrong))


@pytest.mark.parametrize("average", ["macro", "samples"])
def test_label_sets_count_their_items(average):
    rng = np.random.default_rng(4)
    y, a, b = rng.random((3, 90, 4)) < np.array([0.5, 0.3, 0.3, 0.1])
    c = op.compare(y, a, b, metric=f"f1_{average}", **ASKED)

    def score(truth, said):
        if average == "macro":
            return f1_of_labels(truth, said)
        return sk.f1_score(truth, said, average="samples", zero_division=0.0)

    wanted = without_each(
        np.arange(90), lambda kept: score(y[kept], a[kept]) - score(y[kept], b[kept])
    )
    assert c.spec.n_carrying() == pytest.approx(effective(wanted), rel=1e-9)


def test_other_class_proportions_change_who_carries():
    truth, a, b, groups = some_items(n_classes=2)
    seen = op.Outcomes.from_labels(truth, {"a": a, "b": b}, groups=groups)
    c = op.compare(seen.at_prevalence({1: 0.05, 0: 0.95}), "a", "b", metric="accuracy", **ASKED)

    def value(kept):
        rates = [
            [np.mean((model == truth)[kept & (truth == one)]) for one in (0, 1)] for model in (a, b)
        ]
        return np.dot(np.subtract(*rates), [0.95, 0.05])

    assert c.spec.n_carrying() == pytest.approx(effective(without_each(groups, value)), rel=1e-9)


def test_a_group_without_which_nothing_is_defined_carries_it_all():
    truth, groups = np.zeros(60, dtype=bool), np.arange(60) // 3
    truth[:2] = True
    scores = np.random.default_rng(0).random((2, 60))
    c = op.compare(truth, *scores, metric="roc_auc", groups=groups, **ASKED)
    assert c.spec.n_carrying() == 1.0


def test_units_that_are_weighed_by_themselves_have_no_such_number():
    truth, a, b, _ = some_items()
    c = op.compare(truth, a, b, metric="accuracy", prior="bootstrap", **ASKED)
    assert c.spec.n_carrying() is None


def spread_of_a_mean(values, df):
    """Return the sd of the bootstrap mean whose shapes are multiplied by χ²(df) / df."""
    n = len(values)
    share = stats.chi2.cdf(0.05 * df, df)  # the least factor
    grid = stats.chi2.ppf(share + (np.arange(200_000) + 0.5) / 200_000 * (1 - share), df) / df
    known = share / (0.05 * n + 1) + (1 - share) * np.mean(1 / (grid * n + 1))
    return np.sqrt(np.square(values - values.mean()).sum() / n * known)


def test_the_spread_of_a_mean_is_known():
    """Given a factor f, weights Gamma(f) have variance Σ (d − d̄)² / (G (f G + 1))."""
    rng = np.random.default_rng(7)
    a, b = rng.normal(size=(2, 24))
    c = op.compare(None, a, b, metric="mean", groups=np.arange(24), rope=0.01, n_draws=80_000,
                   random_state=2)  # fmt: skip
    moved = a - b
    df = effective(without_each(np.arange(24), lambda kept: moved[kept].mean()))
    # Four Monte Carlo errors of an sd with the heavier tails of a t distribution.
    assert c.sd == pytest.approx(spread_of_a_mean(moved, df), rel=4 * 2 / np.sqrt(2 * 80_000))
    # A planted bug: another df is seen.
    assert c.sd != pytest.approx(spread_of_a_mean(moved, 2 * df), rel=4 * 2 / np.sqrt(2 * 80_000))


def test_factors_have_mean_one_and_a_floor():
    factors = spread_factors(np.random.default_rng(0), 1.0, 100_000)
    assert factors.min() == 0.05
    assert factors.mean() == pytest.approx(1.0, abs=0.02 + 0.05)


def test_few_groups_that_carry_the_metric_are_told_and_the_interval_is_wider(monkeypatch, names):
    *seen, groups = influence.simulate(influence.WORLDS[1], np.random.default_rng(2))
    c = op.compare(*seen, metric="f1", groups=groups, **ASKED)
    (said,) = [one for one in c.findings if one.name == "few_groups"]
    assert said.message.startswith("The difference depends on an effective number of ")
    assert c.a.draws.min() >= 0.0
    assert c.a.draws.max() <= 1.0
    monkeypatch.setattr(posterior_influence, "_MANY", 0.0)
    plain = op.compare(*seen, metric="f1", groups=groups, **ASKED)
    assert c.hdi.width > 1.1 * plain.hdi.width
    # The study's gate sees it if nothing is widened and nothing is said.
    world = influence.WORLDS[1]
    hits = [influence.Hit(place < 800, place < 800, False, False, 4.0) for place in range(1_000)]
    assert "80.0% covered, 0.0% warned of" in influence.failures({world: hits})[0]


def test_many_groups_have_the_weights_they_always_had():
    truth, a, b, _ = some_items(n=4_000)
    seen = op.Outcomes.from_labels(truth, {"a": a, "b": b}, groups=np.arange(4_000))
    one = op.compare(seen, "a", "b", metric="accuracy", **ASKED)
    two = op.compare(seen.ungroup(), "a", "b", metric="accuracy", prior="bootstrap", **ASKED)
    assert np.allclose(one.draws, two.draws, atol=1e-12)


def test_every_metric_of_a_scorecard_has_its_own_number():
    *seen, groups = influence.simulate(influence.WORLDS[1], np.random.default_rng(2))
    outcomes = op.Outcomes.from_labels(seen[0], {"A": seen[1], "B": seen[2]}, groups=groups)
    card = op.scorecard(outcomes, "A", "B", metrics=["f1", "accuracy"], rope=0.01, n_draws=2_000,
                        random_state=1)  # fmt: skip
    alone = op.compare(*seen, metric="f1", groups=groups, **ASKED)
    assert card["f1"].sd == alone.sd


@pytest.mark.parametrize("world", [w for w in influence.WORLDS if w.right[0] != w.right[1]])
def test_the_true_difference_is_that_of_very_many_groups(world):
    rng = np.random.default_rng(0)
    sets = [influence.simulate(world, rng) for _ in range(300)]
    truth, a, b, _ = (np.concatenate(one) for one in zip(*sets, strict=True))
    score = {"accuracy": sk.accuracy_score, "f1": sk.f1_score}[world.metric]
    assert influence.truth_of(world) == pytest.approx(score(truth, a) - score(truth, b), abs=0.02)


def rare_labels(seed=0):
    """Return label sets in which three items decide macro-F1: they alone have a label."""
    rng = np.random.default_rng(seed)
    truth = np.zeros((200, 2), dtype=bool)
    truth[:, 0], truth[:3, 1] = rng.random(200) < 0.6, True
    a, b = truth.copy(), truth.copy()
    b[:3, 1] = False  # B misses the rare label, and both err on a few items of the other one
    a[rng.choice(200, 12, replace=False), 0] ^= True
    b[rng.choice(200, 12, replace=False), 0] ^= True
    return truth, a, b


def test_a_decision_on_label_sets_that_rests_on_few_items_is_withheld():
    c = op.compare(*rare_labels(), metric="f1_macro", **ASKED)
    assert c.spec.n_carrying() < 10
    assert c.hdi.low > 0.01
    assert c.decision is op.Decision.UNDECIDED
    (few,) = [one for one in c.findings if one.name == "few_disagreements"]
    assert few.level == "serious"
    assert "effective number of" in few.message
    truth, *models = rare_labels()
    seen = op.Outcomes.from_label_sets(truth, dict(zip("ab", models, strict=True)))
    ranked = op.rank(seen, metric="f1_macro", rope=0.01, n_draws=2_000, random_state=1)
    assert ranked.pair("a", "b").withheld


def test_a_decision_on_label_sets_that_rests_on_many_stands():
    rng = np.random.default_rng(5)
    truth = rng.random((300, 3)) < 0.4
    a, b = truth ^ (rng.random((300, 3)) < 0.05), truth ^ (rng.random((300, 3)) < 0.25)
    c = op.compare(truth, a, b, metric="f1_macro", **ASKED)
    assert c.spec.n_carrying() >= 10
    assert c.decision is op.Decision.BETTER


def test_the_gate_of_rare_labels_sees_false_decisions():
    world = rare_labels_study.WORLDS[0]

    def hits(false, held):
        return [
            rare_labels_study.Hit(place < held, True, place < false, False, False, 5.0)
            for place in range(1_000)
        ]

    # 5% and 92% are the bounds: what is measured must be beyond them by more than chance.
    assert rare_labels_study.failures({world: hits(60, 910)}) == []
    assert "8.0% false decisions" in rare_labels_study.failures({world: hits(80, 920)})[0]
    assert "86.0% covered" in rare_labels_study.failures({world: hits(0, 860)})[0]
    beyond = next(w for w in rare_labels_study.WORLDS if w.kind == rare_labels_study.BEYOND)
    assert rare_labels_study.failures({beyond: hits(50, 800)}) == []
