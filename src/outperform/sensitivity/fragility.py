"""``c.fragility()``: the number of wrong gold labels that would change the decision."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from outperform._json import written
from outperform._typing import Distribution, FloatArray, Label
from outperform.comparison.items import room
from outperform.data.outcomes import true_codes
from outperform.data.table import Table as Counts
from outperform.decision.hdi import exact_hdi
from outperform.decision.intervals import Interval
from outperform.decision.rope import Decision, decide, masses_of
from outperform.display.document import Document, Rows
from outperform.display.formats import count_column, text_column
from outperform.display.numbers import for_text
from outperform.display.table import Table
from outperform.errors import UsageError
from outperform.findings import counted as n_of
from outperform.inference import changes, disagreements, engine
from outperform.inference.question import Sampling
from outperform.inference.spec import LabelSpec, again, counted
from outperform.inference.summary import summarize
from outperform.results.base import Tabular
from outperform.results.compared import Compared, verb_of

# At most this many tables are checked to rule out that fewer labels are enough.
_MOST_TABLES = 100
# If there are more possible changes than this, only those that make a model right are tried.
_MOST_MOVES = 2_000
_IN_BULK = 8  # after k changes, the next k / 8 are made in one step
_ROUNDING = 1e-12


@written()
@dataclass(frozen=True, slots=True, kw_only=True)
class LabelChange:
    """Gold labels that are changed in the same way.

    Parameters
    ----------
    truth
        Current value; None if the data record only right or wrong.
    a, b
        The models' predictions, or whether they were right if the data record only that.
    to
        New value, or whether each model would be right if the data record only that.
    n
        Number of labels.
    """

    truth: Label | None
    a: Label
    b: Label
    to: Label | tuple[bool, bool]
    n: int


@written("names n exact n_items decision other changes=_shown_changes", kind="fragility")
@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Fragility(Tabular):
    """Smallest number of gold labels that would have to be wrong to change a decision.

    Parameters
    ----------
    n
        Number of labels in the worst case; None if no number is enough.
    exact
        Whether ``n`` is proved to be the minimum. Otherwise it is an upper bound.
    n_items
        Number of items.
    decision
        The decision.
    other
        Decision after the changes.
    changes
        The labels and their new values.
    names
        Names of A and B.

    Examples
    --------
    >>> import outperform as op
    >>> predictions = {"new": [1, 0, 1, 0], "old": [0, 1, 1, 0]}
    >>> outcomes = op.Outcomes.from_counts([1, 1, 1, 0], predictions, [30, 9, 100, 61])
    >>> c = op.compare(outcomes, "new", "old", metric="accuracy", rope=0.02)
    >>> fragility = c.fragility()
    >>> fragility.n, fragility.exact, fragility.other.symbol
    (3, True, '>')
    """

    n: int | None
    exact: bool
    n_items: int
    decision: Decision
    other: Decision | None
    changes: tuple[LabelChange, ...]
    names: tuple[str, str]

    @property
    def share(self) -> float | None:
        """``n`` as a share of all labels."""
        return None if self.n is None else self.n / self.n_items

    def table(self) -> Table:
        """Return the changes, one row per kind."""
        a, b = self.names
        known = any(change.truth is not None for change in self.changes)
        columns = [text_column("truth", "gold")] if known else []
        was_right = "" if known else " was right"
        columns += [text_column("a", f"{a}{was_right}"), text_column("b", f"{b}{was_right}")]
        columns += [text_column("to", "would be"), count_column("n", "items")]
        rows = [
            {"truth": each.truth, "a": each.a, "b": each.b, "to": self._to(each), "n": each.n}
            for each in self.changes
        ]
        return Table(tuple(columns), tuple(rows), title=self.headline)

    @property
    def _shown_changes(self) -> tuple[LabelChange, ...]:
        """Labels and their new values, as text if the data only record right or wrong."""
        return tuple(replace(change, to=self._to(change)) for change in self.changes)

    def _to(self, change: LabelChange) -> Label:
        if not isinstance(change.to, tuple):
            return change.to
        right = [name for name, is_right in zip(self.names, change.to, strict=True) if is_right]
        return f"{' and '.join(right) or 'neither'} right"

    @property
    def headline(self) -> str:
        """Number of labels and the changed decision, as a sentence."""
        now = f"{self.decision.symbol} {self.decision.words}"
        if self.n is None or self.other is None:
            return f"No number of wrong gold labels is known to change {now}."
        share = f"{100 * self.n / self.n_items:.2g}%"
        labels = n_of(self.n, "wrong gold labels")
        then = f"{self.other.symbol} {self.other.words}"
        fewer = (
            f"; {self.n - 1:,} would not be enough." if self.exact else "; fewer might be enough."
        )
        fewer = "." if self.n == 1 else fewer
        return f"{labels} of {self.n_items:,} ({share}) could turn {now} into {then}{fewer}"

    def _document(self) -> Document:
        table = replace(self.table(), title=None)
        return Document(
            headline=for_text(self.headline),
            screen=[Rows(table=table)] if self.changes else [],
            table=table,
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.headline})"


Cell = tuple[int, ...]  # codes of the true label and both predictions


class _Move(NamedTuple):
    """Items that move from one cell to another, and the effect of each on the difference."""

    start: Cell
    stop: Cell
    n: int
    effect: float = 0.0


class _Search:
    """Tables after changes to gold labels, and the decision for each."""

    def __init__(self, comparison: Compared, spec: LabelSpec) -> None:
        self.comparison, self.spec = comparison, spec
        table = spec.data.tables[0]
        cells: list[Cell] = [tuple(cell) for cell in table.cells.tolist()]
        self.counts = dict(zip(cells, map(int, table.counts.tolist()), strict=True))
        self.classes = true_codes(spec.data).tolist()
        self.correct = spec.data.kind == "correct"

    def ends(self, cell: Cell) -> list[Cell]:
        """Return the cells that an item can move to if its gold label changes."""
        truth, a, b = cell
        if not self.correct:
            return [(label, a, b) for label in self.classes if label != truth]
        # A model that agreed with the wrong label disagrees with every other label.
        known = {(1, 1): [(0, 0)], (1, 0): [(0, 1), (0, 0)], (0, 1): [(1, 0), (0, 0)]}
        return [(1, *right) for right in known.get((a, b), [(1, 0), (0, 1), (1, 1)])]

    def decide(self, moves: Sequence[_Move]) -> Decision:
        """Return the decision after some moves, averaged over the same classes."""
        comparison, spec = self.comparison, self.spec
        data = replace(spec.data, tables=(self._table(moves),), _items=None, _repeated=())
        changed = replace(again(spec, data), classes=spec.classes)
        hdi, posterior = self._posterior(changed)
        masses = masses_of(posterior, comparison.rope)
        decision = decide(
            hdi, comparison.rope, masses, greater_is_better=spec.metric.greater_is_better
        )
        return disagreements.allow(changed, decision, hdi)[0]

    def _posterior(self, changed: LabelSpec) -> tuple[Interval, FloatArray | Distribution]:
        """Return the HDI, and the closed form if there is one, otherwise sorted draws."""
        comparison, prob = self.comparison, self.comparison.hdi.prob
        exact = (
            engine.with_forms(changed, np.zeros((2, 1))).of_difference if comparison.exact else None
        )
        if exact is not None:
            low, high = exact_hdi(exact, prob)
            return Interval(low=low, high=high, prob=prob), exact
        (answered,) = engine.answer([changed], Sampling(comparison.draws.size, comparison.seed, -1))
        a, b = answered.values
        ordered = np.sort(a - b)
        return summarize(ordered, None, prob).hdi, ordered

    def _table(self, moves: Sequence[_Move]) -> Counts:
        counts = dict(self.counts)
        for move in moves:
            counts[move.start] -= move.n
            counts[move.stop] = counts.get(move.stop, 0) + move.n
        cells = sorted(cell for cell, n in counts.items() if n)
        return Counts(np.array(cells), np.array([counts[cell] for cell in cells]))

    def path(self, sign: float) -> Iterator[_Move]:
        """Yield the moves up or down with the largest effect on the difference.

        No label is changed twice. After many changes, several are made at a time, because their
        effects barely depend on each other.
        """
        left, moves = dict(self.counts), list[_Move]()
        while ranked := self._ranked(moves, left, sign):
            several = max(1, _length(moves) // _IN_BULK)
            for move in ranked:
                n = min(left[move.start], several)
                if n:
                    left[move.start] -= n
                    several -= n
                    moves.append(move._replace(n=n))
                    yield moves[-1]

    def _ranked(self, moves: list[_Move], left: dict[Cell, int], sign: float) -> list[_Move]:
        """Return the changes that move the difference in one direction, largest first."""
        tried = [(cell, end) for cell, n in left.items() if n for end in self._tried(cell)]
        if not tried:
            return []
        codes, n_labels = changes.view_codes(self.spec), self.spec.view.n_classes
        table = self._table(moves).recode(codes, n_labels=n_labels)
        current = replace(self.spec, view=replace(self.spec.view, tables=(table,)))
        starts, stops = np.array(tried).transpose(1, 0, 2)
        after = changes.differences(current, starts, stops)
        effects = sign * (after - changes.differences(current, starts[:1], starts[:1])[0])
        order = np.argsort(-effects, kind="stable")
        steep = [k for k in order.tolist() if effects[k] > _ROUNDING]
        return [_Move(tried[k][0], tried[k][1], 1, float(effects[k])) for k in steep]

    def _tried(self, cell: Cell) -> list[Cell]:
        """Return the cells to try: all if there are few, otherwise those where a model is right."""
        ends = self.ends(cell)
        if self.correct or len(self.counts) * len(self.classes) <= _MOST_MOVES:
            return ends
        return [end for end in ends if end[0] in end[1:]]


def fragility(comparison: Compared) -> Fragility:
    """Return the minimum number of wrong gold labels that would change the decision."""
    spec = _checked(comparison)
    search = _Search(comparison, spec)
    better = 1.0 if spec.metric.greater_is_better else -1.0
    only = {Decision.BETTER: [-better], Decision.WORSE: [better]}
    paths = [_along(search, sign) for sign in only.get(comparison.decision, [-1.0, 1.0])]
    best = min((path for path in paths if path is not None), key=_length, default=None)
    exact = best is not None and _length(best) == 1
    if not exact and comparison.exact and _is_accuracy(spec) and best is not None:
        best, exact = _ruled_out(search, best)
    return Fragility(
        n=None if best is None else _length(best),
        exact=exact,
        n_items=spec.n,
        decision=comparison.decision,
        other=None if best is None else search.decide(best),
        changes=() if best is None else tuple(_change(spec, move) for move in _merged(best)),
        names=comparison.names,
    )


def _checked(comparison: Compared) -> LabelSpec:
    spec, verb = counted(comparison.spec), verb_of(comparison.details)
    data = spec.data
    why = None
    if verb != "compare":
        why = f"{verb} counts items more than once, or has more than two models"
    elif data.kind not in ("classes", "correct"):
        why = "spans and label sets have several labels per item"
    elif not spec.view.paired:
        why = "this needs both models' predictions for the same items, paired"
    elif data.groups is not None or data.pool is not None or data.prevalence is not None:
        why = (
            "with groups, weights, a pool or other class proportions, wrong labels have different "
            "weights, so their number is not meaningful"
        )
    elif spec.view_errors is not None:
        why = "this comparison already assumes label errors; use with_label_errors(None)"
    elif comparison.chain is not None:
        why = "the chain would have to be rerun for each change"
    if why is not None:
        raise UsageError(f"fragility() repeats the comparison with other gold labels; {why}")
    return spec


def _is_accuracy(spec: LabelSpec) -> bool:
    form = spec.share
    return spec.data.kind == "correct" or (
        form is not None and {*form.parts} <= {"correct", "wrong"}
    )


def _length(moves: Sequence[_Move]) -> int:
    return sum(move.n for move in moves)


def _along(search: _Search, sign: float) -> list[_Move] | None:
    """Return the fewest moves of a path that change the decision; None if no number does.

    The interval moves about as far as the observed difference, so that gives a starting point.
    """
    path, far = search.path(sign), abs(room(search.comparison, sign))
    moves: list[_Move] = []
    for move in path:
        moves.append(move)
        if sum(each.n * each.effect for each in moves) >= far:
            break

    def changed(k: int) -> bool:
        while _length(moves) < k and (following := next(path, None)) is not None:
            moves.append(following)
        return search.decide(_first(moves, k)) is not search.comparison.decision

    if not moves:
        return None
    low, high, step = 0, _length(moves), 1
    while not changed(high):  # increase until the decision changes
        if _length(moves) < high:
            return None  # no remaining label can change the difference
        low, high, step = high, high + step, 2 * step
    while low == 0 and step < high:  # decrease until it no longer changes
        low, high = (0, high - step) if changed(high - step) else (high - step, high)
        step *= 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if changed(middle) else (middle, high)
    return _first(moves, high)


def _first(moves: Sequence[_Move], k: int) -> list[_Move]:
    first: list[_Move] = []
    for move in moves:
        if k > 0:
            first.append(move._replace(n=min(move.n, k)))
            k -= first[-1].n
    return first


def _ruled_out(search: _Search, best: list[_Move]) -> tuple[list[_Move], bool]:
    """Return the smallest number of moves, and whether all tables with fewer were checked.

    The exact posterior of a difference in accuracy depends on two counts: items that only A got
    right and items that only B got right. Each pair of counts is checked once, starting with the
    fewest labels.
    """
    most = _length(best) - 1
    kinds = _by_kind(search, most)
    if kinds is None:
        return best, False
    states = list(itertools.islice(_states(kinds, most), _MOST_TABLES + 1))
    if len(states) > _MOST_TABLES:
        return best, False
    for gained in sorted(states, key=_cost):
        moves = _moves_to(kinds, gained)
        if search.decide(moves) is not search.comparison.decision:
            return moves, True
    return best, True


class _Kinds(NamedTuple):
    """Cells of items that only A, only B or neither got right, with their possible moves.

    Each cell is listed once per item, up to the maximum number of changes. Items with equal
    predictions are omitted, because their gold labels do not affect the difference.
    """

    only: tuple[list[Cell], list[Cell]]
    neither: list[Cell]
    ends: Callable[[Cell, tuple[bool, bool]], Cell | None]
    can_drop: bool  # whether a label can be changed so that neither model is right


def _right(cell: Cell) -> tuple[bool, bool]:
    return cell[0] == cell[1], cell[0] == cell[2]


def _by_kind(search: _Search, most: int) -> _Kinds | None:
    """Return the relevant cells; None if some predictions cannot be gold labels."""

    def ends(cell: Cell, right: tuple[bool, bool]) -> Cell | None:
        return next((end for end in search.ends(cell) if _right(end) == right), None)

    disagreeing = [
        cell for cell, n in search.counts.items() if n and (search.correct or cell[1] != cell[2])
    ]
    classes = {*search.classes}
    if not search.correct and not all({*cell[1:]} <= classes for cell in disagreeing):
        return None

    def cells_of(right: tuple[bool, bool]) -> list[Cell]:
        cells = [cell for cell in disagreeing if _right(cell) == right]
        return [cell for cell in cells for _ in range(min(search.counts[cell], most))]

    return _Kinds(
        (cells_of((True, False)), cells_of((False, True))),
        cells_of((False, False)),
        ends,
        search.correct or len(classes) > 2,
    )


def _cost(gained: tuple[int, int]) -> int:
    """Return the number of labels for two count changes; one label can change both counts.

    Examples
    --------
    >>> _cost((-2, 3)), _cost((1, 2)), _cost((-2, -1))
    (3, 3, 3)
    """
    a, b = gained
    return max(abs(a), abs(b)) if (a < 0) != (b < 0) and a and b else abs(a) + abs(b)


def _states(kinds: _Kinds, most: int) -> Iterator[tuple[int, int]]:
    """Yield the possible changes of both counts with at most the given number of labels."""
    for a in range(-most, most + 1):
        for b in range(-most, most + 1):
            lost = [max(-a, 0), max(-b, 0)]
            spare = a + b  # items that move from or to the cells where neither model is right
            fits = all(n <= len(cells) for n, cells in zip(lost, kinds.only, strict=True))
            fits &= spare <= len(kinds.neither) and (spare >= 0 or kinds.can_drop)
            if fits and 0 < _cost((a, b)) <= most:
                yield a, b


def _moves_to(kinds: _Kinds, gained: tuple[int, int]) -> list[_Move]:
    """Return the smallest number of moves that change both counts by these amounts."""
    aims = ((True, False), (False, True))
    sources = zip(gained, kinds.only, strict=True)
    lost = [cell for n, cells in sources for cell in cells[: max(-n, 0)]]
    targets = [aim for n, aim in zip(gained, aims, strict=True) for _ in range(max(n, 0))]
    spare = len(targets) - len(lost)
    starts = [*lost, *kinds.neither[: max(spare, 0)]]
    targets += [(False, False)] * max(-spare, 0)
    moves = []
    for start, aim in zip(starts, targets, strict=True):
        end = kinds.ends(start, aim)
        assert end is not None
        moves.append(_Move(start, end, 1))
    return moves


def _merged(moves: Sequence[_Move]) -> list[_Move]:
    sums: dict[tuple[Cell, Cell], int] = {}
    for move in moves:
        sums[move.start, move.stop] = sums.get((move.start, move.stop), 0) + move.n
    return [_Move(start, stop, n) for (start, stop), n in sums.items()]


def _change(spec: LabelSpec, move: _Move) -> LabelChange:
    labels = spec.data.labels
    truth, a, b = (labels[code] for code in move.start)
    if spec.data.kind == "correct":
        to = (bool(move.stop[1]), bool(move.stop[2]))
        return LabelChange(truth=None, a=a, b=b, to=to, n=move.n)
    return LabelChange(truth=truth, a=a, b=b, to=labels[move.stop[0]], n=move.n)
