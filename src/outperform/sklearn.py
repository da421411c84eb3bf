"""scikit-learn: choose the simplest configuration of a search that is not really worse."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, TypeAlias, cast

import numpy as np

from outperform._typing import FloatArray
from outperform.crossval.scores import compare_cv_scores
from outperform.decision.intervals import check_prob
from outperform.decision.rope import Rope, RopeLike
from outperform.errors import DataError, UsageError, param, require

__all__ = ["simplest_equivalent"]

Simplicity: TypeAlias = "str | Sequence[str] | Callable[[Mapping[str, object]], float]"

# Larger values make a model more complex (1), or simpler (-1).
_DIRECTIONS = {
    "C": 1, "gamma": 1, "degree": 1, "n_components": 1, "n_estimators": 1, "max_depth": 1,
    "max_leaf_nodes": 1, "max_iter": 1, "n_features_to_select": 1, "k": 1,
    "alpha": -1, "ccp_alpha": -1, "reg_alpha": -1, "reg_lambda": -1, "l2_regularization": -1,
    "min_samples_leaf": -1, "min_samples_split": -1, "n_neighbors": -1,
}  # fmt: skip


# cv_results_ does not show which splits are repetitions. One k-fold hardly ever has more folds.
_MOST_FOLDS = 10
_CAUTIOUS_SHARE = 0.5  # of repeated 2-fold, the largest share of repeated k-fold


@dataclass(frozen=True, slots=True, kw_only=True)
class _Choice:
    """Callable for ``refit=``; see :func:`simplest_equivalent`."""

    metric: str
    rope: Rope
    simplicity: Simplicity | None
    prob: float
    test_share: float | None

    def __call__(self, cv_results_: Mapping[str, object]) -> int:
        scores = _scores(cv_results_, self.metric)
        complete = ~np.isnan(scores).any(axis=1)
        if not complete.any():
            raise DataError("no configuration has a score in every fold; see fit_failed warnings")
        means = np.where(complete, scores.mean(axis=1), -np.inf)
        best = int(means.argmax())
        share = self._share_tested(scores.shape[1])
        enough = [
            index
            for index in np.flatnonzero(complete).tolist()
            if index == best or self._is_not_worse(scores[index], scores[best], share)
        ]
        keys = _keys(cast(Any, cv_results_["params"]), self.simplicity)
        # Of equally simple configurations, the one with the best scores.
        return min(enough, key=lambda index: (keys[index], -means[index], index))

    def _share_tested(self, n_splits: int) -> float:
        """Return the share of the items that a fold tests; if unknown, a cautious one."""
        if self.test_share is not None:
            return self.test_share
        if n_splits <= _MOST_FOLDS:
            return 1 / n_splits
        warnings.warn(
            f"cv_results_ has {n_splits} splits and does not show how many items each of them "
            f"tests, so half of them is assumed, and fewer configurations qualify; pass "
            f"{param('test_share=', 0.1)} for repeated 10-fold cross-validation, or "
            f"{param('test_share=')}1 / {n_splits} for {n_splits} folds",
            UserWarning,
            stacklevel=3,
        )
        return _CAUTIOUS_SHARE

    def _is_not_worse(self, own: FloatArray, best: FloatArray, share: float) -> bool:
        compared = compare_cv_scores(own, best, rope=self.rope, test_share=share)
        return 1 - compared.p_worse >= self.prob


def simplest_equivalent(
    metric: str,
    *,
    rope: RopeLike | None = None,
    simplicity: Simplicity | None = None,
    prob: float = 0.95,
    test_share: float | None = None,
) -> Callable[[Mapping[str, object]], int]:
    """Return a callable for ``refit=`` of ``GridSearchCV`` and ``RandomizedSearchCV``.

    It chooses the simplest configuration that is not worse than the best one by more than the ROPE,
    with a probability of at least ``prob``. The probability comes from the scores of the folds, as
    in :func:`compare_cv_scores`, so it accounts for the training items that folds share. The best
    configuration was chosen by the same scores, so its lead is partly luck, and the rule is
    cautious.

    Parameters
    ----------
    metric
        Name of the score in ``cv_results_``, as in ``scoring=``. Higher scores must be better, as
        for all scorers of scikit-learn.
    rope
        Region of practical equivalence, in units of the score. Default: ±0.01.
    simplicity
        What makes a configuration simple. The name of a parameter whose smaller values are simpler;
        with a minus sign, such as ``"-ridge__alpha"``, larger ones. Several names, the most
        important first. Or a function of the parameters that returns a number, smaller if simpler.
        Default: the only parameter that the search varies, if its direction is known.
    prob
        Probability that the chosen configuration is not worse by more than the ROPE.
    test_share
        Share of the items that a fold tests: 1 / k for k-fold, also if it is repeated. Default: 1 /
        number of splits. The callable sees only ``cv_results_``, so it cannot tell repeated 5-fold
        from 10-fold or random splits. With more than 10 splits, it assumes half of the items, which
        is cautious, and warns.

    Examples
    --------
    >>> import numpy as np
    >>> choose = simplest_equivalent("accuracy", rope=0.02, simplicity="C")
    >>> results = {"params": [{"C": 0.1}, {"C": 1.0}, {"C": 10.0}]}
    >>> folds = [[0.70, 0.90, 0.902], [0.71, 0.91, 0.911], [0.69, 0.89, 0.891], [0.7, 0.9, 0.9]]
    >>> results |= {f"split{i}_test_score": np.array(one) for i, one in enumerate(folds)}
    >>> choose(results)
    1
    """
    require("sklearn", extra="sklearn", purpose="op.sklearn")
    if not isinstance(metric, str):
        raise UsageError(f"metric must be the name of a score in cv_results_; got {metric!r}")
    return _Choice(
        metric=metric,
        rope=Rope.from_param(rope, bounds=(-1.0, 1.0) if rope is None else None),
        simplicity=simplicity,
        prob=check_prob(prob),
        test_share=test_share,
    )


def _scores(results: Mapping[str, object], metric: str) -> FloatArray:
    """Return the scores of the folds, ``(n_configurations, n_folds)``."""
    for name in (metric, "score"):
        columns: list[FloatArray] = []
        while (key := f"split{len(columns)}_test_{name}") in results:
            columns.append(np.asarray(cast(Any, results[key]), dtype=np.float64))
        if len(columns) > 1:
            return np.column_stack(columns)
    known = sorted(key[12:] for key in results if key.startswith("split0_test_"))
    raise UsageError(
        f"cv_results_ has no scores {metric!r} of two folds or more; known are "
        f"{', '.join(known) or 'none'}"
    )


def _keys(configurations: Sequence[Mapping[str, Any]], simplicity: Simplicity | None) -> list[Any]:
    """Return a sort key for each configuration, smaller if simpler."""
    if callable(simplicity):
        return [simplicity(configuration) for configuration in configurations]
    names = [simplicity] if isinstance(simplicity, str) else simplicity
    if names is None:
        names = [_only_known(configurations)]
    signs = [(name.removeprefix("-"), -1 if name.startswith("-") else 1) for name in names]
    keys = []
    for configuration in configurations:
        key = []
        for name, sign in signs:
            value = configuration.get(name)
            if value is None and name in configuration:
                value = np.inf  # no limit, as in max_depth=None
            if not isinstance(value, Real):
                raise UsageError(
                    f"{param('simplicity=')} names {name!r}, which is not a number in every "
                    f"configuration; got {value!r}; pass a function of the parameters"
                )
            key.append(sign * float(value))
        keys.append(tuple(key))
    return keys


def _only_known(configurations: Sequence[Mapping[str, Any]]) -> str:
    names = dict.fromkeys(name for configuration in configurations for name in configuration)
    varied = [
        name
        for name in names
        if len({repr(configuration.get(name)) for configuration in configurations}) > 1
    ] or list(names)
    if len(varied) == 1:
        sign = _DIRECTIONS.get(varied[0].rpartition("__")[2])
        if sign is not None:
            return varied[0] if sign > 0 else f"-{varied[0]}"
    example = varied[0] if varied else "C"
    raise UsageError(
        f"the search varies {', '.join(varied) or 'nothing'}, and which values are simpler is not "
        f"known; pass {param('simplicity=', example)} if smaller values are simpler, or "
        f"{param('simplicity=', '-' + example)} if larger ones are"
    )
