"""A server of another SDK as a user adds it to a client: what `mcpframe install` writes, run by the official client."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import TextContent

from mcpframe.kit.base.cache import cache_dir
from tests.bridge.conftest import ROOT
from tests.bridge.programs import PATIENCE, environment


@pytest.mark.extended
async def test_a_wrapped_server_of_mcp_1_is_installed_and_keeps_its_notes(tmp_path: Path) -> None:
    project = tmp_path / "notes"
    shutil.copytree(ROOT / "docs" / "examples" / "wrapped", project)
    places = ["--project", str(tmp_path), "--profile", str(tmp_path / "profile")]
    install = ["install", str(project), "--client", "claude-code", *places, "--yes"]
    cache = {"MCPFRAME_CACHE": str(cache_dir())}
    with anyio.fail_after(PATIENCE):
        await anyio.run_process([sys.executable, "-m", "mcpframe", *install], env=environment() | cache)
    [(name, entry)] = json.loads((tmp_path / ".mcp.json").read_text())["mcpServers"].items()
    assert name == "notes"
    arguments = [*entry["args"], "--timeout", str(PATIENCE)]
    assert cache.items() <= entry["env"].items()
    # As clients do: none of their own variables but a few, such as PATH.
    bare = {**entry["env"], "PYTHONPATH": str(ROOT)}
    command = StdioServerParameters(command=entry["command"], args=arguments, env=bare)
    with (tmp_path / "stderr.txt").open("w") as errors, anyio.fail_after(2 * PATIENCE):
        for notes in ("1 notes.", "2 notes."):  # the second is another program, with the same profile
            async with Client(stdio_client(command, errlog=errors)) as client:
                assert client.protocol_version == "2025-11-25"
                assert [tool.name for tool in (await client.list_tools()).tools] == ["add_note"]
                [answer] = (await client.call_tool("add_note", {"text": "Buy milk."})).content
                assert isinstance(answer, TextContent)
                assert answer.text == notes
    assert "Importing the server" not in (tmp_path / "stderr.txt").read_text()  # it was built by the installation
