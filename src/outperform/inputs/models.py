"""Answers of two or more models: selected from outcomes, read by name, or from arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from outperform._typing import Label
from outperform.data.labels import is_source
from outperform.data.missing import UNDECLARED, MissingTexts
from outperform.data.outcomes import Outcomes
from outperform.data.scores import Scores
from outperform.errors import UsageError, param
from outperform.inference.spec import Data, data_of, refuse_counted, selected
from outperform.metrics.metric import MetricLike


def refuse_truth(truth: str | None, verb: str) -> None:
    """Raise an error if ``truth`` is passed with data that already have true labels."""
    if truth is not None:
        raise UsageError(
            f"{param('truth=')} is a column of a frame or file; these data already have their "
            f"true labels, so remove it: {verb}(data, ...)"
        )


def read_models(
    y_true: Any,
    models: Mapping[str, Any] | None,
    *,
    verb: str,
    truth: str | None,
    metric: MetricLike | None,
    labels: Sequence[Label] | None,
    groups: Any,
    sample_weight: Any,
    missing: MissingTexts = UNDECLARED,
) -> Data:
    """Return the data of models: selected, read by column names, or built from arrays.

    Parameters
    ----------
    y_true
        Outcomes or scores, a frame or file, or true labels.
    models
        By display name: a model's name, the name of its column, or its answers. None means all
        models of ``y_true``.
    verb
        Function that the user called, for messages.
    truth
        Column of the true labels in a frame or file.
    metric, labels, groups, sample_weight
        As the user passed them; with a frame or file, groups and weights are names of columns.
    missing
        Texts that represent a missing label.
    """
    rows = {"groups": groups, "sample_weight": sample_weight}
    answers = None if models is None else list(models.values())
    if isinstance(y_true, (Outcomes, Scores)):
        refuse_truth(truth, verb)
        refuse_counted(**rows)
        return y_true if answers is None else selected(y_true, answers, verb=verb)
    names = answers is None or all(isinstance(answer, str) for answer in answers)
    if truth is not None or (names and is_source(y_true)):
        if not names:
            raise UsageError(
                f"with {param('truth=')}, models are the names of columns, e.g. "
                f"{verb}(frame, 'bert', 'gpt', truth={truth!r})"
            )
        # Reading files is not imported for arrays.
        from outperform.inputs.columns import read_named

        return read_named(
            y_true, answers, verb=verb, truth=truth, metric=metric, missing=missing, **rows
        )
    if models is None:
        raise UsageError(
            "predictions must be a mapping from model names, e.g. "
            f"{verb}(y_true, {{'bert': pred_1, 'gpt': pred_2}}), or a DataFrame"
        )
    if names and isinstance(y_true, Mapping) and all(isinstance(v, str) for v in y_true.values()):
        raise UsageError(
            f"files of several models are joined first: type data = op.read({dict(y_true)!r}, "
            "id='id', label='label'), or correct='correct' instead of label= if they record right "
            f"or wrong; then {verb}(data, {', '.join(map(repr, answers or ()))})"
        )
    if names:
        raise UsageError(
            "the models are names, so y_true must be the frame or file with these columns: "
            f"{verb}(frame, {', '.join(map(repr, answers or ()))}, truth='label'); got "
            f"{type(y_true).__name__}"
        )
    return data_of(y_true, models, metric=metric, labels=labels, missing=missing, **rows)
