"""A monitored experiment in words: lines, headlines, and what no look has told yet."""

from __future__ import annotations

import pytest

from outperform.display.layout import Page, plain
from outperform.monitor.text import (
    look_line,
    looks_table,
    monitor_document,
    monitor_headline,
    monitor_paragraph,
    stop_words,
)


def look(number=1, *, holds=False, factor=None):
    return {
        "number": number,
        "key": "Mon\n[red]",
        "n": 100 * number,
        "observed": None,
        "mean": 0.0212,
        "sd": 0.00002,
        "width": 0.1,
        "hdi": {"low": -0.01, "high": 0.05, "prob": 0.9},
        "p_worse": 0.1,
        "p_equivalent": 0.2,
        "p_better": 0.7,
        "bayes_factor": factor,
        "decision": {"name": "LEANING_BETTER", "symbol": ">", "words": "leaning better"},
        "holds": holds,
    }


def test_a_line_has_the_digits_that_matter_and_no_breaks():
    line = look_line(look())
    assert "+0.021200, 90% HDI −0.010000 to +0.050000, > leaning better" in line
    assert "\n" not in line
    assert "BF" not in line
    assert ": 1 item, " in look_line({**look(), "n": 1})


def test_a_bound_stays_a_bound():
    factor = {"bf01": 0.01, "log10_bf10": 2.0, "bound": "upper"}
    assert "BF10 > 100" in look_line(look(factor=factor))
    facts = {"names": ["a", "b"], "looks": [look(factor=factor)], "stopped": None}
    assert looks_table(facts)["bayes_factor"] == ("BF10 > 100",)


@pytest.mark.parametrize(
    ("rule", "at", "words"),
    [
        ("width", 0.02, "the HDI is at most 0.02 wide"),
        ("decision", None, "the decision is firm"),
        ("bayes_factor", 10.0, "the Bayes factor is at least 10 for or against the ROPE"),
    ],
)
def test_rules_in_words(rule, at, words):
    assert stop_words({"rule": rule, "at": at}) == words


def test_batches_without_an_answer():
    facts = {"names": ["a", "b"], "looks": [], "n_batches": 2, "findings": []}
    facts |= {"stopped": None, "comparison": None}
    assert monitor_headline(facts) == "a − b: no result yet"
    assert plain(monitor_document(facts).lines(Page())) == "a − b: no result yet"
    assert monitor_paragraph(facts) == "a − b: no result yet."
