"""``Sensitivity``: decisions and intervals under every prior, with its words and diagnostics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, NamedTuple

from outperform._json import written
from outperform._typing import Axes, FigureSize
from outperform.decision.rope import Decision, Rope
from outperform.display import facts as read
from outperform.display import numbers
from outperform.display.document import Document, Note, Rows, legend
from outperform.display.facts import Facts
from outperform.display.formats import (
    Column,
    latex_label,
    number_column,
    probability_column,
    signed_column,
    text_column,
)
from outperform.display.layout import joined_hdi
from outperform.display.numbers import for_text
from outperform.display.pictures import span
from outperform.display.table import Table
from outperform.errors import UsageError, unknown_name
from outperform.findings import Finding, clauses, counted, finding, listed
from outperform.inference.diagnostics import is_pulled
from outperform.inference.spec import Spec
from outperform.results import facts
from outperform.results.base import Tabular
from outperform.results.compared import Comparable, Compared

_LONGEST_KEY = 22
_SHORT = {"hdi_low": "HDI low", "hdi_high": "HDI high"}
_FLAGS = {
    "pulls": "the difference is off what was observed by more than half a posterior sd",
    "coarse": "an end of the HDI is too near to an edge of the ROPE for so many draws",
    "few": "the models disagree too rarely",
    "apart": "this changes more than the prior",
}


def sensitivity_headline(facts: Facts) -> str:
    """Return which priors say what, the comparison's own first.

    Examples
    --------
    >>> firm, open_ = {"symbol": "≫", "words": "better"}, {"symbol": ">", "words": "leaning"}
    >>> rows = [{"prior": "unit", "decision": firm}, {"prior": "uniform", "decision": open_}]
    >>> sensitivity_headline({"rows": rows})
    'unit says ≫ better; uniform says > leaning.'
    """
    said: dict[str, list[str]] = {}
    for row in facts["rows"]:
        decision = f"{row['decision']['symbol']} {row['decision']['words']}"
        said.setdefault(decision, []).append(for_text(row["prior"], limit=_LONGEST_KEY))
    ((first, names), *rest) = said.items()
    if len(facts["rows"]) == 1:
        return f"{names[0]} says {first}; there is no other prior to ask, only other ROPEs."
    if not rest:
        every = "Both" if len(names) == 2 else f"All {len(names)}"
        noun = "" if facts.get("apart") else " priors"
        return f"{every}{noun} say {first}: {listed(names)}."
    parts = [
        f"{listed(names)} {'says' if len(names) == 1 else 'say'} {decision}"
        for decision, names in said.items()
    ]
    return "; ".join(parts) + "."


def _title(facts: Facts) -> str:
    """Return how many priors say what, over a figure."""
    said = Counter(row["decision"]["words"].partition(",")[0] for row in facts["rows"])
    first, *rest = (f"{words} under {n}" for words, n in said.items())
    noun = "questions" if facts.get("apart") else "priors"
    told = ", ".join([f"{first} of {counted(said.total(), noun)}", *rest])
    return f"{read.names(facts, limit=_LONGEST_KEY)[0]} is {told}"


def sensitivity_table(facts: Facts) -> Table:
    """Return one row a prior, with words in them; what else there is to say stands below.

    Parameters
    ----------
    facts
        The facts of a sensitivity.
    """
    return Table(
        _columns(facts),
        tuple(_row(facts, row) for row in facts["rows"]),
        title=_caption(facts),
        notes=(*_notes(facts), *_legend(facts)),
    )


def sensitivity_page(facts: Facts) -> Table:
    """Return the same without words for decisions, which stand below, narrow enough for a page."""
    full = sensitivity_table(facts)
    columns = tuple(
        replace(column, heading=_SHORT.get(column.key, column.heading))
        for column in full.columns
        if column.key != "decision"
    )
    return replace(full, columns=columns)


def sensitivity_document(facts: Facts) -> Document:
    """Return the headline, one row per prior with its interval, the findings and the caption."""
    full, page = sensitivity_table(facts), sensitivity_page(facts)
    ropes = [_rope_key(rope) for rope in facts["ropes"]]
    marked = tuple(
        {**row, "prior": f"{row['prior']} *" if row["own"] else row["prior"]} for row in page.rows
    )
    hdi = read.hdi_label(facts["rows"][0])
    table = replace(page, rows=marked, notes=()).only([key for key in page.keys if key != "own"])
    card = joined_hdi(full, aligned=False).only(["prior", "decision", "mean", "hdi", *ropes])
    explained, reasons = _legend(facts), _reasons(facts)
    return Document(
        headline=sensitivity_headline(facts),
        lead=[Note(f"{hdi}, ROPE {read.rope_text(facts)}", card=False)],
        screen=[
            Rows(
                table=joined_hdi(table, heading=hdi),
                first=[
                    *("prior", *ropes, "mean", "hdi", "flags"),
                    *("p_equivalent", "p_worse", "p_better"),
                ],
                labels=["prior"],
            )
        ],
        table=replace(card, notes=(*explained, *reasons)),
        paper=lambda: page,
        spans=[span(row, rope=facts["rope"]) for row in facts["rows"]],
        more=full,
        notes=[
            *(Note(one, card=False) for one in explained),
            *(Note(one, card=False, indent=2) for one in reasons),
        ],
        findings=read.findings(facts),
        caption=_caption(facts, limit=30),
        parts=(),
        method=_caption(facts),
        signature=for_text(facts["signature"]),
        terms=("prior", "rope"),
    )


def _caption(facts: Facts, *, limit: int | None = None) -> str:
    first = facts["rows"][0]
    return (
        f"{read.difference(facts, limit=limit)} in {read.measure(facts)} by prior, on "
        f"{read.sample(facts)} ({'paired' if facts['paired'] else 'unpaired'}, "
        f"{read.hdi_label(first)}, ROPE {read.rope_text(facts)})"
    )


def _columns(facts: Facts) -> tuple[Column, ...]:
    rows = facts["rows"]
    digits = max(read.digits(row) for row in rows)
    n_draws = min((row["n_draws"] for row in rows if not row["exact"]), default=None)
    return (
        text_column("prior"),
        Column(key="own", write=_mark),
        signed_column("mean", digits=digits),
        number_column("sd", digits=digits),
        signed_column("hdi_low", f"{read.hdi_label(rows[0])} low", digits),
        signed_column("hdi_high", "high", digits),
        probability_column("p_worse", "P(worse)", n_draws),
        probability_column("p_equivalent", "P(ROPE)", n_draws),
        probability_column("p_better", "P(better)", n_draws),
        text_column("decision"),
        *(text_column(_rope_key(rope), _rope_heading(facts, rope)) for rope in facts["ropes"]),
        text_column("flags"),
    )


def _mark(own: bool) -> str:
    return "*" if own else "–"


def _rope_heading(facts: Facts, rope: Facts) -> str:
    """Return a ROPE, marked if it is the comparison's own."""
    ends = rope["low"], rope["high"]
    own = ends == (facts["rope"]["low"], facts["rope"]["high"])
    return numbers.rope(*ends) + (" *" if own else "")


