"""Metrics that are functions of sums, against the packages that people know."""

from __future__ import annotations

import pickle
from math import comb

import numpy as np
import pytest

import outperform as op
from outperform.errors import DataError, UsageError
from outperform.metrics import get_score, score_names
from outperform.metrics.item_statistics import Ranked, n_edits
from outperform.metrics.sums import CombinedMeans, WeightedQuantile
from outperform.metrics.weighted import Units
from tests.lazily import lazily
from tests.loops import each

reference = lazily("sklearn.metrics")

pytestmark = pytest.mark.core

RANDOM = np.random.default_rng(20)
N = 60
TARGET = RANDOM.gamma(2.0, size=N)
PREDICTION = TARGET * RANDOM.uniform(0.5, 1.5, N)
WEIGHTS = RANDOM.exponential(size=N)
REGRESSION = {
    "mae": reference.mean_absolute_error,
    "mse": reference.mean_squared_error,
    "rmse": reference.root_mean_squared_error,
    "poisson_deviance": reference.mean_poisson_deviance,
    "r2": reference.r2_score,
    "explained_variance": reference.explained_variance_score,
}


def value(metric, statistics, weights, units=None):
    """Return a metric at given weights of units."""
    found = get_score(metric)
    prepared = CombinedMeans(
        name=found.name,
        terms=found.basis.of_items(statistics),
        sums=found.how,
        units=units or Units(len(statistics)),
        bounds=found.bounds,
    )
    return prepared.worker()(np.atleast_2d(weights))


@each("name", REGRESSION)
@each("far", [0.0, 1e4])
def test_regression_is_scikit_learns(name, far):
    target, prediction = TARGET + far, PREDICTION + far
    items = np.stack([target, prediction], axis=1)
    for weights in (np.ones(N), WEIGHTS):
        expected = REGRESSION[name](target, prediction, sample_weight=weights)
        assert value(name, items, weights)[0] == pytest.approx(expected, rel=1e-9)


def test_scikit_learns_scorers_are_the_negatives():
    items = np.stack([TARGET, PREDICTION], axis=1)
    for name, loss in (
        ("neg_mean_absolute_error", "mae"),
        ("neg_mean_squared_error", "mse"),
        ("neg_root_mean_squared_error", "rmse"),
        ("neg_mean_poisson_deviance", "poisson_deviance"),
    ):
        assert name in reference.get_scorer_names()
        assert value(name, items, WEIGHTS) == -value(loss, items, WEIGHTS)
        assert get_score(name).greater_is_better
        assert not get_score(loss).greater_is_better


@pytest.mark.parametrize("alpha", [0.1, 0.5, 0.9])
def test_pinball_is_scikit_learns(alpha):
    items = np.stack([TARGET, PREDICTION], axis=1)
    expected = reference.mean_pinball_loss(TARGET, PREDICTION, sample_weight=WEIGHTS, alpha=alpha)
    found = value(op.metrics.pinball(alpha), items, WEIGHTS)[0]
    assert found == pytest.approx(expected, rel=1e-12)


def test_a_target_that_does_not_vary():
    items = np.stack([np.full(5, 3.0), np.arange(5.0)], axis=1)
    same = np.stack([np.full(5, 3.0)] * 2, axis=1)
    for name in ("r2", "explained_variance"):
        for one in (items, same):
            expected = REGRESSION[name](*one.T)
            assert value(name, one, np.ones(5))[0] == pytest.approx(expected)


def test_correlation():
    items = np.stack([TARGET + 1e3, PREDICTION], axis=1)
    found = value("pearson", items, np.ones(N))[0]
    assert found == pytest.approx(np.corrcoef(TARGET, PREDICTION)[0, 1], rel=1e-9)
    whole = RANDOM.integers(1, 4, N)
    repeated = np.corrcoef(np.repeat(TARGET, whole), np.repeat(PREDICTION, whole))[0, 1]
    assert value("pearson", items, whole)[0] == pytest.approx(repeated, rel=1e-9)


