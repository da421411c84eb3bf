"""The named priors: what each of them draws for a seed."""

from __future__ import annotations

import numpy as np
import pytest

import outperform as op
from outperform.posterior.registry import PRIORS
from tests.loops import each

# The first two draws, the last one, and the mean: recorded when the names were those of
# models, "flat" with prior "uniform" or "jeffreys"; "learned" is newer.
DRAWN = {
    "unit": (0.18088074189704262, 0.06343332225860554, 0.18587371426437949, 0.1035966208043618),
    "uniform": (
        0.048098389581942014,
        0.04735143659489571,
        0.09911428975509506,
        0.07347473410312395,
    ),
    "jeffreys": (0.08021170767788133, 0.0847269974597199, 0.16959517425492532, 0.08683837623231193),
    "hierarchical": (
        0.16012533584784983,
        0.20538124258626178,
        0.13865122681358,
        0.10836428054466112,
    ),
    "learned": (
        -0.012745353527084613,
        0.18494091162326176,
        0.1312180527999407,
        0.10270359511272631,
    ),
    "bootstrap": (
        0.10868360962001533,
        0.22086288682323163,
        0.07650850777305218,
        0.10815097278785483,
    ),
}


def seen():
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 3, 60)
    a = np.where(rng.random(60) < 0.8, truth, rng.integers(0, 3, 60))
    b = np.where(rng.random(60) < 0.6, truth, rng.integers(0, 3, 60))
    return truth, a, b


def compared(prior):
    return op.compare(
        *seen(), metric="f1_macro", rope=0.05, n_draws=1000, random_state=3, prior=prior
    )


@each("name", PRIORS)
def test_a_name_draws_what_it_always_drew(name):
    c = compared(name)
    found = (c.draws[0], c.draws[1], c.draws[-1], c.mean)
    assert found == pytest.approx(DRAWN[name], rel=1e-12)
    assert c.to_dict()["prior"] == name
    assert f"| prior={name} |" in c.signature


def test_no_two_names_draw_the_same():
    assert len({round(first, 9) for first, *_ in DRAWN.values()}) == len(PRIORS)


def test_the_default_is_a_name_too():
    assert np.array_equal(compared(None).draws, compared("learned").draws)
    assert np.array_equal(compared(1.0).draws, compared("uniform").draws)
