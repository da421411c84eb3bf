"""``c.fragility()``: how many gold labels would have to be wrong to change the decision."""

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

# So many tables are asked, one by one, to rule out that fewer labels would do.
_MOST_TABLES = 100
# More changes than this are not all tried, only those that make somebody right.
_MOST_MOVES = 2_000
_IN_BULK = 8  # of k changes, every so many-th part is made at once
_ROUNDING = 1e-12


@written()
@dataclass(frozen=True, slots=True, kw_only=True)
class LabelChange:
    """Gold labels that are changed in the same way.

    Parameters
    ----------
    truth
        What they are; None where only right or wrong is known.
    a, b
        What the models predict; where only right or wrong is known, whether they were right.
    to
        What they would be; where only right or wrong is known, which of both would be right.
    n
        How many of them.
    """

    truth: Label | None
    a: Label
    b: Label
    to: Label | tuple[bool, bool]
    n: int


@written("names n exact n_items decision other changes=_shown_changes", kind="fragility")
@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Fragility(Tabular):
    """The fewest gold labels that would have to be wrong to change a decision.

    Parameters
    ----------
    n
        How many, if they are wrong in the most adverse way; None if no number of them would do.
    exact
        Whether fewer would not do. Else it is a number that does, and fewer might.
    n_items
        How many items there are.
    decision
        The decision.
    other
        What it would become.
    changes
        Which labels these are, and what they would be.
    names
        The names of A and of B.

    Examples
    --------
    >>> import outperform as op
    >>> seen = op.Outcomes.from_counts([1, 1, 1, 0], {"new": [1, 0, 1, 0], "old": [0, 1, 1, 0]},
    ...                                [30, 9, 100, 61])
    >>> c = op.compare(seen, "new", "old", metric="accuracy", rope=0.02)
    >>> found = c.fragility()
    >>> found.n, found.exact, found.other.symbol
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
        """Which share of all labels that is."""
        return None if self.n is None else self.n / self.n_items

    def table(self) -> Table:
        """Return the changes, one row for each kind."""
        a, b = self.names
        known = any(one.truth is not None for one in self.changes)
        columns = [text_column("truth", "gold")] if known else []
        said = "says" if known else "was right"
        columns += [text_column("a", f"{a} {said}"), text_column("b", f"{b} {said}")]
        columns += [text_column("to", "would be"), count_column("n", "items")]
        rows = [
            {"truth": one.truth, "a": one.a, "b": one.b, "to": self._to(one), "n": one.n}
            for one in self.changes
        ]
        return Table(tuple(columns), tuple(rows), title=self.headline)

    @property
    def _shown_changes(self) -> tuple[LabelChange, ...]:
        """Which labels these are, and what they would be, in words if need be."""
        return tuple(replace(one, to=self._to(one)) for one in self.changes)

    def _to(self, change: LabelChange) -> Label:
        if not isinstance(change.to, tuple):
            return change.to
        right = [name for name, one in zip(self.names, change.to, strict=True) if one]
        return f"{' and '.join(right) or 'neither'} right"

    @property
    def headline(self) -> str:
        """How many labels, and what the decision would become, in a sentence."""
        now = f"{self.decision.symbol} {self.decision.words}"
        if self.n is None or self.other is None:
            return f"No number of wrong gold labels was found that would change {now}."
        share = f"{100 * self.n / self.n_items:.2g}%"
        labels = n_of(self.n, "wrong gold labels")
        then = f"{self.other.symbol} {self.other.words}"
        fewer = f"; {self.n - 1:,} could not." if self.exact else "; fewer might do."
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


Cell = tuple[int, ...]  # the truth and both predictions, in codes of the data


class _Move(NamedTuple):
    """Items that go from one cell to another one, and how far each moves the difference."""

    start: Cell
    stop: Cell
    n: int
    effect: float = 0.0


class _Search:
    """The tables that changed gold labels would give, and what each of them decides."""

    def __init__(self, own: Compared, spec: LabelSpec) -> None:
        self.own, self.spec = own, spec
        table = spec.data.tables[0]
        cells: list[Cell] = [tuple(cell) for cell in table.cells.tolist()]
        self.counts = dict(zip(cells, map(int, table.counts.tolist()), strict=True))
        self.classes = true_codes(spec.data).tolist()
        self.correct = spec.data.kind == "correct"

    def ends(self, cell: Cell) -> list[Cell]:
        """Return where an item of a cell goes if its gold label is another one."""
        truth, a, b = cell
        if not self.correct:
            return [(one, a, b) for one in self.classes if one != truth]
        # Whoever was right with the wrong label is wrong with another one.
        known = {(1, 1): [(0, 0)], (1, 0): [(0, 1), (0, 0)], (0, 1): [(1, 0), (0, 0)]}
        return [(1, *one) for one in known.get((a, b), [(1, 0), (0, 1), (1, 1)])]

    def decide(self, moves: Sequence[_Move]) -> Decision:
        """Return the decision after some moves; the classes averaged over stay."""
        own, spec = self.own, self.spec
        data = replace(spec.data, tables=(self._table(moves),), _items=None, _repeated=())
        asked = replace(again(spec, data), classes=spec.classes)
        hdi, posterior = self._posterior(asked)
        masses = masses_of(posterior, own.rope)
        decision = decide(hdi, own.rope, masses, greater_is_better=spec.metric.greater_is_better)
        return disagreements.allow(asked, decision, hdi)[0]

    def _posterior(self, asked: LabelSpec) -> tuple[Interval, FloatArray | Distribution]:
        """Return the HDI, and the closed form if there is one, else sorted draws."""
        own, prob = self.own, self.own.hdi.prob
        exact = engine.with_forms(asked, np.zeros((2, 1))).of_difference if own.exact else None
        if exact is not None:
            low, high = exact_hdi(exact, prob)
            return Interval(low=low, high=high, prob=prob), exact
        (answered,) = engine.answer([asked], Sampling(own.draws.size, own.seed, -1))
        a, b = answered.values
        ordered = np.sort(a - b)
        return summarize(ordered, None, prob).hdi, ordered

    def _table(self, moves: Sequence[_Move]) -> Counts:
        counts = dict(self.counts)
        for one in moves:
            counts[one.start] -= one.n
            counts[one.stop] = counts.get(one.stop, 0) + one.n
        cells = sorted(cell for cell, n in counts.items() if n)
        return Counts(np.array(cells), np.array([counts[cell] for cell in cells]))

    def path(self, sign: float) -> Iterator[_Move]:
        """Yield moves, each the one that moves the observed difference most, up or down.

        No label is changed twice. Where many are changed, several are taken at a time: their
        effects hardly depend on each other.
        """
        left, moves = dict(self.counts), list[_Move]()
        while ranked := self._ranked(moves, left, sign):
            several = max(1, _length(moves) // _IN_BULK)
            for one in ranked:
                n = min(left[one.start], several)
                if n:
                    left[one.start] -= n
                    several -= n
                    moves.append(one._replace(n=n))
                    yield moves[-1]

    def _ranked(self, moves: list[_Move], left: dict[Cell, int], sign: float) -> list[_Move]:
        """Return the changes that move the difference in a direction, the steepest first."""
        tried = [(cell, end) for cell, n in left.items() if n for end in self._tried(cell)]
        if not tried:
            return []
        codes, n_labels = changes.view_codes(self.spec), self.spec.view.n_classes
        table = self._table(moves).recode(codes, n_labels=n_labels)
        now = replace(self.spec, view=replace(self.spec.view, tables=(table,)))
        starts, stops = np.array(tried).transpose(1, 0, 2)
        after = changes.differences(now, starts, stops)
        effects = sign * (after - changes.differences(now, starts[:1], starts[:1])[0])
        order = np.argsort(-effects, kind="stable")
        steep = [k for k in order.tolist() if effects[k] > _ROUNDING]
        return [_Move(tried[k][0], tried[k][1], 1, float(effects[k])) for k in steep]

    def _tried(self, cell: Cell) -> list[Cell]:
        """Return the ends that are tried: all of few, else those that make somebody right."""
        ends = self.ends(cell)
        if self.correct or len(self.counts) * len(self.classes) <= _MOST_MOVES:
            return ends
        return [end for end in ends if end[0] in end[1:]]


def fragility(own: Compared) -> Fragility:
    """Return the fewest gold labels that would have to be wrong to change the decision."""
    spec = _checked(own)
    search = _Search(own, spec)
    better = 1.0 if spec.metric.greater_is_better else -1.0
    only = {Decision.BETTER: [-better], Decision.WORSE: [better]}
    found = [
        one
        for sign in only.get(own.decision, [-1.0, 1.0])
        if (one := _along(search, sign)) is not None
    ]
    best = min(found, key=_length, default=None)
    exact = best is not None and _length(best) == 1
    if not exact and own.exact and _is_accuracy(spec) and best is not None:
        best, exact = _ruled_out(search, best)
    return Fragility(
        n=None if best is None else _length(best),
        exact=exact,
        n_items=spec.n,
        decision=own.decision,
        other=None if best is None else search.decide(best),
        changes=() if best is None else tuple(_change(spec, one) for one in _merged(best)),
        names=own.names,
    )


def _checked(own: Compared) -> LabelSpec:
    spec, asked_by = counted(own.spec), verb_of(own.details)
    data = spec.data
    why = None
    if asked_by != "compare":
        why = f"{asked_by} counts items more than once, or has more than two models"
    elif data.kind not in ("classes", "correct"):
        why = "spans and label sets have more than one label an item"
    elif not spec.view.paired:
        why = "that needs both models' predictions for the same items, paired"
    elif data.groups is not None or data.pool is not None or data.prevalence is not None:
        why = (
            "where items have groups, weights, a pool or other class proportions, one wrong label "
            "weighs more than another, so that their number alone decides nothing"
        )
    elif spec.view_errors is not None:
        why = "this one takes some to be wrong already; ask with_label_errors(None)"
    elif own.chain is not None:
        why = "a chain would have to run again for each of them"
    if why is not None:
        raise UsageError(f"fragility() asks the comparison again with other gold labels; {why}")
    return spec


def _is_accuracy(spec: LabelSpec) -> bool:
    form = spec.share
    return spec.data.kind == "correct" or (
        form is not None and {*form.parts} <= {"correct", "wrong"}
    )


def _length(moves: Sequence[_Move]) -> int:
    return sum(one.n for one in moves)


def _along(search: _Search, sign: float) -> list[_Move] | None:
    """Return the fewest moves of a path that change the decision; None if its end does not.

    The interval moves about as far as the observed difference, which tells where to begin.
    """
    path, far = search.path(sign), abs(room(search.own, sign))
    moves: list[_Move] = []
    for one in path:
        moves.append(one)
        if sum(move.n * move.effect for move in moves) >= far:
            break

    def changed(k: int) -> bool:
        while _length(moves) < k and (one := next(path, None)) is not None:
            moves.append(one)
        return search.decide(_first(moves, k)) is not search.own.decision

    if not moves:
        return None
    low, high, step = 0, _length(moves), 1
    while not changed(high):  # upwards until it changes
        if _length(moves) < high:
            return None  # no label is left that would do more
        low, high, step = high, high + step, 2 * step
    while low == 0 and step < high:  # downwards until it does not
        low, high = (0, high - step) if changed(high - step) else (high - step, high)
        step *= 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if changed(middle) else (middle, high)
    return _first(moves, high)


def _first(moves: Sequence[_Move], k: int) -> list[_Move]:
    kept: list[_Move] = []
    for one in moves:
        if k > 0:
            kept.append(one._replace(n=min(one.n, k)))
            k -= kept[-1].n
    return kept


def _ruled_out(search: _Search, best: list[_Move]) -> tuple[list[_Move], bool]:
    """Return the fewest moves, and whether every table with fewer was asked.

    The exact posterior of a difference of accuracies depends on two counts, of items that only A
    and that only B got right, so each pair of these is asked once, the cheapest first.
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
        if search.decide(moves) is not search.own.decision:
            return moves, True
    return best, True