def test_a_group_is_one_weight():
    items, group = np.stack([TARGET, PREDICTION], axis=1), RANDOM.integers(0, 7, N)
    drawn = RANDOM.exponential(size=(3, 7))
    found = value("r2", items, drawn, Units(7, unit=group))
    expected = [reference.r2_score(TARGET, PREDICTION, sample_weight=one[group]) for one in drawn]
    assert found == pytest.approx(expected, rel=1e-9)


@each("level", [0.01, 0.25, 0.5, 0.9, 0.95, 0.99])
def test_quantiles_are_numpys(level):
    for weights in (np.ones(N), WEIGHTS, RANDOM.integers(1, 4, N).astype(float)):
        found = WeightedQuantile(TARGET, Units(N), level).worker()(weights[None])[0]
        expected = np.quantile(TARGET, level, weights=weights, method="inverted_cdf")
        assert found == expected


def test_lower_is_better_for_latencies():
    slow = TARGET + 1.0
    c = op.compare(None, TARGET, slow, metric="p95", rope=0.1, random_state=1)
    assert c.observed == pytest.approx(-1.0)
    assert c.decision is op.Decision.BETTER
    assert op.metrics.quantile(0.95).bounds == get_score("p95").bounds


WORDS = ["the", "a", "cat", "dog", "sat", "ran", "on", "under", "mat", "old", "red", "very"]


def texts(seed, n=40):
    """Return references and texts that share most of their words."""
    random = np.random.default_rng(seed)
    true = [" ".join(random.choice(WORDS, size=random.integers(4, 12))) for _ in range(n)]
    said = [
        " ".join(random.choice(WORDS) if random.random() < 0.2 else word for word in one.split())
        for one in true
    ]
    return true, said


def test_words_and_characters_are_jiwers():
    jiwer = pytest.importorskip("jiwer")
    true, said = texts(1)
    ones = np.ones(len(true))
    for name, oracle in (("wer", jiwer.wer), ("cer", jiwer.cer)):
        found = value(name, op.metrics.statistics(name, true, said), ones)[0]
        assert found == pytest.approx(oracle(true, said), abs=1e-12)


def test_edits_by_the_definition():
    def slow(one, two):
        if not one or not two:
            return len(one) + len(two)
        corner = slow(one[1:], two[1:]) + (one[0] != two[0])
        return min(corner, slow(one[1:], two) + 1, slow(one, two[1:]) + 1)

    random = np.random.default_rng(2)
    for _ in range(60):
        one, two = ("".join(random.choice(list("abc"), size=random.integers(0, 6))) for _ in "12")
        assert n_edits(one, two) == slow(one, two)


@each("name", ["bleu", "chrf", "ter"])
@each("seed", [3, 4])
def test_translation_is_sacrebleus(name, seed):
    sacrebleu = pytest.importorskip("sacrebleu")
    oracle = {
        "bleu": sacrebleu.corpus_bleu,
        "chrf": sacrebleu.corpus_chrf,
        "ter": sacrebleu.corpus_ter,
    }[name]
    true, said = texts(seed)
    statistics = op.metrics.statistics(name, true, said)
    found = value(name, statistics, np.ones(len(true)))[0]
    assert found == pytest.approx(oracle(said, [true]).score, rel=1e-12)
    times = np.random.default_rng(seed).integers(0, 3, len(true))
    repeated = [
        [one for one, k in zip(side, times, strict=True) for _ in range(k)] for side in (said, true)
    ]
    again = value(name, statistics, times)[0]
    assert again == pytest.approx(oracle(repeated[0], [repeated[1]]).score, rel=1e-12)


def test_bleu_of_repeated_texts_counts_each_as_sacrebleu_does():
    sacrebleu = pytest.importorskip("sacrebleu")
    true, said = ["a b c d e f", "g h a c k"] * 10, ["a c b f d e", "h h a k c"] * 10
    c = op.compare(true, said, true, metric="bleu", rope=1, n_draws=100)
    assert c.a.observed == pytest.approx(sacrebleu.corpus_bleu(said, [true]).score, rel=1e-12)


