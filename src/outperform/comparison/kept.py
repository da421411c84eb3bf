"""What a tree keeps of a comparison besides its draws: plain text from which to ask again."""

from __future__ import annotations

import json
from dataclasses import asdict
from operator import methodcaller
from typing import TYPE_CHECKING, Any

from outperform import metrics
from outperform._json import is_signed, parse, shown, signed
from outperform.comparison.engines import Engine
from outperform.comparison.question import ONCE, Question
from outperform.comparison.scored.asking import ask_any
from outperform.comparison.views import called
from outperform.errors import DataError, UsageError
from outperform.outcomes import Outcomes
from outperform.posterior import Prevalence, Prior, Sampler

if TYPE_CHECKING:
    from outperform.comparison.result import Comparison

_SCHEMA = 2
_AGAIN = "compare again, with the same random_state"


def keep(comparison: Comparison) -> str:
    """Return all that :func:`ask_again` needs, or the reason why there is no way back."""
    reason = _no_way_back(comparison)
    kept = {"reason": reason} if reason is not None else _kept(comparison, comparison.counted)
    # Labels and seeds may be numpy's numbers and arrays, which JSON does not know.
    text = json.dumps({"schema": _SCHEMA, **kept}, default=methodcaller("tolist"))
    return json.dumps(signed(json.loads(text)), ensure_ascii=False)


def _no_way_back(comparison: Comparison) -> str | None:
    question = comparison.question
    if not isinstance(question, Question):
        return f"it compares scores, which are not kept; {_AGAIN}"
    # Comparisons of runs and of folds know more than what was counted.
    if comparison.verb != "compare" or question.counting != ONCE:
        return f"what {comparison.verb}() counted is not kept; call it again, same random_state"
    if question.given.prevalence is not None and question.given.prevalence.distribution is not None:
        return f"prevalence= was a distribution, which is not kept; {_AGAIN}"
    return None


def _kept(comparison: Comparison, question: Question) -> dict[str, Any]:
    given = question.given
    return {
        "outcomes": question.seen.to_dict(),
        "metric": comparison.metric,
        "own_metric": not _has_a_name(question),
        "model": given.model,
        "prior": None if given.prior is None else _of_prior(given.prior),
        "paired": given.paired,
        "labels": None if given.labels is None else list(given.labels),
        "pos_label": given.pos_label,
        "prevalence": None if given.prevalence is None else asdict(given.prevalence),
        "engine": given.engine.name,
        "own_model": given.engine.own is not None,
        "sampler": None if given.engine.sampler is None else asdict(given.engine.sampler),
        "rope": [comparison.rope.low, comparison.rope.high, comparison.rope.default],
        "hdi_prob": comparison.hdi.prob,
        "seed": [comparison.seed.entropy, list(comparison.seed.spawn_key)],
        "n_draws": comparison.draws.size,
        "chains": [
            asdict(one)
            for one in (comparison.a.chain, comparison.b.chain, comparison.chain)
            if one is not None
        ],
    }


def _has_a_name(question: Question) -> bool:
    """Return whether the metric is the one that its name stands for."""
    try:
        return called(metrics.get(question.metric.name), question.seen) == question.metric
    except UsageError:
        return False


def _of_prior(prior: Prior) -> dict[str, Any]:
    return {
        "rows": prior.rows.tolist(),
        "prevalence": prior.prevalence.tolist(),
        "name": prior.name,
    }


def read_kept(text: str) -> dict[str, Any]:
    """Return what was kept, or say why there is no way back."""
    damaged = "the attribute 'outperform' of this tree is damaged"
    try:
        kept = parse(text, constants=True)  # a diagnostic of chains may be undefined
    except DataError as error:
        raise DataError(f"{damaged}: {error}") from error
    if not isinstance(kept, dict) or type(kept.get("schema")) is not int:
        raise DataError(f"{damaged}: it must be an object with a schema; got {shown(kept)}")
    if kept["schema"] != _SCHEMA:
        raise DataError(
            f"a tree of schema {shown(kept['schema'])} cannot be taken back; known: {_SCHEMA}"
        )
    if not is_signed(kept):
        raise DataError(f"{damaged}: its content does not fit its checksum, so it was changed")
    if "reason" in kept:
        raise DataError(f"there is no way back from this tree: {kept['reason']}")
    return kept


def ask_again(kept: dict[str, Any], *, metric: Any, model: Any) -> Any:
    """Return the question that was asked."""
    if kept["own_metric"] and metric is None:
        raise UsageError(
            f"the metric {kept['metric']!r} is your own, which a tree does not hold; give it "
            "again: from_datatree(tree, metric=...)"
        )
    if kept["own_model"] != (model is not None):
        raise UsageError(
            "the PyMC model is your own, which a tree does not hold; give it again: "
            "from_datatree(tree, model=...)"
            if kept["own_model"]
            else f"the tree knows its model, {kept['model'] or 'the default'}; leave model= out"
        )
    return ask_any(
        Outcomes.from_dict(kept["outcomes"]),
        metric=kept["metric"] if metric is None else metric,
        model=kept["model"],
        default_model="unit",
        prior=None if kept["prior"] is None else Prior(**kept["prior"]),
        paired=kept["paired"],
        labels=kept["labels"],
        pos_label=kept["pos_label"],
        prevalence=_prevalence(kept["prevalence"]),
        engine=_engine(kept, model),
    )


def _prevalence(kept: dict[str, Any] | None) -> Prevalence | None:
    if kept is None:
        return None
    shapes = kept["shapes"]
    return Prevalence(
        labels=tuple(kept["labels"]),
        shares=tuple(kept["shares"]),
        shapes=None if shapes is None else tuple(shapes),
    )


def _engine(kept: dict[str, Any], model: Any) -> Engine:
    sampler = kept["sampler"]
    return Engine(
        name=kept["engine"],
        sampler=None if sampler is None else Sampler(**sampler),
        own=model,
    )
