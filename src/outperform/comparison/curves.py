"""Curves of two models with bands that hold everywhere at once: ``c.curve``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from outperform._json import written
from outperform._typing import Axes, BoolArray, FigureSize, FloatArray, IntArray
from outperform.display.curve_figure import draw_curve
from outperform.display.document import Document, Rows
from outperform.display.formats import latex_label, number_column, signed_column
from outperform.display.numbers import for_text
from outperform.display.table import Table
from outperform.errors import UsageError, unknown_name
from outperform.inference.items import refuse_hours
from outperform.inference.score_spec import ScoreSpec
from outperform.inference.score_views import items_of, probabilities
from outperform.posterior.bootstrap import draw_items
from outperform.posterior.influence import PlugIn
from outperform.posterior.rng import child
from outperform.results.base import Tabular
from outperform.results.compared import Compared
from outperform.results.details import RunDetails, ScoreDetails

Kind: TypeAlias = Literal["roc", "precision_recall", "calibration", "net_benefit"]

_DRAWS = 4_000
_STREAM = 1 << 30  # beyond the blocks of draws
_BINS = 10
# What a pseudo-item is worth, in items. A share of which nothing was seen has Jeffreys' prior then;
# whole ones cover no better, and pull the means twice as far.
_PSEUDO = 0.5
_MOST_ROWS = 12
_LONGEST = 12  # a name in a table that 80 columns hold
_SHOWN = {"x", "a", "b", "difference", "difference_lower", "difference_upper"}
# A threshold that fewer items reach has a net benefit that rests on a handful.
_LEAST_ABOVE = 10


class _Axes(NamedTuple):
    """What the two axes of a curve show."""

    x: str
    y: str


_AXES = {
    "roc": _Axes("false positive rate", "true positive rate"),
    "precision_recall": _Axes("recall", "precision"),
    "calibration": _Axes("predicted probability", "share of positives"),
    "net_benefit": _Axes("threshold", "net benefit"),
}


@written()
class Band(NamedTuple):
    """A curve on a grid, and a band that holds the whole of it with the given probability.

    Parameters
    ----------
    observed
        The curve of the data.
    mean, mcse
        The posterior mean at each point, and its Monte Carlo error.
    lower, upper
        The band.
    """

    observed: FloatArray
    mean: FloatArray
    mcse: FloatArray
    lower: FloatArray
    upper: FloatArray


@written(
    "curve=kind names x=_axes.x y=_axes.y grid a b difference prob n_draws signature", kind="curve"
)
@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Curve(Tabular):
    """A curve of A and of B from the same weights of items, and their difference.

    Parameters
    ----------
    kind
        ``"roc"``, ``"precision_recall"``, ``"calibration"`` or ``"net_benefit"``.
    names
        A and B.
    grid
        Where the curves are read.
    a, b
        Each model's curve with its simultaneous band, see :class:`Band`.
    difference
        A − B with its own band.
    prob
        The posterior probability that a whole curve lies in its band.
    n_draws
        How many draws.
    signature
        What makes the comparison repeatable.

    Examples
    --------
    >>> import numpy as np, outperform as op
    >>> random = np.random.default_rng(0)
    >>> y = random.integers(2, size=300)
    >>> a, b = y + random.normal(size=300), y + 2 * random.normal(size=300)
    >>> c = op.compare(y, a, b, metric="roc_auc", rope=0.01, random_state=1)
    >>> found = c.curve("roc")
    >>> bool((found.a.lower < found.a.upper).all()), found.grid.size
    (True, 99)
    """

    kind: Kind
    names: tuple[str, str]
    grid: FloatArray
    a: Band
    b: Band
    difference: Band
    prob: float
    n_draws: int
    signature: str

    @property
    def _axes(self) -> _Axes:
        return _AXES[self.kind]

    @property
    def apart(self) -> BoolArray:
        """Where the band of the difference leaves out zero."""
        return np.asarray((self.difference.lower > 0) | (self.difference.upper < 0))

    def report(self) -> str:
        """Return where the curves differ, in one sentence."""
        a, b = (for_text(one, limit=30) for one in self.names)
        x, y = _AXES[self.kind]
        of_band = f"the simultaneous {100 * self.prob:g}% band of {a} − {b}"
        if not self.apart.any():
            return f"The curves are not told apart: {of_band} holds 0 at every {x}."
        parts = []
        band = self.difference
        for word, apart in (("above", band.lower > 0), ("below", band.upper < 0)):
            ends: list[float] = self.grid[apart].tolist()
            if ends:
                where = f"at {ends[0]:g}"
                if len(ends) > 1:
                    where = f"at {len(ends)} points between {ends[0]:g} and {ends[-1]:g}"
                parts.append(f"{word} 0 {where}")
        return (
            f"The {y} differs: {of_band} lies {' and '.join(parts)} ({x}, {len(self.grid)} points)."
        )

    def table(self) -> Table:
        """Return one row for each point of the grid."""
        parts = {"a": self.a, "b": self.b, "difference": self.difference}
        names = dict(zip("ab", (for_text(one, limit=_LONGEST) for one in self.names), strict=True))
        names["difference"] = "difference"
        columns = [number_column("x", _AXES[self.kind][0], 2)]
        values: dict[str, list[float]] = {"x": self.grid.tolist()}
        for part, band in parts.items():
            make = signed_column if part == "difference" else number_column
            columns.append(make(part, names[part], 3))
            values[part] = band.mean.tolist()
            for field in ("observed", "lower", "upper"):
                columns.append(make(f"{part}_{field}", field, 3))
                values[f"{part}_{field}"] = getattr(band, field).tolist()
        rows = [dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True)]
        title = (
            f"posterior means of the {_AXES[self.kind][1]} with simultaneous "
            f"{100 * self.prob:g}% bands"
        )
        return Table(tuple(columns), tuple(rows), title=title)

    def _few(self) -> Table:
        """Return some rows, with the band of the difference only: what 80 columns hold."""
        full = self.table()
        step = -(-len(full.rows) // _MOST_ROWS)
        columns = tuple(one for one in full.columns if one.key in _SHOWN)
        return Table(columns, full.rows[:: max(step, 1)], title=full.title)

    def _document(self) -> Document:
        table = self._few()
        return Document(
            headline=self.report(),
            screen=[Rows(table=table)],
            table=table,
            caption=table.title or "",
            signature=self.signature,
        )

    def _latex_label(self) -> str:
        return latex_label(*self.names, self.kind)

    def plot(self, ax: Axes | None = None, *, size: FigureSize = "text") -> Axes:
        """Draw both curves with their bands.

        Parameters
        ----------
        ax
            Axes to draw into; new ones if None. They are returned.
        size
            How wide a new figure is: ``"column"``, ``"text"`` or ``"slide"``.
        """
        return draw_curve(self.to_dict(), title=self.report(), difference=False, ax=ax, size=size)

    def plot_difference(self, ax: Axes | None = None, *, size: FigureSize = "text") -> Axes:
        """Draw A − B with its band.

        Parameters
        ----------
        ax
            Axes to draw into; new ones if None. They are returned.
        size
            How wide a new figure is: ``"column"``, ``"text"`` or ``"slide"``.
        """
        return draw_curve(self.to_dict(), title=self.report(), difference=True, ax=ax, size=size)

    def __repr__(self) -> str:
        return f"Curve({self.kind}: {self.report()})"


def curve(own: Compared, kind: Kind) -> Curve:
    """Draw the curves of both models from the weights of items."""
    if kind not in get_args(Kind):
        raise UsageError(unknown_name("curve", kind, get_args(Kind)))
    spec = own.spec
    if not isinstance(spec, ScoreSpec) or isinstance(own.details, (RunDetails, ScoreDetails)):
        raise UsageError("curves are of scores; compare scores by a metric such as roc_auc")
    if spec.positive is None or not spec.paired:
        raise UsageError(
            "curves need one score an item of a positive class, and models paired on the items; "
            "compare by roc_auc or brier_score, with pos_label if there are several classes"
        )
    scores = [probabilities(spec.view, place, spec.positive)[1][:, 1] for place in (0, 1)]
    if kind in ("calibration", "net_benefit"):
        for name, score in zip(own.names, scores, strict=True):
            if score.min() < 0 or score.max() > 1:
                raise UsageError(f"a {kind} curve reads probabilities; those of {name!r} are not")
    n_draws = min(_DRAWS, own.draws.size)
    refuse_hours([spec], n_draws, n_jobs=-1)
    read = _READERS[kind](spec, scores)
    values = _draw(spec, read, n_draws=n_draws, seed=child(own.seed, _STREAM))
    prob = own.hdi.prob
    units = np.pad(spec.units.counts, (0, read.n_added))[:, None]
    size = 2 * read.grid.size
    at_all = PlugIn(units, lambda one: read.evaluate(_weights(spec, one.T)).reshape(size, -1))
    seen = at_all.observed.reshape(2, -1)
    observed: FloatArray = np.where(np.isfinite(seen), seen, np.nan)
    a, b = (_banded(values[place], observed[place], prob) for place in range(2))
    return Curve(
        kind=kind,
        names=own.names,
        grid=read.grid,
        a=a,
        b=b,
        difference=_banded(values[0] - values[1], observed[0] - observed[1], prob),
        prob=prob,
        n_draws=n_draws,
        signature=own.signature,
    )


class _Reader(NamedTuple):
    """A grid, how many pseudo-items are added, and a function of weights.

    Weights are ``(length, n_items + n_added)``, values ``(2, n_points, length)``.
    """

    grid: FloatArray
    n_added: int
    evaluate: Callable[[FloatArray], FloatArray]


def _weights(spec: ScoreSpec, units: FloatArray) -> FloatArray:
    """Return the weight of each item and of the pseudo-items that were added."""
    if spec.units.unit is None and spec.units.times is None:
        return units
    pick = spec.units.picker(np.arange(spec.view.n_rows))
    added: FloatArray = units[:, spec.units.n :]
    weights = spec.view.weights
    if weights is not None:  # of any scale: an effective item weighs this much
        added = added * (weights @ weights / weights.sum())
    return np.concatenate([pick(units), added], axis=1)


def _draw(
    spec: ScoreSpec, read: _Reader, *, n_draws: int, seed: np.random.SeedSequence
) -> FloatArray:
    """Return draws of both curves, ``(2, n_points, n_draws)``."""
    n_units, size = spec.units.n, 2 * read.grid.size
    shapes = np.ones(n_units) if spec.shapes is None else spec.shapes
    moved = None if spec.n_groups is None else spec.influences[0]

    def make_evaluate() -> Callable[[FloatArray, FloatArray], None]:
        def evaluate(units: FloatArray, out: FloatArray) -> None:
            weights = _weights(spec, units)
            out[:] = read.evaluate(weights).reshape(size, -1)

        return evaluate

    drawn = draw_items(
        make_evaluate,
        n_units=n_units + read.n_added,
        shapes=np.pad(shapes, (0, read.n_added), constant_values=_PSEUDO),
        n_values=size,
        n_draws=n_draws,
        seed=seed,
        n_jobs=-1,
        df=None if moved is None else moved.df(),
    )
    return drawn.reshape(2, read.grid.size, n_draws)


def _banded(values: FloatArray, observed: FloatArray, prob: float) -> Band:
    """Return the mean, and order statistics between which a whole curve lies so probably.

    The k-th smallest and the k-th largest value at every point, with k the largest for which
    a further draw, the truth for one, would be nowhere outside with this probability: its rank
    among all is then above k, so that the share of draws with a rank of k or less at some point
    is counted (Besag and others, 1995, count those below k, which are fewer). That follows
    skewed posteriors at the ends of a curve, where bands of mean ± q · sd do not.
    """
    n_draws = values.shape[1]
    places: IntArray = np.argsort(values, axis=1)
    ranks: IntArray = np.empty_like(places)
    np.put_along_axis(ranks, places, np.arange(1, n_draws + 1)[None, :], axis=1)
    varies = np.ptp(values, axis=1) > 0
    extreme = np.minimum(ranks, n_draws + 1 - ranks)[varies].min(axis=0, initial=n_draws // 2)
    k = max(1, int(np.quantile(extreme, 1 - prob, method="lower")) - 1)
    lower, upper = np.take_along_axis(values, places[:, [k - 1, n_draws - k]], axis=1).T
    return Band(
        observed=observed,
        mean=values.mean(axis=1),
        mcse=values.std(axis=1, ddof=1) / np.sqrt(n_draws),
        lower=lower,
        upper=upper,
    )


class _Steps(NamedTuple):
    """Items of each class from the highest score to the lowest, and the corners of the curve.

    Positives come first in both; pseudo-items of each class above all and below all are included.
    """

    order: tuple[IntArray, IntArray]
    corners: tuple[IntArray, IntArray]  # how many items of a class are passed, from 0 on

    @classmethod
    def of(cls, positive: BoolArray, score: FloatArray) -> _Steps:
        """Sort once; of the pseudo-items two are above all others and two below."""
        whole: FloatArray = np.append(score, [np.inf, np.inf, -np.inf, -np.inf])
        kinds: BoolArray = np.append(positive, [True, False, True, False])
        order: IntArray = np.argsort(-whole, kind="stable")
        ordered, is_positive = whole[order], kinds[order]
        last: IntArray = np.append(np.flatnonzero(ordered[1:] != ordered[:-1]), len(whole) - 1)
        passed = [np.cumsum(kind)[last] for kind in (is_positive, ~is_positive)]
        # A threshold between two that pass items of one and the same class is no corner.
        up, right = (np.diff(one, prepend=0) > 0 for one in passed)
        straight = (up[:-1] == up[1:]) & (right[:-1] == right[1:]) & (up[:-1] != right[:-1])
        bends = np.append(~straight, True)
        hits, false = (np.append(0, one[bends]) for one in passed)
        return cls((order[is_positive], order[~is_positive]), (hits, false))

    def passed(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the shares of positives and negatives at or above each corner, from 0 on."""
        shares = []
        for order, corner in zip(self.order, self.corners, strict=True):
            total: FloatArray = np.cumsum(weights[:, order], axis=1)
            total /= total[:, -1:].copy()
            shares.append(np.pad(total, ((0, 0), (1, 0)))[:, corner])
        return shares[0], shares[1]


