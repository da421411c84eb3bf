"""Rankings against compare, closed forms and hand-made tables; invariants of ranks."""

from __future__ import annotations

import json
from itertools import combinations

import numpy as np
import pytest
from scipy.special import betainc

import outperform as op
from outperform import metrics
from outperform.data.views import count_of
from outperform.decision.hdi import narrowest
from outperform.decision.ranks import losses, rank_probabilities
from outperform.errors import ResourceError, UsageError
from outperform.findings import listed
from tests.lazily import lazily
from tests.loops import each

norm = lazily("scipy.stats.norm")

DRAWS = 20_000
NAMES = ("cyd", "ada", "dan", "bob")  # the best first, which is not the order of names


def labelled(n_classes=3, n=400, n_models=4, seed=5):
    """Return truth and the predictions of models that are less and less often right."""
    generator = np.random.default_rng(seed)
    y = generator.integers(n_classes, size=n)
    hard = generator.random(n)
    predictions = {
        name: np.where(
            0.6 * hard + 0.4 * generator.random(n) < 0.66 - 0.04 * place,
            y,
            generator.integers(n_classes, size=n),
        )
        for place, name in enumerate(NAMES[:n_models])
    }
    return y, predictions


def counted(n_classes=3, **more):
    return op.Outcomes.from_labels(*labelled(n_classes, **more))


@pytest.fixture(scope="module")
def ranking():
    return op.rank(counted(), metric="f1_macro", rope=0.02, random_state=1)


# Against compare


def agrees(pair, alone, times=5.0):
    """Hold a pair against a comparison of the two alone, within their Monte Carlo errors.

    Prior "learned" correlates all models alike, so that the sd of a difference may change a
    little with the others.
    """
    slack = 0.1 if alone.spec.prior.name == "learned" else 0.0
    error = np.hypot(pair.mcse, alone.sd / np.sqrt(DRAWS))
    assert pair.observed == pytest.approx(alone.observed, abs=1e-12)
    assert abs(pair.mean - alone.mean) < times * error
    assert pair.sd == pytest.approx(alone.sd, rel=0.04 + slack)
    for end in ("low", "high"):
        error = np.hypot(getattr(pair.hdi, f"mcse_{end}"), getattr(alone.hdi, f"mcse_{end}"))
        error = times * error + 2 * slack * alone.sd
        assert abs(getattr(pair.hdi, end) - getattr(alone.hdi, end)) < error
    for name in ("p_worse", "p_equivalent", "p_better", "p_greater"):
        p = getattr(alone, name)
        error = times * np.sqrt(2 * (p * (1 - p) + 1e-3) / DRAWS) + slack / 2
        assert abs(getattr(pair, name) - p) < error


@pytest.mark.parametrize(("metric", "n_classes"), [("f1_macro", 3), ("accuracy", 5), ("f1", 2)])
def test_two_of_them_alone_are_what_compare_says(metric, n_classes):
    seen = counted(n_classes)
    ranking = op.rank(seen, metric=metric, rope=0.02, random_state=1)
    for a, b in combinations(NAMES, 2):
        alone = op.compare(seen, a, b, metric=metric, rope=0.02, random_state=2)
        found = ranking.compare(a, b)
        agrees(found, alone)
        if "monte_carlo_too_coarse" not in [one.name for one in found.findings]:
            assert found.decision is alone.decision


@pytest.mark.parametrize(("metric", "n_classes"), [("f1_macro", 3), ("f1", 2)])
def test_a_ranking_of_two_is_what_compare_says(metric, n_classes):
    seen = counted(n_classes, n_models=2)
    ranking = op.rank(seen, metric=metric, rope=0.02, random_state=1)
    a, b = NAMES[:2]
    alone = op.compare(seen, a, b, metric=metric, rope=0.02, random_state=2)
    agrees(ranking.pair(a, b), alone)
    np.testing.assert_array_equal(ranking.draws, ranking.unpooled_draws)
    assert "pooled" not in str(ranking)


