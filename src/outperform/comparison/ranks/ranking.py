"""``rank``: which of many models is best, and which are practically as good?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from outperform._typing import Label, Seed
from outperform.comparison import engine
from outperform.comparison.question import refuse_counted, rope_for
from outperform.comparison.ranks.concluding import conclude
from outperform.comparison.ranks.result import Ranking
from outperform.comparison.scored import Asked, ScoreQuestion
from outperform.comparison.scored.asking import Seen, ask_any, seen_by
from outperform.decision import check_prob
from outperform.errors import ResourceError, UsageError
from outperform.outcomes import Outcomes, Scores
from outperform.outcomes.aligning import is_frame
from outperform.outcomes.checking import named
from outperform.posterior import seed_sequence

_MOST_VALUES = 200_000_000
_MOST_SPAN_CELLS = 1 << 16


def rank(
    y_true: Any,
    predictions: Any = None,
    *,
    metric: Any = None,
    rope: Any = None,
    hdi_prob: float = 0.95,
    prior: Any = None,
    model: str | None = None,
    paired: bool = True,
    n_draws: int = 20_000,
    random_state: Seed = None,
    n_jobs: int | None = None,
    labels: Sequence[Label] | None = None,
    pos_label: Label | None = None,
    prevalence: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
) -> Ranking:
    """Rank many classifiers from one set of weights of the same documents.

    Every draw gives all models a value at once, so what they share cancels in their
    differences, and one model more leaves what is said of the others as it was.

    Parameters
    ----------
    y_true
        The true labels, :class:`Outcomes` or :class:`Scores`; None where grades have no truth.
    predictions
        The predicted labels, or scores, of each model: a mapping from names, or a frame with a
        column for each model. Of outcomes the names of the models to rank; all if None.
    metric
        By default F1 where the positive class is clear and macro-F1 where it is not. Else
        scikit-learn's scorer name, a metric object, or a function of a confusion array.
    rope
        The region of practical equivalence of every difference: a half-width or a pair.
        ±0.01 by default.
    hdi_prob
        The mass of the intervals.
    prior
        Of model ``"flat"``; for more than two paired models an array, the prior of the rows of
        one model's confusion matrix.
    model
        By default ``"unit"``, whose prior for a model does not depend on how many others there
        are, also for two classes; ``"bootstrap"`` where groups are known or documents have
        several labels.
    paired
        Whether to use that the documents are the same, where the data allow it.
    n_draws
        How many draws.
    random_state
        None, a whole number, a SeedSequence, a Generator or a RandomState.
    n_jobs
        Threads; None uses all cores where that pays. The draws do not depend on it.
    labels
        The classes averaged over, as in scikit-learn; no row is dropped.
    pos_label
        The positive class of a binary metric.
    prevalence
        The class proportions where the models are to be used, as for :func:`compare`.
    groups
        The group of each document, such as its author or its prompt, if groups rather than
        documents should get one weight each.
    sample_weight
        How much the item of each row matters, as in scikit-learn. Rows that stand for several
        items are counts: :meth:`Outcomes.from_counts`.

    Examples
    --------
    >>> import outperform as op
    >>> news = op.datasets.load_news20()
    >>> ranking = op.rank(news.y_true, news.predictions, metric="f1_macro", rope=0.01,
    ...                   random_state=1)
    >>> ranking.names
    ('nb_mult', 'svm_l2', 'svm_l1', 'nb_bern')
    >>> ranking.tied
    ('nb_mult',)
    """
    seen = _models(
        y_true,
        predictions,
        metric=metric,
        labels=labels,
        sample_weight=sample_weight,
        groups=groups,
    )
    question = ask_many(
        seen,
        metric=metric,
        model=model,
        prior=prior,
        paired=paired,
        labels=labels,
        pos_label=pos_label,
        prevalence=prevalence,
    )
    prob, rope = check_prob(hdi_prob), rope_for(question, rope)
    seed, draws = seed_sequence(random_state), check_many_draws(n_draws, len(seen.models))
    (answered,) = engine.answer([question], n_draws=draws, seed=seed, n_jobs=n_jobs)
    return conclude(question, answered.values, rope=rope, prob=prob, seed=seed, n_jobs=n_jobs)


def _models(
    y_true: Any,
    predictions: Any,
    *,
    groups: Any,
    sample_weight: Any,
    **columns: Any,
) -> Seen:
    """Return what was seen of all models, in the order of their names.

    The order in which they were given then changes nothing at all, not even the draws.
    """
    rows = {"groups": groups, "sample_weight": sample_weight}
    seen: Seen
    if isinstance(y_true, (Outcomes, Scores)):
        if isinstance(predictions, (str, Mapping)) or is_frame(predictions):
            raise UsageError("with outcomes, name the models, e.g. rank(outcomes, ['bert', 'gpt'])")
        refuse_counted(**rows)
        names, seen = y_true.models if predictions is None else tuple(predictions), y_true
    else:
        if not isinstance(predictions, Mapping) and not is_frame(predictions):
            raise UsageError(
                "give the predictions of each model by name, e.g. "
                "rank(y_true, {'bert': pred_1, 'gpt': pred_2}), or as a frame"
            )
        models = named(predictions)
        names = tuple(models)
        seen = seen_by(y_true, models, **rows, **columns)
    if len(names) < 2:
        raise UsageError(f"a ranking needs at least two models; got {list(names)}")
    return seen.select(sorted(names))


def ask_many(seen: Seen, *, model: str | None, prior: Any, **asked: Any) -> Asked:
    """Ask about any number of models at once, under a model whose prior does not count them."""
    if isinstance(seen, Outcomes) and seen.pool is None and model is None and prior is None:
        together = seen.groups is not None or seen.kind == "label_sets"
        model = "bootstrap" if together else "unit"
    question = ask_any(seen, model=model, prior=prior, default_model="unit", **asked)
    n_models = len(seen.models)
    if isinstance(question, ScoreQuestion) or not question.paired or n_models == 2:
        return question
    if question.model.name == "flat" and question.prior.rows.ndim != 2:
        raise UsageError(
            "model 'flat' has a prior on every combination of the models' answers, which would "
            "change with every model; use model='unit', paired=False, or as prior an array for "
            "the rows of one model's confusion matrix"
        )
    cells = question.view.n_classes * 2 ** (1 + n_models)
    if question.seen.kind == "spans" and question.model.proper and cells > _MOST_SPAN_CELLS:
        raise ResourceError(
            f"with {n_models} models there are {cells:,} combinations of who found a span, more "
            f"than {_MOST_SPAN_CELLS:,}; use model='bootstrap', which needs only what occurred"
        )
    return question


def check_many_draws(n_draws: Any, n_models: int) -> int:
    """Return a number of draws that all models together have room for."""
    checked = engine.check_draws(n_draws)
    if checked * n_models > _MOST_VALUES:
        gigabytes = checked * n_models * 8 / 1e9
        raise ResourceError(
            f"{checked:,} draws of {n_models} models would take {gigabytes:,.0f} GB; draw at most "
            f"{_MOST_VALUES // n_models:,} with n_draws="
        )
    return checked