def _rope_key(rope: Facts) -> str:
    low, high = rope["low"], rope["high"]
    return f"at_{high:.12g}" if low == -high else f"at_{low:.12g}_{high:.12g}"


def _row(facts: Facts, row: Facts) -> dict[str, Any]:
    return {
        "prior": row["prior"],
        "own": row["own"],
        "mean": row["mean"],
        "sd": row["sd"],
        "p_worse": row["p_worse"],
        "p_equivalent": row["p_equivalent"],
        "p_better": row["p_better"],
        "hdi_low": row["hdi"]["low"],
        "hdi_high": row["hdi"]["high"],
        "decision": f"{row['decision']['symbol']} {row['decision']['words']}",
        **{
            _rope_key(rope): decision["symbol"]
            for rope, decision in zip(facts["ropes"], row["decisions"], strict=True)
        },
        "flags": ", ".join(_flags(facts, row)) or None,
    }


def _flags(facts: Facts, row: Facts) -> list[str]:
    held = {
        "pulls": row["pulls"],
        "coarse": "monte_carlo_too_coarse" in row["findings"],
        "few": "few_disagreements" in row["findings"],
        "apart": row["prior"] in facts["apart"],
    }
    return [name for name, holds in held.items() if holds]


def _legend(facts: Facts) -> list[str]:
    """Return what the marks in the rows mean, and the symbols that stand for decisions."""
    shown = [decision for row in facts["rows"] for decision in row["decisions"]]
    symbols = legend((one["symbol"], one["words"]) for one in shown)
    marks = dict.fromkeys(mark for row in facts["rows"] for mark in _flags(facts, row))
    meanings = "; ".join(f"{mark}: {_FLAGS[mark]}" for mark in marks)
    return ["* the comparison's own", symbols, *([meanings] if meanings else [])]


