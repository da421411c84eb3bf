"""``SliceComparison``: the slices, most concerning first, as text and tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from outperform._json import Json, to_json, written
from outperform._typing import Axes, FigureSize
from outperform.comparison.result import Comparison
from outperform.decision.rope import Decision, Rope
from outperform.display import facts as read
from outperform.display import numbers
from outperform.display.document import MOST_ROWS, Document, Note, Rows, brief, legend
from outperform.display.facts import Facts
from outperform.display.figure_style import SHORT_NAME
from outperform.display.forest_figure import draw_forest
from outperform.display.formats import (
    Column,
    count_column,
    latex_label,
    number_column,
    probability_column,
    signed_column,
    text_column,
)
from outperform.display.layout import Page, joined_hdi, plain, with_places
from outperform.display.numbers import for_text
from outperform.display.pictures import span
from outperform.display.sentences import after_colon, headline
from outperform.display.table import Table
from outperform.errors import UsageError, unknown_name
from outperform.findings import Finding, counted, listed
from outperform.results.base import Tabular
from outperform.slices.summary import SliceRow, count_decisions

_IN_TEXT = (
    "n", "observed", "own", "mean", "sd", "hdi", "p_worse", "p_equivalent", "p_better", "decision",
)  # fmt: skip
_FIRST = ("decision", "mean", "hdi", "n", "p_worse", "observed", "own", "p_better", "p_equivalent")
_PLACES = ("observed", "unpooled_low", "unpooled_high", "mean", "sd", "hdi_low", "hdi_high")
_OWN = (
    "n", "observed_a", "observed_b", "observed", "unpooled_low", "unpooled_high",
    "unpooled_decision", "mean", "sd", "hdi_low", "hdi_high", "p_worse", "p_equivalent",
    "p_better", "p_greater", "p_like_overall", "decision",
)  # fmt: skip


def slices_table(facts: Facts, rows: Sequence[Facts]) -> Table:
    """Return one row per slice, in the order of the rows.

    Examples
    --------
    >>> row = {"key": ["DE"], "n": 200, "observed_a": 0.8, "observed_b": 0.9, "observed": -0.1,
    ...        "mean": -0.09, "sd": 0.02, "hdi": {"low": -0.13, "high": -0.05, "prob": 0.95},
    ...        "p_worse": 1.0, "p_equivalent": 0.0, "p_better": 0.0, "p_greater": 0.0,
    ...        "p_like_overall": 0.01,
    ...        "decision": {"name": "WORSE", "symbol": "≪", "words": "worse"},
    ...        "unpooled_hdi": {"low": -0.14, "high": -0.06, "prob": 0.95},
    ...        "unpooled_decision": {"name": "WORSE", "symbol": "≪", "words": "worse"}}
    >>> facts = {"by": ["country"], "names": ["bert", "gpt"], "n_draws": 4000, "hdi_prob": 0.95}
    >>> slices_table(facts, [row])["country"]
    ('DE',)
    """
    keys = _key_names(facts["by"])
    cells = tuple(
        {
            **dict(zip(keys, row["key"], strict=True)),
            **{name: row.get(name) for name in _OWN},
            "hdi_low": row["hdi"]["low"],
            "hdi_high": row["hdi"]["high"],
            "unpooled_low": row["unpooled_hdi"]["low"],
            "unpooled_high": row["unpooled_hdi"]["high"],
            **{
                name: f"{row[name]['symbol']} {row[name]['words']}"
                for name in ("unpooled_decision", "decision")
            },
        }
        for row in rows
    )
    return Table(_columns(facts, keys), cells, title=_caption(facts))


def _key_names(by: Sequence[str]) -> list[str]:
    """Return names for the slice columns that are distinct from the other columns."""
    return [f"by_{name}" if name in _OWN else name for name in by]


def _columns(facts: Facts, keys: Sequence[str]) -> tuple[Column, ...]:
    a, b = read.names(facts)
    n_draws, hdi = facts["n_draws"], f"{numbers.percent(facts['hdi_prob'])} HDI"
    return (
        *(text_column(key, for_text(key)) for key in keys),
        count_column("n"),
        number_column("observed_a", a),
        number_column("observed_b", b),
        signed_column("observed"),
        signed_column("unpooled_low", f"unpooled {hdi} low"),
        signed_column("unpooled_high", "high"),
        text_column("unpooled_decision", "unpooled decision"),
        signed_column("mean"),
        number_column("sd"),
        signed_column("hdi_low", f"{hdi} low"),
        signed_column("hdi_high", "high"),
        probability_column("p_worse", "P(worse)", n_draws),
        probability_column("p_equivalent", "P(ROPE)", n_draws),
        probability_column("p_better", "P(better)", n_draws),
        probability_column("p_greater", "P(>0)", n_draws),
        probability_column("p_like_overall", "P(like overall)"),
        text_column("decision"),
    )


def _caption(facts: Facts, *, limit: int | None = None) -> str:
    if "metric" not in facts:
        return read.difference(facts, limit=limit)
    by = " and ".join(for_text(name, limit=limit) for name in facts["by"])
    return (
        f"{read.difference(facts, limit=limit)} in {read.metric(facts)} by {by}, "
        f"{numbers.count(facts['n_slices'])} slices of {read.sample(facts)} (paired, prior "
        f"{for_text(facts['prior'])}, partially pooled, "
        f"{numbers.percent(facts['hdi_prob'])} HDI, ROPE {read.rope_text(facts)})"
    )


def slices_headline(facts: Facts, *, limit: int | None = None) -> str:
    """Return the number of slices with each decision, and the expected false alarms.

    Examples
    --------
    >>> counts = {"WORSE": 12, "BETTER": 0, "EQUIVALENT": 9_000}
    >>> print(slices_headline({"names": ["bert", "gpt"], "n_slices": 10_000, "counts": counts,
    ...                        "expected_false_alarms": 0.31}))
    bert is worse than gpt in 12 of 10,000 slices, practically equivalent in 9,000; the other 988 are undecided. Expected false alarms among the 12 slices flagged as better or worse: 0.31.
    """  # noqa: E501
    a, b = read.names(facts, limit=limit)
    total = facts["n_slices"]
    worse, better, equal = (facts["counts"][name] for name in ("WORSE", "BETTER", "EQUIVALENT"))
    undecided, n_flagged = total - worse - better - equal, worse + better
    if undecided == total:
        return f"{a} against {b} in {counted(total, 'slices')}: all undecided."
    known = ((worse, "worse", "than"), (better, "better", "than"))
    decided = [part for part in (*known, (equal, "practically equivalent", "to")) if part[0]]
    first, word, joint = decided[0]
    every = "all" if first == total > 1 else f"{numbers.count(first)} of"
    line = f"{a} is {word} {joint} {b} in {every} {counted(total, 'slices')}"
    line += "".join(f", {word} in {numbers.count(n)}" for n, word, _ in decided[1:])
    others = "other is" if undecided == 1 else f"other {numbers.count(undecided)} are"
    line += f"; the {others} undecided." if undecided else "."
    if n_flagged:
        wrong = facts["expected_false_alarms"]
        about = "fewer than 0.01" if wrong < 0.01 else f"{wrong:.2g}"
        flagged = counted(n_flagged, "slices flagged as better or worse", one="flagged slice")
        line += f" Expected false alarms among the {flagged}: {about}."
    return line


def _unsupported(facts: Facts, rows: Sequence[Facts]) -> str:
    """Return why rows are undecided although their interval lies beyond the ROPE.

    Examples
    --------
    >>> row = {"key": ["DE"], "hdi": {"low": 0.03, "high": 0.09},
    ...        "decision": {"name": "LEANING_BETTER", "symbol": ">"}}
    >>> _unsupported({"rope": {"low": -0.01, "high": 0.01}}, [row])
    'DE (>): the interval lies beyond the ROPE because of the other slices. The slice is undecided, because its own items (unpooled) do not support this.'
    """  # noqa: E501
    # Then every decision is withheld, and the finding says why.
    if any(finding["name"] == "predictions_never_match" for finding in facts.get("findings", ())):
        return ""
    low, high = facts["rope"]["low"], facts["rope"]["high"]
    beyond = [
        f"{for_text(', '.join(row['key']), limit=30)} ({row['decision']['symbol']})"
        for row in rows
        if row["decision"]["name"] not in ("BETTER", "WORSE")
        and (row["hdi"]["low"] > high or row["hdi"]["high"] < low)
    ]
    if not beyond:
        return ""
    ending = (
        "The slice is undecided, because its own items (unpooled) do not support this."
        if len(beyond) == 1
        else "These slices are undecided, because their own items (unpooled) do not support this."
    )
    return (
        f"{listed(beyond, most=3)}: the interval lies beyond the ROPE because of the other "
        f"slices. {ending}"
    )


def slices_document(facts: Facts, rows: Sequence[Facts], *, top: int | None) -> Document:
    """Return headline, overall result, the most concerning slices with intervals, and findings.

    Parameters
    ----------
    facts
        The slice comparison as a dictionary.
    rows
        The most concerning slices as dictionaries, enough for every format.
    top
        Number of slices to show on a screen; all if None.
    """
    keys, hdi = _key_names(facts["by"]), f"{numbers.percent(facts['hdi_prob'])} HDI"
    on_screen, on_card = rows[:top], rows[:MOST_ROWS]
    left, more = (facts["n_slices"] - len(part) for part in (on_screen, on_card))
    table = brief(
        joined_hdi(
            with_places(
                slices_table(facts, on_screen),
                _PLACES,
                max((numbers.decimals(row["sd"], least=2) for row in on_screen), default=2),
            ),
            heading="unpooled",
            low="unpooled_low",
            high="unpooled_high",
            key="own",
        ),
        [*keys, *_IN_TEXT],
        hdi=hdi,
    )
    full = slices_table(facts, on_card)
    decisions = [row["decision"] for row in on_screen]
    return Document(
        headline=slices_headline(facts),
        short=slices_headline(facts, limit=30),
        lead=[Note(f"Overall: {after_colon(headline(facts['whole'], limit=30))}", card=False)],
        screen=[
            Rows(
                table=table,
                first=[*keys, *_FIRST],
                labels=keys,
                left=f"and {numbers.count(left)} more" if left else "",
            )
        ],
        table=joined_hdi(full, aligned=False).only([*keys, *_COLUMNS_OF_CARD]),
        spans=[span(row, rope=facts["rope"]) for row in on_card],
        leads=len(facts["by"]),
        more=full,
        notes=[
            Note(legend((each["symbol"], each["words"]) for each in decisions), card=False),
            *([Note(unsupported)] if (unsupported := _unsupported(facts, on_screen)) else []),
            *([Note(f"and {numbers.count(more)} more", screen="never")] if more else []),
            Note(f"Overall: {after_colon(headline(facts['whole']))}", screen="never"),
        ],
        findings=read.findings(facts),
        caption=_caption(facts, limit=30),
        parts=[f"{numbers.count(facts['n_draws'])} draws"],
        method=_caption(facts),
        signature=for_text(facts["signature"]),
        terms=("rope", "hdi", "slice"),
    )


_ROWS_IN_TEXT = 10
_COLUMNS_OF_CARD = ("decision", "mean", "hdi", "observed", "n", "p_worse")
_IN_FOREST = 20


WITHOUT_ROWS = (
    "by names *whole.spec rope hdi_prob=whole.hdi.prob n_draws n_slices counts=_counts "
    "expected_false_alarms whole findings signature"
)


@written(f"{WITHOUT_ROWS} rows", kind="slices")
@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class SliceComparison(Tabular):
    """A − B in every slice, most concerning first.

    Rows are sorted by the probability that A is worse than B by more than the ROPE, then by the
    mean, worst first.

    Parameters
    ----------
    by
        Columns that define the slices.
    rows
        The slices.
    whole
        Comparison on all items.
    n_draws
        Number of draws per slice.
    findings
        Findings about data and result.
    signature
        One line that describes how the result was computed.

    Examples
    --------
    >>> import outperform as op
    >>> y, day = [1, 0] * 300, ["Mon"] * 300 + ["Tue"] * 300
    >>> data = op.Outcomes.from_labels(y, {"new": [1, 0] * 200 + [0, 0] * 100, "old": y},
    ...                                by={"day": day})
    >>> slices = op.compare_slices(data, "new", "old", metric="recall", rope=0.02, random_state=1)
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
        values = tuple(map(str, key if isinstance(key, tuple) else (key,)))
        if len(values) != len(self.by):
            raise UsageError(f"a slice must have one value for each of {self.by}; got {values}")
        if values not in self._index:
            known = [", ".join(row.key) for row in self.rows[:_ROWS_IN_TEXT]]
            raise UsageError(unknown_name("slice", ", ".join(values), known))
        return self.rows[self._index[values]]

    @cached_property
    def _index(self) -> dict[tuple[str, ...], int]:
        return {row.key: i for i, row in enumerate(self.rows)}

    # All slices

    @property
    def names(self) -> tuple[str, str]:
        """Names of A and B."""
        return self.whole.names

    @property
    def metric(self) -> str:
        """Name of the metric."""
        return self.whole.metric

    @property
    def rope(self) -> Rope:
        """Region of practical equivalence."""
        return self.whole.rope

    @property
    def flagged(self) -> tuple[SliceRow, ...]:
        """Slices with the decision better or worse, most concerning first."""
        return tuple(row for row in self.rows if row.flagged)

    @cached_property
    def counts(self) -> dict[Decision, int]:
        """Number of slices with each decision."""
        return count_decisions(self.rows)

    @property
    def n_slices(self) -> int:
        """Number of slices."""
        return len(self.rows)

    @property
    def _counts(self) -> dict[str, int]:
        """Number of slices with each decision, by its name."""
        return {decision.name: count for decision, count in self.counts.items()}

    @property
    def expected_false_alarms(self) -> float:
        """Expected number of wrong decisions among the slices flagged as better or worse.

        This is the sum of ``1 − P(decision)`` over the flagged slices, using for each the prior
        learned from the other slices.
        """
        return float(sum(row.p_wrong for row in self.rows))

    # Texts, tables and figures

    def table(self, top: int | None = None) -> Table:
        """Return one row per slice.

        Parameters
        ----------
        top
            Number of slices, most concerning first; all if None.
        """
        return slices_table(self._facts(), self._row_facts(top))

    def text(self, top: int | None = _ROWS_IN_TEXT) -> str:
        """Return the answer for a terminal.

        Parameters
        ----------
        top
            Number of slices, most concerning first; all if None.
        """
        return plain(self._document(top).lines(Page()))

    def _document(self, top: int | None = _ROWS_IN_TEXT) -> Document:
        most = None if top is None else max(top, MOST_ROWS)
        return slices_document(self._facts(), self._row_facts(most), top=top)

    def _facts(self) -> Json:
        """Return everything except the rows, of which there may be many."""
        return to_json(self, WITHOUT_ROWS)

    def _row_facts(self, top: int | None) -> list[Json]:
        return [to_json(row) for row in self.rows[:top]]

    def plot(
        self, ax: Axes | None = None, *, top: int = _IN_FOREST, size: FigureSize = "text"
    ) -> Axes:
        """Draw the intervals of the most concerning slices, one per row, with their decisions.

        Parameters
        ----------
        ax
            Axes to draw on, which are returned. Default: new axes.
        top
            Number of slices.
        size
            Width of a new figure: ``"column"``, ``"text"`` or ``"slide"``.
        """
        rope = to_json(self.rope)
        rows = [
            {**facts, "key": ", ".join(facts["key"]), "rope": rope}
            for facts in self._row_facts(top)
        ]
        metric = self.whole.spec.metric
        return draw_forest(
            rows,
            names=self.names,
            metric=metric.label,
            greater_is_better=metric.greater_is_better,
            title=slices_headline(self._facts(), limit=SHORT_NAME)
            .partition("; ")[0]
            .partition(". ")[0],
            note="partially pooled",
            ax=ax,
            size=size,
        )

    def _latex_label(self) -> str:
        return latex_label(*self.names, self.metric, "by", *self.by)

    def __repr__(self) -> str:
        facts = to_json(self, "names n_slices counts=_counts expected_false_alarms")
        return f"SliceComparison({slices_headline(facts)})"
