"""Where ``outperform`` begins and ends: arguments in, an exit code out."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Protocol, cast

from outperform import __version__
from outperform.cli import exit_codes
from outperform.cli.exit_codes import Ended, leave, say

_JUDGING = ("gate", "watch")
_HELP = {"-h", "--help"}
_ASKS_FOR_TEXT = {*_HELP, "--version"}
_OF_THE_COMMAND_LINE = ("typer", "rich")
_INSTALL = 'pip install "outperform[cli]"'
# With less address space numpy and DuckDB do not fail but exit with 1, or never end.
_LEAST_MEMORY = 1_200_000_000
# What another command does.
_ELSEWHERE = {
    ("report", "--by"): "a page about several tasks is written by compare --by, rank --by or "
    "gate --by, with --format html or, of a gate, --report FILE",
}
# Each command has some of these.
_MODELS = {"--a", "--b", "--baseline", "--candidate", "--of"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    given = None if arguments is None else list(arguments)
    exit_codes.asked.set(tuple(sys.argv[1:] if given is None else given))
    try:
        code = _run(given)
    except KeyboardInterrupt:
        say("interrupted")
        code = exit_codes.INTERRUPTED
    except BaseException as error:  # a package may even call sys.exit while it is imported
        say(_unforeseen(error))
        code = exit_codes.RESOURCES
    return _trusted(code, sys.argv[1:] if given is None else given)


COMMANDS = {
    "compare": "Compare two models: is A better than B, worse, or practically equivalent?",
    "estimate": "Estimate one model's metric, with an interval.",
    "scorecard": "Compare two models on several metrics, or class by class.",
    "slices": "Compare two models on every slice, most concerning first.",
    "rank": "Rank models: which is best, and which are practically tied with it.",
    "runs": "Compare two models over several training runs.",
    "bcv": "Compare two models by the counts of blocked folds.",
    "sensitivity": "Check whether other priors or ROPEs change the decision.",
    "report": "Write a comparison to a self-contained HTML file.",
    "gate": "Check whether the candidate can replace the baseline (pass, fail, undecided).",
    "watch": "Re-run the comparison after each batch and stop by a rule.",
    "plan": "Estimate how many items a decision needs.",
    "power": "Estimate how often a test set of a given size gives a decision.",
    "propose": "Choose which items to label, favouring those on which two models disagree.",
    "count": "Summarise predictions into a small file that other commands can read.",
    "example": "Write an example data set as CSV, with one column per model.",
    "explain": "Explain a term or a finding.",
}


def _without_typer(arguments: Sequence[str]) -> str | None:
    """Return what an installation without the command line answers; None if it cannot."""
    if list(arguments) == ["--version"]:
        return f"outperform {__version__}"
    if arguments and _HELP.isdisjoint(arguments):
        return None
    wide = max(map(len, COMMANDS))
    return "\n".join(
        (
            "Usage: outperform COMMAND ...",
            "",
            "Compare models from their predictions: is one really better, by how much, and how "
            "sure can you be?",
            "",
            *(f"  {name:{wide}}  {what}" for name, what in COMMANDS.items()),
            "",
            f"To run a command, install the command line: {_INSTALL}",
        )
    )


def _run(arguments: list[str] | None) -> int:
    try:
        from outperform.cli.app import app
    except ImportError as error:
        if _missing(error) not in _OF_THE_COMMAND_LINE:
            raise
        text = _without_typer(sys.argv[1:] if arguments is None else arguments)
        if text is None or sys.stdout is None:
            raise
        sys.stdout.write(f"{text}\n")
        return exit_codes.DONE

    _spell_out()
    try:
        code = app(args=arguments, prog_name="outperform", standalone_mode=False)
    except Ended as ended:
        return ended.code
    except SystemExit as ended:
        # typer leaves with 1 when whoever read the help has gone.
        if isinstance(ended.__context__, OSError):
            leave(sys.stdout)
            return exit_codes.CLOSED_PIPE
        return ended.code if isinstance(ended.code, int) else exit_codes.DONE
    except Exception as error:
        if isinstance(error.__cause__, KeyboardInterrupt):
            raise error.__cause__ from None
        # typer's errors share no class that all its versions make public.
        if not hasattr(error, "format_message"):
            raise
        if error.format_message():
            say(usage_message(cast("_Mistake", error)))
        return exit_codes.USAGE
    return code if isinstance(code, int) else exit_codes.DONE


def _spell_out() -> None:
    """Let streams that do not know ± or − write escapes, where they would fail."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and "utf" not in stream.encoding.lower():
            stream.reconfigure(errors="backslashreplace")


