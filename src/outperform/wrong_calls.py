"""Wrong calls and names, with the correct call for each.

Newcomers guess: the names of other libraries, the arguments of another function, one model too
many. Each table here maps a frequent guess to the line that does what was meant.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from outperform.errors import CallError

P = ParamSpec("P")
R = TypeVar("R")

# The simplest useful call of each function.
_CALLS = {
    "compare": "compare(y_true, pred_a, pred_b) or compare(frame, 'a', 'b', truth='label')",
    "estimate": "estimate(y_true, pred) or estimate(frame, 'model', truth='label')",
    "rank": "rank(y_true, {'bert': pred_1, 'gpt': pred_2}) or rank(frame, truth='label')",
    "scorecard": "scorecard(y_true, pred_a, pred_b, metrics=['f1', 'recall'])",
    "from_arrays": "op.Scores.from_arrays(y_true, {'bert': scores_1, 'gpt': scores_2})",
    "from_labels": "op.Outcomes.from_labels(y_true, {'bert': pred_1, 'gpt': pred_2})",
    "mcnemar": "op.compare(y_true, a, b).mcnemar() or op.nhst.mcnemar(a_only=31, b_only=12)",
    "gate": "gate(y_true, pred_new, pred_old) or gate(frame, 'new', 'old', truth='label')",
    "compare_slices": "compare_slices(frame, 'a', 'b', truth='label', by='country') or "
    "compare_slices(y_true, pred_a, pred_b, by=country)",
    "compare_runs": "compare_runs(y_true, [run_a1, run_a2], [run_b1, run_b2])",
    "compare_cv_scores": "compare_cv_scores(scores_a, scores_b, folds=10)",
    "compare_cv_counts": "compare_cv_counts(folds_a, folds_b, counts='tp_fp_fn')",
    "estimate_cv_counts": "estimate_cv_counts(folds, counts='tp_fp_fn')",
    "cross_compare": "cross_compare(estimator_a, estimator_b, X, y, metric='f1')",
    "noise_floor": "noise_floor({'run1': bits_1, 'run2': bits_2})",
    "plan": "plan(pilot=outcomes, rope=0.01) or plan(0.90, 0.86, rope=0.01)",
    "power": "power(pilot=outcomes, sizes=[500, 1000], goal='≫', rope=0.01)",
    "propose": "propose(pred_a, pred_b, budget=200)",
    "read": "read('preds.csv', truth='label')",
    "read_scores": "read_scores('scores.csv', models=['bert', 'gpt'], truth='label')",
    "Monitor": "Monitor('runs/', 'new', 'old', rope=0.01)",
    "Outcomes": "op.Outcomes.from_labels(y_true, {'bert': pred_1, 'gpt': pred_2})",
    "Scores": "op.Scores.from_arrays(y_true, {'bert': scores_1, 'gpt': scores_2})",
    "Suite": "op.Suite({'arc': outcomes_1, 'mmlu': outcomes_2})",
    "Rope": "rope=0.01 or rope=(-0.02, 0.01) in the call, or op.Rope(low=-0.02, high=0.01)",
    "from_judged": "op.Outcomes.from_judged({'a': verdicts_a, 'b': verdicts_b}, "
    "human={'a': human_a, 'b': human_b})",
    "report": "op.write_report(result, 'report.html') for a page, or .report() for a paragraph",
    "more_data": "comparison.more_data()",
    "to_html": "op.write_report(result, 'report.html')",
    "write_report": "write_report(comparison, 'report.html')",
}

# Names of the mass of an interval in other libraries; alpha is its complement.
_MASSES = {
    "alpha",
    "ci",
    "ci_level",
    "confidence",
    "confidence_level",
    "credible_interval",
    "level",
    "prob",
}

# Keywords of other libraries and of other functions in this package, with replacements.
_KEYWORDS = {
    "average": "metric='f1_macro' (or 'f1_micro', 'f1_weighted')",
    "classes": "labels=[...]",
    "cluster": "groups=...",
    "clusters": "groups=...",
    "correct": "op.read(..., correct=[...]) or op.Outcomes.from_correct({...})",
    "cv": "op.cross_compare(estimator_a, estimator_b, X, y, cv=...)",
    "delta": "rope=0.01",
    "draws": "n_draws=20_000",
    "group": "groups=...",
    "guard": "guards=[('recall', 'fraud', 0.02)]",
    "iterations": "n_draws=20_000",
    "jobs": "n_jobs=2",
    "label": "truth='label'",
    "label_column": "truth='label'",
    "margin": "rope=0.01",
    "max_drop": "rope=0.02",
    "max_loss": "rope=0.02",
    "max_n": "max_items=100_000",
    "method": "prior='bootstrap', or op.compare(...).mcnemar() for a test",
    "metric": "metrics=['f1', 'recall']",
    "metrics": "metric='f1', or op.scorecard(..., metrics=[...]) for several",
    "min_diff": "rope=0.02",
    "min_effect": "rope=0.02",
    "model_names": "names=('bert', 'gpt')",
    "models": "the models by name, {'bert': pred_1, 'gpt': pred_2}, or op.rank for several",
    "n_boot": "prior='bootstrap', n_draws=20_000",
    "n_bootstrap": "prior='bootstrap', n_draws=20_000",
    "n_iter": "n_draws=20_000",
    "n_resamples": "prior='bootstrap', n_draws=20_000",
    "n_samples": "n_draws=20_000",
    "n_workers": "n_jobs=2",
    "name_a": "names=('bert', 'gpt')",
    "name_b": "names=('bert', 'gpt')",
    "num_samples": "n_draws=20_000",
    "pos": "pos_label='yes'",
    "positive": "pos_label='yes'",
    "positive_class": "pos_label='yes'",
    "positive_label": "pos_label='yes'",
    "random_seed": "random_state=0",
    "rng": "random_state=0",
    "rope_width": "rope=0.01",
    "sample_weights": "sample_weight=...",
    "samples": "n_draws=20_000",
    "score": "metric='f1'",
    "scorer": "metric='f1'",
    "scoring": "metric='f1'",
    "seed": "random_state=0",
    "size": "sizes=[500, 1000]",
    "slices": "by='country'",
    "target": "truth='label'",
    "target_column": "truth='label'",
    "test": "op.compare(...).mcnemar() for a test; compare reports P(better) and an interval",
    "threshold": "rope=0.01",
    "tolerance": "rope=0.01",
    "truth_column": "truth='label'",
    "weight": "sample_weight=...",
    "weights": "sample_weight=...",
    "workers": "n_jobs=2",
    "world": "scenario={'accuracies': (0.90, 0.86)}",
}


def meant_keyword(name: str) -> str | None:
    """Return the keyword of this package for one of another library, if there is one.

    Parameters
    ----------
    name
        Keyword that does not exist here.

    Examples
    --------
    >>> meant_keyword("seed"), meant_keyword("cv")
    ('random_state', None)
    """
    keyword, equals, _ = _KEYWORDS.get(name, "").partition("=")
    return keyword if equals and keyword.isidentifier() else None


# Arguments that are passed by position.
_BY_POSITION = {
    "candidate_model",
    "data",
    "df",
    "file",
    "frame",
    "gold",
    "model_a",
    "model_b",
    "pred_a",
    "pred_b",
    "predictions_a",
    "predictions_b",
    "source",
    "y",
    "y_pred",
    "y_pred_a",
    "y_pred_b",
    "y_test",
}

_OF_MODELS = {"compare", "estimate", "rank", "scorecard", "gate"}
_TRUTHS = {"truth", "label", "labels", "y", "y_true", "y_test", "target", "gold", "actual", "true"}

# Arguments that select or interpret rows.
_OF_READ = {
    "count",
    "dialect",
    "drawn",
    "format",
    "human",
    "id",
    "on_missing",
    "on_null",
    "query",
    "storage_options",
    "table",
    "where",
}

# Keywords that belong to another function.
_ADVICE: dict[tuple[str, str], str] = {
    ("compare", "predictions"): "op.rank(y_true, {'bert': pred_1, 'gpt': pred_2})",
    ("compare_cv_scores", "cv"): "folds=10",
    ("plan", "accuracies"): "plan(0.90, 0.86) or scenario={'accuracies': (0.90, 0.86)}",
    ("plan", "agreement"): "scenario={'accuracies': (0.90, 0.86), 'agreement': 0.9}",
    ("plan", "power"): "target=0.8",
    ("plan", "n"): "max_items=100_000; for the power at a given size, op.power(..., sizes=[500])",
    ("plan", "effect"): "plan(0.90, 0.86) with the two accuracies",
    ("plan", "effect_size"): "plan(0.90, 0.86) with the two accuracies",
    ("rank", "models"): "op.rank(frame, ['bert', 'gpt'], truth='label') or "
    "op.rank(y_true, {'bert': pred_1, 'gpt': pred_2})",
    ("read", "item"): "id='question'",
    ("read", "key"): "id='question'",
    ("read", "on"): "id='question'",
    ("read", "target"): "truth='label'",
    ("propose", "n"): "budget=200",
    ("power", "n"): "sizes=[500, 1000]",
    ("read", "models"): "models=['bert', 'gpt']",
    ("read", "predictions"): "models=['bert', 'gpt']",
    ("read", "columns"): "models=['bert', 'gpt']",
    ("cross_compare", "scoring"): "metric='f1'",
    ("cross_compare", "folds"): "cv=op.BlockedTwoFold(3), or cv=10",
    ("write_report", "format"): "op.write_report(comparison, 'report.html')",
    ("write_report", "force"): "overwrite=True",
}

# Names that users look for in the package.
_NAMES = {
    "ab_test": "op.compare(y_true, pred_a, pred_b)",
    "accuracy": "metric='accuracy'",
    "auc": "metric='roc_auc'",
    "benchmark": "op.rank(y_true, {'bert': pred_1, 'gpt': pred_2})",
    "bootstrap": "op.compare(y_true, pred_a, pred_b, prior='bootstrap')",
    "compare_classifiers": "op.compare(y_true, pred_a, pred_b)",
    "compare_estimators": "op.cross_compare(estimator_a, estimator_b, X, y)",
    "compare_folds": "op.compare_cv_scores(scores_a, scores_b, folds=10)",
    "compare_groups": "op.compare_slices(frame, 'a', 'b', truth='label', by='country')",
    "compare_many": "op.rank(y_true, {'bert': pred_1, 'gpt': pred_2})",
    "compare_models": "op.compare(y_true, pred_a, pred_b)",
    "compare_scores": "op.compare_cv_scores(scores_a, scores_b, folds=10) for folds, or "
    "op.compare(y_true, scores_a, scores_b, metric='roc_auc') for items",
    "compare_suite": "op.compare(op.Suite(op.read(..., by='task')), 'a', 'b')",
    "compare_tasks": "op.compare(op.Suite(op.read(..., by='task')), 'a', 'b')",
    "equivalent": "op.compare(y_true, pred_a, pred_b, rope=0.01).decision",
    "non_inferior": "op.gate(y_true, pred_new, pred_old, rope=0.01)",
    "noninferiority": "op.gate(y_true, pred_new, pred_old, rope=0.01)",
    "pass_at_k": "metric='pass@2'",
    "rank_suite": "op.rank(op.Suite(op.read(..., by='task')))",
    "rank_tasks": "op.rank(op.Suite(op.read(..., by='task')))",
    "read_long": "op.read(table, format='long', id='question', model='model', score='correct')",
    "compare_seeds": "op.compare_runs(y_true, runs_a, runs_b)",
    "cross_validate": "op.cross_compare(estimator_a, estimator_b, X, y)",
    "difference": "op.compare(y_true, pred_a, pred_b)",
    "evaluate": "op.estimate(y_true, pred)",
    "f1": "metric='f1'",
    "f1_score": "op.estimate(y_true, pred, metric='f1')",
    "from_confusion": "op.Outcomes.from_confusion({'bert': matrix})",
    "from_labels": "op.Outcomes.from_labels(y_true, {'bert': pred_1, 'gpt': pred_2})",
    "gates": "op.gate(y_true, pred_new, pred_old)",
    "hdi": "op.estimate(y_true, pred).hdi",
    "judge": _CALLS["from_judged"],
    "judges": _CALLS["from_judged"],
    "leaderboard": "op.rank(y_true, {'bert': pred_1, 'gpt': pred_2})",
    "load": "op.read('preds.csv', truth='label')",
    "load_news20": "op.datasets.load_news20()",
    "mcnemar": "op.compare(y_true, a, b).mcnemar() or op.nhst.mcnemar(a_only=31, b_only=12)",
    "plot": "op.compare(y_true, pred_a, pred_b).plot()",
    "read_csv": "op.read('preds.csv', truth='label')",
    "read_json": "op.read('preds.jsonl', truth='label')",
    "read_logs": "op.read('logs/', format='lm-eval')",
    "read_parquet": "op.read('preds.parquet', truth='label')",
    "report": "op.write_report(comparison, 'report.html')",
    "sample_size": "op.plan(pilot=outcomes, rope=0.01)",
    "score": "op.estimate(y_true, pred)",
    "significance_test": "op.compare(y_true, pred_a, pred_b); for a p-value, its .mcnemar()",
    "slices": "op.compare_slices(frame, 'a', 'b', truth='label', by='country')",
    "test": "op.compare(y_true, pred_a, pred_b); for a p-value, its .mcnemar()",
    "ttest": "op.compare_cv_scores(scores_a, scores_b, folds=10); for p-values, op.nhst",
}

# Attributes that people look for in a result, the attribute that provides it, and what to type.
_ATTRIBUTES = (
    ("best", "tied", ".names[0] leads; .tied has all models that may be the best"),
    ("better", "decision", ".decision"),
    ("ci", "hdi", ".hdi.low, .hdi.high"),
    ("conf_int", "hdi", ".hdi.low, .hdi.high"),
    ("confidence_interval", "hdi", ".hdi.low, .hdi.high"),
    ("credible_interval", "hdi", ".hdi.low, .hdi.high"),
    ("decision", "status", ".status"),
    ("delta", "mean", ".mean"),
    ("diff", "mean", ".mean"),
    ("difference", "mean", ".mean"),
    ("display", "to_html", "print(result); in a notebook, put it on the last line of a cell"),
    ("effect", "mean", ".mean"),
    ("effect_size", "mean", ".mean"),
    ("estimate", "mean", ".mean"),
    ("graph", "plot", ".plot()"),
    ("high", "hdi", ".hdi.high"),
    ("interval", "hdi", ".hdi.low, .hdi.high"),
    ("leader", "tied", ".names[0]"),
    ("low", "hdi", ".hdi.low"),
    ("model_a", "a", ".a"),
    ("model_b", "b", ".b"),
    ("more_data", "new_tasks", "op.plan(pilot=suite, a='bert', b='gpt')"),
    ("notes", "findings", ".findings"),
    ("order", "names", ".names"),
    ("p", "p_better", ".p_better, .p_equivalent, .p_worse"),
    ("p_best_model", "p_best", ".p_best"),
    ("p_value", "mcnemar", ".mcnemar().p_value; P(better) is .p_better"),
    ("p_value", "p_better", ".p_better, .p_equivalent, .p_worse"),
    ("passed", "status", ".status == 'pass'"),
    ("posterior", "draws", ".draws"),
    ("prob", "p_better", ".p_better, .p_equivalent, .p_worse"),
    ("probability", "p_better", ".p_better, .p_equivalent, .p_worse"),
    ("pvalue", "mcnemar", ".mcnemar().p_value; P(better) is .p_better"),
    ("pvalue", "p_better", ".p_better, .p_equivalent, .p_worse"),
    ("ranking", "names", ".names"),
    ("result", "decision", ".decision"),
    ("result", "status", ".status"),
    ("results", "to_frame", ".to_frame()"),
    ("samples", "draws", ".draws"),
    ("save", "to_dict", "op.write_report(result, 'report.html') or .to_dict()"),
    ("score", "observed", ".observed or .mean"),
    ("scores", "to_frame", ".to_frame()"),
    ("show", "to_html", "print(result)"),
    ("std", "sd", ".sd"),
    ("stderr", "sd", ".sd"),
    ("summary", "to_frame", "print(result), or .report() for a paragraph"),
    ("to_csv", "to_frame", ".to_frame().to_csv('result.csv')"),
    ("to_df", "to_frame", ".to_frame()"),
    ("to_json", "to_dict", "json.dumps(result.to_dict())"),
    ("to_pandas", "to_frame", ".to_frame()"),
    ("trace", "draws", ".draws"),
    ("p_best", "rows", "[row.p_best for row in ranking.rows]"),
    ("p_values", "mcnemar", ".mcnemar().p_value; P(better) is .p_better"),
    ("p_values", "p_better", ".p_better, .p_equivalent, .p_worse"),
    ("compare", "models", "op.compare(data, 'a', 'b')"),
    ("estimate", "models", "op.estimate(data, 'a')"),
    ("gate", "models", "op.gate(data, 'new', 'old')"),
    ("rank", "models", "op.rank(data)"),
    ("scorecard", "models", "op.scorecard(data, 'a', 'b')"),
    ("f1", "models", "op.estimate(data, 'a', metric='f1')"),
    ("accuracy", "models", "op.estimate(data, 'a', metric='accuracy')"),
    ("report", "to_html", "op.write_report(result, 'report.html')"),
    ("with_rope", "rope", "the call again with rope=0.02"),
    ("explain", "findings", ".findings; print(result) explains them"),
    ("print", "to_html", "print(result)"),
    ("n_needed", "more_data", ".more_data()"),
    ("plot_posterior", "plot", ".plot()"),
    ("save_figure", "plot", ".plot().figure.savefig('figure.png')"),
    ("save_plot", "plot", ".plot().figure.savefig('figure.png')"),
    ("write_report", "to_html", "op.write_report(result, 'report.html')"),
    ("savefig", "plot", ".plot().figure.savefig('figure.png')"),
    ("exit_code", "status", ".status; the command outperform gate exits with 0, 1 or 4"),
    ("accuracy", "observed", ".observed or .mean"),
    ("auc", "observed", ".observed or .mean"),
    ("f1", "observed", ".observed or .mean"),
    ("precision", "observed", ".observed or .mean"),
    ("recall", "observed", ".observed or .mean"),
    ("value", "mean", ".mean"),
    ("verdict", "decision", ".decision"),
    ("warnings", "findings", ".findings"),
    ("winner", "decision", ".decision"),
    ("winner", "tied", ".names[0] leads; .tied has all models that may be the best"),
)


def usage(name: str) -> str:
    """Return the simplest useful call of a function.

    Examples
    --------
    >>> usage("propose")
    'propose(pred_a, pred_b, budget=200)'
    """
    return _CALLS.get(name, f"{name}(...)")


def explained(function: Callable[P, R]) -> Callable[P, R]:
    """Wrap a function so that a wrong call raises an error with the correct call.

    Examples
    --------
    >>> @explained
    ... def estimate(y_true, prediction, *, random_state=None):
    ...     return prediction
    >>> estimate([1], [0])
    [0]
    >>> estimate([1], [0], seed=0)
    Traceback (most recent call last):
    outperform.errors.CallError: estimate has no parameter 'seed'; type random_state=0
    """

    @functools.wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except TypeError:
            signature = inspect.signature(function)
            try:
                signature.bind(*args, **kwargs)
            except TypeError:
                pass
            else:
                raise  # the call was right
        owner, _, name = function.__qualname__.rpartition(".")
        # Callers pass neither self nor cls, and a constructor has the name of its class.
        skipped = 1 if next(iter(signature.parameters), "") in ("self", "cls") else 0
        name = owner if name == "__init__" else name
        typed = signature.replace(parameters=list(signature.parameters.values())[skipped:])
        raise CallError(_explain(name, typed, args[skipped:], kwargs))

    return checked


def _explain(
    name: str, signature: inspect.Signature, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> str:
    parameters = signature.parameters
    call = usage(name) if parameters or name in _CALLS else f"{name}()"
    positional = [
        parameter.name
        for parameter in parameters.values()
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD
    ]
    if name == "plan" and len(args) == 2 and {*kwargs} & {"accuracies", "agreement"}:
        agreement = kwargs.get("agreement", 0.9)
        scenario = {"accuracies": args, "agreement": agreement}
        return f"plan takes an agreement in a scenario: type plan(scenario={scenario!r}, rope=0.01)"
    if len(args) > len(positional):
        return _too_many(name, args, positional, list(parameters), call)
    kinds = {word: parameter.kind for word, parameter in parameters.items()}
    keywords = [
        word for word, kind in kinds.items() if kind is not inspect.Parameter.VAR_POSITIONAL
    ]
    takes_any = inspect.Parameter.VAR_KEYWORD in kinds.values()
    unknown = [] if takes_any else [word for word in kwargs if word not in keywords]
    if unknown:
        return _unknown_keyword(name, unknown[0], args, kwargs, keywords, call)
    twice = [word for word in positional[: len(args)] if word in kwargs]
    if twice:
        return f"{name} got {twice[0]!r} twice, by position and by keyword; type {call}"
    return _missing(name, signature, args, kwargs, call)


def _too_many(
    name: str, args: tuple[Any, ...], positional: list[str], parameters: list[str], call: str
) -> str:
    first = args[0]
    if name == "compare" and hasattr(first, "predict") and hasattr(args[1], "predict"):
        return (
            "compare takes predictions; to train and compare two estimators, type "
            "op.cross_compare(estimator_a, estimator_b, X, y)"
        )
    extra = args[len(positional)]
    labels = [value for value in args[1:] if isinstance(value, str)]
    if hasattr(first, "columns") and len(labels) == len(args) - 1:
        advice = _columns_by_position(name, labels, call)
        if advice is not None:
            return advice
    if name in _OF_MODELS and isinstance(extra, str):
        return f"after the models, pass keywords: type metric={extra!r}"
    if name in _OF_MODELS and isinstance(extra, list) and extra and isinstance(extra[0], str):
        return f"after the models, pass keywords: type op.scorecard(..., metrics={extra!r})"
    if name in _OF_MODELS and isinstance(extra, (int, float)) and not isinstance(extra, bool):
        return f"after the models, pass keywords: type rope={extra!r}"
    if name in _OF_MODELS:
        named = ", ".join(f"'{chr(97 + index)}': …" for index in range(len(args) - 1))
        number = {"compare": "two models", "estimate": "one model"}.get(name, "named models")
        return f"{name} takes {number}; for more, type op.rank(y_true, {{{named}}})"
    most = ", ".join(positional) or "no argument"
    others = ", and all others by keyword" if len(parameters) > len(positional) else ""
    return f"{name} takes {most} by position{others}; type {call}"


def _columns_by_position(name: str, labels: list[str], call: str) -> str | None:
    """Return the advice for a frame with more names of columns than models."""
    if name == "compare_slices":
        return f"type {call.partition(' or ')[0]}"
    truths = [label.lower() in _TRUTHS for label in labels]
    if len(labels) == 2 and not any(truths):
        return f"type op.rank(frame, {labels}, truth='label')" if name == "rank" else None
    # New users pass the truth first or last.
    *models, truth = labels if truths[-1] and not truths[0] else [*labels[1:], labels[0]]
    if name == "rank" or len(models) != (1 if name == "estimate" else 2):
        return f"type op.rank(frame, {models}, truth={truth!r})"
    return (
        f"{name} takes the models by position and the truth by keyword: type "
        f"{name}(frame, {', '.join(map(repr, models))}, truth={truth!r})"
    )


def _unknown_keyword(
    name: str,
    word: str,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    parameters: list[str],
    call: str,
) -> str:
    value = kwargs[word]
    if word == "by" and name in _OF_MODELS:
        return _two_meanings_of_by(name, value, args, kwargs)
    if (word in _OF_READ or (word == "model" and isinstance(value, str))) and name in _OF_MODELS:
        models = "".join(f", {model!r}" for model in args[1:] if isinstance(model, str))
        return (
            f"{name} has no parameter {word!r}; read the data first, data = "
            f"{_read_call(args, kwargs)}, and pass the result: {name}(data{models})"
        )
    if name == "compare_runs" and word == "seed" and isinstance(value, str):
        return (
            "compare_runs takes one column of predictions per run: type compare_runs(frame, "
            "['a_seed1', 'a_seed2'], ['b_seed1', 'b_seed2'], truth='label'). From a table with a "
            "column of seeds, make these columns first: "
            f"frame.pivot(index='id', columns={value!r}, values=...)"
        )
    if word.lower() in _SEEDS and isinstance(value, int):
        return f"{name} has no parameter {word!r}; type random_state={value}"
    if word.lower() in _MASSES:
        mass = value if isinstance(value, float) and 0 < value < 1 else 0.95
        mass = 1 - mass if word.lower() == "alpha" and mass < 0.5 else mass
        return f"{name} has no parameter {word!r}; type hdi_prob={mass:g}"
    advice = _ADVICE.get((name, word)) or _KEYWORDS.get(word.lower())
    if advice is not None:
        return f"{name} has no parameter {word!r}; type {advice}"
    if word.lower() in _BY_POSITION:
        return f"{name} takes {word!r} by position: type {call}"
    close = get_close_matches(word, parameters, n=1)
    if close:
        return f"{name} has no parameter {word!r}; did you mean {close[0]}=?"
    return f"{name} has no parameter {word!r}; type {call}. Parameters: {', '.join(parameters)}"


_SEEDS = {"random_seed", "rng", "seed"}


def _source(args: tuple[Any, ...]) -> str:
    """Return the first argument as it was probably typed."""
    first = args[0] if args else None
    if isinstance(first, (str, list)) and len(repr(first)) < _LONGEST:
        return repr(first)
    return "frame" if hasattr(first, "columns") else "source"


_LONGEST = 80  # characters of a source that a message repeats


def _read_call(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
    """Return the call of ``read`` that takes the keywords of a call of another function."""
    long = isinstance(kwargs.get("model"), str)
    words = [word for word in kwargs if word in _OF_READ or word in ("by", "truth", "groups")]
    arguments = {
        word: repr(kwargs[word]) if isinstance(kwargs[word], str) else "..." for word in words
    }
    if long:
        score = kwargs.get("score", kwargs.get("correct", "score"))
        arguments = {
            "format": "'long'",
            **arguments,
            "model": repr(kwargs["model"]),
            "score": repr(score),
        }
    elif "correct" in kwargs:
        arguments["correct"] = repr(kwargs["correct"])
    elif "human" in kwargs and "truth" not in kwargs:
        models = [model for model in args[1:] if isinstance(model, str)]
        arguments = {"id": "'id'", **arguments, "correct": repr(models or ["bert", "gpt"])}
    elif "truth" not in kwargs and "format" not in kwargs:
        arguments = {"truth": "'label'", **arguments}
    written = ", ".join(f"{word}={text}" for word, text in arguments.items())
    return f"op.read({_source(args)}, {written})"


def _two_meanings_of_by(
    name: str, value: object, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> str:
    """Return the calls for both meanings of ``by``: tasks to average over, and slices."""
    by = repr(value) if isinstance(value, (str, list)) and len(repr(value)) < _LONGEST else None
    is_read = bool(args) and (isinstance(args[0], (str, list)) or hasattr(args[0], "columns"))
    models = "".join(f", {model!r}" for model in args[1:] if isinstance(model, str))
    if is_read and by is not None:
        source, truth = _source(args), repr(kwargs.get("truth", "label"))
        reading = by if source.endswith("/'") else f"{by}, truth={truth}"
        tasks = f"op.{name}(op.Suite(op.read({source}, by={reading})){models})"
        pair = models or ", 'a', 'b'"
        slices = f"op.compare_slices({source}{pair}, truth={truth}, by={by})"
    else:
        tasks = (
            "op.Suite(op.Outcomes.from_labels(y_true, {'a': pred_a, 'b': pred_b}, "
            f"by={{'task': ...}})), and pass it: {name}(suite, ...)"
        )
        slices = "op.compare_slices(y_true, pred_a, pred_b, by=...)"
    return (
        f"{name} has no parameter 'by'. For one result over all tasks, type {tasks}; for one "
        f"result per slice, type {slices}"
    )


def _missing(
    name: str,
    signature: inspect.Signature,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    call: str,
) -> str:
    bound = signature.bind_partial(*args, **kwargs).arguments
    required = [
        parameter.name
        for parameter in signature.parameters.values()
        if parameter.default is parameter.empty
        and parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    ]
    missing = [word for word in required if word not in bound]
    models = getattr(args[0], "models", ()) if args else ()
    if name in ("compare", "gate") and len(args) == 1 and len(models) > 1:
        named = ", ".join(map(repr, models[:2]))
        return f"{name} needs the names of two models: type {name}(data, {named})"
    if name == "compare" and len(args) == 2:
        if isinstance(args[1], Mapping) or hasattr(args[1], "columns"):
            return "compare takes two models; for models by name, type op.rank(y_true, models)"
        if all(isinstance(source, str) and "." in source for source in args):
            names = [re.split(r"[/\\]", source)[-1].partition(".")[0] for source in args]
            files = dict(zip(names, args, strict=True))
            return (
                f"compare takes two models: type data = op.read({files}, id='id', label='label'), "
                "or correct='correct' instead of label= if the files record right or wrong; then "
                f"compare(data, {names[0]!r}, {names[1]!r})"
            )
        is_table = isinstance(args[0], str) or hasattr(args[0], "columns")
        if is_table and isinstance(args[1], list) and len(args[1]) == 2:
            a, b = args[1]
            return f"compare takes models by position: type compare(data, {a!r}, {b!r}, ...)"
        return (
            f"compare needs the true labels and two models: type {call}. For one model, type "
            "op.estimate(y_true, pred); for grades, compare(None, grades_a, grades_b, "
            "metric='mean'); for right or wrong, op.Outcomes.from_correct({'a': a, 'b': b}); for "
            "fold scores, op.compare_cv_scores(a, b)"
        )
    return f"{name} needs {' and '.join(missing)}: type {call}"


class Answering:
    """Base of classes that answer a wrong guess of an attribute with the one to type."""

    __slots__ = ()

    if not TYPE_CHECKING:  # else every misspelled attribute would pass the type checker

        def __getattr__(self, name: str) -> object:
            """Answer a wrong guess with the attribute to type."""
            if name.startswith("_"):
                raise AttributeError(name)
            if hasattr(type(self), name):  # a property that raised the error itself
                return object.__getattribute__(self, name)
            raise AttributeError(unknown_attribute(self, name))


# Tables, which are read by a function of the package.
_TABLES = {"csv", "dataframe", "df", "file", "frame", "pandas", "parquet", "polars", "table"}


class _AnsweringType(type):
    """Type of classes that answer a wrong guess of a constructor with the known ones."""

    if not TYPE_CHECKING:

        def __call__(cls, *args: object, **kwargs: object) -> object:
            """Answer a call without keywords with the call to type."""
            if args or not kwargs:
                raise CallError(f"{cls.__name__} takes keywords only; type {usage(cls.__name__)}")
            return super().__call__(**kwargs)

        def __getattr__(cls, name: str) -> object:
            if name == "__signature__":  # which __call__ would hide from help()
                signature = inspect.signature(cls.__init__)
                return signature.replace(parameters=list(signature.parameters.values())[1:])
            if name.startswith("_"):
                raise AttributeError(name)
            message = f"{cls.__name__} has no attribute {name!r}"
            known = [attribute for attribute in dir(cls) if attribute.startswith("from_")]
            if not name.startswith("from_") or not known:
                raise AttributeError(message)
            call = usage(cls.__name__)
            if name.removeprefix("from_") in _TABLES:
                call = f"op.{usage('read' if cls.__name__ == 'Outcomes' else 'read_scores')}"
            elif name == "from_long":
                call = _NAMES["read_long"]
            raise AttributeError(f"{message}; type {call}. Constructors: {', '.join(known)}")


class ByKeyword(Answering, metaclass=_AnsweringType):
    """Base of classes that are created with keywords only, or by class methods."""

    __slots__ = ()


def unknown_export(module: str, name: str, known: Iterable[str]) -> str:
    """Return the message for a name that the package or one of its modules does not have."""
    message = f"module {module!r} has no attribute {name!r}"
    advice = _NAMES.get(name.lower())
    if advice is not None:
        return f"{message}; type {advice}"
    by_lower = {export.lower(): export for export in known}
    close = get_close_matches(name.lower(), by_lower, n=1)
    prefix = module.replace("outperform", "op", 1)
    return f"{message}; did you mean {prefix}.{by_lower[close[0]]}?" if close else message


def unknown_metric(name: str, metrics: Iterable[str], known: Iterable[str]) -> str:
    """Return the message for a metric that is looked for as a function of the package.

    Examples
    --------
    >>> unknown_metric("f1", ["accuracy", "f1"], ["get"])
    "outperform.metrics has no attribute 'f1'; type op.estimate(y_true, pred, metric='f1')"
    """
    if name in metrics and not name.startswith("_"):
        message = f"outperform.metrics has no attribute {name!r}"
        return f"{message}; type op.estimate(y_true, pred, metric={name!r})"
    return unknown_export("outperform.metrics", name, known)


def unknown_attribute(result: object, name: str) -> str:
    """Return the message for an attribute that a result does not have."""
    kind = type(result)
    message = f"{kind.__name__!r} object has no attribute {name!r}"
    # Fields without a default are not attributes of the class.
    fields = getattr(kind, "__dataclass_fields__", {})
    known = [attribute for attribute in (*dir(kind), *fields) if not attribute.startswith("_")]
    for guess, needed, advice in _ATTRIBUTES:
        if guess == name.lower() and needed in known:
            return f"{message}; type {advice}"
    close = get_close_matches(name, known, n=1)
    return f"{message}; did you mean .{close[0]}?" if close else message
