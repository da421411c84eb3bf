"""Batches that differ from those before: the bound, the budget, what is withheld, versions."""

from __future__ import annotations

import itertools
import json
import re

import numpy as np
import pytest

import outperform as op
from outperform.errors import DataError, UsageError
from outperform.monitor.drift import Statistic, cuts_at, find_change, log_bound, spent_at
from tests.lazily import lazily
from tests.loops import each

hypergeom = lazily("scipy.stats.hypergeom")

NAMES = ("new", "old")


def of_values(older, newer):
    """Return one number per item in two batches."""
    values = np.array([*older, *newer], dtype=float)
    owner = np.repeat([0, 1], [len(older), len(newer)])
    return Statistic(name="a", values=values, repeats=np.ones(len(values)), owner=owner)


def batch(rng, n=300, *, new=0.83, old=0.80, positive=0.5):
    truth = (rng.random(n) < positive).astype(int)
    rates = {"new": new, "old": old}
    return truth, {m: np.where(rng.random(n) < p, truth, 1 - truth) for m, p in rates.items()}


def watched(folder, *batches, **asked):
    asked = {"metric": "accuracy", "rope": 0.01, "n_draws": 300} | asked
    monitor = op.Monitor(folder, *NAMES, **asked)
    for number, one in enumerate(batches):
        monitor.add(*one, key=f"d{number}")
    return monitor


def differing(monitor):
    return [one for one in monitor.findings if one.name == "batches_differ"]


def test_bound_is_above_every_hypergeometric_tail():
    rng = np.random.default_rng(0)
    for _ in range(200):
        sizes, rates = rng.integers(2, 300, size=2), rng.random(2)
        right = rng.binomial(sizes, rates)
        counts = np.array([right[0], sizes[0] - right[0], right[1], sizes[1] - right[1]], float)
        one = Statistic(
            name="a", values=np.array([1.0, 0, 1, 0]), repeats=counts, owner=np.array([0, 0, 1, 1])
        )
        exact = hypergeom(sizes.sum(), right.sum(), sizes[1])
        more = right[1] > sizes[1] * right.sum() / sizes.sum()
        tail = exact.logsf(right[1] - 1) if more else exact.logcdf(right[1])
        assert tail - 1e-9 <= log_bound(one, 1) <= max(tail + 7, 0)


def test_bound_is_above_every_permutation_of_uneven_values():
    values = np.array([0.0, 0.1, 0.1, 0.5, 2.0, 2.5, 4.0, 9.0])
    sums = np.array([sum(one) for one in itertools.combinations(values, 3)])
    for newer in itertools.combinations(range(8), 3):
        older = [place for place in range(8) if place not in newer]
        total = values[list(newer)].sum()
        above = total > 3 * values.mean()
        exact = np.mean(sums >= total - 1e-12) if above else np.mean(sums <= total + 1e-12)
        assert np.log(exact) <= log_bound(of_values(values[older], values[list(newer)]), 1) + 1e-9


def test_budget_is_shared_among_all_looks():
    assert sum(spent_at(look) for look in range(1, 2**14)) == pytest.approx(1 - 1 / 15)
    assert all(0 < cut < 100 for cut in cuts_at(100))
    assert cuts_at(1) == []
    assert cuts_at(2) == [1]


def test_unchanged_years_raise_no_more_alarms_than_the_budget():
    rng = np.random.default_rng(1)
    alarms = 0
    for _ in range(200):  # short histories of small batches with few errors
        right = rng.binomial(20, 0.95, size=12)
        counts = np.stack([right, 20 - right], axis=1).ravel().astype(float)
        alarms += any(
            find_change(
                [
                    Statistic(
                        name="a",
                        values=np.tile([1.0, 0.0], look),
                        repeats=counts[: 2 * look],
                        owner=np.repeat(np.arange(look), 2),
                    )
                ],
                look,
            )
            for look in range(2, 13)
        )
    assert alarms <= 21  # 5% of 200 and three standard errors


def test_replaced_baseline_withholds_decision_and_gate(tmp_path):
    rng = np.random.default_rng(2)
    days = [batch(rng) for _ in range(20)] + [batch(rng, old=0.95) for _ in range(3)]
    monitor = watched(tmp_path, *days, stop=("width", 0.04))
    before, since = monitor.looks[19], monitor.looks[20:]
    assert before.status.value == "pass"
    assert {look.decision.symbol for look in since} == {"?"}
    assert {look.status.value for look in since} == {"undecided"}
    assert not any(look.holds for look in since)
    (noticed,) = differing(monitor)
    assert noticed.level == "serious"
    assert "since batch 'd20'" in noticed.message
    assert re.search(r"accuracy of old from 0\.(79|8)\d+ to 0\.9", noticed.message)
    assert "own name or folder" in noticed.message
    latest = monitor.latest
    for again in (latest.with_rope(0.002), latest.with_metric("f1"), monitor.at(22)):
        assert again.decision.symbol == "?"
    assert {step.decision.symbol for step in latest.rope_curve()} == {"?"}


