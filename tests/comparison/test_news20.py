"""The oracles of 20 Newsgroups: what pairing buys, and what the papers printed."""

from __future__ import annotations

import pytest

import outperform as op
from tests.loops import each

PAIRS = {
    ("nb_bern", "nb_mult"): (0.0076, 0.00488),
    ("svm_l1", "svm_l2"): (0.0077, 0.00380),
    ("nb_mult", "svm_l2"): (0.0076, 0.00490),
}


@pytest.fixture(scope="module")
def news():
    found = op.datasets.load_news20()
    return op.Outcomes.from_labels(found.y_true, found.predictions)


@each("prior", ["unit", "hierarchical"])
@each("pair", PAIRS)
def test_pairing_cuts_the_sd_of_macro_f1(news, pair, prior):
    apart, together = PAIRS[pair]
    asked = {"metric": "f1_macro", "prior": prior, "rope": 0.005, "random_state": 1}
    paired = op.compare(news, *pair, n_draws=10_000, **asked)
    assert paired.sd == pytest.approx(together, rel=0.03)
    unpaired = op.compare(news, *pair, n_draws=10_000, paired=False, **asked)
    assert unpaired.sd == pytest.approx(apart, rel=0.03)
    assert abs(paired.mean - unpaired.mean) < 0.0005
    if pair == ("svm_l1", "svm_l2"):
        assert (unpaired.decision.symbol, paired.decision.symbol) == ("<", "≪")


def test_the_hierarchical_model_prints_the_papers_table(news):
    asked = {"prior": "hierarchical", "paired": False, "rope": 0.01, "random_state": 2}
    macro = op.compare(news, "nb_bern", "nb_mult", metric="f1_macro", **asked)
    assert macro.mean == pytest.approx(-0.1086, abs=2e-4)
    assert macro.sd == pytest.approx(0.0076, rel=0.02)
    micro = op.compare(news, "nb_bern", "nb_mult", metric="f1_micro", **asked)
    assert micro.mean == pytest.approx(-0.1075, abs=2e-4)
    assert micro.sd == pytest.approx(0.0078, rel=0.02)
    micro = op.compare(news, "nb_mult", "svm_l2", metric="f1_micro", **asked)
    assert micro.mean == pytest.approx(0.0286, abs=3e-4)
    assert (micro.hdi.low, micro.hdi.high) == pytest.approx((0.014, 0.044), abs=1e-3)
    macro = op.compare(news, "nb_mult", "svm_l2", metric="f1_macro", **asked)
    assert macro.mean == pytest.approx(0.0222, abs=3e-4)
    assert (macro.hdi.low, macro.hdi.high) == pytest.approx((0.007, 0.037), abs=1e-3)


def test_paired_accuracy_is_exact(news):
    c = op.compare(news, "nb_mult", "svm_l2", metric="accuracy", rope=0.01, prior="unit")
    assert c.exact
    assert c.decision is op.Decision.BETTER
    both, only_a, only_b, neither = news.select(["nb_mult", "svm_l2"]).agreement()
    # The unit prior puts a quarter of each of the 20 classes on every agreement.
    assert c.mean == pytest.approx((only_a - only_b) / (news.n + 20))
    assert both + only_a + only_b + neither == news.n


def test_the_default_does_not_pull(news):
    e = op.estimate(news, "nb_mult", metric="f1_macro", n_draws=2_000, random_state=1)
    assert e.spec.prior.name == "learned"
    assert abs(e.mean - e.observed) < 0.5 * e.sd
    assert "prior_pull_on_levels" not in [finding.name for finding in e.findings]
