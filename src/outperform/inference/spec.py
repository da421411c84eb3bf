"""Checked questions about labels: ``LabelSpec``, and the choice between it and ``ScoreSpec``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import (
    TYPE_CHECKING,
    Any,
    NamedTuple,
    Required,
    TypeAlias,
    TypedDict,
    TypeVar,
    Unpack,
    cast,
    overload,
)

import numpy as np

from outperform import metrics
from outperform._rows import place_rows
from outperform._typing import AnyArray, ColumnLike, FloatArray, IntArray, Label, Seed
from outperform.data.build import of_labels
from outperform.data.label_sets import item_margins
from outperform.data.missing import UNDECLARED, MissingTexts
from outperform.data.outcomes import Outcomes, n_codes, true_codes
from outperform.data.pool import Pool
from outperform.data.prevalence import LabelErrors, Prevalence, PrevalenceLike
from outperform.data.scores import Scores
from outperform.data.table import Table, total
from outperform.data.views import count_of, in_weights, predicted_codes
from outperform.decision.rope import Rope, RopeLike
from outperform.errors import DataError, UsageError, either, param, unknown_name
from outperform.findings import Finding, finding
from outperform.findings import counted as n_of
from outperform.inference.question import ONCE, Averaged, Choices, Counting, Given, Question
from outperform.inference.score_spec import ScoreSpec, make_score_spec, refuse_labels_metric
from outperform.inference.thresholds import FEW_DISAGREEMENTS
from outperform.inference.views import (
    ViewPrevalence,
    at_prevalence,
    chosen_metric,
    look,
    metric_for,
    refuse_chain,
    refuse_names,
    refuse_unseen,
    with_errors,
)
from outperform.metrics.confusion import Margins
from outperform.metrics.custom import Costs, Ordinal
from outperform.metrics.metric import Metric, MetricLike, Whole
from outperform.metrics.registry import get_labels
from outperform.metrics.votes import VOTES
from outperform.metrics.weighted import Units, WeightedMean
from outperform.posterior.base import (
    Drawn,
    Needs,
    PriorModel,
    Sums,
    alone,
)
from outperform.posterior.bootstrap import LabelMargins, bootstrap
from outperform.posterior.influence import Influence, PlugIn
from outperform.posterior.predictive import by_truth, truth_at
from outperform.posterior.pymc.sampling import PyMC
from outperform.posterior.registry import PRIORS, STRATA, PriorLike
from outperform.posterior.sums import RowSums, choose_tally

if TYPE_CHECKING:
    from scipy.sparse import csr_array

INDEPENDENT_DRAWS = 20_000
DEFAULTS = ("unit", "learned")
"""Default priors: for one class against the rest, and for several classes."""
ENGINES = ("direct", "pymc")


def get_engine(engine: str | PyMC) -> PyMC | None:
    """Return the settings of the Markov chain; None if draws are independent.

    Examples
    --------
    >>> print(get_engine("pymc"), get_engine("direct"), sep=" | ")
    nuts, 4 chains of 2000 after 1000 | None
    """
    if isinstance(engine, PyMC):
        return engine
    if engine not in ENGINES:
        raise UsageError(f"{unknown_name('engine', engine, ENGINES)}, or op.PyMC(...)")
    return PyMC() if engine == "pymc" else None


def draws_of(engine: PyMC | None) -> int:
    """Return the default number of draws."""
    return INDEPENDENT_DRAWS if engine is None else engine.n_draws


class OfAny(TypedDict, total=False):
    """Keyword arguments common to all functions."""

    hdi_prob: float
    prior: PriorLike | None
    n_draws: int | None
    random_state: Seed
    n_jobs: int | None
    labels: Sequence[Label] | None
    pos_label: Label | None


class OfTwo(OfAny, total=False):
    """Further keyword arguments of functions that compare."""

    rope: RopeLike | None
    paired: bool


@dataclass(frozen=True, kw_only=True)
class LabelSpec(Question):
    """A checked question about counted labels; see :class:`Question`.

    Parameters
    ----------
    data
        Outcomes of the compared models, as passed by the caller.
    view
        The same outcomes, reduced to what the metric distinguishes.
    metric
        The requested metric.
    measured
        Metric that is evaluated on the view; it gives the same number.
    view_prevalence
        Class proportions that replace those of the view, and the classes they belong to.
    view_errors
        Assumed error rates of the view's gold labels.
    """

    data: Outcomes
    view: Outcomes
    metric: Metric
    measured: Metric
    view_prevalence: ViewPrevalence | None = None
    view_errors: LabelErrors | None = None

    @property
    def unit(self) -> str:
        """Word for what the number of items counts."""
        if self.data.kind != "spans":
            return "items"
        return "spans" if self.data.groups is None else "sentences or documents"

    @property
    def weighed(self) -> str:
        """Word for the units that get one weight each; these may be finer than the data passed."""
        if self.view.pool is not None:
            return "labelled items"
        if self.data.kind != "spans":
            return super().weighed
        return "spans" if self.view.groups is None else "sentences or documents"

    @property
    def pool(self) -> Pool | None:
        """Pool from which the labelled items were selected; None without a pool."""
        return self.view.pool

    @property
    def n_even(self) -> float | None:
        """Effective number of groups of equal size, (Σ size)² / Σ size²; None without groups."""
        groups = self.view.groups
        return None if groups is None else groups.n_even / self.counting.times

    @property
    def n_groups(self) -> int | None:
        """Number of groups with one weight each; None if every item has its own weight."""
        groups = self.view.groups
        if groups is None or self.data.kind == "spans":
            return None
        n_groups = groups.n // self.counting.times
        return None if groups.weighted and n_groups == self.n else n_groups

    @property
    def n_effective(self) -> float | None:
        """Effective number of items or groups under importance weights; None without weights."""
        groups = self.view.groups
        if groups is None or not groups.weighted:
            return None
        return groups.n_even / self.counting.times

    @property
    def costs(self) -> metrics.Costs | None:
        """Cost of each pair of truth and prediction, in the order of the classes; or None."""
        return self.measured.costs

    @property
    def averaged_over(self) -> Averaged | None:
        """Number of classes averaged over, and how they were chosen; None without an average."""
        if self.share is not None or not self.measured.over_classes:
            return None
        n = self.view.n_classes if self.classes is None else len(self.classes)
        return Averaged(n, "truth" if self.choices.labels is None else "labels")

    @property
    def prevalence(self) -> Prevalence | None:
        """Class proportions used in place of those of the data."""
        return self.data.prevalence

    @property
    def label_errors(self) -> LabelErrors | None:
        """Assumed error rates of the gold labels; None if they are assumed right."""
        return self.data._label_errors

    @property
    def rope_hint(self) -> str | None:
        """Advice on the size of a ROPE if there is no default; None if there is one."""
        if self.costs is None:
            return None
        return f", in {self.costs.unit or 'the units of the costs'} an item"

    @property
    def paired(self) -> bool:
        """Whether all models are evaluated with the same weights."""
        return self.view.paired and len(self.view.models) > 1

    @property
    def existing(self) -> IntArray | None:
        """Codes of the classes that exist: ever true, or named; None if no other is predicted."""
        named = () if self.choices.labels is None else self.choices.labels
        shares = () if self.view_prevalence is None else self.view_prevalence.codes
        codes = [self.view.labels.index(label) for label in named if label in self.view.labels]
        codes_in_use = np.union1d(
            true_codes(self.view), np.array([*codes, *shares], dtype=np.int64)
        )
        return None if codes_in_use.size in (0, self.view.n_classes) else codes_in_use

    @property
    def needs(self) -> Needs:
        """What must be drawn for each model; correcting label errors needs all cells."""
        return "confusion" if self.view_errors is not None else self.measured.needs

    @property
    def share(self) -> metrics.Share | None:
        """The metric as a share of weights, if it is one."""
        # Missing one label is not a false alarm for another, and label errors mix all weights.
        if self.view.kind == "label_sets" or self.view_errors is not None:
            return None
        form = self.measured.share_over(self.classes is None)
        if form is not None and "tn" in form.parts and self.view.n_classes > 2:
            return None  # the negatives are several classes, each with its own share
        return form

    @cached_property
    def plug_ins(self) -> list[PlugIn]:
        """Each model's value as a function of sums over its table, with the sums of the data."""
        return [ModelSums(self, self.view, model).whole for model in range(len(self.view.models))]

    def by_truth(self, confusion: FloatArray) -> FloatArray:
        """Convert weights by gold label to weights by truth, at the mean shares if any are given.

        Parameters
        ----------
        confusion
            Weights ``(n_classes, n_classes, n_draws)``, rows gold labels.
        """
        assert self.view_errors is not None
        if self.view_prevalence is None:
            return by_truth(confusion, self.view_errors.inverse)
        return truth_at(confusion, self.view_errors.inverse, self.view_prevalence.factors)

    def is_defined(self, model: str) -> bool:
        """Return whether the plug-in value is defined; a value of 0/0 counts as 0 by convention."""
        if self.share is None:
            return not np.isnan(self.observed[self.view.models.index(model)])
        parts = self.share.parts
        return any(count_of(self.view, model, part, positive=self.positive) for part in parts)

    def item_values(self, models: Iterable[int] | None = None) -> list[FloatArray]:
        """Return the value of an item in each cell, for each model or for some."""
        n_labels = self.view.n_classes
        tables = item_tables(self.view, models)
        return [self.measured.of_items(margins, n_labels=n_labels) for _, margins in tables]

    def weighed_means(self, view: Outcomes) -> list[Means]:
        """Return the means of paired models jointly, or of each model separately."""
        values = self.item_values()
        apart = [values] if view.paired else [[column] for column in values]
        return [_means(table, own) for table, own in zip(view.tables, apart, strict=True)]

    @property
    def weighs_units(self) -> bool:
        """Whether weights are drawn for groups, sentences, label sets or weighted items."""
        if self.prior.name != "bootstrap":
            return False
        spans = self.data.kind == "spans" and self.view.groups is not None
        weighted = self.n_groups is not None or self.n_effective is not None
        return weighted or spans or self.view.kind == "label_sets"

    @cached_property
    def influences(self) -> Sequence[Influence | None]:
        """Influence of each unit on the models' values: one if paired, else one per model.

        An influence is None if dropping each unit would take too long. Empty if items have no
        weights.
        """
        if not self.weighs_units:
            return ()
        return [self.moved_by(own) for own in alone(self.view)]

    def moved_by(self, outcomes: Outcomes) -> Influence | None:
        """Return the influence of each unit of paired outcomes on the models' metric."""
        units, influences = bootstrap(outcomes), list[Influence]()
        for model in range(len(outcomes.models)):
            own = ModelSums(self, outcomes, model)
            terms = own.terms(units.cells[:, [0, 1 + model]])
            if terms.shape[0] * units.shapes.size > _MOST_LEFT_OUT:
                return None
            terms = terms if units.matrix is None else terms @ units.matrix
            at_all = PlugIn((terms @ units.shapes)[:, None], partial(own.evaluate, drawn=True))
            influences.append(at_all.influence(terms, units.shapes))
        return Influence(
            np.concatenate([influence.moved for influence in influences]), influences[0].repeats
        )

    @property
    def drawn_with(self) -> tuple[object, ...]:
        """Key that is equal for two questions about the same data if they can share draws."""
        # The labels False and True may be in the data, or represent a class against the rest. A
        # type may be called "span", which is also the name of all types combined.
        view = self.view.labels, self.positive is None, self.pos_label
        return (*view, self.measured.per_item, self.prior.name)

    def never_matches(self, model: int) -> bool:
        """Return whether none of the classes predicted by a model is ever true.

        A model that predicts a class in ``labels``, or a class declared as never true, is not
        affected: by naming these classes, the user confirmed their spelling.
        """
        if self.data.kind == "correct":
            return False
        true, predicted = true_codes(self.data), predicted_codes(self.data, model)
        if not predicted.size or np.isin(predicted, true).any():
            return False
        named = () if self.choices.labels is None else self.choices.labels
        meant = {*named, *self.data.never_true}
        return not any(self.data.labels[code] in meant for code in predicted)

    def n_apart(self, pair: tuple[int, int]) -> int:
        """Count the items or groups on which two models differ in what the metric reads."""
        table = self.view.tables[0]
        apart = self._sets_apart(pair) if self.view.kind == "label_sets" else self._apart(pair)
        return table.sum_where(apart) if table.groups is None else table.groups.with_any(apart)

    def _apart(self, pair: tuple[int, int]) -> AnyArray:
        truth, a, b = self._answers(pair)
        metric, form = self.measured, self.share
        apart = a != b
        if self.positive is not None:
            apart = (a == self.positive) != (b == self.positive)
        if metric.score in _SEES_RIGHT_OR_WRONG or (form is not None and form.top == "correct"):
            apart = (a == truth) != (b == truth)
        if self.costs is not None:
            costs = np.array(self.costs.matrix)
            apart = costs[truth, a] != costs[truth, b]
        if self.positive is not None and metric.score in _SEES_ONE_TRUTH:
            apart &= (truth == self.positive) == _SEES_ONE_TRUTH[metric.score]
        return np.asarray(apart)

    def _sets_apart(self, pair: tuple[int, int]) -> AnyArray:
        """Return the cells in which two models' label sets differ in what the metric reads."""
        if self.measured.per_item:
            first, second = self.item_values(pair)
            return np.asarray(first != second)
        truth, a, b = self._answers(pair)
        if self.measured.score != "recall":
            return np.asarray(a != b)
        sets = [frozenset(label_set) for label_set in self.view.sets]
        rows = zip(truth.tolist(), a.tolist(), b.tolist(), strict=True)
        differ = [sets[t] & sets[first] != sets[t] & sets[second] for t, first, second in rows]
        return np.array(differ, dtype=bool)

    def _answers(self, pair: tuple[int, int]) -> tuple[IntArray, IntArray, IntArray]:
        """Return the truth and two models' predictions, cell by cell."""
        cells = self.view.tables[0].cells
        return cells[:, 0], cells[:, 1 + pair[0]], cells[:, 1 + pair[1]]

    @property
    def prior_disagreement(self) -> float:
        """Number of items that the prior lets only A get right, over all classes."""
        if self.prior.name == "bootstrap":
            return 0.0
        pool = self.view.pool
        if pool is not None:  # the pool shows how often the models disagree, if they do
            return float(total(pool.counts[pool.apart]) >= FEW_DISAGREEMENTS)
        n_classes, shapes = self.view.n_classes, self.prior.shapes
        if self.view.kind == "label_sets":  # one table of two classes per label
            if shapes is None:
                return n_classes * 0.5
            rows = shapes.row_shapes(2, 2)
            return n_classes * float(rows[0, 0, 1] + rows[1, 1, 0])
        if self.data.kind == "spans":  # spans that only A finds, and spans that only B makes up
            shape = 0.25 if shapes is None else float(shapes.rows)
            return 2 * shape * n_classes
        if shapes is None:
            return n_classes / 4  # mass 1 per class, half of it right, independently for each model
        rows = shapes.row_shapes(n_classes, 2)
        by_class = [rows[code, code].sum() - rows[code, code, code] for code in range(n_classes)]
        return float(sum(by_class))


