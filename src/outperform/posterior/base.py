"""What every prior and every posterior is, and the closed form that answers, if any."""

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
    """Dirichlet shapes for the class proportions and for what is predicted in each class.

    Parameters
    ----------
    rows
        The shape of every cell of a class: one number for all, or an array of
        shape ``(n_classes, n_classes)`` (each model's own confusion rows; for
        paired models their product, with the same mass in each row), or of
        shape ``(n_classes, n_classes, n_classes)`` for a pair of models.
    prevalence
        The shape of every class: one number, or one per class.
    name
        What to call it in a signature.

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
        """Take a name, a number, an array of row shapes or a prior.

        Parameters
        ----------
        prior
            ``"uniform"`` or None, ``"jeffreys"``, the shape of every cell, an
            array for ``rows``, or a prior, which is returned as it is.
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
        """Return shapes of ``(n_classes, n_classes, …)``: truth, then each model's prediction.

        Parameters
        ----------
        n_classes
            How many classes there are.
        n_models
            How many models are paired.
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
            How many classes there are.
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
    """Return the product prior: each model's marginal is ``rows``, each row's mass is kept.

    With row mass ``s``, a pair of predictions gets ``ω_jk · ω_jl / s_j``.
    """
    mass: FloatArray = rows.sum(axis=1)
    # A row without mass has no shares; whether it may have none is the posterior's business.
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
        raise UsageError(f"prior {what} below {_SMALLEST} cannot be told from zero; got {value!r}")
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
    """Sums of weights for each class; draws on the last axis."""

    hits: FloatArray  # (n_classes, n_draws) truth and prediction are the class
    actual: FloatArray  # (n_classes, n_draws) the truth is the class
    predicted: FloatArray  # (n_classes, n_draws) the prediction is the class


Drawn = Sums | FloatArray
"""Margins, or a confusion array of shape ``(n_classes, n_classes, n_draws)``, rows truth."""

Worker = Callable[[np.random.Generator, int], list[Drawn]]
"""Draw a block of a given length: one :class:`Drawn` per model."""


Scale = Callable[[FloatArray], FloatArray]
"""From the sum of each true class ``(n_classes, n_draws)`` to the factor of its weights."""

ScaledWorker = Callable[[np.random.Generator, int, Scale], list[Drawn]]
"""Draw a block whose true classes are scaled before the weights are added up."""


class Shapes(NamedTuple):
    """Dirichlet shapes of what two models got right among the same items."""

    both: float
    only_a: float
    only_b: float
    neither: float


NewTable = Callable[[np.random.Generator, int], Table]
"""Draw a world, and a table of so many new items, or groups, from it."""


class Tables(Protocol):
    """Random confusion arrays of each model; cells that never occurred may have weight in them."""

    @property
    def n_models(self) -> int:
        """How many models are read off the same weights."""

    @property
    def n_gammas(self) -> int:
        """About how many random numbers one draw takes; with it the length of a block is chosen."""

    def worker(self, needs: Needs) -> Worker:
        """Return a function with buffers of its own that draws blocks."""

    def scaled_worker(self, needs: Needs) -> ScaledWorker:
        """Return the same with true classes scaled before the weights are added up."""

    def predictor(self) -> NewTable:
        """Return a function with buffers of its own that draws test sets to come."""

    def of_model(self, model: int) -> tuple[Tables, int]:
        """Return what draws a model, and which of its models that is."""

    def part_shape(self, model: int, part: str, positive: int | None) -> float | None:
        """Return the gamma shape of a part where all cells are one Dirichlet, else None."""

    def row_shapes(self, model: int, positive: int) -> tuple[float, float] | None:
        """Return the shapes of right and wrong among items of one true class."""

    def agreement_shapes(self, truth: int | None) -> Shapes | None:
        """Return the shapes of both, A only, B only and neither right; None if not Dirichlet."""

    def prevalence_shapes(self, positive: int) -> tuple[float, float] | None:
        """Return the shapes of a class and of the rest where they have a prior of their own."""


class Weights(Tables, Protocol):
    """Random weights of rows; the tables are what they add up to."""

    @property
    def cells(self) -> IntArray:
        """The truth and each model's answer for every row, ``(n_rows, 1 + n_models)``."""

    def weights_worker(self) -> Callable[[np.random.Generator, int], FloatArray]:
        """Return a function with buffers of its own that draws weights ``(n_rows, n_draws)``."""


