"""Counts by day: periods as slices, and windows of days."""

from __future__ import annotations

from collections import Counter
from datetime import date, timedelta

import numpy as np
import pytest

import outperform as op
from outperform.cli.main import main
from outperform.errors import DataError, UsageError
from outperform.io.periods import PERIODS, day_of, period
from outperform.io.request import Request
from outperform.io.store import update

FIRST = date(2026, 8, 27)
DAYS = 12


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    return [
        (FIRST + timedelta(day), country, *rng.choice(["x", "y", "z"], 3).tolist())
        for day in range(DAYS)
        for country in ("de", "fr")
        for _ in range(10 + day)
    ]


@pytest.fixture(scope="module")
def stores(rows, tmp_path_factory):
    """Count the same days with and without slices."""
    home = tmp_path_factory.mktemp("days")
    for day in {row[0] for row in rows}:
        path = home / "in" / f"day={day}" / "a.csv"
        path.parent.mkdir(parents=True)
        lines = [",".join(map(str, row[1:])) for row in rows if row[0] == day]
        path.write_text("\n".join(["country,truth,new,old", *lines]) + "\n", "utf-8")
    for name, by in (("plain", None), ("sliced", "country")):
        request = Request(truth="truth", models=["new", "old"], by=by)
        update(home / name, [str(home / "in")], request, version="0")
    return home


def _cells(outcomes):
    """Return the counts of an outcome by its labels, independent of the order of codes."""
    return {
        tuple(outcomes.labels[code] for code in cell): int(count)
        for cell, count in zip(outcomes.tables[0].cells, outcomes.tables[0].counts, strict=True)
    }


@pytest.mark.parametrize("unit", PERIODS)
@pytest.mark.parametrize("store", ["plain", "sliced"])
def test_slices_by_period_are_the_rows_of_the_period(rows, stores, store, unit):
    seen = op.read(stores / store, by=unit)
    for key in seen.slices:
        counts = Counter(row[2:] for row in rows if (period(row[0], unit),) == key)
        assert _cells(seen.slice(*key)) == counts
    assert len(seen.slices) == len({period(row[0], unit) for row in rows})
    assert _cells(seen) == Counter(row[2:] for row in rows)


def test_periods_and_columns_in_any_order(rows, stores):
    for by in (["day", "country"], ["country", "day"], ["country"]):
        seen = op.read(stores / "sliced", by=by)
        values = {"day": lambda row: str(row[0]), "country": lambda row: row[1]}
        counts = Counter(tuple(values[name](row) for name in by) for row in rows)
        assert dict(zip(seen.slices, seen.slices.n.tolist(), strict=True)) == counts


@pytest.mark.parametrize(
    ("window", "days"),
    [({"last": "3d"}, 3), ({"last": "1w"}, 7), ({"since": "2026-09-05"}, 3), ({"last": "1m"}, 12)],
)
def test_windows_end_with_the_newest_day(rows, stores, window, days):
    kept = [row for row in rows if row[0] > FIRST + timedelta(DAYS - 1 - days)]
    assert _cells(op.read(stores / "plain", **window)) == Counter(row[2:] for row in kept)
    sliced = op.read(stores / "sliced", **window)
    assert sliced.slices.by == ("country",)
    assert sliced.n == len(kept)


def test_a_day_is_what_compare_slices_calls_a_slice(rows, stores):
    found = op.compare_slices(
        stores / "plain", "new", "old", by="day", last="4d", metric="accuracy", rope=0.05
    )
    assert {one.key for one in found} == {
        (str(FIRST + timedelta(day)),) for day in range(DAYS - 4, DAYS)
    }


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ({"last": "soon"}, "a number of days, weeks or months"),
        ({"last": "0d"}, "a number of days, weeks or months"),
        ({"since": "Monday"}, "a date such as"),
        ({"since": "2027-01-01"}, "no day of the store is on or after 2027-01-01"),
        ({"last": "3d", "since": "2026-09-01"}, "exclude each other"),
        ({"by": "device"}, "'device' must be passed when counting; .* day, week and month"),
    ],
)
def test_what_cannot_be_asked(stores, question, words):
    with pytest.raises((UsageError, DataError), match=words):
        op.read(stores / "plain", **question)


def test_parts_without_a_date(tmp_path):
    path = tmp_path / "in" / "monday.csv"
    path.parent.mkdir()
    path.write_text("truth,new,old\nx,x,y\n", "utf-8")
    update(tmp_path / "store", [str(path.parent)], Request(truth="truth"), version="0")
    with pytest.raises(DataError, match=r"'monday.csv' has no date in its name"):
        op.read(tmp_path / "store", last="7d")
    with pytest.raises(UsageError, match="last"):
        op.read(path, truth="truth", last="7d")


def test_dates_in_names():
    names = ["day=2026-09-27", "x/2026-09-27.csv", "20260927", "2026-13-01", "a", "1.2026-09-271"]
    assert [day_of(name) for name in names] == [date(2026, 9, 27)] * 3 + [None] * 3
    assert day_of("from 2026-09-01 to 2026-09-30") is None
    # ISO weeks: the first days of January can belong to the last week of the year before
    assert period(date(2027, 1, 1), "week") == "2026-W53"


def test_windows_on_the_command_line(stores, capsys):
    words = ["--a", "new", "--b", "old", "--metric", "accuracy", "--draws", "500"]
    code = main(["slices", str(stores / "sliced"), *words, "--by", "week", "--since", "2026-09-01"])
    assert code == 0
    text = capsys.readouterr().out
    assert "2026-W36" in text
    assert "2026-W35" not in text
