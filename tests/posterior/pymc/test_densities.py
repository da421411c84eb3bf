"""Every PyMC model has the density that its formula says, up to a constant.

No sampling: the log density of a model, minus the closed form of its posterior, is the
same number at any point.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit, gammaln, log_expit

from outperform.posterior import pymc as models
from outperform.posterior.base import product_rows
from outperform.posterior.dirichlet import unit_rows
from outperform.posterior.pymc.stick_breaking import sticks
from tests.lazily import lazily

loggamma = lazily("scipy.stats.loggamma")
poisson = lazily("scipy.stats.poisson")

pytest.importorskip("pymc")
pytestmark = pytest.mark.filterwarnings("ignore")  # PyTensor's, on BLAS and compilers

POINTS = 5


def counts(*shape):
    found = np.random.default_rng(7).integers(0, 9, shape)
    found.flat[1] = found.flat[-2] = 0  # cells that never occurred
    return found


def dirichlet(point, name, *, prior, seen, likely=None):
    """Return the log density of the coordinates of Dirichlet cells, in closed form.

    The cells are Dirichlet of ``prior + seen``, broken off the lightest first; ``likely``
    is the prior that decides which they are.
    """
    likely = seen + (prior if likely is None else likely)
    order = np.argsort(np.broadcast_to(likely, seen.shape), axis=-1, kind="stable")
    shapes = np.take_along_axis(prior + seen, order, axis=-1)
    first = shapes[..., :-1]
    rest = np.cumsum(shapes[..., ::-1], axis=-1)[..., ::-1][..., 1:]
    p, q = first / (1 + first), rest / (1 + rest)
    scale = np.sqrt(1 / (1 + first) + 1 / (1 + rest))
    y = p * q * np.log(first / rest) + scale * point[f"{name}_sticks__"]
    logit = -log_expit(-y) / q + log_expit(y) / p
    beta = gammaln(first + rest) - gammaln(first) - gammaln(rest)
    beta += first * log_expit(logit) + rest * log_expit(-logit)  # the density of logit v
    return (beta + np.log(scale * (expit(y) / q + expit(-y) / p))).sum()


def spread(model, closed, sd=1.5):
    """Return how much the log density less its closed form varies from point to point."""
    log_density = model.compile_logp(mode="FAST_COMPILE")
    rng, found = np.random.default_rng(3), []
    for _ in range(POINTS):
        point = {
            name: rng.normal(0, sd, np.shape(value))
            for name, value in model.initial_point().items()
        }
        found.append(float(log_density(point)) - closed(point))
    return np.ptp(found)


def prevalence_and_rows(seen, rows, prevalence):
    """Return the closed form with fixed shapes; rows are flattened to cells of a class."""

    def closed(point):
        totals = seen.sum(axis=-1)
        classes = dirichlet(point, "prevalence", prior=prevalence, seen=totals, likely=None)
        return classes + dirichlet(point, "rows", prior=rows, seen=seen)

    return closed


def test_unpaired():
    seen, rows = counts(2, 3, 3), np.array([[3.0, 1.0, 0.5], [0.2, 2.0, 1.0], [1.0, 1.0, 1.0]])
    model = models.unpaired(seen, rows=rows, prevalence=2.0)
    assert spread(model, prevalence_and_rows(seen, rows, 2.0)) < 1e-9


@pytest.mark.parametrize("n_classes", [2, 3])
def test_paired(n_classes):
    seen = counts(n_classes, n_classes, n_classes)
    cells = seen.reshape(n_classes, -1)
    assert spread(models.paired(seen), prevalence_and_rows(cells, 1.0, 1.0)) < 1e-9


def test_paired_with_a_product_of_rows():
    seen, rows = counts(3, 3, 3), product_rows(unit_rows(3), 2)
    closed = prevalence_and_rows(seen.reshape(3, -1), rows.reshape(3, -1), 1.0)
    assert spread(models.paired(seen, rows=rows), closed) < 1e-9


@pytest.mark.parametrize("n_classifiers", [1, 2])
def test_multi_label(n_classifiers):
    seen = counts(*(4, 2, *(2,) * n_classifiers))
    cells = seen.reshape(4, 2, -1)
    assert spread(models.multi_label(seen), prevalence_and_rows(cells, 1.0, 1.0)) < 1e-9


def omega(eta, n_classes):
    return unit_rows(n_classes, eta)


def marginal(seen, shapes):
    """Return the log probability of counts whose cells have a Dirichlet prior."""
    total = shapes.sum(axis=-1)
    found = (gammaln(seen + shapes) - gammaln(shapes)).sum()
    return found + (gammaln(total) - gammaln(total + seen.sum(axis=-1))).sum()


def of_rates(seen, omegas, point, likely):
    """Return log p(η | counts) + log p(cells | η, counts), in closed form."""
    classes = dirichlet(point, "prevalence", prior=1.0, seen=seen.sum(axis=-1), likely=None)
    rows = dirichlet(point, "rows", prior=omegas, seen=seen, likely=likely)
    return marginal(seen, omegas) + classes + rows


def uniform(logit):
    """Return the log density of the logit of a uniform number."""
    return (log_expit(logit) + log_expit(-logit)).sum()


def test_hierarchical():
    seen = counts(2, 3, 3)

    def closed(point):
        logit = point["eta_logodds__"]
        omegas = np.stack([omega(eta, 3) for eta in expit(logit)])
        return uniform(logit) + of_rates(seen, omegas, point, unit_rows(3))

    assert spread(models.hierarchical(seen), closed) < 1e-9


def between(point, name, low, high):
    """Return a number that is uniform between two ends, and the log density of its logit."""
    logit = point[f"{name}_interval__"]
    return low + (high - low) * expit(logit), uniform(logit)


def log_skewed(standard, skew):
    """Return the log density of ``z`` if ``exp(skew · z)`` is a gamma of mean 1."""
    return loggamma.logpdf(skew * standard - 2 * np.log(abs(skew)), skew**-2) + np.log(abs(skew))


def of_classes(totals, location, scale, skew, scores):
    """Return the log density of one classifier's class counts and their rates."""
    known = totals + scale**-2
    centre = (totals * np.log(np.maximum(totals, 0.5)) + location / scale**2) / known
    logs = centre + scores / np.sqrt(known)
    found = log_skewed((logs - location) / scale, skew) - np.log(scale) - np.log(known) / 2
    found = (found + poisson.logpmf(totals, np.exp(logs))).sum()
    if totals.min() > 0:

        def unseen(standard):
            return np.exp(log_skewed(standard, skew) - np.exp(location + scale * standard))

        without = quad(unseen, -60, 120, points=[-10, 0, 5], limit=400)[0]
        found -= totals.size * np.log(1 - without)
    return found


