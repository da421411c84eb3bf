"""The figures that the three papers print, as data."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any, Final

from outperform.errors import UsageError, unknown_name

PAPERS: Final = ("sigir2016", "icdm2015", "acl2019")


def published(name: str) -> dict[str, Any]:
    """Return every figure that one paper prints.

    Parameters
    ----------
    name
        ``"sigir2016"`` (paired model, binary F1), ``"icdm2015"`` (hierarchical
        model, average F1) or ``"acl2019"`` (blocked cross-validation).

    Returns
    -------
    tables
        One entry per table beside ``"source"``, fresh at every call.

    Examples
    --------
    >>> published("icdm2015")["table_2_f1"]["macro"]["nb_mult"]
    0.67
    """
    if name not in PAPERS:
        raise UsageError(unknown_name("paper", name, PAPERS))
    file = files("papers") / "figures_as_printed" / f"{name}.json"
    tables: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return tables
