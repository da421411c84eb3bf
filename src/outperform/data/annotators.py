"""Items labelled by several annotators, and the choice of their true label."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import replace
from typing import Any, Literal, NamedTuple, Self, TypeAlias

import numpy as np

from outperform._missing import is_missing, unmasked
from outperform._rows import distinct_rows
from outperform._typing import (
    AnyArray,
    BoolArray,
    ColumnLike,
    FloatArray,
    IntArray,
    Label,
    ModelsLike,
    StatisticsLike,
)
from outperform.data import build
from outperform.data.checks import named
from outperform.data.items import read_ids
from outperform.data.labels import (
    Column,
    Rows,
    align,
    frame_columns,
    is_frame,
    only_column,
    read_column,
    unify,
)
from outperform.errors import DataError, UsageError, param, unknown_name
from outperform.findings import Finding, finding

Truth: TypeAlias = Literal["random", "majority", "latent", "shares"]
_TRUTHS = ("random", "majority", "latent", "shares")
_LONG = ("item", "annotator", "label")
_TWICE = 1.959964
# Agreement must exceed chance by this many standard errors for the estimates to be usable.
_CLEAR = 5.0
# Added to every count of a confusion matrix so that no probability is 0; half an item per row.
_MASS = 0.5
_STEPS, _NEAR, _MOST_PARAMETERS = 2_000, 1e-9, 400


class FromAnnotators:
    """Constructor of outcomes from the labels of several annotators."""

    @classmethod
    def from_annotators(
        cls,
        y_true: StatisticsLike,
        predictions: ModelsLike,
        *,
        truth: Truth,
        labels: Sequence[Label] | None = None,
        ids: ColumnLike | None = None,
    ) -> Self:
        """Count predictions for items that were labelled by several annotators.

        Parameters
        ----------
        y_true
            One row per item and one column per annotator, with NaN or None for a missing label.
            With ``ids``, one row per label, with the columns ``item``, ``annotator`` and ``label``.
            With ``truth="shares"``, one column per class, by name.
        predictions
            Predicted labels of each model: a mapping from model names, or a frame.
        truth
            True label to compare with: ``"random"``, the label of an annotator drawn at random;
            ``"majority"``, the most frequent label (tied labels share the item); ``"latent"``, an
            unobserved true class, by the model of Dawid and Skene; ``"shares"``, a label drawn in
            proportion to the given shares or numbers of votes.
        labels
            Classes that must be in the table even if they never occur.
        ids
            Item of each prediction, if ``y_true`` has one row per label.

        Examples
        --------
        >>> import outperform as op
        >>> seen = op.Outcomes.from_annotators(
        ...     [[1, 1, 0], [0, 0, None], [1, 1, 1]], {"a": [1, 0, 1], "b": [0, 0, 1]},
        ...     truth="random")
        >>> c = op.compare(seen, "a", "b", metric="accuracy", rope=0.1, random_state=1)
        >>> round(c.a.observed, 4), round(c.b.observed, 4)
        (0.8889, 0.7778)
        >>> rows = {"item": ["p", "p", "p", "q", "q", "r", "r", "r"],
        ...         "annotator": ["ann", "bob", "eve", "ann", "bob", "ann", "bob", "eve"],
        ...         "label": [1, 1, 0, 0, 0, 1, 1, 1]}
        >>> seen == op.Outcomes.from_annotators(
        ...     rows, {"a": [1, 0, 1], "b": [0, 0, 1]}, ids=["p", "q", "r"], truth="random")
        True
        """
        return cls(**of_annotators(y_true, predictions, truth=truth, labels=labels, ids=ids))


class Agreement(NamedTuple):
    """Agreement between annotators: Krippendorff's alpha with a 95% interval, and derived limits.

    Parameters
    ----------
    alpha, low, high
        Alpha for nominal labels and the limits of its interval.
    pairs
        Probability that two annotators drawn at random give the same label.
    most
        Share of labels that equal the most frequent label of their item. No model can have a higher
        accuracy against annotators drawn at random.
    """

    alpha: float
    low: float
    high: float
    pairs: float
    most: float


def of_annotators(
    y_true: object,
    predictions: object,
    *,
    truth: Truth,
    labels: Sequence[Label] | None,
    ids: object = None,
) -> dict[str, Any]:
    """Count the labels of annotators and models."""
    if truth not in _TRUTHS:
        raise UsageError(unknown_name("truth", truth, _TRUTHS))
    read = _read(y_true, predictions, ids, shares=truth == "shares")
    aligned, values, annotations, votes = read
    models = [
        read_column(only_column(predicted, name=name), name=f"predictions of {name!r}")
        for name, predicted in aligned.models.items()
    ]
    n = len(votes)
    for column in models:
        if len(column.codes) != n:
            raise DataError(
                f"y_true has {n:,} items but {column.name} has {len(column.codes):,}; both must "
                "list the same items in the same order"
            )
    agreed = None if annotations is None else agreement(annotations, len(values))
    if truth == "latent":
        assert annotations is not None
        assert agreed is not None
        rows, codes, weights, cells = _latent(annotations, models, len(values), agreed)
        picked = [replace(column, codes=cells[:, k]) for k, column in enumerate(models)]
    else:
        rows, codes, weights = _shares(votes, majority=truth == "majority")
        picked = [replace(column, codes=column.codes[rows]) for column in models]
    drawn: list[int] = codes.tolist()
    true_column = read_column([values[code] for code in drawn], name="y_true")
    whole = truth == "majority" and len(rows) == n
    fields = build.of_columns(
        tuple(aligned.models),
        [true_column, *picked],
        importance=None if whole else weights,
        groups=None if whole else rows,
        labels=labels,
    )
    findings = (*aligned.findings, _told(truth, read, rows, agreed))
    if truth == "latent" and agreed is not None:
        findings = (*findings, *_agree_little(agreed))
    return {**fields, "findings": (*fields["findings"], *findings)}


class _Read(NamedTuple):
    """Item labels: one per annotator, or only the number of votes for each class."""

    aligned: Rows
    values: tuple[Label, ...]
    annotations: IntArray | None
    votes: FloatArray  # (n_items, n_labels)


def _read(y_true: object, predictions: object, ids: object, *, shares: bool) -> _Read:
    if shares:
        return _read_shares(y_true, predictions, ids)
    if ids is None:
        _refuse_long(y_true)
        aligned = align(named(predictions), truth=y_true, beside={})
        annotations, values = _read_matrix(aligned.truth)
    else:
        aligned = align(named(predictions), truth=ids, first="ids", beside={})
        annotations, values = _read_matrix(_from_rows(y_true, aligned.truth))
    return _Read(aligned, values, annotations, _votes(annotations, len(values)))


def _columns_of(y_true: object) -> dict[Label, object] | None:
    """Return the columns of a mapping or a frame by name; None if it is neither."""
    if is_frame(y_true):
        return frame_columns(y_true, name="y_true")
    return dict(y_true) if isinstance(y_true, Mapping) else None


def _refuse_long(y_true: object) -> None:
    columns = _columns_of(y_true)
    if columns is not None and {*_LONG} <= {*columns}:
        raise UsageError(
            f"y_true has one row per label; pass the item of each prediction with {param('ids=')}"
        )
    if isinstance(y_true, Mapping):
        raise UsageError(
            "y_true must be a matrix with one column per annotator, or a mapping with the "
            f"columns item, annotator and label, used with {param('ids=')}, or shares, used with "
            f"{param('truth=', 'shares')}"
        )


def _from_rows(y_true: object, ids: object) -> AnyArray:
    """Convert one row per label to a matrix (items × annotators), with None for missing labels."""
    columns = _columns_of(y_true)
    if columns is None or not {*_LONG} <= {*columns}:
        raise UsageError(
            f"with {param('ids=')} y_true must have one row per label, in the columns item, "
            f"annotator and label; got {type(y_true).__name__ if columns is None else [*columns]}"
        )
    items, annotators, labels = (_listed(columns[name]) for name in _LONG)
    if not len(items) == len(annotators) == len(labels):
        raise DataError("the columns item, annotator and label of y_true must have the same length")
    known = _listed(read_ids(ids, len(ids) if isinstance(ids, Sized) else 0))
    row_of = {known_id: index for index, known_id in enumerate(known)}
    who, label_at = dict[object, int](), dict[tuple[int, int], object]()
    for row, (item, annotator, label) in enumerate(zip(items, annotators, labels, strict=True)):
        at = f"in row {row} of y_true (counted from 0)"
        if is_missing(label):
            continue
        if is_missing(item) or is_missing(annotator):
            raise DataError(f"a label has no item or annotator {at}")
        if item not in row_of:
            raise DataError(
                f"item {item!r} {at} is not in {param('ids')} (for example {known[0]!r}); remove "
                "items without a prediction"
            )
        cell = row_of[item], who.setdefault(annotator, len(who))
        if cell in label_at:
            raise DataError(
                f"{annotator!r} labels item {item!r} twice, the second time {at}; keep one label"
            )
        label_at[cell] = label
    matrix = np.full((len(known), len(who)), None, dtype=object)
    for cell, label in label_at.items():
        matrix[cell] = label
    return matrix


def _listed(values: object) -> list[object]:
    column: Iterable[object] = only_column(values, name="y_true")
    for name in ("tolist", "to_pylist"):
        if hasattr(column, name):
            listed: list[object] = getattr(column, name)()
            return listed
    return list(column)


def _read_shares(y_true: object, predictions: object, ids: object) -> _Read:
    """Read one column of shares, or of numbers of votes, per class."""
    columns = _columns_of(y_true)
    if not columns or ids is not None:
        raise UsageError(
            f"with {param('truth=', 'shares')}, y_true must have one column of shares per class, "
            "such as {'spam': [0.8, 0.1], 'ham': [0.2, 0.9]}; omit ids"
        )
    beside = {f"shares of {label!r}": shares for label, shares in columns.items()}
    aligned = align(named(predictions), beside=beside)
    share_columns: list[object] = list(aligned.beside.values())
    try:
        votes: FloatArray = np.stack(
            [np.array(_listed(column), dtype=float) for column in share_columns], axis=1
        )
    except (TypeError, ValueError):
        votes = np.full((1, 1), np.nan)
    if not ((votes >= 0) & (votes < np.inf)).all() or (votes == 0).all(axis=1).any():
        raise DataError(
            "y_true must have a non-negative number for each item and class, with at least one "
            "above 0 per item"
        )
    return _Read(aligned, tuple(columns), None, _shares_of(votes))


def _told(truth: Truth, read: _Read, rows: IntArray, agreed: Agreement | None) -> Finding:
    """Describe the true label used and the agreement between the annotators."""
    if read.annotations is None or agreed is None:
        most = float(np.mean(np.max(read.votes, axis=1)))
        return finding("annotators/shares", n=len(read.votes), most=most)
    n, annotators = read.annotations.shape
    agree = (
        f"Their agreement is Krippendorff's alpha {agreed.alpha:.2f} (95% interval "
        f"{agreed.low:.2f} to {agreed.high:.2f}); two of them give the same label with "
        f"probability {agreed.pairs:.1%}"
    )
    if truth == "random":
        return finding(
            "annotators/random", n=n, annotators=annotators, agree=agree, most=agreed.most
        )
    if truth == "latent":
        return finding("annotators/latent", n=n, annotators=annotators, agree=agree)
    tied = int((np.bincount(rows) > 1).sum())
    return finding("annotators/majority", n=n, annotators=annotators, agree=agree, tied=tied)


def _agree_little(agreed: Agreement) -> Iterator[Finding]:
    """Yield the finding that agreement is not clearly better than chance.

    In that case, estimated error rates are too similar, and estimates of the metric are too low by
    more than half a standard deviation.
    """
    error = (agreed.alpha - agreed.low) / _TWICE
    if agreed.alpha < _CLEAR * error:
        yield finding("annotators_agree_little", alpha=agreed.alpha, errors=agreed.alpha / error)


def _read_matrix(y_true: object) -> tuple[IntArray, tuple[Label, ...]]:
    """Return the code of every label (−1 if it is missing) and the label of each code."""
    given_by = unmasked(y_true)
    # NumPy would convert missing values to text: "x" and NaN become "x" and "nan".
    as_is = hasattr(given_by, "dtype") or is_frame(given_by)
    array: AnyArray = np.asarray(given_by) if as_is else np.asarray(given_by, dtype=object)
    if array.ndim != 2 or not array.size or array.shape[1] < 2:
        raise DataError(
            "y_true must have one row per item and at least two columns, one per annotator; got "
            f"shape {array.shape}"
        )
    cells: list[object] = array.ravel().tolist()
    flat = [int(cell) if isinstance(cell, float) and cell.is_integer() else cell for cell in cells]
    present: BoolArray = np.array([not is_missing(value) for value in flat])
    codes = np.full(len(flat), -1, dtype=np.int64)
    known = [value for value, is_there in zip(flat, present.tolist(), strict=True) if is_there]
    (column,), _ = unify([read_column(known, name="y_true")])
    codes[present] = column.codes
    annotations: IntArray = codes.reshape(array.shape)
    bare: IntArray = np.flatnonzero((annotations < 0).all(axis=1))
    if bare.size:
        raise DataError(
            f"{bare.size:,} items have no label, the first in row {bare[0]} (counted from 0); "
            "remove them from y_true and from the predictions"
        )
    return annotations, tuple(column.values)


def _votes(annotations: IntArray, n_labels: int) -> FloatArray:
    """Return the number of votes for each label of each item."""
    votes: FloatArray = (
        (annotations[:, :, None] == np.arange(n_labels)).sum(axis=1).astype(np.float64)
    )
    return votes


def _shares(votes: FloatArray, *, majority: bool) -> tuple[IntArray, IntArray, FloatArray]:
    """Return rows of items and labels, and the share of the item that each row gets."""
    if majority:
        votes = (votes == votes.max(axis=1, keepdims=True)).astype(np.float64)
    rows, codes = _places(votes > 0)
    n: FloatArray = votes.sum(axis=1)
    return rows, codes, votes[rows, codes] / n[rows]


def _places(where: BoolArray) -> list[IntArray]:
    return [part.astype(np.int64) for part in np.nonzero(where)]


def agreement(annotations: IntArray, n_labels: int) -> Agreement:
    """Return the agreement on nominal labels; the interval comes from a jackknife over items.

    Examples
    --------
    >>> agreement(np.array([[0, 0, 1], [1, 1, 1], [0, 0, -1], [1, 0, 1]]), 2).alpha
    0.33333333333333337
    """
    votes = _votes(annotations, n_labels)
    n: FloatArray = votes.sum(axis=1)
    most = float(np.mean(votes.max(axis=1) / n))
    votes, n = votes[n > 1], n[n > 1]
    if not len(n):
        return Agreement(np.nan, np.nan, np.nan, np.nan, most)
    squares: FloatArray = np.square(votes).sum(axis=1)
    unlike = (n * n - squares) / (n - 1)  # in pairs, as coincidences
    totals: FloatArray = votes.sum(axis=0)
    pairs = float(1 - np.mean(unlike / n))
    (alpha,) = _alpha(np.array([np.sum(unlike)]), totals[None]).tolist()
    # A jackknife over items, which to first order is equivalent to re-weighting items.
    without = _alpha(np.sum(unlike) - unlike, totals - votes)
    error = _TWICE * float(np.sqrt((len(n) - 1) * np.var(without)))
    return Agreement(alpha, alpha - error, min(alpha + error, 1.0), pairs, most)


def _alpha(unlike: FloatArray, totals: FloatArray) -> FloatArray:
    """Return 1 minus the ratio of observed to expected disagreement; 1 if all labels are equal."""
    n: FloatArray = totals.sum(axis=1)
    squares: FloatArray = np.square(totals).sum(axis=1)
    by_chance = n * n - squares
    safe = np.where(by_chance > 0, by_chance, 1.0)
    alpha: FloatArray = np.where(by_chance > 0, 1 - (n - 1) * unlike / safe, 1.0)
    return alpha


def _latent(
    annotations: IntArray, models: Sequence[Column], n_labels: int, agreed: Agreement
) -> tuple[IntArray, IntArray, FloatArray, IntArray]:
    """Return each item's contribution to every cell (true class and predictions).

    The class of an item is unknown. Given the class, annotators err independently of each other and
    of the models, whose joint predictions serve as an additional annotator (Dawid and Skene 1979).
    To first order, the estimated table is a mean over items of these numbers: an item's own class
    probabilities, plus its effect on the error rates from which the classes of all other items are
    inferred. Re-weighting items then covers both uncertainties.
    """
    _refuse_unidentified(annotations, agreed)
    predicted: IntArray = np.stack([column.codes for column in models], axis=1)
    first, own = distinct_rows(predicted)
    cells = predicted[first]
    views: IntArray = np.column_stack([annotations, own])
    sizes = [n_labels] * annotations.shape[1] + [len(cells)]
    n_parameters = n_labels * (1 + sum(sizes))
    if n_parameters > _MOST_PARAMETERS:
        raise UsageError(
            f"{annotations.shape[1]} annotators, {n_labels} classes and {len(cells)} combinations "
            f"of predictions need {n_parameters} parameters, but the limit is {_MOST_PARAMETERS}; "
            f"use {param('truth=', 'random')}, or compare fewer models"
        )
    probable = _expectation(views, sizes, n_labels)
    start = np.log(probable)
    classes, score, table = _at(start, views, sizes, n_labels)
    truest = [block.argmax(axis=1) for block in _blocks(probable, sizes, n_labels)[1:-1]]
    if (
        np.mean([most_likely == np.arange(n_labels) for most_likely in truest], axis=0) <= 0.5
    ).any():
        raise DataError(
            "for some class, most annotators give another label more often than the right one, "
            f"so classes cannot be distinguished; use {param('truth=', 'random')}"
        )
    slopes = np.zeros((n_parameters, n_parameters))
    tables = np.zeros((table.size, n_parameters))
    for index in range(n_parameters):
        step = np.zeros(n_parameters)
        step[index] = 1e-4
        up, down = (_at(start + sign * step, views, sizes, n_labels) for sign in (1, -1))
        slopes[:, index] = (up[1].mean(axis=0) - down[1].mean(axis=0)) / 2e-4
        tables[:, index] = (up[2] - down[2]).ravel() / 2e-4
    # One logarithm per set of probabilities is redundant, and the pseudo-inverse ignores that
    # direction.
    moved: FloatArray = tables @ np.linalg.pinv(-slopes, rcond=1e-8, hermitian=True)
    mean: FloatArray = score.mean(axis=0)
    each: FloatArray = ((score - mean) @ moved.T).reshape(len(annotations), n_labels, len(cells))
    each[np.arange(len(annotations)), :, own] += classes
    rows, codes, cell_codes = _places(np.abs(each) > 1e-12)
    return rows, codes, each[rows, codes, cell_codes], cells[cell_codes]


def _refuse_unidentified(annotations: IntArray, agreed: Agreement) -> None:
    """Check that a true class can be inferred from the labels."""
    labelled: IntArray = (annotations >= 0).sum(axis=1)
    mend = f"use {param('truth=', 'random')} or {param('truth=', 'majority')}"
    if annotations.shape[1] < 3 or np.median(labelled) < 3:
        raise DataError(
            "a latent true class needs three annotators for most items, but here the median is "
            f"{np.median(labelled):g}; {mend}"
        )
    if not agreed.low > 0:
        raise DataError(
            "the annotators agree no more than expected by chance (Krippendorff's alpha "
            f"{agreed.alpha:.2f}, 95% interval {agreed.low:.2f} to {agreed.high:.2f}), so the "
            f"true labels cannot be inferred; {mend}"
        )


def _blocks(flat: FloatArray, sizes: Sequence[int], n_labels: int) -> list[FloatArray]:
    """Return class shares and each annotator's response probabilities, with one row per class."""
    ends = np.cumsum([n_labels, *(n_labels * size for size in sizes)])[:-1]
    first, *rest = np.split(flat, ends)
    return [first, *(block.reshape(n_labels, -1) for block in rest)]


