"""Closed forms are calibrated too: the distribution function at the truth is uniform."""

from __future__ import annotations

from collections.abc import Sequence

from outperform import metrics
from outperform._typing import Distribution, IntArray
from outperform.metrics.confusion import Margins
from outperform.posterior.base import build_posterior, exact_difference, exact_value
from outperform.posterior.registry import get_prior
from verification.posteriors import Draws
from verification.worlds import World, as_outcomes

# Metrics whose closed forms take microseconds to milliseconds.
_METRICS = {2: ("recall", "specificity", "accuracy")}
_AVERAGED = ("accuracy",)


def levels(world: World, counts: Sequence[IntArray], truth: Draws) -> dict[str, float]:
    """Return the exact posterior's distribution function at the true values."""
    if world.sticks or world.prior == "learned":  # which has none
        return {}
    posterior = build_posterior(as_outcomes(counts), get_prior(world.prior))
    positive = 1 if world.n_classes == 2 else None
    found = {}
    for name in _METRICS.get(world.n_classes, _AVERAGED):
        metric = metrics.get(name)
        form = metric.share_over(all_classes=True)
        classes = [1] if metric.average == "binary" else None
        values = [
            float(metric.evaluate(Margins(**one._asdict()), classes)[0]) for one in truth.sums
        ]
        exact: dict[str, tuple[Distribution | None, float]] = {
            f"{name} {'AB'[model]}": (
                exact_value(posterior, form, model=model, positive=positive),
                value,
            )
            for model, value in enumerate(values)
        }
        if len(values) == 2:
            difference = exact_difference(posterior, form, positive=positive, paired=world.paired)
            exact[f"{name} A−B"] = difference, values[0] - values[1]
        for key, (distribution, value) in exact.items():
            if distribution is not None:
                found[f"{key}, exact"] = distribution.cdf(value)
    return found
