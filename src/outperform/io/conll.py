"""CoNLL files: one token per line, a blank line between sentences."""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from outperform.errors import DataError, UsageError, param

# Other blanks do not count, because a no-break or an ideographic space may be a token.
_BLANKS = re.compile(r"[ \t]+")
_MARK = "\ufeff"
_BOUNDARY = "-DOCSTART-"
_COMMENTS = ("# ", "#begin document", "#end document")
_UNIVERSAL_WIDTH = 10
_UNIVERSAL_ID = re.compile(r"[0-9]+(?P<no_word>[-.][0-9]+)?")
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


class _Row(NamedTuple):
    """Line of a sentence; a row without cells marks the end of a sentence."""

    line: int
    cells: list[str]


def read_conll(
    path: str | os.PathLike[str],
    columns: Mapping[str, int] = {"token": 0, "tag": -1},
    *,
    separator: str | None = None,
    encoding: str = "utf-8",
) -> dict[str, list[list[str]]]:
    r"""Return columns of a CoNLL file, each as a list of sentences.

    Sentences end at blank lines and at ``-DOCSTART-`` lines. A line that begins with ``# `` is a
    comment if it has fewer columns than the rows, so the token ``#`` remains a token. A file with
    ten tab-separated columns, the first a number in every row, is read as CoNLL-U: the rows of
    multiword tokens (``3-4``) and of empty nodes (``5.1``) are skipped, because their words are
    already in the sentence or never occur in it.

    Parameters
    ----------
    path
        Path of the file.
    columns
        Columns to return: the number of each column by name, counted from 0, or from the end if
        negative.
    separator
        Separator between columns. Default: a tab if the first row contains one, otherwise any
        number of blanks.
    encoding
        Encoding of the file.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "tiny.conll"
    ...     _ = path.write_text("Ada B-PER\nLovelace I-PER\n\n# O\nLondon B-LOC\n")
    ...     read_conll(path)
    {'token': [['Ada', 'Lovelace'], ['#', 'London']], 'tag': [['B-PER', 'I-PER'], ['O', 'B-LOC']]}
    """
    _check_arguments(columns, separator)
    name = os.fspath(path)
    text = _text(name, encoding)
    # str.splitlines would also split at separators that occur inside tokens.
    lines = text.split("\n" if "\n" in text else "\r")
    lines = [line.removesuffix("\r") for line in lines]
    rows = list(_rows(name, lines, separator))
    first = next(row for row in rows if row.cells)
    width = len(first.cells)
    for column, number in columns.items():
        if not -width <= number < width:
            raise UsageError(
                f"{name} has {width} columns, so the number of {column!r} must be between "
                f"{-width} and {width - 1}; got {number}; line {first.line} has {first.cells!r}"
            )
    values: dict[str, list[list[str]]] = {column: [] for column in columns}
    for sentence in _sentences(rows):
        for column, number in columns.items():
            missing = next((row for row in sentence if not row.cells[number]), None)
            if missing is not None:
                raise DataError(
                    f"{name}: every row must have a value for {column!r}; line {missing.line} does "
                    f"not: {missing.cells!r}"
                )
            values[column].append([row.cells[number] for row in sentence])
    return values


def _check_arguments(columns: Mapping[str, int], separator: str | None) -> None:
    if not isinstance(columns, Mapping) or not columns:
        raise UsageError(
            'columns must map names to column numbers, e.g. {"token": 0, "tag": -1}; '
            f"got {columns!r}"
        )
    for column, number in columns.items():
        if isinstance(number, bool) or not hasattr(number, "__index__"):
            raise UsageError(
                f"a column number must be a whole number; got {number!r} for {column!r}"
            )
    if separator is not None and (not isinstance(separator, str) or not separator):
        raise UsageError(f"separator must be text such as '\\t', or None; got {separator!r}")


def _text(name: str, encoding: str) -> str:
    data = Path(name).read_bytes()
    try:
        text = data.decode(encoding)
    except LookupError:
        raise UsageError(
            f"unknown encoding {encoding!r}; use one that Python knows, e.g. 'utf-8' or 'latin-1'"
        ) from None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        detected = next((codec for mark, codec in _MARKS if data.startswith(mark)), None)
        hint = (
            f"its first bytes indicate {param('encoding=', detected)}"
            if detected
            else (
                f"pass its encoding, e.g. {param('encoding=', 'latin-1')} or "
                f"{param('encoding=', 'cp1252')}"
            )
        )
        raise DataError(
            f"{name} must be text in {encoding}, but line {line} has the invalid byte "
            f"0x{data[error.start]:02x}; {hint}"
        ) from None
    if "\0" in text:
        raise DataError(
            f"{name} must be text in {encoding}, but contains zero bytes; it may be another kind "
            f"of file, or use an encoding such as {param('encoding=', 'utf-16')}"
        )
    return text.removeprefix(_MARK)


def _rows(name: str, lines: list[str], separator: str | None) -> Iterator[_Row]:
    """Yield the rows of all sentences, with a row without cells after each sentence."""
    first, split = _first_row(name, lines, separator)
    width = len(split(lines[first]))
    universal = _is_universal(lines, width)
    for number, line in enumerate(lines, 1):
        cells = split(line)
        if _is_blank(cells) or _is_boundary(line):
            yield _Row(number, [])
        elif len(cells) < width and (
            line.startswith("#" if universal else _COMMENTS) or line == "#"
        ):
            continue  # a comment
        elif len(cells) != width:
            raise DataError(
                f"{name}: every row must have as many columns as the first, "
                f"{width} in line {first + 1}; got {len(cells)} in line {number}: {line[:80]!r}"
            )
        else:
            id = _UNIVERSAL_ID.fullmatch(cells[0]) if universal else None
            if id is None or id["no_word"] is None:
                yield _Row(number, cells)


def _first_row(
    name: str, lines: list[str], separator: str | None
) -> tuple[int, Callable[[str], list[str]]]:
    """Return the index of the first row, and a function that splits rows."""
    candidates = [
        number
        for number, line in enumerate(lines)
        if not _is_blank([line]) and not _is_boundary(line)
    ]
    # A token may begin with "#", so such lines can be rows too. All other lines are certainly rows.
    certain = (number for number in candidates if not lines[number].startswith("#"))
    possible = (number for number in candidates if not lines[number].startswith(_COMMENTS))
    first = next(certain, next(possible, None))
    if first is None:
        raise DataError(f"{name} must have a row for each token; it has none")
    if separator is None:
        separator = "\t" if "\t" in lines[first].strip() else None
    if separator is None:
        return first, lambda line: _BLANKS.split(line.strip(" \t"))
    return first, lambda line: line.split(separator)


def _is_blank(cells: list[str]) -> bool:
    # In concatenated files, a line may contain nothing but a byte order mark.
    return not "".join(cells).strip().strip(_MARK)


def _is_boundary(line: str) -> bool:
    return _BOUNDARY in line and line.split(maxsplit=1)[0] == _BOUNDARY


def _is_universal(lines: list[str], width: int) -> bool:
    """Return whether a file is CoNLL-U: ten tab-separated columns, the first always a number."""
    if width != _UNIVERSAL_WIDTH:
        return False
    rows = (line.split("\t") for line in lines if line.strip() and not line.startswith("#"))
    return all(len(cells) == width and _UNIVERSAL_ID.fullmatch(cells[0]) for cells in rows)


def _sentences(rows: list[_Row]) -> Iterator[list[_Row]]:
    sentence: list[_Row] = []
    for row in rows:
        if row.cells:
            sentence.append(row)
        elif sentence:
            yield sentence
            sentence = []
    if sentence:
        yield sentence
