"""``propose``: stratified selection of the items to label next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from outperform import __version__
from outperform._rows import place_rows
from outperform._typing import ColumnLike, FloatArray, IntArray, Label, Seed
from outperform.data.build import code_columns
from outperform.data.judged import Judged
from outperform.data.labels import align
from outperform.data.outcomes import Outcomes
from outperform.data.pool import Pool
from outperform.data.table import Table as CellTable
from outperform.errors import UsageError, param
from outperform.inference.items import cell_slopes
from outperform.inference.spec import LabelSpec, make_spec
from outperform.inference.summary import seed_name
from outperform.metrics.metric import MetricLike
from outperform.planning.result import Proposal, Stratum
from outperform.posterior.rng import seed_sequence
from outperform.wrong_calls import explained


def interleave(chosen: IntArray, generator: np.random.Generator) -> IntArray:
    """Return a sequence of strata in which each prefix has about the same shares of strata.

    The j-th of a stratum's n items is placed at about j/n of the sequence, with a random offset per
    stratum.

    Examples
    --------
    >>> order = interleave(np.array([4, 2]), np.random.default_rng(0))
    >>> sorted(order[:3].tolist()), sorted(order[3:].tolist())
    ([0, 0, 1], [0, 0, 1])
    """
    strata = np.repeat(np.arange(len(chosen)), chosen)
    turn = np.concatenate([np.arange(n) for n in chosen]) if len(chosen) else np.zeros(0)
    starts = generator.random(len(chosen))
    order = np.argsort((turn + starts[strata]) / chosen[strata], kind="stable")
    return strata[order]


# Guesses: the share of agreements in which both are right, the share of disagreements in which
# neither is, and the share of the other disagreements in which A is.
_RIGHT = 0.9
_NEITHER = 0.1
_A_RATHER_THAN_B = (0.3, 0.5, 0.7)
# Share of items on which a judge is right, and the correlation of its errors on A and B, because
# some items are hard to judge.
_JUDGE_RIGHT = 0.85
_JUDGE_ERRS_ON_BOTH = 0.5

# Minimum share of the budget for agreements, which affect the denominators, and minimum numbers of
# labels per stratum, so no stratum depends only on the prior.
_AGREEMENTS = 0.2
_LEAST_AGREE = 10.0
_LEAST_APART = 3.0
# Maximum share of the budget for these minimum numbers.
_LEAST = 0.3


def guessed_truths(
    cells: IntArray,
    sizes: FloatArray,
    *,
    n_classes: int,
    a_right: float,
    judge: IntArray | None = None,
) -> FloatArray:
    """Guess p(y | a, b) before any label, ``(n_strata, n_classes)``, also given the judge's class.

    The probability of a class that neither model predicts is its average share of the predictions
    of both models and of the judge.

    Examples
    --------
    >>> cells, sizes = np.array([[0, 0], [0, 1], [1, 1]]), np.array([80.0, 10.0, 10.0])
    >>> guessed_truths(cells, sizes, n_classes=2, a_right=0.7).round(3).tolist()
    [[0.985, 0.015], [0.7, 0.3], [0.085, 0.915]]
    >>> judge = np.array([0, 1, 1])
    >>> guessed_truths(cells, sizes, n_classes=2, a_right=0.5, judge=judge).round(3).tolist()
    [[0.997, 0.003], [0.15, 0.85], [0.016, 0.984]]
    """
    predicted = cells if judge is None else np.column_stack([judge, cells])
    shares = np.zeros(n_classes)
    np.add.at(shares, predicted, (sizes / sizes.sum() / predicted.shape[1])[:, None])
    same, rows = cells[:, 0] == cells[:, 1], np.arange(len(cells))
    others = np.tile(shares, (len(cells), 1))
    for model in range(2):
        others[rows[~same], cells[~same, model]] = 0.0
    sums: FloatArray = others.sum(axis=1, keepdims=True)
    others = np.divide(others, sums, out=np.zeros_like(others), where=sums > 0)
    truths: FloatArray = others * np.where(same, 1 - _RIGHT, _NEITHER)[:, None]
    for model, right in enumerate((a_right, 1 - a_right)):
        mass = np.where(same, _RIGHT / 2, (1 - _NEITHER) * right)
        truths[rows, cells[:, model]] += mass
    if judge is not None:
        # A judge is this many times as likely to assign a class if it is true as if another one is.
        truths[rows, judge] *= _JUDGE_RIGHT / (1 - _JUDGE_RIGHT) * max(n_classes - 1, 1)
    # With only two possible or predicted classes, one of two disagreeing models must be right.
    truths /= truths.sum(axis=1, keepdims=True)
    return truths


# Human labels of A and B: right or wrong.
_VERDICTS = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])


def guessed_verdicts(cells: IntArray, sizes: FloatArray) -> FloatArray:
    """Guess the human verdicts on A and B, given the judge's verdicts, ``(n_strata, 4)``.

    The prior probability of each pair of human verdicts is its frequency among the judge's pairs.

    Examples
    --------
    >>> guessed_verdicts(np.array([[1, 0], [1, 1]]), np.array([20.0, 80.0])).round(3).tolist()
    [[0.0, 0.0, 0.755, 0.245], [0.0, 0.0, 0.02, 0.98]]
    """
    wrong = 1 - _JUDGE_RIGHT
    both = wrong * (wrong + _JUDGE_ERRS_ON_BOTH * _JUDGE_RIGHT)
    errors = np.array(
        [1 - 2 * wrong + both, wrong - both, both]
    )  # judge wrong on neither, one or both models
    verdicts: FloatArray = errors[(cells[:, None] != _VERDICTS).sum(axis=2)]
    verdicts *= np.bincount(place_rows(cells.T, _VERDICTS), sizes, minlength=4)
    verdicts /= verdicts.sum(axis=1, keepdims=True)
    return verdicts


def guesses(spec: LabelSpec, pool: Pool) -> Iterator[FloatArray]:
    """Yield guesses of the true labels, or of the human verdicts, in each stratum."""
    sizes = pool.counts.astype(np.float64)
    if spec.view.kind == "correct":
        yield guessed_verdicts(pool.cells, sizes)
        return
    judge = pool.truth if isinstance(pool, Judged) else None
    for a_right in _A_RATHER_THAN_B:
        yield guessed_truths(
            pool.cells, sizes, n_classes=spec.view.n_classes, a_right=a_right, judge=judge
        )


def needs(spec: LabelSpec, pool: Pool) -> FloatArray:
    """Return each stratum's need for labels, ``N_s · sd_s(g)``, averaging variances over guesses.

    If there are too many classes to compute the slopes, disagreements need labels in proportion to
    their number.
    """
    sizes = pool.counts.astype(np.float64)
    variances = np.zeros(len(sizes))
    for shares in guesses(spec, pool):
        strata, outcome = np.nonzero(shares)
        verdicts = spec.view.kind == "correct"
        after = (
            [np.ones_like(outcome), _VERDICTS[outcome]]
            if verdicts
            else [outcome, pool.cells[strata]]
        )
        table = CellTable(np.column_stack(after), (shares * sizes[:, None])[strata, outcome])
        a, b = (cell_slopes(spec, table, model) for model in range(2))
        if a is None or b is None or not np.isfinite(a - b).all():
            return np.where(pool.apart, sizes, 0.0)
        change = np.zeros_like(shares)
        change[strata, outcome] = a - b
        centred = change - (shares * change).sum(axis=1, keepdims=True)
        variances += (shares * np.square(centred)).sum(axis=1)
    needed: FloatArray = sizes * np.sqrt(variances)
    return needed


def least(pool: Pool, budget: int) -> FloatArray:
    """Return the minimum number of labels per stratum, in total at most half of the budget.

    With many strata, each gets fewer labels, but the agreements as a whole still get their share.
    """
    sizes = pool.counts.astype(np.float64)
    same = ~pool.apart
    each = np.minimum(np.where(same, _LEAST_AGREE, _LEAST_APART), sizes)
    each *= min(1.0, _LEAST * budget / each.sum())
    reserved = _AGREEMENTS * budget * sizes / max(sizes[same].sum(), 1.0)
    return np.minimum(np.where(same, np.maximum(reserved, each), each), sizes)


def allocate(needed: FloatArray, sizes: IntArray, lowest: FloatArray, *, budget: int) -> IntArray:
    """Divide a budget in proportion to need, between the minimum and the size of each stratum.

    Examples
    --------
    >>> allocate(np.array([0.0, 3.0, 1.0]), np.array([900, 60, 40]), np.array([20.0, 5.0, 5.0]),
    ...          budget=100).tolist()
    [20, 60, 20]
    """
    if budget >= sizes.sum():
        return sizes.copy()
    scale: float = needed.max(initial=0.0)
    # Strata without need come last, and get labels in proportion to size.
    weights = needed / scale if scale > 0 else np.zeros(len(sizes))
    weights = weights + 1e-9 * sizes / sizes.max()
    low, high = 0.0, float(sizes.max()) / float(weights[weights > 0].min())
    for _ in range(200):
        middle = (low + high) / 2
        short = np.clip(middle * weights, lowest, sizes).sum() < budget
        low, high = (middle, high) if short else (low, middle)
    return _rounded(np.clip(high * weights, lowest, sizes), sizes, budget)


def _rounded(shares: FloatArray, sizes: IntArray, budget: int) -> IntArray:
    """Round to integers that sum to the budget; the largest remainders are rounded up."""
    rounded = np.minimum(np.floor(shares + 1e-6).astype(np.int64), sizes)
    while (left := budget - int(rounded.sum())) != 0:
        movable = np.flatnonzero(rounded < sizes if left > 0 else rounded > 0)
        order = movable[np.argsort((rounded - shares)[movable] * np.sign(left), kind="stable")]
        rounded[order[: abs(left)]] += np.sign(left)
    return rounded


@explained
def propose(
    a: ColumnLike,
    b: ColumnLike,
    *,
    budget: int,
    metric: MetricLike | None = None,
    judge: ColumnLike | None = None,
    verdicts: bool = False,
    labels: Sequence[Label] | None = None,
    pos_label: Label | None = None,
    names: tuple[str, str] = ("A", "B"),
    random_state: Seed = None,
) -> Proposal:
    """Select items from a pool to label so that A − B is estimated precisely with few labels.

    Labels are most informative for items on which the models disagree, so these get most of the
    budget. Agreements get the rest, because recall, F1 and their averages depend on how often both
    models are wrong. If a judge labelled all items, more human labels go to the items where the
    judge's errors matter most. The selection probability of an item depends only on the two
    predictions and the judge's label, so :meth:`Proposal.outcomes` can account for it.

    Parameters
    ----------
    a, b
        Predicted labels of A and B for every item in the pool.
    budget
        Number of items to label.
    metric
        Metric whose difference is estimated, as for :func:`compare`. The same labels can be used
        for other metrics too.
    judge
        Class that a judge (for example an LLM) assigns to each item, or gold labels of which some
        are to be checked.
    verdicts
        Whether ``a`` and ``b`` are a judge's verdicts (right or wrong) on the answers of A and B,
        instead of predictions.
    labels
        Possible classes, if there are classes that the models may never predict.
    pos_label
        Positive class of a binary metric.
    names
        Display names of A and B.
    random_state
        Integer, SeedSequence, Generator or RandomState. None chooses a random seed.

    Examples
    --------
    >>> import outperform as op
    >>> news = op.datasets.load_news20()
    >>> a, b = news.predictions["nb_mult"], news.predictions["svm_l2"]
    >>> proposal = op.propose(a, b, budget=1_000, metric="accuracy", random_state=0)
    >>> proposal
    Proposal(1,000 of 7,532 items: 798 of the 2,221 on which the models disagree, and 202 others.)

    An LLM assigned a class to every item, and people can check 20 of them:

    >>> a, b, judge = [1, 1, 0, 0] * 50, [1, 0, 0, 0] * 50, [1, 1, 0, 1] * 50
    >>> op.propose(a, b, judge=judge, budget=20, random_state=0)
    Proposal(20 of 200 items: 14 of the 50 on which the models disagree, and 6 others.)
    """
    if verdicts and judge is not None:
        raise UsageError(
            f"{param('verdicts')} are already the judge's ratings of A and B; remove "
            f"{param('judge')}, or pass the models' predictions and the judge's classes"
        )
    if len({*names}) != 2:
        raise UsageError(f"names must be two different names; got {names!r}")
    classes = None if labels is None else tuple(labels)
    content = "verdicts" if verdicts else "predictions"
    rows = align({names[0]: a, names[1]: b}, what=content, beside={"judge": judge})
    predictions, judge = rows.models, rows.beside["judge"]
    outcomes = _before_labels(predictions, judge, verdicts=verdicts, labels=classes)
    spec = make_spec(
        outcomes,
        metric=metric,
        defaults=("unit", "unit"),
        pos_label=pos_label,
    )
    pool = spec.view.pool
    assert pool is not None
    budget = _checked(budget, pool.n)
    sizes = pool.counts.astype(np.int64)
    chosen = allocate(needs(spec, pool), sizes, least(pool, budget), budget=budget)
    seed = seed_sequence(random_state)
    generator = np.random.default_rng(seed)
    columns = [*([] if judge is None else [judge]), *predictions.values()]
    codes = code_columns(columns, spec.view.labels)
    if verdicts:
        codes = [np.ones_like(codes[0]), *codes]
    cells = pool.strata if isinstance(pool, Judged) else pool.cells
    strata = place_rows(codes, cells)
    return Proposal(
        items=_drawn(strata, chosen, generator),
        strata=_strata(spec, pool, chosen),
        names=(names[0], names[1]),
        predictions=predictions,
        labels=classes,
        metric=spec.metric.name,
        signature=_signature(spec, pool, budget, seed),
        judge=judge,
        verdicts=verdicts,
        findings=rows.findings,
    )


def _before_labels(
    predictions: dict[str, Any],
    judge: ColumnLike | None,
    *,
    verdicts: bool,
    labels: tuple[Label, ...] | None,
) -> Outcomes:
    """Return outcomes without labels, or with the judge's labels."""
    if verdicts:
        return Outcomes.from_judged(predictions, human=predictions, labels=labels)
    if judge is not None:
        return Outcomes.from_judged(predictions, human=judge, judge=judge, labels=labels)
    return Outcomes.from_pool([], predictions, which=[], labels=labels)


