"""Results to stdout or to a file, in the format that was asked for."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from outperform.cli.options import Format, Writing
from outperform.errors import ResourceError

if TYPE_CHECKING:
    from outperform.comparison import (
        Comparison,
        ComparisonTable,
        Estimate,
        Plan,
        Power,
        Ranking,
        Sensitivity,
    )

    Result = Comparison | Estimate | ComparisonTable | Plan | Power | Ranking | Sensitivity


def write_result(result: Result, writing: Writing) -> None:
    """Write one result."""
    deliver(render(result, writing.style), writing.output)


def render(result: Result, style: Format) -> str:
    """Return a result as text in one of the formats."""
    if style is Format.JSON:
        return as_json(result.to_dict(), indent=2)
    if style is Format.TEXT:
        return _text(result)
    if style in (Format.MARKDOWN, Format.GITHUB) and hasattr(result, "hdi"):
        return _markdown(result)
    return str(getattr(result, _METHODS[style])())


def as_json(facts: dict[str, Any], *, indent: int | None = None) -> str:
    """Return plain values as JSON that no terminal and no build log obeys."""
    from outperform.present.escape import for_json

    return for_json(json.dumps(facts, ensure_ascii=False, indent=indent, default=str))


_METHODS = {
    Format.MARKDOWN: "to_markdown",
    Format.LATEX: "to_latex",
    Format.HTML: "to_html",
    Format.GITHUB: "to_markdown",
}


def _text(result: Any) -> str:
    from outperform import present

    return present.full_text(result.to_dict()) if hasattr(result, "hdi") else str(result)


def _markdown(result: Any) -> str:
    from outperform import present

    return present.full_markdown(result.to_dict())


def deliver(text: str, output: Path | None) -> None:
    """Write text to a file, whole or not at all, or to stdout."""
    line = text if text.endswith("\n") else text + "\n"
    if output is None:
        if sys.stdout is None:
            raise ResourceError("stdout is closed; write to a file with --output")
        sys.stdout.write(line)
        return
    from outperform._files import write_atomically

    write_atomically(output, line.encode("utf-8"))
