"""The class proportions of another population, and the error rates of gold labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import ArrayLike

from outperform._json import written
from outperform._typing import Drawable, FloatArray, Items, Label
from outperform.data.checks import Counted, code_of
from outperform.errors import DataError, UsageError, param
from outperform.findings import listed, quoted

# Equals the models' prior for the class proportions, so passing the test set's own counts changes
# nothing.
PRIOR_SHAPE = 1.0
_TOLERANCE = 1e-9
_PROBES = 1_000
_MOST_SHOWN = 6


PrevalenceLike: TypeAlias = "float | Items | Drawable | Prevalence"


@written("labels shares shapes?")
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Prevalence:
    """Class proportions in the target population.

    Other classes divide the remainder in the proportions of the test set.

    Parameters
    ----------
    labels
        Classes with a given share.
    shares
        Mean share of each of these classes.
    shapes
        Dirichlet concentrations of all classes, if items were counted.
    distribution
        Source of draws if a distribution was passed.

    Examples
    --------
    >>> from outperform import Outcomes
    >>> seen = Outcomes.from_labels(["ok", "fraud"], {"m": ["ok", "ok"]})
    >>> Prevalence.from_param(0.02, seen, positive="fraud")
    'fraud': 0.02
    >>> Prevalence.from_param({"fraud": 20, "ok": 980}, seen)
    'fraud': 20 and 'ok': 980 of 1,000
    """

    labels: tuple[Label, ...]
    shares: tuple[float, ...]
    shapes: tuple[float, ...] | None = None
    distribution: Any = None

    @classmethod
    def from_param(
        cls, value: object, outcomes: Counted, *, positive: Label | None = None
    ) -> Prevalence:
        """Check shares, counts or a distribution against the classes.

        Parameters
        ----------
        value
            Share of the positive class, a mapping from classes to shares or counts, or any object
            with ``rvs(size=, random_state=)``.
        seen
            Outcomes that define the classes.
        positive
            Class to which a single share refers.
        """
        if isinstance(value, Prevalence):
            for label in value.labels:
                code_of(outcomes, label)  # raises an error if there is no such class
            return value
        if hasattr(value, "rvs"):
            return _from_distribution(value, outcomes, positive)
        if isinstance(value, Real) and not isinstance(value, (bool, np.bool_)):
            return _from_shares({_one_class(positive): float(value)}, outcomes)
        if hasattr(value, "items"):
            return _from_mapping(dict(value.items()), outcomes)
        raise UsageError(
            f"{param('prevalence')} must be the share of the positive class, a mapping from "
            "classes to shares or counts such as {'fraud': 20, 'ok': 980}, or a distribution "
            f"with rvs(), such as scipy.stats.beta(20, 980); got {value!r}"
        )

    @property
    def n_counted(self) -> int | None:
        """Number of counted items; None for shares."""
        if self.shapes is None:
            return None
        return round(sum(self.shapes) - PRIOR_SHAPE * len(self.shapes))

    @property
    def source(self) -> str:
        """Source of the shares: ``"known"``, ``"counts"`` or ``"distribution"``."""
        if self.shapes is not None:
            return "counts"
        return "known" if self.distribution is None else "distribution"

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], labels: Sequence[Label]) -> Prevalence:
        """Restore from stored values after checking them against the classes.

        Parameters
        ----------
        data
            The mapping.
        labels
            The classes of the outcomes.
        """
        shapes = data.get("shapes")
        numbers = tuple(map(float, data["shares"] if shapes is None else shapes))
        if len(data["shares"]) != len(data["labels"]) or len(numbers) != len(data["labels"]):
            raise DataError(f"{param('prevalence')} must have one share for each of its classes")
        if not set(data["labels"]) <= set(labels) or sum(data["shares"]) > 1 + _TOLERANCE:
            raise DataError(
                f"{param('prevalence')} must be shares of the classes that sum to 1 or less"
            )
        return cls(
            labels=tuple(data["labels"]),
            shares=tuple(map(float, data["shares"])),
            shapes=None if shapes is None else numbers,
        )

    def __repr__(self) -> str:
        n_counted = self.n_counted
        if n_counted is None:
            shown = [f"{share:.4g}" for share in self.shares]
        else:
            shown = [f"{shape - PRIOR_SHAPE:,.0f}" for shape in self.shapes or ()]
        named = [f"{label!r}: {text}" for label, text in zip(self.labels, shown, strict=True)]
        if len(named) > _MOST_SHOWN:
            named = [f"{len(named)} classes"]
        about = "about " if self.distribution is not None else ""
        return f"{about}{listed(named)}" + ("" if n_counted is None else f" of {n_counted:,}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Prevalence) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        # A distribution is compared by identity. Whatever stores this key also keeps it alive.
        return self.labels, self.shares, self.shapes, id(self.distribution)


def _one_class(positive: Label | None) -> Label:
    if positive is None:
        raise UsageError(
            f"a single share needs a class; pass it with {param('pos_label=')}, or use a mapping "
            "such as {'fraud': 0.02}"
        )
    return positive


def _from_mapping(shares: Mapping[Any, Any], outcomes: Counted) -> Prevalence:
    if not shares:
        raise UsageError("prevalence contains no class; pass shares or counts by class")
    for label, value in shares.items():
        real = isinstance(value, Real) and not isinstance(value, (bool, np.bool_))
        if not real or not 0 <= value < np.inf:
            raise UsageError(
                f"{param('prevalence')} must be non-negative shares or counts; got {value!r} for "
                f"class {label!r}"
            )
    named = {
        outcomes.labels[code_of(outcomes, label)]: float(value) for label, value in shares.items()
    }
    if len(named) < len(shares):
        raise UsageError(f"prevalence contains a class twice; got {list(shares)}")
    counted = all(value.is_integer() for value in named.values()) and sum(named.values()) > 1
    return _from_counts(named, outcomes) if counted else _from_shares(named, outcomes)


def _from_counts(named: Mapping[Label, float], outcomes: Counted) -> Prevalence:
    missing = _missing(named, outcomes)
    if missing:
        raise UsageError(
            f"counts must include every class, with 0 if it did not occur; {_listed(missing)} "
            "missing"
        )
    labels = tuple(label for label in outcomes.labels if label in named)
    shapes = tuple(named[label] + PRIOR_SHAPE for label in labels)
    total = sum(shapes)
    shares = tuple(shape / total for shape in shapes)
    return Prevalence(labels=labels, shares=shares, shapes=shapes)


def _from_shares(named: Mapping[Label, float], outcomes: Counted) -> Prevalence:
    for label, share in named.items():
        if not 0 < share < 1:
            raise UsageError(
                f"every share must be above 0 and below 1; got {share:g} for class {label!r}. "
                "Counts are integers for all classes that sum to more than 1"
            )
    total, missing = sum(named.values()), _missing(named, outcomes)
    if missing and total >= 1 - _TOLERANCE:
        raise UsageError(
            f"the shares sum to {total:.10g}, which leaves nothing for the other classes, but "
            f"{_listed(missing)} missing"
        )
    if not missing and abs(total - 1) > _TOLERANCE:
        raise UsageError(f"the shares of all classes must sum to 1; they sum to {total:.10g}")
    labels = tuple(label for label in outcomes.labels if label in named)
    whole = 1.0 if missing else total
    return Prevalence(labels=labels, shares=tuple(named[label] / whole for label in labels))


def _from_distribution(distribution: Any, outcomes: Counted, positive: Label | None) -> Prevalence:
    generator = np.random.default_rng(0)
    probe = np.asarray(distribution.rvs(size=_PROBES, random_state=generator))
    if probe.shape == (_PROBES,):
        labels: tuple[Label, ...] = (_one_class(positive),)
    elif probe.shape == (_PROBES, outcomes.n_classes):
        labels = outcomes.labels
    else:
        raise UsageError(
            "the distribution of prevalence must draw the share of the positive class, or the "
            f"shares of all {outcomes.n_classes} classes in the order of the labels; for {_PROBES} "
            f"draws it returned an array of shape {probe.shape}"
        )
    drawn = checked_draws(distribution, generator, _PROBES, len(labels))
    mean = distribution.mean() if hasattr(distribution, "mean") else drawn.mean(axis=1)
    shares = tuple(float(share) for share in np.atleast_1d(np.asarray(mean)))
    return Prevalence(labels=labels, shares=shares, distribution=distribution)


def checked_draws(
    distribution: Any, generator: np.random.Generator, length: int, n_named: int
) -> FloatArray:
    """Draw shares ``(n_named, length)`` and check them."""
    drawn = np.asarray(distribution.rvs(size=length, random_state=generator), dtype=np.float64)
    drawn = drawn.reshape(length, n_named).T
    outside = ~((drawn >= 0) & (drawn <= 1))
    if outside.any():
        raise UsageError(
            "the distribution of prevalence must draw shares from 0 to 1; it drew "
            f"{drawn[outside][0]:g}"
        )
    if n_named > 1 and np.abs(drawn.sum(axis=0) - 1).max() > _TOLERANCE:
        raise UsageError("the distribution of prevalence must draw shares that sum to 1")
    return drawn


def _missing(named: Mapping[Label, float], outcomes: Counted) -> list[Label]:
    """Return the classes that occur in the truth but have no share; other classes need none."""
    true = np.unique(np.concatenate([table.cells[:, 0] for table in outcomes.tables]))
    return [label for code in true.tolist() if (label := outcomes.labels[code]) not in named]


def _listed(labels: Sequence[Label]) -> str:
    return f"{quoted(labels, most=_MOST_SHOWN)} {'is' if len(labels) == 1 else 'are'}"


# Below this, the inverse multiplies every sampling error by more than ten.
_LEAST_INVERTIBLE = 0.1
# A matrix of all pairs of classes is drawn and inverted.
_MOST_CLASSES = 100

LabelErrorsLike: TypeAlias = "float | Items | ArrayLike | LabelErrors"


@written()
class ErrorRates(NamedTuple):
    """Stated error rates of the gold labels by true class.

    Parameters
    ----------
    classes
        Classes with wrong labels.
    rates
        Share of wrong labels, one per class.
    same
        Whether all classes have the same rate and errors are spread evenly.
    """

    classes: tuple[Label, ...]
    rates: tuple[float, ...]
    same: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LabelErrors:
    """Error rates of the gold labels by true class.

    Parameters
    ----------
    labels
        The classes.
    matrix
        P(gold | truth), with true classes in rows.
    same
        The error rate if all classes have the same one and errors are spread evenly.

    Examples
    --------
    >>> from outperform import Outcomes
    >>> seen = Outcomes.from_labels(["ok", "fraud"], {"m": ["ok", "ok"]})
    >>> LabelErrors.from_param(0.03, seen, ["ok", "fraud"])
    3%
    >>> LabelErrors.from_param({"fraud": 0.1}, seen, ["ok", "fraud"])
    10% of 'fraud'
    """

    labels: tuple[Label, ...]
    matrix: FloatArray  # (n_classes, n_classes)
    same: float | None = None

    @classmethod
    def from_param(
        cls, value: object, outcomes: Counted, existing: Sequence[Label]
    ) -> LabelErrors | None:
        """Read a single rate, rates by class or a matrix; return None if no label is wrong.

        Parameters
        ----------
        value
            Share of wrong gold labels, a mapping from true classes to such shares or to mappings
            from gold labels to shares, or a matrix P(gold | truth).
        seen
            Outcomes that define the classes.
        existing
            Classes that can be true, over which errors are spread.
        """
        labels, n = outcomes.labels, outcomes.n_classes
        if n > _MOST_CLASSES:
            raise UsageError(
                f"label errors are supported for up to {_MOST_CLASSES} classes, but there are "
                f"{n:,}; reduce to one class against the rest with binarize(label)"
            )
        codes = [code for code, label in enumerate(labels) if label in existing]
        same: float | None = None
        if _is_real(value):
            same = _error_rate(value, "the gold labels")
            matrix = _matrix({code: same for code in codes}, codes, n)
        elif isinstance(value, Mapping):
            matrix = _of_mapping(value, outcomes, codes)
        else:
            matrix = _of_array(value, labels)
        if np.array_equal(matrix, np.eye(n)):
            return None
        _refuse_uninformative(matrix)
        return cls(labels=labels, matrix=matrix, same=same)

    @property
    def rates(self) -> dict[Label, float]:
        """Share of wrong gold labels in each true class that has any."""
        wrong = 1.0 - self.matrix.diagonal()
        return {label: float(rate) for label, rate in zip(self.labels, wrong, strict=True) if rate}

    @property
    def known(self) -> ErrorRates:
        """The rates above zero, for reports."""
        rates = self.rates
        return ErrorRates(tuple(rates), tuple(rates.values()), self.same is not None)

    @property
    def inverse(self) -> FloatArray:
        """Matrix that converts weights by gold label to weights by true class."""
        return np.linalg.inv(self.matrix.T).astype(np.float64)

    def ordered(self, classes: Sequence[Label]) -> LabelErrors:
        """Return the error rates for a table with reordered or additional classes.

        Parameters
        ----------
        classes
            Classes of the table. Gold labels in additional classes are assumed right.
        """
        positions = [position for position, label in enumerate(classes) if label in self.labels]
        here = [self.labels.index(classes[position]) for position in positions]
        matrix = np.eye(len(classes))
        matrix[np.ix_(positions, positions)] = self.matrix[np.ix_(here, here)]
        return LabelErrors(labels=tuple(classes), matrix=matrix, same=self.same)

    def __repr__(self) -> str:
        if self.same is not None:
            return f"{100 * self.same:.4g}%"
        shown = [f"{100 * rate:.4g}% of {label!r}" for label, rate in self.rates.items()]
        return listed(shown if len(shown) <= _MOST_SHOWN else [f"{len(shown)} classes"])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LabelErrors) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[tuple[Label, ...], bytes]:
        return self.labels, self.matrix.tobytes()


def _is_real(value: object) -> TypeGuard[float]:
    return isinstance(value, Real) and not isinstance(value, (bool, np.bool_))


def _error_rate(value: object, of: str) -> float:
    rate = float(value) if _is_real(value) else np.nan
    if not 0 <= rate < 1:
        raise UsageError(
            f"{param('label_errors')} must be shares of at least 0 and below 1, such as 0.03; got "
            f"{value!r} for {of}"
        )
    return rate


def _matrix(rates: Mapping[int, float], codes: Sequence[int], n: int) -> FloatArray:
    """Return P(gold | truth) with each class's errors spread evenly over the other classes."""
    matrix = np.eye(n)
    for code, rate in rates.items():
        others = [other for other in codes if other != code]
        if rate and not others:
            raise UsageError(
                "only one class is ever true, so no other label could be the right one"
            )
        matrix[code, others] = rate / max(len(others), 1)
        matrix[code, code] = 1.0 - rate
    return matrix


