"""Base classes of priors and posteriors, and the choice of a closed form, if one exists."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from outperform._typing import Distribution, FloatArray, IntArray
from outperform.data.table import Table
from outperform.errors import UsageError, param, unknown_name
from outperform.posterior.exact.difference import DirichletDifference, IndependentDifference
from outperform.posterior.exact.f_score import FlatFScore, WeightedShare
from outperform.posterior.exact.share import Share
from outperform.posterior.rng import Blocks, block_length, spread_blocks

if TYPE_CHECKING:
    from outperform.data.outcomes import Outcomes

_SMALLEST = 1e-300


@dataclass(frozen=True, eq=False, init=False)
class Prior:
    """Dirichlet concentrations of the class proportions and each class's predictions.

    Parameters
    ----------
    rows
        Concentration of each cell of a class: one number for all cells, or an array of shape
        ``(n_classes, n_classes)`` (each model's own confusion rows; for paired models their
        product, with the same mass in each row), or of shape ``(n_classes, n_classes, n_classes)``
        for a pair of models.
    prevalence
        Concentration of each class: one number for all classes, or one per class.
    name
        Name in signatures.

    Examples
    --------
    >>> import outperform as op
    >>> op.Prior(rows=1.0, prevalence=2.0)
    Prior(rows=1, prevalence=2)
    >>> op.Prior.from_param("jeffreys")
    Prior('jeffreys')
    """

    rows: FloatArray
    prevalence: FloatArray
    name: str | None

    def __init__(
        self, rows: ArrayLike = 1.0, prevalence: ArrayLike = 1.0, name: str | None = None
    ) -> None:
        shapes = _checked(rows, "rows", dimensions=(0, 2, 3))
        of_classes = _checked(prevalence, "prevalence", dimensions=(0, 1))
        for own, value in (("rows", shapes), ("prevalence", of_classes), ("name", name)):
            object.__setattr__(self, own, value)

    @classmethod
    def from_param(cls, prior: str | ArrayLike | Prior | None) -> Prior:
        """Convert a name, a number, an array of row concentrations or a prior.

        Parameters
        ----------
        prior
            ``"uniform"`` or None, ``"jeffreys"``, one concentration for all cells, an array for
            ``rows``, or a prior, which is returned unchanged.
        """
        if isinstance(prior, Prior):
            return prior
        if prior is None:
            return _NAMED["uniform"]
        if isinstance(prior, str):
            if prior not in _NAMED:
                raise UsageError(unknown_name("prior", prior, _NAMED))
            return _NAMED[prior]
        return cls(rows=prior)

    def row_shapes(self, n_classes: int, n_models: int) -> FloatArray:
        """Return shapes ``(n_classes, n_classes, …)``: truth, then each model's prediction.

        Parameters
        ----------
        n_classes
            Number of classes.
        n_models
            Number of paired models.
        """
        full = (n_classes,) * (1 + n_models)
        if self.rows.ndim == 0:
            return np.full(full, float(self.rows))
        if self.rows.shape == full:
            return np.array(self.rows)
        if self.rows.shape != (n_classes, n_classes):
            raise UsageError(
                f"prior rows must be a number or an array of shape {(n_classes, n_classes)} or "
                f"{full}; got shape {self.rows.shape}"
            )
        return product_rows(self.rows, n_models)

    def prevalence_shapes(self, n_classes: int) -> FloatArray:
        """Return one shape per class.

        Parameters
        ----------
        n_classes
            Number of classes.
        """
        if self.prevalence.ndim == 1 and self.prevalence.size != n_classes:
            raise UsageError(
                f"prior prevalence must have {n_classes} values; got {self.prevalence.size}"
            )
        return np.broadcast_to(self.prevalence, (n_classes,)).astype(np.float64)

    def __repr__(self) -> str:
        if self.name is not None:
            return f"Prior({self.name!r})"
        return f"Prior(rows={_short(self.rows)}, prevalence={_short(self.prevalence)})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Prior) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[object, ...]:
        return (
            self.rows.shape,
            self.rows.tobytes(),
            self.prevalence.shape,
            self.prevalence.tobytes(),
        )


def product_rows(rows: FloatArray, n_models: int) -> FloatArray:
    """Return the product prior, with ``rows`` as each model's marginal and the same row masses.

    With row mass ``s``, a pair of predictions gets ``ω_jk · ω_jl / s_j``.
    """
    mass: FloatArray = rows.sum(axis=1)
    # The shares of a row without mass are undefined; the posterior decides whether that is allowed.
    shares = rows / np.where(mass > 0, mass, 1.0)[:, None]
    joint = mass
    for model in range(n_models):
        shape = (len(mass),) + (1,) * model + (rows.shape[1],)
        joint = joint[..., None] * shares.reshape(shape)
    product: FloatArray = joint
    return product


def _checked(value: ArrayLike, what: str, *, dimensions: tuple[int, ...]) -> FloatArray:
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise UsageError(f"prior {what} must be numbers; got {value!r}") from error
    if array.ndim not in dimensions or not array.size:
        raise UsageError(f"prior {what} has the wrong shape {array.shape}")
    if not np.all(np.isfinite(array)) or array.min() < 0:
        raise UsageError(f"prior {what} must be finite and not negative; got {value!r}")
    if np.any((array > 0) & (array < _SMALLEST)):
        raise UsageError(
            f"prior {what} below {_SMALLEST} cannot be distinguished from zero; got {value!r}"
        )
    array.setflags(write=False)
    return array


def _short(array: FloatArray) -> str:
    return f"{float(array):g}" if array.ndim == 0 else f"<array {'x'.join(map(str, array.shape))}>"


_NAMED = {
    "uniform": Prior(rows=1.0, prevalence=1.0, name="uniform"),
    "jeffreys": Prior(rows=0.5, prevalence=0.5, name="jeffreys"),
}


Needs = Literal["margins", "confusion"]


class Sums(NamedTuple):
    """Sums of weights by class; draws are on the last axis."""

    hits: FloatArray  # (n_classes, n_draws) both truth and prediction are the class
    actual: FloatArray  # (n_classes, n_draws) the truth is the class
    predicted: FloatArray  # (n_classes, n_draws) the prediction is the class


Drawn = Sums | FloatArray
"""Margins, or a confusion array ``(n_classes, n_classes, n_draws)`` whose rows are true classes."""

Worker = Callable[[np.random.Generator, int], list[Drawn]]
"""Draw a block of a given length: one :class:`Drawn` per model."""


Scale = Callable[[FloatArray], FloatArray]
"""Function from the sum of each true class ``(n_classes, n_draws)`` to a factor for its weights."""

ScaledWorker = Callable[[np.random.Generator, int, Scale], list[Drawn]]
"""Draw a block with true classes scaled before the weights are added up."""


class Shapes(NamedTuple):
    """Dirichlet concentrations of two models' joint outcomes on the same items."""

    both: float
    only_a: float
    only_b: float
    neither: float