@each("prior", ["unit", "bootstrap", "learned", "hierarchical", "uniform"])
def test_every_model_unpaired(prior):
    seen = counted().unpair()
    ranking = op.rank(seen, metric="accuracy", rope=0.02, prior=prior, random_state=1)
    assert "unpaired_outcomes" in [finding.name for finding in ranking.findings]
    assert "unpaired" in ranking.signature
    alone = op.compare(
        seen, "ada", "cyd", metric="accuracy", rope=0.02, prior=prior, random_state=2
    )
    agrees(ranking.compare("ada", "cyd"), alone)
    assert abs(np.corrcoef(ranking.unpooled_draws[:2])[0, 1]) < 5 / np.sqrt(DRAWS)


def test_groups_bring_the_bootstrap():
    y, predictions = labelled()
    groups = np.repeat(np.arange(50), 8)
    ranking = op.rank(y, predictions, groups=groups, metric="f1_macro", rope=0.02, random_state=1)
    assert "prior=bootstrap" in ranking.signature
    seen = op.Outcomes.from_labels(y, predictions, groups=groups)
    alone = op.compare(seen, "ada", "dan", metric="f1_macro", rope=0.02, random_state=2)
    agrees(ranking.compare("ada", "dan"), alone)


def test_spans_by_sentence_and_bare_counts():
    generator = np.random.default_rng(2)
    gold = [[(k, k + 1, "X")] for k in range(200)]
    tagged = {
        name: [spans if generator.random() < 0.8 else [] for spans in gold] for name in NAMES[:3]
    }
    seen = op.Outcomes.from_spans(gold, tagged)
    ranking = op.rank(seen, metric="f1", rope=0.02, random_state=1)
    assert "prior=bootstrap" in ranking.signature
    alone = op.compare(seen, "ada", "dan", metric="f1", rope=0.02, random_state=2)
    agrees(ranking.compare("ada", "dan"), alone)
    bare = seen.ungroup()
    ranking = op.rank(bare, metric="f1", rope=0.02, random_state=1)
    assert "prior=unit" in ranking.signature
    alone = op.compare(bare, "ada", "dan", metric="f1", rope=0.02, prior="unit", random_state=2)
    agrees(ranking.compare("ada", "dan"), alone)


def test_only_right_or_wrong_is_known():
    y, predictions = labelled()
    bits = {name: predicted == y for name, predicted in predictions.items()}
    ranking = op.rank(op.Outcomes.from_correct(bits), metric="accuracy", rope=0.02, random_state=1)
    assert "prior=unit" in ranking.signature
    for name, right in bits.items():
        n_right, n = int(right.sum()), len(right)
        mean = (n_right + 0.5) / (n + 1)  # mass 1, half of it right
        assert abs(ranking[name].raw.mean - mean) < 5 * ranking[name].raw.mcse


def test_a_comparison_is_made_of_the_draws_before_pooling(ranking):
    ranking = ranking.with_rope(0.4)  # no interval ends near its edges
    whole = ranking.compare("cyd", "ada")
    a, b = (ranking.unpooled_draws[ranking.names.index(name)] for name in ("cyd", "ada"))
    np.testing.assert_array_equal(whole.draws, a - b)
    assert whole.names == ("cyd", "ada")
    assert whole.mean == pytest.approx(ranking["cyd"].raw.mean - ranking["ada"].raw.mean)
    assert whole.bayes_factor is not None


@pytest.mark.parametrize(("metric", "n_classes"), [("f1_macro", 3), ("accuracy", 5), ("f1", 2)])
def test_every_pair_is_what_compare_says_of_the_two(metric, n_classes):
    seen = counted(n_classes)
    ranking = op.rank(seen, metric=metric, rope=0.02, random_state=1)
    for a, b in combinations(NAMES, 2):
        pair, whole = ranking.pair(a, b), ranking.compare(a, b)
        for name in ("observed", "mean", "sd", "mcse", "p_worse", "p_equivalent", "p_better"):
            assert getattr(pair, name) == pytest.approx(getattr(whole, name), rel=1e-12)
        ends = (whole.hdi.low, whole.hdi.high)
        assert (pair.hdi.low, pair.hdi.high) == pytest.approx(ends, rel=1e-12)
        assert pair.decision is whole.decision
        alone = op.compare(seen, a, b, metric=metric, rope=0.02, random_state=2)
        agrees(pair, alone)
        if not pair.coarse:
            assert pair.decision is alone.decision