def _trusted(code: object, arguments: Sequence[str]) -> int:
    """Return the exit code, but 0 and 1 of a gate only if it has written its own decision.

    A parser that takes every command for ``--version``, or a library that calls ``sys.exit``,
    would otherwise let every candidate through.
    """
    if isinstance(code, exit_codes.Judged):
        return int(code)
    command = next((word for word in arguments if not word.startswith("-")), None)
    judges = command in _JUDGING and _ASKS_FOR_TEXT.isdisjoint(arguments)
    doubtful = code == exit_codes.FAILED or (code == exit_codes.DONE and judges)
    if doubtful or not isinstance(code, int):  # sys.exit takes "0" for 1
        say(f"{command or 'the command'} ended without an answer; it needs typer 0.26 or newer")
        return exit_codes.RESOURCES
    return code


def _unforeseen(error: BaseException) -> str:
    if not isinstance(error, ImportError):
        return f"unforeseen {type(error).__name__}: {error}"
    missing = _missing(error)
    if missing in _OF_THE_COMMAND_LINE:
        return f"the command line is not installed; {_INSTALL}"
    return f"the command line needs {missing or 'a module'}; {error}"


def _missing(error: ImportError) -> str:
    return (error.name or "").partition(".")[0]


class _Parameter(Protocol):
    opts: list[str]


class _Command(Protocol):
    params: Sequence[_Parameter]


class _Context(Protocol):
    command: _Command
    command_path: str


class _Mistake(Protocol):
    """An error of typer's in the arguments; one of an unknown option has its name."""

    message: str
    ctx: _Context | None

    def format_message(self) -> str: ...


def usage_message(error: _Mistake) -> str:
    """Say in one line what is wrong with the arguments, and where the right ones are listed."""
    message = " ".join(_with_hint(error).split()).replace("Value error, ", "")
    if not message.endswith((".", "?", "!")):
        message += "."
    path = error.ctx.command_path if error.ctx is not None else "outperform"
    return f"{message[0].lower()}{message[1:]} See {path} --help"


def _with_hint(error: _Mistake) -> str:
    """Return the message; of an unknown option with the one that may have been meant.

    typer's own hint for ``gate --a`` is ``--human, --label, --table``.
    """
    if error.ctx is None or not hasattr(error, "possibilities"):
        return error.format_message()
    unknown: str = getattr(error, "option_name", "")
    known = {name for param in error.ctx.command.params for name in param.opts}
    near = get_close_matches(unknown, sorted(known), n=1, cutoff=0.75)
    meant = sorted(known & _MODELS) if unknown in _MODELS else near
    here = error.ctx.command_path.rpartition(" ")[2]
    if (here, unknown) in _ELSEWHERE:
        return f"{error.message}; {_ELSEWHERE[here, unknown]}"
    return f"{error.message}; did you mean {' and '.join(meant)}?" if meant else error.message


def entry() -> None:
    """Run as a program."""
    _fill_descriptors()
    sys.exit(_flushed(_short_of_memory() or main()))


def _fill_descriptors() -> None:
    """Open what the caller closed, or the next file would get its number and what is said there."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def _short_of_memory() -> int:
    """Return an exit code if the limit on memory would end the process in a library."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return exit_codes.DONE
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY or limit >= _LEAST_MEMORY:
        return exit_codes.DONE
    say(f"needs {_LEAST_MEMORY:,} bytes of memory (ulimit -v); the limit is {limit:,}")
    return exit_codes.RESOURCES


def _flushed(code: int) -> int:
    """Return the exit code after a last flush, which Python would otherwise exit with 120 for."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            leave(stream)
            if stream is sys.stdout and code == exit_codes.DONE:
                code = exit_codes.RESOURCES
    return code
