"""Contents of a result, and their output: screen, card, section of a page, Markdown."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from numpy.typing import ArrayLike

from outperform._typing import Distribution, FloatArray
from outperform.display.cards import (
    GridCell,
    details_html,
    finding_item,
    folded,
    folded_findings,
    fragment,
    grid_html,
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
    """Picture of a posterior.

    Parameters
    ----------
    draws, distribution
        Draws, and the closed form if there is one.
    facts
        HDI, mean and, for a difference, the ROPE with the three probabilities.
    decimals
        Number of decimals on a screen.
    label
        Text alternative.
    axis
        Text below the picture.
    """

    draws: FloatArray
    distribution: Distribution | None = None
    facts: Facts
    decimals: int
    label: str
    axis: str

    def html(self) -> Html:
        """Return it for a card."""
        return density(outline(self.draws, self.distribution), self.facts, label=self.label)

    def lines(self, page: Page) -> list[Line]:
        """Return it for a screen."""
        return picture(page, self.draws, self.facts, self.decimals)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chances:
    """Picture of a probability by number of items. A screen shows only its table.

    Parameters
    ----------
    line
        Numbers of items and the probability at each.
    points
        Number of items, share and simulation error of each simulation.
    target, at
        Target probability, and the number of items that reaches it.
    label
        Text alternative.
    axis
        Text below the picture.
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
    """Table on a screen, with its notes below it.

    Parameters
    ----------
    table
        The table.
    verbose
        The table with ``--verbose``; the same if None.
    first
        Keys of the columns, most important first.
    labels
        Keys of the columns with labels.
    left
        Text directly below the table, for example the number of rows not shown.
    indent
        Indent of the continuation lines of a note.
    explain
        Function of the keys of the columns that fit, which returns more notes.
    """

    table: Table
    verbose: Table | None = None
    first: Sequence[str] = ()
    labels: Sequence[str] = ()
    left: str = ""
    indent: int = 0
    explain: Callable[[Collection[str]], Sequence[str]] | None = None

    def blocks(self, page: Page) -> list[list[Line]]:
        """Return the table, and its notes."""
        table = self.verbose if page.verbose and self.verbose is not None else self.table
        lines = page.table(table, first=self.first, labels=self.labels)
        lines += page.text(self.left) if self.left else []
        notes = list(table.notes)
        if self.explain is not None:
            notes += self.explain(page.shown(table, first=self.first, labels=self.labels))
        return [lines, [line for note in notes for line in page.text(note, indent=self.indent)]]


class Grid(NamedTuple):
    """A table of two-line cells, for cards and pages.

    Parameters
    ----------
    title
        Title in a few words.
    heads
        Heading of the first column, then of each other column.
    rows
        For each row its name, a detail below it, and its cells.
    notes
        Lines below it.
    """

    title: str
    heads: Sequence[str]
    rows: Sequence[tuple[str, str, Sequence[GridCell]]]
    notes: Sequence[str] = ()

    def html(self) -> Html:
        """Return it as a table."""
        n_hidden = len(self.rows) - MOST_ROWS
        more = (f"and {n_hidden:,} more rows",) if n_hidden > 0 else ()
        return grid_html(
            self.heads, self.rows[:MOST_ROWS], notes=(*more, *self.notes), label=self.title
        )