def test_bleu_without_a_match_of_four_words_is_smoothed_as_in_sacrebleu():
    sacrebleu = pytest.importorskip("sacrebleu")
    true = ["the cat sat on the mat", "a dog ran", "very old"]
    said = ["the cat ran on a mat", "a dog sat", "old"]
    found = value("bleu", op.metrics.statistics("bleu", true, said), np.ones(3))[0]
    assert found == pytest.approx(sacrebleu.corpus_bleu(said, [true]).score, rel=1e-12)


def test_the_posterior_of_bleu_has_the_spread_of_the_paired_bootstrap():
    pytest.importorskip("sacrebleu")
    true, a = texts(5, n=150)
    b = texts(5, n=150)[1]
    b = [one.replace("cat", "dog") for one in b]
    c = op.compare(true, a, b, metric="bleu", rope=1.0, random_state=1)
    values = []
    for side in (a, b):
        counts = np.random.default_rng(7).multinomial(150, np.full(150, 1 / 150), size=4000)
        values.append(value("bleu", op.metrics.statistics("bleu", true, side), counts))
    # 4,000 draws know an sd to 1.1 %; the two kinds of weights agree but for terms of 1/150.
    assert c.sd == pytest.approx(np.std(values[0] - values[1]), rel=0.06)


MEASURES = {
    "ndcg@10": "nDCG@10",
    "map": "AP",
    "mrr": "RR",
    "recall@5": "R@5",
    "precision@5": "P@5",
    "hit@3": "Success@3",
}


@each("name", MEASURES)
def test_retrieval_is_that_of_ir_measures(name):
    ir_measures = pytest.importorskip("ir_measures")
    random = np.random.default_rng(8)
    qrels = {
        f"q{i}": {f"d{j}": int(random.integers(0, 4)) for j in range(12) if random.random() < 0.7}
        for i in range(15)
    }
    qrels["q0"]["d0"] = 1
    run = {
        f"q{i}": {f"d{j}": float(random.normal()) for j in range(20) if random.random() < 0.8}
        for i in range(15)
    }
    measure = ir_measures.parse_measure(MEASURES[name])
    expected = {one.query_id: one.value for one in ir_measures.iter_calc([measure], qrels, run)}
    found = op.metrics.statistics(name, qrels, run)[:, 0]
    assert found == pytest.approx([expected[query] for query in qrels], abs=1e-9)


def test_rows_of_documents_and_documents_by_name_agree():
    relevance, scores = RANDOM.integers(0, 3, (9, 6)), RANDOM.normal(size=(9, 6))
    by_name = (
        {i: dict(enumerate(row)) for i, row in enumerate(rows.tolist())}
        for rows in (relevance, scores)
    )
    names = [*by_name]
    for kind in ("ndcg", "map", "mrr", "recall", "precision", "hit"):
        ranked = Ranked(kind, 4)
        assert ranked(relevance, scores).tolist() == ranked(*names).tolist()


def test_ties_earn_nothing():
    assert Ranked("mrr", None)([[0, 1]], [[0.5, 0.5]]).tolist() == [[0.5]]


def test_pass_at_k_is_the_share_of_choices():
    bits = np.array([[1, 0, 0, 1, 0], [0, 0, 0, 0, 0], [1, 1, 1, 1, 0]])
    for k in (1, 2, 3):
        found = op.metrics.statistics(f"pass@{k}", None, bits)[:, 0]
        right = bits.sum(axis=1)
        assert found == pytest.approx([1 - comb(5 - c, k) / comb(5, k) for c in right])
        every = op.metrics.statistics(f"pass^{k}", None, bits)[:, 0]
        assert every == pytest.approx([comb(c, k) / comb(5, k) for c in right])
    most = op.metrics.statistics("maj@3", None, bits)[:, 0]
    expected = [(comb(c, 2) * (5 - c) + comb(c, 3)) / comb(5, 3) for c in bits.sum(axis=1)]
    assert most == pytest.approx(expected)