# The largest loss of a share that is due to rounding, and the largest number of sums to recompute
# without each unit; with more, this would take longer than the comparison itself.
_MOST_LOST, _MOST_LEFT_OUT = 1e-6, 1 << 27
_SEES_RIGHT_OR_WRONG = ("accuracy", "recall", "balanced_accuracy")
# Recall depends only on items of the class, specificity only on the others.
_SEES_ONE_TRUTH = {"recall": True, "specificity": False}


def measure(
    drawn: Sequence[Sums | FloatArray], specs: Sequence[LabelSpec], out: FloatArray
) -> None:
    """Evaluate the metric of every spec on each model's draws, by truth."""
    for model, table in enumerate(drawn):
        by_class = (
            Margins(**table._asdict()) if isinstance(table, Sums) else Margins.from_confusion(table)
        )
        # Correcting label errors can make a cell slightly negative.
        by_class = by_class if specs[0].view_errors is None else by_class.mended()
        for row, spec in enumerate(specs):
            metric = spec.measured
            totals = by_class if metric.needs == "margins" or isinstance(table, Sums) else table
            out[row * len(drawn) + model] = metric.evaluate(totals, spec.classes)


class ModelSums:
    """Sums over the cells of a model's table, from which its value is computed.

    The sums are the true, right and predicted items of each class, all cells of a confusion array,
    or the value of each item and its weight. At other class proportions, they are the observed
    cells, whose weights are scaled before they are added up.

    Parameters
    ----------
    spec
        Question about the table.
    outcomes
        Outcomes that contain the table, such as the view of the spec.
    model
        Index of the model in the outcomes.
    """

    def __init__(self, spec: LabelSpec, outcomes: Outcomes, model: int) -> None:
        self.spec, self.view, self.name = spec, outcomes, outcomes.models[model]

    @cached_property
    def weighed(self) -> Outcomes:
        """Outcomes as sums of importance weights, if there are any."""
        return in_weights(self.view)

    @property
    def table(self) -> Table:
        """The table of this model only."""
        return self.weighed._alone(self.name)

    @property
    def _is_scaled(self) -> bool:
        """Whether cells are scaled to other class proportions before they are added up.

        Label errors are corrected first, which requires entire confusion arrays.
        """
        return self.spec.view_prevalence is not None and self.spec.view_errors is None

    @property
    def whole(self) -> PlugIn:
        """The value for the entire table, counted exactly."""
        if self._is_scaled or self.spec.measured.per_item:
            counts = self.table.counts.astype(np.float64)
            sums = self.terms(self.table.cells) @ counts
        elif self.spec.needs == "confusion":
            sums = self.weighed.confusion(self.name).astype(np.float64).ravel()
        else:
            hits, actual, predicted = self.weighed.margins(self.name)
            sums = np.concatenate([actual, hits, predicted])
        return PlugIn(sums[:, None], self.evaluate)

    def terms(self, cells: IntArray) -> csr_array:
        """Return the contribution of an item in each cell to every sum, ``(n_sums, n_cells)``.

        Parameters
        ----------
        cells
            Truth and the model's prediction, ``(n_cells, 2)``.
        """
        if not self._is_scaled:
            return self._added(cells)
        return indicators(place_rows(cells.T, self.table.cells), len(self.table.cells))

    def _added(self, cells: IntArray) -> csr_array:
        from scipy.sparse import csr_array

        view, n_classes = self.view, self.view.n_classes
        if self.spec.measured.per_item:
            table = Table(cells, np.ones(len(cells)))
            sizes = Margins(**item_margins(table, view.sets, model=0, n_labels=n_classes)._asdict())
            values = self.spec.measured.of_items(sizes, n_labels=n_classes)
            return csr_array(np.stack([values, np.ones(len(cells))]))
        if self.spec.needs == "confusion":
            return indicators(cells[:, 0] * n_classes + cells[:, 1], n_classes**2)
        if view.kind == "label_sets":
            return LabelMargins(view, cells).matrix
        matrix = choose_tally(cells, n_codes(view), "margins", largest=1.0).matrix
        if view.kind != "spans":
            return matrix
        kept = np.arange(matrix.shape[0]).reshape(3, -1)[:, :n_classes]  # "no span" is not a class
        return matrix[kept.ravel()]

    def evaluate(self, at: AnyArray, *, drawn: bool = False) -> FloatArray:
        """Return the value at each column of sums, ``(1, n)``.

        Parameters
        ----------
        at
            Sums of the terms, ``(n_sums, n)``.
        drawn
            Whether to treat the sums like draws: a user's function gets shares, and labels and
            types get half a hit and half of each kind of error more. Otherwise three items of a
            rare label that one model always finds and the other never does would seem to have no
            influence, because no weights on them would change the values.
        """
        spec, n_classes = self.spec, self.view.n_classes
        if spec.measured.per_item:
            return np.asarray(at[:1] / at[1:])
        unknown = np.zeros(at.shape[1], dtype=bool)
        if self._is_scaled:
            assert spec.view_prevalence is not None
            rows, weights = RowSums(self.table.cells, n_classes), at.astype(np.float64)
            actual = rows.of_cells(weights)
            factors = spec.view_prevalence.factors(actual)
            rows.multiply(weights, factors)
            at = self._added(self.table.cells) @ weights
            if not drawn:  # a class with a share was never true
                unknown = np.abs((factors * actual).sum(axis=0) - 1.0) > _MOST_LOST
        if spec.needs == "confusion":
            table = at.reshape(n_classes, n_classes, -1)
            drawn_table: Drawn = table / table.sum(axis=(0, 1)) if drawn else table
            if spec.view_errors is not None:
                drawn_table = spec.by_truth(np.asarray(drawn_table, dtype=np.float64))
        else:
            more = 0.5 if drawn and self.view.kind in ("spans", "label_sets") else 0
            actual, hits, predicted = at.reshape(3, n_classes, -1)
            drawn_table = Sums(
                hits=hits + more, actual=actual + 2 * more, predicted=predicted + 2 * more
            )
        values = np.empty((1, at.shape[1]))
        measure([drawn_table], [spec], values)
        values[:, unknown] = np.nan
        return values