_GRID = np.arange(1, 100) / 100


def _of_model(weights: FloatArray, model: int, n_added: int) -> FloatArray:
    """Return the weights of the items and of a model's own pseudo-items.

    Pseudo-items that both models shared would say that their curves end alike.
    """
    n = weights.shape[1] - 2 * n_added
    first = n + model * n_added
    own: FloatArray = weights[:, first : first + n_added]
    items: FloatArray = weights[:, :n]
    return np.concatenate([items, own], axis=1)


def _ranked(spec: ScoreSpec, scores: list[FloatArray], *, precision: bool) -> _Reader:
    steps = [_Steps.of(spec.is_positive, score) for score in scores]
    positive = np.append(spec.is_positive, [True, False, True, False])

    def evaluate(weights: FloatArray) -> FloatArray:
        out = np.empty((2, _GRID.size, len(weights)))
        for model, (own, step) in enumerate(zip(out, steps, strict=True)):
            some = _of_model(weights, model, 4)
            share = (some @ positive) / some.sum(axis=1)
            hits, false = step.passed(some)
            for draw in range(len(weights)):
                if precision:  # as many false ones, in proportion, between two thresholds
                    wrong = np.interp(_GRID, hits[draw], false[draw])
                    top = share[draw] * _GRID
                    own[:, draw] = top / (top + (1 - share[draw]) * wrong)
                else:
                    own[:, draw] = np.interp(_GRID, false[draw], hits[draw])
        return out

    return _Reader(_GRID, 8, evaluate)


