"""Prior learned: each of its parts by an independent integration, and how they go together."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import betaln, expit, gammaln

from outperform import Outcomes
from outperform.data.table import Table
from outperform.errors import ResourceError
from outperform.posterior import class_priors
from outperform.posterior.class_priors import (
    LearnedPrevalence,
    class_sizes,
    recall_posterior,
    spread_posterior,
)
from outperform.posterior.dirichlet import DenseRows
from outperform.posterior.hierarchical import GridPosterior, logistic
from outperform.posterior.learned import Learned, learned, shared_errors
from tests.lazily import lazily
from tests.loops import each

ks_2samp = lazily("scipy.stats.ks_2samp")
loggamma = lazily("scipy.stats.loggamma")
qmc = lazily("scipy.stats.qmc")

COUNTS = np.array([[14, 3, 2], [2, 7, 0], [0, 2, 4]])

# Recall


def middles(low, high, n):
    return low + (high - low) / n * (np.arange(n) + 0.5)


def brute_recall(right, wrong):
    """Return η, s, b on a fixed dense grid over the whole prior, and their posterior.

    The size of a class is half of its log count, about the mean of all.
    """
    sizes = np.log(np.add(right, wrong) + 1.0)
    sizes = 0.5 * (sizes - sizes.mean())
    logit, log_mass, slope = np.meshgrid(
        middles(-14, 14, 91), middles(0, 16, 81), middles(-12, 12, 61), indexing="ij"
    )
    mass = np.exp(log_mass)
    log = sum(-np.logaddexp(0, at) - np.logaddexp(0, -at) for at in (logit, log_mass, slope))
    for hits, misses, size in zip(right, wrong, sizes, strict=True):
        good, bad = (np.maximum(expit(sign * (logit + slope * size)), 1e-300) for sign in (1, -1))
        log += betaln(hits + mass * good, misses + mass * bad) - betaln(mass * good, mass * bad)
    weights = np.exp(log - log.max())
    return logit, mass, slope, sizes, weights / weights.sum()


TWELVE = np.random.default_rng(2).integers(0, [[40], [9]], (2, 12))


@each(
    ("right", "wrong"),
    [
        ([14, 7, 4], [5, 2, 2]),
        ([10, 7, 4], [0, 3, 2]),
        ([10, 7, 4], [0, 0, 0]),
        ([30] * 12, [0] * 12),
        (TWELVE[0], TWELVE[1]),
        ([0, 0, 0], [0, 0, 0]),
        ([900, 800, 50], [100, 50, 40]),
    ],
    ids=["three", "one perfect", "all perfect", "twelve perfect", "twelve", "no items", "large"],
)
def test_recalls_have_the_moments_of_brute_force(right, wrong):
    logit, mass, slope, sizes, weights = brute_recall(right, wrong)
    right, wrong = np.array(right, dtype=float), np.array(wrong, dtype=float)
    # With twelve classes two have no neighbour to share a size with; the sizes are tested below.
    if len(right) <= 10:
        assert class_sizes(right + wrong) == pytest.approx(sizes)
    found = recall_posterior(right, wrong, sizes)
    mesh = np.meshgrid(*found.grid.axes, indexing="ij")
    logits, log_masses, slopes = found.coordinates(*mesh)
    ours = found.grid.probabilities
    eta = (weights * expit(logit)).sum()
    assert (ours * expit(logits)).sum() == pytest.approx(eta, abs=2e-3)
    expected = (weights * mass / (1 + mass)).sum()
    assert (ours * expit(log_masses)).sum() == pytest.approx(expected, abs=4e-3)
    spread = np.sqrt((weights * slope**2).sum())
    assert (ours * slopes).sum() == pytest.approx((weights * slope).sum(), abs=5e-3 * spread)


def test_the_mean_of_alike_recalls_is_known_as_well_as_all_items_allow():
    right, wrong = np.full(4, 450.0), np.full(4, 50.0)
    found = recall_posterior(right, wrong, np.zeros(4))
    logit, log_mass, _ = found.draw(np.random.default_rng(0), 40_000)
    mass = np.exp(log_mass)
    # Accuracy of four classes of 500: each recall given (η, s) is conjugate.
    recalls = np.random.default_rng(1).beta(
        right[:, None] + mass * expit(logit), wrong[:, None] + mass * expit(-logit)
    )
    assert recalls.mean(axis=0).std() == pytest.approx(np.sqrt(0.9 * 0.1 / 2_000), rel=0.03)


def test_classes_of_similar_size_share_one():
    counts = np.arange(1.0, 41.0)
    sizes = class_sizes(counts[::-1])[::-1]
    assert sizes.mean() == pytest.approx(0.0, abs=1e-12)
    assert np.unique(sizes).size == 10
    logs = np.log(counts + 1.0)
    assert sizes == pytest.approx(0.5 * (np.repeat(logs.reshape(10, 4).mean(1), 4) - logs.mean()))


POWERS = np.linspace(0, 1.25, 6)


def brute_spread(counts):
    """Return t, the base of each power, and their posterior, ``(n_powers, n_t)``."""
    n_classes, n = len(counts), counts.sum(axis=1)
    log_t = middles(np.log(0.05), 16, 8_001)
    t = np.exp(log_t)
    logs = []
    for power in POWERS:
        log = log_t - 2 * np.log1p(t)
        for truth in range(n_classes):
            errors, base = (np.delete(one, truth) for one in (counts[truth], (n + 0.5) ** power))
            log += gammaln(t) - gammaln(t + errors.sum())
            for count, share in zip(errors, base / base.sum(), strict=True):
                log += gammaln(count + t * share) - gammaln(t * share)
        logs.append(log)
    weights = np.exp(np.array(logs) - np.max(logs))
    return t, weights / weights.sum()


def off_diagonal(counts):
    truth, predicted = np.nonzero(counts * ~np.eye(len(counts), dtype=bool))
    return counts[truth, predicted].astype(float), truth, predicted, counts.sum(axis=1)


POPULAR = np.array([[90, 2, 1], [9, 30, 1], [6, 1, 4]])


@each("counts", [COUNTS, 10 * COUNTS, np.diag([5, 5, 5]), np.eye(8, k=1, dtype=int) * 30, POPULAR])
def test_the_split_of_errors_has_the_moments_of_brute_force(counts):
    t, weights = brute_spread(counts)
    found = spread_posterior(*off_diagonal(counts))
    ours, nodes = found.probabilities, found.log_masses
    assert ours.sum(axis=1) == pytest.approx(weights.sum(axis=1), abs=2e-3)
    shrunk = (weights @ (t / (1 + t))).sum()
    assert (ours @ logistic(nodes)).sum() == pytest.approx(shrunk, rel=1e-3)
    assert (ours @ nodes).sum() == pytest.approx((weights @ np.log(t)).sum(), abs=5e-3)
    drawn, power = found.draw(np.random.default_rng(0), 40_000)
    assert (drawn / (1 + drawn)).mean() == pytest.approx(shrunk, abs=5 * 0.5 / 200)
    assert (power == 4).mean() == pytest.approx(weights[4].sum(), abs=5 * 0.5 / 200)


def test_errors_that_fall_on_frequent_classes_are_noticed():
    n = np.array([900, 300, 100, 50, 20, 10])
    popular = np.rint(np.outer(n, n) / n.sum()).astype(int)
    found = spread_posterior(*off_diagonal(popular))
    assert found.probabilities.sum(axis=1) @ POWERS > 0.8
    even = np.full((6, 6), 8) + np.diag(n)
    found = spread_posterior(*off_diagonal(even))
    assert found.probabilities.sum(axis=1) @ POWERS < 0.3


@pytest.mark.parametrize("n_axes", [1, 3])
def test_uniform_levels_reproduce_a_grid(n_axes):
    rng = np.random.default_rng(5)
    axes = tuple(np.linspace(-1.0, 2.0, 4 + place) for place in range(n_axes))
    probabilities = rng.dirichlet(np.full(np.prod([4, 5, 6][:n_axes]), 0.3))
    grid = GridPosterior(axes=axes, probabilities=probabilities.reshape([4, 5, 6][:n_axes]))
    n = 200_000
    found = grid.at(rng.random((n_axes, n)))
    cells = []
    for axis, values in zip(axes, found, strict=True):
        place = (values - axis[0]) / (axis[1] - axis[0]) + 0.5
        assert np.abs(place % 1 - 0.5).mean() == pytest.approx(0.25, abs=0.002)  # even within
        cells.append(np.floor(place).astype(int))
    counts = np.zeros(grid.probabilities.shape)
    np.add.at(counts, tuple(cells), 1)
    error = np.sqrt(grid.probabilities * (1 - grid.probabilities) / n)
    assert (np.abs(counts / n - grid.probabilities) <= 4.5 * error + 2e-5).all()


# Prevalence

N_PARAMETERS = 4096
PER_PARAMETER = 250


def log_generalised_gamma(standard, skew):
    """Return the log density of ``z`` where ``log G = skew · z`` and G is a scaled gamma."""
    shape = skew**-2.0
    tilted = np.minimum(skew * standard + np.log(shape), 300.0)
    return loggamma.logpdf(tilted, shape) + np.log(np.abs(skew))


def importance(counts, *, seed=1):
    """Return mean and sd of the proportions, and how many draws they are worth.

    Parameters are even over the prior; rates come from ``Gamma(n + ½)``, which knows nothing
    of the others, and weights set them right.
    """
    rng, counts = np.random.default_rng(seed), np.asarray(counts, dtype=float)
    u, v, w = qmc.Sobol(3, seed=rng).random(N_PARAMETERS).T
    # The grid's outer cells reach half a step beyond .1 to 3.5, and −4 to 2.
    half_step = np.log(3.5 / 0.1) / 26
    scale = 0.1 * np.exp(-half_step) * np.exp(u * (np.log(3.5 / 0.1) + 2 * half_step))
    skew = 6.5 * v - 4.25
    location = np.log(max(counts.mean(), 0.5)) - 6 + 9 * w
    log = np.log(scale / (1 + scale**2))
    if counts.min() > 0:  # a class without items would not be on the list
        at = np.linspace(-25.0, 25.0, 2001)
        density = np.exp(log_generalised_gamma(at, skew[:, None]))
        rates = np.exp(np.minimum(location[:, None] + scale[:, None] * at, 50.0))
        log -= counts.size * np.log(1 - (density * np.exp(-rates)).sum(1) / density.sum(1))
    rates = rng.standard_gamma(counts + 0.5, (PER_PARAMETER, N_PARAMETERS, counts.size))
    logs = np.log(rates)
    standard = (logs - location[:, None]) / scale[:, None]
    log = log - counts.size * np.log(scale)
    log = log + (log_generalised_gamma(standard, skew[:, None]) - 0.5 * logs).sum(axis=-1)
    weights = np.exp(log - log.max())[..., None]
    weights /= weights.sum()
    shares = rates / rates.sum(axis=-1, keepdims=True)
    mean = (weights * shares).sum(axis=(0, 1))
    return mean, np.sqrt((weights * (shares - mean) ** 2).sum(axis=(0, 1))), 1 / (weights**2).sum()


FAST = ([0, 2, 5, 12], [0, 0, 0, 7], [3, 3, 4], [160, 240, 180, 420], [250, 1000, 4000, 60])
SLOW = ([1, 3, 8, 20], [0, 1, 1, 0, 2, 30], [40, 60, 100], [230, 250, 270, 240])


@pytest.mark.parametrize(
    "counts", [*FAST, *(pytest.param(counts, marks=pytest.mark.slow) for counts in SLOW)], ids=str
)
def test_proportions_have_the_moments_of_importance_sampling(counts):
    mean, sd, worth = importance(counts)
    drawn = LearnedPrevalence(np.array(counts, dtype=float)).draw(np.random.default_rng(3), 100_000)
    assert np.allclose(drawn.sum(axis=0), 1.0)
    assert worth > 500
    # Of 128 equally likely parameters the mean is off by up to 0.05 of an sd.
    error = sd * (0.05 + 4.5 * np.sqrt(1 / worth + 1e-5))
    assert (np.abs(drawn.mean(axis=1) - mean) <= error).all()
    ratio = drawn.std(axis=1) / sd
    assert (np.abs(np.log(ratio)) <= 0.04 + 4.5 / np.sqrt(worth)).all()


def test_what_unseen_classes_have_is_what_good_and_turing_say():
    """The share of classes without items is about the share of items seen once."""
    rng, ratios = np.random.default_rng(8), []
    shares = 1 / np.arange(1, 201.0)
    shares /= shares.sum()
    for _ in range(8):
        counts = rng.multinomial(600, shares).astype(float)
        unseen = LearnedPrevalence(counts).draw(rng, 4_000)[counts == 0].sum(axis=0)
        low, high = np.quantile(unseen, [0.0005, 0.9995])
        assert low < shares[counts == 0].sum() < high
        ratios.append(unseen.mean() / ((counts == 1).sum() / 600))
    assert 0.7 < np.mean(ratios) < 1.4


def test_rare_classes_keep_a_share_of_a_skewed_test_set():
    """A uniform prior gives 40 unseen classes 0.28 of the weight; five frequent ones show less."""
    counts = np.concatenate([np.zeros(40), [10.0, 12.0, 15.0, 20.0, 33.0]])
    drawn = LearnedPrevalence(counts).draw(np.random.default_rng(4), 10_000)
    assert drawn[:40].sum(axis=0).mean() < 0.1


# The whole


def alone(counts):
    return Outcomes.from_confusion({"m": np.asarray(counts)})


def test_cells_have_the_mean_and_sd_of_the_mixture(confusions, moments):
    """Recall and split are independent of each other, and of the prevalence, in each draw."""
    right, wrong = np.diag(COUNTS), COUNTS.sum(axis=1) - np.diag(COUNTS)
    logit, mass, slope, sizes, weights = brute_recall(right, wrong)
    t, of_t = brute_spread(COUNTS)
    off = [[3, 2], [2, 0], [0, 2]]
    (drawn,) = confusions(Learned(alone(COUNTS)), 40_000)
    prevalence = drawn.sum(axis=1)
    for truth in range(3):
        bad = wrong[truth] + mass * expit(-(logit + slope * sizes[truth]))
        whole = right[truth] + wrong[truth] + mass
        miss = (
            (weights * bad / whole).sum(),
            (weights * bad / whole * (bad + 1) / (whole + 1)).sum(),
        )
        moments(
            1 - drawn[truth, truth] / prevalence[truth], miss[0], np.sqrt(miss[1] - miss[0] ** 2)
        )
        base = np.delete((COUNTS.sum(axis=1) + 0.5) ** POWERS[:, None], truth, axis=1)
        base /= base.sum(axis=1, keepdims=True)
        for place, predicted in enumerate(np.delete(range(3), truth)):
            part, total = off[truth][place] + t * base[:, place, None], sum(off[truth]) + t
            split = (
                (of_t * part / total).sum(),
                (of_t * part / total * (part + 1) / (total + 1)).sum(),
            )
            mean, second = miss[0] * split[0], miss[1] * split[1]
            cell = drawn[truth, predicted] / prevalence[truth]
            moments(cell, mean, np.sqrt(second - mean**2))


@pytest.mark.parametrize("counts", [COUNTS, np.diag([9, 5, 0, 2]), np.full((12, 12), 1)])
def test_margins_are_those_of_the_confusion_array(counts, confusions, margins, same):
    posterior = Learned(alone(counts))
    (matrix,) = confusions(posterior, 20_000)
    ((hits, actual, predicted),) = margins(posterior, 20_000, seed=2)
    for label in range(len(counts)):
        same(hits[label], matrix[label, label])
        same(actual[label], matrix[label].sum(axis=0))
        same(predicted[label], matrix[:, label].sum(axis=0))
    for sums in (hits, actual, predicted):
        assert (sums >= 0).all()
    assert np.allclose(predicted.sum(axis=0), 1.0)


def four_models(n, right, seed, *, n_classes=4):
    """Return outcomes of a to d: b says mostly what a says, c is a, d errs where a is right."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_classes, n)
    a = np.where(rng.random(n) < right, truth, rng.integers(0, n_classes, n))
    b = np.where(rng.random(n) < 0.7, a, rng.integers(0, n_classes, n))
    d = np.where((a == truth) & (rng.random(n) < 0.3), (truth + 1) % n_classes, truth)
    labels = list(range(n_classes))
    return Outcomes.from_labels(truth, {"a": a, "b": b, "c": a, "d": d}, labels=labels)


