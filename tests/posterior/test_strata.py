"""The posterior of items chosen by their predictions, held against what can be worked out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import betaln

import outperform as op
from outperform.errors import ResourceError
from outperform.posterior import strata
from outperform.posterior.registry import STRATA
from outperform.posterior.strata import pool_weights
from tests.lazily import lazily

beta = lazily("scipy.stats.beta")
ks_2samp = lazily("scipy.stats.ks_2samp")

N_DRAWS = 20_000
LOGITS = np.linspace(-9, 9, 241)

# Three classes; strata (0,0), (0,1), (1,0), (1,1), (2,0), (2,2) of very different sizes, and how
# many of each were labelled as 0, 1 and 2; the last but one not at all.
CELLS = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [2, 2]])
SIZES = np.array([500.0, 40.0, 60.0, 300.0, 20.0, 80.0])
LABELLED = np.array(
    [[9.0, 1, 0], [12, 6, 2], [5, 15, 0], [0, 10, 0], [0, 0, 0], [1, 0, 7]],
)


def accuracies(posterior, n_draws=N_DRAWS, seed=0):
    a, b = posterior.worker("margins")(np.random.default_rng(seed), n_draws)
    return [one.hits.sum(axis=0) / one.actual.sum(axis=0) for one in (a, b)]


def difference(posterior):
    a, b = accuracies(posterior)
    return a - b


MASS = 3.0


def weights(*arguments):
    return pool_weights(*arguments, mass=MASS)


def worked_out(cells, sizes, labelled, mass=MASS):
    """Return mean and sd of the accuracies' difference, from the moments of the Dirichlets."""
    apart = np.flatnonzero(cells[:, 0] != cells[:, 1])
    a, b = (labelled[apart, cells[apart, model]] for model in range(2))
    n, n_classes = labelled[apart].sum(axis=1), labelled.shape[1]
    worth = (1 + mass) / (np.maximum(n, 1) + mass)
    shapes = np.array([a @ worth, b @ worth, (n - a - b) @ worth][: min(n_classes, 3)]) + 0.5
    shares, total = shapes / shapes.sum(), shapes.sum()
    pull = shares[0] - shares[1]  # of r = ρ_A − ρ_B: its mean, and that of its square
    squared = pull**2 + (shares[0] + shares[1] - pull**2) / (total + 1)
    d, m = a - b, n + mass
    # E[D_s D_t] of two strata, which share only ρ, and E[D_s²]
    both = np.outer(d, d) + mass * np.add.outer(d, d) * pull + mass**2 * squared
    both /= np.outer(m, m)
    own = d**2 + 2 * mass * d * pull + mass**2 * squared
    own += a + b + mass * (shares[0] + shares[1])
    both[np.diag_indices(len(d))] = own / (m * (m + 1))
    w, pool = sizes[apart], sizes.sum()
    together = (np.outer(w, w) + np.diag(w)) / (pool * (pool + 1))
    mean = float((w / pool) @ ((d + mass * pull) / m))
    return mean, float(np.sqrt((together * both).sum() - mean**2))


def assert_moments(draws, mean, sd):
    assert abs(draws.mean() - mean) < 5 * sd / np.sqrt(draws.size)
    assert draws.std() == pytest.approx(sd, rel=5 * 0.9 / np.sqrt(draws.size))


def test_the_difference_of_accuracies_has_the_moments_that_can_be_worked_out():
    assert_moments(difference(weights(CELLS, SIZES, LABELLED)), *worked_out(CELLS, SIZES, LABELLED))


def test_the_same_for_two_classes_where_one_of_them_must_be_right():
    cells, sizes = np.array([[0, 0], [0, 1], [1, 0]]), np.array([900.0, 60.0, 40.0])
    labelled = np.array([[8.0, 2], [20, 10], [3, 9]])
    assert_moments(difference(weights(cells, sizes, labelled)), *worked_out(cells, sizes, labelled))


def test_with_many_labels_it_is_the_formula_of_stratified_sampling():
    labelled = 400 * LABELLED + np.array([0, 0, 1, 0, 300, 0])[:, None]
    sizes = 40_000 * SIZES
    d, n = np.zeros(len(CELLS)), labelled.sum(axis=1)
    for model, sign in enumerate((1, -1)):
        d += sign * labelled[np.arange(len(CELLS)), CELLS[:, model]] / n
    right = sum(labelled[np.arange(len(CELLS)), CELLS[:, model]] for model in range(2)) / n
    apart = CELLS[:, 0] != CELLS[:, 1]
    variance = np.where(apart, right - d**2, 0.0)
    share = sizes / sizes.sum()
    found = worked_out(CELLS, sizes, labelled)
    within, between = (share**2 * variance / n).sum(), (share * d**2).sum() - (share @ d) ** 2
    assert found[0] == pytest.approx(share @ d, abs=2e-5)
    assert found[1] == pytest.approx(np.sqrt(within + between / sizes.sum()), rel=2e-3)
    assert_moments(difference(weights(CELLS, sizes, labelled)), *found)


