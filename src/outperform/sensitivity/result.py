"""``Sensitivity``: decisions and intervals under every prior, as text and tables."""

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
    "pulls": "the mean is more than half a posterior sd from the observed difference",
    "coarse": "another set of draws could change the decision",
    "few": "the models disagree too rarely",
    "not comparable": "this changes more than the prior",
}


def sensitivity_headline(facts: Facts) -> str:
    """Return the decision under each prior, starting with that of the comparison.

    Examples
    --------
    >>> firm, open_ = {"symbol": "≫", "words": "better"}, {"symbol": ">", "words": "leaning"}
    >>> rows = [{"prior": "unit", "decision": firm}, {"prior": "uniform", "decision": open_}]
    >>> sensitivity_headline({"rows": rows})
    'unit gives ≫ better; uniform gives > leaning.'
    """
    by_decision: dict[str, list[str]] = {}
    for row in facts["rows"]:
        decision = f"{row['decision']['symbol']} {row['decision']['words']}"
        by_decision.setdefault(decision, []).append(for_text(row["prior"], limit=_LONGEST_KEY))
    ((first, names), *others) = by_decision.items()
    if len(facts["rows"]) == 1:
        return f"{names[0]} gives {first}; only the ROPE varies."
    if not others:
        every = "Both" if len(names) == 2 else f"All {len(names)}"
        noun = "" if facts.get("apart") else " priors"
        return f"{every}{noun} give {first}: {listed(names)}."
    parts = [
        f"{listed(names)} {'gives' if len(names) == 1 else 'give'} {decision}"
        for decision, names in by_decision.items()
    ]
    return "; ".join(parts) + "."


def _title(facts: Facts) -> str:
    """Return the number of priors with each decision, as the title of a figure."""
    counts = Counter(row["decision"]["words"].partition(",")[0] for row in facts["rows"])
    first, *others = (f"{words} under {n}" for words, n in counts.items())
    noun = "assumptions" if facts.get("apart") else "priors"
    decisions = ", ".join([f"{first} of {counted(counts.total(), noun)}", *others])
    return f"{read.names(facts, limit=_LONGEST_KEY)[0]} is {decisions}"


def sensitivity_table(facts: Facts) -> Table:
    """Return one row per prior, with notes.

    Parameters
    ----------
    facts
        The sensitivity analysis as a dictionary.
    """
    return Table(
        _columns(facts),
        tuple(_row(facts, row) for row in facts["rows"]),
        title=_caption(facts),
        notes=(*_notes(facts), *_legend(facts)),
    )


def sensitivity_page(facts: Facts) -> Table:
    """Return the same table without verbal decisions, so that it fits on a page."""
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
    rows = tuple(
        {**row, "prior": f"{row['prior']} *" if row["own"] else row["prior"]} for row in page.rows
    )
    hdi = read.hdi_label(facts["rows"][0])
    table = replace(page, rows=rows, notes=()).only([key for key in page.keys if key != "own"])
    card = joined_hdi(full, aligned=False).only(["prior", "decision", "mean", "hdi", *ropes])
    legend_notes, reasons = _legend(facts), _reasons(facts)
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
        table=replace(card, notes=(*legend_notes, *reasons)),
        paper=lambda: page,
        spans=[span(row, rope=facts["rope"]) for row in facts["rows"]],
        more=full,
        notes=[
            *(Note(text, card=False) for text in legend_notes),
            *(Note(text, card=False, indent=2) for text in reasons),
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
        text_column("flags", "findings"),
    )


def _mark(is_original: bool) -> str:
    return "*" if is_original else "–"


def _rope_heading(facts: Facts, rope: Facts) -> str:
    """Return a ROPE as text, marked if it is the comparison's ROPE."""
    ends = rope["low"], rope["high"]
    is_original = ends == (facts["rope"]["low"], facts["rope"]["high"])
    return numbers.rope(*ends) + (" *" if is_original else "")


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
    flags = {
        "pulls": row["pulls"],
        "coarse": "monte_carlo_too_coarse" in row["findings"],
        "few": "few_disagreements" in row["findings"],
        "not comparable": row["prior"] in facts["apart"],
    }
    return [name for name, is_set in flags.items() if is_set]


