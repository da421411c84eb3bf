"""Pictures on a screen have the colours of what they say: every part, bar, dot and mark."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import outperform as op
from outperform.display.colours import DARK, LIGHT
from outperform.display.pictures import TALL, outline, smooth, tone
from tests.browsing import photographed, rgb
from tests.loops import each

# The event loop of the browser leaves a socket to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")

WIDTHS = (1280, 390)
SCHEMES = {"light": LIGHT, "dark": DARK}
ZONES = ("worse", "equivalent", "better")
QUICK = {"n_draws": 2_000, "random_state": 1}


@cache
def states() -> dict[str, op.Comparison]:
    """Return a comparison of every decision, and two where less is better."""
    rng = np.random.default_rng(1)
    right = {name: rng.random(400) < share for name, share in (("a", 0.8), ("b", 0.6), ("c", 0.8))}
    seen = op.Outcomes.from_correct(right)
    asked = {"metric": "accuracy", "rope": 0.05, "prior": "bootstrap", **QUICK}
    better, worse = op.compare(seen, "a", "b", **asked), op.compare(seen, "b", "a", **asked)
    y = rng.integers(2, size=300)
    good, poor, same = (
        np.clip(y + (1 - 2 * y) * rng.gamma(2, spread, 300), 0.01, 0.99)
        for spread in (0.1, 0.25, 0.25)
    )
    asked_of_scores = {"metric": "brier_score", "rope": 0.01, "pos_label": 1, **QUICK}
    less = op.compare(y, good, poor, **asked_of_scores)
    return {
        "≫": better,
        "≪": worse,
        "≈": better.with_rope(0.3),
        "across the lower edge": worse.with_rope((worse.mean, 0.05)),
        "across both edges": op.compare(seen, "a", "c", **asked).with_rope(0.01),
        "less is better": less,
        "less is better, across both edges": op.compare(y, same, poor, **asked_of_scores),
    }


def test_the_states_are_what_they_are_called():
    found = {name: c.decision.symbol for name, c in states().items()}
    assert [found[symbol] for symbol in "≫≪≈"] == [*"≫≪≈"]
    assert found["less is better"] == "≫"
    assert states()["less is better"].mean < 0
    assert not {found[name] for name in found if "across" in name} & {*"≫≪≈"}


def host(content: str, *, head: str = "", attributes: str = "") -> str:
    """Return a page around cards, as a notebook has them."""
    return (
        f'<!DOCTYPE html><html {attributes}><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width"><meta name="color-scheme" '
        f'content="light dark">{head}</head><body>{content}</body></html>'
    )


@pytest.fixture
def show(browser):
    """Return a function that shows a page, and gives it with its pixels."""
    contexts = []

    def load(page=None, *, path=None, width=1280, scheme="light", act=None):
        context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
        contexts.append(context)
        shown = context.new_page()
        if path is None:
            shown.set_content(page)
        else:
            shown.goto(path.as_uri())
        if act is not None:
            act(shown)
        return shown, photographed(shown)

    yield load
    for context in contexts:
        context.close()


# Where things lie, in pixels of the page; what a picture's scale is, from its own ticks.
GEOMETRY = """
() => {
  const box = (one) => {
    const found = one.getBoundingClientRect();
    return {x: found.x + scrollX, y: found.y + scrollY, width: found.width, height: found.height};
  };
  return [...document.querySelectorAll("svg.op-density")].map((svg) => {
    const axis = [...svg.querySelectorAll("line.op-axis")].filter((one) => one.checkVisibility());
    const ticks = axis.filter((one) => one.getAttribute("x1") === one.getAttribute("x2"));
    const texts = ticks.map((one) => one.nextElementSibling.textContent);
    return {
      box: box(svg),
      ticks: ticks.map((one, k) => [box(one).x, Number(texts[k].replace("−", "-"))]),
    };
  });
}
"""


def hill_of(c):
    """Return what a comparison's hill is made of."""
    return {
        "outline": outline(c.draws, c.distribution),
        "rope": (c.rope.low, c.rope.high),
        "names": ZONES if c.spec.metric.greater_is_better else ZONES[::-1],
    }


def parts_of(outline, rope, names):
    """Return each part's name, its hill's grid and its heights as shares of the top."""
    grid, height = smooth(outline)
    fine = np.linspace(grid[0], grid[-1], 4_000)
    share = np.interp(fine, grid, height) / height.max()
    low, high = rope
    inside = [fine < low, (fine >= low) & (fine <= high), fine > high]
    return [(name, fine[part], share[part]) for name, part in zip(names, inside, strict=True)]


