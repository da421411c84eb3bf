"""From draws or a closed form to the numbers that every result shows."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from outperform._typing import Distribution, FloatArray
from outperform._version import __version__
from outperform.comparison.question import ONCE
from outperform.comparison.scored import Asked
from outperform.decision import Interval, equal_tailed, exact_hdi, mean_error, narrowest
from outperform.findings import Finding
from outperform.posterior import Chain

SCHEMA = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Mean, spread and intervals of one posterior, with the error of the mean."""

    mean: float
    sd: float
    mcse: float
    hdi: Interval
    eti: Interval


def summarise(
    ordered: FloatArray,
    exact: Distribution | None,
    prob: float,
    *,
    signed: bool = False,
    chain: Chain | None = None,
) -> Summary:
    """Summarise a posterior by its closed form, or by its sorted draws."""
    if exact is None:
        sd, worth = float(ordered.std(ddof=1)), n_effective(ordered, chain)
        return Summary(
            mean=float(ordered.mean()),
            sd=sd,
            mcse=mean_error(sd, worth) if chain is None else chain.mcse,
            hdi=replace(narrowest(ordered, prob, worth), kind="HDI", signed=signed),
            eti=replace(equal_tailed(ordered, prob, worth), kind="ETI", signed=signed),
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


def n_effective(draws: FloatArray, chain: Chain | None) -> float:
    """Return how many independent draws these are worth."""
    return float(draws.size) if chain is None else chain.n_effective


def chain_facts(chain: Chain | None) -> dict[str, Any]:
    """Return what a chain says of itself as plain values, if one drew."""
    return {} if chain is None else {"chain": asdict(chain)}


def interval_facts(interval: Interval) -> dict[str, float]:
    """Return an interval as plain values."""
    return {
        "low": interval.low,
        "high": interval.high,
        "prob": interval.prob,
        "mcse_low": interval.mcse_low,
        "mcse_high": interval.mcse_high,
    }


def finding_facts(findings: tuple[Finding, ...]) -> list[dict[str, str]]:
    """Return findings as plain values."""
    return [{"name": one.name, "level": one.level, "message": one.message} for one in findings]


def question_facts(question: Asked) -> dict[str, Any]:
    """Return what was asked as plain values."""
    return {
        "metric": question.metric.name,
        "metric_label": question.metric.label,
        "greater_is_better": question.metric.greater_is_better,
        **({} if question.costs is None else {"costs": question.costs.to_dict()}),
        "n": question.n,
        "unit": question.unit,
        **({} if question.n_groups is None else {"n_groups": question.n_groups}),
        **({} if question.n_effective is None else {"n_effective": question.n_effective}),
        **({} if question.n_pool is None else {"n_pool": question.n_pool}),
        "n_classes": _n_if(question, "classes", "correct", "scores"),
        "n_types": _n_if(question, "spans"),
        **({"n_labels": question.seen.n_classes} if question.seen.kind == "label_sets" else {}),
        "pos_label": question.pos_label,
        **_prevalence_facts(question),
        "model": question.model.name,
        "prior": repr(question.prior) if question.model.takes_prior else None,
    }


def _n_if(question: Asked, *kinds: str) -> int | None:
    """Return how many classes, types or labels there are, if such outcomes were asked."""
    return question.seen.n_classes if question.seen.kind in kinds else None


def _prevalence_facts(question: Asked) -> dict[str, Any]:
    """Return the class proportions that replaced those of the data, if any did."""
    given = question.given.prevalence
    if given is None:
        return {}
    return {
        "prevalence": {
            "classes": list(given.labels),
            "shares": list(given.shares),
            "source": given.source,
            "n_counted": given.n_counted,
        }
    }


def _prevalence(question: Asked) -> str:
    given = question.given.prevalence
    return "" if given is None else f"prevalence={given}"


def sign(
    verb: str, question: Asked, *, rope: str | None, prob: float, n_draws: int, seed: str
) -> str:
    """Return the line that makes a result repeatable and comparable."""
    labels = ""
    if question.classes is not None and question.positive is None:
        named = question.given.labels is not None
        labels = "labels=given" if named else f"averaged={len(question.classes)}"
    parts = [
        f"outperform {__version__}",
        verb,
        f"metric={question.metric.name}",
        "" if question.pos_label is None else f"pos_label={question.pos_label!r}",
        labels,
        _prevalence(question),
        "" if rope is None else f"rope={rope}",
        f"model={question.model.name}",
        repr(question.prior) if question.model.takes_prior else "",
        "" if verb.endswith("estimate") else ("paired" if question.paired else "unpaired"),
        _worth(question),
        "" if question.given.engine.sampler is None else str(question.given.engine),
        f"n={question.n}",
        "" if question.n_pool is None else f"pool={question.n_pool}",
        "" if question.n_effective is None else f"effective={question.n_effective:.6g}",
        "" if question.n_groups is None else f"groups={question.n_groups}",
        "" if question.seen.n_classes is None else f"classes={question.seen.n_classes}",
        f"hdi={prob:g}",
        f"draws={n_draws}",
        f"seed={seed}",
        f"numpy={np.__version__}",
    ]
    return " | ".join(part for part in parts if part)


def _worth(question: Asked) -> str:
    """Say what a counted document is worth where it is not one document."""
    times, scales = question.counting
    if question.counting == ONCE:
        return ""
    factor = sum(scale.factor * scale.share for scale in scales)
    return f"counted={times} | worth={'~' if len(scales) > 1 else ''}{factor:.6g}"


def seed_name(seed: np.random.SeedSequence) -> str:
    """Return a seed so that it can be given again."""
    spawned = "".join(f".{key}" for key in seed.spawn_key)
    return f"{seed.entropy}{spawned}"
