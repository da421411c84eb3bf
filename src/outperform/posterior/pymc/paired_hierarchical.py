"""Two classifiers on the same documents, what each has in common in all classes learned.

``θ_j ~ Dir(ω^A_j ⊗ ω^B_j)`` over the pairs of predictions, with ``ω_jj = η`` and
``ω_jk = (1 − η)/(M − 1)``: summing one classifier out leaves the other's own
:mod:`hierarchical <outperform.posterior.pymc.hierarchical>` model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from outperform._optional import require
from outperform._typing import AnyArray
from outperform.posterior.priors import product_rows
from outperform.posterior.pymc.sticks import sticks
from outperform.posterior.unit import unit_rows


def paired_hierarchical(
    counts: AnyArray,
    *,
    classifiers: Sequence[Any] = ("A", "B"),
    labels: Sequence[Any] | None = None,
) -> Any:
    """Return the model of two classifiers on the same documents.

    Parameters
    ----------
    counts
        How many documents ``(truth, prediction of A, prediction of B)``.
    classifiers, labels
        Their names.
    """
    pm = require("pymc", extra="pymc", purpose="a PyMC model")
    n_classes = len(counts)
    cells, right = counts.reshape(n_classes, -1), np.eye(n_classes)
    totals, likely = cells.sum(axis=1), product_rows(unit_rows(n_classes), 2).reshape(cells.shape)
    names = list(range(n_classes) if labels is None else labels)
    pairs = [f"{a}, {b}" for a in names for b in names]
    coords = {"classifier": list(classifiers), "truth": names, "prediction": names, "pair": pairs}
    with pm.Model(coords=coords) as model:
        classes = pm.Dirichlet(
            "prevalence", np.ones(n_classes), dims="truth", default_transform=sticks(totals)
        )
        eta = pm.Beta("eta", 1.0, 1.0, dims="classifier")[:, None, None]
        omega = eta * right + (1 - eta) / (n_classes - 1) * (1 - right)  # (classifier, truth, said)
        shapes = (omega[0][:, :, None] * omega[1][:, None, :]).reshape(cells.shape)
        theta = pm.Dirichlet(
            "rows", shapes, dims=("truth", "pair"), default_transform=sticks(cells, likely)
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
