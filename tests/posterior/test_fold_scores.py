"""Posteriors from scores of folds: closed forms, brute-force quadrature, Stan's numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from outperform.posterior import fold_scores
from outperform.posterior.fold_scores import (
    FoldScores,
    StudentT,
    diagnose_many,
    draw_hierarchical,
    draw_means,
    draw_ranks,
    mean_with_error,
    pseudo_median,
    t_of_mean,
)
from tests.lazily import lazily

stats = lazily("scipy.stats")

# Ten folds of two models on each of eight data sets, in thousandths.
A = """
866 801 827 801 865 757 842 790 819 768
776 796 820 802 862 773 768 712 783 799
977 880 903 897 975 959 935 920 924 904
826 823 829 813 842 837 802 832 821 783
935 861 925 832 924 919 859 879 895 830
913 948 935 964 943 990 949 908 961 966
878 860 824 868 831 870 869 825 832 881
928 841 841 811 896 800 924 921 852 855
"""
B = """
813 787 814 798 781 791 789 798 769 790
833 867 829 836 855 818 851 829 808 826
844 827 821 813 858 839 843 833 825 831
867 850 870 856 868 866 838 862 861 822
856 799 850 809 826 831 836 839 825 810
941 895 903 901 893 932 920 889 898 914
831 812 803 801 791 832 817 806 847 809
844 800 805 822 838 831 840 825 805 816
"""


def table(text: str) -> np.ndarray:
    return np.array([line.split() for line in text.split("\n") if line], dtype=float) / 1000


def datasets() -> list[FoldScores]:
    return [FoldScores(np.stack(pair), 0.1) for pair in zip(table(A), table(B), strict=True)]


def ragged() -> list[FoldScores]:
    """Three data sets with four, five and twice four folds."""
    shares = (0.25, 0.2, 0.25)
    rows = [np.stack([table(A)[i, :n], table(B)[i, :n]]) for i, n in ((0, 4), (4, 5), (6, 8))]
    return [FoldScores(one, share) for one, share in zip(rows, shares, strict=True)]


# One data set


def test_t_is_that_of_scipy():
    own, other = StudentT(0.02, 0.013, 7), stats.t(7, 0.02, 0.013)
    for value in (-0.3, -0.01, 0.0, 0.02, 0.05, 1.0):
        assert own.cdf(value) == pytest.approx(other.cdf(value), rel=1e-12)
        assert own.sf(value) == pytest.approx(other.sf(value), rel=1e-12)
        assert own.pdf(value) == pytest.approx(other.pdf(value), rel=1e-12)
    for level in (0.001, 0.025, 0.5, 0.9):
        assert own.quantile(level) == pytest.approx(other.ppf(level), rel=1e-9)
    assert (own.mean, own.sd) == pytest.approx((other.mean(), other.std()))


def test_the_likelihood_is_that_of_the_correlated_normal():
    one = ragged()[2]
    x, n, rho = one.differences, one.n, one.share
    covariance = (1 - rho) * np.eye(n) + rho
    data = fold_scores._prepare([one, one], [x, x])
    for delta, sigma in ((0.0, 0.03), (0.05, 0.01), (-0.02, 0.2)):
        wanted = stats.multivariate_normal(np.full(n, delta), sigma**2 * covariance).logpdf(x)
        q = data.squares[0] + (x.mean() - delta) ** 2 / one.kappa
        _, log_det = np.linalg.slogdet(covariance)
        own = -0.5 * (n * math.log(2 * math.pi * sigma**2) + log_det + q / sigma**2)
        assert own == pytest.approx(wanted, rel=1e-10)


def test_the_t_is_the_integral_over_sigma():
    """The closed form against the likelihood times 1/σ, integrated numerically."""
    one = ragged()[1]
    x, n, rho = one.differences, one.n, one.share
    inverse = np.linalg.inv((1 - rho) * np.eye(n) + rho)
    delta = np.linspace(-3, 3, 60_001)
    residual = x - delta[:, None]
    q = np.einsum("ij,jk,ik->i", residual, inverse, residual)
    density = q ** (-n / 2)  # ∫ σ^(−n−1) exp(−q / 2σ²) dσ, up to a constant
    share = density[delta > 0.03].sum() / density.sum()
    found = t_of_mean(x, one)
    assert found is not None
    assert found.sf(0.03) == pytest.approx(share, abs=2e-4)


def test_draws_of_both_models_have_the_t_of_each_and_of_the_difference():
    one = datasets()[1]
    drawn = draw_means(one, 40_000, np.random.default_rng(3))
    for values, own in (
        (one.differences, drawn[0] - drawn[1]),
        *zip(one.values, drawn, strict=True),
    ):
        t = t_of_mean(values, one)
        assert t is not None
        assert (
            stats.kstest(own, lambda v, t=t: stats.t.cdf(v, t.df, t.location, t.scale)).pvalue
            > 0.01
        )


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_the_interval_covers_as_often_as_it_says(share):
    rng, n, reps = np.random.default_rng(5), 10, 4_000
    shared = math.sqrt(share) * rng.standard_normal((reps, 1))
    x = shared + math.sqrt(1 - share) * rng.standard_normal((reps, n))
    inside = 0
    for row in x:
        t = t_of_mean(row, FoldScores(np.stack([row, 0 * row]), share))
        assert t is not None
        inside += t.quantile(0.025) < 0 < t.quantile(0.975)
    assert abs(inside / reps - 0.95) < 4 * math.sqrt(0.95 * 0.05 / reps)
    # Without the correction it would not.
    plain = np.abs(x.mean(axis=1)) < stats.t.ppf(0.975, n - 1) * x.std(axis=1, ddof=1) / n**0.5
    assert plain.mean() < 0.9


def test_equal_scores_differ_by_nothing():
    same = FoldScores(np.array([[0.4, 0.7, 1.0, 0.2], [0.3, 0.6, 0.9, 0.1]]), 0.25)
    assert np.ptp(same.differences) == 0
    assert same.differences[0] == pytest.approx(0.1)
    assert t_of_mean(same.differences, same) is None


# Several data sets


class Brute:
    """The posterior of δ₀, σ₀ and ν on a grid; each δᵢ is integrated over quantiles of its t."""

    def __init__(self, data: list[FoldScores], nodes: int = 700) -> None:
        x = [one.differences for one in data]
        scale = float(np.mean([one.std() for one in x]))
        most = max(np.abs(one).max() for one in x)
        centre = np.linspace(-most, most, 41)[:, None, None]
        spread = scale * np.exp(np.linspace(-5.5, 4.0, 39))[None, :, None]
        log_nu = np.linspace(-4, 7, 12)
        nu = 1 + np.exp(log_nu)
        level = (np.arange(nodes) + 0.5) / nodes
        quantile = stats.t.ppf(level[:, None], nu)  # (nodes, n_nu)
        log = np.zeros((centre.size, spread.size, nu.size))
        for one, own in zip(data, x, strict=True):
            n, rho = one.n, one.share
            squares, kappa = own.var() * n / (1 - rho), (1 + (n - 1) * rho) / n
            for k in range(nu.size):
                delta = centre + spread * quantile[:, k]
                q = squares + (own.mean() - delta) ** 2 / kappa
                log[:, :, k] += np.log(((q / squares) ** (-(n - 1) / 2)).mean(axis=2))
        alpha, beta = np.meshgrid(np.linspace(1, 2, 201), np.linspace(0.01, 0.1, 201))
        prior = np.array([(stats.gamma.pdf(v - 1, alpha, scale=1 / beta)).mean() for v in nu])
        # On grids of log σ₀ and log(ν − 1) the uniform and the gamma have these Jacobians.
        weight = np.exp(log - log.max()) * spread * prior * (nu - 1)
        self.weight = weight / weight.sum()
        self.centre, self.spread, self.nu = np.broadcast_arrays(centre, spread, nu)

    def mean(self, values: np.ndarray) -> float:
        return float((self.weight * values).sum())

    @property
    def answers(self) -> dict[str, float]:
        above = stats.t.sf((0.01 - self.centre) / self.spread, self.nu)
        first = self.mean(self.centre)
        return {
            "mean": first,
            "sd": math.sqrt(self.mean(self.centre**2) - first**2),
            "positive": self.mean(self.centre > 1e-9),
            "log spread": self.mean(np.log(self.spread)),
            "log nu": self.mean(np.log(self.nu)),
            "next above": self.mean(above),
        }


def gibbs_answers(
    data: list[FoldScores], n_draws: int = 20_000, rng: np.random.Generator | None = None
) -> dict[str, tuple[float, float]]:
    drawn = draw_hierarchical(data, n_draws, rng or np.random.default_rng(11))
    mean, error = mean_with_error(drawn.centre)
    sd, of_sd = mean_with_error((drawn.centre - mean) ** 2)
    return {
        "mean": (mean, error),
        "sd": (math.sqrt(sd), of_sd / (2 * math.sqrt(sd))),
        "positive": mean_with_error((drawn.centre > 0).astype(float)),
        "log spread": mean_with_error(np.log(drawn.spread)),
        "log nu": mean_with_error(np.log(drawn.nu)),
        "next above": mean_with_error(drawn.next_masses(-0.01, 0.01)[2]),
    }


def far_apart(own: dict[str, tuple[float, float]], wanted: dict[str, float]) -> dict[str, float]:
    """Return what lies more than four Monte Carlo errors, and the grid's, from what is wanted."""
    apart = {key: (own[key][0] - value) / own[key][1] for key, value in wanted.items()}
    return {
        key: z
        for key, z in apart.items()
        if abs(z) > 4 and abs(own[key][0] - wanted[key]) > 4e-3 * abs(wanted[key])
    }


