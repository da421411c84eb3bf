"""Slices of many classes share draws of the others: held against closed forms and full draws."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import outperform as op
from outperform.posterior import slices
from outperform.posterior.pooling import KAPPAS, LIKE_WHOLE, TILT_KAPPAS
from outperform.posterior.registry import get_prior
from outperform.posterior.slices import pool_slices
from tests.loops import each

N_DRAWS = 20_000
SIZES = (200, *[60] * 14)  # the first is a fifth of all


def counted(sizes=SIZES, n_classes=8, seed=1):
    """Return outcomes of slices whose errors go anywhere, with rare classes."""
    generator = np.random.default_rng(seed)
    size = sum(sizes)
    shares = 1 / np.arange(1, n_classes + 1)
    y = generator.choice(n_classes, size=size, p=shares / shares.sum())
    both = np.where(generator.random(size) < 0.2, generator.integers(n_classes, size=size), y)
    a, b = (
        np.where(generator.random(size) < 0.2, generator.integers(n_classes, size=size), both)
        for _ in range(2)
    )
    by = {"part": np.repeat([f"{k:03d}" for k in range(len(sizes))], sizes)}
    return op.Outcomes.from_labels(y, {"a": a, "b": b}, labels=range(n_classes), by=by)


@pytest.fixture(scope="module")
def posterior():
    found = pool_slices(counted(), prior=get_prior("unit"))
    assert found.shares
    return found


def under(posterior, kappa):
    """Return the same with one κ throughout, or as it was learned."""
    if kappa is None:
        return posterior
    weights = np.zeros_like(posterior.answers.weights)
    weights[:, KAPPAS.tolist().index(kappa)] = 1.0
    return posterior._with(posterior.prevalence, replace(posterior.answers, weights=weights))


def closed_form(posterior, place):
    """Return mean and variance of accuracy A − B, a mixture of Dirichlet rows."""
    truth, a, b = posterior.cells.T
    sign = (a == truth) * 1.0 - (b == truth) * 1.0
    starts, here = posterior.answers.rows.row_starts, slice(place, place + 1)
    n_grid, tilt = posterior.answers.n_grid, posterior.answers.tilt
    shapes, weights = posterior.answers.shapes(here)[0], posterior.answers.weights[place, :n_grid]
    mass, mean, square = (
        np.add.reduceat(shapes * factor, starts, axis=1) for factor in (1.0, sign, sign**2)
    )
    mean, square = mean / mass, square / mass
    of_rows = np.einsum("g,gt,gu->tu", weights, mean, mean)
    of_rows += np.diag(weights @ ((square - mean**2) / (mass + 1)))
    shapes, shares = posterior.prevalence.shapes(here)[0], posterior.prevalence.weights[place]
    mass = shapes.sum(axis=1)
    rates = shapes / mass[:, None]
    of_classes = np.einsum("g,gt,gu->tu", shares * mass / (mass + 1), rates, rates)
    of_classes += np.diag((shares / (mass + 1)) @ rates)
    expected, squared = (shares @ rates) @ (weights @ mean), (of_classes * of_rows).sum()
    patterns, weights = tilt.shapes(here)[0] + tilt.counts[place], posterior.answers.weights[place]
    patterns /= (mass := patterns.sum(axis=1))[:, None]
    mean, square = (patterns @ [0, one, 1, 0] for one in (-1, 1))
    expected += weights[n_grid:] @ mean
    squared += weights[n_grid:] @ ((square + mass * mean**2) / (mass + 1))
    return expected, squared - expected**2


def drawn(posterior, needs="margins", n_draws=N_DRAWS):
    """Yield each slice's sums of A and of B."""
    shared = posterior.draw_shared(
        np.random.SeedSequence(7), n_draws, slices=np.arange(posterior.n_slices)
    )
    draw = posterior.adding_worker(needs, shared)
    for place in range(posterior.n_slices):
        yield draw(np.random.default_rng(place), slice(place, place + 1), n_draws)


