"""Prior ``strata``, and the table of priors by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from itertools import product
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from outperform._typing import FloatArray, IntArray
from outperform.data.judged import Judged, agreement_patterns, refuse_many
from outperform.data.outcomes import Outcomes
from outperform.data.table import place_rows
from outperform.errors import ResourceError, UsageError, unknown_name
from outperform.posterior.base import (
    Drawn,
    Needs,
    NoClosedForms,
    Posterior,
    Prior,
    PriorModel,
    PyMCModel,
    Worker,
    margins_of,
)
from outperform.posterior.bootstrap import bootstrap
from outperform.posterior.dirichlet import flat, unit, unit_rows
from outperform.posterior.gammas import draw_gammas, fill_proportions, normalise
from outperform.posterior.hierarchical import (
    GridPosterior,
    RisingFactorial,
    Term,
    grid_posterior,
    hierarchical,
)
from outperform.posterior.learned import learned

_MOST_CELLS = 1 << 16
_JEFFREYS = 0.5
# People are expected to agree with a judge so often, by a prior worth this many items at most.
_AGREE, _MOST_MASS = 0.75, 4.0
# Below the least mass a stratum without labels might have no weight at all; above the greatest
# more mass changes nothing.
_LEAST_MASS, _GREATEST_MASS = 0.1, 1e6


class WeighedRows(NamedTuple):
    """Labels that were drawn with known probabilities, in strata and outcomes.

    A label that had half the probability of another represents twice as many items, so its gamma
    has twice the weight.
    """

    stratum: IntArray
    outcome: IntArray
    counts: FloatArray
    weights: FloatArray  # inverse probabilities, 1 on average

    def effective(self, n_strata: int, n_outcomes: int) -> FloatArray:
        """Return counts that are worth as much as labels of equal weight, by Kish's formula."""
        sums, squares = (
            np.bincount(self.stratum, self.counts * self.weights**power, minlength=n_strata)
            for power in (1, 2)
        )
        worth = np.divide(sums, squares, out=np.zeros_like(sums), where=squares > 0)
        counts: FloatArray = np.zeros((n_strata, n_outcomes))
        np.add.at(counts, (self.stratum, self.outcome), self.counts * self.weights)
        counts *= worth[:, None]
        return counts

    def draw(
        self, generator: np.random.Generator, places: IntArray, shapes: FloatArray, size: int
    ) -> FloatArray:
        """Draw the gamma of every row, weigh it and add it up by place, ``(size, length)``."""
        gammas = draw_gammas(generator, shapes) * self.weights[:, None]
        sums: FloatArray = np.zeros((size, shapes.shape[1]))
        if len(places):
            order = np.argsort(places, kind="stable")
            known, starts = np.unique(places[order], return_index=True)
            sums[known] = np.add.reduceat(gammas[order], starts, axis=0)
        return sums


class Shares:
    """Shares of outcomes that strata have in common, and how near to them each stratum is.

    Parameters
    ----------
    counts
        How often each outcome was seen in each stratum, ``(n_strata, n_outcomes)``.
    mass
        The prior mass κ with which every stratum has the common shares; learned if None.
    shapes
        The prior of the common shares, one shape for each outcome.
    rows
        The labels with their weights, if they were drawn with known probabilities.
    """

    def __init__(
        self,
        counts: FloatArray,
        *,
        mass: float | None = None,
        shapes: FloatArray | float = _JEFFREYS,
        rows: WeighedRows | None = None,
    ) -> None:
        self.counts, self.mass, self.shapes = counts, mass, np.asarray(shapes)
        self.rows = rows

    def draw(self, generator: np.random.Generator, length: int) -> FloatArray:
        """Draw the prior mass κρ of each outcome, ``(n_outcomes, length)``."""
        if self.mass is None:
            (log_mass,) = self.mass_posterior.draw(generator, length)
            mass = np.clip(np.exp(log_mass), _LEAST_MASS, _GREATEST_MASS)
        else:
            mass = np.full(length, self.mass)
        n = np.maximum(self.counts.sum(axis=1), 1.0)
        # (n_strata, length): how many labels of ρ one label of the stratum is worth
        worth = (1.0 + mass) / (n[:, None] + mass)
        own = self.shapes.reshape(-1, 1)
        shares: FloatArray
        if self.rows is None:
            shares = draw_gammas(generator, own + self.counts.T @ worth)
        else:
            rows, n_outcomes = self.rows, self.counts.shape[1]
            shapes = rows.counts[:, None] * worth[rows.stratum]
            shares = draw_gammas(generator, own, size=(n_outcomes, length))
            shares += rows.draw(generator, rows.outcome, shapes, n_outcomes)
        masses: FloatArray = mass * shares / shares.sum(axis=0)
        return masses

    @cached_property
    def mass_posterior(self) -> GridPosterior:
        """The posterior of log κ: a Dirichlet-multinomial likelihood of every stratum."""
        pooled: FloatArray = self.counts.sum(axis=0) + self.shapes
        terms = [
            Term(function=RisingFactorial(column), log_alpha=partial(_moved, by=float(by)))
            for column, by in zip(self.counts.T, np.log(pooled / pooled.sum()), strict=True)
        ]
        totals = RisingFactorial(self.counts.sum(axis=1))
        terms.append(Term(function=totals, log_alpha=partial(_moved, by=0.0), sign=-1.0))
        return grid_posterior(terms, 1)