def test_masks():
    true, said = RANDOM.random((6, 5, 4)) < 0.4, RANDOM.random((6, 5, 4)) < 0.4
    statistics = op.metrics.statistics("dice", true, said)
    ones = np.ones(6)
    flat = true.ravel(), said.ravel()
    assert value("dice", statistics, ones)[0] == pytest.approx(reference.f1_score(*flat))
    assert value("iou", statistics, ones)[0] == pytest.approx(reference.jaccard_score(*flat))
    each = [reference.f1_score(a.ravel(), b.ravel()) for a, b in zip(true, said, strict=True)]
    assert value("dice_mean", statistics, ones)[0] == pytest.approx(np.mean(each))
    each = [reference.jaccard_score(a.ravel(), b.ravel()) for a, b in zip(true, said, strict=True)]
    assert value("iou_mean", statistics, ones)[0] == pytest.approx(np.mean(each))


@each("rate", ["accuracy", "recall", "precision", "f1", "selection_rate"])
def test_gaps_are_between_the_rates_of_groups(rate):
    truth, said, by = (RANDOM.integers(0, k, 90) for k in (2, 2, 3))
    metric = op.metrics.gap(rate, by)
    found = value(metric, metric.basis.read(truth, said), np.ones(90))[0]
    rates = {
        "accuracy": reference.accuracy_score,
        "recall": reference.recall_score,
        "precision": reference.precision_score,
        "f1": reference.f1_score,
        "selection_rate": lambda _, said: said.mean(),
    }
    each = [rates[rate](truth[by == g], said[by == g]) for g in range(3)]
    assert found == pytest.approx(max(each) - min(each))


def test_a_gap_needs_groups_of_the_same_items():
    with pytest.raises(UsageError, match="needs at least two groups"):
        op.metrics.gap("recall", ["de", "de"])
    with pytest.raises(UsageError, match="unknown rate"):
        op.metrics.gap("fairness", ["de", "fr"])
    with pytest.raises(DataError, match="defined for 2 items"):
        op.compare([1, 0, 1], [1, 0, 1], [1, 1, 1], metric=op.metrics.gap("f1", ["a", "b"]), rope=1)


def test_every_metric_of_sums_can_be_pickled_and_compared():
    for name, metric in ((name, get_score(name)) for name in score_names()):
        assert pickle.loads(pickle.dumps(metric)) == metric == get_score(name)
    assert op.metrics.pinball(0.9) == op.metrics.pinball(0.9)


# Refusals


@each(
    ("name", "truth", "said", "told"),
    [
        ("wer", ["a"], ["a", "b"], "2 texts and 1 references"),
        ("wer", None, ["a"], "y_true must be a list of texts"),
        ("wer", ["a", None], ["a", "b"], "row 1"),
        ("ndcg@3", None, [[1.0]], "needs the relevance"),
        ("ndcg@3", [[1, 0]], [[0.1]], "2 grades but 1 scores"),
        ("ndcg@3", {"q": {"d": 1}}, {"p": {"d": 1.0}}, "query 'p'"),
        ("pass@3", None, [[1, 0]], "fewer than the 3"),
        ("pass@1", None, [[1, 0.5]], "each 0 or 1"),
        ("pass@1", [1], [[1]], "answer; pass None as y_true"),
        ("dice", [[[0.5]]], [[[1]]], "arrays of 0 and 1 with images on"),
    ],
)
def test_what_cannot_be_read_is_refused(name, truth, said, told):
    with pytest.raises((DataError, UsageError), match=told):
        op.metrics.statistics(name, truth, said)


def test_counts_below_zero_have_no_poisson_deviance():
    with pytest.raises(UsageError, match="at least 0"):
        op.compare([-1.0, 2.0], [1.0, 2.0], [1.0, 1.0], metric="poisson_deviance", rope=1)


def test_a_gap_of_rates_that_no_item_has_is_refused():
    truth, said = ["yes", "no", "yes", "yes"], ["yes", "no", "no", "yes"]
    with pytest.raises(DataError, match=r"0/0 in 2 of 2 groups.*pos_label="):
        op.compare(truth, said, said, metric=op.metrics.gap("recall", list("aabb")), rope=0.1)
    metric = op.metrics.gap("recall", list("aabb"), pos_label="yes")
    assert op.estimate(truth, said, metric=metric, random_state=1).observed == 0.5


# Grades by a judge and by people