def indicators(rows: IntArray, n_rows: int) -> csr_array:
    """Return a matrix with a 1 in the given row of each column."""
    from scipy.sparse import csr_array

    ones, columns = np.ones(len(rows)), np.arange(len(rows))
    return csr_array((ones, (rows, columns)), shape=(n_rows, len(rows)))


class Means(NamedTuple):
    """Means over the items of one table, one per model, and the shapes of the units' weights."""

    ready: list[WeightedMean]
    shapes: FloatArray


def _means(table: Table, values: Sequence[FloatArray]) -> Means:
    groups = table.groups
    if groups is None:
        units = Units(len(table.counts))
        return Means(
            [WeightedMean(column, units) for column in values], table.counts.astype(np.float64)
        )
    units = Units(len(groups.repeats), groups.pattern, groups.times.astype(np.float64))
    means = [WeightedMean(column[groups.cell], units) for column in values]
    return Means(means, groups.repeats.astype(np.float64))


def item_tables(
    view: Outcomes, models: Iterable[int] | None = None
) -> Iterator[tuple[Table, Margins]]:
    """Yield each model's table, and the true, right and predicted labels per item of each cell."""
    for index in range(len(view.models)) if models is None else models:
        table, model = (view.tables[0], index) if view.paired else (view.tables[index], 0)
        sizes = item_margins(table, view.sets, model=model, n_labels=view.n_classes)
        yield table, Margins(**sizes._asdict())


