"""One call of a tool, in a process of its own: ``python -P -m outperform.agents.worker``.

The process can be stopped whatever it does, and its memory is limited, so no file can stop the
server. It reads a request from stdin and writes the answer to stdout, both as JSON.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Return the answer to a request; what is wrong with it is an answer too.

    Parameters
    ----------
    request
        Name of the tool, its arguments, the roots of the client and the maximum number of rows.
        The working directory is the folder of the server.
    """
    from outperform.agents.places import Places
    from outperform.agents.tools import marked, spelled_argument, tools
    from outperform.errors import OutperformError, spelled

    tool = tools()[request["tool"]]
    roots = request["roots"]
    folder = Places(
        Path.cwd().resolve(), None if roots is None else tuple(Path(root) for root in roots)
    )
    try:
        with spelled(spelled_argument, python=True):
            returned = tool.call(request["arguments"], folder, request["max_rows"])
    except (OutperformError, OSError, MemoryError) as error:
        message = str(error) or f"{type(error).__name__}: the file needs too much memory"
        return {"text": marked(_shown(message), tool.name), "values": None}
    except Exception as error:
        return {
            "text": marked(_shown(f"{type(error).__name__}: {error}"), tool.name),
            "values": None,
        }
    return {"text": marked(returned.text, tool.name), "values": returned.values}


def _shown(message: str) -> str:
    """Return a message with control characters escaped."""
    from outperform.display.numbers import for_text

    return for_text(message)


def limit(seconds: int, memory: int) -> None:
    """Limit the memory of this process, and end it if the server no longer does.

    Parameters
    ----------
    seconds
        Seconds until this process ends.
    memory
        Bytes of address space.
    """
    try:
        import resource
        import signal
    except ImportError:  # not available on Windows
        return
    if hasattr(signal, "alarm"):
        signal.alarm(seconds)
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = memory if hard == resource.RLIM_INFINITY else min(memory, hard)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))


def main() -> None:
    """Answer one request."""
    request = json.loads(sys.stdin.buffer.read())
    limit(request["seconds"], request["memory"])
    # What a library prints goes to stderr, so stdout has the answer only.
    with os.fdopen(os.dup(1), "wb") as out:
        os.dup2(2, 1)
        out.write(json.dumps(answer(request), default=str).encode("utf-8"))


if __name__ == "__main__":
    main()