def _of_mapping(
    errors: Mapping[Label, object], outcomes: Counted, codes: Sequence[int]
) -> FloatArray:
    if not errors:
        raise UsageError("label_errors contains no class; pass rates such as {'fraud': 0.1}")
    placed = {code_of(outcomes, label): value for label, value in errors.items()}
    if len(placed) < len(errors):
        raise UsageError(f"label_errors contains a class twice; got {list(errors)}")
    known = sorted({*codes, *placed})
    rates = {
        code: _error_rate(value, f"class {outcomes.labels[code]!r}")
        for code, value in placed.items()
        if not isinstance(value, Mapping)
    }
    matrix = _matrix(rates, known, outcomes.n_classes)
    for code, value in placed.items():
        if isinstance(value, Mapping):
            matrix[code] = _row(code, value, outcomes)
    return matrix


def _row(truth: int, errors: Mapping[Label, object], outcomes: Counted) -> FloatArray:
    """Return the distribution of gold labels for one true class; the remainder is right."""
    row, name = np.zeros(outcomes.n_classes), outcomes.labels[truth]
    for label, value in errors.items():
        code = code_of(outcomes, label)
        if code == truth:
            raise UsageError(
                f"label_errors of class {name!r} must list only the wrong labels; the remaining "
                "share is right"
            )
        row[code] = _error_rate(value, f"{label!r} instead of {name!r}")
    row[truth] = 1.0 - _error_rate(float(row.sum()), f"class {name!r} in all")
    return row


