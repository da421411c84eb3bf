"""Classifiers apart: each has class proportions and confusion rows of its own.

``μ ~ Dir(β)`` and ``θ_j ~ Dir(α_j)`` for each classifier. With two classes and shapes of
1 it is the unpaired model of SIGIR 2016, section 3.1.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from outperform._optional import require
from outperform._typing import AnyArray, FloatArray
from outperform.posterior.pymc.sticks import sticks


def unpaired(
    counts: AnyArray,
    *,
    rows: FloatArray | float = 1.0,
    prevalence: FloatArray | float = 1.0,
    classifiers: Sequence[Any] = ("A", "B"),
    labels: Sequence[Any] | None = None,
) -> Any:
    """Return the model of classifiers, each on its own documents.

    Parameters
    ----------
    counts
        Confusion matrices ``(classifier, truth, prediction)``.
    rows
        Prior shapes of the cells ``(truth, prediction)``, or one number.
    prevalence
        Prior shapes of the classes, or one number.
    classifiers, labels
        Their names.
    """
    pm = require("pymc", extra="pymc", purpose="a PyMC model")
    n_classifiers, n_classes, _ = counts.shape
    totals = counts.sum(axis=2)
    names = range(n_classes) if labels is None else labels
    coords = {"classifier": list(classifiers), "truth": list(names), "prediction": list(names)}
    with pm.Model(coords=coords) as model:
        classes = pm.Dirichlet(
            "prevalence",
            np.broadcast_to(prevalence, (n_classifiers, n_classes)),
            dims=("classifier", "truth"),
            default_transform=sticks(totals),
        )
        cells = pm.Dirichlet(
            "rows",
            np.broadcast_to(rows, counts.shape),
            dims=("classifier", "truth", "prediction"),
            default_transform=sticks(counts, rows),
        )
        pm.Multinomial("totals", n=totals.sum(axis=1), p=classes, observed=totals)
        pm.Multinomial("counts", n=totals, p=cells, observed=counts)
        pm.Deterministic(
            "confusion",
            classes[:, :, None] * cells,
            dims=("classifier", "truth", "prediction"),
        )
    return model
