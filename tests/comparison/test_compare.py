"""``compare``: its numbers against closed forms, scikit-learn and each other."""

from __future__ import annotations

from pkgutil import resolve_name

import numpy as np
import pytest

import outperform as op
from outperform.errors import DataError, ResourceError, UsageError
from tests.lazily import lazily
from tests.loops import each

beta = lazily("scipy.stats.beta")
reference = lazily("sklearn.metrics")

FEW = {"n_draws": 1_000, "rope": 0.05, "random_state": 1}
SKLEARN = {
    "accuracy": reference.accuracy_score,
    "balanced_accuracy": reference.balanced_accuracy_score,
    "matthews_corrcoef": reference.matthews_corrcoef,
    "cohen_kappa": reference.cohen_kappa_score,
    **{
        f"{name}_{average}": lambda y, p, score=score, average=average: score(y, p, average=average)
        for average in ("micro", "macro", "weighted")
        for name, score in (
            ("f1", reference.f1_score),
            ("precision", reference.precision_score),
            ("recall", reference.recall_score),
            ("jaccard", reference.jaccard_score),
        )
    },
}


@each("metric", SKLEARN)
def test_observed_is_what_scikit_learn_says(metric, four, two):
    for truth, a, b in (four, two):
        c = op.compare(truth, a, b, metric=metric, n_draws=200, rope=0.05, random_state=1)
        assert c.a.observed == pytest.approx(SKLEARN[metric](truth, a), abs=1e-12)
        assert c.b.observed == pytest.approx(SKLEARN[metric](truth, b), abs=1e-12)
        assert c.observed == c.a.observed - c.b.observed


@each("metric", op.metrics.names())
@each("prior", ["uniform", "unit", "hierarchical", "bootstrap"])
def test_every_metric_and_model_give_a_whole_answer(metric, prior, two):
    c = op.compare(*two, metric=metric, prior=prior, n_draws=500, rope=0.05, random_state=1)
    assert c.draws.shape == (500,)
    assert c.draws.dtype == np.float64
    assert np.isfinite(c.draws).all()
    assert np.array_equal(c.draws, c.a.draws - c.b.draws)
    assert c.hdi.low < c.mean < c.hdi.high
    assert c.p_worse + c.p_equivalent + c.p_better == pytest.approx(1, abs=1e-12)
    assert (c.mcse == 0.0) is c.exact
    low, high = op.metrics.get(metric).bounds
    for one in (c.a, c.b):
        assert low <= one.hdi.low < one.mean < one.hdi.high <= high
        assert abs(one.draws.mean() - one.mean) < 5 * one.sd / np.sqrt(500)
    assert abs(c.draws.mean() - c.mean) < 5 * c.sd / np.sqrt(500)
    assert (c.bayes_factor is None) is (prior == "bootstrap")


def test_paired_recall_is_worked_out_by_hand(table):
    seen = table([83, 12, 5, 0], [10, 0, 0, 10])
    c = op.compare(seen, "a", "b", metric="recall", rope=0.01, prior="uniform")
    # θ₊ ~ Dir(84, 13, 6, 1); A − B has the mean of (13 − 6)/104.
    assert c.mean == pytest.approx(7 / 104)
    assert c.sd == pytest.approx(np.sqrt((19 / 104 - (7 / 104) ** 2) / 105))
    assert c.p_greater == pytest.approx(0.951873779296875, rel=1e-12)
    assert c.p_equivalent == pytest.approx(0.0495988855278, rel=1e-10)
    assert (c.mcse, c.exact) == (0.0, True)
    exact = beta(97, 7)
    assert c.a.mean == pytest.approx(exact.mean())
    assert c.a.eti.low == pytest.approx(exact.ppf(0.025), rel=1e-9)
    assert c.b.mean == pytest.approx(90 / 104)
    # By default the margins are Jeffreys: θ₊ ~ Dir(83.25, 12.25, 5.25, .25).
    own = op.compare(seen, "a", "b", metric="recall", rope=0.01)
    assert own.mean == pytest.approx(7 / 101)
    assert own.a.mean == pytest.approx(beta(95.5, 5.5).mean())


