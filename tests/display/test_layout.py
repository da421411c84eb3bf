"""Pages of any width: tables that never break, and a picture that holds the posterior."""

from __future__ import annotations

import numpy as np
import pytest

from outperform.display.formats import (
    count_column,
    display_width,
    signed_column,
    text_column,
)
from outperform.display.layout import Page, cells_of, joined_hdi, picture, plain, stacked
from outperform.display.table import Table
from tests.lazily import lazily
from tests.loops import each

norm = lazily("scipy.stats.norm")

WIDTHS = (80, 100, 120, 200)
BLOCKS = " ▁▂▃▄▅▆▇█"


def normal(mean, sd, rope, **more):
    """Return the facts of a normal posterior, and draws that are its quantiles."""
    law = norm(mean, sd)
    low, high = law.ppf((0.025, 0.975))
    below, above = law.cdf(rope[0]), law.sf(rope[1])
    facts = {
        "mean": mean,
        "hdi": {"low": low, "high": high, "prob": 0.95},
        "rope": {"low": rope[0], "high": rope[1]},
        "decision": {"symbol": "?"},
        "p_worse": below,
        "p_equivalent": 1 - below - above,
        "p_better": above,
        "exact": True,
        **more,
    }
    return law, facts, law.ppf((np.arange(40_000) + 0.5) / 40_000)


QUESTIONS = [
    (-0.015, 0.0037, (-0.005, 0.005)),
    (0.004, 0.0037, (-0.005, 0.005)),
    (0.0, 0.001, (-0.005, 0.005)),
    (0.011, 0.005, (-0.02, 0.01)),
    (0.3, 0.1, (-0.1, 0.1)),
]


@each("width", [60, *WIDTHS])
@each("question", QUESTIONS)
def test_cells_hold_the_posterior(question, width):
    law, facts, draws = normal(*question)
    cells = cells_of(draws, facts, width, margins=(9, 9))
    assert len(cells.sides) == cells.shares.size == width
    # As many draws as quantiles: each cell is right to within two of them.
    assert cells.shares == pytest.approx(np.diff(law.cdf(cells.edges)), abs=2 / draws.size)
    for side in ("worse", "equivalent", "better"):
        held = cells.shares[[one == side for one in cells.sides]].sum()
        outside = 2e-3  # what the window leaves out
        assert held == pytest.approx(facts[f"p_{side}"], abs=outside)
    assert cells.edges[0] < facts["hdi"]["low"] < facts["hdi"]["high"] < cells.edges[-1]
    assert cells.at(facts["hdi"]["low"]) >= 9
    assert cells.at(facts["hdi"]["high"]) < width - 8


def test_sides_turn_round_where_less_is_better():
    _, facts, draws = normal(-0.015, 0.0037, (-0.005, 0.005), greater_is_better=False)
    assert list(dict.fromkeys(cells_of(draws, facts, 80, margins=(9, 9)).sides)) == [
        "better",
        "equivalent",
        "worse",
    ]


@each("question", QUESTIONS)
def test_the_picture_is_the_density(question):
    """Two rows of eighths: each column is as high as the density, to the eighth."""
    law, facts, draws = normal(*question)
    page = Page(width=80)
    cells = cells_of(draws, facts, 80, margins=(9, 9))
    _, top, bottom, *_ = plain(picture(page, draws, facts, 4)).split("\n")
    drawn = [BLOCKS.index(a) + BLOCKS.index(b) for a, b in zip(top.ljust(80), bottom.ljust(80))]  # noqa: B905
    true = np.diff(law.cdf(cells.edges))
    assert np.abs(np.array(drawn) - 16 * true / true.max()).max() < 1.2


@each("question", QUESTIONS)
def test_colours_are_those_of_the_sides(question):
    _, facts, draws = normal(*question)
    cells = cells_of(draws, facts, 80, margins=(9, 9))
    labels, top, bottom, bar, axis, _ = picture(Page(width=80), draws, facts, 4)
    for line in (top, bottom, axis):
        assert tuple(style for text, style in line for _ in text) == cells.sides
    assert [(text.split(" ")[0], style) for text, style in labels if style] == [
        (side, side) for side in dict.fromkeys(cells.sides)
    ]
    assert {style for _, style in bar} == {""}  # it is undecided


def test_the_bar_of_a_decision_has_its_colour():
    _, facts, draws = normal(-0.015, 0.0037, (-0.005, 0.005), decision={"symbol": "≪"})
    bar = picture(Page(), draws, facts, 4)[3]
    assert [text[0] + text[-1] for text, style in bar if style == "worse"] == ["├┤"]


