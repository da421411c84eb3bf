"""Label columns: aligned by index and name, and converted to codes."""

from __future__ import annotations

import math
import os
import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal, NamedTuple

import numpy as np

from outperform._missing import is_missing, unmasked
from outperform._typing import AnyArray, IntArray, Label
from outperform.data.missing import UNDECLARED, MissingTexts
from outperform.errors import DataError, UsageError
from outperform.findings import Finding, clauses, finding, listed, quoted

# Rows are aligned by the pandas index, which other libraries do not have


class Rows(NamedTuple):
    """Columns for the same items, all in the order of the first column."""

    truth: Any
    models: dict[str, Any]
    beside: dict[str, Any]
    findings: tuple[Finding, ...]


def align(
    models: Mapping[str, object],
    *,
    truth: object = None,
    first: str = "y_true",
    what: str = "predictions",
    beside: Mapping[str, object],
) -> Rows:
    """Put the rows of all columns in the order of the truth, or else of the first model.

    Rows are matched by index if indices differ, and by position if there is no index. Masked values
    become None.

    Parameters
    ----------
    models
        One column per model.
    truth
        Column of true labels, if there is one.
    first
        Name of the truth in error messages.
    what
        Name of the models' columns in error messages.
    beside
        Other columns of the same rows, such as groups, by the names used in error messages; None if
        absent.
    """
    columns = {} if truth is None else {first: truth}
    columns |= {f"{what} of {model!r}": values for model, values in models.items()}
    aligned, findings = align_rows({**columns, **beside})
    values = iter(aligned.values())
    return Rows(
        truth=None if truth is None else next(values),
        models={model: next(values) for model in models},
        beside={name: next(values) for name in beside},
        findings=findings,
    )


def align_rows(columns: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[Finding, ...]]:
    """Put the rows of columns in the order of the first column, by their index if it differs.

    Examples
    --------
    >>> import pandas as pd
    >>> truth, predicted = pd.Series([1, 0, 0], [7, 8, 9]), pd.Series([0, 0, 1], [9, 8, 7])
    >>> columns, (finding,) = align_rows({"y_true": truth, "predictions": predicted})
    >>> columns["predictions"].tolist(), finding.name
    ([1, 0, 0], 'aligned_by_index')
    """
    indexed = [name for name, values in columns.items() if _has_index(values)]
    aligned, moved = {name: unmasked(values) for name, values in columns.items()}, []
    for name in indexed[1:]:
        positions = _places(columns, indexed[0], name)
        if positions is not None:
            aligned[name] = columns[name].iloc[positions]
            moved.append(name)
    if not moved:
        return aligned, _shuffled(columns, indexed)
    leading = next(iter(columns))
    if leading != indexed[0]:
        raise DataError(
            f"{indexed[0]} and {moved[0]} have the same index in a different order, and {leading} "
            "has no index, so its order is unclear; give all of them an index, or pass "
            ".to_numpy() to compare by position"
        )
    reordered = finding("aligned_by_index", moved=listed(moved), first=leading)
    return aligned, (reordered, *_shuffled(columns, indexed))


def _shuffled(columns: Mapping[str, Any], indexed: Sequence[str]) -> tuple[Finding, ...]:
    """Warn of a shuffled index of 0 to n − 1 if other columns have no index.

    Other indices are not evidence of an error. A test set usually has a shuffled part of a longer
    range, and a model's predictions for it are in the same order and have no index.
    """
    bare = [name for name, values in columns.items() if values is not None and name not in indexed]
    if not indexed or not bare:
        return ()
    index = columns[indexed[0]].index
    n_rows = len(index)
    if getattr(getattr(index, "dtype", None), "kind", "") not in ("i", "u") or n_rows < 2:
        return ()
    rows: AnyArray = np.asarray(index)
    natural = np.arange(n_rows)
    if (rows == natural).all() or not (np.sort(rows) == natural).all():
        return ()
    return (finding("index_not_used", indexed=listed(indexed), bare=listed(bare), last=n_rows - 1),)


def _has_index(values: object) -> bool:
    return hasattr(values, "iloc") and hasattr(getattr(values, "index", None), "get_indexer")


