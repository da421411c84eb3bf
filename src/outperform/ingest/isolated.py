"""The child process of ``isolate=True``: reads within limits, and answers in JSON."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO

from outperform._optional import require
from outperform.errors import MissingExtra, OutperformError

_MEMORY = 4 << 30  # bytes beside what the libraries take


def main() -> None:
    """Answer every line of standard input, a question in JSON, with a line."""
    from outperform.ingest.reading import read

    # What libraries print must not get between the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    _load()
    _limit_memory()
    for line in sys.stdin.buffer:
        question = json.loads(line)
        with _limited(question["seconds"]):
            _tell(answers, _answer(read, question))


def _answer(read: Any, question: dict[str, Any]) -> dict[str, Any]:
    try:
        seen = read(question["source"], **question["options"])
        return {"outcomes": seen.to_dict()}
    except OutperformError as error:
        return {"error": type(error).__name__, "message": str(error)}
    except MemoryError:
        return {"error": "ResourceError", "message": "counting needs more memory than is allowed"}
    except Exception as error:  # whatever a damaged file makes a library raise
        line = str(error).strip().partition("\n")[0]
        return {"error": "DataError", "message": f"cannot be read: {type(error).__name__}: {line}"}


def _tell(answers: BinaryIO, answer: dict[str, Any]) -> None:
    answers.write(json.dumps(answer).encode() + b"\n")
    answers.flush()


def _load() -> None:
    """Import what will be needed, so that the limits are on top of it."""
    with suppress(MissingExtra):
        require("duckdb", extra="cli", purpose="counting files")
    with suppress(MissingExtra):
        require("pyarrow.parquet", extra="arrow", purpose="verify=True")


def _limit_memory() -> None:
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with open("/proc/self/statm", encoding="ascii") as stream:
            taken = int(stream.read().split()[0]) * resource.getpagesize()
        limit = taken + _MEMORY
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        if most == resource.RLIM_INFINITY or limit < most:
            resource.setrlimit(resource.RLIMIT_AS, (limit, most))


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Let the system end this process when a question takes too long, whatever it is doing."""
    has_timer = hasattr(signal, "setitimer")
    if has_timer:
        signal.setitimer(signal.ITIMER_REAL, seconds)
    _limit_processor(seconds)
    yield
    if has_timer:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _limit_processor(seconds: float) -> None:
    with suppress(ImportError, OSError, ValueError):
        import resource

        usage = resource.getrusage(resource.RUSAGE_SELF)
        used = usage.ru_utime + usage.ru_stime
        limit = int(used + seconds * (os.cpu_count() or 1)) + 1
        _, most = resource.getrlimit(resource.RLIMIT_CPU)
        if most == resource.RLIM_INFINITY or limit < most:
            resource.setrlimit(resource.RLIMIT_CPU, (limit, most))