def _roc(spec: ScoreSpec, scores: list[FloatArray]) -> _Reader:
    return _ranked(spec, scores, precision=False)


def _precision_recall(spec: ScoreSpec, scores: list[FloatArray]) -> _Reader:
    return _ranked(spec, scores, precision=True)


def _calibration(spec: ScoreSpec, scores: list[FloatArray]) -> _Reader:
    """Read the share of positives by bins of equal width that hold their upper end."""
    inside: list[BoolArray] = [
        np.clip(np.ceil(score * _BINS).astype(int), 1, _BINS)[:, None] == np.arange(1, _BINS + 1)
        for score in scores
    ]
    kept: IntArray = np.flatnonzero(inside[0].any(axis=0) & inside[1].any(axis=0))
    within: list[FloatArray] = [one[:, kept].astype(np.float64) for one in inside]
    positive, n = spec.is_positive.astype(np.float64), spec.view.n_rows

    def evaluate(weights: FloatArray) -> FloatArray:
        items, found = weights[:, :n], []
        for model, one in enumerate(within):
            added = _of_model(weights, model, 2 * len(kept))[:, n:].reshape(len(weights), 2, -1)
            hits = (items * positive) @ one + added[:, 0]
            found.append((hits / (items @ one + added.sum(axis=1))).T)
        return np.stack(found)

    return _Reader((kept + 0.5) / _BINS, 4 * len(kept), evaluate)


