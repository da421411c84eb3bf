"""Terminal output: sentences, tables and pictures that fit a width, with semantic styles."""

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
    """Part of a line with a single style."""

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
_VERSION = 22  # columns reserved for the version
_ESCAPE = 4  # columns that an escaped character occupies

STYLES: Mapping[str, Style] = {"≪": "worse", "≈": "equivalent", "≫": "better"}
_ASCII = str.maketrans(
    {
        "≫": ">>", "≪": "<<", "≈": "~~", "±": "+/-", "−": "-", "–": "-", "…": "...", "·": "|",
        "×": "x", "→": "->", "●": "o", "├": "|", "┤": "|", "─": "-", "┬": "+", "█": "#",
        "▇": "#", "▆": "#", "▅": ":", "▄": ":", "▃": ":", "▂": ".", "▁": ".",
    }
)  # fmt: skip
KEPT = "\N{NO-BREAK SPACE}"  # lines are not broken at this space
_ASIDE = re.compile(r"\([\d.]+%\)\.?")
_BLOCKS = " ▁▂▃▄▅▆▇█"
_ROWS = 2
_TAIL = 1e-3
_SMOOTH = 10  # the density is smoothed if this many cells exceed half its height
_ALIGNED = 3  # cells are aligned with the edges of a ROPE that is at least this many cells wide


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Settings for printing a result.

    Parameters
    ----------
    width
        Number of columns.
    height
        Maximum number of lines up to the end of the findings; None for no limit.
    verbose
        Whether to show more: Bayes factor, Monte Carlo error, signature.
    encoding
        Encoding of the output.
    hints
        Whether to show how to look up terms, and how to see more.

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
        """Return text with only the characters that the encoding has."""
        try:
            text.replace(KEPT, " ").encode(self.encoding)
        except UnicodeEncodeError:
            # No-break spaces are kept; they are replaced after the text is broken into lines.
            parts = text.translate(_ASCII).split(KEPT)
            encoded = (part.encode(self.encoding, "backslashreplace") for part in parts)
            return KEPT.join(part.decode(self.encoding) for part in encoded)
        return text

    def text(self, sentence: str, *, indent: int = 0, style: Style = "") -> list[Line]:
        """Return a sentence, broken into lines of readable length."""
        room = min(self.width, _WIDEST_SENTENCE)
        lines, line = [], ""
        for word in _words(self.writable(true_minus(sentence)), room - indent):
            longer = f"{line} {word}" if line.strip() else line + word
            if display_width(longer) <= room:
                line = longer
            else:
                lines.append(line)
                line = " " * indent + word
        return [(Span(text.replace(KEPT, " "), style),) for text in [*lines, line]]

    def labelled(self, label: str, text: str) -> list[Line]:
        """Return text after its label."""
        return self.text(f"{label:<{_MARGIN}}{text}", indent=_MARGIN)

    def table(
        self,
        table: Table,
        *,
        first: Sequence[str] = (),
        labels: Sequence[str] = (),
    ) -> list[Line]:
        """Return a table that fits the width; columns are omitted if needed.

        Parameters
        ----------
        table
            The table; its title and notes are not shown.
        first
            Keys of the columns, most important first, followed by all others.
        labels
            Keys of the label columns, which are shortened in the middle instead of omitted.

        Examples
        --------
        >>> from outperform.display.formats import text_column
        >>> wide = Table((text_column("class"), text_column("a"), text_column("b")),
        ...              ({"class": "c" * 30, "a": "x" * 9, "b": "y" * 9},))
        >>> print(plain(Page(width=28).table(wide, first=["class", "b"], labels=["class"])))
        class              b
        cccccccc…cccccccc  yyyyyyyyy
        """
        cells = {column.key: self._cells(column, table.rows) for column in table.columns}
        widths = self._widths(cells, labels)
        least = _shortest(widths, labels)
        fitting = self._fitting(table, least, first)
        visible = [column for column in table.columns if column.key in fitting]
        spare = self.width - sum(least[c.key] + _GAP for c in visible) + _GAP
        for key in (c.key for c in visible if c.key in labels):
            more = min(spare, widths[key] - least[key])
            least[key], spare = least[key] + more, spare - more
        tails = {key: self._tail(cells[key][1:], least[key]) for key in labels if key in least}
        lines = [
            tuple(
                self._aligned(
                    c, cells[c.key][row], least[c.key], tail=tails.get(c.key), heading=not row
                )
                for c in visible
            )
            for row in range(len(table) + 1)
        ]
        return [_spaced(line) for line in lines]

    def shown(
        self, table: Table, *, first: Sequence[str] = (), labels: Sequence[str] = ()
    ) -> tuple[str, ...]:
        """Return the keys of the columns that :meth:`table` shows."""
        cells = {column.key: self._cells(column, table.rows) for column in table.columns}
        least = _shortest(self._widths(cells, labels), labels)
        fitting = self._fitting(table, least, first)
        return tuple(key for key in table.keys if key in fitting)

    def _widths(self, cells: Mapping[str, Sequence[str]], labels: Sequence[str]) -> dict[str, int]:
        """Return the width of each column."""
        widths = {key: max(map(self._wide, column)) for key, column in cells.items()}
        return {k: min(w, _LONGEST_LABEL) if k in labels else w for k, w in widths.items()}

    def _fitting(
        self, table: Table, least: Mapping[str, int], first: Sequence[str]
    ) -> frozenset[str]:
        """Return the columns that fit, the important ones first; at least one."""
        important = [key for key in first if key in table.keys]
        order = [*important, *(key for key in table.keys if key not in important)]
        ends = accumulate(least[key] + _GAP for key in order)
        fitting = [key for key, end in zip(order, ends, strict=True) if end - _GAP <= self.width]
        return frozenset(fitting or table.keys[:1])

    def _tail(self, labels: Sequence[str], width: int) -> int:
        """Return the length of label endings to keep, so that shortened labels stay distinct."""
        ellipsis = self.writable("…")
        room, texts = width - len(ellipsis), {*map(self.writable, labels)}
        tails = sorted(range(max(room, 0) + 1), key=lambda tail: abs(tail - room // 2))
        return next(
            (
                tail
                for tail in tails
                if len({middle(text, width, ellipsis=ellipsis, tail=tail) for text in texts})
                == len(texts)
            ),
            room // 2,
        )

    def _cells(self, column: Column, rows: Iterable[Mapping[str, object]]) -> list[str]:
        texts = []
        for row in rows:
            value = row[column.key]
            text = column.show(value)
            texts.append(text if isinstance(value, str) else true_minus(text))
        return [column.title and for_text(column.title), *map(for_text, texts)]

    def _wide(self, text: str) -> int:
        return display_width(self.writable(text))

    def _aligned(
        self, column: Column, cell: str, width: int, *, tail: int | None, heading: bool
    ) -> Span:
        style = "dim" if heading else STYLES.get(cell.partition(" ")[0], "")
        text = middle(self.writable(cell), width, ellipsis=self.writable("…"), tail=tail)
        gap = " " * (width - display_width(text))
        return Span(gap + text if column.align == "right" else text + gap, style)

    def findings(self, items: Sequence[tuple[str, str, str]], *, used: int = 0) -> list[Line]:
        """Return level, message and name of each finding that fits below ``used`` lines."""
        lines: list[Line] = []
        for position, (level, message, name) in enumerate(items):
            text = f"{level}: {for_text(message, limit=_LONGEST)} [{name}]"
            (head, *others) = self.text(text, indent=2)
            start = len(level) + 1
            marked = (Span(head[0].text[:start], "strong"), Span(head[0].text[start:]))
            n_left = len(items) - position
            n_lines = used + len(lines) + 1 + len(others) + (n_left > 1)
            if self.height is not None and lines and n_lines > self.height:
                return [*lines, *self.more_findings(n_left)]
            lines += [marked, *others]
        return lines

    def more_findings(self, n: int) -> list[Line]:
        """Return the number of findings not shown, and how to see them."""
        where = either(".findings", "--verbose")
        return self.text(f"and {counted(n, 'more findings')}: {where}")

    def method(self, *parts: str, signature: str) -> list[Line]:
        """Return the method on one line, or the signature on a verbose screen."""
        if self.verbose:
            return self.text(for_text(signature, limit=_LONGEST), indent=2, style="dim")
        version, *fields = for_text(signature).split(" | ") if signature else [""]
        seed = next((field.replace("=", " ") for field in fields if field.startswith("seed=")), "")
        exact = parts[-1:] == ("exact",)  # an exact result does not depend on the seed
        draws = ", ".join(filter(None, (*parts[-1:], "" if exact else seed)))
        text = " · ".join(filter(None, (*parts[:-1], draws)))
        fits = len(text) + _VERSION <= self.width
        return self._parted((*parts[:-1], draws, version if fits else ""))

    def _parted(self, parts: Sequence[str]) -> list[Line]:
        """Join parts with dots, with line breaks between parts if possible."""
        lines: list[str] = []
        for part in filter(None, parts):
            longer = f"{lines[-1]} · {part}" if lines else ""
            if longer and display_width(self.writable(longer)) <= self.width:
                lines[-1] = longer
            else:
                lines.append(part)
        return [line for text in lines for line in self.text(text, style="dim")]

    def hint(self, *terms: str, findings: Sequence[tuple[str, str, str]] = ()) -> list[Line]:
        """Return how to look up terms and the most serious finding, and how to see more."""
        if not self.hints:
            return []
        words = " ".join([*terms, *(name for _, _, name in findings[:1])])
        more = "" if self.verbose else " · More: --verbose"
        article = "an" if terms[0][0] in "aeh" else "a"
        name = terms[0].upper() if len(terms[0]) <= 4 else terms[0]
        return self.text(f"What is {article} {name}? outperform explain {words}{more}", style="dim")


def stacked(*blocks: Sequence[Line]) -> list[Line]:
    """Join non-empty blocks with an empty line between them."""
    lines: list[Line] = []
    for block in filter(None, blocks):
        lines += [*([()] if lines else []), *block]
    return lines


def plain(lines: Iterable[Line]) -> str:
    """Return lines as unstyled text."""
    return "\n".join("".join(span.text for span in line).rstrip() for line in lines)


def signed(value: float, decimals: int) -> str:
    """Return a difference with its sign, using a true minus.

    Examples
    --------
    >>> signed(-0.1086, 3)
    '−0.109'
    """
    return true_minus(numbers.signed(value, decimals))


def interval(hdi: Mapping[str, float], decimals: int, *, sign: bool = False) -> str:
    """Return an interval in words.

    Examples
    --------
    >>> interval({"low": -0.022, "high": 0.007}, 3, sign=True)
    '−0.022 to +0.007'
    """
    return true_minus(numbers.interval(hdi["low"], hdi["high"], decimals, sign=sign))


def joined_hdi(
    table: Table,
    *,
    heading: str = "",
    low: str = "hdi_low",
    high: str = "hdi_high",
    key: str = "hdi",
    aligned: bool = True,
) -> Table:
    """Return a table with both interval ends in one column, so they are omitted jointly.

    Parameters
    ----------
    table
        The table.
    heading
        Heading of the column; if empty, the heading of the low ends.
    low, high
        Keys of the two columns.
    key
        Key of the column that replaces them.
    aligned
        Whether to align the high ends, for a monospaced font.
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


def with_places(table: Table, keys: Sequence[str], decimals: int) -> Table:
    """Return a table with a different number of decimals in some columns."""
    columns = tuple(
        replace(column, write=partial(column.write.func, digits=decimals))
        if column.key in keys and isinstance(column.write, partial)
        else column
        for column in table.columns
    )
    return replace(table, columns=columns)


def _shortest(widths: Mapping[str, int], labels: Sequence[str]) -> dict[str, int]:
    """Return the minimum width of each column; labels can be cut."""
    return {k: min(w, _SHORTEST_LABEL) if k in labels else w for k, w in widths.items()}


def _words(text: str, room: int) -> list[str]:
    """Split text at spaces, keep its indent, and break words that are longer than a line."""
    words: list[str] = []
    for word in text.split(" "):
        aside = _ASIDE.fullmatch(word) and words and words[-1].strip()
        if aside and display_width(f"{words[-1]} {word}") <= room // 2:
            words[-1] += f" {word}"  # unclear at the start of a line
        elif display_width(word) <= room:
            words.append(word)
        else:  # a line must not start with a build log command
            step = (room - _ESCAPE) // 2
            words += [for_text(word[at : at + step]) for at in range(0, len(word), step)]
    return words


def _spaced(spans: Sequence[Span]) -> Line:
    gap = Span(" " * _GAP)
    return tuple(piece for span in spans for piece in (span, gap))[:-1]


def middle(text: str, width: int, *, ellipsis: str = "…", tail: int | None = None) -> str:
    """Shorten a label in the middle, so labels with equal beginnings or ends stay distinct.

    Examples
    --------
    >>> middle("talk.politics.mideast", 13), middle("talk.politics.mideast", 13, tail=3)
    ('talk.p…ideast', 'talk.poli…ast')
    """
    if display_width(text) <= width:
        return text
    room = width - len(ellipsis)
    tail = room // 2 if tail is None else tail
    return _as_wide(text, room - tail) + ellipsis + _as_wide(text[::-1], tail)[::-1]


def _as_wide(text: str, width: int) -> str:
    ends = accumulate(map(display_width, text))
    return "".join(c for c, end in zip(text, ends, strict=True) if end <= width)


class Cells(NamedTuple):
    """Columns of a picture: their edges, the share of the posterior in each, and their sides.

    If cells are narrow compared with the ROPE, the ROPE edges coincide with cell edges, so the
    cells on each side sum to its probability.
    """

    edges: FloatArray
    shares: FloatArray
    sides: tuple[Style, ...]

    def at(self, value: float) -> int:
        """Return the index of the cell that contains a value."""
        return int(np.clip(np.searchsorted(self.edges, value, "right") - 1, 0, len(self.sides) - 1))


def cells_of(draws: FloatArray, facts: Facts, n: int, *, margins: tuple[int, int]) -> Cells:
    """Return ``n`` cells that cover the draws, the ROPE, and margins around the HDI.

    Examples
    --------
    >>> facts = {"hdi": {"low": -0.2, "high": 0.4}, "rope": {"low": -0.1, "high": 0.1}}
    >>> cells = cells_of(np.linspace(-0.3, 0.5, 801), facts, 30, margins=(4, 4))
    >>> round(float(cells.shares[[side == "better" for side in cells.sides]].sum()), 2)
    0.5
    """
    hdi, rope = facts["hdi"], facts.get("rope")
    low, high = (float(value) for value in np.quantile(draws, (_TAIL, 1 - _TAIL)))
    low, high = min(low, hdi["low"]), max(high, hdi["high"])
    if rope is not None:
        low, high = min(low, rope["low"], 0.0), max(high, rope["high"], 0.0)
    start, stop = low, high
    # repeated, because a margin widens the window, which in turn widens the margins
    for _ in range(50):
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
    indices = [int(value > rope["low"]) + int(value > rope["high"]) for value in middles]
    return Cells(edges, shares, tuple(sides[index] for index in indices))


def _edges(start: float, stop: float, n: int, rope: Mapping[str, float] | None) -> FloatArray:
    """Return the cell edges, aligned with the ROPE edges unless the ROPE is too narrow."""
    step = (stop - start) / n
    width = 0.0 if rope is None else rope["high"] - rope["low"]
    inside = int(width / step)
    if rope is None or inside < _ALIGNED:
        return np.linspace(start, stop, n + 1)
    step = width / inside  # never narrower than before, so everything still fits
    before = int((rope["low"] - start) / step + (n - (stop - start) / step) / 2)
    edges: FloatArray = rope["low"] + step * np.arange(-before, n - before + 1, dtype=np.float64)
    return edges


def picture(page: Page, draws: FloatArray, facts: Facts, decimals: int) -> list[Line]:
    """Return the density with the HDI below it and, for a difference, the ROPE and its shares.

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
        text = ", ".join(f"{name} {share}" for name, share in shares.items())
        return page.text(text) if text else []
    write = signed if rope is not None else (lambda value, digits: numbers.plain(value, digits))
    ends = [write(facts["hdi"][end], decimals) for end in ("low", "high")]
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
    return [_grouped([_BLOCKS[level] for level in row], cells.sides) for row in rows]


def _bar(cells: Cells, facts: Facts, ends: Sequence[str]) -> Line:
    first, last = (cells.at(facts["hdi"][end]) for end in ("low", "high"))
    line = dict.fromkeys(range(first, last + 1), "─") | {first: "├", last: "┤"}
    line[cells.at(facts["mean"])] = "●"
    bar = "".join(line[column] for column in sorted(line))
    style = STYLES.get(facts.get("decision", {}).get("symbol", ""), "")
    before = " " * (first - len(ends[0]) - 1)
    return Span(f"{before}{ends[0]} "), Span(bar, style), Span(f" {ends[1]}")


def _axis(cells: Cells, rope: Mapping[str, float]) -> list[Line]:
    """Return the axis with ticks at the ROPE's edges and at zero, and their numbers."""
    inside = [column for column, side in enumerate(cells.sides) if side == "equivalent"]
    low, high = (inside[0], inside[-1]) if inside else (cells.at(rope["low"]),) * 2
    ends = [true_minus(f"{rope[end]:+.6g}") if rope[end] else "0" for end in ("low", "high")]
    zero = {rope["low"]: low, rope["high"]: high}.get(0.0, cells.at(0.0))
    ticks = dict(sorted({low: ends[0], zero: "0", high: ends[1]}.items()))
    if len(ticks) < 3 or not _separate(ticks):
        ticks = {low: ends[0], high: ends[1]}
        joined = "  ".join((ends[0], "0", ends[1]))
        fits = min(zero, len(cells.sides) - 1 - zero) >= len(joined) // 2
        if rope["low"] < 0 < rope["high"] and fits:  # a single text with its zero below the tick
            ticks = {zero: joined}
        elif low == high or not _separate(ticks):
            ticks = {(low + high) // 2: true_minus(numbers.rope(rope["low"], rope["high"]))}
    line = ["┬" if column in (low, zero, high) else "─" for column in range(len(cells.sides))]
    labels = _placed([Span(text) for text in ticks.values()], list(ticks), len(line))
    return [_grouped(line, cells.sides), labels]


def _separate(ticks: Mapping[int, str]) -> bool:
    """Return whether tick labels have a space between them."""
    spans = [(at - len(text) // 2, at - len(text) // 2 + len(text)) for at, text in ticks.items()]
    return all(left[1] < right[0] for left, right in pairwise(spans))


def _shares(cells: Cells, facts: Facts) -> Line:
    """Return the three probabilities, each above its part of the axis."""
    names = list(dict.fromkeys(cells.sides))
    columns = [[i for i, side in enumerate(cells.sides) if side == name] for name in names]
    shares: Mapping[str, str] = read.shares(facts)
    texts = [Span(f"{name} {shares[name]}", name) for name in names]
    return _placed(texts, [(part[0] + part[-1]) // 2 for part in columns], len(cells.sides))


def _placed(spans: Sequence[Span], centres: Sequence[int], width: int) -> Line:
    """Return texts as close to their centres as possible without touching."""
    starts, room = [], -_GAP
    for span, centre in zip(spans, centres, strict=True):
        starts.append(max(room + _GAP, centre - len(span.text) // 2))
        room = starts[-1] + len(span.text)
    end = width + _GAP
    for k in reversed(range(len(spans))):
        starts[k] = max(0, min(starts[k], end - _GAP - len(spans[k].text)))
        end = starts[k]
    line, at = [], 0
    for span, start in zip(spans, starts, strict=True):
        line += [Span(" " * (start - at)), span]
        at = start + len(span.text)
    return tuple(line)


def _grouped(signs: Sequence[str], styles: Sequence[Style]) -> Line:
    pairs = groupby(zip(signs, styles, strict=True), key=lambda pair: pair[1])
    return tuple(Span("".join(sign for sign, _ in group), style) for style, group in pairs)
