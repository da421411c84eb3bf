from __future__ import annotations

import pytest

from outperform.present import (
    estimate_headline,
    estimate_paragraph,
    headline,
    paragraph,
    rope_curve_sentence,
)

# decision, symbol, mean, HDI and the words for it; the ROPE is ±0.01.
VERDICTS = [
    ("BETTER", "≫", 0.0222, (0.0107, 0.0371), "bert is better than gpt: F1 higher by 0.0222 ("),
    (
        "LEANING_BETTER",
        ">",
        0.0105,
        (-0.002, 0.023),
        "bert against gpt is leaning better, not decided: F1 higher by an estimated 0.0105 (",
    ),
    (
        "EQUIVALENT",
        "≈",
        0.0012,
        (-0.003, 0.006),
        "bert and gpt are practically equivalent: F1 differs by +0.0012 (",
    ),
    (
        "LEANING_WORSE",
        "<",
        -0.0105,
        (-0.023, 0.002),
        "bert against gpt is leaning worse, not decided: F1 lower by an estimated 0.0105 (",
    ),
    ("WORSE", "≪", -0.0222, (-0.0371, -0.0107), "bert is worse than gpt: F1 lower by 0.0222 ("),
    (
        "UNDECIDED",
        "?",
        0.0001,
        (-0.0199, 0.0201),
        "bert against gpt is undecided: F1 differs by an estimated +0.0001 (",
    ),
]


def judged(facts, name, symbol, mean, hdi, **more):
    return {
        **facts,
        "names": ["bert", "gpt"],
        "metric_label": "F1",
        "decision": {"name": name, "symbol": symbol, "words": "words"},
        "mean": mean,
        "hdi": {"low": hdi[0], "high": hdi[1], "prob": 0.95},
        **more,
    }


@pytest.mark.parametrize(("name", "symbol", "mean", "hdi", "words"), VERDICTS)
def test_every_verdict_has_its_words(facts, name, symbol, mean, hdi, words):
    told = judged(facts, name, symbol, mean, hdi)
    line = headline(told)
    assert line.startswith(words)
    assert line.endswith("ROPE ±0.01.")
    assert f"Verdict ({symbol}): {words.partition(':')[0]}." in paragraph(told)


@pytest.mark.parametrize(("name", "symbol", "mean", "hdi", "words"), VERDICTS)
def test_no_verdict_claims_more_than_it_carries(facts, name, symbol, mean, hdi, words):
    line = headline(judged(facts, name, symbol, mean, hdi))
    claims = {"is better than": "BETTER", "is worse than": "WORSE", "equivalent": "EQUIVALENT"}
    assert [claims[words] for words in claims if words in line] == [
        decided for decided in ("BETTER", "WORSE", "EQUIVALENT") if decided == name
    ]
    assert ("not decided" in line or "undecided" in line) == (
        name in ("LEANING_BETTER", "LEANING_WORSE", "UNDECIDED")
    )


def test_better_follows_the_metric(facts):
    told = judged(facts, "BETTER", "≫", -0.0222, (-0.0371, -0.0107), greater_is_better=False)
    assert headline(told).startswith("bert is better than gpt: F1 lower by 0.0222 (")
    assert "in F1, where lower is better." in paragraph(told)
    told = judged(facts, "WORSE", "≪", 0.0222, (0.0107, 0.0371), greater_is_better=False)
    assert headline(told).startswith("bert is worse than gpt: F1 higher by 0.0222 (")


def test_no_direction_against_the_verdict(facts):
    # Leaning better by the midpoint of an asymmetric ROPE, though the mean is below zero.
    rope = {"low": -0.04, "high": 0.0, "default": False}
    told = judged(facts, "LEANING_BETTER", ">", -0.005, (-0.02, 0.01), rope=rope)
    assert "F1 differs by an estimated -0.0050 (" in headline(told)
    assert headline(told).endswith("ROPE -0.04 to 0.")


def test_the_headline(facts):
    assert headline(facts) == (
        "nb_bern is worse than nb_mult: macro-averaged F1 lower by 0.1086 "
        "(95% HDI -0.1234 to -0.0937), ROPE ±0.01."
    )


def test_a_serious_finding_reaches_the_headline(facts):
    finding = {"name": "unstable_learner", "level": "serious", "message": "Folds disagree."}
    told = {**facts, "findings": [*facts["findings"], finding]}
    assert headline(told).endswith("ROPE ±0.01. Serious doubt: unstable_learner.")
    assert "Serious caveat: Folds disagree. Caveat: 12 cells hold no document." in paragraph(told)


