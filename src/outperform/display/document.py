"""What a result shows, and its writers: a screen, a card, a section of a page, Markdown."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from numpy.typing import ArrayLike

from outperform._typing import Distribution, FloatArray
from outperform.display.cards import (
    details_html,
    finding_item,
    folded,
    folded_findings,
    fragment,
    shares_html,
    table_html,
)
from outperform.display.facts import Facts
from outperform.display.formats import display_width
from outperform.display.layout import (
    STYLES,
    WIDEST,
    Line,
    Page,
    joined_hdi,
    picture,
    stacked,
    with_places,
)
from outperform.display.layout import Span as Piece
from outperform.display.numbers import for_markdown, for_text, true_minus
from outperform.display.pictures import OPEN, Html, Span, curve, density, element, outline
from outperform.display.sentences import captioned
from outperform.display.table import Table

MOST_ROWS = 100
NO_FINDINGS = "None."
Where = Literal["always", "verbose", "never"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Posterior:
    """The picture of a posterior.

    Parameters
    ----------
    draws, distribution
        Its draws, and its closed form if there is one.
    facts
        Its HDI, its mean and, of a difference, the ROPE with the three probabilities.
    places
        The number of decimals on a screen.
    label
        What it shows, for those who do not see it.
    axis
        What stands below it.
    """

    draws: FloatArray
    distribution: Distribution | None = None
    facts: Facts
    places: int
    label: str
    axis: str

    def html(self) -> Html:
        """Return it for a card."""
        return density(outline(self.draws, self.distribution), self.facts, label=self.label)

    def lines(self, page: Page) -> list[Line]:
        """Return it for a screen."""
        return picture(page, self.draws, self.facts, self.places)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chances:
    """The picture of a probability by the number of items, which a screen has as a table only.

    Parameters
    ----------
    line
        Numbers of items and the probability at each.
    points
        Number of items, share and simulation error of what was simulated.
    target, at
        The wanted probability, and the number of items that reaches it.
    label
        What it shows, for those who do not see it.
    axis
        What stands below it.
    """

    line: tuple[ArrayLike, ArrayLike]
    points: Sequence[tuple[float, float, float]]
    target: float | None = None
    at: float | None = None
    label: str
    axis: str

    def html(self) -> Html:
        """Return it for a card."""
        return curve(self.line, self.points, target=self.target, at=self.at, label=self.label)

    def lines(self, _: Page) -> list[Line]:
        """Return no lines."""
        return []


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """A table on a screen, with its notes below it.

    Parameters
    ----------
    table
        The table.
    verbose
        The one that is shown if everything is to be said; the same if None.
    first
        The keys of the columns, those that matter most first.
    labels
        The keys of columns of labels.
    left
        What stands directly below it, such as how many rows are left out.
    indent
        The indent of the further lines of a note.
    """

    table: Table
    verbose: Table | None = None
    first: Sequence[str] = ()
    labels: Sequence[str] = ()
    left: str = ""
    indent: int = 0

    def blocks(self, page: Page) -> list[list[Line]]:
        """Return the table, and its notes."""
        table = self.verbose if page.verbose and self.verbose is not None else self.table
        lines = page.table(table, first=self.first, labels=self.labels)
        lines += page.text(self.left) if self.left else []
        return [lines, [line for one in table.notes for line in page.text(one, indent=self.indent)]]


class Note(NamedTuple):
    """A sentence, or a smaller fact behind its label, and where it is shown.

    Parameters
    ----------
    text
        The text.
    label
        The label; a sentence has none.
    screen
        Whether a screen shows it always, only if everything is to be said, or never.
    card
        Whether cards and pages show it.
    indent
        The indent of its further lines on a screen.
    """

    text: str
    label: str = ""
    screen: Where = "always"
    card: bool = True
    indent: int = 0

    def lines(self, page: Page) -> list[Line]:
        """Return it for a screen."""
        if self.screen == "never" or (self.screen == "verbose" and not page.verbose):
            return []
        if self.label:
            return page.labelled(self.label, self.text)
        return page.text(self.text, indent=self.indent)


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """What a result shows, part by part, in whatever format.

    Parameters
    ----------
    headline
        The answer in one sentence.
    short
        The answer on a screen; the headline if empty.
    symbol
        The symbol of the decision, which a screen shows at the right of the answer.
    tone
        The colour of the decision; none if empty.
    lead
        Further sentences that belong to the answer.
    shares
        Three probabilities as they are written: worse, equivalent, better.
    picture
        The picture.
    screen
        The tables of a screen.
    table
        The table of a card.
    spans, zero, leads
        One interval for each row of that table, whether these are differences, and how many
        columns stand before them.
    more
        The table with all its columns, which a card folds.
    notes
        Sentences below the tables, and smaller facts.
    findings
        Level, message and name of each.
    quiet
        Names of findings that only Markdown shows, and a screen if everything is to be said.
    most_findings
        The most findings on a screen; all if None.
    fits
        Whether findings may fill a screen only up to its height.
    caption
        What was compared on what, on a line of its own; a screen shows it.
    errors
        The Monte Carlo errors; a screen shows them if everything is to be said.
    coverage
        Returns how often such intervals hold, if that is known; for a screen that says everything.
    parts
        How it was made, in a few words each, for a screen; None if it does not say so.
    method
        The same for a card, with what was compared on what.
    signature
        What makes it repeatable.
    signatures
        The signatures of its parts, if they have their own.
    terms
        The words that a screen says how to look up.
    passage
        What a passage of Markdown begins with: the answer in full, and a table of the numbers;
        without them Markdown is the table of all rows.
    prose
        What Markdown says between the numbers and the findings.
    paper
        Returns the table of a page of LaTeX, with its caption; the table of all rows if None.
    paragraph
        Returns the same for a paper.
    """

    headline: str
    short: str = ""
    symbol: str = ""
    tone: str = ""
    lead: Sequence[Note] = ()
    shares: tuple[str, str, str] | None = None
    picture: Posterior | Chances | None = None
    screen: Sequence[Rows] = ()
    table: Table | None = None
    spans: Sequence[Span] = ()
    zero: bool = True
    leads: int = 1
    more: Table | None = None
    notes: Sequence[Note] = ()
    findings: Sequence[tuple[str, str, str]] = ()
    quiet: Collection[str] = ()
    most_findings: int | None = None
    fits: bool = False
    caption: str = ""
    errors: str = ""
    coverage: Callable[[], str | None] | None = None
    parts: Sequence[str] | None = None
    method: str = ""
    signature: str = ""
    signatures: Sequence[str] = ()
    terms: Sequence[str] = ()
    passage: tuple[str, Table] | None = None
    prose: Sequence[str] = ()
    paper: Callable[[], Table] | None = None
    paragraph: Callable[[], str] | None = None

    # A screen

    def lines(self, page: Page) -> list[Line]:
        """Return it for a terminal of this width."""
        head = [*self._answer(page), *_every(self.lead, page)]
        drawn = [] if self.picture is None else self.picture.lines(page)
        tables = [block for rows in self.screen for block in rows.blocks(page)]
        notes = _every(self.notes, page)
        if self.coverage is not None and page.verbose and (said := self.coverage()) is not None:
            notes += page.labelled("coverage", said)
        body = stacked(head, drawn, *tables, notes)
        end = page.text(self.caption, style="dim") if self.caption else []
        end += page.text(self.errors, style="dim") if self.errors and page.verbose else []
        if self.parts is not None:
            signatures = self.signatures if page.verbose and self.signatures else [self.signature]
            for one in signatures:
                end += page.method(*self.parts, signature=one)
        if self.terms:
            end += page.hint(*self.terms, found=self.findings)
        found = self.findings if page.verbose else self.loud
        most = len(found) if self.most_findings is None else self.most_findings
        told = page.told(found[:most], used=len(body) + len(end) + 2 if self.fits else 0)
        told += page.more_findings(len(found) - most) if len(found) > most else []
        return stacked(body, told, end)

    def _answer(self, page: Page) -> list[Line]:
        """Return the answer, with the symbol at the right where it fits."""
        (first, *rest) = page.text(self.short or self.headline, style="strong")
        shown = page.writable(self.symbol)
        room = min(page.width, WIDEST) - display_width(first[0].text) - len(shown)
        if not self.symbol or room < 2:
            return [first, *rest]
        style = STYLES.get(self.symbol, "strong")
        return [(*first, Piece(" " * room), Piece(shown, style)), *rest]

    # A card, and a section of a page

    def html(self) -> Html:
        """Return it as a card for a notebook: one element with its own style."""
        details = self.details
        if self.signature and not self.signatures:
            details.append(("signature", self.signature))
        return fragment(
            element("p", true_minus(self.headline), class_=f"op-head op-{self.tone or OPEN}"),
            *self.html_parts(),
            folded_findings(self.loud),
            folded("Details", details_html(details)) if details else None,
            element("p", self.method, class_="op-quiet") if self.method else None,
        )

    def section(self, level: str) -> Html:
        """Return it as a section of a page, unfolded, with headings of this level."""
        words = element("p", true_minus(self.headline), class_="sentence")
        details = self.details
        parts = [
            element("div", words, class_=f"decision op-{self.tone or OPEN}"),
            *self.html_parts(),
            element(level, "Findings"),
            element("ul", *(finding_item(*one) for one in self.loud), class_="op-findings")
            if self.loud
            else element("p", NO_FINDINGS),
            element(level, "Method"),
            element("p", f"{self.method}.", class_="method") if self.method else None,
            details_html(details) if details else None,
        ]
        if self.signature and not self.signatures:
            signed = element("code", self.signature)
            parts.append(element("p", "Signature: ", signed, class_="signature"))
        if self.paragraph is not None:
            parts.append(folded("As a paragraph for a paper", element("p", self.paragraph())))
        return Html("\n".join(one for one in parts if one is not None))

    @property
    def loud(self) -> list[tuple[str, str, str]]:
        """The findings that every format shows."""
        return [one for one in self.findings if one[2] not in self.quiet]

    @property
    def details(self) -> list[tuple[str, str]]:
        """The smaller facts of a card, label and text; the signatures, if there are several."""
        signed = enumerate(self.signatures, start=1)
        return [
            *((one.label, one.text) for one in self.notes if one.label and one.card),
            *((f"signature {number}", one) for number, one in signed),
        ]

    def html_parts(self) -> list[Html]:
        """Return shares, picture, table and notes."""
        parts = [] if self.shares is None else [shares_html(self.shares)]
        if self.picture is not None:
            caption = element("figcaption", self.picture.axis) if self.picture.axis else None
            parts.append(element("figure", self.picture.html(), caption, class_="op-figure"))
        if self.table is not None:
            table, left = self.table, len(self.table) - MOST_ROWS
            more = (f"and {left:,} more rows",) if left > 0 else ()
            parts.append(
                table_html(
                    table.columns, table.rows[:MOST_ROWS], notes=(*more, *table.notes),
                    spans=self.spans, zero=self.zero, leads=self.leads,
                    label=table.title or self.headline,
                )
            )  # fmt: skip
        sentences = [one.text for one in (*self.lead, *self.notes) if one.card and not one.label]
        parts += [element("p", true_minus(one), class_="op-note") for one in sentences]
        if self.more is not None:
            whole, title = self.more, self.more.title or "all columns"
            full = table_html(whole.columns, whole.rows[:MOST_ROWS], notes=whole.notes, label=title)
            parts.append(folded("All columns", full))
        return parts

    # Markdown and LaTeX

    def markdown(self, rows: Callable[[], Table]) -> str:
        """Return it as a passage of Markdown, or its table of all rows, which ``rows`` returns."""
        if self.passage is None:
            return rows().to_markdown()
        headline, table = self.passage
        parts = [f"**{for_markdown(headline)}**", table.to_markdown().rstrip()]
        parts += [for_markdown(one) for one in self.prose]
        if self.findings:
            parts.append(
                "\n".join(
                    f"- {level}: {for_markdown(true_minus(message))} ({for_markdown(name)})"
                    for level, message, name in self.findings
                )
            )
        if self.signature:
            # As code, in which nothing but a backtick means anything.
            parts.append(f"`{for_text(self.signature).replace('`', chr(39))}`")
        return "\n\n".join(parts)

    def latex(self, rows: Callable[[], Table], *, caption: str | None, label: str) -> str:
        """Return its table for a page, or that of all rows, which ``rows`` returns, as LaTeX."""
        table = (self.paper or rows)()
        return captioned(table, caption).to_latex(label=label)


def _every(notes: Iterable[Note], page: Page) -> list[Line]:
    return [line for one in notes for line in one.lines(page)]


def brief(
    table: Table,
    keys: Sequence[str],
    *,
    places: int | None = None,
    of: Sequence[str] = (),
    hdi: str = "",
    headings: Mapping[str, str] | None = None,
    notes: Sequence[str] = (),
) -> Table:
    """Return a table for a screen: some columns, decisions as symbols, fewer decimals.

    Parameters
    ----------
    table
        The table with all its columns.
    keys
        The columns to show; ``"hdi"`` is that of both ends.
    places, of
        How many decimals the columns of these keys have.
    hdi
        What stands above the interval; its ends have columns of their own if empty.
    headings
        Shorter headings, by key.
    notes
        What stands below it.
    """
    rows = tuple(
        {**row, "decision": str(row["decision"]).partition(" ")[0]} if "decision" in row else row
        for row in table.rows
    )
    short = replace(table, rows=rows, notes=tuple(notes))
    short = short if places is None else with_places(short, of, places)
    short = joined_hdi(short, heading=hdi) if hdi else short
    given = headings or {}
    columns = tuple(
        replace(one, heading=given.get(one.key, one.heading)) for one in short.only(keys).columns
    )
    return replace(short, columns=columns)


def legend(decisions: Iterable[tuple[str, str]]) -> str:
    """Return what the symbols of decisions mean, each once, in their order.

    Examples
    --------
    >>> legend([("≫", "better"), ("≪", "worse"), ("≫", "better")])
    '≫ better; ≪ worse'
    """
    return "; ".join(f"{symbol} {words}" for symbol, words in dict.fromkeys(decisions))