@pytest.mark.slow
def test_learned():
    seen = counts(2, 4, 4)
    seen[1, 2] = 0  # a class without items; the first classifier has none
    assert (seen.sum(axis=2).min(axis=1) > 0).tolist() == [True, False]
    totals, right = seen.sum(axis=2), np.diagonal(seen, axis1=1, axis2=2)
    called = np.stack([right, totals - right], axis=2)
    wrong = seen[:, ~np.eye(4, dtype=bool)].reshape(2, 4, 3)
    sizes = np.log(totals + 1.0)
    sizes = 0.5 * (sizes - sizes.mean(axis=1, keepdims=True))

    def closed(point):
        middle = np.log(totals.mean(axis=1))
        parts = [
            between(point, "location", middle - 6, middle + 3),
            between(point, "angle", np.arctan(0.1), np.arctan(3.5)),
            between(point, "skew", -4.0, 2.0),
            between(point, "mass_share", 0.5, 1 - 1e-7),
            between(point, "spread_share", 0.05 / 1.05, 1 - 1e-7),
            between(point, "power", 0.0, 1.25),
        ]
        location, angle, skew, mass_share, spread_share, power = (value for value, _ in parts)
        density = sum(own for _, own in parts)
        for own in zip(totals, location, np.tan(angle), skew, point["scores"], strict=True):
            density += of_classes(*own)
        logit, slope = point["eta_logodds__"], point["slope"]
        density += uniform(logit) + uniform(slope)  # a logistic number is such a logit
        means = expit(logit[:, None] + slope[:, None] * sizes)
        mass = (mass_share / (1 - mass_share))[:, None, None]
        t = (spread_share / (1 - spread_share))[:, None, None]
        recalls = mass * np.stack([means, 1 - means], axis=2)
        others = np.stack([np.delete(totals, truth, axis=1) for truth in range(4)], axis=1)
        base = (others + 0.5) ** power[:, None, None]
        shares = t * base / base.sum(axis=2, keepdims=True)
        density += marginal(called, recalls) + marginal(wrong, shares)
        density += dirichlet(point, "recalls", prior=recalls, seen=called, likely=1.0)
        return density + dirichlet(point, "shares", prior=shares, seen=wrong, likely=1 / 3)

    assert spread(models.learned(seen), closed, sd=1.0) < 1e-6


