"""Samplers as values, and what a chain says of itself."""

from __future__ import annotations

import numpy as np
import pytest

from outperform.errors import UsageError
from outperform.posterior.pymc.sampling import Chain, PyMC, diagnose
from tests.loops import each


def test_the_papers_metropolis_has_50000_draws():
    assert PyMC(sampler="metropolis").n_draws == 50_000


def test_each_chain_draws_as_many():
    assert PyMC(draws=251, chains=3).n_draws == 753


@each(
    ("chosen", "says"),
    [
        ({"sampler": "nutts"}, "did you mean 'nuts'"),
        ({"chains": 1}, "at least 2"),
        ({"draws": 10}, "at least 100"),
        ({"tune": -1}, "at least 0"),
        ({"target_accept": 1.0}, "strictly between 0 and 1"),
    ],
)
def test_bad_settings_are_refused(chosen, says):
    with pytest.raises(UsageError, match=says):
        PyMC(**chosen)


def chain(**changed):
    good = {
        "sampler": "nuts",
        "n_draws": 4000,
        "rhat": 1.0,
        "ess": 3000.0,
        "mcse": 0.001,
        "divergences": 0,
    }
    return Chain(**(good | changed))


def test_a_good_chain_converged():
    assert chain().converged


@each(
    ("changed", "says"),
    [
        ({"rhat": 1.02}, "R-hat is 1.020"),
        ({"rhat": float("nan")}, "R-hat is nan"),
        ({"divergences": 1}, "1 draws diverged"),
        ({"ess": 399.0}, "size is 399"),
        ({"ess": float("nan")}, "size is nan"),
    ],
)
def test_every_fault_is_named(changed, says):
    bad = chain(**changed)
    assert not bad.converged
    assert says in bad.faults[0]


def test_draws_are_never_worth_more_than_there_are():
    assert chain(ess=6000.0).n_effective == 4000.0


def test_a_constant_has_converged():
    assert diagnose(np.zeros((4, 100)), sampler="nuts", divergences=0).converged


def test_arviz_sees_chains_that_disagree():
    pytest.importorskip("arviz")
    rng = np.random.default_rng(1)
    good = rng.normal(size=(4, 1000))
    assert diagnose(good, sampler="nuts", divergences=0).converged
    apart = diagnose(good + np.arange(4)[:, None], sampler="nuts", divergences=0)
    assert apart.rhat > 1.5
    assert apart.ess < 20


def test_the_error_of_a_chain_is_that_of_its_effective_draws():
    pytest.importorskip("arviz")
    rng, rho, n = np.random.default_rng(2), 0.9, 20_000
    noise = rng.normal(size=(4, n)) * (1 - rho**2) ** 0.5
    draws = np.empty((4, n))
    draws[:, 0] = rng.normal(size=4)
    for step in range(1, n):
        draws[:, step] = rho * draws[:, step - 1] + noise[:, step]
    found = diagnose(draws, sampler="nuts", divergences=0)
    expected = (1 + rho) / (1 - rho)  # of an AR(1) chain
    assert (found.mcse * (4 * n) ** 0.5) ** 2 == pytest.approx(expected, rel=0.15)
