"""``isolate=True``: files read by a child process, which they may crash without harm."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from outperform import errors
from outperform.errors import DataError, OutperformError, ResourceError, UsageError
from outperform.ingest.addresses import masked
from outperform.outcomes import Outcomes

SECONDS = 600.0
_PROGRAM = "from outperform.ingest.isolated import main; main()"
_START = 60.0  # seconds for the imports of the child, on a busy machine
_TOO_LONG = {getattr(signal, name, None) for name in ("SIGALRM", "SIGXCPU")}
_TYPES: dict[str, type[OutperformError]] = {
    name: one
    for name, one in vars(errors).items()
    if isinstance(one, type) and issubclass(one, OutperformError)
}


class Question(NamedTuple):
    """One call of ``read``, as it goes to the child."""

    source: Any
    options: Mapping[str, Any]


def read_isolated(source: Any, isolate: object, options: Mapping[str, Any]) -> Outcomes:
    """Let a child process read, and take over its outcomes or its error."""
    seconds = _seconds(isolate)
    (answer,) = ask([Question(_plain_source(source), _plain(options))], seconds=seconds)
    if isinstance(answer, OutperformError):
        raise answer
    return answer


def _seconds(isolate: object) -> float:
    if isolate is True:
        return SECONDS
    if isinstance(isolate, (int, float)) and isolate is not False and 0 < isolate < math.inf:
        return float(isolate)
    raise UsageError(
        f"isolate must be True, False or the seconds that reading may take; got {isolate!r}"
    )


def ask(
    questions: Sequence[Question], *, seconds: float = SECONDS
) -> list[Outcomes | OutperformError]:
    """Return the outcomes of each question, or the error; a crash starts a new child.

    Parameters
    ----------
    questions
        What to read.
    seconds
        How long each may take.
    """
    answers: list[Outcomes | OutperformError] = []
    while len(answers) < len(questions):
        rest = questions[len(answers) :]
        lines, end = _run(rest, seconds)
        answers += [_understood(line) for line in lines]
        if len(lines) < len(rest):
            answers.append(_crash(rest[len(lines)], end, seconds))
    return answers


def _run(questions: Sequence[Question], seconds: float) -> tuple[list[bytes], int | None]:
    """Return the answers of one child as far as it came, and how it ended; None for too late."""
    if not sys.executable:
        raise ResourceError("isolate needs a Python that can start another one")
    path = f"import sys; sys.path[:] = {sys.path!r}\n"
    lines = [
        json.dumps({"source": one.source, "options": one.options, "seconds": seconds})
        for one in questions
    ]
    child = subprocess.Popen(
        [sys.executable, "-c", path + _PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"},
    )
    with child:
        try:
            told, _ = child.communicate(
                "".join(line + "\n" for line in lines).encode(),
                timeout=_START + seconds * len(questions),
            )
            end: int | None = child.returncode
        except subprocess.TimeoutExpired:
            child.kill()
            told, _ = child.communicate()
            end = None
        except BaseException:
            child.kill()
            child.wait()
            raise
    return [line for line in told.split(b"\n")[:-1] if line], end


def _understood(line: bytes) -> Outcomes | OutperformError:
    answer = json.loads(line)
    if "outcomes" in answer:
        return Outcomes.from_dict(answer["outcomes"])
    return _TYPES.get(answer["error"], DataError)(answer["message"])


def _crash(question: Question, end: int | None, seconds: float) -> DataError:
    name = _shown(question.source)
    if end is None or -end in _TOO_LONG:
        return DataError(
            f"reading {name} took longer than {seconds:g} s; it may be damaged, or it needs more, "
            "e.g. isolate=3600"
        )
    how = f"signal {-end} ({_signal(-end)})" if end < 0 else f"exit code {end}"
    return DataError(f"reading {name} ended with {how}; it is damaged")


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"


def _shown(source: Any) -> str:
    files = list(source.values()) if isinstance(source, dict) else source
    return ", ".join(masked(str(one)) for one in (files if isinstance(files, list) else [files]))


def _plain_source(source: Any) -> Any:
    if isinstance(source, Mapping):
        return {str(name): _plain_source(one) for name, one in source.items()}
    if isinstance(source, (list, tuple)):
        return [_plain_source(one) for one in source]
    path = os.fspath(source) if isinstance(source, (str, os.PathLike)) else None
    if not isinstance(path, str) or path == "-":
        raise UsageError(
            "isolate reads in another process, which can be given paths but neither streams nor "
            f"frames; got {path or type(source).__name__!r}"
        )
    return path


def _plain(value: Any) -> Any:
    """Return options as JSON has them."""
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(one) for one in value]
    return value