def close(left, right):
    """Fail unless two samples are of one distribution, however long its tail."""
    assert ks_2samp(left, right).pvalue > 1e-5
    error = np.hypot(left.std(), right.std()) / np.sqrt(left.size)
    assert abs(left.mean() - right.mean()) <= 4.5 * error


@pytest.mark.parametrize(("n", "right"), [(40, 0.6), (60, 1.0), (500, 0.97)])
def test_a_model_is_the_same_whatever_is_beside_it(n, right, confusions):
    seen = four_models(n, right, seed=n)
    (by_itself,) = confusions(Learned(seen.select(["a"])), 20_000)
    for beside in (["a", "b"], ["a", "c"], ["d", "a"], ["b", "c", "a"]):
        found = confusions(Learned(seen.select(beside)), 20_000, seed=2)[beside.index("a")]
        close(np.trace(found), np.trace(by_itself))
        for truth in range(4):
            row, own = (one[truth] / one[truth].sum(axis=0) for one in (found, by_itself))
            close(row[truth], own[truth])
            close(row[truth - 1], own[truth - 1])
            close(found[truth].sum(axis=0), by_itself[truth].sum(axis=0))


def test_equal_models_hardly_differ(confusions):
    seen = four_models(200, 0.9, seed=1)
    a, c = confusions(Learned(seen.select(["a", "c"])), 10_000)
    apart = np.trace(a) - np.trace(c)
    assert abs(apart.mean()) < 3e-4
    # At most 0.98 of what is learned is common, so 2 · 0.02 of its variance at the least is not.
    assert 0.1 < apart.std() / np.trace(a).std() < 0.3
    a, b = confusions(Learned(seen.select(["a", "b"])), 10_000)
    assert (np.trace(a) - np.trace(b)).std() > 0.5 * np.trace(a).std()


