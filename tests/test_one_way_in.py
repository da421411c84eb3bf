"""The same answer from arrays, outcomes, a frame, a lazy frame and a file; wrong calls answered."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression

import outperform as op
from outperform.errors import CallError, UsageError

RNG = np.random.default_rng(20_261)
N = 300
TRUTH = RNG.integers(0, 2, N)
COLUMNS: dict[str, Any] = {
    "label": TRUTH,
    **{
        name: np.where(RNG.random(N) < accuracy, TRUTH, 1 - TRUTH)
        for name, accuracy in {"a": 0.9, "b": 0.85, "c": 0.7}.items()
    },
    "author": RNG.integers(0, 40, N),
    "weight": RNG.uniform(0.5, 2, N).round(3),
    "country": RNG.choice(["fr", "it", "pt"], N),
    **{f"s{name}": (TRUTH + RNG.normal(0, 1, N)).round(4) for name in "ab"},
}
FRAME = pd.DataFrame(COLUMNS)
A, B, C = (COLUMNS[name] for name in "abc")
SETTINGS: dict[str, Any] = {"random_state": 3, "n_draws": 2_000}


def outcomes(*names: str, **options: Any) -> op.Outcomes:
    return op.Outcomes.from_labels(TRUTH, {name: COLUMNS[name] for name in names}, **options)


# For each question: how arrays and outcomes ask it, and how the columns of a source do.
QUESTIONS: dict[str, tuple[Callable[[], Any], Callable[[], Any], Callable[[Any], Any]]] = {
    "compare": (
        lambda: op.compare(TRUTH, A, B, names=("a", "b"), **SETTINGS),
        lambda: op.compare(outcomes("a", "b"), "a", "b", **SETTINGS),
        lambda source: op.compare(source, "a", "b", truth="label", **SETTINGS),
    ),
    "compare with groups": (
        lambda: op.compare(TRUTH, A, B, groups=COLUMNS["author"], names=("a", "b"), **SETTINGS),
        lambda: op.compare(outcomes("a", "b", groups=COLUMNS["author"]), "a", "b", **SETTINGS),
        lambda source: op.compare(source, "a", "b", truth="label", groups="author", **SETTINGS),
    ),
    "compare with weights": (
        lambda: op.compare(
            TRUTH, A, B, sample_weight=COLUMNS["weight"], names=("a", "b"), **SETTINGS
        ),
        lambda: op.compare(
            outcomes("a", "b", sample_weight=COLUMNS["weight"]), "a", "b", **SETTINGS
        ),
        lambda source: op.compare(
            source, "a", "b", truth="label", sample_weight="weight", **SETTINGS
        ),
    ),
    "compare scores": (
        lambda: op.compare(
            TRUTH, COLUMNS["sa"], COLUMNS["sb"], metric="auc", names=("sa", "sb"), **SETTINGS
        ),
        lambda: op.compare(
            op.Scores.from_arrays(TRUTH, {name: COLUMNS[name] for name in ("sa", "sb")}),
            "sa",
            "sb",
            metric="auc",
            **SETTINGS,
        ),
        lambda source: op.compare(source, "sa", "sb", truth="label", metric="auc", **SETTINGS),
    ),
    "compare grades": (
        lambda: op.compare(
            None,
            COLUMNS["sa"],
            COLUMNS["sb"],
            metric="mean",
            rope=0.1,
            names=("sa", "sb"),
            **SETTINGS,
        ),
        lambda: op.compare(
            op.Scores.from_values({name: COLUMNS[name] for name in ("sa", "sb")}),
            "sa",
            "sb",
            metric="mean",
            rope=0.1,
            **SETTINGS,
        ),
        lambda source: op.compare(source, "sa", "sb", metric="mean", rope=0.1, **SETTINGS),
    ),
    "estimate": (
        lambda: op.estimate(TRUTH, A, name="a", **SETTINGS),
        lambda: op.estimate(outcomes("a"), "a", **SETTINGS),
        lambda source: op.estimate(source, "a", truth="label", **SETTINGS),
    ),
    "rank": (
        lambda: op.rank(TRUTH, {"a": A, "b": B, "c": C}, **SETTINGS),
        lambda: op.rank(outcomes("a", "b", "c"), **SETTINGS),
        lambda source: op.rank(source, ["a", "b", "c"], truth="label", **SETTINGS),
    ),
    "scorecard": (
        lambda: op.scorecard(TRUTH, A, B, names=("a", "b"), **SETTINGS),
        lambda: op.scorecard(outcomes("a", "b"), "a", "b", **SETTINGS),
        lambda source: op.scorecard(source, "a", "b", truth="label", **SETTINGS),
    ),
    "gate": (
        lambda: op.gate(TRUTH, A, B, **SETTINGS),
        lambda: op.gate(outcomes("a", "b"), "a", "b", **SETTINGS),
        lambda source: op.gate(source, "a", "b", truth="label", **SETTINGS),
    ),
    "gate with groups": (
        lambda: op.gate(TRUTH, A, B, groups=COLUMNS["author"], **SETTINGS),
        lambda: op.gate(outcomes("a", "b", groups=COLUMNS["author"]), "a", "b", **SETTINGS),
        lambda source: op.gate(source, "a", "b", truth="label", groups="author", **SETTINGS),
    ),
    "compare_runs": (
        lambda: op.compare_runs(TRUTH, {"a": A, "b": B}, {"c": C}, names=("x", "c"), **SETTINGS),
        lambda: op.compare_runs(
            outcomes("a", "b", "c"), ["a", "b"], ["c"], names=("x", "c"), **SETTINGS
        ),
        lambda source: op.compare_runs(
            source, ["a", "b"], ["c"], truth="label", names=("x", "c"), **SETTINGS
        ),
    ),
    "compare_slices": (
        lambda: op.compare_slices(
            TRUTH, A, B, by={"country": COLUMNS["country"]}, names=("a", "b"), **SETTINGS
        ),
        lambda: op.compare_slices(
            outcomes("a", "b", by={"country": COLUMNS["country"]}), "a", "b", **SETTINGS
        ),
        lambda source: op.compare_slices(source, "a", "b", truth="label", by="country", **SETTINGS),
    ),
    "compare_slices of scores": (
        lambda: op.compare_slices(
            TRUTH,
            COLUMNS["sa"],
            COLUMNS["sb"],
            by=FRAME["country"],
            metric="auc",
            names=("sa", "sb"),
            **SETTINGS,
        ),
        lambda: op.compare_slices(
            op.Scores.from_arrays(TRUTH, {name: COLUMNS[name] for name in ("sa", "sb")}),
            "sa",
            "sb",
            by=FRAME[["country"]],
            metric="auc",
            **SETTINGS,
        ),
        lambda source: op.compare_slices(
            source, "sa", "sb", truth="label", by="country", metric="auc", **SETTINGS
        ),
    ),
}


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("one-way-in") / "preds.parquet"
    FRAME.to_parquet(path)
    return path


def facts(result: Any) -> Any:
    """Return the numbers of a result, without the names of what they were computed from."""
    answer = result.to_dict()
    return {key: value for key, value in answer.items() if key not in ("findings", "signature")}


def numbers(value: Any) -> list[float]:
    if isinstance(value, dict):
        return [number for key in sorted(value) for number in numbers(value[key])]
    if isinstance(value, list):
        return [number for part in value for number in numbers(part)]
    return [float(value)] if isinstance(value, (int, float)) else []


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_source_gives_the_same_answer(question, file):
    arrays, counted, columns = QUESTIONS[question]
    expected = numbers(facts(arrays()))
    assert len(expected) > 5
    sources = {"outcomes": counted()}
    for name, source in {"pandas": FRAME, "polars": pl.from_pandas(FRAME), "file": file}.items():
        sources[name] = columns(source)
    sources["lazy"] = columns(pl.from_pandas(FRAME).lazy())
    for name, answer in sources.items():
        np.testing.assert_allclose(numbers(facts(answer)), expected, rtol=1e-12, err_msg=name)


def test_a_whole_frame_is_ranked():
    answer = op.rank(FRAME[["label", "a", "b", "c"]], truth="label", **SETTINGS)
    np.testing.assert_array_equal(answer.names, op.rank(outcomes(*"abc"), **SETTINGS).names)


@pytest.mark.parametrize(
    ("card", "metrics"),
    [
        (lambda: op.scorecard(TRUTH, A, B), ("accuracy", "f1_macro", "matthews_corrcoef")),
        (
            lambda: op.scorecard(op.Outcomes.from_correct({"a": A, "b": B}), "a", "b"),
            ("accuracy",),
        ),
        (
            lambda: op.scorecard([["x"], ["y"], []] * 9, [["x"], [], []] * 9, [["x", "y"]] * 27),
            ("f1_micro", "f1_macro", "f1_samples"),
        ),
        (
            lambda: op.scorecard(
                op.Outcomes.from_tags(
                    [["B-X", "O"]] * 9,
                    {"a": [["B-X", "O"]] * 9, "b": [["O", "B-X"]] * 9},
                    scheme="IOB2",
                ),
                "a",
                "b",
            ),
            ("precision", "recall", "f1"),
        ),
    ],
)
def test_a_scorecard_has_default_metrics(card, metrics):
    assert card().keys == metrics


def test_a_scorecard_of_scores_needs_metrics():
    scores = op.Scores.from_arrays(TRUTH, {"a": COLUMNS["sa"], "b": COLUMNS["sb"]})
    with pytest.raises(UsageError, match="metrics="):
        op.scorecard(scores, "a", "b")


def test_two_accuracies_are_a_plan():
    plan = op.plan(0.90, 0.80, rope=0.01, random_state=1, n_simulations=200)
    stated = op.plan(
        scenario={"accuracies": (0.90, 0.80), "agreement": 0.9 * 0.8 + 0.1 * 0.2},
        rope=0.01,
        random_state=1,
        n_simulations=200,
    )
    assert plan.n == stated.n
    first = plan.findings[0]
    assert first.name == "agreement_assumed"
    assert "74.0%" in first.message
    assert "agreement_assumed" not in [item.name for item in stated.findings]


MODEL = LogisticRegression()
COMPARISON = op.compare(TRUTH, A, B, **SETTINGS)
WRONG_CALLS: list[tuple[Callable[[], object], str]] = [
    (lambda: op.compare(TRUTH, A, B, C), "op.rank(y_true, {'a': …, 'b': …, 'c': …})"),
    (lambda: op.rank(TRUTH, A, B, C), "op.rank(y_true, {"),
    (lambda: op.rank(TRUTH, [A, B]), "rank(y_true, {'bert': pred_1, 'gpt': pred_2})"),
    (lambda: op.compare(MODEL, MODEL, FRAME, TRUTH), "op.cross_compare(estimator_a"),
    (lambda: op.compare(FRAME, "label", "a", "b"), "compare(frame, 'a', 'b', truth='label')"),
    (lambda: op.rank(FRAME, "label", "a", "b"), "op.rank(frame, ['a', 'b'], truth='label')"),
    (lambda: op.compare(FRAME, "a", "b"), "compare(data, 'a', 'b', truth='label')"),
    (lambda: op.rank(FRAME), "truth='label'"),
    (lambda: op.compare(TRUTH, "a", "b"), "compare(frame, 'a', 'b', truth='label')"),
    (lambda: op.compare(FRAME, A, B, truth="label"), "truth='label'"),
    (lambda: op.compare(TRUTH, A), "op.estimate(y_true, pred)"),
    (lambda: op.compare(TRUTH, {"a": A, "b": B}), "op.rank(y_true, models)"),
    (lambda: op.compare(TRUTH, A, B, "f1"), "metric='f1'"),
    (lambda: op.compare(TRUTH, A, B, 0.02), "rope=0.02"),
    (lambda: op.compare(TRUTH, A, B, seed=0), "random_state=0"),
    (lambda: op.compare(TRUTH, A, B, alpha=0.05), "hdi_prob=0.95"),
    (lambda: op.compare(TRUTH, A, B, n_bootstrap=99), "prior='bootstrap'"),
    (lambda: op.compare(TRUTH, A, B, metrics=["f1"]), "op.scorecard"),
    (lambda: op.compare(TRUTH, A, B, metric=["f1"]), "scorecard"),
    (lambda: op.compare(TRUTH, A, B, average="macro"), "metric='f1_macro'"),
    (lambda: op.compare(TRUTH, A, B, by=A), "op.compare_slices"),
    (lambda: op.compare(TRUTH, A, B, cv=5), "op.cross_compare"),
    (lambda: op.compare(TRUTH, A, B, weights=A), "sample_weight="),
    (lambda: op.compare(y_true=TRUTH, y_pred_a=A, y_pred_b=B), "compare(y_true, pred_a, pred_b)"),
    (lambda: op.compare(TRUTH, A, B, ropes=0.1), "did you mean rope=?"),
    (lambda: op.compare(TRUTH, A, B, y_true=A), "twice"),
    (lambda: op.scorecard(TRUTH, A, B, metric="f1"), "metrics=['f1', 'recall']"),
    (lambda: op.estimate(TRUTH), "estimate(y_true, pred)"),
    (lambda: op.estimate(TRUTH, A, B), "op.rank(y_true, {"),
    (lambda: op.gate(TRUTH, A), "gate(y_true, pred_new, pred_old)"),
    (lambda: op.gate(TRUTH, A, B, threshold=0.1), "rope=0.01"),
    (lambda: op.compare_slices(TRUTH, A, B), "by="),
    (lambda: op.compare_slices(TRUTH, A, B, by="country"), "truth='label', by='country'"),
    (lambda: op.compare_slices(FRAME, "a", "b", by="country"), "truth="),
    (lambda: op.plan(), "scenario"),
    (lambda: op.plan(outcomes("a", "b")), "plan(pilot=outcomes, rope=0.01)"),
    (lambda: op.plan(accuracies=(0.9, 0.8)), "plan(0.90, 0.86)"),
    (lambda: op.power(), "sizes=[500, 1000]"),
    (lambda: op.cross_compare(MODEL, MODEL), "cross_compare(estimator_a, estimator_b, X, y"),
    (lambda: op.propose(A, B), "budget=200"),
    (lambda: op.compare(FRAME, "a", "b", truth="label", where={}), "op.read(frame, truth="),
    (
        lambda: op.rank(FRAME, truth="label", metric="auc"),
        "name the models, e.g. rank(data, ['a',",
    ),
    (lambda: op.read(FRAME), "truth='label'"),
    (lambda: op.read(FRAME, target="label"), "truth='label'"),
    (lambda: op.Outcomes(TRUTH, {"a": A}), "op.Outcomes.from_labels(y_true, {'bert': pred_1"),
    (lambda: op.Outcomes.from_labels(TRUTH, A, B), "op.Outcomes.from_labels(y_true, {'bert'"),
    (lambda: op.Scores(TRUTH, A), "op.Scores.from_arrays(y_true, {'bert': scores_1"),
    (lambda: op.Rope(0.01), "rope=0.01 or rope=(-0.02, 0.01)"),
    (lambda: bool(op.gate(TRUTH, A, B, **SETTINGS)), "gate.passed"),
    (lambda: op.nhst.mcnemar(TRUTH, A, B), "op.nhst.mcnemar(a_only=31, b_only=12)"),
    (lambda: op.scorecard(TRUTH, A, B, ["f1"]), "metrics=['f1']"),
    (lambda: op.gate(FRAME, "a", "b", "label"), "gate(frame, 'a', 'b', truth='label')"),
    (lambda: op.propose(A, B, 100), "budget=200"),
    (lambda: COMPARISON.plot("figure.png"), "savefig('figure.png')"),
    (lambda: op.Monitor("folder", A, B), "names of two models"),
    (lambda: op.Monitor(), "Monitor('runs/', 'new', 'old', rope=0.01)"),
    (lambda: op.write_report(), "write_report(comparison, 'report.html')"),
    (lambda: op.compare(outcomes("a", "b"), "a", "b", truth="label"), "remove it"),
]


@pytest.mark.parametrize("number", range(len(WRONG_CALLS)))
def test_a_wrong_call_names_the_call_to_type(number):
    call, hint = WRONG_CALLS[number]
    with pytest.raises(UsageError) as raised:
        call()
    message = str(raised.value)
    assert hint in message
    assert len(message) < 400


def test_a_wrong_call_is_a_type_error_too():
    with pytest.raises(TypeError) as raised:
        op.compare(TRUTH, A, B, seed=0)
    assert isinstance(raised.value, CallError)
    assert raised.value.__context__ is None


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("mcnemar", "op.nhst.mcnemar"),
        ("compare_models", "op.compare(y_true, pred_a, pred_b)"),
        ("read_csv", "op.read("),
        ("load_news20", "op.datasets.load_news20()"),
        ("f1_score", "metric='f1'"),
        ("ranks", "op.rank"),
        ("Outcome", "op.Outcomes"),
        ("__path_of_nothing__", "no attribute"),
    ],
)
def test_a_name_that_the_package_lacks_is_answered(name, hint):
    with pytest.raises(AttributeError) as raised:
        getattr(op, name)
    assert hint in str(raised.value)


RANKING = op.rank(outcomes("a", "b"), **SETTINGS)
SUITE = op.compare(op.Suite({"day": outcomes("a", "b")}, ropes=0.1), "a", "b", random_state=0)


@pytest.mark.parametrize(
    ("result", "name", "hint"),
    [
        (COMPARISON, "summary", "print(result)"),
        (COMPARISON, "save", "op.write_report(result, 'report.html')"),
        (COMPARISON, "p_value", ".mcnemar().p_value"),
        (COMPARISON, "ci", ".hdi.low, .hdi.high"),
        (COMPARISON, "winner", ".decision"),
        (COMPARISON, "plott", ".plot"),
        (RANKING, "winner", ".names[0]"),
        (RANKING, "best", ".tied"),
        (SUITE, "more_data", "op.plan(pilot=suite, a='bert', b='gpt')"),
    ],
)
def test_an_attribute_that_a_result_lacks_is_answered(result, name, hint):
    with pytest.raises(AttributeError) as raised:
        getattr(result, name)
    assert hint in str(raised.value)


def test_hints_name_what_exists():
    """Every attribute and parameter in a hint is one that results and functions have."""
    from outperform import wrong_calls

    kinds = [
        op.Comparison,
        op.Outcomes,
        *(getattr(op.results, name) for name in op.results.__all__),
    ]
    for guess, needed, _ in wrong_calls._ATTRIBUTES:
        assert any(
            hasattr(kind, needed) or needed in getattr(kind, "__dataclass_fields__", ())
            for kind in kinds
        ), (guess, needed)
    owners = (op, op.Outcomes, op.Scores, op.nhst, op.Comparison)
    for name in wrong_calls._CALLS:
        assert any(hasattr(owner, name) for owner in owners)
    for name, _ in wrong_calls._ADVICE:
        assert hasattr(op, name)
    assert not set(wrong_calls._NAMES) & set(op.__all__)


OUTCOMES = outcomes("a", "b")
COMPARISON = op.compare(OUTCOMES, "a", "b", **SETTINGS)
SUITE = op.Suite({"x": OUTCOMES, "y": OUTCOMES})


@pytest.mark.parametrize(
    ("call", "typed"),
    [
        (lambda: COMPARISON["mean"], "type .mean"),
        (lambda: COMPARISON[0], "type dir(result)"),
        (lambda: float(COMPARISON), "type result.mean"),
        (lambda: COMPARISON.plot(kind="forest"), "Parameters: ax, size"),
        (lambda: COMPARISON.to_html("page.html"), "type op.write_report(result, 'report.html')"),
        (lambda: op.rank(FRAME, "a", "b", truth="label"), "type op.rank(frame, ['a', 'b']"),
        (lambda: op.compare(FRAME, ["a", "b"], truth="label"), "type compare(data, 'a', 'b', ...)"),
        (lambda: op.compare(A == TRUTH, B == TRUTH), "op.Outcomes.from_correct({'a': a, 'b': b})"),
        (lambda: op.compare_slices(FRAME, "a", "b", "label", "country"), "by='country')"),
        (lambda: op.estimate(FRAME, "a", "label"), "estimate(frame, 'a', truth='label')"),
        (lambda: op.gate(TRUTH, A, B, min_diff=-0.02), "type rope=0.02"),
        (lambda: op.compare(OUTCOMES), "type compare(data, 'a', 'b')"),
        (lambda: op.compare(TRUTH, A, B, confidence=0.9), "type hdi_prob=0.9"),
        (lambda: op.compare(TRUTH, A, B, alpha=0.1), "type hdi_prob=0.9"),
        (
            lambda: op.compare(TRUTH, A, B, by="country"),
            "op.compare_slices(y_true, pred_a, pred_b, by=...)",
        ),
        (lambda: op.plan(pilot=FRAME, a="a", b="b"), "pilot=op.read('preds.csv', truth='label')"),
        (lambda: op.plan(pilot=COMPARISON), "use comparison.more_data()"),
        (lambda: COMPARISON.report("report.html"), "op.write_report(result, 'report.html')"),
        (lambda: op.write_report(COMPARISON, "figure.png"), "write 'figure.html' instead"),
        (lambda: op.Outcomes.from_judged(A, B), "human={'a': human_a, 'b': human_b})"),
        (lambda: op.Outcomes(), "type op.Outcomes.from_labels("),
        (lambda: op.Suite(x=OUTCOMES), "type op.Suite({'arc': outcomes_1, 'mmlu': outcomes_2})"),
        (lambda: op.estimate(TRUTH, A, pos_label="1", metric="recall"), "pass 1"),
    ],
)
def test_a_wrong_call_names_the_line_to_type(call, typed):
    with pytest.raises(UsageError) as caught:
        call()
    assert typed in str(caught.value)


@pytest.mark.parametrize(
    ("owner", "name", "typed"),
    [
        (op.metrics, "f1", "type op.estimate(y_true, pred, metric='f1')"),
        (op.metrics, "log_loss", "metric='log_loss')"),
        (op, "judge", "type op.Outcomes.from_judged("),
        (op.Outcomes, "from_predictions", "type op.Outcomes.from_labels("),
        (op, "non_inferior", "op.gate("),
        (op, "compare_tasks", "op.Suite("),
        (op.Outcomes, "from_long", "format='long'"),
        (op.Outcomes, "from_csv", "type op.read('preds.csv', truth='label')"),
        (op.Scores, "from_frame", "type op.read_scores('scores.csv', models="),
        (OUTCOMES, "compare", "type op.compare(data, 'a', 'b')"),
        (SUITE, "rank", "type op.rank(data)"),
        (COMPARISON, "savefig", "type .plot().figure.savefig('figure.png')"),
    ],
)
def test_a_wrong_attribute_names_what_to_type(owner, name, typed):
    assert not hasattr(owner, name)
    with pytest.raises(AttributeError) as caught:
        getattr(owner, name)
    assert typed in str(caught.value)


LONG = pd.DataFrame(
    {
        "model": ["old", "new"] * 40,
        "question": np.repeat(np.arange(40), 2),
        "correct": np.tile([1, 0, 1, 1, 0, 1, 1, 1], 10),
    }
)


@pytest.mark.parametrize(
    "call",
    [
        lambda data: op.compare(data, "old", "new"),
        lambda data: op.compare(data, "old", "new", truth="correct"),
        lambda data: op.rank(data),
        lambda data: op.rank(data, truth="correct"),
        lambda data: op.compare(data, "old", "new", metric="mean"),
        lambda data: op.rank(data, metric="mean"),
        lambda data: op.read(data, correct="correct"),
        lambda data: op.read(data),
    ],
)
@pytest.mark.parametrize("kind", ["frame", "file"])
def test_a_table_with_one_row_per_item_and_model_is_answered_with_the_arguments(
    call, kind, tmp_path
):
    path = tmp_path / "long.csv"
    LONG.to_csv(path, index=False)
    with pytest.raises(UsageError) as caught:
        call(LONG if kind == "frame" else path)
    typed = "format='long', id='question', model='model', score='correct'"
    assert "seems to have one row per item and model" in str(caught.value)
    assert typed in str(caught.value)
    data = op.read(path, format="long", id="question", model="model", score="correct")
    assert (data.n, data.models) == (40, ("old", "new"))
    # The rows of one model can be selected, and one model's predictions beside a model column.
    assert op.read(path, correct="correct", where={"model": "old"}).n == 40
