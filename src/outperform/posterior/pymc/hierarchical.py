"""Classifiers apart, what they have in common in all classes learned: the ICDM model.

``μ ~ Dir(1)``, ``η ~ Beta(1, 1)``, and row j of a confusion matrix is ``θ_j ~ Dir(s·ω_j)``
with ``ω_jj = η`` and ``ω_jk = (1 − η)/(M − 1)``. In the paper (ICDM 2015, section IV) the
mass s is 1; it can be learned too, with the density ``1/(1 + s)²``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from outperform._optional import require
from outperform._typing import AnyArray
from outperform.posterior.pymc.shares import common_share
from outperform.posterior.pymc.sticks import sticks
from outperform.posterior.unit import unit_rows

# Beyond a mass of 10⁸ the rows are one row, and the density is lost in its own rounding.
_HEAVIEST = 1 - 1e-8


def hierarchical(
    counts: AnyArray,
    *,
    mass: float | None = 1.0,
    classifiers: Sequence[Any] = ("A", "B"),
    labels: Sequence[Any] | None = None,
) -> Any:
    """Return the model of classifiers, each on its own documents.

    Parameters
    ----------
    counts
        Confusion matrices ``(classifier, truth, prediction)``.
    mass
        The prior mass of each row, in documents; None learns it.
    classifiers, labels
        Their names.
    """
    pm = require("pymc", extra="pymc", purpose="a PyMC model")
    n_classifiers, n_classes, _ = counts.shape
    totals, right = counts.sum(axis=2), np.eye(n_classes)
    hits = np.diagonal(counts, axis1=1, axis2=2)  # (classifier, truth)
    names = range(n_classes) if labels is None else labels
    coords = {"classifier": list(classifiers), "truth": list(names), "prediction": list(names)}
    with pm.Model(coords=coords) as model:
        classes = pm.Dirichlet(
            "prevalence",
            np.ones((n_classifiers, n_classes)),
            dims=("classifier", "truth"),
            default_transform=sticks(totals),
        )
        if mass is None:
            grown = pm.Uniform("mass_share", 0.0, _HEAVIEST, dims="classifier")  # s / (1 + s)
            s = pm.Deterministic("mass", grown / (1 - grown), dims="classifier")
            eta = common_share("eta", s, right=hits, totals=totals, dims="classifier")
            s = s[:, None, None]
        else:
            eta, s = pm.Beta("eta", 1.0, 1.0, dims="classifier"), mass
        eta = eta[:, None, None]
        omega = eta * right + (1 - eta) / (n_classes - 1) * (1 - right)
        theta = pm.Dirichlet(
            "rows",
            s * omega,
            dims=("classifier", "truth", "prediction"),
            default_transform=sticks(counts, unit_rows(n_classes)),
        )
        pm.Multinomial("totals", n=totals.sum(axis=1), p=classes, observed=totals)
        pm.Multinomial("counts", n=totals, p=theta, observed=counts)
        pm.Deterministic(
            "confusion",
            classes[:, :, None] * theta,
            dims=("classifier", "truth", "prediction"),
        )
    return model