def test_the_weights_of_the_sample_instead_of_the_pools_are_caught():
    wrong = weights(CELLS, np.maximum(LABELLED.sum(axis=1), 1e-9), LABELLED)
    with pytest.raises(AssertionError):
        assert_moments(difference(wrong), *worked_out(CELLS, SIZES, LABELLED))


def test_a_prior_that_is_drawn_to_a_tie_is_caught(monkeypatch):
    tie = np.full((3, 1), MASS / 3)
    monkeypatch.setattr(strata.Shares, "draw", lambda own, rng, length: tie.repeat(length, axis=1))
    with pytest.raises(AssertionError):
        assert_moments(
            difference(weights(CELLS, SIZES, LABELLED)), *worked_out(CELLS, SIZES, LABELLED)
        )


def likelihood(counts, log_mass):
    """Return the log posterior of log κ, up to a constant, by sums of logarithms."""
    shares = (counts.sum(axis=0) + 0.5) / (counts.sum(axis=0) + 0.5).sum()
    mass = np.exp(log_mass)
    value = log_mass - 2 * np.log1p(mass)  # the prior 1/(1 + κ)² in log κ
    for row in counts.astype(int):
        value += sum(
            np.log(mass * s + k) for s, n in zip(shares, row, strict=True) for k in range(n)
        )
        value -= sum(np.log(mass + k) for k in range(row.sum()))
    return value


def test_how_alike_the_strata_are_is_learned():
    posterior = pool_weights(CELLS, SIZES, LABELLED)
    counts = posterior.patterns[0].shares.counts
    assert counts.tolist() == [[12, 6, 2], [15, 5, 0], [0, 0, 0]]
    grid = np.linspace(-12, 25, 4_001)
    weights = np.exp([likelihood(counts, one) for one in grid])
    weights /= weights.sum()
    found = posterior.patterns[0].shares.mass_posterior
    for at in (-1.0, 0.5, 2.0, 4.0):
        below = found.probabilities[found.axes[0] <= at].sum()
        assert below == pytest.approx(weights[grid <= at].sum(), abs=0.01)


@pytest.mark.parametrize(
    "right", [[[40, 20], [15, 45]], [[20, 10], [20, 9]], [[3, 1], [0, 2]], [[12, 5], [0, 0]]]
)
def test_it_is_nearly_the_posterior_of_mass_and_shares_together(right):
    """Two classes: κ and ρ on a grid, without ρ set to the shares of all, by numpy alone."""
    counts, sizes = np.array(right, dtype=float), np.array([900.0, 60.0, 40.0])
    labelled = np.vstack([[8.0, 2.0], counts[0], counts[1, ::-1]])  # of (1, 0) A says 1
    log_mass, logit = (one.ravel() for one in np.meshgrid(np.linspace(-9, 12, 301), LOGITS))
    mass, rho = np.exp(log_mass), 1 / (1 + np.exp(-logit))
    # the priors 1/(1 + κ)² and Beta(½, ½), in log κ and logit ρ
    logs = log_mass - 2 * np.log1p(mass) + 0.5 * np.log(rho * (1 - rho))
    for a, b in counts:
        logs += betaln(a + mass * rho, b + mass * (1 - rho)) - betaln(mass * rho, mass * (1 - rho))
    rng, weights = np.random.default_rng(8), np.exp(logs - logs.max())
    drawn = rng.choice(logs.size, N_DRAWS, p=weights / weights.sum())
    shares = rng.dirichlet(sizes, N_DRAWS)[:, 1:]
    pull = mass[drawn], rho[drawn]
    p = [rng.beta(a + pull[0] * pull[1], b + pull[0] * (1 - pull[1])) for a, b in counts]
    exact = (shares * (2 * np.stack(p, axis=1) - 1)).sum(axis=1)
    found = difference(pool_weights(np.array([[0, 0], [0, 1], [1, 0]]), sizes, labelled))
    assert abs(found.mean() - exact.mean()) < 0.2 * exact.std()
    assert found.std() == pytest.approx(exact.std(), rel=0.1)