def _notes(facts: Facts) -> list[str]:
    """Return the headline, what was left out, and the findings."""
    findings = [message for _, message, _ in read.findings(facts)]
    return [sensitivity_headline(facts), *findings, *_reasons(facts)]


def _reasons(facts: Facts) -> list[str]:
    """Say what was left out and what changes more than the prior, one line for each reason."""
    found = []
    why_not = {"left out": facts["left_out"], "more than another prior": facts["apart"]}
    for words, given in why_not.items():
        together: dict[str, list[str]] = {}
        for name, reason in given.items():
            together.setdefault(reason, []).append(for_text(name, limit=_LONGEST_KEY))
        found += [f"{words}: {listed(names)} ({for_text(why)})" for why, names in together.items()]
    return found


# What a prior weighs is more than what is believed before data.
_UNDONE = {
    "groups_ignored": "it weighs groups, and this comparison weighs items",
    "independent_spans": "it weighs sentences or documents, and this comparison weighs spans",
    "independent_labels": "it weighs items, and this comparison takes every label by itself",
}


def more_than_prior(own: Spec, other: Spec) -> str | None:
    """Say what another prior changes besides what is believed before data; None if nothing.

    Parameters
    ----------
    own
        What the comparison asked.
    other
        The same, asked under another prior.
    """
    before, after = (
        {one.name: one.message for one in spec.findings if one.name in _UNDONE}
        for spec in (own, other)
    )
    for name in after:
        if name not in before:
            return after[name].partition(". ")[0].partition(", so ")[0]  # the rest is advice
    return next((words for name, words in _UNDONE.items() if name in before.keys() - after), None)


def dependence_findings(
    rows: Mapping[str, Compared], apart: Mapping[str, str]
) -> Iterator[Finding]:
    """Yield ``decision_depends_on_prior`` where another prior decides otherwise.

    It warns where a proper prior does that pulls no more than the comparison's own, and is a note
    where only priors do that pull, or the bootstrap, which has none. What may be the draws' doing
    is not called dependence.

    Parameters
    ----------
    rows
        The comparisons by the names of their priors, the comparison's own first.
    apart
        The names of those that change more than the prior.
    """
    (name, own), *others = rows.items()
    other = {key: one for key, one in others if key not in apart and _firm(one) is not _firm(own)}
    unsettled = [key for key, one in other.items() if _is_coarse(own) or _is_coarse(one)]
    settled = {key: one for key, one in other.items() if key not in unsettled}
    if settled:
        depends = any(_weighs(one, own) for one in settled.values())
        yield finding(
            "decision_depends_on_prior/depends" if depends else "decision_depends_on_prior/agrees",
            symbol=own.decision.symbol,
            prior=name,
            says=clauses(f"{key} gives {_said(one)}" for key, one in settled.items()),
            pulls=_explained([*([own] if depends else []), *settled.values()]),
        )
    if unsettled:
        yield finding("monte_carlo_too_coarse/prior", priors=listed([name, *unsettled]))


def _firm(comparison: Compared) -> Decision | None:
    return comparison.decision if comparison.decision.decided else None


def _is_coarse(comparison: Compared) -> bool:
    return any(
        one.name == "monte_carlo_too_coarse" and one.level == "warning"
        for one in comparison.findings
    )


def pulls(comparison: Compared) -> bool:
    """Return whether a proper prior moves the difference by more than half a posterior sd."""
    moved = is_pulled(comparison.observed, comparison.mean, comparison.sd)
    return _has_prior(comparison) and comparison.spec.prior.name != "learned" and moved


def _weighs(other: Compared, own: Compared) -> bool:
    """Return whether another decision speaks against the own one rather than its prior."""
    return _has_prior(other) and (pulls(own) or not pulls(other))


def _has_prior(comparison: Compared) -> bool:
    spec = comparison.spec
    return spec.prior.proper or spec.prior.own is not None


def _said(comparison: Compared) -> str:
    words = f"{comparison.decision.symbol} ({comparison.decision.words})"
    if not _has_prior(comparison):
        return f"{words}, without a prior"
    return f"{words}, and pulls" if pulls(comparison) else words


def _explained(comparisons: Iterable[Compared]) -> str:
    if not any(map(pulls, comparisons)):
        return ""
    return " A prior pulls if it shifts the difference by more than half a posterior sd."