NewTable = Callable[[np.random.Generator, int], Table]
"""Draw a scenario and, from it, a table of the given number of new items or groups."""


class Tables(Protocol):
    """Random confusion arrays of each model, which can put weight on cells that never occurred."""

    @property
    def n_models(self) -> int:
        """Number of models that share the same weights."""

    @property
    def n_gammas(self) -> int:
        """Approximate number of random numbers per draw; it determines the block length."""

    def worker(self, needs: Needs) -> Worker:
        """Return a function with its own buffers that draws blocks."""

    def scaled_worker(self, needs: Needs) -> ScaledWorker:
        """Return a worker that scales the true classes before the weights are added up."""

    def predictor(self) -> NewTable:
        """Return a function with its own buffers that draws future test sets."""

    def of_model(self, model: int) -> tuple[Tables, int]:
        """Return the posterior that draws a model, and the model's index in that posterior."""

    def part_shape(self, model: int, part: str, positive: int | None) -> float | None:
        """Return the gamma shape of a part if all cells are one Dirichlet, else None."""

    def row_shapes(self, model: int, positive: int) -> tuple[float, float] | None:
        """Return the Dirichlet shapes of right and wrong predictions in one true class."""

    def agreement_shapes(self, truth: int | None) -> Shapes | None:
        """Return the shapes for both, A only, B only and neither right; None if not Dirichlet."""

    def prevalence_shapes(self, positive: int) -> tuple[float, float] | None:
        """Return the shapes of one class and of the rest if prevalence has a separate prior."""


