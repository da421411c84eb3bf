"""``c.expected_coverage()``: how often intervals hold in the nearest simulated setting."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import log, sqrt
from typing import Literal, NamedTuple, TypedDict

import numpy as np

from outperform import metrics
from outperform._json import Plain, written
from outperform._typing import AnyArray
from outperform.data.outcomes import true_codes
from outperform.errors import UsageError
from outperform.inference.spec import LabelSpec, counted
from outperform.results.compared import Compared, verb_of

_PROB = 0.95
_FEW = 200  # of so many, a share of 95% has a standard error of 1.5%
_OF_ONE_CLASS = ("precision", "recall", "f1")
_DEPENDENCE = {
    "typical": "typical dependence",
    "independent": "independent errors",
    "nearly equal": "nearly equal models",
    "opposed": "opposed errors",
}
_OUTSIDE = {
    "many classes": "so many classes",
    "few items": "so few items",
    "many items": "so many items",
    "uneven classes": "classes so uneven",
}
# Beyond the ends of the map by more than about half a step of its grid, no setting is near.
_BEYOND_CLASSES, _BEYOND_ITEMS = 2, 3


@written()
class Setting(NamedTuple):
    """A simulated setting.

    Parameters
    ----------
    classes
        How many classes.
    balance
        ``"even"``, or ``"zipf"``: the j-th class is 1 / j as frequent as the first.
    items
        How many items.
    dependence
        Of the models' errors: ``"typical"``, ``"independent"``, ``"nearly equal"`` or
        ``"opposed"``.
    """

    classes: int
    balance: Literal["even", "zipf"]
    items: int
    dependence: Literal["typical", "independent", "nearly equal", "opposed"]

    def __str__(self) -> str:
        balance = "even" if self.balance == "even" else "after Zipf"
        dependence = _DEPENDENCE[self.dependence]
        return f"{self.classes} classes, {balance}, {self.items:,} items, {dependence}"


@written()
class Traits(NamedTuple):
    """What a test set looks like.

    Parameters
    ----------
    evenness
        The entropy of the true classes, divided by that of classes of the same size.
    correlation
        Of "A is right" and "B is right" over items.
    right
        The share of items on which a model is right, the mean of both models.
    """

    evenness: float
    correlation: float
    right: float


@written("held repetitions share error")
@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """How many intervals held the truth.

    Parameters
    ----------
    held
        How many did.
    repetitions
        Of how many, each of another test set.
    """

    held: int
    repetitions: int

    @property
    def share(self) -> float:
        """The share that did."""
        return self.held / self.repetitions

    @property
    def error(self) -> float:
        """The binomial standard error of the share; by Jeffreys' prior, so never zero."""
        yes, no = self.held + 0.5, self.repetitions - self.held + 0.5
        return sqrt(yes * no / (yes + no + 1)) / (yes + no)

    def __str__(self) -> str:
        return f"{100 * self.share:.1f} ± {100 * self.error:.1f}%"


@written(kind="coverage")
@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedCoverage(Plain):
    """How often 95% intervals held the truth in the simulated setting nearest to a comparison.

    Parameters
    ----------
    metric
        The metric's name.
    setting
        The setting.
    there, here
        What test sets of the setting look like in the mean, and the comparison's own.
    difference, level
        How often the interval of A − B held, and that of one model.
    outside
        What no setting has: ``"many classes"``, ``"few items"``, ``"many items"`` or
        ``"uneven classes"``, if the test set has it.

    Examples
    --------
    >>> import outperform as op
    >>> y = [0, 1] * 100
    >>> c = op.compare(y, y[:180] + [0] * 20, y[:150] + [1] * 50, metric="accuracy", rope=0.01)
    >>> found = c.expected_coverage()
    >>> found.setting.items, found.difference.repetitions, found.outside
    (200, 1000, ())
    """

    metric: str
    setting: Setting
    there: Traits
    here: Traits
    difference: Coverage
    level: Coverage
    outside: tuple[str, ...]

    def __str__(self) -> str:
        n = self.difference.repetitions
        label = metrics.get(self.metric).label
        if self.metric in _OF_ONE_CLASS:
            label += " of one class" if self.setting.balance == "even" else " of the rarer class"
        said = (
            f"In the nearest simulated setting ({self.setting}) 95% intervals of the difference in "
            f"{label} contained the true value in {self.difference} of "
            f"{'only ' if n < _FEW else ''}{n:,} test sets, and intervals for a single model in "
            f"{self.level}. The models are right on {100 * self.there.right:.0f}% of the items in "
            f"the simulation and {100 * self.here.right:.0f}% here."
        )
        beyond = " or ".join(_OUTSIDE[one] for one in self.outside)
        return f"{said} No setting has {beyond}." if beyond else said


