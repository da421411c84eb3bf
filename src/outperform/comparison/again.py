"""The same data asked again: other ROPEs, metrics, class proportions, class by class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from outperform._typing import Axes, FigureSize, Label
from outperform.comparison.api import answer_one, summarize_comparison
from outperform.crossval.api import blocked
from outperform.crossval.cross import beside_unpaired
from outperform.crossval.scores import summarize_scores
from outperform.data.prevalence import LabelErrors, LabelErrorsLike, PrevalenceLike
from outperform.data.views import refuse_label_errors, true_codes
from outperform.decision.rope import Rope, RopeLike
from outperform.display.document import Document
from outperform.display.formats import latex_label
from outperform.display.sentences import captioned
from outperform.display.table import Table
from outperform.errors import UsageError, unknown_name
from outperform.inference import engine
from outperform.inference.engine import Answer
from outperform.inference.score_spec import ScoreSpec
from outperform.inference.spec import (
    LabelSpec,
    Spec,
    counted,
    elsewhere,
    make_label_spec,
    make_spec,
    rope_for,
)
from outperform.inference.spelling import AsRight
from outperform.inference.views import of_one_class
from outperform.metrics.score_metric import MetricLike
from outperform.posterior.rng import child
from outperform.results import facts, rows
from outperform.results.base import CrossDetails, RunDetails, ScoreDetails, Tabular, verb_of
from outperform.results.base import verb as feature
from outperform.results.comparison import Comparison
from outperform.results.estimate import Estimate
from outperform.runs import draw_runs, summarize_runs

if TYPE_CHECKING:
    from outperform.comparison.joint import Joint
    from outperform.comparison.ratio import Ratio
    from outperform.results.schemas import TableFacts


def with_rope(own: Comparison, rope: RopeLike | None) -> Comparison:
    """Judge the draws of a comparison under another ROPE; a Rope may be as wide as it is."""
    checked = rope if isinstance(rope, Rope) else rope_for(own.spec, rope)
    spec, details = own.spec, own.details
    if isinstance(details, RunDetails):
        return summarize_runs(
            spec,
            details.drawn,
            details.sides,
            rope=checked,
            prob=own.hdi.prob,
            seed=own.seed,
            as_right=own._as_right or None,
        )
    if isinstance(details, ScoreDetails):
        assert isinstance(spec, ScoreSpec)
        return summarize_scores(
            spec,
            details.drawn,
            rope=checked,
            prob=own.hdi.prob,
            seed=own.seed,
            findings=details.noticed,
        )
    chains = (own.a.chain, own.b.chain, own.chain)
    answered = Answer(
        values=np.stack([own.a.draws, own.b.draws]),
        of_models=(own.a.distribution, own.b.distribution),
        of_difference=own.distribution,
        chains=tuple(one for one in chains if one is not None),
    )
    return _conclude(own, spec, answered, checked, own.seed, as_right=own._as_right or None)


def with_metric(own: Comparison, metric: MetricLike, *, rope: RopeLike | None = None) -> Comparison:
    """Ask the same outcomes in another metric; by default with the same ROPE, unless of costs."""
    if isinstance(own.details, ScoreDetails):
        raise UsageError(
            f"these are scores of one metric; call {verb_of(own.details)}() with the other one"
        )
    spec = make_spec(
        own.spec.data,
        metric=metric,
        counting=own.spec.counting,
        **own.spec.choices._asdict(),
    )
    priced = [one.costs is not None for one in (own.spec, spec)]
    if rope is None and not own.rope.default and not any(priced):
        rope = own.rope
    return ask_also(own, spec, rope=rope_for(spec, rope), seed=own.seed)


def at_prevalence(own: Comparison, shares: PrevalenceLike) -> Comparison:
    """Ask the same at other class proportions."""
    spec, asked_by = counted(own.spec), verb_of(own.details)
    if asked_by != "compare":
        raise UsageError(
            f"{asked_by} answers at the class proportions of the data; at others, compare "
            "outcomes at_prevalence()"
        )
    found = elsewhere(spec, shares)
    return ask_also(own, found, rope=own.rope, seed=own.seed)


def with_label_errors(own: Comparison, rates: LabelErrorsLike | None) -> Comparison:
    """Ask the same under the assumption that some gold labels are wrong."""
    spec, asked_by = counted(own.spec), verb_of(own.details)
    if asked_by != "compare":
        raise UsageError(
            f"{asked_by} believes the gold labels; compare two models on one test set to state "
            "label errors"
        )
    data, named = spec.data, spec.choices.labels or ()
    errors = None
    if rates is not None:
        refuse_label_errors(data)
        true = {data.labels[code] for code in true_codes(data).tolist()}
        existing = data.labels if data.n_classes == 2 else [*true, *named]
        errors = LabelErrors.from_param(rates, data, existing)
    asked = make_label_spec(
        replace(data, _label_errors=errors),
        metric=spec.metric,
        counting=spec.counting,
        **spec.choices._asdict(),
    )
    return ask_also(own, asked, rope=own.rope, seed=own.seed)


def ask_also(
    own: Comparison, spec: Spec, *, rope: Rope, seed: np.random.SeedSequence
) -> Comparison:
    """Answer another question about the data of a comparison."""
    (found,) = ask_together(own, [spec], rope=rope, seed=seed)
    return found


def ask_together(
    own: Comparison, specs: Sequence[Spec], *, rope: Rope, seed: np.random.SeedSequence
) -> tuple[Comparison, ...]:
    """Answer specs about one table of a comparison's data from the same draws."""
    chosen, n_draws = specs[0].choices.engine, own.draws.size
    if chosen is not None and chosen != own.spec.choices.engine:
        n_draws = chosen.n_draws
    answers = engine.answer(specs, n_draws=n_draws, seed=seed, n_jobs=-1)
    return tuple(
        _conclude(own, spec, answered, rope, seed)
        for spec, answered in zip(specs, answers, strict=True)
    )