def test_unpaired_f1_under_one_dirichlet_is_the_published_oracle():
    seen = op.Outcomes.from_confusion({"a": [[50, 10], [20, 80]], "b": [[40, 15], [30, 70]]})
    c = op.compare(seen, "a", "b", metric="f1", prior=op.Prior(rows=1, prevalence=2), rope=0.01)
    assert c.exact
    assert c.a.eti.low == pytest.approx(0.7735252716187413, rel=1e-9)
    assert c.a.eti.high == pytest.approx(0.886209772435908, rel=1e-9)
    assert c.p_greater == pytest.approx(0.9683968614040892, rel=1e-9)
    assert c.bayes_factor_point_null().bf01 == pytest.approx(1.469263448585988, rel=1e-8)


def test_sampled_and_exact_answers_agree(table):
    seen = table([60, 20, 9, 11], [30, 15, 10, 45])
    exact = op.compare(seen, "a", "b", metric="recall", prior="unit", rope=0.05, random_state=3)

    def recall(confusion):
        return confusion[1, 1] / confusion[1].sum(axis=0)

    metric = op.metrics.from_function(recall, vectorized=True, bounds=(0, 1), name="own recall")
    drawn = op.compare(seen, "a", "b", metric=metric, prior="unit", rope=0.05, random_state=3)
    assert exact.exact
    assert not drawn.exact
    assert drawn.observed == pytest.approx(exact.observed)
    assert abs(drawn.mean - exact.mean) < 4.5 * drawn.mcse
    assert drawn.sd == pytest.approx(exact.sd, rel=0.03)
    assert abs(drawn.hdi.low - exact.hdi.low) < 4.5 * drawn.hdi.mcse_low
    assert abs(drawn.hdi.high - exact.hdi.high) < 4.5 * drawn.hdi.mcse_high
    for name in ("p_worse", "p_equivalent", "p_better", "p_greater"):
        p = getattr(exact, name)
        assert abs(getattr(drawn, name) - p) < 4.5 * np.sqrt(p * (1 - p) / 20_000) + 1e-4


def test_pairing_narrows_what_agreement_allows(four):
    paired = op.compare(*four, metric="f1_macro", rope=0.01, random_state=1, n_draws=4_000)
    apart = op.compare(
        *four, metric="f1_macro", rope=0.01, random_state=1, n_draws=4_000, paired=False
    )
    assert "paired" in paired.signature.split(" | ")
    assert "unpaired" in apart.signature.split(" | ")
    assert paired.sd < apart.sd
    assert paired.observed == apart.observed


def test_f1_micro_takes_the_path_of_accuracy(four):
    accuracy = op.compare(*four, metric="accuracy", prior="unit", **FEW)
    for metric in ("f1_micro", "precision_micro", "recall_micro", "recall_weighted"):
        c = op.compare(*four, metric=metric, prior="unit", **FEW)
        assert c.exact
        assert c.mcse == 0.0
        assert (c.mean, c.sd, c.hdi) == (accuracy.mean, accuracy.sd, accuracy.hdi)
        assert np.allclose(c.draws, accuracy.draws)
        assert c.observed == pytest.approx(accuracy.observed)


def test_a_metric_of_which_less_is_better_turns_the_decision_only(two):
    def error_rate(confusion):
        return (confusion[0, 1] + confusion[1, 0]) / confusion.sum(axis=(0, 1))

    errors = op.metrics.from_function(
        error_rate, vectorized=True, bounds=(0, 1), greater_is_better=False
    )
    right = op.compare(*two, metric="accuracy", prior="uniform", **FEW)
    wrong = op.compare(*two, metric=errors, prior="uniform", **FEW)
    assert right.decision is op.Decision.BETTER
    assert wrong.decision is op.Decision.BETTER
    assert wrong.mean == pytest.approx(-right.draws.mean())
    assert wrong.observed == pytest.approx(-right.observed)
    assert (wrong.p_better, wrong.p_worse) == (wrong._masses.below, wrong._masses.above)
    assert wrong.p_better > 0.95
    assert wrong.p_greater < 0.05
    assert [step.decision.symbol for step in wrong.rope_curve()] == ["≫", ">", "?", "~", "≈"]
    assert wrong.to_dict()["greater_is_better"] is False


def test_outcomes_and_arrays_are_asked_alike(two):
    truth, a, b = two
    seen = op.Outcomes.from_labels(truth, {"new": a, "old": b, "third": truth})
    by_name = op.compare(seen, "new", "old", **FEW)
    by_array = op.compare(*two, names=("new", "old"), **FEW)
    assert np.array_equal(by_name.draws, by_array.draws)
    assert by_name.signature == by_array.signature
    assert by_name.names == ("new", "old")


