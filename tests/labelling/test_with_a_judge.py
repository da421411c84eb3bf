"""Which of the items that a judge looked at are proposed to people, and what is made of them."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pandas as pd
import pytest

import outperform as op
from outperform._json import to_json
from outperform.data.judged import Judged
from outperform.data.table import Table
from outperform.errors import DataError, UsageError
from outperform.inference.spec import counted
from outperform.labelling import allocate, guessed_truths, guessed_verdicts, least, needs

FEW = {"rope": 0.02, "n_draws": 2_000, "random_state": 7}
PAIRS = list(itertools.product((0, 1), (0, 1)))


def verdicts_of(n=2_000, *, seed=0):
    """Return whether A and B are right, and a judge's verdicts, which are right in 85%."""
    rng = np.random.default_rng(seed)
    hard = rng.normal(size=n)
    right = np.stack([0.8 * hard + 0.6 * rng.normal(size=n) < limit for limit in (0.84, 0.7)])
    said = right ^ (rng.random((2, n)) < 0.15)
    return right.astype(int), said.astype(int)


def classes_of(n=2_000, *, seed=0, share=0.3):
    """Return a truth of two classes, two models, and a judge that is right in 85%."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(n) < share).astype(int)
    a, b, judge = (np.where(rng.random(n) < p, truth, 1 - truth) for p in (0.93, 0.88, 0.85))
    return truth, a, b, judge


def of_verdicts(budget=200, **options):
    right, (a, b) = verdicts_of(**options)
    return right, op.propose(a, b, budget=budget, verdicts=True, random_state=1)


def of_classes(budget=200, metric="f1", **options):
    truth, a, b, judge = classes_of(**options)
    found = op.propose(a, b, budget=budget, judge=judge, metric=metric, random_state=1)
    return truth, found


# The choice


def inside(found, stratum):
    """Return which items a stratum holds."""
    a, b = (np.asarray(found.predictions[name]) for name in "AB")
    here = (a == stratum.a) & (b == stratum.b)
    return here if found.judge is None else here & (np.asarray(found.judge) == stratum.judge)


@pytest.mark.parametrize("made", [of_verdicts, of_classes])
def test_items_are_distinct_and_as_many_of_each_stratum_as_it_says(made):
    _, found = made()
    assert len(set(found.items.tolist())) == 200
    assert len(found.strata) == (4 if found.verdicts else 8)
    for one in found.strata:
        here = inside(found, one)
        assert one.n_pool == here.sum()
        assert one.n_proposed == here[found.items].sum() > 0
    assert (found.n_pool, sum(one.n_proposed for one in found.strata)) == (2_000, 200)


@pytest.mark.parametrize("made", [of_verdicts, of_classes])
def test_any_prefix_has_its_share_of_every_stratum(made):
    _, found = made()
    for length in (20, 77, 150):
        for one in found.strata:
            n = inside(found, one)[found.items[:length]].sum()
            assert abs(n - one.n_proposed * length / 200) <= 1.5


@pytest.mark.parametrize("verdicts", [True, False])
def test_the_order_of_the_rows_does_not_change_how_many_of_which(verdicts):
    _, a, b, judge = classes_of()
    given = {"verdicts": True} if verdicts else {"judge": judge}
    order = np.random.default_rng(3).permutation(len(a))
    moved = {"verdicts": True} if verdicts else {"judge": judge[order]}
    one = op.propose(a, b, budget=200, random_state=1, **given)
    two = op.propose(a[order], b[order], budget=200, random_state=1, **moved)
    assert one.strata == two.strata
    assert not np.array_equal(np.sort(order[two.items]), np.sort(one.items))


def test_within_a_stratum_every_item_is_as_likely_to_be_early():
    """Half of the first stratum has the judge's other class: its items are another stratum."""
    a, b = np.array([0] * 30 + [1] * 10), np.array([0] * 20 + [1] * 20)
    judge = np.array([0] * 10 + [1] * 30)
    chosen = np.zeros(40)
    for seed in range(600):
        found = op.propose(a, b, judge=judge, budget=20, random_state=seed)
        chosen[found.items[:10]] += 1
    for stratum in (slice(0, 10), slice(10, 20), slice(20, 30), slice(30, 40)):
        counts = chosen[stratum]
        share = counts.mean() / 600
        squares = ((counts - counts.mean()) ** 2).sum() / (600 * share * (1 - share))
        assert squares < len(counts) + 5 * np.sqrt(2 * len(counts))


def test_every_stratum_has_labels_however_rare_it_is():
    _, found = of_classes(share=0.05, budget=100)
    assert min(one.n_proposed for one in found.strata) >= 1
    _, found = of_verdicts(budget=40)
    assert min(one.n_proposed for one in found.strata) >= 3


