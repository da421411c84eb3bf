"""Two classifiers on the same documents: in each class, all pairs of predictions.

``μ ~ Dir(β)`` and ``θ_j ~ Dir(α_j)`` over the pairs. With two classes and shapes of 1
these are the four outcome pairs of SIGIR 2016, section 3.1.2, which gives each
classifier Beta(2, 2) rates before data, not Beta(1, 1). With many classes a product of both
classifiers' unit rows keeps each one's own model: see ``product_rows`` and ``unit_rows``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from outperform._optional import require
from outperform._typing import AnyArray, FloatArray
from outperform.posterior.pymc.sticks import sticks


def paired(
    counts: AnyArray,
    *,
    rows: FloatArray | float = 1.0,
    prevalence: FloatArray | float = 1.0,
    classifiers: Sequence[Any] = ("A", "B"),
    labels: Sequence[Any] | None = None,
) -> Any:
    """Return the model of two classifiers on the same documents.

    Parameters
    ----------
    counts
        How many documents ``(truth, prediction of A, prediction of B)``.
    rows
        Prior shapes of the same form, or one number.
    prevalence
        Prior shapes of the classes, or one number.
    classifiers, labels
        Their names.
    """
    pm = require("pymc", extra="pymc", purpose="a PyMC model")
    n_classes = len(counts)
    cells = counts.reshape(n_classes, -1)
    shapes = np.broadcast_to(rows, counts.shape).reshape(cells.shape)
    totals = cells.sum(axis=1)
    names = list(range(n_classes) if labels is None else labels)
    pairs = [f"{a}, {b}" for a in names for b in names]
    coords = {"classifier": list(classifiers), "truth": names, "prediction": names, "pair": pairs}
    with pm.Model(coords=coords) as model:
        classes = pm.Dirichlet(
            "prevalence",
            np.broadcast_to(prevalence, (n_classes,)),
            dims="truth",
            default_transform=sticks(totals),
        )
        theta = pm.Dirichlet(
            "rows", shapes, dims=("truth", "pair"), default_transform=sticks(cells, shapes)
        )
        pm.Multinomial("totals", n=totals.sum(), p=classes, observed=totals)
        pm.Multinomial("counts", n=totals, p=theta, observed=cells)
        joint = (classes[:, None] * theta).reshape(counts.shape)  # (truth, A, B)
        pm.Deterministic(
            "confusion",
            pm.math.stack([joint.sum(axis=2), joint.sum(axis=1)]),
            dims=("classifier", "truth", "prediction"),
        )
    return model
