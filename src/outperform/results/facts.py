"""A comparison as plain values and as arrays for figures, and what it can be asked again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from outperform._typing import (
    AnyArray,
    Axes,
    DataTree,
    Distribution,
    FigureSize,
    FloatArray,
    Label,
    Seed,
)
from outperform.data.prevalence import LabelErrorsLike, PrevalenceLike
from outperform.data.views import code_of
from outperform.decision.rope import Decision, Rope, RopeLike
from outperform.display.forest_figure import draw_confusion, draw_forest
from outperform.display.pictures import exact_density, outline
from outperform.display.posterior_figure import draw_models
from outperform.display.rope_figure import (
    PointNull,
    draw_factor,
    draw_rope_curve,
    factor_window,
    widest_rope,
)
from outperform.errors import UndefinedBayesFactor
from outperform.inference import engine
from outperform.inference.spec import counted
from outperform.inference.summary import (
    SCHEMA,
    chain_facts,
    decision_facts,
    factor_facts,
    finding_facts,
    interval_facts,
    point_factor,
    rope_facts,
    spec_facts,
)
from outperform.metrics.score_metric import MetricLike
from outperform.posterior.rng import child
from outperform.results.base import comparison_details, verb

if TYPE_CHECKING:
    from outperform.comparison.again import ComparisonTable
    from outperform.planning.power import Needed
    from outperform.planning.result import Plan
    from outperform.posterior.registry import PriorLike
    from outperform.results.comparison import Comparison
    from outperform.results.schemas import ComparisonFacts, CurveFacts, OfNeeded
    from outperform.sensitivity.result import Sensitivity


def comparison_facts(c: Comparison) -> ComparisonFacts:
    """Return everything but the draws, with a schema version."""
    lost, factor = c.regret, c.bayes_factor
    needed: Needed | None = verb("needed_to_decide")(c)
    more: OfNeeded = {} if needed is None else {"needed": needed.to_dict()}
    return {
        "schema": SCHEMA,
        "kind": "comparison",
        "names": list(c.names),
        **spec_facts(c.spec),
        "paired": c.spec.paired,
        "observed": None if np.isnan(c.observed) else c.observed,
        "observed_defined": c.a.observed_defined and c.b.observed_defined,
        "mean": c.mean,
        "sd": c.sd,
        "mcse": c.mcse,
        "hdi": interval_facts(c.hdi),
        "eti": interval_facts(c.eti),
        "rope": rope_facts(c.rope),
        "p_worse": c.p_worse,
        "p_equivalent": c.p_equivalent,
        "p_better": c.p_better,
        "p_greater": c.p_greater,
        "regret": {"a": lost.a, "b": lost.b},
        "errors": c.errors,
        "n_draws": c.draws.size,
        **chain_facts(c.chain),
        "exact": c.exact,
        "decision": decision_facts(c.decision),
        "rope_curve": curve_facts(c),
        **more,
        "bayes_factor": factor_facts(factor),
        "a": c.a.to_dict(),
        "b": c.b.to_dict(),
        "findings": finding_facts(c.findings + (() if factor is None else factor.findings)),
        "signature": c.signature,
        **comparison_details(c),
    }


def curve_facts(c: Comparison) -> list[CurveFacts]:
    """Return the decision for every half-width of the ROPE."""
    return [
        {
            "decision": step.decision.name,
            "symbol": step.decision.symbol,
            "from": step.start,
            "to": step.stop,
        }
        for step in c.rope_curve()
    ]


def headline_facts(c: Comparison) -> dict[str, Any]:
    """Return what the one line needs: no Bayes factor, which may have to be drawn."""
    return {
        "names": list(c.names),
        **spec_facts(c.spec),
        "mean": c.mean,
        "sd": c.sd,
        "hdi": interval_facts(c.hdi),
        "rope": rope_facts(c.rope),
        "decision": {"name": c.decision.name, "symbol": c.decision.symbol},
        "findings": finding_facts(c.findings),
    }


_POINTS = 161
_PRIOR_DRAWS = 20_000
_PRIOR_STREAM = 2**31  # the one from which point_null(method="kde") draws


def figure_facts(c: Comparison) -> dict[str, Any]:
    """Return what figures need: the line's facts, the probabilities, what was observed."""
    return {
        **headline_facts(c),
        "observed": None if np.isnan(c.observed) else c.observed,
        "p_worse": c.p_worse,
        "p_equivalent": c.p_equivalent,
        "p_better": c.p_better,
        "n_draws": c.draws.size,
        **chain_facts(c.chain),
        "exact": c.exact,
        "rope_curve": curve_facts(c),
    }


