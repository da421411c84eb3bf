"""Votes: Bradley and Terry's model against others, ties and places, refusals."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy.optimize import minimize

import outperform as op
from outperform.data import score_columns
from outperform.errors import DataError, UsageError
from outperform.gates.rule import GateStatus
from outperform.metrics import votes
from outperform.metrics.weighted import Units

NAMES = np.array(["ada", "bob", "cyd", "dee", "eve", "fay"])
WORLDS = [(2, 60, 1), (4, 200, 2), (6, 500, 3)]


def draw(n_models, n, seed, *, place=0.0, tie=None):
    """Return votes of models of which the last is the strongest."""
    rng = np.random.default_rng(seed)
    strength = np.linspace(-0.7, 0.7, n_models)
    one = rng.integers(0, n_models, n)
    two = (one + rng.integers(1, n_models, n)) % n_models
    ahead = strength[one] - strength[two] + place
    odds = [np.exp(ahead / 2), np.exp(-ahead / 2), np.full(n, 0.0 if tie is None else np.exp(tie))]
    shares = np.cumsum(odds, axis=0) / np.sum(odds, axis=0)
    which = (rng.random(n) > shares).sum(axis=0)
    points = np.array([1.0, 0.0, 0.5])[which]
    winner = np.choose(which, [NAMES[one], NAMES[two], "tie"])
    return one, two, points, winner


def observed(seen, metric):
    asked = {"metric": metric, "n_draws": 100, "random_state": 0}
    return np.array([op.estimate(seen, name, **asked).observed for name in seen.models])


def fitted_rates(seen):
    """Return win rates by the fit, which serves where some pairs have no votes."""
    return votes.WIN_RATE.combine(
        votes.WIN_RATE.basis.of_items(seen.values[0]).mean(axis=0)[:, None]
    )[:, 0]


def counted(tally):
    """Return votes of pairs, ``{(x, y): (votes, wins of x)}``, each first every other time."""
    rows = []
    for (x, y), (n, wins) in tally.items():
        for winner, times in ((x, wins), (y, n - wins)):
            rows += [(x, y, winner) if k % 2 else (y, x, winner) for k in range(times)]
    return op.Scores.from_votes(*map(list, zip(*rows, strict=True)))


CRUSHED = {("a", "b"): (540, 324), ("a", "c"): (320, 192), ("b", "c"): (40, 36)}


def test_win_rates_are_means_of_shares_whatever_the_schedule():
    seen = counted(CRUSHED)
    c = op.compare(seen, "a", "b", rope=0.02, n_draws=2_000, random_state=0)
    assert (c.a.observed, c.b.observed) == pytest.approx((0.6, 0.65), abs=1e-12)
    assert c.mean == pytest.approx(-0.05, abs=0.01)
    assert c.decision is not op.Decision.BETTER
    assert "votes=pair shares" in c.signature
    assert "votes_do_not_fit" not in {one.name for one in c.findings}
    asked = {"rope": 0.02, "n_draws": 2_000, "random_state": 0}
    gate = op.gate(seen, "a", "b", metric="win_rate", require="better", **asked)
    assert gate.status is not GateStatus.PASS
    ranking = op.rank(seen, **asked)
    assert ranking.names[0] == "b"
    assert op.estimate(seen, "b", n_draws=500, random_state=0).observed == pytest.approx(0.65)


def test_shares_of_two_models_are_the_mean_of_both_orders():
    first, second = ["a"] * 10 + ["b"] * 40, ["b"] * 10 + ["a"] * 40
    winner = ["a"] * 8 + ["b"] * 2 + ["a"] * 16 + ["b"] * 24  # 0.8 when first, 0.4 when second
    seen = op.Scores.from_votes(first, second, winner)
    assert observed(seen, "win_rate") == pytest.approx([0.6, 0.4], abs=1e-12)


def test_few_votes_on_a_pair_leave_it_open():
    """Three of three won is not certain, and one vote counts as little as it should."""
    seen = counted({("a", "b"): (60, 40), ("a", "c"): (3, 3), ("b", "c"): (60, 20)})
    c = op.compare(seen, "a", "c", rope=0.02, n_draws=4_000, random_state=0)
    assert c.a.observed == pytest.approx((40 / 60 + 1) / 2)
    assert c.a.sd > 0.1
    many = counted({("a", "b"): (600, 400), ("a", "c"): (600, 300), ("b", "c"): (600, 200)})
    d = op.compare(many, "a", "c", rope=0.02, n_draws=4_000, random_state=0)
    closed = np.sqrt(2 / 9 / 600 + 1 / 600 + 2 / 9 / 600) / 2  # a–b, a–c counted twice, b–c
    assert d.sd == pytest.approx(closed, rel=0.06)


CIRCLE = {
    ("a", "b"): (60, 48), ("b", "c"): (60, 54), ("c", "d"): (60, 48), ("a", "d"): (60, 6),
}  # fmt: skip


def test_a_fit_that_does_not_explain_the_votes_is_named_and_closes_a_gate():
    seen = counted(CIRCLE)
    asked = {"rope": 0.02, "n_draws": 1_000, "random_state": 0}
    c = op.compare(seen, "b", "c", **asked)
    assert "votes=Bradley-Terry" in c.signature
    (misfit,) = [one for one in c.findings if one.name == "votes_do_not_fit"]
    assert misfit.level == "serious"
    wide = op.compare(seen, "b", "c", **asked | {"rope": 0.4})
    assert -0.4 < wide.hdi.low < wide.hdi.high < 0.4  # which would be ≈
    assert wide.decision is op.Decision.UNDECIDED
    assert {step.decision for step in c.rope_curve()} == {op.Decision.UNDECIDED}
    ranking = op.rank(seen, **asked)
    assert ranking.pair("b", "c").decision is op.Decision.UNDECIDED
    assert set(ranking.tied) == set("abcd")
    assert misfit.level in {one.level for one in ranking.findings if one.name == misfit.name}
    assert "a got 10.0% against d" in misfit.message
    gate = op.gate(seen, "b", "c", metric="win_rate", require="not_worse", **asked)
    assert gate.status is GateStatus.UNDECIDED
    assert [one.level for one in gate.checks[0].findings if one.name == misfit.name] == ["serious"]
    tasks = op.Suite({"one": seen, "two": seen}, metrics="win_rate", ropes=0.02)
    assert op.gate(tasks, "b", "c", n_draws=1_000).status is GateStatus.UNDECIDED
    elo = op.compare(counted(CRUSHED), "a", "b", metric="elo", rope=20, n_draws=500)
    assert ("votes_do_not_fit", "serious") in {(one.name, one.level) for one in elo.findings}
    assert op.estimate(seen, "b", n_draws=500).findings[-1].level == "warning"


def test_strengths_that_explain_the_votes_raise_nothing_and_a_tree_cannot_be_checked():
    fits = {("a", "b"): (90, 60), ("b", "c"): (90, 60), ("c", "d"): (90, 60), ("a", "d"): (90, 80)}
    c = op.compare(counted(fits), "a", "c", rope=0.02, n_draws=500, random_state=0)
    assert {"votes_do_not_fit", "votes_unchecked"}.isdisjoint(one.name for one in c.findings)
    assert "pairs_without_votes" in {one.name for one in c.findings}
    del fits["a", "d"]
    c = op.compare(counted(fits), "a", "c", rope=0.02, n_draws=500, random_state=0)
    assert ("votes_unchecked", "serious") in {(one.name, one.level) for one in c.findings}
    assert (c.decision, c.hdi.low > 0.02) == (op.Decision.UNDECIDED, True)
    asked = {"rope": 0.02, "n_draws": 500, "random_state": 0}
    gate = op.gate(counted(fits), "a", "c", metric="win_rate", require="not_worse", **asked)
    assert gate.status is GateStatus.UNDECIDED
    asked |= {"metric": "elo", "rope": 5}
    # Elo ratings of two that met are the log odds of their own votes; of others they are not.
    assert op.compare(counted(fits), "a", "b", **asked).decision is op.Decision.BETTER
    assert op.compare(counted(fits), "a", "c", **asked).decision is op.Decision.UNDECIDED


def test_voters_with_tastes_do_not_pass_for_a_misfit():
    """Each of 30 voters always votes alike: the points of a pair vary far more than by chance."""
    rng, fresh = np.random.default_rng(3), partial(np.random.default_rng, 0)
    p_values = []
    for _ in range(20):
        rows, voter = [], []
        for k in range(30):
            for i, j in ((0, 1), (1, 2), (2, 3), (0, 3)):
                rows += [[i, j, float(rng.random() < 0.5), 0, 0, 4]] * 8
                voter += [k] * 8
        units = Units(30, np.array(voter))
        p_values.append(votes.check_fit(np.array(rows), units, fresh()).p_value)
    assert np.mean(np.array(p_values) < 0.05) < 0.2
    alone = votes.check_fit(np.array(rows), Units(len(rows)), fresh())
    assert alone.df == 1


def test_votes_on_other_models_do_not_add_up_to_one_election():
    one = counted({("a", "b"): (10, 5), ("a", "c"): (10, 5), ("b", "c"): (10, 5)})
    two = counted({("a", "b"): (10, 5), ("a", "d"): (10, 5), ("b", "d"): (10, 5)})
    with pytest.raises(DataError, match="same models"):
        one.select(["a", "b"]) + two.select(["a", "b"])


@pytest.mark.parametrize(("n_models", "n", "seed"), WORLDS)
def test_strengths_without_ties_are_those_of_choix(n_models, n, seed):
    choix = pytest.importorskip("choix")
    one, two, points, winner = draw(n_models, n, seed)
    seen = op.Scores.from_votes(NAMES[one], NAMES[two], winner, ordered=False)
    pairs = [(i, j) if won else (j, i) for i, j, won in zip(one, two, points, strict=True)]
    theirs = choix.opt_pairwise(n_models, pairs, tol=1e-10)
    ours = observed(seen, "elo") * np.log(10) / 400
    assert ours == pytest.approx(theirs - theirs.mean(), abs=1e-6)
    beats = 1 / (1 + np.exp(theirs[None] - theirs[:, None]))
    rate = (beats.sum(axis=1) - 0.5) / (n_models - 1)
    assert fitted_rates(seen) == pytest.approx(rate, abs=1e-6)


def test_a_place_without_ties_is_the_intercept_of_a_logistic_regression():
    linear = pytest.importorskip("sklearn.linear_model")
    one, two, points, winner = draw(4, 400, 5, place=0.5)
    rows = np.zeros((len(one), 4))
    rows[np.arange(len(one)), one] = 1
    rows[np.arange(len(one)), two] -= 1
    theirs = linear.LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000).fit(rows, points > 0)
    seen = op.Scores.from_votes(NAMES[one], NAMES[two], winner)
    ours = observed(seen, "elo") * np.log(10) / 400
    assert ours == pytest.approx(theirs.coef_[0] - theirs.coef_[0].mean(), abs=1e-4)
    share = 1 / (1 + np.exp(-theirs.intercept_[0]))
    assert observed(seen, "first_place") == pytest.approx(share, abs=1e-4)


def by_hand(one, two, points, n_models, weights):
    """Return strengths, place and tie that make the votes most probable, vote by vote."""

    def surprise(at):
        strength, place, tie = np.append(at[: n_models - 1], 0.0), at[-2], at[-1]
        first, second = np.exp(strength[one] + place / 2), np.exp(strength[two] - place / 2)
        even = np.exp(tie) * np.sqrt(np.exp(strength[one] + strength[two]))
        odds = np.where(points == 1, first, np.where(points == 0, second, even))
        return -weights @ np.log(odds / (first + second + even))

    found = minimize(surprise, np.zeros(n_models + 1), tol=1e-10, options={"maxiter": 5_000}).x
    strength = np.append(found[: n_models - 1], 0.0)
    return strength - strength.mean(), found[-2], found[-1]


@pytest.mark.parametrize("seed", range(3))
def test_any_weights_give_the_maximum_of_their_likelihood(seed):
    one, two, points, winner = draw(4, 300, 10 + seed, place=0.4, tie=-0.5)
    seen = op.Scores.from_votes(NAMES[one], NAMES[two], winner)
    weights = np.random.default_rng(seed).exponential(size=(3, len(one)))
    weights /= weights.sum(axis=1, keepdims=True)
    ours = votes.fit((weights @ votes.WIN_RATE.basis.of_items(seen.values[0])).T)
    for draw_, own in enumerate(weights):
        strength, place, tie = by_hand(one, two, points, 4, own)
        assert ours.strength[draw_] == pytest.approx(strength, abs=2e-4)
        assert (ours.advantage[draw_], ours.tie[draw_]) == pytest.approx((place, tie), abs=2e-4)


def test_two_models_in_no_order_have_their_share_of_the_points():
    winner = ["a"] * 30 + ["b"] * 18 + ["draw"] * 12
    voters = np.arange(60) // 3
    asked = {"tie": "draw", "ordered": False}
    seen = op.Scores.from_votes(["a"] * 60, ["b"] * 60, winner, groups=voters, **asked)
    c = op.compare(seen, "a", "b", rope=0.05, random_state=1)
    assert (c.a.observed, c.observed) == pytest.approx((0.6, 0.2))
    points = np.array([{"a": 1.0, "b": 0.0, "draw": 0.5}[one] for one in winner])
    grades = op.Scores.from_values({"a": points, "b": 1 - points}, groups=voters)
    plain = op.compare(grades, "a", "b", metric="mean", rope=0.05, random_state=1)
    assert c.mean == pytest.approx(plain.mean, abs=0.02)
    assert c.sd == pytest.approx(plain.sd, rel=0.15)
    assert {one.name for one in c.findings} == {one.name for one in plain.findings}


def test_a_model_has_the_same_posterior_in_every_verb():
    one, two, _, winner = draw(5, 400, 7, place=0.3, tie=-1.0)
    seen = op.Scores.from_votes(NAMES[one], NAMES[two], winner)
    ranking = op.rank(seen, rope=0.02, n_draws=2_000, random_state=3)
    assert ranking.metric == "win_rate"
    for row in ranking.rows:
        alone = op.estimate(seen, row.name, n_draws=2_000, random_state=3)
        assert row.raw.mean == pytest.approx(alone.mean, abs=1e-9)
    assert ranking.unpooled_draws.sum(axis=0) == pytest.approx(2.5)  # somebody wins every vote
    c = op.compare(seen, "eve", "ada", metric="elo", rope=20, n_draws=2_000, random_state=3)
    d = op.compare(seen, "ada", "eve", metric="elo", rope=20, n_draws=2_000, random_state=3)
    assert c.draws == pytest.approx(-d.draws, abs=1e-6)


def test_which_of_two_columns_holds_a_model_does_not_matter_where_there_is_no_order():
    one, two, _, winner = draw(4, 200, 8, place=0.8)
    turned = np.random.default_rng(0).random(200) < 0.5
    a = op.Scores.from_votes(NAMES[one], NAMES[two], winner, ordered=False)
    b = op.Scores.from_votes(
        *np.where(turned, NAMES[[two, one]], NAMES[[one, two]]), winner, ordered=False
    )
    assert observed(a, "win_rate") == pytest.approx(observed(b, "win_rate"), abs=1e-9)
    assert observed(a, "first_place") == pytest.approx(0.5, abs=1e-9)


def test_a_liking_for_the_first_place_is_found_and_taken_out():
    """The strong model was mostly shown second, to voters who like the first place."""
    rng = np.random.default_rng(4)
    n = 4_000
    strong_first = rng.random(n) < 0.1
    first, second = np.where(strong_first, ["s"], ["w"]), np.where(strong_first, ["w"], ["s"])
    ahead = np.where(strong_first, 0.4, -0.4) + 1.0
    winner = np.where(rng.random(n) < 1 / (1 + np.exp(-ahead)), first, second)
    asked = {"rope": 0.02, "n_draws": 1_000, "random_state": 0}
    c = op.compare(op.Scores.from_votes(first, second, winner), "s", "w", **asked)
    truth = sum(1 / (1 + np.exp(-0.4 - place)) for place in (1.0, -1.0)) - 1
    assert c.mean == pytest.approx(truth, abs=4 * c.sd)
    assert c.decision is op.Decision.BETTER
    (found,) = [one for one in c.findings if one.name == "first_place"]
    assert "wins 7" in found.message
    naive = op.Scores.from_votes(first, second, winner, ordered=False)
    plain = op.compare(naive, "s", "w", **asked)
    assert plain.decision is op.Decision.WORSE
    assert "first_place" not in {one.name for one in plain.findings}


def test_groups_widen_the_interval_as_their_votes_repeat():
    one, two, _, winner = draw(3, 150, 9, tie=-1.0)
    each = {"ordered": False}
    alone = op.Scores.from_votes(NAMES[one], NAMES[two], winner, **each)
    many = np.repeat(np.arange(150), 4)
    fourfold = [np.repeat(values, 4) for values in (NAMES[one], NAMES[two], winner)]
    grouped = op.Scores.from_votes(*fourfold, groups=many, **each)
    a, b = (op.compare(x, "ada", "cyd", rope=0.05, random_state=2) for x in (alone, grouped))
    assert b.sd == pytest.approx(a.sd, rel=0.05)
    loose = op.compare(op.Scores.from_votes(*fourfold, **each), "ada", "cyd", rope=0.05)
    assert loose.sd == pytest.approx(a.sd / 2, rel=0.1)


def test_what_cannot_be_estimated_is_refused_and_mended():
    with pytest.raises(DataError, match="'a' never lost or tied against the others"):
        op.Scores.from_votes(["a", "b", "c"], ["b", "c", "b"], ["a", "b", "c"], ordered=False)
    with pytest.raises(DataError, match="never won or tied nor lost or tied"):
        op.Scores.from_votes(
            ["a", "b", "c", "d"], ["b", "a", "d", "c"], ["a", "b", "c", "d"], ordered=False
        )
    same = ["a", "a", "a"], ["b", "b", "b"], ["a", "b", "tie"]
    with pytest.raises(DataError, match="ordered=False"):
        op.Scores.from_votes(*same)
    assert op.Scores.from_votes(*same, ordered=False).models == ("a", "b")
    with pytest.raises(DataError, match=r"row 1 .* neither of its two models"):
        op.Scores.from_votes(["a", "b"], ["b", "a"], ["a", "x"])
    with pytest.raises(DataError, match="compares a model with itself"):
        op.Scores.from_votes(["a", "b"], ["b", "b"], ["a", "b"])
    with pytest.raises(DataError, match="tie="):
        op.Scores.from_votes(["tie"], ["b"], ["b"])
    with pytest.raises(DataError, match="same votes"):
        op.Scores.from_votes(["a"], ["b"], ["a", "b"])
    with pytest.raises(UsageError, match="from_votes"):
        op.compare([1, 2], [1, 2], [2, 1], metric="win_rate")


def test_both_rooms_name_the_same_columns():
    assert votes.VOTES == score_columns.VOTES


def test_a_fit_stays_finite_where_a_vote_less_would_have_no_maximum():
    seen = op.Scores.from_votes(
        ["a", "b", "a", "b"], ["b", "a", "b", "a"], ["a", "a", "b", "a"], ids=list("wxyz")
    )
    c = op.compare(seen, "a", "b", rope=0.1, random_state=1)
    assert np.isfinite(c.draws).all()
    assert np.abs(c.draws).max() <= 1
    assert c.item_table().rows


def test_columns_of_grades_are_no_votes():
    with pytest.raises(UsageError, match=r"computed from votes; pass them to Scores\.from_votes"):
        op.compare(None, [1.0, 2.0], [2.0, 1.0], metric="win_rate")