def errors(posterior):
    """Return how many standard errors means and variances are off the closed form."""
    found = []
    for place, (a, b) in enumerate(drawn(posterior)):
        draws = (a.hits.sum(axis=0) - b.hits.sum(axis=0))[0]
        mean, variance = closed_form(posterior, place)
        kurtosis = ((draws - draws.mean()) ** 4).mean() / draws.var() ** 2
        found.append(
            [
                (draws.mean() - mean) / np.sqrt(variance / N_DRAWS),
                (draws.var() / variance - 1) / np.sqrt((kurtosis - 1) / N_DRAWS),
            ]
        )
    return np.abs(found)


def tilted(posterior, kappa):
    """Return the same with one κ of all classes alike."""
    answers = posterior.answers
    weights = np.zeros_like(answers.weights)
    weights[:, answers.n_grid + TILT_KAPPAS.tolist().index(kappa)] = 1.0
    return posterior._with(posterior.prevalence, replace(answers, weights=weights))


@pytest.mark.parametrize("kappa", [8.0, 2048.0])
def test_tilted_draws_have_the_mean_and_variance_of_the_closed_form(posterior, kappa):
    assert errors(tilted(posterior, kappa)).max() < 5


def test_tilted_draws_of_all_cells_are_those_that_are_shared(posterior):
    n_draws, posterior = 4_000, tilted(posterior, 32.0)
    draw = posterior.worker("margins", posterior.draw_whole(np.random.SeedSequence(3), n_draws))
    plain = draw(np.random.default_rng(9), slice(0, 1), n_draws)
    shared = next(drawn(posterior, n_draws=n_draws))
    for one, two in zip(plain, shared, strict=True):
        for sums, others in zip(one, two, strict=True):
            error = np.hypot(sums.std(axis=2), others.std(axis=2)) / np.sqrt(n_draws)
            assert (np.abs(sums.mean(axis=2) - others.mean(axis=2)) < 5 * error).all()


def test_tilted_confusions_have_the_margins(posterior):
    posterior = tilted(posterior, 8.0)
    for margins, matrices in zip(
        drawn(posterior, n_draws=200), drawn(posterior, "confusion", 200), strict=True
    ):
        for one, matrix in zip(margins, matrices, strict=True):
            np.testing.assert_allclose(np.einsum("ttsd->tsd", matrix), one.hits, atol=1e-9)
            np.testing.assert_allclose(matrix.sum(axis=0), one.predicted, atol=1e-9)


@each("kappa", [None, 0.0, 32.0, 2048.0, np.inf])
def test_shared_draws_have_the_mean_and_variance_of_the_closed_form(posterior, kappa):
    assert errors(under(posterior, kappa)).max() < 5


def test_priors_with_a_shape_for_every_cell_have_them_too():
    posterior = pool_slices(counted(), prior=get_prior("jeffreys"))
    assert len(posterior.cells) == 8**3
    assert errors(under(posterior, 128.0)).max() < 5


@pytest.mark.parametrize(
    "plant",
    [
        pytest.param(lambda own: {"growth": np.ones_like(own.growth)}, id="nobody left out"),
        pytest.param(lambda own: {"shapes": 1.1 * own.shapes}, id="items that count more"),
        pytest.param(lambda own: {"apart": np.zeros_like(own.apart)}, id="rows drawn twice"),
    ],
)
def test_what_is_planted_is_noticed(posterior, plant, monkeypatch):
    own_part = slices.own_part

    def planted(*given):
        own = own_part(*given)
        return own._replace(**plant(own))

    monkeypatch.setattr(slices, "own_part", planted)
    # Without a fault the mean of 30 squares is 1, with an error of 0.26.
    assert (errors(under(posterior, 32.0)) ** 2).mean() > 1 + 5 * 0.26


