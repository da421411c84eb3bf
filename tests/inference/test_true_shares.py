"""Stated label errors and the proportions of the true classes elsewhere, together."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import outperform as op
from outperform.posterior.predictive import by_truth, row_factors, truth_at
from tests.lazily import lazily
from tests.loops import each

f1_score = lazily("sklearn.metrics.f1_score")

# Truth (rows) by the predictions of A and of B, as counts; rates that differ by class.
TABLE = np.array([[[500, 40], [80, 20]], [[30, 50], [10, 280]]])
NOISE = np.array([[0.95, 0.05], [0.2, 0.8]])
RATES = {0: 0.05, 1: 0.2}
THERE = {0: 0.9, 1: 0.1}


def counts_of(table, labels=(0, 1)):
    """Return outcomes with the counts of a joint table."""
    cells = list(itertools.product(range(len(labels)), repeat=3))
    truth, a, b = ([labels[cell[place]] for cell in cells] for place in range(3))
    counts = [int(table[cell]) for cell in cells]
    return op.Outcomes.from_counts(truth, {"A": a, "B": b}, counts)


def gold_of(table, noise):
    """Return the expected table by gold label, which is whole here."""
    gold = np.einsum("yg,yab->gab", noise, table)
    assert np.allclose(gold, np.rint(gold))
    return np.rint(gold).astype(int)


def compared(seen, metric="accuracy", **options):
    return op.compare(seen, "A", "B", metric=metric, rope=0.02, random_state=3, **options)


def both(seen, metric="accuracy", rates=RATES, shares=THERE, **options):
    return compared(seen.at_prevalence(shares), metric, **options).with_label_errors(rates)


@each("metric", ["accuracy", "f1", "recall", "precision", "f1_macro", "cohen_kappa"])
def test_observed_values_are_those_of_the_true_labels_there(metric):
    gold = counts_of(gold_of(TABLE, NOISE))
    found, true = both(gold, metric), compared(counts_of(TABLE).at_prevalence(THERE), metric)
    assert found.a.observed == pytest.approx(true.a.observed)
    assert found.b.observed == pytest.approx(true.b.observed)
    assert found.a.mean == pytest.approx(true.a.mean, abs=0.02)
    assert "without label errors at production prevalence" in " ".join(str(found).split())
    # Whichever is asked first.
    other = compared(gold, metric).with_label_errors(RATES).at_prevalence(THERE)
    assert other.a.observed == found.a.observed
    assert np.array_equal(other.draws, found.draws)
    for bare in (found.at_prevalence(None), compared(gold, metric).with_label_errors(RATES)):
        assert bare.a.observed != pytest.approx(found.a.observed, abs=1e-3) or metric == "recall"


def test_the_other_order_would_be_seen():
    """Plant the bug: the shares of gold labels replaced, and errors undone after that."""
    gold = gold_of(TABLE, NOISE).sum(axis=2)[..., None].astype(float)
    inverse, shares = np.linalg.inv(NOISE.T), np.array([[0.9], [0.1]])

    def scale(actual):
        return row_factors(actual, shares, [0, 1])

    true = TABLE.sum(axis=2) * (shares / TABLE.sum(axis=(1, 2))[:, None])
    right = truth_at(gold, inverse, scale)[..., 0]
    wrong = by_truth(gold * scale(gold.sum(axis=1))[:, None], inverse)[..., 0]
    assert np.allclose(right, true)
    assert np.abs(wrong - true).max() > 0.05


@pytest.mark.parametrize("shares", [{"x": 0.6, "y": 0.3, "z": 0.1}, {"z": 0.1}])
@pytest.mark.parametrize("metric", ["accuracy", "f1_macro", "cohen_kappa", "f1"])
def test_three_classes_of_which_some_are_not_named(metric, shares):
    rng = np.random.default_rng(5)
    table = 100 * rng.integers(1, 5, (3, 3, 3))
    table[range(3), range(3), range(3)] += 1_500
    noise = np.array([[0.9, 0.07, 0.03], [0.02, 0.95, 0.03], [0.1, 0.05, 0.85]])
    options = {"prior": "unit", **({"pos_label": "z"} if metric == "f1" else {})}
    gold, true = counts_of(gold_of(table, noise), "xyz"), counts_of(table, "xyz")
    found = both(gold, metric, noise, shares, **options)
    expected = compared(true.at_prevalence(shares), metric, **options)
    assert found.a.observed == pytest.approx(expected.a.observed)
    assert found.b.observed == pytest.approx(expected.b.observed)
    assert found.a.mean == pytest.approx(found.a.observed, abs=0.01)


def test_draws_are_those_of_an_independent_implementation():
    """Every draw of the cells by gold label is solved and reweighted by hand."""
    gold = gold_of(TABLE, NOISE) // 2
    c = both(counts_of(gold), "f1", prior=np.full((2, 2, 2), 0.5), n_draws=40_000)
    rng, values = np.random.default_rng(1), []
    for _ in range(20_000):
        shares = rng.dirichlet(1 + gold.sum(axis=(1, 2)))
        seen = np.stack([
            share * rng.dirichlet(0.5 + gold[k].ravel()).reshape(2, 2)
            for k, share in enumerate(shares)
        ])  # fmt: skip
        pair = []
        for axis in (2, 1):
            truth = np.linalg.solve(NOISE.T, seen.sum(axis=axis))
            rates = truth / truth.sum(axis=1, keepdims=True)
            tp, fn, fp = 0.1 * rates[1, 1], 0.1 * rates[1, 0], 0.9 * rates[0, 1]
            pair.append(2 * tp / (2 * tp + fn + fp))
        values.append(pair[0] - pair[1])
    error = 4 * np.std(values) * np.sqrt(1 / 20_000 + 1 / 40_000)
    assert c.mean == pytest.approx(np.mean(values), abs=error)
    assert c.sd == pytest.approx(np.std(values), rel=0.03)


def test_many_simulated_items_show_what_is_meant():
    """True labels, gold labels and another place are drawn item by item."""
    rng, n = np.random.default_rng(8), 400_000
    noise = np.array([[0.94, 0.04, 0.02], [0.05, 0.9, 0.05], [0.02, 0.08, 0.9]])
    rates = np.array([[0.9, 0.06, 0.04], [0.1, 0.8, 0.1], [0.05, 0.15, 0.8]])

    def draw(rows, given):
        return (rng.random((len(given), 1)) > rows[given].cumsum(axis=1)[:, :-1]).sum(axis=1)

    def world(shares):
        truth = rng.choice(3, n, p=shares)
        return truth, draw(rates, truth), draw(rates, truth)

    truth, a, b = world([0.4, 0.3, 0.3])
    seen = op.Outcomes.from_labels(draw(noise, truth), {"A": a, "B": b})
    found = both(seen, "f1_macro", noise, {0: 0.85, 1: 0.1, 2: 0.05}, prior="unit", n_draws=1_000)
    true, predicted, _ = world([0.85, 0.1, 0.05])
    assert found.a.observed == pytest.approx(f1_score(true, predicted, average="macro"), abs=0.006)


def test_shares_that_were_counted_or_drawn_widen_the_interval():
    seen = counts_of(gold_of(TABLE, NOISE))
    known = both(seen, "f1")
    counted = both(seen, "f1", shares={0: 90, 1: 10})
    stats = pytest.importorskip("scipy.stats")
    drawn = compared(seen.at_prevalence(stats.beta(11, 91)), "f1").with_label_errors(RATES)
    assert counted.a.sd > 1.2 * known.a.sd
    assert drawn.a.sd == pytest.approx(counted.a.sd, rel=0.05)


def test_groups_and_influences_follow():
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 2, 400)
    a, b = (np.where(rng.random(400) < share, truth, 1 - truth) for share in (0.9, 0.8))

    def asked(kept, **known):
        seen = op.Outcomes.from_labels(truth[kept], {"A": a[kept], "B": b[kept]}, **known)
        return both(seen, "f1", {0: 0.02, 1: 0.06}, prior="bootstrap")

    every = np.arange(400)
    whole, grouped = asked(every), asked(every, groups=every)
    assert grouped.observed == pytest.approx(whole.observed)
    assert grouped.sd == pytest.approx(whole.sd, rel=0.05)
    row = whole.item_table().to_frame().iloc[0]
    without = asked(every != int(row["id"]))
    assert row["influence"] == pytest.approx(whole.observed - without.observed)
    (influence,) = grouped.spec.influences
    assert np.abs(influence.moved[0] - influence.moved[1]).max() == pytest.approx(
        abs(row["influence"]), rel=0.02
    )
    pairs = asked(np.tile(every, 2), groups=np.tile(every, 2))
    assert pairs.sd == pytest.approx(whole.sd, rel=0.05)


def test_no_draw_leaves_the_range_where_a_class_is_hardly_there():
    table = np.zeros((3, 3, 3), dtype=int)
    table[0, 0, 0], table[1, 1, 1], table[2, 2, 2] = 90, 80, 6
    table[0, 1, 0], table[1, 1, 2], table[2, 0, 2], table[2, 1, 1] = 5, 4, 2, 3
    seen = counts_of(table, "xyz")
    for metric, options in (("f1_macro", {}), ("precision", {"pos_label": "z"}), ("accuracy", {})):
        found = both(seen, metric, 0.08, {"x": 0.5, "y": 0.3, "z": 0.2}, prior="unit", **options)
        for draws in (found.a.draws, found.b.draws):
            assert np.isfinite(draws).all()
            assert draws.min() >= -1e-12
            assert draws.max() <= 1 + 1e-12
    (told,) = (one for one in found.findings if one.name == "few_true_items")
    assert told.level == "warning"
    assert "'z'" in told.message
    plain = both(counts_of(gold_of(TABLE, NOISE)))
    assert not any(one.name == "few_true_items" for one in plain.findings)


def test_a_class_of_which_nothing_is_left_keeps_the_rates_of_its_gold_labels():
    gold = np.array([[0.95, 0.0], [0.01, 0.04]])[..., None]
    noise = np.array([[0.9, 0.1], [0.0, 1.0]])
    there = truth_at(
        gold, np.linalg.inv(noise.T), lambda actual: row_factors(actual, np.array([[0.5]]), [1])
    )
    assert there.sum(axis=1).ravel() == pytest.approx([0.5, 0.5])
    assert (there >= 0).all()
    assert (there <= 1).all()
