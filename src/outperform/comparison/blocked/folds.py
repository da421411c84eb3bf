"""Counts of the folds, checked: two rows for each repetition, the same gold in each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from outperform._typing import AnyArray, FloatArray
from outperform.comparison.question import Question
from outperform.errors import DataError, UsageError, unknown_name
from outperform.findings import Finding
from outperform.metrics import Margins
from outperform.outcomes import Outcomes
from outperform.outcomes.counting import as_counts

COUNTS = ("tp_fp_fn", "gold_predicted_correct")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Folds:
    """Hits, true and predicted counts of each model and class in each of the 2m folds.

    Parameters
    ----------
    hits, actual, predicted
        Of shape ``(n_models, n_classes, 2m)``; folds 2j and 2j + 1 are the two
        halves of repetition j.
    """

    hits: AnyArray
    actual: AnyArray
    predicted: AnyArray

    @property
    def m(self) -> int:
        """The number of repetitions."""
        return int(self.hits.shape[2]) // 2

    def values(self, question: Question) -> FloatArray:
        """Return the metric of each model in each fold, ``(n_models, 2m)``."""
        return self._evaluate(question, self._of_view(question))

    def repetitions(self, question: Question) -> FloatArray:
        """Return the metric of each model over each whole repetition, ``(n_models, m)``."""
        return self._evaluate(question, [_pairs(one) for one in self._of_view(question)])

    def repetition_counts(self, question: Question) -> FloatArray:
        """Return tp, fp and fn of whole repetitions, ``(n_models, n_classes, 3, m)``."""
        hits, actual, predicted = (_pairs(one) for one in self._of_view(question))
        return np.stack([hits, predicted - hits, actual - hits], axis=2).astype(np.float64)

    def triples(self, question: Question) -> AnyArray | None:
        """Return tp, fp and fn, ``(n_models, 3, 2m)``, where a metric needs no more."""
        if not _of_one_class(question):
            return None
        hits, actual, predicted = (one[:, 0] for one in self._of_view(question))
        return np.stack([hits, predicted - hits, actual - hits], axis=1)

    @staticmethod
    def _evaluate(question: Question, sums: list[AnyArray]) -> FloatArray:
        classes = None if _of_one_class(question) else _classes(question)
        return np.stack(
            [
                question.measured.evaluate(
                    Margins(hits=hits, actual=actual, predicted=predicted), classes
                )
                for hits, actual, predicted in zip(*sums, strict=True)
            ]
        )

    def _of_view(self, question: Question) -> list[AnyArray]:
        """Return the sums over the classes that the question's view has."""
        sums = [self.hits, self.actual, self.predicted]
        if not _of_one_class(question):
            return sums
        kept = _positive_types(question)
        return [one[:, kept].sum(axis=1, keepdims=True) for one in sums]


def _pairs(counts: AnyArray) -> AnyArray:
    """Add up the two folds of each repetition, on the last axis."""
    return np.asarray(counts[..., 0::2] + counts[..., 1::2])


SCORES_OF_COUNTS = ("precision", "recall", "fbeta", "jaccard")


def _of_one_class(question: Question) -> bool:
    """Say whether tp, fp and fn are all that the metric needs."""
    return question.positive is not None and question.measured.score in SCORES_OF_COUNTS


def _classes(question: Question) -> tuple[int, ...] | None:
    if question.pos_label is None:
        return question.classes
    return (question.seen.code(question.pos_label),)


def _positive_types(question: Question) -> list[int]:
    if question.pos_label is not None:
        return [question.seen.code(question.pos_label)]
    labels = question.given.labels or question.seen.labels
    return [question.seen.code(label) for label in labels]