def one_better(seed, *, n=500):
    """Return outcomes of nine models at 0.80 and of one at 0.86, which go wrong together."""
    generator = np.random.default_rng(seed)
    ease = generator.normal(size=n) + generator.normal(size=(10, n))
    right = ease / np.sqrt(2) < norm.ppf([0.8] * 9 + [0.86])[:, None]
    return op.Outcomes.from_correct({f"m{place}": one for place, one in enumerate(right)})


def test_one_better_model_among_equals_is_seen_as_compare_sees_it():
    asked = {"metric": "accuracy", "rope": 0.01, "n_draws": 2_000}
    better = pooled = 0
    for seed in range(12):
        seen = one_better(seed)
        ranking = op.rank(seen, random_state=1, **asked)
        pair = ranking.pair("m9", "m0")
        alone = op.compare(seen, "m9", "m0", random_state=2, **asked)
        assert pair.coarse or pair.decision is alone.decision
        better += pair.decision is op.Decision.BETTER
        m9, m0 = (ranking.draws[ranking.names.index(name)] for name in ("m9", "m0"))
        pooled += np.quantile(m9 - m0, 0.025) > 0.01
        assert "m9" in ranking.tied
    assert better >= 6
    assert better > pooled  # shrinkage alone would have hidden it


def test_no_pair_is_called_equivalent_by_shrinkage_alone():
    """Checkpoints of one training, 0.002 apart: the first and the last differ by 0.014."""
    truth = 0.8 + 0.002 * np.arange(8)
    called = shrunk = 0
    for seed in range(12):
        generator = np.random.default_rng(seed)
        ease = 0.98**0.5 * generator.normal(size=1_000)
        ease = ease + 0.02**0.5 * generator.normal(size=(8, 1_000))
        right = ease < norm.ppf(truth)[:, None]
        seen = op.Outcomes.from_correct({f"m{place}": one for place, one in enumerate(right)})
        ranking = op.rank(seen, metric="accuracy", rope=0.01, n_draws=2_000, random_state=1)
        called += ranking.pair("m0", "m7").decision is op.Decision.EQUIVALENT
        first, last = (ranking.draws[ranking.names.index(name)] for name in ("m0", "m7"))
        shrunk += (np.abs(first - last) < 0.01).mean() > 0.97
    assert called == 0
    assert shrunk > 0  # which pooled draws would have said


def test_a_model_that_is_worse_may_still_be_best():
    """It leaves the tied where both draws before pooling and pooled ones say that it is worse."""
    found = []
    for seed in range(12):
        ranking = op.rank(
            one_better(seed), metric="accuracy", rope=0.01, n_draws=2_000, random_state=1
        )
        leader = ranking.unpooled_draws[0], ranking.draws[0]
        for place, row in enumerate(ranking.rows[1:], start=1):
            own = ranking.unpooled_draws[place], ranking.draws[place]
            ends = [narrowest(np.sort(a - b), 0.95).high for a, b in zip(own, leader, strict=True)]
            assert row.tied == (max(ends) >= -0.01)
            assert (row.decision is op.Decision.WORSE) == (ends[0] < -0.01)
            if row.tied and row.decision is op.Decision.WORSE:
                found.append((row.name, ranking))
    assert found
    name, ranking = found[0]
    assert "worse, but could still be best:" in repr(ranking)
    assert name in ranking.tied
    behind = [row.name for row in ranking.rows if row.tied and row.decision is op.Decision.WORSE]
    verb = "is" if len(behind) == 1 else "are"
    named = f"{listed(behind)} {verb} worse than the leader (≪) but could still be best"
    assert named in " ".join(ranking.text().split())
    assert named.partition(" (≪)")[0] in ranking.to_latex()
    assert "before and after pooling" in ranking.report()


# Against closed forms