def check_hill(pixels, drawn, hill, colours):
    """Three places of every visible part have its colour; return the names of those parts."""
    box, ticks = drawn["box"], np.array(drawn["ticks"])
    scale, start = np.polyfit(ticks[:, 1], ticks[:, 0], 1)
    seen = set()
    for name, values, share in parts_of(**hill):
        x = start + scale * values
        tall = share > 0.15
        if not tall.any() or np.ptp(x[tall]) < 8:
            continue
        seen.add(name)
        left, right = x[tall].min() + 3, x[tall].max() - 3
        for at in (left, (left + right) / 2, right):
            height = (TALL - 4) * np.interp(at, x, share)
            row, column = round(box["y"] + TALL - height / 2), round(at - 0.5)
            found = pixels[row, column].tolist()
            assert found == rgb(colours[name]), (name, at)
            if abs(at - start) > 3:  # else the line at zero may lie above
                above = pixels[round(box["y"] + TALL - height) - 4, column].tolist()
                assert above not in [rgb(colour) for colour in colours.values()]
    return seen


MARKS = """
() => {
  const box = (one) => {
    const found = one.getBoundingClientRect();
    return [found.x + scrollX, found.y + scrollY, found.width, found.height];
  };
  const shown = (one) => one.checkVisibility();
  const rows = [...document.querySelectorAll("tr:has(td.op-span)")].filter(shown);
  return {
    rows: rows.map((row) => ({
      bar: box(row.querySelector(".op-bar")),
      dot: box(row.querySelector(".op-dot")),
      mark: row.querySelector(".op-mark") && box(row.querySelector(".op-mark")),
      decision: row.querySelector(".op-mark")?.parentElement.textContent,
      section: row.closest("section")?.id,
      within: box(row.closest(".op-scroll")),
    })),
    heads: [...document.querySelectorAll(".op-head, .decision")].map((one) => ({
      box: box(one), tone: one.className.match(/op-(worse|equivalent|better|open)/)[1],
    })),
    keys: [...document.querySelectorAll(".op-shares > span")].map((one) => [
      box(one.querySelector(".op-mark")), one.textContent.trim().split(" ")[0],
    ]),
    bars: [...document.querySelectorAll("[data-bar]")].map((one) => [box(one), one.dataset.bar]),
  };
}
"""


def middle(pixels, box):
    x, y, width, height = box
    return pixels[int(y + height / 2), int(x + width / 2)].tolist()


def check_marks(page, pixels, colours):
    """Bars, dots, keys and edges have the colour of the words beside them; return how many."""
    found = page.evaluate(MARKS)
    known = {name: rgb(colour) for name, colour in colours.items()}
    counts = Counter()
    for row in found["rows"]:
        if row["decision"] is None:
            continue
        name = tone(row["decision"])
        x, y, width, height = row["bar"]
        left, _, across, _ = row["within"]
        # Dots and diamonds lie on the bar; its first pixels are its own, if it is not cut.
        for place in (row["dot"], (x + 1, y - 1, 1, height + 2)):
            if place[0] < left or place[0] + place[2] > left + across or width < 24:
                continue
            colour = middle(pixels, place)
            if name == "open":
                assert colour not in known.values(), (row, colour)
            else:
                assert colour == known[name], (row, colour)
                counts["rows", row["section"]] += 1
        if name != "open" and row["mark"][0] + row["mark"][2] < left + across:
            assert middle(pixels, row["mark"]) == known[name]
    for head in found["heads"]:
        x, y, _, height = head["box"]
        edge = pixels[int(y + height / 2), int(x + 2)].tolist()
        if head["tone"] == "open":
            assert edge not in known.values()
        else:
            assert edge == known[head["tone"]]
        counts["heads"] += 1
    for box, name in found["keys"]:
        assert middle(pixels, box) == known[name]
        counts["keys"] += 1
    for box, name in found["bars"]:
        if box[2] >= 4:
            assert middle(pixels, box) == known[name]
            counts["bars"] += 1
    return counts


EXPECTED = {
    "≫": {"better"},
    "≪": {"worse"},
    "≈": {"equivalent"},
    "across the lower edge": {"worse", "equivalent"},
    "across both edges": {*ZONES},
    "less is better": {"better"},
    "less is better, across both edges": {*ZONES},
}


