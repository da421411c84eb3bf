"""Scores added up inside the engine."""

from __future__ import annotations

import io

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import outperform as op
from outperform.data.moments import moments_of
from outperform.errors import DataError, UsageError
from outperform.io import added_up
from tests.loops import each

N = 20_000
RNG = np.random.default_rng(3)
Y = RNG.gamma(2, size=N)
COLUMNS = {
    "y": Y,
    "a": Y * RNG.lognormal(sigma=0.5, size=N),
    "b": Y * RNG.lognormal(sigma=0.6, size=N),
    "g": RNG.integers(0, 5_000, N),
    "day": np.where(np.arange(N) < N // 2, "mon", "tue"),
}


@pytest.fixture(params=["parquet", "csv", "parts"])
def source(request, tmp_path):
    """Return the table as one file, as text, and as two files."""
    table = pa.table(COLUMNS)
    if request.param == "csv":
        path = tmp_path / "scores.csv"
        pa.csv.write_csv(table, path)
        return path
    if request.param == "parquet":
        pq.write_table(table, tmp_path / "scores.parquet")
        return tmp_path / "scores.parquet"
    for number in range(2):
        pq.write_table(table.slice(number * N // 2, N // 2), tmp_path / f"{number}.parquet")
    return tmp_path


@pytest.mark.parametrize("groups", [None, "g"])
@pytest.mark.parametrize("truth", [None, "y"])
def test_sums_are_those_of_the_rows(source, truth, groups):
    seen = op.read_scores(source, models=["a", "b"], truth=truth, groups=groups, keep="sums")
    codes = None if groups is None else np.unique(COLUMNS["g"], return_inverse=True)[1]
    columns = {
        name: COLUMNS[name] if truth is None else np.stack([Y, COLUMNS[name]], axis=1)
        for name in "ab"
    }
    found = seen.moments
    known = moments_of("grades" if truth is None else "targets", columns, codes)
    known = known.moved(found.origin)
    assert found.terms == known.terms
    assert (found.n_units, found.n) == (known.n_units, N)
    size = np.sqrt(np.diag(known.products))
    assert np.abs((found.totals - known.totals) / size).max() < 1e-11
    assert np.abs((found.products - known.products) / np.outer(size, size)).max() < 1e-12
    assert np.array_equal(found.apart, known.apart)
    assert (found.low, found.high) == (pytest.approx(known.low), pytest.approx(known.high))
    assert len(found.heavy) == len(known.heavy)
    ordered = (np.sort(np.abs(one), axis=0) for one in (found.heavy, known.heavy))
    assert np.allclose(*ordered, rtol=1e-9, atol=1e-9)


def test_large_files_are_added_up(source, monkeypatch):
    asked = {"models": ["a", "b"], "where": {"day": "tue"}}
    assert op.read_scores(source, **asked).moments is None
    monkeypatch.setattr(added_up, "MOST_ROWS", 5_000)
    seen = op.read_scores(source, **asked)
    assert seen.n == N // 2
    assert seen.sources == ("a", "b")
    assert op.read_scores(source, keep="rows", **asked).moments is None
    compared = [
        op.compare(one, "a", "b", metric="mean", rope=0.01, random_state=1, n_draws=5_000)
        for one in (seen, op.read_scores(source, keep="rows", **asked))
    ]
    assert compared[0].observed == pytest.approx(compared[1].observed, rel=1e-9)
    assert compared[0].sd == pytest.approx(compared[1].sd, rel=0.05)


def test_classes_keep_their_rows(source, monkeypatch):
    monkeypatch.setattr(added_up, "MOST_ROWS", 5_000)
    assert op.read_scores(source, models=["a"], truth="day").moments is None
    with pytest.raises(UsageError, match="true labels in 'day' are classes, so read the rows"):
        op.read_scores(source, models=["a"], truth="day", keep="sums")


def test_negative_targets_have_no_deviance(tmp_path):
    path = tmp_path / "scores.parquet"
    pq.write_table(pa.table({"y": Y - 1.5, "a": COLUMNS["a"], "g": COLUMNS["g"]}), path)
    for groups in (None, "g"):
        seen = op.read_scores(path, models=["a"], truth="y", groups=groups, keep="sums")
        assert op.estimate(seen, "a", metric="rmse", n_draws=100).observed > 1
        with pytest.raises(UsageError, match="'poisson_deviance' cannot be computed from sums"):
            op.estimate(seen, "a", metric="poisson_deviance")


TEXT = "a,b,g\n1,2,x\n3,,y\n5,4,z\n7,5,\n"


@each(
    ("text", "asked", "complaint"),
    [
        (TEXT, {}, "'b' has no value in 1 of 4 rows .* on_null='drop'"),
        (TEXT, {"models": ["a"], "groups": "g"}, "'g' has no value in 1 of 4"),
        (TEXT.replace("3,", "three,"), {"on_null": "drop"}, "'a' .* got 'three'"),
        (TEXT.replace("3,", "inf,"), {"on_null": "drop"}, "'a' .* infinite numbers in 1 of 4"),
        (TEXT, {"where": {"g": "w"}}, "no rows left after where"),
    ],
)
def test_faults(text, asked, complaint):
    asked = {"models": ["a", "b"], "keep": "sums"} | asked
    with pytest.raises(DataError, match=complaint):
        op.read_scores(io.StringIO(text), **asked)


def test_rows_without_a_value_are_dropped():
    asked = {"models": ["a", "b"], "groups": "g", "on_null": "drop"}
    seen, rows = (op.read_scores(io.StringIO(TEXT), keep=one, **asked) for one in ("sums", "rows"))
    assert (seen.n, seen.n_groups) == (rows.n, rows.n_groups) == (2, 2)
    assert [one.name for one in seen.findings] == [one.name for one in rows.findings]
    assert "2 of 4" in seen.findings[0].message
    missing = pa.table({"a": [1.0, float("nan"), 3.0, None], "b": [1.0, 2.0, 3.0, 4.0]})
    sink = io.BytesIO()
    pq.write_table(missing, sink)
    sink.seek(0)
    seen = op.read_scores(sink, models=["a", "b"], on_null="drop", keep="sums", format="parquet")
    assert seen.n == 2
    assert "2 of 4" in seen.findings[0].message


def test_equal_rows_have_no_influence(tmp_path):
    path = tmp_path / "scores.parquet"
    pq.write_table(pa.table({"a": np.full(N, 0.5), "b": np.full(N, 0.25)}), path)
    seen = op.read_scores(path, models=["a", "b"], keep="sums")
    c = op.compare(seen, "a", "b", metric="mean", rope=0.01)
    assert (c.observed, c.sd) == (0.25, 0.0)


def test_functions_that_take_a_file_add_it_up(source, monkeypatch):
    monkeypatch.setattr(added_up, "MOST_ROWS", 5_000)
    asked = {"rope": 0.01, "random_state": 1, "n_draws": 500}
    c = op.compare(source, "a", "b", metric="rmse", truth="y", **asked)
    assert c.spec.data.moments is not None
    assert c.spec.n == N
    rows = op.estimate(source, "a", metric="median", n_draws=100)
    assert rows.observed == np.quantile(COLUMNS["a"], 0.5, method="inverted_cdf")
    with pytest.raises(UsageError, match="no column 'zz'"):
        op.compare(source, "a", "zz", metric="mean", **asked)


def test_models_that_hardly_differ_are_compared(tmp_path):
    first = np.random.default_rng(0).random(5_000)
    for n_apart, name in ((0, "few_disagreements"), (3, "few_disagreements")):
        second = first.copy()
        second[:n_apart] += 0.01
        path = tmp_path / f"{n_apart}.parquet"
        pq.write_table(pa.table({"a": first, "b": second}), path)
        sums, rows = (
            op.compare(
                op.read_scores(path, models=["a", "b"], keep=keep),
                "a",
                "b",
                metric="mean",
                rope=0.01,
                random_state=0,
            )
            for keep in ("sums", "rows")
        )
        assert sums.decision is rows.decision
        assert name in {one.name for one in sums.findings}
