"""The binary models as the paper draws them: one node for each document.

``y_i ~ Bernoulli(μ)``, and what a classifier says of document i is Bernoulli with the
rate of its class. They give the posterior of the compact models, more slowly:
SIGIR 2016, sections 3.1.1 and 3.1.2.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from outperform._optional import require
from outperform._typing import IntArray
from outperform.posterior.pymc.sticks import sticks

_COORDS = {"truth": [0, 1], "prediction": [0, 1]}


def per_document(truth: IntArray, predicted: IntArray) -> Any:
    """Return the model of one classifier.

    Parameters
    ----------
    truth, predicted
        Of each document: 1 for the positive class, 0 for the rest.
    """
    pm = require("pymc", extra="pymc", purpose="a PyMC model")
    with pm.Model(coords={"classifier": ["A"], **_COORDS}) as model:
        mu = pm.Beta("prevalence", 1.0, 1.0)
        rates = pm.Beta("rates", 1.0, 1.0, dims="truth")  # P(called positive | truth)
        pm.Bernoulli("actual", p=mu, observed=truth)
        pm.Bernoulli("predicted", p=rates[truth], observed=predicted)
        classes = pm.math.stack([1 - mu, mu])
        rows = pm.math.stack([1 - rates, rates], axis=1)  # (truth, prediction)
        pm.Deterministic(
            "confusion",
            (classes[:, None] * rows)[None],
            dims=("classifier", "truth", "prediction"),
        )
    return model


def per_document_paired(truth: IntArray, predicted_a: IntArray, predicted_b: IntArray) -> Any:
    """Return the model of two classifiers on the same documents.

    Parameters
    ----------
    truth, predicted_a, predicted_b
        Of each document: 1 for the positive class, 0 for the rest.
    """
    pm = require("pymc", extra="pymc", purpose="a PyMC model")
    pairs = ["0, 0", "0, 1", "1, 0", "1, 1"]  # what A says, what B says
    said = 2 * predicted_a + predicted_b
    cells = np.bincount(4 * truth + said, minlength=8).reshape(2, 4)
    with pm.Model(coords={"classifier": ["A", "B"], "pair": pairs, **_COORDS}) as model:
        mu = pm.Beta("prevalence", 1.0, 1.0)
        rows = pm.Dirichlet(
            "rows", np.ones((2, 4)), dims=("truth", "pair"), default_transform=sticks(cells)
        )
        pm.Bernoulli("actual", p=mu, observed=truth)
        pm.Categorical("predicted", p=rows[truth], observed=said)
        classes = pm.math.stack([1 - mu, mu])
        cells = (classes[:, None] * rows).reshape((2, 2, 2))  # (truth, A, B)
        pm.Deterministic(
            "confusion",
            pm.math.stack([cells.sum(axis=2), cells.sum(axis=1)]),
            dims=("classifier", "truth", "prediction"),
        )
    return model
