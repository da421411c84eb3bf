"""``python -m outperform``: the command line."""

from __future__ import annotations

from outperform.cli.main import entry

entry()
