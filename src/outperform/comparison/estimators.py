"""Estimators are trained and asked, and a comparison is drawn as scikit-learn's displays are."""

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
# By what a metric of scores reads, in the order in which scikit-learn's scorers ask.
_METHODS = {
    "ranking": ("decision_function", "predict_proba"),
    "classes": ("predict_proba",),
    "probability": ("predict_proba",),
    "statistics": PREDICT,
}


def methods_for(metric: MetricLike | None) -> tuple[str, ...]:
    """Return the methods of an estimator that say what a metric reads; none if nobody knows.

    Examples
    --------
    >>> methods_for("roc_auc"), methods_for("f1"), methods_for("mean")
    (('decision_function', 'predict_proba'), ('predict',), ())
    """
    if metric is None or not metrics.is_of_scores(metric):
        return PREDICT
    return _METHODS.get(metrics.get_score(metric).reads, ())


def check_estimator(estimator: object, name: str, methods: tuple[str, ...] = PREDICT) -> None:
    """Refuse what cannot be trained, or has none of the methods that are asked."""
    if isinstance(estimator, type):
        raise UsageError(
            f"{name} must be an estimator, not the class {estimator.__name__}; "
            f"e.g. {estimator.__name__}()"
        )
    for wanted in (("fit",), methods):
        if not any(callable(getattr(estimator, method, None)) for method in wanted):
            raise UsageError(
                f"{name} must have fit and {' or '.join(methods)}; {type(estimator).__name__} has "
                f"no {' or '.join(wanted)}"
            )


def respond(estimator: object, x: object, methods: tuple[str, ...]) -> object:
    """Return what an estimator says of items by the first of some methods that it has.

    Scores of classes come as a mapping from each class to its column.
    """
    method = next(one for one in methods if callable(getattr(estimator, one, None)))
    said: object = getattr(estimator, method)(x)
    classes: object = getattr(estimator, "classes_", None)
    if method in PREDICT or classes is None:
        return said
    columns = np.array(said, dtype=np.float64)
    names: list[Label] = np.asarray(classes).tolist()
    if columns.ndim == 1:  # margins are those of the second class
        columns = np.stack([-columns, columns], axis=1)
    if columns.ndim != 2 or columns.shape[1] != len(names):
        raise DataError(
            f"{method} of {type(estimator).__name__} must have one column a class; it has shape "
            f"{columns.shape}, and there are {len(names)} classes"
        )
    return dict(zip(names, columns.T, strict=True))


class Task(NamedTuple):
    """One training: which estimator, on which fold."""

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
    """Return what each estimator says of the test items of each fold, see :func:`respond`."""
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
    found: list[list[Any]] = [[None] * len(splits) for _ in estimators]
    made: Iterator[tuple[Task, object]] = parallel(jobs)
    for done, (task, predicted) in enumerate(made, start=1):
        found[task.model][task.fold] = predicted
        if progress is not None:
            progress(done, len(tasks))
    return found


def _train(
    task: Task, estimator: Any, x_train: Any, y_train: Any, x_test: Any, methods: tuple[str, ...]
) -> tuple[Task, Any]:
    estimator.fit(x_train, y_train)
    return task, respond(estimator, x_test, methods)


def size_of(data: object, name: str) -> int:
    """Return how many items there are."""
    shape = getattr(data, "shape", None)
    if shape:
        return int(shape[0])
    if shape == () or isinstance(data, (str, bytes, dict)) or not hasattr(data, "__len__"):
        raise DataError(f"{name} must be a list, an array or a frame of items")
    return len(data)


def check_jobs(n_jobs: int | None) -> None:
    """Refuse, before anything is trained, what would fail in the midst of it."""
    n_workers(n_jobs)