def _checked(budget: Any, n_pool: int) -> int:
    is_integer = isinstance(budget, (int, np.integer)) and not isinstance(budget, bool)
    if not is_integer or not 1 <= budget <= n_pool:
        raise UsageError(
            f"budget must be a whole number from 1 to {n_pool:,} (the size of the pool); got "
            f"{budget!r}"
        )
    return int(budget)


def _drawn(strata: IntArray, chosen: IntArray, generator: np.random.Generator) -> IntArray:
    """Draw the chosen number of items from each stratum, in an interleaved order."""
    shuffled = generator.permutation(len(strata))
    by_stratum = shuffled[np.argsort(strata[shuffled], kind="stable")]
    starts = np.concatenate([[0], np.cumsum(np.bincount(strata, minlength=len(chosen)))])
    order = interleave(chosen, generator)
    turn = np.empty(len(order), dtype=np.int64)
    for stratum in range(len(chosen)):
        here = np.flatnonzero(order == stratum)
        turn[here] = np.arange(len(here))
    items: IntArray = by_stratum[starts[order] + turn]
    return items


def _strata(spec: LabelSpec, pool: Pool, chosen: IntArray) -> tuple[Stratum, ...]:
    labels, judge = spec.view.labels, [None] * len(chosen)
    if isinstance(pool, Judged) and spec.view.kind != "correct":
        judge = [labels[code] for code in pool.truth.tolist()]
    rows = zip(pool.cells.tolist(), pool.counts.tolist(), chosen.tolist(), judge, strict=True)
    return tuple(Stratum(labels[a], labels[b], size, n, judged) for (a, b), size, n, judged in rows)


def _signature(spec: LabelSpec, pool: Pool, budget: int, seed: np.random.SeedSequence) -> str:
    parts = [
        f"outperform {__version__}",
        "propose",
        f"metric={spec.metric.name}",
        "" if spec.pos_label is None else f"pos_label={spec.pos_label!r}",
        f"budget={budget}",
        f"pool={pool.n}",
        f"classes={spec.data.n_classes}",
        "judge" if isinstance(pool, Judged) else "",
        f"seed={seed_name(seed)}",
        f"numpy={np.__version__}",
    ]
    return " | ".join(part for part in parts if part)
