"""``propose``: which documents to label, given both models' predictions for a pool."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from outperform._typing import IntArray, Label, Seed
from outperform._version import __version__
from outperform.comparison.proposing.allocation import allocate, least, needs
from outperform.comparison.proposing.proposal import Proposal, Stratum, interleave
from outperform.comparison.question import Question, ask
from outperform.comparison.summary import seed_name
from outperform.errors import UsageError
from outperform.outcomes import Outcomes, Pool
from outperform.outcomes.building import code_pool
from outperform.posterior import seed_sequence


def propose(
    pred_a: Any,
    pred_b: Any,
    *,
    budget: int,
    metric: Any = None,
    labels: Sequence[Label] | None = None,
    pos_label: Label | None = None,
    names: tuple[str, str] = ("A", "B"),
    random_state: Seed = None,
) -> Proposal:
    """Propose which documents of a pool to label, so that A − B is known with few labels.

    Labels tell models apart where they disagree, so most of the budget goes there; some goes
    to where they agree, because recall, F1 and their averages need to know how often both are
    wrong. Only the two predictions decide how likely a document is to be chosen, so that
    :meth:`Proposal.outcomes` can account for it.

    Parameters
    ----------
    pred_a, pred_b
        The predicted labels of A and of B for every document of the pool.
    budget
        How many documents can be labelled.
    metric
        The metric whose difference is to be known, as :func:`compare` takes it. Others can be
        asked of the same labels.
    labels
        Classes that could occur, if a model may never predict one of them.
    pos_label
        The positive class of a binary metric.
    names
        What to call A and B.
    random_state
        None, a whole number, a SeedSequence, a Generator or a RandomState.

    Examples
    --------
    >>> import outperform as op
    >>> news = op.datasets.load_news20()
    >>> a, b = news.predictions["nb_mult"], news.predictions["svm_l2"]
    >>> proposal = op.propose(a, b, budget=1_000, metric="accuracy", random_state=0)
    >>> proposal
    Proposal(1,000 of 7,532 documents: 798 of the 2,221 on which the models disagree, 202 of the others.)
    """  # noqa: E501
    predictions = {names[0]: pred_a, names[1]: pred_b}
    if len(predictions) != 2:
        raise UsageError(f"names must be two different names; got {names!r}")
    known = None if labels is None else tuple(labels)
    question = _before_labels(predictions, metric, known, pos_label)
    pool = question.view.pool
    assert pool is not None
    budget = _checked(budget, pool.n)
    sizes = pool.counts.astype(np.int64)
    chosen = allocate(needs(question, pool), sizes, least(pool, budget), budget=budget)
    seed = seed_sequence(random_state)
    generator = np.random.default_rng(seed)
    strata = pool.strata_of(np.column_stack(code_pool(predictions, question.view.labels)))
    return Proposal(
        documents=_drawn(strata, chosen, generator),
        strata=_strata(question, pool, chosen),
        names=(names[0], names[1]),
        predictions=predictions,
        labels=known,
        metric=question.metric.name,
        signature=_signature(question, pool, budget, seed),
    )


def _before_labels(
    predictions: dict[str, Any],
    metric: Any,
    labels: tuple[Label, ...] | None,
    pos_label: Label | None,
) -> Question:
    """Ask the question of which the labels will be the answer."""
    seen = Outcomes.from_pool([], predictions, which=[], labels=labels)
    return ask(
        seen,
        metric=metric,
        model=None,
        default_model="unit",
        prior=None,
        paired=True,
        labels=None,
        pos_label=pos_label,
    )


def _checked(budget: Any, n_pool: int) -> int:
    whole = isinstance(budget, (int, np.integer)) and not isinstance(budget, bool)
    if not whole or not 1 <= budget <= n_pool:
        raise UsageError(
            f"budget must be a whole number from 1 to {n_pool:,}, the size of the pool; got "
            f"{budget!r}"
        )
    return int(budget)


def _drawn(strata: IntArray, chosen: IntArray, generator: np.random.Generator) -> IntArray:
    """Draw as many documents of each stratum as are chosen, in an order that is fair."""
    shuffled = generator.permutation(len(strata))
    by_stratum = shuffled[np.argsort(strata[shuffled], kind="stable")]
    starts = np.concatenate([[0], np.cumsum(np.bincount(strata, minlength=len(chosen)))])
    order = interleave(chosen, generator)
    turn = np.empty(len(order), dtype=np.int64)
    for stratum in range(len(chosen)):
        here = np.flatnonzero(order == stratum)
        turn[here] = np.arange(len(here))
    documents: IntArray = by_stratum[starts[order] + turn]
    return documents


def _strata(question: Question, pool: Pool, chosen: IntArray) -> tuple[Stratum, ...]:
    labels = question.view.labels
    rows = zip(pool.cells.tolist(), pool.counts.tolist(), chosen.tolist(), strict=True)
    return tuple(Stratum(labels[a], labels[b], size, n) for (a, b), size, n in rows)


def _signature(question: Question, pool: Pool, budget: int, seed: np.random.SeedSequence) -> str:
    parts = [
        f"outperform {__version__}",
        "propose",
        f"metric={question.metric.name}",
        "" if question.pos_label is None else f"pos_label={question.pos_label!r}",
        f"budget={budget}",
        f"pool={pool.n}",
        f"classes={question.seen.n_classes}",
        f"seed={seed_name(seed)}",
        f"numpy={np.__version__}",
    ]
    return " | ".join(part for part in parts if part)
