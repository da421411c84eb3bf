"""``c.items()``: the items behind a comparison, and how far each moves the difference."""

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
_DIGITS = 6  # of influences: one of many items moves little
_ON_A_SCREEN = 20
_KEYS = ("id", "truth", "a", "b", "right", "influence")


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemRow:
    """One item.

    Parameters
    ----------
    id
        What it is called, or its number in the order of the rows, from 0.
    truth
        Its true label, or the true spans; None where only right or wrong is known.
    a, b
        What the models predict, or score; None where only right or wrong is known.
    right
        Who is right: the name of a model, ``"both"`` or ``"neither"``. Of scores, who does
        better on the item, ``"both"`` if alike; None where the metric says nothing of one item.
        Of spans, who misses and makes up fewer in the sentence or document.
    influence
        The observed A − B less what it would be without the item; None where that is not worked
        out.
    columns
        What else was given of it, by name.
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
    """How many items both models, only A, only B and neither got right.

    Parameters
    ----------
    both, only_a, only_b, neither
        The four numbers.
    """

    both: int
    only_a: int
    only_b: int
    neither: int


@written("names metric which n right observed decision room rows=_plain_rows", kind="items")
@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class ItemTable(Tabular):
    """The items behind a comparison, those that move the difference most first.

    Parameters
    ----------
    names
        The names of A and of B.
    metric
        The metric, in words.
    which
        ``"flips"`` for the items that only one model got right, or ``"all"``.
    rows
        The items.
    n
        How many items the comparison has.
    right
        How many both, only A, only B and neither got right.
    observed
        The observed A − B.
    decision
        The decision.
    room
        How far the HDI would have to move for another decision, with its sign.
    scored
        Whether the models give scores or spans; then the numbers in ``right`` say who does
        better, or, where the metric says nothing of one item, whose score is higher.

    Examples
    --------
    >>> import outperform as op
    >>> seen = op.Outcomes.from_labels(
    ...     ["spam", "ham", "spam"], {"new": ["spam", "ham", "ham"], "old": ["ham", "ham", "spam"]},
    ...     ids=["m1", "m2", "m3"])
    >>> found = op.compare(seen, "new", "old", metric="accuracy").items()
    >>> [(one.id, one.right) for one in found]
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

    def __getitem__(self, place: int) -> ItemRow:
        return self.rows[place]

    def table(self) -> Table:
        """Return the rows."""
        texts = dict.fromkeys(name for one in self.rows for name in one.columns)
        a, b = self.names
        heads = {"a": f"{a} says", "b": f"{b} says"}
        columns = [Column(key=key, heading=heads.get(key), write=_said) for key in _KEYS[:-1]]
        columns.append(signed_column("influence", digits=_DIGITS))
        columns += [text_column(_free(name)) for name in texts]
        shown = [column for column in columns if self._has(column.key, texts)]
        return Table(
            tuple(shown),
            tuple(_row(one, texts) for one in self.rows),
            title=f"Items behind {a} − {b} in {self.metric}",
        )

    def _has(self, key: str, texts: Mapping[str, object]) -> bool:
        """Return whether a column says anything of any item."""
        known = key in ("id", "right", "influence") or key not in _KEYS
        return known or any(getattr(one, key) is not None for one in self.rows)

    @property
    def _plain_rows(self) -> list[dict[str, str | int | float | None]]:
        rows: list[dict[str, str | int | float | None]] = self.table().to_dict()["rows"]
        return rows

    @property
    def _headline(self) -> str:
        a, b = (for_text(name) for name in self.names)
        _, only_a, only_b, _ = self.right
        said = f"{n_of(only_a, 'items')} only {a} got right, {only_b:,} only {b} (of {self.n:,})."
        if self.scored:
            how = "scores higher" if not self.rows or self.rows[0].right is None else "does better"
            said = f"{a} {how} on {n_of(only_a, 'items')}, {b} on {only_b:,} (of {self.n:,})."
        if not self.rows or self.rows[0].influence is None:
            return said
        said += f" No item moves {a} − {b} by more than {abs(self.rows[0].influence):.2g}"
        if self.decision.decided:
            far, symbol = signed(self.room, digits=4), self.decision.symbol
            said += f"; {symbol} holds unless the HDI moves by {far}"
        return f"{said}."

    def _document(self) -> Document:
        table = self.table()
        some = replace(table, rows=table.rows[:_ON_A_SCREEN], title=None)
        labels = [key for key in ("truth", "a", "b") if key in table.keys]
        left = len(table) - len(some)
        more = f"… and {n_of(left, 'more items')}; to_frame() has all"
        return Document(
            headline=self._headline,
            screen=[Rows(table=some, first=("id", "right", "influence"), labels=labels)],
            table=table,
            notes=[Note(more, card=False)] if left else [],
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._headline})"


