from __future__ import annotations

import pytest

from outperform.display.screen import estimate_screen, screen


def test_the_screen(facts):
    assert screen(facts).splitlines() == [
        "nb_bern is worse than nb_mult: macro-averaged F1 lower by 0.1086 "
        "(95% HDI -0.1234 to -0.0937),",
        "ROPE ±0.01.",
        "",
        "model              observed     mean      sd  95% HDI low     high",
        "-----------------  --------  -------  ------  -----------  -------",
        "nb_bern              0.6042   0.6023  0.0055       0.5915   0.6130",
        "nb_mult              0.7125   0.7109  0.0051       0.7009   0.7208",
        "nb_bern − nb_mult   -0.1083  -0.1086  0.0076      -0.1234  -0.0937",
        "",
        "difference    nb_bern − nb_mult in macro-averaged F1",
        "practically   worse >99.985%, equivalent <0.015%, better <0.015%; "
        "ROPE ±0.01 (the default)",
        "above zero    P(nb_bern − nb_mult > 0) <0.015%",
        "Bayes factor  BF10 > 4.1e+03 (interval null, from draws)",
        "other ROPEs   ≪ (worse) up to ±0.0937, undecided (<) to ±0.1234, "
        "≈ (equivalent) from there on",
        "Monte Carlo   error of the mean 5.4e-05",
        "data          7,532 items, 20 classes, paired, prior unit, 20,000 draws",
        "warning: 12 cells hold nothing. [sparse]",
        "note: The ROPE is the default. [default_rope]",
        "outperform 0.1.0 | compare | f1_macro | rope ±0.01 | seed 1",
    ]


def test_the_screen_of_an_estimate(facts):
    own = {**facts["a"], "n": 7532, "prior": "learned", "n_draws": 20_000, "findings": []}
    assert estimate_screen(own).splitlines() == [
        "nb_bern: macro-averaged F1 0.6023 (95% HDI 0.5915 to 0.6130), observed 0.6042.",
        "",
        "model    observed    mean      sd  95% HDI low    high",
        "-------  --------  ------  ------  -----------  ------",
        "nb_bern    0.6042  0.6023  0.0055       0.5915  0.6130",
        "",
        "Monte Carlo   error of the mean 4e-05",
        "data          7,532 items, prior learned, 20,000 draws",
    ]


def test_lower_is_better_is_said(facts):
    assert "in macro-averaged F1, lower is better\n" in screen(
        {**facts, "greater_is_better": False}
    )


def test_a_positive_class_is_named(facts):
    assert "positive class spam" in screen({**facts, "pos_label": "spam", "n": 1, "paired": False})


@pytest.mark.parametrize("n_findings", [0, 1, 5, 6, 50])
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
    assert max(map(len, lines)) <= 100
    assert "serious: The worst. [worst]" in lines
    assert any("more finding" in line for line in lines) == (n_findings > 5)


def test_payloads_cannot_break_the_screen(attacked):
    text = screen(attacked)
    assert not set(text) & set("\x1b\x00\r\t\u202e\u200b\u2028\ufeff")
    for line in text.split("\n"):
        assert not line.lstrip().startswith("::")
        assert "##[" not in line
        assert "##vso[" not in line


def test_a_type_of_spans_is_named(facts):
    told = {**facts, "n": 1, "unit": "sentences or documents", "n_classes": None, "n_types": 3}
    text = screen({**told, "pos_label": "PER"})
    assert "1 sentence or document, 3 types of spans, type PER, paired" in text
    assert "class" not in text.partition("outperform ")[0]
