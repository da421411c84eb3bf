"""The facts of one comparison, and the labels that attack a page."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from tests.display.payloads import PAYLOADS


@pytest.fixture(scope="session")
def payloads():
    """All labels that attack a page, at once."""
    return list(PAYLOADS.values())


@pytest.fixture
def facts():
    hdi = {"prob": 0.95, "mcse_low": 1e-4, "mcse_high": 1e-4}
    own = {"kind": "estimate", "metric": "f1_macro", "metric_label": "macro-averaged F1"}
    return {
        "schema": 1,
        "kind": "comparison",
        "metric": "f1_macro",
        "metric_label": "macro-averaged F1",
        "greater_is_better": True,
        "names": ["nb_bern", "nb_mult"],
        "n": 7532,
        "n_classes": 20,
        "pos_label": None,
        "paired": True,
        "prior": "unit",
        "observed": -0.1083,
        "mean": -0.10861,
        "sd": 0.00761,
        "mcse": 5.4e-5,
        "hdi": {"low": -0.1234, "high": -0.0937, **hdi},
        "rope": {"low": -0.01, "high": 0.01, "default": True},
        "p_worse": 1.0,
        "p_equivalent": 0.0,
        "p_better": 0.0,
        "p_greater": 0.0,
        "n_draws": 20_000,
        "exact": False,
        "decision": {"name": "WORSE", "symbol": "≪", "words": "worse"},
        "rope_curve": [
            {"decision": "WORSE", "symbol": "≪", "from": 0.0, "to": 0.0937},
            {"decision": "LEANING_WORSE", "symbol": "<", "from": 0.0937, "to": 0.1234},
            {"decision": "EQUIVALENT", "symbol": "≈", "from": 0.1234, "to": None},
        ],
        "bayes_factor": {
            "bf01": 2.4e-4,
            "log10_bf10": 3.6198,
            "kind": "interval",
            "method": "draws",
            "bound": "upper",
        },
        "a": {
            **own,
            "name": "nb_bern",
            "observed": 0.6042,
            "mean": 0.6023,
            "sd": 0.0055,
            "mcse": 4e-5,
            "hdi": {"low": 0.5915, "high": 0.613, **hdi},
        },
        "b": {
            **own,
            "name": "nb_mult",
            "observed": 0.7125,
            "mean": 0.7109,
            "sd": 0.0051,
            "mcse": 4e-5,
            "hdi": {"low": 0.7009, "high": 0.7208, **hdi},
        },
        "findings": [
            {"name": "default_rope", "level": "note", "message": "The ROPE is the default."},
            {"name": "sparse", "level": "warning", "message": "12 cells hold nothing."},
        ],
        "signature": "outperform 0.1.0 | compare | f1_macro | rope ±0.01 | seed 1",
    }


class Reader(HTMLParser):
    """Keeps the elements, the attributes, the text and that of every cell."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.cells, self.text, self.open = [], set(), [], "", []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.open.append(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data
        if self.open and self.open[-1] in ("td", "th"):
            self.cells[-1] += data

    def handle_comment(self, data):
        raise AssertionError(data)


@pytest.fixture(scope="session")
def read_html():
    """Return a strict reader: every element is closed in its turn."""

    def read(text):
        reader = Reader()
        reader.feed(text)
        reader.close()
        assert reader.open == []
        return reader

    return read