class _Kinds(NamedTuple):
    """Cells whose items only A, only B and neither got right, and where these may go.

    Each is there as often as it has items, up to the most that may be changed. Items on which
    both models say the same are left out: another gold label makes no difference of theirs.
    """

    only: tuple[list[Cell], list[Cell]]
    neither: list[Cell]
    ends: Callable[[Cell, tuple[bool, bool]], Cell | None]
    can_drop: bool  # whether a label can be changed so that neither is right


def _right(cell: Cell) -> tuple[bool, bool]:
    return cell[0] == cell[1], cell[0] == cell[2]


def _by_kind(search: _Search, most: int) -> _Kinds | None:
    """Return the cells that matter; None where not every prediction can be a gold label."""

    def ends(cell: Cell, right: tuple[bool, bool]) -> Cell | None:
        return next((end for end in search.ends(cell) if _right(end) == right), None)

    apart = [
        cell for cell, n in search.counts.items() if n and (search.correct or cell[1] != cell[2])
    ]
    known = {*search.classes}
    if not search.correct and not all({*cell[1:]} <= known for cell in apart):
        return None

    def of(right: tuple[bool, bool]) -> list[Cell]:
        cells = [cell for cell in apart if _right(cell) == right]
        return [cell for cell in cells for _ in range(min(search.counts[cell], most))]

    return _Kinds(
        (of((True, False)), of((False, True))),
        of((False, False)),
        ends,
        search.correct or len(known) > 2,
    )