Spec: TypeAlias = LabelSpec | ScoreSpec
"""A question about counted labels or about scores."""
Asked = TypeVar("Asked", bound=Question)


class _Made(Given, total=False):
    """Arguments that turn data into a question."""

    metric: Required[MetricLike | None]
    defaults: tuple[str, str]
    counting: Counting


def counted(spec: Spec) -> LabelSpec:
    """Return a spec about counted labels unchanged; reject scores, which have no classes."""
    if isinstance(spec, LabelSpec):
        return spec
    raise UsageError(
        f"{spec.metric.name} is computed from scores, which have no confusion matrix; compare "
        "labels to get classes and confusion matrices"
    )


def _of_labels(
    outcomes: Outcomes,
    metric: MetricLike | None,
    choices: Choices,
    *,
    defaults: tuple[str, str],
    counting: Counting,
) -> LabelSpec:
    """Check a question, and choose its table and prior."""
    of_sets, named = outcomes.kind == "label_sets", choices.labels
    metrics.check_name(metric, lambda: metrics.names() + (metrics.set_names() if of_sets else []))
    metric = chosen_metric(outcomes, metric, labels=named, pos_label=choices.pos_label)
    label_metric = metric_for(get_labels(metric), outcomes)
    _refuse_of_pool(outcomes, paired=choices.paired)
    prevalence, view_prevalence = outcomes.prevalence, None
    errors, view_errors = outcomes._label_errors, None
    if prevalence is not None:  # the table is chosen before the proportions are applied
        outcomes = outcomes.at_prevalence(None)
    view = look(outcomes, label_metric, labels=named, pos_label=choices.pos_label)
    if errors is not None:
        view, view_errors = with_errors(view, errors)
    if prevalence is not None:
        view, view_prevalence = at_prevalence(view, prevalence)
        if named is None:
            view = view_prevalence.averaged(view)
    # The learned distribution of errors ignores the order of classes, so it expects too many errors
    # between distant levels.
    in_order = isinstance(view.measured.function, Ordinal)
    several = view.positive is None and view.table.n_classes > 2 and not in_order
    chosen = _choose_prior(choices, view.table, defaults[several])
    _refuse_prior_of_items(view.measured, chosen)
    together, findings = _group(view.table, chosen)
    table, more = _pair(together, choices.paired)
    refuse_unseen(table, chosen, view_prevalence)
    changed = "other class proportions" if prevalence is not None else None
    changed = changed if errors is None else "label errors"
    refuse_chain(choices.engine, table, view.measured, chosen, changed)
    return LabelSpec(
        data=view.data if prevalence is None else replace(view.data, prevalence=prevalence),
        view=table,
        metric=label_metric,
        measured=view.measured,
        classes=view.classes,
        positive=view.positive,
        pos_label=view.pos_label,
        choices=choices,
        prior=chosen,
        findings=view.data.findings + findings + more,
        counting=counting,
        view_prevalence=view_prevalence,
        view_errors=view_errors,
    )


