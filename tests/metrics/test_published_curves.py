"""The example of pROC: 113 patients after a subarachnoid haemorrhage (Robin and others, 2011).

``asah.csv`` holds the outcome and three predictors of pROC's data set aSAH; the expected numbers
are what pROC 1.18 prints for it.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import outperform as op
from verification.delong import delong

with (Path(__file__).parent / "asah.csv").open(newline="") as file:
    ROWS = list(csv.DictReader(file))
POOR = np.array([row["outcome"] == "Poor" for row in ROWS])
SCORES = {name: np.array([float(row[name]) for row in ROWS]) for name in ("wfns", "s100b", "ndka")}
AREAS = {"wfns": 0.8236788618, "s100b": 0.7313685637, "ndka": 0.6119579946}
# The 95 % intervals of DeLong's test for two correlated curves.
INTERVALS = {
    ("wfns", "s100b"): (0.01040617696, 0.17421441925),
    ("s100b", "ndka"): (-0.04887060642, 0.28769174463),
}
TWO_SIDED = 1.959963984540054


@pytest.mark.parametrize("pair", INTERVALS)
def test_the_posterior_is_as_wide_as_delongs_interval(pair):
    a, b = (SCORES[name] for name in pair)
    low, high = INTERVALS[pair]
    c = op.compare(POOR, a, b, metric="roc_auc", rope=0.01, names=pair, random_state=0)
    assert [c.a.observed, c.b.observed] == pytest.approx([AREAS[one] for one in pair], abs=1e-9)
    # Weights of items vary as n / (n + 1) of what resampling would; draws add half a per cent.
    # The few patients that move the areas most hardly know their spread: Student's t is wider.
    df = c.spec.dfs[0]
    wider = 1.0 if df is None else np.sqrt(df / (df - 2))
    assert c.sd == pytest.approx(wider * (high - low) / (2 * TWO_SIDED), rel=0.05)
    assert c.mean == pytest.approx(c.observed, abs=0.15 * c.sd)


@pytest.mark.parametrize("pair", INTERVALS)
def test_delongs_covariance_is_that_of_the_package(pair):
    areas, covariance = delong(POOR, np.stack([SCORES[name] for name in pair]))
    contrast = np.array([1.0, -1.0])
    width = TWO_SIDED * np.sqrt(contrast @ covariance @ contrast)
    middle = contrast @ areas
    assert (middle - width, middle + width) == pytest.approx(INTERVALS[pair], abs=1e-9)