def _cost(gained: tuple[int, int]) -> int:
    """Return how many labels change two counts so: one for both, if one gains what one loses.

    Examples
    --------
    >>> _cost((-2, 3)), _cost((1, 2)), _cost((-2, -1))
    (3, 3, 3)
    """
    a, b = gained
    return max(abs(a), abs(b)) if (a < 0) != (b < 0) and a and b else abs(a) + abs(b)


def _states(kinds: _Kinds, most: int) -> Iterator[tuple[int, int]]:
    """Yield by how much both counts can change with at most so many labels."""
    for a in range(-most, most + 1):
        for b in range(-most, most + 1):
            taken = [max(-a, 0), max(-b, 0)]
            spare = a + b  # from those that neither got right, or to them
            fits = all(n <= len(own) for n, own in zip(taken, kinds.only, strict=True))
            fits &= spare <= len(kinds.neither) and (spare >= 0 or kinds.can_drop)
            if fits and 0 < _cost((a, b)) <= most:
                yield a, b


def _moves_to(kinds: _Kinds, gained: tuple[int, int]) -> list[_Move]:
    """Return the fewest moves that change both counts so."""
    aims = ((True, False), (False, True))
    lost = [cell for n, own in zip(gained, kinds.only, strict=True) for cell in own[: max(-n, 0)]]
    wanted = [aim for n, aim in zip(gained, aims, strict=True) for _ in range(max(n, 0))]
    spare = len(wanted) - len(lost)
    starts = [*lost, *kinds.neither[: max(spare, 0)]]
    wanted += [(False, False)] * max(-spare, 0)
    moves = []
    for start, aim in zip(starts, wanted, strict=True):
        end = kinds.ends(start, aim)
        assert end is not None
        moves.append(_Move(start, end, 1))
    return moves


def _merged(moves: Sequence[_Move]) -> list[_Move]:
    sums: dict[tuple[Cell, Cell], int] = {}
    for one in moves:
        sums[one.start, one.stop] = sums.get((one.start, one.stop), 0) + one.n
    return [_Move(start, stop, n) for (start, stop), n in sums.items()]


def _change(spec: LabelSpec, move: _Move) -> LabelChange:
    labels = spec.data.labels
    truth, a, b = (labels[code] for code in move.start)
    if spec.data.kind == "correct":
        to = (bool(move.stop[1]), bool(move.stop[2]))
        return LabelChange(truth=None, a=a, b=b, to=to, n=move.n)
    return LabelChange(truth=truth, a=a, b=b, to=labels[move.stop[0]], n=move.n)
