"""Which classes, types of spans or labels occur, and where."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from outperform._typing import IntArray
from outperform.outcomes.outcomes import Outcomes


def true_codes(outcomes: Outcomes) -> IntArray:
    """Return the codes of the classes, types or labels that are ever true."""
    return _occurring(outcomes, [table.cells[:, 0] for table in outcomes.tables])


def predicted_codes(outcomes: Outcomes, place: int) -> IntArray:
    """Return the codes that a model ever predicts, also beyond what is labelled of a pool.

    Parameters
    ----------
    outcomes
        What was seen.
    place
        Which of its models.
    """
    paired = outcomes.paired
    table, column = (outcomes.tables[0], 1 + place) if paired else (outcomes.tables[place], 1)
    columns = [table.cells[:, column]]
    if outcomes.pool is not None:
        columns.append(outcomes.pool.cells[:, place])
    return _occurring(outcomes, columns)


def _occurring(outcomes: Outcomes, columns: Sequence[IntArray]) -> IntArray:
    found = np.unique(np.concatenate(columns))
    if outcomes.kind == "label_sets":
        labels = {label for code in found.tolist() for label in outcomes.sets[code]}
        return np.array(sorted(labels), dtype=np.int64)
    return found[found < outcomes.n_classes]  # what is beyond them means "no span"
