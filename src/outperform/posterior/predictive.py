"""Predictions beyond the data: future test sets, other training runs, other class proportions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.special import gammainc, gammaincinv, ndtr, ndtri

from outperform._typing import FloatArray
from outperform.data.outcomes import Outcomes
from outperform.data.prevalence import Prevalence, checked_draws
from outperform.data.table import Table
from outperform.posterior.base import (
    Drawn,
    Needs,
    Scale,
    ScaledWorker,
    Shapes,
    Sums,
    Tables,
    TablesBase,
    Worker,
    draw_items_of,
    margins_of,
)
from outperform.posterior.gammas import fill_proportions

Predict = Callable[[np.random.Generator, int], Outcomes]
"""Draw a scenario and a number of items from it."""


def predictive(outcomes: Outcomes, posterior: Tables) -> Predict:
    """Return a function that draws test sets from the posterior predictive distribution.

    Parameters
    ----------
    outcomes
        The data. They define the models, the classes and the kind of the new items and, if each
        model has its own items, the ratio of the models' sizes.
    posterior
        Posterior of these outcomes.

    Examples
    --------
    >>> import outperform as op
    >>> from outperform.posterior.base import build_posterior
    >>> from outperform.posterior.registry import get_prior
    >>> seen = op.Outcomes.from_labels([1, 1, 0], {"a": [1, 0, 0], "b": [1, 1, 0]})
    >>> posterior = build_posterior(seen, get_prior("uniform"))
    >>> predictive(seen, posterior)(np.random.default_rng(0), 500).n
    500
    """
    draws = [posterior.of_model(model)[0].predictor() for model in range(len(outcomes.tables))]
    shares = [table.n / max(outcomes.n, 1) for table in outcomes.tables]
    if outcomes.groups is not None:  # sizes count items, but groups are drawn
        shares = [_n_groups(table) / max(outcomes.n, 1) for table in outcomes.tables]

    def draw(generator: np.random.Generator, size: int) -> Outcomes:
        tables = [
            predictor(generator, max(1, round(size * share)))
            for predictor, share in zip(draws, shares, strict=True)
        ]
        return replace(outcomes, tables=tuple(tables), findings=(), slices=None, _repeated=())

    return draw


def certain(outcomes: Outcomes, probabilities: FloatArray) -> Predict:
    """Return a function that draws test sets from one known scenario.

    Parameters
    ----------
    outcomes
        Paired outcomes with every cell of the scenario.
    probabilities
        Probability of each cell, ``(n_cells,)``.
    """
    (table,) = outcomes.tables

    def draw(generator: np.random.Generator, size: int) -> Outcomes:
        return replace(
            outcomes, tables=(draw_items_of(table.cells, generator, size, probabilities),)
        )

    return draw


def _n_groups(table: Table) -> int:
    assert table.groups is not None
    return table.groups.n


class Trained(NamedTuple):
    """Draws of a mean over all runs and of its variance due to retraining."""

    means: FloatArray  # (n_draws,)
    variances: FloatArray  # (n_draws,)


class Spread(NamedTuple):
    """Variance of the mean over runs.

    Contains s² / R, the part v / R that is due to items, and the degrees of freedom.
    """

    between: float
    noise: float
    degrees: float


def draw_mean(
    values: FloatArray, *, bounds: tuple[float, float], seed: np.random.SeedSequence
) -> Trained:
    """Draw the mean of a metric over all possible training runs.

    Parameters
    ----------
    values
        Draws of the metric of each run from the same weights, ``(n_runs, n_draws)``.
    bounds
        Smallest and largest value of the metric.
    seed
        Seed of the draws.

    Examples
    --------
    >>> drawn = np.array([[0.80], [0.82], [0.84]]).repeat(20_000, axis=1)
    >>> found = draw_mean(drawn, bounds=(0.0, 1.0), seed=np.random.SeedSequence(1))
    >>> print(round(float(np.median(found.means)), 3), round(float(found.means.std()), 3))
    0.82 0.026
    """
    most = _most(bounds) / len(values)
    return _draw(values.mean(axis=0), spread_of(values), most=most, bounds=bounds, seed=seed)


def draw_mean_difference(
    a: FloatArray, b: FloatArray, *, bounds: tuple[float, float], seed: np.random.SeedSequence
) -> Trained:
    """Draw A − B of the means over all possible training runs.

    Parameters
    ----------
    a, b
        Draws of the metric of each run of A and of each run of B, all from the same weights.
    bounds
        Smallest and largest value of the metric.
    seed
        Seed of the draws.

    Examples
    --------
    >>> a = np.array([[0.80], [0.82], [0.84]]).repeat(20_000, axis=1)
    >>> found = draw_mean_difference(a, a, bounds=(0.0, 1.0), seed=np.random.SeedSequence(1))
    >>> low, high = np.quantile(found.means, [0.025, 0.975])
    >>> print(round(float(low), 3), round(float(high), 3))  # ±2.776 · 0.02 · √(2 / 3)
    -0.045 0.044
    """
    width = bounds[1] - bounds[0]
    return _draw(
        a.mean(axis=0) - b.mean(axis=0),
        _both(spread_of(a), spread_of(b)),
        most=_most(bounds) * (1 / len(a) + 1 / len(b)),
        bounds=(-width, width),
        seed=seed,
    )


def spread_of(values: FloatArray) -> Spread:
    """Return the variance of the mean over runs; zero if there is only one run.

    Parameters
    ----------
    values
        Draws of the metric of each run from the same weights, ``(n_runs, n_draws)``.

    Examples
    --------
    >>> spread = spread_of(np.array([[0.8, 0.9], [0.7, 0.8]]))
    >>> print(round(spread.between, 6), round(spread.noise, 6), spread.degrees)
    0.0025 0.0 1
    """
    n_runs = len(values)
    if n_runs == 1:
        return Spread(between=0.0, noise=0.0, degrees=1)
    apart: FloatArray = values - values.mean(axis=0)
    noise = float(apart.var(axis=1, ddof=1).sum()) / (n_runs - 1)
    between = float(values.mean(axis=1).var(ddof=1))
    return Spread(between=between / n_runs, noise=noise / n_runs, degrees=n_runs - 1)


def _both(a: Spread, b: Spread) -> Spread:
    """Return the spread of a difference, with Satterthwaite's degrees of freedom."""
    # The variance of a mean is at least that of its noise, whatever the observed runs show.
    q_a, q_b = (max(spread.between, spread.noise) for spread in (a, b))
    error = q_a**2 / a.degrees + q_b**2 / b.degrees
    return Spread(
        between=a.between + b.between,
        noise=a.noise + b.noise,
        degrees=(q_a + q_b) ** 2 / error if error else 1.0,
    )