Data = Outcomes | Scores


@overload
def make_spec(data: Outcomes, **choices: Unpack[_Made]) -> LabelSpec: ...


@overload
def make_spec(data: Scores, **choices: Unpack[_Made]) -> ScoreSpec: ...


@overload
def make_spec(data: Data, **choices: Unpack[_Made]) -> Spec: ...


def make_spec(
    data: Data,
    *,
    metric: MetricLike | None,
    defaults: tuple[str, str] = DEFAULTS,
    counting: Counting = ONCE,
    **choices: Unpack[Given],
) -> Spec:
    """Check a question about counted labels or about scores, depending on the data."""
    spec = _of_any(data, metric, Choices.of(choices), defaults=defaults, counting=counting)
    if isinstance(spec, LabelSpec) and gets_all_classes(spec.metric):
        labels, positive = choices.get("labels"), choices.get("pos_label")
        in_order = labels is None or tuple(labels) == tuple(spec.data.labels)
        if positive is not None or not in_order:
            ignored = param("labels=") if positive is None else param("pos_label=")
            raise UsageError(
                f"{ignored} does not apply to {spec.metric.name!r}, a metric of your own, which "
                "gets the whole confusion matrix; choose the classes in the function. Their order "
                f"is {list(spec.data.labels)}"
            )
    return spec


