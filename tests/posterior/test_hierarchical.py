"""The ICDM model: η by an independent integration, and what it says of the cells."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from scipy.special import expit, gammaln

from outperform import Outcomes
from outperform.datasets import load_news20
from outperform.errors import UsageError
from outperform.posterior.dirichlet import SparseWeights, unit_rows
from outperform.posterior.hierarchical import eta_posterior, hierarchical, logistic

LOGITS = np.linspace(-38, 38, 3001)


def trapezoid_posterior(counts):
    """Return p(η | C) on LOGITS by brute force over the whole confusion matrix."""
    n_classes = len(counts)
    eta = expit(LOGITS)
    off = expit(-LOGITS) / (n_classes - 1)
    log = np.log(eta) + np.log(expit(-LOGITS))  # the Jacobian of logit η
    for truth, predicted in np.ndindex(n_classes, n_classes):
        alpha = eta if truth == predicted else off
        log = log + gammaln(counts[truth, predicted] + alpha) - gammaln(alpha)
    weights = np.exp(log - log.max())
    return eta, weights / weights.sum()


def joint_table(seen):
    table = np.zeros((seen.n_classes,) * 3)
    table[tuple(seen.tables[0].cells.T)] = seen.tables[0].counts
    return table


def test_eta_alone_by_brute_force(ternary, binary):
    for seen in (ternary, binary):
        for model in seen.models:
            alone = seen.select([model])
            eta, weights = trapezoid_posterior(alone.confusion(model))
            found = eta_posterior(alone)
            assert np.isclose(found.mean(logistic), weights @ eta, rtol=1e-6)
            assert np.isclose(
                found.mean(lambda logit: logistic(logit) ** 2), weights @ eta**2, rtol=1e-6
            )


def test_eta_alone_by_mpmath():
    counts = [[7, 2, 0], [1, 5, 0], [0, 3, 1]]
    seen = Outcomes.from_confusion({"m": counts})

    def density(eta):
        off = (1 - eta) / 2
        value = mpmath.mpf(1)
        for truth in range(3):
            for predicted in range(3):
                value *= mpmath.rf(eta if truth == predicted else off, counts[truth][predicted])
        return value

    total = mpmath.quad(density, [0, 0.5, 1])
    mean = mpmath.quad(lambda eta: eta * density(eta), [0, 0.5, 1]) / total
    assert np.isclose(eta_posterior(seen).mean(logistic), float(mean), rtol=1e-7)


def test_eta_of_a_pair_by_brute_force(ternary):
    counts = joint_table(ternary)
    logits = np.linspace(-20, 20, 401)
    eta_a, eta_b = np.meshgrid(expit(logits), expit(logits), indexing="ij")
    log = sum(np.log(eta) + np.log1p(-eta) for eta in (eta_a, eta_b))
    for truth, a, b in np.ndindex(3, 3, 3):
        alpha = (eta_a if a == truth else (1 - eta_a) / 2) * (
            eta_b if b == truth else (1 - eta_b) / 2
        )
        log = log + gammaln(counts[truth, a, b] + alpha) - gammaln(alpha)
    weights = np.exp(log - log.max())
    weights /= weights.sum()
    found = eta_posterior(ternary)
    assert np.isclose(found.mean(logistic, axis=0), (weights * eta_a).sum(), rtol=1e-5)
    assert np.isclose(found.mean(logistic, axis=1), (weights * eta_b).sum(), rtol=1e-5)


def test_draws_of_eta_follow_their_posterior(ternary, moments):
    alone = ternary.select(["a"])
    grid = eta_posterior(alone)
    (logits,) = grid.draw(np.random.default_rng(4), 40_000)
    eta, weights = trapezoid_posterior(alone.confusion("a"))
    mean = weights @ eta
    moments(logistic(logits), mean, np.sqrt(weights @ (eta - mean) ** 2))


def test_cells_have_the_mean_and_sd_of_the_mixture(ternary, confusions, moments):
    alone = ternary.select(["b"])
    counts = alone.confusion("b")
    eta, weights = trapezoid_posterior(counts)
    (drawn,) = confusions(hierarchical(alone), 40_000)
    total = alone.n + 3.0
    for truth, predicted in np.ndindex(3, 3):
        omega = eta if truth == predicted else (1 - eta) / 2
        share = (counts[truth, predicted] + omega) / total
        second = share * (counts[truth, predicted] + omega + 1) / (total + 1)
        mean = weights @ share
        moments(drawn[truth, predicted], mean, np.sqrt(weights @ second - mean**2))


@pytest.mark.parametrize("model", [0, 1])
def test_given_eta_the_pairs_margins_are_the_unpaired_prior(ternary, model, confusions, moments):
    rates = [0.8, 0.3]
    paired = SparseWeights(ternary, right_rates=lambda generator, length: rates)
    drawn = confusions(paired, 40_000, seed=5)[model]
    shapes = ternary.confusion(ternary.models[model]) + unit_rows(3, rates[model])
    total = ternary.n + 3.0
    for truth, predicted in np.ndindex(3, 3):
        share = shapes[truth, predicted] / total
        moments(drawn[truth, predicted], share, np.sqrt(share * (1 - share) / (total + 1)))


def test_huge_counts_keep_their_digits():
    scaled = [
        eta_posterior(Outcomes.from_confusion({"m": [[9 * n, n], [n, 9 * n]]})).mean(logistic)
        for n in (10**6, 10**9, 10**12)
    ]
    assert all(0 < mean < 1 for mean in scaled)
    # log Γ(c + α)/Γ(α) ≈ α log c − log Γ(α): each decade adds the same to the log density,
    # so the means move smoothly; lost digits would throw them about.
    steps = np.diff([np.log(mean / (1 - mean)) for mean in scaled])
    assert np.all(np.abs(steps) < 0.1)


def test_more_than_a_pair_is_refused():
    seen = Outcomes.from_labels([0, 1], {"a": [0, 1], "b": [0, 1], "c": [0, 1]})
    with pytest.raises(UsageError, match=r"pair.*prior='unit'"):
        hierarchical(seen)


@pytest.fixture(scope="module")
def news():
    found = load_news20()
    return Outcomes.from_labels(found.y_true, found.predictions)


@pytest.mark.parametrize(("model", "mean"), [("nb_bern", 0.0786), ("nb_mult", 0.0861)])
def test_eta_of_news20_alone(news, model, mean):
    assert eta_posterior(news.select([model])).mean(logistic) == pytest.approx(mean, abs=5e-5)


def test_eta_of_news20_depends_on_the_model_beside_it(news):
    pair = eta_posterior(news.select(["nb_mult", "svm_l2"]))
    assert pair.mean(logistic, axis=0) == pytest.approx(0.22, abs=0.005)
