"""Which items are proposed, and what a comparison makes of them once they are labelled."""

from __future__ import annotations

import json

import numpy as np
import pytest

import outperform as op
from outperform.data.pool import Pool
from outperform.errors import DataError, UsageError
from outperform.inference.items import left_in_pool
from outperform.inference.spec import counted
from outperform.labelling import allocate, guessed_truths, interleave, least, needs
from tests.loops import each

FEW = {"rope": 0.01, "n_draws": 4_000, "random_state": 7}


def pool_of(n=4_000, *, n_classes=2, seed=0, apart=0.1):
    """Return a truth and two models of which A is the better one, mostly alike."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_classes, n)
    shift = rng.integers(1, n_classes, n) if n_classes > 2 else 1
    a = np.where(rng.random(n) < 0.08, (truth + shift) % n_classes, truth)
    differ = rng.random(n) < apart
    b = np.where(differ, np.where(rng.random(n) < 0.7, (a + shift) % n_classes, truth), a)
    return truth, a, b


def proposed(budget=400, metric="f1", **options):
    truth, a, b = pool_of(**options)
    return truth, op.propose(a, b, budget=budget, metric=metric, random_state=1)


def names_of(result):
    return {finding.name for finding in result.findings}


# The choice


def test_items_are_distinct_and_as_many_of_each_stratum_as_it_says():
    truth, a, b = pool_of()
    found = op.propose(a, b, budget=400, random_state=1)
    assert len(set(found.items.tolist())) == 400
    for one in found.strata:
        inside = (a == one.a) & (b == one.b)
        assert one.n_pool == inside.sum()
        assert one.n_proposed == inside[found.items].sum()
    assert sum(one.n_proposed for one in found.strata) == 400
    assert found.n_pool == len(truth)


@pytest.mark.parametrize("metric", ["accuracy", "f1", "recall", "matthews_corrcoef"])
def test_most_labels_go_where_the_models_disagree_and_some_to_every_stratum(metric):
    _, found = proposed(metric=metric)
    apart = sum(one.n_proposed for one in found.strata if not one.agree)
    assert 0.6 * 400 <= apart <= 0.8 * 400
    assert all(one.n_proposed >= min(10, one.n_pool) for one in found.strata)


def test_the_seed_repeats_it_and_the_signature_names_the_seed():
    _, one = proposed()
    _, two = proposed()
    np.testing.assert_array_equal(one.items, two.items)
    assert "seed=1" in one.signature
    _, a, b = pool_of()
    other = op.propose(a, b, budget=400, random_state=2)
    assert other.strata == one.strata
    assert not np.array_equal(other.items, one.items)


def test_any_prefix_has_its_share_of_every_stratum():
    _, a, b = pool_of()
    found = op.propose(a, b, budget=400, random_state=1)
    for length in (50, 123, 250):
        head = found.items[:length]
        for one in found.strata:
            inside = ((a == one.a) & (b == one.b))[head].sum()
            assert abs(inside - one.n_proposed * length / 400) <= 1.5


def test_within_a_stratum_every_item_is_as_likely_to_be_early():
    a, b = np.array([0] * 30 + [1] * 10), np.array([0] * 20 + [1] * 20)
    chosen = np.zeros(40)
    for seed in range(600):
        chosen[op.propose(a, b, budget=20, random_state=seed).items[:10]] += 1
    for stratum in (slice(0, 20), slice(20, 30), slice(30, 40)):
        counts = chosen[stratum]
        share = counts.mean() / 600
        squares = ((counts - counts.mean()) ** 2).sum() / (600 * share * (1 - share))
        assert squares < len(counts) + 5 * np.sqrt(2 * len(counts))


def test_a_budget_for_all_takes_all():
    _, a, b = pool_of(n=300)
    found = op.propose(a, b, budget=300, random_state=0)
    assert sorted(found.items.tolist()) == list(range(300))


def test_both_models_may_say_the_same_of_all():
    found = op.propose([1] * 10, [1] * 10, budget=3, random_state=0)
    assert len(set(found.items.tolist())) == 3
    assert found.strata == ((1, 1, 10, 3, None),)


def test_text_numbers_and_columns_of_two_types_are_one_class():
    found = op.propose(["1", "0", "1", "0"], [1, 0, 0, 0], budget=4, random_state=0)
    assert sorted(found.items.tolist()) == [0, 1, 2, 3]
    assert {(one.a, one.b): one.n_pool for one in found.strata} == {(0, 0): 2, (1, 0): 1, (1, 1): 1}


@each("budget", [0, -1, 2.5, True, "10", 5])
def test_a_budget_that_cannot_be_is_refused(budget):
    with pytest.raises(UsageError, match="budget must be"):
        op.propose([0, 1, 1, 0], [0, 1, 0, 0], budget=budget)


def test_what_compare_would_refuse_is_refused_before_labels_are_paid_for():
    with pytest.raises(UsageError, match="unknown metric"):
        op.propose([0, 1], [1, 1], budget=1, metric="f1macro")
    with pytest.raises(UsageError, match="pos_label"):
        op.propose(["x", "y"], ["y", "y"], budget=1, metric="f1")
    with pytest.raises(DataError, match="same items"):
        op.propose([0, 1], [1, 1, 0], budget=1)
    with pytest.raises(UsageError, match="two different names"):
        op.propose([0, 1], [1, 1], budget=1, names=("A", "A"))


def test_words_and_tables():
    _, found = proposed()
    assert repr(found).startswith("Proposal(400 of 4,000 items: ")
    assert "A says" in str(found)
    assert len(found.table().rows) == 4
    assert json.loads(json.dumps(found.to_dict()))["n_proposed"] == 400
    assert "to label" in found.to_markdown()
    assert "The models never disagree" in repr(op.propose([0, 1], [0, 1], budget=1))
    assert "more pairs of predictions" in str(proposed(n_classes=6, metric="accuracy")[1])


# Allocation


def test_neyman_is_the_best_of_all_allocations_for_accuracy():
    pool = Pool(cells=np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), counts=np.array([50, 30, 10, 10]))
    seen = op.Outcomes.from_pool([], {"A": [0, 0, 1, 1], "B": [0, 1, 0, 1]}, which=[])
    needed = needs(_asked(seen, "accuracy"), pool)
    assert max(needed[0], needed[3]) < 1e-6 * needed[1]
    assert needed[1] / needed[2] == pytest.approx(3, rel=1e-6)  # equal sds, three times the size


def _asked(seen, metric):
    return counted(op.compare(seen, "A", "B", metric=metric, rope=0.01, n_draws=100).spec)


def test_agreements_matter_for_f1_and_not_for_accuracy():
    seen = op.Outcomes.from_pool([], {"A": [0, 0, 1, 1], "B": [0, 1, 0, 1]}, which=[])
    sizes = np.array([900, 50, 30, 20])
    pool = Pool(cells=np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), counts=sizes)
    assert (needs(_asked(seen, "f1"), pool) > 0).all()


def test_guesses_are_distributions():
    cells = np.array([[0, 0], [0, 1], [2, 1]])
    found = guessed_truths(cells, np.array([5.0, 3.0, 2.0]), n_classes=4, a_right=0.7)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert found[:, 3].tolist() == [0, 0, 0]  # nobody ever predicts it
    assert found[1, 0] / found[1, 1] == pytest.approx(7 / 3)


def test_allocation_keeps_the_budget_the_least_and_the_sizes():
    rng = np.random.default_rng(3)
    for _ in range(200):
        n = int(rng.integers(1, 30))
        sizes = rng.integers(1, 200, n)
        budget = int(rng.integers(1, sizes.sum() + 1))
        needed = rng.random(n) * rng.integers(0, 2, n)
        lowest = np.minimum(rng.integers(0, 10, n), sizes).astype(float)
        lowest *= min(1.0, budget / 2 / max(lowest.sum(), 1.0))
        found = allocate(needed, sizes, lowest, budget=budget)
        assert found.sum() == budget
        assert (found >= np.floor(lowest)).all()
        assert (found <= sizes).all()


@each(("n_classes", "budget"), [(2, 400), (5, 400), (20, 400), (20, 30), (3, 1)])
def test_agreements_get_a_fifth_however_many_strata_there_are(n_classes, budget):
    places = np.arange(n_classes)
    cells = np.stack(np.meshgrid(places, places, indexing="ij"), axis=-1).reshape(-1, 2)
    same = cells[:, 0] == cells[:, 1]
    pool = Pool(cells=cells, counts=np.where(same, 900, 12))
    lowest = least(pool, budget)
    assert lowest.sum() <= budget / 2 + 1e-9
    assert lowest[same].sum() >= 0.2 * budget - 1e-9
    found = allocate(np.where(same, 0.0, 12.0), pool.counts, lowest, budget=budget)
    assert found[same].sum() >= np.floor(0.19 * budget)


def test_order_has_every_stratum_as_often_as_it_was_chosen():
    chosen = np.array([7, 0, 3, 1])
    order = interleave(chosen, np.random.default_rng(0))
    assert np.bincount(order, minlength=4).tolist() == chosen.tolist()


# The comparison


@pytest.mark.parametrize(("n_classes", "metric"), [(2, "f1"), (2, "accuracy"), (4, "f1_macro")])
def test_few_labels_say_what_all_labels_say_and_more_than_as_many_at_random(n_classes, metric):
    truth, a, b = pool_of(n_classes=n_classes)
    found = op.propose(a, b, budget=400, metric=metric, random_state=1)
    few = op.compare(found.outcomes(truth[found.items]), "A", "B", metric=metric, **FEW)
    whole = op.compare(truth, a, b, metric=metric, **FEW)
    some = np.random.default_rng(2).choice(len(truth), 1_200, replace=False)
    random = op.compare(truth[some], a[some], b[some], metric=metric, **FEW)
    assert few.spec.prior.name == "strata"
    assert abs(few.mean - whole.mean) < 3 * few.sd
    assert 0.95 * whole.sd < few.sd < random.sd
    assert abs(few.observed - few.mean) < 0.5 * few.sd


def test_the_first_labels_are_a_sample_too():
    truth, found = proposed()
    head = found.outcomes(truth[found.items[:150]])
    assert (head.n, head.pool.n) == (150, 4_000)
    whole = found.outcomes(truth[found.items])
    one, two = (op.compare(seen, "A", "B", **FEW) for seen in (head, whole))
    assert one.hdi.width > two.hdi.width
    with pytest.raises(DataError, match="400 proposed items"):
        found.outcomes(truth[:401])
    with pytest.raises(DataError, match="400 proposed items"):
        found.outcomes([])


def test_it_says_how_the_items_were_chosen():
    truth, found = proposed()
    c = op.compare(found.outcomes(truth[found.items]), "A", "B", **FEW)
    assert "chosen_by_predictions" in names_of(c)
    assert "unlabelled_strata" not in names_of(c)
    assert "chosen from a pool of 4,000" in c.report()
    assert "prior=strata" in c.signature
    assert "pool=4000" in c.signature
    assert c.to_dict()["n_pool"] == 4_000
    assert c.bayes_factor is not None
    assert c.confusions()[0].sum() == pytest.approx(4_000)
    assert c.with_metric("accuracy").spec.prior.name == "strata"
    assert len(c.by_class()) == 2
    assert "pool" in op.scorecard(c.spec.data, "A", "B", metrics=["f1", "recall"]).to_markdown()


def test_strata_that_nobody_looked_at_are_a_finding():
    truth, a, b = pool_of()
    agree = np.flatnonzero(a == b)[:200]
    seen = op.Outcomes.from_pool(truth[agree], {"A": a, "B": b}, which=agree)
    levels = {one.name: one.level for one in op.compare(seen, "A", "B", **FEW).findings}
    assert levels["unlabelled_strata"] == "warning"
    assert levels["few_disagreements"] == "warning"


@pytest.mark.parametrize(("n_unseen", "level"), [(14, "warning"), (11, "warning"), (9, "note")])
def test_a_hundredth_of_the_pool_without_a_label_is_much(n_unseen, level):
    """Of 1,000 items so many have a pair of predictions of which none is labelled."""
    a = np.array([0] * 500 + [1] * (500 - n_unseen) + [1] * n_unseen)
    b = np.array([0] * 450 + [1] * 50 + [1] * (500 - n_unseen) + [0] * n_unseen)
    labelled = np.concatenate([np.arange(420, 500), np.arange(500, 560)])
    seen = op.Outcomes.from_pool(a[labelled], {"A": a, "B": b}, which=labelled)
    (found,) = [
        one for one in op.compare(seen, "A", "B", **FEW).findings if one.name == "unlabelled_strata"
    ]
    assert found.level == level
    assert found.message.startswith(
        f"1 of 4 prediction pairs ({n_unseen / 10}% of the pool) have no"
    )
    assert ("Label some" in found.message) == (level == "warning")


def test_models_that_never_disagree_are_not_called_equivalent():
    a = np.array([0, 1] * 30)
    seen = op.Outcomes.from_pool(a[:20], {"A": a, "B": a}, which=np.arange(20))
    c = op.compare(seen, "A", "B", **FEW)
    assert c.decision is op.Decision.UNDECIDED
    assert {"few_disagreements"} <= {one.name for one in c.findings if one.level == "serious"}


def test_only_what_is_labelled_is_said_to_tell_the_models_apart():
    _, a, b = pool_of()
    seen = op.Outcomes.from_pool([], {"A": a, "B": b}, which=[])
    c = op.compare(seen, "A", "B", **FEW)
    (text,) = [one.message for one in c.findings if one.name == "few_disagreements"]
    assert text.startswith("No labelled item distinguishes the models")
    assert "needed" not in c.to_dict()
    few = op.propose(a, b, budget=9, random_state=0)
    c = op.compare(few.outcomes(a[few.items]), "A", "B", **FEW)
    (text,) = [one.message for one in c.findings if one.name == "few_disagreements"]
    assert "labelled items;" in text


def undecided(n=150):
    """Return a proposal of all disagreements, and a comparison after its first labels."""
    truth, a, b = pool_of(n=10_000)
    b = np.where(np.arange(10_000) % 2 == 0, a, np.where(a == truth, b, truth))
    found = op.propose(a, b, budget=2_000, metric="accuracy", random_state=1)
    return truth, found, after(found, truth, n)


def after(found, truth, n):
    seen = found.outcomes(truth[found.items[:n]])
    return op.compare(seen, "A", "B", metric="accuracy", rope=0.004, n_draws=4_000, random_state=7)


def test_how_many_more_labels_are_needed_knows_that_the_pool_ends():
    truth, found, c = undecided()
    left = left_in_pool(c.spec, c.sd)
    apart = found.predictions["A"] != found.predictions["B"]
    assert left.most == int(150 * apart.sum() / apart[found.items[:150]].sum()) - 150
    # What is predicted of the sd comes true, to a few per cent of what is a guess itself.
    for n in (300, 600, 150 + left.most):
        predicted = c.sd * np.sqrt(left.stays + (1 - left.stays) * 150 / n)
        assert after(found, truth, n).sd == pytest.approx(predicted, rel=0.1)
    assert "more labelled items of the pool, on top of the 150" in " ".join(str(c).split())


def test_the_variance_that_stays_is_that_of_the_strata_shares():
    truth, found, c = undecided(n=400)
    a, b = (found.predictions[name] for name in "AB")
    labelled = found.items[:400]
    difference = np.zeros(len(a))
    for one in found.strata:
        here = (a == one.a) & (b == one.b)
        some = labelled[here[labelled]]
        difference[here] = np.mean((a == truth)[some].astype(float) - (b == truth)[some])
    left = left_in_pool(c.spec, c.sd)
    assert left.stays * c.sd**2 == pytest.approx(difference.var() / len(a), rel=1e-4)


def test_where_all_disagreements_are_labelled_no_number_of_items_is_named():
    truth, found, _ = undecided()
    c = after(found, truth, 2_000)
    assert left_in_pool(c.spec, c.sd) is None
    middle = (c.hdi.high + c.hdi.low) / 2  # A is the worse one
    asked = {"metric": "accuracy", "rope": -middle, "n_draws": 2_000, "random_state": 7}
    gate = op.gate(c.spec.data, "A", "B", **asked)
    assert gate.status is op.results.GateStatus.UNDECIDED
    assert (gate.checks[0].needed, gate.checks[0].more_items) == (None, None)


def test_what_draws_items_as_they_come_is_refused():
    _, _, c = undecided()
    with pytest.raises(UsageError, match="chosen from a pool by the predictions of both models"):
        c.more_data()
    with pytest.raises(UsageError, match="pass a random sample of items"):
        op.plan(pilot=c.spec.data, metric="accuracy", rope=0.01)


def test_a_monitor_does_not_store_what_it_could_not_add_up(tmp_path):
    _, _, c = undecided()
    monitor = op.Monitor(tmp_path, "A", "B", rope=0.01)
    with pytest.raises(UsageError, match="labels from one pool cannot be summed"):
        monitor.add(c.spec.data, key="first")
    assert monitor.n_batches == 0


def test_one_class_of_many_is_looked_at_without_mixing_strata():
    truth, a, b = pool_of(n_classes=4)
    found = op.propose(a, b, budget=600, metric="f1", pos_label=2, random_state=1)
    seen = found.outcomes(truth[found.items])
    c = op.compare(seen, "A", "B", metric="f1", pos_label=2, **FEW)
    whole = op.compare(truth, a, b, metric="f1", pos_label=2, **FEW)
    assert abs(c.mean - whole.mean) < 3 * c.sd
    assert c.spec.view.pool is not None
    assert c.spec.view.n_classes == 4


def test_a_function_of_the_confusion_array_is_asked_too():
    truth, a, b = pool_of()
    accuracy = op.metrics.from_function(lambda table: table[0, 0] + table[1, 1], name="right")
    found = op.propose(a, b, budget=300, metric=accuracy, random_state=1)
    assert all(one.n_proposed for one in found.strata)
    seen = found.outcomes(truth[found.items])
    one, two = (op.compare(seen, "A", "B", metric=m, **FEW) for m in (accuracy, "accuracy"))
    assert one.mean == pytest.approx(two.mean, abs=1e-9)


def test_what_has_no_meaning_is_refused_with_a_way_out():
    truth, found = proposed()
    seen = found.outcomes(truth[found.items])
    for options, match in (
        ({"prior": "uniform"}, "omit prior"),
        ({"prior": "jeffreys"}, "omit prior"),
        ({"paired": False}, "omit paired"),
    ):
        with pytest.raises(UsageError, match=match):
            op.compare(seen, "A", "B", **FEW, **options)
    with pytest.raises(UsageError, match=r"use c\.a or c\.b"):
        op.estimate(seen, "A")
    with pytest.raises(UsageError, match="unknown prior 'strata'"):
        op.compare(truth, truth, truth, prior="strata")


def test_models_may_be_asked_in_either_order():
    truth, found = proposed()
    seen = found.outcomes(truth[found.items])
    one, two = (op.compare(seen, *pair, **FEW) for pair in (("A", "B"), ("B", "A")))
    assert one.mean == pytest.approx(-two.mean, abs=5 * one.mcse + 5 * two.mcse)


def test_a_ranking_of_the_two_is_the_same_comparison():
    truth, found = proposed()
    ranking = op.rank(found.outcomes(truth[found.items]), **FEW)
    assert ranking.names[0] == "A"