def test_models_share_no_more_than_their_errors():
    cells = np.array([[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1]])
    independent = np.array([49.0, 21.0, 21.0, 9.0])
    assert shared_errors(cells, independent) == pytest.approx(0.0, abs=0.01)
    half = 1000 * (independent + np.array([21, -21, -21, 21]) / 2)
    assert shared_errors(cells, half) == pytest.approx(0.5, abs=1e-3)
    opposed = 1000 * (independent - np.array([21, -21, -21, 21]) / 3)
    assert shared_errors(cells, opposed) == pytest.approx(-1 / 3, abs=1e-3)
    assert shared_errors(cells[:, [0, 1, 2, 2]], opposed) > 0  # the two that are equal
    assert shared_errors(cells[:, :2], independent) == 0.0


@pytest.mark.parametrize("beside", ["b", "d"])
def test_accuracies_are_correlated_as_errors_are(beside, margins):
    """With many classes most is learned from the parameters, and they must not lose it."""
    posterior = Learned(four_models(400, 0.6, seed=5, n_classes=20).select(["a", beside]))
    assert (posterior.shared > 0.4) if beside == "b" else (posterior.shared < -0.3)
    rates = [hits.sum(axis=0) for hits, _, _ in margins(posterior, 20_000)]
    # The pilot of 500 draws gives the correlation of the parameters to about 1 / sqrt(500).
    assert np.corrcoef(rates)[0, 1] == pytest.approx(posterior.shared, abs=3 / np.sqrt(500))


