"""A screen of text: sentences, tables and pictures that fit a width, with styles by meaning."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate, groupby, pairwise
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from outperform._typing import FloatArray
from outperform.display import facts as read
from outperform.display import numbers
from outperform.display.facts import Facts
from outperform.display.formats import Column, display_width
from outperform.display.numbers import for_text, true_minus
from outperform.display.table import Table
from outperform.errors import either
from outperform.findings import counted

Style: TypeAlias = Literal["", "strong", "dim", "worse", "equivalent", "better"]


class Span(NamedTuple):
    """A piece of a line that has one style."""

    text: str
    style: Style = ""


Line: TypeAlias = tuple[Span, ...]

WIDTH = 80
_WIDEST_SENTENCE = 100
_NARROWEST, WIDEST = 60, 100
_LONGEST_LABEL = 40
_SHORTEST_LABEL = 16
_LONGEST = 300
_MARGIN = 14
_GAP = 2
_VERSION = 22  # columns for the version, whatever it is
_ESCAPE = 4  # columns that an escaped character takes

STYLES: Mapping[str, Style] = {"≪": "worse", "≈": "equivalent", "≫": "better"}
_ASCII = str.maketrans(
    {
        "≫": ">>", "≪": "<<", "≈": "~~", "±": "+/-", "−": "-", "–": "-", "…": "...", "·": "|",
        "×": "x", "→": "->", "●": "o", "├": "|", "┤": "|", "─": "-", "┬": "+", "█": "#",
        "▇": "#", "▆": "#", "▅": ":", "▄": ":", "▃": ":", "▂": ".", "▁": ".",
    }
)  # fmt: skip
KEPT = "\N{NO-BREAK SPACE}"  # a space at which no line ends
_ASIDE = re.compile(r"\([\d.]+%\)\.?")
_BLOCKS = " ▁▂▃▄▅▆▇█"
_ROWS = 2
_TAIL = 1e-3
_SMOOTH = 10  # cells above half the height from which on neighbours may help each other
_ALIGNED = 3  # cells of the ROPE from which on its edges are theirs


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What a result is printed on.

    Parameters
    ----------
    width
        How many columns there are.
    height
        How many lines findings may fill up to; None for as many as it takes.
    verbose
        Whether to say the rest: Bayes factor, Monte Carlo error, signature.
    encoding
        What the characters have to be written in.
    hints
        Whether to say how to ask what words mean, and for the rest.

    Examples
    --------
    >>> print(plain(Page(width=12).text("No line is longer than that.")))
    No line is
    longer than
    that.
    >>> print(plain(Page(encoding="ascii").text("0.01 ± 0.02 ≫ −1")))
    0.01 +/- 0.02 >> -1
    """

    width: int = WIDTH
    height: int | None = 24
    verbose: bool = False
    encoding: str = "utf-8"
    hints: bool = False

    def writable(self, text: str) -> str:
        """Return a text as the encoding can write it."""
        try:
            text.replace(KEPT, " ").encode(self.encoding)
        except UnicodeEncodeError:
            shown = text.translate(_ASCII)
            # A blank that no line ends at is replaced only after the lines are made.
            parts = (one.encode(self.encoding, "backslashreplace") for one in shown.split(KEPT))
            return KEPT.join(one.decode(self.encoding) for one in parts)
        return text

    def text(self, said: str, *, indent: int = 0, style: Style = "") -> list[Line]:
        """Return a sentence in lines that are no longer than a sentence should be."""
        room = min(self.width, _WIDEST_SENTENCE)
        lines, line = [], ""
        for word in _words(self.writable(true_minus(said)), room - indent):
            longer = f"{line} {word}" if line.strip() else line + word
            if display_width(longer) <= room:
                line = longer
            else:
                lines.append(line)
                line = " " * indent + word
        return [(Span(one.replace(KEPT, " "), style),) for one in [*lines, line]]

    def labelled(self, label: str, said: str) -> list[Line]:
        """Return a text behind its label."""
        return self.text(f"{label:<{_MARGIN}}{said}", indent=_MARGIN)

    def table(
        self,
        table: Table,
        *,
        first: Sequence[str] = (),
        labels: Sequence[str] = (),
    ) -> list[Line]:
        """Return a table in which no row is broken: columns are left out until it fits.

        Parameters
        ----------
        table
            The table; what stands above and below it is not shown.
        first
            The keys of the columns, those that matter most first; what is not named comes last.
        labels
            The keys of columns of labels, which are cut in the middle rather than left out.

        Examples
        --------
        >>> from outperform.display.formats import text_column
        >>> wide = Table((text_column("class"), text_column("a"), text_column("b")),
        ...              ({"class": "c" * 30, "a": "x" * 9, "b": "y" * 9},))
        >>> print(plain(Page(width=28).table(wide, first=["class", "b"], labels=["class"])))
        class              b
        cccccccc…cccccccc  yyyyyyyyy
        """
        named = [key for key in first if key in table.keys]
        order = [*named, *(key for key in table.keys if key not in named)]
        cells = {column.key: self._cells(column, table.rows) for column in table.columns}
        widths = {key: max(map(self._wide, column)) for key, column in cells.items()}
        for key in labels:
            widths[key] = min(widths[key], _LONGEST_LABEL)
        least = {k: min(w, _SHORTEST_LABEL) if k in labels else w for k, w in widths.items()}
        ends = accumulate(least[key] + _GAP for key in order)
        fitting = {key for key, end in zip(order, ends, strict=True) if end - _GAP <= self.width}
        shown = [c for c in table.columns if c.key in fitting] or list(table.columns[:1])
        spare = self.width - sum(least[c.key] + _GAP for c in shown) + _GAP
        for key in (c.key for c in shown if c.key in labels):
            more = min(spare, widths[key] - least[key])
            least[key], spare = least[key] + more, spare - more
        lines = [
            tuple(self._aligned(c, cells[c.key][row], least[c.key], heading=not row) for c in shown)
            for row in range(len(table) + 1)
        ]
        return [_spaced(line) for line in lines]

    def _cells(self, column: Column, rows: Iterable[Mapping[str, object]]) -> list[str]:
        shown = []
        for row in rows:
            value = row[column.key]
            text = column.show(value)
            shown.append(text if isinstance(value, str) else true_minus(text))
        return [column.title and for_text(column.title), *map(for_text, shown)]

    def _wide(self, text: str) -> int:
        return display_width(self.writable(text))

    def _aligned(self, column: Column, cell: str, width: int, *, heading: bool) -> Span:
        style = "dim" if heading else STYLES.get(cell.partition(" ")[0], "")
        text = middle(self.writable(cell), width, ellipsis=self.writable("…"))
        gap = " " * (width - display_width(text))
        return Span(gap + text if column.align == "right" else text + gap, style)

    def told(self, found: Sequence[tuple[str, str, str]], *, used: int = 0) -> list[Line]:
        """Return level, message and name of each finding in the room left under ``used`` lines."""
        lines: list[Line] = []
        for position, (level, message, name) in enumerate(found):
            said = f"{level}: {for_text(message, limit=_LONGEST)} [{name}]"
            (head, *rest) = self.text(said, indent=2)
            start = len(level) + 1
            marked = (Span(head[0].text[:start], "strong"), Span(head[0].text[start:]))
            left = len(found) - position
            taken = used + len(lines) + 1 + len(rest) + (left > 1)
            if self.height is not None and lines and taken > self.height:
                return [*lines, *self.more_findings(left)]
            lines += [marked, *rest]
        return lines

    def more_findings(self, left: int) -> list[Line]:
        """Return how many findings are not shown, and how to see them."""
        where = either(".findings", "--verbose")
        return self.text(f"and {counted(left, 'more findings')}: {where}")

    def method(self, *parts: str, signature: str) -> list[Line]:
        """Return one line of what was done; if everything is to be said, the signature instead."""
        if self.verbose:
            return self.text(for_text(signature, limit=_LONGEST), indent=2, style="dim")
        version, *asked = for_text(signature).split(" | ") if signature else [""]
        seed = next((one.replace("=", " ") for one in asked if one.startswith("seed=")), "")
        exact = parts[-1:] == ("exact",)  # no seed has a part in it
        drawn = ", ".join(filter(None, (*parts[-1:], "" if exact else seed)))
        said = " · ".join(filter(None, (*parts[:-1], drawn)))
        room = len(said) + _VERSION <= self.width
        return self._parted((*parts[:-1], drawn, version if room else ""))

    def _parted(self, parts: Sequence[str]) -> list[Line]:
        """Return parts with dots between them, in lines that end with a whole part if they can."""
        lines: list[str] = []
        for part in filter(None, parts):
            longer = f"{lines[-1]} · {part}" if lines else ""
            if longer and display_width(self.writable(longer)) <= self.width:
                lines[-1] = longer
            else:
                lines.append(part)
        return [line for one in lines for line in self.text(one, style="dim")]

    def hint(self, *terms: str, found: Sequence[tuple[str, str, str]] = ()) -> list[Line]:
        """Return how to ask what words mean, those of the gravest finding too, and for the rest."""
        if not self.hints:
            return []
        asked = " ".join([*terms, *(name for _, _, name in found[:1])])
        rest = "" if self.verbose else " · The rest: --verbose"
        article = "an" if terms[0][0] in "aeh" else "a"
        name = terms[0].upper() if len(terms[0]) <= 4 else terms[0]
        return self.text(f"What is {article} {name}? outperform explain {asked}{rest}", style="dim")