def gets_all_classes(metric: MetricLike | None) -> bool:
    """Return whether a metric is a user's function of the whole confusion matrix."""
    if isinstance(metric, Metric):
        function = metric.how.function if isinstance(metric.how, Whole) else None
        return function is not None and not isinstance(function, (Costs, Ordinal))
    return callable(metric)


def again(
    spec: Asked,
    data: Data | None = None,
    *,
    metric: MetricLike | None = None,
    defaults: tuple[str, str] = DEFAULTS,
    **changed: Any,
) -> Asked:
    """Ask the same question about other data, or with another metric or other choices."""
    made = _of_any(
        spec.data if data is None else data,
        spec.metric if metric is None else metric,
        replace(spec.choices, **changed),
        defaults=defaults,
        counting=spec.counting,
    )
    return cast(Asked, made)


def _of_any(
    data: Data,
    metric: MetricLike | None,
    choices: Choices,
    *,
    defaults: tuple[str, str],
    counting: Counting,
) -> Spec:
    metric = chosen_metric(data, metric, labels=choices.labels, pos_label=choices.pos_label)
    if isinstance(data, Scores):
        if choices.engine is not None:
            raise UsageError("engine 'pymc' is for labels; use engine='direct' for scores")
        of_function = data.columns is not None and callable(metric)
        if not metrics.is_of_scores(metric) and not of_function:
            raise refuse_labels_metric(metric, graded=data.truth is None)
        return make_score_spec(data, metric, choices)
    if metrics.is_of_scores(metric):
        name = metric if isinstance(metric, str) else getattr(metric, "name", "this function")
        if metrics.get_score(metric).basis.read is not None:
            raise refuse_columns(name)
        raise UsageError(
            f"{name!r} is computed from scores, but outcomes are label counts; pass arrays of "
            "scores, or op.Scores.from_arrays(y_true, {'bert': scores})"
        )
    return _of_labels(data, metric, choices, defaults=defaults, counting=counting)