def test_the_seed_repeats_it_and_the_signature_names_the_judge():
    _, one = of_classes()
    _, two = of_classes()
    np.testing.assert_array_equal(one.items, two.items)
    assert "| judge | seed=1 |" in one.signature
    assert "judge" not in op.propose([0, 1], [1, 1], budget=1).signature


# What is guessed, and what follows for the allocation


def test_the_guess_of_two_classes_is_bayes_rule():
    """Each y by its guess without a judge, times how often the judge says what it says of it."""
    cells = np.array([[0, 0], [0, 0], [1, 0], [1, 0], [1, 1]])
    judge, sizes = np.array([0, 1, 0, 1, 0]), np.array([50.0, 10.0, 8.0, 12.0, 20.0])
    found = guessed_truths(cells, sizes, n_classes=2, a_right=0.7, judge=judge)
    positive = (12 + 10 + 20 + 20 + 20) / 300  # the judge: 10 + 12, A: 40, B: 20
    for row, (a, b), said in zip(found, cells, judge, strict=True):
        before = 0.7 if a != b else 0.9 * a + 0.1 * positive
        likely = [0.15, 0.85] if said else [0.85, 0.15]
        weights = [(1 - before) * likely[0], before * likely[1]]
        assert row[1] == pytest.approx(weights[1] / sum(weights))


def test_the_guess_of_many_classes_is_a_distribution_led_by_the_judge():
    cells = np.array([[0, 1], [0, 1], [2, 2], [0, 3]])
    judge, sizes = np.array([0, 2, 4, 3]), np.array([30.0, 5.0, 9.0, 6.0])
    found = guessed_truths(cells, sizes, n_classes=5, a_right=0.5, judge=judge)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    # The judge's word multiplies the odds of its class by 0.85 / (0.15 / 4).
    assert found[0, 0] / found[0, 1] == pytest.approx(0.85 * 4 / 0.15)
    assert found[1, 0] == pytest.approx(found[1, 1])
    assert found[2, 4] > 0  # which no model ever says


def test_the_guess_of_verdicts_is_bayes_rule():
    """The judge errs on each model in 15%, with a correlation of 0.5 over the two."""
    sizes = np.array([10.0, 20.0, 30.0, 40.0])
    found = guessed_verdicts(np.array(PAIRS), sizes)
    both = 0.15**2 + 0.5 * 0.15 * 0.85
    errors = {(0, 0): 1 - 0.3 + both, (0, 1): 0.15 - both, (1, 0): 0.15 - both, (1, 1): both}
    assert sum(errors.values()) == pytest.approx(1)
    for row, said in zip(found, PAIRS, strict=True):
        weights = [
            size * errors[said[0] ^ right[0], said[1] ^ right[1]]
            for size, right in zip(sizes, PAIRS, strict=True)
        ]
        np.testing.assert_allclose(row, np.array(weights) / sum(weights))


def judged_pool(strata, counts):
    """Return a pool that a judge looked at, before people do; a stratum is judge, A, B."""
    strata = np.array(strata)
    empty = Table(np.zeros((0, 6), dtype=np.int64), np.zeros(0, dtype=np.int64))
    return Judged(
        cells=strata[:, 1:].copy(), truth=strata[:, 0].copy(), counts=np.array(counts), both=empty
    )


def asked(metric, n_classes=2):
    answers = list(itertools.product(range(n_classes), repeat=2))
    columns = {name: [pair[place] for pair in answers] for place, name in enumerate("AB")}
    seen = op.Outcomes.from_pool([], columns, which=[])
    return counted(op.compare(seen, "A", "B", metric=metric, rope=0.01, n_draws=100).spec)


def test_what_accuracy_needs_of_verdicts():
    """An item is worth (right of A − right of B) / N."""
    _, (a, b) = verdicts_of()
    seen = op.Outcomes.from_judged({"A": a, "B": b}, human={"A": a, "B": b})
    spec = counted(op.compare(seen, "A", "B", metric="accuracy", rope=0.01, n_draws=100).spec)
    found = needs(spec, spec.view.pool)
    sizes = np.array([((a == x) & (b == y)).sum() for x, y in PAIRS], dtype=float)
    shares = guessed_verdicts(np.array(PAIRS), sizes)
    worth = np.array([x - y for x, y in PAIRS])
    variances = shares @ worth**2 - (shares @ worth) ** 2
    np.testing.assert_allclose(found, sizes * np.sqrt(variances) / sizes.sum(), rtol=1e-5)


