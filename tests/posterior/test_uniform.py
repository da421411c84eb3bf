"""The SIGIR models against the Beta and Dirichlet distributions that they are made of."""

from __future__ import annotations

import numpy as np
import pytest

from outperform import Outcomes, Prior
from outperform.data.views import count_of
from outperform.errors import ResourceError
from outperform.posterior.base import build_posterior
from outperform.posterior.dirichlet import flat
from outperform.posterior.registry import get_prior
from tests.lazily import lazily

beta = lazily("scipy.stats.beta")
betaprime = lazily("scipy.stats.betaprime")
dirichlet = lazily("scipy.stats.dirichlet")


@pytest.mark.parametrize("prior", ["uniform", "jeffreys", Prior(rows=[[2, 1], [1, 3]])])
def test_the_unpaired_model_is_three_betas(binary, prior, confusions, follows):
    prior = Prior.from_param(prior)
    rows, mu = prior.row_shapes(2, 1), prior.prevalence_shapes(2)
    for model in ("a", "b"):
        alone = binary.select([model])
        (tn, fp), (fn, tp) = alone.confusion(model) + rows
        (drawn,) = confusions(flat(alone, prior))
        n_neg, n_pos = alone.confusion(model).sum(axis=1) + mu
        follows(drawn[1].sum(axis=0), beta(n_pos, n_neg).cdf)
        follows(drawn[1, 1] / drawn[1].sum(axis=0), beta(tp, fn).cdf)
        follows(drawn[0, 1] / drawn[0].sum(axis=0), beta(fp, tn).cdf)
        rates = drawn[1, 1] / drawn[1].sum(axis=0), drawn[0, 1] / drawn[0].sum(axis=0)
        prevalence = drawn[1].sum(axis=0)
        together = np.corrcoef([*rates, prevalence])[np.triu_indices(3, 1)]
        assert np.abs(together).max() < 4.5 / np.sqrt(drawn.shape[-1])


def test_the_paired_model_gives_each_classifier_two_and_two(binary, confusions, follows):
    drawn = confusions(flat(binary, Prior()))
    for model, name in enumerate(binary.models):
        (tn, fp), (fn, tp) = binary.confusion(name)
        follows(drawn[model, 1, 1] / drawn[model, 1].sum(axis=0), beta(tp + 2, fn + 2).cdf)
        follows(drawn[model, 0, 1] / drawn[model, 0].sum(axis=0), beta(fp + 2, tn + 2).cdf)
        follows(drawn[model, 1].sum(axis=0), beta(66, 107).cdf)


def test_the_paired_model_keeps_the_correlation(binary, confusions, moments):
    drawn = confusions(flat(binary, Prior()))
    recall = drawn[:, 1, 1] / drawn[:, 1].sum(axis=1)
    # θ ~ Dir(41, 13, 6, 9): A − B is the difference of its second and third share.
    shapes = np.array([41.0, 13.0, 6.0, 9.0])
    cov = dirichlet(shapes).cov()
    mean = (shapes[1] - shapes[2]) / shapes.sum()
    moments(recall[0] - recall[1], mean, np.sqrt(cov[1, 1] + cov[2, 2] - 2 * cov[1, 2]))
    unpaired = build_posterior(binary.unpair(), get_prior("uniform"))
    a, b = unpaired.worker("margins")(np.random.default_rng(1), 20_000)
    alone = beta(53, 14), beta(46, 21)
    moments(
        a.hits[1] / a.actual[1] - b.hits[1] / b.actual[1],
        alone[0].mean() - alone[1].mean(),
        np.hypot(alone[0].std(), alone[1].std()),
    )


def test_more_classes_are_one_dirichlet_per_row(ternary, confusions, moments):
    alone = ternary.select(["a"])
    (drawn,) = confusions(flat(alone, Prior()))
    counts = alone.confusion("a")
    prevalence = dirichlet(counts.sum(axis=1) + 1.0)
    for row in range(3):
        moments(drawn[row].sum(axis=0), prevalence.mean()[row], np.sqrt(prevalence.var()[row]))
        within = dirichlet(counts[row] + 1.0)
        shares = drawn[row] / drawn[row].sum(axis=0)
        for column in range(3):
            moments(shares[column], within.mean()[column], np.sqrt(within.var()[column]))


