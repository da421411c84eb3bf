"""Comparisons within a process: the best of many candidates, and one of any number of looks."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, Literal, NamedTuple

import numpy as np

from outperform._json import written
from outperform._rows import distinct_rows
from outperform._typing import Distribution, FloatArray
from outperform.data.outcomes import Outcomes
from outperform.data.scores import Scores
from outperform.decision.anytime import betting_interval, widening
from outperform.decision.intervals import Interval
from outperform.decision.rope import Decision, mean_error, sd_error
from outperform.decision.selection import Errors, shrunk, widened
from outperform.errors import UsageError, param
from outperform.findings import Finding, counted, finding
from outperform.inference import engine
from outperform.inference.question import ONCE, Candidates, Looks, Sampling
from outperform.inference.score_spec import ScoreSpec
from outperform.inference.spec import LabelSpec, Spec, again
from outperform.inference.summary import Summary
from outperform.inference.thresholds import FEW_FOR_ANY_LOOK
from outperform.metrics.metric import Sums
from outperform.posterior.base import alone
from outperform.posterior.hierarchical import pool_models
from outperform.posterior.rng import child

# Values in memory at once for the joint draws of all candidates.
_MOST_VALUES = 100_000_000
_FEWEST_POOLED = 3
_ROUNDING = 1e-12
_STREAM = 1 << 30  # not used by any block of draws
# Names that training frameworks give to checkpoints of one run: step-1000, epoch3, ckpt_12.
_CHECKPOINT = re.compile(
    r"(?:^|[^a-z])(?:global[-_ ]?step|steps?|epochs?|ckpt|checkpoint|iter(?:ation)?s?)"
    r"[-_ =:.]*\d",
    re.IGNORECASE,
)


@written("n correlation is_best unadjusted")
@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """How a comparison accounts for A being chosen from several candidates.

    Parameters
    ----------
    n
        Number of candidates.
    correlation
        ``"data"``: the candidates' errors are drawn jointly. ``"unknown"``: they are treated as
        independent, which is cautious.
    is_best
        Whether A was chosen as the best candidate in these data. If not, or if another metric chose
        it, the interval is widened at both ends, so it is valid for every way of choosing.
    unadjusted
        HDI of the same difference if A had been the only candidate.
    """

    n: int
    correlation: Literal["data", "unknown"]
    is_best: bool
    unadjusted: Interval


@written("rule n least holds unadjusted")
@dataclass(frozen=True, slots=True, kw_only=True)
class AnyLook:
    """How a comparison is valid at every look.

    Parameters
    ----------
    rule
        ``"betting"``: exact for means of bounded values, from the first item. ``"asymptotic"``: for
        all other metrics, from ``least`` units on.
    n
        Number of independent units: items, or groups. With the asymptotic rule, the effective
        number of units that the difference depends on, if that is known.
    least
        Number of units from which the interval is valid; 0 for betting.
    holds
        Whether there are enough units. If not, the decision is withheld.
    unadjusted
        HDI of the same difference for a single look.
    """

    rule: Literal["betting", "asymptotic"]
    n: float
    least: int
    holds: bool
    unadjusted: Interval


class Adjusted(NamedTuple):
    """A summary that accounts for the process, with what it replaces."""

    numbers: Summary
    draws: FloatArray
    distribution: Distribution | None
    selection: Selection | None = None
    any_look: AnyLook | None = None
    # The closed form if A had been the only candidate.
    own: Distribution | None = None


def check_process(chosen_from: Candidates | None, looks: Looks) -> dict[str, Any]:
    """Return the choices about the process; raise an error if they are invalid.

    Parameters
    ----------
    chosen_from
        All candidates, or how many there were.
    looks
        ``"once"`` or ``"any"``.
    """
    if looks not in ("once", "any"):
        raise UsageError(f"{param('looks')} must be 'once' or 'any'; got {looks!r}")
    is_number = isinstance(chosen_from, Integral) and not isinstance(chosen_from, bool)
    if isinstance(chosen_from, Integral) and is_number:
        chosen_from = int(chosen_from)
        if chosen_from < 1:
            raise UsageError(f"{param('chosen_from')} must be at least 1; got {chosen_from}")
    if (
        chosen_from is not None
        and not is_number
        and not isinstance(chosen_from, (Outcomes, Scores))
    ):
        raise UsageError(
            f"{param('chosen_from')} must be the outcomes or scores of all candidates, or how many "
            f"there were, e.g. {param('chosen_from=', 20)}; got {type(chosen_from).__name__}"
        )
    if chosen_from is not None and looks == "any":
        raise UsageError(
            f"{param('chosen_from')} and {param('looks=', 'any')} cannot be combined; choose the "
            "candidate on other items, then look as often as you like"
        )
    return {"chosen_from": chosen_from, "looks": looks}


def chosen_by_another(spec: Spec) -> Spec:
    """Return the question about a model that another metric chose from several.

    The argument for the upper end needs the best model in this metric. A model with the highest
    precision can have the lowest recall of all candidates, so both ends are moved.

    Parameters
    ----------
    spec
        The question, with ``chosen_from=``.
    """
    return replace(spec, choices=replace(spec.choices, by_another=True))


def is_process(choices: Mapping[str, Any]) -> bool:
    """Return whether the choices of :func:`check_process` declare anything.

    Parameters
    ----------
    choices
        The choices.
    """
    return choices["chosen_from"] is not None or choices["looks"] == "any"


def adjust(
    spec: Spec,
    numbers: Summary,
    draws: FloatArray,
    distribution: Distribution | None,
    *,
    prob: float,
    seed: np.random.SeedSequence,
) -> Adjusted:
    """Return the summary of A − B for the process that the spec declares.

    Parameters
    ----------
    spec
        The question.
    numbers, draws, distribution
        Summary of A − B for one candidate and one look, its draws and its closed form.
    prob
        Mass of the interval.
    seed
        Seed of the draws.
    """
    plain = Adjusted(numbers, draws, distribution)
    if spec.choices.chosen_from is not None:
        return _chosen(spec, plain, prob=prob, seed=seed)
    return _at_any_look(spec, plain, prob=prob) if spec.choices.looks == "any" else plain


def _chosen(spec: Spec, plain: Adjusted, *, prob: float, seed: np.random.SeedSequence) -> Adjusted:
    sign = 1.0 if spec.metric.greater_is_better else -1.0
    own = sign * plain.draws
    generator = np.random.Generator(np.random.SFC64(child(seed, _STREAM)))
    field = _field(spec, own.size, seed)
    if field is None:
        candidates = spec.choices.chosen_from
        assert isinstance(candidates, int)
        errors, is_best = Errors(candidates), not spec.choices.by_another
        draws = own if candidates == 1 else shrunk(own, candidates, generator.random((2, own.size)))
    else:
        differences = field.draws[field.others] - field.draws[field.baseline]
        errors = Errors.of_draws(differences)
        is_best = field.is_best and not spec.choices.by_another
        draws = own if errors.n == 1 else field.pooled(own, generator)
    selection = Selection(
        n=errors.n,
        correlation="unknown" if field is None else "data",
        is_best=is_best,
        unadjusted=plain.numbers.hdi,
    )
    if errors.n == 1:
        return plain._replace(selection=selection, own=plain.distribution)
    numbers = plain.numbers if sign > 0 else -plain.numbers
    ends = widened(numbers.eti, numbers.mean, errors, is_best=is_best)
    ends = replace(ends if sign > 0 else -ends, kind="interval", signed=True)
    draws = sign * draws
    sd = float(draws.std(ddof=1))
    summary = Summary(
        mean=float(draws.mean()), sd=sd, mcse=mean_error(sd, draws.size), hdi=ends, eti=ends
    )
    return Adjusted(summary, draws, None, selection=selection, own=plain.distribution)


class _Field(NamedTuple):
    """Joint draws of all models, larger values being better: the candidates and the baseline."""

    draws: FloatArray  # (n_models, n_draws)
    chosen: int
    baseline: int
    others: list[int]  # all candidates
    is_best: bool
    bounds: tuple[float, float]
    n_units: float

    def pooled(self, own: FloatArray, generator: np.random.Generator) -> FloatArray:
        """Return pooled draws of chosen − baseline, as in a ranking of the candidates.

        The baseline was not chosen, so it is not one of them. Its error is correlated with theirs,
        so it moves with what pooling reveals of these. Fewer than three candidates do not show
        their spread.
        """
        candidates = self.draws[self.others]
        moved = pool_models(
            candidates, generator=generator, bounds=self.bounds, n_items=self.n_units
        )
        if moved is candidates or len(candidates) < _FEWEST_POOLED:
            return shrunk(own, len(candidates), generator.random((2, own.size)))
        moves = moved - candidates
        covariance = np.cov(self.draws)
        slopes = np.linalg.lstsq(
            covariance[np.ix_(self.others, self.others)],
            covariance[self.others, self.baseline],
            rcond=1e-6,
        )[0]
        shift = moves[self.others.index(self.chosen)] - slopes @ moves
        plain = self.draws[self.chosen] - self.draws[self.baseline]
        # Joint draws may be fewer than those of the pair, and their means differ by chance.
        pooled = plain + shift + (own.mean() - plain.mean())
        return np.asarray(np.resize(pooled, own.size))


def _field(spec: Spec, n_draws: int, seed: np.random.SeedSequence) -> _Field | None:
    """Return the joint draws of all candidates; None if only their number is known."""
    candidates = spec.choices.chosen_from
    if not isinstance(candidates, (Outcomes, Scores)):
        return None
    names = spec.data.models
    missing = [name for name in names if name not in candidates.models]
    if missing:
        raise UsageError(
            f"{param('chosen_from')} must contain both compared models on the same items; "
            f"{missing[0]!r} is not among its {counted(len(candidates.models), 'models')}"
        )
    joint = again(
        spec,
        candidates,
        prior=None,
        chosen_from=None,
        looks="once",
        engine=None,
        paired=spec.paired,
    )
    models, observed = list(joint.data.models), np.array(joint.observed)
    a, b = (models.index(name) for name in names)
    same = np.allclose(observed[[a, b]], spec.observed, rtol=1e-9, equal_nan=True)
    if joint.n != spec.n or not same:
        raise UsageError(
            f"{param('chosen_from')} must contain the candidates on the items that are compared, "
            f"but {names[0]!r} and {names[1]!r} have other results there; pass their number instead"
        )
    n_draws = max(1_000, min(n_draws, _MOST_VALUES // len(models)))
    (answered,) = engine.answer([joint], Sampling(n_draws, seed, -1))
    sign = 1.0 if spec.metric.greater_is_better else -1.0
    others = [index for index in range(len(models)) if index != b]
    low, high = sorted(sign * bound for bound in spec.metric.bounds)
    return _Field(
        draws=sign * answered.values,
        chosen=a,
        baseline=b,
        others=others,
        is_best=bool(sign * observed[a] >= np.nanmax(sign * observed[others]) - _ROUNDING),
        bounds=(low, high),
        n_units=independent_units(spec),
    )


def _at_any_look(spec: Spec, plain: Adjusted, *, prob: float) -> Adjusted:
    numbers, bounded = plain.numbers, bounded_differences(spec)
    if bounded is not None:
        low, high = betting_interval(
            bounded.values, bounded.counts, bounds=bounded.bounds, prob=prob
        )
        look = AnyLook(rule="betting", n=float(spec.n), least=0, holds=True, unadjusted=numbers.hdi)
        ends = Interval(low=low, high=high, prob=prob, kind="interval", signed=True)
    else:
        n_units, carrying = independent_units(spec), _carrying(spec)
        least = FEW_FOR_ANY_LOOK
        n = n_units if carrying is None else min(n_units, carrying)
        look = AnyLook(
            rule="asymptotic", n=n, least=least, holds=n >= least, unadjusted=numbers.hdi
        )
        times = float(widening(n_units, prob))
        reach = times * numbers.sd
        spread = 0.0 if plain.distribution is not None else sd_error(plain.draws)
        error = math.hypot(numbers.mcse, times * spread)
        widest = spec.metric.bounds[1] - spec.metric.bounds[0]
        ends = Interval(
            low=max(numbers.mean - reach, -widest),
            high=min(numbers.mean + reach, widest),
            prob=prob,
            mcse_low=error,
            mcse_high=error,
            kind="interval",
            signed=True,
        )
    numbers = Summary(**{**numbers._fields(), "hdi": ends, "eti": ends})
    return plain._replace(numbers=numbers, any_look=look)


class Bounded(NamedTuple):
    """Differences of independent items within bounds: distinct values and their counts."""

    values: FloatArray
    counts: FloatArray
    bounds: tuple[float, float]


def bounded_differences(spec: Spec) -> Bounded | None:
    """Return the items' differences if A − B is the mean of bounded ones; None otherwise.

    That is so for accuracy and for grades within bounds, on the same independent items.
    """
    if not spec.paired or spec.n_groups is not None or spec.n_effective is not None:
        return None
    if isinstance(spec, ScoreSpec):
        return _of_grades(spec)
    view, share = spec.view, spec.share
    plain = view.groups is None and view.pool is None and spec.counting == ONCE
    if not plain or spec.prevalence is not None or share is None:
        return None
    # Without a truth, every item is of one class and its right answers are hits.
    if share.parts != (("tp", "fn") if view.kind == "correct" else ("correct", "wrong")):
        return None
    cells = view.tables[0].cells
    right = (cells[:, 1:] == cells[:, :1]).astype(np.int64)
    off = right[:, 0] - right[:, 1]
    counts = np.bincount(off + 1, weights=view.tables[0].counts.astype(np.float64), minlength=3)
    return Bounded(np.array([-1.0, 0.0, 1.0]), np.asarray(counts, dtype=np.float64), (-1.0, 1.0))


def _of_grades(spec: ScoreSpec) -> Bounded | None:
    low, high = spec.metric.bounds
    is_mean = spec.metric.reads == "grade" and isinstance(spec.metric.how, Sums)
    if not is_mean or spec.metric.name != "mean" or not math.isfinite(high - low):
        return None
    if spec.data.moments is not None:  # betting needs the rows
        return None
    a, b = spec.data.values
    counts = np.ones(a.size) if spec.data.counts is None else spec.data.counts.astype(np.float64)
    off: FloatArray = a - b
    first, codes = distinct_rows(off[:, None])
    widest = high - low
    times = np.asarray(np.bincount(codes, weights=counts), dtype=np.float64)
    return Bounded(off[first], times, (-widest, widest))


def independent_units(spec: Spec) -> float:
    """Return the number of independent units: effective items under weights, groups, or items."""
    if spec.n_effective is not None:
        return spec.n_effective
    return float(spec.n if spec.n_groups is None else spec.n_groups)


def _carrying(spec: Spec) -> float | None:
    """Return the effective number of units that the difference depends on; None if unknown."""
    known = spec.n_carrying((0, 1))
    if known is not None or not isinstance(spec, LabelSpec) or not spec.view.paired:
        return known
    if spec.view.pool is not None or spec.view_errors is not None:
        return None
    influence = spec.moved_by(alone(spec.view)[0])
    return None if influence is None else influence.effective((0, 1))


# Text and findings


def process_findings(
    spec: Spec, decision: Decision, adjusted: Adjusted
) -> tuple[Decision, tuple[Finding, ...]]:
    """Return the decision that the process allows, and findings about it.

    Parameters
    ----------
    spec
        The question.
    decision
        Decision based on the adjusted interval.
    adjusted
        The adjusted summary.
    """
    look, selection = adjusted.any_look, adjusted.selection
    findings = list(_of_names(spec))
    if selection is not None and not (selection.is_best or spec.choices.by_another):
        findings.append(finding("not_the_best_candidate", model=spec.data.models[0]))
    if look is not None and not look.holds:
        findings.append(
            finding(
                "too_few_for_any_look",
                metric=spec.metric.label,
                least=look.least,
                units="groups" if spec.n_groups is not None else "items",
                n=math.floor(look.n),
            )
        )
        decision = Decision.UNDECIDED
    return decision, tuple(findings)


def _of_names(spec: Spec) -> Iterator[Finding]:
    """Yield a finding if a model is named like a checkpoint and nobody said how it was chosen."""
    if spec.choices.chosen_from is not None or len(spec.data.models) != 2:
        return
    named = [name for name in spec.data.models if _CHECKPOINT.search(name)]
    if named:
        yield finding("may_be_a_checkpoint", model=named[0])


def is_adjusted(spec: Spec) -> bool:
    """Return whether a spec declares a choice or repeated looks."""
    return spec.choices.chosen_from is not None or spec.choices.looks == "any"


def refuse_adjusted(spec: Spec, what: str) -> None:
    """Raise an error if a method knows nothing of a choice or of repeated looks.

    Parameters
    ----------
    spec
        The question.
    what
        The method, as it is called.
    """
    if not is_adjusted(spec):
        return
    name = "looks=" if spec.choices.looks == "any" else "chosen_from="
    raise UsageError(
        f"{what} is for one candidate and one look; call compare without {param(name)}"
    )