def refuse_columns(name: str) -> UsageError:
    """Return the error for a metric of answers (such as texts) if only labels were counted."""
    return UsageError(
        f"{name!r} needs the answers themselves, such as texts, which "
        + either(
            "op.read counts as labels; pass them as lists: "
            f"op.compare(references, answers_a, answers_b, metric={name!r})",
            "this command counts as labels; compare them in Python: "
            f"op.compare(references, answers_a, answers_b, metric={name!r})",
        )
    )


def data_of(
    y_true: Any,
    columns: Mapping[str, Any],
    *,
    metric: MetricLike | None,
    labels: Sequence[Label] | None,
    sample_weight: ColumnLike | None,
    groups: ColumnLike | None,
    missing: MissingTexts = UNDECLARED,
) -> Data:
    """Count labels or keep scores, depending on what the metric reads."""
    refuse_names(y_true, *columns.values())
    rows: dict[str, Any] = {"groups": groups, "sample_weight": sample_weight}
    if metric is None or not metrics.is_of_scores(metric):
        if y_true is None:
            raise refuse_labels_metric(metric, graded=True)
        metrics.check_name(metric, graded=False)
        fields = of_labels(
            y_true,
            columns,
            labels=labels,
            weights=sample_weight,
            by=None,
            groups=groups,
            missing=missing,
        )
        return Outcomes(**fields)
    score = metrics.get_score(metric)
    basis = score.basis
    if basis.names == VOTES:
        raise UsageError(f"{score.name!r} is computed from votes; pass them to Scores.from_votes")
    if basis.read is not None:
        return Scores._from_items(score.read_items, y_true, columns, columns=basis.names, **rows)
    if basis.reads == "statistics":
        return Scores.from_targets(y_true, columns, **rows)
    if y_true is None:
        return Scores.from_values(columns, **rows)
    return _declared(Scores.from_arrays(y_true, columns, labels=labels, **rows), missing)


def _declared(scores: Scores, missing: MissingTexts) -> Scores:
    """Return the scores after checking which true labels the user declared as missing values."""
    for code, label in enumerate(scores.labels):
        if scores.truth is not None and label in (missing.na_values or ()):
            rows = np.flatnonzero(scores.truth == code)
            raise DataError(
                f"y_true has {rows.size} missing label(s), {label!r}, the first in row "
                f"{rows[0]} (counted from 0); drop those rows from all columns"
            )
    return replace(scores, findings=missing.undeclared(scores.findings))


def selected(data: Data, models: Sequence[Any], *, verb: str) -> Data:
    """Return the data of some models, which are named in the call."""
    if not all(isinstance(name, str) for name in models):
        what, many = ("scores", "s") if isinstance(data, Scores) else ("outcomes", "s")
        names = "'bert', 'gpt'" if len(models) == 2 else "'bert'"
        raise UsageError(
            f"with {what}, pass the name{many if len(models) == 2 else ''} of the "
            f"model{many if len(models) == 2 else ''}, e.g. {verb}({what}, {names})"
        )
    if len(set(models)) != len(models):
        raise UsageError(f"the two models must differ; got {models[0]!r} twice")
    return data.select(list(models))


def declared(data: Data, never_true: Sequence[Label] | None) -> Data:
    """Return the data with classes that the user declared as never true."""
    if never_true is None:
        return data
    if isinstance(data, Scores):
        raise UsageError(
            f"{param('never_true=')} applies to labels, but these are scores; remove it"
        )
    return data.with_never_true(never_true)


def refuse_declared(never_true: Sequence[Label] | None) -> None:
    """Reject never-true classes declared for a suite, because each task has its own classes."""
    if never_true is not None:
        raise UsageError(
            f"{param('never_true=')} applies to a single task; declare the classes of each task "
            "with Outcomes.with_never_true before building the suite"
        )


def elsewhere(spec: LabelSpec, shares: PrevalenceLike) -> LabelSpec:
    """Ask the same question at other class proportions; a single share is the positive class's."""
    positive = spec.choices.pos_label if spec.pos_label is None else spec.pos_label
    return again(spec, spec.data.at_prevalence(shares, pos_label=positive))


def rope_for(spec: Any, rope: RopeLike | None, name: str | None = None) -> Rope:
    """Return the ROPE of a spec; if there is no default, the error explains how to choose one.

    Every margin passed by a user is checked here, including a policy's. Errors refer to it as
    ``name``, by default the parameter.
    """
    if rope is None and spec.rope_hint is not None:
        raise UsageError(
            f"{spec.metric.name!r} has no default ROPE; set {param('rope=')}, the largest "
            f"difference that does not matter{spec.rope_hint}"
        )
    return Rope.from_param(rope, bounds=spec.metric.bounds, name=name)