def test_a_slice_that_is_much_of_a_row_draws_it_in_full(posterior):
    learned, kept = posterior.answers, posterior.answers.kept(posterior.answers.pooled)
    used = [KAPPAS.tolist().index(32.0)]
    large, small = (slices.own_part(learned, place, used, kept) for place in (0, 1))
    assert large.apart.sum() > small.apart.sum()
    full = large.apart[learned.rows.row[large.cells]]
    expected = learned.shapes(slice(0, 1))[0, used[0], large.cells]
    np.testing.assert_allclose(large.shapes[0, full], expected[full], rtol=1e-12)
    # Of other rows it draws what the shared shapes lack.
    growth = large.growth[0, learned.rows.row[large.cells]]
    grown = (growth * kept[used[0], learned.rows.row[large.cells]]) * learned.pooled[0, large.cells]
    together = learned.rows.prior[large.cells] + grown + large.shapes[0]
    np.testing.assert_allclose(together[~full], expected[~full], rtol=1e-12)


def test_every_margin_is_that_of_draws_of_all_cells(posterior):
    draw_all = posterior.worker("margins")
    for place, shared in enumerate(drawn(posterior)):
        if place % 5:
            continue
        values = [np.concatenate([*one.hits, *one.predicted]) for one in shared]
        full = draw_all(np.random.default_rng(place), slice(place, place + 1), N_DRAWS)
        for ours, one in zip(values, full, strict=True):
            theirs = np.concatenate([*one.hits, *one.predicted])
            error = np.sqrt((ours.var(axis=1) + theirs.var(axis=1)) / N_DRAWS)
            assert (np.abs(ours.mean(axis=1) - theirs.mean(axis=1)) < 5 * error).all()
            np.testing.assert_allclose(ours.std(axis=1), theirs.std(axis=1), rtol=0.1)


def test_confusions_have_the_margins(posterior):
    both = zip(drawn(posterior, "confusion", 200), drawn(posterior, n_draws=200), strict=True)
    for confusions, margins in both:
        for confusion, one in zip(confusions, margins, strict=True):
            np.testing.assert_allclose(confusion.sum(axis=0), one.predicted, rtol=1e-9)
            np.testing.assert_allclose(confusion.sum(axis=1), one.actual, rtol=1e-9)
            np.testing.assert_allclose(np.einsum("tt...->t...", confusion), one.hits, rtol=1e-9)


def test_draws_of_a_slice_are_independent_though_slices_share(posterior):
    p_like_overall = under(posterior, np.inf)
    found = [a.hits.sum(axis=0)[0] for a, _ in drawn(p_like_overall)]
    one, other = found[1], found[2]
    assert abs(np.corrcoef(one[:-1], one[1:])[0, 1]) < 5 / np.sqrt(N_DRAWS)
    assert np.corrcoef(one, other)[0, 1] > 0.1


def test_pieces_and_threads_change_nothing_but_the_draws(monkeypatch):
    seen = counted()
    asked = {"metric": "f1_macro", "rope": 0.01, "n_draws": 2_000, "random_state": 1}
    one, two = (op.compare_slices(seen, "a", "b", n_jobs=jobs, **asked) for jobs in (1, 2))
    assert one.to_dict() == two.to_dict()
    monkeypatch.setattr(slices, "_MOST_SHARED", 1)  # a hundred draws a piece
    monkeypatch.setattr("outperform.slices.summary._WAITING", 10_000)  # of five slices
    assert len(pool_slices(seen, prior=get_prior("unit")).pieces(2_000, "margins")) == 20
    pieces = op.compare_slices(seen, "a", "b", n_jobs=1, **asked)
    for row in one:
        other = pieces[row.key]
        assert row.mean != other.mean
        assert abs(row.mean - other.mean) < 5 * np.hypot(row.mcse, other.mcse)
        assert abs(row.sd - other.sd) < 5 * np.hypot(row.sd_error, other.sd_error)


def test_no_draws_go_to_a_place_without_weight():
    weights = np.array([[0.1, 0.7, 0.2, 0.0]] * 1_000)
    stops = slices._allot(np.random.default_rng(0), weights, 999)
    assert (stops[:, 2] == 999).all()
    assert len(KAPPAS) == LIKE_WHOLE + 1