def test_two_models_by_hand():
    """Of 30 and 10 that only one got right P(A > B) is a beta tail under the unit prior."""
    bits = {
        "a": [1] * 30 + [0] * 10 + [1] * 100 + [0] * 60,
        "b": [0] * 30 + [1] * 10 + [1] * 100 + [0] * 60,
    }
    ranking = op.rank(op.Outcomes.from_correct(bits), metric="accuracy", rope=0.01, random_state=1)
    p_best = 1 - betainc(30.25, 10.25, 0.5)
    row = ranking["a"]
    assert abs(row.p_best - p_best) < 5 * np.sqrt(p_best * (1 - p_best) / DRAWS) + 1e-4
    assert row.p_rank.tolist() == pytest.approx([row.p_best, 1 - row.p_best])
    assert row.expected_rank == pytest.approx(2 - row.p_best)
    # E[best] − E[a] = E[(b − a)+], the mean loss
    loss = np.maximum(ranking.draws[1] - ranking.draws[0], 0)
    assert ranking.names == ("a", "b")
    assert row.regret == pytest.approx(loss.mean(), abs=1e-12)
    assert ranking["b"].regret - row.regret == pytest.approx(ranking.pair("a", "b").mean)


def test_three_models_each_right_alone():
    """Right alone 30, 20 and 10 times: their shares are one Dirichlet, so P(best) is known."""
    times = {"a": 30, "b": 20, "c": 10}
    who = np.repeat(list(times), list(times.values()))
    bits = {name: who == name for name in times}
    ranking = op.rank(
        op.Outcomes.from_correct(bits),
        metric="accuracy",
        rope=0.01,
        prior="bootstrap",
        n_draws=40_000,
        random_state=3,
    )
    draws = np.random.default_rng(0).dirichlet(list(times.values()), 400_000)
    best = np.bincount(draws.argmax(axis=1), minlength=3) / len(draws)
    lost = (draws.max(axis=1)[:, None] - draws).mean(axis=0)
    raw = ranking.unpooled_draws
    p_best_raw, lost_raw = rank_probabilities(raw)[:, 0], losses(raw).mean(axis=1)
    for name, p_best, regret in zip("abc", best, lost, strict=True):
        place = ranking.names.index(name)
        error = 5 * np.sqrt(p_best * (1 - p_best) / 36_000) + 1e-4
        assert abs(p_best_raw[place] - p_best) < error
        assert abs(lost_raw[place] - regret) < 5 * 1.1 * ranking[name].regret_mcse


# Invariants


def test_one_model_more_leaves_the_others_as_they_were():
    y, predictions = labelled()
    for n_classes in (2, 3, 6):
        y, predictions = labelled(n_classes)
        few = {name: predictions[name] for name in NAMES[:3]}
        asked = {"metric": "f1_macro", "rope": 0.02}
        before = op.rank(y, few, random_state=1, **asked)
        after = op.rank(y, predictions, random_state=2, **asked)
        for name in few:
            one, two = before[name].raw, after[name].raw
            assert abs(one.mean - two.mean) < 5 * np.hypot(one.mcse, two.mcse)
            assert one.sd == pytest.approx(two.sd, rel=0.04)
        for a, b in combinations(few, 2):
            agrees(before.compare(a, b), after.compare(a, b))


def test_the_order_of_the_models_changes_nothing():
    y, predictions = labelled()
    turned = {name: predictions[name] for name in reversed(NAMES)}
    asked = {"metric": "f1_macro", "rope": 0.02, "random_state": 1, "n_draws": 2_000}
    one, two = op.rank(y, predictions, **asked), op.rank(y, turned, **asked)
    assert one.to_dict() == two.to_dict()
    np.testing.assert_array_equal(one.draws, two.draws)


def test_new_names_are_only_other_names():
    y, predictions = labelled()
    renamed = {f"model {name}": values for name, values in predictions.items()}
    asked = {"metric": "f1_macro", "rope": 0.02, "random_state": 1, "n_draws": 2_000}
    one, two = op.rank(y, predictions, **asked), op.rank(y, renamed, **asked)
    np.testing.assert_array_equal(one.draws, two.draws)
    assert two.names == tuple(f"model {name}" for name in one.names)


