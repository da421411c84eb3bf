"""What a GROUP BY gave: columns of codes and a count for each row, never one object per row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from outperform._typing import AnyArray, IntArray
from outperform.errors import ResourceError
from outperform.ingest.files.engine import Engine
from outperform.outcomes.counting import as_counts

MOST_CELLS = 5_000_000


class Coded(NamedTuple):
    """One column: its distinct values, None for what is missing, and which one each row has."""

    values: list[Any]
    codes: IntArray  # (n_rows,)

    @property
    def missing(self) -> AnyArray:
        """Whether each row has no value."""
        return np.array([value is None for value in self.values], dtype=bool)[self.codes]


class Grouped(NamedTuple):
    """Columns of equal length, and how many documents each row stands for."""

    columns: list[Coded]
    counts: AnyArray  # (n_rows,)


def coded(values: Sequence[Any]) -> Coded:
    """Give each distinct value a code.

    Examples
    --------
    >>> coded(["b", None, "b"])
    Coded(values=['b', None], codes=array([0, 1, 0]))
    """
    place = {value: code for code, value in enumerate(dict.fromkeys(values))}
    codes = np.fromiter(map(place.__getitem__, values), dtype=np.int64, count=len(values))
    return Coded(list(place), codes)


def group(
    source: str, parameters: Sequence[Any], *, keys: Sequence[str], number: str, engine: Engine
) -> Grouped:
    """Count equal rows of a FROM clause inside the engine, and fetch codes instead of values."""
    named = ", ".join(f"{key} AS g{place}" for place, key in enumerate(keys))
    engine.scan(
        f"CREATE OR REPLACE TEMP TABLE grouped AS SELECT {named}, {number} AS n FROM {source} "
        f"GROUP BY {', '.join(keys)} LIMIT {MOST_CELLS + 1}",
        parameters,
    )
    values, joins = [], []
    for place in range(len(keys)):
        engine.fetch(
            f"CREATE OR REPLACE TEMP TABLE v{place} AS SELECT value, row_number() OVER () - 1 AS "
            f"code FROM (SELECT DISTINCT g{place} AS value FROM grouped)"
        )
        values.append([one for (one,) in engine.fetch(f"SELECT value FROM v{place} ORDER BY code")])
        joins.append(f"JOIN v{place} ON g{place} IS NOT DISTINCT FROM v{place}.value")
    codes = ", ".join(f"v{place}.code AS c{place}" for place in range(len(keys)))
    # Sums of weights are wider than any type of numpy, so they come as text.
    arrays = engine.fetch_arrays(
        f"SELECT {codes}, CASE WHEN n < {2**62} THEN CAST(n AS BIGINT) END AS n, "
        f"CASE WHEN n >= {2**62} THEN CAST(n AS VARCHAR) END AS wide FROM grouped {' '.join(joins)}"
    )
    columns = [Coded(one, arrays[f"c{place}"]) for place, one in enumerate(values)]
    return Grouped(columns, _counts(arrays["n"], arrays["wide"]))


def _counts(narrow: AnyArray, wide: AnyArray) -> AnyArray:
    if not np.ma.is_masked(narrow):
        return as_counts(np.asarray(narrow))
    texts = [None if one is np.ma.masked else one for one in wide]
    pairs = zip(narrow.tolist(), texts, strict=True)
    return as_counts([one if text is None else int(text) for one, text in pairs])


def refuse_too_many(n_cells: int, name: str, *, groups: str | None = None) -> None:
    """Refuse a table of outcomes that is no table of classes."""
    if n_cells > MOST_CELLS and groups is not None:
        raise ResourceError(
            f"{name} has more than {MOST_CELLS} different combinations of group, truth and "
            f"predictions; does {groups!r} name something coarser than documents?"
        )
    if n_cells > MOST_CELLS:
        raise ResourceError(
            f"{name} has more than {MOST_CELLS} different combinations of truth and predictions; "
            "are all of these columns labels? Name those of the models with models="
        )
