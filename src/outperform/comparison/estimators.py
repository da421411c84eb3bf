"""Training and prediction of estimators, and a display class in scikit-learn style."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Unpack

import numpy as np

from outperform import metrics
from outperform._typing import FigureSize, IntArray, Label, LabelsLike, Progress
from outperform.comparison.api import OfTwoArrays, compare
from outperform.comparison.result import Comparison
from outperform.errors import DataError, UsageError, require
from outperform.metrics.metric import MetricLike
from outperform.posterior.rng import n_workers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure


PREDICT = ("predict",)
# Methods for the scores that a metric uses, in the order in which scikit-learn's scorers try them.
_METHODS = {
    "ranking": ("decision_function", "predict_proba"),
    "classes": ("predict_proba",),
    "probability": ("predict_proba",),
    "statistics": PREDICT,
}


def methods_for(metric: MetricLike | None) -> tuple[str, ...]:
    """Return the estimator methods that a metric can use; empty if unknown.

    Examples
    --------
    >>> methods_for("roc_auc"), methods_for("f1"), methods_for("mean")
    (('decision_function', 'predict_proba'), ('predict',), ())
    """
    if metric is None or not metrics.is_of_scores(metric):
        return PREDICT
    return _METHODS.get(metrics.get_score(metric).reads, ())


def check_estimator(estimator: object, name: str, methods: tuple[str, ...] = PREDICT) -> None:
    """Reject an object that cannot be trained or lacks the required methods."""
    if isinstance(estimator, type):
        raise UsageError(
            f"{name} must be an estimator, not the class {estimator.__name__}; "
            f"e.g. {estimator.__name__}()"
        )
    for required in (("fit",), methods):
        if not any(callable(getattr(estimator, method, None)) for method in required):
            raise UsageError(
                f"{name} must have fit and {' or '.join(methods)}; {type(estimator).__name__} has "
                f"no {' or '.join(required)}"
            )


def respond(estimator: object, x: object, methods: tuple[str, ...]) -> object:
    """Return an estimator's predictions from the first of the given methods that it has.

    Scores of classes are returned as a mapping from each class to its column.
    """
    method = next(name for name in methods if callable(getattr(estimator, name, None)))
    predicted: object = getattr(estimator, method)(x)
    classes: object = getattr(estimator, "classes_", None)
    if method in PREDICT or classes is None:
        return predicted
    columns = np.array(predicted, dtype=np.float64)
    names: list[Label] = np.asarray(classes).tolist()
    if columns.ndim == 1:  # decision function values refer to the second class
        columns = np.stack([-columns, columns], axis=1)
    if columns.ndim != 2 or columns.shape[1] != len(names):
        raise DataError(
            f"{method} of {type(estimator).__name__} must return one column per class; it returned "
            f"shape {columns.shape} for {len(names)} classes"
        )
    return dict(zip(names, columns.T, strict=True))


class Task(NamedTuple):
    """Training of one estimator on one fold."""

    model: int
    fold: int


def predict_folds(
    estimators: Sequence[object],
    x: object,
    y: object,
    splits: Sequence[tuple[IntArray, IntArray]],
    *,
    n_jobs: int | None,
    progress: Progress | None,
    methods: tuple[str, ...] = PREDICT,
) -> list[list[Any]]:
    """Return each estimator's predictions for the test items of each fold; see :func:`respond`."""
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
            methods,
        )
        for task in tasks
    )
    parallel = joblib.Parallel(n_jobs=n_workers(n_jobs), return_as="generator_unordered")
    predictions: list[list[Any]] = [[None] * len(splits) for _ in estimators]
    made: Iterator[tuple[Task, object]] = parallel(jobs)
    for done, (task, predicted) in enumerate(made, start=1):
        predictions[task.model][task.fold] = predicted
        if progress is not None:
            progress(done, len(tasks))
    return predictions


def _train(
    task: Task, estimator: Any, x_train: Any, y_train: Any, x_test: Any, methods: tuple[str, ...]
) -> tuple[Task, Any]:
    estimator.fit(x_train, y_train)
    return task, respond(estimator, x_test, methods)


def size_of(data: object, name: str) -> int:
    """Return the number of items."""
    shape = getattr(data, "shape", None)
    if shape:
        return int(shape[0])
    if shape == () or isinstance(data, (str, bytes, dict)) or not hasattr(data, "__len__"):
        raise DataError(f"{name} must be a list, an array or a DataFrame of items")
    return len(data)


def check_jobs(n_jobs: int | None) -> None:
    """Reject an invalid number of jobs before the training starts."""
    n_workers(n_jobs)


def take(data: Any, indices: IntArray) -> object:
    """Return the items at the given positions, in the same kind of container."""
    if hasattr(data, "iloc"):
        return data.iloc[indices]
    if hasattr(data, "tocsr"):
        data = data.tocsr()  # not every sparse format can be indexed
    if hasattr(data, "shape"):
        return data[indices]
    return [data[index] for index in np.asarray(indices).tolist()]


def class_names(a: object, b: object) -> tuple[str, str]:
    """Return names for two estimators, taken from their classes."""
    names = [type(_last_step(estimator)).__name__ for estimator in (a, b)]
    return ("A", "B") if names[0] == names[1] else (names[0], names[1])


def _last_step(estimator: object) -> object:
    """Return the last step of a pipeline, or any other estimator unchanged."""
    steps = getattr(estimator, "steps", None)
    return steps[-1][-1] if isinstance(steps, list) and steps else estimator