def _moved(mesh: Sequence[FloatArray], *, by: float) -> FloatArray:
    return mesh[0] + by


class StrataWeights(NoClosedForms):
    """Posterior of ``p(a, b) · p(y | a, b)`` for two models.

    Parameters
    ----------
    cells
        The predictions (a, b) of each stratum, ``(n_strata, 2)``.
    sizes
        How many items of the pool each stratum holds.
    labelled
        How many labelled items of each stratum are of each class, ``(n_strata, n_classes)``.
    mass
        The prior mass κ of every stratum in which the models disagree; learned if None.
    agreed
        The prior mass of every stratum in which they agree.
    """

    n_models = 2

    def __init__(
        self,
        cells: IntArray,
        sizes: FloatArray,
        labelled: FloatArray,
        *,
        mass: float | None = None,
        agreed: float = 1.0,
    ) -> None:
        self.cells, self.sizes, self.labelled = cells, sizes, labelled
        self.n_strata, self.n_classes = labelled.shape
        self.agreed = agreed
        self.same = np.flatnonzero(cells[:, 0] == cells[:, 1])
        self.apart = np.flatnonzero(cells[:, 0] != cells[:, 1])
        if labelled.size > _MOST_CELLS:
            raise ResourceError(
                f"{self.n_strata:,} pairs of predictions of {self.n_classes:,} classes are more "
                f"than {_MOST_CELLS:,} cells; keep the classes that matter and call the others one"
            )
        self.shares = Shares(self.right_when_apart, mass=mass)

    @property
    def n_gammas(self) -> int:
        """How many gammas one draw takes."""
        return int(self.labelled.size + self.n_strata + 3)

    def worker(self, needs: Needs) -> Worker:
        """Return a function that draws weights and adds them up for each model."""
        places = np.arange(self.n_classes)[:, None]
        # (n_classes, n_strata): which strata have each prediction of the model
        called = [(self.cells[:, model] == places).astype(np.float64) for model in range(2)]

        def draw(generator: np.random.Generator, length: int) -> list[Drawn]:
            sizes = np.empty((self.n_strata, length))
            fill_proportions(generator, self.sizes, sizes)
            weights = self._truths(generator, length)  # (n_strata, n_classes, length)
            normalise(weights, sizes, axis=1)
            flat = weights.reshape(self.n_strata, -1)
            tables = [(one @ flat).reshape(self.n_classes, self.n_classes, -1) for one in called]
            confusions = [np.ascontiguousarray(one.transpose(1, 0, 2)) for one in tables]
            return [one if needs == "confusion" else margins_of(one) for one in confusions]

        return draw

    def _truths(self, generator: np.random.Generator, length: int) -> FloatArray:
        """Draw gammas of the true classes in each stratum, ``(n_strata, n_classes, length)``."""
        shapes = np.repeat(self.labelled[:, :, None], length, axis=2)
        rows = self.agreed * unit_rows(self.n_classes)
        shapes[self.same] += rows[self.cells[self.same, 0], :, None]
        for model, mass in enumerate(self.shares.draw(generator, length)):
            if model < 2:
                shapes[self.apart, self.cells[self.apart, model]] += mass
            else:
                each = mass / (self.n_classes - 2)
                others = np.ones((len(self.apart), self.n_classes), dtype=bool)
                np.put_along_axis(others, self.cells[self.apart], values=False, axis=1)
                strata, truth = np.nonzero(others)
                shapes[self.apart[strata], truth] += each
        return draw_gammas(generator, shapes)

    @cached_property
    def right_when_apart(self) -> FloatArray:
        """In how many labelled disagreements A, B and, if it can be, neither is right.

        An array ``(n_apart, 3)``, of two columns if there are two classes.
        """
        labelled, cells = self.labelled[self.apart], self.cells[self.apart]
        right: FloatArray = np.take_along_axis(labelled, cells, axis=1)
        if self.n_classes == 2:
            return right
        neither = labelled.sum(axis=1, keepdims=True) - right.sum(axis=1, keepdims=True)
        return np.concatenate([right, neither], axis=1)


