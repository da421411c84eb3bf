"""``c.expected_coverage()``: coverage of intervals in the nearest simulated setting."""

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
# Data that lie beyond the map by more than about half a grid step have no near setting.
_BEYOND_CLASSES, _BEYOND_ITEMS = 2, 3


@written()
class Setting(NamedTuple):
    """Simulated setting.

    Parameters
    ----------
    classes
        Number of classes.
    balance
        ``"even"``, or ``"zipf"``: the j-th class is 1 / j as frequent as the first.
    items
        Number of items.
    dependence
        Dependence of the models' errors: ``"typical"``, ``"independent"``, ``"nearly equal"`` or
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
    """Traits of a test set.

    Parameters
    ----------
    evenness
        Entropy of the true classes, divided by the entropy of equally frequent classes.
    correlation
        Correlation of "A is right" and "B is right" over items.
    right
        Share of items on which a model is right, averaged over both models.
    """

    evenness: float
    correlation: float
    right: float


@written("held repetitions share error")
@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """Share of intervals that contained the true value.

    Parameters
    ----------
    held
        Number of intervals that contained the true value.
    repetitions
        Number of intervals, each from a different test set.
    """

    held: int
    repetitions: int

    @property
    def share(self) -> float:
        """Share of intervals that contained the true value."""
        return self.held / self.repetitions

    @property
    def error(self) -> float:
        """Binomial standard error of the share; never zero, because it uses Jeffreys' prior."""
        yes, no = self.held + 0.5, self.repetitions - self.held + 0.5
        return sqrt(yes * no / (yes + no + 1)) / (yes + no)

    def __str__(self) -> str:
        return f"{100 * self.share:.1f} ± {100 * self.error:.1f}%"


