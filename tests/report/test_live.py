"""What the page says for every place of the slider is what Python says for that ROPE."""

from __future__ import annotations

import numpy as np
import pytest

from outperform._json import to_json
from outperform.decision.rope import Rope
from outperform.display import facts as read
from outperform.display.numbers import true_minus
from outperform.display.sentences import headline
from outperform.results.facts import HEADLINE
from tests.loops import each
from tests.report.kinds import KINDS
from tests.report.reading import XHTML

SHARES = ("worse", "equivalent", "better")


def said(comparison):
    """Return decision, percentages, sentence and findings as Python gives them."""
    factor = comparison.bayes_factor
    findings = comparison.findings + (() if factor is None else factor.findings)
    facts = to_json(comparison, HEADLINE) | {  # to_dict() would work out much besides
        "exact": comparison.exact,
        "findings": [to_json(one) for one in findings],
        "n_draws": comparison.draws.size,
        **{f"p_{name}": getattr(comparison, f"p_{name}") for name in SHARES},
    }
    return {
        "decision": [comparison.decision.symbol, comparison.decision.words],
        "percentages": list(read.shares(facts).values()),
        "sentence": true_minus(headline(facts)),
        "findings": [list(finding) for finding in read.findings(facts)],
    }


def looked_up(live, place):
    """Return the same as the script looks it up."""
    symbol, _, words = live["decisions"][live["decision"][place]]
    before, after = live["sentences"][live["sentence"][place]]
    return {
        "decision": [symbol, words],
        "percentages": live["percentages"][place],
        "sentence": before + live["rope"][place] + after,
        "findings": [live["findings"][k] for k in live["found"][place]],
    }


def check(comparison, live, places):
    for place in places:
        low, high = live["ends"][place]
        asked = comparison
        if place != live["chosen"]:
            asked = comparison.with_rope(Rope(low=low, high=high))
        assert looked_up(live, place) == said(asked), (low, high)


@each("kind", KINDS)
def test_where_the_decision_changes_it_is_the_one_of_with_rope(pages, kind):
    comparison, page, _ = pages(kind)
    (live,) = page.json("live")
    changes = np.flatnonzero(np.diff(live["decision"]))
    last = len(live["ends"]) - 1
    check(comparison, live, sorted({0, live["chosen"], *changes, *(changes + 1), last}))


@each("kind", KINDS)
def test_the_line_about_every_width_agrees_with_the_slider(pages, kind):
    comparison, page, _ = pages(kind)
    (live,) = page.json("live")
    unit = 1.0 if comparison.rope.symmetric else comparison.rope.high
    curve = comparison.rope_curve()
    for place, (_, high) in enumerate(live["ends"][1:], start=1):
        (step,) = (
            step
            for step in curve
            if step.start < high / unit and (step.stop is None or high / unit <= step.stop)
        )
        assert live["decisions"][live["decision"][place]][0] == step.decision.symbol


@pytest.mark.slow
@each("kind", KINDS)
def test_every_place_says_what_with_rope_says(pages, kind):
    comparison, page, _ = pages(kind)
    (live,) = page.json("live")
    check(comparison, live, range(len(live["ends"])))


@each("kind", KINDS)
def test_the_chosen_rope_is_among_the_places_and_is_what_the_page_shows(pages, kind):
    comparison, page, _ = pages(kind)
    (live,) = page.json("live")
    chosen = live["chosen"]
    assert live["ends"][chosen] == [comparison.rope.low, comparison.rope.high]
    expected = said(comparison)
    assert page.one("data-part", "sentence").text == expected["sentence"]
    assert page.one("data-part", "words").text == comparison.decision.words
    assert [page.one("data-part", name).text for name in SHARES] == expected["percentages"]
    listed = [item.find(f"{XHTML}code").text for item in page.one("data-part", "findings")]
    # The page shows the Bayes factor, and what there is to know about it.
    assert sorted(listed) == sorted(one["name"] for one in comparison.to_dict()["findings"])
    assert (page.one("data-part", "no-findings").get("hidden") is not None) is bool(listed)
    slider = page.one("type", "range")
    assert (slider.get("value"), slider.get("max")) == (str(chosen), str(len(live["ends"]) - 1))


@each("kind", KINDS)
def test_the_places_run_from_none_to_where_nothing_changes(pages, kind):
    comparison, page, _ = pages(kind)
    (live,) = page.json("live")
    ends = np.array(live["ends"])
    width = ends[:, 1] - ends[:, 0]
    assert width[0] == 0
    assert (np.diff(width) > 0).all()
    assert 60 <= len(ends) <= 205
    changes = [step.start for step in comparison.rope_curve()]
    unit = 2 if comparison.rope.symmetric else comparison.rope.high - comparison.rope.low
    bounds = comparison.spec.metric.bounds or (-np.inf, np.inf)
    assert width[-1] >= min(max(changes) * unit, (bounds[1] - bounds[0]) * unit / 2) * 0.99


def test_a_symmetric_rope_is_as_round_as_a_person_would_type_it(pages):
    _, page, _ = pages("sampled")
    (live,) = page.json("live")
    widths = [high for _, high in live["ends"]]
    assert [float(f"{width:.4g}") for width in widths] == widths


def test_both_ends_of_an_asymmetric_rope_are_scaled(pages):
    comparison, page, _ = pages("unequal_ends")
    ends = np.array(page.json("live")[0]["ends"])[1:]
    ratio = comparison.rope.low / comparison.rope.high
    assert np.allclose(ends[:, 0] / ends[:, 1], ratio, rtol=1e-12)


@each(
    ("kind", "seen"),
    [
        ("sampled", {"≫", ">", "?", "~", "≈"}),
        ("tie", {"?", "~", "≈"}),
        ("withheld_equivalence", {"?"}),
        ("withheld_difference", {">", "?", "~", "≈"}),
        ("folds", {"≫", ">", "?", "~", "≈"}),
        ("lower_is_better", {"≫", ">", "?", "~", "≈"}),
    ],
)
def test_the_special_cases_are_among_the_kinds(pages, kind, seen):
    _, page, _ = pages(kind)
    (live,) = page.json("live")
    assert {live["decisions"][k][0] for k in live["decision"]} == seen