def test_the_paragraph(facts):
    assert paragraph(facts) == (
        "The difference is nb_bern − nb_mult in macro-averaged F1. Its posterior mean is -0.1086 "
        "(sd 0.0076; observed -0.1083; Monte Carlo error 5.4e-05). The 95% highest-density "
        "interval (HDI) runs from -0.1234 to -0.0937. The probability that the difference is "
        "above zero, that is, that nb_bern has a higher macro-averaged F1 than nb_mult, is below "
        "0.015%. With a region of practical equivalence (ROPE) of ±0.01 (the default), nb_bern is "
        "practically worse than nb_mult with probability above 99.985%, practically equivalent "
        "with below 0.015% and practically better with below 0.015%. The HDI lies entirely below "
        "the ROPE. Verdict (≪): nb_bern is worse than nb_mult. For other widths of the ROPE the "
        "verdict is: ≪ (worse) up to ±0.0937, undecided (<) to ±0.1234, ≈ (equivalent) from there "
        "on. The data multiply the odds that the difference lies outside the ROPE rather than "
        "inside it by more than 4.1e+03: BF10 > 4.1e+03 (interval null, from draws). Caveat: 12 "
        "cells hold no document. Method: outperform 0.1.0 | compare | f1_macro | rope ±0.01 | "
        "seed 1"
    )


@pytest.mark.parametrize(
    ("hdi", "position"),
    [
        ((0.02, 0.03), "lies entirely above the ROPE"),
        ((-0.03, -0.02), "lies entirely below the ROPE"),
        ((-0.005, 0.01), "lies entirely inside the ROPE"),
        ((-0.02, 0.02), "reaches beyond both edges of the ROPE"),
        ((0.0, 0.02), "reaches over the upper edge of the ROPE"),
        ((-0.02, 0.0), "reaches over the lower edge of the ROPE"),
    ],
)
def test_where_the_interval_lies(facts, hdi, position):
    assert f"The HDI {position}." in paragraph(judged(facts, "UNDECIDED", "?", 0.0, hdi))


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
    text = paragraph({**facts, "bayes_factor": factor})
    assert (sentence in text) if sentence else ("Bayes" not in text and "odds" not in text)


def test_exact_results_say_so_by_their_digits(facts):
    text = paragraph({**facts, "exact": True, "mcse": 0.0, "p_worse": 0.9731})
    assert "with probability 97.31%" in text
    assert "Monte Carlo" not in text


@pytest.mark.parametrize(
    ("curve", "rope", "sentence"),
    [
        (
            [
                ("BETTER", "≫", 0, 0.006),
                ("LEANING_BETTER", ">", 0.006, 0.038),
                ("EQUIVALENT", "≈", 0.038, None),
            ],
            None,
            "≫ up to ±0.006, undecided (>) to ±0.038, ≈ from there on",
        ),
        (
            [
                ("BETTER", "≫", 0, 0.6),
                ("LEANING_BETTER", ">", 0.6, 3.8),
                ("EQUIVALENT", "≈", 3.8, None),
            ],
            {"low": -0.02, "high": 0.01},
            "≫ up to 0.6 times the given ROPE, undecided (>) to 3.8 times the given ROPE, "
            "≈ from there on",
        ),
        (
            [("UNDECIDED", "?", 0, 0.02), ("EQUIVALENT", "≈", 0.02, None)],
            {"low": -0.01, "high": 0.01},
            "undecided (?) up to ±0.02, ≈ from there on",
        ),
        ([("EQUIVALENT", "≈", 0, None)], None, "≈ for every width"),
        (
            [
                ("BETTER", "≫", 0, 0.0),
                ("LEANING_BETTER", ">", 0, 0.00002),
                ("EQUIVALENT", "≈", 0.00002, None),
            ],
            None,
            "undecided (>) up to ±2e-05, ≈ from there on",
        ),
    ],
)
def test_the_rope_curve(curve, rope, sentence):
    keys = ("decision", "symbol", "from", "to")
    stretches = [dict(zip(keys, stretch, strict=True)) for stretch in curve]
    assert rope_curve_sentence(stretches, rope=rope) == sentence


def test_close_ends_are_seen_to_differ(facts):
    told = judged(facts, "LEANING_BETTER", ">", 0.022, (0.009996, 0.03))
    assert "HDI +0.009996 to +0.030000" in headline(told)


def test_the_estimate(facts):
    own = {**facts["a"], "signature": "outperform 0.1.0 | estimate"}
    assert estimate_headline(own) == (
        "nb_bern: macro-averaged F1 0.6023 (95% HDI 0.5915 to 0.6130), observed 0.6042."
    )
    assert estimate_paragraph(own) == (
        "The posterior mean of nb_bern's macro-averaged F1 is 0.6023 (sd 0.0055; observed 0.6042; "
        "Monte Carlo error 4e-05). The 95% highest-density interval (HDI) runs from 0.5915 to "
        "0.6130. Method: outperform 0.1.0 | estimate"
    )


def test_payloads_stay_on_one_line(attacked):
    for text in (headline(attacked), paragraph(attacked), estimate_headline(attacked["a"])):
        assert len(text.splitlines()) == 1
        assert not set(text) & set("\x1b\x00\u202e\u200b\u2028\ufeff")
        assert not text.startswith("::")
        assert "##[" not in text


def test_names_are_whole_in_sentences(facts):
    told = {**facts, "names": ["x" * 10_000, "y"]}
    assert "x" * 10_000 in headline(told)
    assert "x" * 29 + "… is worse" in headline(told, limit=30)
