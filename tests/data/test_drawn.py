"""How people's items were drawn: declared, stored, weighed, contradicted and refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import outperform as op
from outperform._json import to_json
from outperform.errors import DataError, OutperformError, UsageError
from outperform.gates.rule import GateStatus, judge
from outperform.inference.judges import drawing_findings
from outperform.posterior.base import draw_values
from outperform.posterior.strata import judged_weights
from tests.loops import each

N, LABELS = 2_000, 200
ASKED = {"metric": "accuracy", "rope": 0.02, "n_draws": 1_000, "random_state": 0}


def complaints(seed, n_labels=LABELS, *, useful=True):
    """Equal models; people look at wrong answers of A four times as often."""
    rng = np.random.default_rng(seed)
    hard = rng.normal(size=N)
    right = {name: 0.6 * hard + 0.8 * rng.normal(size=N) < 0.8416 for name in "ab"}
    yes, no = (0.9, 0.2) if useful else (0.5, 0.5)
    judged = {name: rng.random(N) < np.where(bits, yes, no) for name, bits in right.items()}
    often = np.where(right["a"], 1.0, 4.0)
    chances = often * n_labels / often.sum()
    labelled = rng.random(N) < chances
    human = {name: np.where(labelled, bits, np.nan) for name, bits in right.items()}
    return judged, human, chances


def seen(drawn=None, seed=0, **how):
    judged, human, chances = complaints(seed, **how)
    given = chances if isinstance(drawn, str) and drawn == "chances" else drawn
    return op.Outcomes.from_judged(judged, human=human, drawn=given)


def names(findings, level):
    return {one.name for one in findings if one.level == level}


def test_probabilities_correct_labels_that_follow_complaints():
    """Of 30 sets, intervals with probabilities hold in 25 or more; without, in ten at most."""
    held, misled = 0, 0
    for seed in range(30):
        for drawn in ("chances", "by_ratings"):
            c = op.compare(seen(drawn, seed), "a", "b", **ASKED)
            if drawn == "chances":
                held += c.hdi.low <= 0 <= c.hdi.high
            else:
                misled += c.hdi.high < 0
    assert held >= 25  # P of fewer is 0.2% at 95%
    assert misled >= 20


def test_undeclared_design_warns_and_keeps_gate_undecided():
    c = op.compare(seen(), "a", "b", **ASKED)
    assert "chosen_by_ratings" in names(c.findings, "warning")
    assert judge(c) is GateStatus.UNDECIDED
    useless = op.compare(seen(useful=False), "a", "b", **ASKED)
    assert useless.decision.symbol == "≪"
    assert judge(useless) is GateStatus.UNDECIDED  # nothing in the ratings shows the complaints
    g = op.gate(seen(useful=False), "a", "b", metric="accuracy", rope=0.02, random_state=0)
    assert names(g.findings, "serious") & {"sampling_undeclared", "chosen_by_ratings"}


@pytest.mark.parametrize("drawn", ["random", np.full(N, LABELS / N)])
def test_false_declaration_is_contradicted_and_withholds(drawn):
    c = op.compare(seen(drawn), "a", "b", **ASKED)
    assert "not_drawn_as_declared" in names(c.findings, "serious")
    assert c.decision.symbol == "?"
    assert judge(c) is GateStatus.UNDECIDED
    ranked = op.rank(seen(drawn), metric="accuracy", rope=0.02, n_draws=1_000, random_state=0)
    assert ranked.pair("a", "b").decision.symbol == "?"


def test_random_sample_declared_as_random_has_no_finding():
    """By chance one in a thousand is contradicted: none of 60, but with a probability of 6%."""
    for seed in range(60):
        rng = np.random.default_rng([seed, 1])
        judged, _, _ = complaints(seed)
        labelled = rng.permutation(N) < LABELS
        human = {name: np.where(labelled, bits, np.nan) for name, bits in judged.items()}
        data = op.Outcomes.from_judged(judged, human=human, drawn="random")
        spec = op.estimate(data, "a", metric="accuracy", n_draws=100, random_state=0).spec
        assert not [*drawing_findings(spec)]


def test_few_effective_labels_warn_and_keep_gate_undecided():
    c = op.compare(seen("chances", n_labels=40), "a", "b", **ASKED)
    assert "few_effective_labels" in names(c.findings, "warning")
    assert judge(c) is GateStatus.UNDECIDED


def test_weighted_draws_have_mean_and_variance_of_weighted_gammas():
    """One stratum, a label of weight 4 against three of weight 1: by brute force."""
    ones = {"a": [1] * 8}
    human = {"a": [1, 0, 0, 0, *[np.nan] * 4]}
    data = op.Outcomes.from_judged(ones, human=human, drawn=[0.2, 0.8, 0.8, 0.8, *[0.35] * 4])
    values = draw_values(
        judged_weights(data), lambda drawn, out: np.copyto(out[0], drawn[0][1, 1]),
        needs="confusion", n_values=1, n_draws=40_000, seed=np.random.SeedSequence(1), n_jobs=1,
    )[0]  # fmt: skip
    rng, mean = np.random.default_rng(2), 8 / 4.0
    right = rng.standard_gamma(0.75, 40_000) + 5 / mean * rng.standard_gamma(1, 40_000)
    wrong = rng.standard_gamma(0.25, 40_000) + 1.25 / mean * rng.standard_gamma(3, 40_000)
    true = right / (right + wrong)
    assert values.mean() == pytest.approx(true.mean(), abs=5 * true.std() * (2 / 40_000) ** 0.5)
    assert values.std() == pytest.approx(true.std(), rel=0.03)


def test_equal_probabilities_are_random_sample():
    judged, _, _ = complaints(0)
    human = {name: np.where(np.arange(N) < LABELS, bits, np.nan) for name, bits in judged.items()}
    equal = op.Outcomes.from_judged(judged, human=human, drawn=np.full(N, LABELS / N))
    plain = op.Outcomes.from_judged(judged, human=human, drawn="random")
    a, b = (op.compare(one, "a", "b", **{**ASKED, "n_draws": 20_000}) for one in (equal, plain))
    assert a.observed == pytest.approx(b.observed)
    assert a.mean == pytest.approx(b.mean, abs=0.002)
    assert a.sd == pytest.approx(b.sd, rel=0.03)


@pytest.mark.parametrize("drawn", [None, "random", "by_ratings", "chances"])
def test_design_survives_json_and_order_of_models(drawn):
    data = seen(drawn)
    assert op.Outcomes.from_json(data.to_json()) == data
    assert data.select(["b", "a"]).select(["a", "b"]) == data
    wanted = "probabilities" if drawn == "chances" else drawn
    assert data.pool.drawn == data.select(["b", "a"]).pool.drawn == wanted
    if drawn == "chances":
        alone = data.select(["a"])
        assert op.Outcomes.from_json(alone.to_json()) == alone
        assert alone.pool.chances.expected.sum() == pytest.approx(LABELS)


def test_strata_that_become_one_keep_rates_of_ratings():
    """People look at the judge's disagreements five times as often; one model is then asked for."""
    off = []
    for seed in range(30):
        judged, _, _ = complaints(seed)
        rng = np.random.default_rng([seed, 3])
        hard = judged["a"] != judged["b"]
        right = np.where(hard, rng.random(N) < 0.4, rng.random(N) < 0.9)
        chances = np.where(hard, 0.5, 0.1)
        labelled = rng.random(N) < chances
        human = {name: np.where(labelled, right, np.nan) for name in "ab"}
        data = op.Outcomes.from_judged(judged, human=human, drawn="by_ratings")
        alone = data.select(["a"])
        whole = alone.pool.weigh(alone.tables[0], n_labels=2)
        off.append(whole.counts[whole.cells[:, 1] == 1].sum() / N - right.mean())
    assert abs(np.mean(off)) < 4 * np.std(off) / 30**0.5 + 0.002