@pytest.fixture(scope="module")
def brute() -> dict[str, float]:
    return Brute(ragged()).answers


def test_the_sampler_agrees_with_brute_force(brute):
    assert far_apart(gibbs_answers(ragged()), brute) == {}


@pytest.mark.parametrize("bug", ["no Jacobian of nu", "spread too wide"])
def test_planted_bugs_between_data_sets_are_caught(bug, brute, monkeypatch):
    if bug == "no Jacobian of nu":
        prior = fold_scores._log_prior_nu
        monkeypatch.setattr(fold_scores, "_log_prior_nu", lambda log: prior(log) - log)
    else:
        given = fold_scores._centre_given

        def without(data, variance):
            m, v, density = given(data, variance)
            return m, v, density - 0.5 * np.log(v)

        monkeypatch.setattr(fold_scores, "_centre_given", without)
    assert far_apart(gibbs_answers(ragged(), 8_000), brute) != {}


def far_variance() -> tuple[float, float]:
    """Return the variance of δᵢ around its mean, in scales of t, where data sets learn nothing.

    Far apart they have flat priors, and with a uniform σ each is a t of n − 2 degrees of freedom.
    """
    apart = [
        one._replace(values=np.stack([one.values[0] + 3 * place, one.values[1]]))
        for place, one in enumerate(datasets())
    ]
    drawn = draw_hierarchical(apart, 3_200, np.random.default_rng(4)).differences
    x = np.stack([one.differences for one in apart])
    rho, n = 0.1, 10
    scale2 = (1 + (n - 1) * rho) / n * n * x.var(axis=1) / ((1 - rho) * (n - 2))
    return mean_with_error(((drawn - x.mean(axis=1)) ** 2 / scale2).mean(axis=2))


