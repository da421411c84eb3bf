"""Prior ``learned``: prevalence, recall and confusions, each learned across classes.

Classes share information. The class frequencies, a model's recall in a class and the distribution
of its errors over the other classes each come from a distribution over classes whose parameters
have priors:

- the expected count of a class is ``λ_j = exp(x_j)`` with ``x_j`` from a generalised gamma
  on the log scale (location, scale, skew), and ``n_j ~ Poisson(λ_j)``, so rare and unseen classes
  get the share suggested by the counts of the others;
- the recall of a model in a class is ``Beta(s η_j, s (1 − η_j))``, where ``logit η_j`` may rise
  with the log of the class's count;
- given an error, the wrong class is ``Dirichlet(t g_j)``, where ``g_j`` is uniform over the other
  classes or follows their frequency.

Given the parameters, every row of a model's confusion matrix is conjugate. A model's posterior
depends only on its own confusion matrix, not on the model it is compared with. Paired models share
the gammas of their items. They also share part of the prior's mass: the more their errors are
correlated, the more they share. If two models err on different items, the parameters of their
recalls are negatively correlated.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from outperform._rows import distinct_rows, sum_by
from outperform._typing import FloatArray, IntArray
from outperform.data.outcomes import Outcomes
from outperform.errors import ResourceError
from outperform.posterior.base import (
    Drawn,
    Needs,
    NewTable,
    Scale,
    ScaledWorker,
    Sums,
    Tables,
    TablesBase,
    Worker,
    margins_of,
)
from outperform.posterior.class_priors import (
    LearnedPrevalence,
    class_sizes,
    recall_posterior,
    spread_posterior,
)
from outperform.posterior.dirichlet import unit
from outperform.posterior.gammas import draw_gammas, gamma_sums
from outperform.posterior.hierarchical import logistic

# Number of the largest atoms of a Dirichlet over unseen errors; the remainder is spread evenly.
_STICKS = 3
# Up to this many classes, every cell is drawn instead, which takes at most a third longer.
_FEW_CLASSES = 10
# At most this fraction of the prior's mass is shared; otherwise equal models could not differ.
_MOST_SHARED = 0.98
_MOST_CONFUSION_CELLS = 1 << 14
# Number of draws used to estimate the correlation between models, reduced if each needs many random
# numbers.
_PILOT = 500
_PILOT_NUMBERS = 1 << 22
_TINY = np.finfo(np.float64).tiny


def learned(outcomes: Outcomes, existing: IntArray | None = None) -> Tables:
    """Return the posterior. Two classes cannot share information, so they have Jeffreys rows."""
    return unit(outcomes) if outcomes.n_classes <= 2 else Learned(outcomes, existing)


class Learned(TablesBase):
    """Posterior for three or more classes, with one model or several on the same items.

    Parameters
    ----------
    outcomes
        Paired outcomes of one model or several.
    existing
        Codes of the classes that exist. None means all. Any other class has no share of the items:
        predicting it is an error, which does not affect other models.
    """

    def __init__(self, outcomes: Outcomes, existing: IntArray | None = None) -> None:
        self.n_classes, self.n_models = outcomes.n_classes, len(outcomes.models)
        self.outcomes = outcomes
        table = outcomes.tables[0]
        counts = table.counts.astype(np.float64)
        order = np.argsort(counts, kind="stable")
        self.counts, self.cells = counts[order], table.cells[order]
        self.existing = np.arange(self.n_classes) if existing is None else existing
        actual = sum_by(self.cells[:, 0], self.counts, size=self.n_classes)
        self.prevalence = LearnedPrevalence(actual[self.existing])
        self.rows = [
            _Rows(self.cells[:, [0, 1 + model]], self.counts, self.n_classes, self.existing)
            for model in range(self.n_models)
        ]
        self.shared = self.together = shared_errors(self.cells, self.counts)
        if self.n_models > 1:
            self.together = self._together()

    @property
    def n_gammas(self) -> int:
        """Approximate number of random numbers per draw."""
        of_prior = self.n_classes * (3 + self.n_models * (4 + 2 * _STICKS))
        return int(self.counts.size + of_prior)

    def worker(self, needs: Needs) -> Worker:
        """Return a function that draws prevalence, recall and errors of each model."""
        draw = self.scaled_worker(needs)
        return lambda generator, length: draw(generator, length, np.ones_like)

    def scaled_worker(self, needs: Needs) -> ScaledWorker:
        """Return a function that scales the true classes and keeps the rates within them."""
        from scipy.sparse import vstack

        if needs == "confusion" and self.n_classes**2 > _MOST_CONFUSION_CELLS:
            raise ResourceError(
                f"a function of the entire confusion matrix needs {self.n_classes**2:,} cells per "
                "draw; use one of the named metrics, which need three numbers per class"
            )
        matrix = vstack([rows.matrix for rows in self.rows]).tocsr()
        add_up = gamma_sums(self.counts, lambda gammas: matrix @ gammas, n_models=self.n_models)

        def draw(generator: np.random.Generator, length: int, scale: Scale) -> list[Drawn]:
            everywhere = np.zeros((self.n_classes, length))
            everywhere[self.existing] = self.prevalence.draw(generator, length)
            everywhere *= scale(everywhere)
            prevalence = everywhere[self.existing]
            sums, start, tables = add_up(generator, length), 0, []
            for rows, prior in zip(self.rows, self._priors(generator, length), strict=True):
                own = sums[start : start + rows.n_sums]
                start += rows.n_sums
                errors = rows.draw(generator, own, prior, prevalence)
                tables.append(errors.read(generator, needs))
            return tables

        return draw

    def predictor(self) -> NewTable:
        """Return a function that draws items from one confusion matrix, or with the unit prior.

        The learned prior has no joint cells, so several models use the unit prior, whose mass of 1
        per class barely affects them.
        """
        return super().predictor() if self.n_models == 1 else unit(self.outcomes).predictor()

    def _together(self) -> float:
        """Return the correlation of the parameters that makes accuracies correlate like errors.

        A model with strongly pooled recalls depends more on the parameters than on the items of a
        class, while another model may depend more on the items. The parameters compensate for this
        loss of correlation.
        """
        correlations = []
        sign = 1.0 if self.shared >= 0 else -1.0
        for correlation in (self.shared, sign):
            self.together = correlation
            length = min(_PILOT, _PILOT_NUMBERS // self.n_gammas + 50)
            drawn = self.worker("margins")(np.random.default_rng(0), length)
            sums = [table for table in drawn if isinstance(table, Sums)]
            rates = np.corrcoef(
                [table.hits.sum(axis=0) / table.actual.sum(axis=0) for table in sums]
            )
            correlations.append(
                (rates.sum() - self.n_models) / (self.n_models * (self.n_models - 1))
            )
        missing, gained = (
            sign * (self.shared - correlations[0]),
            sign * (correlations[1] - correlations[0]),
        )
        if not (missing > 0 and gained > 0):
            return self.shared
        return float(self.shared + (sign - self.shared) * min(missing / gained, 1.0))

    def _priors(self, generator: np.random.Generator, length: int) -> list[_RowPrior]:
        """Draw each model's parameters and, given these, the prior weights of right and wrong.

        Between models, parameters are correlated so that accuracies correlate like errors; weights
        are correlated like errors too. The marginal distribution of each model does not depend on
        the others.
        """
        common = generator.standard_normal((3, length))
        right, wrong, splits = [], [], []
        side = np.sqrt(abs(self.together))
        for rows in self.rows:
            own = generator.standard_normal((3, length))
            levels = ndtr(side * common + np.sqrt(1 - abs(self.together)) * own)
            side *= np.sign(self.together)  # one model's parameters rise as the other's fall
            # Any masses can be combined; similar ones share most of the prior's weights.
            levels[1] = ndtr(common[1])
            logit, log_mass, slope = rows.recall.at(levels)
            mean = logistic(logit + slope * rows.sizes[:, None])
            right.append(np.exp(log_mass) * mean)
            wrong.append(np.exp(log_mass) * (1.0 - mean))
            splits.append(rows.spread.draw(generator, length))
        shared = max(self.shared, 0.0)
        both_right, both_wrong = (shared * np.min(of, axis=0) for of in (right, wrong))
        hits, misses = (draw_gammas(generator, of) for of in (both_right, both_wrong))
        return [
            _RowPrior(
                hits + draw_gammas(generator, right[model] - both_right),
                misses + draw_gammas(generator, wrong[model] - both_wrong),
                *splits[model],
            )
            for model in range(self.n_models)
        ]


def _other_class(
    generator: np.random.Generator, below: FloatArray, power: IntArray, own: FloatArray
) -> IntArray:
    """Draw a possible wrong prediction for each row and draw.

    ``below`` is the distribution function for each power, and ``own`` is each row's own share.
    """
    rows = np.arange(len(own))
    level = generator.random(own.shape) * (1.0 - own)
    start = below[:, rows].T[:, power] - own  # mass before the own class
    level += np.where(level >= start, own, 0.0)
    codes = np.empty(own.shape, dtype=np.int64)
    for row in range(len(below)):
        chosen, bounds = np.flatnonzero(power == row), np.asarray(below[row], dtype=np.float64)
        codes[:, chosen] = np.searchsorted(bounds, level[:, chosen], side="right")
    # Rounding may produce the true class itself, or an index past the end.
    codes = np.minimum(codes, below.shape[1] - 1)
    return np.asarray(np.where(codes == rows[:, None], (codes + 1) % below.shape[1], codes))


def shared_errors(cells: IntArray, counts: FloatArray) -> float:
    """Return the mean correlation of the models' errors over items.

    With more than two models it is at least 0, because they cannot all be negatively correlated.

    Parameters
    ----------
    cells
        True class and each model's prediction, ``(n_cells, 1 + n_models)``.
    counts
        Count of each cell.

    Examples
    --------
    >>> shared_errors(np.array([[0, 0, 0], [0, 1, 1]]), np.array([500.0, 500.0])) > 0.97
    True
    >>> shared_errors(np.array([[0, 0, 1], [0, 1, 0]]), np.array([500.0, 500.0])) < -0.97
    True
    """
    n_models, n = cells.shape[1] - 1, counts.sum()
    if n_models == 1:
        return 0.0
    right = cells[:, 1:] == cells[:, :1]
    mean = (counts @ right + 0.5) / (n + 1)
    apart = right - mean
    covariance = (apart.T * counts) @ apart / (n + 2)
    sd = np.sqrt(mean * (1 - mean))
    correlation = covariance / np.outer(sd, sd)
    mean_off = (correlation.sum() - np.trace(correlation)) / (n_models * (n_models - 1))
    return float(np.clip(mean_off, -_MOST_SHARED if n_models == 2 else 0.0, _MOST_SHARED))


@dataclass(frozen=True, slots=True)
class _RowPrior:
    """One model's prior weights of right and wrong, and its error split's mass."""

    right: FloatArray  # (n_existing, n_draws)
    wrong: FloatArray  # (n_existing, n_draws)
    spread: FloatArray  # (n_draws,)
    power: IntArray  # (n_draws,) index of the base of the errors


class _Rows:
    """One model's predictions in each class, as sums over cells, and their posteriors.

    Rows are the classes that exist, in order; a prediction may be any class.
    """

    def __init__(
        self, cells: IntArray, counts: FloatArray, n_classes: int, existing: IntArray
    ) -> None:
        from scipy.sparse import csr_array

        self.n_classes, self.existing, n_rows = n_classes, existing, existing.size
        row = np.zeros(n_classes, dtype=np.int64)
        row[existing] = np.arange(n_rows)
        truth, predicted = row[cells[:, 0]], cells[:, 1]
        right = cells[:, 0] == predicted
        wrong = np.flatnonzero(~right)
        first, code = distinct_rows(np.stack([truth[wrong], predicted[wrong]], axis=1))
        kinds = wrong[first]  # one cell of each kind of error
        self.truth, self.predicted = truth[kinds], predicted[kinds]
        # Possible errors: the other classes, and predicted classes that do not exist.
        others = np.setdiff1d(self.predicted, existing)
        if existing.size + others.size < 2:  # every error must be in one of the other classes
            others = np.setdiff1d(np.arange(n_classes), existing)
        self.possible = np.concatenate([existing, others])
        self.n_sums = n_rows + first.size
        into = truth.copy()
        into[wrong] = n_rows + code
        columns = np.arange(counts.size)
        shape = (self.n_sums, counts.size)
        self.matrix = csr_array((np.ones(counts.size), (into, columns)), shape=shape)
        each, ones = np.arange(first.size), np.ones(first.size)
        self.to_truth = csr_array((ones, (self.truth, each)), shape=(n_rows, first.size))
        self.to_predicted = csr_array((ones, (self.predicted, each)), shape=(n_classes, first.size))
        sums = self.matrix @ counts
        hits, errors = sums[:n_rows], sums[n_rows:]
        self.n_wrong = self.to_truth @ errors
        self.sizes = class_sizes(hits + self.n_wrong)
        self.recall = recall_posterior(hits, self.n_wrong, self.sizes)
        code = np.zeros(n_classes, dtype=np.int64)
        code[self.possible] = np.arange(self.possible.size)
        actual = np.zeros(self.possible.size)
        actual[:n_rows] = hits + self.n_wrong
        self.spread = spread_posterior(errors, self.truth, code[self.predicted], actual)

    def draw(
        self,
        generator: np.random.Generator,
        sums: FloatArray,
        prior: _RowPrior,
        prevalence: FloatArray,
    ) -> _Errors:
        """Return one model's hits and errors given the gammas of its cells."""
        n_rows = self.existing.size
        errors = sums[n_rows:]
        missed = self.to_truth @ errors
        right, wrong = sums[:n_rows] + prior.right, missed + prior.wrong
        hits = prevalence * (right / (right + wrong))
        # The split of the errors is independent of their number, so the weight of observed errors
        # relative to the prior has a separate gamma.
        known = draw_gammas(generator, self.n_wrong[:, None], prevalence.shape)
        unseen = draw_gammas(generator, prior.spread, prevalence.shape)
        weight = (prevalence - hits) / np.maximum(known + unseen, _TINY)
        factor = np.divide(weight * known, missed, out=np.zeros_like(missed), where=missed > 0)
        errors *= factor[self.truth]
        return _Errors(self, hits, prevalence, errors, weight * unseen, prior)