def test_two_sets_add_up_if_declared_alike():
    judged, human, _ = complaints(0)
    both = seen("random") + op.Outcomes.from_judged(
        {name: bits[:400] for name, bits in judged.items()},
        human={name: bits[:400] for name, bits in human.items()},
        drawn="random",
    )
    assert both.pool.drawn == "probabilities"  # the shares of the two sets differ
    assert both.pool.chances.expected.sum() == pytest.approx(both.n)
    with pytest.raises(UsageError, match="drawn in different ways"):
        seen("random") + seen("by_ratings", seed=1)
    more = seen("chances") + seen("chances", seed=1)
    assert len(more.pool.chances.chance) > 0


@each(
    ("drawn", "match"),
    [
        ("at random", "random.*by_ratings"),
        ([0.1] * 5, "one probability per item"),
        (np.full(N, 1.5), "above 0 and up to 1"),
        (np.zeros(N), "above 0 and up to 1"),
        (np.full(N, np.nan), "for every labelled item"),
        (np.full(N, 1 / N), "sums to 1"),
        (["x"] * N, "must be each item's"),
    ],
)
def test_what_is_not_design_is_refused(drawn, match):
    with pytest.raises(OutperformError, match=match):
        seen(drawn)


def test_probabilities_are_aligned_by_index():
    judged, human, chances = complaints(0)
    frame = pd.DataFrame(judged)
    turned = pd.Series(chances).iloc[::-1]
    found = op.Outcomes.from_judged(frame, human=pd.DataFrame(human), drawn=turned)
    assert to_json(found.pool) == to_json(seen("chances").pool)