def test_data_sets_far_apart_have_their_own_t():
    variance, error = far_variance()
    assert abs(variance - 8 / 6) < 4 * error


@pytest.mark.parametrize("bug", ["folds independent", "prior 1/sigma"])
def test_planted_bugs_within_data_sets_are_caught(bug, monkeypatch):
    prepare = fold_scores._prepare

    def wrong(data, deltas):
        found = prepare(data, deltas)
        if bug == "prior 1/sigma":
            return found._replace(n=found.n + 1)
        return found._replace(kappa=1 / found.n)

    monkeypatch.setattr(fold_scores, "_prepare", wrong)
    variance, error = far_variance()
    assert abs(variance - 8 / 6) > 4 * error


# A grid of 61 × 41 × 23 with 1,500 nodes a data set, as above but finer, of the eight data sets.
# The Stan model of baycomp 1.0.3, 4 chains of 10,000: 0.02708 ± 0.00010, -2.9870 ± 0.0020,
# 3.2444 ± 0.0057 and 0.62801 ± 0.00067.
EIGHT = {"mean": 0.027220, "log spread": -2.98009, "log nu": 3.23571, "next above": 0.627917}


def test_eight_data_sets_agree_with_brute_force_and_stan():
    own = gibbs_answers(datasets(), 60_000)
    assert far_apart(own, EIGHT) == {}
    for key, (value, error) in {
        "mean": (0.02708, 0.00010),
        "log spread": (-2.9870, 0.0020),
        "log nu": (3.2444, 0.0057),
        "next above": (0.62801, 0.00067),
    }.items():
        assert abs(own[key][0] - value) < 4 * math.hypot(error, own[key][1])


