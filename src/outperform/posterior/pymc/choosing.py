"""Which PyMC model answers for which outcomes: the same names as the exact engine's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from outperform._typing import AnyArray
from outperform.errors import ResourceError, UsageError
from outperform.outcomes import Outcomes
from outperform.posterior.dense import dense_counts
from outperform.posterior.priors import Prior, product_rows
from outperform.posterior.pymc.hierarchical import hierarchical
from outperform.posterior.pymc.multi_label import multi_label
from outperform.posterior.pymc.paired import paired
from outperform.posterior.pymc.paired_hierarchical import paired_hierarchical
from outperform.posterior.pymc.unpaired import unpaired
from outperform.posterior.unit import unit_rows

_MOST_CELLS = 1_000


def model_of(outcomes: Outcomes, *, model: str, prior: Prior) -> Any:
    """Return the PyMC model of outcomes.

    Parameters
    ----------
    outcomes
        Of one or two models, paired or apart.
    model
        ``"flat"``, ``"unit"``, ``"hierarchical"`` or ``"free"``.
    prior
        The prior of model ``"flat"``.
    """
    if outcomes.kind == "label_sets":
        return _of_labels(outcomes, model, prior)
    if outcomes.kind == "spans":
        raise UsageError("engine='pymc' has no model of spans; use engine='exact'")
    together = outcomes.paired and len(outcomes.models) == 2
    builders = _PAIRED if together else _APART
    if model not in builders:
        raise UsageError(
            f"engine='pymc' has no model {model!r}; use one of {', '.join(builders)}, "
            "or engine='exact'"
        )
    counts = dense_counts(outcomes) if together else _tables(outcomes)
    _check_size(counts.size)
    names: dict[str, Any] = {"classifiers": outcomes.models, "labels": outcomes.labels}
    return builders[model](_whole(counts), prior, names)


def _tables(outcomes: Outcomes) -> AnyArray:
    return np.stack([outcomes.confusion(name) for name in outcomes.models])


def _whole(counts: AnyArray) -> AnyArray:
    return np.asarray(np.rint(np.asarray(counts, dtype=np.float64)), dtype=np.int64)


def _check_size(n_cells: int) -> None:
    if n_cells > _MOST_CELLS:
        raise ResourceError(
            f"a chain would walk through {n_cells:,} cells, more than {_MOST_CELLS:,}, for hours; "
            "use engine='exact', which draws independently, or paired=False"
        )


def _of_labels(outcomes: Outcomes, model: str, prior: Prior) -> Any:
    if model not in ("flat", "unit") or not outcomes.paired:
        raise UsageError(
            "engine='pymc' has the models 'flat' and 'unit' of paired label sets; "
            "use one of them, or engine='exact'"
        )
    counts = _whole(np.stack([dense_counts(outcomes.binarize(one)) for one in outcomes.labels]))
    _check_size(counts.size)
    n_models = len(outcomes.models)
    rows, prevalence = product_rows(unit_rows(2), n_models), np.ones(2)
    if model == "flat":
        rows, prevalence = prior.row_shapes(2, n_models), prior.prevalence_shapes(2)
    return multi_label(
        counts,
        rows=rows,
        prevalence=prevalence,
        classifiers=outcomes.models,
        labels=[str(label) for label in outcomes.labels],
    )


def _flat_paired(counts: AnyArray, prior: Prior, names: dict[str, Any]) -> Any:
    rows, prevalence = prior.row_shapes(len(counts), 2), prior.prevalence_shapes(len(counts))
    return paired(counts, rows=rows, prevalence=prevalence, **names)


def _flat_apart(counts: AnyArray, prior: Prior, names: dict[str, Any]) -> Any:
    n_classes = counts.shape[1]
    rows, prevalence = prior.row_shapes(n_classes, 1), prior.prevalence_shapes(n_classes)
    return unpaired(counts, rows=rows, prevalence=prevalence, **names)


Builder = Callable[[AnyArray, Prior, dict[str, Any]], Any]

_PAIRED: dict[str, Builder] = {
    "flat": _flat_paired,
    "unit": lambda counts, prior, names: paired(
        counts, rows=product_rows(unit_rows(len(counts)), 2), **names
    ),
    "hierarchical": lambda counts, prior, names: paired_hierarchical(counts, **names),
}
_APART: dict[str, Builder] = {
    "flat": _flat_apart,
    "unit": lambda counts, prior, names: unpaired(counts, rows=unit_rows(counts.shape[1]), **names),
    "hierarchical": lambda counts, prior, names: hierarchical(counts, **names),
    "free": lambda counts, prior, names: hierarchical(counts, mass=None, **names),
}