@dataclass(frozen=True, slots=True)
class _Errors:
    """One model's drawn hits, errors of observed kinds and errors of unseen kinds."""

    rows: _Rows
    hits: FloatArray  # (n_existing, n_draws)
    actual: FloatArray  # (n_existing, n_draws)
    errors: FloatArray  # (n_kinds, n_draws)
    unseen: FloatArray  # (n_existing, n_draws)
    prior: _RowPrior

    def read(self, generator: np.random.Generator, needs: Needs) -> Drawn:
        """Return the margins or the confusion array."""
        rows, n_classes = self.rows, self.rows.n_classes
        n_rows, length = self.hits.shape
        truth, draws = np.arange(n_rows)[:, None], np.arange(length)
        confusion = needs == "confusion"
        n_places = n_rows * n_classes if confusion else n_classes
        base = rows.spread.bases[self.prior.power].T  # (n_possible, n_draws)
        others = 1.0 - base[:n_rows]
        if rows.possible.size <= _FEW_CLASSES:
            shapes = np.repeat((base * self.prior.spread)[None], n_rows, axis=0)
            shapes /= others[:, None]
            shapes[truth[:, 0], truth[:, 0]] = 0.0
            split = draw_gammas(generator, shapes)
            split *= (self.unseen / np.maximum(split.sum(axis=1), _TINY))[:, None]
            matrix = np.zeros((n_rows, n_classes, length))
            matrix[:, rows.possible] = split
            matrix = self._filled(matrix)
            return matrix if confusion else margins_of(matrix)
        below = np.cumsum(rows.spread.bases, axis=1)
        indices, masses, left = [], [], self.unseen
        for _ in range(_STICKS):
            piece = left * -np.expm1(np.log(generator.random(left.shape)) / self.prior.spread)
            other = _other_class(generator, below, self.prior.power, base[:n_rows])
            wrong = rows.possible[other]
            if confusion:
                wrong += truth * n_classes
            indices.append((wrong * length + draws).ravel())
            masses.append(piece.ravel())
            left = left - piece
        summed = np.bincount(
            np.concatenate(indices), np.concatenate(masses), minlength=n_places * length
        )
        sticks = summed.astype(np.float64, copy=False).reshape(n_places, length)
        left = left / others
        if not confusion:
            predicted = sticks + rows.to_predicted @ self.errors
            predicted[rows.possible] += base * left.sum(axis=0)
            predicted[rows.existing] += self.hits - base[:n_rows] * left
            return Sums(
                hits=self._all(self.hits), actual=self._all(self.actual), predicted=predicted
            )
        matrix = sticks.reshape(n_rows, n_classes, length)
        matrix[:, rows.possible] += base * left[:, None]
        return self._filled(matrix)

    def _filled(self, matrix: FloatArray) -> FloatArray:
        """Return the confusion array given its errors of unseen kinds."""
        matrix[self.rows.truth, self.rows.predicted] += self.errors
        matrix[np.arange(len(matrix)), self.rows.existing] = self.hits
        return self._all(matrix)

    def _all(self, drawn: FloatArray) -> FloatArray:
        """Return the rows of all classes, with zeros for those that do not exist."""
        rows = self.rows
        if rows.existing.size == rows.n_classes:
            return drawn
        whole = np.zeros((rows.n_classes, *drawn.shape[1:]))
        whole[rows.existing] = drawn
        return whole