@written(kind="coverage")
@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedCoverage(Plain):
    """Coverage of 95% intervals in the simulated setting nearest to a comparison.

    Parameters
    ----------
    metric
        Name of the metric.
    setting
        The setting.
    there, here
        Mean traits of the setting's test sets, and the traits of this test set.
    difference, level
        Coverage of the intervals for A − B, and of those for a single model.
    outside
        Traits of this test set that occur in no setting: ``"many classes"``, ``"few items"``,
        ``"many items"`` or ``"uneven classes"``.

    Examples
    --------
    >>> import outperform as op
    >>> y = [0, 1] * 100
    >>> c = op.compare(y, y[:180] + [0] * 20, y[:150] + [1] * 50, metric="accuracy", rope=0.01)
    >>> coverage = c.expected_coverage()
    >>> coverage.setting.items, coverage.difference.repetitions, coverage.outside
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
        text = (
            f"In the nearest simulated setting ({self.setting}) 95% intervals of the difference in "
            f"{label} contained the true value in {self.difference} of {n:,} test sets, and "
            f"intervals for a single model in {self.level}. The models are right on "
            f"{100 * self.there.right:.0f}% of the items in the simulation and "
            f"{100 * self.here.right:.0f}% here."
        )
        beyond = " or ".join(_OUTSIDE[trait] for trait in self.outside)
        return f"{text} No setting has {beyond}." if beyond else text


# Traits of a test set


def evenness_of(counts: AnyArray) -> float:
    """Return the entropy of classes, divided by the entropy of equally frequent classes.

    Examples
    --------
    >>> round(evenness_of(np.array([5, 5, 0])), 4), evenness_of(np.array([7, 7, 7, 7]))
    (0.6309, 1.0)
    """
    shares = counts[counts > 0] / counts.sum()
    return float(-np.sum(shares * np.log(shares)) / log(counts.size))


def correlation_of(a: AnyArray, b: AnyArray, counts: AnyArray) -> float:
    """Return the correlation of two Boolean columns, with a count per row.

    It is 1 if the columns are equal; otherwise it is 0 if one of them is constant.

    Examples
    --------
    >>> a, b = np.array([True, True, False, False]), np.array([True, False, True, False])
    >>> correlation_of(a, b, np.array([40, 10, 10, 40]))
    0.6
    """
    n, n_a, n_b, both = (int(counts[rows].sum()) for rows in (a | True, a, b, a & b))
    if n_a == n_b == both:
        return 1.0
    spread = sqrt(n_a * (n - n_a) * n_b * (n - n_b))
    return (n * both - n_a * n_b) / spread if spread else 0.0


def traits_of(truth: AnyArray, a: AnyArray, b: AnyArray, counts: AnyArray, n: int) -> Traits:
    """Return the traits of a test set.

    Parameters
    ----------
    truth, a, b
        Codes of the true classes and both models' predictions.
    counts
        Counts of the rows.
    n
        Number of true classes; there are more codes if some classes are only predicted.
    """
    right = [predicted == truth for predicted in (a, b)]
    sizes = np.bincount(truth, counts)
    true = sizes[sizes > 0]
    return Traits(
        evenness=evenness_of(np.concatenate([true, np.zeros(n - true.size)])),
        correlation=correlation_of(right[0], right[1], counts),
        right=float(np.mean([counts[rows].sum() for rows in right]) / counts.sum()),
    )


# The map


class _Line(TypedDict):
    """Setting in the file."""

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
    content: _Map = json.loads(file.read_text(encoding="utf-8"))
    return content


def expected_coverage(comparison: Compared) -> ExpectedCoverage:
    """Return the coverage of intervals in the setting nearest to a comparison."""
    known, spec = _map(), _checked(comparison)
    table, existing = spec.data.tables[0], spec.existing
    n_classes = max(2, spec.data.n_classes if existing is None else existing.size)
    truth, a, b = table.cells.T
    here = traits_of(truth, a, b, table.counts, n_classes)
    lines, outside = _near(known["settings"], n_classes, spec.n, here.evenness)
    line = min(lines, key=lambda line: abs(line["correlation"] - here.correlation))
    column, n = known["metrics"].index(comparison.metric), line["repetitions"]
    return ExpectedCoverage(
        metric=comparison.metric,
        setting=Setting(line["classes"], line["balance"], line["items"], line["dependence"]),
        there=Traits(line["evenness"], line["correlation"], line["right"]),
        here=here,
        difference=Coverage(held=line["difference"][column], repetitions=n),
        level=Coverage(held=line["level"][column], repetitions=n),
        outside=outside,
    )


def _near(
    lines: Sequence[_Line], n_classes: int, n: int, evenness: float
) -> tuple[list[_Line], tuple[str, ...]]:
    """Return the nearest settings, which differ only in dependence, and traits that none has."""
    classes = sorted({line["classes"] for line in lines})
    items = sorted({line["items"] for line in lines})
    outside = []
    if n_classes > _BEYOND_CLASSES * classes[-1]:
        outside.append("many classes")
    if _BEYOND_ITEMS * n < items[0]:
        outside.append("few items")
    if n > _BEYOND_ITEMS * items[-1]:
        outside.append("many items")
    nearest = (_nearest(classes, n_classes), _nearest(items, n))
    near = [line for line in lines if (line["classes"], line["items"]) == nearest]
    usual = {
        balance: float(np.mean([line["evenness"] for line in near if line["balance"] == balance]))
        for balance in ("even", "zipf")
    }
    balance = min(usual, key=lambda name: abs(usual[name] - evenness))
    if evenness < 2 * usual["zipf"] - usual["even"]:
        outside.append("uneven classes")
    return [line for line in near if line["balance"] == balance], tuple(outside)


def _nearest(values: Sequence[int], target: int) -> int:
    return min(values, key=lambda value: abs(log(value) - log(target)))


def coverage_sentence(comparison: Compared) -> str | None:
    """Return the coverage sentence of a comparison; None if the map does not cover its kind."""
    try:
        return str(expected_coverage(comparison))
    except UsageError:
        return None


def _checked(comparison: Compared) -> LabelSpec:
    spec, verb = counted(comparison.spec), verb_of(comparison.details)
    data, known = spec.data, _map()["metrics"]
    multiclass = data.n_classes > 2
    why = None
    if verb != "compare" or spec.counting.times != 1:
        why = f"{verb} counts items more than once, or has more than two models"
    elif data.kind != "classes":
        why = f"these data are {_KINDS[data.kind]}"
    elif data.groups is not None or data.pool is not None or data.prevalence is not None:
        why = "it does not cover groups, weights, pools, judges or other class proportions"
    elif spec.view_errors is not None:
        why = "it does not cover label errors; use with_label_errors(None)"
    elif not spec.paired:
        why = "these models are not paired"
    elif comparison.metric not in known or spec.metric != metrics.get(comparison.metric):
        why = f"it covers the metrics {', '.join(known)}"
    elif multiclass and comparison.metric in _OF_ONE_CLASS:
        name = comparison.metric
        why = f"for more than two classes it covers {name} of the rarest class only; use f1_macro"
    elif _leaves_classes_out(spec):
        why = "it covers averages over all classes, but this comparison averages over some"
    elif comparison.chain is not None or spec.prior.name not in ("unit", "learned")[multiclass:]:
        why = "it covers the default prior only; omit prior and engine"
    elif comparison.hdi.prob != _PROB:
        why = "it covers 95% intervals only; omit hdi_prob"
    if why is not None:
        raise UsageError(
            "expected_coverage() uses a map for two models on one test set of labels; " + why
        )
    return spec


_KINDS = {"correct": "right or wrong only", "spans": "spans", "label_sets": "label sets"}


def _leaves_classes_out(spec: LabelSpec) -> bool:
    if spec.classes is None or spec.positive is not None:
        return False
    return not {*true_codes(spec.view).tolist()} <= {*spec.classes}
