"""``compare_slices``: is A worse than B anywhere?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from outperform import metrics
from outperform._typing import Label, Seed
from outperform.comparison.comparing import answer_question, two_models
from outperform.comparison.engine import check_draws
from outperform.comparison.question import Question, ask, rope_for
from outperform.comparison.summary import seed_name, sign
from outperform.decision import Rope, check_prob
from outperform.errors import UsageError
from outperform.ingest import read
from outperform.outcomes import Outcomes, Slices
from outperform.posterior import child, pool_slices, seed_sequence
from outperform.slices.checks import slice_findings
from outperform.slices.concluding import conclude_rows
from outperform.slices.drawing import draw_numbers
from outperform.slices.observing import observe
from outperform.slices.result import SliceComparison

_WHOLE_DRAWS = 20_000


def compare_slices(
    source: Any,
    a: str,
    b: str,
    *,
    by: str | Sequence[str] | None = None,
    truth: str | None = None,
    metric: Any = None,
    rope: Any = None,
    hdi_prob: float = 0.95,
    prior: Any = None,
    model: str | None = None,
    n_draws: int = 4_000,
    random_state: Seed = None,
    n_jobs: int | None = None,
    labels: Sequence[Label] | None = None,
    pos_label: Label | None = None,
    **reading: Any,
) -> SliceComparison:
    """Compare two classifiers in every slice of the documents at once.

    Each slice is pulled toward the whole as much as the slices show that they are alike
    (a hierarchical prior), so that many slices do not bring many false alarms.

    Parameters
    ----------
    source
        What :func:`read` takes: a file, a frame, a database; or :class:`Outcomes` with slices.
    a, b
        The models, by name. The difference is A − B.
    by
        The columns that divide the documents; outcomes with slices are divided already.
    truth
        The column of the true labels.
    metric
        As for :func:`compare`.
    rope
        The region of practical equivalence. ±0.01 by default.
    hdi_prob
        The mass of the interval.
    prior
        Of model ``"flat"``, on top of which comes what the other slices show.
    model
        ``"flat"`` or ``"unit"``; by default flat for two classes and unit for more.
    n_draws
        How many draws of each slice.
    random_state
        None, a whole number, a SeedSequence, a Generator or a RandomState.
    n_jobs
        Threads; None uses all cores where that pays. The draws do not depend on it.
    labels
        The classes averaged over, as in scikit-learn; no row is dropped.
    pos_label
        The positive class of a binary metric.
    **reading
        Whatever else :func:`read` takes: ``where``, ``count``, ``id``, ``on_null``, …

    Examples
    --------
    >>> import outperform as op
    >>> y, old = [1, 0] * 300, [1, 0] * 300
    >>> new = [1, 0] * 200 + [0, 0] * 100
    >>> day = ["Mon"] * 200 + ["Tue"] * 200 + ["Wed"] * 200
    >>> seen = op.Outcomes.from_labels(y, {"new": new, "old": old}, by={"day": day})
    >>> slices = op.compare_slices(seen, "new", "old", metric="recall", rope=0.02, random_state=1)
    >>> [(row.key, row.decision.symbol) for row in slices.called]
    [(('Wed',), '≪')]
    """
    # Before the rows are counted, which may take long.
    metrics.check_name(metric, metrics.names())
    prob, n_draws, seed = check_prob(hdi_prob), check_draws(n_draws), seed_sequence(random_state)
    outcomes = _sliced(source, a, b, truth, by, reading)
    question = ask(
        outcomes,
        metric=metric,
        model=model,
        default_model="unit",
        prior=prior,
        paired=True,
        labels=labels,
        pos_label=pos_label,
    )
    return _answer(
        question,
        rope=rope_for(question, rope),
        prob=prob,
        n_draws=n_draws,
        seed=seed,
        n_jobs=n_jobs,
    )


def _sliced(
    source: Any,
    a: str,
    b: str,
    truth: str | None,
    by: str | Sequence[str] | None,
    reading: dict[str, Any],
) -> Outcomes:
    if not isinstance(source, Outcomes):
        if not (isinstance(a, str) and isinstance(b, str)) or a == b:
            raise UsageError(f"a and b must name two models; got {a!r} and {b!r}")
        source = read(source, truth=truth, models=[a, b], by=by, **reading)
    else:
        asked = {"truth": truth, "by": by, **reading}
        given = [f"{name}=" for name, value in asked.items() if value is not None]
        if given:
            raise UsageError(f"outcomes are counted already; leave {', '.join(given)} out")
    outcomes = two_models(source, a, b, ("A", "B"), None)
    if not isinstance(outcomes, Outcomes) or outcomes.slices is None:
        raise UsageError("these outcomes have no slices; divide them with by=, e.g. by=['country']")
    return outcomes


def _answer(
    question: Question, *, rope: Rope, prob: float, n_draws: int, seed: Any, n_jobs: int | None
) -> SliceComparison:
    slices = _slices_of(question)
    posterior = pool_slices(question.view, model=question.model.name, prior=question.prior)
    numbers = draw_numbers(
        posterior,
        question,
        rope=rope,
        prob=prob,
        n_draws=n_draws,
        seed=child(seed, 1),
        n_jobs=n_jobs,
    )
    rows = conclude_rows(
        question,
        slices,
        numbers,
        observed=observe(question, slices),
        like_whole=posterior.answers.like_whole,
        rope=rope,
        prob=prob,
        n_draws=n_draws,
    )
    whole = answer_question(
        question, rope=rope, prob=prob, n_draws=_WHOLE_DRAWS, seed=child(seed, 0), n_jobs=n_jobs
    )
    signed = sign(
        "compare_slices",
        question,
        rope=str(rope),
        prob=prob,
        n_draws=n_draws,
        seed=seed_name(seed),
    )
    return SliceComparison(
        by=slices.by,
        rows=rows,
        whole=whole,
        n_draws=n_draws,
        findings=tuple(slice_findings(question, rows, rope, n_draws)),
        signature=f"{signed} | slices={len(slices)} | pooled",
    )


def _slices_of(question: Question) -> Slices:
    slices = question.view.slices
    if slices is None or question.view.groups is not None:
        raise UsageError(
            "slices are compared document by document and paired; outcomes with groups or "
            "without shared documents cannot be compared slice by slice"
        )
    return slices
