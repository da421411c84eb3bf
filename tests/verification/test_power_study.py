"""The study of what pairing saves: its sizes, its curves and its gate."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr

from verification import power
from verification.power import CURVES, Curve, Point


def points(needed, repetitions=400):
    """Return points on a curve that reaches 0.8 at a given size."""
    sizes = [round(needed * factor) for factor in power.FACTORS]
    slope = (1.96 + 0.8416) / np.sqrt(needed)
    return [
        Point(
            n=n,
            repetitions=repetitions,
            decided=round(repetitions * float(ndtr(slope * np.sqrt(n) - 1.96))),
        )
        for n in sizes
    ]


def everything(paired, unpaired):
    return {curve: points(paired if curve.paired else unpaired) for curve in CURVES}


def test_the_fit_finds_the_size():
    fitted = power.fit(points(1_000, repetitions=100_000))
    assert fitted.needed == pytest.approx(1_000, rel=0.01)
    assert fitted.at(np.array([fitted.needed])) == pytest.approx([0.8], abs=1e-6)


def test_the_error_of_the_size_is_its_spread():
    generator = np.random.default_rng(0)
    found = []
    for _ in range(200):
        noisy = [
            Point(n=one.n, repetitions=400, decided=int(generator.binomial(400, one.share)))
            for one in points(1_000, repetitions=100_000)
        ]
        found.append(np.log(power.fit(noisy).needed))
    # The relative error of a standard deviation of 200 values is 5%.
    assert power.fit(points(1_000)).log_error == pytest.approx(np.std(found), rel=0.2)


def test_sizes_surround_what_theory_asks_for():
    paired, unpaired = (
        power.sizes(Curve(pair=("svm_l1", "svm_l2"), paired=paired)) for paired in (True, False)
    )
    assert len(paired) == len(power.FACTORS)
    assert unpaired[0] > 2 * paired[0]


def test_repetitions_are_counted():
    curve = CURVES[0]
    n = power.sizes(curve)[-1]
    point = power.repeat(curve, n, 5)
    assert point == power.repeat(curve, n, 5)
    assert (point.n, point.repetitions) == (n, 5)
    assert 0 <= point.decided <= 5


def test_the_gate_and_the_table(tmp_path):
    assert power.failures(everything(300, 1_000)) == []
    (said,) = power.failures(everything(500, 1_000))
    assert "svm_l1 − svm_l2 needs 0.50" in said
    assert len(power.failures(everything(700, 1_000))) == 3  # one of four rows is not gated
    assert len(power.ratios(everything(300, 1_000))) == 4
    assert "| 0.30 ± 0.01 | 0.40 |" in power.table(everything(300, 1_000))
    (tmp_path / "power.json").write_text(power.stored(everything(300, 1_000)), encoding="utf-8")
    assert power.load(tmp_path / "power.json") == everything(300, 1_000)
