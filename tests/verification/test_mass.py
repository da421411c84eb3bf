"""The study of the prior mass: its quantiles are right, and its tables say what was found."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import betaln, expit, log_expit

from verification import mass
from verification.mass import WORLDS, Gap, Level, Seen


def test_the_quantiles_of_the_mass_are_those_of_its_density():
    counts = np.array([[9, 1, 0], [2, 5, 3], [0, 1, 12]])
    right, totals = np.diag(counts), counts.sum(axis=1)
    sizes = 0.5 * (np.log(totals + 1) - np.log(totals + 1).mean())
    axes = [start + step * np.arange(n) for start, step, n in ((-9, 0.4, 46), (0.005, 0.01, 1400))]
    logits, logs = np.meshgrid(*axes, indexing="ij")
    mass_of = np.exp(logs)
    density = np.zeros(logs.shape)
    for slope in np.linspace(-9, 9, 46):
        log = sum(log_expit(one) + log_expit(-one) for one in (logits, logs, slope))
        for hits, total, size in zip(right, totals, sizes, strict=True):
            eta = expit(logits + slope * size)
            log += betaln(hits + mass_of * eta, total - hits + mass_of * (1 - eta))
            log -= betaln(mass_of * eta, mass_of * (1 - eta))
        density += np.exp(log)
    below = np.cumsum(density.sum(axis=0))
    expected = np.interp([0.025, 0.5, 0.975], below / below[-1], axes[1] + 0.005)
    # Between the edges of 37 wide cells the quantiles are interpolated.
    assert np.log(mass.mass_quantiles(counts)) == pytest.approx(expected, abs=0.03)


def seen(pulls, decisions):
    level = Level(name="m", observed=0.7, pulls=pulls, widths=(0.1, 0.2), mass=(5.0, 20.0, 80.0))
    gap = Gap(name="m − o", observed=0.1, pulls=pulls, widths=(0.1, 0.2), decisions=decisions)
    return Seen(n=204, levels=(level,), gaps=(gap,))


def test_tables_have_means_over_the_sets():
    found = {WORLDS[2]: [seen((-0.03, 0.01), ("≪", "<")), seen((-0.05, 0.00), ("<", "<"))]}
    tables = mass.tables(found)
    row = "| m | 204 | 2 | 0.700 | -0.040 | 0.100 | +0.005 | 0.200 | 20 (5 to 80) |"
    assert row in tables["mass_levels.md"]
    assert "| +0.005 | 0.200 | ≪ < | < < |" in tables["mass_differences.md"]
    assert mass.failures(found) == []


def test_a_free_mass_that_pulls_more_is_named():
    assert (
        "m: 0.0400 by learned" in mass.failures({WORLDS[2]: [seen((-0.03, 0.04), ("≪", "≪"))]})[0]
    )


def test_the_sets_of_a_size_share_no_item():
    assert all(world.starts <= world.step for world in WORLDS)