def graded(n=60, n_known=25, seed=0):
    rng = np.random.default_rng(seed)
    people = {name: rng.normal(mean, 2.0, n) for name, mean in (("a", 6.0), ("b", 5.5))}
    judge = {name: 1 + 0.7 * one + rng.normal(size=n) for name, one in people.items()}
    human = {name: np.where(np.arange(n) < n_known, one, np.nan) for name, one in people.items()}
    return judge, human


def by_regression(judge, human, model, weights):
    """Fit people's grades by weighted least squares, and read the plane at the judge's means."""
    every = np.column_stack([np.ones(len(weights)), *judge.values()])
    known = np.isfinite(human[model])
    root = np.sqrt(weights[known])[:, None]
    slopes = np.linalg.lstsq(root * every[known], root[:, 0] * human[model][known], rcond=None)[0]
    return weights @ every @ slopes / weights.sum()


@pytest.mark.parametrize("seed", [None, 1, 2])
def test_a_judged_mean_is_a_regression_read_at_all_items(seed):
    judge, human = graded()
    weights = np.ones(60) if seed is None else np.random.default_rng(seed).exponential(size=60)
    seen = op.Scores.from_judged(judge, human=human, sample_weight=weights)
    for model in ("a", "b"):
        found = op.estimate(seen, model, random_state=0, n_draws=100).observed
        assert found == pytest.approx(by_regression(judge, human, model, weights), abs=1e-6)
    people = op.estimate(seen, "a", metric="people_mean", random_state=0, n_draws=100).observed
    known = slice(0, 25)
    assert people == pytest.approx(np.average(human["a"][known], weights=weights[known]))


def test_a_judge_that_says_nothing_leaves_the_mean_of_people():
    judge, human = graded()
    constant = {name: np.full(60, 5.0) for name in judge}
    found = op.estimate(op.Scores.from_judged(constant, human=human), "a", random_state=0)
    assert found.observed == pytest.approx(np.nanmean(human["a"]), abs=1e-6)


def test_a_judge_that_is_right_gives_the_mean_of_all():
    judge, _ = graded(n=400)
    human = {name: np.where(np.arange(400) < 40, one + 2, np.nan) for name, one in judge.items()}
    seen = op.Scores.from_judged(judge, human=human)
    c = op.compare(seen, "a", "b", rope=0.1, random_state=0)
    plain = op.compare(None, judge["a"], judge["b"], metric="mean", rope=0.1, random_state=0)
    assert c.a.observed == pytest.approx(judge["a"].mean() + 2)
    # 40 grades and a plane of 3 numbers leave 37: weights of shape 37/41, and the variance of t.
    assert c.sd == pytest.approx(plain.sd * np.sqrt(41 / 37 * 37 / 35), rel=0.03)
    (bias,) = [one for one in c.findings if one.name == "judge_bias"]
    assert "no bias" in bias.message


def test_a_judge_of_grades_that_favours_a_model_is_named():
    judge, human = graded(n=500, n_known=120)
    seen = op.Scores.from_judged({**judge, "a": judge["a"] + 2}, human=human)
    c = op.compare(seen, "a", "b", rope=0.1, random_state=0)
    (bias,) = [one for one in c.findings if one.name == "judge_bias"]
    assert bias.message.startswith("The judge favours a")
    plain = op.compare(
        op.Scores.from_judged(judge, human=human), "a", "b", rope=0.1, random_state=0
    )
    assert c.mean == pytest.approx(plain.mean, abs=1e-6)
    (worth,) = [one for one in c.findings if one.name == "judged"]
    assert "drawn at random. Ratings" in worth.message
    assert "more items" not in str(c)


def test_people_who_looked_at_the_best_grades_are_warned_of():
    judge, _ = graded(n=300)
    order = np.argsort(-judge["a"])
    human = {name: np.full(300, np.nan) for name in judge}
    for name in judge:
        human[name][order[:60]] = judge[name][order[:60]]
    found = op.compare(op.Scores.from_judged(judge, human=human), "a", "b", rope=0.1).findings
    (said,) = [one for one in found if one.name == "chosen_by_ratings"]
    assert said.level == "warning"
    assert "items higher than the rest" in said.message
