"""Which closed form answers a question, if any does.

A metric that is a share, top / (top + Σ weight · part), is a ratio of sums of
gammas wherever its parts are cells of one Dirichlet.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from outperform._typing import Distribution
from outperform.posterior.closed import (
    DirichletDifference,
    FlatFScore,
    IndependentDifference,
    Share,
    WeightedShare,
)
from outperform.posterior.protocol import Independent, Posterior

# Below it the density is all at the ends, where quadrature is slow and draws do as well.
_SMALLEST_SHAPE = 0.25


class ShareForm(Protocol):
    """The form of a share: its top and the weighted parts that count against it."""

    @property
    def top(self) -> str:
        """The part that counts in favour."""

    @property
    def rest(self) -> tuple[tuple[str, float], ...]:
        """The parts that count against, each with its weight."""


class Within(NamedTuple):
    """The documents that a share of right answers looks at: one true class, or all (None)."""

    row: int | None


def share_of_right(form: ShareForm | None, positive: int | None) -> Within | None:
    """Say among which documents a metric is the share of right answers, if it is one.

    Recall stays within the positive class, specificity within the negative one
    (it is asked of two classes only), accuracy looks at all documents.
    """
    if form is None or len(form.rest) != 1:
        return None
    parts = (form.top, form.rest[0][0])
    if parts == ("correct", "wrong"):
        return Within(None)
    if positive is not None and parts in (("tp", "fn"), ("tn", "fp")):
        return Within(positive if parts == ("tp", "fn") else 1 - positive)
    return None


def exact_value(
    posterior: Posterior, form: ShareForm | None, *, model: int, positive: int | None
) -> Share | WeightedShare | FlatFScore | None:
    """Return the exact posterior of one model's metric, or None."""
    if form is None:
        return None
    if isinstance(posterior, Independent):
        return exact_value(posterior.posteriors[model], form, model=0, positive=positive)
    within = share_of_right(form, positive)
    if within is not None and within.row is not None:
        shapes = posterior.row_shapes(model, within.row)
        return None if shapes is None else Share(*shapes, weight=form.rest[0][1])
    top = posterior.part_shape(model, form.top, positive)
    if top is None:
        return _apart(posterior, form, model=model, positive=positive)
    by_weight: dict[float, float] = {}
    for part, weight in form.rest:
        shape = posterior.part_shape(model, part, positive)
        assert shape is not None  # one Dirichlet has shapes for all parts
        by_weight[weight] = by_weight.get(weight, 0.0) + shape
    if len(by_weight) == 1:
        ((weight, shape),) = by_weight.items()
        return Share(top, shape, weight=weight)
    (weight_1, shape_1), (weight_2, shape_2) = by_weight.items()
    return WeightedShare(top, shape_1, weight_1, shape_2, weight_2)


def _apart(
    posterior: Posterior, form: ShareForm, *, model: int, positive: int | None
) -> FlatFScore | None:
    """Return F-beta of two classes whose prevalence has a prior of its own.

    In a paired comparison the models' own scores stay with the draws that they
    share with the difference: a quadrature for each would cost more than all of these.
    """
    weights = dict(form.rest)
    is_fbeta = set(weights) == {"fn", "fp"} and abs(sum(weights.values()) - 1.0) < 1e-12
    if posterior.n_models != 1 or positive is None or not is_fbeta:
        return None
    prevalence = posterior.prevalence_shapes(positive)
    pos, neg = (posterior.row_shapes(model, truth) for truth in (positive, 1 - positive))
    if prevalence is None or pos is None or neg is None:
        return None
    if min(*prevalence, *pos, *neg) < _SMALLEST_SHAPE:
        return None
    beta = (weights["fn"] / weights["fp"]) ** 0.5
    return FlatFScore(pos, neg[::-1], prevalence, beta)


def exact_difference(
    posterior: Posterior, form: ShareForm | None, *, positive: int | None, paired: bool
) -> Distribution | None:
    """Return the exact posterior of A − B, or None.

    Paired, a closed form exists where both models share the denominator:
    recall, specificity and accuracy.
    """
    if not paired:
        a = exact_value(posterior, form, model=0, positive=positive)
        b = exact_value(posterior, form, model=1, positive=positive)
        return None if a is None or b is None else IndependentDifference(a, b)
    within = share_of_right(form, positive)
    if form is None or within is None or form.rest[0][1] != 1.0:
        return None
    shapes = posterior.agreement_shapes(within.row)
    if shapes is None:
        return None
    return DirichletDifference(shapes.only_a, shapes.only_b, shapes.both + shapes.neither)