def take(data: Any, places: IntArray) -> object:
    """Return the items at some places, as the kind of container that they came in."""
    if hasattr(data, "iloc"):
        return data.iloc[places]
    if hasattr(data, "tocsr"):
        data = data.tocsr()  # not every sparse format can be indexed
    if hasattr(data, "shape"):
        return data[places]
    return [data[place] for place in np.asarray(places).tolist()]


def class_names(a: object, b: object) -> tuple[str, str]:
    """Return what two estimators are called after their classes."""
    names = [type(_last_step(one)).__name__ for one in (a, b)]
    return ("A", "B") if names[0] == names[1] else (names[0], names[1])


def _last_step(estimator: object) -> object:
    """Return the last step of a pipeline; any other estimator as it is."""
    steps = getattr(estimator, "steps", None)
    return steps[-1][-1] if isinstance(steps, list) and steps else estimator


class SupportsPredict(Protocol):
    """A trained estimator."""

    def predict(self, X: Any, /) -> Any:
        """Return the predicted labels."""


class ComparisonDisplay:
    """The posterior of A − B as a display of scikit-learn.

    Make one with :meth:`from_predictions`, :meth:`from_estimator` or :meth:`from_comparison`,
    which draw it too.

    Parameters
    ----------
    comparison
        What :func:`outperform.compare` returned.

    Attributes
    ----------
    comparison : Comparison
        The comparison that is drawn.
    ax_ : matplotlib Axes
        Where it was drawn last.
    figure_ : matplotlib Figure
        The figure of these axes.

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
        """Draw the posterior, into these axes or into new ones.

        Parameters
        ----------
        ax
            Axes to draw into; new ones if None.
        size
            How wide a new figure is: ``"column"``, ``"text"`` or ``"slide"``.
        """
        self.ax_ = self.comparison.plot(ax, size=size)
        self.figure_ = self.ax_.figure
        return self

    @classmethod
    def from_comparison(
        cls, comparison: Comparison, *, ax: Axes | None = None, size: FigureSize = "text"
    ) -> ComparisonDisplay:
        """Draw a comparison that there is.

        Parameters
        ----------
        comparison
            What :func:`outperform.compare` returned.
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
        **asked: Unpack[OfTwoArrays],
    ) -> ComparisonDisplay:
        """Compare two columns of predictions and draw it.

        Parameters
        ----------
        y_true, a, b
            As for :func:`outperform.compare`.
        ax, size
            As for :meth:`plot`.
        **asked
            As for :func:`outperform.compare`.
        """
        return cls(compare(y_true, a, b, **asked)).plot(ax, size=size)

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
        **asked: Unpack[OfTwoArrays],
    ) -> ComparisonDisplay:
        """Let two trained estimators predict, compare them and draw it.

        Parameters
        ----------
        a, b
            Trained estimators, called after their classes unless ``names`` says otherwise.
        X, y
            The test set, which neither was trained on. For a metric that ranks items their
            ``decision_function`` is asked, or their ``predict_proba``; for one of probabilities
            the latter.
        ax, size
            As for :meth:`plot`.
        **asked
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
        methods = methods_for(asked.get("metric")) or _METHODS["ranking"]
        answers = [_response(one, X, asked.get("pos_label"), methods) for one in (a, b)]
        if "names" not in asked:
            asked["names"] = class_names(a, b)
        return cls.from_predictions(y, *answers, ax=ax, size=size, **asked)


def _response(estimator: Any, X: object, pos_label: object, methods: tuple[str, ...]) -> Any:
    """Return the labels that a trained estimator predicts, or its scores."""
    known = any(callable(getattr(estimator, one, None)) for one in methods)
    if not known or isinstance(estimator, type):
        raise UsageError(
            f"{estimator!r} must be a trained estimator with {' or '.join(methods)}; give "
            "predictions to from_predictions otherwise"
        )
    found = respond(estimator, X, methods)
    if not isinstance(found, Mapping):
        return found
    if len(found) == 2:
        return found.get(pos_label, list(found.values())[1])
    return np.stack(list(found.values()), axis=1)
