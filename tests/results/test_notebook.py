"""What a notebook shows: HTML for every result, with nothing in it that the data could inject."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

import outperform as op

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
    }


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.seen = set()

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)


@pytest.mark.parametrize(
    "kind", ["Comparison", "Estimate", "ComparisonTable", "scorecard", "Power", "Gate"]
)
def test_every_result_shows_itself_as_harmless_html(shown, kind):
    text = shown[kind]._repr_html_()
    reader = Tags()
    reader.feed(text)
    assert "table" in reader.seen
    assert not reader.seen & {"script", "b", "img", "a", "iframe", "style"}
    if kind != "Power":
        assert "&lt;" in text
