"""The table of priors: each draws the same bytes on any number of threads."""

from __future__ import annotations

import numpy as np
import pytest

from outperform import Outcomes, Prior
from outperform.errors import UsageError
from outperform.posterior.base import Independent, build_posterior, draw_values
from outperform.posterior.registry import PRIORS, STRATA, get_prior
from tests.loops import each


def draw(posterior, n_draws, n_jobs):
    def evaluate(drawn, out):
        out[...] = [one.hits.sum(axis=0) / one.actual.sum(axis=0) for one in drawn]

    return draw_values(
        posterior,
        evaluate,
        needs="margins",
        n_values=2,
        n_draws=n_draws,
        seed=np.random.SeedSequence(5),
        n_jobs=n_jobs,
    )


def as_asked(outcomes, prior, paired):
    if prior is STRATA:  # the pool is what is labelled
        _, a, b = outcomes.tables[0].cells.T
        return outcomes.in_pool(Outcomes.from_counts(a, {"b": b}, outcomes.tables[0].counts))
    return outcomes if paired else outcomes.unpair()


@each("prior", [*PRIORS.values(), STRATA], ids=lambda prior: prior.name)
@each("paired", [True, False])
def test_threads_change_no_byte(ternary, prior, paired):
    view = as_asked(ternary, prior, paired)
    posterior = build_posterior(view, prior)
    assert posterior.n_models == 2
    one = draw(posterior, 10_000, 1)
    assert np.isfinite(one).all()
    for n_jobs in (2, 8):
        assert draw(posterior, 10_000, n_jobs).tobytes() == one.tobytes()
    assert np.array_equal(draw(posterior, 8192, 2), one[:, :8192])


def test_unpaired_outcomes_stand_side_by_side(ternary, binary):
    apart = build_posterior(ternary.unpair(), get_prior("unit"))
    assert isinstance(apart, Independent)
    assert apart.agreement_shapes(None) is None
    alone = build_posterior(ternary.select(["b"]), get_prior("unit"))
    own, place = apart.of_model(1)
    assert own.part_shape(place, "tp", 2) == alone.part_shape(0, "tp", 2)
    assert own.row_shapes(place, 2) == alone.row_shapes(0, 2)
    assert apart.n_gammas == 2 * alone.n_gammas
    sums = draw(apart, 20_000, 1)
    assert abs(np.corrcoef(sums)[0, 1]) < 0.03
    together = build_posterior(ternary, get_prior("unit"))
    assert np.corrcoef(draw(together, 20_000, 1))[0, 1] > 0.2


def test_the_table_says_what_priors_can_do():
    assert [name for name, prior in PRIORS.items() if not prior.proper] == ["bootstrap"]
    assert [name for name, prior in PRIORS.items() if prior.lists] == ["learned"]
    shaped = [name for name, prior in PRIORS.items() if prior.shapes is not None]
    assert shaped == ["uniform", "jeffreys"]
    assert STRATA.name not in PRIORS


@pytest.mark.parametrize("name", ["hierarchic", "flat", "strata", "Prior"])
def test_an_unknown_name_is_told_the_known_ones(name):
    with pytest.raises(UsageError, match=f"unknown prior '{name}'.* Known: {', '.join(PRIORS)}"):
        get_prior(name)


def test_priors_of_the_same_shapes_are_the_same():
    assert get_prior(1.0) == get_prior(Prior(name="mine")) == get_prior("uniform")
    names = [
        get_prior(one).name for one in (1.0, Prior(name="mine"), Prior(rows=2, name="uniform"))
    ]
    assert names == ["Prior(rows=1, prevalence=1)", "Prior('mine')", "Prior('uniform')"]
    assert get_prior(Prior.from_param("jeffreys")).name == "jeffreys"
    assert get_prior("unit") != get_prior("bootstrap")
