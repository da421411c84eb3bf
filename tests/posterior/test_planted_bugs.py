"""Bugs planted on purpose: the statistical checks of this folder must catch each of them."""

from __future__ import annotations

import numpy as np
import pytest

from outperform import Prior
from outperform.data.views import count_of, emptied
from outperform.posterior import base, dirichlet
from outperform.posterior import sums as tally
from outperform.posterior.base import build_posterior
from outperform.posterior.dirichlet import DenseRows, dense_counts, flat, sparse_unit, unit_rows
from outperform.posterior.registry import get_prior
from tests.lazily import lazily

beta = lazily("scipy.stats.beta")

N_DRAWS = 20_000


def recall_of_a(posterior, confusions):
    drawn = confusions(posterior, N_DRAWS)[0]
    return drawn[1, 1] / drawn[1].sum(axis=0)


def precision_of_a(posterior, margins):
    hits, _, predicted = margins(posterior, N_DRAWS)[0][:, 1]
    return hits / predicted


def caught(check, *arguments):
    with pytest.raises(AssertionError):
        check(*arguments)


def test_the_right_model_passes(binary, confusions, follows, moments):
    follows(recall_of_a(flat(binary, Prior()), confusions), beta(54, 15).cdf)


def test_one_pseudo_item_too_many_is_caught(binary, confusions, follows):
    wrong = flat(binary, Prior(rows=2.0))
    caught(follows, recall_of_a(wrong, confusions), beta(54, 15).cdf)


def test_half_a_pseudo_item_too_few_is_caught(binary, confusions, follows):
    wrong = flat(binary, Prior(rows=0.5))
    caught(follows, recall_of_a(wrong, confusions), beta(54, 15).cdf)


def test_returning_the_prior_is_caught(binary, confusions, follows):
    wrong = flat(emptied(binary), Prior())
    caught(follows, recall_of_a(wrong, confusions), beta(54, 15).cdf)


def test_losing_one_item_of_the_rarest_cell_is_caught(binary, confusions, moments):
    shapes = np.array([41.0, 13.0, 6.0, 9.0])
    share = shapes / shapes.sum()
    sd = np.sqrt((share[1] + share[2] - (share[1] - share[2]) ** 2) / (shapes.sum() + 1))

    def difference(posterior):
        drawn = confusions(posterior, N_DRAWS)
        return (drawn[0, 1, 1] - drawn[1, 1, 1]) / drawn[0, 1].sum(axis=0)

    moments(difference(flat(binary, Prior())), share[1] - share[2], sd)
    counts = dense_counts(binary)
    counts[1, 0, 1] -= 1
    rows, prevalence = Prior().row_shapes(2, 2), Prior().prevalence_shapes(2)
    wrong = DenseRows(counts, rows=rows, prevalence=prevalence)
    caught(moments, difference(wrong), share[1] - share[2], sd)


def test_swapping_misses_and_false_alarms_is_caught(binary, margins, follows, monkeypatch):
    posterior = flat(binary, Prior(rows=1.0, prevalence=4.0))
    tp, fp = (count_of(binary, "a", part, positive=1) for part in ("tp", "fp"))
    follows(precision_of_a(posterior, margins), beta(tp + 2, fp + 2).cdf)

    def swapped(confusion):
        return base.margins_of(confusion.transpose(1, 0, 2))

    monkeypatch.setattr("outperform.posterior.dirichlet.margins_of", swapped)
    caught(follows, precision_of_a(posterior, margins), beta(tp + 2, fp + 2).cdf)


def test_dropping_the_pairing_is_caught(binary, confusions, moments):
    right = flat(binary, Prior())
    apart = build_posterior(binary.unpair(), get_prior(Prior(rows=2.0)))
    drawn = confusions(right, N_DRAWS)
    paired = drawn[0, 1, 1] / drawn[0, 1].sum(axis=0) - drawn[1, 1, 1] / drawn[1, 1].sum(axis=0)
    mean, sd = 7 / 69, np.sqrt((19 / 69 - (7 / 69) ** 2) / 70)
    moments(paired, mean, sd)
    a, b = apart.worker("margins")(np.random.default_rng(1), N_DRAWS)
    caught(moments, a.hits[1] / a.actual[1] - b.hits[1] / b.actual[1], mean, sd)


def test_swapping_the_models_is_caught(binary, confusions, follows):
    wrong = flat(binary.select(["b", "a"]), Prior())
    caught(follows, recall_of_a(wrong, confusions), beta(54, 15).cdf)


def test_a_shared_stream_for_unpaired_priors_is_caught(binary, moments):
    twin = flat(binary.select(["a"]), Prior())
    sd = beta(53, 14).std() * np.sqrt(2)
    (one,) = twin.worker("margins")(np.random.default_rng(1), N_DRAWS)
    (two,) = twin.worker("margins")(np.random.default_rng(2), N_DRAWS)
    recalls = [sums.hits[1] / sums.actual[1] for sums in (one, two)]
    moments(recalls[0] - recalls[1], 0.0, sd)
    (again,) = twin.worker("margins")(np.random.default_rng(1), N_DRAWS)
    caught(moments, recalls[0] - again.hits[1] / again.actual[1], 0.0, sd)


def check_cells(posterior, seen, confusions, moments, right=0.5):
    drawn = confusions(posterior, 40_000)[0]
    shapes = seen.confusion(seen.models[0]) + unit_rows(3, right)
    total = shapes.sum()
    for truth, predicted in np.ndindex(3, 3):
        share = shapes[truth, predicted] / total
        moments(drawn[truth, predicted], share, np.sqrt(share * (1 - share) / (total + 1)))


def test_prior_mass_on_the_wrong_class_is_caught(ternary, confusions, moments, monkeypatch):
    check_cells(sparse_unit(ternary), ternary, confusions, moments)
    right_way = tally._ticket_classes
    monkeypatch.setattr(tally, "_ticket_classes", lambda n: np.roll(right_way(n), 1, axis=0))
    caught(check_cells, sparse_unit(ternary), ternary, confusions, moments)


def test_lost_prior_mass_is_caught(ternary, confusions, moments, monkeypatch):
    whole = dirichlet._sticks
    monkeypatch.setattr(
        dirichlet, "_sticks", lambda generator, n, length: 0.5 * whole(generator, n, length)
    )
    caught(check_cells, sparse_unit(ternary), ternary, confusions, moments)


def test_half_for_a_learned_share_is_caught(ternary, confusions, moments):
    caught(check_cells, sparse_unit(ternary), ternary, confusions, moments, 0.6)


def test_a_scale_error_of_three_percent_is_caught(binary, confusions, moments):
    drawn = recall_of_a(flat(binary, Prior()), confusions)
    exact = beta(54, 15)
    moments(drawn, exact.mean(), exact.std())
    caught(moments, exact.mean() + 1.03 * (drawn - exact.mean()), exact.mean(), exact.std())


def test_dropping_the_uncertainty_of_the_prevalence_is_caught(binary, confusions, moments):
    drawn = confusions(flat(binary, Prior()), N_DRAWS)[0]
    mu = beta(66, 107)
    moments(drawn[1].sum(axis=0), mu.mean(), mu.std())
    caught(moments, np.full(N_DRAWS, mu.mean()), mu.mean(), mu.std())
