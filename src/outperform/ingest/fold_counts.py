"""Tables of fold counts: for each model two rows a repetition."""

from __future__ import annotations

import csv
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from outperform.errors import DataError, UsageError, unknown_name

_KINDS = {
    "tp_fp_fn": ("tp", "fp", "fn"),
    "gold_predicted_correct": ("gold", "predicted", "correct"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldCounts:
    """The counts of each model's folds, and what the columns are."""

    kind: str
    models: Mapping[str, Sequence[Sequence[int]]]

    def rows(self, name: str) -> Sequence[Sequence[int]]:
        """Return the folds of a model, or say which models there are."""
        if name not in self.models:
            raise UsageError(unknown_name("model", name, self.models))
        return self.models[name]

    def two(self, names: Sequence[str]) -> None:
        """Refuse to compare any other number of models than two."""
        if len(names) != 2:
            raise UsageError(
                f"two models are compared; the file has {', '.join(self.models)}: "
                "choose with --a and --b"
            )


def read_fold_counts(path: str | Path) -> FoldCounts:
    """Read a CSV with the columns model and tp, fp, fn, or gold, predicted, correct."""
    if str(path) == "-":
        return _parse(csv.DictReader(sys.stdin), "stdin")
    try:
        with Path(path).open(newline="", encoding="utf-8-sig") as file:
            return _parse(csv.DictReader(file), str(path))
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 text; save it as CSV in UTF-8") from error
    except FileNotFoundError as error:
        raise UsageError(f"there is no file {path}") from error
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}") from error


def _parse(rows: csv.DictReader[str], name: str) -> FoldCounts:
    header = [column.strip() for column in rows.fieldnames or ()]
    rows.fieldnames = header
    kind = next((one for one, columns in _KINDS.items() if set(columns) <= set(header)), None)
    if kind is None or "model" not in header:
        raise DataError(
            f"{name} needs the columns model and tp, fp, fn, or model and gold, predicted, "
            f"correct; it has {', '.join(header) or 'none'}"
        )
    models: dict[str, list[list[int]]] = {}
    for row in rows:
        counts = [_whole(row[column], column, name, rows.line_num) for column in _KINDS[kind]]
        models.setdefault(row["model"].strip(), []).append(counts)
    if not models:
        raise DataError(f"{name} has a header and no rows")
    return FoldCounts(kind=kind, models=models)


def _whole(text: str | None, column: str, name: str, line: int) -> int:
    try:
        return int(text or "")
    except ValueError as error:
        raise DataError(
            f"{name}, line {line}: {column} must be a whole number; got {text!r}"
        ) from error