def test_history_is_the_same_however_it_is_read(tmp_path):
    rng = np.random.default_rng(3)
    days = [batch(rng) for _ in range(4)] + [batch(rng, old=0.97) for _ in range(2)]
    often = watched(tmp_path, *days[:3])
    assert len(often.looks) == 3
    for number in range(3, 6):
        often.add(*days[number], key=f"d{number}")
        assert often.looks[-1].number == number + 1
    late = watched(tmp_path)
    assert late.at(6).findings == often.at(6).findings
    assert late.looks == often.looks == watched(tmp_path).looks
    assert differing(late) == differing(often)


def test_changed_class_shares_are_named_and_prevalence_settles_them(tmp_path):
    rng = np.random.default_rng(4)
    days = [batch(rng, positive=0.5 if day < 4 else 0.05) for day in range(6)]
    (noticed,) = differing(watched(tmp_path, *days, metric="f1"))
    assert noticed.level == "serious"
    assert "Set the prevalence" in noticed.message
    assert re.search(r"share of class 1 from (4|5)\d\.\d% to [2-8]\.\d%", noticed.message)
    assert differing(watched(tmp_path, metric="f1", prevalence=0.1)) == []


def test_changed_model_is_noticed_at_fixed_prevalence(tmp_path):
    rng = np.random.default_rng(5)
    days = [batch(rng, old=0.8 if day < 4 else 0.97) for day in range(6)]
    (noticed,) = differing(watched(tmp_path, *days, metric="f1", prevalence=0.1))
    assert "share of class" not in noticed.message


def test_change_smaller_than_rope_only_warns(tmp_path):
    rng = np.random.default_rng(6)
    days = [batch(rng, n=20_000, new=0.83 if day < 2 else 0.81) for day in range(4)]
    monitor = watched(tmp_path, *days, rope=0.05)
    (noticed,) = differing(monitor)
    assert noticed.level == "warning"
    assert monitor.latest.decision.symbol == "≈"


def grades(rng, changed):
    return None, {"new": rng.normal(5, 1, 200), "old": rng.normal(6 if changed else 5, 1, 200)}


def ranking(rng, changed):
    truth = rng.integers(0, 2, 200)
    noise = {"new": 1.0, "old": 0.2 if changed else 1.0}
    return truth, {name: truth + rng.normal(0, sd, 200) for name, sd in noise.items()}


def probabilities(rng, changed):
    truth, predicted = ranking(rng, changed)
    return truth, {name: 1 / (1 + np.exp(4 - 8 * one)) for name, one in predicted.items()}


def label_sets(rng, changed):
    truth = [frozenset(np.flatnonzero(rng.random(3) < 0.4).tolist()) for _ in range(200)]
    rates = {"new": 0.8, "old": 0.97 if changed else 0.8}
    predicted = {
        name: [{k for k in range(3) if (k in one) == (rng.random() < p)} for one in truth]
        for name, p in rates.items()
    }
    return (op.Outcomes.from_label_sets(truth, predicted),)


def tags(rng, changed):
    gold = [["B-x" if rng.random() < 0.3 else "O" for _ in range(8)] for _ in range(100)]
    other = {"O": "B-x", "B-x": "O"}
    rates = {"new": 0.9, "old": 0.99 if changed else 0.9}
    predicted = {
        name: [[t if rng.random() < p else other[t] for t in row] for row in gold]
        for name, p in rates.items()
    }
    return (op.Outcomes.from_tags(gold, predicted, scheme="iob2"),)


def right_or_wrong(rng, changed):
    rates = {"new": 0.8, "old": 0.97 if changed else 0.8}
    return (op.Outcomes.from_correct({name: rng.random(200) < p for name, p in rates.items()}),)


def grouped(rng, changed):
    truth, predicted = batch(rng, old=0.97 if changed else 0.8)
    return (op.Outcomes.from_labels(truth, predicted, groups=np.repeat(np.arange(100), 3)),)


def weighted(rng, changed):
    truth, predicted = batch(rng, old=0.97 if changed else 0.8)
    return (op.Outcomes.from_labels(truth, predicted, sample_weight=rng.gamma(2, 1, 300)),)


