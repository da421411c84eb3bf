"""What is ranked: parameters, metrics, differences, and the log-likelihood of the data.

The log-likelihood looks at the data as well as at the parameters. Without it a
sampler that returns the prior, or that loses an item, passes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
from scipy.special import xlogy

from outperform import metrics
from outperform._typing import FloatArray, IntArray
from outperform.metrics.confusion import Margins
from outperform.posterior.base import Sums, margins_of
from verification.posteriors import Draws
from verification.worlds import NAMES, Truth

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
# The metrics by which more than two models are ranked.
RANKED = ("accuracy", "f1_macro")

_FEW_CELLS, _MANY_CELLS = 9, 128


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
        models = range(1, table.ndim - 1)
        for model in models:
            yield table.sum(axis=tuple(other for other in models if other != model))


def of_tables(draws: Draws) -> dict[str, FloatArray]:
    """Return hyper-parameters and parameters of one simulation, ``(n_draws,)`` each."""
    found = dict(draws.hyper)
    for name, table in zip(NAMES, draws.tables, strict=False):
        found |= _parameters(table, "" if len(draws.tables) == 1 else f" {name}")
    return found


def log_likelihood(draws: Draws, counts: Sequence[IntArray]) -> FloatArray:
    """Return the log-likelihood of the data at each draw, from the cells that occurred."""
    total = np.zeros(draws.tables[0].shape[-1])
    for table, seen in zip(draws.tables, counts, strict=True):
        occurred = np.nonzero(seen)
        total += xlogy(seen[occurred][:, None], table[occurred]).sum(axis=0)
    return total


def _parameters(table: FloatArray, suffix: str) -> dict[str, FloatArray]:
    n_classes, inside = len(table), tuple(range(1, table.ndim - 1))
    prevalence = table.sum(axis=inside)
    found = {f"μ{j}{suffix}": prevalence[j] for j in range(n_classes - 1)}
    for cell in _asked(table.shape[:-1]):
        name = "".join(str(code) for code in cell[1:])
        found[f"θ{cell[0]}→{name}{suffix}"] = table[cell] / prevalence[cell[0]]
    return found


@lru_cache(maxsize=8)
def _asked(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return the cells that are ranked; by the prior's symmetry some speak for the others."""
    n_cells = int(np.prod(shape))
    few_codes = 2 if n_cells > _MANY_CELLS else shape[0]
    return [
        cell
        for cell in np.ndindex(shape)
        if n_cells <= _FEW_CELLS or (cell[0] == 0 and max(cell) < few_codes) or len(set(cell)) == 1
    ]


def of_sums(sums: Sequence[Sums]) -> dict[str, FloatArray]:
    """Return every metric of each model, their differences and where the models stand."""
    margins = [Margins(**one._asdict()) for one in sums]
    binary = margins[0].n_classes == 2
    found: dict[str, FloatArray] = {}
    for name in _BINARY if binary else _AVERAGED:
        metric = metrics.get(name)
        classes = [1] if metric.average == "binary" else None
        # Kappa is undefined where all weight sits in one cell; it is ranked as 0 there.
        values = [np.nan_to_num(metric.evaluate(one, classes)) for one in margins]
        found |= {f"{name} {who}": value for who, value in zip(NAMES, values, strict=False)}
        if len(values) >= 2:
            found[f"{name} A−B"] = values[0] - values[1]
        if len(values) > 2 and name in RANKED:
            found |= _standing(name, np.stack(values))
    return found


def _standing(name: str, values: FloatArray) -> dict[str, FloatArray]:
    """Return where the first of several models stands among them, draw by draw."""
    best = values.max(axis=0)
    return {
        f"{name} rank of A": 1.0 + (values > values[0]).sum(axis=0),
        f"{name} best": best,
        f"{name} loss of A": best - values[0],
    }
