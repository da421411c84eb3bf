"""A monitor of the days that ``count --update`` counts, with slices."""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
import pytest

import outperform as op
from outperform.cli.main import main
from outperform.errors import DataError, UsageError
from outperform.io.request import Request
from outperform.io.store import update
from outperform.monitor.drift import BUDGET, among_slices, find_change, statistics_of
from verification import quarters

FIRST = date(2026, 9, 1)
COUNTRIES = ("de", "fr", "jp")


def _write(folder, days, *, dropped=None, at=99):
    rng = np.random.default_rng(3)
    for day in range(days):
        lines = ["truth,new,old,country"]
        for country in COUNTRIES:
            right = 0.85 - (0.2 if country == dropped and day >= at else 0)
            for _ in range(300):
                y, a, b = rng.integers(0, 2), rng.random() < right, rng.random() < 0.85
                lines.append(f"{y},{y if a else 1 - y},{y if b else 1 - y},{country}")
        path = folder / f"day={FIRST + timedelta(day)}" / "a.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n", "utf-8")


def _count(source, store, by="country"):
    update(store, [str(source)], Request(truth="truth", models=["new", "old"], by=by), version="0")


def _monitor(store):
    return op.Monitor(store, "new", "old", metric="accuracy", rope=0.05, n_draws=500)


def test_days_are_batches_in_order(tmp_path):
    _write(tmp_path / "in", 4)
    _count(tmp_path / "in", tmp_path / "store")
    monitor = _monitor(tmp_path / "store")
    assert [look.key for look in monitor.looks] == [
        f"day={FIRST + timedelta(day)}" for day in range(4)
    ]
    assert [look.n for look in monitor.looks] == [900, 1800, 2700, 3600]
    assert monitor.outcomes == op.read(tmp_path / "store")
    _write(tmp_path / "in", 5)
    _count(tmp_path / "in", tmp_path / "store")
    assert monitor.n_batches == 5
    with pytest.raises(UsageError, match="is filled by 'outperform count --update'"):
        monitor.add([1], {"new": [1], "old": [1]}, key="x")


def test_an_earlier_day_that_arrives_later_is_an_error(tmp_path):
    _write(tmp_path / "in", 3)
    late = tmp_path / "in" / f"day={FIRST + timedelta(1)}"
    late.rename(tmp_path / "late")
    _count(tmp_path / "in", tmp_path / "store")
    monitor = _monitor(tmp_path / "store")
    assert monitor.n_batches == 2
    (tmp_path / "late").rename(late)
    _count(tmp_path / "in", tmp_path / "store")
    with pytest.raises(DataError, match="arrived after"):
        monitor.n_batches  # noqa: B018
    assert _monitor(tmp_path / "store").n_batches == 3


def test_a_drop_in_one_slice_is_named(tmp_path, capsys):
    _write(tmp_path / "in", 14, dropped="jp", at=12)
    _count(tmp_path / "in", tmp_path / "store")
    (found,) = (
        one for one in _monitor(tmp_path / "store").findings if one.name == "batches_differ"
    )
    assert found.level == "serious"
    assert "items of slice 'jp' since batch 'day=2026-09-13'" in found.message
    words = ["--a", "new", "--b", "old", "--metric", "accuracy", "--rope", "0.05", "--once"]
    assert main(["watch", str(tmp_path / "store"), *words]) == 4
    assert "slice 'jp'" in capsys.readouterr().err
    # the same days without slices: one country in three is not enough
    _count(tmp_path / "in", tmp_path / "whole", by=None)
    assert "slice" not in "".join(one.message for one in _monitor(tmp_path / "whole").findings)


def test_slices_are_the_tables_of_their_outcomes(tmp_path):
    """Each slice's statistic is the one that a monitor of this slice alone would have."""
    _write(tmp_path / "in", 5)
    _count(tmp_path / "in", tmp_path / "store")
    paths = sorted((tmp_path / "store").glob("day*"))
    batches = [op.read(str(path)).select(["new", "old"]) for path in paths]
    total = op.read(tmp_path / "store").select(["new", "old"])
    spec = op.compare(total, "new", "old", metric="accuracy", n_draws=100).spec
    seen = [one for one in statistics_of(spec, batches) if one.slice is not None]
    assert {one.slice for one in seen} == {(country,) for country in COUNTRIES}
    for one in seen:
        alone = [batch.slice(*one.slice) for batch in batches]
        own_spec = op.compare(total.slice(*one.slice), "new", "old", metric="accuracy",
                              n_draws=100).spec  # fmt: skip
        (same,) = (other for other in statistics_of(own_spec, alone) if other.name == one.name)
        # slopes at all items are those at a slice's items, up to a factor
        sums = []
        for each in (one, same):
            centred = each.values - np.average(each.values, weights=each.repeats)
            scale = np.sqrt(np.square(centred) @ each.repeats)
            sums.append(np.bincount(each.owner, centred * each.repeats) / scale)
        assert sums[0] == pytest.approx(sums[1], abs=1e-6)


def test_the_budget_is_shared(tmp_path):
    """All tests of a look together spend no more than a look without slices."""
    counts = quarters.simulate(quarters.WORLDS[0], np.random.default_rng(0))[:10]
    every = quarters.statistics(counts)
    names = {one.name for one in every}
    spent = sum(1 / (len(names) * one.tests) for one in every)
    assert spent <= 1 + 1e-12
    assert among_slices(every[:4], [])[0].tests == every[0].tests


def test_quarters_of_the_study():
    for world in (quarters.WORLDS[0], quarters.WORLDS[-1]):
        (alarm,) = quarters.repeat(world, 0, 1)
        again = quarters.repeat(world, 0, 1)[0]
        assert alarm == again
    assert alarm.slice == quarters.PLANTED
    assert quarters.WORLDS[-1].before < alarm.day <= quarters.WORLDS[-1].before + 3
    # looks that are skipped raise no alarm
    counts = quarters.simulate(quarters.WORLDS[1], np.random.default_rng(1))
    skipped = sorted(set(range(2, 40)) - set(quarters.suspects(counts)))
    assert all(find_change(quarters.statistics(counts[:look]), look) is None for look in skipped)
    assert BUDGET == 0.05