def _most(bounds: tuple[float, float]) -> float:
    """Return the largest possible variance of numbers within bounds."""
    return ((bounds[1] - bounds[0]) / 2) ** 2


def _draw(
    centre: FloatArray,
    spread: Spread,
    *,
    most: float,
    bounds: tuple[float, float],
    seed: np.random.SeedSequence,
) -> Trained:
    chi, normal = np.random.Generator(np.random.SFC64(seed)).random((2, centre.size))
    variances = _variances(spread, most=most, levels=chi)
    means = _normal_within(centre, np.sqrt(variances), bounds, levels=normal)
    return Trained(means, variances)


def _variances(spread: Spread, *, most: float, levels: FloatArray) -> FloatArray:
    """Return draws of a scaled inverse χ² truncated to exceed the noise, minus the noise."""
    half, scale = spread.degrees / 2, spread.degrees * spread.between / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = scale / np.array([spread.noise + most, spread.noise])
        least, greatest = gammainc(half, ends)
        # If runs vary much less than their noise, nothing is left for run-to-run variance.
        if not greatest > least:
            return np.zeros_like(levels)
        total = scale / gammaincinv(half, least + levels * (greatest - least))
    variances: FloatArray = np.clip(total - spread.noise, 0.0, most)
    return variances


def _normal_within(
    centre: FloatArray, sd: FloatArray, bounds: tuple[float, float], *, levels: FloatArray
) -> FloatArray:
    """Return normal draws truncated to the bounds, by the inverse distribution function."""
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = (ndtr((end - centre) / sd) for end in bounds)
        drawn = centre + sd * ndtri(low + levels * (high - low))
    values: FloatArray = np.where(sd > 0, np.clip(drawn, *bounds), centre)
    return values


