"""Slices pulled toward the whole: shapes, likelihoods, what is learned, and draws."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import outperform as op
from outperform.data.pool import SlicedRows
from outperform.errors import ResourceError, UsageError
from outperform.posterior import slices
from outperform.posterior.base import Prior
from outperform.posterior.pooling import (
    DOUBT,
    KAPPAS,
    LIKE_WHOLE,
    TILT_KAPPAS,
    Centre,
    Shrinkage,
    learn_weights,
    log_likelihoods,
    lump,
    share_kept,
    shrink,
    tilt_factors,
    who_is_right,
)
from outperform.posterior.registry import get_prior
from outperform.posterior.slices import pool_slices
from tests.lazily import lazily

stats = lazily("scipy.stats")

EQUAL = [0.80, 0.06, 0.06, 0.08]  # both right, only A, only B, neither


def sliced(counts, *, row=None, prior=None):
    """Return the counts ``(n_slices, n_cells)`` as sparse rows."""
    counts = np.asarray(counts, dtype=float)
    place, cell = np.nonzero(counts)
    n_cells = counts.shape[1]
    return SlicedRows(
        n_slices=len(counts),
        row=np.zeros(n_cells, dtype=int) if row is None else np.asarray(row),
        prior=np.ones(n_cells) if prior is None else np.asarray(prior, dtype=float),
        slice_index=place,
        cell=cell,
        count=counts[place, cell],
    )


def all_shapes(learned):
    return learned.shapes(slice(0, learned.rows.n_slices))


def outcomes_of(counts):
    """Return binary outcomes of slices: four cells of the positives, four of the negatives."""
    place, cell = np.nonzero(counts)
    truth = np.where(cell < 4, 1, 0)
    a = np.where(np.isin(cell % 4, (0, 1)), truth, 1 - truth)
    b = np.where(np.isin(cell % 4, (0, 2)), truth, 1 - truth)
    by = {"slice": [f"{one:05d}" for one in place]}
    return op.Outcomes.from_counts(truth, {"a": a, "b": b}, counts[place, cell], by=by)


# Shapes


def test_a_slice_alone_has_the_ordinary_posterior_whatever_kappa():
    shapes = all_shapes(shrink(sliced([[7, 3, 0, 5]], row=[0, 0, 1, 1], prior=[1, 2, 3, 4])))
    np.testing.assert_array_equal(shapes, np.tile([8.0, 5.0, 3.0, 9.0], (1, len(KAPPAS), 1)))


def test_the_ends_of_the_grid_are_the_slice_alone_and_the_whole():
    counts = np.array([[30, 10, 4, 6], [28, 12, 5, 5], [31, 9, 6, 4]])
    learned = shrink(sliced(counts, row=[0, 0, 1, 1]))
    shapes, others = all_shapes(learned), counts.sum(axis=0) - counts
    np.testing.assert_array_equal(shapes[:, 0], 1 + counts)
    # What the others are worth is at most what they counted, and at most the pooled posterior.
    assert (shapes[:, -1] <= 1 + counts + others + 1e-9).all()
    assert (shapes[:, -1] > 1 + counts + 0.5 * others).all()


def test_the_prior_never_weighs_more_than_the_others_or_than_kappa():
    def most(kept):
        kappa, total = KAPPAS[:, None], np.array([0.0, 1.0, 50.0, 1e6])
        return (kept(kappa, total) * total <= np.minimum(kappa, total) + 1e-9).all()

    assert most(share_kept)
    with np.errstate(all="ignore"):  # planted: kappa that the others do not bound
        assert not most(lambda kappa, total: np.nan_to_num(kappa / total))


def test_what_stands_out_does_not_pull_the_whole():
    generator = np.random.default_rng(3)
    same = generator.multinomial(200, EQUAL, size=140)
    odd = generator.multinomial(200, [0.5, 0.06, 0.36, 0.08], size=60)
    rows = sliced(np.concatenate([same, odd]))
    learned = shrink(rows)
    assert len(learned.centres) == 2
    assert learned.p_like_overall[:140].mean() > 0.6
    assert learned.p_like_overall[140:].max() < 0.01
    whole, odd_ones = (one.pooled / one.pooled.sum() for one in learned.centres)
    np.testing.assert_allclose(odd_ones, [0.5, 0.06, 0.36, 0.08], atol=0.02)
    naive = rows.dense(slice(0, 200)).sum(axis=0)
    assert abs(whole[0] - 0.80) < 0.02 < abs(naive[0] / naive.sum() - 0.80)


def test_two_groups_that_agree_with_nobody_between_are_told_apart():
    generator = np.random.default_rng(4)
    one = generator.multinomial(200, EQUAL, size=160)
    other = generator.multinomial(200, [0.7, 0.06, 0.16, 0.08], size=240)
    learned = shrink(sliced(np.concatenate([one, other])))
    top = learned.weights.reshape(400, 2, -1).sum(axis=2)  # (n_slices, n_centres)
    assert top[:160, 0].mean() < 0.05  # the larger group comes first
    assert top[160:, 0].mean() > 0.85


# Likelihoods


def by_hand(counts, kappa):
    """Return each slice's log likelihood from scipy, the others pooled in full."""
    from scipy.stats import dirichlet_multinomial, multinomial

    found = []
    for place, own in enumerate(counts):
        others = np.delete(counts, place, axis=0).sum(axis=0)
        total = others.sum()
        mass = total if np.isinf(kappa) else 1 / (1 / kappa + 1 / total)
        log = dirichlet_multinomial.logpmf(own, 1 + mass * others / total, own.sum())
        # The number of orders does not depend on kappa and is left out.
        n = own.sum()
        uniform = np.full(len(own), 1 / len(own))
        orders = multinomial.logpmf(own, n, uniform) + n * np.log(len(own))
        found.append(log - orders)
    return np.array(found)