def stacked(*blocks: Sequence[Line]) -> list[Line]:
    """Return blocks with an empty line between them; empty ones leave none."""
    lines: list[Line] = []
    for block in filter(None, blocks):
        lines += [*([()] if lines else []), *block]
    return lines


def plain(lines: Iterable[Line]) -> str:
    """Return lines as text without styles."""
    return "\n".join("".join(span.text for span in line).rstrip() for line in lines)


def signed(value: float, places: int) -> str:
    """Return a difference with its sign, a true minus.

    Examples
    --------
    >>> signed(-0.1086, 3)
    '−0.109'
    """
    return true_minus(numbers.signed(value, places))


def interval(hdi: Mapping[str, float], places: int, *, sign: bool = False) -> str:
    """Return an interval in words.

    Examples
    --------
    >>> interval({"low": -0.022, "high": 0.007}, 3, sign=True)
    '−0.022 to +0.007'
    """
    return true_minus(numbers.interval(hdi["low"], hdi["high"], places, sign=sign))


def joined_hdi(
    table: Table,
    *,
    heading: str = "",
    low: str = "hdi_low",
    high: str = "hdi_high",
    key: str = "hdi",
    aligned: bool = True,
) -> Table:
    """Return a table with both ends of its interval in one column, which is never half left out.

    Parameters
    ----------
    table
        The table.
    heading
        What stands above the column; what stands above the low ends if empty.
    low, high
        The keys of the two columns.
    key
        The key of the column that replaces them.
    aligned
        Whether the high ends line up, as in a type with letters of one width.
    """
    ends = {column.key: column for column in table.columns if column.key in (low, high)}
    title = heading or ends[low].title.removesuffix(" low")
    joined = Column(key=key, heading=title, align="right")
    columns = tuple(
        joined if column.key == low else column for column in table.columns if column.key != high
    )
    texts = [[true_minus(ends[key].show(value)) for value in table[key]] for key in (low, high)]
    wide = max(map(len, texts[1]), default=0) if aligned else 0
    rows = tuple(
        {**row, key: f"{start} to {end:>{wide}}"}
        for row, start, end in zip(table.rows, *texts, strict=True)
    )
    return replace(table, columns=columns, rows=rows)


