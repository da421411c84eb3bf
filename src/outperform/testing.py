"""Assertions for pytest: gates, and ``check_metric`` for custom metrics."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Unpack, get_args

from outperform.errors import UsageError, unknown_name

if TYPE_CHECKING:  # so the import does not load numpy
    from os import PathLike

    from outperform._typing import Label, LabelsLike
    from outperform.data.outcomes import Outcomes
    from outperform.data.scores import Scores
    from outperform.decision.rope import RopeLike
    from outperform.gates.ledger import Ledger
    from outperform.gates.policy import PolicyLike
    from outperform.gates.result import Gate, GuardLike
    from outperform.inference.question import Candidates
    from outperform.inference.spec import OfAny
    from outperform.inference.suite import Suite
    from outperform.metrics.metric import MetricLike

    class Options(OfAny, total=False):
        """Additional keyword arguments of a gate."""

        policy: PolicyLike | None
        ledger: Ledger | str | PathLike[str] | None
        chosen_from: Candidates | None
        anytime: bool
        paired: bool
        na_values: Sequence[str] | None
        empty_is_label: bool
        never_true: Sequence[Label] | None


Undecided = Literal["fail", "warn", "pass"]


def assert_not_worse(
    y_true: Suite | Outcomes | Scores | LabelsLike | None,
    candidate: str | LabelsLike,
    baseline: str | LabelsLike,
    *,
    metric: MetricLike | None = None,
    rope: RopeLike | None = None,
    guards: Sequence[GuardLike] = (),
    undecided: Undecided = "fail",
    **options: Unpack[Options],
) -> Gate:
    """Raise AssertionError unless the candidate is not worse than the baseline.

    It is not worse if the whole HDI of candidate − baseline lies above the lower edge of
    the ROPE (for a metric where lower is better: below the upper edge).

    Parameters
    ----------
    y_true
        True labels, or :class:`Outcomes`, :class:`Scores` or a :class:`Suite`.
    candidate, baseline
        Predicted labels, or the names of two models in the outcomes.
    metric
        As for :func:`compare`.
    rope
        Region of practical equivalence: a candidate whose difference lies in it is not worse.
        Default: ±0.01.
    guards
        Additional metrics that must not get worse, as for :func:`gate`.
    undecided
        What to do if the gate is undecided: ``"fail"``, ``"warn"`` or ``"pass"``. With a serious
        finding it always fails.
    **options
        As for :func:`gate`: ``ledger``, ``policy``, ``pos_label``, ``prior``, ``random_state``, …

    Returns
    -------
    Gate
        The gate, with its comparisons for additional assertions.

    Examples
    --------
    >>> import outperform as op
    >>> from outperform.testing import assert_not_worse
    >>> seen = op.Outcomes.from_correct({"new": [1] * 80 + [0] * 20, "old": [1] * 60 + [0] * 40})
    >>> assert_not_worse(seen, "new", "old", metric="accuracy", rope=0.01)
    Gate(pass: accuracy pass)
    >>> assert_not_worse(seen, "old", "new", metric="accuracy", rope=0.01)
    Traceback (most recent call last):
    ...
    AssertionError: Gate failed: old is worse than new in accuracy: ...
    """
    __tracebackhide__ = True
    kwargs = {"metric": metric, "rope": rope, "guards": guards, **options}
    return _asserted("not_worse", (y_true, candidate, baseline), kwargs, undecided)


def assert_level(
    y_true: Suite | Outcomes | Scores | LabelsLike | None,
    candidate: str | LabelsLike,
    *,
    at_least: float | None = None,
    at_most: float | None = None,
    metric: MetricLike | None = None,
    guards: Sequence[GuardLike] = (),
    undecided: Undecided = "fail",
    **options: Unpack[Options],
) -> Gate:
    """Raise AssertionError unless the candidate's metric lies beyond a threshold.

    Parameters
    ----------
    y_true, candidate
        As for :func:`assert_not_worse`.
    at_least, at_most
        Thresholds, as for :func:`gate`.
    metric
        As for :func:`assert_not_worse`.
    guards
        Additional metrics that must reach a level, as for :func:`gate`.
    undecided, **options
        As for :func:`assert_not_worse`.

    Returns
    -------
    Gate
        The gate, with its estimates for additional assertions.

    Examples
    --------
    >>> import outperform as op
    >>> from outperform.testing import assert_level
    >>> seen = op.Outcomes.from_correct({"new": [1] * 90 + [0] * 10})
    >>> assert_level(seen, "new", at_least=0.8, metric="accuracy")
    Gate(pass: accuracy pass)
    """
    __tracebackhide__ = True
    levels = {"at_least": at_least, "at_most": at_most}
    kwargs = {"metric": metric, "guards": guards, **levels, **options}
    return _asserted("not_worse", (y_true, candidate, None), kwargs, undecided)


def assert_better(
    y_true: Suite | Outcomes | Scores | LabelsLike | None,
    candidate: str | LabelsLike,
    baseline: str | LabelsLike,
    *,
    metric: MetricLike | None = None,
    rope: RopeLike | None = None,
    guards: Sequence[GuardLike] = (),
    undecided: Undecided = "fail",
    **options: Unpack[Options],
) -> Gate:
    """Raise AssertionError unless the candidate is better than the baseline.

    It is better if the whole HDI of candidate − baseline lies above the ROPE (for
    a metric where lower is better: below it). Guards must not get worse, but need not
    get better.

    Parameters
    ----------
    y_true, candidate, baseline, metric, rope, guards, undecided, **options
        As for :func:`assert_not_worse`.

    Returns
    -------
    Gate
        The gate, with its comparisons for additional assertions.

    Examples
    --------
    >>> import outperform as op
    >>> from outperform.testing import assert_better
    >>> seen = op.Outcomes.from_correct({"new": [1] * 90 + [0] * 10, "old": [1] * 60 + [0] * 40})
    >>> assert_better(seen, "new", "old", metric="accuracy", rope=0.01)
    Gate(pass: accuracy pass)
    """
    __tracebackhide__ = True
    kwargs = {"metric": metric, "rope": rope, "guards": guards, **options}
    return _asserted("better", (y_true, candidate, baseline), kwargs, undecided)


def _asserted(
    require: Any, data: tuple[Any, Any, Any], kwargs: dict[str, Any], undecided: Undecided
) -> Gate:
    __tracebackhide__ = True
    check_undecided(undecided)
    if "require" in kwargs:
        raise UsageError("require is not a parameter here; use assert_not_worse or assert_better")
    from outperform.gates.api import gate

    return let_through(gate(*data, require=require, **kwargs), undecided, callers=3)


def check_undecided(undecided: str) -> None:
    """Raise an error unless this is a valid value of ``undecided``."""
    if undecided not in get_args(Undecided):
        raise UsageError(unknown_name("value of undecided", undecided, get_args(Undecided)))


def let_through(gate: Gate, undecided: Undecided, *, callers: int) -> Gate:
    """Return a gate that passed, or is undecided and allowed; otherwise raise AssertionError.

    Parameters
    ----------
    gate
        The gate.
    undecided
        What to do if it is undecided.
    callers
        Number of stack frames between the test and this function, to locate a warning.
    """
    __tracebackhide__ = True
    if gate.passed:
        return gate
    if undecided == "fail" or not gate.can_allow:
        raise AssertionError(gate.report())
    if undecided == "warn":
        warnings.warn(gate.report(), UserWarning, stacklevel=callers + 1)
    return gate


def check_metric(
    metric: MetricLike,
    y_true: Outcomes | Scores | LabelsLike | None,
    prediction: LabelsLike | None = None,
    *,
    pos_label: Label | None = None,
) -> None:
    """Raise AssertionError unless a metric satisfies the rules for metrics on these data.

    The laws: draws computed in one batch equal draws computed one at a time, the scale of weights
    and the order of rows do not matter, equal rows can be merged unless ``merge`` is ``"never"``,
    and no name or alias is that of a built-in metric. What the metric returns is checked as in any
    comparison.

    Parameters
    ----------
    metric
        The metric, its name, or a function.
    y_true
        True value of each item, None if the metric needs no truth, or :class:`Outcomes` or
        :class:`Scores`.
    prediction
        One model's answers. Omit it with outcomes or scores; all their models are tried.
    pos_label
        As for :func:`compare`.

    Examples
    --------
    >>> import numpy as np
    >>> from outperform.metrics import Basis, Metric, Sums
    >>> from outperform.testing import check_metric
    >>> def root(means):
    ...     return np.sqrt(means[0])
    >>> how = Sums(basis=Basis(reads="grade"), combine=root)
    >>> metric = Metric(name="root", label="root", how=how, merge="terms")
    >>> check_metric(metric, None, [0.1, 0.4, 0.2, 0.9, 0.3, 0.8])
    >>> check_metric(lambda confusion: confusion[0, 0], [0, 1, 1, 0, 1], [0, 1, 0, 1, 1])
    Traceback (most recent call last):
    ...
    AssertionError: metric 'custom' breaks the law 'scale': the scale of the weights must not ...
    """
    __tracebackhide__ = True
    from outperform.inference.laws import broken_laws

    for text in broken_laws(metric, y_true, prediction, pos_label=pos_label):
        raise AssertionError(text)


__all__ = ["assert_better", "assert_level", "assert_not_worse", "check_metric"]
