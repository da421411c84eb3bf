"""Other class proportions: against closed forms, plain numpy and planted bugs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import betainc, roots_jacobi

from outperform import Outcomes
from outperform.data.prevalence import Prevalence
from outperform.posterior.base import Independent, Sums, build_posterior, draw_values
from outperform.posterior.dirichlet import sparse_unit
from outperform.posterior.predictive import Reweighted, draw_shares, row_factors
from outperform.posterior.registry import get_prior
from tests.lazily import lazily
from tests.loops import each

stats = lazily("scipy.stats")

N_DRAWS = 20_000
SHARE = 0.02
# A test set of 60 positive and 140 negative items.
TP, FN, FP, TN = 45, 15, 12, 128


def alone():
    return Outcomes.from_confusion({"m": [[TN, FP], [FN, TP]]})


def weighed(posterior, prevalence, n_classes=2, codes=None):
    codes = tuple(range(n_classes)) if codes is None else codes
    return Reweighted(posterior, prevalence, codes=codes, n_classes=n_classes)


def posterior_of(seen, prior="uniform"):
    return build_posterior(seen, get_prior(prior))


def known(share=SHARE):
    return Prevalence(labels=(0, 1), shares=(1 - share, share))


def counted(negative, positive):
    seen = Outcomes.from_labels([0, 1], {"m": [0, 1]})
    return Prevalence.from_param({0: negative, 1: positive}, seen)


def test_known_shares_are_drawn_as_they_are_and_counts_as_a_dirichlet(follows):
    rng = np.random.default_rng(0)
    assert np.unique(draw_shares(known(0.25), rng, 50)).tolist() == [0.25, 0.75]
    follows(draw_shares(counted(95, 5), rng, 20_000)[1], stats.beta(6, 96).cdf)


def test_a_distribution_draws_all_shares_at_once():
    seen = Outcomes.from_labels([0, 1, 2], {"m": [0, 1, 2]})
    every = Prevalence.from_param(stats.dirichlet([2, 97, 1]), seen)
    drawn = draw_shares(every, np.random.default_rng(0), 500)
    assert drawn.shape == (3, 500)
    np.testing.assert_allclose(drawn.sum(axis=0), 1)


def f1_of(posterior, n_draws=N_DRAWS, seed=1, positive=1):
    """Draw F1 of each model from the margins."""

    def evaluate(drawn, out):
        for model, sums in enumerate(drawn):
            both = sums.actual[positive] + sums.predicted[positive]
            out[model] = 2 * sums.hits[positive] / both

    return draw_values(
        posterior,
        evaluate,
        needs="margins",
        n_values=posterior.n_models,
        n_draws=n_draws,
        seed=np.random.SeedSequence(seed),
        n_jobs=1,
    )


def f1_cdf(share, right, false):
    """Return P(F1 ≤ x), F1 = 2μr / (μ + μr + (1 − μ)f), by quadrature over the recall r."""
    nodes, weights = roots_jacobi(200, right[1] - 1, right[0] - 1)
    recall, weights = (nodes + 1) / 2, weights / weights.sum()
    grid = np.linspace(1e-9, 1, 2_001)
    needed = (2 * share * recall / grid[:, None] - share * (1 + recall)) / (1 - share)
    below = (1 - betainc(*false, np.clip(needed, 0, 1))) @ weights
    return lambda x: np.interp(x, grid, below)


def f1_moments(share, right, false):
    """Return mean and sd of the same by Gauss and Jacobi in both directions."""
    grids = []
    for a, b in (right, false):
        nodes, weights = roots_jacobi(60, b - 1, a - 1)
        grids.append(((nodes + 1) / 2, weights / weights.sum()))
    (r, by_r), (f, by_f) = grids
    values = 2 * share * r[:, None] / (share * (1 + r[:, None]) + (1 - share) * f)
    mean = by_r @ values @ by_f
    return mean, np.sqrt(by_r @ (values - mean) ** 2 @ by_f)


@each(("prior", "shape"), [("uniform", 1.0), ("unit", 0.5), ("bootstrap", 0.0)])
@each("share", [0.02, 0.3, 0.9])
def test_f1_of_one_model_is_the_function_of_two_betas(prior, shape, share, follows, moments):
    right, false = (TP + shape, FN + shape), (FP + shape, TN + shape)
    (drawn,) = f1_of(weighed(posterior_of(alone(), prior), known(share)))
    follows(drawn, f1_cdf(share, right, false))
    moments(drawn, *f1_moments(share, right, false))


def test_counts_of_the_test_set_itself_change_nothing(binary, same):
    plain = posterior_of(binary)
    other = weighed(plain, counted(106, 65))
    before, after = f1_of(plain), f1_of(other, seed=2)
    same(before[0] - before[1], after[0] - after[1])
    for one, two in zip(before, after, strict=True):
        same(one, two)


def by_numpy(shapes, shares):
    """Return F1 macro of both models from joint rows (n_classes, n_classes, n_classes)."""
    rng = np.random.default_rng(99)
    n_classes = len(shapes)
    rows = np.stack([rng.dirichlet(row.ravel(), N_DRAWS) for row in shapes], axis=1)
    joint = rows.reshape(N_DRAWS, n_classes, n_classes, n_classes) * shares(rng)[:, :, None, None]
    found = []
    for axis in (3, 2):
        confusion = joint.sum(axis=axis)
        hits = np.einsum("nkk->nk", confusion)
        found.append((2 * hits / (confusion.sum(axis=2) + confusion.sum(axis=1))).mean(axis=1))
    return np.array(found)


def test_three_classes_paired_are_what_plain_numpy_gives(ternary, same):
    counts = np.zeros((3, 3, 3))
    counts[tuple(ternary.tables[0].cells.T)] = ternary.tables[0].counts
    row = np.full((3, 3), 0.25) + np.eye(3) * 0.25
    shapes = counts + np.einsum("jk,jl->jkl", row, row)
    given = Prevalence.from_param({0: 900, 1: 90, 2: 10}, ternary)
    expected = by_numpy(shapes, lambda rng: rng.dirichlet([901, 91, 11], N_DRAWS))
    for posterior in (posterior_of(ternary, "unit"), sparse_unit(ternary)):
        drawn = macro_f1(weighed(posterior, given, 3))
        same(drawn[0], expected[0])
        same(drawn[0] - drawn[1], expected[0] - expected[1])  # and so how they go together


def macro_f1(posterior):
    def evaluate(drawn, out):
        for model, (hits, actual, predicted) in enumerate(drawn):
            out[model] = (2 * hits / (actual + predicted)).mean(axis=0)

    return draw_values(
        posterior,
        evaluate,
        needs="margins",
        n_values=posterior.n_models,
        n_draws=N_DRAWS,
        seed=np.random.SeedSequence(3),
        n_jobs=1,
    )


def test_classes_that_are_not_named_keep_their_mix():
    actual = np.array([[6.0], [15.0], [24.0]])
    target = actual * row_factors(actual, np.array([[0.1]]), [2])
    assert target.ravel() == pytest.approx([0.9 * 6 / 21, 0.9 * 15 / 21, 0.1])


def test_swapping_the_models_turns_the_difference_round(binary, same):
    there, back = (
        f1_of(weighed(posterior_of(binary.select(names)), known()), seed=place)
        for place, names in enumerate((["a", "b"], ["b", "a"]))
    )
    same(there[0] - there[1], back[1] - back[0])


def test_all_models_of_a_draw_get_the_same_shares(binary):
    # Both models' F1 rise with the prevalence, so one world makes them rise together.
    apart = posterior_of(binary.unpair())
    given = counted(96, 4)
    a, b = f1_of(weighed(apart, given))
    assert np.corrcoef(a, b)[0, 1] > 0.5
    one, two = f1_of(weighed(apart, known()))
    assert abs(np.corrcoef(one, two)[0, 1]) < 4.5 / np.sqrt(N_DRAWS)


def test_row_quantities_keep_their_closed_forms(binary):
    plain, other = posterior_of(binary), weighed(posterior_of(binary), known())
    assert other.row_shapes(0, 1) == plain.row_shapes(0, 1)
    assert other.agreement_shapes(1) == plain.agreement_shapes(1)
    assert other.agreement_shapes(None) is None
    assert other.part_shape(0, "tp", 1) is None


def test_two_counted_classes_have_shapes_and_known_ones_have_none():
    seen = posterior_of(alone())
    assert weighed(seen, counted(980, 20)).prevalence_shapes(1) == (21.0, 981.0)
    turned = Reweighted(seen, counted(980, 20), codes=(1, 0), n_classes=2)
    assert turned.prevalence_shapes(1) == (981.0, 21.0)
    assert weighed(seen, known()).prevalence_shapes(1) is None


def test_threads_change_nothing(binary):
    posterior = weighed(posterior_of(binary), counted(96, 4))
    settings = {"needs": "margins", "n_values": 2, "n_draws": 9_000}

    def evaluate(drawn, out):
        out[:] = [sums.predicted[1] for sums in drawn]

    one, two = (
        draw_values(posterior, evaluate, seed=np.random.SeedSequence(1), n_jobs=n, **settings)
        for n in (1, 2)
    )
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("prior", ["unit", "bootstrap"])
def test_scaled_cells_are_scaled_confusion_arrays(ternary, prior, same):
    given = Prevalence.from_param({0: 900, 1: 90, 2: 10}, ternary)
    inner = sparse_unit(ternary) if prior == "unit" else posterior_of(ternary, prior)
    cells = macro_f1(weighed(inner, given, 3))
    rng = np.random.default_rng(8)
    shares = draw_shares(given, rng, N_DRAWS)
    values = []
    for confusion in inner.worker("confusion")(rng, N_DRAWS):
        table = confusion * (shares / confusion.sum(axis=1))[:, None]
        hits = np.einsum("kkn->kn", table)
        values.append((2 * hits / (table.sum(axis=0) + table.sum(axis=1))).mean(axis=0))
    same(cells[0], values[0])
    same(cells[0] - cells[1], values[0] - values[1])


def test_margins_and_confusion_arrays_are_of_the_same_draws(ternary):
    given = Prevalence.from_param({0: 900, 1: 90, 2: 10}, ternary)
    for inner in (sparse_unit(ternary), posterior_of(ternary, "bootstrap")):
        posterior = weighed(inner, given, 3)
        margins, tables = (
            posterior.worker(needs)(np.random.default_rng(1), 50)
            for needs in ("margins", "confusion")
        )
        for sums, table in zip(margins, tables, strict=True):
            np.testing.assert_allclose(sums.predicted, table.sum(axis=0), atol=1e-12)
            np.testing.assert_allclose(sums.actual, table.sum(axis=1), atol=1e-12)


def test_a_thousand_classes_take_no_whole_confusion_matrices():
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(1_000), 3)
    predicted = np.where(rng.random(3_000) < 0.8, truth, rng.integers(0, 1_000, 3_000))
    seen = Outcomes.from_labels(truth, {"m": predicted})
    shares = dict(enumerate(rng.dirichlet(np.ones(1_000)).tolist()))
    given = Prevalence.from_param(shares, seen)
    posterior = weighed(posterior_of(seen, "unit"), given, 1_000)
    (sums,) = posterior.worker("margins")(rng, 10)
    expected = np.repeat(np.array(given.shares)[:, None], 10, axis=1)
    np.testing.assert_allclose(sums.actual, expected, rtol=1e-9)
    np.testing.assert_allclose(sums.predicted.sum(axis=0), 1, rtol=1e-9)


# Bugs planted on purpose


def caught(check, *arguments):
    with pytest.raises(AssertionError):
        check(*arguments)


def test_shares_of_its_own_for_each_model_are_caught(binary, same):
    apart = posterior_of(binary.unpair())
    right = f1_of(weighed(apart, counted(96, 4)))
    planted = Independent([weighed(one, counted(96, 4)) for one in apart.parts])
    wrong = f1_of(planted, seed=2)
    same(right[0], wrong[0])
    caught(same, right[0] - right[1], wrong[0] - wrong[1])


class NotPredicted(Reweighted):
    """Weighs the truth and the hits, and forgets what is predicted."""

    def worker(self, needs):
        inner, right = self.posterior.worker("margins"), super().worker(needs)

        def draw(generator, length):
            plain = inner(generator, length)
            return [
                Sums(hits=one.hits, actual=one.actual, predicted=two.predicted)
                for one, two in zip(right(generator, length), plain, strict=True)
            ]

        return draw


def test_predictions_that_are_not_weighed_are_caught(follows):
    posterior = NotPredicted(posterior_of(alone()), known(), codes=(0, 1), n_classes=2)
    cdf = f1_cdf(SHARE, (TP + 1, FN + 1), (FP + 1, TN + 1))
    caught(follows, f1_of(posterior)[0], cdf)


def test_rows_that_are_not_divided_by_their_sum_are_caught(monkeypatch, follows):
    from outperform.posterior import predictive as reweighted

    monkeypatch.setattr(reweighted, "row_factors", lambda actual, shares, codes: shares)
    cdf = f1_cdf(SHARE, (TP + 1, FN + 1), (FP + 1, TN + 1))
    caught(follows, f1_of(weighed(posterior_of(alone()), known()))[0], cdf)


def test_a_class_of_which_the_prior_is_counted_twice_is_caught(ternary, same):
    given = Prevalence.from_param({0: 900, 1: 90, 2: 10}, ternary)
    right, inner = macro_f1(weighed(sparse_unit(ternary), given, 3)), sparse_unit(ternary)
    honest = inner.scaled_worker

    def planted(needs):
        draw = honest(needs)
        return lambda generator, length, scale: draw(generator, length, lambda a: scale(a + 1))

    inner.scaled_worker = planted
    caught(same, right[0], macro_f1(weighed(inner, given, 3))[0])


def test_shares_in_the_wrong_order_are_caught(follows):
    posterior = weighed(posterior_of(alone()), known(1 - SHARE))
    cdf = f1_cdf(SHARE, (TP + 1, FN + 1), (FP + 1, TN + 1))
    caught(follows, f1_of(posterior)[0], cdf)


def test_the_distribution_function_itself_is_right(follows):
    rng = np.random.default_rng(5)
    r, f = rng.beta(46, 16, N_DRAWS), rng.beta(13, 129, N_DRAWS)
    values = 2 * SHARE * r / (SHARE * (1 + r) + (1 - SHARE) * f)
    follows(values, f1_cdf(SHARE, (46, 16), (13, 129)))
    assert stats.kstest(values, f1_cdf(0.03, (46, 16), (13, 129))).pvalue < 1e-5
