from __future__ import annotations

from outperform.display.paragraphs import estimate_paragraph, paragraph
from outperform.display.sentences import (
    decision_words,
    estimate_headline,
    headline,
    rope_curve_sentence,
)
from tests.display.payloads import attack, every_payload
from tests.loops import each

# decision, symbol, mean, HDI and the words for it; the ROPE is ±0.01.
DECISIONS = [
    ("BETTER", "≫", 0.0222, (0.0107, 0.0371), "bert is better than gpt: F1 higher by 0.0222 ("),
    (
        "LEANING_BETTER",
        ">",
        0.0105,
        (-0.002, 0.023),
        "Undecided, leaning towards bert: bert's F1 is about 0.0105 higher (",
    ),
    (
        "EQUIVALENT",
        "≈",
        0.0012,
        (-0.003, 0.006),
        "bert and gpt are practically equivalent: F1 differs by +0.0012 (",
    ),
    (
        "LEANING_EQUIVALENT",
        "~",
        0.0012,
        (-0.013, 0.016),
        "Undecided, bert and gpt are probably equivalent: F1 differs by about +0.0012 (",
    ),
    (
        "LEANING_WORSE",
        "<",
        -0.0105,
        (-0.023, 0.002),
        "Undecided, leaning towards gpt: bert's F1 is about 0.0105 lower (",
    ),
    ("WORSE", "≪", -0.0222, (-0.0371, -0.0107), "bert is worse than gpt: F1 lower by 0.0222 ("),
    (
        "UNDECIDED",
        "?",
        0.0001,
        (-0.0199, 0.0201),
        "Undecided between bert and gpt: F1 differs by about +0.0001 (",
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


@each(("name", "symbol", "mean", "hdi", "words"), DECISIONS)
def test_every_decision_has_its_words(facts, name, symbol, mean, hdi, words):
    told = judged(facts, name, symbol, mean, hdi)
    line = headline(told)
    assert line.startswith(words)
    assert line.endswith("ROPE ±0.01 (default).")
    said = decision_words(told)
    ending = " for a ROPE of ±0.01" if name == "EQUIVALENT" else ""
    assert f"Decision ({symbol}): {said}{ending}." in paragraph(told)
    assert f"of ±0.01 (default), {said} ({symbol}): the HDI " in paragraph(told, length="short")


@each(("name", "symbol", "mean", "hdi", "words"), DECISIONS)
def test_no_decision_claims_more_than_it_carries(facts, name, symbol, mean, hdi, words):
    told = judged(facts, name, symbol, mean, hdi)
    line = headline(told)
    assert "the same" not in paragraph(told) + paragraph(told, length="short")
    claims = {"is better than": "BETTER", "is worse than": "WORSE", "are practically": "EQUIVALENT"}
    assert [claims[words] for words in claims if words in line] == [
        decided for decided in ("BETTER", "WORSE", "EQUIVALENT") if decided == name
    ]
    assert line.startswith("Undecided") == (
        name in ("LEANING_BETTER", "LEANING_EQUIVALENT", "LEANING_WORSE", "UNDECIDED")
    )


def test_better_follows_the_metric(facts):
    told = judged(facts, "BETTER", "≫", -0.0222, (-0.0371, -0.0107), greater_is_better=False)
    assert headline(told).startswith("bert is better than gpt: F1 lower by 0.0222 (")
    assert "in F1, where lower is better, on 7,532 items" in paragraph(told)
    assert "in F1, where lower is better, is −0.0222" in paragraph(told, length="short")
    told = judged(facts, "WORSE", "≪", 0.0222, (0.0107, 0.0371), greater_is_better=False)
    assert headline(told).startswith("bert is worse than gpt: F1 higher by 0.0222 (")


def test_no_direction_against_the_decision(facts):
    # Leaning better by the midpoint of an asymmetric ROPE, though the mean is below zero.
    rope = {"low": -0.04, "high": 0.0, "default": False}
    told = judged(facts, "LEANING_BETTER", ">", -0.005, (-0.02, 0.01), rope=rope)
    assert "F1 differs by about −0.0050 (" in headline(told)
    assert headline(told).endswith("ROPE −0.04 to 0.")


def test_the_headline(facts):
    assert headline(facts) == (
        "nb_bern is worse than nb_mult: macro-averaged F1 lower by 0.1086 "
        "(95% HDI −0.1234 to −0.0937), ROPE ±0.01 (default)."
    )


def test_a_serious_finding_reaches_the_headline(facts):
    finding = {"name": "unstable_learner", "level": "serious", "message": "Folds disagree."}
    told = {**facts, "findings": [*facts["findings"], finding]}
    assert headline(told).endswith("ROPE ±0.01 (default). Serious finding: unstable_learner.")
    assert "Serious caveat: Folds disagree. Caveat: 12 cells hold nothing." in paragraph(told)


@each(
    ("curve", "rope", "sentence"),
    [
        (
            [
                ("BETTER", "≫", 0, 0.006),
                ("LEANING_BETTER", ">", 0.006, 0.038),
                ("EQUIVALENT", "≈", 0.038, None),
            ],
            None,
            "≫ up to ±0.006, undecided to ±0.038, ≈ from there on",
        ),
        (
            [
                ("BETTER", "≫", 0, 0.6),
                ("LEANING_BETTER", ">", 0.6, 3.8),
                ("EQUIVALENT", "≈", 3.8, None),
            ],
            {"low": -0.02, "high": 0.01},
            "≫ up to 0.6 times the given ROPE, undecided to 3.8 times the given ROPE, "
            "≈ from there on",
        ),
        (
            [("UNDECIDED", "?", 0, 0.02), ("EQUIVALENT", "≈", 0.02, None)],
            {"low": -0.01, "high": 0.01},
            "undecided up to ±0.02, ≈ from there on",
        ),
        ([("EQUIVALENT", "≈", 0, None)], None, "≈ for every width"),
        ([("UNDECIDED", "?", 0, None)], None, "withheld for every width"),
        (
            [
                ("UNDECIDED", "?", 0, 0.018),
                ("LEANING_WORSE", "<", 0.018, 1.6376),
                ("UNDECIDED", "?", 1.6376, None),
            ],
            {"low": -0.01, "high": 0.01},
            "withheld for every width",
        ),
        (
            [
                ("BETTER", "≫", 0, 0.0),
                ("LEANING_BETTER", ">", 0, 0.00002),
                ("EQUIVALENT", "≈", 0.00002, None),
            ],
            None,
            "undecided up to ±2e-05, ≈ from there on",
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


@every_payload
def test_payloads_stay_on_one_line(facts, payload):
    attacked = attack(facts, payload)
    for text in (headline(attacked), paragraph(attacked), estimate_headline(attacked["a"])):
        assert len(text.splitlines()) == 1
        assert not set(text) & set("\x1b\x00\u202e\u200b\u2028\ufeff")
        assert not text.startswith("::")
        assert "##[" not in text


def test_names_are_whole_in_sentences(facts):
    told = {**facts, "names": ["x" * 10_000, "y"]}
    assert "x" * 10_000 in headline(told)
    assert "x" * 29 + "… is worse" in headline(told, limit=30)
