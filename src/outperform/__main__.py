"""``outperform`` and ``python -m outperform``: the command line."""

from __future__ import annotations

import sys


def entry() -> None:
    """Run as a program; a failing import exits with 5, because 1 would mean a failed gate.

    Before that import, only modules that Python has already loaded are used.
    """
    try:
        from outperform.cli.main import entry as run
    except KeyboardInterrupt:
        sys.exit(130)
    except BaseException as error:  # a module may call sys.exit during its import
        _say(f"outperform: cannot start: {type(error).__name__}: {error}")
        sys.exit(5)
    run()


def _say(message: str) -> None:
    line = message.encode("unicode_escape").decode("ascii")
    try:
        if sys.stderr is not None:
            sys.stderr.write(f"{line}\n")
            sys.stderr.flush()
    except (OSError, ValueError):
        pass


def _leave_working_folder() -> None:
    """Import nothing from the working folder, which ``python -m`` searches first without -P."""
    import os

    if not sys.flags.safe_path and sys.path and sys.path[0] in ("", os.getcwd()):
        del sys.path[0]


if __name__ == "__main__":
    _leave_working_folder()
    entry()