class TablesBase(ABC):
    """What tables inherit that have only draws of paired models; others say so themselves."""

    n_models: int
    """How many models are read off the same weights."""

    @property
    @abstractmethod
    def n_gammas(self) -> int:
        """About how many random numbers one draw takes."""

    @abstractmethod
    def worker(self, needs: Needs) -> Worker:
        """Return a function with buffers of its own that draws blocks."""

    def scaled_worker(self, needs: Needs) -> ScaledWorker:
        """Return a function that scales the rows of confusion arrays."""
        inner = self.worker("confusion")

        def draw(generator: np.random.Generator, length: int, scale: Scale) -> list[Drawn]:
            scaled: list[Drawn] = []
            for confusion in inner(generator, length):
                assert not isinstance(confusion, Sums)  # confusion arrays were asked for
                weighed = confusion * scale(confusion.sum(axis=1))[:, None]
                scaled.append(weighed if needs == "confusion" else margins_of(weighed))
            return scaled

        return draw

    def predictor(self) -> NewTable:
        """Return a function that draws from the confusion array of a model that is alone."""
        if self.n_models > 1:
            raise UsageError(
                "items with several labels are drawn whole, which this prior does not do; leave "
                f"prior out, or use {param('prior=', 'bootstrap')}"
            )
        worker = self.worker("confusion")

        def draw(generator: np.random.Generator, size: int) -> Table:
            (confusion,) = worker(generator, 1)
            assert not isinstance(confusion, Sums)
            cells = np.indices(confusion.shape[:2]).reshape(2, -1).T
            return draw_items_of(cells, generator, size, confusion[..., 0].ravel())

        return draw

    def of_model(self, model: int) -> tuple[Tables, int]:
        """Return itself: paired models are read off the same weights."""
        return self, model

    def part_shape(self, model: int, part: str, positive: int | None) -> float | None:
        """Return None: the parts are no sums of Dirichlet cells."""
        return None

    def row_shapes(self, model: int, positive: int) -> tuple[float, float] | None:
        """Return None: right and wrong in a class are no Dirichlet."""
        return None

    def agreement_shapes(self, truth: int | None) -> Shapes | None:
        """Return None: what both got right is no Dirichlet."""
        return None

    def prevalence_shapes(self, positive: int) -> tuple[float, float] | None:
        """Return None: prevalence has no prior of its own."""
        return None


def draw_items_of(
    cells: IntArray, generator: np.random.Generator, size: int, weights: FloatArray
) -> Table:
    """Draw so many items from weighted cells, and keep the cells that occur."""
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
    """Tables of different items, side by side: the unpaired comparison."""

    def __init__(self, parts: Sequence[Tables]) -> None:
        self.parts, self.n_models = tuple(parts), len(parts)

    @property
    def n_gammas(self) -> int:
        """About how many random numbers one draw takes."""
        return sum(part.n_gammas for part in self.parts)

    def worker(self, needs: Needs) -> Worker:
        """Return a function that draws the parts in turn."""
        workers = [part.worker(needs) for part in self.parts]

        def draw(generator: np.random.Generator, length: int) -> list[Drawn]:
            return [drawn for worker in workers for drawn in worker(generator, length)]

        return draw

    def scaled_worker(self, needs: Needs) -> ScaledWorker:
        """Return a function that scales the parts in turn."""
        workers = [part.scaled_worker(needs) for part in self.parts]

        def draw(generator: np.random.Generator, length: int, scale: Scale) -> list[Drawn]:
            return [drawn for worker in workers for drawn in worker(generator, length, scale)]

        return draw

    def of_model(self, model: int) -> tuple[Tables, int]:
        """Return the model's own tables."""
        return self.parts[model], 0