def plot_factor(comparison: Comparison, ax: Axes | None, size: FigureSize) -> Axes:
    """Draw prior and posterior of the difference, or say why there is no prior to draw."""
    rope, prior = comparison.rope, comparison.spec.prior
    if not prior.proper:
        raise UndefinedBayesFactor(
            f"prior {prior.name!r} is not proper, so there is nothing to compare "
            "the posterior with; plot() draws it alone, and another prior is proper"
        )
    spec = counted(comparison.spec)
    inside = engine.prior_inside(spec, rope) if rope.low < rope.high else None
    facts = comparison.to_dict()
    window = factor_window(facts)
    return draw_factor(
        _within(comparison.distribution, window) or comparison.draws,
        _within(engine.prior_difference(spec), window) or _prior_draws(comparison),
        facts=facts,
        null={
            "inside": None if inside is None else (inside.inside, comparison.p_equivalent),
            **_point_null(comparison),
        },
        ax=ax,
        size=size,
    )


def plot_rope_curve(comparison: Comparison, ax: Axes | None, size: FigureSize) -> Axes:
    """Draw the decision, and the three probabilities, for every width of the ROPE."""
    facts = figure_facts(comparison)
    widths = np.linspace(0, widest_rope(facts), _POINTS)
    low, high = _outside(np.sort(comparison.draws), comparison.rope, widths)
    worse, better = (low, high) if facts.get("greater_is_better", True) else (high, low)
    return draw_rope_curve((widths, worse, better), facts=facts, ax=ax, size=size)


def plot_models(comparison: Comparison, ax: Axes | None, size: FigureSize) -> Axes:
    """Draw each classifier's own posterior."""
    a, b = (outline(one.draws, one.distribution) for one in (comparison.a, comparison.b))
    own = {"a": comparison.a.to_dict(), "b": comparison.b.to_dict()}
    return draw_models(a, b, facts={**figure_facts(comparison), **own}, ax=ax, size=size)


def plot_confusion(
    comparison: Comparison,
    axes: Sequence[Axes] | None,
    *,
    normalise: bool,
    labels: Sequence[Label] | None,
    size: FigureSize,
) -> Sequence[Axes]:
    """Draw both confusion matrices, of all classes or of some."""
    seen = counted(comparison.spec).data
    names: list[Label] = [*seen.labels, *(["(no span)"] if seen.kind == "spans" else [])]
    kept = list(range(len(names))) if labels is None else [code_of(seen, one) for one in labels]
    a, b = (_part(matrix, kept) for matrix in comparison.confusions())
    return draw_confusion(
        a,
        b,
        labels=[names[place] for place in kept],
        names=comparison.names,
        some=len(set(kept)) < len(names),
        normalise=normalise,
        axes=axes,
        size=size,
    )


def plot_forest(
    what: str,
    keys: Sequence[Label],
    comparisons: Sequence[Comparison],
    ax: Axes | None,
    *,
    size: FigureSize,
    title: str | None = None,
    note: str | None = None,
) -> Axes:
    """Draw one row for each comparison."""
    first = comparisons[0]
    rows = [{"key": key, **_row(one)} for key, one in zip(keys, comparisons, strict=True)]
    same = all(one.metric == first.metric for one in comparisons)
    ways = {one.spec.metric.greater_is_better for one in comparisons}
    return draw_forest(
        rows,
        names=first.names,
        metric=first.spec.metric.label if same and what != "metric" else None,
        greater_is_better=ways.pop() if len(ways) == 1 else None,
        title=title,
        note=note,
        ax=ax,
        size=size,
    )


def _row(comparison: Comparison) -> dict[str, Any]:
    return {
        "mean": comparison.mean,
        "observed": None if np.isnan(comparison.observed) else comparison.observed,
        "hdi": interval_facts(comparison.hdi),
        "rope": rope_facts(comparison.rope),
        "decision": {"name": comparison.decision.name, "symbol": comparison.decision.symbol},
    }


