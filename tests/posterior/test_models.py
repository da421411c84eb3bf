"""The table of models: each draws the same bytes on any number of threads."""

from __future__ import annotations

import numpy as np
import pytest

from outperform import Outcomes, Prior
from outperform.errors import UsageError
from outperform.posterior import MODELS, Independent, build_posterior, draw_values, get_model


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


def as_asked(outcomes, model, paired):
    if model.name == "strata":  # the pool is what is labelled
        _, a, b = outcomes.tables[0].cells.T
        return outcomes.in_pool(Outcomes.from_counts(a, {"b": b}, outcomes.tables[0].counts))
    return outcomes if paired and model.pairs else outcomes.unpair()


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("paired", [True, False])
def test_threads_change_no_byte(ternary, name, paired):
    model = get_model(name)
    view = as_asked(ternary, model, paired)
    posterior = build_posterior(view, model=model, prior=Prior())
    assert posterior.n_models == 2
    one = draw(posterior, 10_000, 1)
    assert np.isfinite(one).all()
    for n_jobs in (2, 8):
        assert draw(posterior, 10_000, n_jobs).tobytes() == one.tobytes()
    assert np.array_equal(draw(posterior, 8192, 2), one[:, :8192])


def test_unpaired_outcomes_stand_side_by_side(ternary, binary):
    apart = build_posterior(ternary.unpair(), model=get_model("unit"), prior=Prior())
    assert isinstance(apart, Independent)
    assert apart.agreement_shapes(None) is None
    alone = build_posterior(ternary.select(["b"]), model=get_model("unit"), prior=Prior())
    assert apart.part_shape(1, "tp", 2) == alone.part_shape(0, "tp", 2)
    assert apart.row_shapes(1, 2) == alone.row_shapes(0, 2)
    assert apart.n_gammas == 2 * alone.n_gammas
    sums = draw(apart, 20_000, 1)
    assert abs(np.corrcoef(sums)[0, 1]) < 0.03
    together = build_posterior(ternary, model=get_model("unit"), prior=Prior())
    assert np.corrcoef(draw(together, 20_000, 1))[0, 1] > 0.2


def test_the_table_says_what_models_can_do():
    assert [name for name, model in MODELS.items() if not model.proper] == ["bootstrap"]
    assert [name for name, model in MODELS.items() if not model.pairs] == ["free"]
    assert [name for name, model in MODELS.items() if model.takes_prior] == ["flat"]


def test_an_unknown_model_is_mended():
    with pytest.raises(
        UsageError, match=r"unknown model 'hierarchic'; did you mean 'hierarchical'"
    ):
        get_model("hierarchic")
