"""Running a command: errors become one line on stderr and an exit code."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from functools import wraps
from typing import Any

import typer

from outperform.cli import exits
from outperform.cli.wording import in_options
from outperform.errors import OutperformError

DEBUG = "OUTPERFORM_DEBUG"


def guarded(command: Callable[..., int | None]) -> Callable[..., None]:
    """Return the command with its errors turned into exit codes."""

    @wraps(command)
    def run(*arguments: Any, **options: Any) -> None:
        try:
            code = command(*arguments, **options)
            sys.stdout.flush()
        except KeyboardInterrupt:
            say("interrupted")
            code = exits.INTERRUPTED
        except BrokenPipeError:
            leave_stdout()
            code = exits.CLOSED_PIPE
        except (OutperformError, OSError, MemoryError) as error:
            say(in_options(str(error)) or type(error).__name__)
            code = exits.code_of(error)
        except Exception as error:
            if os.environ.get(DEBUG):
                traceback.print_exc()  # not raised: Python's own exit code is a failed gate's
            say(f"unforeseen {type(error).__name__}: {error} (set {DEBUG}=1 to see where)")
            code = exits.RESOURCES
        raise typer.Exit(code or exits.DONE)

    return run


def say(message: str) -> None:
    """Write one line to stderr, in which labels and file names are text and nothing else."""
    from outperform.present.escape import for_text

    sys.stderr.write(f"outperform: {for_text(message)}\n")


def leave_stdout() -> None:
    """Let go of stdout."""
    # Whoever read the output has gone; what is still in the buffer has nowhere to go.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