class Note(NamedTuple):
    """Sentence, or labelled detail, and the outputs that show it.

    Parameters
    ----------
    text
        The text.
    label
        The label; empty for a sentence.
    screen
        Whether a screen shows it always, only with ``--verbose``, or never.
    card
        Whether cards and pages show it.
    indent
        Indent of continuation lines on a screen.
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


class Command(NamedTuple):
    """Question with the command that answers it; a command is never wrapped, so it can be copied.

    Parameters
    ----------
    question
        The question.
    text
        The command, on one line.
    why
        What the command assumes; may be empty.
    """

    question: str
    text: str
    why: str = ""

    def lines(self, page: Page) -> list[Line]:
        """Return it for a screen."""
        why = [(Piece("  "), *line) for line in page.text(self.why, style="dim")]
        command = (Piece(f"  {page.writable(self.text)}"),)
        return [*page.text(self.question, style="strong"), command, *(why if self.why else [])]

    def html(self) -> Html:
        """Return it for a card."""
        return element(
            "div",
            element("p", self.question),
            element("pre", element("code", self.text), class_="op-code"),
            element("p", self.why, class_="op-note") if self.why else None,
        )

    def markdown(self) -> str:
        """Return it as a passage of Markdown."""
        parts = [for_markdown(self.question), f"```\n{self.text}\n```", for_markdown(self.why)]
        return "\n\n".join(parts if self.why else parts[:2])


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """Contents of a result, part by part, independent of the format.

    Parameters
    ----------
    headline
        The answer in one sentence.
    short
        The answer on a screen. Default: the headline.
    symbol
        Symbol of the decision, which a screen shows to the right of the answer.
    tone
        Colour of the decision; none if empty.
    lead
        Additional sentences of the answer.
    shares
        Three probabilities as text: worse, equivalent, better.
    picture
        The picture.
    screen
        The tables of a screen.
    table
        The table of a card.
    spans, zero, leads
        One interval per row of that table, whether these are differences, and the number of
        columns with names. The HDI and its picture follow them.
    more
        The table with all columns, which a card shows collapsed.
    grid
        A further table, which a card folds and a page shows under a heading.
    commands
        Commands to type, below the tables.
    notes
        Sentences below the tables, and details.
    findings
        Level, message and name of each finding.
    quiet
        Names of findings that only Markdown and a verbose screen show.
    most_findings
        Maximum number of findings on a screen; all if None.
    fits
        Whether findings on a screen are limited by its height.
    caption
        Description of the comparison and its data, on a separate line of a screen.
    errors
        The Monte Carlo errors, for a verbose screen.
    coverage
        Function that returns the expected coverage of the interval, if known, for a verbose screen.
    parts
        Short descriptions of the method, for a screen; None to omit the method.
    method
        The method for a card, with a description of the comparison and its data.
    signature
        The signature, which makes the result reproducible.
    signatures
        The signatures of the parts, if separate.
    terms
        Terms that a screen suggests looking up.
    passage
        Beginning of a Markdown passage: the full answer, and a table of the numbers. If empty,
        Markdown output is the table of all rows.
    prose
        Markdown sentences between the numbers and the findings.
    paper
        Function that returns the LaTeX table with caption; None for the table of all rows.
    paragraph
        Function that returns the result as a paragraph for a paper.
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
    grid: Grid | None = None
    commands: Sequence[Command] = ()
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
        """Return the document for a terminal of this width."""
        head = [*self._answer(page), *_note_lines(self.lead, page)]
        drawn = [] if self.picture is None else self.picture.lines(page)
        tables = [block for rows in self.screen for block in rows.blocks(page)]
        notes = _note_lines(self.notes, page)
        if self.coverage is not None and page.verbose and (text := self.coverage()) is not None:
            notes += page.labelled("coverage", text)
        commands = [command.lines(page) for command in self.commands]
        body = stacked(head, drawn, *tables, *commands, notes)
        end = page.text(self.caption, style="dim") if self.caption else []
        end += page.text(self.errors, style="dim") if self.errors and page.verbose else []
        if self.parts is not None:
            signatures = self.signatures if page.verbose and self.signatures else [self.signature]
            for signature in signatures:
                end += page.method(*self.parts, signature=signature)
        if self.terms:
            end += page.hint(*self.terms, findings=self.findings)
        findings = self.findings if page.verbose else self.loud
        most = len(findings) if self.most_findings is None else self.most_findings
        lines = page.findings(findings[:most], used=len(body) + len(end) + 2 if self.fits else 0)
        lines += page.more_findings(len(findings) - most) if len(findings) > most else []
        return stacked(body, lines, end)

    def _answer(self, page: Page) -> list[Line]:
        """Return the answer, with the symbol to the right if it fits."""
        (first, *others) = page.text(self.short or self.headline, style="strong")
        symbol = page.writable(self.symbol)
        gap = min(page.width, WIDEST) - display_width(first[0].text) - len(symbol)
        if not self.symbol or gap < 2:
            return [first, *others]
        style = STYLES.get(self.symbol, "strong")
        return [(*first, Piece(" " * gap), Piece(symbol, style)), *others]

    # A card, and a section of a page

    def html(self) -> Html:
        """Return the document as a card for a notebook: one element with its style."""
        details = self.details
        if self.signature and not self.signatures:
            details.append(("signature", self.signature))
        return fragment(
            element("p", true_minus(self.headline), class_=f"op-head op-{self.tone or OPEN}"),
            *self.html_parts(),
            None if self.grid is None else folded(self.grid.title, self.grid.html()),
            folded_findings(self.loud),
            folded("Details", details_html(details)) if details else None,
            element("p", self.method, class_="op-quiet") if self.method else None,
        )

    def section(self, level: str) -> Html:
        """Return the document as a section of a page, unfolded, with headings of this level."""
        words = element("p", true_minus(self.headline), class_="sentence")
        details = self.details
        parts = [
            element("div", words, class_=f"decision op-{self.tone or OPEN}"),
            *self.html_parts(),
            *([] if self.grid is None else [element(level, self.grid.title), self.grid.html()]),
            element(level, "Findings"),
            element("ul", *(finding_item(*finding) for finding in self.loud), class_="op-findings")
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
        return Html("\n".join(part for part in parts if part is not None))

    @property
    def loud(self) -> list[tuple[str, str, str]]:
        """Findings that every format shows."""
        return [finding for finding in self.findings if finding[2] not in self.quiet]

    @property
    def details(self) -> list[tuple[str, str]]:
        """Details of a card, as label and text, with the signatures if there are several."""
        signatures = enumerate(self.signatures, start=1)
        return [
            *((note.label, note.text) for note in self.notes if note.label and note.card),
            *((f"signature {number}", text) for number, text in signatures),
        ]

    def html_parts(self) -> list[Html]:
        """Return shares, picture, table and notes."""
        parts = [] if self.shares is None else [shares_html(self.shares)]
        if self.picture is not None:
            caption = element("figcaption", self.picture.axis) if self.picture.axis else None
            parts.append(element("figure", self.picture.html(), caption, class_="op-figure"))
        if self.table is not None:
            table, leads = _interval_first(self.table, self.leads)
            n_hidden = len(table) - MOST_ROWS
            more = (f"and {n_hidden:,} more rows",) if n_hidden > 0 else ()
            parts.append(
                table_html(
                    table.columns, table.rows[:MOST_ROWS], notes=(*more, *table.notes),
                    spans=self.spans, zero=self.zero, leads=leads,
                    label=table.title or self.headline,
                )
            )  # fmt: skip
        parts += [command.html() for command in self.commands]
        notes = [note for note in (*self.lead, *self.notes) if note.card and not note.label]
        parts += [element("p", true_minus(note.text), class_="op-note") for note in notes]
        if self.more is not None:
            full, label = self.more, self.more.title or "all columns"
            html = table_html(full.columns, full.rows[:MOST_ROWS], notes=full.notes, label=label)
            parts.append(folded("All columns", html))
        return parts

    # Markdown and LaTeX

    def markdown(self, rows: Callable[[], Table]) -> str:
        """Return a passage of Markdown, or the table of all rows from ``rows``."""
        if self.passage is None:
            return rows().to_markdown()
        headline, table = self.passage
        parts = [f"**{for_markdown(headline)}**", table.to_markdown().rstrip()]
        parts += [command.markdown() for command in self.commands]
        parts += [for_markdown(sentence) for sentence in self.prose]
        if self.findings:
            parts.append(
                "\n".join(
                    f"- {level}: {for_markdown(true_minus(message))} ({for_markdown(name)})"
                    for level, message, name in self.findings
                )
            )
        if self.signature:
            # Shown as code, in which only a backtick is special.
            parts.append(f"`{for_text(self.signature).replace('`', chr(39))}`")
        return "\n\n".join(parts)

    def latex(self, rows: Callable[[], Table], *, caption: str | None, label: str) -> str:
        """Return the LaTeX table of a paper, or the table of all rows from ``rows``."""
        table = (self.paper or rows)()
        return captioned(table, caption).to_latex(label=label)


def _interval_first(table: Table, leads: int) -> tuple[Table, int]:
    """Return a table with its HDI next to the names, and the number of columns up to it.

    On a narrow screen these are the columns that can be seen without scrolling.
    """
    if "hdi" not in table.keys:
        return table, leads
    others = [key for key in table.keys if key != "hdi"]
    return table.only([*others[:leads], "hdi", *others[leads:]]), leads + 1


def _note_lines(notes: Iterable[Note], page: Page) -> list[Line]:
    return [line for note in notes for line in note.lines(page)]


def brief(
    table: Table,
    keys: Sequence[str],
    *,
    decimals: int | None = None,
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
        Columns to show; ``"hdi"`` is the column with both ends.
    decimals, of
        Number of decimals, and the keys of the columns that use it.
    hdi
        Heading of the interval. If empty, its ends are in separate columns.
    headings
        Shorter headings, by key.
    notes
        Lines below the table.
    """
    rows = tuple(
        {**row, "decision": str(row["decision"]).partition(" ")[0]} if "decision" in row else row
        for row in table.rows
    )
    short = replace(table, rows=rows, notes=tuple(notes))
    short = short if decimals is None else with_places(short, of, decimals)
    short = joined_hdi(short, heading=hdi) if hdi else short
    by_key = headings or {}
    columns = tuple(
        replace(column, heading=by_key.get(column.key, column.heading))
        for column in short.only(keys).columns
    )
    return replace(short, columns=columns)


def legend(decisions: Iterable[tuple[str, str]]) -> str:
    """Return the meanings of decision symbols, each once, in order.

    Examples
    --------
    >>> legend([("≫", "better"), ("≪", "worse"), ("≫", "better")])
    '≫ better; ≪ worse'
    """
    return "; ".join(f"{symbol} {words}" for symbol, words in dict.fromkeys(decisions))