@pytest.mark.parametrize(("metric", "n_classes"), [("f1", 2), ("f1_macro", 3)])
def test_what_a_metric_needs_by_brute_force(metric, n_classes):
    """One more item of each truth in each stratum: how much does it change A − B?"""
    rng = np.random.default_rng(n_classes)
    strata = list(itertools.product(range(n_classes), repeat=3))
    counts = rng.integers(5, 400, len(strata))
    pool, sizes = judged_pool(strata, counts), counts.astype(float)
    cells, judge = pool.cells, pool.truth
    variances = np.zeros(len(strata))
    for a_right in (0.3, 0.5, 0.7):
        shares = guessed_truths(cells, sizes, n_classes=n_classes, a_right=a_right, judge=judge)
        worth = np.zeros_like(shares)
        base = sizes[:, None] * shares
        for place in np.ndindex(*shares.shape):
            ahead, behind = base.copy(), base.copy()
            ahead[place] += 1e-3
            behind[place] -= 1e-3
            worth[place] = (difference(ahead, cells) - difference(behind, cells)) / 2e-3
        mean = (shares * worth).sum(axis=1)
        variances += (shares * worth**2).sum(axis=1) - mean**2
    np.testing.assert_allclose(
        needs(asked(metric, n_classes), pool), sizes * np.sqrt(variances), rtol=1e-3, atol=1e-6
    )


def difference(weights, cells):
    """Return the F1 of A less that of B from weights (stratum, truth), macro beyond two classes."""
    n_classes, values = weights.shape[1], []
    for model in range(2):
        own = []
        for k in range(n_classes):
            said = cells[:, model] == k
            own.append(2 * weights[said, k].sum() / (weights[said].sum() + weights[:, k].sum()))
        values.append(own[1] if n_classes == 2 else np.mean(own))
    return values[0] - values[1]


def test_counts_are_those_of_the_allocation():
    _, found = of_classes()
    strata = [(one.judge, one.a, one.b) for one in found.strata]
    pool = judged_pool(strata, [one.n_pool for one in found.strata])
    expected = allocate(needs(asked("f1"), pool), pool.counts, least(pool, 200), budget=200)
    assert [one.n_proposed for one in found.strata] == expected.tolist()


def test_the_share_of_agreements_and_the_least_are_kept():
    _, found = of_classes(metric="accuracy")
    assert sum(one.n_proposed for one in found.strata if one.agree) >= 0.2 * 200 - 4
    apart = [one for one in found.strata if not one.agree]
    shares = [one.n_proposed / one.n_pool for one in apart]
    assert min(shares) > 5 * 160 / 2_000 / 4  # far above what a draw at random has


# What is made of the labels


def test_outcomes_are_those_of_from_judged_by_hand():
    right, found = of_verdicts()
    people = {"A": right[0][found.items], "B": right[1][found.items]}
    looked = np.isin(np.arange(2_000), found.items)
    human = {name: np.where(looked, bits, None) for name, bits in zip("AB", right, strict=True)}
    by_hand = op.Outcomes.from_judged(found.predictions, human=human, drawn="by_ratings")
    assert found.outcomes(people) == by_hand
    assert found.outcomes(pd.DataFrame(people)) == found.outcomes(people)
    truth, found = of_classes()
    looked = np.isin(np.arange(2_000), found.items)
    by_hand = op.Outcomes.from_judged(
        found.predictions,
        human=np.where(looked, truth, None),
        judge=found.judge,
        drawn="by_ratings",
    )
    assert found.outcomes(truth[found.items]) == by_hand
    assert found.outcomes(pd.Series(truth).iloc[found.items]) == by_hand


def test_text_classes_and_classes_that_never_occur():
    a, b, judge = ["x"] * 8 + ["y"] * 4, ["x"] * 12, ["x"] * 12
    found = op.propose(a, b, judge=judge, labels=["x", "y"], budget=6, metric="accuracy")
    seen = found.outcomes(["x"] * 6)
    assert (seen.labels, seen.n, seen.pool.n) == (("x", "y"), 6, 12)
    assert found.strata[0].judge == "x"
    same = {"labels": ["x", "y"], "budget": 2, "metric": "accuracy"}
    alone = op.propose(["x"] * 5, ["x"] * 5, judge=["x"] * 5, **same)
    assert alone.strata == (("x", "x", 5, 2, "x"),)


def test_the_first_labels_are_a_sample_too():
    truth, found = of_classes()
    head = found.outcomes(truth[found.items[:80]])
    assert (head.n, head.pool.n) == (80, 2_000)
    right, found = of_verdicts()
    a, b = right[:, found.items[:80]]
    head = found.outcomes({"A": a, "B": b})
    assert (head.n, head.pool.n) == (80, 2_000)