def test_equal_models_share_the_chance_to_be_best_evenly():
    y, predictions = labelled()
    clones = {name: predictions["ada"] for name in NAMES}
    exact = op.rank(y, clones, metric="f1_macro", rope=0.02, prior="bootstrap", random_state=1)
    for row in exact:
        assert row.p_rank.tolist() == pytest.approx([0.25] * 4)
        assert row.expected_rank == pytest.approx(2.5)
        assert row.regret == 0
    drawn = op.rank(y, clones, metric="f1_macro", rope=0.02, random_state=1)
    for row in drawn:
        assert abs(row.p_best - 0.25) < 5 * np.sqrt(0.25 * 0.75 / DRAWS)
    assert all(
        decision is None or decision.symbol in "?≈" for row in drawn.decisions for decision in row
    )
    assert drawn.tied == drawn.names


def test_threads_change_nothing():
    seen = counted()
    asked = {"metric": "f1_macro", "rope": 0.02, "random_state": 1, "n_draws": 3_000}
    one, two = (op.rank(seen, n_jobs=n_jobs, **asked) for n_jobs in (1, 2))
    assert one.to_dict() == two.to_dict()


def test_lower_may_be_better():
    loss = metrics.from_function(
        lambda table: 1 - np.trace(table) / table.sum(axis=(0, 1)),
        name="loss",
        greater_is_better=False,
        bounds=(0.0, 1.0),
        vectorized=True,
    )
    seen = counted()
    up = op.rank(seen, metric="accuracy", rope=0.02, random_state=1)
    down = op.rank(seen, metric=loss, rope=0.02, random_state=1)
    assert down.names == up.names
    for one, two in zip(up, down, strict=True):
        assert two.mean == pytest.approx(1 - one.mean, abs=1e-12)
        assert two.regret == pytest.approx(one.regret, abs=1e-12)
        np.testing.assert_allclose(one.p_rank, two.p_rank)
        assert one.p_practically_best == pytest.approx(two.p_practically_best, abs=1e-3)
    assert up.decisions == down.decisions
    assert down.pair("cyd", "bob").mean < 0 < up.pair("cyd", "bob").mean
    assert down.tied == up.tied


@each("metric", metrics.names())
def test_every_metric(metric):
    n_classes = 2 if metrics.get(metric).average == "binary" else 3
    seen = counted(n_classes)
    ranking = op.rank(seen, metric=metric, rope=0.02, n_draws=500, random_state=1)
    for row in ranking:
        alone = op.estimate(
            seen, row.name, metric=metric, prior="unit", n_draws=500, random_state=2
        )
        assert row.observed == pytest.approx(alone.observed, abs=1e-12)
        assert abs(row.raw.mean - alone.mean) < 6 * np.hypot(
            row.raw.mcse, row.raw.sd / np.sqrt(500)
        )
        low, high = metrics.get(metric).bounds
        assert low <= row.estimate.draws.min() <= row.estimate.draws.max() <= high


# What is said of ranks, regret and ties


def test_ranks_and_regret_hang_together(ranking):
    p_rank = ranking.p_rank
    np.testing.assert_allclose(p_rank.sum(axis=0), 1)
    np.testing.assert_allclose(p_rank.sum(axis=1), 1)
    assert sum(row.p_best for row in ranking) == pytest.approx(1)
    assert sum(row.expected_rank for row in ranking) == pytest.approx(10)
    best = ranking.draws.max(axis=0).mean()
    for row in ranking:
        assert row.regret == pytest.approx(best - row.mean, abs=1e-12)
        assert row.regret >= 0
        assert row.p_best <= row.p_practically_best
    regrets = [row.regret for row in ranking]
    assert regrets == sorted(regrets)
    assert ranking.leader is ranking.rows[0]