def with_places(table: Table, keys: Sequence[str], places: int) -> Table:
    """Return a table with other decimals in some of its columns of numbers."""
    columns = tuple(
        replace(column, write=partial(column.write.func, digits=places))
        if column.key in keys and isinstance(column.write, partial)
        else column
        for column in table.columns
    )
    return replace(table, columns=columns)


def _words(text: str, room: int) -> list[str]:
    """Split at spaces, keep what indents, and break what no line can hold."""
    words: list[str] = []
    for word in text.split(" "):
        aside = _ASIDE.fullmatch(word) and words and words[-1].strip()
        if aside and display_width(f"{words[-1]} {word}") <= room // 2:
            words[-1] += f" {word}"  # which would be lost at the start of a line
        elif display_width(word) <= room:
            words.append(word)
        else:  # a piece that begins a line must not be a command to a build log
            step = (room - _ESCAPE) // 2
            words += [for_text(word[at : at + step]) for at in range(0, len(word), step)]
    return words


def _spaced(spans: Sequence[Span]) -> Line:
    gap = Span(" " * _GAP)
    return tuple(one for span in spans for one in (span, gap))[:-1]


def middle(text: str, width: int, *, ellipsis: str = "…") -> str:
    """Return a label cut in its middle, so that labels which begin or end alike still differ.

    Examples
    --------
    >>> middle("talk.politics.mideast", 13)
    'talk.p…ideast'
    """
    if display_width(text) <= width:
        return text
    half, odd = divmod(width - len(ellipsis), 2)
    return _as_wide(text, half + odd) + ellipsis + _as_wide(text[::-1], half)[::-1]


def _as_wide(text: str, width: int) -> str:
    ends = accumulate(map(display_width, text))
    return "".join(c for c, end in zip(text, ends, strict=True) if end <= width)