class JudgedWeights(NoClosedForms):
    """Posterior of ``p(what the judge says) · p(what people say | what the judge says)``.

    Of right and wrong, and of two classes, the prior of every stratum has the mass of one item
    and expects people to agree with the judge: on every model apart, or on the class, three
    times out of four. Of more classes there are more strata than labels, and strata learn from
    each other: see :func:`learned_patterns`.

    Parameters
    ----------
    judged
        The judge's counts of all items, and people's of some.
    n_classes
        How many classes there are.
    right
        Whether only right and wrong are known, so that people may differ on every model apart.
    beside
        Whether every model is read off the judge's own verdicts too, after those of people.
    """

    def __init__(
        self, judged: Judged, *, n_classes: int, right: bool, beside: bool = False
    ) -> None:
        refuse_many(judged)
        self.judged, self.n_classes, self.beside = judged, n_classes, beside
        self.sizes = judged.counts.astype(np.float64)
        n_own = judged.cells.shape[1]
        self.n_models = 2 * n_own if beside else n_own
        strata = judged.strata
        if right:
            verdicts = np.array(list(product((0, 1), repeat=n_own)), dtype=np.int64)
            told = np.column_stack([np.ones(len(verdicts), dtype=np.int64), verdicts])
            cells = np.broadcast_to(told, (len(strata), *told.shape))
            agree = (verdicts == strata[:, None, 1:]).astype(np.float64)
            shares = np.where(agree > 0, _AGREE, 1.0 - _AGREE).prod(axis=2)
            # Joint verdicts on more models are more strata, and not more that is known before.
            self.prior: FloatArray = shares * min(1.0, _MOST_MASS / len(verdicts))
        else:
            if len(strata) * n_classes > _MOST_CELLS:
                raise ResourceError(
                    f"{len(strata):,} combinations of what the judge and the models say, of "
                    f"{n_classes:,} classes, are more than {_MOST_CELLS:,} cells; keep the classes "
                    "that matter and call the others one"
                )
            cells = np.repeat(strata[:, None, :], n_classes, axis=1)
            cells[:, :, 0] = np.arange(n_classes)
            self.prior = np.where(cells[:, :, 0] == strata[:, :1], _AGREE, 1.0 - _AGREE)
        # (n_strata, n_outcomes, 1 + n_models): what people may say in each stratum
        self.cells: IntArray = cells
        self.labelled = self._counts()
        many = not right and n_classes > 2
        self.rows = self._rows(by_pattern=False)
        self.patterns: tuple[Pattern, ...] = ()
        if many:
            common = self._rows(by_pattern=True)
            self.patterns = learned_patterns(strata, self.sizes, self.labelled, common)
            if judged.chances is not None and judged.chances.expected is None:
                # Strata of one or two labels cannot show what a label of theirs weighs on average.
                self.rows = common

    def _rows(self, *, by_pattern: bool) -> WeighedRows | None:
        """Return the labels with their weights; None unless their probabilities are known.

        Weights are 1 on average over a stratum, or over those of the same pattern: of the design if
        it is known, else of the labels.
        """
        chances = self.judged.chances
        if chances is None or not len(chances.cells):
            return None
        strata = self.judged.strata
        width = strata.shape[1]
        stratum = place_rows(chances.cells[:, :width], strata)
        told = (self.cells[stratum] == chances.cells[:, None, width:]).all(axis=2)
        counts = chances.counts.astype(np.float64)
        group = agreement_patterns(strata) if by_pattern else np.arange(len(strata))
        if chances.expected is None:
            top = np.bincount(group[stratum], counts * chances.weights, minlength=len(strata))
            bottom = np.bincount(group[stratum], counts, minlength=len(strata))
        else:
            top = np.bincount(group, self.sizes, minlength=len(strata))
            bottom = np.bincount(group, chances.expected, minlength=len(strata))
        mean = np.divide(top, bottom, out=np.ones_like(top), where=bottom > 0)
        return WeighedRows(
            stratum, told.argmax(axis=1), counts, chances.weights / mean[group[stratum]]
        )

    def _counts(self) -> FloatArray:
        """Count the labels of every stratum, ``(n_strata, n_outcomes)``."""
        judged = self.judged
        counts = np.zeros(self.cells.shape[:2])
        if len(judged.both.cells):
            told = (self.cells[judged.stratum] == judged.human[:, None, :]).all(axis=2)
            rows = judged.both.counts.astype(np.float64)
            np.add.at(counts, (judged.stratum, told.argmax(axis=1)), rows)
        return counts

    @property
    def n_gammas(self) -> int:
        """How many gammas one draw takes."""
        n_rows = 0 if self.rows is None else len(self.rows.counts)
        return int(self.labelled.size + self.sizes.size + n_rows)

    def worker(self, needs: Needs) -> Worker:
        """Return a function that draws weights and adds them up for each model."""
        n_strata, n_outcomes = self.labelled.shape
        rows = self.rows
        told, said = self.cells.reshape(n_strata * n_outcomes, -1), self.judged.strata
        of_people = [self._adder(told[:, [0, model]]) for model in range(1, told.shape[1])]
        of_judge = [self._adder(said[:, [0, model]]) for model in range(1, said.shape[1])]

        def draw(generator: np.random.Generator, length: int) -> list[Drawn]:
            sizes = np.empty((n_strata, length))
            fill_proportions(generator, self.sizes, sizes)
            shapes = self._shapes(generator, length)
            weights = draw_gammas(generator, shapes, size=(n_strata, n_outcomes, length))
            if rows is not None:
                places = rows.stratum * n_outcomes + rows.outcome
                repeated = np.repeat(rows.counts[:, None], length, axis=1)
                sums = rows.draw(generator, places, repeated, n_strata * n_outcomes)
                weights += sums.reshape(weights.shape)
            normalise(weights, sizes, axis=1)
            flat = weights.reshape(n_strata * n_outcomes, length)
            confusions = [add(flat) for add in of_people]
            confusions += [add(sizes) for add in of_judge] if self.beside else []
            return [one if needs == "confusion" else margins_of(one) for one in confusions]

        return draw

    def _shapes(self, generator: np.random.Generator, length: int) -> FloatArray:
        """Return or draw the shapes of what people say in each stratum.

        Labels that are weighed are drawn apart, so that only the prior's shapes are left.
        """
        labelled = self.labelled if self.rows is None else np.zeros_like(self.labelled)
        if not self.patterns:
            return (labelled + self.prior)[:, :, None]
        shapes = np.repeat(labelled[:, :, None], length, axis=2)
        for strata, spread, shares in self.patterns:
            shapes[strata] += np.tensordot(spread, shares.draw(generator, length), axes=(1, 0))
        return shapes

    def _adder(self, cells: IntArray) -> Callable[[FloatArray], FloatArray]:
        """Return what adds rows of weights up to confusion arrays by their cells."""
        keys = cells[:, 0] * self.n_classes + cells[:, 1]
        order = np.argsort(keys, kind="stable")
        found, starts = np.unique(keys[order], return_index=True)

        def add(weights: FloatArray) -> FloatArray:
            sums = np.zeros((self.n_classes**2, weights.shape[1]))
            sums[found] = np.add.reduceat(weights[order], starts, axis=0)
            return sums.reshape(self.n_classes, self.n_classes, -1)

        return add