class OneForAll(np.random.Generator):
    """A generator that draws one number a chain where every data set needs its own."""

    def standard_gamma(self, shape, size=None):
        shared = np.ndim(shape) == 2 and np.shape(shape)[1] == 1
        drawn = super().standard_gamma(shape, None if shared else size)
        return np.broadcast_to(drawn, size) if shared else drawn


def test_one_scale_for_all_data_sets_is_caught():
    rng = OneForAll(np.random.PCG64(11))
    assert far_apart(gibbs_answers(datasets(), 60_000, rng), EIGHT) != {}


def test_scores_in_other_units_give_the_same_draws():
    one, other = (
        draw_hierarchical(
            [FoldScores(times * folds.values, folds.share) for folds in ragged()],
            640,
            np.random.default_rng(7),
        )
        for times in (1.0, 100.0)
    )
    np.testing.assert_allclose(other.centre, 100 * one.centre, rtol=1e-6)
    np.testing.assert_allclose(other.nu, one.nu, rtol=1e-6)


def test_data_sets_learn_from_each_other():
    drawn = draw_hierarchical(datasets(), 6_400, np.random.default_rng(1))
    seen = np.array([one.differences.mean() for one in datasets()])
    shrunk = drawn.differences.mean(axis=(0, 1))
    centre = drawn.centre.mean()
    nearer = np.abs(shrunk - centre) < np.abs(seen - centre) + 5e-4
    assert nearer.all()
    # The noisiest folds learn most: those of the second data set more than of the fourth.
    assert abs(shrunk - seen)[1] > 10 * abs(shrunk - seen)[3]


def test_a_data_set_whose_folds_do_not_vary_gets_the_least_variance_of_the_others():
    still = FoldScores(np.array([[0.8, 0.9, 0.7, 0.6], [0.8, 0.9, 0.7, 0.6]]), 0.25)
    prepared = fold_scores._prepare(
        [*ragged(), still], [one.differences for one in (*ragged(), still)]
    )
    least = min(one.differences.std() for one in ragged())
    assert prepared.squares[-1] == pytest.approx(4 * least**2 / 0.75)
    drawn = draw_hierarchical([*ragged(), still], 640, np.random.default_rng(2))
    assert np.isfinite(drawn.differences).all()


# Diagnostics


def autoregressive(phi: float, chains: int = 32, n: int = 2_000) -> np.ndarray:
    rng = np.random.default_rng(9)
    found = np.empty((chains, n))
    found[:, 0] = rng.standard_normal(chains)
    for step in range(1, n):
        noise = np.sqrt(1 - phi**2) * rng.standard_normal(chains)
        found[:, step] = phi * found[:, step - 1] + noise
    return found


@pytest.mark.parametrize("phi", [0.0, 0.5, 0.9])
def test_effective_draws_and_errors_are_those_of_an_autoregression(phi):
    draws = autoregressive(phi)
    wanted = draws.size * (1 - phi) / (1 + phi)
    _, error = mean_with_error(draws)
    # 64 half chains tell the error to 1 / √128; four of these.
    assert error * math.sqrt(wanted) == pytest.approx(1, abs=4 / math.sqrt(128))
    chain = diagnose_many(draws)
    assert chain.mcse == error
    assert chain.ess < 1.6 * wanted if phi else chain.ess > draws.size / 2
    assert chain.rhat < 1.02


def test_chains_that_disagree_are_noticed():
    draws = autoregressive(0.5)
    draws[:4] += 1.0
    assert not diagnose_many(draws).converged
    wider = autoregressive(0.5)
    wider[:4] *= 3
    assert diagnose_many(wider).rhat > 1.01


def test_diagnostics_are_about_those_of_arviz():
    az = pytest.importorskip("arviz")
    draws = autoregressive(0.7)
    chain = diagnose_many(draws)
    assert chain.rhat == pytest.approx(float(az.rhat(draws)), abs=2e-3)
    assert chain.mcse == pytest.approx(np.asarray(az.mcse(draws, method="mean")).item(), rel=0.4)


# One score a data set