@each(
    ("truth", "options", "metric"),
    [
        ([0, 1] * 20, {}, "f1"),
        ([True, False] * 20, {}, "f1"),
        ([1] * 40, {}, "f1"),
        (["ham", "spam"] * 20, {}, "f1_macro"),
        (["ham", "spam"] * 20, {"pos_label": "spam"}, "f1"),
        (list(range(10)) * 4, {}, "f1_macro"),
        (list(range(10)) * 4, {"pos_label": 3}, "f1"),
        ([0, 1] * 20, {"labels": [0, 1, 2]}, "f1_macro"),
        ([{"x"}, {"x", "y"}] * 20, {}, "f1_macro"),
    ],
)
def test_the_most_obvious_call_works(truth, options, metric):
    predicted = [*truth[1:], truth[0]]
    few = {"rope": 0.01, "n_draws": 100, "random_state": 1, **options}
    named = op.compare(truth, truth, predicted, metric=metric, **few)
    c = op.compare(truth, truth, predicted, **few)
    assert (c.metric, c.to_dict()["metric"]) == (metric, metric)
    assert np.array_equal(c.draws, named.draws)
    assert f"metric={metric}" in c.signature
    assert named.spec.metric.label in repr(c)
    assert op.rank(truth, {"a": truth, "b": predicted}, **few).spec.metric.name == metric
    one = {key: value for key, value in few.items() if key != "rope"}
    assert op.estimate(truth, predicted, **one).metric == metric
    assert op.gate(truth, truth, predicted, **few).main.metric == metric
    assert op.compare_runs(truth, [truth, predicted], [predicted], **few).metric == metric


def test_other_kinds_have_defaults_of_their_own():
    right = op.Outcomes.from_correct({"a": [1, 1, 0], "b": [1, 0, 0]})
    assert op.compare(right, "a", "b", n_draws=100).metric == "accuracy"
    spans = op.Outcomes.from_tp_fp_fn({"A": (80, 10, 20), "B": (70, 15, 30)})
    assert op.compare(spans, "A", "B", n_draws=100).metric == "f1"
    grades = op.Scores.from_values({"a": [0.5, 1], "b": [0.2, 1]})
    assert op.compare(grades, "a", "b", n_draws=100).metric == "mean"
    scores = op.Scores.from_arrays([0, 1], {"a": [0.5, 1], "b": [0.2, 1]})
    with pytest.raises(UsageError, match=r"name the metric of these scores.*roc_auc"):
        op.compare(scores, "a", "b")
    with pytest.raises(UsageError, match="the gate has 'f1' twice"):
        op.gate([1, 0] * 9, [1, 0] * 9, [1, 1] * 9, guards=[("f1", None, 0.01)])


def test_counts_stand_for_items(two):
    truth, a, b = (column[:40] for column in two)
    weights = np.arange(40) % 4
    counted = op.Outcomes.from_counts(truth, {"A": a, "B": b}, weights)
    weighted = op.compare(counted, "A", "B", **FEW)
    repeated = op.compare(*(np.repeat(column, weights) for column in (truth, a, b)), **FEW)
    assert np.array_equal(weighted.draws, repeated.draws)
    assert weighted.n == weights.sum()


@each(
    ("arguments", "words"),
    lambda: [
        ({"names": ("x", "x")}, "two different names"),
        ({"names": ("x",)}, "two different names"),
        ({"names": None}, "two different names"),
        ({"names": (1, 2)}, "must be text"),
        ({"metric": "f1macro"}, r"unknown metric 'f1macro'; did you mean 'f1_macro'"),
        ({"metric": 3}, "a metric must be"),
        (
            {"metric": resolve_name("sklearn.metrics.f1_score")},
            "takes labels, not a confusion array",
        ),
        ({"engine": "mcmc"}, "unknown engine 'mcmc'"),
        ({"rope": -0.1}, "half-width"),
        ({"rope": (0.1, -0.1)}, "lower end first"),
        ({"rope": 3}, "wider than any difference"),
        ({"hdi_prob": 95}, r"did you mean 0\.95"),
        ({"hdi_prob": 1}, "strictly between"),
        ({"n_draws": 0}, "at least 100"),
        ({"n_draws": 1}, "at least 100"),
        ({"n_draws": "many"}, "a whole number"),
        ({"n_draws": 1000.5}, "a whole number"),
        ({"n_draws": True}, "a whole number"),
        ({"random_state": -1}, "random_state"),
        ({"random_state": 2**64}, "random_state"),
        ({"random_state": 1.5}, "random_state"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"prior": -1}, "not negative"),
        ({"prior": np.ones((3, 3))}, "shape"),
    ],
)
def test_what_cannot_be_asked_is_refused(arguments, words, two):
    with pytest.raises(UsageError, match=words):
        op.compare(*two, **{"rope": 0.05, **arguments})


