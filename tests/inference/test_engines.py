"""Another engine, the same question: what is refused, and what a bad chain withholds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import outperform as op
from outperform.comparison.result import summarize_comparison
from outperform.decision.hdi import narrowest
from outperform.decision.intervals import equal_tailed
from outperform.decision.rope import sd_error
from outperform.errors import UsageError
from outperform.inference import engine
from outperform.inference.engine import Answer
from outperform.posterior.pymc.sampling import Chain
from tests.loops import each

N_DRAWS = 4000


def chain(**changed):
    good = {
        "sampler": "nuts",
        "n_draws": N_DRAWS,
        "rhat": 1.0,
        "ess": N_DRAWS / 4,
        "mcse": 0.002,
        "divergences": 0,
    }
    return Chain(**(good | changed))


@pytest.fixture(scope="module")
def plain(two):
    return op.compare(*two, metric="accuracy", rope=0.01, n_draws=N_DRAWS, random_state=1)


def by_chain(plain, *chains):
    """Return a comparison whose draws say that a chain drew them."""
    values = np.stack([plain.a.draws, plain.b.draws])
    answered = Answer(values=values, of_models=(None, None), of_difference=None, chains=chains)
    return summarize_comparison(plain.spec, answered, rope=plain.rope, prob=0.95, seed=plain.seed)


def test_draws_of_a_chain_are_worth_fewer(plain):
    independent = by_chain(plain)
    worth_a_quarter = by_chain(plain, chain(), chain(), chain())
    assert worth_a_quarter.mcse == 0.002
    assert worth_a_quarter.n_effective == N_DRAWS / 4
    for name in ("sd", "regret_b"):
        assert worth_a_quarter.mc_errors[name] == pytest.approx(2 * independent.mc_errors[name])
    for one in ("hdi", "eti"):
        wide, narrow = getattr(worth_a_quarter, one), getattr(independent, one)
        assert (wide.low, wide.high) == (narrow.low, narrow.high)
        assert wide.mcse_low == pytest.approx(2 * narrow.mcse_low)
        assert wide.mcse_high == pytest.approx(2 * narrow.mcse_high)
    assert worth_a_quarter.a.mc_errors["sd"] == pytest.approx(2 * independent.a.mc_errors["sd"])


def test_intervals_and_sd_by_effective_draws():
    draws = np.sort(np.random.default_rng(1).normal(size=2000))
    assert sd_error(draws, 500) == pytest.approx(2 * sd_error(draws))
    for interval in (narrowest, equal_tailed):
        assert interval(draws, 0.9, 500).mcse_low == pytest.approx(
            2 * interval(draws, 0.9).mcse_low
        )
        assert interval(draws, 0.9, 2000) == interval(draws, 0.9)


def test_a_good_chain_keeps_the_decision(plain, names):
    found = by_chain(plain, chain(), chain(), chain())
    assert found.decision is plain.decision
    assert plain.decision is op.Decision.BETTER
    assert "chain_diagnostics" in names(found)
    assert "chain_not_converged" not in names(found)
    assert found.to_dict()["chain"]["rhat"] == 1.0


@each("place", [0, 1, 2])
@each("fault", [{"rhat": 1.011}, {"divergences": 1}, {"ess": 399.0}])
def test_a_chain_that_did_not_converge_withholds_the_decision(plain, names, place, fault):
    chains = [chain(), chain(), chain()]
    chains[place] = replace(chains[place], **fault)
    found = by_chain(plain, *chains)
    assert found.decision is op.Decision.UNDECIDED
    assert "chain_not_converged" in names(found)
    assert {step.decision for step in found.rope_curve()} == {op.Decision.UNDECIDED}
    assert found.with_rope(0.4).decision is op.Decision.UNDECIDED


def test_another_rope_keeps_what_the_chain_said(plain):
    found = by_chain(plain, chain(), chain(mcse=0.003), chain(ess=700.0)).with_rope(0.2)
    assert (found.chain.ess, found.b.chain.mcse) == (700.0, 0.003)


def test_rare_probabilities_rest_on_effective_draws(plain):
    found = by_chain(plain, chain(), chain(), chain(ess=500.0))
    assert found.p_worse == 0.0
    assert "<0.6%" in str(found)  # 3 in 500


@pytest.mark.parametrize(
    ("chosen", "says"),
    [
        ({"engine": "pimc"}, "did you mean 'pymc'"),
        ({"engine": "exact"}, r"Known: direct, pymc, or op\.PyMC"),
        ({"engine": op.PyMC}, "unknown engine"),
        ({"engine": "pymc", "prior": "bootstrap"}, "does not support prior 'bootstrap'"),
    ],
)
def test_what_an_engine_cannot_do_is_refused(two, chosen, says):
    with pytest.raises(UsageError, match=says):
        op.compare(*two, metric="f1", **chosen)


def test_a_chain_does_not_know_other_class_proportions(two):
    truth, a, b = two
    there = op.Outcomes.from_labels(truth, {"a": a, "b": b}).at_prevalence(0.1)
    with pytest.raises(UsageError, match="does not support other class proportions; use engine="):
        op.compare(there, "a", "b", metric="f1", engine="pymc")


def test_a_refusal_names_only_priors_that_would_answer(two):
    chain = {"engine": "pymc", "n_draws": 200}
    gold = [["B-PER", "O"], ["O", "B-ORG"]] * 10
    spans = op.Outcomes.from_tags(gold, {"a": gold, "b": gold}, scheme="IOB2")
    with pytest.raises(UsageError, match=r"does not support spans; use engine='direct'$"):
        op.compare(spans, "a", "b", metric="f1", **chain)
    sets = np.eye(3, dtype=int)[[0, 1, 2] * 10]
    with pytest.raises(
        UsageError, match=r"'bootstrap'; .* or one of prior='uniform', 'jeffreys', 'unit'$"
    ):
        op.compare(sets, sets, sets, metric="f1_macro", **chain)
    with pytest.raises(UsageError, match=r"'bootstrap'; use engine='direct'$"):
        op.compare(sets, sets, sets, metric="f1_samples", **chain)
    weights = np.linspace(0.5, 1.5, len(two[0]))
    with pytest.raises(UsageError, match=r"'bootstrap'; use engine='direct'$"):
        op.compare(*two, metric="f1", sample_weight=weights, **chain)


def test_scores_have_no_chain(two):
    truth, a, b = two
    with pytest.raises(UsageError, match="is for labels"):
        op.compare(truth, a / 2, b / 2, metric="roc_auc", engine="pymc")


@pytest.mark.parametrize(
    ("given", "drawn"), [({}, 4 * 250), ({"n_draws": 20_000}, 20_000), ({"n_draws": None}, 4 * 250)]
)
def test_a_chain_is_as_long_as_somebody_said(two, monkeypatch, given, drawn):
    """The number that independent draws have by default is a number like any other."""

    def refuse(specs, sampling):
        raise UsageError(f"asked for {sampling.n_draws}")

    monkeypatch.setattr(engine, "answer", refuse)
    sampler = op.PyMC(draws=250)
    with pytest.raises(UsageError, match=f"asked for {drawn}$"):
        op.compare(*two, metric="accuracy", rope=0.01, engine=sampler, **given)


def test_independent_draws_are_twenty_thousand(two):
    found = op.compare(*two, metric="f1", rope=0.01, random_state=1)
    assert found.draws.size == 20_000
    same = op.compare(*two, metric="f1", rope=0.01, random_state=1, n_draws=20_000)
    assert np.array_equal(found.draws, same.draws)
    assert found.signature == same.signature


def test_an_engine_is_named_in_the_signature(plain):
    engine = op.PyMC(draws=N_DRAWS // 4)
    spec = replace(plain.spec, choices=replace(plain.spec.choices, engine=engine))
    answered = Answer(
        values=np.stack([plain.a.draws, plain.b.draws]),
        of_models=(None, None),
        of_difference=None,
        chains=(chain(),) * 3,
    )
    found = summarize_comparison(spec, answered, rope=plain.rope, prob=0.95, seed=plain.seed)
    assert "engine=pymc (nuts, 4 chains of 1000 after 1000)" in found.signature