COUNTS = np.array([[12, 3, 2], [5, 9, 4], [40, 8, 11], [0, 2, 1]])


@pytest.mark.parametrize("place", [1, 5, LIKE_WHOLE])
def test_likelihoods_are_those_of_scipy_with_the_slice_left_out(place):
    rows = sliced(COUNTS)
    centre = Centre.of(rows, np.ones(len(rows.row_place)))
    expected = by_hand(COUNTS, KAPPAS[place])
    found = log_likelihoods(rows, centre)[:, place]
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    # Planted: the slice among its own witnesses.
    planted = centre._replace(worth=np.zeros_like(centre.worth))
    witnessed = log_likelihoods(rows, planted)[:, place]
    assert np.abs(witnessed - expected).max() > 0.05
    assert (witnessed[:3] > expected[:3]).all()


def test_several_rows_add_up():
    both = np.hstack([COUNTS, COUNTS[::-1]])
    rows = sliced(both, row=[0] * 3 + [1] * 3)
    one, two, together = (
        log_likelihoods(r, Centre.of(r, np.ones(len(r.row_place))))
        for r in (sliced(COUNTS), sliced(COUNTS[::-1]), rows)
    )
    np.testing.assert_allclose(together, one + two, rtol=1e-12)


# What is learned


def test_the_scatter_of_slices_is_learned():
    generator = np.random.default_rng(8)
    rates = generator.dirichlet(64 * np.array(EQUAL), size=800)
    counts = np.array([generator.multinomial(300, one) for one in rates])
    mean = shrink(sliced(counts)).weights.mean(axis=0)
    assert len(mean) == len(KAPPAS)
    assert mean[(KAPPAS >= 32) & (KAPPAS <= 128)].sum() > 0.95


def test_equal_slices_are_like_the_whole():
    counts = np.random.default_rng(9).multinomial(200, EQUAL, size=500)
    learned = shrink(sliced(counts))
    assert learned.weights[:, KAPPAS >= 512].sum(axis=1).min() > 0.5


def test_few_slices_leave_the_grid_uncertain():
    flat = np.zeros((2, len(KAPPAS)))
    weights = learn_weights(flat)
    assert weights[0, LIKE_WHOLE] == pytest.approx(0.5)
    np.testing.assert_allclose(weights[:, :-1], 0.5 / (len(KAPPAS) - 1), rtol=1e-6)


def test_weights_do_not_depend_on_the_order_of_slices():
    counts = np.random.default_rng(1).multinomial(50, EQUAL, size=30)
    one, other = shrink(sliced(counts)), shrink(sliced(counts[::-1]))
    np.testing.assert_allclose(one.weights, other.weights[::-1], rtol=1e-9)


# Many classes


def many_classes(n_slices=60, n=300, n_classes=20):
    """Return outcomes of slices that are all alike, with errors that go anywhere."""
    generator = np.random.default_rng(1)
    size = n_slices * n
    y = generator.integers(n_classes, size=size)
    noise = [generator.integers(n_classes, size=size) for _ in range(3)]
    both = np.where(generator.random(size) < 0.2, noise[0], y)
    a, b = (np.where(generator.random(size) < 0.05, one, both) for one in noise[1:])
    by = {"slice": np.repeat(np.arange(n_slices), n)}
    return op.Outcomes.from_labels(y, {"a": a, "b": b}, by=by)


