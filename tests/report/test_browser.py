"""The page in a browser: what the slider says, the keyboard, paper, and silence on the network."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import outperform as op
from outperform.decision.rope import Rope
from tests.loops import each
from tests.report.test_live import SHARES, said

pytestmark = [
    pytest.mark.slow,
    # Its event loop leaves a socket to the garbage collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@pytest.fixture
def visit(browser):
    """Return a function that opens a page and notes every complaint and every request."""
    contexts = []

    def open_page(path: Path, **how):
        context = browser.new_context(**how)
        contexts.append(context)
        page = context.new_page()
        page.complaints, page.requests = [], []
        page.on("console", lambda message: page.complaints.append(message.text))
        page.on("pageerror", lambda error: page.complaints.append(str(error)))

        def note(route):
            page.requests.append(route.request.url)
            route.continue_()

        page.route("**/*", note)
        page.goto(path.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()


def shown(page):
    def text(name):
        return page.locator(f'[data-part="{name}"]').inner_text()

    findings = page.locator('[data-part="findings"] li')
    return {
        "words": text("words").lower(),
        "sentence": text("sentence"),
        "percentages": [text(name) for name in SHARES],
        "rope": text("rope"),
        "findings": findings.count(),
        "names": findings.locator("code").all_inner_texts(),
    }


def move(page, place):
    page.locator("input[type=range]").evaluate(
        "(slider, place) => { slider.value = place; slider.dispatchEvent(new Event('input')); }",
        place,
    )


@each(
    "kind",
    [
        *("sampled", "exact", "unequal_ends", "tie", "withheld_equivalence"),
        *("withheld_difference", "lower_is_better"),
    ],
)
def test_fifty_places_say_what_python_says(pages, visit, kind):
    comparison, written, path = pages(kind)
    (live,) = written.json("live")
    page = visit(path)
    spread = np.linspace(0, len(live["ends"]) - 1, 50).round().astype(int)
    changes = np.flatnonzero(np.diff(live["sentence"]))
    for place in np.unique([*spread, *changes, *(changes + 1)]):
        low, high = live["ends"][place]
        asked = comparison
        if place != live["chosen"]:
            asked = comparison.with_rope(Rope(low=low, high=high))
        move(page, int(place))
        expected, found = said(asked), shown(page)
        assert found["words"] == expected["decision"][1]
        assert found["sentence"] == expected["sentence"]
        assert found["percentages"] == expected["percentages"]
        assert found["names"] == [name for _, _, name in expected["findings"]]
    assert page.complaints == []
    assert page.requests == [path.as_uri()]


def test_the_picture_moves_with_the_slider(pages, visit):
    comparison, written, path = pages("sampled")
    (live,) = written.json("live")
    page = visit(path)
    low, high = live["domain"]
    for place in (0, live["chosen"], len(live["ends"]) - 1):
        move(page, place)
        band = page.locator(".op-density rect.op-rope")
        left, width = (float(band.get_attribute(name).rstrip("%")) for name in ("x", "width"))
        expected = 100 * np.clip((np.array(live["ends"][place]) - low) / (high - low), 0, 1)
        assert np.allclose([left, left + width], expected, atol=0.01)
        drawn = [path.get_attribute("d") for path in page.locator(".op-density .op-zone").all()]
        edges = np.array([0, *expected, 100]) / 100 * live["wide"]
        inside = np.clip(edges, live["outline"][0][0], live["outline"][0][-1])
        for path, left, right in zip(drawn, inside[:-1], inside[1:], strict=True):
            x = [float(point.split(",")[0]) for point in path.strip("MZ").split("L") if point]
            ends = [min(x), max(x)] if x else [left, left]
            assert np.allclose(ends, [left, max(left, right)], atol=0.01)
        bars = [
            float(page.locator(f'[data-bar="{name}"]').get_attribute("width")) for name in SHARES
        ]
        asked = comparison.with_rope(Rope(low=live["ends"][place][0], high=live["ends"][place][1]))
        masses = [asked.p_worse, asked.p_equivalent, asked.p_better]
        assert np.allclose(np.array(bars) / 100, masses, atol=1e-4)


def test_the_keyboard_moves_it(pages, visit):
    _, written, path = pages("sampled")
    (live,) = written.json("live")
    page = visit(path)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.type") == "range"
    page.keyboard.press("ArrowRight")
    assert shown(page)["rope"] == live["rope"][live["chosen"] + 1]
    page.keyboard.press("Home")
    assert shown(page)["rope"] == live["rope"][0]
    page.keyboard.press("End")
    assert shown(page)["rope"] == live["rope"][-1]
    said_aloud = page.locator("input[type=range]").get_attribute("aria-valuetext")
    assert said_aloud.startswith(live["rope"][-1])
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert shown(page)["rope"] == live["rope"][live["chosen"]]
    assert page.evaluate("document.activeElement.type") == "range"


def test_sections_move_by_themselves(visit, pages, tmp_path):
    comparison = pages("sampled")[0]
    path = op.write_report([comparison, comparison.with_rope(0.02)], tmp_path / "two.html")
    page = visit(path)
    sentences = page.locator('[data-part="sentence"]')
    before = sentences.all_inner_texts()
    page.locator("#c2-rope").focus()
    page.keyboard.press("Home")
    after = sentences.all_inner_texts()
    assert after[0] == before[0]
    assert after[1] != before[1]
    assert page.complaints == []


def test_without_scripts_it_says_the_same_and_has_no_slider(pages, visit):
    comparison, _, path = pages("sampled")
    page = visit(path, java_script_enabled=False)
    assert not page.locator("input[type=range]").is_visible()
    assert page.locator('[data-part="sentence"]').inner_text() == said(comparison)["sentence"]
    assert page.locator("svg[role=img]").first.is_visible()


def test_on_paper_the_decision_is_on_page_one(pages, visit, tmp_path):
    pypdf = pytest.importorskip("pypdf")
    comparison, _, path = pages("sampled")
    page = visit(path)
    page.pdf(path=tmp_path / "page.pdf", format="A4")
    first = pypdf.PdfReader(tmp_path / "page.pdf").pages[0].extract_text()
    words = " ".join(first.split())
    assert said(comparison)["sentence"] in words
    assert "Back to" not in words
    assert len(pypdf.PdfReader(tmp_path / "page.pdf").pages) <= 2


def test_twenty_classes_print_to_two_pages(visit, tmp_path):
    pypdf = pytest.importorskip("pypdf")
    news = op.datasets.load_news20()
    seen = op.Outcomes.from_labels(news.y_true, news.predictions)
    c = op.compare(seen, "svm_l1", "svm_l2", metric="f1_macro", rope=0.005, random_state=0)
    page = visit(op.write_report(c, tmp_path / "page.html", command="outperform report preds.csv"))
    page.pdf(path=tmp_path / "page.pdf", format="A4")
    assert len(pypdf.PdfReader(tmp_path / "page.pdf").pages) == 2


LUMINANCE = """
() => {
  const parse = (text) => {
    const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number);
    return a === 0 ? null : [r, g, b];
  };
  const light = (rgb) => rgb.map((part) => part / 255)
    .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    .reduce((sum, part, k) => sum + part * [0.2126, 0.7152, 0.0722][k], 0);
  const behind = (element) => {
    for (let one = element; one; one = one.parentElement) {
      const colour = parse(getComputedStyle(one).backgroundColor);
      if (colour) return colour;
    }
    return [255, 255, 255];
  };
  const poor = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!own || ["SCRIPT", "STYLE"].includes(element.tagName)) continue;
    const style = getComputedStyle(element);
    const ink = parse(element.tagName === "text" ? style.fill : style.color);
    const [a, b] = [light(ink), light(behind(element))].sort((x, y) => y - x);
    const contrast = (a + 0.05) / (b + 0.05);
    if (contrast < 4.5) poor.push([element.tagName, element.className, contrast]);
  }
  return poor;
}
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("kind", ["sampled", "withheld_equivalence"])
def test_all_text_has_contrast_enough(pages, visit, kind, scheme):
    page = visit(pages(kind)[2], color_scheme=scheme)
    assert page.evaluate(LUMINANCE) == []