def test_prevalence_four_and_four_makes_one_dirichlet_of_eight_cells(binary, margins, follows):
    posterior = flat(binary, Prior(rows=1.0, prevalence=4.0))
    assert posterior.one_dirichlet
    assert not flat(binary, Prior()).one_dirichlet
    drawn = margins(posterior)
    for model, name in enumerate(binary.models):
        tp, fp, fn = (count_of(binary, name, part, positive=1) for part in ("tp", "fp", "fn"))
        hits, actual, predicted = drawn[model][:, 1]
        f1 = 2 * hits / (actual + predicted)
        x = betaprime(fp + fn + 4, tp + 2)
        follows(f1, lambda t, x=x: x.sf(2 / t - 2))


def test_margins_are_the_sums_of_the_confusion(ternary, confusions, margins):
    posterior = flat(ternary, Prior())
    worker = posterior.worker("confusion")
    drawn = worker(np.random.default_rng(1), 500)
    sums = posterior.worker("margins")(np.random.default_rng(1), 500)
    for confusion, one in zip(drawn, sums, strict=True):
        assert np.allclose(confusion.sum(axis=(0, 1)), 1.0)
        assert np.allclose(one.hits, np.einsum("iin->in", confusion))
        assert np.allclose(one.actual, confusion.sum(axis=1))
        assert np.allclose(one.predicted, confusion.sum(axis=0))


@pytest.mark.parametrize("shape", [1e-3, 1e-6, 1e-300])
def test_tiny_priors_give_no_nan(shape, confusions):
    seen = Outcomes.from_labels([1, 1, 1, 0], {"a": [1, 1, 1, 0], "b": [1, 1, 0, 0]})
    seen = seen.with_labels([2])
    for prior in (Prior(rows=shape), Prior(rows=shape, prevalence=shape)):
        drawn = confusions(flat(seen, prior), n_draws=2_000)
        assert np.isfinite(drawn).all()
        assert np.allclose(drawn.sum(axis=(1, 2)), 1.0)
        assert (drawn.sum(axis=2) > 0).all()


def test_parts_rows_and_agreements_are_sums_of_shapes(binary, ternary):
    for seen in (binary, ternary):
        n_classes = seen.n_classes
        rows = Prior().row_shapes(n_classes, 2)
        mass = float(n_classes**2)
        posterior = flat(seen, Prior(rows=1.0, prevalence=mass))
        assert posterior.one_dirichlet
        for model, name in enumerate(seen.models):
            prior = rows.sum(axis=2 - model)
            shapes = seen.confusion(name) + prior
            for positive in range(n_classes):
                is_class = np.arange(n_classes) == positive
                expected = {
                    "tp": shapes[positive, positive],
                    "fn": shapes[positive][~is_class].sum(),
                    "fp": shapes[:, positive][~is_class].sum(),
                    "tn": shapes[~is_class][:, ~is_class].sum(),
                }
                for part, value in expected.items():
                    assert posterior.part_shape(model, part, positive) == value
                right, wrong = posterior.row_shapes(model, positive)
                assert (right, wrong) == (expected["tp"], expected["fn"])
            assert posterior.part_shape(model, "correct", None) == np.trace(shapes)
            assert posterior.part_shape(model, "wrong", None) == shapes.sum() - np.trace(shapes)


def test_agreement_shapes_are_counts_and_prior(binary):
    posterior = flat(binary, Prior())
    assert posterior.agreement_shapes(1) == (41.0, 13.0, 6.0, 9.0)
    assert posterior.agreement_shapes(0) == (91.0, 5.0, 10.0, 4.0)
    # The classes together are one Dirichlet only if the prevalence prior says so.
    assert posterior.agreement_shapes(None) is None
    assert posterior.part_shape(0, "tp", 1) is None
    assert posterior.row_shapes(0, 1) == (54.0, 15.0)
    joint = flat(binary, Prior(rows=1.0, prevalence=4.0))
    assert joint.agreement_shapes(None) == (132.0, 18.0, 16.0, 13.0)
    assert flat(binary.select(["a"]), Prior()).agreement_shapes(1) is None


def test_too_many_cells_are_refused_before_they_are_made():
    labels = list(range(110))
    seen = Outcomes.from_labels(labels, {"a": labels, "b": labels})
    with pytest.raises(ResourceError, match=r"1,331,000 cells.*prior='unit'"):
        flat(seen, Prior())