def test_cells_that_hardly_occur_elsewhere_do_not_make_slices_differ():
    posterior = pool_slices(many_classes(), prior=get_prior("unit"))
    answers = posterior.learned
    alike = np.concatenate([KAPPAS, TILT_KAPPAS]) >= 512
    assert answers.weights[:, alike].sum(axis=1).mean() > 0.8
    # Planted: every rare cell for itself.
    assert shrink(answers.rows).weights[:, KAPPAS >= 512].sum(axis=1).mean() < 0.2


def test_lumps_keep_every_item_and_all_prior_mass():
    seen = many_classes(10)
    answers = pool_slices(seen, prior=get_prior("unit"))
    rows = answers.answers.rows
    lumped, patterns = lump(rows, answers.cells)
    assert lumped.n_cells < rows.n_cells
    np.testing.assert_allclose(lumped.row_prior, rows.row_prior)
    np.testing.assert_array_equal(lumped.row_place, rows.row_place)
    np.testing.assert_array_equal(lumped.row_count, rows.row_count)
    by_pattern = [
        np.bincount(of[one.cell], one.count, minlength=4)
        for of, one in ((patterns, lumped), (who_is_right(answers.cells), rows))
    ]
    np.testing.assert_array_equal(*by_pattern)


def test_two_classes_have_nothing_to_lump():
    counts = np.random.default_rng(2).multinomial(60, [share / 2 for share in EQUAL * 2], size=12)
    posterior = pool_slices(outcomes_of(counts), prior=get_prior("uniform"))
    lumped, _ = lump(posterior.answers.rows, posterior.cells)
    assert lumped.n_cells == 8
    assert sorted(lumped.count) == sorted(posterior.answers.rows.count)


# Draws


def test_draws_of_one_slice_are_those_of_the_ordinary_model():
    seen = outcomes_of(np.array([[40, 8, 3, 9, 60, 5, 6, 4]]))
    found = op.compare_slices(seen, "a", "b", n_draws=200_000, random_state=4).rows[0]
    ordinary = op.compare(seen, "a", "b", n_draws=200_000, random_state=5, prior="uniform")
    error = np.hypot(found.mcse, ordinary.mcse)
    assert abs(found.mean - ordinary.mean) < 5 * error
    assert abs(found.sd / ordinary.sd - 1) < 0.01
    assert abs(found.p_worse - ordinary.p_worse) < 5 * np.sqrt(0.5 / 200_000)


def untilted(posterior):
    """Return the same with slices that do not differ in all classes alike."""
    answers = posterior.answers
    weights = answers.weights.copy()
    weights[:, answers.n_grid :] = 0
    weights /= weights.sum(axis=1, keepdims=True)
    return posterior._with(posterior.prevalence, replace(answers, weights=weights))


def test_the_mean_of_the_draws_is_the_mean_of_the_mixture():
    generator = np.random.default_rng(6)
    counts = np.hstack([generator.multinomial(60, EQUAL, size=12) for _ in range(2)])
    outcomes = outcomes_of(counts).select(["a", "b"])
    posterior = untilted(pool_slices(outcomes, prior=get_prior("uniform")))
    n_draws, places = 40_000, slice(3, 6)
    draw = posterior.worker("margins")
    sums_a, sums_b = draw(np.random.default_rng(2), places, n_draws)
    shapes = posterior.prevalence.shapes(places)
    weights = posterior.prevalence.weights[places]
    expected = (weights * shapes[:, :, 1] / shapes.sum(axis=2)).sum(axis=1)
    spread = sums_a.actual[1].std(axis=1) / np.sqrt(n_draws)
    assert (np.abs(sums_a.actual[1].mean(axis=1) - expected) < 5 * spread).all()
    recall = (sums_a.hits[1] / sums_a.actual[1]).mean(axis=1)
    of_class = [place for place, cell in enumerate(posterior.cells) if cell[0] == 1]
    right = [place for place in of_class if posterior.cells[place][1] == 1]
    shapes, weights = posterior.answers.shapes(places), posterior.answers.weights[places, :10]
    rates = shapes[:, :, right].sum(axis=2) / shapes[:, :, of_class].sum(axis=2)
    np.testing.assert_allclose(recall, (weights * rates).sum(axis=1), atol=5 * 0.1 / 200)
    np.testing.assert_allclose(sums_b.predicted.sum(axis=0), 1.0, rtol=1e-12)