def test_a_given_prevalence_keeps_the_rows(same):
    posterior = Learned(alone(COUNTS))
    wanted = np.array([0.2, 0.3, 0.5])[:, None]
    draw = posterior.scaled_worker("confusion")
    (there,) = draw(np.random.default_rng(1), 20_000, lambda actual: wanted / actual)
    (here,) = posterior.worker("confusion")(np.random.default_rng(2), 20_000)
    assert there.sum(axis=1) == pytest.approx(np.broadcast_to(wanted, (3, 20_000)))
    for truth, predicted in np.ndindex(3, 3):
        share = here[truth, predicted] / here[truth].sum(axis=0)
        same(there[truth, predicted] / wanted[truth], share)


# Edges


def test_two_classes_are_unit_and_more_have_no_closed_form(binary, ternary):
    assert isinstance(learned(binary), DenseRows)
    posterior = learned(ternary)
    assert isinstance(posterior, Learned)
    assert posterior.part_shape(0, "correct", None) is None
    assert posterior.row_shapes(0, 1) is None
    assert posterior.agreement_shapes(None) is None


@each(
    "counts",
    [
        np.zeros((3, 3), dtype=int),
        np.diag([1, 0, 0]),
        [[0, 9, 0], [0, 0, 0], [0, 0, 0]],
        [[5, 0, 0], [5, 0, 0], [5, 0, 0]],
        [[10**9, 0, 0], [0, 1, 0], [1, 0, 0]],
        np.diag([5, 5, 5]),
        np.array([[3.5, 0.25, 0.0], [0.5, 2.75, 0.0], [0.0, 0.0, 1e-3]]),
    ],
    ids=["none", "one", "one class", "constant", "huge", "perfect", "weights"],
)
def test_extreme_tables_are_finite(counts, confusions, margins):
    counts = np.asarray(counts)
    cells = np.argwhere(counts)
    table = Table(cells, counts[tuple(cells.T)])
    seen = Outcomes(models=("m",), labels=(0, 1, 2), tables=(table,))
    posterior = Learned(seen)
    (drawn,) = confusions(posterior, 500)
    assert np.isfinite(drawn).all()
    assert (drawn >= 0).all()
    assert np.allclose(drawn.sum(axis=(0, 1)), 1.0)
    assert np.isfinite(margins(posterior, 500)).all()


def test_a_thousand_classes_have_margins_and_no_confusion_array():
    rng = np.random.default_rng(1)
    truth = rng.zipf(1.3, 5_000) % 1_000
    said = {
        name: np.where(rng.random(truth.size) < right, truth, rng.integers(0, 1_000, truth.size))
        for name, right in (("a", 0.8), ("b", 0.7))
    }
    posterior = Learned(Outcomes.from_labels(truth, said, labels=list(range(1_000))))
    for one in posterior.worker("margins")(rng, 50):
        assert np.allclose(one.actual.sum(axis=0), 1.0)
        assert np.allclose(one.predicted.sum(axis=0), 1.0)
        assert (one.hits <= np.minimum(one.actual, one.predicted) * (1 + 1e-9)).all()
    with pytest.raises(
        ResourceError, match=("1,000,000 cells per draw; use one of the named metrics")
    ):
        posterior.worker("confusion")


def test_tables_that_fits_share_cannot_be_changed():
    assert not any(table.flags.writeable for table in class_priors._parameters(100))