def _conclude(
    own: Comparison,
    spec: Spec,
    answered: Answer,
    rope: Rope,
    seed: np.random.SeedSequence,
    *,
    as_right: tuple[AsRight, ...] | None = None,
) -> Comparison:
    """Conclude as the comparison did, with its folds or its runs."""
    details, prob = own.details, own.hdi.prob
    if isinstance(details, RunDetails):
        drawn = draw_runs(spec, answered.values, details.sides, seed)
        return summarize_runs(spec, drawn, details.sides, rope=rope, prob=prob, seed=seed)
    assert not isinstance(details, ScoreDetails)  # with_metric has refused
    if details is not None and not isinstance(details, CrossDetails):
        # How far the folds spread does not depend on the metric.
        spec = replace(spec, findings=own.spec.findings)
    verb = verb_of(details)
    plain = summarize_comparison(
        spec, answered, rope=rope, prob=prob, seed=seed, verb=verb, as_right=as_right
    )
    if details is None:
        return plain
    found = blocked(plain, details.folds, details.correlation)
    if isinstance(details, CrossDetails):
        return beside_unpaired(found, details.folds, details.correlation, details.outcomes)
    return found


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class ComparisonTable(Tabular):
    """Comparisons with a key each, as a table with the papers' columns.

    Parameters
    ----------
    what
        What the keys are: ``"class"`` or ``"metric"``.
    keys
        One for each comparison.
    comparisons
        The comparisons.

    Examples
    --------
    >>> import outperform as op
    >>> card = op.scorecard([1, 0, 1, 0], [1, 0, 1, 1], [1, 1, 0, 0],
    ...                     metrics=["recall", "accuracy"], rope=0.05, random_state=1)
    >>> card["recall"].names
    ('A', 'B')
    >>> len(card)
    2
    """

    what: str
    keys: tuple[Label, ...]
    comparisons: tuple[Comparison, ...]

    def __getitem__(self, key: Label) -> Comparison:
        if key not in self.keys:
            raise UsageError(unknown_name(self._noun, key, map(str, self.keys)))
        return self.comparisons[self.keys.index(key)]

    def __iter__(self) -> Iterator[Comparison]:
        return iter(self.comparisons)

    def __len__(self) -> int:
        return len(self.comparisons)

    def table(self) -> Table:
        """Return the rows: p-values, posterior, decision."""
        return rows.full_table(self.what, self.keys, self.comparisons)

    def to_latex(
        self,
        *,
        columns: Sequence[str] | None = None,
        caption: str | None = None,
        label: str | None = None,
    ) -> str:
        """Return the rows as a LaTeX table, with symbols for decisions and letters for findings.

        All columns together lie on their side; a few of them stand upright.

        Parameters
        ----------
        columns
            The columns to show, by their names in a data frame; all if None.
        caption
            Plain text for the caption; by default what is compared, with which prior and ROPE.
        label
            What the paper's references call the table; made of the names if None.
        """
        table = rows.compact_table(self.table(), columns)
        return captioned(table, caption).to_latex(label=label or self._latex_label())

    def _document(self) -> Document:
        return rows.document(self.what, self.table(), self.comparisons)

    def to_dict(self) -> TableFacts:
        """Return all comparisons as plain values, with a schema version."""
        return {
            "schema": 1,
            "kind": "comparisons",
            "by": self.what,
            "keys": list(self.keys),
            "comparisons": [comparison.to_dict() for comparison in self.comparisons],
        }

    def plot(self, ax: Axes | None = None, *, size: FigureSize = "text") -> Axes:
        """Draw one interval a comparison, in the order of the keys, with its decision.

        Parameters
        ----------
        ax
            Axes to draw into; new ones if None. They are returned.
        size
            How wide a new figure is: ``"column"``, ``"text"`` or ``"slide"``.
        """
        return facts.plot_forest(self.what, self.keys, self.comparisons, ax, size=size)

    def joint(self, one: str | Ratio, other: str | Ratio) -> Joint:
        """Return how probable it is that A is better, equivalent or worse in two metrics at once.

        Both are read off the same weights of the items, so that what they share counts.

        Parameters
        ----------
        one, other
            Two metrics of a scorecard, each with its ROPE; or the ratio of one of them,
            ``card[metric].ratio(rope=…)``.

        Examples
        --------
        >>> import outperform as op
        >>> seen = op.Outcomes.from_statistics({
        ...     "small": {"right": [1, 1, 0, 1] * 50, "cents": [1, 2, 1, 2] * 50},
        ...     "large": {"right": [1, 1, 1, 0] * 50, "cents": [4, 3, 5, 4] * 50}})
        >>> card = op.scorecard(seen, "small", "large", metrics=["mean:right", "mean_cost:cents"],
        ...                     rope={"mean:right": 0.2, "mean_cost:cents": 0.5}, random_state=1)
        >>> found = card.joint("mean:right", "mean_cost:cents")
        >>> found.decision, found.p("equivalent", "better") > 0.99
        ('dominates', True)
        """
        found: Joint = feature("joint")(self, one, other)
        return found

    def __repr__(self) -> str:
        symbols = "".join(comparison.decision.symbol for comparison in self.comparisons)
        return f"ComparisonTable(by {self._noun}, {len(self)} comparisons: {symbols})"

    @property
    def _noun(self) -> str:
        return rows.noun(self.what, self.comparisons[0].spec)

    def _latex_label(self) -> str:
        first = self.comparisons[0]
        metric = () if self.what == "metric" else (first.metric,)
        return latex_label(*first.names, *metric, "by", self._noun)


