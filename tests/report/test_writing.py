"""Where a report goes, what it is made of, and what is refused."""

from __future__ import annotations

import html
import importlib.util
import os
import re
import stat
from itertools import pairwise
from pathlib import Path

import pytest

import outperform as op
from outperform import errors
from outperform.errors import MissingExtra, UsageError
from tests.report.kinds import KINDS, labels
from tests.report.reading import XHTML, Page

ROOT = Path(__file__).parents[2]
LIMIT = 2_000_000


@pytest.fixture(scope="module")
def quick():
    truth, a, b = labels(80, 2)
    return op.compare(
        truth, a, b, metric="recall", rope=0.05, names=("bert", "gpt"), random_state=1
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_is_one_small_file_that_loads_nothing(pages, kind):
    _, page, _ = pages(kind)
    assert page.errors == []
    assert page.size < LIMIT / 8
    linking = {"src", "href", "action", "srcset", "data", "formaction", "poster", "xlink:href"}
    links = [each.get(name) for each in page.tree.iter() for name in linking if each.get(name)]
    assert [link for link in links if not link.startswith("#") and link != "data:,"] == []
    # The only addresses are names of XML vocabularies and what is said in words.
    without_data = re.sub(r"<script type=.application/json.*?</script>", "", page.text)
    assert set(re.findall(r"https?://[^\s\"'<>]+", without_data)) <= {"http://www.w3.org/2000/svg"}
    assert not re.search(r"@import|url\((?!#)", without_data)


@pytest.mark.parametrize("kind", KINDS)
def test_the_headings_go_down_one_step_at_a_time(pages, kind):
    _, page, _ = pages(kind)
    levels = [int(each.tag[-1]) for each in page.tree.iter() if re.search(r"}h\d$", each.tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))


@pytest.mark.parametrize("kind", KINDS)
def test_everything_that_belongs_on_the_page_is_there(pages, kind):
    comparison, page, _ = pages(kind)
    words = html.unescape(page.words())
    assert comparison.signature in words
    assert comparison.report().partition("Method: ")[0].strip() in words
    assert "@software{outperform," in words
    for finding in comparison.findings:
        assert finding.name in words
    (facts,) = page.json("data")["comparisons"]
    assert facts["mean"] == comparison.mean
    assert facts["hdi"]["low"] == comparison.hdi.low
    assert facts["signature"] == comparison.signature


@pytest.mark.parametrize("kind", KINDS)
def test_pictures_and_controls_have_names(pages, kind):
    _, page, _ = pages(kind)
    svgs = [each for each in page.tree.iter() if each.tag.endswith("}svg")]
    for svg in svgs:
        named = svg.get("role") == "img" and svg.get("aria-label")
        assert named or svg.get("aria-hidden") == "true"
    slider = page.one("type", "range")
    labelled = [each.get("for") for each in page.tree.iter(f"{XHTML}label")]
    assert labelled == [slider.get("id")]
    assert page.one("data-part", "control").get("hidden") is not None
    live = [each for each in page.tree.iter() if each.get("aria-live") == "polite"]
    assert len(live) == 1


@pytest.mark.parametrize(
    ("kind", "shown"),
    [
        ("sampled", True),
        ("spans", True),
        ("many_classes", True),
        ("exact", False),
        ("tie", False),
        ("unbounded", False),  # a ROPE of 40 says nothing about F1
    ],
)
def test_classes_are_shown_where_there_are_several(pages, kind, shown):
    _, page, _ = pages(kind)
    assert ("Each class against the rest" in page.words()) is shown


def test_a_small_confusion_matrix_is_shown_whole(pages):
    comparison, page, _ = pages("sampled")
    seen = comparison.spec.data
    a, b = (seen.confusion(model) for model in seen.models)
    heat = page.one("class", "heat")
    rows = [
        [int(cell.text.replace("−", "-").replace(",", "")) for cell in row.iter(f"{XHTML}td")]
        for row in list(heat.iter(f"{XHTML}tr"))[1:]
    ]
    assert rows == (a - b).tolist()


def test_blue_speaks_for_a(pages):
    _, page, _ = pages("sampled")
    heat = page.one("class", "heat")
    for r, row in enumerate(list(heat.iter(f"{XHTML}tr"))[1:]):
        for c, cell in enumerate(row.iter(f"{XHTML}td")):
            if cell.text != "0":
                for_a = cell.text.startswith("+") == (r == c)
                assert cell.get("class")[0] == ("a" if for_a else "b")


def test_of_many_classes_the_largest_differences_are_listed(pages):
    _, page, _ = pages("many_classes")
    assert "There are 30 classes; the largest of" in page.words()


def test_where_only_right_or_wrong_is_known_there_is_no_matrix(pages):
    assert "Where the predictions differ" not in pages("exact")[1].words()


def test_equal_models_have_equal_matrices(pages):
    assert "The two confusion matrices are the same." in pages("tie")[1].words()


def test_several_comparisons_have_an_overview_and_a_section_each(quick, tmp_path):
    several = [quick, quick.with_metric("accuracy"), quick.with_rope(0.1)]
    page = Page(op.write_report(several, tmp_path / "several.html", title="Three"))
    sections = [each.get("id") for each in page.tree.iter() if each.get("data-comparison")]
    assert sections == ["c1", "c2", "c3"]
    links = [each.get("href") for each in page.tree.iter(f"{XHTML}a")]
    assert links == ["#c1", "#c2", "#c3"]
    assert next(page.tree.iter(f"{XHTML}title")).text == "Three"
    assert len(page.json("live")) == len(page.json("data")["comparisons"]) == 3
    ids = [each.get("id") for each in page.tree.iter() if each.get("id")]
    assert len(ids) == len(set(ids))


def test_a_table_of_comparisons_is_a_report_by_its_keys(tmp_path):
    card = op.scorecard(
        *labels(80, 3), metrics=["accuracy", "f1_macro"], rope=0.05, n_draws=500, random_state=1
    )
    page = Page(op.write_report(card, tmp_path / "card.html"))
    assert [each.text for each in page.tree.iter(f"{XHTML}a")] == [
        "metric accuracy",
        "metric f1_macro",
    ]
    assert page.json("data")["by"] == "metric"
    # The models differ in the same places whatever the metric is.
    assert page.words().count("Where the predictions differ") == 1


@pytest.mark.slow
def test_a_long_table_stays_small(tmp_path):
    c = op.compare(*labels(900, 25), metric="accuracy", rope=0.01, n_draws=500, random_state=1)
    page = Page(op.write_report(c.by_class(), tmp_path / "classes.html"))
    assert page.size < LIMIT / 2


def test_a_file_is_replaced_only_if_asked(quick, tmp_path):
    path = tmp_path / "report.html"
    assert op.write_report(quick, path) == path
    first = path.read_bytes()
    with pytest.raises(UsageError, match="exists; give another path, or overwrite=True"):
        op.write_report(quick.with_rope(0.1), path)
    assert path.read_bytes() == first
    assert op.write_report(quick.with_rope(0.1), str(path), overwrite=True) == path
    assert path.read_bytes() != first
    assert [one.name for one in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has one bit of these")
def test_the_mode_of_a_replaced_file_is_kept(quick, tmp_path):
    path = tmp_path / "report.html"
    path.write_text("")
    path.chmod(0o640)
    op.write_report(quick, path, overwrite=True)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_the_same_comparison_gives_the_same_bytes(quick, tmp_path):
    one, two = (op.write_report(quick, tmp_path / name) for name in ("one.html", "two.html"))
    assert one.read_bytes() == two.read_bytes()


@pytest.mark.parametrize("what", [None, 3, "report", [], [None], {"a": 1}])
def test_what_is_no_comparison_is_refused(what, tmp_path):
    with pytest.raises(UsageError, match="a report needs a comparison"):
        op.write_report(what, tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []


def test_an_estimate_is_no_comparison(quick, tmp_path):
    with pytest.raises(UsageError, match="Estimate"):
        op.write_report([quick.a], tmp_path / "report.html")


def test_a_folder_that_is_not_there_is_refused(quick, tmp_path):
    with pytest.raises(UsageError, match="does not exist"):
        op.write_report(quick, tmp_path / "nowhere" / "report.html")


@pytest.mark.parametrize("path", [None, 3, "a\0b"])
def test_a_path_that_is_none_is_refused(quick, path):
    with pytest.raises(UsageError):
        op.write_report(quick, path)


def test_a_folder_is_not_replaced(quick, tmp_path):
    with pytest.raises(UsageError):
        op.write_report(quick, tmp_path, overwrite=True)


@pytest.mark.parametrize("module", ["altair", "jinja2", "vl_convert"])
def test_a_missing_extra_is_named(quick, tmp_path, monkeypatch, module):
    def absent(name):
        if name == module:
            raise ImportError(name)
        return importlib.import_module(name)

    monkeypatch.setattr(errors, "import_module", absent)
    with pytest.raises(MissingExtra, match=re.escape('pip install "outperform[report]"')):
        op.write_report(quick, tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("kind", "doi"),
    [
        ("tie", "10.1145/2911451.2911547"),
        ("sampled", "10.1109/ICDM.2015.44"),
        ("folds", "10.18653/v1/P19-1405"),
    ],
)
def test_the_paper_is_cited_as_the_project_cites_it(pages, kind, doi):
    _, page, _ = pages(kind)
    words = page.words()
    assert doi in words
    citation = " ".join((ROOT / "CITATION.cff").read_text(encoding="utf-8").split())
    facts = re.findall(r"(?:title|booktitle|doi|year) = \{([^{}]+)\}", words)
    assert [fact for fact in facts if fact not in citation] == []
    for names in re.findall(r"author = \{([^{}]+)\}", words):
        for author in names.split(" and "):
            family, given = author.split(", ")
            assert f"{{ family-names: {family}, given-names: {given} }}" in citation