def _legend(facts: Facts) -> list[str]:
    """Return the meanings of the marks in the rows and of the symbols of decisions."""
    decisions = [decision for row in facts["rows"] for decision in row["decisions"]]
    symbols = legend((decision["symbol"], decision["words"]) for decision in decisions)
    marks = dict.fromkeys(mark for row in facts["rows"] for mark in _flags(facts, row))
    meanings = "; ".join(f"{mark}: {_FLAGS[mark]}" for mark in marks)
    return ["* prior and ROPE of the comparison", symbols, *([meanings] if meanings else [])]


def _notes(facts: Facts) -> list[str]:
    """Return the headline, the findings, and why other priors were skipped."""
    findings = [message for _, message, _ in read.findings(facts)]
    return [sensitivity_headline(facts), *findings, *_reasons(facts)]


def _reasons(facts: Facts) -> list[str]:
    """Return why priors were skipped or change more than the prior, one line per reason."""
    lines = []
    kinds = {"skipped": facts["left_out"], "more than another prior": facts["apart"]}
    for kind, reasons in kinds.items():
        by_reason: dict[str, list[str]] = {}
        for name, reason in reasons.items():
            by_reason.setdefault(reason, []).append(for_text(name, limit=_LONGEST_KEY))
        lines += [f"{kind}: {listed(names)} ({for_text(why)})" for why, names in by_reason.items()]
    return lines


# A prior that weighs other units changes more than the assumption before the data.
_UNDONE = {
    "groups_ignored": "it weights groups, but this comparison weights items",
    "independent_spans": "it weights sentences or documents, but this comparison weights spans",
    "independent_labels": "it weights items, but this comparison weights labels",
}


def more_than_prior(original: Spec, other: Spec) -> str | None:
    """Return what another prior changes besides the prior assumptions, or None.

    Parameters
    ----------
    original
        Spec of the comparison.
    other
        The same spec under another prior.
    """
    before, after = (
        {each.name: each.message for each in spec.findings if each.name in _UNDONE}
        for spec in (original, other)
    )
    for name in after:
        if name not in before:
            return after[name].partition(". ")[0].partition(", so ")[0]  # the advice follows
    return next((words for name, words in _UNDONE.items() if name in before.keys() - after), None)


def dependence_findings(
    rows: Mapping[str, Compared], apart: Mapping[str, str]
) -> Iterator[Finding]:
    """Yield ``decision_depends_on_prior`` if another prior changes the decision.

    It is a warning if at least one such prior is proper and pulls no more than the comparison's. It
    is a note if all of them pull, or are the bootstrap, which has no prior. Differences that may
    come from the draws do not count.

    Parameters
    ----------
    rows
        The comparisons by prior name, with the original comparison first.
    apart
        The priors that change more than the prior assumptions.
    """
    (name, comparison), *others = rows.items()
    other = {key: c for key, c in others if key not in apart and _firm(c) is not _firm(comparison)}
    unsettled = [key for key, c in other.items() if _is_coarse(comparison) or _is_coarse(c)]
    settled = {key: c for key, c in other.items() if key not in unsettled}
    if settled:
        depends = any(_weighs(c, comparison) for c in settled.values())
        yield finding(
            "decision_depends_on_prior/depends" if depends else "decision_depends_on_prior/agrees",
            symbol=comparison.decision.symbol,
            prior=name,
            says=clauses(f"{key} gives {_described(c)}" for key, c in settled.items()),
            pulls=_pulls_meaning([*([comparison] if depends else []), *settled.values()]),
        )
    if unsettled:
        yield finding("monte_carlo_too_coarse/prior", priors=listed([name, *unsettled]))


def _firm(comparison: Compared) -> Decision | None:
    return comparison.decision if comparison.decision.decided else None


def _is_coarse(comparison: Compared) -> bool:
    return any(
        each.name == "monte_carlo_too_coarse" and each.level == "warning"
        for each in comparison.findings
    )


def pulls(comparison: Compared) -> bool:
    """Return whether a proper prior moves the difference by more than half a posterior sd."""
    moved = is_pulled(comparison.observed, comparison.mean, comparison.sd)
    return _has_prior(comparison) and comparison.spec.prior.name != "learned" and moved


def _weighs(other: Compared, comparison: Compared) -> bool:
    """Return whether another decision is evidence against this one, not against the other prior."""
    return _has_prior(other) and (pulls(comparison) or not pulls(other))


def _has_prior(comparison: Compared) -> bool:
    spec = comparison.spec
    return spec.prior.proper or spec.prior.own is not None