class Cells(NamedTuple):
    """The columns of a picture: their edges, the share of the posterior in each, and their sides.

    Where a cell is narrow against the ROPE, its edges are edges of cells, so that the cells of
    a side hold its probability.
    """

    edges: FloatArray
    shares: FloatArray
    sides: tuple[Style, ...]

    def at(self, value: float) -> int:
        """Return the cell that holds a value."""
        return int(np.clip(np.searchsorted(self.edges, value, "right") - 1, 0, len(self.sides) - 1))


def cells_of(draws: FloatArray, facts: Facts, n: int, *, margins: tuple[int, int]) -> Cells:
    """Return so many cells that show the draws, the ROPE, and margins around the HDI.

    Examples
    --------
    >>> facts = {"hdi": {"low": -0.2, "high": 0.4}, "rope": {"low": -0.1, "high": 0.1}}
    >>> cells = cells_of(np.linspace(-0.3, 0.5, 801), facts, 30, margins=(4, 4))
    >>> round(float(cells.shares[[side == "better" for side in cells.sides]].sum()), 2)
    0.5
    """
    hdi, rope = facts["hdi"], facts.get("rope")
    low, high = (float(one) for one in np.quantile(draws, (_TAIL, 1 - _TAIL)))
    low, high = min(low, hdi["low"]), max(high, hdi["high"])
    if rope is not None:
        low, high = min(low, rope["low"], 0.0), max(high, rope["high"], 0.0)
    start, stop = low, high
    for _ in range(50):  # a margin widens the window, which widens the margins
        step = (stop - start) / n or 1e-9
        start = min(low - 3 * step, hdi["low"] - margins[0] * step)
        stop = max(high + 3 * step, hdi["high"] + margins[1] * step)
    edges = _edges(start, stop, n, rope)
    shares = np.histogram(draws, edges)[0] / draws.size
    none: Style = ""
    if rope is None:
        return Cells(edges, shares, (none,) * n)
    below: Style = "worse" if facts.get("greater_is_better", True) else "better"
    above: Style = "better" if below == "worse" else "worse"
    sides: list[Style] = [below, "equivalent", above]
    middles = (edges[1:] + edges[:-1]) / 2
    inside = [int(one > rope["low"]) + int(one > rope["high"]) for one in middles]
    return Cells(edges, shares, tuple(sides[place] for place in inside))


def _edges(start: float, stop: float, n: int, rope: Mapping[str, float] | None) -> FloatArray:
    """Return the edges of cells, some of them on those of the ROPE unless it is too narrow."""
    step = (stop - start) / n
    width = 0.0 if rope is None else rope["high"] - rope["low"]
    inside = int(width / step)
    if rope is None or inside < _ALIGNED:
        return np.linspace(start, stop, n + 1)
    step = width / inside  # no narrower than before, so that all still fits
    before = int((rope["low"] - start) / step + (n - (stop - start) / step) / 2)
    edges: FloatArray = rope["low"] + step * np.arange(-before, n - before + 1, dtype=np.float64)
    return edges


def picture(page: Page, draws: FloatArray, facts: Facts, places: int) -> list[Line]:
    """Return the density with the HDI below it, and the ROPE with its three shares if there is one.

    Examples
    --------
    >>> facts = {"hdi": {"low": -0.2, "high": 0.4}, "mean": 0.1, "exact": True, "p_worse": 0.25,
    ...          "p_equivalent": 0.25, "p_better": 0.5, "rope": {"low": -0.1, "high": 0.1}}
    >>> print(plain(picture(Page(width=60), np.linspace(-0.3, 0.5, 801), facts, 1)))
     worse 25.00%  equivalent 25.00%      better 50.00%
       ▃▇████████████████████████████████████████████████▇▃
     ▁▅████████████████████████████████████████████████████▅▁
        −0.2 ├───────────────────●──────────────────┤ +0.4
    ────────────────┬─────┬─────┬───────────────────────────────
                  −0.1    0   +0.1
    """
    rope = facts.get("rope")
    if page.width < _NARROWEST:
        shares = {} if rope is None else read.shares(facts)
        said = ", ".join(f"{name} {share}" for name, share in shares.items())
        return page.text(said) if said else []
    write = signed if rope is not None else (lambda one, digits: numbers.plain(one, digits))
    ends = [write(facts["hdi"][end], places) for end in ("low", "high")]
    n = min(page.width, WIDEST)
    cells = cells_of(draws, facts, n, margins=(len(ends[0]) + 2, len(ends[1]) + 2))
    lines = [*_density(cells), _bar(cells, facts, ends)]
    if rope is not None:
        lines = [_shares(cells, facts), *lines, *_axis(cells, rope)]
    return [tuple(Span(page.writable(text), style) for text, style in line) for line in lines]