@pytest.mark.parametrize("first", ["preds.csv", {"label": [0, 1], "a": [0, 1], "b": [1, 1]}])
def test_names_without_a_truth_are_answered_with_the_call(first, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "preds.csv").write_text("label,a,b\n0,0,1\n1,1,1\n")
    with pytest.raises(UsageError, match=r"compare\(\w+, 'a', 'b', truth='label'\)"):
        op.compare(first, "a", "b")


def test_too_many_draws_are_refused_before_they_are_made(two):
    with pytest.raises(ResourceError, match=r"1,000,000,000,000 draws would need 16,000 GB"):
        op.compare(*two, n_draws=1e12)


def test_outcomes_need_names(two):
    truth, a, b = two
    seen = op.Outcomes.from_labels(truth, {"a": a, "b": b})
    with pytest.raises(UsageError, match="pass the names of the models"):
        op.compare(seen, a, b)
    with pytest.raises(UsageError, match="must differ"):
        op.compare(seen, "a", "a")
    with pytest.raises(UsageError, match="unknown model 'c'"):
        op.compare(seen, "a", "c")
    with pytest.raises(UsageError, match="sample_weight"):
        op.compare(seen, "a", "b", sample_weight=[1])


def test_a_metric_beyond_one_needs_a_rope(two):
    def gain(confusion):
        return 10 * confusion[1, 1] - confusion[0, 1]

    with pytest.raises(UsageError, match="no default ROPE"):
        op.compare(*two, metric=gain)


def test_a_function_is_called_once_for_each_draw(two):
    def trace(confusion):
        return confusion.trace() / confusion.sum()

    card = op.scorecard(*two, metrics=[trace, "accuracy"], prior="unit", **FEW)
    assert np.allclose(card["trace"].draws, card["accuracy"].draws)
    c = op.compare(*two, metric=trace, prior="unit", **FEW)
    assert np.array_equal(c.draws, card["trace"].draws)
    assert (c.metric, c.exact) == ("trace", False)


def test_a_function_of_nan_is_refused(two):
    with pytest.raises(UsageError, match="NaN"):
        op.compare(*two, metric=lambda confusion: float("nan"), rope=0.1)


def test_kappa_of_one_class_throughout_is_no_number():
    ones = ["x"] * 20
    asked = {"metric": "cohen_kappa", "labels": ["x", "y"], **FEW}
    c = op.compare(ones, ones, ones, **asked)
    assert np.isnan(c.observed)
    assert c.to_dict()["observed"] is None
    assert "undefined" in c.to_markdown()
    with pytest.raises(DataError, match=r"cohen_kappa is 0/0.*bootstrap"):
        op.compare(ones, ones, ones, prior="bootstrap", **asked)


def test_no_seed_draws_one_and_shows_it(two):
    one = op.compare(*two, n_draws=500)
    other = op.compare(*two, n_draws=500)
    assert not np.array_equal(one.draws, other.draws)
    seed = int(
        dict(part.split("=", 1) for part in one.signature.split(" | ") if "=" in part)["seed"]
    )
    again = op.compare(*two, n_draws=500, random_state=seed)
    assert np.array_equal(again.draws, one.draws)
    assert again.signature == one.signature


def test_random_states_of_every_kind(two):
    sequence = op.compare(*two, n_draws=500, random_state=np.random.SeedSequence(7))
    number = op.compare(*two, n_draws=500, random_state=7)
    assert np.array_equal(sequence.draws, number.draws)
    generator = np.random.default_rng(7)
    first = op.compare(*two, n_draws=500, random_state=generator)
    second = op.compare(*two, n_draws=500, random_state=generator)
    assert not np.array_equal(first.draws, second.draws)


def test_the_signature_says_what_makes_the_result(two):
    c = op.compare(*two, metric="f1", rope=(-0.02, 0.01), hdi_prob=0.9, n_draws=500, random_state=5)
    parts = c.signature.split(" | ")
    assert parts[0] == f"outperform {op.__version__}"
    for part in (
        "compare", "metric=f1", "pos_label=1", "rope=-0.02 to 0.01", "prior=unit",
        "paired", "n=400", "classes=2", "hdi=0.9", "draws=500", "seed=5",
    ):  # fmt: skip
        assert part in parts
