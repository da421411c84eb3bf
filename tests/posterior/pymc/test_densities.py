"""Every PyMC model has the density that its formula says, up to a constant.

No sampling: the log density of a model, minus the closed form of its posterior, is the
same number at any point.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, gammaln, log_expit

from outperform.posterior import pymc as models
from outperform.posterior.base import product_rows
from outperform.posterior.dirichlet import unit_rows
from outperform.posterior.pymc.stick_breaking import sticks

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


def spread(model, closed, sd=1.5, shift=0.0):
    """Return how much the log density less its closed form varies from point to point.

    ``shift`` is added to the logit of a mass that is learned.
    """
    log_density = model.compile_logp(mode="FAST_COMPILE")
    rng, found = np.random.default_rng(3), []
    for _ in range(POINTS):
        point = {
            name: rng.normal(0, sd, np.shape(value))
            for name, value in model.initial_point().items()
        }
        if shift:
            point["mass_share_interval__"] += shift
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


def learned(seen, omegas, point, mass, likely):
    """Return log p(η, s | counts) + log p(cells | η, s, counts), in closed form."""
    shapes = mass * omegas
    total = shapes.sum(axis=-1)
    marginal = (gammaln(seen + shapes) - gammaln(shapes)).sum()
    marginal += (gammaln(total) - gammaln(total + seen.sum(axis=-1))).sum()
    classes = dirichlet(point, "prevalence", prior=1.0, seen=seen.sum(axis=-1), likely=None)
    rows = dirichlet(point, "rows", prior=shapes, seen=seen, likely=likely)
    return marginal + classes + rows


def uniform(logit):
    """Return the log density of the logit of a uniform number."""
    return (log_expit(logit) + log_expit(-logit)).sum()


def known_of_share(seen, masses):
    """Return place and width of a common share's logit, class by class."""
    found = []
    for table, mass in zip(seen, masses, strict=True):
        right = wrong = 0.5
        for truth, row in enumerate(table):
            worth = 1 / (1 / (1 + mass) + 1 / row.sum())
            right += worth * row[truth] / row.sum()
            wrong += worth * (1 - row[truth] / row.sum())
        found.append((np.log(right / wrong), np.sqrt(1 / right + 1 / wrong)))
    return np.array(found).T


@pytest.mark.parametrize(("mass", "shift"), [(1.0, 0.0), (None, 0.0), (None, -34.0)])
def test_hierarchical(mass, shift):
    """With a mass of 10⁻¹⁵ logarithms are 10¹⁵, and must not be subtracted from each other."""
    seen = counts(2, 3, 3)

    def closed(point):
        density, masses = 0.0, np.ones(2)
        if mass is None:
            logit = point["mass_share_interval__"]
            share = (1 - 1e-8) * expit(logit)
            density, masses = uniform(logit), share / (1 - share)
            place, width = known_of_share(seen, masses)
            logit = place + width * point["eta_share__"]
            density += np.log(width).sum()
        else:
            logit = point["eta_logodds__"]
        omegas = np.stack([omega(eta, 3) for eta in expit(logit)])
        density += uniform(logit)
        return density + learned(seen, omegas, point, masses[:, None, None], unit_rows(3))

    most = 1e-9 if shift == 0 else 1e-6
    assert spread(models.hierarchical(seen, mass=mass), closed, shift=shift) < most


def test_paired_hierarchical():
    seen = counts(3, 3, 3)

    def closed(point):
        logit = point["eta_logodds__"]
        a, b = (omega(eta, 3) for eta in expit(logit))
        omegas = (a[:, :, None] * b[:, None, :]).reshape(3, 9)
        likely = product_rows(unit_rows(3), 2).reshape(3, 9)
        return uniform(logit) + learned(seen.reshape(3, 9), omegas, point, 1.0, likely)

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
