"""A bridge answers from the manifest before its page is open, run as a client runs what `mcpframe install` writes."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from mcpframe.kit.base.cache import write_file
from mcpframe.kit.base.user_folders import UserFolders
from mcpframe.kit.bridge.install.config_files import plan
from mcpframe.kit.bridge.install.known_clients import BY_NAME
from mcpframe.kit.browser.chromium import ensure_chromium
from mcpframe.kit.cli.connecting.install import _bridge_command
from mcpframe.kit.servers.named_server import named_server
from tests.bridge.programs import PATIENCE, over_http
from tests.support.built import built

FIRST = "From the manifest."


def changed_bundle(tmp_path: Path) -> Path:
    """Return a bundle whose manifest says something else than its page."""
    _, result = built("everything")
    folder, root = result.folder, tmp_path / "site"
    shutil.copytree(folder.parent, root, ignore=lambda at, names: other_bundles(at, names, folder))
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    for group in manifest["answers"]:
        group["results"]["tools/list"]["tools"][0]["description"] = FIRST
    write_file(root / folder.name / "manifest.json", json.dumps(manifest).encode())

    return root / folder.name


async def test_tools_are_listed_before_the_page_is_open_and_again_if_the_page_has_others(
    tmp_path: Path,
) -> None:
    bundle, profile = changed_bundle(tmp_path), tmp_path / "profile"
    command, name = _bridge_command(named_server(str(bundle)), str(bundle), None, profile)
    needed = {"MCPFRAME_CHROMIUM": str(ensure_chromium())}
    change = plan(BY_NAME["cursor"], UserFolders(tmp_path, tmp_path, sys.platform, {}), name, command, needed)
    entry = json.loads(change.after)["mcpServers"][name]

    changed = anyio.Event()

    async def on_message(message: Any) -> None:
        if getattr(message, "method", "") == "notifications/tools/list_changed":
            changed.set()

    # An empty environment: the official client adds what systems need, and the entry its own.
    bare = {**entry["env"], "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    server = StdioServerParameters(command=entry["command"], args=entry["args"], env=bare, cwd="/")
    with (tmp_path / "stderr.txt").open("w") as errors, anyio.fail_after(2 * PATIENCE):
        async with Client(stdio_client(server, errlog=errors), mode="legacy", message_handler=on_message) as client:
            first = (await client.list_tools()).tools
            assert first[0].description == FIRST
            assert not changed.is_set()
            called = await client.call_tool("echo", {"text": "from the page"})
            assert "from the page" in str(called.content)
            await changed.wait()
            second = (await client.list_tools()).tools
            assert second[0].description != FIRST
            assert [tool.name for tool in second] == [tool.name for tool in first]


@pytest.mark.extended  # `tests/unit/kit/edges/test_early_http.py` has the rules
async def test_over_http_a_session_lists_tools_before_its_page_is_open(tmp_path: Path) -> None:
    bundle, profile = changed_bundle(tmp_path), tmp_path / "profile"
    profile.mkdir()
    command = [sys.executable, "-m", "mcpframe", "bridge", str(bundle), "--timeout", str(PATIENCE)]
    with over_http(command, profile) as address, anyio.fail_after(2 * PATIENCE):
        async with Client(address, mode="legacy") as client:
            assert (await client.list_tools()).tools[0].description == FIRST
            called = await client.call_tool("echo", {"text": "from the page"})
            assert "from the page" in str(called.content)
            assert (await client.list_tools()).tools[0].description != FIRST


def other_bundles(at: str, names: list[str], kept: Path) -> list[str]:
    """Return the folders of a site's other bundles."""
    inside = Path(at)
    return [each for each in names if each != kept.name and (inside / each / "manifest.json").is_file()]