def test_strata_that_are_alike_are_pulled_together_and_others_are_not():
    cells, sizes = np.array([[0, 1], [1, 2], [2, 0], [0, 2]]), np.full(4, 100.0)
    alike, unlike = np.zeros((2, 4, 3))
    for place, (a, b) in enumerate(cells):
        alike[place, [a, b]] = 14, 6
        unlike[place, [a, b]] = (20, 0) if place % 2 else (0, 20)
    masses = [
        np.median(np.exp(one.patterns[0].shares.mass_posterior.draw(rng, 4_000)[0]))
        for one in (pool_weights(cells, sizes, labelled) for labelled in (alike, unlike))
        for rng in [np.random.default_rng(0)]
    ]
    assert masses[0] > 10
    assert masses[1] < 2


def test_before_any_label_there_is_a_proper_prior():
    draws = difference(pool_weights(CELLS, SIZES, np.zeros_like(LABELLED)))
    assert np.isfinite(draws).all()
    assert abs(draws.mean()) < 5 * draws.std() / np.sqrt(draws.size)
    assert draws.std() > 0.02


def test_where_models_agree_right_has_jeffreys_prior():
    cells, sizes = np.array([[0, 0], [1, 1]]), np.array([900.0, 1e-9])
    posterior = pool_weights(cells, sizes, np.array([[8.0, 2], [0, 0]]))
    a, b = accuracies(posterior)
    np.testing.assert_allclose(a, b)
    assert ks_2samp(a, beta(8.5, 2.5).rvs(N_DRAWS, random_state=1)).pvalue > 1e-4


@pytest.mark.parametrize("metric", ["accuracy", "f1_macro"])
def test_all_items_labelled_and_no_prior_is_the_bayesian_bootstrap(metric):
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 3, 600)
    a, b = (np.where(rng.random(600) < 0.7, truth, rng.integers(0, 3, 600)) for _ in range(2))
    seen = op.Outcomes.from_pool(truth, {"A": a, "B": b}, which=np.arange(600))
    pool = seen.pool
    labelled = pool.labelled(seen.tables[0], n_labels=3)
    posterior = pool_weights(pool.cells, pool.counts.astype(float), labelled, mass=0.0, agreed=0.0)
    drawn = posterior.worker("margins")(np.random.default_rng(5), N_DRAWS)
    measure = op.metrics.get(metric)
    values = [measure.evaluate(op.metrics.Margins(**one._asdict())) for one in drawn]
    asked = {"metric": metric, "prior": "bootstrap", "n_draws": N_DRAWS, "random_state": 6}
    other = op.compare(truth, a, b, **asked)
    assert_moments(values[0] - values[1], other.draws.mean(), other.draws.std())
    assert ks_2samp(values[0] - values[1], other.draws).pvalue > 1e-4
    assert ks_2samp(values[0], other.a.draws).pvalue > 1e-4


def test_confusion_arrays_and_margins_are_the_same_draws():
    posterior = pool_weights(CELLS, SIZES, LABELLED)
    margins = posterior.worker("margins")(np.random.default_rng(2), 50)
    whole = posterior.worker("confusion")(np.random.default_rng(2), 50)
    for sums, table in zip(margins, whole, strict=True):
        np.testing.assert_allclose(table.sum(axis=(0, 1)), 1.0)
        np.testing.assert_allclose(sums.actual, table.sum(axis=1))
        np.testing.assert_allclose(sums.predicted, table.sum(axis=0))
    # Both models were asked of the same items.
    np.testing.assert_allclose(margins[0].actual, margins[1].actual)


def test_what_is_predicted_is_known_from_the_pool():
    drawn = pool_weights(CELLS, SIZES, LABELLED).worker("margins")
    a, b = drawn(np.random.default_rng(3), N_DRAWS)
    for model, sums in enumerate((a, b)):
        expected = np.bincount(CELLS[:, model], SIZES, minlength=3) / SIZES.sum()
        error = np.sqrt(expected * (1 - expected) / SIZES.sum() / N_DRAWS)
        assert (np.abs(sums.predicted.mean(axis=1) - expected) < 5 * error).all()


def test_too_many_cells_are_refused():
    with pytest.raises(ResourceError, match="pairs of predictions"):
        pool_weights(np.zeros((300, 2), dtype=int), np.ones(300), np.zeros((300, 300)))
    assert STRATA.proper