class Reweighted(TablesBase):
    """Posterior with replaced class proportions and unchanged rates.

    Rates within one true class, such as recall, are unchanged, including closed forms.

    Parameters
    ----------
    posterior
        Posterior of the data.
    prevalence
        Class proportions in the other population.
    codes
        Codes of the classes with stated shares.
    n_classes
        Number of classes of the posterior.
    """

    def __init__(
        self,
        posterior: Tables,
        prevalence: Prevalence,
        *,
        codes: Sequence[int],
        n_classes: int,
    ) -> None:
        self.posterior, self.prevalence = posterior, prevalence
        self.n_models = posterior.n_models
        self.codes, self.n_classes = tuple(codes), n_classes

    @property
    def n_gammas(self) -> int:
        """Approximate number of random numbers per draw."""
        return self.posterior.n_gammas + self.n_classes

    def worker(self, needs: Needs) -> Worker:
        """Return a function that draws the shares and scales every model's classes to them."""
        worker = self.posterior.scaled_worker(needs)

        def draw(generator: np.random.Generator, length: int) -> list[Drawn]:
            shares = draw_shares(self.prevalence, generator, length)

            def scale(actual: FloatArray) -> FloatArray:
                return row_factors(actual, shares, self.codes)

            return worker(generator, length, scale)

        return draw

    def row_shapes(self, model: int, positive: int) -> tuple[float, float] | None:
        """Return the shapes of right and wrong in one true class, which are unchanged."""
        own, index = self.posterior.of_model(model)
        return own.row_shapes(index, positive)

    def agreement_shapes(self, truth: int | None) -> Shapes | None:
        """Return the shapes of the two models' joint outcomes in one true class."""
        return None if truth is None else self.posterior.agreement_shapes(truth)

    def prevalence_shapes(self, positive: int) -> tuple[float, float] | None:
        """Return the shapes of one class and of the rest if two classes were counted."""
        shapes = self.prevalence.shapes
        if shapes is None or len(shapes) != 2 or self.n_classes != 2:
            return None
        of_class = dict(zip(self.codes, shapes, strict=True))
        return of_class[positive], of_class[1 - positive]


class ByTruth(TablesBase):
    """Posterior by gold label, corrected for label errors at stated rates.

    Errors are corrected first, because other class proportions refer to true classes.

    Parameters
    ----------
    posterior
        Posterior of the data, by gold label.
    inverse
        Inverse of the transposed matrix P(gold | truth).
    """

    def __init__(self, posterior: Tables, inverse: FloatArray) -> None:
        self.posterior, self.inverse = posterior, inverse
        self.n_models = posterior.n_models

    @property
    def n_gammas(self) -> int:
        """Approximate number of random numbers per draw."""
        return self.posterior.n_gammas

    def worker(self, needs: Needs) -> Worker:
        """Return a function that draws by gold label and corrects the errors."""
        inner = self.posterior.worker("confusion")

        def draw(generator: np.random.Generator, length: int) -> list[Drawn]:
            tables = _confusions(inner(generator, length))
            return [_as_needed(by_truth(table, self.inverse), needs) for table in tables]

        return draw

    def scaled_worker(self, needs: Needs) -> ScaledWorker:
        """Return a worker that also scales the true classes."""
        inner = self.posterior.worker("confusion")

        def draw(generator: np.random.Generator, length: int, scale: Scale) -> list[Drawn]:
            tables = _confusions(inner(generator, length))
            return [_as_needed(truth_at(table, self.inverse, scale), needs) for table in tables]

        return draw


def _confusions(drawn: Sequence[Drawn]) -> Iterator[FloatArray]:
    for table in drawn:
        assert not isinstance(table, Sums)  # confusion arrays were requested
        yield table


def _as_needed(confusion: FloatArray, needs: Needs) -> Drawn:
    return confusion if needs == "confusion" else margins_of(confusion)


def draw_shares(prevalence: Prevalence, generator: np.random.Generator, length: int) -> FloatArray:
    """Draw the shares of the named classes, ``(n_named, length)``."""
    if prevalence.distribution is not None:
        n_named = len(prevalence.labels)
        return checked_draws(prevalence.distribution, generator, length, n_named)
    if prevalence.shapes is None:
        return np.repeat(np.array(prevalence.shares)[:, None], length, axis=1)
    shapes, drawn = np.array(prevalence.shapes), np.empty((len(prevalence.shapes), length))
    fill_proportions(generator, shapes, drawn)
    return drawn


