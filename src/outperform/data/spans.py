"""Spans: named tag schemes, and conversion of spans to cells."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from operator import index
from typing import Any, NamedTuple

import numpy as np

from outperform._rows import count_rows, place_rows
from outperform._typing import IntArray, Label
from outperform.data.items import Items, SpanRows, keep_spans
from outperform.data.labels import check_label, sort_labels
from outperform.data.table import Table, group_codes, group_rows
from outperform.data.tag_schemes import ROLES_OF, Role, Scheme, Span
from outperform.errors import DataError, UsageError, unknown_name
from outperform.findings import Finding, counted, finding

_B2_B3 = {"B": ("B2", "E"), "B2": ("B3", "E"), "B3": ("M", "E"), "M": ("M", "E")}

_SCHEMES = {
    scheme.name: scheme
    for scheme in (
        Scheme(
            name="IOB1",
            roles=ROLES_OF["IOB1"],
            opens=("I", "B"),
            after_same=("B",),
            strict_not_doubled=("B",),
        ),
        Scheme(name="IOB2", roles=ROLES_OF["IOB2"]),
        Scheme(
            name="IOE1",
            roles=ROLES_OF["IOE1"],
            closes=("I", "E"),
            before_same=("E",),
            strict_after_same=("E",),
        ),
        Scheme(name="IOE2", roles=ROLES_OF["IOE2"]),
        Scheme(name="IOBES", roles=ROLES_OF["IOBES"]),
        Scheme(name="BILOU", roles=ROLES_OF["BILOU"]),
        Scheme(name="BMES", roles=ROLES_OF["BMES"]),
        Scheme(name="BB2B3MES", roles=ROLES_OF["BB2B3MES"], follows=_B2_B3),
    )
}

_ALIASES = {"BIO": "IOB2", "BIOES": "IOBES", "BILUO": "BILOU"}


def get_scheme(scheme: str | Mapping[str, Role] | Scheme) -> Scheme:
    """Return a scheme from its name or from a table of roles.

    Parameters
    ----------
    scheme
        A name such as ``"IOB2"`` (case is ignored), a table with the role of each prefix
        (``"begin"``, ``"inside"``, ``"end"``, ``"single"`` or ``"outside"``), or a :class:`Scheme`.

    Examples
    --------
    >>> get_scheme("bio").name
    'IOB2'
    >>> roles = {"B": "begin", "M": "inside", "E": "end", "S": "single", "O": "outside"}
    >>> get_scheme(roles).read(["B", "M", "E", "S"]).spans
    ((0, 3, 'span'), (3, 4, 'span'))
    >>> get_scheme("IOBS")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    outperform.errors.UsageError: unknown scheme 'IOBS'; did you mean 'IOBES'? Known: IOB1, ...
    """
    if isinstance(scheme, Scheme):
        return scheme
    if isinstance(scheme, Mapping):
        return Scheme(name="your scheme", roles=scheme)
    if not isinstance(scheme, str):
        raise UsageError(
            "scheme must be a name, a table of prefixes and roles or a Scheme; got "
            f"{type(scheme).__name__}"
        )
    name = _ALIASES.get(scheme.upper(), scheme.upper())
    if name not in _SCHEMES:
        raise UsageError(unknown_name("scheme", scheme, [*_SCHEMES, *_ALIASES]))
    return _SCHEMES[name]


def scheme_names() -> list[str]:
    """Return the names of all known schemes.

    Examples
    --------
    >>> scheme_names()[:4]
    ['IOB1', 'IOB2', 'IOE1', 'IOE2']
    """
    return list(_SCHEMES)


Documents = Sequence[Iterable[Span]]


class Counted(NamedTuple):
    """Types that occurred and their table; the code after the last type means "no span"."""

    labels: tuple[Label, ...]
    table: Table
    items: Items | None
    spans: CountedSpans


class CountedSpans(NamedTuple):
    """All true or predicted spans, one per row, with codes, document and group."""

    codes: list[IntArray]
    document: IntArray
    group: IntArray


def count_spans(
    gold: Documents,
    predictions: Mapping[str, Documents],
    *,
    groups: Sequence[object] | None,
    ids: object = None,
) -> Counted:
    """Count exactly matching spans, grouped by document."""
    columns = {"gold": gold, **{f"spans of {name!r}": spans for name, spans in predictions.items()}}
    _same_length(columns, "documents")
    rows: dict[tuple[int, Span], list[bool]] = {}
    types: set[tuple[type, Label]] = set()
    for column, (name, documents) in enumerate(columns.items()):
        for number, spans in enumerate(documents):
            for span in _checked(spans, name, number):
                has = rows.setdefault((number, span), [False] * len(columns))
                if has[column]:
                    raise DataError(f"{name}: document {number} has the span {span!r} twice")
                has[column] = True
                types.add((type(span[2]), span[2]))
    if not rows:
        raise DataError("neither gold nor the predictions contain any span")
    labels = _sorted_types(types)
    place_of = {label: code for code, label in enumerate(labels)}
    own = np.array([place_of[span[2]] for _, span in rows], dtype=np.int64)
    present = np.array(list(rows.values()))  # (n_rows, 1 + n_models)
    codes = np.where(present, own[:, None], len(labels))
    document = np.array([number for number, _ in rows], dtype=np.int64)
    n_groups, group = len(gold), np.arange(len(gold))
    if groups is not None:
        group, n_groups = group_codes(groups, len(gold))
    cells, counts = count_rows(list(codes.T), n_labels=len(labels) + 1)
    together = group_rows(
        group[document], place_rows(codes.T, cells), n_groups=n_groups, n_cells=len(cells)
    )
    start, end = np.array([span[:2] for _, span in rows]).T
    items = keep_spans(
        tuple(predictions),
        (*labels, None),
        list(codes.T),
        cells,
        SpanRows(document=document, start=start, end=end, n=len(gold)),
        ids=ids,
    )
    counted_spans = CountedSpans(list(codes.T), document, group[document])
    return Counted(labels, Table(cells, counts, together), items, counted_spans)


def _checked(spans: Iterable[Any], name: str, number: int) -> list[Span]:
    where = f"{name}: document {number}"
    try:
        read = [(index(start), index(end), kind) for start, end, kind in spans]
    except (TypeError, ValueError) as error:
        raise DataError(
            f"{where} must be a list of (start, end, type) with integers; got {spans!r}"
        ) from error
    for start, end, _ in read:
        if start > end:
            raise DataError(f"{where} has a span that ends at {end}, before its start at {start}")
    return [
        (start, end, check_label(kind, name=f"{where}: types"))  # type: ignore[misc]
        for start, end, kind in read
    ]


def _sorted_types(types: set[tuple[type, Label]]) -> tuple[Label, ...]:
    """Sort labels with their Python types, because True and 1 are equal keys."""
    names = sorted({kind.__name__ for kind, _ in types})
    if len(names) > 1:
        raise DataError(f"span types must all have the same Python type; got {' and '.join(names)}")
    return sort_labels({label for _, label in types})


def read_tags(
    tags: Sequence[Sequence[str]], *, name: str, scheme: Scheme, strict: bool
) -> tuple[list[tuple[Span, ...]], Finding | None]:
    """Read the tag sequences of all sentences; a finding reports how many are malformed."""
    if isinstance(tags, (str, bytes)) or not isinstance(tags, Sized):
        raise DataError(f"{name} must be a list of tag lists, one per sentence")
    read, malformed, first = [], 0, ""
    for number, sentence in enumerate(tags):
        if isinstance(sentence, str):
            raise DataError(
                f"{name} must be a list of tag lists, one per sentence; got the text "
                f"{sentence!r} as sentence {number}. Put a single sentence in a list"
            )
        try:
            reading = scheme.read(sentence, strict=strict)
        except DataError as error:
            raise DataError(f"{name}, sentence {number}: {error}") from error
        read.append(reading.spans)
        if reading.malformed and not malformed:
            position = reading.malformed[0]
            first = f"{sentence[position]!r}, sentence {number}, token {position}"
        malformed += len(reading.malformed)
    if not malformed:
        return read, None
    return read, finding(
        "malformed_tags/strict" if strict else "malformed_tags/lenient",
        name=name,
        tags=counted(malformed, "tags are", one="tag is"),
        scheme=scheme.name,
        first=first,
    )


def check_tag_lengths(
    gold: Sequence[Sequence[str]], predictions: Mapping[str, Sequence[Sequence[str]]]
) -> None:
    """Check that gold and predicted tags have the same length in every sentence."""
    _same_length({"gold": gold, **{f"tags of {m!r}": t for m, t in predictions.items()}}, "tags")
    for name, tags in predictions.items():
        for number, (truth, predicted) in enumerate(zip(gold, tags, strict=True)):
            if not (isinstance(truth, Sized) and isinstance(predicted, Sized)):
                raise DataError(
                    f"sentence {number} must be a list of tags, in gold and in {name!r}"
                )
            if len(truth) != len(predicted):
                raise DataError(
                    f"sentence {number} has {len(truth)} gold tags and {len(predicted)} tags of "
                    f"{name!r}; both must have one tag per token"
                )


def _same_length(columns: Mapping[str, Sized], what: str) -> None:
    sizes: dict[str, int] = {}
    for name, values in columns.items():
        if isinstance(values, (str, bytes)) or not isinstance(values, Sized):
            raise DataError(f"{name} must be a list with one entry per document")
        sizes[name] = len(values)
    (first, n), *others = sizes.items()
    for name, size in others:
        if size != n:
            raise DataError(
                f"{first} has {n} documents but {name} has {size}; both must list the same "
                "documents in the same order"
            )
    if not n:
        raise DataError(f"{first} has no documents; at least one is needed")


def span_cells(
    columns: Sequence[Sequence[object]], read: Callable[[object], Label]
) -> tuple[tuple[Label, ...], list[IntArray]]:
    """Return the types and codes of columns in which None means "no span"."""
    kinds = [[None if value is None else read(value) for value in column] for column in columns]
    types = _sorted_types({(type(k), k) for column in kinds for k in column if k is not None})
    code_of: dict[Label | None, int] = {label: code for code, label in enumerate(types)}
    code_of[None] = len(types)
    codes = [np.array([code_of[kind] for kind in column], dtype=np.int64) for column in kinds]
    stacked = np.stack(codes, axis=1)
    own = np.where(stacked < len(types), stacked, -1)
    mixed = [row for row in own if len(set(row[row >= 0].tolist())) != 1]
    if mixed:
        raise UsageError(
            "each cell is one span, so its truth and predictions must be the same type, or None "
            "if it was not found; count a span with the wrong type as one missed and one "
            "spurious span"
        )
    return types, codes
