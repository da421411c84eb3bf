"""From a trace to confusion arrays, whatever the model was."""

from __future__ import annotations

from typing import Any

import numpy as np

from outperform._typing import FloatArray
from outperform.errors import UsageError
from outperform.posterior.protocol import Drawn, Sums, margins_of

CONFUSION = "confusion"
"""The variable that every model has: shares of documents ``(classifier, truth, prediction)``."""


def confusions(posterior: Any, *, n_models: int, n_classes: int) -> list[Drawn]:
    """Return what was drawn of each model, chains one after the other.

    Parameters
    ----------
    posterior
        The group ``posterior`` of a trace.
    n_models, n_classes
        What the variable ``confusion`` must hold: ``(classifier, truth, prediction)``, or
        with a table of no and yes for each label ``(classifier, label, truth, prediction)``.
    """
    if CONFUSION not in posterior:
        raise UsageError(
            f"a PyMC model must have a variable {CONFUSION!r} of shape (classifier, truth, "
            "prediction) that sums to 1 for each classifier; add it as pm.Deterministic"
        )
    found = np.asarray(posterior[CONFUSION].values, dtype=np.float64)
    found = found.reshape(-1, *found.shape[2:])  # (n_draws, classifier, …)
    if found.shape[1:] == (n_models, n_classes, n_classes):
        return [np.ascontiguousarray(np.moveaxis(found[:, one], 0, -1)) for one in range(n_models)]
    if found.shape[1:] == (n_models, n_classes, 2, 2):
        return [_of_labels(np.moveaxis(found[:, one], 0, -1)) for one in range(n_models)]
    raise UsageError(
        f"the variable {CONFUSION!r} must have shape {(n_models, n_classes, n_classes)}; "
        f"got {found.shape[1:]}"
    )


def _of_labels(tables: FloatArray) -> Sums:
    """Return the sums of every label; ``tables`` is ``(label, truth, prediction, n_draws)``."""
    sums = [margins_of(table) for table in tables]
    stacked = (np.stack([one[place][1] for one in sums]) for place in range(3))
    return Sums(*stacked)