def test_tied_are_the_leader_and_all_not_shown_to_be_worse(ranking):
    leader = ranking.leader.name
    for row in ranking.rows[1:]:
        decision = ranking.pair(row.name, leader).decision
        assert row.decision is decision
        assert row.tied == (row.name in ranking.tied)
        assert row.tied or decision.symbol == "≪"
        if not row.tied:
            assert ranking.pair(row.name, leader).hdi.high < -0.02
            assert row.p_best < 0.05
    assert ranking.leader.tied
    assert ranking.p_best_not_tied == pytest.approx(
        sum(row.p_best for row in ranking if not row.tied)
    )


def test_a_rope_that_is_not_symmetric_is_each_difference_own(ranking):
    skewed = ranking.with_rope((-0.15, 0.01))
    for a, b in combinations(NAMES, 2):
        for one, two in ((a, b), (b, a)):
            pair, alone = skewed.pair(one, two), skewed.compare(one, two)
            shares = ((alone.draws < -0.15).mean(), (alone.draws > 0.01).mean())
            assert (pair.p_worse, pair.p_better) == pytest.approx(shares, abs=1e-12)
            assert (alone.rope.low, alone.rope.high) == (-0.15, 0.01)


def test_another_rope_needs_no_other_draws(ranking):
    wide = ranking.with_rope(0.4)
    np.testing.assert_array_equal(wide.draws, ranking.draws)
    assert wide.tied == ranking.names
    assert all(decision is None or decision.symbol == "≈" for decision in wide.decisions[0])
    assert wide.with_rope(0.02).to_dict() == ranking.to_dict()


def test_matrices_are_antisymmetric(ranking):
    np.testing.assert_array_equal(ranking.differences, -ranking.differences.T)
    for i, row in enumerate(ranking.decisions):
        assert row[i] is None
        for j, decision in enumerate(row):
            if i != j:
                assert ranking.decisions[j][i] is decision.mirrored


def test_draws_that_cannot_be_believed_withhold_the_decision():
    bits = {"a": [1] * 50, "b": [1] * 50, "c": [1] * 20 + [0] * 30}
    seen = op.Outcomes.from_correct(bits)
    ranking = op.rank(seen, metric="accuracy", rope=0.02, prior="bootstrap", random_state=1)
    pair = ranking.pair("a", "b")
    assert pair.withheld
    assert pair.decision.symbol == "?"
    found = {finding.name: finding for finding in ranking.findings}
    assert found["few_disagreements"].level == "serious"
    assert "1 of 3 pairs" in found["few_disagreements"].message


def test_models_far_apart_and_close_together():
    generator = np.random.default_rng(4)
    y = generator.integers(2, size=4_000)
    good = np.where(generator.random(4_000) < 0.9, y, 1 - y)
    twin = np.where(generator.random(4_000) < 0.995, good, 1 - good)
    poor = np.where(generator.random(4_000) < 0.6, y, 1 - y)
    ranking = op.rank(
        y, {"good": good, "twin": twin, "poor": poor}, metric="accuracy", rope=0.02, random_state=1
    )
    assert set(ranking.tied) == {"good", "twin"}
    assert ranking["poor"].decision.symbol == "≪"
    assert ranking.pair("good", "twin").decision.symbol == "≈"
    assert "practically tied with" in repr(ranking)


# What comes in


def test_outcomes_and_arrays_are_the_same():
    y, predictions = labelled()
    asked = {"metric": "f1_macro", "rope": 0.02, "random_state": 1, "n_draws": 500}
    one = op.rank(y, predictions, **asked)
    assert one.to_dict() == op.rank(counted(), **asked).to_dict()
    some = op.rank(counted(), ["cyd", "ada"], **asked)
    assert set(some.names) == {"ada", "cyd"}


