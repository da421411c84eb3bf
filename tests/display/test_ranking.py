"""What is said of a ranking."""

from __future__ import annotations

from outperform.display.layout import Page, plain
from outperform.ranking.text import (
    ranking_document,
    ranking_headline,
    ranking_page,
    ranking_paragraph,
    ranking_table,
)
from tests.loops import each

SAID = {"BETTER": "≫", "EQUIVALENT": "≈", "LEANING_WORSE": "<", "WORSE": "≪"}


def model(name, said=None, p_best=0.1, **more):
    decision = None
    if said is not None:
        decision = {"name": said, "symbol": SAID[said], "words": said.lower()}
    return {
        "name": name,
        "observed": 0.8,
        "mean": 0.79,
        "sd": 0.02,
        "raw": {"mean": 0.8},
        "hdi": {"low": 0.75, "high": 0.83, "prob": 0.95},
        "p_best": p_best,
        "p_practically_best": 0.5,
        "expected_rank": 1.5,
        "regret": 0.00001,
        "tied": said != "WORSE",
        "decision": decision,
    } | more


def make(*models, **more):
    return {
        "names": [one["name"] for one in models],
        "metric": "f1_macro",
        "metric_label": "macro-averaged F1",
        "n": 900,
        "n_classes": 3,
        "paired": True,
        "prior": "unit",
        "hdi_prob": 0.95,
        "n_draws": 20_000,
        "rope": {"low": -0.01, "high": 0.01},
        "models": list(models),
        "tied": [one["name"] for one in models if one["tied"]],
        "p_best_not_tied": 0.001,
        "decisions": [[None if i == j else "?" for j in models] for i in models],
        "findings": [{"name": "x", "level": "warning", "message": "So it is."}],
        "signature": "outperform | rank",
    } | more


@each(
    ("models", "said"),
    [
        (
            [model("gpt", p_best=0.83), model("bert", "EQUIVALENT")],
            "gpt is probably best in macro-averaged F1 (P 83.0%), practically tied with bert.",
        ),
        (
            [model("gpt", p_best=1.0), model("bert", "WORSE")],
            "gpt is best in macro-averaged F1 (P >99.98%); the other is worse.",
        ),
        (
            [model("gpt", p_best=0.97), model("a", "WORSE"), model("b", "WORSE")],
            "gpt is best in macro-averaged F1 (P 97.0%); all others are worse.",
        ),
        (
            [model("gpt", p_best=0.3), *(model(x, "LEANING_WORSE") for x in "abcdef")],
            "gpt looks best in macro-averaged F1 (P 30.0%); not shown to be worse: a (<), b (<), "
            "c (<), d (<) and 2 more.",
        ),
        (
            [model("gpt", p_best=0.6), model("a", "EQUIVALENT"), model("b", "LEANING_WORSE"),
             model("c", "WORSE")],
            "gpt looks best in macro-averaged F1 (P 60.0%), practically tied with a; not "
            "shown to be worse: b (<); one is worse.",
        ),
    ],
)  # fmt: skip
def test_headlines(models, said):
    assert ranking_headline(make(*models)) == said


def test_the_table_names_the_leader_and_small_regret():
    table = ranking_table(make(model("gpt"), model("bert", "WORSE", regret=0.02)))
    assert table["decision"] == ("leader", "≪ worse")
    assert table["place"] == (1, 2)
    assert "<0.0001" in table.to_text()
    assert "| no |" in table.to_markdown()


def test_the_paragraph_says_what_tied_means():
    said = ranking_paragraph(make(model("gpt", p_best=0.9), model("bert", "WORSE")))
    assert "Of 2 models on 900 items in 3 classes, gpt is probably best" in said
    assert (
        "unless the 95% HDI of its difference to gpt lies entirely beyond the ROPE (±0.01)" in said
    )
    assert "P(a model other than gpt is best) 0.10%" in said
    assert "So it is." in said


def text(facts, top=None):
    return plain(ranking_document(facts, top=top).lines(Page()))


def test_long_lists_are_cut_in_text_only_on_demand():
    models = [model("gpt"), *(model(f"m{k}", "WORSE") for k in range(30))]
    facts = make(*models)
    assert "and 21 more" in text(facts, top=10)
    assert "m29" in text(facts)
    assert "row − column" not in text(facts)
    assert "row − column" in text(make(*models[:4]))


def test_a_page_has_symbols_and_a_legend():
    text = ranking_page(make(model("gpt"), model("bert", "WORSE"))).to_latex(label="tab:rank")
    assert "sideways" not in text
    assert "$\\ll$ worse" in text
    assert "compared with the leader" in text


def test_a_screen_shows_the_gravest_findings():
    many = [{"name": f"x{k}", "level": "note", "message": "So."} for k in range(9)]
    facts = make(model("gpt"), model("bert", "WORSE"), findings=many)
    assert "and 3 more findings: .findings" in text(facts, top=20)
    assert "[x8]" in text(facts)


def test_names_are_escaped():
    facts = make(model("<b>x</b>"), model("gpt", "EQUIVALENT"))
    text = ranking_document(facts).html()
    assert "<b>x" not in text
    assert "&lt;b&gt;x" in text
