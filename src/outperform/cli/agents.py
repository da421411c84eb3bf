"""Commands for coding agents: ``mcp`` and ``skill``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from outperform.cli import options as o
from outperform.cli.groups import deliver
from outperform.errors import UsageError

Root = Annotated[
    Path,
    o.in_files(
        metavar="FOLDER",
        help="Folder whose files may be read, with its subfolders.",
        show_default=False,
    ),
]
Timeout = Annotated[
    float,
    o.in_computation(
        metavar="SECONDS", help="Seconds after which a call is stopped.", parser=o.parse_number
    ),
]
MaxRows = Annotated[
    int,
    o.in_computation(
        metavar="NUMBER", help="Maximum number of items in a call.", parser=o.parse_int
    ),
]


def mcp(root: Root = Path("."), timeout: Timeout = 60.0, max_rows: MaxRows = 5_000_000) -> None:
    """Let coding agents call the package (MCP server).

    The server reads stdin and writes stdout, so an agent's client starts it. It only
    reads files, and only in the folder. Default: the working directory.

    Example: outperform mcp --root data
    """
    from outperform.agents.server import Limits, serve

    folder = root.resolve()
    if not folder.is_dir():
        raise UsageError(f"--root must be a folder; got {str(root)!r}")
    if str(root) == "." and folder == Path(folder.anchor):
        raise UsageError("the working directory is the root of the disk; pass --root, a folder")
    serve(folder, Limits(timeout=timeout, max_rows=max_rows))


Project = Annotated[
    Path,
    typer.Argument(metavar="[FOLDER]", help="Folder of a project.", show_default=False),
]
Write = Annotated[
    bool,
    o.in_output(
        "--write", help="Write it to FOLDER, where agents look for skills, and an AGENTS.md."
    ),
]


def skill(folder: Project = Path("."), write: Write = False, overwrite: o.Force = False) -> None:
    """Print or write instructions for coding agents.

    Example: outperform skill --write
    """
    from outperform.agents import pages
    from outperform.agents.skill import advice, write_skill

    if write:
        written = write_skill(folder, overwrite=overwrite)
        deliver("\n".join(map(advice, written)), None)
        return
    if str(folder) != "." or overwrite:
        raise UsageError("pass --write to write the skill to a folder")
    deliver(pages.skill(), None)
