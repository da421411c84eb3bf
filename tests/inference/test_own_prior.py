"""A prior that is no Dirichlet, against exact draws weighed by the ratio of the priors."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logit

import outperform as op
from outperform.posterior.pymc.models import class_rates
from tests.lazily import lazily

norm = lazily("scipy.stats.norm")

pytest.importorskip("pymc")
pytestmark = pytest.mark.filterwarnings("ignore")  # of PyTensor and ArviZ about themselves

MOST_ERRORS = 4.5
DRAWS = 200_000


def logit_normal(rate, mean, sd):
    return norm.logpdf(logit(rate), mean, sd) - np.log(rate * (1 - rate))


PRIORS = {
    "logit_normal": ({"mean": 2.0, "sd": 1.0}, logit_normal),
    "truncated_normal": ({"mean": 0.9, "sd": 0.1}, norm.logpdf),  # but for a constant
}


def medicine():
    """377 items, 19 of them of the class."""
    news = op.datasets.load_news20()
    few = {name: news.predictions[name][::20] for name in ("nb_mult", "svm_l2")}
    seen = op.Outcomes.from_labels(news.y_true[::20], few).binarize("sci.med")
    return seen, np.stack([seen.confusion(name) for name in seen.models])


class Weighed:
    """Draws of F1 from the uniform prior's posterior, by numpy, weighed by a prior of the rates."""

    def __init__(self, counts, density):
        rng = np.random.default_rng(1)
        logarithms, f1 = np.zeros(DRAWS), []
        for (tn, fp), (fn, tp) in counts:
            positive = rng.beta(1 + tp + fn, 1 + tn + fp, DRAWS)
            recall, specificity = rng.beta([[1 + tp], [1 + tn]], [[1 + fn], [1 + fp]], (2, DRAWS))
            logarithms += density(recall) + density(specificity)
            hits = positive * recall
            f1.append(2 * hits / (hits + positive + (1 - positive) * (1 - specificity)))
        self.a, self.difference = f1[0], f1[0] - f1[1]
        weight = np.exp(logarithms - logarithms.max())
        self.weight = weight / weight.sum()
        self.n_effective = 1 / (self.weight @ self.weight)

    def mean(self, values):
        """Return a weighted mean and its error, by the delta method."""
        mean = self.weight @ values
        return mean, np.sqrt(self.weight**2 @ (values - mean) ** 2)


def errors_apart(chained, weighed):
    """Return by how many joint Monte Carlo errors means, sd and P(A > B) differ."""
    of_a, mcse_a = weighed.mean(weighed.a)
    mean, of_mean = weighed.mean(weighed.difference)
    square, of_square = weighed.mean((weighed.difference - mean) ** 2)
    above, of_above = weighed.mean(weighed.difference > 0)
    sd = np.sqrt(square)
    pairs = {
        "mean": (chained.mean, mean, chained.mc_errors["mean"], of_mean),
        "sd": (chained.sd, sd, chained.mc_errors["sd"], of_square / (2 * sd)),
        "p_greater": (chained.p_greater, above, chained.mc_errors["p_greater"], of_above),
        "mean of A": (chained.a.mean, of_a, chained.a.mcse, mcse_a),
    }
    return {
        name: abs(one - other) / np.hypot(error, another)
        for name, (one, other, error, another) in pairs.items()
    }


def chain(kind, **prior):
    seen, counts = medicine()
    return op.compare(
        seen,
        *seen.models,
        metric="f1",
        rope=0.05,
        prior=class_rates(counts, kind=kind, **prior),
        engine=op.PyMC(draws=1_000, tune=500, progress=False),
        random_state=0,
        n_jobs=1,
    )


def test_unweighed_draws_are_the_exact_engines():
    seen, counts = medicine()
    exact = op.compare(
        seen,
        *seen.models,
        metric="f1",
        rope=0.05,
        prior="uniform",
        paired=False,
        n_draws=40_000,
        random_state=2,
    )
    assert max(errors_apart(exact, Weighed(counts, np.zeros_like)).values()) < MOST_ERRORS


@pytest.mark.slow
@pytest.mark.parametrize("kind", PRIORS)
def test_the_chain_agrees_with_weighed_draws(kind):
    prior, density = PRIORS[kind]
    weighed = Weighed(medicine()[1], lambda rate: density(rate, prior["mean"], prior["sd"]))
    assert weighed.n_effective > 10_000
    chained = chain(kind, **prior)
    assert chained.chain.converged
    assert max(errors_apart(chained, weighed).values()) < MOST_ERRORS
    # A prior that is wrong, as if the density of the logit were that of the rate
    # itself, or half as wide, is seen.
    wrong = Weighed(
        medicine()[1],
        lambda rate: (
            norm.logpdf(logit(rate), prior["mean"], prior["sd"])
            if kind == "logit_normal"
            else density(rate, prior["mean"], prior["sd"] / 2)
        ),
    )
    assert max(errors_apart(chained, wrong).values()) > MOST_ERRORS


@pytest.mark.slow
def test_two_classes_start_inside():
    _, counts = medicine()
    model = class_rates(counts, kind="logit_normal", mean=1.0, sd=1.0)
    start, density = model.initial_point(), model.compile_logp()
    for seed in range(20):  # NUTS starts up to 1 away from it
        jitter = np.random.default_rng(seed)
        point = {name: one + jitter.uniform(-1, 1, np.shape(one)) for name, one in start.items()}
        assert np.isfinite(density(point))
