"""Cards: what they say, what they are made of, and that data are text in them."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest

from outperform.display.cards import style, table_html
from outperform.display.colours import LIGHT
from outperform.display.document import Document
from outperform.display.formats import Column, count_column, text_column
from outperform.display.layout import joined_hdi
from outperform.display.numbers import true_minus
from outperform.display.pictures import (
    TALL,
    WIDE,
    Html,
    Span,
    _part,
    density,
    element,
    position,
    smooth,
    spans_html,
    tone,
)
from outperform.display.screen import comparison_document, estimate_document
from outperform.display.sentences import comparison_table, headline
from tests.display.payloads import attack, every_payload
from tests.loops import each

DRAWS = np.random.default_rng(1).normal(-0.1086, 0.0076, size=4_000)


def shown(facts):
    make = comparison_document if "names" in facts else estimate_document
    return make(facts, draws=DRAWS).html()


def without_style(text):
    return re.sub(r"<style>.*?</style>", "", text, flags=re.DOTALL)


def test_it_says_what_the_text_says(read_html, facts):
    text = read_html(shown(facts)).text
    for words in (
        true_minus(headline(facts)),
        "nb_bern − nb_mult",
        "worse >99.98%",
        "equivalent <0.02%",
        "warning 12 cells hold nothing.",
        "−0.1234 to −0.0937",
        facts["signature"],
    ):
        assert words in text


def test_an_estimate(read_html, facts):
    text = read_html(shown({**facts["a"], "n": 7532})).text
    assert "nb_bern: macro-averaged F1 0.6023" in text
    assert "7,532 items" in text


def test_it_takes_the_colours_of_the_page_and_loads_nothing(facts):
    text = without_style(shown(facts))
    # The three colours are written into pictures, for pages that drop the style.
    assert {*re.findall(r"#\w+", text.replace("&#x27;", ""))} == {*LIGHT.values()}
    for word in ("rgb", "white", "black", "url(", "http", "<script", " style="):
        assert word not in text
    assert not re.search(r"url\(|@import|expression", style())


def test_every_rule_of_the_style_stays_inside_the_card():
    rules = re.sub(r"@(?:media|container)[^{]*\{|/\*.*?\*/", "", style(), flags=re.DOTALL)
    for selector in re.findall(r"([^{}]+)\{", rules):
        assert ".outperform" in selector or selector.strip().startswith(".op-card"), selector


@each("of", ["comparison", "estimate"])
@every_payload
def test_payloads_add_no_element(read_html, of, facts, payload):
    attacked = attack(facts, payload)
    plain, hostile = dict(facts), dict(attacked)
    plain["findings"] = [{"name": "x", "level": "serious", "message": "x"}]
    plain["pos_label"] = "x"
    if of == "estimate":
        plain, hostile = ({**f["a"], "findings": f["findings"]} for f in (plain, hostile))
        plain, hostile = ({**f, "signature": "x", "n": 5} for f in (plain, hostile))
    else:
        plain["signature"] = hostile["signature"] or None
    expected, found = read_html(shown(plain)), read_html(shown(hostile))
    assert found.tags == expected.tags
    assert found.attributes == expected.attributes
    assert not [name for name in found.attributes if name.startswith("on")]


@every_payload
def test_an_element_escapes_all_but_markup(payload):
    made = element("p", payload, element("b", payload), Html("<i></i>"), title=payload)
    assert made.count("<") == made.count(">") == 6
    assert re.fullmatch(r"<p title=\"[^\"<>]*\">.*</p>", made.rstrip("\n"), flags=re.DOTALL)


FOLDS = re.compile(r'<details class="op-finding op-(\w+)"( open)?>')


def test_notes_are_folded_to_a_line_and_warnings_are_open(facts):
    serious = {"name": "grave", "level": "serious", "message": "Do not trust this."}
    notes = [{"name": name, "level": "note", "message": "So."} for name in ("judged", "judge_bias")]
    text = shown({**facts, "findings": [*facts["findings"], serious, *notes]})
    folds = FOLDS.findall(text)
    assert folds[:2] == [("serious", " open"), ("warning", " open")]
    assert sorted(folds[2:]) == [("note", ""), ("note", " open"), ("note", " open")]
    for name in ("judged", "judge_bias"):  # the result depends on the correction
        assert re.search(rf'op-note" open><summary>(?:(?!</summary>).)*{name}</code>', text)


def test_few_findings_are_not_folded(facts):
    assert all(opened for _, opened in FOLDS.findall(shown(facts)))


def test_numbers_in_findings_have_a_true_minus(facts):
    note = {"name": "judge_bias", "level": "note", "message": "A shift of -0.004 in gpt-4."}
    assert "A shift of −0.004 in gpt-4." in shown({**facts, "findings": [note]})


def test_the_parts_of_the_picture_end_at_the_rope(facts):
    draws = np.random.default_rng(1).normal(0, 0.01, size=4_000)  # the ROPE is ±0.01
    text = density(draws, facts, label="x")
    drawn = re.findall(r'<path d="([^"]*)" class="op-zone op-(\w+)" fill="(#\w+)"', text)
    assert [(name, fill) for _, name, fill in drawn] == [*LIGHT.items()]
    rope = re.search(r'<rect x="([\d.]+)%" width="([\d.]+)%"', text)
    low = float(rope[1]) * WIDE / 100
    high = low + float(rope[2]) * WIDE / 100
    ends = [
        (x.min(), x.max())
        for path, _, _ in drawn
        for x in [np.array([float(one) for one in re.findall(r"([\d.]+),", path)])]
        if x.size
    ]
    assert len(ends) == 3
    (_, first), (second, third), (fourth, _) = ends
    assert np.allclose([first, second, third, fourth], [low, low, high, high], atol=0.15)


def test_the_parts_of_steps_add_up_to_the_whole():
    """Draws of few values are steps; an end of the ROPE may lie on one."""
    x, y = np.array([0.0, 10, 10, 20, 20, 30]), np.array([50.0, 50, 10, 10, 80, 80])

    def area(path):
        points = np.array([[float(n) for n in one.split(",")] for one in path[1:-1].split("L")])
        return np.trapezoid(TALL - points[:, 1], points[:, 0])

    whole = area(_part(x, y, 0, WIDE))
    assert whole == 10 * (3 * TALL - 140)
    for edges in ([0, 10, 20, 30], [0, 5, 10, 30], [0, 12, 12, 30], [0, 20, 500, WIDE]):
        paths = [_part(x, y, *part) for part in pairwise(edges)]
        assert sum(area(path) for path in paths if path) == pytest.approx(whole)
    assert area(_part(x, y, 10, 20)) == 10 * (TALL - 10)


def test_a_metric_where_less_is_better_turns_the_parts_round(facts):
    lower = density(DRAWS, {**facts, "greater_is_better": False}, label="x")
    assert re.findall(r"op-zone op-(\w+)", lower) == ["better", "equivalent", "worse"]


def test_the_bar_lies_where_the_hdi_is(facts):
    text = density(DRAWS, facts, label="x")
    bar = re.search(r'<line x1="([\d.]+)%" x2="([\d.]+)%"[^>]*class="op-bar', text)
    rope = re.search(r'<rect x="([\d.]+)%" width="([\d.]+)%"', text)
    left, right = map(float, bar.groups())
    start, width = map(float, rope.groups())
    # Both are on one scale: the widths of the HDI and of the ROPE are to each other as drawn.
    assert (right - left) / width == pytest.approx((-0.0937 + 0.1234) / 0.02, rel=2e-3)
    assert (start - right) / width == pytest.approx((-0.01 + 0.0937) / 0.02, rel=2e-3)


def test_the_curve_of_draws_is_their_density():
    draws = np.random.default_rng(0).normal(2.0, 0.5, size=100_000)
    grid, height = smooth(draws)
    height = height / (height.sum() * (grid[1] - grid[0]))
    exact = np.exp(-0.5 * ((grid - 2.0) / 0.5) ** 2) / (0.5 * np.sqrt(2 * np.pi))
    # A kernel of bandwidth h lowers the peak by h²/2 of its curvature, and bins vary by chance.
    assert np.abs(height - exact).max() < 0.03 * exact.max()


@pytest.mark.parametrize("draws", [np.zeros(500), np.repeat([0.0, 0.5, 1.0], 200), [0.1, 0.2]])
def test_few_different_draws_have_an_outline_too(draws):
    grid, height = smooth(np.asarray(draws, dtype=float))
    assert np.isfinite(grid).all()
    assert (np.diff(grid) >= 0).all()
    assert height.max() > 0


def test_one_interval_a_row_on_one_scale():
    spans = [
        Span(low=-0.1, high=0.1, mean=0.0, rope=(-0.05, 0.05), tone="better"),
        Span(low=0.0, high=0.2, mean=0.1, observed=float("nan"), tone="worse"),
    ]
    _, drawn = spans_html(spans, zero=True)
    ends = [
        [float(x) for x in re.search(r'<line x1="([\d.]+)%" x2="([\d.]+)%" y1="50%"', one).groups()]
        for one in drawn
    ]
    assert ends[0][1] - ends[0][0] == pytest.approx(ends[1][1] - ends[1][0], abs=0.02)
    assert ends[1][0] == pytest.approx(sum(ends[0]) / 2, abs=0.02)
    assert "op-seen" not in drawn[1]
    assert "nan" not in "".join(drawn)


def test_a_place_is_a_percentage_or_the_nearer_edge():
    assert [position(value, (0.0, 2.0)) for value in (-1.0, 0.5, 9.0)] == [0.0, 25.0, 100.0]


@each(
    ("said", "colour"),
    [("≫ better", "better"), ("WORSE", "worse"), ("pass", "open"), ("<", "open"), ("", "open")],
)
def test_three_decisions_have_a_colour(said, colour):
    assert tone(said) == colour


def test_a_status_has_a_sign_and_no_colour():
    rows = [{"check": word, "status": word} for word in ("pass", "fail", "undecided")]
    page = table_html((text_column("check"), text_column("status")), rows)
    assert re.findall("<td>(.*?)</td>", page) == ["✓ pass", "✗ fail", "? undecided"]


def test_a_long_table_scrolls_and_says_what_it_leaves_out(facts):
    rows = [{"n": k} for k in range(150)]
    columns = (count_column("n"),)
    assert "op-tall" in table_html(columns, rows)
    assert "op-tall" not in table_html(columns, rows[:5])
    table = comparison_table(facts)
    whole = type(table)(columns, tuple(rows))
    text = Document(headline="x", table=whole).html()
    assert "and 50 more rows" in text
    assert text.count("<tr>") == 101


def test_the_first_cell_of_a_row_is_its_heading():
    text = table_html([Column(key="a"), Column(key="b")], [{"a": "x", "b": "y"}])
    assert '<th scope="row" class="op-short" title="x">x</th>\n<td>y</td>' in text
    name = "a-very-long-name-of-a-model-that-is-shortened-in-a-cell"
    assert f'title="{name}">a-very-long-' in table_html([Column(key="a")], [{"a": name}])


def test_both_ends_of_the_hdi_are_one_column(facts):
    table = joined_hdi(comparison_table(facts), aligned=False)
    assert table.keys[-1] == "hdi"
    assert table["hdi"][0] == "0.5915 to 0.6130"
    assert table.columns[-1].title == "95% HDI"


def test_words_of_a_card_stay_apart_without_its_tags_and_style(facts):
    text = re.sub(r"<style>.*?</style>", "", shown(facts), flags=re.DOTALL)
    words = re.sub(r"</?(abbr|b|br|code|span|strong)\b[^>]*>", "", text)
    glued = re.findall(r"[^\s<>]+</[^>]+>(?:<[^>]*>)*[^\s<>]+", words)
    assert not glued
    assert "95% HDI\n" in re.sub(r"<[^>]+>", "", text)
