"""How the human-labelled items were drawn from those that a judge rated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias, cast, get_args

import numpy as np

from outperform._json import written
from outperform._missing import unmasked
from outperform._rows import count_rows
from outperform._typing import AnyArray, BoolArray, ColumnLike, FloatArray, IntArray, IntRows
from outperform.data.labels import only_column
from outperform.errors import DataError, UsageError, param, unknown_name

Declared: TypeAlias = Literal["random", "by_ratings"]
DrawnLike: TypeAlias = Declared | ColumnLike
"""How human-labelled items were drawn: a name, or every item's probability of being labelled."""

Drawn: TypeAlias = Literal["random", "by_ratings", "probabilities"]
DRAWN: tuple[Drawn, ...] = get_args(Drawn)
# A count that is off by this many standard deviations is not attributed to chance.
_BEYOND = 6.0


def name_of(drawn: DrawnLike | None) -> Declared | None:
    """Return a design declared by name; None for probabilities or without a declaration.

    Examples
    --------
    >>> name_of("random"), name_of([0.1, 0.2]), name_of(None)
    ('random', None, None)
    """
    if not isinstance(drawn, str):
        return None
    if drawn not in get_args(Declared):
        raise UsageError(
            f"{unknown_name('drawn', drawn, get_args(Declared))}; or pass each item's probability "
            "of being labelled"
        )
    return cast(Declared, drawn)


def column_of(drawn: DrawnLike | None) -> ColumnLike | None:
    """Return the probabilities, to align with the other columns; None if there are none."""
    return None if isinstance(drawn, str) else drawn


def read_chances(values: object, labelled: BoolArray) -> FloatArray:
    """Check and return every item's probability of being labelled; NaN if unknown.

    Parameters
    ----------
    values
        The probabilities; they may be missing for unlabelled items.
    labelled
        Mask of the human-labelled items.
    """
    column = unmasked(only_column(values, name="drawn"))
    try:
        chances: FloatArray = np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(
            "drawn must be each item's probability of being labelled, or "
            f"{' or '.join(map(repr, get_args(Declared)))}"
        ) from None
    if chances.shape != labelled.shape:
        raise DataError(
            f"drawn has shape {chances.shape} but the judge rated {len(labelled):,} items; pass "
            "one probability per item"
        )
    known: BoolArray = ~np.isnan(chances)
    wrong = np.flatnonzero(np.where(known, (chances <= 0) | (chances > 1), labelled))
    if wrong.size:
        raise DataError(
            f"drawn must be a probability above 0 and up to 1 for every labelled item; got "
            f"{chances[wrong[0]]:g} in row {wrong[0]} (counted from 0)"
        )
    if known.all():
        n, expected = int(labelled.sum()), float(chances.sum())
        spread = float(np.sqrt(np.sum(chances * (1 - chances))))
        if abs(n - expected) > _BEYOND * spread + 1:
            raise DataError(
                f"drawn sums to {expected:,.4g}, but {n:,} items are labelled; pass each item's "
                "probability of being labelled, not its share of the draws"
            )
    return chances


@written()
class Chances(NamedTuple):
    """Human-labelled rows with their probabilities of being labelled.

    ``cells`` contains the judge's cell followed by the human cell, ``(n_rows, 2 · width)``.
    ``expected`` is the expected number of labels in each stratum of the judge, or None if only the
    probabilities of labelled items are known.
    """

    cells: IntRows
    counts: AnyArray
    chance: FloatArray
    expected: FloatArray | None

    @property
    def weights(self) -> FloatArray:
        """Number of items that each row of ``cells`` represents, up to a factor."""
        weights: FloatArray = 1.0 / self.chance
        return weights

    @property
    def n_effective(self) -> float:
        """Equivalent number of randomly drawn labels: Kish's (Σw)² / Σw²."""
        counts, weights = self.counts.astype(np.float64), self.weights
        return float(np.sum(counts * weights) ** 2 / np.sum(counts * np.square(weights)))


def count_chances(
    columns: Sequence[IntArray], counts: AnyArray, chance: FloatArray, *, n_labels: int
) -> tuple[IntArray, AnyArray, FloatArray]:
    """Count equal rows of cells and probabilities."""
    values, codes = np.unique(chance, return_inverse=True)
    cells, totals = count_rows(
        [*columns, codes.ravel()], n_labels=max(n_labels, len(values)), weights=counts
    )
    return cells[:, :-1].copy(), totals, values[cells[:, -1]]


def refuse_ratings(drawn: Drawn | None) -> None:
    """Reject grades of items that were selected by the judge's ratings."""
    if drawn == "by_ratings":
        raise UsageError(
            "grades are regressed on the judge's, which does not account for "
            f"{param('drawn=', 'by_ratings')}; pass each item's probability of being graded, or "
            f"grade items drawn at random and pass {param('drawn=', 'random')}"
        )
