"""Log formats and sources by name; plug-ins add theirs.

Each line has the syntax of an entry point in ``pyproject.toml``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from outperform._catalogue import Catalogue

if TYPE_CHECKING:
    from outperform.io.logs.format import LogFormat
    from outperform.io.sources import Source

LOGS: Catalogue[LogFormat] = Catalogue(
    "outperform.logs",
    noun="format",
    kind="outperform.io.logs.format:LogFormat",
    built_in={
        "lm-eval": "outperform.io.logs.lm_eval:FORMAT",
        "inspect": "outperform.io.logs.inspect:FORMAT",
        "promptfoo": "outperform.io.logs.promptfoo:FORMAT",
        "openai-evals": "outperform.io.logs.openai_evals:FORMAT",
        "pydantic-evals": "outperform.io.logs.pydantic_evals:FORMAT",
        "deepeval": "outperform.io.logs.deepeval:FORMAT",
        "helm": "outperform.io.logs.helm:FORMAT",
        "long": "outperform.io.logs.long:FORMAT",
        "counted-logs": "outperform.io.logs.counted:FORMAT",
    },
)

SOURCES: Catalogue[Source] = Catalogue(
    "outperform.sources",
    noun="source",
    kind="outperform.io.sources:Source",
    built_in={
        "file": "outperform.io.sources:FILE",
        "delta": "outperform.io.sources:DELTA",
        "iceberg": "outperform.io.sources:ICEBERG",
        "hugging-face": "outperform.io.sources:HUGGING_FACE",
    },
)
