"""``python -m outperform``: the command line."""

from outperform.cli.main import entry

entry()
