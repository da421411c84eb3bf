"""What is ranked: parameters, metrics, differences, and the log-likelihood of the data.

The log-likelihood looks at the data as well as at the parameters. Without it a
sampler that returns the prior, or that loses a document, passes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.special import xlogy

from outperform import metrics
from outperform._typing import FloatArray, IntArray
from outperform.metrics import Margins
from outperform.posterior import Sums
from outperform.posterior.protocol import margins_of
from verification.posteriors import Draws
from verification.worlds import Truth

_BINARY = ("precision", "recall", "specificity", "f1", "accuracy", "matthews_corrcoef")
_AVERAGED = (
    "accuracy",
    "balanced_accuracy",
    "precision_macro",
    "recall_macro",
    "f1_macro",
    "f1_weighted",
    "matthews_corrcoef",
    "cohen_kappa",
)
_FEW_CELLS = 9


def truth_as_draw(truth: Truth) -> Draws:
    """Return the truth in the form of one draw."""
    tables = tuple(table[..., None] for table in truth.tables)
    return Draws(
        tables=tables,
        sums=tuple(margins_of(matrix) for matrix in confusions(tables)),
        hyper={name: np.array([value]) for name, value in truth.hyper.items()},
    )


def confusions(tables: Sequence[FloatArray]) -> Iterator[FloatArray]:
    """Yield each model's confusion array, ``(n_classes, n_classes, n_draws)``."""
    for table in tables:
        if table.ndim == 3:
            yield table
        else:
            yield table.sum(axis=2)
            yield table.sum(axis=1)


def quantities(
    draws: Sequence[Draws], counts: Sequence[Sequence[IntArray]]
) -> dict[str, FloatArray]:
    """Return every quantity of several simulations, ``(n_simulations, n_draws)`` each."""
    tables = [
        np.stack(group, axis=-2) for group in zip(*(one.tables for one in draws), strict=True)
    ]
    sums = [_stacked(group) for group in zip(*(one.sums for one in draws), strict=True)]
    found = {name: np.stack([one.hyper[name] for one in draws]) for name in draws[0].hyper}
    for name, table in zip("AB", tables, strict=False):
        found |= _parameters(table, "" if len(tables) == 1 else f" {name}")
    found |= _metrics([Margins(**one._asdict()) for one in sums])
    found["log-likelihood"] = sum(
        xlogy(np.stack(seen, axis=-1)[..., None], table).sum(axis=tuple(range(seen[0].ndim)))
        for seen, table in zip(zip(*counts, strict=True), tables, strict=True)
    )
    return found


def _stacked(group: Sequence[Sums]) -> Sums:
    return Sums(*(np.stack(parts, axis=-2) for parts in zip(*group, strict=True)))


def _parameters(table: FloatArray, suffix: str) -> dict[str, FloatArray]:
    n_classes, inside = len(table), tuple(range(1, table.ndim - 2))
    prevalence = table.sum(axis=inside)
    found = {f"μ{j}{suffix}": prevalence[j] for j in range(n_classes - 1)}
    cells = np.argwhere(np.ones(table.shape[:-2]))
    for cell in cells.tolist():
        diagonal = len(set(cell)) == 1
        # By the prior's symmetry one class speaks for the others where there are many cells.
        if len(cells) <= _FEW_CELLS or cell[0] == 0 or diagonal:
            name = "".join(str(code) for code in cell[1:])
            found[f"θ{cell[0]}→{name}{suffix}"] = table[tuple(cell)] / prevalence[cell[0]]
    return found


def _metrics(margins: Sequence[Margins]) -> dict[str, FloatArray]:
    binary = margins[0].n_classes == 2
    found: dict[str, FloatArray] = {}
    for name in _BINARY if binary else _AVERAGED:
        metric = metrics.get(name)
        classes = [1] if metric.average == "binary" else None
        # Kappa is undefined where all weight sits in one cell; it is ranked as 0 there.
        values = [np.nan_to_num(metric.evaluate(one, classes)) for one in margins]
        found |= {f"{name} {who}": value for who, value in zip("AB", values, strict=False)}
        if len(values) == 2:
            found[f"{name} A−B"] = values[0] - values[1]
    return found