def test_rows_are_matched_by_index_in_the_order_of_a():
    truth, a, b, judge = classes_of(n=300)
    order = np.random.default_rng(5).permutation(300)
    rows = [f"d{k}" for k in range(300)]
    frame = pd.DataFrame({"a": a, "b": b, "judge": judge}, index=rows)
    moved = frame.iloc[order]
    few = {"budget": 60, "metric": "f1", "random_state": 2}
    plain = op.propose(a, b, judge=judge, **few)
    found = op.propose(frame["a"], moved["b"], judge=moved["judge"], **few)
    np.testing.assert_array_equal(found.items, plain.items)
    seen = found.outcomes(truth[found.items])
    assert to_json(seen.pool) == to_json(plain.outcomes(truth[plain.items]).pool)
    assert [one.name for one in seen.findings] == ["aligned_by_index"]
    assert plain.findings == ()


def test_the_comparison_says_what_all_labels_say():
    truth, found = of_classes()
    c = op.compare(found.outcomes(truth[found.items]), "A", "B", metric="f1", **FEW)
    a, b = found.predictions.values()
    whole = op.compare(truth, a, b, metric="f1", **FEW)
    assert abs(c.mean - whole.mean) < 3 * c.sd
    assert {"judged", "judge_bias"} <= {one.name for one in c.findings}
    assert "unlabelled_ratings" not in {one.name for one in c.findings}


# Refusals


def test_what_cannot_be_is_refused_before_labels_are_paid_for():
    a, b, judge = [0, 1, 1, 0], [0, 1, 0, 0], [1, 1, 0, 0]
    for given, error, match in (
        ({"judge": judge, "verdicts": True}, UsageError, "remove judge"),
        ({"judge": judge[:3]}, DataError, "same items"),
        ({"judge": [1, None, 0, 0]}, DataError, "judge"),
        ({"judge": [1, math.nan, 0, 0]}, DataError, "judge"),
        ({"judge": judge, "metric": "f1macro"}, UsageError, "unknown metric"),
        ({"judge": judge, "budget": 5}, UsageError, "budget must be"),
        ({"verdicts": True, "metric": "f1"}, UsageError, "f1"),
        ({"verdicts": True, "labels": [0, 1]}, UsageError, "remove labels"),
        ({"verdicts": True, "names": ("A", "A")}, UsageError, "two different names"),
    ):
        with pytest.raises(error, match=match):
            op.propose(a, b, **{"budget": 2, **given})
    for bits in ([0, 1, 2, 0], ["spam", "no", "no", "no"], [0, 1, None, 0], [0.5, 1, 1, 0]):
        with pytest.raises(DataError, match="judged of 'A'"):
            op.propose(bits, b, budget=2, verdicts=True)


def test_labels_that_do_not_fit_are_refused():
    truth, found = of_classes()
    for y_true in (truth[:201], [], 1):
        with pytest.raises(DataError, match="200 proposed items"):
            found.outcomes(y_true)
    with pytest.raises(
        DataError, match=r"1 of 3 proposed items have no label \(the first is items\[1\]\)"
    ):
        found.outcomes([0, None, 1])
    right, found = of_verdicts()
    a, b = right[:, found.items]
    with pytest.raises(UsageError, match="pass predictions by model name"):
        found.outcomes(a)
    with pytest.raises(UsageError, match="same models"):
        found.outcomes({"A": a})
    with pytest.raises(DataError, match="for some models only"):
        found.outcomes({"A": a, "B": b[:-1]})
    with pytest.raises(DataError, match="true/false, 0/1"):
        found.outcomes({"A": a, "B": b + 1})


# Words


def test_words_and_tables_of_classes():
    _, found = of_classes()
    assert "on which the models disagree" in repr(found)
    assert "\njudge says  A says  B says  in the pool" in str(found)
    facts = json.loads(json.dumps(found.to_dict()))
    assert facts["judge"] == "classes"
    assert {(one["judge"], one["a"], one["b"]) for one in facts["strata"]} == set(
        itertools.product((0, 1), repeat=3)
    )
    assert "judge says" in found.to_markdown()
    plain = op.propose([0, 1], [1, 1], budget=1).to_dict()
    assert "judge" not in plain
    assert "judge" not in plain["strata"][0]


def test_words_and_tables_of_verdicts():
    _, found = of_verdicts()
    assert "on which the judge rates only one model as right" in repr(found)
    assert "A by the judge" in str(found)
    assert {row["a"] for row in found.table().rows} == {"right", "wrong"}
    facts = json.loads(json.dumps(found.to_dict()))
    assert facts["judge"] == "verdicts"
    assert facts["strata"][0] == {**facts["strata"][0], "a": False, "b": False}
    never = op.propose([1, 0, 1], [1, 0, 1], budget=2, verdicts=True)
    assert "The judge never rates only one model as right." in repr(never)
