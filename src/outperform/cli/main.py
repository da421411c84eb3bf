"""Where the command ``outperform`` begins and ends: arguments in, an exit code out."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from outperform.cli import exits

if TYPE_CHECKING:
    import typer


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    try:
        from outperform.cli.app import app
    except ImportError as error:
        missing = (error.name or "").partition(".")[0]
        mend = 'pip install "outperform[cli]"' if missing in ("typer", "rich") else f"{error}"
        sys.stderr.write(f"outperform: the command line needs {missing or 'a module'}; {mend}\n")
        return exits.RESOURCES
    except KeyboardInterrupt:
        return exits.INTERRUPTED
    _spell_out()
    return _run(app, None if arguments is None else list(arguments))


def _spell_out() -> None:
    """Let streams that do not know ± or − write escapes, where they would fail."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and "utf" not in stream.encoding.lower():
            stream.reconfigure(errors="backslashreplace")


def _run(app: typer.Typer, arguments: list[str] | None) -> int:
    from outperform.cli.running import leave_stdout, say

    try:
        code = app(args=arguments, prog_name="outperform", standalone_mode=False)
    except SystemExit as ended:
        # typer leaves with 1 when whoever read the help has gone.
        if isinstance(ended.__context__, OSError):
            leave_stdout()
            return exits.CLOSED_PIPE
        return ended.code if isinstance(ended.code, int) else exits.DONE
    except KeyboardInterrupt:
        say("interrupted")
        return exits.INTERRUPTED
    except Exception as error:
        # typer's errors share no class that all its versions make public.
        if not hasattr(error, "format_message"):
            say(f"unforeseen {type(error).__name__}: {error}")
            return exits.RESOURCES
        if error.format_message():
            say(usage_message(error))
        return exits.USAGE
    return code if isinstance(code, int) else exits.DONE


def usage_message(error: Any) -> str:
    """Say in one line what is wrong with the arguments, and where the right ones are listed."""
    said = " ".join(error.format_message().split()).replace("Value error, ", "")
    if not said.endswith((".", "?", "!")):
        said += "."
    path = error.ctx.command_path if error.ctx is not None else "outperform"
    return f"{said[0].lower()}{said[1:]} See {path} --help"


def entry() -> None:
    """Run as a program."""
    sys.exit(main())
