"""Parts of curves, several classes and calibration, against scikit-learn and brute force."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import outperform as op
from outperform import metrics
from outperform.data.scores import Scores
from outperform.errors import DataError, UsageError
from outperform.inference.score_views import prepare
from outperform.metrics.curves import ClassAreas, PartialArea, RateAt
from outperform.metrics.weighted import ItemData, Ranking, Units
from tests.lazily import lazily
from tests.loops import each

roc_auc_score = lazily("sklearn.metrics.roc_auc_score")
label_binarize = lazily("sklearn.preprocessing.label_binarize")

OF_CLASSES = ("roc_auc_ovr", "roc_auc_ovo", "roc_auc_ovr_weighted", "roc_auc_ovo_weighted")


def two_classes(n, *, levels=None, seed=0):
    generator = np.random.default_rng(seed)
    truth = generator.random(n) < 0.4
    truth[:2] = True, False
    score = generator.normal(size=n) + truth
    return truth, score if levels is None else np.round(score * levels) / levels


def classes(n, k=4, *, digits=None, seed=0):
    """Return truth and probabilities of k classes, rounded to ties if asked."""
    generator = np.random.default_rng(seed)
    truth = generator.integers(0, k, n)
    truth[:k] = np.arange(k)
    score = generator.normal(size=(n, k)) + 1.2 * np.eye(k)[truth]
    given = np.exp(score) / np.exp(score).sum(axis=1, keepdims=True)
    return truth, given if digits is None else np.round(given, digits)


def weights_of(n, seed=1):
    generator = np.random.default_rng(seed)
    return (np.ones(n), generator.integers(1, 5, n).astype(float), generator.exponential(size=n))


def areas(name, truth, score, weights):
    made = ClassAreas.of(ItemData(score, truth, Units(len(truth))), name)
    return float(made.worker()(weights[None])[0])


def ovo_by_hand(truth, score, weights, *, weighted):
    """Return Hand and Till's mean over pairs, each by scikit-learn's weighted binary AUC."""
    k, values, shares = score.shape[1], [], []
    for a in range(k):
        for b in range(a + 1, k):
            some = (truth == a) | (truth == b)
            of_a = roc_auc_score(truth[some] == a, score[some, a], sample_weight=weights[some])
            of_b = roc_auc_score(truth[some] == b, score[some, b], sample_weight=weights[some])
            values.append((of_a + of_b) / 2)
            shares.append(weights[some].sum())
    return np.average(values, weights=shares if weighted else None)


@pytest.mark.parametrize("digits", [None, 1])
@pytest.mark.parametrize("average", ["macro", "weighted"])
def test_one_against_the_rest_is_scikit_learns_by_any_weights(digits, average):
    truth, score = classes(300, digits=digits)
    name = "roc_auc_ovr" if average == "macro" else "roc_auc_ovr_weighted"
    for weights in weights_of(300):
        wanted = roc_auc_score(  # as indicators, since rounded rows need not add up to 1
            label_binarize(truth, classes=range(4)), score, average=None, sample_weight=weights
        )
        shares = np.bincount(truth, weights) if average == "weighted" else None
        expected = np.average(wanted, weights=shares)
        assert areas(name, truth, score, weights) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", OF_CLASSES)
def test_without_weights_all_four_are_scikit_learns(name):
    truth, score = classes(200)
    expected = roc_auc_score(
        truth,
        score,
        multi_class=name.split("_")[2],
        average="weighted" if name.endswith("weighted") else "macro",
    )
    assert areas(name, truth, score, np.ones(200)) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", OF_CLASSES)
def test_a_weight_is_a_repeated_row(name):
    truth, score = classes(60, 3, digits=1)
    times = np.random.default_rng(3).integers(1, 4, 60)
    repeated = areas(
        name, np.repeat(truth, times), np.repeat(score, times, 0), np.ones(times.sum())
    )
    assert areas(name, truth, score, times.astype(float)) == pytest.approx(repeated, abs=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_one_against_another_is_hand_and_tills_by_any_weights(weighted):
    truth, score = classes(150, digits=1)
    name = "roc_auc_ovo_weighted" if weighted else "roc_auc_ovo"
    for weights in weights_of(150):
        expected = ovo_by_hand(truth, score, weights, weighted=weighted)
        assert areas(name, truth, score, weights) == pytest.approx(expected, abs=1e-12)


def test_many_classes_take_their_memory_anew_and_say_the_same():
    truth, score = classes(90, 9)
    weights = np.random.default_rng(0).exponential(size=(5, 90))
    found = ClassAreas.of(ItemData(score, truth, Units(90)), "roc_auc_ovo").worker()(weights)
    expected = [ovo_by_hand(truth, score, one, weighted=False) for one in weights]
    assert found == pytest.approx(expected, abs=1e-12)


def partial(truth, score, weights, most):
    ranking = Ranking.of(truth, score, Units(len(truth)))
    return float(PartialArea(ranking, most).worker()(weights[None])[0])


@each("levels", [None, 3, 1])
@each("most", [0.02, 0.1, 0.5, 0.99])
def test_partial_areas_are_scikit_learns(levels, most):
    truth, score = two_classes(400, levels=levels)
    for weights in weights_of(400):
        expected = roc_auc_score(truth, score, sample_weight=weights, max_fpr=most)
        assert partial(truth, score, weights, most) == pytest.approx(expected, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.booleans(), st.integers(0, 4), st.integers(1, 3)), min_size=2),
    st.sampled_from([0.1, 0.25, 0.5, 0.8]),
)
def test_any_small_table_agrees_with_scikit_learn_and_brute_force(rows, level):
    truth, score, weight = (np.array(column) for column in zip(*rows, strict=True))
    if truth.all() or not truth.any():
        return
    weight = weight.astype(float)
    expected = roc_auc_score(truth, score, sample_weight=weight, max_fpr=level)
    assert partial(truth, score.astype(float), weight, level) == pytest.approx(expected, abs=1e-12)
    for of in ("sensitivity", "specificity"):
        found = rate_at(truth, score.astype(float), weight, level, of)
        assert found == pytest.approx(thresholds(truth, score, weight, level, of), abs=1e-12)


def rate_at(truth, score, weights, level, of):
    ranking = Ranking.of(truth, score, Units(len(truth)))
    return float(RateAt(ranking, level, of).worker()(weights[None])[0])


def thresholds(truth, score, weights, level, of):
    """Return the best rate over every threshold, tried one by one."""
    best = 0.0
    for threshold in (*np.unique(score), np.inf):
        said = score >= threshold
        sensitivity = weights[said & truth].sum() / weights[truth].sum()
        specificity = weights[~said & ~truth].sum() / weights[~truth].sum()
        first, second = sensitivity, specificity
        if of == "specificity":
            first, second = specificity, sensitivity
        if second >= level - 1e-12:
            best = max(best, first)
    return best


@each("of", ["sensitivity", "specificity"])
@each("levels", [None, 3, 1])
@each("level", [0.05, 0.5, 0.9, 0.95, 0.99])
def test_rates_are_the_best_over_all_thresholds(of, levels, level):
    truth, score = two_classes(150, levels=levels)
    for weights in weights_of(150):
        expected = thresholds(truth, score, weights, level, of)
        assert rate_at(truth, score, weights, level, of) == pytest.approx(expected, abs=1e-12)


def test_a_bug_in_the_ties_would_be_seen():
    truth, score = two_classes(300, levels=1)
    whole = Ranking.of(truth, score, Units(300))
    planted = Ranking(
        positives=whole.positives,
        negatives=whole.negatives,
        above=whole.above,
        level=whole.above,
        peers=whole.peers,
        units=whole.units,
    )
    weights = np.ones((1, 300))
    for made in (lambda r: PartialArea(r, 0.3), lambda r: RateAt(r, 0.7, "sensitivity")):
        right, wrong = (float(made(one).worker()(weights)[0]) for one in (whole, planted))
        assert abs(right - wrong) > 0.01


# Calibration


def by_bins(name, truth, given, weights, bins, group=None):
    """Return calibration errors and parts of the Brier score, bin by bin."""
    from scipy.stats import foldnorm

    group = np.arange(len(truth)) if group is None else group
    total, overall = weights.sum(), weights @ truth / weights.sum()
    every = [(truth, given, weights, group)]
    edges = np.linspace(0, 1, bins + 1)
    edges[0] = -1
    for low, high in itertools.pairwise(edges):
        some = (given > low) & (given <= high)
        if some.any():
            every.append((truth[some], given[some], weights[some], group[some]))
    value, debiased = 0.0, name.endswith("debiased")
    noises = []
    for y, _, w, g in every:
        rate = w @ y / w.sum()
        moved = [(w[g == one] @ (y[g == one] - rate)) ** 2 for one in np.unique(g)]
        held = [w[g == one].sum() ** 2 for one in np.unique(g)]
        left = w.sum() ** 2 - sum(held)
        noises.append(sum(moved) / left if debiased and left > 1e-9 else 0.0)
    for (y, p, w, _), noise in zip(every[1:], noises[1:], strict=True):
        share, rate, mean = w.sum() / total, w @ y / w.sum(), w @ p / w.sum()
        gap, sd = abs(rate - mean), np.sqrt(noise)
        if "ece" in name:
            added = foldnorm.mean(gap / sd, scale=sd) - gap if sd > 0 else 0.0
            value += share * (gap - added)
        elif "reliability" in name:
            value += share * (gap**2 - noise)
        elif "resolution" in name:
            value += share * ((rate - overall) ** 2 - noise)
    if "resolution" in name:
        value += noises[0]
    if "uncertainty" in name:
        value = overall * (1 - overall) + noises[0]
    return value


PARTS = ["ece", "brier_reliability", "brier_resolution", "brier_uncertainty"]
PARTS += [f"{name}_debiased" for name in PARTS]


def evaluated(name, truth, given, weights, units=None):
    scores = Scores.from_arrays(truth, {"m": given})
    metric = metrics.get_score(name)
    units = units or Units(len(truth))
    positive = 1 if given.ndim == 1 else None
    return prepare(metric, scores, 0, positive=positive, units=units).worker()(weights)


@each("name", PARTS)
@each("bins", [1, 4, 15])
@each("digits", [None, 1])
def test_calibration_is_that_bin_by_bin(name, bins, digits):
    truth, score = two_classes(250, seed=4)
    given = 1 / (1 + np.exp(-score))
    given = given if digits is None else np.round(given, digits)
    for weights in weights_of(250):
        found = evaluated(f"{name}_{bins}", truth.astype(int), given, weights[None])[0]
        assert found == pytest.approx(by_bins(name, truth, given, weights, bins), abs=1e-9)


@each("name", PARTS)
def test_items_of_a_group_share_weight_and_noise(name):
    truth, score = two_classes(120, seed=4)
    given, unit = 1 / (1 + np.exp(-score)), np.arange(120) // 3
    if name in ("brier_resolution_debiased", "brier_uncertainty_debiased"):
        unit = np.searchsorted(np.linspace(0, 1, 5)[1:-1], given) * 20 + np.arange(120) % 20
        unit = np.unique(unit, return_inverse=True)[1]  # groups that keep within a bin
    weights = np.random.default_rng(2).exponential(size=unit.max() + 1)
    units = Units(len(weights), unit)
    found = evaluated(f"{name}_4", truth.astype(int), given, weights[None], units)[0]
    assert found == pytest.approx(by_bins(name, truth, given, weights[unit], 4, unit), abs=1e-9)


def test_unweighted_the_debiased_squares_are_kumars():
    truth, score = two_classes(400, seed=6)
    given, squared = 1 / (1 + np.exp(-score)), 0.0
    for place in range(10):
        some = np.searchsorted(np.linspace(0, 1, 11)[1:-1], given) == place
        y, p, n = truth[some], given[some], some.sum()
        squared += n / 400 * ((y.mean() - p.mean()) ** 2 - y.mean() * (1 - y.mean()) / (n - 1))
    found = evaluated("brier_reliability_debiased_10", truth.astype(int), given, np.ones((1, 400)))
    assert found[0] == pytest.approx(squared, abs=1e-12)


def test_parts_of_one_probability_a_bin_add_up_to_the_brier_score():
    generator = np.random.default_rng(0)
    given = (generator.integers(0, 5, 300) + 0.5) / 5
    truth = (generator.random(300) < given).astype(int)
    weights = generator.exponential(size=(3, 300))
    names = ("brier_reliability_5", "brier_resolution_5", "brier_uncertainty_5")
    rel, res, unc = (evaluated(name, truth, given, weights) for name in names)
    brier = np.array([np.average((given - truth) ** 2, weights=one) for one in weights])
    assert rel - res + unc == pytest.approx(brier, abs=1e-12)


def test_draws_of_debiased_squares_have_the_mean_that_they_should():
    """Noise of the sample and of the weights is taken off: the mean over samples is the truth."""
    generator, found, plain = np.random.default_rng(0), [], []
    for _ in range(300):
        given = generator.random(200)
        truth = (generator.random(200) < given).astype(int)  # calibrated: within bins f − p is 0
        weights = generator.exponential(size=(20, 200))
        for name, values in (("brier_reliability_debiased", found), ("brier_reliability", plain)):
            values.append(evaluated(f"{name}_5", truth, given, weights).mean())
    error = np.std(found) / np.sqrt(300)
    assert abs(np.mean(found)) < 4 * error + 2e-4
    assert np.mean(plain) > 20 * error  # a plug-in would fail the line above


def test_several_classes_are_read_by_their_top_label():
    truth, given = classes(200, 3)
    top, sure = given.argmax(axis=1), given.max(axis=1)
    weights = np.random.default_rng(1).exponential(size=200)
    found = evaluated("ece_10", truth, given, weights[None])[0]
    assert found == pytest.approx(by_bins("ece", top == truth, sure, weights, 10), abs=1e-12)


# In comparisons


def weights_drawn(n, n_draws, c):
    """Return the weights that a comparison of so many items draws, whose spread few may know."""
    from outperform.posterior.bootstrap import draw_items

    def make():
        def evaluate(weights, out):
            out[:] = weights.T

        return evaluate

    given = {"n_units": n, "shapes": None, "n_values": n, "n_draws": n_draws, "n_jobs": 1}
    return draw_items(make, seed=c.seed, df=c.spec.dfs[0], **given).T


def compared(name, truth, a, b, **more):
    asked = {"metric": name, "rope": 0.01, "n_draws": 200, "random_state": 1}
    return op.compare(truth, a, b, **(asked | more))


@pytest.mark.parametrize(
    "name",
    ["roc_auc_max_fpr_0.1", "sensitivity_at_specificity_0.9", "specificity_at_sensitivity_0.9"],
)
def test_draws_are_the_metric_on_the_same_weights(name):
    truth, a = two_classes(120, levels=3)
    b = two_classes(120, seed=2)[1] + truth
    c = compared(name, truth, a, b)
    view = c.spec.view
    for place, side in ((0, c.a), (1, c.b)):
        score, y = view.values[place], view.truth == 1
        for weights, drawn in zip(weights_drawn(120, 200, c)[:50], side.draws, strict=False):
            level = c.spec.metric.how.settings[0]
            if name.startswith("roc"):
                expected = roc_auc_score(y, score, sample_weight=weights, max_fpr=level)
            else:
                expected = thresholds(y, score, weights, level, name.partition("_")[0])
            assert drawn == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", ["roc_auc_ovr", "roc_auc_ovo"])
def test_draws_of_several_classes_are_the_metric_on_the_same_weights(name):
    truth, a = classes(100, 3)
    b = classes(100, 3, seed=7)[1]
    names = np.array(["cat", "dog", "owl"])[truth]
    c = compared(name, names, a, b)
    expected = roc_auc_score(truth, a, multi_class=name[-3:])
    assert c.a.observed == pytest.approx(expected, abs=1e-12)
    view = c.spec.view
    for weights, drawn in zip(weights_drawn(100, 200, c)[:30], c.a.draws, strict=False):
        if name.endswith("ovo"):
            value = ovo_by_hand(view.truth, view.values[0], weights, weighted=False)
        else:
            value = roc_auc_score(
                view.truth, view.values[0], multi_class="ovr", sample_weight=weights
            )
        assert drawn == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("name", ["ece", "ece_debiased", "brier_reliability_debiased_5"])
def test_draws_of_calibration_are_the_metric_on_the_same_weights(name):
    truth, score = two_classes(150)
    a, b = (1 / (1 + np.exp(-factor * score)) for factor in (1, 3))
    c = compared(name, truth, a, b)
    view, bins = c.spec.view, 5 if name.endswith("5") else 15
    for weights, drawn in zip(weights_drawn(150, 200, c)[:30], c.b.draws, strict=False):
        expected = by_bins(name.removesuffix("_5"), view.truth == 1, view.values[1], weights, bins)
        assert drawn == pytest.approx(expected, abs=1e-9)
    assert c.decision.words


def test_rounded_probabilities_keep_their_rows_where_noise_is_counted():
    truth, score = two_classes(600)
    given = np.round(1 / (1 + np.exp(-score)), 1)
    e = op.estimate(truth, given, metric="ece_debiased", n_draws=100, random_state=0)
    expected = by_bins("ece_debiased", truth, given, np.ones(600), 15)
    assert e.observed == pytest.approx(expected, abs=1e-9)


@each("name", [*OF_CLASSES, "ece", "log_loss"])
def test_groups_weights_and_every_verb_take_several_classes(name):
    truth, a = classes(180, 3)
    b = classes(180, 3, seed=5)[1]
    c = compared(name, truth, a, b, groups=np.arange(180) // 9, sample_weight=np.arange(1, 181))
    assert np.isfinite([c.mean, c.sd]).all()
    seen = op.Scores.from_arrays(truth, {"a": a, "b": b})
    gate = op.gate(seen, "a", "b", metric=name, rope=0.05, n_draws=200, random_state=0)
    assert gate.to_dict()
    assert c.to_dict()["metric"] == name


def test_the_same_model_twice_is_set_apart_nowhere():
    truth, a = classes(100, 3)
    c = compared("roc_auc_ovr", truth, a, a)
    assert c.spec.n_apart((0, 1)) == 0
    assert compared("roc_auc_ovr", truth, a, np.sqrt(a)).spec.n_apart((0, 1)) == 0  # the same order
    assert compared("roc_auc_ovr", truth, a, a[:, ::-1]).spec.n_apart((0, 1)) > 50


def test_what_cannot_be_read_says_what_can():
    truth, a = classes(50, 3)
    with pytest.raises(UsageError, match="one score per class"):
        compared("roc_auc_ovr", truth, a[:, 0], a[:, 1])
    with pytest.raises(DataError, match="no item is of class 'owl'"):
        compared("roc_auc_ovo", ["cat", "dog"] * 25, a, a, labels=["cat", "dog", "owl"])
    with pytest.raises(UsageError, match="no positive class"):
        compared("roc_auc_ovr", truth, a, a, pos_label=1)
    with pytest.raises(UsageError, match="needs the true labels"):
        compared("roc_auc_ovr", None, a[:, 0], a[:, 1])
    for bad in (0, 1.5, True, "x"):
        with pytest.raises(UsageError, match="above 0 and below 1"):
            metrics.sensitivity_at(specificity=bad)
    for bad in (0, 2.5, True):
        with pytest.raises(UsageError, match="an integer"):
            metrics.ece(bins=bad)
    with pytest.raises(UsageError, match="unknown part 'skill'"):
        metrics.brier_part("skill")


@each(
    "metric",
    [
        metrics.roc_auc(max_fpr=0.1),
        metrics.sensitivity_at(specificity=0.95),
        metrics.specificity_at(sensitivity=0.999),
        metrics.ece(bins=7),
        metrics.brier_part("resolution", bins=3, debiased=True),
    ],
)
def test_names_with_numbers_make_the_same_metric(metric):
    assert metrics.get_score(metric.name) == metric
    assert metrics.is_of_scores(metric.name)
    assert metric.name not in metrics.score_names()


def test_classes_of_few_items_are_named():
    truth, a = classes(200, 3)
    truth[truth == 2] = 0
    truth[:4] = 2
    c = compared("roc_auc_ovr", truth, a, a[:, [0, 2, 1]])
    assert "4 of class 2" in next(str(one) for one in c.findings if one.name == "few_of_a_class")
