"""Very many items: the most influential are drawn, the others are one normal."""

import numpy as np
import pytest

import outperform as op
from outperform.posterior.bootstrap import MANY_UNITS, Limit, draw_sums

N = 20_000
RNG = np.random.default_rng(4)
HARD = RNG.lognormal(size=N)
COSTS = {
    "lognormal": [HARD * RNG.lognormal(sigma=1.0, size=N) for _ in range(2)],
    "Pareto": [HARD * (1 + RNG.pareto(3.5, size=N)) for _ in range(2)],
}
GROUPS = RNG.permutation(np.arange(N) // 2 * (np.arange(N) % 10 < 8) + np.arange(N))


def exact_sd(values, groups=None):
    """Return the sd of a mean under weights that are Exp(1), to the first order."""
    moved = values - values.mean()
    sums = moved if groups is None else np.bincount(groups, moved)
    return np.sqrt(np.square(sums).sum()) / len(values)


def mean_of(sums):
    return sums[:1] / sums[1:]


def drawn(terms, limit, seed, **more):
    return draw_sums(
        terms,
        mean_of,
        shapes=np.ones(terms.shape[1]),
        n_values=1,
        n_draws=20_000,
        seed=np.random.SeedSequence(seed),
        n_jobs=1,
        limit=limit,
        **more,
    )[0]


@pytest.mark.parametrize("costs", COSTS)
@pytest.mark.parametrize("groups", [None, np.unique(GROUPS, return_inverse=True)[1]])
def test_sd_of_a_difference_is_that_of_the_closed_form(costs, groups):
    a, b = COSTS[costs]
    beside = {} if groups is None else {"groups": groups}
    seen = op.Scores.from_values({"a": a, "b": b}, **beside)
    c = op.compare(seen, "a", "b", metric="mean_cost", rope=0.01, n_draws=40_000, random_state=2)
    assert "smaller_items" in [one.name for one in c.findings] or groups is not None
    df = c.spec.dfs[0]
    wider = 1.0 if df is None else np.sqrt(df / (df - 2))
    rel = 0.015 if df is None else 0.03  # the errors of 40,000 draws and of the t are in it
    assert c.sd == pytest.approx(wider * exact_sd(a - b, groups), rel=rel)


def test_quantiles_are_those_of_exact_draws():
    terms = np.stack([COSTS["lognormal"][0], np.ones(N)])[:, : MANY_UNITS + 100]
    moved = terms[:1] - terms[0].mean()
    limit = Limit.of(terms, moved, np.ones(terms.shape[1]))
    assert 512 <= len(limit.drawn) < 2_000
    assert len(limit.drawn) + limit.n_others == terms.shape[1]
    here, exact = drawn(terms, limit, 1), drawn(terms, None, 2)
    levels = [0.005, 0.025, 0.25, 0.5, 0.75, 0.975, 0.995]
    gaps = np.abs(np.quantile(here, levels) - np.quantile(exact, levels)) / exact.std()
    assert (gaps < [0.2, 0.1, 0.05, 0.05, 0.05, 0.1, 0.2]).all()
    assert here.std() == pytest.approx(exact.std(), rel=0.03)


def test_more_are_drawn_where_the_others_are_skewed():
    rare = np.zeros((2, MANY_UNITS + 500))
    rare[0, :3_000], rare[1] = 1.0, 1.0
    even = np.stack([RNG.normal(size=rare.shape[1]), np.ones(rare.shape[1])])
    shapes = np.ones(rare.shape[1])
    few = Limit.of(even, even[:1], shapes)
    many = Limit.of(rare, rare[:1] - rare[0].mean(), shapes)
    assert len(few.drawn) < len(many.drawn)
    moved = rare[0] - rare[0].mean()
    others = np.delete(moved, many.drawn)
    assert 2 * (np.abs(others) ** 3).sum() < 0.02 * np.square(moved).sum() ** 1.5


def test_what_lies_far_from_zero_keeps_its_spread():
    values = 1e7 + RNG.normal(size=MANY_UNITS + 100)
    terms = np.stack([values, np.ones(len(values))])
    limit = Limit.of(terms, terms[:1] - values.mean(), np.ones(len(values)))
    assert drawn(terms, limit, 1).std() == pytest.approx(exact_sd(values), rel=0.03)


def test_few_items_are_drawn_one_by_one():
    terms = np.stack([RNG.normal(size=MANY_UNITS), np.ones(MANY_UNITS)])
    assert Limit.of(terms, terms[:1], np.ones(MANY_UNITS)) is None


def test_order_of_rows_changes_no_byte():
    a, b = COSTS["lognormal"]
    order = RNG.permutation(N)
    names = np.array([f"g{code}" for code in GROUPS])

    def draws(rows, **beside):
        seen = op.Scores.from_values({"a": a[rows], "b": b[rows]}, **beside)
        asked = {"metric": "mean", "rope": 0.01, "n_draws": 500, "random_state": 1}
        return op.compare(seen, "a", "b", **asked).draws

    everything = np.arange(N)
    assert np.array_equal(draws(everything), draws(order))
    grouped = draws(everything, groups=names), draws(order, groups=names[order])
    assert np.array_equal(*grouped)