class Pattern(NamedTuple):
    """Strata in which the judge and the models agree with each other in the same way.

    ``spread`` is how an outcome, "as the judge says", "as B says" or "neither", is shared out
    over the classes in each of these strata, ``(n_strata, n_outcomes, n_classes)``.
    """

    strata: IntArray
    spread: FloatArray
    shares: Shares


def learned_patterns(
    said: IntArray, sizes: FloatArray, labelled: FloatArray, rows: WeighedRows | None = None
) -> tuple[Pattern, ...]:
    """Put strata together by who agrees with whom, whatever the class.

    Where the judge and A say one class and B another, say, the truth is the first, the second or
    neither, with shares that these strata have in common as far as their labels allow. A class
    that nobody says is as likely as the judge says it elsewhere.

    Parameters
    ----------
    said
        The classes that the judge and every model give each stratum, ``(n_strata, 1 + n_models)``.
    sizes
        How many items each stratum holds.
    labelled
        How many labelled items of each stratum are of each class, ``(n_strata, n_classes)``.
    rows
        The same labels with their weights, if they were drawn with known probabilities.
    """
    n_classes = labelled.shape[1]
    overall = np.bincount(said[:, 0], weights=sizes, minlength=n_classes) + _JEFFREYS
    codes, found = agreement_patterns(said), []
    for code in range(codes.max() + 1):
        strata = np.flatnonzero(codes == code)
        first = said[strata[0]].tolist()
        named = said[strata][:, [first.index(one) for one in dict.fromkeys(first)]]
        spread = np.eye(n_classes)[named]
        left = np.where(spread.sum(axis=1) > 0, 0.0, overall)
        if named.shape[1] < n_classes:
            left /= left.sum(axis=1, keepdims=True)
            spread = np.concatenate([spread, left[:, None]], axis=1)
        counts: FloatArray = np.einsum("sk,sok->so", labelled[strata], spread > 0)
        own = None
        if rows is not None:
            here = np.isin(rows.stratum, strata)
            place = np.searchsorted(strata, rows.stratum[here])
            outcome = (spread[place, :, rows.outcome[here]] > 0).argmax(axis=1)
            own = WeighedRows(place, outcome, rows.counts[here], rows.weights[here])
            counts = own.effective(*counts.shape)
        # As of two classes: the mass of one item, and with the judge three times out of four.
        shapes = np.full(counts.shape[1], (1.0 - _AGREE) / (counts.shape[1] - 1))
        shapes[0] = _AGREE
        found.append(Pattern(strata, spread, Shares(counts, shapes=shapes, rows=own)))
    return tuple(found)


