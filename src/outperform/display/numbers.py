"""Formatting of numbers and labels: digits, and text escaped for every format."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from math import ceil, floor, isfinite, isnan, log10, sqrt
from typing import Any
from unicodedata import category

from outperform.errors import UsageError

DIGITS = 4
UNDEFINED = "undefined"
_EXACT_EDGE = 1e-4  # exact probabilities closer than this to 0 or 1 are shown as a bound
_LARGEST_PLAIN_FACTOR = 1000.0
_ROUNDING = 1e-12  # a smaller spread is only rounding error


def plain(value: float, digits: int = DIGITS) -> str:
    """Return a number with a fixed number of decimals and thousands separators.

    Examples
    --------
    >>> plain(0.60234), plain(-0.00001), plain(1234.5, 1)
    ('0.6023', '0.0000', '1,234.5')
    """
    if isnan(value):
        return UNDEFINED
    text = f"{value:,.{digits}f}"
    return text.removeprefix("-") if _is_zero(text) else text.replace("-", "−")


def signed(value: float, digits: int = DIGITS) -> str:
    """Return a difference with its sign, or without one if it rounds to zero.

    Examples
    --------
    >>> signed(0.0222), signed(-0.10863), signed(0.0)
    ('+0.0222', '−0.1086', '0.0000')
    """
    text = plain(value, digits)
    return text if isnan(value) or value <= 0 or _is_zero(text) else "+" + text


def count(value: float) -> str:
    """Return a count with thousands separators; a sum of weights keeps one decimal.

    Examples
    --------
    >>> count(7532), count(12.5)
    ('7,532', '12.5')
    """
    if isinstance(value, float) and not value.is_integer():
        return plain(value, 1)
    return f"{int(value):,d}"


def rounded(value: float, error: float) -> int:
    """Return a count without the figures that its error makes meaningless.

    Examples
    --------
    >>> rounded(376_814, 94_130), rounded(1_834, 31), rounded(1_834, 0)
    (377000, 1834, 1834)
    """
    step: int = 10 ** max(len(str(round(error))) - 2, 0)
    return step * round(value / step)


def count_with_error(value: float, error: float) -> str:
    """Return a count with its error to two figures; without it if it is zero.

    Examples
    --------
    >>> count_with_error(376_814, 94_130.2), count_with_error(1_834, 31.1)
    ('377,000 ± 94,000', '1,834 ± 31')
    >>> count_with_error(1_834, 0)
    '1,834'
    """
    shown = count(rounded(value, error))
    return f"{shown} ± {count(rounded(error, error))}" if round(error) else shown


def two_figures(value: int) -> int:
    """Return an integer rounded up to two figures.

    Examples
    --------
    >>> two_figures(2312), two_figures(87)
    (2400, 87)
    """
    number = Decimal(value)
    if number.adjusted() < 2:
        return value
    unit = Decimal(1).scaleb(number.adjusted() - 1)
    return int((number / unit).to_integral_value(rounding=ROUND_CEILING) * unit)


def percent(share: float) -> str:
    """Return a nominal level such as 0.95 as a percentage.

    Examples
    --------
    >>> percent(0.95), percent(0.999)
    ('95%', '99.9%')
    """
    return f"{100 * share:.6g}%"


def decimals(spread: float | None, *, least: int = DIGITS) -> int:
    """Return the number of decimals that suits values that vary by ``spread``.

    Shows two significant figures of the standard deviation, and at least ``least`` decimals unless
    the standard deviation exceeds one unit.

    Examples
    --------
    >>> decimals(0.0076), decimals(0.00002), decimals(120.0), decimals(0.0)
    (4, 6, 0, 4)
    >>> decimals(0.032), decimals(0.032, least=0)
    (4, 3)
    """
    if spread is None or not isfinite(spread) or spread < _ROUNDING:
        return DIGITS
    two_figures = 1 - floor(log10(spread))
    if spread >= 1:
        return max(0, two_figures)
    return min(12, max(least, two_figures))


def probability(p: float, n_draws: int | None = None, mcse: float | None = None) -> str:
    """Return a probability in per cent, never as 0% or 100%.

    If the event occurs in at most three of S draws, or in all but at most three, the result is the
    bound 3/S, the upper end of a 95% interval after no event in S trials. It is rounded up to one
    figure: below 0.02% with 20,000 draws. An exact probability (no ``n_draws`` and no ``mcse``) has
    two decimals.

    Parameters
    ----------
    p
        Probability between 0 and 1.
    n_draws
        Number of draws; None if the probability is exact.
    mcse
        Monte Carlo standard error, if known more precisely than from ``n_draws``.

    Examples
    --------
    >>> probability(0.9731, 20_000), probability(0.0, 20_000), probability(1.0, 20_000)
    ('97.3%', '<0.02%', '>99.98%')
    >>> probability(0.9731), probability(1e-30)
    ('97.31%', '<0.01%')
    """
    if isnan(p):
        return UNDEFINED
    if not -1e-9 <= p <= 1 + 1e-9:
        raise UsageError(f"a probability must be between 0 and 1; got {p!r}")
    p = min(1.0, max(0.0, float(p)))
    if p > 0.5:
        return _from_above(_rare(1 - p, n_draws, mcse))
    return _rare(p, n_draws, mcse)


def shares(parts: Sequence[float], n_draws: int | None = None) -> list[str]:
    """Return probabilities that sum to one as percentages that sum to 100%.

    All have the same number of decimals. A share that rounds to zero is shown as less than one unit
    of the last decimal, and a share without any draws as less than its bound.

    Examples
    --------
    >>> shares([0.0027, 0.1611, 0.8362], 20_000), shares([0.9, 0.0998, 0.0002], 20_000)
    (['0.3%', '16.1%', '83.6%'], ['90.0%', '10.0%', '<0.1%'])
    >>> shares([0.33334, 0.33335, 0.33331])
    ['33.33%', '33.34%', '33.33%']
    """
    texts = [probability(part, n_draws) for part in parts]
    known = [k for k, text in enumerate(texts) if text[0].isdigit()]
    if len(known) < 2:
        return texts
    n_decimals = min(len(texts[k].rstrip("%").partition(".")[2]) for k in known)
    unit = Decimal(1).scaleb(-n_decimals)
    exact = {k: 100 * Decimal(repr(float(parts[k]))) for k in known}
    rounded = {k: value.quantize(unit) for k, value in exact.items()}
    missing = sum(exact.values(), Decimal(0)).quantize(unit) - sum(rounded.values())
    while missing:
        step = unit.copy_sign(missing)
        free = [k for k in known if 0 <= rounded[k] + step < 100]
        most = max(free, key=lambda k: (exact[k] - rounded[k]) * step)
        rounded[most] += step
        missing -= step
    for k, value in rounded.items():
        texts[k] = f"{value:f}%" if value else f"<{unit:f}%"
    return texts


def interval(low: float, high: float, digits: int = DIGITS, *, sign: bool = False) -> str:
    """Return an interval in words, with signs if it is an interval of differences.

    Examples
    --------
    >>> interval(0.59, 0.613), interval(-0.118, 0.0213, sign=True)
    ('0.5900 to 0.6130', '−0.1180 to +0.0213')
    """
    write = signed if sign else plain
    return f"{write(low, digits)} to {write(high, digits)}"


def rope(low: float, high: float) -> str:
    """Return a region of practical equivalence as briefly as possible.

    Examples
    --------
    >>> rope(-0.01, 0.01), rope(-0.02, 0.01)
    ('±0.01', '−0.02 to +0.01')
    """
    if low == -high:
        return f"±{high:.6g}"
    return " to ".join(f"{end:+.6g}".replace("-", "−") if end else "0" for end in (low, high))


def bayes_factor(bf: Mapping[str, Any]) -> str:
    """Return a Bayes factor in the direction where it exceeds one.

    Parameters
    ----------
    bf
        ``bf01`` or ``log10_bf10`` or both, and ``bound``: ``"upper"`` or ``"lower"`` if
        ``bf01`` is only a bound.

    Examples
    --------
    >>> bayes_factor({"bf01": 12.34}), bayes_factor({"bf01": 1 / 4100, "bound": "upper"})
    ('BF01 = 12.3', 'BF10 > 4.1e+03')
    """
    log10_bf01 = _log10_bf01(bf)
    if isnan(log10_bf01):
        return f"BF01 {UNDEFINED}"
    relation = {None: "=", "upper": "<", "lower": ">"}[bf.get("bound")]
    if log10_bf01 >= 0:
        return f"BF01 {_factor(log10_bf01, relation)}"
    flipped = {"=": "=", "<": ">", ">": "<"}[relation]
    return f"BF10 {_factor(-log10_bf01, flipped)}"


def _is_zero(text: str) -> bool:
    return not text.strip("-0.")


def _rare(p: float, n_draws: int | None, mcse: float | None) -> str:
    """Return the text of a probability of at most a half."""
    if n_draws is None and not mcse:
        return f"<{100 * _EXACT_EDGE:g}%" if p < _EXACT_EDGE else f"{100 * p:.2f}%"
    if n_draws is not None:
        bound = _bound(min(1.0, 3 / n_draws))
        if 100 * p < float(bound):  # too few draws to distinguish from none
            return f"<{bound}%"
    error = mcse or (sqrt(p * (1 - p) / n_draws) if n_draws else 0.0)
    n_decimals = max(1, ceil(-log10(100 * error) - 1e-9)) if error > 0 else 2
    text = f"{100 * p:.{n_decimals}f}"
    return f"<{_bound(min(1.0, p + 2 * error))}%" if _is_zero(text) else text + "%"


def _bound(share: float) -> str:
    """Return a bound in per cent, rounded up to one significant figure."""
    return _fixed(_significant(Decimal(repr(float(share))) * 100, 1, ROUND_CEILING))


def _from_above(rare: str) -> str:
    """Convert the text of 1 - p to the text of p, with the same decimals."""
    complement = Decimal(100) - Decimal(rare.strip("<%"))
    return (">" if rare.startswith("<") else "") + f"{complement:f}%"


def _significant(value: Decimal, figures: int, rounding: str) -> Decimal:
    unit = Decimal(1).scaleb(value.adjusted() - figures + 1)
    return value.quantize(unit, rounding=rounding)


def _fixed(value: Decimal) -> str:
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _log10_bf01(bf: Mapping[str, Any]) -> float:
    if bf.get("log10_bf10") is not None:
        return -float(bf["log10_bf10"])
    bf01 = float(bf["bf01"])
    return log10(bf01) if bf01 > 0 else float("-inf" if bf01 == 0 else "nan")


def _factor(log10_value: float, relation: str) -> str:
    """Return the text of 10**log10_value, with a bound rounded so that it stays a bound."""
    if log10_value == float("inf"):
        return "> 1e+300"
    exponent = floor(log10_value)
    mantissa = 10 ** (log10_value - exponent)
    rounding = {"=": ROUND_HALF_EVEN, ">": ROUND_FLOOR, "<": ROUND_CEILING}[relation]
    nudge = {"=": 0.0, ">": 1e-9, "<": -1e-9}[relation]  # allows for rounding of the logarithm
    value = Decimal(repr(mantissa * (1 + nudge))).scaleb(exponent)
    figures = 3 if log10_value < log10(_LARGEST_PLAIN_FACTOR) else 2
    rounded = _significant(value, figures, rounding)
    if rounded < Decimal(_LARGEST_PLAIN_FACTOR):
        return f"{relation} {rounded:f}"
    rounded = _significant(rounded, 2, rounding)
    return f"{relation} {rounded.scaleb(-rounded.adjusted()):.1f}e+{rounded.adjusted():02d}"


_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
# These letters and marks are invisible, although their Unicode category is visible.
_INKLESS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0")

# Build logs run commands such as "::set-output" and "##[error]" even inside other text.
_COLON_COMMAND = re.compile(r"(?:(?<=\s)|^):(?=:)")
_HASH_COMMAND = re.compile(r"#(?=#(?:\[|vso\[|teamcity\[))", re.IGNORECASE)

_NO_LINK = "&#8203;"  # a backslash does not stop mentions, which are found after rendering
_MARKDOWN = {character: "\\" + character for character in "\\`*_[]{}~$#"} | {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    "|": "&#124;",
    "@": "@" + _NO_LINK,
}
_MARKDOWN_SPECIAL = re.compile(r"#(?=\d)|:(?=//)|(?<=www)\.|[\\`*_\[\]{}~$#&<>|@]", re.IGNORECASE)
_MARKDOWN_BLOCK = re.compile(r"^(\s*(?:\d+)?)([-+=.)])")

_LATEX = str.maketrans(
    {character: "\\" + character for character in "&%$#_{}"}
    | {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "`": r"\textasciigrave{}",
        "|": r"\textbar{}",
        '"': "{''}",
        # At the start of a row, these would be parsed as an argument of the preceding \\.
        "[": "{[}",
        "]": "{]}",
        "*": "{*}",
        "<": "$<$",
        ">": "$>$",
        "≪": r"$\ll$",
        "≫": r"$\gg$",
        "≈": r"$\approx$",
        "±": r"$\pm$",
        "−": "$-$",
        "…": r"\ldots{}",
    }
)

# Characters that a terminal or build log could interpret, or that cannot be encoded.
_JSON_UNSAFE = re.compile(
    "#(?=#)|[\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)

_TERMINAL_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_FORMULA = re.compile(r"[\s\"']*[=+\-@＝＋－＠]|[\t\r\n]")


def for_text(label: object, *, limit: int | None = None) -> str:
    r"""Return a label as one line of safe, visible text.

    Control characters, terminal escapes, bidirectional overrides, zero-width
    characters and line breaks are written out as escapes.

    Parameters
    ----------
    label
        The label, as in the data.
    limit
        Maximum length; longer text ends in an ellipsis.

    Examples
    --------
    >>> print(for_text("spam\u202egpj"), for_text(""), for_text("x" * 50, limit=5))
    spam\u202egpj (empty) xxxx…
    """
    text = str(label)
    if not text:
        return "(empty)"
    if text.isspace():
        return _shorten([_written_out(character) for character in text], limit)
    pieces = [_written_out(c) if _is_hidden(c) else c for c in text]
    line = _shorten(pieces, limit)
    return _COLON_COMMAND.sub(r"\\x3a", _HASH_COMMAND.sub(r"\\x23", line))


def for_markdown(label: object, *, limit: int | None = None, inline: bool = False) -> str:
    r"""Return a label for Markdown: no markup, no links, no mentions.

    Parameters
    ----------
    label
        The label, as in the data.
    limit
        Maximum length before escaping.
    inline
        Whether the label is never at the start of a line, as in a table cell. Otherwise markup for
        lists and headings is escaped too.

    Examples
    --------
    >>> for_markdown("a|b"), for_markdown("nb_bern"), for_markdown("@team")
    ('a&#124;b', 'nb\\_bern', '@&#8203;team')
    """
    text = for_text(label, limit=limit)
    escaped = _MARKDOWN_SPECIAL.sub(_markdown_piece, text)
    return escaped if inline else _MARKDOWN_BLOCK.sub(r"\1\\\2", escaped)


def for_latex(label: object, *, limit: int | None = None) -> str:
    r"""Return a label for LaTeX, with special characters escaped.

    Parameters
    ----------
    label
        The label, as in the data.
    limit
        Maximum length before escaping.

    Examples
    --------
    >>> print(for_latex("50% of R&D_1"))
    50\% of R\&D\_1
    """
    text = for_text(label, limit=limit).translate(_LATEX)
    return re.sub("-(?=-)", "-{}", text)


_HYPHEN = re.compile(r"(?<![^\s(])-(?=[\d.])")


def true_minus(text: str) -> str:
    """Return text with minus signs instead of hyphens before numbers.

    Examples
    --------
    >>> true_minus("lower by 0.01 (95% HDI -0.02 to -0.01) in state-of-2020")
    'lower by 0.01 (95% HDI −0.02 to −0.01) in state-of-2020'
    """
    return _HYPHEN.sub("−", text)


def for_json(text: str) -> str:
    r"""Return JSON that is safe to print, with terminal control characters as escapes.

    Parameters
    ----------
    text
        JSON as ``json.dumps`` writes it.

    Examples
    --------
    >>> print(for_json('{"label": "\x9b31m ##[error]"}'))
    {"label": "\u009b31m \u0023#[error]"}
    """
    return _JSON_UNSAFE.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def for_csv(label: object) -> str:
    r"""Return a text cell that spreadsheets and terminals do not execute.

    Parameters
    ----------
    label
        The label, as in the data. Tabs and line breaks are kept.

    Examples
    --------
    >>> for_csv("=1+1"), for_csv("spam"), print(for_csv("\x1b[31m\a"))
    \x1b[31m\x07
    ("'=1+1", 'spam', None)
    """
    text = _TERMINAL_CONTROL.sub(lambda match: _written_out(match.group()), str(label))
    return "'" + text if _FORMULA.match(text) else text


def _is_hidden(character: str) -> bool:
    if character.isascii():
        return not character.isprintable()
    code = ord(character)
    return (
        category(character) in _HIDDEN_CATEGORIES
        or character in _INKLESS
        or 0xFE00 <= code <= 0xFE0D  # variation selectors, except the two used by emoji
        or 0xE0100 <= code <= 0xE01EF
        or 0xFDD0 <= code <= 0xFDEF
        or code & 0xFFFE == 0xFFFE  # not characters
    )


def _written_out(character: str) -> str:
    if character == " ":
        return r"\x20"
    return character.encode("unicode_escape").decode("ascii")


def _shorten(pieces: list[str], limit: int | None) -> str:
    """Join pieces up to the limit, and never cut inside an escape."""
    if limit is None or sum(map(len, pieces)) <= limit:
        return "".join(pieces)
    start, room = [], limit - 1
    for piece in pieces:
        room -= len(piece)
        if room < 0:
            break
        start.append(piece)
    return "".join(start) + "…"


def _markdown_piece(match: re.Match[str]) -> str:
    character = match.group()
    following = match.string[match.end() : match.end() + 1]
    if character in ":." or (character == "#" and following.isdigit()):
        return character + _NO_LINK
    return _MARKDOWN[character]