def cards() -> str:
    return "".join(c._repr_html_() for c in states().values())


def check_states(page, pixels, colours):
    drawn = page.evaluate(GEOMETRY)
    assert len(drawn) == len(states())
    for one, (name, c) in zip(drawn, states().items(), strict=True):
        assert check_hill(pixels, one, hill_of(c), colours) == EXPECTED[name]
    tones = [head["tone"] for head in page.evaluate(MARKS)["heads"]]
    assert tones == [tone(c.decision.symbol) for c in states().values()]


@each("width", WIDTHS)
@each(
    ("attributes", "scheme", "colours"),
    [
        ("", "light", LIGHT),
        ("", "dark", LIGHT),  # a page without a theme of its own
        ('data-jp-theme-light="false"', "light", DARK),
    ],
)
def test_cards(show, attributes, scheme, colours, width):
    page, pixels = show(host(cards(), attributes=attributes), width=width, scheme=scheme)
    check_states(page, pixels, colours)
    counts = check_marks(page, pixels, colours)
    assert counts["keys"] == 3 * len(states())


HOSTILE = """<style>
  svg { overflow: visible !important; max-width: 100%; height: auto; }
  svg svg { overflow: visible !important; }
  path, svg path { fill: #123456; stroke: none; }
  svg * { fill: #654321; }
</style>"""


def test_no_style_of_the_page_turns_a_card_round(show):
    page, pixels = show(host(cards(), head=HOSTILE))
    check_states(page, pixels, LIGHT)
    page, pixels = show(host(cards(), head="<style>svg { overflow: hidden !important; }</style>"))
    check_states(page, pixels, LIGHT)


def test_a_card_without_its_style_says_the_same(show):
    bare = re.sub(r"<style>.*?</style>", "", cards(), flags=re.DOTALL)
    page, pixels = show(host(bare))
    check_states(page, pixels, LIGHT)


def halfway(page):
    """Move the slider of every section halfway to its right end, and note the ROPEs."""
    page.ropes = page.evaluate(
        """() => JSON.parse(document.getElementById("live").textContent).map((live) => {
          const slider = document.getElementById(`${live.name}-rope`);
          const place = Math.floor((live.chosen + live.ends.length) / 2);
          slider.value = place;
          slider.dispatchEvent(new Event("input"));
          return live.ends[place];
        })"""
    )


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    return op.write_report(states().values(), folder / "states.html")


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_report(show, report, scheme, width):
    page, pixels = show(path=report, width=width, scheme=scheme)
    check_states(page, pixels, SCHEMES[scheme])
    counts = check_marks(page, pixels, SCHEMES[scheme])
    assert counts["bars"] >= len(states())


def test_the_report_after_the_slider_moved(show, report):
    page, pixels = show(path=report, act=halfway)
    drawn = page.evaluate(GEOMETRY)
    moved = 0
    for one, c, rope in zip(drawn, states().values(), page.ropes, strict=True):
        assert check_hill(pixels, one, {**hill_of(c), "rope": rope}, LIGHT)
        moved += rope[1] > c.rope.high
    assert moved >= 4
    assert check_marks(page, pixels, LIGHT)["bars"] >= len(states())


