"""The server of the Model Context Protocol, over stdin and stdout."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from outperform import __version__
from outperform._json import Json
from outperform.agents import pages
from outperform.agents.tools import MARK, Tool, marked, tools
from outperform.errors import UsageError, param, require
from outperform.io.addresses import local_path

TIMEOUT = 60.0
MAX_ROWS = 5_000_000
MEMORY = 4_000_000_000  # bytes of address space of one call
_AT_ONCE = 2
_ROOTS_SECONDS = 5.0
_PURPOSE = "the MCP server"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of every call.

    Parameters
    ----------
    timeout
        Seconds after which a call is stopped.
    max_rows
        Maximum number of items.
    """

    timeout: float = TIMEOUT
    max_rows: int = MAX_ROWS

    def __post_init__(self) -> None:
        if not self.timeout > 0:
            raise UsageError(f"{param('timeout')} must be above 0; got {self.timeout:g}")
        if self.max_rows < 1:
            raise UsageError(f"{param('max_rows')} must be 1 or more; got {self.max_rows}")


def serve(folder: Path, limits: Limits) -> None:
    """Serve the tools until the client closes stdin.

    Parameters
    ----------
    folder
        Only files in this folder are read.
    limits
        Limits of every call.
    """
    server = _server(folder.resolve(), limits)
    stdio = require("mcp.server.stdio", extra="mcp", purpose=_PURPOSE)

    async def run() -> None:
        async with stdio.stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())

    asyncio.run(run())


def _server(folder: Path, limits: Limits) -> Any:
    """Return the server of the low-level interface, which passes schemas on unchanged."""
    lowlevel = require("mcp.server", extra="mcp", purpose=_PURPOSE)
    shared = require("mcp.shared.exceptions", extra="mcp", purpose=_PURPOSE)
    types = require("mcp_types", extra="mcp", purpose=_PURPOSE)
    turn = asyncio.Semaphore(_AT_ONCE)

    async def list_tools(context: Any, params: Any) -> Any:
        listed = {"tools": [_described(tool) for tool in tools().values()]}
        return types.ListToolsResult.model_validate(listed)

    async def call_tool(context: Any, params: Any) -> Any:
        if params.name not in tools():
            known = ", ".join(tools())
            raise shared.MCPError(_INVALID, f"unknown tool {params.name!r}. Known: {known}")
        try:
            roots = await _roots(context)
        except UsageError as error:
            result = _result(marked(str(error), params.name), None)
        else:
            async with turn:
                result = await _called(params.name, params.arguments, folder, roots, limits)
        return types.CallToolResult.model_validate(result)

    async def list_resources(context: Any, params: Any) -> Any:
        listed = {"resources": [_listed(page) for page in pages.pages().values()]}
        return types.ListResourcesResult.model_validate(listed)

    async def read_resource(context: Any, params: Any) -> Any:
        page = pages.pages().get(str(params.uri))
        if page is None:
            raise shared.MCPError(_INVALID, f"no page {str(params.uri)!r}; list the resources")
        content = {"uri": page.uri, "mimeType": "text/markdown", "text": page.read()}
        return types.ReadResourceResult.model_validate({"contents": [content]})

    return lowlevel.Server(
        "outperform",
        version=__version__,
        title="outperform",
        instructions=pages.rules(),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_read_resource=read_resource,
    )


_INVALID = -32602  # the protocol's code for invalid parameters


def _described(tool: Tool) -> Json:
    return {
        "name": tool.name,
        "description": f"{tool.summary} {MARK}",
        "inputSchema": tool.schema,
        "outputSchema": tool.answer,
        "annotations": {
            "readOnlyHint": True,
            "destructiveHint": False,
            "idempotentHint": True,
            "openWorldHint": False,
        },
    }


def _listed(page: pages.PageOfDocs) -> Json:
    known = {"description": page.about} if page.about else {}
    return {"uri": page.uri, "name": page.title, "mimeType": "text/markdown", **known}


def _result(text: str, values: Json | None) -> Json:
    result: Json = {"content": [{"type": "text", "text": text}], "isError": values is None}
    return result if values is None else {**result, "structuredContent": values}


async def _roots(context: Any) -> list[str] | None:
    """Return the folders to which the client restricts the server; None if it names none.

    Newer versions of the protocol have no roots.
    """
    capabilities = context.session.client_capabilities
    if capabilities is None or capabilities.roots is None:
        return None
    if context.session.client_params is None:
        return None  # a version of the protocol in which a server cannot ask
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            listed = await asyncio.wait_for(context.session.list_roots(), _ROOTS_SECONDS)
    except Exception as error:
        raise UsageError(f"the client did not name its roots: {type(error).__name__}") from error
    return [str(Path(local_path(str(root.uri))).resolve()) for root in listed.roots]


async def _called(
    name: str, arguments: Any, folder: Path, roots: list[str] | None, limits: Limits
) -> Json:
    """Return the result of a call, made in a process that is stopped after the time limit."""
    request = {
        "tool": name,
        "arguments": arguments,
        "roots": roots,
        "max_rows": limits.max_rows,
        "seconds": int(limits.timeout) + 5,
        "memory": MEMORY,
    }
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "outperform.agents.worker"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        cwd=folder,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
    )
    try:
        sent = json.dumps(request).encode("utf-8")
        out, _ = await asyncio.wait_for(process.communicate(sent), limits.timeout)
    except TimeoutError:
        return _result(
            marked(
                f"stopped after {limits.timeout:g} s; ask about fewer rows, models or draws, or "
                "use the command line, which has no limit",
                name,
            ),
            None,
        )
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    try:
        answer = json.loads(out)
    except ValueError:
        code = process.returncode
        return _result(
            marked(f"the call ended with {code}, probably because it needs too much memory", name),
            None,
        )
    return _result(answer["text"], answer["values"])
