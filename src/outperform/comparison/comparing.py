"""``compare``: does A really outperform B?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from outperform._typing import Label, Seed
from outperform.comparison import engine as answering
from outperform.comparison.concluding import conclude
from outperform.comparison.engines import get_engine
from outperform.comparison.question import refuse_counted, rope_for
from outperform.comparison.result import Comparison
from outperform.comparison.scored import Asked
from outperform.comparison.scored.asking import Seen, ask_any, seen_by, selected
from outperform.decision import Rope, check_prob
from outperform.errors import UsageError
from outperform.outcomes import Outcomes, Scores
from outperform.posterior import seed_sequence


def compare(
    y_true: Any,
    pred_a: Any,
    pred_b: Any,
    *,
    metric: Any = None,
    rope: Any = None,
    hdi_prob: float = 0.95,
    prior: Any = None,
    model: Any = None,
    paired: bool = True,
    n_draws: int | None = None,
    random_state: Seed = None,
    n_jobs: int | None = None,
    labels: Sequence[Label] | None = None,
    pos_label: Label | None = None,
    prevalence: Any = None,
    names: tuple[str, str] = ("A", "B"),
    groups: Any = None,
    sample_weight: Any = None,
    engine: str = "exact",
    sampler: Any = None,
) -> Comparison:
    """Compare two classifiers on the same documents.

    The difference is always A − B, in the metric's own units. Series and frames with an index are
    aligned by it, and what does not align is refused; arrays and lists go by position.

    Parameters
    ----------
    y_true
        The true labels, or :class:`Outcomes`, or :class:`Scores`; None for graded answers. If
        documents have several labels, an indicator matrix, or a collection of labels for each.
    pred_a, pred_b
        The predicted labels of A and of B, or the names of two models in the outcomes. For a
        metric of scores such as ``"roc_auc"`` or ``"log_loss"``, their scores; the columns of a
        frame of probabilities are called like the classes.
    metric
        By default F1 where the positive class is clear and macro-F1 where it is not. Else
        scikit-learn's scorer name, a metric object such as
        ``op.metrics.fbeta(2, average="macro")``, or a function of a confusion array, or of
        truth, score and weight.
    rope
        The region of practical equivalence: a half-width or a pair. ±0.01 by default.
    hdi_prob
        The mass of the interval.
    prior
        Of model ``"flat"``: ``"uniform"``, ``"jeffreys"``, an array or a :class:`Prior`.
    model
        ``"flat"``, ``"unit"``, ``"hierarchical"``, ``"free"`` or ``"bootstrap"``; by default
        flat for two classes and unit for more, or bootstrap where groups are known or averages
        of several labels a document are asked for. With engine ``"pymc"`` also a PyMC model of
        your own that has a variable ``confusion`` of shape (classifier, truth, prediction).
        Documents chosen from a pool have ``"strata"``.
    paired
        Whether to use that the documents are the same, where the data allow it.
    n_draws
        How many draws. By default 20,000 independent ones; a chain draws what its sampler
        says.
    random_state
        None, a whole number, a SeedSequence, a Generator or a RandomState.
    n_jobs
        Threads, or chains at a time; None uses all cores where that pays. The draws do not
        depend on it.
    labels
        The classes averaged over, as in scikit-learn; no row is dropped.
    pos_label
        The positive class of a binary metric.
    prevalence
        The class proportions where the models are to be used, if not those of the data: the
        share of the positive class, or a mapping from classes to shares or to counts, or a
        distribution such as ``scipy.stats.beta(20, 980)``.
    names
        What to call A and B; outcomes know their names.
    groups
        The group of each document, such as its author or its prompt, if groups rather than
        documents should get one weight each.
    sample_weight
        How much the item of each row matters, as in scikit-learn. Rows that stand for several
        items are counts: :meth:`Outcomes.from_counts`.
    engine
        ``"exact"``: independent draws and closed forms. ``"pymc"``: a Markov chain through
        the same model, written in PyMC.
    sampler
        Of engine ``"pymc"``: ``"nuts"`` (the default), ``"nutpie"``, ``"numpyro"``,
        ``"metropolis"``, or a :class:`Sampler`.

    Examples
    --------
    >>> import outperform as op
    >>> news = op.datasets.load_news20()
    >>> c = op.compare(news.y_true, news.predictions["nb_mult"], news.predictions["svm_l2"],
    ...                metric="accuracy", rope=0.01, names=("nb_mult", "svm_l2"))
    >>> c.decision
    <Decision.BETTER: '≫'>
    >>> print(round(c.mean, 4), c.mcse)
    0.0286 0.0
    """
    chosen = get_engine(engine, sampler, model)
    seen = two_models(
        y_true, pred_a, pred_b, names, labels, groups, metric=metric, sample_weight=sample_weight
    )
    question = ask_any(
        seen,
        metric=metric,
        model=None if chosen.own is not None else model,
        default_model="unit",
        prior=prior,
        paired=paired,
        labels=labels,
        pos_label=pos_label,
        prevalence=prevalence,
        engine=chosen,
    )
    return answer_question(
        question,
        rope=rope_for(question, rope),
        prob=check_prob(hdi_prob),
        n_draws=chosen.n_draws if n_draws is None else n_draws,
        seed=seed_sequence(random_state),
        n_jobs=n_jobs,
    )


def answer_question(
    question: Asked,
    *,
    rope: Rope,
    prob: float,
    n_draws: Any,
    seed: np.random.SeedSequence,
    n_jobs: int | None,
    verb: str = "compare",
) -> Comparison:
    """Draw, and conclude."""
    (answered,) = answering.answer(
        [question], n_draws=answering.check_draws(n_draws), seed=seed, n_jobs=n_jobs
    )
    return conclude(question, answered, rope=rope, prob=prob, seed=seed, verb=verb)


def two_models(
    y_true: Any,
    pred_a: Any,
    pred_b: Any,
    names: tuple[str, str],
    labels: Sequence[Label] | None,
    groups: Any = None,
    *,
    metric: Any = None,
    sample_weight: Any = None,
) -> Seen:
    """Return what was seen of two models, counted, kept as scores, or selected."""
    if isinstance(y_true, (Outcomes, Scores)):
        refuse_counted(groups=groups, sample_weight=sample_weight)
        return selected(y_true, [pred_a, pred_b], verb="compare")
    name_a, name_b = check_names(names)
    return seen_by(
        y_true,
        {name_a: pred_a, name_b: pred_b},
        metric=metric,
        labels=labels,
        sample_weight=sample_weight,
        groups=groups,
    )


def check_names(names: tuple[str, str]) -> tuple[str, str]:
    """Return the names of A and of B, or say that they must differ."""
    if not isinstance(names, Sequence) or len(names) != 2 or names[0] == names[1]:
        raise UsageError(f"names must be two different names; got {names!r}")
    return names[0], names[1]
