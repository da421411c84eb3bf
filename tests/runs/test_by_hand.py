"""The numbers of a comparison of runs from its formulas, worked out by scipy and numpy alone."""

from __future__ import annotations

import numpy as np
import pytest

import outperform as op
from outperform.decision.rope import Decision
from outperform.runs import FEW_RUNS, stand_apart
from tests.lazily import lazily
from tests.loops import each

stats = lazily("scipy.stats")

LEVELS = {"a": (0.84, 0.78, 0.88, 0.82), "b": (0.80, 0.83, 0.76)}


def trained(n=500, seed=3, levels=LEVELS):
    generator = np.random.default_rng(seed)
    truth = generator.integers(2, size=n)
    hard = generator.random(n)
    runs = {
        f"{name}{place}": np.where(
            np.where(generator.random(n) < 0.6, hard, generator.random(n)) < level, truth, 1 - truth
        )
        for name, shares in levels.items()
        for place, level in enumerate(shares)
    }
    return truth, runs


def compared(n=500, seed=3, levels=LEVELS, **asked):
    truth, runs = trained(n, seed, levels)
    seen = op.Outcomes.from_labels(truth, runs)
    sides = ([name for name in runs if name[0] == side] for side in "ab")
    asked = {"metric": "accuracy", "rope": 0.01, "random_state": 1, "n_draws": 4_000} | asked
    return op.compare_runs(seen, *sides, **asked)


@pytest.fixture(scope="module")
def found():
    return compared()


def spread(values):
    """Return s²/R and v/R of draws ``(n_runs, n_draws)``, written out."""
    n_runs, n_draws = values.shape
    s2 = sum((values[r].mean() - values.mean()) ** 2 for r in range(n_runs)) / (n_runs - 1)
    # What sets the runs apart in a draw, averaged over the draws, beside what always does.
    apart = values - values.mean(axis=0)
    v = sum(((row - row.mean()) ** 2).sum() / (n_draws - 1) for row in apart) / (n_runs - 1)
    return s2 / n_runs, v / n_runs


class Theory:
    """Q of the difference: ν q / Q ~ χ² with ν degrees of freedom, cut at Q ≥ v."""

    def __init__(self, found):
        a, b = (found.details.drawn.values[list(side.places)] for side in found.details.sides)
        (q_a, v_a), (q_b, v_b) = spread(a), spread(b)
        self.q, self.v = q_a + q_b, v_a + v_b
        self.degrees = self.q**2 / (q_a**2 / (len(a) - 1) + q_b**2 / (len(b) - 1))
        self.fixed = a.mean(axis=0) - b.mean(axis=0)

    def variance(self, level):
        """Return the quantile of what training again adds: Q − v falls where χ² grows."""
        chi = stats.chi2(self.degrees)
        most = chi.cdf(self.degrees * self.q / self.v)
        return self.degrees * self.q / chi.ppf((1 - level) * most) - self.v

    def share(self, level):
        variance = self.variance(level)
        return variance / (variance + self.fixed.var(ddof=1))


def test_the_share_of_the_runs_and_its_interval(found):
    theory, shares = Theory(found), found.details.variance_from
    n = found.draws.size
    for level, got in ((0.025, shares.runs_low), (0.975, shares.runs_high)):
        error = 4 * np.sqrt(level * (1 - level) / n)
        assert theory.share(level - error) < got < theory.share(level + error)
    levels = (np.arange(20_000) + 0.5) / 20_000
    every = theory.share(levels)
    assert shares.runs == pytest.approx(every.mean(), abs=4 * every.std() / np.sqrt(n))
    assert shares.test_set == pytest.approx(1 - shares.runs)
    assert 0.1 < shares.runs_low < shares.runs - 0.2  # no share that any interval would fit


