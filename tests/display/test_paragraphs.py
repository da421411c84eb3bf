from __future__ import annotations

import pytest

from outperform.display.paragraphs import estimate_paragraph, paragraph
from outperform.errors import UsageError
from tests.display.payloads import attack, every_payload
from tests.loops import each


@pytest.fixture
def spans(facts):
    """The same comparison, of spans."""
    return {
        **facts,
        "n": 300,
        "unit": "sentences or documents",
        "n_classes": None,
        "n_types": 4,
        "prior": "bootstrap",
        "bayes_factor": None,
    }


@pytest.fixture
def blocked(facts):
    """The same comparison, by blocked cross-validation, paired and not."""
    return {
        **facts,
        "n": 221,
        "unit": "spans",
        "n_classes": None,
        "n_types": 1,
        "folds": {"m": 3, "correlation": "averaged", "worth": 0.368802},
        "p_h0": 0.0,
        "p_h1": 1.0,
        "accepted": "H1",
        "unpaired": {
            "mean": -0.108,
            "hdi": {"low": -0.2, "high": -0.02, "prob": 0.95},
            "decision": {"name": "WORSE", "symbol": "≪"},
            "p_h0": 0.0123,
            "p_h1": 0.9877,
            "accepted": "H1",
            "exact": True,
        },
    }


def test_the_paragraph(facts):
    assert paragraph(facts) == (
        "The difference is nb_bern − nb_mult in macro-averaged F1, on 7,532 items in 20 classes "
        "(paired, prior unit, 20,000 draws). Its posterior mean is −0.1086 (sd 0.0076; observed "
        "−0.1083; Monte Carlo error 5.4e-05). The 95% highest-density interval (HDI) runs from "
        "−0.1234 to −0.0937. The probability that nb_bern has a higher macro-averaged F1 than "
        "nb_mult (a difference above zero) is below 0.02%. With a region of "
        "practical equivalence (ROPE) of ±0.01 (default), the probabilities that nb_bern is "
        "practically worse than, equivalent to and better than nb_mult are above 99.98%, below "
        "0.02% and below 0.02%. The HDI lies entirely below the ROPE. Decision (≪): nb_bern is "
        "worse than nb_mult. With other ROPE widths, the decision is: ≪ (worse) up to "
        "±0.0937, undecided to ±0.1234, ≈ (equivalent) from there on. Caveat: 12 cells hold "
        "nothing. "
        "Method: outperform 0.1.0 | compare | f1_macro | rope ±0.01 | seed 1"
    )


def test_the_short_paragraph(facts):
    assert paragraph(facts, length="short") == (
        "On 7,532 items in 20 classes, the posterior mean of nb_bern − nb_mult in macro-averaged "
        "F1 is −0.1086 (95% highest-density interval, HDI, −0.1234 to −0.0937; paired, prior unit, "
        "20,000 draws). For a region of practical equivalence (ROPE) of ±0.01 (default), "
        "nb_bern is worse than nb_mult (≪): the HDI lies entirely below the ROPE. The "
        "probabilities that nb_bern is practically worse than, equivalent to and better than "
        "nb_mult are above 99.98%, below 0.02% and below 0.02%. Caveat: 12 cells hold "
        "nothing."
    )


def test_only_the_long_form_has_the_bayes_factor(facts):
    evidence = (
        "The data multiply the odds that the difference lies outside the ROPE rather than inside "
        "it by more than 4.1e+03: BF10 > 4.1e+03 (interval null, from draws). "
    )
    whole = paragraph(facts, length="long")
    assert evidence in whole
    assert whole.replace(evidence, "") == paragraph(facts) == paragraph(facts, length="medium")
    against = {
        "name": "bayes_factor_against_probability",
        "level": "note",
        "message": "The factor points the other way.",
    }
    told = {**facts, "findings": [against]}
    assert "the other way" in paragraph(told, length="long")
    assert "the other way" not in paragraph(told)


def test_the_order(facts):
    text = paragraph({**facts, "mean": -0.1086}, length="long")
    parts = (
        "posterior mean is", "highest-density interval", "above zero", "practically worse",
        "odds", "Caveat", "Method: ",
    )  # fmt: skip
    places = [text.index(part) for part in parts]
    assert places == sorted(places)


def test_an_unknown_length_is_refused(facts):
    for write in (paragraph, estimate_paragraph):
        with pytest.raises(
            UsageError, match="length must be 'short', 'medium' or 'long'; got 'tiny'"
        ):
            write({**facts, "name": "x"}, length="tiny")


def test_notes_stand_in_the_long_form_only(facts):
    note = {"name": "hdi_and_equal_tails_disagree", "level": "note", "message": "Tails differ."}
    told = {**facts, "findings": [*facts["findings"], note]}
    assert "Note: Tails differ." in paragraph(told)
    assert "The ROPE is the default." not in paragraph(told)  # said with the ROPE
    assert "Tails differ." not in paragraph(told, length="short")


def test_spans_have_types_and_sentences(spans):
    of_type = {**spans, "pos_label": "PER"}
    for length in ("long", "short"):
        assert "n 300 sentences or documents with 4 types of spans" in paragraph(
            spans, length=length
        )
        assert "in macro-averaged F1 (type PER)" in paragraph(of_type, length=length)
        for text in (paragraph(spans, length=length), paragraph(of_type, length=length)):
            assert "class" not in text
            assert "item" not in text