@pytest.fixture(scope="module")
def others(tmp_path_factory):
    """Return every other result whose card has marks in the three colours."""
    rng = np.random.default_rng(2)
    n = 900
    truth = rng.integers(3, size=n)
    wrong = (truth + rng.integers(1, 3, size=n)) % 3
    day = np.repeat(["Mon", "Tue", "Wed"], n // 3)

    def right(share):
        return np.where(rng.random(n) < share, truth, wrong)

    old = right(0.7)
    # Better on Monday, worse on Tuesday, the same on Wednesday.
    new = np.select([day == "Mon", day == "Tue"], [right(0.95), right(0.4)], old)
    models = {"new": new, "old": old, "best": right(0.97)}
    seen = op.Outcomes.from_labels(truth, models, by={"day": day})
    days = {
        key: op.Outcomes.from_labels(truth[part], {name: one[part] for name, one in models.items()})
        for key in ("Mon", "Tue", "Wed")
        for part in [day == key]
    }
    suite = op.Suite(days, metrics="accuracy", ropes=0.05)
    asked = {"metric": "accuracy", "rope": 0.05, **QUICK}
    up, down = op.compare(seen, "best", "old", **asked), op.compare(seen, "old", "best", **asked)
    folder = tmp_path_factory.mktemp("watched")
    watched = op.Monitor(folder, "new", "old", metric="accuracy", rope=0.05, random_state=1)
    for key, batch in days.items():
        watched.add(batch.select(["new", "old"]), key=key)
    return {
        "rank": op.rank(seen, **asked),
        "slices": op.compare_slices(seen, "new", "old", **asked),
        "gate": op.gate(seen, "best", "old", guards=[("f1_macro", None, 0.05)], **asked),
        "closed gate": op.gate(seen, "old", "best", **asked),
        "suite": op.compare(suite, "new", "old", **QUICK),
        "ranked suite": op.rank(suite, **QUICK),
        "scorecard": op.scorecard(
            seen, "best", "old", metrics=["accuracy", "f1_macro"], rope=0.05, **QUICK
        ),
        "classes": down.by_class(),
        "sensitivity": up.sensitivity(),
        "monitor": watched,
        "ratio": states()["≪"].ratio(rope=0.05),
        "estimate": up.a,
    }


# Whose rows have bars and dots in the colour of a decision.
COLOURED = {
    *("rank", "slices", "gate", "closed gate", "suite", "ranked suite", "scorecard", "classes"),
    *("sensitivity", "monitor", "ratio"),
}


@pytest.mark.parametrize(("theme", "colours"), SCHEMES.items())
def test_other_cards(show, others, theme, colours):
    content = "".join(
        f'<section id="{name}">{one._repr_html_()}</section>' for name, one in others.items()
    )
    page, pixels = show(host(content, attributes=f'data-theme="{theme}"'))
    counts = check_marks(page, pixels, colours)
    assert {key[1] for key in counts if key[0] == "rows"} == COLOURED
    assert counts["heads"] == len(others)
    on_tasks, of_model = page.evaluate(GEOMETRY)
    suite = others["suite"]
    hill = {"outline": suite.draws, "rope": (suite.rope.low, suite.rope.high), "names": ZONES}
    assert len(check_hill(pixels, on_tasks, hill, colours)) >= 2
    box = of_model["box"]
    inside = pixels[round(box["y"]) : round(box["y"] + TALL), round(box["x"]) :].reshape(-1, 3)
    other_than_grey = {tuple(rgb(colours[name])) for name in ("worse", "better")}
    assert not other_than_grey & {*map(tuple, inside.tolist())}


def test_other_results_in_a_report(show, others, tmp_path):
    few = [others[name] for name in ("rank", "slices", "closed gate", "suite", "monitor")]
    page, pixels = show(path=op.write_report(few, tmp_path / "others.html"))
    counts = check_marks(page, pixels, LIGHT)
    assert len([key for key in counts if key[0] == "rows"]) == counts["heads"] == len(few)


TICKS = """
() => [...document.querySelectorAll("svg.op-density, th.op-span svg")].map((svg) =>
  [...svg.querySelectorAll("text[text-anchor=middle]")]
    .filter((one) => one.checkVisibility())
    .map((one) => one.getBoundingClientRect())
    .map((box) => [box.left, box.right]))
"""


def test_a_narrow_screen_has_room_for_its_numbers(show, others, report):
    """Numbers of an axis do not touch; a table shows its interval, or that it goes on."""
    content = cards() + "".join(one._repr_html_() for one in others.values())
    page, _ = show(host(content), width=390)
    axes = page.evaluate(TICKS)
    for ends in axes:
        for (_, right), (left, _) in pairwise(sorted(ends)):
            assert left - right > 3
    assert sum(len(ends) >= 2 for ends in axes) > 0.8 * len(axes)
    first = page.locator(".op-card").first.locator(".op-scroll").first
    assert first.evaluate("one => one.scrollWidth <= one.clientWidth")
    page, _ = show(path=report, width=390)
    first = page.locator("#c1 .op-scroll").first
    assert first.evaluate("one => one.scrollWidth <= one.clientWidth")


def test_a_narrow_screen_shows_names_and_intervals_first(show, others):
    """No name is cut, and its HDI can be read without scrolling, on at most two lines."""
    long = "a-model-with-a-very-long-name-of-its-own"
    renamed = op.Outcomes.from_correct(
        {long: [1] * 300 + [0] * 100, f"{long}-2": [1] * 250 + [0] * 150, "c": [0, 1] * 200}
    )
    ranked = op.rank(renamed, metric="accuracy", rope=0.05, **QUICK)
    content = "".join(one._repr_html_() for one in (*others.values(), ranked))
    page, _ = show(host(content), width=390)
    tables = page.evaluate(
        """() => [...document.querySelectorAll(".op-card > .op-scroll")].map((box) => ({
          right: box.getBoundingClientRect().right,
          names: [...box.querySelectorAll("th[scope=row]")]
            .map((one) => [one.scrollWidth, one.clientWidth]),
          intervals: [...box.querySelectorAll("td.op-hdi")]
            .map((one) => one.getBoundingClientRect())
            .map((one) => [one.right, one.height]),
        }))"""
    )
    assert sum(bool(table["intervals"]) for table in tables) >= 8
    for table in tables:
        assert all(wide <= room for wide, room in table["names"])
        assert all(right <= table["right"] for right, _ in table["intervals"])
        assert all(height < 70 for _, height in table["intervals"])


STRUCK = """
() => [...document.querySelectorAll("svg.op-density")].flatMap((svg) => {
  const texts = [...svg.querySelectorAll("text")].map((one) => one.getBoundingClientRect());
  const lines = [...svg.querySelectorAll("line.op-zero")].map((one) => one.getBoundingClientRect());
  return texts.flatMap((text) => lines.filter((line) =>
    line.left < text.right && line.right > text.left
      && line.top < text.bottom - 3 && line.bottom > text.top + 3).map((line) => [text, line]));
})
"""


@pytest.mark.parametrize("width", WIDTHS)
def test_no_line_strikes_a_number(show, width):
    """The number at an end of the interval may lie over zero, where the line has a gap."""
    near = states()["across the lower edge"]
    page, _ = show(host(cards() + near._repr_html_()), width=width)
    assert page.locator("svg.op-density").count() > 2
    assert page.evaluate(STRUCK) == []


def test_a_table_that_goes_on_has_a_shadow_until_its_end(show, others):
    page, before = show(host(others["classes"]._repr_html_()), width=390)
    box = page.locator(".op-scroll").first
    assert box.evaluate("one => one.scrollWidth > one.clientWidth")
    x, y, width, height = box.bounding_box().values()
    edge = slice(round(y + height / 2), round(y + height) - 12), round(x + width) - 2
    assert np.median(before[edge]) < 235
    box.evaluate("one => { one.scrollLeft = one.scrollWidth; }")
    assert np.median(photographed(page)[edge]) > 250


def test_a_documentation_table_shows_that_it_goes_on(show):
    """The shadow at the right edge can be seen through the rows, striped ones too."""
    sheet = Path(__file__).parents[2].joinpath("docs/_static/site.css").read_text(encoding="utf-8")
    cells = "".join(f"<td style='white-space: nowrap'>{0.9 + k / 100:.2f}</td>" for k in range(40))
    rows = "".join(f"<tr class='row-{kind}'>{cells}</tr>" for kind in ("odd", "even") * 4)
    table = f"<table class='table'><tbody>{rows}</tbody></table>"
    box = f"<div class='pst-scrollable-table-container'>{table}</div>"
    theme = (
        ".table tr.row-even { background-color: #f3f4f5; } :root { --pst-color-background: #fff; }"
    )
    head = f"<style>{theme} {sheet}</style>"
    page, before = show(host(f"<div class='bd-article'>{box}</div>", head=head), width=390)
    box = page.locator(".pst-scrollable-table-container")
    assert box.evaluate("one => one.scrollWidth > one.clientWidth")
    x, y, width, height = box.bounding_box().values()
    edge = slice(round(y) + 4, round(y + height) - 20), round(x + width) - 2
    assert before[edge].max() < 215
    box.evaluate("one => { one.scrollLeft = one.scrollWidth; }")
    assert photographed(page)[edge].min() > 230


def test_a_wide_screen_shows_every_column_of_a_card(show, others):
    content = "".join(one._repr_html_() for one in others.values())
    page, _ = show(host(content))
    cut = page.evaluate(
        """() => [...document.querySelectorAll(".op-card > .op-scroll")]
          .filter((one) => one.scrollWidth > one.clientWidth).length"""
    )
    assert cut == 0