@runtime_checkable
class PyMCModel(Protocol):
    """A PyMC model, told without importing PyMC."""

    @property
    def named_vars(self) -> Any:
        """Its variables by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorModel:
    """A prior by name, how to build its posterior, and what it can do.

    Parameters
    ----------
    name
        What to call it in a signature.
    build
        From outcomes, and shapes if it has them, to their posterior.
    shapes
        Of its Dirichlet on every cell; None for priors of another kind.
    proper
        Whether it is a distribution before data.
    lists
        Whether it asks which classes exist, beside those that were only predicted.
    own
        The PyMC model, where the user wrote it.
    """

    # Two priors of the same shapes are the same, whatever they are called.
    name: str = field(compare=False)
    build: Callable[..., Tables]
    shapes: Prior | None = None
    proper: bool = True
    lists: bool = False
    own: PyMCModel | None = field(default=None, repr=False)

    def posterior(self, outcomes: Outcomes, existing: IntArray | None = None) -> Tables:
        """Return the posterior of one model, or of several that are paired."""
        if self.lists:
            return self.build(outcomes, existing)
        return self.build(outcomes) if self.shapes is None else self.build(outcomes, self.shapes)


def build_posterior(
    outcomes: Outcomes, prior: PriorModel, *, existing: IntArray | None = None
) -> Tables:
    """Return the posterior of paired outcomes, or of each model's own table side by side.

    ``existing`` holds the codes of the classes that exist; None for all.
    """
    return together([prior.posterior(own, existing) for own in alone(outcomes)], outcomes)


def together(parts: Sequence[Tables], outcomes: Outcomes) -> Tables:
    """Return the tables of paired models, or those of each model side by side."""
    return parts[0] if outcomes.paired else Independent(parts)


def alone(outcomes: Outcomes) -> list[Outcomes]:
    """Return the outcomes of paired models together, or each model's own."""
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
    """Draw and evaluate block by block; returns ``(n_values, n_draws)``.

    ``evaluate(drawn, out)`` turns one block into ``out  # (n_values, block)``,
    so that the weights themselves are never kept.
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


# Below it the density is all at the ends, where quadrature is slow and draws do as well.
_SMALLEST_SHAPE = 0.25


class ShareForm(Protocol):
    """The form of a share: its top and the weighted parts that count against it."""

    @property
    def top(self) -> str:
        """The part that counts in favour."""

    @property
    def rest(self) -> tuple[tuple[str, float], ...]:
        """The parts that count against, each with its weight."""


class Within(NamedTuple):
    """The items that a share of right answers looks at: one true class, or all (None)."""

    row: int | None


def share_of_right(form: ShareForm | None, positive: int | None) -> Within | None:
    """Say among which items a metric is the share of right answers, if it is one.

    Recall stays within the positive class, specificity within the negative one
    (it is asked of two classes only), accuracy looks at all items.
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
        assert shape is not None  # one Dirichlet has shapes for all parts
        by_weight[weight] = by_weight.get(weight, 0.0) + shape
    if len(by_weight) == 1:
        ((weight, shape),) = by_weight.items()
        return Share(top, shape, weight=weight)
    (weight_1, shape_1), (weight_2, shape_2) = by_weight.items()
    return WeightedShare(top, shape_1, weight_1, shape_2, weight_2)


def _apart(
    posterior: Tables, form: ShareForm, *, model: int, positive: int | None
) -> FlatFScore | None:
    """Return F-beta of two classes whose prevalence has a prior of its own.

    In a paired comparison the models' own scores stay with the draws that they
    share with the difference: a quadrature for each would cost more than all of these.
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

    Paired, a closed form exists where both models share the denominator:
    recall, specificity and accuracy.
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