def _places(columns: Mapping[str, Any], first: str, name: str) -> IntArray | None:
    """Return the position of each row of the first column in another column; None if unchanged."""
    wanted, own = columns[first].index, columns[name].index
    if len(wanted) != len(own) or wanted.equals(own):
        return None  # different lengths raise an error when columns are read
    for column, index in ((first, wanted), (name, own)):
        if not index.is_unique:
            twice = _shown(index[index.duplicated()][0])
            raise DataError(
                f"{first} and {name} have different indices, and that of {column} contains {twice} "
                f"twice, so rows cannot be matched; {_MEND}"
            )
    positions: IntArray = np.asarray(own.get_indexer(wanted), dtype=np.int64)
    if (positions < 0).any():
        lacking = _shown(wanted[int(np.flatnonzero(positions < 0)[0])])
        raise DataError(
            f"{first} and {name} have the same number of rows but different indices: only {first} "
            f"has {lacking}; {_MEND}"
        )
    return None if (positions == np.arange(len(positions))).all() else positions


def _shown(value: object) -> str:
    return repr(value.item() if isinstance(value, np.generic) else value)


_MEND = "give them the same index, or pass .to_numpy() to compare by position"

# Columns: by name, for frames of any library


def is_frame(values: object) -> bool:
    """Return whether values are named columns from pandas, polars, Arrow or Hugging Face."""
    named = hasattr(values, "columns") or hasattr(values, "column_names")
    return named and hasattr(values, "shape") and hasattr(values, "__len__")


def is_source(value: object) -> bool:
    """Return whether a value has named columns: a path, an open file, or a frame.

    Examples
    --------
    >>> is_source("preds.parquet"), is_source(["spam", "ham"])
    (True, False)
    """
    # A lazy polars frame would resolve its schema to answer hasattr(value, "columns").
    named = ("collect_schema", "columns", "column_names")
    return is_file(value) or any(hasattr(value, name) for name in named)


def is_file(value: object) -> bool:
    """Return whether a value is a path or an open file."""
    return isinstance(value, (str, os.PathLike)) or hasattr(value, "read")


def as_table(values: Any) -> Any:
    """Convert a Hugging Face data set to Arrow with class names; return anything else unchanged."""
    kinds = {base.__name__ for base in type(values).__mro__ if base.__module__[:9] == "datasets."}
    if kinds & {"DatasetDict", "IterableDatasetDict"}:
        raise UsageError(f"choose a split, e.g. data[{next(iter(values), 'test')!r}]")
    if "IterableDataset" in kinds:
        raise UsageError("an IterableDataset is read only once; load it with streaming=False")
    if "Dataset" not in kinds:
        return values
    table = values.with_format("arrow")[:]  # the selected rows, in their order
    features: dict[str, object] = values.features
    for position, (name, feature) in enumerate(features.items()):
        if type(feature).__name__ == "ClassLabel":
            codes: IntArray = table[name].to_numpy()  # -1 means no class, and comes last
            names: AnyArray = np.array([*getattr(feature, "names", ()), None], dtype=object)
            classes: AnyArray = names[np.where(codes >= 0, codes, -1).astype(np.int64)]
            table = table.set_column(position, name, [classes])
    return table


def column_names(frame: Any, *, name: str) -> list[Any]:
    """Return the column names of a frame after checking that they are unique."""
    # In Arrow, `columns` are the data, not the names.
    names = list(frame.column_names if hasattr(frame, "column_names") else frame.columns)
    if len(set(names)) != len(names):
        twice = next(column for position, column in enumerate(names) if column in names[:position])
        raise DataError(f"{name} has two columns named {twice!r}; rename one of them")
    return names


def frame_columns(frame: Any, *, name: str) -> dict[Any, Any]:
    """Return the columns of a frame by name, each with the frame's index if it has one."""
    frame = as_table(frame)
    return {column: frame[column] for column in column_names(frame, name=name)}


def only_column(values: Any, *, name: str) -> Any:
    """Return the column of a one-column frame; return anything else unchanged."""
    if hasattr(getattr(values, "type", None), "index_type"):  # of Arrow; numpy misreads its nulls
        values = values.cast(values.type.value_type)
    if not is_frame(values) or values.shape[1] != 1:
        return values
    (column,) = frame_columns(values, name=name).values()
    return column


