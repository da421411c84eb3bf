"""Numbers and Bayes factors from draws or closed forms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from outperform import __version__
from outperform._json import written
from outperform._typing import Distribution, FloatArray
from outperform.decision.bayes_factor import (
    BayesFactor,
    Inside,
    bayes_factor_point_null,
    interval_null,
    point_null_kde,
)
from outperform.decision.hdi import exact_hdi, narrowest, narrowest_rows
from outperform.decision.intervals import Ends, Interval, equal_tailed, equal_tailed_rows
from outperform.decision.ranks import Spreads, spreads_rows
from outperform.decision.rope import Masses, Rope, mean_error
from outperform.errors import UndefinedBayesFactorError, UsageError
from outperform.findings import Finding, clauses, counted, finding
from outperform.inference import engine
from outperform.inference.question import ONCE
from outperform.inference.score_spec import ScoreSpec
from outperform.inference.spec import LabelSpec, Spec
from outperform.inference.spec import counted as of_labels
from outperform.metrics.votes import VOTES
from outperform.metrics.votes import method as votes_method
from outperform.posterior.pymc.sampling import Chain
from outperform.posterior.rng import child


@written()
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Summary:
    """Mean, sd and intervals of one posterior, as in every result.

    Parameters
    ----------
    mean, sd, mcse
        Mean and sd of the posterior, and the Monte Carlo error of the mean (0 if exact).
    hdi, eti
        Narrowest interval and equal-tailed interval.
    """

    mean: float
    sd: float
    mcse: float
    hdi: Interval
    eti: Interval

    @property
    def _summary(self) -> Summary:
        """The same numbers without the other fields of a result."""
        return Summary(**Summary._fields(self))

    def _fields(self) -> dict[str, Any]:
        """Return the numbers by name, to build a result with them."""
        return {field.name: getattr(self, field.name) for field in fields(Summary)}

    def __neg__(self) -> Summary:
        """Return the summary of the negative, as B − A is of A − B."""
        sizes = ("sd", "mcse")
        negated = {name: -value for name, value in self._fields().items() if name not in sizes}
        return Summary(**{**self._fields(), **negated})


def summarize(
    ordered: FloatArray,
    exact: Distribution | None,
    prob: float,
    *,
    signed: bool = False,
    chain: Chain | None = None,
) -> Summary:
    """Summarise a posterior by its closed form, or by its sorted draws."""
    if exact is None:
        sd, n_independent = float(ordered.std(ddof=1)), n_effective(ordered, chain)
        return Summary(
            mean=float(ordered.mean()),
            sd=sd,
            mcse=mean_error(sd, n_independent) if chain is None else chain.mcse,
            hdi=replace(narrowest(ordered, prob, n_independent), signed=signed),
            eti=replace(equal_tailed(ordered, prob, n_independent), signed=signed),
        )
    tail = (1 - prob) / 2
    equal = exact.quantile(tail), exact.quantile(1 - tail)
    low, high = exact_hdi(exact, prob, equal_tailed=equal)
    return Summary(
        mean=exact.mean,
        sd=exact.sd,
        mcse=0.0,
        hdi=Interval(low=low, high=high, prob=prob, kind="HDI", signed=signed),
        eti=Interval(low=equal[0], high=equal[1], prob=prob, kind="ETI", signed=signed),
    )


class SummaryRows(NamedTuple):
    """Summaries of many posteriors as arrays, one row per posterior."""

    spreads: Spreads
    hdi: Ends
    eti: Ends

    def row(self, row: int, prob: float, n_draws: int) -> Summary:
        """Return the summary of one posterior of differences."""
        mean, sd = float(self.spreads.mean[row]), float(self.spreads.sd[row])
        return Summary(
            mean=mean,
            sd=sd,
            mcse=mean_error(sd, n_draws),
            hdi=self.hdi.interval(row, prob, signed=True),
            eti=self.eti.interval(row, prob, "ETI", signed=True),
        )


def summarize_many(ordered: FloatArray, prob: float) -> SummaryRows:
    """Summarise each row of sorted draws ``(n_rows, n_draws)``."""
    return SummaryRows(
        spreads_rows(ordered), narrowest_rows(ordered, prob), equal_tailed_rows(ordered, prob)
    )


def n_effective(draws: FloatArray, chain: Chain | None) -> float:
    """Return the number of independent draws that these are worth."""
    return float(draws.size) if chain is None else chain.n_effective


def chain_findings(chains: Sequence[Chain]) -> Iterator[Finding]:
    """Yield findings on the convergence of the chains of A, of B and of the difference."""
    if not chains:
        return
    last = chains[-1]
    yield finding(
        "chain_diagnostics",
        sampler=last.sampler,
        rhat=last.rhat,
        ess=last.ess,
        n_draws=last.n_draws,
        divergences=counted(last.divergences, "divergences"),
        mcse=last.mcse,
    )
    faults = dict.fromkeys(fault for chain in chains for fault in chain.faults)
    if faults:
        yield finding("chain_not_converged", faults=clauses(faults))


def _errors(spec: Spec) -> str:
    return "" if spec.label_errors is None else f"label_errors={spec.label_errors}"


def _prevalence(spec: Spec) -> str:
    return "" if spec.prevalence is None else f"prevalence={spec.prevalence}"


def _votes(spec: Spec) -> str:
    """Return the part of the signature that names the votes behind win rates, if any."""
    if not isinstance(spec, ScoreSpec) or spec.data.columns != VOTES:
        return ""
    return f"votes={votes_method(spec.metric.name, spec.data.values[0])}"


def _process(spec: Spec) -> str:
    """Return the part of the signature about a choice among candidates, or repeated looks."""
    candidates = spec.choices.chosen_from
    if candidates is None:
        return "looks=any" if spec.choices.looks == "any" else ""
    if isinstance(candidates, int):
        return f"chosen_from={candidates}"
    return (
        f"chosen_from={counted(len(set(candidates.models) - {spec.data.models[-1]}), 'candidates')}"
    )


def sign(verb: str, spec: Spec, *, rope: str | None, prob: float, n_draws: int, seed: str) -> str:
    """Return the signature: one line to repeat a result and to compare it with others."""
    labels = ""
    if spec.classes is not None and spec.positive is None:
        named = spec.choices.labels is not None
        labels = "labels=given" if named else f"averaged={len(spec.classes)}"
    parts = [
        f"outperform {__version__}",
        verb,
        f"metric={spec.metric.name}",
        _votes(spec),
        "" if spec.pos_label is None else f"pos_label={spec.pos_label!r}",
        labels,
        _prevalence(spec),
        _errors(spec),
        "" if rope is None else f"rope={rope}",
        f"prior={spec.prior.name}",
        "" if verb.endswith("estimate") else ("paired" if spec.paired else "unpaired"),
        _worth(spec),
        _process(spec),
        "" if spec.choices.engine is None else f"engine=pymc ({spec.choices.engine})",
        f"n={spec.n}",
        "" if spec.n_pool is None else f"pool={spec.n_pool}",
        "" if spec.n_effective is None else f"effective={spec.n_effective:.6g}",
        "" if spec.n_groups is None else f"groups={spec.n_groups}",
        "" if spec.data.n_classes is None else f"classes={spec.data.n_classes}",
        f"hdi={prob:g}",
        f"draws={n_draws}",
        f"seed={seed}",
        f"numpy={np.__version__}",
    ]
    return " | ".join(part for part in parts if part)


def _worth(spec: Spec) -> str:
    """Return the part of the signature on the worth of a counted item, if it is not 1."""
    times, scales = spec.counting
    if spec.counting == ONCE:
        return ""
    factor = sum(scale.factor * scale.share for scale in scales)
    return f"counted={times} | worth={'~' if len(scales) > 1 else ''}{factor:.6g}"


def seed_name(seed: np.random.SeedSequence) -> str:
    """Return a seed as text that can be passed again."""
    spawned = "".join(f".{key}" for key in seed.spawn_key)
    return f"{seed.entropy}{spawned}"


_PRIOR_STREAM = 2**31


def interval_factor(
    spec: Spec, rope: Rope, masses: Masses, *, n_draws: int | None
) -> BayesFactor | None:
    """Return the factor of the interval null; None for an improper prior or a ROPE of width 0."""
    if rope.low == rope.high:
        return None
    prior = engine.prior_inside(spec, rope)
    if prior is None:
        return None
    inside = Inside(inside=masses.inside, outside=masses.below + masses.above, n_draws=n_draws)
    return interval_null(inside, prior)


def point_factor(
    spec: Spec,
    distribution: Distribution | None,
    draws: FloatArray,
    *,
    method: Literal["exact", "kde"],
    seed: np.random.SeedSequence,
) -> BayesFactor:
    """Return the Bayes factor of the point null, if it exists."""
    if not spec.prior.proper:
        raise UndefinedBayesFactorError(
            f"prior {spec.prior.name!r} is not proper, so there is no Bayes factor"
        )
    spec = of_labels(spec)
    if spec.view_errors is not None:
        raise UndefinedBayesFactorError(
            "with stated label errors, the prior puts both models at the end of the scale at once, "
            "so the point null has no Bayes factor; use the interval null, c.bayes_factor"
        )
    if method == "exact":
        _refuse_divergent(spec)
        return bayes_factor_point_null(distribution, engine.prior_difference(spec))
    if method == "kde":
        prior = engine.prior_draws(spec, draws.size, child(seed, _PRIOR_STREAM))
        return point_null_kde(draws, prior)
    raise UsageError(f"method must be 'exact' or 'kde'; got {method!r}")


def _refuse_divergent(spec: LabelSpec) -> None:
    """Reject point nulls whose prior density at zero is infinite."""
    form = spec.share
    if spec.prior.name in ("hierarchical", "learned"):
        raise UndefinedBayesFactorError(
            f"under prior {spec.prior.name!r} the prior density of the difference at zero is "
            "infinite, so the point null has no Bayes factor; use the interval null, c.bayes_factor"
        )
    dirichlet = spec.prior.shapes
    if dirichlet is None or not spec.paired or form is None:
        return
    if spec.data.kind == "spans" or spec.view_prevalence is not None:
        return  # their prevalence cannot vanish
    if spec.positive is None or "fp" not in form.parts or "tp" not in form.parts:
        return
    shapes = dirichlet.prevalence_shapes(2)
    needed = shapes[[1]] if "fn" in form.parts else shapes
    if needed.min() <= 1:
        raise UndefinedBayesFactorError(
            f"both classifiers' {spec.metric.label} go to zero together with the prevalence, "
            "so the prior density of their difference at zero is infinite and the point null has "
            "no Bayes factor; use the interval null, c.bayes_factor"
        )
