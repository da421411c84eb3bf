"""Labels or scores: which data a metric reads, and the question that asks them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from outperform import metrics
from outperform._typing import Label
from outperform.comparison.engines import EXACT, Engine
from outperform.comparison.question import ONCE, Counting, ask
from outperform.comparison.scored.question import Asked, ask_scores
from outperform.comparison.scored.reading import refuse_labels_metric
from outperform.comparison.views import chosen_metric
from outperform.errors import UsageError
from outperform.outcomes import Outcomes, Scores

Seen = Outcomes | Scores


def ask_any(
    seen: Seen,
    *,
    metric: Any,
    model: str | None,
    default_model: str,
    prior: Any,
    paired: bool,
    labels: Sequence[Label] | None,
    pos_label: Label | None,
    prevalence: Any = None,
    counting: Counting = ONCE,
    engine: Engine = EXACT,
) -> Asked:
    """Ask counted labels, or scores, whichever these are."""
    metric = chosen_metric(seen, metric, labels=labels, pos_label=pos_label)
    rest: dict[str, Any] = {
        "model": model,
        "prior": prior,
        "paired": paired,
        "labels": labels,
        "pos_label": pos_label,
    }
    if isinstance(seen, Scores):
        if prevalence is not None:
            raise UsageError("prevalence= is for labels, and these are scores; leave it out")
        if engine.sampler is not None:
            raise UsageError(f"engine {engine.name!r} is for labels; use engine='exact' for scores")
        if not metrics.is_of_scores(metric):
            raise refuse_labels_metric(metric, graded=seen.truth is None)
        return ask_scores(seen, metric=metric, **rest)
    if metrics.is_of_scores(metric):
        name = metric if isinstance(metric, str) else getattr(metric, "name", "this function")
        raise UsageError(
            f"{name!r} is a metric of scores, and outcomes are counted labels; give arrays of "
            "scores, or op.Scores.from_arrays(y_true, {'bert': scores})"
        )
    return ask(
        seen,
        metric=metric,
        default_model=default_model,
        prevalence=prevalence,
        counting=counting,
        engine=engine,
        **rest,
    )


def seen_by(
    y_true: Any,
    columns: Mapping[str, Any],
    *,
    metric: Any,
    labels: Sequence[Label] | None,
    sample_weight: Any,
    groups: Any,
) -> Seen:
    """Count labels, or keep scores, as the metric reads them."""
    rows: dict[str, Any] = {
        "groups": groups,
        "sample_weight": sample_weight,
    }
    if not metrics.is_of_scores(metric):
        if y_true is None:
            raise refuse_labels_metric(metric, graded=True)
        metrics.check_name(
            metric, metrics.names() + metrics.set_names() + metrics.score_names(graded=False)
        )
        return Outcomes.from_labels(y_true, columns, labels=labels, **rows)
    if y_true is None:
        return Scores.from_values(columns, **rows)
    return Scores.from_arrays(y_true, columns, labels=labels, **rows)


def selected(seen: Seen, models: Sequence[Any], *, verb: str) -> Seen:
    """Return some models of what was seen, named in the call."""
    if not all(isinstance(one, str) for one in models):
        what, many = ("scores", "s") if isinstance(seen, Scores) else ("outcomes", "s")
        names = "'bert', 'gpt'" if len(models) == 2 else "'bert'"
        raise UsageError(
            f"with {what}, name the model{many if len(models) == 2 else ''}, "
            f"e.g. {verb}({what}, {names})"
        )
    if len(set(models)) != len(models):
        raise UsageError(f"the two models must differ; got {models[0]!r} twice")
    return seen.select(list(models))