@pytest.mark.parametrize(
    ("label", "words"),
    [("spam", "F1 (positive class spam)"), (0, "F1 (positive class 0)"), (1, "F1"), (True, "F1")],
)
def test_the_positive_class_is_named(facts, label, words):
    text = paragraph({**facts, "pos_label": label}, length="short")
    assert f"in macro-averaged {words} is −0.1086" in text


def test_blocked_cross_validation(blocked):
    folds = "n 221 spans by 3×2 blocked cross-validation, counts worth 0.369 each"
    long, short = paragraph(blocked), paragraph(blocked, length="short")
    assert folds in long
    assert folds in short
    assert (
        "Without pairing: ≪ −0.1080 (95% HDI −0.2000 to −0.0200). The Bayes test of Wang and Li "
        "(2019), which is unpaired, gives a probability of 1.23% to H0 (nb_mult is no better than "
        "nb_bern) and of 98.77% to H1 (nb_mult is better), and accepts the more probable, H1. The "
        "decision above does not use this test." in long
    )
    assert "H1" not in short


@pytest.mark.parametrize("length", ["long", "short"])
def test_a_withheld_decision_says_why(facts, length):
    few = {"name": "few_disagreements", "level": "serious", "message": "They never disagree."}
    told = {
        **facts,
        "hdi": {"low": 0.0, "high": 0.0, "prob": 0.95},
        "decision": {"name": "UNDECIDED", "symbol": "?", "words": "undecided"},
        "findings": [few],
    }
    text = paragraph(told, length=length)
    assert "HDI lies entirely inside the ROPE, but the decision is withheld." in text
    assert text.count("They never disagree.") == 1
    assert "are practically equivalent" not in text


def test_a_serious_finding_about_what_is_not_decided_anyway(facts):
    finding = {"name": "unstable_learner", "level": "serious", "message": "Folds differ."}
    told = {
        **facts,
        "hdi": {"low": -0.05, "high": 0.02, "prob": 0.95},
        "decision": {"name": "LEANING_WORSE", "symbol": "<", "words": "leaning worse"},
        "findings": [finding],
    }
    for length in ("long", "short"):
        text = paragraph(told, length=length)
        assert "Serious caveat: Folds differ." in text
        assert "withheld" not in text


@each(
    ("hdi", "position"),
    [
        ((0.02, 0.03), "lies entirely above the ROPE"),
        ((-0.03, -0.02), "lies entirely below the ROPE"),
        ((-0.005, 0.01), "lies entirely inside the ROPE"),
        ((-0.02, 0.02), "contains both edges of the ROPE"),
        ((0.0, 0.02), "contains the upper edge of the ROPE"),
        ((-0.02, 0.0), "contains the lower edge of the ROPE"),
    ],
)
def test_where_the_interval_lies(facts, hdi, position):
    told = {**facts, "hdi": {"low": hdi[0], "high": hdi[1], "prob": 0.95}}
    assert f"The HDI {position}." in paragraph(told)
    assert f": the HDI {position}." in paragraph(told, length="short")


@pytest.mark.parametrize(
    ("factor", "sentence"),
    [
        (None, None),
        (
            {"bf01": 12.3, "kind": "interval", "method": "exact", "bound": None},
            "odds that the difference lies inside the ROPE rather than outside it by 12.3: "
            "BF01 = 12.3 (interval null, exact).",
        ),
        (
            {"bf01": 0.25, "kind": "point", "method": "kde", "bound": None},
            "odds that there is some difference rather than none by 4.00: "
            "BF10 = 4.00 (point null, from a kernel density).",
        ),
        (
            {"bf01": 3.0, "kind": "point", "method": "exact", "bound": "upper"},
            "odds that there is no difference rather than some difference by less than 3.00: "
            "BF01 < 3.00 (point null, exact).",
        ),
    ],
)
def test_the_evidence(facts, factor, sentence):
    text = paragraph({**facts, "bayes_factor": factor}, length="long")
    assert (sentence in text) if sentence else ("Bayes" not in text and "odds" not in text)


def test_exact_results_say_so_by_their_digits(facts):
    text = paragraph({**facts, "exact": True, "mcse": 0.0, "p_worse": 0.9731})
    assert "better than nb_mult are 97.31%, " in text
    assert "Monte Carlo" not in text


def test_the_short_estimate(facts):
    own = {**facts["a"], "n": 300, "unit": "sentences or documents", "n_types": 3, "prior": "unit"}
    assert estimate_paragraph(own, length="short") == (
        "On 300 sentences or documents with 3 types of spans, the posterior mean of nb_bern's "
        "macro-averaged F1 is 0.6023 (95% highest-density interval, HDI, 0.5915 to 0.6130; prior "
        "unit)."
    )


@every_payload
def test_payloads_stay_on_one_line(facts, payload):
    attacked = attack(facts, payload)
    for text in (
        paragraph(attacked, length="short"),
        estimate_paragraph({**attacked, "name": attacked["names"][0]}, length="short"),
    ):
        assert len(text.splitlines()) == 1
        assert not set(text) & set("\x1b\x00\u202e\u200b\u2028\ufeff")
        assert "##[" not in text
