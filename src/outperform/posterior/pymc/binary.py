"""One binary classifier, in the compact form: three counts instead of a row for each document.

``μ ~ Beta``, ``θ₊ ~ Beta``, ``θ₋ ~ Beta``; ``n₊ ~ Binomial(n, μ)``,
``tp ~ Binomial(n₊, θ₊)``, ``fp ~ Binomial(n₋, θ₋)``. SIGIR 2016, section 3.1.1.
"""

from __future__ import annotations

from typing import Any

from outperform._optional import require


def binary(
    *,
    tp: int,
    fn: int,
    fp: int,
    tn: int,
    prevalence: tuple[float, float] = (1.0, 1.0),
    recall: tuple[float, float] = (1.0, 1.0),
    fall_out: tuple[float, float] = (1.0, 1.0),
) -> Any:
    """Return the model of one classifier on a table of four counts.

    Parameters
    ----------
    tp, fn, fp, tn
        How many documents were found, missed, falsely called and rightly left alone.
    prevalence, recall, fall_out
        The shapes of their Beta priors.
    """
    pm = require("pymc", extra="pymc", purpose="a PyMC model")
    positives, negatives = tp + fn, fp + tn
    with pm.Model(coords={"classifier": ["A"], "truth": [0, 1], "prediction": [0, 1]}) as model:
        mu = pm.Beta("prevalence", *prevalence)
        hit = pm.Beta("recall", *recall)  # P(called positive | positive)
        alarm = pm.Beta("fall_out", *fall_out)  # P(called positive | negative)
        pm.Binomial("positives", n=positives + negatives, p=mu, observed=positives)
        pm.Binomial("true_positives", n=positives, p=hit, observed=tp)
        pm.Binomial("false_positives", n=negatives, p=alarm, observed=fp)
        cells = [[(1 - mu) * (1 - alarm), (1 - mu) * alarm], [mu * (1 - hit), mu * hit]]
        pm.Deterministic(
            "confusion",
            pm.math.stack([pm.math.stack(row) for row in cells])[None],
            dims=("classifier", "truth", "prediction"),
        )
    return model