# What a test set looks like


def evenness_of(counts: AnyArray) -> float:
    """Return the entropy of classes, divided by that of as many classes of the same size.

    Examples
    --------
    >>> round(evenness_of(np.array([5, 5, 0])), 4), evenness_of(np.array([7, 7, 7, 7]))
    (0.6309, 1.0)
    """
    shares = counts[counts > 0] / counts.sum()
    return float(-np.sum(shares * np.log(shares)) / log(counts.size))


def correlation_of(a: AnyArray, b: AnyArray, counts: AnyArray) -> float:
    """Return the correlation of two columns of yes and no, each row as often as it counts.

    Where one is always the same it is that of independent ones, 0; where they are equal, 1.

    Examples
    --------
    >>> a, b = np.array([True, True, False, False]), np.array([True, False, True, False])
    >>> correlation_of(a, b, np.array([40, 10, 10, 40]))
    0.6
    """
    n, n_a, n_b, both = (int(counts[one].sum()) for one in (a | True, a, b, a & b))
    if n_a == n_b == both:
        return 1.0
    spread = sqrt(n_a * (n - n_a) * n_b * (n - n_b))
    return (n * both - n_a * n_b) / spread if spread else 0.0


def traits_of(truth: AnyArray, a: AnyArray, b: AnyArray, counts: AnyArray, n: int) -> Traits:
    """Return what a test set looks like.

    Parameters
    ----------
    truth, a, b
        The codes of the true classes and of what both models predicted.
    counts
        How often each row occurred.
    n
        How many classes there are; codes may be more where some are only predicted.
    """
    right = [one == truth for one in (a, b)]
    sizes = np.bincount(truth, counts)
    seen = sizes[sizes > 0]
    return Traits(
        evenness=evenness_of(np.concatenate([seen, np.zeros(n - seen.size)])),
        correlation=correlation_of(right[0], right[1], counts),
        right=float(np.mean([counts[one].sum() for one in right]) / counts.sum()),
    )


# The map


class _Line(TypedDict):
    """One setting of the file."""

    classes: int
    balance: Literal["even", "zipf"]
    items: int
    dependence: Literal["typical", "independent", "nearly equal", "opposed"]
    evenness: float
    correlation: float
    right: float
    repetitions: int
    level: list[int]
    difference: list[int]


class _Map(TypedDict):
    metrics: list[str]
    settings: list[_Line]


@cache
def _map() -> _Map:
    file = files("outperform.comparison").joinpath("coverage_map.json")
    found: _Map = json.loads(file.read_text(encoding="utf-8"))
    return found