def test_the_difference_is_that_of_these_runs_and_a_scaled_normal(found):
    theory, n = Theory(found), found.draws.size
    levels = (np.arange(20_000) + 0.5) / 20_000
    added = theory.variance(levels)
    z = found.draws - theory.fixed
    assert found.mean == pytest.approx(theory.fixed.mean(), abs=5 * z.std() / np.sqrt(n))
    # Half of the draws lie within the median of |√V z|, whatever the tails do.
    generator = np.random.default_rng(5)
    many = np.sqrt(theory.variance(generator.random(200_000))) * generator.normal(size=200_000)
    for level in (0.25, 0.5, 0.9):
        inside = np.mean(np.abs(z) < np.quantile(np.abs(many), level))
        assert inside == pytest.approx(level, abs=4.5 * np.sqrt(level * (1 - level) / n))
    assert found.sd > np.sqrt(theory.fixed.var(ddof=1) + np.median(added))


def test_pooling_knows_no_other_runs(found):
    theory = Theory(found)
    assert found.details.pooled.sd == pytest.approx(theory.fixed.std(ddof=1))
    assert found.details.pooled.hdi.prob == 0.95
    inside = np.mean(
        (theory.fixed >= found.details.pooled.hdi.low)
        & (theory.fixed <= found.details.pooled.hdi.high)
    )
    assert inside == pytest.approx(0.95, abs=0.003)
    low, high = (theory.fixed.mean() + end * theory.fixed.std() for end in (-1.96, 1.96))
    assert found.details.pooled.hdi.low == pytest.approx(low, abs=0.25 * found.details.pooled.sd)
    assert found.details.pooled.hdi.high == pytest.approx(high, abs=0.25 * found.details.pooled.sd)


def test_each_model_is_the_mean_of_its_own_runs(found):
    truth, runs = trained()
    for estimate, side in ((found.a, "a"), (found.b, "b")):
        values = [np.mean(run == truth) for name, run in runs.items() if name[0] == side]
        assert estimate.details.run_values == pytest.approx(values)
        assert estimate.observed == pytest.approx(np.mean(values))
        assert estimate.details.run_sd == pytest.approx(np.std(values, ddof=1))
        assert estimate.details.n_runs == len(values)
    assert found.observed == pytest.approx(found.a.observed - found.b.observed)
    below = np.mean(found.draws < -0.01)
    above = np.mean(found.draws > 0.01)
    assert (found.p_worse, found.p_better) == pytest.approx((below, above))


def test_with_endless_items_the_shares_of_the_variance_are_known():
    """With 10⁶ items in all cells Q is known from the runs, and what is left is nothing."""
    cells = np.array([[1, 1, 1], [1, 1, 0], [1, 0, 1], [0, 1, 1], [0, 0, 0]])
    counts = [700_000, 60_000, 50_000, 40_000, 150_000]
    runs = dict(zip(("a1", "a2", "b1"), cells.T, strict=True))
    seen = op.Outcomes.from_counts([1] * 5, runs, counts, labels=[0, 1])
    found = op.compare_runs(
        seen, ["a1", "a2"], ["b1"], metric="accuracy", rope=0.01, random_state=2, n_draws=4_000
    )
    right = np.array([0.81, 0.80, 0.79])
    assert found.a.details.run_values == pytest.approx(right[:2])
    assert found.observed == pytest.approx(0.015)
    # Student's t with one degree of freedom around the mean of two runs, 0.005 wide.
    quartiles = np.quantile(found.draws, [0.25, 0.75])
    assert quartiles == pytest.approx([0.015 - 0.005, 0.015 + 0.005], abs=7e-4)
    assert found.details.variance_from.runs > 0.97


def test_how_many_runs_are_few():
    names = lambda result: [one.name for one in result.findings]  # noqa: E731
    enough = {"a": (0.84, 0.78, 0.88, 0.82, 0.8), "b": (0.80, 0.83, 0.76, 0.8, 0.81)}
    assert FEW_RUNS == 5
    assert "few_runs" not in names(compared(levels=enough, n_draws=200))
    four = enough | {"b": enough["b"][:4]}
    (said,) = [one for one in compared(levels=four, n_draws=200).findings if one.name == "few_runs"]
    assert "only 4 runs of b," in said.message
    assert said.level == "warning"