def unpaired(rng, changed):
    return (op.Outcomes.from_labels(*batch(rng, old=0.97 if changed else 0.8)).unpair(),)


def many_classes(rng, changed):
    truth = rng.integers(0, 5, 300)
    rates = {"new": 0.8, "old": 0.97 if changed else 0.8}
    return truth, {
        name: np.where(rng.random(300) < p, truth, rng.integers(0, 5, 300))
        for name, p in rates.items()
    }


@each(
    ("make", "metric", "rope"),
    [
        (grades, "mean", 0.1),
        (ranking, "roc_auc", 0.01),
        (probabilities, "log_loss", 0.01),
        (label_sets, "f1_macro", 0.01),
        (tags, "f1_micro", 0.01),
        (right_or_wrong, "accuracy", 0.01),
        (grouped, "accuracy", 0.01),
        (weighted, "accuracy", 0.01),
        (unpaired, "f1", 0.01),
        (many_classes, "f1_macro", 0.01),
        (many_classes, lambda confusion: np.trace(confusion) / confusion.sum((0, 1)), 0.01),
    ],
)
def test_every_kind_of_data_is_watched(tmp_path, make, metric, rope):
    rng = np.random.default_rng(7)
    same, other = tmp_path / "same", tmp_path / "other"
    days = [make(rng, False) for _ in range(5)]
    assert differing(watched(same, *days, metric=metric, rope=rope)) == []
    days = [make(rng, day > 3) for day in range(6)]
    (noticed,) = differing(watched(other, *days, metric=metric, rope=rope))
    assert noticed.level == "serious"
    assert "since batch 'd4'" in noticed.message


def test_classes_that_come_later_are_watched_too(tmp_path):
    rng = np.random.default_rng(8)
    words = np.array(["ham", "spam", "eggs"])
    days = []
    for day in range(5):
        truth = rng.integers(0, 2 if day < 3 else 3, 200)
        days.append((words[truth], {name: words[truth] for name in NAMES}))
    (noticed,) = differing(watched(tmp_path, *days))
    assert "share of class 'eggs' from 0.0% to 3" in noticed.message


# Versions


def test_versions_are_kept_and_a_change_withholds_decision(tmp_path):
    rng = np.random.default_rng(9)
    monitor = watched(tmp_path)
    for day, version in enumerate(("v1", "v1", "v2")):
        key = f"d{day}"
        monitor.add(*batch(rng, old=0.6), key=key, versions={"old": version, "new": "a9"})
    looks = watched(tmp_path).looks
    assert [look.decision.symbol for look in looks] == ["≫", "≫", "?"]
    assert looks[-1].status.value == "undecided"
    (noticed,) = [one for one in monitor.findings if one.name == "version_changed"]
    assert "old is 'v1' in batch 'd0' and 'v2' in 'd2'" in noticed.message
    assert "new is" not in noticed.message


def test_versions_of_a_batch_do_not_change(tmp_path):
    one = batch(np.random.default_rng(10))
    monitor = watched(tmp_path)
    monitor.add(*one, key="d0", versions={"old": "v1"})
    monitor.add(*one, key="d0", versions={"old": "v1"})
    with pytest.raises(DataError, match=r"already in .*, with versions"):
        monitor.add(*one, key="d0", versions={"old": "v2"})


@pytest.mark.parametrize(
    ("versions", "wrong"),
    [
        ("v1", "versions must be a mapping by model"),
        ({"odl": "v1"}, "unknown model 'odl'"),
        ({"old": 7}, "the version of 'old' must be text"),
        ({"old": ""}, "the version of 'old' must be text"),
    ],
)
def test_wrong_versions_raise(tmp_path, versions, wrong):
    with pytest.raises(UsageError, match=wrong):
        watched(tmp_path).add(*batch(np.random.default_rng(11)), key=0, versions=versions)


def test_folder_without_versions_is_read_and_damaged_ones_are_named(tmp_path):
    rng = np.random.default_rng(12)
    monitor = watched(tmp_path, batch(rng), batch(rng))
    assert not (tmp_path / "_versions").exists()
    monitor.add(*batch(rng), key="d2", versions={"old": "v1"})
    assert monitor.n_batches == 3
    assert "version_changed" not in {one.name for one in monitor.findings}
    path = tmp_path / "_versions" / "d2.json"
    assert json.loads(path.read_text())["versions"] == {"old": "v1"}
    path.write_text("[]")
    with pytest.raises(DataError, match="does not map models to versions"):
        watched(tmp_path).looks  # noqa: B018
