"""Building blocks of plug-ins; see "Write a plug-in" in the documentation."""

from __future__ import annotations

from outperform.io.logs.format import (
    Log,
    LogFormat,
    Row,
    check_total,
    get_optional,
    get_score,
    get_typed,
    model_name,
    read_json,
    read_json_lines,
)
from outperform.io.sources import Source

__all__ = [
    "Log",
    "LogFormat",
    "Row",
    "Source",
    "check_total",
    "get_optional",
    "get_score",
    "get_typed",
    "model_name",
    "read_json",
    "read_json_lines",
]
