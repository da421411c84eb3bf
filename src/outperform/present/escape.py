"""Labels are untrusted text: how each format shows them without obeying them."""

from __future__ import annotations

import re
from html import escape as _escape_html
from unicodedata import category

_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
# Letters and marks that leave no ink although their category says they do.
_INKLESS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0")

# Build logs obey lines such as "::set-output" and "##[error]" even inside other text.
_COLON_COMMAND = re.compile(r"(?:(?<=\s)|^):(?=:)")
_HASH_COMMAND = re.compile(r"#(?=#(?:\[|vso\[|teamcity\[))", re.IGNORECASE)

_NO_LINK = "&#8203;"  # a backslash does not stop mentions: they are found after rendering
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
        # A row that begins with these would be read as an argument of the \\ before it.
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

# What a terminal or a build log might obey, or what cannot be encoded.
_JSON_UNSAFE = re.compile(
    "#(?=#)|[\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)

_FORMULA = re.compile(r"[\s\"']*[=+\-@＝＋－＠]|[\t\r\n]")


def for_text(label: object, *, limit: int | None = None) -> str:
    r"""Return a label as one line of harmless, visible text.

    Control characters, terminal escapes, bidirectional overrides, zero-width
    characters and line breaks are written out as escapes.

    Parameters
    ----------
    label
        The label as it came from the data.
    limit
        The longest text allowed; what is longer ends in an ellipsis.

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
    shown = _shorten(pieces, limit)
    return _COLON_COMMAND.sub(r"\\x3a", _HASH_COMMAND.sub(r"\\x23", shown))


def for_markdown(label: object, *, limit: int | None = None, inline: bool = False) -> str:
    r"""Return a label for Markdown: no markup, no links, no mentions.

    Parameters
    ----------
    label
        The label as it came from the data.
    limit
        The longest text allowed, before escaping.
    inline
        Whether the label never begins a line, as in a table's cell; otherwise
        what would begin a list or a heading is escaped too.

    Examples
    --------
    >>> for_markdown("a|b"), for_markdown("nb_bern"), for_markdown("@team")
    ('a&#124;b', 'nb\\_bern', '@&#8203;team')
    """
    text = for_text(label, limit=limit)
    shown = _MARKDOWN_SPECIAL.sub(_markdown_piece, text)
    return shown if inline else _MARKDOWN_BLOCK.sub(r"\1\\\2", shown)


def for_latex(label: object, *, limit: int | None = None) -> str:
    r"""Return a label for LaTeX, with every special character written out.

    Parameters
    ----------
    label
        The label as it came from the data.
    limit
        The longest text allowed, before escaping.

    Examples
    --------
    >>> print(for_latex("50% of R&D_1"))
    50\% of R\&D\_1
    """
    text = for_text(label, limit=limit).translate(_LATEX)
    return re.sub("-(?=-)", "-{}", text)


def for_html(label: object, *, limit: int | None = None) -> str:
    """Return a label for HTML, safe between tags and in quoted attributes.

    Parameters
    ----------
    label
        The label as it came from the data.
    limit
        The longest text allowed, before escaping.

    Examples
    --------
    >>> for_html("<b>")
    '&lt;b&gt;'
    """
    return _escape_html(for_text(label, limit=limit), quote=True)


def for_json(text: str) -> str:
    r"""Return JSON that is safe to print: the same, with what a terminal obeys as escapes.

    Parameters
    ----------
    text
        JSON as ``json.dumps`` writes it.

    Examples
    --------
    >>> print(for_json('{"label": "\x9b31m ##[error]"}'))
    {"label": "\u009b31m \u0023#[error]"}
    """
    return _JSON_UNSAFE.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def for_csv(label: object) -> str:
    """Return a text cell that no spreadsheet takes for a formula.

    Parameters
    ----------
    label
        The label as it came from the data; it is kept otherwise unchanged.

    Examples
    --------
    >>> for_csv("=1+1"), for_csv("spam")
    ("'=1+1", 'spam')
    """
    text = str(label)
    return "'" + text if _FORMULA.match(text) else text


def _is_hidden(character: str) -> bool:
    if character.isascii():
        return not character.isprintable()
    code = ord(character)
    return (
        category(character) in _HIDDEN_CATEGORIES
        or character in _INKLESS
        or 0xFE00 <= code <= 0xFE0D  # variation selectors, but for the two that emoji use
        or 0xE0100 <= code <= 0xE01EF
        or 0xFDD0 <= code <= 0xFDEF
        or code & 0xFFFE == 0xFFFE  # not characters at all
    )


def _written_out(character: str) -> str:
    if character == " ":
        return r"\x20"
    return character.encode("unicode_escape").decode("ascii")


def _shorten(pieces: list[str], limit: int | None) -> str:
    """Join pieces, cut between two of them (never inside an escape) at the limit."""
    if limit is None or sum(map(len, pieces)) <= limit:
        return "".join(pieces)
    kept, room = [], limit - 1
    for piece in pieces:
        room -= len(piece)
        if room < 0:
            break
        kept.append(piece)
    return "".join(kept) + "…"


def _markdown_piece(match: re.Match[str]) -> str:
    character = match.group()
    following = match.string[match.end() : match.end() + 1]
    if character in ":." or (character == "#" and following.isdigit()):
        return character + _NO_LINK
    return _MARKDOWN[character]