def _of_array(value: object, labels: Sequence[Label]) -> FloatArray:
    n = len(labels)
    try:
        matrix = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        matrix = np.empty(0)
    if matrix.shape != (n, n):
        raise UsageError(
            f"{param('label_errors')} must be the share of wrong gold labels, such as 0.03, a "
            f"mapping from true classes to such shares, such as {{'fraud': 0.1, 'ok': 0.02}}, or a "
            f"matrix P(gold | truth) of shape {(n, n)}, rows truth, in the order of "
            f"{quoted(labels, most=_MOST_SHOWN)}; got {value!r}"
        )
    if not (matrix >= 0).all() or np.abs(matrix.sum(axis=1) - 1).max() > _TOLERANCE:
        raise UsageError(
            f"every row of the matrix {param('label_errors')} must be shares that sum to 1; "
            f"got {matrix.tolist()}"
        )
    return matrix


def _refuse_uninformative(matrix: FloatArray) -> None:
    """Reject rates at which gold labels are almost independent of the truth, or its opposite."""
    least = np.linalg.eigvals(matrix).real.min(), np.linalg.svd(matrix, compute_uv=False).min()
    if min(least) < _LEAST_INVERTIBLE:
        raise UsageError(
            "with so many errors the gold labels carry almost no information about the truth, or "
            f"contradict it; {param('label_errors')} must be smaller (for two classes, below "
            "0.45 each)"
        )