def compare_classes(comparison: Comparison) -> ComparisonTable:
    """Compare each class against the rest with the metric's one-class form."""
    asked = counted(comparison.spec)
    metric = of_one_class(asked.metric)
    given = asked.choices
    # A class that is never true has nothing to find, unless somebody named it.
    named = () if given.labels is None else given.labels
    true = set(true_codes(asked.data).tolist()) or set(range(asked.data.n_classes))
    labels = tuple(
        label for code, label in enumerate(asked.data.labels) if code in true or label in named
    )
    specs = [
        make_label_spec(
            asked.data,
            metric=metric,
            prior=given.prior,
            paired=given.paired,
            labels=None,
            pos_label=label,
            counting=asked.counting,
        )
        for label in labels
    ]
    found = _answer_classes(comparison, specs)
    return ComparisonTable(what="class", keys=labels, comparisons=found)


def _answer_classes(comparison: Comparison, specs: Sequence[LabelSpec]) -> tuple[Comparison, ...]:
    """Answer one spec a class; those that tell all classes apart share their draws."""
    rope, seed = comparison.rope, comparison.seed
    found: dict[int, Comparison] = {}
    whole = [code for code, one in enumerate(specs) if one.view.n_classes > 2]
    if whole:
        together = [specs[code] for code in whole]
        answers = ask_together(comparison, together, rope=rope, seed=child(seed, whole[0]))
        found.update(zip(whole, answers, strict=True))
    for code, spec in enumerate(specs):
        if code not in found:
            # One stream per class, so that a class's row does not depend on the others.
            found[code] = ask_also(comparison, spec, rope=rope, seed=child(seed, code))
    return tuple(found[code] for code in range(len(specs)))


def estimate_at_prevalence(own: Estimate, shares: PrevalenceLike) -> Estimate:
    """Ask the same at other class proportions."""
    assert own.seed is not None  # an estimate of a comparison has refused
    return answer_one(
        elsewhere(counted(own.spec), shares),
        verb="estimate",
        prob=own.hdi.prob,
        n_draws=own.draws.size,
        seed=own.seed,
        n_jobs=-1,
    )
