"""``c.item_table()``: the items behind a comparison, and their influence on the difference."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from outperform._json import MaybeNaN, written
from outperform._typing import AnyArray, FloatArray, IntArray
from outperform.data.items import MOST_ITEMS, Items, SpanRows
from outperform.data.scores import Scores
from outperform.data.tag_schemes import Span
from outperform.decision.rope import TWO_THIRDS, Decision, Rope, decide, masses_from_draws
from outperform.display.document import Document, Note, Rows
from outperform.display.formats import Column, signed_column, text_column
from outperform.display.numbers import for_text, signed
from outperform.display.table import Table
from outperform.errors import UsageError, either, param, unknown_name
from outperform.findings import counted as n_of
from outperform.inference import changes
from outperform.inference.score_spec import ScoreSpec
from outperform.inference.score_views import (
    metric_values,
    probabilities,
    terms_of,
    values_of,
)
from outperform.inference.spec import LabelSpec
from outperform.metrics.sums import TARGETS, CombinedMeans
from outperform.metrics.weighted import WeightedMean
from outperform.posterior.influence import PlugIn
from outperform.results.base import Tabular
from outperform.results.compared import Compared, verb_of

Which = Literal["flips", "all"]
_DIGITS = 6  # decimals of influences; with many items, each influence is small
_ON_A_SCREEN = 20
_KEYS = ("id", "truth", "a", "b", "right", "influence")


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemRow:
    """Item of a comparison.

    Parameters
    ----------
    id
        Id of the item, or its row number from 0.
    truth
        True label, or true spans; None if the data only record right or wrong.
    a, b
        Predictions or scores of the models; None if the data only record right or wrong.
    right
        Name of the model that is right, or ``"both"`` or ``"neither"``. For scores, the model that
        does better on the item, or ``"both"`` if equal; None if the metric is undefined for a
        single item. For spans, the model with fewer missed and invented spans in the sentence or
        document.
    influence
        The observed A − B minus its value without the item; None if not computed.
    columns
        Additional columns of the item, by name.
    """

    id: str | int
    truth: object
    a: object
    b: object
    right: str | None
    influence: float | None
    columns: Mapping[str, object] = field(default_factory=dict)


@written()
class Agreement(NamedTuple):
    """Numbers of items that both models, only A, only B and neither got right.

    Parameters
    ----------
    both, only_a, only_b, neither
        Number of items.
    """

    both: int
    only_a: int
    only_b: int
    neither: int


@written("names metric which n right observed decision room rows=_plain_rows", kind="items")
@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class ItemTable(Tabular):
    """Items behind a comparison, the most influential first.

    Parameters
    ----------
    names
        Names of A and B.
    metric
        Display name of the metric.
    which
        ``"flips"`` for the items that only one model got right, or ``"all"``.
    rows
        The items.
    n
        Number of items in the comparison.
    right
        Numbers of items that both, only A, only B and neither got right.
    observed
        The observed A − B.
    decision
        The decision.
    room
        Signed distance that the HDI would have to move for the decision to change.
    scored
        Whether the data are scores or spans. If so, ``right`` counts the items on which each model
        does better or, if the metric is undefined for a single item, has the higher score.

    Examples
    --------
    >>> import outperform as op
    >>> outcomes = op.Outcomes.from_labels(
    ...     ["spam", "ham", "spam"], {"new": ["spam", "ham", "ham"], "old": ["ham", "ham", "spam"]},
    ...     ids=["m1", "m2", "m3"])
    >>> table = op.compare(outcomes, "new", "old", metric="accuracy").item_table()
    >>> [(item.id, item.right) for item in table]
    [('m1', 'new'), ('m3', 'old')]
    """

    names: tuple[str, str]
    metric: str
    which: Which
    rows: tuple[ItemRow, ...]
    n: int
    right: Agreement
    observed: float
    decision: Decision
    room: MaybeNaN
    scored: bool = False

    def __iter__(self) -> Iterator[ItemRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> ItemRow:
        return self.rows[index]

    def table(self) -> Table:
        """Return one row per item."""
        extra = dict.fromkeys(name for row in self.rows for name in row.columns)
        a, b = self.names
        headings = {"a": a, "b": b}
        columns = [Column(key=key, heading=headings.get(key), write=_as_text) for key in _KEYS[:-1]]
        columns.append(signed_column("influence", digits=_DIGITS))
        columns += [text_column(_free(name)) for name in extra]
        used = [column for column in columns if self._has(column.key)]
        return Table(
            tuple(used),
            tuple(_row(row, extra) for row in self.rows),
            title=f"Items behind {a} − {b} in {self.metric}",
        )

    def _has(self, key: str) -> bool:
        """Return whether a column has a value for at least one item."""
        known = key in ("id", "right", "influence") or key not in _KEYS
        return known or any(getattr(row, key) is not None for row in self.rows)

    @property
    def _plain_rows(self) -> list[dict[str, str | int | float | None]]:
        rows: list[dict[str, str | int | float | None]] = self.table().to_dict()["rows"]
        return rows

    @property
    def _headline(self) -> str:
        a, b = (for_text(name) for name in self.names)
        _, only_a, only_b, _ = self.right
        text = f"{n_of(only_a, 'items')} only {a} got right, {only_b:,} only {b} (of {self.n:,})."
        if self.scored:
            how = "scores higher" if not self.rows or self.rows[0].right is None else "does better"
            text = f"{a} {how} on {n_of(only_a, 'items')}, {b} on {only_b:,} (of {self.n:,})."
        if not self.rows or self.rows[0].influence is None:
            return text
        text += f" No item moves {a} − {b} by more than {abs(self.rows[0].influence):.2g}"
        if self.decision.decided:
            far, symbol = signed(self.room, digits=4), self.decision.symbol
            text += f"; {symbol} changes only if the HDI moves by {far}"
        return f"{text}."

    def _document(self) -> Document:
        table = self.table()
        first = replace(table, rows=table.rows[:_ON_A_SCREEN], title=None)
        labels = [key for key in ("truth", "a", "b") if key in table.keys]
        left = len(table) - len(first)
        more = f"… and {n_of(left, 'more items')}; to_frame() has all"
        return Document(
            headline=self._headline,
            screen=[Rows(table=first, first=("id", "right", "influence"), labels=labels)],
            table=table,
            notes=[Note(more, card=False)] if left else [],
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._headline})"


def _free(name: str) -> str:
    """Return a name for a user's column that differs from the standard columns."""
    return f"{name}_given" if name in _KEYS else name


