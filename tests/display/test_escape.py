from __future__ import annotations

import html
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outperform.display.numbers import for_csv, for_latex, for_markdown, for_text
from tests.display.payloads import every_payload
from tests.loops import each

ANYTHING = st.text(st.characters(), max_size=60)
FORBIDDEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}


@every_payload
def test_text_is_one_visible_line(payload):
    shown = for_text(payload)
    assert shown.strip()
    assert len(shown.splitlines()) == 1
    assert not {unicodedata.category(character) for character in shown} & FORBIDDEN


@given(ANYTHING)
def test_any_text_is_one_visible_line_and_stays_as_it_is(text):
    shown = for_text(text)
    assert len(shown.splitlines()) == 1
    assert not {unicodedata.category(character) for character in shown} & FORBIDDEN
    assert for_text(shown) == shown
    shown.encode("utf-8")


@each(
    ("label", "shown"),
    [
        ("spam", "spam"),
        ("", "(empty)"),
        ("  ", r"\x20\x20"),
        ("a\u202eb", r"a\u202eb"),
        ("a\nb\tc\r", r"a\nb\tc\r"),
        ("\x1b[31m", r"\x1b[31m"),
        ("a\u200bb", r"a\u200bb"),
        ("a\u2028b", r"a\u2028b"),
        ("\U000e0041", r"\U000e0041"),
        ("\udc80", r"\udc80"),
        ("\u3164", r"\u3164"),
        ("\ufffe", r"\ufffe"),
        ("::warning::x", r"\x3a:warning::x"),
        ("std::vector", "std::vector"),
        ("x ::error::y", r"x \x3a:error::y"),
        ("##[group]", r"\x23#[group]"),
        ("###vso[x]", r"#\x23#vso[x]"),
        ("## heading", "## heading"),
        ("naïve 迷惑 👍", "naïve 迷惑 👍"),
        (3, "3"),
        (True, "True"),
    ],
)
def test_labels_are_shown(label, shown):
    assert for_text(label) == shown


def test_long_labels_are_cut_only_if_asked():
    assert for_text("x" * 10_000) == "x" * 10_000
    assert for_text("x" * 40, limit=40) == "x" * 40
    assert for_text("x" * 41, limit=40) == "x" * 39 + "…"


def test_an_escape_is_never_cut_in_two():
    assert for_text("abc\u202edef", limit=8) == "abc…"
    assert for_text("abc\u202edef", limit=10) == r"abc\u202e…"


@given(ANYTHING, st.integers(2, 50))
def test_cut_labels_fit(text, limit):
    # The neutralised command of a build log is written out after the cut.
    assert len(for_text(text, limit=limit)) <= max(limit, len("(empty)")) + 3 * text.count(":") + (
        3 * text.count("#")
    )


@every_payload
def test_markdown_has_no_live_markup(payload):
    escaped = re.sub("&#?[0-9a-z]+;", " ", for_markdown(payload))
    assert not set(escaped) & set("<>|&")
    assert not re.search(r"(?<!\\)(?:\\\\)*[`*_\[\]~${}]", escaped)
    assert not re.search(r"@\w", escaped)
    assert not re.search(r"#\d", escaped)
    assert "://" not in escaped
    assert not re.search(r"www\.\w", escaped)


@given(ANYTHING)
def test_markdown_can_be_undone(text):
    entities_read = html.unescape(for_markdown(text, inline=True)).replace("\u200b", "")
    assert re.sub(r"\\([\\`*_\[\]{}~$#])", r"\1", entities_read) == for_text(text)


@pytest.mark.parametrize(
    ("label", "shown"),
    [("- item", r"\- item"), ("1. item", r"1\. item"), ("+1", r"\+1"), ("=====", r"\=====")],
)
def test_markdown_begins_no_block(label, shown):
    assert for_markdown(label) == shown
    assert for_markdown(label, inline=True) == label


@each(
    ("label", "shown"),
    [
        ("50% & more", r"50\% \& more"),
        ("$x_1^2$", r"\$x\_1\textasciicircum{}2\$"),
        (r"\input{x}", r"\textbackslash{}input\{x\}"),
        ("#1 ~", r"\#1 \textasciitilde{}"),
        ("[0.1]", "{[}0.1{]}"),
        ("a--b", "a-{}-b"),
        ("a < b", "a $<$ b"),
        ("≪ ≫ ≈ ±", r"$\ll$ $\gg$ $\approx$ $\pm$"),
        ("a − b", "a $-$ b"),
    ],
)
def test_latex_specials(label, shown):
    assert for_latex(label) == shown


LATEX_WORDS = re.compile(
    r"\\(?:textbackslash|textasciitilde|textasciicircum|textasciigrave|textbar|ldots)\{\}"
    r"|\$(?:<|>|-|\\ll|\\gg|\\approx|\\pm)\$|\\[&%$#_{}]|\{(?:''|\[|\]|\*)\}|\{\}"
)


@every_payload
def test_latex_has_only_known_commands(payload):
    rest = LATEX_WORDS.sub("", for_latex(payload))
    assert not set(rest) & set('\\&%$#_{}~^`|"<>[]*')


@each(
    "label",
    ["=1", "+1", "-1", "@x", "\tx", "\rx", "\nx", "  =1", '"=1', "'=1", "＝1", " \t@x"],
)
def test_formulas_are_disarmed(label):
    assert for_csv(label) == "'" + label


@each("label", ["spam", "a=b", "e-mail", "", "≫ better", "0.5"])
def test_other_text_is_kept_in_csv(label):
    assert for_csv(label) == label


@each("code", [*range(0x20), *range(0x7F, 0xA0)])
def test_csv_holds_nothing_that_a_terminal_obeys(code):
    written = for_csv(f"a{chr(code)}b")
    assert written == (f"a{chr(code)}b" if chr(code) in "\t\n\r" else f"a\\x{code:02x}b")
