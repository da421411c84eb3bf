"""The SIGIR models: uniform (or any) Dirichlet prior on prevalence and on every cell.

Unpaired, each classifier has ``μ ~ Beta(1 + n₊, 1 + n₋)``,
``θ₊ ~ Beta(1 + tp, 1 + fn)``, ``θ₋ ~ Beta(1 + fp, 1 + tn)``. Paired, the four
outcome pairs of each class have ``θ ~ Dir(1 + c)``, which gives each classifier
Beta(2, 2) rates before data, not Beta(1, 1).
"""

from __future__ import annotations

from outperform.outcomes import Outcomes
from outperform.posterior.dense import DenseRows, dense_counts
from outperform.posterior.label_sets import LabelByLabel
from outperform.posterior.linear import DirichletCells
from outperform.posterior.priors import Prior
from outperform.posterior.spans import flat_spans


def flat(outcomes: Outcomes, prior: Prior) -> DenseRows | DirichletCells | LabelByLabel:
    """Return the posterior under an explicit prior on every cell.

    Zhang, Wang, Yilmaz, Wang and Zhou, SIGIR 2016, sections 3.1.1 and 3.1.2.
    """
    if outcomes.kind == "spans":
        return flat_spans(outcomes, prior)
    if outcomes.kind == "label_sets":
        return LabelByLabel(outcomes, lambda binary: flat(binary, prior))
    return DenseRows(
        dense_counts(outcomes),
        rows=prior.row_shapes(outcomes.n_classes, len(outcomes.models)),
        prevalence=prior.prevalence_shapes(outcomes.n_classes),
    )