def graded(seed, drawn):
    """Grades of equal models; people look at low grades of A four times as often."""
    rng = np.random.default_rng(seed)
    hard = rng.normal(size=1_000)
    given = {name: 6 + hard + rng.normal(size=1_000) for name in "ab"}
    judged = {name: marks + rng.normal(size=1_000) for name, marks in given.items()}
    often = np.where(given["a"] < 5, 4.0, 1.0)
    chances = often * 200 / often.sum()
    labelled = rng.random(1_000) < chances
    human = {name: np.where(labelled, marks, np.nan) for name, marks in given.items()}
    return op.Scores.from_judged(
        judged, human=human, drawn=chances if drawn == "chances" else drawn
    )


def test_grades_are_weighed_by_probabilities():
    off = [
        op.estimate(graded(seed, "chances"), "a", n_draws=100).observed - 6 for seed in range(40)
    ]
    plain = [op.estimate(graded(seed, None), "a", n_draws=100).observed - 6 for seed in range(40)]
    error = np.std(off) / 40**0.5
    assert abs(np.mean(off)) < 4 * error
    assert np.mean(plain) < -4 * error


def test_grades_declare_their_design():
    c = op.compare(graded(0, None), "a", "b", rope=0.1, n_draws=500, random_state=0)
    assert "chosen_by_ratings" in names(c.findings, "warning")
    assert judge(c) is GateStatus.UNDECIDED
    c = op.compare(graded(0, "random"), "a", "b", rope=0.1, n_draws=500, random_state=0)
    assert "not_drawn_as_declared" in names(c.findings, "serious")
    c = op.compare(graded(0, "chances"), "a", "b", rope=0.1, n_draws=500, random_state=0)
    assert not names(c.findings, "serious") | names(c.findings, "warning") & {"chosen_by_ratings"}
    with pytest.raises(UsageError, match="does not account for"):
        graded(0, "by_ratings")
    with pytest.raises(DataError, match="drawn in different ways"):
        graded(0, "random") + graded(1, None)


def test_proposal_declares_ratings():
    new, old, said = [1, 1, 0, 0] * 50, [1, 0, 0, 0] * 50, [1, 1, 0, 1] * 50
    proposal = op.propose(new, old, judge=said, budget=40, random_state=0)
    found = proposal.outcomes([new[place] for place in proposal.items])
    assert found.pool.drawn == "by_ratings"
