"""``outperform`` and ``python -m outperform``: the command line."""

from __future__ import annotations

import sys


def entry() -> None:
    """Run as a program; what cannot even be imported is no failed gate, which Python's 1 would say.

    Only what Python has loaded before is used until then.
    """
    try:
        from outperform.cli.main import entry as run
    except KeyboardInterrupt:
        sys.exit(130)
    except BaseException as error:  # a module may even call sys.exit while it is imported
        _say(f"outperform: it cannot start: {type(error).__name__}: {error}")
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
    """Import nothing from the working folder, where ``python -m`` looks first unless it has -P."""
    import os

    if not sys.flags.safe_path and sys.path and sys.path[0] in ("", os.getcwd()):
        del sys.path[0]


if __name__ == "__main__":
    _leave_working_folder()
    entry()