@each(
    ("arguments", "message"),
    [
        ((counted(), ["ada"]), "at least two models"),
        ((counted(), "ada"), "model names"),
        ((counted(), ["ada", "eve"]), "eve"),
        ((counted(), ["ada", "ada"]), "once"),
        (([1, 0], [1, 0]), "mapping from model names"),
        (([1, 0], {"a": [1, 0]}), "at least two models"),
        (([1, 0],), "mapping from model names"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(UsageError, match=message):
        op.rank(*arguments, metric="accuracy")


def test_counted_outcomes_take_no_groups():
    with pytest.raises(UsageError, match="already counted"):
        op.rank(counted(), groups=[1] * 400, metric="accuracy")


def test_a_prior_that_would_change_with_every_model_is_refused():
    seen = counted(2)
    with pytest.raises(UsageError, match="depend on the number of models"):
        op.rank(seen, metric="accuracy", prior="uniform")
    rows = [[2.0, 1.0], [1.0, 2.0]]
    ranking = op.rank(seen, metric="recall", prior=rows, rope=0.02, random_state=1)
    for row in ranking:
        tp, fn = (count_of(seen, row.name, part, positive=1) for part in ("tp", "fn"))
        assert abs(row.raw.mean - (tp + 2) / (tp + fn + 3)) < 5 * row.raw.mcse
    pair = op.rank(
        seen, ["ada", "bob"], metric="accuracy", rope=0.02, prior="uniform", random_state=1
    )
    alone = op.compare(seen, "ada", "bob", metric="accuracy", rope=0.02, random_state=2)
    agrees(pair.pair("ada", "bob"), alone)
    with pytest.raises(UsageError, match="unit"):
        op.rank(counted(3), metric="accuracy", prior="hierarchical")


def test_too_many_draws_and_too_many_kinds_of_spans():
    with pytest.raises(ResourceError, match="use at most"):
        op.rank(counted(), metric="accuracy", n_draws=100_000_000)
    gold = [[(0, 1, "X")]] * 5
    seen = op.Outcomes.from_spans(gold, {f"m{k}": gold for k in range(20)}).ungroup()
    with pytest.raises(ResourceError, match="combinations"):
        op.rank(seen, metric="f1")


# What goes out


def test_every_format(ranking):
    facts = ranking.to_dict()
    assert json.loads(json.dumps(facts)) == facts
    assert facts["kind"] == "ranking"
    assert len(facts["pairs"]) == 6
    frame = ranking.to_frame()
    assert frame["model"].tolist() == list(ranking.names)
    assert frame["p_best"].tolist() == [row.p_best for row in ranking]
    assert frame["tied"].tolist() == [row.tied for row in ranking]
    assert ranking.to_polars().shape == ranking.to_arrow().shape == frame.shape
    for text in (ranking.to_markdown(), ranking.to_latex(), ranking.to_html()):
        assert all(name in text for name in NAMES)
    assert ranking.pair_table().to_frame().shape[0] == 6
    assert ranking.leader.name in ranking.report()


def test_the_text_fits_a_terminal(ranking):
    lines = str(ranking).splitlines()
    assert max(map(len, lines)) <= 100
    assert len(lines) <= 30
    assert lines[0].startswith(ranking.leader.name)
    assert repr(ranking).startswith(f"Ranking({ranking.leader.name} ")


def test_errors_are_named(ranking):
    errors = ranking.leader.mc_errors
    assert set(errors) == {
        "mean", "sd", "p_best", "p_practically_best", "expected_rank", "regret",
    }  # fmt: skip
    assert all(error > 0 for error in errors.values())


def test_unknown_names_are_named(ranking):
    with pytest.raises(UsageError, match="did you mean 'ada'"):
        ranking["adda"]
    with pytest.raises(UsageError, match="must differ"):
        ranking.pair("ada", "ada")


def test_figures_of_ranking_draw_pooled_models_and_unpooled_differences(ranking):
    axes = pytest.importorskip("matplotlib.figure").Figure(figsize=(9, 3)).subplots(1, 3)
    drawn = [
        [tuple(line.get_xdata()) for line in draw(ax).lines if line.get_marker() == "|"]
        for draw, ax in zip((ranking.plot, ranking.plot_differences), axes, strict=False)
    ]
    assert drawn[0] == [(row.hdi.low, row.hdi.high) for row in ranking]
    leader = ranking.leader.name
    pairs = [ranking.pair(name, leader) for name in ranking.names[1:]]
    assert drawn[1] == [(pair.hdi.low, pair.hdi.high) for pair in pairs]
    cells = np.asarray(ranking.plot_ranks(axes[2]).collections[0].get_array())
    assert cells == pytest.approx(ranking.p_rank)