def _free(name: str) -> str:
    """Return a name for a column of the user's that none of ours has."""
    return f"{name}_given" if name in _KEYS else name


def _row(one: ItemRow, texts: Mapping[str, object]) -> dict[str, object]:
    own = {key: _shown(getattr(one, key)) for key in _KEYS}
    return {**own, **{_free(name): _shown(one.columns.get(name)) for name in texts}}


def _said(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _shown(value: object) -> object:
    """Return a value that every format takes; the labels of a set, or spans, as one text."""
    if isinstance(value, tuple):
        return ", ".join(f"{kind} {start}–{end}" for start, end, kind in value)
    if isinstance(value, frozenset):
        return ", ".join(sorted(map(str, value)))
    plain = value is None or isinstance(value, (str, int, float))
    return value if plain else str(value)


def items(
    own: Compared,
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
    asked_by = verb_of(own.details)
    if asked_by != "compare":
        raise UsageError(
            f"{asked_by} compares more than one prediction an item; ask for the items of a "
            "compare() of two of them"
        )
    spec = own.spec
    found = _of_scores(spec) if isinstance(spec, ScoreSpec) else _of_labels(spec, own.observed)
    values = _given(columns, found)
    apart = found.right[:, 0] != found.right[:, 1]
    kept = np.flatnonzero(apart) if which == "flips" else np.arange(len(apart))
    sizes = np.abs(np.nan_to_num(found.influence[kept]))
    order = sorted(
        zip((-sizes).tolist(), kept.tolist(), strict=True),
        key=lambda one: (one[0], _natural(found.ids[one[1]])),
    )
    return ItemTable(
        names=own.names,
        metric=spec.metric.label,
        which=which,
        rows=tuple(_item(found, place, own.names, values) for _, place in order[:top]),
        n=len(apart),
        right=_agreement(found.right),
        observed=own.observed,
        decision=own.decision,
        room=room(own),
        scored=isinstance(spec, ScoreSpec) or spec.data.kind == "spans",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """What is known of every item, one row each."""

    ids: list[Any]
    named: bool  # whether the ids were given
    cell: IntArray  # which of the texts below is the item's
    truth: list[Any]
    a: list[Any]
    b: list[Any]
    right: AnyArray  # (n, 2), how well each model does on the item
    influence: FloatArray
    tells: bool = True  # whether right means something


def _item(
    found: _Found, place: int, names: tuple[str, str], given: Mapping[str, Mapping[Any, object]]
) -> ItemRow:
    cell, one = int(found.cell[place]), found.ids[place]
    moved = float(found.influence[place])
    return ItemRow(
        id=one,
        truth=found.truth[cell],
        a=found.a[cell],
        b=found.b[cell],
        right=_who(found.right[place], names) if found.tells else None,
        influence=None if np.isnan(moved) else moved,
        columns={name: values.get(one) for name, values in given.items()},
    )


def _who(right: AnyArray, names: tuple[str, str]) -> str:
    a, b = right
    if a == b:
        return "both" if a or right.dtype != bool else "neither"
    return names[0] if a > b else names[1]


def _agreement(right: AnyArray) -> Agreement:
    a, b = right.T
    both, neither = (a == b, a != a) if right.dtype != bool else (a & b, ~a & ~b)
    parts = (both, a > b, b > a, neither)
    return Agreement(*(int(np.count_nonzero(part)) for part in parts))


def room(own: Compared, sign: float | None = None) -> float:
    """Return how far the HDI would have to move, as wide as it is, for another decision.

    With a sign, in this direction only; NaN where no move does.

    Examples
    --------
    >>> import outperform as op
    >>> c = op.compare([1] * 99, [1] * 90 + [0] * 9, [1] * 60 + [0] * 39, metric="accuracy")
    >>> round(room(c) + c.hdi.low - c.rope.high, 9)
    0.0
    """
    hdi, rope, ordered = own.hdi, own.rope, np.sort(own.draws)

    def moved(step: float) -> Decision:
        # A posterior that moves up sees the ROPE move down.
        there = Rope(low=rope.low - step, high=rope.high - step)
        return decide(hdi, there, masses_from_draws(ordered, there))

    here = moved(0.0)
    steps = [edge - end for edge in (rope.low, rope.high) for end in (hdi.low, hdi.high)]
    if not here.decided:
        steps += _leaning_steps(ordered, rope)
    tiny = 1e-9 * (hdi.width + rope.high - rope.low)
    for step in sorted(steps, key=abs):
        for beyond in (step - tiny, step + tiny):
            if sign is not None and sign * beyond < 0:
                continue
            if moved(beyond) is not here:
                return float(step)
    return float("nan")


def _leaning_steps(ordered: FloatArray, rope: Rope) -> list[float]:
    """Return the moves after which two thirds of sorted draws lie on a side of the ROPE."""
    n = ordered.size
    most = math.ceil(TWO_THIRDS * n)
    steps = [rope.high - ordered[n - most], rope.low - ordered[most - 1]]
    firsts, lasts = ordered[: n - most + 1], ordered[most - 1 :]
    fits = lasts - firsts <= rope.width
    if fits.any():  # inside are so many from the first fit's last draw to the last fit's first one
        steps += [rope.high - lasts[fits].min(), rope.low - firsts[fits].max()]
    return [float(step) for step in steps]


def _of_labels(spec: LabelSpec, observed: float) -> _Found:
    kept = _kept(spec)
    cells = kept.cells[:, [0, *(1 + kept.models.index(model) for model in spec.data.models)]]
    truth, a, b = ([kept.values[code] for code in column] for column in cells.T.tolist())
    if kept.spans is not None:
        return _of_spans(spec, observed, kept, np.array([truth, a, b], dtype=object), kept.spans)
    correct = spec.data.kind == "correct"
    nothing = [None] * len(cells)
    cell = kept.cell.astype(np.int64)
    # The same label may have several codes after a sum.
    right = np.array(
        [[one == two, one == three] for one, two, three in zip(truth, a, b, strict=True)]
    )
    return _Found(
        ids=kept.names,
        named=kept.ids is not None,
        cell=cell,
        truth=nothing if correct else truth,
        a=nothing if correct else a,
        b=nothing if correct else b,
        right=right[cell],
        influence=observed - _without(spec, kept, [truth, a, b]),
    )


def _of_spans(
    spec: LabelSpec, observed: float, kept: Items, values: AnyArray, spans: SpanRows
) -> _Found:
    """Leave each sentence or document out in turn; the better model has fewer spans wrong."""
    view_codes = changes.view_codes(spec).tolist()
    codes: dict[Any, int] = dict(zip(spec.data.labels, view_codes, strict=True))
    # What only other models predict is of no kind.
    kinds = [next((one for one in column if one is not None), None) for column in values.T]
    types = np.array([codes.get(kind, -1) for kind in kinds], dtype=np.int64)[kept.cell]
    answers = (values != None)[:, kept.cell]  # noqa: E711 (item by item)
    documents = changes.leave_documents_out(spec, types, answers, spans)
    shown = [
        _by_document(spans, [kinds[cell] for cell in kept.cell[own].tolist()], own)
        for own in answers
    ]
    return _Found(
        ids=kept.names,
        named=kept.ids is not None,
        cell=np.arange(spans.n),
        truth=shown[0],
        a=shown[1],
        b=shown[2],
        right=-documents.wrong,
        influence=observed - documents.without,
    )


def _by_document(spans: SpanRows, kinds: Iterable[Any], selected: AnyArray) -> list[Any]:
    """Return the selected spans of each document, from left to right."""
    texts: list[list[Span]] = [[] for _ in range(spans.n)]
    columns = (one[selected].tolist() for one in (spans.document, spans.start, spans.end))
    for document, start, end, kind in zip(*columns, kinds, strict=True):
        texts[document].append((start, end, kind))
    return [tuple(sorted(one)) for one in texts]


def _kept(spec: LabelSpec) -> Items:
    kept = spec.data._items
    # Groups of spans are counted, not their sentences.
    lost = kept is None or (kept.n != spec.data.n and kept.spans is None)
    if kept is None or lost or spec.data.pool is not None:
        raise UsageError(
            "the rows of these outcomes were not kept: they were counted where they are, came as "
            "counts, were divided or chosen, or there are too many. Name the column of their ids "
            f"with {param('id=')}{either(' of op.read, or give arrays', '')}; up to "
            f"{MOST_ITEMS:,} rows are kept"
        )
    return kept


def _without(spec: LabelSpec, kept: Items, values: Sequence[list[Any]]) -> FloatArray:
    """Return the observed A − B without each item."""
    data = spec.data
    names: Iterable[Any] = data.labels
    if data.kind == "label_sets":
        names = (frozenset(data.labels[code] for code in one) for one in data.sets)
    codes = {name: code for code, name in enumerate(names)}
    cells = np.array([[codes[one] for one in column] for column in values]).T
    if kept.weights is None:
        return np.take(changes.differences(spec, cells), kept.cell)
    return changes.differences(spec, cells[kept.cell], amount=kept.weights)


def _moved_by_items(spec: ScoreSpec) -> FloatArray:
    """Return how far each item, whatever its group, moves each model's value, ``(n_items, 2)``."""
    alone = replace(spec.data, group=None)
    spec = replace(spec, data=alone, view=alone, repeats=None)
    moved = [one.whole.observed - one.whole.without(one.held) for one in spec.unit_sums]
    return np.concatenate(moved).T


def _gains(data: Scores, terms: Sequence[FloatArray], ready: Sequence[CombinedMeans]) -> FloatArray:
    """Return how much better each item of A is than of B: what swapping their answers costs A.

    Both models are asked without the other's answer, A with B's and B with A's, because an answer
    that helps one need not help the other.
    """
    weights = np.ones(len(terms[0])) if data.weights is None else data.weights
    swapped = ((terms[0] - terms[1]) * weights[:, None]).T
    gains = np.zeros(len(weights))
    for sign, one, own in zip((1, -1), ready, terms, strict=True):
        sums = np.append(weights @ own, weights.sum())[:, None]
        whole = PlugIn(sums, partial(_value_of, one))
        held = np.vstack([sign * swapped, np.zeros(len(weights))])
        gains += sign * (whole.observed - whole.without(held))[0]
    # Equal answers are a tie, whatever rounding makes of it.
    return np.where((swapped == 0).all(axis=0), 0.0, np.nan_to_num(gains))


def _value_of(model: CombinedMeans, at: FloatArray) -> FloatArray:
    return model.of_sums(at)[None]


def _of_statistics(spec: ScoreSpec, ready: list[CombinedMeans]) -> _Found:
    """Leave each item out of the sums in turn."""
    data, n = spec.data, spec.data.n_rows
    worth = _moved_by_items(spec)
    better = worth
    if ready[0].row is None:  # where all models have the same sums, there is nothing to swap
        metric = replace(spec.metric, how=ready[0].sums)
        both = terms_of(metric, data, range(len(ready)), spec.positive)
        gains = _gains(data, np.split(both, len(ready)), ready)
        better = np.stack([gains, np.zeros(n)], axis=1)
    of_targets = data.columns == TARGETS
    shown = [
        array[:, -1].tolist() if of_targets or array.shape[1] == 1 else [None] * n
        for array in (values if values.ndim == 2 else values[:, None] for values in data.values)
    ]
    truth = [None] * n if data.truth is None else [data.labels[code] for code in data.truth]
    return _Found(
        ids=list(range(n)) if data.ids is None else data.ids.tolist(),
        named=data.ids is not None,
        cell=np.arange(n),
        truth=data.values[0][:, 0].tolist() if of_targets else truth,
        a=shown[0],
        b=shown[1],
        right=better if spec.metric.greater_is_better else -better,
        influence=worth[:, 0] - worth[:, 1],
    )


def _of_scores(spec: ScoreSpec) -> _Found:
    combined = [one for one in spec.prepared if isinstance(one, CombinedMeans)]
    if combined:
        return _of_statistics(spec, combined)
    data, n = spec.data, spec.data.n_rows
    of_means = all(isinstance(one, WeightedMean) for one in spec.prepared)
    values = np.zeros((n, 2))
    influence = np.full(n, np.nan)
    if of_means:
        for place in (0, 1):
            values[:, place] = values_of(spec.metric, data, place, spec.positive)
        a, b = _moved_by_items(spec).T
        influence = a - b
    better = values if spec.metric.greater_is_better else -values
    if not of_means:
        better = np.stack([_column(spec, place) for place in (0, 1)], axis=1)
    ids = list(range(n)) if data.ids is None else data.ids.tolist()
    truth = [None] * n if data.truth is None else [data.labels[code] for code in data.truth]
    return _Found(
        ids=ids,
        named=data.ids is not None,
        cell=np.arange(n),
        truth=truth,
        a=_column(spec, 0).tolist(),
        b=_column(spec, 1).tolist(),
        right=better,
        influence=influence,
        tells=of_means,
    )


def _column(spec: ScoreSpec, place: int) -> FloatArray:
    """Return one number an item: the score, or the probability of what is true."""
    data: Scores = spec.data
    score = metric_values(spec.metric, data.values[place])
    if score.ndim == 1 or data.truth is None:
        return score
    truth, chances = probabilities(data, place, spec.positive)
    return chances[np.arange(len(truth)), truth]


def _given(columns: object, found: _Found) -> dict[str, Mapping[Any, object]]:
    """Return what was given of items by their id, name by name."""
    if columns is None:
        return {}
    if not isinstance(columns, Mapping):
        raise UsageError(f"{param('columns')} must be columns by name, {{'text': …}}")
    return {str(name): _by_id(str(name), values, found) for name, values in columns.items()}


def _by_id(name: str, values: Any, found: _Found) -> Mapping[Any, object]:
    if isinstance(values, Mapping):
        return values
    if found.named and hasattr(values, "index") and hasattr(values, "to_dict"):
        by_index: Mapping[Any, object] = values.to_dict()
        return by_index
    if found.named or isinstance(values, (str, bytes)) or not hasattr(values, "__len__"):
        raise UsageError(
            f"{param('columns')} must say by id what {name!r} is of these items, e.g. "
            "dict(zip(ids, texts)), or a series whose index is the ids"
        )
    if len(values) != len(found.ids):
        raise UsageError(
            f"column {name!r} has {len(values)} values, and there are {len(found.ids)} items"
        )
    listed = getattr(values, "tolist", None) or getattr(values, "to_pylist", None)
    return dict(enumerate(list(values) if listed is None else listed()))


def _natural(name: str | int) -> tuple[object, ...]:
    """Return a key by which q2 comes before q10, and numbers before texts."""
    if isinstance(name, int):
        return (0, name)
    parts = re.split(r"(\d+)", name)
    return (1, *((int(part), "") if k % 2 else (0, part) for k, part in enumerate(parts)))
