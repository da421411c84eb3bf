"""Few items with scores know their spread as badly as few groups do; heavy tails are named."""

from __future__ import annotations

import numpy as np
import pytest

import outperform as op
from outperform.posterior import influence
from outperform.posterior.bootstrap import draw_sums
from outperform.posterior.tails import pareto_shape, tail_of
from tests.lazily import lazily
from tests.loops import each

genpareto = lazily("scipy.stats.genpareto")


def _compared(metric: str, n: int, **more: object) -> op.results.Comparison:
    generator = np.random.default_rng(3)
    truth = generator.normal(size=n)
    a, b = truth + generator.normal(size=(2, n))
    given = {"roc_auc": (np.arange(n) < n // 2).astype(int), "mean": None, "p95": None}
    return op.compare(
        *(given.get(metric, truth), a, b),
        metric=metric,
        rope=0.01,
        n_draws=4_000,
        random_state=0,
        **more,
    )


@pytest.mark.parametrize("metric", ["rmse", "mae", "r2"])
def test_sums_of_items_are_those_of_groups_of_one_item(metric):
    n = 15
    items, groups = _compared(metric, n), _compared(metric, n, groups=np.arange(n))
    assert (items.hdi.low, items.hdi.high) == (groups.hdi.low, groups.hdi.high)


@each("metric", ["mean", "roc_auc", "p95"])
@each("n", [12, 40])
def test_items_know_their_spread_as_groups_of_one_item_do(metric, n):
    items, groups = _compared(metric, n), _compared(metric, n, groups=np.arange(n))
    assert items.spec.dfs == pytest.approx(groups.spec.dfs)
    assert items.sd == pytest.approx(groups.sd, rel=0.1)


@pytest.mark.parametrize("n", [12, 20, 29])
def test_fewer_than_thirty_items_are_warned_of_as_groups_are(n):
    names = {one.name for one in _compared("mean", n).findings}
    assert "few_items" in names
    grouped = {one.name for one in _compared("mean", n, groups=np.arange(n)).findings}
    assert "few_groups" in grouped


def test_many_items_with_light_tails_have_weights_of_shape_one():
    c = _compared("mean", 300)
    assert c.spec.dfs == (None,)
    assert not {"few_items", "heavy_tails"} & {one.name for one in c.findings}


def test_few_items_have_a_wider_interval_than_weights_of_shape_one_give(monkeypatch):
    c = _compared("mean", 12)
    monkeypatch.setattr(influence, "_MANY", 0.0)
    assert c.hdi.width > 1.1 * _compared("mean", 12).hdi.width


def test_a_users_function_may_be_undefined_without_an_item():
    def share(means):
        with np.errstate(invalid="ignore"):
            return means[0] / means[1]

    statistics = {name: np.array([[1.0, 1.0], [0.0, 0.0], [0.0, 0.0]]) for name in "AB"}
    scores = op.Scores.from_statistics(statistics)
    e = op.estimate(scores, "A", metric=share, n_draws=200, random_state=0)
    assert e.spec.dfs == (1.0,)


def test_a_function_of_items_is_widened_by_their_number():
    generator = np.random.default_rng(0)
    a, b = generator.normal(size=(2, 15))

    def mean(y_true, score, weight):
        return np.average(score, weights=weight)

    c = op.compare(None, a, b, metric=mean, rope=0.01, n_draws=300, random_state=0)
    assert c.spec.dfs == (5.0,)


@pytest.mark.parametrize("k", [-0.3, 0.2, 0.7, 1.2])
def test_the_shape_of_a_tail_is_that_of_the_likelihood(k):
    values = genpareto.rvs(k, size=5_000, random_state=np.random.default_rng(1))
    assert pareto_shape(values) == pytest.approx(genpareto.fit(values, floc=0)[0], abs=0.02)
    assert pareto_shape(values) == pytest.approx(k, abs=0.1)


def test_items_that_repeat_have_the_tail_of_each_of_them():
    generator = np.random.default_rng(0)
    moved = generator.standard_t(3, 60)
    repeats = generator.integers(1, 4, 60).astype(float)
    apart = tail_of(np.repeat(moved, repeats.astype(int)), np.ones(int(repeats.sum())))
    assert tail_of(moved, repeats) == pytest.approx(apart)


def _with_outlier(error: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    generator = np.random.default_rng(5)
    target = generator.normal(size=200)
    a, b = target + 0.5 * generator.normal(size=(2, 200))
    b[7] += error
    return target, a, b


def test_one_huge_error_withholds_the_decision():
    target, a, b = _with_outlier(60.0)
    c = op.compare(target, a, b, metric="rmse", rope=0.01, n_draws=4_000, random_state=0)
    (said,) = [one for one in c.findings if one.name == "heavy_tails"]
    assert "A single item contributes" in said.message
    assert not c.decision.decided
    plain = op.compare(target, a, b, metric="mae", rope=0.01, n_draws=4_000, random_state=0)
    assert any(one.name == "heavy_tails" for one in plain.findings)


def test_huge_errors_of_either_sign_do_not_bias_a_mean():
    generator = np.random.default_rng(5)
    a, b = generator.normal(size=(2, 200))
    a[:4] += [30.0, -30.0, 29.0, -29.0]
    c = op.compare(None, a, b, metric="mean", rope=0.01, n_draws=2_000, random_state=0)
    assert "heavy_tails" not in {one.name for one in c.findings}


def test_the_tail_of_one_model_is_named_too():
    target, _, b = _with_outlier(60.0)
    scores = op.Scores.from_targets(target, {"B": b})
    e = op.estimate(scores, "B", metric="rmse", n_draws=1_000, random_state=0)
    assert any(one.name == "heavy_tails" and one.level == "warning" for one in e.findings)


def test_models_with_items_of_their_own_have_a_tail():
    target, a, b = _with_outlier(60.0)
    more = {"metric": "rmse", "rope": 0.01, "n_draws": 1_000, "random_state": 0}
    c = op.compare(target, a, b, paired=False, **more)
    assert any(one.name == "heavy_tails" for one in c.findings)
    assert not c.decision.decided


def test_no_gate_opens_by_one_huge_error():
    target, a, b = _with_outlier(60.0)
    scores = op.Scores.from_targets(target, {"new": a, "old": b})
    more = {"metric": "rmse", "rope": 0.01, "n_draws": 1_000, "random_state": 0}
    judged = op.gate(scores, "new", "old", require="better", **more)
    assert judged.status.value == "undecided"


def test_two_models_with_the_same_huge_error_are_not_skewed():
    target, a, b = _with_outlier(60.0)
    a = a.copy()
    a[11] += 55.0
    c = op.compare(target, a, b, metric="rmse", rope=0.01, n_draws=1_000, random_state=0)
    assert all(each.level == "note" for each in c.findings if each.name == "heavy_tails")
    assert c.spec.tail((0, 1)).balance > 0.5


def test_the_balance_of_a_tail_is_that_of_its_cubes():
    moved = np.array([2.0, -1.0, -1.0])
    tail = tail_of(moved, np.ones(3))
    assert tail.balance == pytest.approx(2 / 8)
    assert tail.skewness == pytest.approx(6 / 6**1.5)
    assert tail_of(1e-120 * moved, np.ones(3)) == pytest.approx(tail, nan_ok=True)


def test_a_quantile_that_no_item_is_beyond_is_not_decided():
    a, b = np.random.default_rng(0).normal(size=(2, 25))
    more = {"metric": "p95", "rope": 0.01, "n_draws": 500, "random_state": 0}
    few = op.compare(None, a[:15], b[:15] + 9, **more)
    assert not few.decision.decided
    assert [each.level for each in few.findings if "most extreme" in each.message] == ["serious"]
    assert op.compare(None, a, b + 9, **more).decision.decided


def test_draws_are_stretched_as_weights_of_such_shapes_would_spread_a_mean():
    terms = np.stack([np.random.default_rng(0).normal(size=12), np.ones(12)])

    def drawn(**more):
        return draw_sums(
            terms,
            lambda sums: sums[:1] / sums[1:],
            shapes=np.ones(12),
            n_values=1,
            n_draws=40_000,
            seed=np.random.SeedSequence(1),
            n_jobs=1,
            **more,
        )

    shaped, stretched = drawn(df=6.0).std(), drawn(df=6.0, stretched=True).std()
    # The sd of 40,000 draws has an error of about 1%.
    assert stretched == pytest.approx(shaped, rel=0.05)
    assert stretched > 1.05 * drawn().std()


def test_r2_of_few_items_is_no_wider_than_its_mean_squares_allow():
    widths = {metric: _compared(metric, 12).hdi.width for metric in ("r2", "mse")}
    target = np.random.default_rng(3).normal(size=12)
    assert widths["r2"] < 3 * widths["mse"] / target.var()