@each(
    "rope", [(-0.005, 0.005), (-1e-5, 1e-5), (0.0, 0.0), (-2.0, 2.0), (0.001, 0.002), (-0.02, 0.0)]
)
@each("width", [40, *WIDTHS])
def test_no_rope_breaks_the_picture(rope, width):
    _, facts, draws = normal(-0.015, 0.0037, rope)
    lines = picture(Page(width=width), draws, facts, 4)
    assert len(lines) == (6 if width >= 60 else 2)
    assert max(map(len, plain(lines).split("\n"))) <= width


def test_a_narrow_rope_keeps_its_zero():
    _, facts, draws = normal(-0.05, 0.1, (-0.005, 0.005))
    *_, axis, labels = plain(picture(Page(width=80), draws, facts, 4)).split("\n")
    assert labels.strip() == "−0.005  0  +0.005"
    assert axis[labels.index(" 0 ") + 1] == "┬"
    _, facts, draws = normal(-0.3, 0.05, (-0.005, 0.005))  # the zero is too near to the end
    assert plain(picture(Page(width=80), draws, facts, 4)).split("\n")[-1].strip() == "±0.005"


def test_a_seed_has_no_part_in_what_is_exact():
    page, signature = Page(width=80), "outperform 0.1.0 | compare | seed=0"
    assert plain(page.method("90 items", "exact", signature=signature)).startswith(
        "90 items · exact · "
    )
    assert "200 draws, seed 0" in plain(page.method("200 draws", signature=signature))


def test_a_posterior_without_spread_is_drawn():
    hdi = {"low": 0.0, "high": 0.0, "prob": 0.95}
    facts = {"mean": 0.0, "hdi": hdi, "exact": True, "p_worse": 0.0, "p_equivalent": 1.0,
             "p_better": 0.0, "rope": {"low": 0.0, "high": 0.0}}  # fmt: skip
    assert "●" in plain(picture(Page(), np.zeros(100), facts, 4))


def table(n=20):
    names = [f"comp.sys.{'very-' * 6}long.name.hardware.{k}" for k in range(n)]
    columns = (
        text_column("class"),
        count_column("n"),
        *(signed_column(key) for key in ("observed", "mean", "hdi_low", "hdi_high", "sd")),
        *(text_column(f"more {k}") for k in range(8)),
        text_column("decision"),
    )
    numbers = dict.fromkeys(("observed", "mean", "hdi_low", "hdi_high", "sd"), -0.0123)
    rows = tuple(
        {"class": name, "n": 400, **numbers, **{f"more {k}": "12.3%" for k in range(8)},
         "decision": "≪"} for name in names
    )  # fmt: skip
    return joined_hdi(Table(columns, rows), heading="95% HDI")


@each("encoding", ["utf-8", "ascii"])
@each("width", [40, *WIDTHS])
def test_a_row_is_a_line(width, encoding):
    first = ["class", "decision", "mean", "hdi"]
    page = Page(width=width, encoding=encoding)
    lines = plain(page.table(table(), first=first, labels=["class"])).split("\n")
    assert len(lines) == 21
    assert max(map(display_width, lines)) <= width
    assert len({line.split(" ")[0] for line in lines}) == 21  # cut names still differ
    assert "decision" in lines[0]
    assert all("≪" in one or "<<" in one for one in lines[1:])


def test_wider_pages_show_more():
    shown = [
        plain(Page(width=width).table(table(), labels=["class"])).split("\n")[0].split()
        for width in WIDTHS
    ]
    assert all(set(a) < set(b) for a, b in zip(shown, shown[1:]))  # noqa: B905, RUF007


def test_sentences_do_not_grow_with_the_page():
    lines = plain(Page(width=200).text("word " * 100)).split("\n")
    assert max(map(len, lines)) <= 100


def test_only_decisions_are_coloured():
    rows = tuple({"model": name, "decision": one} for name, one in zip("abcd", "≫≪≈<", strict=True))
    lines = Page().table(Table((text_column("model"), text_column("decision")), rows))
    assert [style for line in lines[1:] for _, style in line if style] == [
        "better",
        "worse",
        "equivalent",
    ]


def test_blocks_are_apart_and_empty_ones_leave_no_gap():
    page = Page()
    assert plain(stacked(page.text("a"), [], page.text("b"))) == "a\n\nb"


def test_wide_letters_are_counted():
    name = "迷惑メール" * 5
    rows = ({"model": name, "n": 5},)
    lines = Page(width=24).table(
        Table((text_column("model"), count_column("n")), rows), labels=["model"]
    )
    assert max(map(display_width, plain(lines).split("\n"))) <= 24
    assert max(map(display_width, plain(Page(width=24).text(f"{name} {name}")).split("\n"))) <= 24