def expected_coverage(own: Compared) -> ExpectedCoverage:
    """Return how often intervals held the truth in the setting nearest to a comparison's."""
    known, spec = _map(), _checked(own)
    table, existing = spec.data.tables[0], spec.existing
    n_classes = max(2, spec.data.n_classes if existing is None else existing.size)
    truth, a, b = table.cells.T
    here = traits_of(truth, a, b, table.counts, n_classes)
    lines, outside = _near(known["settings"], n_classes, spec.n, here.evenness)
    line = min(lines, key=lambda one: abs(one["correlation"] - here.correlation))
    place, n = known["metrics"].index(own.metric), line["repetitions"]
    return ExpectedCoverage(
        metric=own.metric,
        setting=Setting(line["classes"], line["balance"], line["items"], line["dependence"]),
        there=Traits(line["evenness"], line["correlation"], line["right"]),
        here=here,
        difference=Coverage(held=line["difference"][place], repetitions=n),
        level=Coverage(held=line["level"][place], repetitions=n),
        outside=outside,
    )


def _near(
    lines: Sequence[_Line], n_classes: int, n: int, evenness: float
) -> tuple[list[_Line], tuple[str, ...]]:
    """Return the nearest settings that differ in dependence only, and what none of them has."""
    classes = sorted({one["classes"] for one in lines})
    items = sorted({one["items"] for one in lines})
    outside = []
    if n_classes > _BEYOND_CLASSES * classes[-1]:
        outside.append("many classes")
    if _BEYOND_ITEMS * n < items[0]:
        outside.append("few items")
    if n > _BEYOND_ITEMS * items[-1]:
        outside.append("many items")
    nearest = (_nearest(classes, n_classes), _nearest(items, n))
    there = [one for one in lines if (one["classes"], one["items"]) == nearest]
    usual = {
        balance: float(np.mean([one["evenness"] for one in there if one["balance"] == balance]))
        for balance in ("even", "zipf")
    }
    balance = min(usual, key=lambda one: abs(usual[one] - evenness))
    if evenness < 2 * usual["zipf"] - usual["even"]:
        outside.append("uneven classes")
    return [one for one in there if one["balance"] == balance], tuple(outside)


def _nearest(values: Sequence[int], wanted: int) -> int:
    return min(values, key=lambda one: abs(log(one) - log(wanted)))


def coverage_sentence(own: Compared) -> str | None:
    """Return the sentence of a comparison; None where the map has no setting of its kind."""
    try:
        return str(expected_coverage(own))
    except UsageError:
        return None


def _checked(own: Compared) -> LabelSpec:
    spec, asked_by = counted(own.spec), verb_of(own.details)
    data, known = spec.data, _map()["metrics"]
    several = data.n_classes > 2
    why = None
    if asked_by != "compare" or spec.counting.times != 1:
        why = f"{asked_by} counts items more than once, or has more than two models"
    elif data.kind != "classes":
        why = f"these are {_KINDS[data.kind]}"
    elif data.groups is not None or data.pool is not None or data.prevalence is not None:
        why = "it has no groups, weights, pools, judges or other class proportions"
    elif spec.view_errors is not None:
        why = "it takes gold labels to be right; ask with_label_errors(None)"
    elif not spec.paired:
        why = "these models are not paired"
    elif own.metric not in known or spec.metric != metrics.get(own.metric):
        why = f"its metrics are {', '.join(known)}"
    elif several and own.metric in _OF_ONE_CLASS:
        why = f"of more than two classes it has {own.metric} of the rarest only; ask for f1_macro"
    elif _leaves_classes_out(spec):
        why = "it averages over all classes, and this comparison over some"
    elif own.chain is not None or spec.prior.name not in ("unit", "learned")[several:]:
        why = "it is of the default prior; leave prior and engine out"
    elif own.hdi.prob != _PROB:
        why = "it is of 95% intervals; leave hdi_prob out"
    if why is not None:
        raise UsageError(
            "expected_coverage() looks up a map of two models on one test set of labels; " + why
        )
    return spec


_KINDS = {"correct": "right and wrong alone", "spans": "spans", "label_sets": "label sets"}


def _leaves_classes_out(spec: LabelSpec) -> bool:
    if spec.classes is None or spec.positive is not None:
        return False
    return not {*true_codes(spec.view).tolist()} <= {*spec.classes}
