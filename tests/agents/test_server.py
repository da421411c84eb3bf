"""The server, called over stdio by the client of the protocol's own package."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest

import outperform
from outperform.agents.server import Limits
from outperform.errors import UsageError

mcp = pytest.importorskip("mcp")
SRC = str(Path(outperform.__file__).parents[1])
TWO = {"truth": "label", "a": "new", "b": "old", "metric": "accuracy", "rope": 0.1}
ANSWER_SECONDS = "600"  # a busy machine is slow; the limit itself has its own test


@pytest.fixture
def root(tmp_path):
    rows = [f"{k % 2},{k % 2},{(k // 3) % 2}" for k in range(60)]
    folder = tmp_path / "root"
    folder.mkdir()
    (folder / "preds.csv").write_text("\n".join(["label,new,old", *rows, ""]))
    (folder / "inner").mkdir()
    (folder / "inner" / "preds.csv").write_text((folder / "preds.csv").read_text())
    (tmp_path / "secret.csv").write_text("label,new,old\n1,1,1\n")
    (folder / "link.csv").symlink_to(tmp_path / "secret.csv")
    # Modules in the folder of the data must not be imported.
    for name in ("typing", "outperform", "json"):
        (folder / f"{name}.py").write_text("raise SystemExit('imported')")
    return folder


def session(root, conversation, *, mode="auto", options=(), **keywords):
    """Start a server, hold a conversation with it, and return what it gave."""
    from mcp.client.stdio import StdioServerParameters

    server = StdioServerParameters(
        command=sys.executable,
        args=["-P", "-m", "outperform", "mcp", "--timeout", ANSWER_SECONDS, *options],
        env={"PYTHONPATH": SRC, "PYTHONWARNINGS": "ignore"},
        cwd=root,
    )

    async def talk():
        async with mcp.Client(server, mode=mode, **keywords) as client:
            return await conversation(client)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the client
        return asyncio.run(asyncio.wait_for(talk(), 500))


def text_of(result):
    (content,) = result.content
    return content.text


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_client_finds_and_calls_the_tools(root, mode):
    async def conversation(client):
        listed = (await client.list_tools()).tools
        answer = await client.call_tool("compare", {"source": "preds.csv", **TWO})
        refused = await client.call_tool("compare", {"source": "link.csv", **TWO})
        wrong = await client.call_tool("gate", {"source": "preds.csv", "threshold": 1})
        with pytest.raises(mcp.MCPError, match="unknown tool 'rm'"):
            await client.call_tool("rm", {"source": "preds.csv"})
        return listed, answer, refused, wrong

    listed, answer, refused, wrong = session(root, conversation, mode=mode)
    names = ["inspect_file", "compare", "rank", "gate", "plan", "explain"]
    assert [tool.name for tool in listed] == names
    assert all(tool.annotations.read_only_hint for tool in listed)
    assert len(json.dumps([tool.model_dump() for tool in listed])) < 90_000
    # The client has checked the values against the schema of the answer.
    assert not answer.is_error
    assert answer.structured_content["kind"] == "comparison"
    assert answer.structured_content["decision"]["symbol"] == "≫"
    assert "new is better than old" in text_of(answer)
    assert refused.is_error
    assert "must lie inside the folder" in text_of(refused)
    assert refused.structured_content is None
    assert 'did you mean "rope"' in text_of(wrong)


def test_pages_are_resources(root):
    async def conversation(client):
        listed = (await client.list_resources()).resources
        read = [
            (await client.read_resource(f"outperform://{name}")).contents[0].text
            for name in ("llms.txt", "skill", "docs/how-to/choose-a-rope", "schemas/gate")
        ]
        for hostile in ("docs/../../preds", "file:///etc/passwd", "docs/how-to/%2e%2e/x"):
            with pytest.raises(mcp.MCPError):
                await client.read_resource(
                    hostile if "://" in hostile else f"outperform://{hostile}"
                )
        return listed, read

    listed, (index, skill, guide, schema) = session(root, conversation)
    uris = [str(page.uri) for page in listed]
    assert len(set(uris)) == len(uris) > 60
    assert all(f"({uri})" in index for uri in uris if not uri.endswith("llms.txt"))
    assert skill.startswith("---\nname: outperform\n")
    assert guide.startswith("# ")
    assert json.loads(schema)["title"] == "Gate"


def test_roots_of_an_older_client_are_respected(root):
    from mcp_types import ListRootsResult, Root

    named = {"roots": [Root(uri=(root / "inner").as_uri())]}

    async def roots(context):
        return ListRootsResult(**named)

    async def conversation(client):
        inside = await client.call_tool("inspect_file", {"source": "inner/preds.csv"})
        outside = await client.call_tool("inspect_file", {"source": "preds.csv"})
        return inside, outside

    inside, outside = session(root, conversation, mode="legacy", list_roots_callback=roots)
    assert not inside.is_error
    assert outside.is_error
    assert "roots" in text_of(outside)


def test_calls_are_stopped_and_the_server_lives_on(root):
    rows = "\n".join(f"{k % 7},{k % 5},{k % 3}" for k in range(4000))
    (root / "many.csv").write_text(f"label,new,old\n{rows}\n")
    long = {"source": "many.csv", "truth": "label", "n_draws": 5_000_000, "metric": "f1_macro"}

    async def conversation(client):
        start = time.monotonic()
        slow = await client.call_tool("rank", long)
        seconds = time.monotonic() - start
        after = await client.call_tool("explain", {"words": ["rope"]})
        return slow, seconds, after

    slow, seconds, after = session(root, conversation, options=("--timeout", "8"))
    assert slow.is_error
    assert "stopped after 8 s" in text_of(slow)
    assert seconds < 60
    assert "ROPE" in text_of(after) or "stopped" in text_of(after)


def test_rows_are_limited(root):
    async def conversation(client):
        return await client.call_tool("compare", {"source": "preds.csv", **TWO})

    result = session(root, conversation, options=("--max-rows", "59"))
    assert result.is_error
    assert "60 items, more than the 59" in text_of(result)


def test_memory_is_limited():
    pytest.importorskip("resource")
    code = "from outperform.agents.worker import limit; limit(60, 10**9); bytearray(2 * 10**9)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "MemoryError" in run.stderr


@pytest.mark.parametrize(
    ("limits", "option"), [({"timeout": 0}, "timeout"), ({"max_rows": 0}, "max_rows")]
)
def test_limits_are_positive(limits, option):
    with pytest.raises(UsageError, match=option):
        Limits(**limits)


def test_nothing_is_written(root):
    before = sorted((path, path.stat().st_mtime_ns) for path in root.rglob("*"))

    async def conversation(client):
        await client.call_tool("rank", {"source": "preds.csv", "truth": "label", "rope": 0.1})
        await client.call_tool("inspect_file", {"source": "preds.csv"})

    session(root, conversation)
    assert sorted((path, path.stat().st_mtime_ns) for path in root.rglob("*")) == before
    assert not os.path.exists(root / "__pycache__")