def are_label_sets(values: Any) -> bool:
    """Return whether a column has label sets, as an indicator matrix or as collections.

    Examples
    --------
    >>> are_label_sets(np.eye(3)), are_label_sets([{"a"}, set()]), are_label_sets(["a", "b"])
    (True, True, False)
    """
    if hasattr(values, "tocsr"):
        return True
    if is_frame(values):
        return is_indicator(np.asarray(values))
    n_axes = getattr(values, "ndim", 1)
    if n_axes == 2:
        return is_indicator(np.asarray(values))
    if n_axes != 1 or isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Sized):
        return False
    return len(values) > 0 and is_collection(next(iter(values)))  # type: ignore[call-overload]


def is_indicator(array: AnyArray) -> bool:
    """Return whether an array is a matrix of zeros and ones."""
    if array.ndim != 2 or array.shape[1] < 2 or array.dtype.kind not in "biufO":
        return False
    if array.dtype.kind == "O":  # nullable types of pandas, and non-numbers
        return all(isinstance(value, (Real, np.bool_)) and value in (0, 1) for value in array.flat)
    return bool(((array == 0) | (array == 1)).all())


def is_collection(value: Any) -> bool:
    """Return whether a value is a collection of labels."""
    if isinstance(value, np.ndarray):
        return value.ndim == 1
    return isinstance(value, Collection) and not isinstance(value, (str, bytes, Mapping))


Kind = Literal["text", "int", "bool", "float"]