def test_paired_hierarchical():
    seen = counts(3, 3, 3)

    def closed(point):
        logit = point["eta_logodds__"]
        a, b = (omega(eta, 3) for eta in expit(logit))
        omegas = (a[:, :, None] * b[:, None, :]).reshape(3, 9)
        likely = product_rows(unit_rows(3), 2).reshape(3, 9)
        return uniform(logit) + of_rates(seen.reshape(3, 9), omegas, point, likely)

    assert spread(models.paired_hierarchical(seen), closed) < 1e-9


def test_cells_that_are_too_small_for_a_float_keep_their_density():
    seen, rows = counts(2, 3, 3), unit_rows(3, right=0.9995)
    closed = prevalence_and_rows(seen, rows, 1.0)
    assert spread(models.unpaired(seen, rows=rows), closed, sd=3.0) < 1e-8


def test_another_prior_is_another_density():
    """The test sees what it should: with a wrong prior the difference is no constant."""
    seen = counts(2, 3, 3)
    assert spread(models.unpaired(seen), prevalence_and_rows(seen, 1.5, 1.0)) > 0.1


# One node for each item gives the same posterior as counts


def items():
    rng = np.random.default_rng(5)
    return rng.integers(0, 2, (3, 60))  # truth, A, B


def test_one_classifier_by_items_and_by_counts():
    truth, predicted, _ = items()
    right = truth == predicted
    table = {
        "tp": int((right & (truth == 1)).sum()),
        "tn": int((right & (truth == 0)).sum()),
        "fn": int((~right & (truth == 1)).sum()),
        "fp": int((~right & (truth == 0)).sum()),
    }
    compact = models.binary(**table).compile_logp(mode="FAST_COMPILE")

    def same(point):
        fall_out, recall = point["rates_logodds__"]
        return float(
            compact(
                {
                    "prevalence_logodds__": point["prevalence_logodds__"],
                    "recall_logodds__": recall,
                    "fall_out_logodds__": fall_out,
                }
            )
        )

    assert spread(models.per_item(truth, predicted), same) < 1e-9


def test_two_classifiers_by_items_and_by_counts():
    truth, a, b = items()
    seen = np.zeros((2, 4), dtype=int)
    np.add.at(seen, (truth, 2 * a + b), 1)

    def closed(point):
        """Return the density of the compact model, but for the prevalence by its logit."""
        negative, positive = 1 + seen.sum(axis=1)
        logit = point["prevalence_logodds__"]
        classes = positive * log_expit(logit) + negative * log_expit(-logit)
        return classes + dirichlet(point, "rows", prior=1.0, seen=seen)

    assert spread(models.per_item_paired(truth, a, b), closed) < 1e-9


@pytest.mark.parametrize("place", [0, 1])
def test_each_confusion_sums_the_other_classifier_out(place):
    truth, *said = items()
    seen = np.zeros((2, 2, 2), dtype=int)
    np.add.at(seen, (truth, *said), 1)
    model = models.paired(seen, rows=1e6 * (seen + 1.0), prevalence=1e6)
    confusion = model["confusion"].eval()[place]
    rows = (seen + 1.0).sum(axis=2 - place)
    expected = 0.5 * rows / rows.sum(axis=1, keepdims=True)
    assert confusion == pytest.approx(expected, abs=0.002)


@pytest.mark.parametrize("shape", [0.1, 1.0, 50.0])
def test_coordinates_lead_back(shape):
    seen = np.array([[0, 3, 900], [0, 0, 0], [2, 0, 1]])
    transform, shapes = sticks(seen), np.full(seen.shape, shape)
    places = np.random.default_rng(1).normal(0, 1.0, (3, 2))
    cells = transform.backward(places, shapes).eval()
    assert cells.sum(axis=-1) == pytest.approx(1.0)
    kept = (cells > 1e-129).all(axis=-1)
    again = transform.forward(cells, shapes).eval()
    assert kept.any()
    assert again[kept] == pytest.approx(places[kept], abs=1e-5)
