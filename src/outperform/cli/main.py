"""Entry point of ``outperform``: run a command and return its exit code."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from outperform import __version__
from outperform.cli import exit_codes
from outperform.cli.exit_codes import Ended, leave, say
from outperform.errors import UsageError

if TYPE_CHECKING:
    from outperform.cli.misread import Mistake

_GATES = ("gate", "watch")
_HELP = {"-h", "--help", "--help-all"}
_HELP_OR_VERSION = {*_HELP, "--version"}
_CLI_MODULES = ("typer", "rich")
_INSTALL = 'pip install "outperform[cli]"'
# With less address space, NumPy and DuckDB exit with 1 or hang instead of raising an error.
_MIN_MEMORY = 1_200_000_000


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    exit_codes.typed.set(tuple(words))
    try:
        code = _run(words)
    except KeyboardInterrupt:
        say("interrupted")
        code = exit_codes.INTERRUPTED
    except BaseException as error:  # a library may even call sys.exit on import
        say(_unexpected(error))
        code = exit_codes.RESOURCES
    return _checked(code, words)


COMMANDS = {
    "compare": "Compare two models: better, worse or practically equivalent?",
    "estimate": "Estimate one model's metric, with an interval.",
    "scorecard": "Compare two models on several metrics, or class by class.",
    "slices": "Compare two models on every slice, most concerning first.",
    "rank": "Rank models: the best, and those practically tied with it.",
    "runs": "Compare two models over several training runs.",
    "cv-counts": "Compare two models from counts of blocked cross-validation.",
    "sensitivity": "Check whether other priors or ROPEs change the decision.",
    "report": "Write a comparison to a self-contained HTML file.",
    "gate": "Check whether the candidate can replace the baseline.",
    "watch": "Repeat the comparison after each batch, until a rule stops it.",
    "ledger": "Show past decisions, and the loss since the best release.",
    "plan": "Estimate how many items a decision needs.",
    "power": "Estimate how often a test set of a given size is decisive.",
    "noise": "Measure the noise between runs of the same model.",
    "propose": "Choose items to label, mostly where two models disagree.",
    "doctor": "Show what a file is, what can be asked of it, and what to type.",
    "count": "Summarise predictions in a small file for other commands.",
    "example": "Write an example data set as CSV, with one column per model.",
    "mcp": "Let coding agents call the package (MCP server).",
    "skill": "Print or write instructions for coding agents.",
    "explain": "Explain terms, metrics and findings.",
}


def _without_typer(arguments: Sequence[str]) -> str | None:
    """Return help or version without typer; None for any other command."""
    if list(arguments) == ["--version"]:
        return f"outperform {__version__}"
    if arguments and _HELP.isdisjoint(arguments):
        return None
    width = max(map(len, COMMANDS))
    return "\n".join(
        (
            "Usage: outperform COMMAND ...",
            "",
            "Compare models from their predictions: is one really better, by how much, and how "
            "sure can you be?",
            "",
            *(f"  {name:{width}}  {summary}" for name, summary in COMMANDS.items()),
            "",
            f"To run a command, install the command line: {_INSTALL}",
        )
    )


def _run(arguments: list[str]) -> int:
    try:
        from outperform.cli.app import app
    except ImportError as error:
        if _missing(error) not in _CLI_MODULES:
            raise
        text = _without_typer(arguments)
        if text is None or sys.stdout is None:
            raise
        sys.stdout.write(f"{text}\n")
        return exit_codes.DONE

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and "utf" not in stream.encoding.lower():
            # Other encodings may lack ± or −.
            stream.reconfigure(errors="backslashreplace")
    try:
        code = app(args=arguments, prog_name="outperform", standalone_mode=False)
    except Ended as ended:
        return ended.code
    except UsageError as error:  # words that can be parsed but are probably mistakes
        say(str(error))
        return exit_codes.USAGE
    except SystemExit as ended:
        # typer exits with 1 if the process that reads the help has closed the pipe.
        if isinstance(ended.__context__, OSError):
            leave(sys.stdout)
            return exit_codes.CLOSED_PIPE
        return ended.code if isinstance(ended.code, int) else exit_codes.DONE
    except Exception as error:
        if isinstance(error.__cause__, KeyboardInterrupt):
            raise error.__cause__ from None
        # Not every typer version exports a common base class for its errors.
        if not hasattr(error, "format_message"):
            raise
        if error.format_message():
            from outperform.cli.misread import usage_message

            say(usage_message(cast("Mistake", error), arguments))
        return exit_codes.USAGE
    return code if isinstance(code, int) else exit_codes.DONE


def _checked(code: object, arguments: Sequence[str]) -> int:
    """Return the exit code; accept 0 and 1 from a gate only if it has written its decision.

    Otherwise every candidate would pass if a parser mistook every command for ``--version`` or a
    library called ``sys.exit``.
    """
    if isinstance(code, exit_codes.Judged):
        return int(code)
    command = next((word for word in arguments if not word.startswith("-")), None)
    is_gate = command in _GATES and _HELP_OR_VERSION.isdisjoint(arguments)
    is_doubtful = code == exit_codes.FAILED or (code == exit_codes.DONE and is_gate)
    if is_doubtful or not isinstance(code, int):  # sys.exit("0") exits with 1
        say(f"{command or 'the command'} ended without a result; it needs typer 0.26 or newer")
        return exit_codes.RESOURCES
    return code


def _unexpected(error: BaseException) -> str:
    if not isinstance(error, ImportError):
        return f"unexpected {type(error).__name__}: {error}"
    missing = _missing(error)
    if missing in _CLI_MODULES:
        return f"the command line is not installed; install it with: {_INSTALL}"
    return f"the command line needs {missing or 'a module'}; {error}"


def _missing(error: ImportError) -> str:
    return (error.name or "").partition(".")[0]


def entry() -> None:
    """Run as a program."""
    # If the caller closed a standard stream, the next opened file would get its descriptor and
    # output.
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    sys.exit(_flushed(_check_memory() or main()))


def _check_memory() -> int:
    """Return an exit code: nonzero if the memory limit is so low that libraries would crash."""
    try:
        import resource
    except ImportError:  # not available on Windows
        return exit_codes.DONE
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY or limit >= _MIN_MEMORY:
        return exit_codes.DONE
    say(f"needs {_MIN_MEMORY:,} bytes of memory (ulimit -v); the limit is {limit:,}")
    return exit_codes.RESOURCES


def _flushed(code: int) -> int:
    """Return the exit code after a final flush; a failed flush at exit would give 120."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            leave(stream)
            if stream is sys.stdout and code == exit_codes.DONE:
                code = exit_codes.RESOURCES
    return code