def shared_and_own(counts, n_draws=20_000):
    """Return draws of A's recall with and without those of the whole, and the posterior."""
    posterior = untilted(pool_slices(outcomes_of(counts), prior=get_prior("uniform")))
    whole = posterior.draw_whole(np.random.SeedSequence(1), n_draws)
    found = []
    for given in (whole, None):
        draw = posterior.worker("margins", given)
        sums = draw(np.random.default_rng(3), slice(0, 3), n_draws)[0]
        found.append(sums.hits[1] / sums.actual[1])
    return *found, posterior


def test_slices_like_the_whole_share_its_draws():
    generator = np.random.default_rng(5)
    counts = np.hstack([generator.multinomial(100, EQUAL, size=400) for _ in range(2)])
    shared, own, _ = shared_and_own(counts)
    error = own.std(axis=1) / np.sqrt(own.shape[1] / 2)
    assert (np.abs(shared.mean(axis=1) - own.mean(axis=1)) < 5 * error).all()
    np.testing.assert_allclose(shared.std(axis=1), own.std(axis=1), rtol=0.05)
    # The last draws are those of "like the whole".
    together, apart = (np.corrcoef(draws[:2, -1_000:])[0, 1] for draws in (shared, own))
    assert together > 0.9
    assert abs(apart) < 0.15


def test_a_slice_that_adds_much_to_the_whole_draws_for_itself():
    alike = [[40, 8, 3, 9, 60, 5, 6, 4], [44, 5, 6, 5, 55, 5, 6, 9], [42, 6, 4, 8, 57, 6, 5, 7]]
    counts = np.array([*alike, [10, 2, 40, 8, 20, 5, 30, 20]])
    posterior = pool_slices(outcomes_of(counts), prior=get_prior("uniform"))
    added, small = slices._additions(posterior.answers, posterior.answers.shapes(slice(0, 4)))
    assert not small[3]
    own = posterior.answers.rows.dense(slice(3, 4))[0]
    assert (added[3, :, 0] <= own + 1e-9).all()


def test_every_kappa_gets_its_share_of_the_draws():
    weights = np.array([[0.25, 0.25, 0.5], [0.9995, 0.0003, 0.0002]])
    stops = slices._allot(np.random.default_rng(0), weights, 4_000)
    lengths = np.diff(stops, axis=1, prepend=0)
    assert (lengths.sum(axis=1) == 4_000).all()
    assert (np.abs(lengths - 4_000 * weights) <= 1).all()


def test_many_draws_come_in_pieces_that_add_up():
    seen = outcomes_of(np.array([[40, 8, 3, 9, 60, 5, 6, 4]] * 3))
    posterior = pool_slices(seen, prior=get_prior("uniform"))
    pieces = posterior.pieces(3_000_001, "margins")
    assert len(pieces) > 1
    assert sum(pieces) == 3_000_001
    assert posterior.block_length(4_000) >= 1
    for needs, numbers in (("margins", 0), ("confusion", 2 * posterior.n_classes**2)):
        longest = max(posterior.pieces(3_000_001, needs))
        assert longest * (posterior.n_gammas + numbers) <= slices._LONGEST


def test_the_unit_prior_keeps_its_mass_on_the_cells_that_occurred():
    labels = list(range(7))
    truth = labels * 4
    answers = [(label + (k % 3 == 0)) % 7 for k, label in enumerate(truth)]
    by = {"day": [k % 2 for k in range(28)]}
    seen = op.Outcomes.from_labels(truth, {"a": truth, "b": answers}, labels=range(8), by=by)
    posterior = pool_slices(seen, prior=get_prior("unit"))
    np.testing.assert_allclose(posterior.answers.rows.row_prior, 1.0)
    assert set(posterior.cells[:, 0].tolist()) == set(range(8))


# What is refused


def test_what_cannot_be_pooled_is_refused():
    seen = outcomes_of(np.array([[40, 8, 3, 9, 60, 5, 6, 4]] * 3))
    uniform = get_prior("uniform")
    with pytest.raises(UsageError, match="slices support the priors"):
        pool_slices(seen, prior=get_prior("learned"))
    with pytest.raises(UsageError, match="with slices; define these with by="):
        pool_slices(seen.slice("00000"), prior=uniform)
    with pytest.raises(UsageError, match="prior above 0"):
        pool_slices(seen, prior=get_prior(Prior(rows=0.001)))
    posterior = pool_slices(seen, prior=uniform)
    posterior.n_classes = 200
    with pytest.raises(ResourceError, match="40,000 cells"):
        posterior.pieces(4_000, "confusion")


