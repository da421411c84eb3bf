from __future__ import annotations

import json
from dataclasses import fields

import pytest

import outperform as op
from outperform.display.layout import Page, plain
from outperform.display.sentences import (
    NUMBERS,
    comparison_table,
    estimate_table,
    results_table,
)
from outperform.errors import UsageError
from tests.display.payloads import attack, every_payload


def test_a_comparison_has_three_rows(facts):
    table = comparison_table(facts)
    assert table["model"] == ("nb_bern", "nb_mult", "nb_bern − nb_mult")
    assert table["observed"] == (0.6042, 0.7125, -0.1083)
    assert table["hdi_low"] == (0.5915, 0.7009, -0.1234)
    assert table.title == "macro-averaged F1, ROPE ±0.01 (default)"


def test_both_names_survive_the_cut(facts):
    table = comparison_table({**facts, "names": ["a" * 50, "b" * 50]})
    last = table.to_text().splitlines()[-1]
    assert "a" * 17 + "… − " + "b" * 17 + "…" in last


def test_an_estimate_has_one_row(facts):
    assert estimate_table(facts["a"])["mean"] == (0.6023,)


def test_results_have_a_row_each(facts):
    other = {**facts, "metric": "accuracy", "bayes_factor": None, "exact": True, "p_worse": 0.5}
    table = results_table([facts, other], title="Scorecard")
    assert table["decision"] == ("≪ worse", "≪ worse")
    assert table["log10_bf10"] == (3.6198, None)
    assert table.to_frame().shape == (2, len(table.columns))
    assert ">99.98%" in table.to_text()
    json.dumps(table.to_dict(), allow_nan=False)


def test_every_number_of_a_summary_is_in_every_format():
    seen = op.Outcomes.from_correct({"a": [1] * 70 + [0] * 30, "b": [1] * 60 + [0] * 40})
    c = op.compare(seen, "a", "b", metric="accuracy", rope=0.01, random_state=0)
    told, schema = c.to_dict(), op.results.json_schema("comparison")
    for field in fields(op.results.Summary):
        assert told[field.name] is not None
        assert told["a"][field.name] is not None
        assert "description" in schema["properties"][field.name]
    verbose = plain(c._document().lines(Page(verbose=True)))
    for number in NUMBERS:
        for text in (verbose, c.to_markdown(), c.to_latex(), c.a.to_latex(), c.a.to_markdown()):
            assert f" {number} " in text
        assert number in c.table().keys
        assert number == "sd" or f">{number}</" in c.to_html()


def test_no_results_are_refused():
    with pytest.raises(UsageError, match="at least one"):
        results_table([])


@every_payload
def test_payloads_in_tables_of_results(facts, payload):
    attacked = attack(facts, payload)
    table = results_table([attacked, attacked])
    lines = table.to_markdown().splitlines()
    assert {line.count("|") for line in lines} == {len(table.columns) + 1}
    assert len(comparison_table(attacked).to_text().split("\n")) == 7