def refuse_counted(**arguments: Any) -> None:
    """Reject arguments about rows if the rows are already counted."""
    for name, value in arguments.items():
        if value is not None:
            raise UsageError(f"outcomes are already counted; remove {name}")


def _choose_prior(choices: Choices, table: Outcomes, default_prior: str) -> PriorModel:
    prior = choices.prior
    if prior is None:
        # A chain samples every cell, and its model has Dirichlet rows.
        return _default(table, default_prior if choices.engine is None else "unit")
    if table.pool is not None and prior != STRATA:
        raise UsageError(
            f"prior {prior.name!r} assumes a random sample of items, but these "
            f"{table.pool.CHOSEN}; omit prior"
        )
    whole = prior.shapes is None and prior.own is None and prior.name not in _OF_SPANS
    if whole and table.kind in ("spans", "label_sets"):
        raise UsageError(
            f"prior {prior.name!r} does not support {table.kind.replace('_', ' ')}; use one of "
            f"{', '.join(_OF_SPANS)}"
        )
    return prior


_OF_SPANS = ("bootstrap", "uniform", "jeffreys", "unit")


def refuse_prevalence(data: object, verb: str) -> None:
    """Reject outcomes at other class proportions if only those of the data are supported."""
    if isinstance(data, Outcomes) and data.prevalence is not None:
        raise UsageError(
            f"{verb} uses the class proportions of the data, but these outcomes have others; "
            "call at_prevalence(None) on them first"
        )
    if isinstance(data, Outcomes) and data._label_errors is not None:
        raise UsageError(
            f"{verb} assumes that gold labels are correct; pass the outcomes without label errors"
        )


def _refuse_of_pool(outcomes: Outcomes, *, paired: bool) -> None:
    if outcomes.pool is not None and len(outcomes.models) > 1 and not paired:
        raise UsageError(
            f"these items {outcomes.pool.CHOSEN}, so the comparison is always paired; omit paired"
        )


def _refuse_prior_of_items(metric: Metric, prior: PriorModel) -> None:
    if metric.per_item and prior.proper:
        raise UsageError(
            f"{metric.name!r} is a mean over items, but prior {prior.name!r} treats an item's "
            f"labels as independent; omit prior, or use {param('prior=', 'bootstrap')}"
        )


def _default(table: Outcomes, default_prior: str) -> PriorModel:
    if table.pool is not None:
        return STRATA
    if table.groups is not None or table.kind == "label_sets":
        return PRIORS["bootstrap"]
    if table.kind == "spans":
        return PRIORS["unit"]
    return PRIORS[default_prior]


def _group(table: Outcomes, prior: PriorModel) -> tuple[Outcomes, tuple[Finding, ...]]:
    """Keep groups if the prior weights them; otherwise report that items count independently."""
    if table.weighted and prior.name != "bootstrap":
        raise UsageError(
            f"prior {prior.name!r} does not support importance weights; omit prior, or, if each "
            "row represents several items, use Outcomes.from_counts"
        )
    if prior.name == "bootstrap" and table.groups is not None:
        return table, _importance(table)
    if table.kind != "spans":
        findings = () if table.groups is None else (_apart(table.groups.n, prior),)
        return table.ungroup(), findings + _labels_apart(table, prior)
    return table.ungroup(), (finding("independent_spans"),)


def _labels_apart(table: Outcomes, prior: PriorModel) -> tuple[Finding, ...]:
    if table.kind != "label_sets" or prior.name == "bootstrap" or table.n_classes < 2:
        return ()
    return (finding("independent_labels", prior=prior.name),)


def _importance(table: Outcomes) -> tuple[Finding, ...]:
    groups = table.groups
    if groups is None or not groups.weighted:
        return ()
    units = "items" if groups.n == table.n else "groups"
    return (finding("importance_weights", n_effective=groups.n_even, n=groups.n, units=units),)


def _apart(n_groups: int, prior: PriorModel) -> Finding:
    return finding("groups_ignored", prior=prior.name, groups=n_of(n_groups, "groups"))


def _pair(view: Outcomes, paired: bool) -> tuple[Outcomes, tuple[Finding, ...]]:
    if view.pool is not None:
        return view, ()
    if len(view.models) == 1 or not paired:
        return (view.unpair() if view.paired else view), ()
    if not view.paired:
        spans = view.kind == "spans"
        return view, (finding("unpaired_outcomes/spans" if spans else "unpaired_outcomes/items"),)
    return view, ()


def check_names(names: tuple[str, str]) -> tuple[str, str]:
    """Return the names of A and B after checking that they differ."""
    if not isinstance(names, Sequence) or len(names) != 2 or names[0] == names[1]:
        raise UsageError(f"names must be two different names; got {names!r}")
    return names[0], names[1]