class Weights(Tables, Protocol):
    """Random weights of rows, which add up to the tables."""

    @property
    def cells(self) -> IntArray:
        """True label and each model's prediction for every row, ``(n_rows, 1 + n_models)``."""

    def weights_worker(self) -> Callable[[np.random.Generator, int], FloatArray]:
        """Return a function with its own buffers that draws weights ``(n_rows, n_draws)``."""


class TablesBase(ABC):
    """Defaults for paired posteriors without closed forms; overridden if closed forms exist."""

    n_models: int
    """Number of models that share the same weights."""

    @property
    @abstractmethod
    def n_gammas(self) -> int:
        """Approximate number of random numbers per draw."""

    @abstractmethod
    def worker(self, needs: Needs) -> Worker:
        """Return a function with its own buffers that draws blocks."""

    def scaled_worker(self, needs: Needs) -> ScaledWorker:
        """Return a function that scales the rows of confusion arrays."""
        inner = self.worker("confusion")

        def draw(generator: np.random.Generator, length: int, scale: Scale) -> list[Drawn]:
            scaled: list[Drawn] = []
            for confusion in inner(generator, length):
                assert not isinstance(confusion, Sums)  # confusion arrays were requested
                weighed = confusion * scale(confusion.sum(axis=1))[:, None]
                scaled.append(weighed if needs == "confusion" else margins_of(weighed))
            return scaled

        return draw

    def predictor(self) -> NewTable:
        """Return a function that draws from the confusion array of a single model."""
        if self.n_models > 1:
            raise UsageError(
                "this prior cannot draw items with several labels as one unit; omit prior, or "
                f"use {param('prior=', 'bootstrap')}"
            )
        worker = self.worker("confusion")

        def draw(generator: np.random.Generator, size: int) -> Table:
            (confusion,) = worker(generator, 1)
            assert not isinstance(confusion, Sums)
            cells = np.indices(confusion.shape[:2]).reshape(2, -1).T
            return draw_items_of(cells, generator, size, confusion[..., 0].ravel())

        return draw

    def of_model(self, model: int) -> tuple[Tables, int]:
        """Return the posterior itself: paired models share the same weights."""
        return self, model

    def part_shape(self, model: int, part: str, positive: int | None) -> float | None:
        """Return None: the parts are not sums of Dirichlet cells."""
        return None

    def row_shapes(self, model: int, positive: int) -> tuple[float, float] | None:
        """Return None: right and wrong predictions in a class are not Dirichlet."""
        return None

    def agreement_shapes(self, truth: int | None) -> Shapes | None:
        """Return None: the joint outcomes are not Dirichlet."""
        return None

    def prevalence_shapes(self, positive: int) -> tuple[float, float] | None:
        """Return None: prevalence has no separate prior."""
        return None


def draw_items_of(
    cells: IntArray, generator: np.random.Generator, size: int, weights: FloatArray
) -> Table:
    """Draw a number of items from weighted cells, and keep the cells that occur."""
    counts = generator.multinomial(size, weights / weights.sum())
    kept = counts > 0
    return Table(cells[kept], counts[kept])


def cell_predictor(weights: Weights) -> NewTable:
    """Return a function that draws items from weighted cells."""
    worker, cells = weights.weights_worker(), weights.cells

    def draw(generator: np.random.Generator, size: int) -> Table:
        drawn = draw_items_of(cells, generator, size, worker(generator, 1)[:, 0])
        order = np.lexsort(drawn.cells.T[::-1])
        return Table(drawn.cells[order], drawn.counts[order])

    return draw