# Chunks bound the memory for Python objects while a long column is read.
_CHUNK = 1 << 17


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column of labels: its distinct values and one code per row."""

    name: str
    kind: Kind
    values: tuple[Any, ...]
    codes: IntArray  # (n_rows,) into values


class _Codes(dict[Any, int]):
    """Dictionary that assigns the next code to each new key."""

    def __missing__(self, key: object) -> int:
        code = self[key] = len(self)
        return code


RIGHT_WORDS = {
    **dict.fromkeys(("true", "yes", "right", "correct", "pass", "passed"), True),
    **dict.fromkeys(("false", "no", "wrong", "incorrect", "fail", "failed"), False),
}
"""Words for right and wrong, in lower case."""


def read_right(values: object, *, name: str, hint: str = "") -> Column:
    """Read one column of right or wrong; raise an error with the hint for other values."""
    column = read_column(values, name=name)
    known = [
        RIGHT_WORDS.get(value.lower(), value) if isinstance(value, str) else value
        for value in column.values
    ]
    if not set(known) <= {0, 1}:
        raise DataError(
            f"{name} must be true/false, 0/1 or pass/fail for each item; got "
            f"{str(next(value for value in known if value not in (0, 1)))[:60]!r}{hint}"
        )
    bits = np.array([int(value) for value in known], dtype=np.int64)[column.codes]
    return Column(name=column.name, kind="bool", values=(False, True), codes=bits)


def read_column(values: object, *, name: str, missing: MissingTexts = UNDECLARED) -> Column:
    """Read one column of labels; raise an error for values that cannot be classes."""
    column = _read_column(unmasked(only_column(values, name=name)), name=name)
    missing_codes = [
        code for code, value in enumerate(column.values) if value in (missing.na_values or ())
    ]
    if missing_codes:
        rows = np.flatnonzero(np.isin(column.codes, missing_codes))
        _refuse_missing(rows, [column.values[code] for code in column.codes], name=name)
    return column


def _read_column(values: object, *, name: str) -> Column:
    if isinstance(values, (str, bytes)) or not hasattr(values, "__len__"):
        raise DataError(f"{name} must be a sequence of labels; got {type(values).__name__}")
    if isinstance(values, (list, tuple)):
        return _read_objects(values, name=name)
    array = np.asarray(values)
    if array.ndim == 2 and array.dtype.kind == "f":
        raise UsageError(
            f"{name} must be one label per item; got shape {array.shape}. If these are "
            "probabilities, use the most probable class, e.g. classes[proba.argmax(axis=1)], or "
            "apply a threshold, e.g. (proba[:, 1] >= 0.5).astype(int)"
        )
    if array.ndim != 1:
        raise DataError(
            f"{name} must be one-dimensional; got shape {array.shape}"
            + ("; pass one column of the frame" if is_frame(values) else "")
        )
    if array.dtype.kind in "iu":
        distinct, codes = np.unique(array, return_inverse=True)
        return Column(name=name, kind="int", values=tuple(distinct.tolist()), codes=codes)
    if array.dtype.kind == "b":
        return Column(name=name, kind="bool", values=(False, True), codes=array.astype(np.int64))
    if array.dtype.kind == "f":
        _refuse_missing(np.flatnonzero(~np.isfinite(array)), array, name=name)
        distinct, codes = np.unique(array, return_inverse=True)
        return Column(name=name, kind="float", values=tuple(distinct.tolist()), codes=codes)
    if array.dtype.kind in "OUT":
        return _read_objects(array, name=name)
    raise DataError(
        f"{name} has labels of type {array.dtype}; labels must be text, integers or booleans"
    )


def _read_objects(values: Sequence[object] | AnyArray, *, name: str) -> Column:
    index = _Codes()
    codes = np.empty(len(values), dtype=np.int64)
    types: set[type] = set()
    text = isinstance(values, np.ndarray) and values.dtype.kind == "U"
    for start, chunk in _chunks(values):
        chunk_types = {str} if text else set(map(type, chunk))
        types |= chunk_types
        _check_types(types, chunk, start, name=name)
        codes[start : start + len(chunk)] = np.fromiter(
            map(index.__getitem__, chunk), dtype=np.int64, count=len(chunk)
        )
    kind = _kind(types)
    distinct = [value.item() if isinstance(value, np.generic) else value for value in index]
    if kind == "text":
        refuse_half_characters(distinct, name=name)
    if kind == "bool":
        bits = np.array(distinct, dtype=np.int64)[codes]
        return Column(name=name, kind=kind, values=(False, True), codes=bits)
    if kind == "int":
        distinct = [int(value) for value in distinct]  # True equals 1, so both are one key
    if kind == "float":
        bad = [position for position, value in enumerate(distinct) if not math.isfinite(value)]
        _refuse_missing(np.flatnonzero(np.isin(codes, bad)), values, name=name)
    return Column(name=name, kind=kind, values=tuple(distinct), codes=codes)


def _chunks(values: Sequence[object] | AnyArray) -> Iterator[tuple[int, Sequence[Any]]]:
    if isinstance(values, np.ndarray):
        for start in range(0, len(values), _CHUNK):
            yield start, values[start : start + _CHUNK].tolist()
    elif len(values):
        yield 0, values


def _kind(types: set[type]) -> Kind:
    if all(issubclass(kind, str) for kind in types):
        return "text"
    if all(issubclass(kind, (bool, np.bool_)) for kind in types):
        return "bool"
    if all(issubclass(kind, (int, np.integer, np.bool_)) for kind in types):
        return "int"
    return "float"


def _check_types(types: set[type], chunk: Sequence[object], start: int, *, name: str) -> None:
    families = {_family(kind) for kind in types}
    if "other" in families or families == {"text", "float"}:
        rows = [row for row, value in enumerate(chunk, start) if is_missing(value)]
        _refuse_missing(rows, None, name=name)
    if "other" in families:
        row, value = next(
            (row, value)
            for row, value in enumerate(chunk, start)
            if _family(type(value)) == "other"
        )
        raise DataError(
            f"{name} has a label of type {type(value).__name__} in row {row}; labels must be "
            "text, integers or booleans"
        )
    if len(families) > 1 and "text" in families:
        raise DataError(
            f"{name} mixes labels of types {' and '.join(sorted(families))}; convert them to one "
            "type first, e.g. with astype(str)"
        )


def _family(kind: type) -> str:
    if issubclass(kind, str):
        return "text"
    if issubclass(kind, (bool, np.bool_)):
        return "bool"
    if issubclass(kind, (int, np.integer)):
        return "int"
    return "float" if issubclass(kind, (float, np.floating)) else "other"


def _refuse_missing(rows: Any, values: Any, *, name: str) -> None:
    if len(rows):
        what = "" if values is None else f" ({values[rows[0]]})"
        raise DataError(
            f"{name} has {len(rows)} missing or non-finite label(s), the first in row {rows[0]} "
            f"(counted from 0){what}; drop those rows from all columns or give them a separate "
            "class"
        )


def refuse_half_characters(texts: Sequence[str], *, name: str) -> None:
    """Reject text with lone surrogates, which cannot be encoded in UTF-8.

    Examples
    --------
    >>> refuse_half_characters(["spam", "ham"], name="y_true")
    """
    try:
        "".join(texts).encode("utf-8")  # two consecutive surrogates would not be joined
    except UnicodeEncodeError:
        bad = next(text for text in texts if any("\ud800" <= letter <= "\udfff" for letter in text))
        raise DataError(
            f"{name} contains {bad!a}, which is not valid Unicode text (a lone surrogate); read "
            "the text with the right encoding, or replace such characters, e.g. with "
            "text.encode('utf-8', 'replace').decode()"
        ) from None


def unify(columns: Sequence[Column]) -> tuple[list[Column], tuple[Finding, ...]]:
    """Convert columns to one type of label if nothing is lost; otherwise raise an error.

    True equals 1 and False equals 0, as in Python.
    """
    kinds = {column.kind for column in columns if column.codes.size}
    converted = [column for column in columns if column.kind == "float"]
    truth = next((column for column in columns if column.name == "y_true"), None)
    for column in converted:
        _refuse_scores(column, truth)
    if {"bool", "text"} <= kinds:
        odd = next(column for column in columns if column.kind == "bool")
        other = next(column for column in columns if column.kind == "text")
        raise DataError(
            f"{odd.name} contains True/False and {other.name} contains text such as "
            f"{other.values[0]!r}; map one to the other first, e.g. y == {other.values[0]!r}"
        )
    if "text" in kinds and len(kinds) > 1:
        converted += [_text_as_numbers(column) for column in columns if column.kind == "text"]
    if not converted and kinds != {"bool", "int"}:
        return list(columns), ()
    columns = [_as_whole_numbers(column) for column in columns]
    if not converted:
        return columns, ()
    names = listed(dict.fromkeys(column.name for column in converted))
    return columns, (finding("labels_converted", columns=names),)


def _refuse_scores(column: Column, truth: Column | None) -> None:
    for value in column.values:
        if value == int(value):
            continue
        if column is truth or (truth is not None and look_measured(truth.values, column.values)):
            raise DataError(f"{column.name} contains {value!r}, {NO_LABEL}")
        raise DataError(
            f"{column.name} contains {value!r}, which looks like a score, not a label; convert "
            "scores to labels first, e.g. (score >= 0.5).astype(int), or use a score metric: "
            "roc_auc, average_precision, log_loss, brier_score or mean"
        )


NO_LABEL = (
    "which is not a label; if the true values are numbers, as in regression, use a regression "
    "metric: rmse, mae or r2"
)
_MOST_CODES = 20  # a truth with more values may be a measurement


def look_measured(truth: Sequence[object], predicted: Sequence[object]) -> bool:
    """Return whether the truth may be measurements, for which a model predicts decimals.

    Numbers between 0 and 1 may be probabilities, regardless of the number of classes.

    Examples
    --------
    >>> look_measured([151.0, 75.0], [0.2]), look_measured(range(100), [14.3, 0.2])
    (False, True)
    """
    numbers = [float(value) for value in predicted if isinstance(value, (int, float, np.number))]
    if not numbers or len(set(truth)) <= _MOST_CODES:
        return False
    are_numbers = all(isinstance(value, (int, float, np.number)) for value in truth)
    return are_numbers and not 0 <= min(numbers) <= max(numbers) <= 1


def _text_as_numbers(column: Column) -> Column:
    for value in column.values:
        text = str(value)
        if not (text.lstrip("-").isdecimal() and str(int(text)) == text):
            raise DataError(
                f"{column.name} contains text such as {text!r} while another column contains "
                "numbers; convert them to one type first, e.g. with astype(str)"
            )
    return column


def _as_whole_numbers(column: Column) -> Column:
    values = tuple(int(value) for value in column.values)
    return Column(name=column.name, kind="int", values=values, codes=column.codes)


LABEL_FINDINGS = ("empty_label", "looks_missing", "near_duplicate_labels")


def label_findings(labels: Sequence[Label], *, empty_is_label: bool = False) -> tuple[Finding, ...]:
    """Report possible mistakes in the labels: near-duplicates and an empty class."""
    findings = []
    texts = [label for label in labels if isinstance(label, str)]
    if "" in texts and not empty_is_label:
        findings.append(finding("empty_label"))
    twins = _near_duplicates(texts)
    if twins:
        pairs = clauses([quoted(pair, escaped=True) for pair in twins], most=5)
        findings.append(finding("near_duplicate_labels", pairs=pairs))
    return tuple(findings)


def _near_duplicates(texts: Sequence[str]) -> list[tuple[str, str]]:
    first_of: dict[str, str] = {}
    twins = []
    for text in texts:
        if first_of.setdefault(spelling(text), text) != text:
            twins.append((first_of[spelling(text)], text))
    return twins


# 1, 01, 1.0 and 1.00 are different spellings of the same number.
_NUMBER = re.compile(r"(?P<sign>-?)0*(?P<whole>\d+)(?P<part>\.\d*)?")
_AROUND = " \t\n\"'`()[]{}<>.,:;!*"  # punctuation around an answer, as in (B), "B" or B.
_BETWEEN_LETTERS = re.compile(r"(?<=[^\W\d_])[\s_-]+(?=[^\W_])|(?<=[^\W_])[\s_-]+(?=[^\W\d_])")
_NAMED_NUMBER = re.compile(r"(?:label|class)(?=\d+$)")  # LABEL_1, a common default

SYNONYMS = (
    frozenset({"yes", "y", "true", "t", "1", "positive", "pos", "on"}),
    frozenset({"no", "n", "false", "f", "0", "-1", "negative", "neg", "off"}),
)
"""Spellings of the same answer, normalised by :func:`spelling`."""


def spelling(label: Label) -> str:
    """Normalise a label so that spellings of the same class become equal.

    This removes differences in case, whitespace, Unicode form, punctuation around an answer, word
    separators and number formats.

    Examples
    --------
    >>> spelling("Hate_Speech ") == spelling("hate speech"), spelling("(B)"), spelling("01.0")
    (True, 'b', '1')
    """
    text = unicodedata.normalize("NFKC", str(label)).casefold()
    text = "".join(letter for letter in text if unicodedata.category(letter) != "Cf").strip()
    text = text.strip(_AROUND) or text
    text = _NAMED_NUMBER.sub("", _BETWEEN_LETTERS.sub("", text))
    if number := _NUMBER.fullmatch(text):
        return number["sign"] + number["whole"] + (number["part"] or "").rstrip(".0")
    return text


class Spellings:
    """Labels by their spelling.

    Parameters
    ----------
    labels
        The labels; of several with one spelling, the first counts.

    Examples
    --------
    >>> spellings = Spellings(["n", "y"])
    >>> spellings.like("Y"), spellings.like("yes"), spellings.like("z")
    ('y', 'y', None)
    """

    def __init__(self, labels: Sequence[Label]) -> None:
        self._spelled: dict[str, list[Label]] = {}
        for label in labels:
            self._spelled.setdefault(spelling(label), []).append(label)

    def like(self, label: Label) -> Label | None:
        """Return the label of which this one may be a spelling; None if there is none.

        Parameters
        ----------
        label
            Another label.
        """
        own = spelling(label)
        family = next((words for words in SYNONYMS if own in words), frozenset[str]())
        keys = [own, *(key for key in self._spelled if key in family)]
        others = (other for key in keys for other in self._spelled.get(key, ()) if other != label)
        return next(others, None)


def check_label(value: object, *, name: str) -> Label:
    """Return a single label as Python text, int or bool."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, (str, int, bool)):
        raise DataError(f"{name} must be text, an integer or a boolean; got {value!r}")
    if isinstance(value, str):
        refuse_half_characters([value], name=name)
    return value


def sort_labels(labels: Mapping[Label, None] | set[Label]) -> tuple[Label, ...]:
    """Return labels in canonical order: numbers by value, text by code point.

    Examples
    --------
    >>> sort_labels({True, False, 2})
    (0, 1, 2)
    """
    if {type(label) for label in labels} == {bool, int}:
        return tuple(sorted(int(label) for label in labels))
    return tuple(sorted(labels))