def test_a_narrow_screen_needs_no_sideways_scrolling(pages, visit):
    page = visit(pages("sampled")[2], viewport={"width": 360, "height": 700})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


SMALLEST = """
() => Math.min(...[...document.querySelectorAll("body *")]
  .filter((one) => !["SCRIPT", "STYLE"].includes(one.tagName))
  .filter((one) => [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim()))
  .map((one) => parseFloat(getComputedStyle(one).fontSize)
    * (one.ownerSVGElement ? one.getScreenCTM().a : 1)))
"""


@each("width", [360, 1280])
@each("kind", ["sampled", "tie", "many_classes"])
def test_no_text_is_smaller_than_twelve_pixels(pages, visit, kind, width):
    page = visit(pages(kind)[2], viewport={"width": width, "height": 700})
    assert page.evaluate(SMALLEST) >= 12


def test_wide_tables_scroll_beside_their_first_column(pages, visit):
    page = visit(pages("sampled")[2], viewport={"width": 360, "height": 700})
    box = page.locator(".op-scroll", has=page.locator(".op-span")).first
    before = box.locator("tbody th").first.bounding_box()["x"]
    assert box.evaluate("one => one.scrollWidth > one.clientWidth")
    box.evaluate("one => { one.scrollLeft = 80; }")
    assert box.locator("tbody th").first.bounding_box()["x"] == pytest.approx(before, abs=1)


def test_items_can_be_searched(visit, tmp_path):
    right = np.arange(40) % 4
    seen = op.Outcomes.from_correct(
        {"new": right != 0, "old": right != 1}, ids=[f"q{k}" for k in range(40)]
    )
    c = op.compare(seen, "new", "old", rope=0.01, n_draws=500, random_state=1)
    texts = {f"q{k}": f"text number {k}" for k in range(40)}
    path = op.write_report([c, c.item_table(columns={"text": texts})], tmp_path / "items.html")
    page = visit(path)
    rows, box = page.locator("table.items tbody tr:visible"), page.locator("input[type=search]")
    assert rows.count() == 20
    assert box.count() == 1
    box.fill("NUMBER 13")
    assert rows.all_inner_texts()[0].startswith("q13")
    assert rows.count() == 1
    assert page.locator(".search output").inner_text() == "1 of 20 items"
    box.fill("")
    assert rows.count() == 20
    assert page.complaints == []
    assert page.requests == [path.as_uri()]
    assert not visit(path, java_script_enabled=False).locator("input[type=search]").is_visible()
