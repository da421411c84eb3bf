"""Curves of two models with simultaneous bands: ``c.curve``."""

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
_STREAM = 1 << 30  # not used by any block of draws
_BINS = 10
# Weight of a pseudo-item, in items. Half an item gives a share without data Jeffreys' prior. A
# whole item does not improve coverage and shifts the means twice as far.
_PSEUDO = 0.5
_MOST_ROWS = 12
_LONGEST = 12  # longest name that fits a table 80 characters wide
_SCREEN_COLUMNS = {"x", "a", "b", "difference", "difference_lower", "difference_upper"}
# With fewer items above a threshold, the net benefit depends on very few items.
_MIN_ITEMS_ABOVE = 10


class _Axes(NamedTuple):
    """Labels of the axes of a curve."""

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
    """A curve on a grid, with a band that contains the entire curve with a given probability.

    Parameters
    ----------
    observed
        Plug-in curve.
    mean, mcse
        Posterior mean at each point, and its Monte Carlo standard error.
    lower, upper
        Edges of the band.
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
    """Curves of A and B from the same item weights, and their difference.

    Parameters
    ----------
    kind
        ``"roc"``, ``"precision_recall"``, ``"calibration"`` or ``"net_benefit"``.
    names
        Names of A and B.
    grid
        Points at which the curves are evaluated.
    a, b
        Each model's curve with its simultaneous band; see :class:`Band`.
    difference
        A − B with its simultaneous band.
    prob
        Posterior probability that an entire curve lies in its band.
    n_draws
        Number of draws.
    signature
        One line that describes how the comparison was computed.

    Examples
    --------
    >>> import numpy as np, outperform as op
    >>> random = np.random.default_rng(0)
    >>> y = random.integers(2, size=300)
    >>> a, b = y + random.normal(size=300), y + 2 * random.normal(size=300)
    >>> c = op.compare(y, a, b, metric="roc_auc", rope=0.01, random_state=1)
    >>> curve = c.curve("roc")
    >>> bool((curve.a.lower < curve.a.upper).all()), curve.grid.size
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
        """Points at which the band of the difference excludes zero."""
        return np.asarray((self.difference.lower > 0) | (self.difference.upper < 0))

    def report(self) -> str:
        """Return one sentence about where the curves differ."""
        a, b = (for_text(name, limit=30) for name in self.names)
        x, y = _AXES[self.kind]
        band_name = f"the simultaneous {100 * self.prob:g}% band of {a} − {b}"
        if not self.apart.any():
            return f"The curves cannot be distinguished: {band_name} contains 0 at every {x}."
        parts = []
        band = self.difference
        for word, differs in (("above", band.lower > 0), ("below", band.upper < 0)):
            points: list[float] = self.grid[differs].tolist()
            if points:
                where = f"at {points[0]:g}"
                if len(points) > 1:
                    where = f"at {len(points)} points between {points[0]:g} and {points[-1]:g}"
                parts.append(f"{word} 0 {where}")
        where = f"{' and '.join(parts)} ({x}, {len(self.grid)} points)"
        return f"The {y} differs: {band_name} lies {where}."

    def table(self) -> Table:
        """Return one row per point of the grid."""
        parts = {"a": self.a, "b": self.b, "difference": self.difference}
        names = dict(
            zip("ab", (for_text(name, limit=_LONGEST) for name in self.names), strict=True)
        )
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
        """Return some rows, with only the band of the difference, to fit 80 columns."""
        full = self.table()
        step = -(-len(full.rows) // _MOST_ROWS)
        columns = tuple(column for column in full.columns if column.key in _SCREEN_COLUMNS)
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
            Axes to draw on, which are returned. Default: new axes.
        size
            Width of a new figure: ``"column"``, ``"text"`` or ``"slide"``.
        """
        return draw_curve(self.to_dict(), title=self.report(), difference=False, ax=ax, size=size)

    def plot_difference(self, ax: Axes | None = None, *, size: FigureSize = "text") -> Axes:
        """Draw A − B with its band.

        Parameters
        ----------
        ax
            Axes to draw on, which are returned. Default: new axes.
        size
            Width of a new figure: ``"column"``, ``"text"`` or ``"slide"``.
        """
        return draw_curve(self.to_dict(), title=self.report(), difference=True, ax=ax, size=size)

    def __repr__(self) -> str:
        return f"Curve({self.kind}: {self.report()})"


def curve(comparison: Compared, kind: Kind) -> Curve:
    """Draw the curves of both models from the item weights."""
    if kind not in get_args(Kind):
        raise UsageError(unknown_name("curve", kind, get_args(Kind)))
    spec = comparison.spec
    if not isinstance(spec, ScoreSpec) or isinstance(
        comparison.details, (RunDetails, ScoreDetails)
    ):
        raise UsageError("curves need scores; compare scores using a metric such as roc_auc")
    if spec.positive is None or not spec.paired:
        raise UsageError(
            "curves need paired models with one score per item for a positive class; use roc_auc "
            "or brier_score, with pos_label if there are several classes"
        )
    scores = [probabilities(spec.view, model, spec.positive)[1][:, 1] for model in (0, 1)]
    if kind in ("calibration", "net_benefit"):
        for name, score in zip(comparison.names, scores, strict=True):
            if score.min() < 0 or score.max() > 1:
                raise UsageError(
                    f"a {kind} curve needs probabilities, but the scores of {name!r} are not"
                )
    n_draws = min(_DRAWS, comparison.draws.size)
    refuse_hours([spec], n_draws, n_jobs=-1)
    read = _READERS[kind](spec, scores)
    values = _draw(spec, read, n_draws=n_draws, seed=child(comparison.seed, _STREAM))
    prob = comparison.hdi.prob
    units = np.pad(spec.units.counts, (0, read.n_added))[:, None]
    size = 2 * read.grid.size
    plug_in = PlugIn(units, lambda each: read.evaluate(_weights(spec, each.T)).reshape(size, -1))
    plain = plug_in.observed.reshape(2, -1)
    observed: FloatArray = np.where(np.isfinite(plain), plain, np.nan)
    a, b = (_banded(values[model], observed[model], prob) for model in range(2))
    return Curve(
        kind=kind,
        names=comparison.names,
        grid=read.grid,
        a=a,
        b=b,
        difference=_banded(values[0] - values[1], observed[0] - observed[1], prob),
        prob=prob,
        n_draws=n_draws,
        signature=comparison.signature,
    )


class _Reader(NamedTuple):
    """Grid, number of pseudo-items to add, and function of the weights.

    The function takes weights ``(length, n_items + n_added)`` and returns values ``(2, n_points,
    length)``.
    """

    grid: FloatArray
    n_added: int
    evaluate: Callable[[FloatArray], FloatArray]


def _weights(spec: ScoreSpec, units: FloatArray) -> FloatArray:
    """Return the weight of each item and each pseudo-item."""
    if spec.units.unit is None and spec.units.times is None:
        return units
    pick = spec.units.picker(np.arange(spec.view.n_rows))
    added: FloatArray = units[:, spec.units.n :]
    weights = spec.view.weights
    if weights is not None:  # weights have any scale; this is the weight of one effective item
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
    """Return the mean, and order statistics that contain an entire curve with probability ``prob``.

    The band is the k-th smallest and the k-th largest value at every point, with the largest k for
    which a further draw, such as the true curve, would lie inside the band at all points with this
    probability. Its rank among all draws is then above k, so the draws with a rank of k or less at
    some point are counted (Besag and others, 1995, count those below k, which are fewer). The band
    follows skewed posteriors at the ends of a curve, unlike bands of mean ± q · sd.
    """
    n_draws = values.shape[1]
    order: IntArray = np.argsort(values, axis=1)
    ranks: IntArray = np.empty_like(order)
    np.put_along_axis(ranks, order, np.arange(1, n_draws + 1)[None, :], axis=1)
    varies = np.ptp(values, axis=1) > 0
    extreme = np.minimum(ranks, n_draws + 1 - ranks)[varies].min(axis=0, initial=n_draws // 2)
    k = max(1, int(np.quantile(extreme, 1 - prob, method="lower")) - 1)
    lower, upper = np.take_along_axis(values, order[:, [k - 1, n_draws - k]], axis=1).T
    return Band(
        observed=observed,
        mean=values.mean(axis=1),
        mcse=values.std(axis=1, ddof=1) / np.sqrt(n_draws),
        lower=lower,
        upper=upper,
    )


class _Steps(NamedTuple):
    """Items of each class, from highest to lowest score, and the corners of the curve.

    Positives come first in both. Pseudo-items of each class, above and below all scores, are
    included.
    """

    order: tuple[IntArray, IntArray]
    corners: tuple[IntArray, IntArray]  # cumulative number of items per class, starting at 0

    @classmethod
    def of(cls, positive: BoolArray, score: FloatArray) -> _Steps:
        """Sort the items once, with two pseudo-items above all others and two below."""
        padded: FloatArray = np.append(score, [np.inf, np.inf, -np.inf, -np.inf])
        kinds: BoolArray = np.append(positive, [True, False, True, False])
        order: IntArray = np.argsort(-padded, kind="stable")
        ordered, is_positive = padded[order], kinds[order]
        last: IntArray = np.append(np.flatnonzero(ordered[1:] != ordered[:-1]), len(padded) - 1)
        passed = [np.cumsum(kind)[last] for kind in (is_positive, ~is_positive)]
        # A threshold is not a corner if the next items on both sides have the same class.
        up, right = (np.diff(steps, prepend=0) > 0 for steps in passed)
        straight = (up[:-1] == up[1:]) & (right[:-1] == right[1:]) & (up[:-1] != right[:-1])
        bends = np.append(~straight, True)
        hits, false = (np.append(0, steps[bends]) for steps in passed)
        return cls((order[is_positive], order[~is_positive]), (hits, false))

    def passed(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the shares of positives and negatives at or above each corner, starting at 0."""
        shares = []
        for order, corner in zip(self.order, self.corners, strict=True):
            total: FloatArray = np.cumsum(weights[:, order], axis=1)
            total /= total[:, -1:].copy()
            shares.append(np.pad(total, ((0, 0), (1, 0)))[:, corner])
        return shares[0], shares[1]


_GRID = np.arange(1, 100) / 100


def _of_model(weights: FloatArray, model: int, n_added: int) -> FloatArray:
    """Return the weights of the items and of a model's pseudo-items.

    If the models shared pseudo-items, the ends of both curves would always agree.
    """
    n = weights.shape[1] - 2 * n_added
    first = n + model * n_added
    pseudo_items: FloatArray = weights[:, first : first + n_added]
    items: FloatArray = weights[:, :n]
    return np.concatenate([items, pseudo_items], axis=1)


def _ranked(spec: ScoreSpec, scores: list[FloatArray], *, precision: bool) -> _Reader:
    steps = [_Steps.of(spec.is_positive, score) for score in scores]
    positive = np.append(spec.is_positive, [True, False, True, False])

    def evaluate(weights: FloatArray) -> FloatArray:
        out = np.empty((2, _GRID.size, len(weights)))
        for model, (curve, step) in enumerate(zip(out, steps, strict=True)):
            items = _of_model(weights, model, 4)
            share = (items @ positive) / items.sum(axis=1)
            hits, false = step.passed(items)
            for draw in range(len(weights)):
                if precision:  # false positives are interpolated between two thresholds
                    wrong = np.interp(_GRID, hits[draw], false[draw])
                    top = share[draw] * _GRID
                    curve[:, draw] = top / (top + (1 - share[draw]) * wrong)
                else:
                    curve[:, draw] = np.interp(_GRID, false[draw], hits[draw])
        return out

    return _Reader(_GRID, 8, evaluate)


def _roc(spec: ScoreSpec, scores: list[FloatArray]) -> _Reader:
    return _ranked(spec, scores, precision=False)


def _precision_recall(spec: ScoreSpec, scores: list[FloatArray]) -> _Reader:
    return _ranked(spec, scores, precision=True)


def _calibration(spec: ScoreSpec, scores: list[FloatArray]) -> _Reader:
    """Read the share of positives in bins of equal width, each including its upper edge."""
    inside: list[BoolArray] = [
        np.clip(np.ceil(score * _BINS).astype(int), 1, _BINS)[:, None] == np.arange(1, _BINS + 1)
        for score in scores
    ]
    used: IntArray = np.flatnonzero(inside[0].any(axis=0) & inside[1].any(axis=0))
    within: list[FloatArray] = [bins[:, used].astype(np.float64) for bins in inside]
    positive, n = spec.is_positive.astype(np.float64), spec.view.n_rows

    def evaluate(weights: FloatArray) -> FloatArray:
        items, shares = weights[:, :n], []
        for model, bins in enumerate(within):
            added = _of_model(weights, model, 2 * len(used))[:, n:].reshape(len(weights), 2, -1)
            hits = (items * positive) @ bins + added[:, 0]
            shares.append((hits / (items @ bins + added.sum(axis=1))).T)
        return np.stack(shares)

    return _Reader((used + 0.5) / _BINS, 4 * len(used), evaluate)


def _net_benefit(spec: ScoreSpec, scores: list[FloatArray]) -> _Reader:
    """Read hits minus false positives weighted by the threshold's odds, as shares of all items."""
    counts = items_of(spec.view)
    above = [score[:, None] >= _GRID for score in scores]
    many = np.all([counts @ passed >= _MIN_ITEMS_ABOVE for passed in above], axis=0)
    if not many.any():
        raise UsageError(
            f"no threshold has {_MIN_ITEMS_ABOVE} items above it in both models, as a net benefit "
            "curve requires"
        )
    grid = _GRID[many]
    odds = grid / (1 - grid)
    gain_per_item = np.where(spec.is_positive[:, None], 1.0, -odds)
    # As for a ROC curve, each class has one pseudo-item above and one below all thresholds. Without
    # these, a tail that is empty in the sample would count as empty in the population too.
    ends = np.stack([np.ones_like(grid), -odds, np.zeros_like(grid), np.zeros_like(grid)])
    gains = [np.vstack([passed[:, many] * gain_per_item, ends]) for passed in above]

    def evaluate(weights: FloatArray) -> FloatArray:
        curves = []
        for model, gain in enumerate(gains):
            items = _of_model(weights, model, len(ends))
            curves.append((items @ gain).T / items.sum(axis=1))
        return np.stack(curves)

    return _Reader(grid, 2 * len(ends), evaluate)


_READERS: dict[Kind, Callable[[ScoreSpec, list[FloatArray]], _Reader]] = {
    "roc": _roc,
    "precision_recall": _precision_recall,
    "calibration": _calibration,
    "net_benefit": _net_benefit,
}
