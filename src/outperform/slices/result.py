"""The answer of many slices: rows in the order of concern, what is called, and doubts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from outperform import present
from outperform.comparison.result import Comparison
from outperform.comparison.summary import finding_facts, interval_facts, question_facts
from outperform.comparison.tabular import Tabular
from outperform.decision import Decision, Rope
from outperform.errors import UsageError, unknown_name
from outperform.findings import Finding
from outperform.slices.concluding import count_decisions
from outperform.slices.row import SliceRow

_IN_TEXT = 10
_IN_FOREST = 20


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class SliceComparison(Tabular):
    """A − B in every slice, the most concerning first.

    The rows are in the order of the probability that A is worse than B by more than the
    ROPE; among equals the worse mean comes first.

    Parameters
    ----------
    by
        The columns that divide the documents.
    rows
        One for each slice.
    whole
        The comparison on all documents.
    n_draws
        How many draws each slice rests on.
    findings
        Doubts.
    signature
        What makes the result repeatable.

    Examples
    --------
    >>> import outperform as op
    >>> y, day = [1, 0] * 300, ["Mon"] * 300 + ["Tue"] * 300
    >>> seen = op.Outcomes.from_labels(y, {"new": [1, 0] * 200 + [0, 0] * 100, "old": y},
    ...                                by={"day": day})
    >>> slices = op.compare_slices(seen, "new", "old", metric="recall", rope=0.02, random_state=1)
    >>> len(slices), slices["Tue"].decision.symbol
    (2, '≪')
    """

    by: tuple[str, ...]
    rows: tuple[SliceRow, ...]
    whole: Comparison
    n_draws: int
    findings: tuple[Finding, ...]
    signature: str

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[SliceRow]:
        return iter(self.rows)

    def __getitem__(self, key: str | tuple[object, ...]) -> SliceRow:
        wanted = tuple(map(str, key if isinstance(key, tuple) else (key,)))
        if len(wanted) != len(self.by):
            raise UsageError(f"a slice has a value for each of {self.by}; got {wanted}")
        if wanted not in self._places:
            known = [", ".join(row.key) for row in self.rows[:_IN_TEXT]]
            raise UsageError(unknown_name("slice", ", ".join(wanted), known))
        return self.rows[self._places[wanted]]

    @cached_property
    def _places(self) -> dict[tuple[str, ...], int]:
        return {row.key: place for place, row in enumerate(self.rows)}

    # What the slices say together

    @property
    def names(self) -> tuple[str, str]:
        """The names of A and of B."""
        return self.whole.names

    @property
    def metric(self) -> str:
        """The metric's name."""
        return self.whole.metric

    @property
    def rope(self) -> Rope:
        """The region of practical equivalence."""
        return self.whole.rope

    @property
    def called(self) -> tuple[SliceRow, ...]:
        """The slices whose verdict is better or worse, the most concerning first."""
        return tuple(row for row in self.rows if row.called)

    @cached_property
    def counts(self) -> dict[Decision, int]:
        """How many slices have each verdict."""
        return count_decisions(self.rows)

    @property
    def expected_wrong(self) -> float:
        """How many of the slices called better or worse are expected to be neither.

        The sum over the slices called of ``1 − P(what was called)``.
        """
        return float(sum(row.p_wrong for row in self.rows))

    # Words, tables, pictures

    def table(self, top: int | None = None) -> present.Table:
        """Return one row a slice.

        Parameters
        ----------
        top
            How many of the most concerning slices; all if None.
        """
        return present.slices_table(self._facts(), self._row_facts(top))

    def text(self, top: int | None = _IN_TEXT) -> str:
        """Return the answer for a terminal.

        Parameters
        ----------
        top
            How many of the most concerning slices; all if None.
        """
        return present.slices_text(self._facts(), self._row_facts(top))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, with a schema version."""
        return {**self._facts(), "rows": self._row_facts(None)}

    def _facts(self) -> dict[str, Any]:
        return {
            "schema": 1,
            "kind": "slices",
            "by": list(self.by),
            "names": list(self.names),
            **question_facts(self.whole.question),
            "rope": {"low": self.rope.low, "high": self.rope.high, "default": self.rope.default},
            "hdi_prob": self.whole.hdi.prob,
            "n_draws": self.n_draws,
            "n_slices": len(self.rows),
            "counts": {decision.name: count for decision, count in self.counts.items()},
            "expected_wrong": self.expected_wrong,
            "whole": self.whole.to_dict(),
            "findings": finding_facts(self.findings),
            "signature": self.signature,
        }

    def _row_facts(self, top: int | None) -> list[dict[str, Any]]:
        return [_facts_of(row) for row in self.rows[:top]]

    def plot(self, ax: Any = None, *, top: int = _IN_FOREST) -> Any:
        """Draw the intervals of the most concerning slices, one a row, with their verdicts.

        Parameters
        ----------
        ax
            Axes to draw into; new ones if None. They are returned.
        top
            How many slices.
        """
        rope = {"low": self.rope.low, "high": self.rope.high}
        rows = [
            {**facts, "key": ", ".join(facts["key"]), "rope": rope}
            for facts in self._row_facts(top)
        ]
        label = self.whole.question.metric.label
        return present.plot_forest(rows, names=self.names, metric=label, ax=ax)

    def _latex_label(self) -> str:
        return present.latex_label(*self.names, self.metric, "by", *self.by)

    def _repr_html_(self) -> str:
        return self.table(_IN_FOREST).to_html()

    def __repr__(self) -> str:
        facts = {
            "names": self.names,
            "n_slices": len(self.rows),
            "counts": {decision.name: count for decision, count in self.counts.items()},
            "expected_wrong": self.expected_wrong,
        }
        return f"SliceComparison({present.slices_headline(facts)})"

    def __str__(self) -> str:
        return self.text()


def _facts_of(row: SliceRow) -> dict[str, Any]:
    names = (
        "n", "observed_a", "observed_b", "observed", "mean", "sd", "mcse", "p_worse",
        "p_equivalent", "p_better", "p_greater", "errors", "like_whole", "coarse",
    )  # fmt: skip
    return {
        "key": list(row.key),
        **{name: getattr(row, name) for name in names},
        "hdi": interval_facts(row.hdi),
        "decision": {
            "name": row.decision.name,
            "symbol": row.decision.symbol,
            "words": row.decision.words,
        },
    }