# Doubt


def brute_force(counts, learned, place, doubt, thetas):
    """Integrate a rate of two cells by quadrature: a mixture of Betas times the binomial."""
    others = np.delete(counts, place, axis=0).sum(axis=0)
    shares = np.full(len(KAPPAS), 1 / (len(KAPPAS) - 1))
    shares[LIKE_WHOLE] = 1.0
    shares += np.delete(learned.weights, place, axis=0).sum(axis=0)
    alike, apart = KAPPAS > 128, np.isin(KAPPAS, (8, 32))
    if learned.weights[place, alike].sum() < 0.05:  # the others see it
        doubt = 0.0
    moved = doubt * shares[alike].sum()
    shares[alike] *= 1 - doubt
    shares[apart] += moved / 2
    total = others.sum()
    masses = np.array([total if np.isinf(k) else k * total / (k + total) for k in KAPPAS])
    prior = sum(
        share * stats.beta.pdf(thetas, *(1 + mass * others / total))
        for share, mass in zip(shares, masses, strict=True)
    )
    posterior = prior * stats.binom.pmf(counts[place, 0], counts[place].sum(), thetas)
    return posterior / posterior.sum()


@pytest.mark.parametrize("doubt", [0.0, 0.3, DOUBT])
def test_doubted_slices_are_those_of_quadrature(doubt):
    generator = np.random.default_rng(2)
    counts = generator.multinomial(40, [0.85, 0.15], size=20)
    counts[0] = [24, 16]
    rows = sliced(counts)
    centre = Centre.of(rows, np.ones(len(rows.row_place)))  # the others count in full
    logs = log_likelihoods(rows, centre)
    learned = Shrinkage(rows=rows, centres=(centre,), weights=learn_weights(logs), logs=logs)
    thetas = np.linspace(0, 1, 40_001)[1:-1]

    def off(found):
        shapes, worst = all_shapes(found), 0.0
        for place in (0, 1, 2):
            mass = brute_force(counts, learned, place, doubt, thetas)
            for edge in (0.6, 0.75, 0.85):
                betas = stats.beta.cdf(edge, shapes[place, :, 0], shapes[place, :, 1])
                expected = mass[thetas <= edge].sum()
                worst = max(worst, abs(found.weights[place] @ betas - expected))
        return worst

    # Learning stops when the weights of all slices move by less than 1e-4 of them.
    assert off(learned.doubted(doubt)) < 1e-3
    # Planted: twice the likelihood, and the doubt forgotten.
    twice = replace(learned, weights=learned.doubted(doubt).weights * np.exp(logs - logs.max()))
    twice = replace(twice, weights=twice.weights / twice.weights.sum(axis=1, keepdims=True))
    assert off(twice) > 0.02
    if doubt:
        assert off(learned) > 0.02


def test_without_doubt_slices_are_pooled_as_learned():
    counts = np.random.default_rng(9).multinomial(200, EQUAL, size=300)
    learned = shrink(sliced(counts))
    np.testing.assert_allclose(learned.doubted(0.0).weights, learned.weights, atol=1e-3)
    assert (learned.doubted().weights[:, LIKE_WHOLE] < learned.weights[:, LIKE_WHOLE]).all()
    assert np.array_equal(all_shapes(learned.doubted()), all_shapes(learned))


def test_doubt_is_only_about_being_like_the_whole():
    """Where every slice differs there is nothing to doubt."""
    generator = np.random.default_rng(8)
    rates = generator.dirichlet(32 * np.array(EQUAL), size=400)
    learned = shrink(sliced([generator.multinomial(300, one) for one in rates]))
    means = (one.weights.mean(axis=0) for one in (learned.doubted(), learned))
    np.testing.assert_allclose(*means, atol=0.02)


def test_more_alike_slices_do_not_silence_one_that_differs():
    odd = np.array([[37, 3, 13, 7]])

    def of_odd(n_slices):
        same = np.random.default_rng(n_slices).multinomial(60, EQUAL, size=n_slices)
        learned = shrink(sliced(np.concatenate([odd, same])))
        return [one.weights[0, KAPPAS > 128].sum() for one in (learned, learned.doubted())]

    (few, few_doubted), (many, many_doubted) = of_odd(30), of_odd(3_000)
    assert 0.1 < 2 * few < many
    assert max(few_doubted, many_doubted) < 0.02


