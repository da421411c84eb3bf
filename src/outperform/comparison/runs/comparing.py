"""``compare_runs``: does A outperform B whatever the seed, or only with these?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from outperform._typing import Label, Seed
from outperform.comparison import engine
from outperform.comparison.question import rope_for
from outperform.comparison.ranks.ranking import ask_many, check_many_draws
from outperform.comparison.runs.concluding import conclude
from outperform.comparison.runs.drawing import draw_runs
from outperform.comparison.runs.reading import read_runs
from outperform.comparison.runs.result import RunComparison
from outperform.comparison.scored import Asked
from outperform.comparison.scored.asking import Seen
from outperform.decision import check_prob
from outperform.errors import UsageError
from outperform.posterior import seed_sequence


def compare_runs(
    y_true: Any,
    runs_a: Any,
    runs_b: Any,
    *,
    metric: Any = None,
    rope: Any = None,
    hdi_prob: float = 0.95,
    prior: Any = None,
    model: str | None = None,
    n_draws: int = 20_000,
    random_state: Seed = None,
    n_jobs: int | None = None,
    labels: Sequence[Label] | None = None,
    pos_label: Label | None = None,
    names: tuple[str, str] | None = None,
    groups: Any = None,
    sample_weight: Any = None,
) -> RunComparison:
    r"""Compare two models by several training runs of each on the same documents.

    The difference is A − B of the means over all runs that training could give. All runs are
    drawn from one set of weights of the documents. With :math:`m` the mean of the drawn runs and
    :math:`q_A = s_A^2 / R_A` the variance between the runs of A over their number,

    .. math::

        \mu_A - \mu_B = m_A - m_B + \sqrt{Q - v}\; z, \qquad
        \nu\, (q_A + q_B) / Q \sim \chi^2_\nu, \quad Q \ge v,

    with the degrees of freedom :math:`\nu` of Welch and Satterthwaite. :math:`v` is the part of
    :math:`Q` that comes from the documents, which the draws of :math:`m` carry already. With
    endless documents that is Welch's t interval.

    Parameters
    ----------
    y_true
        The true labels, or :class:`Outcomes`, or :class:`Scores`; None for graded answers.
    runs_a, runs_b
        The predictions of each run of A and of B: a list of arrays, an array with a row for each
        run, a frame with a column for each, or a mapping from names; of outcomes, the names of
        the runs. For a metric of scores, their scores. One of the two may have a single run.
    metric
        By default F1 where the positive class is clear and macro-F1 where it is not. Else
        scikit-learn's scorer name, a metric object, or a function of a confusion array, or of
        truth, score and weight.
    rope
        The region of practical equivalence: a half-width or a pair. ±0.01 by default.
    hdi_prob
        The mass of the interval.
    prior
        Of model ``"flat"``: an array, the prior of the rows of one run's confusion matrix.
    model
        By default ``"unit"``, whose prior for a run does not depend on how many others there
        are; ``"bootstrap"`` where groups are known, and for scores.
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
    names
        What to call A and B; by default what the names of the runs begin with.
    groups
        The group of each document, such as its author or its prompt, if groups rather than
        documents should get one weight each.
    sample_weight
        As for :func:`compare`.

    Examples
    --------
    >>> import numpy as np
    >>> import outperform as op
    >>> rng = np.random.default_rng(7)
    >>> truth = rng.integers(2, size=2_000)
    >>> def train(accuracy):
    ...     return np.where(rng.random(2_000) < accuracy, truth, 1 - truth)
    >>> bert = [train(accuracy) for accuracy in (0.84, 0.81, 0.87, 0.82, 0.86)]
    >>> gpt = [train(accuracy) for accuracy in (0.82, 0.84, 0.79, 0.85, 0.80)]
    >>> c = op.compare_runs(truth, bert, gpt, metric="accuracy", rope=0.005, random_state=1)
    >>> c.decision.symbol, c.pooled.decision.symbol
    ('>', '≫')
    >>> print(f"{c.variance_from.runs:.0%} of the variance comes from the runs")
    91% of the variance comes from the runs
    """
    runs = read_runs(
        y_true,
        runs_a,
        runs_b,
        names=names,
        metric=metric,
        labels=labels,
        sample_weight=sample_weight,
        groups=groups,
    )
    question = _ask(
        runs.seen, metric=metric, model=model, prior=prior, labels=labels, pos_label=pos_label
    )
    prob, rope = check_prob(hdi_prob), rope_for(question, rope)
    seed, draws = seed_sequence(random_state), check_many_draws(n_draws, len(runs.seen.models))
    (answered,) = engine.answer([question], n_draws=draws, seed=seed, n_jobs=n_jobs)
    sides = (runs.a, runs.b)
    drawn = draw_runs(question, answered.values, sides, seed)
    return conclude(question, drawn, sides, rope=rope, prob=prob, seed=seed)


def _ask(seen: Seen, **asked: Any) -> Asked:
    question = ask_many(seen, paired=True, **asked)
    if not question.paired:
        raise UsageError(
            f"model {question.model.name!r} draws every run from weights of its own, so what the "
            "runs share would count as often as there are runs; use model='unit' or 'bootstrap'"
        )
    return question