class Independent(TablesBase):
    """Independent posteriors of models tested on different items: the unpaired comparison."""

    def __init__(self, parts: Sequence[Tables]) -> None:
        self.parts, self.n_models = tuple(parts), len(parts)

    @property
    def n_gammas(self) -> int:
        """Approximate number of random numbers per draw."""
        return sum(part.n_gammas for part in self.parts)

    def worker(self, needs: Needs) -> Worker:
        """Return a function that draws the parts one after the other."""
        workers = [part.worker(needs) for part in self.parts]

        def draw(generator: np.random.Generator, length: int) -> list[Drawn]:
            return [drawn for worker in workers for drawn in worker(generator, length)]

        return draw

    def scaled_worker(self, needs: Needs) -> ScaledWorker:
        """Return a function that scales the parts one after the other."""
        workers = [part.scaled_worker(needs) for part in self.parts]

        def draw(generator: np.random.Generator, length: int, scale: Scale) -> list[Drawn]:
            return [drawn for worker in workers for drawn in worker(generator, length, scale)]

        return draw

    def of_model(self, model: int) -> tuple[Tables, int]:
        """Return the posterior of the model's own table."""
        return self.parts[model], 0


@runtime_checkable
class PyMCModel(Protocol):
    """Protocol of a PyMC model, recognised without importing PyMC."""

    @property
    def named_vars(self) -> Any:
        """Variables by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorModel:
    """A named prior, the function that builds its posterior, and its properties.

    Parameters
    ----------
    name
        Name in signatures.
    build
        Function that takes outcomes, and any concentrations, and returns the posterior.
    shapes
        Concentrations of a Dirichlet over all cells; None for other kinds of prior.
    proper
        Whether the prior is a proper distribution.
    lists
        Whether the prior depends on which classes exist and which are only predicted.
    own
        The PyMC model, if the user wrote it.
    """

    # Priors with the same concentrations are equal, regardless of name.
    name: str = field(compare=False)
    build: Callable[..., Tables]
    shapes: Prior | None = None
    proper: bool = True
    lists: bool = False
    own: PyMCModel | None = field(default=None, repr=False)

    def posterior(self, outcomes: Outcomes, existing: IntArray | None = None) -> Tables:
        """Return the posterior of one model, or of several paired models."""
        if self.lists:
            return self.build(outcomes, existing)
        return self.build(outcomes) if self.shapes is None else self.build(outcomes, self.shapes)


def build_posterior(
    outcomes: Outcomes, prior: PriorModel, *, existing: IntArray | None = None
) -> Tables:
    """Return the posterior of paired outcomes, or independent posteriors of each model's table.

    ``existing`` contains the codes of the classes that exist; None for all.
    """
    return together([prior.posterior(own, existing) for own in alone(outcomes)], outcomes)


def together(parts: Sequence[Tables], outcomes: Outcomes) -> Tables:
    """Return the posterior of paired models, or independent posteriors of each model."""
    return parts[0] if outcomes.paired else Independent(parts)


def alone(outcomes: Outcomes) -> list[Outcomes]:
    """Return the joint outcomes of paired models, or separate outcomes for each model."""
    if outcomes.paired:
        return [outcomes]
    return [outcomes.select([name]) for name in outcomes.models]


def draw_values(
    posterior: Tables,
    evaluate: Callable[[list[Drawn], FloatArray], None],
    *,
    needs: Needs,
    n_values: int,
    n_draws: int,
    seed: np.random.SeedSequence,
    n_jobs: int | None,
) -> FloatArray:
    """Draw and evaluate block by block, and return ``(n_values, n_draws)``.

    ``evaluate(drawn, out)`` turns one block into ``out  # (n_values, block)``, so the weights
    themselves are never stored.
    """
    out, length = np.empty((n_values, n_draws)), block_length(posterior.n_gammas)

    def work(blocks: Blocks) -> None:
        worker = posterior.worker(needs)
        for generator, block in blocks:
            part = out[:, block * length : (block + 1) * length]
            evaluate(worker(generator, part.shape[1]), part)

    spread_blocks(
        work,
        n_blocks=-(-n_draws // length),
        n_gammas=posterior.n_gammas * n_draws,
        seed=seed,
        n_jobs=n_jobs,
    )
    return out


def margins_of(confusion: FloatArray) -> Sums:
    """Return the margins of confusion arrays ``(n_classes, n_classes, n_draws)``."""
    diagonal = np.arange(confusion.shape[0])
    return Sums(
        hits=confusion[diagonal, diagonal],
        actual=confusion.sum(axis=1),
        predicted=confusion.sum(axis=0),
    )


# Below this shape the density is concentrated at the ends, where quadrature is slow and no more
# accurate than draws.
_SMALLEST_SHAPE = 0.25


class ShareForm(Protocol):
    """A metric as a share: the part in favour and the weighted parts against."""

    @property
    def top(self) -> str:
        """Part that counts in favour."""

    @property
    def rest(self) -> tuple[tuple[str, float], ...]:
        """Parts that count against, with their weights."""


class Within(NamedTuple):
    """Items over which the share of right predictions is taken: one true class, or all (None)."""

    row: int | None


def share_of_right(form: ShareForm | None, positive: int | None) -> Within | None:
    """Return the items over which a metric is the share of right predictions, if it is one.

    Recall uses the positive class, specificity the negative class (with two classes only) and
    accuracy all items.
    """
    if form is None or len(form.rest) != 1:
        return None
    parts = (form.top, form.rest[0][0])
    if parts == ("correct", "wrong"):
        return Within(None)
    if positive is not None and parts in (("tp", "fn"), ("tn", "fp")):
        return Within(positive if parts == ("tp", "fn") else 1 - positive)
    return None


def exact_value(
    posterior: Tables, form: ShareForm | None, *, model: int, positive: int | None
) -> Share | WeightedShare | FlatFScore | None:
    """Return the exact posterior of one model's metric, or None."""
    if form is None:
        return None
    posterior, model = posterior.of_model(model)
    within = share_of_right(form, positive)
    if within is not None and within.row is not None:
        shapes = posterior.row_shapes(model, within.row)
        return None if shapes is None else Share(*shapes, weight=form.rest[0][1])
    top = posterior.part_shape(model, form.top, positive)
    if top is None:
        return _apart(posterior, form, model=model, positive=positive)
    by_weight: dict[float, float] = {}
    for part, weight in form.rest:
        shape = posterior.part_shape(model, part, positive)
        assert shape is not None  # a single Dirichlet has shapes for all parts
        by_weight[weight] = by_weight.get(weight, 0.0) + shape
    if len(by_weight) == 1:
        ((weight, shape),) = by_weight.items()
        return Share(top, shape, weight=weight)
    (weight_1, shape_1), (weight_2, shape_2) = by_weight.items()
    return WeightedShare(top, shape_1, weight_1, shape_2, weight_2)