def _row(item: ItemRow, extra: Mapping[str, object]) -> dict[str, object]:
    standard = {key: _plain(getattr(item, key)) for key in _KEYS}
    return {**standard, **{_free(name): _plain(item.columns.get(name)) for name in extra}}


def _as_text(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _plain(value: object) -> object:
    """Return a value that every format supports, with label sets and spans as text."""
    if isinstance(value, tuple):
        return ", ".join(f"{kind} {start}–{end}" for start, end, kind in value)
    if isinstance(value, frozenset):
        return ", ".join(sorted(map(str, value)))
    return value if value is None or isinstance(value, (str, int, float)) else str(value)


def items(
    comparison: Compared,
    *,
    which: Which = "flips",
    top: int | None = None,
    columns: Mapping[str, object] | None = None,
) -> ItemTable:
    """Return the items behind a comparison."""
    if which not in get_args(Which):
        raise UsageError(unknown_name("which", which, get_args(Which)))
    if top is not None and (not isinstance(top, int) or isinstance(top, bool) or top < 0):
        raise UsageError(f"{param('top')} must be a whole number, or None for all; got {top!r}")
    verb = verb_of(comparison.details)
    if verb != "compare":
        raise UsageError(
            f"{verb} compares several predictions per item; compare two of the models to get their "
            "items"
        )
    spec = comparison.spec
    data = (
        _of_scores(spec) if isinstance(spec, ScoreSpec) else _of_labels(spec, comparison.observed)
    )
    values = _given(columns, data)
    flips = data.right[:, 0] != data.right[:, 1]
    selected = np.flatnonzero(flips) if which == "flips" else np.arange(len(flips))
    sizes = np.abs(np.nan_to_num(data.influence[selected]))
    order = sorted(
        zip((-sizes).tolist(), selected.tolist(), strict=True),
        key=lambda pair: (pair[0], _natural(data.ids[pair[1]])),
    )
    return ItemTable(
        names=comparison.names,
        metric=spec.metric.label,
        which=which,
        rows=tuple(_item(data, index, comparison.names, values) for _, index in order[:top]),
        n=len(flips),
        right=_agreement(data.right),
        observed=comparison.observed,
        decision=comparison.decision,
        room=room(comparison),
        scored=isinstance(spec, ScoreSpec) or spec.data.kind == "spans",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _AllItems:
    """Columns with one value per item."""

    ids: list[Any]
    named: bool  # whether the data have ids
    cell: IntArray  # position of each item in truth, a and b
    truth: list[Any]
    a: list[Any]
    b: list[Any]
    right: AnyArray  # (n, 2), larger values if the model does better on the item
    influence: FloatArray
    has_right: bool = True  # whether the metric is defined for a single item


def _item(
    data: _AllItems, index: int, names: tuple[str, str], columns: Mapping[str, Mapping[Any, object]]
) -> ItemRow:
    cell, item_id = int(data.cell[index]), data.ids[index]
    influence = float(data.influence[index])
    return ItemRow(
        id=item_id,
        truth=data.truth[cell],
        a=data.a[cell],
        b=data.b[cell],
        right=_better_model(data.right[index], names) if data.has_right else None,
        influence=None if np.isnan(influence) else influence,
        columns={name: values.get(item_id) for name, values in columns.items()},
    )


def _better_model(right: AnyArray, names: tuple[str, str]) -> str:
    a, b = right
    if a == b:
        return "both" if a or right.dtype != bool else "neither"
    return names[0] if a > b else names[1]


def _agreement(right: AnyArray) -> Agreement:
    a, b = right.T
    both, neither = (a == b, a != a) if right.dtype != bool else (a & b, ~a & ~b)
    parts = (both, a > b, b > a, neither)
    return Agreement(*(int(np.count_nonzero(part)) for part in parts))


def room(comparison: Compared, sign: float | None = None) -> float:
    """Return how far the HDI would have to move, at the same width, to change the decision.

    If ``sign`` is passed, only moves in that direction count. NaN if no move is enough.

    Examples
    --------
    >>> import outperform as op
    >>> c = op.compare([1] * 99, [1] * 90 + [0] * 9, [1] * 60 + [0] * 39, metric="accuracy")
    >>> round(room(c) + c.hdi.low - c.rope.high, 9)
    0.0
    """
    hdi, rope, ordered = comparison.hdi, comparison.rope, np.sort(comparison.draws)

    def moved(step: float) -> Decision:
        # Moving the posterior up is equivalent to moving the ROPE down.
        shifted = Rope(low=rope.low - step, high=rope.high - step)
        return decide(hdi, shifted, masses_from_draws(ordered, shifted))

    current = moved(0.0)
    steps = [edge - end for edge in (rope.low, rope.high) for end in (hdi.low, hdi.high)]
    if not current.decided:
        steps += _leaning_steps(ordered, rope)
    tiny = 1e-9 * (hdi.width + rope.high - rope.low)
    for step in sorted(steps, key=abs):
        for beyond in (step - tiny, step + tiny):
            if sign is not None and sign * beyond < 0:
                continue
            if moved(beyond) is not current:
                return float(step)
    return float("nan")


def _leaning_steps(ordered: FloatArray, rope: Rope) -> list[float]:
    """Return the moves after which one part has two thirds of the sorted draws."""
    n = ordered.size
    most = math.ceil(TWO_THIRDS * n)
    steps = [rope.high - ordered[n - most], rope.low - ordered[most - 1]]
    firsts, lasts = ordered[: n - most + 1], ordered[most - 1 :]
    fits = lasts - firsts <= rope.width
    if fits.any():  # the ROPE can contain that many draws between these two moves
        steps += [rope.high - lasts[fits].min(), rope.low - firsts[fits].max()]
    return [float(step) for step in steps]


def _of_labels(spec: LabelSpec, observed: float) -> _AllItems:
    stored = _stored_items(spec)
    cells = stored.cells[:, [0, *(1 + stored.models.index(model) for model in spec.data.models)]]
    truth, a, b = ([stored.values[code] for code in column] for column in cells.T.tolist())
    if stored.spans is not None:
        return _of_spans(
            spec, observed, stored, np.array([truth, a, b], dtype=object), stored.spans
        )
    correct = spec.data.kind == "correct"
    nothing = [None] * len(cells)
    cell = stored.cell.astype(np.int64)
    # Codes are not compared, because adding outcomes can give a label several codes.
    triples = zip(truth, a, b, strict=True)
    right = np.array([[gold == label_a, gold == label_b] for gold, label_a, label_b in triples])
    return _AllItems(
        ids=stored.names,
        named=stored.ids is not None,
        cell=cell,
        truth=nothing if correct else truth,
        a=nothing if correct else a,
        b=nothing if correct else b,
        right=right[cell],
        influence=observed - _without(spec, stored, [truth, a, b]),
    )


def _of_spans(
    spec: LabelSpec, observed: float, stored: Items, values: AnyArray, spans: SpanRows
) -> _AllItems:
    """Drop each sentence or document in turn; the model with fewer wrong spans does better."""
    view_codes = changes.view_codes(spec).tolist()
    codes: dict[Any, int] = dict(zip(spec.data.labels, view_codes, strict=True))
    # Spans predicted only by other models have no kind.
    kinds = [next((kind for kind in column if kind is not None), None) for column in values.T]
    types = np.array([codes.get(kind, -1) for kind in kinds], dtype=np.int64)[stored.cell]
    answers = (values != None)[:, stored.cell]  # noqa: E711 (item by item)
    documents = changes.leave_documents_out(spec, types, answers, spans)
    texts = [
        _by_document(spans, [kinds[cell] for cell in stored.cell[selected].tolist()], selected)
        for selected in answers
    ]
    return _AllItems(
        ids=stored.names,
        named=stored.ids is not None,
        cell=np.arange(spans.n),
        truth=texts[0],
        a=texts[1],
        b=texts[2],
        right=-documents.wrong,
        influence=observed - documents.without,
    )


def _by_document(spans: SpanRows, kinds: Iterable[Any], selected: AnyArray) -> list[Any]:
    """Return the selected spans of each document, in text order."""
    texts: list[list[Span]] = [[] for _ in range(spans.n)]
    columns = (column[selected].tolist() for column in (spans.document, spans.start, spans.end))
    for document, start, end, kind in zip(*columns, kinds, strict=True):
        texts[document].append((start, end, kind))
    return [tuple(sorted(document)) for document in texts]


def _stored_items(spec: LabelSpec) -> Items:
    stored = spec.data._items
    # For groups of spans, the groups are counted, not the sentences.
    lost = stored is None or (stored.n != spec.data.n and stored.spans is None)
    if stored is None or lost or spec.data.pool is not None:
        raise UsageError(
            "these outcomes no longer contain their rows: they were counted in a database, read "
            f"as counts, split or selected, or there are more than {MOST_ITEMS:,}; pass the id "
            f"column with {param('id=')}{either(' of op.read, or pass arrays', '')}"
        )
    return stored


def _without(spec: LabelSpec, stored: Items, values: Sequence[list[Any]]) -> FloatArray:
    """Return the observed A − B without each item, one value per item."""
    data = spec.data
    names: Iterable[Any] = data.labels
    if data.kind == "label_sets":
        names = (frozenset(data.labels[code] for code in codes) for codes in data.sets)
    code_of = {name: code for code, name in enumerate(names)}
    cells = np.array([[code_of[value] for value in column] for column in values]).T
    if stored.weights is None:
        return np.take(changes.differences(spec, cells), stored.cell)
    return changes.differences(spec, cells[stored.cell], amount=stored.weights)


def _moved_by_items(spec: ScoreSpec) -> FloatArray:
    """Return the influence of each item on each model's value, without groups, ``(n_items, 2)``."""
    ungrouped = replace(spec.data, group=None)
    spec = replace(spec, data=ungrouped).by_rows
    moved = [sums.whole.observed - sums.whole.without(sums.matrix) for sums in spec.unit_sums]
    return np.concatenate(moved).T


def _gains(data: Scores, terms: Sequence[FloatArray], ready: Sequence[CombinedMeans]) -> FloatArray:
    """Return how much better A does than B on each item: A's loss if the models swap answers.

    The swap is evaluated for both models, because an answer that helps one model may not help the
    other.
    """
    weights = np.ones(len(terms[0])) if data.weights is None else data.weights
    swapped = ((terms[0] - terms[1]) * weights[:, None]).T
    gains = np.zeros(len(weights))
    for sign, model, model_terms in zip((1, -1), ready, terms, strict=True):
        sums = np.append(weights @ model_terms, weights.sum())[:, None]
        plug_in = PlugIn(sums, partial(_value_of, model))
        exchanged = np.vstack([sign * swapped, np.zeros(len(weights))])
        gains += sign * (plug_in.observed - plug_in.without(exchanged))[0]
    # Equal answers count as a tie, regardless of rounding.
    return np.where((swapped == 0).all(axis=0), 0.0, np.nan_to_num(gains))


def _value_of(model: CombinedMeans, at: FloatArray) -> FloatArray:
    return model.of_sums(at)[None]


def _of_statistics(spec: ScoreSpec, ready: list[CombinedMeans]) -> _AllItems:
    """Drop each item from the sums in turn."""
    data, n = spec.data, spec.data.n_rows
    influences = _moved_by_items(spec)
    better = influences
    if ready[0].row is None:  # if all models have the same sums, swapping changes nothing
        metric = replace(spec.metric, how=ready[0].sums)
        both = terms_of(metric, data, range(len(ready)), spec.positive)
        gains = _gains(data, np.split(both, len(ready)), ready)
        better = np.stack([gains, np.zeros(n)], axis=1)
    of_targets = data.columns == TARGETS
    scores = [
        array[:, -1].tolist() if of_targets or array.shape[1] == 1 else [None] * n
        for array in (values if values.ndim == 2 else values[:, None] for values in data.values)
    ]
    truth = [None] * n if data.truth is None else [data.labels[code] for code in data.truth]
    return _AllItems(
        ids=list(range(n)) if data.ids is None else data.ids.tolist(),
        named=data.ids is not None,
        cell=np.arange(n),
        truth=data.values[0][:, 0].tolist() if of_targets else truth,
        a=scores[0],
        b=scores[1],
        right=better if spec.metric.greater_is_better else -better,
        influence=influences[:, 0] - influences[:, 1],
    )


def _of_scores(spec: ScoreSpec) -> _AllItems:
    spec = spec if spec.moments is None else spec.by_rows
    combined = [each for each in spec.prepared if isinstance(each, CombinedMeans)]
    if combined:
        return _of_statistics(spec, combined)
    data, n = spec.data, spec.data.n_rows
    of_means = all(isinstance(each, WeightedMean) for each in spec.prepared)
    values = np.zeros((n, 2))
    influence = np.full(n, np.nan)
    if of_means:
        for model in (0, 1):
            values[:, model] = values_of(spec.metric, data, model, spec.positive)
        a, b = _moved_by_items(spec).T
        influence = a - b
    better = values if spec.metric.greater_is_better else -values
    if not of_means:
        better = np.stack([_column(spec, model) for model in (0, 1)], axis=1)
    ids = list(range(n)) if data.ids is None else data.ids.tolist()
    truth = [None] * n if data.truth is None else [data.labels[code] for code in data.truth]
    return _AllItems(
        ids=ids,
        named=data.ids is not None,
        cell=np.arange(n),
        truth=truth,
        a=_column(spec, 0).tolist(),
        b=_column(spec, 1).tolist(),
        right=better,
        influence=influence,
        has_right=of_means,
    )


def _column(spec: ScoreSpec, model: int) -> FloatArray:
    """Return one number per item: the score, or the probability of the true class."""
    data: Scores = spec.data
    score = metric_values(spec.metric, data.values[model])
    if score.ndim == 1 or data.truth is None:
        return score
    truth, chances = probabilities(data, model, spec.positive)
    return chances[np.arange(len(truth)), truth]


def _given(columns: object, items: _AllItems) -> dict[str, Mapping[Any, object]]:
    """Return the user's columns by name, each as a mapping from ids to values."""
    if columns is None:
        return {}
    if not isinstance(columns, Mapping):
        raise UsageError(
            f"{param('columns')} must be a mapping from names to columns, {{'text': …}}"
        )
    return {str(name): _by_id(str(name), values, items) for name, values in columns.items()}


def _by_id(name: str, values: Any, items: _AllItems) -> Mapping[Any, object]:
    if isinstance(values, Mapping):
        return values
    if items.named and hasattr(values, "index") and hasattr(values, "to_dict"):
        by_index: Mapping[Any, object] = values.to_dict()
        return by_index
    if items.named or isinstance(values, (str, bytes)) or not hasattr(values, "__len__"):
        raise UsageError(
            f"{param('columns')} must map the ids of these items to {name!r}, e.g. "
            "dict(zip(ids, texts)), or be a Series with the ids as index"
        )
    if len(values) != len(items.ids):
        raise UsageError(
            f"column {name!r} has {len(values)} values, but there are {len(items.ids)} items"
        )
    listed = getattr(values, "tolist", None) or getattr(values, "to_pylist", None)
    return dict(enumerate(list(values) if listed is None else listed()))


def _natural(name: str | int) -> tuple[object, ...]:
    """Return a sort key that puts q2 before q10, and numbers before text."""
    if isinstance(name, int):
        return (0, name)
    parts = re.split(r"(\d+)", name)
    return (1, *((int(part), "") if k % 2 else (0, part) for k, part in enumerate(parts)))