def _net_benefit(spec: ScoreSpec, scores: list[FloatArray]) -> _Reader:
    """Read hits less false ones at the odds of the threshold, as shares of all items."""
    counts = items_of(spec.view)
    above = [score[:, None] >= _GRID for score in scores]
    many = np.all([counts @ one >= _LEAST_ABOVE for one in above], axis=0)
    if not many.any():
        raise UsageError(
            f"no threshold has {_LEAST_ABOVE} items above it in both models; there is no net "
            "benefit to draw"
        )
    grid = _GRID[many]
    odds = grid / (1 - grid)
    worth = np.where(spec.is_positive[:, None], 1.0, -odds)
    # Pseudo-items as of a ROC curve: of either class one above all thresholds and one below.
    # Without them no item at an end would be taken for none in the population.
    ends = np.stack([np.ones_like(grid), -odds, np.zeros_like(grid), np.zeros_like(grid)])
    gains = [np.vstack([passed[:, many] * worth, ends]) for passed in above]

    def evaluate(weights: FloatArray) -> FloatArray:
        curves = []
        for model, gain in enumerate(gains):
            own = _of_model(weights, model, len(ends))
            curves.append((own @ gain).T / own.sum(axis=1))
        return np.stack(curves)

    return _Reader(grid, 2 * len(ends), evaluate)


_READERS: dict[Kind, Callable[[ScoreSpec, list[FloatArray]], _Reader]] = {
    "roc": _roc,
    "precision_recall": _precision_recall,
    "calibration": _calibration,
    "net_benefit": _net_benefit,
}
