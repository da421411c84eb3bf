"""Sums over very many units: exact moments, the largest units one by one, parts that add up."""

import pickle

import numpy as np
import pytest

import outperform as op
from outperform.data.moments import moments_of
from outperform.data.scores import Scores
from outperform.errors import DataError, UsageError

N = 60_000
RNG = np.random.default_rng(11)
HARD = RNG.lognormal(size=N)
GRADES = {
    "a": 1e6 + HARD * RNG.lognormal(size=N),
    "b": 1e6 + HARD * (1 + RNG.pareto(3.5, size=N)),
    "c": 1e6 + RNG.normal(size=N),
}
TARGET = 3 * RNG.gamma(2, size=N)
PREDICTED = {
    name: np.stack([TARGET, TARGET * RNG.lognormal(sigma=sigma, size=N) + 0.2], axis=1)
    for name, sigma in (("p", 0.3), ("q", 0.31))
}
GROUPS = np.unique(RNG.integers(0, N // 3, N), return_inverse=True)[1]
METRICS = (
    "mse",
    "rmse",
    "mae",
    "poisson_deviance",
    "r2",
    "explained_variance",
    "pearson",
    "pinball_0.9",
)


def of(kind="grades", rows=slice(None), codes=None):
    columns = GRADES if kind == "grades" else PREDICTED
    return moments_of(kind, {name: column[rows] for name, column in columns.items()}, codes)


def terms_by_hand(kind, moments, codes):
    """Return the terms of units, computed from their definitions."""
    y = TARGET
    found = {("size", None): np.ones(N)}
    for name, column in (GRADES if kind == "grades" else PREDICTED).items():
        if kind == "grades":
            found["value", name] = column - moments.origin
            continue
        p = column[:, 1]
        found |= {
            ("target", None): y - moments.origin,
            ("target square", None): (y - moments.origin) ** 2,
            ("residual", name): y - p,
            ("square", name): (y - p) ** 2,
            ("product", name): (y - moments.origin) * (y - p),
            ("absolute", name): abs(y - p),
            ("deviance", name): 2 * (y * np.log(y / p) - y + p),
        }
    stacked = np.stack([found[term] for term in moments.terms])
    return (stacked if codes is None else np.stack([np.bincount(codes, one) for one in stacked])).T


@pytest.mark.parametrize("kind", ["grades", "targets"])
@pytest.mark.parametrize("codes", [None, GROUPS])
def test_units_have_the_moments_of_all_rows(kind, codes):
    moments = of(kind, codes=codes)
    terms = terms_by_hand(kind, moments, codes)
    units, counts = moments.units()
    assert len(units) < 9_000
    assert counts.sum() == len(terms) == moments.n_units
    assert np.all(counts == np.rint(counts))
    sd = np.sqrt((terms**2).sum(axis=0))
    assert np.abs(counts @ units - terms.sum(axis=0)).max() < 1e-9 * sd.max()
    assert (np.abs((units.T * counts) @ units - terms.T @ terms) / np.outer(sd, sd)).max() < 1e-12
    if codes is not None:
        return
    # The largest difference, grade, residual … are listed one by one.
    largest = np.abs(terms[:, :-1] - terms[:, :-1].mean(axis=0)).argmax(axis=0)
    listed = {tuple(one) for one in units[counts == 1].round(6).tolist()}
    assert all(tuple(one) in listed for one in terms[largest].round(6).tolist())


def linear_sd(metric, models, codes):
    """Return the sd of a difference to the first order, from the influence of every row."""
    y, (p, q) = TARGET, (PREDICTED[model][:, 1] for model in models)
    moved = influence(metric, y, p) - influence(metric, y, q)
    sums = moved if codes is None else np.bincount(codes, moved)
    return np.sqrt((sums**2).sum()) / N


def influence(metric, y, p):
    r = y - p
    if metric == "pearson":
        x, z = (y - y.mean()) / y.std(), (p - p.mean()) / p.std()
        return x * z - np.mean(x * z) * (x**2 + z**2) / 2
    if metric in ("r2", "explained_variance"):
        r = r - r.mean() if metric != "r2" else r
        squares, variance = (y - y.mean()) ** 2, y.var()
        return -(r**2 - (r**2).mean() * squares / variance) / variance
    loss = {
        "mse": r**2,
        "rmse": r**2 / (2 * np.sqrt(np.mean(r**2))),
        "mae": abs(r),
        "poisson_deviance": 2 * (y * np.log(y / p) - r),
        "pinball_0.9": np.maximum(0.9 * r, -0.1 * r),
    }[metric]
    return loss - loss.mean()


@pytest.mark.parametrize(
    ("metric", "codes"), [*((one, None) for one in METRICS), ("rmse", GROUPS), ("r2", GROUPS)]
)
def test_metrics_of_targets(metric, codes):
    seen = Scores._of_moments(of("targets", codes=codes))
    asked = {"metric": metric, "rope": 0.01, "n_draws": 10_000, "random_state": 3}
    c = op.compare(seen, "p", "q", **asked)
    rows = op.Scores.from_targets(TARGET, {name: one[:, 1] for name, one in PREDICTED.items()})
    exact = op.compare(rows, "p", "q", **{**asked, "n_draws": 100})
    assert c.observed == pytest.approx(exact.observed, rel=1e-9)
    # The error of 10,000 draws is 0.7%; the rest is curvature, below 1% at 60,000 items.
    assert c.sd == pytest.approx(linear_sd(metric, "pq", codes), rel=0.035)
    assert c.n == N
    assert (c.spec.n_groups is None) == (codes is None)


def test_a_table_answers_compare_estimate_and_rank():
    seen = Scores._of_moments(of())
    asked = {"metric": "mean_cost", "random_state": 1, "n_draws": 10_000}
    c = op.compare(seen, "a", "b", rope=0.01, **asked)
    moved = GRADES["a"] - GRADES["b"]
    assert c.sd == pytest.approx(moved.std() / np.sqrt(N), rel=0.035)
    assert c.spec.n_apart((0, 1)) == N
    note = next(str(one) for one in c.findings if one.name == "smaller_items")
    assert f"{N - len(seen.moments.heavy):,}" in note
    one = op.estimate(seen, "c", **asked)
    assert one.observed == pytest.approx(GRADES["c"].mean(), rel=1e-12)
    assert op.rank(seen, rope=0.01, **asked).rows[0].name == "c"
    alone = op.estimate(Scores._of_moments(of().select(["c"])), "c", **asked)
    assert alone.sd == pytest.approx(one.sd, rel=0.035)


def test_parts_add_up():
    whole, cut = of("targets"), 20_000
    parts = of("targets", slice(cut)), of("targets", slice(cut, None))
    assert parts[0].origin != parts[1].origin
    for one, two in (parts, parts[::-1]):
        both = (one + two).moved(whole.origin)
        size = np.sqrt(np.diag(whole.products))
        assert both.n_units == whole.n_units
        assert np.abs((both.totals - whole.totals) / size).max() < 1e-10
        assert np.abs((both.products - whole.products) / np.outer(size, size)).max() < 1e-12
        assert np.array_equal(both.apart, whole.apart)
        asked = {"metric": "r2", "rope": 0.01, "random_state": 2, "n_draws": 10_000}
        a, b = (op.compare(Scores._of_moments(one), "p", "q", **asked) for one in (both, whole))
        assert a.sd == pytest.approx(b.sd, rel=0.035)
    assert (Scores._of_moments(parts[0]) + Scores._of_moments(parts[1])).n == N
    with pytest.raises(DataError, match="groups that occur in both parts"):
        of(codes=GROUPS) + of(codes=GROUPS)
    with pytest.raises(DataError, match="same models"):
        of() + of("targets")


def test_tail_is_that_of_the_rows():
    rows = op.Scores.from_values(GRADES)
    asked = {"metric": "mean", "rope": 0.01, "random_state": 1, "n_draws": 1_000}
    table, full = (
        op.compare(one, "a", "b", **asked).spec.tail([0, 1])
        for one in (Scores._of_moments(of()), rows)
    )
    assert table.share == pytest.approx(full.share, rel=1e-5)
    assert table.k == pytest.approx(full.k, abs=0.1)
    assert table.skewness == pytest.approx(full.skewness, abs=0.02)


def test_rows_are_not_there():
    seen = pickle.loads(pickle.dumps(Scores._of_moments(of())))
    assert repr(seen) == f"Scores(n={N}, models=('a', 'b', 'c'), added_up=True)"
    with pytest.raises(UsageError, match=r"'median' cannot be computed from sums.*keep='rows'"):
        op.compare(seen, "a", "b", metric="median", rope=0.01)
    c = op.compare(seen, "a", "b", metric="mean", rope=0.01)
    with pytest.raises(UsageError, match=r"added up where they are stored.*keep='rows'"):
        c.item_table()
    with pytest.raises(UsageError, match="added up where they are stored"):
        op.compare_slices(seen, "a", "b", by=GROUPS, metric="mean", rope=0.01)


def test_very_many_rows_in_memory_do_not_depend_on_their_order():
    n = 500_001
    rng = np.random.default_rng(5)
    a = rng.lognormal(size=n)
    b = a * rng.lognormal(sigma=0.1, size=n)
    asked = {"metric": "mean_cost", "rope": 0.01, "random_state": 1}
    one = op.compare(op.Scores.from_values({"a": a, "b": b}), "a", "b", **asked)
    two = op.compare(op.Scores.from_values({"b": b[::-1], "a": a[::-1]}), "a", "b", **asked)
    assert one.sd == pytest.approx((a - b).std() / np.sqrt(n), rel=0.02)
    assert two.mean == pytest.approx(one.mean, abs=1e-9)
    assert two.sd == pytest.approx(one.sd, rel=1e-6)
    assert len(one.item_table()) > 0


def test_small_parts_list_all_their_units():
    rng = np.random.default_rng(3)
    columns = {name: rng.lognormal(sigma=2, size=60) for name in ("a", "b")}
    whole = moments_of("grades", columns, None)
    parts = [
        moments_of("grades", {name: column[k : k + 3] for name, column in columns.items()}, None)
        for k in range(0, 60, 3)
    ]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    assert len(total.heavy) == len(whole.heavy)