def judged_weights(outcomes: Outcomes, *, beside: bool = False) -> JudgedWeights:
    """Return the posterior of items that a judge looked at, and people at some."""
    judged, right = outcomes.pool, outcomes.kind == "correct"
    assert isinstance(judged, Judged)
    return JudgedWeights(judged, n_classes=outcomes.n_classes, right=right, beside=beside)


def strata(outcomes: Outcomes) -> StrataWeights | JudgedWeights:
    """Return the posterior of items that were chosen from a pool, or judged."""
    pool = outcomes.pool
    assert pool is not None
    if isinstance(pool, Judged):
        return judged_weights(outcomes)
    return StrataWeights(
        pool.cells,
        pool.counts.astype(np.float64),
        pool.labelled(outcomes.tables[0], n_labels=outcomes.n_classes),
    )


PriorLike: TypeAlias = str | ArrayLike | Prior | PyMCModel
"""A name, the shape of every cell or an array of shapes, a prior, or a PyMC model."""


def _dirichlet(prior: Prior) -> PriorModel:
    """Return a prior on every cell; one that is not ours by name goes by its repr."""
    ours = prior.name in _DIRICHLET and prior == Prior.from_param(prior.name)
    return PriorModel(name=str(prior.name) if ours else repr(prior), build=flat, shapes=prior)


_DIRICHLET = ("uniform", "jeffreys")
# Items that were chosen from a pool by their predictions have this one; nobody names it.
STRATA = PriorModel(name="strata", build=strata)
PRIORS = {
    prior.name: prior
    for prior in (
        PriorModel(name="unit", build=unit),
        *(_dirichlet(Prior.from_param(name)) for name in _DIRICHLET),
        PriorModel(name="hierarchical", build=hierarchical),
        PriorModel(name="learned", build=learned, lists=True),
        PriorModel(name="bootstrap", build=bootstrap, proper=False),
    )
}


def get_prior(prior: PriorLike | PriorModel) -> PriorModel:
    """Return a prior by name, by its shapes, or the user's PyMC model as one.

    Examples
    --------
    >>> get_prior("unit").proper, get_prior([[2, 1], [1, 2]]).name
    (True, 'Prior(rows=<array 2x2>, prevalence=1)')
    """
    if isinstance(prior, PriorModel):
        return prior
    if isinstance(prior, str):
        if prior not in PRIORS:
            raise UsageError(unknown_name("prior", prior, PRIORS))
        return PRIORS[prior]
    if isinstance(prior, PyMCModel):
        # Nothing is known of the prior in it.
        return PriorModel(name="own", build=_refuse_own, proper=False, own=prior)
    return _dirichlet(Prior.from_param(prior))


def dirichlet_shapes(prior: PriorLike | None) -> Prior:
    """Return the shapes that a prior has for every cell of two classes; None is ``"unit"``.

    Examples
    --------
    >>> dirichlet_shapes(None).row_shapes(2, 2)[0].ravel().tolist()
    [0.25, 0.25, 0.25, 0.25]
    """
    found = get_prior("unit" if prior is None else prior)
    if found.name == "unit":
        return Prior(rows=unit_rows(2))
    if found.shapes is None:
        raise UsageError(
            f"prior {found.name!r} has no shape for every cell; use 'unit', 'uniform', "
            "'jeffreys' or shapes of your own"
        )
    return found.shapes


def _refuse_own(outcomes: Outcomes) -> Posterior:
    raise UsageError("a PyMC model is sampled; say engine='pymc'")
