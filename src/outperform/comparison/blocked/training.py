"""Training both estimators on every fold; the caller's own objects are never fitted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from outperform._optional import require
from outperform._typing import IntArray, Progress
from outperform.errors import DataError, UsageError


class Task(NamedTuple):
    """One training: which estimator, on which fold."""

    model: int
    fold: int


def predict_folds(
    estimators: Sequence[Any],
    x: Any,
    y: Any,
    splits: Sequence[tuple[IntArray, IntArray]],
    *,
    n_jobs: int | None,
    progress: Progress | None,
) -> list[list[Any]]:
    """Return the predictions of each estimator on the test half of each fold."""
    joblib = require("joblib", extra="sklearn", purpose="training on several cores")
    clone = require("sklearn.base", extra="sklearn", purpose="copying estimators").clone
    tasks = [Task(model, fold) for fold in range(len(splits)) for model in range(len(estimators))]
    jobs = (
        joblib.delayed(_train)(
            task,
            clone(estimators[task.model], safe=False),
            take(x, splits[task.fold][0]),
            take(y, splits[task.fold][0]),
            take(x, splits[task.fold][1]),
        )
        for task in tasks
    )
    parallel = joblib.Parallel(
        n_jobs=1 if n_jobs is None else n_jobs, return_as="generator_unordered"
    )
    found: list[list[Any]] = [[None] * len(splits) for _ in estimators]
    for done, (task, predicted) in enumerate(parallel(jobs), start=1):
        found[task.model][task.fold] = predicted
        if progress is not None:
            progress(done, len(tasks))
    return found


def _train(task: Task, estimator: Any, x_train: Any, y_train: Any, x_test: Any) -> tuple[Task, Any]:
    estimator.fit(x_train, y_train)
    return task, estimator.predict(x_test)


def check_estimator(estimator: Any, name: str) -> None:
    """Refuse what cannot be trained."""
    if isinstance(estimator, type):
        raise UsageError(
            f"{name} must be an estimator, not the class {estimator.__name__}; "
            f"e.g. {estimator.__name__}()"
        )
    for method in ("fit", "predict"):
        if not callable(getattr(estimator, method, None)):
            kind = type(estimator).__name__
            raise UsageError(f"{name} must have fit and predict; {kind} has no {method}")


def size_of(data: Any, name: str) -> int:
    """Return how many items there are."""
    shape = getattr(data, "shape", None)
    if shape:
        return int(shape[0])
    if shape == () or isinstance(data, (str, bytes, dict)) or not hasattr(data, "__len__"):
        raise DataError(f"{name} must be a list, an array or a frame of items")
    return len(data)


def check_jobs(n_jobs: int | None, progress: Progress | None) -> None:
    """Refuse, before anything is trained, what would fail in the midst of it."""
    whole = isinstance(n_jobs, (int, np.integer)) and not isinstance(n_jobs, bool)
    if n_jobs is not None and not (whole and (n_jobs >= 1 or n_jobs == -1)):
        raise UsageError(f"n_jobs must be None, -1 or a positive whole number; got {n_jobs!r}")
    if progress is not None and not callable(progress):
        raise UsageError(
            "progress must be a function of how many trainings are done and how many there are; "
            f"got {progress!r}"
        )


def take(data: Any, places: IntArray) -> Any:
    """Return the items at some places, as the kind of container that they came in."""
    if hasattr(data, "iloc"):
        return data.iloc[places]
    if hasattr(data, "tocsr"):
        data = data.tocsr()  # not every sparse format can be indexed
    if hasattr(data, "shape"):
        return data[places]
    return [data[place] for place in np.asarray(places).tolist()]