def row_factors(actual: FloatArray, shares: FloatArray, codes: Sequence[int]) -> FloatArray:
    """Return the factors for the weights of each true class that produce the given shares.

    Classes without a stated share divide the remainder in their own proportions.

    Parameters
    ----------
    actual
        Weight of each true class, ``(n_classes, n_draws)``.
    shares
        Shares of the named classes, ``(n_named, n_draws)``.
    codes
        Codes of the named classes.

    Examples
    --------
    >>> import numpy as np
    >>> row_factors(np.array([[100.0], [50.0]]), np.array([[0.02]]), [1]).ravel().tolist()
    [0.0098, 0.0004]
    """
    rest = np.delete(np.arange(len(actual)), list(codes))
    target = np.empty_like(actual)
    target[list(codes)] = shares
    left = np.maximum(1.0 - shares.sum(axis=0), 0.0)
    target[rest] = left * _divided(actual[rest], actual[rest].sum(axis=0))
    return _divided(target, actual)


def by_truth(confusion: FloatArray, inverse: FloatArray) -> FloatArray:
    """Return weights by truth and prediction from weights by gold label and prediction.

    Label errors that are independent of the predictions, given the truth, do not change the
    predicted totals. Shares of right predictions outside the range 0 to 1 are clipped within their
    column. Other cells may become slightly negative, which keeps their sums unbiased: clipping them
    at zero would overstate the errors.

    Parameters
    ----------
    confusion
        Weights ``(n_classes, n_classes, n_draws)``, rows gold labels.
    inverse
        Inverse of the transposed matrix P(gold | truth).

    Examples
    --------
    >>> import numpy as np
    >>> seen = np.array([[0.54, 0.06], [0.06, 0.34]])[..., None]
    >>> inverse = np.linalg.inv(np.array([[0.95, 0.05], [0.05, 0.95]]))
    >>> by_truth(seen, inverse)[..., 0].round(4)
    array([[0.5667, 0.0444],
           [0.0333, 0.3556]])
    """
    table: FloatArray = np.einsum("yg,gan->yan", inverse, confusion, optimize=True)
    every, predicted = np.arange(len(table)), confusion.sum(axis=0)
    hits = table[every, every]
    kept = np.clip(hits, 0.0, predicted)
    rest = predicted - hits
    table *= np.where(kept == hits, 1.0, _divided(predicted - kept, rest))
    table[every, every] = kept
    return table


# Share that remains of a class that label errors explain completely, relative to its gold labels.
_HARDLY_ANY = 1e-12


def truth_at(confusion: FloatArray, inverse: FloatArray, scale: Scale) -> FloatArray:
    """Return weights by truth and prediction, with the true classes scaled.

    The correctly predicted part of a class cannot exceed the class. A class that label errors
    explain completely keeps the rates of the items with that label.

    Parameters
    ----------
    confusion
        Weights ``(n_classes, n_classes, n_draws)``, rows gold labels.
    inverse
        Inverse of the transposed matrix P(gold | truth).
    scale
        Function from the weight of each true class to the factor on its weights.

    Examples
    --------
    >>> import numpy as np
    >>> seen = np.array([[0.54, 0.06], [0.06, 0.34]])[..., None]
    >>> inverse = np.linalg.inv(np.array([[0.95, 0.05], [0.05, 0.95]]))
    >>> shares = np.array([[0.1]])
    >>> there = truth_at(seen, inverse, lambda actual: row_factors(actual, shares, [1]))
    >>> there.sum(axis=1).round(4).ravel().tolist()
    [0.9, 0.1]
    """
    table = by_truth(confusion, inverse)
    actual = table.sum(axis=1)
    hardly_any = actual <= _HARDLY_ANY * confusion.sum(axis=1)
    if hardly_any.any():
        table = np.where(hardly_any[:, None], _HARDLY_ANY * confusion, table)
        actual = table.sum(axis=1)
    every = np.arange(len(table))
    too_many = table[every, every] > actual
    if too_many.any():
        table = np.where(too_many[:, None], 0.0, table)
        table[every, every] += np.where(too_many, actual, 0.0)
    scaled: FloatArray = table * scale(actual)[:, None]
    return scaled


def _divided(top: FloatArray, bottom: FloatArray) -> FloatArray:
    """Divide, with 0 if a class has no weight at all."""
    return np.divide(top, bottom, out=np.zeros_like(top), where=bottom > 0)
