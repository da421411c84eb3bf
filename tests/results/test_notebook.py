"""What a notebook shows: HTML for every result, with nothing in it that the data could inject."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser

import pytest

import outperform as op
from outperform.display.cards import style
from outperform.display.numbers import rounded
from tests.loops import each

EVIL = "<script>alert(1)</script>"
FEW = {"n_draws": 500, "rope": 0.05, "random_state": 1}
WORLD = {"11": 0.3, "10": 0.3, "01": 0.2, "00": 0.2}


@pytest.fixture(scope="module")
def shown():
    truth = [EVIL, "ham", "jam"] * 40
    a = truth[:90] + ["ham"] * 30
    b = truth[:60] + ["jam"] * 60
    asked = {"names": (EVIL, "<b>old</b>"), **FEW}
    c = op.compare(truth, a, b, metric="f1_macro", **asked)
    plan = op.power(
        theta_pos=WORLD, theta_neg=WORLD, prevalence=0.3, sizes=[100], rope=0.05,
        n_simulations=100, random_state=1,
    )  # fmt: skip
    guards = [("recall", EVIL, 0.05)]
    seen = op.Outcomes.from_labels(truth, dict(zip(asked["names"], (a, b), strict=True)))
    given = {name: value for name, value in asked.items() if name != "names"}
    gate = op.gate(seen, *seen.models, metric="f1_macro", guards=guards, **given)
    return {
        "Comparison": c,
        "Estimate": c.a,
        "ComparisonTable": c.by_class(),
        "scorecard": op.scorecard(truth, a, b, metrics=["accuracy", "f1_macro"], **asked),
        "Power": plan,
        "Gate": gate,
        "Plan": op.plan(
            pilot=seen, a=EVIL, b="<b>old</b>", metric="f1_macro", rope=0.05, n_simulations=100,
            random_state=1,
        ),
        "Proposal": op.propose(a, b, budget=30, names=(EVIL, "<b>old</b>"), random_state=1),
    }  # fmt: skip


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.seen = set()

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)


@each(
    "kind",
    ["Comparison", "Estimate", "ComparisonTable", "scorecard", "Power", "Gate", "Plan", "Proposal"],
)
def test_every_result_shows_itself_as_harmless_html(shown, kind):
    text = shown[kind]._repr_html_()
    reader = Tags()
    reader.feed(text)
    assert "table" in reader.seen
    assert not reader.seen & {"script", "img", "a", "iframe"}
    assert text.count("<style>") == text.count(f"<style>{style()}</style>") == 1
    assert "<b>old" not in text
    assert re.search(r"\son\w+=", without_data(text)) is None
    if kind != "Power":
        assert "&lt;" in text


def without_data(text):
    """Return the markup alone: names of elements and attributes."""
    return re.sub(r'"[^"]*"|>[^<]*<', "", text)


@each(
    ("kind", "expected"),
    [
        ("Comparison", {"svg", "figure", "details", "table"}),
        ("Estimate", {"svg", "figure", "table"}),
        ("ComparisonTable", {"svg", "details", "table"}),
        ("Gate", {"svg", "table"}),
        ("Power", {"svg", "figure", "table"}),
        ("Plan", {"svg", "figure", "table"}),
        ("Proposal", {"table"}),
    ],
)
def test_a_card_has_its_parts(shown, kind, expected):
    reader = Tags()
    reader.feed(shown[kind]._repr_html_())
    assert expected <= reader.seen


@pytest.mark.parametrize("kind", ["Plan", "Proposal", "Comparison", "Gate"])
def test_the_answer_comes_first(shown, kind):
    result = shown[kind]
    head = re.search(r'<p class="op-head[^"]*">(.*?)</p>', result._repr_html_()).group(1)
    assert unescape(head) == result._document().headline
    if kind == "Plan":
        assert f"{rounded(result.n, result.n_error):,}" in head
    if kind == "Proposal":
        assert head.startswith("30 of 120 items")


def test_findings_about_classes_are_sentences(shown):
    text = shown["ComparisonTable"]._repr_html_().partition("All columns")[0]
    assert "op-note" in text
    assert not re.search(r"few_disagreements|sparse_cells|prior_pull", text)


def test_classes_stand_in_the_order_of_the_difference(shown):
    classes = shown["ComparisonTable"]
    means = [one.mean for one in classes._document().spans]
    assert means == sorted(one.mean for one in classes.comparisons)


KINDS = ("Comparison", "Estimate", "ComparisonTable", "scorecard", "Power", "Gate", "Plan")
FORMS = {"text/plain", "text/html", "text/markdown", "text/latex"}


@each("kind", [*KINDS, "Proposal"])
def test_every_document_gets_the_form_it_can_show(shown, kind):
    result = shown[kind]
    bundle = result._repr_mimebundle_()
    assert set(bundle) == FORMS
    assert bundle["text/plain"] == repr(result)
    assert bundle["text/html"] == result.to_html()
    assert bundle["text/markdown"] == result.to_markdown()
    assert bundle["text/latex"] == result.to_latex()
    assert r"\begin{tabular}" in bundle["text/latex"]
    assert "<script" not in bundle["text/markdown"]


def test_only_what_is_wanted_is_written(shown):
    show = shown["Comparison"]._repr_mimebundle_
    assert set(show(include=["text/latex", "image/png"])) == {"text/latex"}
    assert set(show(exclude=["text/html"])) == FORMS - {"text/html"}
    assert set(show(include={"text/html", "text/latex"}, exclude={"text/html"})) == {"text/latex"}
    assert set(show(include=[], exclude=[])) == FORMS


@pytest.mark.parametrize("kind", ["Comparison", "Gate", "Table"])
def test_ipython_takes_all_forms(shown, kind):
    formatters = pytest.importorskip("IPython.core.formatters")
    result = shown["Comparison"].by_class().table() if kind == "Table" else shown[kind]
    formatter = formatters.DisplayFormatter()
    formatter.active_types = formatter.format_types  # as a kernel has it
    data, _ = formatter.format(result)
    assert data == result._repr_mimebundle_()
    data, _ = formatter.format(result, include={"text/latex"})
    assert set(data) == {"text/latex"}
    data, _ = formatter.format(result, exclude={"text/latex"})
    assert set(data) == FORMS - {"text/latex"}