def _described(comparison: Compared) -> str:
    words = f"{comparison.decision.symbol} ({comparison.decision.words})"
    if not _has_prior(comparison):
        return f"{words} without a prior"
    return f"{words}, and the prior pulls" if pulls(comparison) else words


def _pulls_meaning(comparisons: Iterable[Compared]) -> str:
    if not any(map(pulls, comparisons)):
        return ""
    return " A prior pulls if it shifts the difference by more than half a posterior sd."


@written(
    "prior own proper=comparison.spec.prior.proper shapes *comparison{mean sd mcse hdi "
    "rope{low high} p_worse p_equivalent p_better p_greater exact n_draws=draws.size decision} "
    "decisions pulls findings"
)
class PriorRow(NamedTuple):
    """Comparison under one of the priors.

    Parameters
    ----------
    prior
        Name of the prior.
    comparison
        The comparison under this prior.
    decisions
        Decision at each ROPE.
    own
        Whether it is the prior of the original comparison.
    """

    prior: str
    comparison: Compared
    decisions: tuple[Decision, ...]
    own: bool

    @property
    def shapes(self) -> str | None:
        """Dirichlet concentrations of the prior, if it has any."""
        shapes = self.comparison.spec.prior.shapes
        return None if shapes is None else repr(shapes)

    @property
    def pulls(self) -> bool:
        """Whether the prior moves the difference by more than half a posterior sd."""
        return pulls(self.comparison)

    @property
    def findings(self) -> tuple[str, ...]:
        """Names of warnings and serious findings."""
        return tuple(each.name for each in self.comparison.findings if each.level != "note")


@written(
    "names=own.names *own.spec paired=own.spec.paired rope=own.rope ropes{low high} "
    "rows=_rows left_out apart findings signature=own.signature",
    kind="sensitivity",
)
@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Sensitivity(Tabular, Generic[Comparable]):
    """Comparison under several priors and ROPEs, with the original prior first.

    Parameters
    ----------
    priors
        Names of the priors.
    comparisons
        The comparison under each prior, with the original ROPE.
    ropes
        The ROPEs, from the narrowest to the widest.
    decisions
        Decision under each prior at each ROPE.
    left_out
        Skipped standard priors, with the reason for each.
    apart
        Requested priors that change more than the prior assumptions, with the change for each.
    findings
        Findings about whether the decision depends on the prior.

    Examples
    --------
    >>> import outperform as op
    >>> right = {"a": [1] * 90 + [0] * 10, "b": [1] * 60 + [0] * 40}
    >>> c = op.compare(op.Outcomes.from_correct(right), "a", "b", rope=0.01, random_state=0)
    >>> c.sensitivity()
    Sensitivity(All 5 priors give ≫ better: unit, uniform, jeffreys, hierarchical and bootstrap.)
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
        """Original comparison."""
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
        """Comparison under each prior, as rows."""
        rows = zip(self.priors, self.comparisons, self.decisions, strict=True)
        return tuple(PriorRow(*row, own=row[1] is self.own) for row in rows)

    def table(self) -> Table:
        """Return one row per prior."""
        return sensitivity_table(self.to_dict())

    def text(self) -> str:
        """Return the answer for a terminal."""
        return str(self)

    def _document(self) -> Document:
        return sensitivity_document(self.to_dict())

    def _latex_label(self) -> str:
        return latex_label(*self.own.names, self.own.metric, "sensitivity")

    def plot(self, ax: Axes | None = None, *, size: FigureSize = "text") -> Axes:
        """Draw one interval per prior and the ROPE, with the decisions.

        Parameters
        ----------
        ax
            Axes to draw on, which are returned. Default: new axes.
        size
            Width of a new figure: ``"column"``, ``"text"`` or ``"slide"``.
        """
        fields = self.to_dict()
        marks = [" (own)" * row["own"] + " (pulls)" * row["pulls"] for row in fields["rows"]]
        names = [name + mark for name, mark in zip(self.priors, marks, strict=True)]
        note = "pulls: ● far from ◇" if "pulls" in str(marks) else None
        how: dict[str, Any] = {"title": _title(fields), "note": note, "size": size}
        return facts.plot_forest("prior", names, self.comparisons, ax, **how)

    def __repr__(self) -> str:
        return f"Sensitivity({sensitivity_headline(self.to_dict())})"