def read_folds(rows: Any, *, counts: str, name: str) -> AnyArray:
    """Return tp, fp and fn of each fold, ``(3, 2m)``, or say what is wrong with the rows."""
    if counts not in COUNTS:
        raise UsageError(unknown_name("counts", counts, COUNTS))
    table = as_counts(rows, name=f"folds of {name}")
    if table.ndim != 2 or table.shape[1] != 3:
        raise DataError(
            f"folds of {name} must have three columns, {counts.replace('_', ', ')}, and one row "
            f"for each fold; got shape {table.shape}"
        )
    if len(table) % 2 or not len(table):
        raise DataError(
            f"folds of {name} must have two rows for each repetition of two-fold "
            f"cross-validation; got {len(table)}"
        )
    if counts == "gold_predicted_correct":
        table = _from_gold(table, name)
    tp, fp, fn = table.T
    _check_repetitions(tp + fn, name)
    return np.stack([tp, fp, fn])


def _from_gold(table: AnyArray, name: str) -> AnyArray:
    gold, predicted, correct = table.T
    bad = np.flatnonzero((correct > gold) | (correct > predicted))
    if bad.size:
        row = int(bad[0])
        raise DataError(
            f"folds of {name}, row {row + 1}: {correct[row]} correct cannot be more than "
            f"{gold[row]} gold or {predicted[row]} predicted; the columns are gold, predicted, "
            "correct"
        )
    return np.stack([correct, predicted - correct, gold - correct], axis=1)


def _check_repetitions(gold: AnyArray, name: str) -> None:
    """Every repetition tests every document once, so its two folds hold all the gold."""
    totals = gold[0::2] + gold[1::2]
    for repetition, total in enumerate(totals):
        if total != totals[0]:
            raise DataError(
                f"folds of {name}: repetition {repetition + 1} (rows {2 * repetition + 1} and "
                f"{2 * repetition + 2}) holds {total} gold items, repetition 1 holds {totals[0]}; "
                "the two halves of every repetition must hold the whole data, tp + fn, once"
            )


def check_same_gold(a: AnyArray, b: AnyArray, names: tuple[str, str]) -> None:
    """Refuse folds of two models that were not the same folds."""
    if a.shape != b.shape:
        raise DataError(
            f"{names[0]} has {a.shape[1]} folds and {names[1]} has {b.shape[1]}; both models must "
            "be tested on the same folds"
        )
    gold_a, gold_b = a[0] + a[2], b[0] + b[2]
    apart = np.flatnonzero(gold_a != gold_b)
    if apart.size:
        row = int(apart[0])
        raise DataError(
            f"row {row + 1}: {names[0]} was tested on {gold_a[row]} gold items and {names[1]} on "
            f"{gold_b[row]}; both models must be tested on the same folds in the same order"
        )


def repeated_rows(counts: AnyArray, name: str) -> tuple[Finding, ...]:
    """Return a finding if two folds of a model have the same counts to the last one."""
    rows = [tuple(row) for row in counts.T.tolist()]
    twice = [row for row in dict.fromkeys(rows) if rows.count(row) > 1]
    if not twice:
        return ()
    places = ", ".join(str(place) for place, row in enumerate(rows, 1) if row == twice[0])
    return (
        Finding(
            "repeated_fold",
            "warning",
            f"The folds of {name} in rows {places} have the same counts; if one of them was "
            "entered twice, the interval is too narrow.",
        ),
    )


def folds_of_counts(counts: AnyArray) -> Folds:
    """Return the folds of tp, fp and fn, ``(n_models, 3, 2m)``."""
    tp, fp, fn = np.moveaxis(counts, 1, 0)[:, :, None, :]
    return Folds(hits=tp, actual=tp + fn, predicted=tp + fp)


def folds_of_outcomes(outcomes: list[Outcomes]) -> Folds:
    """Return the folds of outcomes that share their models and classes."""
    sums = [
        [one.margins(model) for one in outcomes] for model in outcomes[0].models
    ]  # (n_models, 2m)
    return Folds(
        **{
            name: np.stack(
                [np.stack([getattr(fold, name) for fold in model], axis=-1) for model in sums]
            )
            for name in ("hits", "actual", "predicted")
        }
    )
