"""``estimate``: one classifier's own metric."""

from __future__ import annotations

import json

import numpy as np
import pytest

import outperform as op
from outperform.errors import UsageError
from tests.lazily import lazily
from tests.loops import each

beta = lazily("scipy.stats.beta")
f1_score = lazily("sklearn.metrics.f1_score")


def test_recall_is_a_beta():
    seen = op.Outcomes.from_confusion({"spam": [[900, 20], [10, 70]]})
    e = op.estimate(seen, "spam", metric="recall", hdi_prob=0.9)
    exact = beta(70.5, 10.5)
    assert e.exact
    assert e.mcse == 0.0
    assert e.mean == pytest.approx(exact.mean())
    assert e.sd == pytest.approx(exact.std())
    assert e.eti.low == pytest.approx(exact.ppf(0.05), rel=1e-9)
    assert e.hdi.prob == 0.9
    assert exact.cdf(e.hdi.high) - exact.cdf(e.hdi.low) == pytest.approx(0.9, abs=1e-6)
    assert e.hdi.width < e.eti.width
    assert e.observed == 0.875
    assert abs(e.draws.mean() - e.mean) < 4.5 * e.sd / np.sqrt(e.draws.size)


@each("prior", ["uniform", "unit", "hierarchical", "learned", "bootstrap"])
def test_every_model_answers(prior, four):
    truth, a, _ = four
    e = op.estimate(truth, a, metric="f1_macro", prior=prior, n_draws=1_000, random_state=1)
    assert e.observed == pytest.approx(f1_score(truth, a, average="macro"))
    assert e.hdi.low < e.mean < e.hdi.high
    assert abs(e.mean - e.observed) < 3 * e.sd
    assert e.spec.prior.name == prior
    json.dumps(e.to_dict(), allow_nan=False)


def test_the_name_is_kept_and_the_signature_says_what_was_done(two):
    e = op.estimate(*two[:2], metric="f1", name="bert", n_draws=500, random_state=3)
    assert e.name == "bert"
    assert e.metric == "f1"
    assert "estimate" in e.signature.split(" | ")
    assert "paired" not in e.signature
    assert "rope" not in e.signature
    again = op.estimate(*two[:2], metric="f1", n_draws=500, random_state=3)
    assert np.array_equal(again.draws, e.draws)


def test_one_of_many_models_is_taken_alone(four):
    truth, a, b = four
    seen = op.Outcomes.from_labels(truth, {"a": a, "b": b})
    asked = {"metric": "f1_macro", "n_draws": 500, "random_state": 1}
    alone = op.estimate(truth, b, name="b", **asked)
    assert np.array_equal(op.estimate(seen, "b", **asked).draws, alone.draws)
    assert op.estimate(seen, "b", **asked).name == "b"


def test_outcomes_need_a_name_and_no_weights(two):
    seen = op.Outcomes.from_labels(two[0], {"m": two[1]})
    with pytest.raises(UsageError, match="pass the name of the model"):
        op.estimate(seen, two[1])
    with pytest.raises(UsageError, match="sample_weight"):
        op.estimate(seen, "m", sample_weight=[1])
    with pytest.raises(UsageError, match=r"unknown model 'n'"):
        op.estimate(seen, "n")


def test_findings_of_a_lone_estimate(names):
    e = op.estimate([1, 0, 1], [1, 1, 1], n_draws=500, random_state=1)
    assert {"few_items", "sparse_cells", "prior_pull_on_levels"} <= set(names(e))
    assert "default_rope" not in names(e)


def test_what_is_undefined_in_the_data_is_marked_in_tables():
    e = op.estimate([1, 0] * 20, [0] * 40, metric="precision", n_draws=500, random_state=1)
    assert e.observed == 0.0
    assert not e.observed_defined
    assert "undefined" in e.to_markdown()
    assert e.to_dict()["observed"] == 0.0
    seen = op.estimate([1, 0] * 20, [0, 1] * 20, metric="precision", n_draws=500, random_state=1)
    assert seen.observed == 0.0
    assert seen.observed_defined
    assert "undefined" not in seen.to_markdown()


def test_a_fixed_mass_pulls_levels_down_and_a_learned_one_less(four):
    truth, a, _ = (column[:60] for column in four)
    asked = {"metric": "f1_macro", "n_draws": 4_000, "random_state": 1}
    pulls = {
        prior: op.estimate(truth, a, prior=prior, **asked)
        for prior in ("uniform", "unit", "learned")
    }
    below = {prior: e.observed - e.mean for prior, e in pulls.items()}
    assert below["uniform"] > below["unit"] > below["learned"] - 0.005


def test_a_closed_form_has_a_density_and_draws_alone_have_none():
    e = op.estimate([1, 0] * 20, [1, 0, 0, 0] * 10, metric="recall", n_draws=500)
    low, high = e.eti.low, e.eti.high
    assert e.cdf([low, high]) == pytest.approx([0.025, 0.975], abs=1e-6)
    assert e.pdf(e.mean) > e.pdf(low) > 0
    drawn = op.estimate([1, 0, 2] * 20, [1, 0, 0] * 20, metric="f1_macro", n_draws=500)
    with pytest.raises(UsageError, match=r"no closed form, so pdf\(\) is not available"):
        drawn.pdf(0.5)