def _at(
    logs: FloatArray, views: IntArray, sizes: Sequence[int], n_labels: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return each item's class probabilities, its score including the prior, and the mean table."""
    blocks = [_shares_of(np.exp(part)) for part in _blocks(logs, sizes, n_labels)]
    classes = _classes(blocks, views)
    n = len(views)
    score = [classes - blocks[0]]
    for column, block in zip(_columns(views), blocks[1:], strict=True):
        known = (column >= 0)[:, None, None]
        hit = column[:, None, None] == np.arange(block.shape[1])
        prior = _MASS * (1 / block.shape[1] - block) / n
        score.append((classes[:, :, None] * (hit - block) * known + prior).reshape(n, -1))
    table = np.zeros((n_labels, sizes[-1]))
    np.add.at(table.T, views[:, -1], classes / n)
    return classes, np.concatenate(score, axis=1), table


def _classes(blocks: Sequence[FloatArray], views: IntArray) -> FloatArray:
    logs = np.tile(np.log(blocks[0]), (len(views), 1))
    for column, block in zip(_columns(views), blocks[1:], strict=True):
        logs += np.where((column >= 0)[:, None], np.log(block)[:, column].T, 0.0)
    highest: FloatArray = logs.max(axis=1, keepdims=True)
    return _shares_of(np.exp(logs - highest))


def _columns(views: IntArray) -> list[IntArray]:
    return [views[:, column] for column in range(views.shape[1])]


def _shares_of(values: FloatArray) -> FloatArray:
    total: FloatArray = values.sum(axis=-1, keepdims=True)
    return values / total


def _expectation(views: IntArray, sizes: Sequence[int], n_labels: int) -> FloatArray:
    """Return the maximum likelihood probabilities, starting from the majority label."""
    classes = _shares_of(_votes(views[:, :-1], n_labels))
    hits: list[FloatArray] = [
        (column[:, None] == np.arange(size)).astype(np.float64)
        for column, size in zip(_columns(views), sizes, strict=True)
    ]
    for _ in range(_STEPS):
        shares: FloatArray = classes.mean(axis=0)
        blocks = [shares]
        blocks += [_shares_of(classes.T @ hit + _MASS / hit.shape[1]) for hit in hits]
        before, classes = classes, _classes(blocks, views)
        if np.abs(classes - before).max() < _NEAR:
            break
    return np.concatenate([block.ravel() for block in blocks])