def _density(cells: Cells) -> list[Line]:
    shares = cells.shares
    if np.count_nonzero(shares > shares.max() / 2) >= _SMOOTH:
        shares = np.convolve(shares, (1 / 16, 4 / 16, 6 / 16, 4 / 16, 1 / 16), "same")
    levels = np.rint(shares / (shares.max() or 1.0) * 8 * _ROWS).astype(int)
    rows = [np.clip(levels - 8 * row, 0, 8) for row in reversed(range(_ROWS))]
    return [_grouped([_BLOCKS[one] for one in row], cells.sides) for row in rows]


def _bar(cells: Cells, facts: Facts, ends: Sequence[str]) -> Line:
    first, last = (cells.at(facts["hdi"][end]) for end in ("low", "high"))
    line = dict.fromkeys(range(first, last + 1), "─") | {first: "├", last: "┤"}
    line[cells.at(facts["mean"])] = "●"
    bar = "".join(line[place] for place in sorted(line))
    style = STYLES.get(facts.get("decision", {}).get("symbol", ""), "")
    before = " " * (first - len(ends[0]) - 1)
    return Span(f"{before}{ends[0]} "), Span(bar, style), Span(f" {ends[1]}")


def _axis(cells: Cells, rope: Mapping[str, float]) -> list[Line]:
    """Return the axis with ticks at the ROPE's edges and at zero, and their numbers."""
    inside = [place for place, side in enumerate(cells.sides) if side == "equivalent"]
    low, high = (inside[0], inside[-1]) if inside else (cells.at(rope["low"]),) * 2
    ends = [true_minus(f"{rope[end]:+.6g}") if rope[end] else "0" for end in ("low", "high")]
    zero = {rope["low"]: low, rope["high"]: high}.get(0.0, cells.at(0.0))
    ticks = dict(sorted({low: ends[0], zero: "0", high: ends[1]}.items()))
    if len(ticks) < 3 or not _apart(ticks):
        ticks = {low: ends[0], high: ends[1]}
        whole = "  ".join((ends[0], "0", ends[1]))
        room = min(zero, len(cells.sides) - 1 - zero) >= len(whole) // 2
        if rope["low"] < 0 < rope["high"] and room:  # all in one text, its zero under the tick
            ticks = {zero: whole}
        elif low == high or not _apart(ticks):
            ticks = {(low + high) // 2: true_minus(numbers.rope(rope["low"], rope["high"]))}
    line = ["┬" if place in (low, zero, high) else "─" for place in range(len(cells.sides))]
    labels = _placed([Span(text) for text in ticks.values()], list(ticks), len(line))
    return [_grouped(line, cells.sides), labels]


def _apart(ticks: Mapping[int, str]) -> bool:
    """Say whether labels under their ticks leave a space between them."""
    spans = [(at - len(text) // 2, at - len(text) // 2 + len(text)) for at, text in ticks.items()]
    return all(left[1] < right[0] for left, right in pairwise(spans))


def _shares(cells: Cells, facts: Facts) -> Line:
    """Return the three probabilities, each above its part of the axis."""
    names = list(dict.fromkeys(cells.sides))
    where = [[i for i, side in enumerate(cells.sides) if side == name] for name in names]
    shares: Mapping[str, str] = read.shares(facts)
    texts = [Span(f"{name} {shares[name]}", name) for name in names]
    return _placed(texts, [(here[0] + here[-1]) // 2 for here in where], len(cells.sides))


def _placed(spans: Sequence[Span], centres: Sequence[int], width: int) -> Line:
    """Return texts as near to their places as they can be without touching."""
    starts, room = [], -_GAP
    for span, centre in zip(spans, centres, strict=True):
        starts.append(max(room + _GAP, centre - len(span.text) // 2))
        room = starts[-1] + len(span.text)
    end = width + _GAP
    for place in reversed(range(len(spans))):
        starts[place] = max(0, min(starts[place], end - _GAP - len(spans[place].text)))
        end = starts[place]
    line, at = [], 0
    for span, start in zip(spans, starts, strict=True):
        line += [Span(" " * (start - at)), span]
        at = start + len(span.text)
    return tuple(line)


def _grouped(signs: Sequence[str], styles: Sequence[Style]) -> Line:
    pairs = groupby(zip(signs, styles, strict=True), key=lambda pair: pair[1])
    return tuple(Span("".join(sign for sign, _ in some), style) for style, some in pairs)
