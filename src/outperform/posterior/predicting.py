"""Documents not yet seen: a world drawn from the posterior, and a test set drawn from that world.

A world is one draw of the weights of all cells, so a test set drawn from it carries what the
posterior does not know: ``p(new | seen) = ∫ p(new | world) p(world | seen)``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from outperform._typing import FloatArray, IntArray
from outperform.errors import UsageError
from outperform.outcomes import Outcomes
from outperform.outcomes.counting import count_rows
from outperform.outcomes.groups import Groups
from outperform.outcomes.table import Table
from outperform.posterior.dense import DenseRows
from outperform.posterior.linear import LinearWeights
from outperform.posterior.protocol import Independent, Posterior
from outperform.posterior.sparse import SparseWeights

Predict = Callable[[np.random.Generator, int], Outcomes]
"""Draw a world, and so many documents from it."""

_DrawTable = Callable[[np.random.Generator, int], Table]


def predictive(outcomes: Outcomes, posterior: Posterior) -> Predict:
    """Return a function that draws test sets from the posterior predictive distribution.

    Parameters
    ----------
    outcomes
        What was seen; new documents come with its models, classes and kind, and as many for
        one model in proportion to those for another, if each has its own.
    posterior
        The posterior of these outcomes.

    Examples
    --------
    >>> import outperform as op
    >>> from outperform.posterior import Prior, build_posterior, get_model
    >>> seen = op.Outcomes.from_labels([1, 1, 0], {"a": [1, 0, 0], "b": [1, 1, 0]})
    >>> posterior = build_posterior(seen, model=get_model("flat"), prior=Prior())
    >>> predictive(seen, posterior)(np.random.default_rng(0), 500).n
    500
    """
    alone = posterior.posteriors if isinstance(posterior, Independent) else (posterior,)
    draws = [
        _draw_table(table, one, n_codes=outcomes.n_codes)
        for table, one in zip(outcomes.tables, alone, strict=True)
    ]
    shares = [table.n / max(outcomes.n, 1) for table in outcomes.tables]
    if outcomes.groups is not None:  # a document is counted, but a group is drawn
        shares = [_n_groups(table) / max(outcomes.n, 1) for table in outcomes.tables]

    def draw(generator: np.random.Generator, size: int) -> Outcomes:
        tables = [
            one(generator, max(1, round(size * share)))
            for one, share in zip(draws, shares, strict=True)
        ]
        return replace(outcomes, tables=tuple(tables), findings=(), slices=None, repeated=())

    return draw


def certain(outcomes: Outcomes, probabilities: FloatArray) -> Predict:
    """Return a function that draws test sets from one known world.

    Parameters
    ----------
    outcomes
        Paired outcomes with every cell of the world.
    probabilities
        The probability of each cell, ``(n_cells,)``.
    """
    (table,) = outcomes.tables

    def draw(generator: np.random.Generator, size: int) -> Outcomes:
        return replace(outcomes, tables=(_seen(table.cells, generator, size, probabilities),))

    return draw


def _n_groups(table: Table) -> int:
    assert table.groups is not None
    return table.groups.n


def _draw_table(table: Table, posterior: Posterior, *, n_codes: int) -> _DrawTable:
    if isinstance(posterior, DenseRows):
        return partial(_from_rows, posterior.cell_worker(), posterior.shapes.shape)
    if isinstance(posterior, SparseWeights):
        return partial(_from_sticks, posterior, n_codes)
    if isinstance(posterior, LinearWeights) and posterior.held is None:
        return partial(_from_cells, posterior)
    if isinstance(posterior, LinearWeights) and table.groups is not None:
        return partial(_from_groups, table, table.groups)
    if posterior.n_models == 1 and table.cells.shape[1] == 2:
        return partial(_from_confusion, posterior)
    raise UsageError(
        "documents with several labels are drawn whole, which this model does not do; leave "
        "model and prior out, or use model='bootstrap'"
    )


def _from_rows(
    draw_cells: Callable[[np.random.Generator, int], FloatArray],
    shape: Sequence[int],
    generator: np.random.Generator,
    size: int,
) -> Table:
    weights = draw_cells(generator, 1).ravel()
    cells = np.indices(shape).reshape(len(shape), -1).T
    return _seen(cells, generator, size, weights)


def _from_sticks(
    posterior: SparseWeights, n_codes: int, generator: np.random.Generator, size: int
) -> Table:
    """Draw from the cells that occurred, and from where the prior's sticks fall."""
    cells, masses = posterior.draw_sticks(generator)
    weights = np.concatenate([generator.standard_gamma(posterior.counts), masses])
    drawn = _seen(np.concatenate([posterior.cells, cells]), generator, size, weights)
    return Table(*count_rows(list(drawn.cells.T), n_labels=n_codes, weights=drawn.counts))


def _from_cells(posterior: LinearWeights, generator: np.random.Generator, size: int) -> Table:
    drawn = _seen(posterior.cells, generator, size, generator.standard_gamma(posterior.shapes))
    order = np.lexsort(drawn.cells.T[::-1])
    return Table(drawn.cells[order], drawn.counts[order])


def _from_groups(table: Table, groups: Groups, generator: np.random.Generator, size: int) -> Table:
    """Draw whole groups; here the size is their number."""
    weights = generator.standard_gamma(groups.repeats.astype(np.float64))
    repeats = generator.multinomial(size, weights / weights.sum())
    drawn = Groups(pattern=groups.pattern, cell=groups.cell, times=groups.times, repeats=repeats)
    if groups.weighted:  # every document is in one group, whatever weight it has there
        counts = np.zeros(len(table.cells), dtype=np.int64)
        np.add.at(counts, groups.cell, repeats[groups.pattern])
    else:
        counts = drawn.held(n_cells=len(table.cells)).astype(np.int64)
    return Table(table.cells, counts, drawn)


def _from_confusion(posterior: Posterior, generator: np.random.Generator, size: int) -> Table:
    (confusion,) = posterior.worker("confusion")(generator, 1)
    assert isinstance(confusion, np.ndarray)
    cells = np.indices(confusion.shape[:2]).reshape(2, -1).T
    return _seen(cells, generator, size, confusion[..., 0].ravel())


def _seen(cells: IntArray, generator: np.random.Generator, size: int, weights: FloatArray) -> Table:
    """Draw documents from weighted cells and keep the cells that occur."""
    counts = generator.multinomial(size, weights / weights.sum())
    kept = counts > 0
    return Table(cells[kept], counts[kept])
