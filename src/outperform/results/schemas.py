"""JSON Schemas of all results, generated from the classes by ``scripts/make_schemas.py``."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Literal, get_args

from outperform.errors import UsageError, unknown_name

Kind = Literal[
    "comparison",
    "comparisons",
    "coverage",
    "curve",
    "design",
    "diagnosis",
    "estimate",
    "fragility",
    "front",
    "gate",
    "items",
    "joint",
    "ledger",
    "monitor",
    "noise",
    "outcomes",
    "plan",
    "power",
    "proposal",
    "ranking",
    "ratio",
    "sensitivity",
    "slices",
    "suite",
    "suite_ranking",
]


def json_schema(kind: Kind) -> dict[str, object]:
    """Return the JSON Schema of what ``to_dict`` returns.

    Parameters
    ----------
    kind
        The ``kind`` of the result, such as ``"comparison"``, or ``"outcomes"`` for
        :class:`Outcomes`.

    Examples
    --------
    >>> import outperform as op
    >>> op.results.json_schema("power")["required"][:3]
    ['schema', 'kind', 'goal']
    """
    if kind not in get_args(Kind):
        raise UsageError(unknown_name("kind of result", kind, get_args(Kind)))
    schema: dict[str, object] = json.loads(
        files("outperform.results")
        .joinpath("json_schemas", f"{kind}.json")
        .read_text(encoding="utf-8")
    )
    return schema