def _part(matrix: AnyArray, kept: list[int]) -> FloatArray:
    part: FloatArray = matrix[np.ix_(kept, kept)].astype(np.float64)
    return part


def _prior_draws(comparison: Comparison) -> FloatArray:
    stream = child(comparison.seed, _PRIOR_STREAM)
    return engine.prior_draws(counted(comparison.spec), _PRIOR_DRAWS, stream)


def _within(
    distribution: Distribution | None, window: tuple[float, float]
) -> tuple[FloatArray, FloatArray] | None:
    if distribution is None:
        return None
    low, high = distribution.support
    return exact_density(distribution, max(low, window[0]), min(high, window[1]))


def _point_null(comparison: Comparison) -> PointNull:
    """Return the densities at zero before and after the data, where the factor exists."""
    spec, after = counted(comparison.spec), comparison.distribution
    try:
        factor = point_factor(spec, after, comparison.draws, method="exact", seed=comparison.seed)
    except UndefinedBayesFactor:
        return {"density": None, "point": None}
    before = engine.prior_difference(spec)
    assert before is not None  # or there would be no factor
    assert after is not None
    return {"density": (before.pdf(0.0), after.pdf(0.0)), "point": factor_facts(factor)}


def _outside(ordered: FloatArray, rope: Rope, widths: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the mass below and above each width."""
    low, high = (-1.0, 1.0) if rope.symmetric else (rope.low, rope.high)
    below = np.searchsorted(ordered, low * widths, side="left") / ordered.size
    above = 1 - np.searchsorted(ordered, high * widths, side="right") / ordered.size
    return below, above


class AskAgain:
    """What a comparison can be asked again: each method is a verb that takes the comparison."""

    __slots__ = ()

    def with_rope(self, rope: RopeLike | None) -> Comparison:
        """Return the same comparison under another ROPE; nothing is drawn again.

        Parameters
        ----------
        rope
            A half-width or a pair.
        """
        found: Comparison = verb("with_rope")(self, rope)
        return found

    def with_metric(self, metric: MetricLike, *, rope: RopeLike | None = None) -> Comparison:
        """Return the same comparison in another metric; nothing is counted again.

        Parameters
        ----------
        metric
            A name, a metric object or a function of a confusion array.
        rope
            The ROPE; by default that of this comparison, unless one of the metrics is a cost.
        """
        found: Comparison = verb("with_metric")(self, metric, rope=rope)
        return found

    def at_prevalence(self, shares: PrevalenceLike) -> Comparison:
        """Return the same comparison at other class proportions; nothing is counted again.

        Parameters
        ----------
        shares
            The share of the positive class, a mapping from classes to shares or to counts, a
            distribution, or None for the proportions of the data; as for
            :meth:`Outcomes.at_prevalence`.

        Examples
        --------
        >>> import outperform as op
        >>> seen = op.Outcomes.from_confusion(
        ...     {"a": [[95, 5], [30, 70]], "b": [[80, 20], [10, 90]]}, labels=["ok", "fraud"])
        >>> c = op.compare(seen, "a", "b", pos_label="fraud", rope=0.01, random_state=0)
        >>> c.decision.symbol, c.at_prevalence(0.02).decision.symbol
        ('<', '≫')
        """
        found: Comparison = verb("at_prevalence")(self, shares)
        return found

    def with_label_errors(self, rates: LabelErrorsLike | None) -> Comparison:
        """Return the same comparison if some gold labels are wrong; nothing is counted again.

        Parameters
        ----------
        rates
            The share that is wrong, a mapping from true classes to shares, or a matrix P(gold |
            truth); None if all are right. Given the truth, errors and predictions are independent.

        Examples
        --------
        >>> import outperform as op
        >>> c = op.compare([1] * 50 + [0] * 50, [1] * 45 + [0] * 50 + [1] * 5,
        ...                [1] * 38 + [0] * 50 + [1] * 12, metric="accuracy", rope=0.01)
        >>> print(round(c.a.observed, 3), round(c.with_label_errors(0.05).a.observed, 3))
        0.9 0.944
        """
        found: Comparison = verb("with_label_errors")(self, rates)
        return found

    def more_data(
        self,
        *,
        goal: str | Decision = "decided",
        target: float = 0.8,
        most: int | None = None,
        n_simulations: int = 100,
        n_draws: int | None = None,
        random_state: Seed = None,
        n_jobs: int | None = None,
    ) -> Plan:
        """Return how many more items would probably decide: from face value to the safe number.

        Every simulated future draws a world from the posterior and items from that world,
        adds them to those that are there, and decides again. What an undecided comparison prints
        is the same range by normal theory, which takes no time and is not corrected by
        simulations. :func:`plan` is about new items that are analysed alone, so its numbers
        differ from these.

        Parameters
        ----------
        goal
            ``"decided"``, a firm decision such as ``"≫"``, or ``"not_worse"``.
        target
            The wanted probability.
        most
            No more items than this are considered; a hundred times those that there are by
            default.
        n_simulations
            The most futures that are simulated.
        n_draws
            Draws of each.
        random_state
            None, a whole number, a SeedSequence, a Generator or a RandomState.
        n_jobs
            How much to do at a time: None means 1, as in scikit-learn, and -1 all cores that this
            process may use; the draws do not depend on it.

        Examples
        --------
        >>> import outperform as op
        >>> counts = [12, 5, 83]
        >>> seen = op.Outcomes.from_counts([1, 1, 1], {"a": [1, 0, 1], "b": [0, 1, 1]}, counts)
        >>> c = op.compare(seen, "a", "b", metric="recall", rope=0.01, pos_label=1)
        >>> more = c.more_data(random_state=0)
        >>> more.seen, more.least is not None
        (100, True)
        """
        found: Plan = verb("more_data")(
            self,
            goal=goal,
            target=target,
            most=most,
            n_simulations=n_simulations,
            n_draws=n_draws,
            random_state=random_state,
            n_jobs=n_jobs,
        )
        return found

    def by_class(self) -> ComparisonTable:
        """Return one comparison per class, each class against the rest: the papers' table.

        A class that is never true has no row, unless it was named in ``labels``.

        Examples
        --------
        >>> import outperform as op
        >>> c = op.compare(list("aabbcc"), list("aabbca"), list("abbccc"), metric="f1_macro")
        >>> c.by_class().keys
        ('a', 'b', 'c')
        """
        found: ComparisonTable = verb("compare_classes")(self)
        return found

    def sensitivity(
        self,
        *,
        priors: Mapping[str, PriorLike] | None = None,
        ropes: Sequence[RopeLike] | None = None,
        label_errors: Sequence[LabelErrorsLike] | None = None,
    ) -> Sensitivity:
        """Return the decision and the interval under other priors, ROPEs and label errors.

        The draws come from the same seed. A finding says if the decision depends on the prior.

        Parameters
        ----------
        priors
            Besides the usual ones, names and priors as for :func:`compare`, PyMC models too.
        ropes
            Half-widths or pairs; by default half, once, twice and four times the ROPE.
        label_errors
            Rates of wrong gold labels, each as for :meth:`with_label_errors`.

        Examples
        --------
        >>> import outperform as op
        >>> seen = op.Outcomes.from_correct({"a": [1] * 90 + [0] * 10, "b": [1] * 60 + [0] * 40})
        >>> c = op.compare(seen, "a", "b", metric="accuracy", rope=0.01, random_state=0)
        >>> found = c.sensitivity(priors={"strong": 5.0}, ropes=[0.05, 0.2])
        >>> print("".join(decision.symbol for decision in found.decisions[0]))
        ≫≫≫
        >>> found["strong"].decision
        <Decision.BETTER: '≫'>
        """
        ask: Callable[..., Sensitivity] = verb("sensitivity")
        return ask(self, priors=priors, ropes=ropes, label_errors=label_errors)

    def to_datatree(self) -> DataTree:
        """Return the draws as ArviZ takes them: an xarray ``DataTree``.

        Its groups are ``posterior`` with ``value`` and ``difference``, ``prior`` with the same
        where the prior is proper, and ``observed_data`` with ``value`` and, of up to 1,000
        classes, ``confusion``; :func:`from_datatree` takes it back.
        """
        return verb("to_datatree")(self)
