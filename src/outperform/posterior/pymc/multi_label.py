"""Documents with several labels: one binary model for each label, as the papers extend them.

The labels of a document are taken as independent of each other (ICDM 2015, section V).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from outperform._optional import require
from outperform._typing import AnyArray, FloatArray
from outperform.posterior.pymc.sticks import sticks


def multi_label(
    counts: AnyArray,
    *,
    rows: FloatArray | float = 1.0,
    prevalence: FloatArray | float = 1.0,
    classifiers: Sequence[Any] = ("A", "B"),
    labels: Sequence[Any] | None = None,
) -> Any:
    """Return the model of one or two classifiers on the same documents.

    Parameters
    ----------
    counts
        How many documents ``(label, truth, prediction of A, prediction of B)``, or
        ``(label, truth, prediction)`` for one classifier; the last axes are no and yes.
    rows
        Prior shapes of the cells of one label, or one number.
    prevalence
        Prior shapes of "has the label not" and "has it", or one number.
    classifiers, labels
        Their names.
    """
    pm = require("pymc", extra="pymc", purpose="a PyMC model")
    n_labels, n_classifiers = len(counts), counts.ndim - 2
    cells = counts.reshape(n_labels, 2, -1)
    shapes = np.broadcast_to(rows, counts.shape).reshape(cells.shape)
    totals = cells.sum(axis=2)
    coords = {
        "classifier": list(classifiers)[:n_classifiers],
        "label": list(range(n_labels) if labels is None else labels),
        "truth": [0, 1],
        "prediction": [0, 1],
    }
    with pm.Model(coords=coords) as model:
        classes = pm.Dirichlet(
            "prevalence",
            np.broadcast_to(prevalence, totals.shape),
            dims=("label", "truth"),
            default_transform=sticks(totals),
        )
        theta = pm.Dirichlet("rows", shapes, default_transform=sticks(cells, shapes))
        pm.Multinomial("totals", n=totals.sum(axis=1), p=classes, observed=totals)
        pm.Multinomial("counts", n=totals, p=theta, observed=cells)
        joint = (classes[:, :, None] * theta).reshape(counts.shape)
        alone = [joint] if n_classifiers == 1 else [joint.sum(axis=3), joint.sum(axis=2)]
        pm.Deterministic(
            "confusion",
            pm.math.stack(alone),
            dims=("classifier", "label", "truth", "prediction"),
        )
    return model
