from __future__ import annotations

import pytest

from outperform.display.formats import display_width
from outperform.display.layout import Page, plain
from outperform.display.screen import comparison_document, estimate_document, other_ropes
from tests.display.payloads import attack, every_payload
from tests.loops import each


def screen(facts, **page):
    return plain(comparison_document(facts).lines(Page(**page)))


def test_the_screen(facts):
    assert screen(facts).splitlines() == [
        "nb_bern is worse than nb_mult" + 50 * " " + "≪",
        "macro-F1 lower by 0.1086 (95% HDI −0.1234 to −0.0937), ROPE ±0.01 (default)",
        "",
        "            observed     mean             95% HDI",
        "nb_bern       0.6042   0.6023    0.5915 to 0.6130",
        "nb_mult       0.7125   0.7109    0.7009 to 0.7208",
        "difference   −0.1083  −0.1086  −0.1234 to −0.0937",
        "",
        "With a ROPE wider than ±0.0937 this is undecided; from ±0.1234 on, equivalent.",
        "",
        "warning: 12 cells hold nothing. [sparse]",
        "note: The ROPE is the default. [default_rope]",
        "",
        "7,532 items, 20 classes, paired · prior unit · 20,000 draws",
    ]


def test_verbose_says_the_rest(facts):
    lines = screen(facts, verbose=True).splitlines()
    assert "            observed     mean      sd             95% HDI" in lines
    assert lines[8:] == [
        "With a ROPE wider than ±0.0937 this is undecided; from ±0.1234 on, equivalent.",
        "difference    nb_bern − nb_mult in macro-averaged F1",
        "above zero    P(nb_bern − nb_mult > 0) <0.02%",
        "Bayes factor  BF10 > 4.1e+03 (interval null, from draws)",
        "Monte Carlo   error of the mean 5.4e-05",
        "data          7,532 items, 20 classes, paired, prior unit, 20,000 draws",
        "",
        "warning: 12 cells hold nothing. [sparse]",
        "note: The ROPE is the default. [default_rope]",
        "",
        "outperform 0.1.0 | compare | f1_macro | rope ±0.01 | seed 1",
    ]


def test_the_screen_of_an_estimate(facts):
    own = {**facts["a"], "n": 7532, "prior": "learned", "n_draws": 20_000, "findings": []}
    assert plain(estimate_document(own).lines(Page())).splitlines() == [
        "nb_bern: macro-F1 0.6023 (95% HDI 0.5915 to 0.6130), observed 0.6042",
        "",
        "7,532 items · prior learned · 20,000 draws",
    ]


def test_the_version_stands_where_there_is_room(facts):
    assert screen(facts, width=120).endswith("20,000 draws · outperform 0.1.0")


def test_a_note_on_the_factor_comes_with_it(facts):
    note = {"name": "bayes_factor_against_probability", "level": "note", "message": "So."}
    told = {**facts, "findings": [note]}
    assert "So." not in screen(told)
    assert "So." in screen(told, verbose=True)


def test_digits_follow_the_uncertainty(facts):
    wide = {"sd": 0.12, "hdi": {"low": -0.31, "high": 0.14, "prob": 0.95}}
    told = {**facts, **wide, "a": {**facts["a"], **wide}, "b": {**facts["b"], **wide}}
    assert "macro-F1 lower by 0.11 (95% HDI −0.31 to +0.14)" in screen(told)


def test_lower_is_better_is_said(facts):
    assert "ROPE ±0.01 (default); lower is better\n" in screen(
        {**facts, "greater_is_better": False}, width=100
    )


def test_a_positive_class_is_named(facts):
    assert "positive class spam" in screen({**facts, "pos_label": "spam", "n": 1, "paired": False})


def test_what_is_undefined_says_so(facts):
    told = {**facts, "a": {**facts["a"], "observed": None}}
    assert "nb_bern     undefined " in screen(told)


@pytest.mark.parametrize(
    ("decision", "rope", "said"),
    [
        ("WORSE", 0.005, "wider than ±0.0937 this is undecided; from ±0.1234 on, equivalent."),
        ("LEANING_WORSE", 0.1, "up to ±0.0937 this is worse; from ±0.1234 on, equivalent."),
        ("EQUIVALENT", 0.2, "up to ±0.0937 this is worse; up to ±0.1234, undecided."),
    ],
)
def test_other_widths_of_the_rope(facts, decision, rope, said):
    told = {**facts, "decision": {"name": decision}, "rope": {"low": -rope, "high": rope}}
    assert other_ropes(told, 4) == f"With a ROPE {said}"


def test_a_decision_that_is_withheld_at_every_width(facts):
    curve = [{"decision": "UNDECIDED", "symbol": "?", "from": 0.0, "to": None}]
    assert other_ropes({**facts, "rope_curve": curve}, 4) == (
        "With any ROPE the decision is withheld."
    )


@each("n_findings", [0, 1, 5, 6, 50])
def test_it_fits_one_screen(facts, n_findings):
    finding = {"name": "finding", "level": "note", "message": "A finding. " * 5}
    worst = {"name": "worst", "level": "serious", "message": "The worst."}
    told = {
        **facts,
        "names": ["first_model_with_a_long_name_x", "second_model_with_a_long_name_x"],
        "findings": [finding] * n_findings + [worst],
    }
    lines = screen(told).splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    assert "serious: The worst. [worst]" in lines
    assert any("more finding" in line for line in lines) == (n_findings > 6)


@each("encoding", ["utf-8", "ascii"])
@each("width", [40, 80])
@every_payload
def test_payloads_cannot_break_the_screen(width, encoding, facts, payload):
    attacked = attack(facts, payload)
    text = screen(attacked, width=width, encoding=encoding)
    text.encode(encoding)
    assert not set(text) & set("\x1b\x00\r\t\u202e\u200b\u2028\ufeff")
    for line in text.split("\n"):
        assert display_width(line) <= width
        assert not line.lstrip().startswith("::")
        assert "##[" not in line
        assert "##vso[" not in line


def test_a_type_of_spans_is_named(facts):
    told = {**facts, "n": 1, "unit": "sentences or documents", "n_classes": None, "n_types": 3}
    text = screen({**told, "pos_label": "PER"})
    assert "1 sentence or document, 3 types of spans, type PER, paired" in text
    assert "class" not in text.partition("outperform ")[0]


def test_hints_are_for_those_who_can_ask(facts):
    assert "explain" not in screen(facts)
    (hint,) = [line for line in screen(facts, hints=True).splitlines() if "explain" in line]
    assert hint == "What is a ROPE? outperform explain rope hdi sparse · More: --verbose"