def test_pooling_is_named_only_where_it_says_something_else():
    sure = {"a": (0.9, 0.91, 0.9, 0.89, 0.9), "b": (0.7, 0.71, 0.7, 0.69, 0.7)}
    found = compared(n=2_000, levels=sure)
    assert found.decision is found.details.pooled.decision is Decision.BETTER
    assert "runs_not_pooled" not in [one.name for one in found.findings]
    turned = compared(n=2_000, levels={"a": sure["b"], "b": sure["a"]})
    assert turned.decision is turned.details.pooled.decision is Decision.WORSE
    assert "runs_not_pooled" not in [one.name for one in turned.findings]


def named_apart(found):
    return [one for one in found.findings if one.name == "run_stands_apart"]


def test_collapsed_run_is_named_with_its_distance():
    levels = {"a": (0.84, 0.83, 0.5, 0.85, 0.84), "b": (0.84, 0.83, 0.82, 0.85, 0.84)}
    found = compared(n=2_000, levels=levels, n_draws=500)
    (said,) = named_apart(found)
    values = np.array(found.a.details.run_values)
    distance = np.delete(values, 2).mean() - values[2]
    assert said.message.startswith(f"a: a2 is {distance:.4g} from the mean of the other 4 runs,")
    assert said.level == "warning"
    assert not found.decision.decided


def test_normal_runs_are_not_named():
    found = compared(
        levels={"a": (0.84, 0.78, 0.88, 0.82, 0.8), "b": (0.80, 0.83, 0.76, 0.8, 0.81)}
    )
    assert named_apart(found) == []


def test_first_step_is_the_t_of_one_more_run():
    """One step alone: a run is named from the quantile of t on that Bonferroni gives."""
    rest = np.array([0.81, 0.83, 0.82])
    limit = stats.t.ppf(1 - 0.01 / 8, 2) * rest.std(ddof=1) * np.sqrt(4 / 3)
    for factor, wanted in ((1.001, (3,)), (0.999, ())):
        values = np.append(rest, rest.mean() - factor * limit)
        assert stand_apart(values, noise=0.0, level=0.01) == wanted


def test_two_runs_that_collapse_alike_do_not_hide_each_other():
    values = np.array([0.84, 0.50, 0.845, 0.505, 0.838])
    assert stand_apart(values, noise=1e-5, level=0.01) == (1, 3)
    t = stats.ttest_ind(values[[1, 3]], values[[0, 2, 4]])
    assert t.pvalue < 0.005 / 10  # of ten pairs; two sizes share the level


def test_ties_do_not_make_the_next_run_stand_apart():
    """Four equal scores of 500 items and one item more: less than the items' own noise."""
    values = np.array([0.84, 0.84, 0.84, 0.84, 0.842])
    assert stand_apart(values, noise=0.84 * 0.16 / 500, level=0.01) == ()


@each("n_runs", [3, 4, 5, 7, 10, 20])
def test_normal_runs_are_seldom_named(n_runs):
    """At most one in a hundred for each model; four standard errors are allowed."""
    rng, n_sets = np.random.default_rng(n_runs), 1_000
    named = [
        bool(stand_apart(rng.standard_normal(n_runs), noise=0.0, level=0.01)) for _ in range(n_sets)
    ]
    assert np.mean(named) <= 0.01 + 4 * np.sqrt(0.01 * 0.99 / n_sets)


def test_lone_run_widens_the_interval_by_more_than_it_moves_it():
    """So what is decided with it is decided without it, and nothing need be withheld."""
    levels = {"a": (*(0.85,) * 9, 0.78), "b": (0.82,) * 10}
    found = compared(n=3_000, levels=levels, n_draws=2_000)
    assert [said.message[:8] for said in named_apart(found)] == ["a: a9 is"]
    without = compared(n=3_000, levels={"a": levels["a"][:9], "b": levels["b"]}, n_draws=2_000)
    assert found.hdi.low < without.hdi.low < without.hdi.high < found.hdi.high + 0.005
