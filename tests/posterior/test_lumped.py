"""Lumped draws: four cells, or two, say what all cells say."""

from __future__ import annotations

import numpy as np
import pytest

from outperform import metrics
from outperform.posterior.base import build_posterior, exact_difference, exact_value
from outperform.posterior.dirichlet import draw_lumped
from outperform.posterior.registry import get_prior
from tests.loops import each

N_DRAWS = 20_000


def lumped(posterior, name, *, positive, paired, n_jobs=1, n_draws=N_DRAWS):
    return draw_lumped(
        posterior,
        metrics.get(name).share_over(all_classes=True),
        positive=positive,
        paired=paired,
        n_draws=n_draws,
        seed=np.random.SeedSequence(3),
        n_jobs=n_jobs,
    )


@each("paired", [True, False])
@each(
    ("name", "prior", "positive"),
    [
        ("recall", "uniform", 1),
        ("specificity", "uniform", 1),
        ("accuracy", "unit", None),
        ("jaccard_micro", "unit", None),
    ],
)
def test_lumped_draws_follow_the_closed_form(
    binary, ternary, name, prior, positive, paired, moments, same
):
    seen = ternary if positive is None else binary
    view = seen if paired else seen.unpair()
    posterior = build_posterior(view, get_prior(prior))
    values = lumped(posterior, name, positive=positive, paired=paired)
    assert values.shape == (2, N_DRAWS)
    metric = metrics.get(name)
    whole = posterior.worker("margins")(np.random.default_rng(4), N_DRAWS)
    classes = None if positive is None else (positive,)
    cells = [metric.evaluate(metrics.Margins(**sums._asdict()), classes) for sums in whole]
    for place in (0, 1):
        exact = exact_value(
            posterior, metric.share_over(all_classes=True), model=place, positive=positive
        )
        moments(values[place], exact.mean, exact.sd)
        same(values[place], cells[place])
    same(values[0] - values[1], cells[0] - cells[1])
    exact = exact_difference(
        posterior, metric.share_over(all_classes=True), positive=positive, paired=paired
    )
    if exact is not None:
        moments(values[0] - values[1], exact.mean, exact.sd)


def test_threads_change_no_byte(binary):
    posterior = build_posterior(binary, get_prior("uniform"))
    one = lumped(posterior, "recall", positive=1, paired=True)
    for n_jobs in (2, 8):
        again = lumped(posterior, "recall", positive=1, paired=True, n_jobs=n_jobs)
        assert again.tobytes() == one.tobytes()


@pytest.mark.parametrize(
    ("name", "prior"),
    [("f1", "unit"), ("precision", "unit"), ("f1_macro", "unit"), ("accuracy", "hierarchical")],
)
def test_other_metrics_and_models_need_their_own_draws(binary, name, prior):
    posterior = build_posterior(binary, get_prior(prior))
    positive = 1 if metrics.get(name).average == "binary" else None
    assert lumped(posterior, name, positive=positive, paired=True) is None
