"""Classifiers apart, with any prior on the share of right answers in each class.

``logit ρ_j ~ N(m, s²)`` or ``ρ_j ~ N(m, s²)`` cut to (0, 1) is the share of class j that is
called j; the other predictions share ``1 − ρ_j`` by a flat Dirichlet. A start for priors
that are no Dirichlet.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from outperform._optional import require
from outperform._typing import AnyArray
from outperform.errors import UsageError
from outperform.posterior.pymc.sticks import sticks


def class_rates(
    counts: AnyArray,
    *,
    mean: float,
    sd: float,
    kind: Literal["logit_normal", "truncated_normal"] = "logit_normal",
    classifiers: Sequence[Any] = ("A", "B"),
    labels: Sequence[Any] | None = None,
) -> Any:
    """Return the model of classifiers, each on its own documents.

    Parameters
    ----------
    counts
        Confusion matrices ``(classifier, truth, prediction)``.
    mean, sd
        Of the normal prior: of the logit of a rate, or of a rate that is cut to (0, 1).
    kind
        Which of the two.
    classifiers, labels
        Their names.
    """
    pm = require("pymc", extra="pymc", purpose="a PyMC model")
    if kind not in ("logit_normal", "truncated_normal"):
        raise UsageError(f"kind must be 'logit_normal' or 'truncated_normal'; got {kind!r}")
    n_classifiers, n_classes, _ = counts.shape
    totals, right = counts.sum(axis=2), counts[:, range(n_classes), range(n_classes)]
    wrong = counts[:, ~np.eye(n_classes, dtype=bool)].reshape(n_classifiers, n_classes, -1)
    names = list(range(n_classes) if labels is None else labels)
    coords = {"classifier": list(classifiers), "truth": names, "prediction": names}
    with pm.Model(coords=coords) as model:
        classes = pm.Dirichlet(
            "prevalence",
            np.ones((n_classifiers, n_classes)),
            dims=("classifier", "truth"),
            default_transform=sticks(totals),
        )
        if kind == "logit_normal":
            # In logits the chain cannot leave (0, 1); pm.LogitNormal lets it start outside.
            logits = pm.Normal("logits", mean, sd, dims=("classifier", "truth"))
            rates = pm.Deterministic("rates", pm.math.sigmoid(logits), dims=("classifier", "truth"))
        else:
            rates = pm.TruncatedNormal(
                "rates", mean, sd, lower=0.0, upper=1.0, dims=("classifier", "truth")
            )
        pm.Multinomial("totals", n=totals.sum(axis=1), p=classes, observed=totals)
        pm.Binomial("right", n=totals, p=rates, observed=right)
        confusion = rates[:, :, None] * np.eye(n_classes)
        if n_classes == 2:
            confusion += (1 - rates)[:, :, None] * (1 - np.eye(2))
        else:
            shares = pm.Dirichlet("shares", np.ones(wrong.shape), default_transform=sticks(wrong))
            pm.Multinomial("wrong", n=totals - right, p=shares, observed=wrong)
            # Row j of the shares leaves class j out: put each where it belongs.
            places = np.zeros((n_classes, n_classes - 1, n_classes))
            for truth in range(n_classes):
                others = [one for one in range(n_classes) if one != truth]
                places[truth, range(n_classes - 1), others] = 1.0
            confusion += (1 - rates)[:, :, None] * (shares[..., None] * places).sum(axis=2)
        pm.Deterministic(
            "confusion",
            classes[:, :, None] * confusion,
            dims=("classifier", "truth", "prediction"),
        )
    return model
