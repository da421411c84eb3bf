"""A comparison as scikit-learn's displays have it: ``from_estimator``, ``from_predictions``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, Unpack

from outperform._typing import FigureSize, LabelsLike
from outperform.comparison.api import OfTwoArrays, compare
from outperform.crossval.cross import class_names
from outperform.errors import UsageError
from outperform.metrics.registry import is_of_scores
from outperform.results.comparison import Comparison

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure


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
    >>> display.comparison.decision
    <Decision.BETTER: '≫'>
    >>> display.ax_.get_xlabel()
    'accuracy, new − old → new better'
    """

    ax_: Axes
    figure_: Figure | SubFigure

    def __init__(self, comparison: Comparison) -> None:
        self.comparison = comparison

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
            The test set, which neither was trained on. For a metric of scores their
            ``predict_proba`` is asked, or their ``decision_function``.
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
        metric, pos_label = asked.get("metric"), asked.get("pos_label")
        of_scores = metric is not None and is_of_scores(metric)
        answers = [_response(one, X, pos_label, of_scores=of_scores) for one in (a, b)]
        if "names" not in asked:
            asked["names"] = class_names(a, b)
        return cls.from_predictions(y, *answers, ax=ax, size=size, **asked)


def _response(estimator: Any, X: object, pos_label: object, *, of_scores: bool) -> Any:
    """Return the labels that an estimator predicts, or its scores."""
    methods = ("predict_proba", "decision_function") if of_scores else ("predict",)
    method = next((one for one in methods if callable(getattr(estimator, one, None))), None)
    if method is None or isinstance(estimator, type):
        raise UsageError(
            f"{estimator!r} must be a trained estimator with {' or '.join(methods)}; give "
            "predictions to from_predictions otherwise"
        )
    found = getattr(estimator, method)(X)
    if method != "predict_proba" or len(estimator.classes_) != 2:
        return found
    classes = list(estimator.classes_)
    return found[:, classes.index(pos_label) if pos_label in classes else 1]
