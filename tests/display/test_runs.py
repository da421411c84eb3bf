"""Training runs in words."""

from __future__ import annotations

import pytest

from outperform.display.paragraphs import run_details, run_sentences

HDI = {"low": -0.02, "high": 0.04, "prob": 0.95}


def facts_of(share, values=(0.8, 0.9), sd=0.07):
    own = {
        "name": "bert",
        "sd": 0.02,
        "runs": {"names": [str(k) for k in values], "observed": list(values), "sd": sd},
    }
    shares = {"test_set": 1 - share, "runs": share, "runs_low": 0.1, "runs_high": 0.99}
    return {
        "a": own,
        "b": own | {"name": "gpt\x1b"},
        "sd": 0.01,
        "hdi": HDI,
        "runs": {
            "variance_from": shares,
            "pooled": {"sd": 0.01, "hdi": HDI, "decision": {"symbol": "≫"}},
        },
    }


@pytest.mark.parametrize(
    ("share", "advice"), [(0.9, "more runs"), (0.5, "more of both"), (0.1, "more items")]
)
def test_the_advice_follows_the_larger_share(share, advice):
    text = run_sentences(facts_of(share))
    assert f"; {advice} would narrow the interval most" in text
    assert f"About {100 * share:.0f}% of the variance" in text
    assert "\x1b" not in text


def test_details_name_runs_shares_and_what_pooling_would_say():
    details = dict(run_details(facts_of(0.75)))
    assert details["runs"].startswith("2 of bert, 0.8000 to 0.9000, sd 0.0700; 2 of gpt")
    assert details["variance"].startswith("75% from the runs (95% interval 10% to 99%), 25%")
    assert details["pooled"].startswith("≫ (95% HDI −0.0200 to +0.0400)")


def test_a_single_run_has_no_spread():
    details = dict(run_details(facts_of(0.75, values=(0.8,), sd=None)))
    assert details["runs"].startswith("1 of bert, 0.8000; 1 of gpt")
    undefined = dict(run_details(facts_of(0.75, values=(None, None), sd=None)))
    assert undefined["runs"].startswith("2 of bert; 2 of gpt")
