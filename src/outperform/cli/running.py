"""Running a command: errors become one line on stderr and an exit code.

Like :mod:`outperform.cli.main` it needs the standard library only.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import Any

from outperform.cli import exits
from outperform.cli.wording import in_options
from outperform.errors import OutperformError

DEBUG = "OUTPERFORM_DEBUG"


class Ended(Exception):
    """A command has ended by itself, with this exit code."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


def guarded(command: Callable[..., int | None]) -> Callable[..., None]:
    """Return the command with its errors turned into exit codes."""

    @wraps(command)
    def run(*arguments: Any, **options: Any) -> None:
        try:
            code = command(*arguments, **options)
            if sys.stdout is not None:
                sys.stdout.flush()
        except KeyboardInterrupt:
            say("interrupted")
            code = exits.INTERRUPTED
        except BrokenPipeError:
            leave(sys.stdout)
            code = exits.CLOSED_PIPE
        except (OutperformError, OSError, MemoryError) as error:
            say(in_options(str(error)) or type(error).__name__)
            code = exits.code_of(error)
        except Exception as error:
            if os.environ.get(DEBUG):
                with suppress(OSError, ValueError):
                    traceback.print_exc()  # not raised: Python's own exit code is a failed gate's
            say(f"unforeseen {type(error).__name__}: {error} (set {DEBUG}=1 to see where)")
            code = exits.RESOURCES
        raise Ended(exits.DONE if code is None else code)

    return run


def say(message: str) -> None:
    """Write one line to stderr, in which labels and file names are text and nothing else.

    It never fails: where nobody can be told, the exit code still can.
    """
    try:
        from outperform.present.escape import for_text

        line = for_text(message)
    except Exception:  # what cannot be imported may be what is to be said
        line = message.encode("unicode_escape").decode("ascii")
    try:
        if sys.stderr is not None:
            sys.stderr.write(f"outperform: {line}\n")
    except (OSError, ValueError):
        leave(sys.stderr)


def leave(stream: Any) -> None:
    """Let go of a stream that cannot be written to: what is in its buffer has nowhere to go."""
    with suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
