"""Slices of scores, grades and targets."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import outperform as op
from outperform.decision.rope import Rope
from outperform.errors import DataError, UsageError
from outperform.slices.summary import pool_differences

N, SLICES = 400, 8
ASKED = {"metric": "mean", "rope": 0.1, "random_state": 1, "n_draws": 1_000}


def grades(bad=0.0, seed=3):
    rng = np.random.default_rng(seed)
    place = np.arange(N) % SLICES
    a, b = rng.normal(7, 1, N), rng.normal(7, 1, N)
    return op.Scores.from_values({"A": a - bad * (place == 5), "B": b}), {"g": place}


def test_two_slices_are_two_comparisons():
    seen, _ = grades()
    half = {"half": np.arange(N) < 150}
    found = op.compare_slices(seen, "A", "B", by=half, **ASKED)
    for row, rows in ((found["True"], np.arange(150)), (found["False"], np.arange(150, N))):
        alone = op.compare(seen._take(rows), "A", "B", metric="mean", rope=0.1, random_state=9)
        assert row.n == alone.n
        assert row.observed == pytest.approx(alone.observed, abs=1e-12)
        assert row.mean == pytest.approx(alone.mean, abs=5 * np.hypot(row.mcse, alone.mcse))
        assert row.unpooled_hdi.low == pytest.approx(alone.hdi.low, abs=0.3 * alone.sd)


def test_equal_slices_are_pulled_together_and_a_bad_one_stays_visible():
    seen, by = grades()
    found = op.compare_slices(seen, "A", "B", by=by, **ASKED)
    means, observed = ([getattr(row, name) for row in found.rows] for name in ("mean", "observed"))
    assert np.std(means) < 0.6 * np.std(observed)
    assert not found.flagged
    seen, by = grades(bad=1.5)
    found = op.compare_slices(seen, "A", "B", by=by, **ASKED)
    assert [row.key for row in found.flagged] == [("5",)]
    assert found.flagged[0].decision is op.Decision.WORSE
    assert found["5"].observed in found["5"].hdi


def test_the_posterior_of_a_normal_model_by_quadrature():
    """Pooled means are those of the normal model, integrated over the spread by hand."""
    rng = np.random.default_rng(2)
    means = np.linspace(-0.35, 0.35, 6)
    own = means[:, None] + 0.2 * rng.normal(size=(6, 40_000))
    found = pool_differences(
        own, np.full(6, 25), rope=Rope.from_param(0.1), prob=0.95, seed=np.random.SeedSequence(1)
    )
    error, typical, near = 0.2, 1 / 8, 0.1  # an item says 0.2 · √25 = 1
    spreads = np.geomspace(1e-4, 10, 8_000)
    prior = 0.8 * 2 / (np.pi * typical * (1 + (spreads / typical) ** 2))
    prior += 0.2 * np.sqrt(2 / np.pi) / near * np.exp(-((spreads / near) ** 2) / 2)
    variance = error**2 + spreads**2
    misfit = ((means - means.mean()) ** 2).sum()
    weight = prior * spreads * variance**-2.5 * np.exp(-misfit / variance / 2)
    kept = (spreads**2 / variance * weight).sum() / weight.sum()
    expected = means.mean() + kept * (means - means.mean())
    # That a slice may stand apart as well, with odds of 1 to 49, is left out here.
    pooled = found.numbers.pooled.summaries.spreads.mean
    assert pooled == pytest.approx(expected, abs=0.02)
    assert np.abs(pooled - means).max() > 0.05  # without any pooling this would fail


def test_few_false_alarms():
    called = 0
    for seed in range(5):
        seen, by = grades(seed=seed)
        called += len(op.compare_slices(seen, "A", "B", by=by, **ASKED).flagged)
    assert called <= 1  # of 40 equal slices


def test_frames_and_files_say_the_same(tmp_path):
    rng = np.random.default_rng(4)
    target = rng.normal(10, 3, 120)
    frame = pd.DataFrame({"y": target, "country": ["DE", "FR", "IT"] * 40})
    frame["A"], frame["B"] = target + rng.normal(0, 1, 120), target + rng.normal(0, 2, 120)
    path = tmp_path / "preds.csv"
    frame.to_csv(path, index=False)
    asked = {"metric": "rmse", "rope": 0.1, "random_state": 1, "n_draws": 500}
    read = [
        op.compare_slices(source, "A", "B", truth="y", by="country", **asked)
        for source in (frame, path)
    ]
    seen = op.Scores.from_targets(frame["y"], frame[["A", "B"]])
    made = op.compare_slices(seen, "A", "B", by={"country": frame["country"]}, **asked)
    for one in (*read, made):
        assert [row.key for row in one.rows] == [row.key for row in made.rows]
        assert one.rows[0].mean == pytest.approx(made.rows[0].mean, abs=1e-9)
        assert one.to_dict()["n_slices"] == 3


def test_what_is_wrong_is_said():
    seen, _ = grades()
    with pytest.raises(DataError, match="column 'g' has 3 rows"):
        op.compare_slices(seen, "A", "B", by={"g": [1, 2, 3]}, **ASKED)
    with pytest.raises(UsageError, match="mapping from names to columns"):
        op.compare_slices(seen, "A", "B", by="g", **ASKED)
    with pytest.raises(UsageError, match="at most 300"):
        op.compare_slices(seen, "A", "B", by={"g": np.arange(N)}, **ASKED)
    two = op.Scores.from_arrays([1, 1, 0, 0], {"A": [1, 2, 3, 4], "B": [2, 1, 4, 3]})
    with pytest.raises(DataError, match="slice x: roc_auc compares positive and negative"):
        op.compare_slices(two, "A", "B", by={"g": list("yxyy")}, metric="roc_auc",
                          rope=0.1)  # fmt: skip