def _apart(
    posterior: Tables, form: ShareForm, *, model: int, positive: int | None
) -> FlatFScore | None:
    """Return F-beta for two classes if prevalence has a separate prior.

    In a paired comparison the models' own scores come from the draws of the difference: a
    quadrature for each would cost more than all draws.
    """
    weights = dict(form.rest)
    is_fbeta = set(weights) == {"fn", "fp"} and abs(sum(weights.values()) - 1.0) < 1e-12
    if posterior.n_models != 1 or positive is None or not is_fbeta:
        return None
    prevalence = posterior.prevalence_shapes(positive)
    pos, neg = (posterior.row_shapes(model, truth) for truth in (positive, 1 - positive))
    if prevalence is None or pos is None or neg is None:
        return None
    if min(*prevalence, *pos, *neg) < _SMALLEST_SHAPE:
        return None
    beta = (weights["fn"] / weights["fp"]) ** 0.5
    return FlatFScore(pos, neg[::-1], prevalence, beta)


def exact_difference(
    posterior: Tables, form: ShareForm | None, *, positive: int | None, paired: bool
) -> Distribution | None:
    """Return the exact posterior of A − B, or None.

    For paired models, a closed form exists if both share the denominator: recall, specificity and
    accuracy.
    """
    if not paired:
        a = exact_value(posterior, form, model=0, positive=positive)
        b = exact_value(posterior, form, model=1, positive=positive)
        return None if a is None or b is None else IndependentDifference(a, b)
    within = share_of_right(form, positive)
    if form is None or within is None or form.rest[0][1] != 1.0:
        return None
    shapes = posterior.agreement_shapes(within.row)
    if shapes is None:
        return None
    return DirichletDifference(shapes.only_a, shapes.only_b, shapes.both + shapes.neither)
