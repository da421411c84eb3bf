"""Where a report goes, what it is made of, and what is refused."""

from __future__ import annotations

import html
import os
import re
import stat
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest

import outperform as op
from outperform import errors
from outperform.display.numbers import true_minus
from outperform.errors import UsageError
from tests.loops import each
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


@each("kind", KINDS)
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


@each("kind", KINDS)
def test_the_headings_go_down_one_step_at_a_time(pages, kind):
    _, page, _ = pages(kind)
    levels = [int(each.tag[-1]) for each in page.tree.iter() if re.search(r"}h\d$", each.tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))


@each("kind", KINDS)
def test_everything_that_belongs_on_the_page_is_there(pages, kind):
    comparison, page, _ = pages(kind)
    words = html.unescape(page.words())
    assert comparison.signature in words
    assert comparison.report().partition(" Method: ")[0].strip() in words
    assert "@software{outperform," in words
    for finding in comparison.findings:
        assert finding.name in words
    (facts,) = page.json("data")["results"]
    assert facts["mean"] == comparison.mean
    assert facts["hdi"]["low"] == comparison.hdi.low
    assert facts["signature"] == comparison.signature


@each("kind", KINDS)
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


@each(
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
    heat = page.one("class", "heat few")
    rows = [
        [int(cell.text.replace("−", "-").replace(",", "")) for cell in row.iter(f"{XHTML}td")]
        for row in list(heat.iter(f"{XHTML}tr"))[1:]
    ]
    assert rows == (a - b).tolist()


def test_blue_speaks_for_a(pages):
    _, page, _ = pages("sampled")
    heat = page.one("class", "heat few")
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
    assert "The two confusion matrices are identical." in pages("tie")[1].words()


@pytest.mark.usefixtures("few_positions")
def test_several_comparisons_have_contents_an_overview_and_a_section_each(quick, tmp_path):
    several = [quick, quick.with_metric("accuracy"), quick.with_rope(0.1)]
    page = Page(op.write_report(several, tmp_path / "several.html", title="Three"))
    sections = [each.get("id") for each in page.tree.iter() if each.get("class") == "result"]
    assert sections == ["c1", "c2", "c3"]
    links = [each.get("href") for each in page.tree.iter(f"{XHTML}a")]
    assert links == ["#c1", "#c2", "#c3"]
    assert next(page.tree.iter(f"{XHTML}title")).text == "Three"
    assert len(page.json("live")) == len(page.json("data")["results"]) == 3
    assert "Overview" in page.words()
    ids = [each.get("id") for each in page.tree.iter() if each.get("id")]
    assert len(ids) == len(set(ids))


@pytest.mark.usefixtures("few_positions")
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


@pytest.mark.usefixtures("few_positions")
def test_a_file_is_replaced_only_if_asked(quick, tmp_path):
    path = tmp_path / "report.html"
    assert op.write_report(quick, path) == path
    first = path.read_bytes()
    with pytest.raises(UsageError, match="already exists; choose another path, or pass overwrite"):
        op.write_report(quick.with_rope(0.1), path)
    assert path.read_bytes() == first
    assert op.write_report(quick.with_rope(0.1), str(path), overwrite=True) == path
    assert path.read_bytes() != first
    assert [one.name for one in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.usefixtures("few_positions")
@pytest.mark.skipif(os.name == "nt", reason="Windows has one bit of these")
def test_the_mode_of_a_replaced_file_is_kept(quick, tmp_path):
    path = tmp_path / "report.html"
    path.write_text("")
    path.chmod(0o640)
    op.write_report(quick, path, overwrite=True)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.usefixtures("few_positions")
def test_the_same_comparison_gives_the_same_bytes(quick, tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    one, two = (op.write_report(quick, tmp_path / name) for name in ("one.html", "two.html"))
    assert one.read_bytes() == two.read_bytes()
    assert "2023-11-14 22:13 UTC" in Page(one).words()


@pytest.mark.usefixtures("few_positions")
def test_it_names_the_data_the_command_and_the_date(quick, tmp_path):
    when = datetime(2026, 2, 3, 4, 5, tzinfo=UTC)
    made = {"source": "preds.csv", "command": "outperform report preds.csv", "date": when}
    page = Page(op.write_report(quick, tmp_path / "page.html", **made))
    for words in ("preds.csv", "outperform report preds.csv", "2026-02-03 04:05 UTC"):
        assert words in page.words()
    data = page.json("data")
    assert data["sources"] == ["preds.csv"]
    assert data["command"] == made["command"]
    assert data["date"] == "2026-02-03T04:05:00+00:00"


@pytest.mark.usefixtures("few_positions")
def test_without_a_date_it_is_now_and_without_a_source_the_file_that_was_read(tmp_path):
    table = tmp_path / "graded.csv"
    table.write_text("y,a,b\n" + "1,1,0\n0,0,0\n1,1,1\n0,1,0\n" * 20, encoding="utf-8")
    seen = op.read(table, truth="y", models=["a", "b"])
    c = op.compare(seen, "a", "b", metric="accuracy", rope=0.05, n_draws=500, random_state=1)
    before = datetime.now(UTC).replace(microsecond=0)
    page = Page(op.write_report(c, tmp_path / "page.html"))
    assert before <= datetime.fromisoformat(page.json("data")["date"]) <= datetime.now(UTC)
    assert [Path(name).name for name in page.json("data")["sources"]] == ["graded.csv"]
    assert "graded.csv" in page.words()


@pytest.fixture(scope="module")
def others():
    """Return results of the other kinds, by name."""
    truth, a, b = labels(120, 3)
    seen = op.Outcomes.from_labels(truth, {"bert": a, "gpt": b}, by={"half": truth % 2})
    asked = {"metric": "accuracy", "rope": 0.05, "n_draws": 500, "random_state": 1}
    c = op.compare(seen, "bert", "gpt", **asked)
    world = {"11": 0.3, "10": 0.3, "01": 0.2, "00": 0.2}
    return {
        "Comparison": c,
        "Estimate": c.a,
        "Ranking": op.rank(seen, **asked),
        "Gate": op.gate(seen, "bert", "gpt", guards=[("recall", 1, 0.1)], **asked),
        "SliceComparison": op.compare_slices(seen, "bert", "gpt", **asked),
        "Sensitivity": c.sensitivity(priors={"strong": 2.0}),
        "Plan": op.plan(
            scenario={"accuracies": (0.9, 0.8), "agreement": 0.85}, rope=0.01, n_simulations=100,
            random_state=1,
        ),
        "Power": op.power(
            theta_pos=world, theta_neg=world, prevalence=0.3, sizes=[100, 200], rope=0.05,
            n_simulations=100, n_draws=200, random_state=1,
        ),
        "Proposal": op.propose(a, b, budget=30, names=("bert", "gpt"), random_state=1),
        "ItemTable": c.item_table(top=30),
        "Fragility": c.fragility(),
    }  # fmt: skip


KINDS_OF_RESULTS = [
    "Comparison", "Estimate", "Ranking", "Gate", "SliceComparison", "Sensitivity", "Plan", "Power",
    "Proposal", "ItemTable", "Fragility",
]  # fmt: skip


@pytest.mark.usefixtures("few_positions")
@each("kind", KINDS_OF_RESULTS)
def test_every_result_is_a_document(others, tmp_path, kind):
    result = others[kind]
    page = Page(op.write_report(result, tmp_path / "page.html"))
    assert page.errors == []
    assert true_minus(result._document().headline) in page.words()
    (facts,) = page.json("data")["results"]
    assert facts["kind"] == result.to_dict()["kind"]
    assert len(page.json("live")) == (kind == "Comparison")
    for svg in (node for node in page.tree.iter() if node.tag.endswith("}svg")):
        named = svg.get("role") == "img" and svg.get("aria-label")
        assert named or svg.get("aria-hidden") == "true"


@pytest.mark.usefixtures("few_positions")
def test_results_of_all_kinds_are_one_document(others, tmp_path):
    page = Page(op.write_report(others.values(), tmp_path / "page.html"))
    assert page.errors == []
    links = [each.get("href") for each in page.tree.iter(f"{XHTML}a")]
    assert links == [f"#c{number}" for number in range(1, len(others) + 1)]
    assert next(page.tree.iter(f"{XHTML}title")).text == f"{len(others)} results"
    ids = [each.get("id") for each in page.tree.iter() if each.get("id")]
    assert len(ids) == len(set(ids))
    levels = [int(each.tag[-1]) for each in page.tree.iter() if re.search(r"}h\d$", each.tag)]
    assert all(b - a <= 1 for a, b in pairwise(levels))


def test_classes_stand_in_the_order_of_the_difference(pages):
    comparison, page, _ = pages("sampled")
    means = {str(key): one.mean for key, one in zip(*_by_class(comparison), strict=True)}
    table = next(
        each
        for each in page.tree.iter(f"{XHTML}table")
        if "class" in [head.text for head in each.iter(f"{XHTML}th")]
    )
    shown = [each.text for each in table.iter(f"{XHTML}th") if each.get("scope") == "row"]
    assert shown == sorted(means, key=means.get)


def _by_class(comparison):
    classes = comparison.by_class()
    return classes.keys, classes.comparisons


def test_terms_are_explained_where_they_stand(pages):
    _, page, _ = pages("sampled")
    explained = {each.text for each in page.tree.iter(f"{XHTML}abbr") if each.get("title")}
    assert {"HDI", "ROPE", "Bayes factor", "observed"} <= explained


@each("what", [None, 3, [], [None], {"a": 1}])
def test_what_is_no_comparison_is_refused(what, tmp_path):
    with pytest.raises(UsageError, match="a report needs at least one result"):
        op.write_report(what, tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []


def test_swapped_arguments_are_named(quick, tmp_path):
    path = str(tmp_path / "report.html")
    with pytest.raises(UsageError, match=r"the result comes first: type op\.write_report\(result,"):
        op.write_report(path, quick)
    assert list(tmp_path.iterdir()) == []


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


def test_it_needs_no_optional_library(quick, tmp_path, monkeypatch):
    def absent(name):
        raise ImportError(name)

    monkeypatch.setattr(errors, "import_module", absent)
    assert op.write_report(quick, tmp_path / "report.html").exists()


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


def test_items_with_ids_are_on_the_page_and_no_text_becomes_markup(tmp_path):
    evil = "<script>alert(1)</script>"
    truth, a, b = labels(60, 2)
    ids = [f"{evil}{k}" for k in range(60)]
    named = op.Outcomes.from_labels(truth, {"bert": a, "gpt": b}, ids=ids)
    asked = {"metric": "accuracy", "rope": 0.05, "n_draws": 500, "random_state": 1}
    c = op.compare(named, "bert", "gpt", **asked)
    page = Page(op.write_report(c, tmp_path / "named.html"))
    assert page.errors == []
    assert page.json("data")["results"][0]["items"] == c.item_table().to_dict()
    lines = [each for each in page.tree.iter(f"{XHTML}tbody") if each.get("id") == "c1-items"]
    assert len(lines[0]) == len(c.item_table()) > 0
    plain = op.compare(truth, a, b, **asked)
    page = Page(op.write_report(plain, tmp_path / "plain.html"))
    assert "items" not in page.json("data")["results"][0]
    table = plain.item_table(columns={"text": [f"{evil} {k}" for k in range(60)]})
    page = Page(op.write_report([plain, table], tmp_path / "both.html"))
    assert page.errors == []
    assert f"{evil} {table[0].id}" in page.words()