@written(
    "prior own proper=comparison.spec.prior.proper shapes *comparison{mean sd mcse hdi "
    "rope{low high} p_worse p_equivalent p_better p_greater exact n_draws=draws.size decision} "
    "decisions pulls findings"
)
class PriorRow(NamedTuple):
    """A comparison under one of the priors.

    Parameters
    ----------
    prior
        The name of the prior.
    comparison
        The comparison under it.
    decisions
        The decision at each ROPE.
    own
        Whether it is the prior of the comparison that was asked again.
    """

    prior: str
    comparison: Compared
    decisions: tuple[Decision, ...]
    own: bool

    @property
    def shapes(self) -> str | None:
        """The Dirichlet shapes of the prior, if it has any."""
        shapes = self.comparison.spec.prior.shapes
        return None if shapes is None else repr(shapes)

    @property
    def pulls(self) -> bool:
        """Whether the prior moves the difference by more than half a posterior sd."""
        return pulls(self.comparison)

    @property
    def findings(self) -> tuple[str, ...]:
        """The names of the findings that are more than notes."""
        return tuple(one.name for one in self.comparison.findings if one.level != "note")


@written(
    "names=own.names *own.spec paired=own.spec.paired rope=own.rope ropes{low high} "
    "rows=_rows left_out apart findings signature=own.signature",
    kind="sensitivity",
)
@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Sensitivity(Tabular, Generic[Comparable]):
    """One comparison under several priors and ROPEs, its own prior first.

    Parameters
    ----------
    priors
        The name of each prior.
    comparisons
        The comparison under each, at its own ROPE.
    ropes
        The ROPEs, from the narrowest to the widest.
    decisions
        The decision under each prior at each ROPE.
    left_out
        The usual priors that cannot be asked here, and why.
    apart
        Those asked for that change more than the prior, and what.
    findings
        Findings: whether the decision depends on the prior.

    Examples
    --------
    >>> import outperform as op
    >>> seen = op.Outcomes.from_correct({"a": [1] * 90 + [0] * 10, "b": [1] * 60 + [0] * 40})
    >>> c = op.compare(seen, "a", "b", metric="accuracy", rope=0.01, random_state=0)
    >>> c.sensitivity()
    Sensitivity(All 5 priors say ≫ better: unit, uniform, jeffreys, hierarchical and bootstrap.)
    """

    priors: tuple[str, ...]
    comparisons: tuple[Comparable, ...]
    ropes: tuple[Rope, ...]
    decisions: tuple[tuple[Decision, ...], ...]
    left_out: Mapping[str, str]
    apart: Mapping[str, str]
    findings: tuple[Finding, ...]

    @property
    def own(self) -> Comparable:
        """The comparison that was asked again."""
        return self.comparisons[0]

    def __getitem__(self, prior: str) -> Comparable:
        if prior not in self.priors:
            raise UsageError(unknown_name("prior", prior, self.priors))
        return self.comparisons[self.priors.index(prior)]

    def __iter__(self) -> Iterator[Comparable]:
        return iter(self.comparisons)

    def __len__(self) -> int:
        return len(self.comparisons)

    @property
    def _rows(self) -> tuple[PriorRow, ...]:
        """The comparison under each prior."""
        rows = zip(self.priors, self.comparisons, self.decisions, strict=True)
        return tuple(PriorRow(*row, own=row[1] is self.own) for row in rows)

    def table(self) -> Table:
        """Return one row a prior."""
        return sensitivity_table(self.to_dict())

    def text(self) -> str:
        """Return the answer for a terminal."""
        return str(self)

    def _document(self) -> Document:
        return sensitivity_document(self.to_dict())

    def _latex_label(self) -> str:
        return latex_label(*self.own.names, self.own.metric, "sensitivity")

    def plot(self, ax: Axes | None = None, *, size: FigureSize = "text") -> Axes:
        """Draw one interval a prior before the ROPE, with its decision.

        Parameters
        ----------
        ax
            Axes to draw into; new ones if None. They are returned.
        size
            How wide a new figure is: ``"column"``, ``"text"`` or ``"slide"``.
        """
        told = self.to_dict()
        marks = [" (own)" * row["own"] + " (pulls)" * row["pulls"] for row in told["rows"]]
        names = [name + mark for name, mark in zip(self.priors, marks, strict=True)]
        note = "pulls: ● far from ◇" if "pulls" in str(marks) else None
        how: dict[str, Any] = {"title": _title(told), "note": note, "size": size}
        return facts.plot_forest("prior", names, self.comparisons, ax, **how)

    def __repr__(self) -> str:
        return f"Sensitivity({sensitivity_headline(self.to_dict())})"
