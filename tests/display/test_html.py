from __future__ import annotations

import pytest

from outperform.display.screen import comparison_html, estimate_html
from outperform.display.sentences import headline


def test_it_says_what_the_text_says(read_html, facts):
    text = read_html(comparison_html(facts)).text
    for words in (
        headline(facts),
        "nb_bern − nb_mult",
        "worse >99.985%, equivalent <0.015%, better <0.015%; ROPE ±0.01 (the default)",
        "BF10 > 4.1e+03 (interval null, from draws)",
        "warning: 12 cells hold nothing. [sparse]",
        facts["signature"],
    ):
        assert words in text


def test_an_estimate(read_html, facts):
    text = read_html(estimate_html({**facts["a"], "n": 7532})).text
    assert "nb_bern: macro-averaged F1 0.6023" in text
    assert "7,532 items" in text


def test_it_takes_the_colours_of_the_page(facts):
    text = comparison_html(facts)
    for word in ("#", "rgb", "white", "black", "url(", "http", "<style", "<script"):
        assert word not in text


@pytest.mark.parametrize("of", ["comparison", "estimate"])
def test_payloads_add_no_element(read_html, facts, attacked, of):
    plain, hostile = dict(facts), dict(attacked)
    plain["findings"] = [{"name": "x", "level": "serious", "message": "x"}]
    plain["pos_label"] = "x"
    if of == "estimate":
        plain, hostile = ({**f["a"], "findings": f["findings"]} for f in (plain, hostile))
        plain, hostile = ({**f, "signature": "x", "n": 5} for f in (plain, hostile))
    else:
        plain["signature"] = hostile["signature"] or None
    write = comparison_html if of == "comparison" else estimate_html
    expected, found = read_html(write(plain)), read_html(write(hostile))
    assert found.tags == expected.tags
    assert found.attributes == expected.attributes == {"class", "style", "scope"}
