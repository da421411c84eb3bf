"""How many documents of each stratum to label, so that a difference is known best.

A stratum is a pair of predictions (a, b). To first order a metric's difference is linear in the
cells p(y, a, b), with slopes g(y, a, b), and labels in stratum s leave the variance
``Σ_s W_s² Var_s(g) / n_s``, where W_s is the stratum's share of the pool. It is least for
``n_s ∝ W_s · sd_s(g)`` (Neyman). Where the models agree, a label changes both scores alike but
for their denominators: the difference of accuracy not at all, that of F1 or recall the more the
further the models are apart. Before there are labels the truths are guessed: the models are
mostly right where they agree, and where they do not, each of them about as often. Three guesses
of how often, whose variances are averaged, see to it that agreements matter as they do if the
models differ.
"""

from __future__ import annotations

import numpy as np

from outperform._typing import FloatArray, IntArray
from outperform.comparison.question import Question
from outperform.comparison.slopes import cell_slopes
from outperform.outcomes import Pool, Table

# Guesses: how often the models are right where they agree, and neither where they do not;
# and, of the rest, how often it is A.
_RIGHT = 0.9
_NEITHER = 0.1
_A_RATHER_THAN_B = (0.3, 0.5, 0.7)

# What agreements get of the budget at least, since the denominators rest on them; and what every
# stratum gets at least, so that none rests on the prior alone.
_AGREEMENTS = 0.2
_LEAST_AGREE = 10.0
_LEAST_APART = 3.0
# Of the budget, so much may go to the least of every stratum.
_LEAST = 0.3


def guessed_truths(
    cells: IntArray, sizes: FloatArray, *, n_classes: int, a_right: float
) -> FloatArray:
    """Guess p(y | a, b) before any label, ``(n_strata, n_classes)``.

    A class that is neither answer is as likely as both models predict it on average.

    Examples
    --------
    >>> cells, sizes = np.array([[0, 0], [0, 1], [1, 1]]), np.array([80.0, 10.0, 10.0])
    >>> guessed_truths(cells, sizes, n_classes=2, a_right=0.7).round(3).tolist()
    [[0.985, 0.015], [0.7, 0.3], [0.085, 0.915]]
    """
    shares = np.zeros(n_classes)
    np.add.at(shares, cells, (sizes / sizes.sum() / 2)[:, None])
    same, places = cells[:, 0] == cells[:, 1], np.arange(len(cells))
    others = np.tile(shares, (len(cells), 1))
    for model in range(2):
        others[places[~same], cells[~same, model]] = 0.0
    sums = others.sum(axis=1, keepdims=True)
    others = np.divide(others, sums, out=np.zeros_like(others), where=sums > 0)
    truths: FloatArray = others * np.where(same, 1 - _RIGHT, _NEITHER)[:, None]
    for model, right in enumerate((a_right, 1 - a_right)):
        told = np.where(same, _RIGHT / 2, (1 - _NEITHER) * right)
        truths[places, cells[:, model]] += told
    # With two classes, or only two that are ever predicted, one of the models must be right.
    truths /= truths.sum(axis=1, keepdims=True)
    return truths


def needs(question: Question, pool: Pool) -> FloatArray:
    """Return what each stratum needs, ``N_s · sd_s(g)``, the variance averaged over the guesses.

    Where the slopes are unknown, since there are too many classes, disagreements need labels in
    proportion to their number.
    """
    sizes, n_classes = pool.counts.astype(np.float64), question.view.n_classes
    variances = np.zeros(len(sizes))
    for a_right in _A_RATHER_THAN_B:
        truths = guessed_truths(pool.cells, sizes, n_classes=n_classes, a_right=a_right)
        strata, truth = np.nonzero(truths)
        cells = np.column_stack([truth, pool.cells[strata]])
        table = Table(cells, (truths * sizes[:, None])[strata, truth])
        a, b = (cell_slopes(question, table, model) for model in range(2))
        if a is None or b is None or not np.isfinite(a - b).all():
            return np.where(pool.apart, sizes, 0.0)
        change = np.zeros_like(truths)
        change[strata, truth] = a - b
        centred = change - (truths * change).sum(axis=1, keepdims=True)
        variances += (truths * np.square(centred)).sum(axis=1)
    needed: FloatArray = sizes * np.sqrt(variances)
    return needed


def least(pool: Pool, budget: int) -> FloatArray:
    """Return how many labels each stratum gets whatever it needs, no more than half of a budget.

    With very many strata each of them gets less, but agreements together their share.
    """
    sizes = pool.counts.astype(np.float64)
    same = ~pool.apart
    each = np.minimum(np.where(same, _LEAST_AGREE, _LEAST_APART), sizes)
    each *= min(1.0, _LEAST * budget / each.sum())
    reserved = _AGREEMENTS * budget * sizes / max(sizes[same].sum(), 1.0)
    return np.minimum(np.where(same, np.maximum(reserved, each), each), sizes)


def allocate(needed: FloatArray, sizes: IntArray, lowest: FloatArray, *, budget: int) -> IntArray:
    """Share a budget out in proportion to need, no stratum below its least or above its size.

    Examples
    --------
    >>> allocate(np.array([0.0, 3.0, 1.0]), np.array([900, 60, 40]), np.array([20.0, 5.0, 5.0]),
    ...          budget=100).tolist()
    [20, 60, 20]
    """
    if budget >= sizes.sum():
        return sizes.copy()
    scale = needed.max(initial=0.0)
    # What nobody needs is shared out last, in proportion to size.
    wanted = needed / scale if scale > 0 else np.zeros(len(sizes))
    wanted = wanted + 1e-9 * sizes / sizes.max()
    low, high = 0.0, float(sizes.max()) / float(wanted[wanted > 0].min())
    for _ in range(200):
        middle = (low + high) / 2
        short = np.clip(middle * wanted, lowest, sizes).sum() < budget
        low, high = (middle, high) if short else (low, middle)
    return _rounded(np.clip(high * wanted, lowest, sizes), sizes, budget)


def _rounded(wanted: FloatArray, sizes: IntArray, budget: int) -> IntArray:
    """Round to whole numbers that add up to the budget, the largest remainders up."""
    whole = np.minimum(np.floor(wanted + 1e-6).astype(np.int64), sizes)
    while (left := budget - int(whole.sum())) != 0:
        movable = np.flatnonzero(whole < sizes if left > 0 else whole > 0)
        order = movable[np.argsort((whole - wanted)[movable] * np.sign(left), kind="stable")]
        whole[order[: abs(left)]] += np.sign(left)
    return whole