class SupportsPredict(Protocol):
    """A trained estimator."""

    def predict(self, X: Any, /) -> Any:
        """Return the predicted labels."""


class ComparisonDisplay:
    """Posterior of A − B as a scikit-learn display.

    Create and draw one with :meth:`from_predictions`, :meth:`from_estimator` or
    :meth:`from_comparison`.

    Parameters
    ----------
    comparison
        Result of :func:`outperform.compare`.

    Attributes
    ----------
    comparison : Comparison
        The comparison to draw.
    ax_ : matplotlib Axes
        Axes of the last drawing.
    figure_ : matplotlib Figure
        Figure of these axes.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from outperform.results import ComparisonDisplay
    >>> display = ComparisonDisplay.from_predictions(
    ...     [1, 0] * 50, [1, 0] * 50, [1, 1] * 50, metric="accuracy", rope=0.01,
    ...     names=("new", "old"), random_state=0, ax=Figure().subplots())
    >>> display
    ComparisonDisplay(Comparison(...))
    >>> display.comparison.decision
    <Decision.BETTER: '≫'>
    >>> display.ax_.get_xlabel()
    'accuracy, new − old → new better'
    """

    ax_: Axes
    figure_: Figure | SubFigure

    def __init__(self, comparison: Comparison) -> None:
        self.comparison = comparison

    def __repr__(self) -> str:
        return f"ComparisonDisplay({self.comparison!r})"

    def plot(self, ax: Axes | None = None, *, size: FigureSize = "text") -> ComparisonDisplay:
        """Draw the posterior into existing or new axes.

        Parameters
        ----------
        ax
            Axes to draw on. Default: new axes.
        size
            Width of a new figure: ``"column"``, ``"text"`` or ``"slide"``.
        """
        self.ax_ = self.comparison.plot(ax, size=size)
        self.figure_ = self.ax_.figure
        return self

    @classmethod
    def from_comparison(
        cls, comparison: Comparison, *, ax: Axes | None = None, size: FigureSize = "text"
    ) -> ComparisonDisplay:
        """Draw an existing comparison.

        Parameters
        ----------
        comparison
            Result of :func:`outperform.compare`.
        ax, size
            As for :meth:`plot`.
        """
        return cls(comparison).plot(ax, size=size)

    @classmethod
    def from_predictions(
        cls,
        y_true: LabelsLike | None,
        a: LabelsLike,
        b: LabelsLike,
        *,
        ax: Axes | None = None,
        size: FigureSize = "text",
        **kwargs: Unpack[OfTwoArrays],
    ) -> ComparisonDisplay:
        """Compare two columns of predictions and draw the result.

        Parameters
        ----------
        y_true, a, b
            As for :func:`outperform.compare`.
        ax, size
            As for :meth:`plot`.
        **kwargs
            As for :func:`outperform.compare`.
        """
        return cls(compare(y_true, a, b, **kwargs)).plot(ax, size=size)

    @classmethod
    def from_estimator(
        cls,
        a: SupportsPredict,
        b: SupportsPredict,
        X: object,
        y: LabelsLike,
        *,
        ax: Axes | None = None,
        size: FigureSize = "text",
        **kwargs: Unpack[OfTwoArrays],
    ) -> ComparisonDisplay:
        """Compare the predictions of two trained estimators and draw the result.

        Parameters
        ----------
        a, b
            Trained estimators, named after their classes unless ``names`` is passed.
        X, y
            Test set that was not used for training. Ranking metrics use ``decision_function``, or
            ``predict_proba`` if there is none; probability metrics use ``predict_proba``.
        ax, size
            As for :meth:`plot`.
        **kwargs
            As for :func:`outperform.compare`.

        Examples
        --------
        >>> from matplotlib.figure import Figure
        >>> from sklearn.datasets import load_breast_cancer
        >>> from sklearn.naive_bayes import GaussianNB
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> bayes = GaussianNB().fit(X[::2], y[::2])
        >>> tree = DecisionTreeClassifier(max_depth=1, random_state=0).fit(X[::2], y[::2])
        >>> display = ComparisonDisplay.from_estimator(
        ...     bayes, tree, X[1::2], y[1::2], metric="accuracy", rope=0.01, random_state=0,
        ...     ax=Figure().subplots())
        >>> display.comparison.names
        ('GaussianNB', 'DecisionTreeClassifier')
        """
        methods = methods_for(kwargs.get("metric")) or _METHODS["ranking"]
        pos_label = kwargs.get("pos_label")
        predictions = [_response(estimator, X, pos_label, methods) for estimator in (a, b)]
        if "names" not in kwargs:
            kwargs["names"] = class_names(a, b)
        return cls.from_predictions(y, *predictions, ax=ax, size=size, **kwargs)


def _response(estimator: Any, X: object, pos_label: object, methods: tuple[str, ...]) -> Any:
    """Return the predicted labels or the scores of a trained estimator."""
    known = any(callable(getattr(estimator, name, None)) for name in methods)
    if not known or isinstance(estimator, type):
        raise UsageError(
            f"{estimator!r} must be a trained estimator with {' or '.join(methods)}; otherwise "
            "pass predictions to from_predictions"
        )
    predicted = respond(estimator, X, methods)
    if not isinstance(predicted, Mapping):
        return predicted
    if len(predicted) == 2:
        return predicted.get(pos_label, list(predicted.values())[1])
    return np.stack(list(predicted.values()), axis=1)
