"""Model bootstrap: the Bayesian bootstrap of what was seen."""

from __future__ import annotations

import numpy as np

from outperform import Outcomes
from outperform.posterior.bootstrap import bootstrap


def test_weights_have_the_mean_and_sd_of_the_bootstrap(ternary, confusions, moments):
    drawn = confusions(bootstrap(ternary), 40_000)
    n = ternary.n
    for model, name in enumerate(ternary.models):
        shares = ternary.confusion(name) / n
        for truth, predicted in np.ndindex(3, 3):
            share = shares[truth, predicted]
            moments(drawn[model, truth, predicted], share, np.sqrt(share * (1 - share) / (n + 1)))


def test_what_never_occurred_stays_impossible(ternary, confusions):
    drawn = confusions(bootstrap(ternary), 1_000)
    for model, name in enumerate(ternary.models):
        never = ternary.confusion(name) == 0
        assert not drawn[model][never].any()
        assert (drawn[model][~never] > 0).all()


def test_models_that_never_differ_never_differ(confusions):
    seen = Outcomes.from_labels([0, 1, 2, 1], {"a": [0, 1, 1, 1], "b": [0, 1, 1, 1]})
    a, b = confusions(bootstrap(seen), 500)
    assert np.array_equal(a, b)


def test_nothing_is_a_known_dirichlet_with_a_prior(ternary):
    posterior = bootstrap(ternary)
    assert posterior.part_shape(0, "correct", None) is None
    assert posterior.row_shapes(0, 1) is None
    assert posterior.agreement_shapes(None) is None