def test_ranks_are_those_of_baycomp():
    """SignedRankTest of baycomp 1.0.3, 200,000 draws, seed 1, of the data sets' means."""
    seen = np.array([one.differences.mean() for one in datasets()])
    drawn = draw_ranks(seen, 50_000, np.random.default_rng(0))
    masses = drawn.pair_masses(-0.01, 0.01)
    largest = np.bincount(masses.argmax(axis=0), minlength=3) / 50_000
    np.testing.assert_allclose(masses.mean(axis=1), [0.12400, 0.20761, 0.66839], atol=0.003)
    np.testing.assert_allclose(largest, [0.03792, 0.02818, 0.93391], atol=0.005)


def test_pseudo_medians_move_with_the_differences():
    """The prior's zero is left out of them, so it cannot pull few data sets toward zero."""
    seen = np.array([0.01, 0.03, -0.02, 0.05, 0.02])
    near, far = (draw_ranks(seen + c, 500, np.random.default_rng(0)).medians for c in (0.0, 1.0))
    np.testing.assert_allclose(far, near + 1.0)


def test_pseudo_median_matches_brute_force_of_equal_weights():
    # Of sixteen ordered pairs 7 lie below the middle of the mass at 1.5, and 8.5 below that at 2.
    assert pseudo_median(np.array([0.0, 1.0, 2.0, 9.0])) == pytest.approx(1.5 + 0.5 * 1 / 1.5)
    assert pseudo_median(np.array([3.0, 3.0, 3.0])) == 3.0
    assert pseudo_median(np.array([-1.0, 0.0, 1.0])) == pytest.approx(0.0)


def test_widening_is_that_of_student_t():
    n, n_draws = 6, 200_000
    drawn = draw_ranks(np.zeros(n), n_draws, np.random.default_rng(1))
    values = np.array([0.3, -0.1, 0.4, 0.2, -0.5, 0.1])
    squared_error = values.var(ddof=1) / n
    # Weights give a mean the variance (n − 1) / (n + 1) of s²/n, and Student's t (n − 1) / (n − 3).
    plain = drawn.own @ values - values.mean()
    assert plain.var() == pytest.approx(squared_error * (n - 1) / (n + 1), rel=0.02)
    assert (1 / drawn.widening**2).mean() == pytest.approx((n - 1) / (n + 1), rel=0.01)
    assert (drawn.widening * plain).var() == pytest.approx(
        squared_error * (n - 1) / (n - 3), rel=0.1
    )


@pytest.mark.parametrize("heavy", [False, True])
def test_intervals_of_five_data_sets_cover(heavy):
    """Without the widening they cover 83% of centres and two thirds of next data sets at most."""
    rng, n_sets, n_draws = np.random.default_rng(5), 300, 400
    covered = following = 0
    for _ in range(n_sets):
        *seen, soon = rng.standard_t(3, 6) if heavy else rng.standard_normal(6)
        drawn = draw_ranks(np.array(seen), n_draws, rng)
        low, high = np.quantile(drawn.medians, [0.025, 0.975])
        covered += low <= 0 <= high
        below, _, above = drawn.next_masses(soon, soon).mean(axis=1)
        following += min(below, above) > 0.025
    error = np.sqrt(0.95 * 0.05 / n_sets)
    assert covered / n_sets > 0.95 - 3.5 * error
    assert following / n_sets > 0.95 - 5 * error


# Chains that need more draws


def test_chains_are_continued_until_converged(monkeypatch):
    """The first draws are those of the shorter chain, and a seed repeats all of them."""
    n_draws = 320
    long, again = (
        draw_hierarchical(datasets(), n_draws, np.random.default_rng(3)) for _ in range(2)
    )
    monkeypatch.setattr(fold_scores, "MOST_DRAWS", 0)
    short = draw_hierarchical(datasets(), n_draws, np.random.default_rng(3))
    assert not diagnose_many(short.centre).converged
    assert diagnose_many(long.centre).converged
    assert long.centre.size > short.centre.size == n_draws
    for first, all_of_them, repeated in zip(short, long, again, strict=True):
        np.testing.assert_allclose(all_of_them[:, : n_draws // 32], first, rtol=1e-12)
        np.testing.assert_array_equal(all_of_them, repeated)


def test_chains_are_not_continued_beyond_the_limit(monkeypatch):
    monkeypatch.setattr(fold_scores, "MOST_DRAWS", 700)
    assert draw_hierarchical(datasets(), 320, np.random.default_rng(3)).centre.size == 640