def test_a_slice_alone_has_its_own_counts_and_the_prior():
    counts = np.random.default_rng(3).multinomial(50, EQUAL, size=12)
    learned = shrink(sliced(counts))
    shapes = np.einsum("sg,sgc->sc", learned.alone().weights, all_shapes(learned))
    np.testing.assert_array_equal(shapes, 1 + counts)


# In all classes alike


def test_patterns_are_those_of_scipy_with_the_slice_left_out():
    posterior = pool_slices(many_classes(6, n=80, n_classes=5), prior=get_prior("unit"))
    learned, tilt = posterior.learned, posterior.learned.tilt
    rows, counts = learned.rows, learned.rows.dense(slice(0, 6))
    worth = np.zeros((6, rows.n_rows))
    worth[rows.row_place, rows.row_row] = learned.centres[0].worth
    right = who_is_right(posterior.cells)
    for place in range(6):
        others = rows.prior.copy()
        for other in range(6):
            if other != place:
                others += worth[other, rows.row] * counts[other]
        totals = np.bincount(rows.row, others)
        share = np.bincount(rows.row, counts[place]) / counts[place].sum()
        expected = np.bincount(right, share[rows.row] * others / totals[rows.row], minlength=4)
        np.testing.assert_allclose(tilt.expected[place], expected, rtol=1e-9)
        known = 1 / (share**2 / totals).sum()
        assert tilt.known[place] == pytest.approx(known)
        seen = np.bincount(right, counts[place], minlength=4)
        np.testing.assert_array_equal(tilt.counts[place], seen)
        law = [
            stats.dirichlet_multinomial(mass * expected, int(seen.sum())).logpmf(seen.astype(int))
            for mass in (*(known * TILT_KAPPAS / (known + TILT_KAPPAS)), known)
        ]
        ratios = np.array(law[:-1]) - law[-1]
        np.testing.assert_allclose(tilt.log_ratios()[place], ratios, atol=1e-8)


def test_tilted_rates_have_the_shares_wanted_however_classes_differ():
    generator = np.random.default_rng(3)
    rates = generator.dirichlet([0.3, 0.3, 0.3, 2.0], size=(7, 50)).transpose(2, 0, 1)
    classes = generator.dirichlet(np.ones(7), size=50).T
    shares = generator.dirichlet([2.0, 1.0, 1.0, 8.0], size=50).T
    rates = 0.999 * rates + 0.001 / 4
    tilted = tilt_factors(rates, classes, shares)[:, None] * rates
    tilted /= tilted.sum(axis=0)
    np.testing.assert_allclose((tilted * classes).sum(axis=1), shares, atol=2e-3)


def spread_out(n_classes, n_slices=20, n=200):
    """Return slices of the same items whatever the classes; in the first A is worse by 0.15."""
    patterns = np.repeat([3, 2, 1, 0], [160, 10, 10, 20])
    bad = np.repeat([3, 2, 1, 0], [132, 8, 38, 22])
    right = np.concatenate([bad, *[patterns] * (n_slices - 1)])
    generator = np.random.default_rng(2)
    y = np.concatenate([generator.permutation(np.arange(n) % n_classes) for _ in range(n_slices)])
    wrong = (y + 1 + generator.integers(0, n_classes - 1, len(y))) % n_classes
    answers = {"a": np.where(right >= 2, y, wrong), "b": np.where(right % 2 == 1, y, wrong)}
    return op.Outcomes.from_labels(y, answers, by={"slice": np.repeat(np.arange(n_slices), n)})


@pytest.mark.parametrize("n_classes", [2, 5, 20, 50])
def test_the_pull_does_not_depend_on_the_number_of_classes(n_classes):
    seen = spread_out(n_classes)
    found = op.compare_slices(
        seen, "a", "b", metric="accuracy", rope=0.01, n_draws=1_000, random_state=1
    )
    bad = next(row for row in found if row.key == ("0",))
    assert bad.observed == pytest.approx(-0.15)
    # A slice of 200 items is pulled by 8/208 to 32/232 of its difference, and by little more.
    assert -0.15 < bad.mean < -0.15 * (1 - 40 / 240) + 5 * bad.mcse
    assert bad.decision is op.Decision.WORSE
    assert [row.key for row in found.flagged] == [("0",)]
