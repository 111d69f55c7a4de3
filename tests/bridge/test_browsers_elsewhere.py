"""Bridges whose browsers run elsewhere: here, as processes of their own, which the bridge reaches by DevTools only."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client

from mcpframe.kit.base.data import static_dir
from mcpframe.kit.bridge.chromium.bridge_page import HOST_NAME, BridgePage, FramedPage
from mcpframe.kit.bridge.chromium.pages import Pages
from mcpframe.kit.bridge.target import open_target
from mcpframe.kit.browser.devtools.remote import RemoteBrowsers
from mcpframe.kit.edges.link.messages import ServerMessage
from mcpframe.kit.edges.link.meter import PageOutcome
from mcpframe.kit.web.serve import serve_folder
from tests.bridge.programs import INITIALIZE, PATIENCE, over_http
from tests.support.built import built
from tests.support.remote_chromium import RemoteChromium

SECRET = "s3cret"


@pytest.fixture
def chromiums(tmp_path: Path) -> Iterator[list[RemoteChromium]]:
    """Two of them."""
    both = [RemoteChromium(tmp_path / name) for name in ("one", "two")]
    yield both
    for each in both:
        each.kill()


async def text(client: Client[Any], tool: str, argument: str) -> list[str]:
    with anyio.fail_after(PATIENCE):
        result = await client.call_tool(tool, {"text": argument})
    assert not result.is_error, result.content
    return [block.text for block in result.content if block.type == "text"]


async def test_a_lost_browser_loses_its_own_sessions_and_is_taken_in_again(
    chromiums: list[RemoteChromium], tmp_path: Path
) -> None:
    addresses = [f"{await each.start()}?token={SECRET}" for each in chromiums]
    root, result = built("computing")
    bridge = [sys.executable, "-m", "mcpframe", "bridge", str(root / result.folder.name), "--timeout", str(PATIENCE)]
    with ExitStack() as stack:
        address = stack.enter_context(
            over_http([*bridge, "--browsers", ",".join(addresses), "--drain", "30", "--metrics", "0"], tmp_path)
        )
        async with Client(address, mode="legacy") as first, Client(address, mode="legacy") as second:
            for client in (first, second):  # each has storage of its own
                assert await text(client, "keep", "a") == ["a"]
                assert await text(client, "store", "a") == ["a"]
            chromiums[0].kill()
            kept = [await text(client, "keep", "b") for client in (first, second)]
            assert sorted(kept) == [["a", "b"], ["b"]]  # the other one's memory is as it was
            await chromiums[0].start()
            chromiums[1].kill()
            assert [await text(client, "keep", "c") for client in (first, second)] == [["c"], ["c"]]
            printed = re.search(r"metrics at (\S+)", (tmp_path / "stderr.txt").read_text())
            assert printed
            async with httpx2.AsyncClient() as http:
                lines = (await http.get(printed[1])).text.splitlines()
            assert "mcpframe_sessions 2.0" in lines
            assert [line for line in lines if line.startswith("mcpframe_browser_")] == [
                'mcpframe_browser_up{browser="1"} 1.0',
                'mcpframe_browser_up{browser="2"} 0.0',
                'mcpframe_browser_tabs{browser="1"} 2.0',
                'mcpframe_browser_tabs{browser="2"} 0.0',
                'mcpframe_browser_connections_total{browser="1"} 2.0',
                'mcpframe_browser_connections_total{browser="2"} 1.0',
            ]
    told = (tmp_path / "stderr.txt").read_text()
    assert "is connected" in told
    assert SECRET not in told


class Listener:
    """One client's session, by hand."""

    def __init__(self) -> None:
        self.answers: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    def on_message(self, server_message: ServerMessage) -> None:
        self.answers.put_nowait(server_message.message)

    def on_gone(self, reason: str, *, outcome: PageOutcome = "lost") -> None:
        raise AssertionError(reason)

    def on_note(self, text: str) -> None:
        raise AssertionError(text)

    async def call(self, page: BridgePage, tool: str, argument: str = "") -> Any:
        """Call a tool with a text, or without one if it is empty, and return its structured result."""
        meta = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": INITIALIZE["clientInfo"],
        }
        params = {"name": tool, "arguments": {"text": argument} if argument else {}, "_meta": meta}
        page.send(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}))
        async with asyncio.timeout(PATIENCE):
            return (await self.answers.get())["result"]["structuredContent"]["result"]


async def test_stored_values_follow_their_session_and_no_other(chromiums: list[RemoteChromium], tmp_path: Path) -> None:
    root, result = built("computing")
    with open_target(str(root / result.folder.name)) as target, serve_folder(static_dir()) as host:
        browsers = RemoteBrowsers([await chromiums[0].start()], {HOST_NAME: host.port, **target.addresses}, most=2)

        async def framed() -> FramedPage:
            return FramedPage(target.find(), "a session", patience=PATIENCE)

        pages, one, other = Pages(browsers, framed), Listener(), Listener()
        try:
            page = await pages.open(one)
            assert await one.call(page, "store", "a") == ["a"]
            assert await one.call(page, "write", "line") == ["line"]
            async with asyncio.timeout(PATIENCE):
                while len(pages._stored[one].values) < 2:  # noqa: ASYNC110  the browser reports changes afterwards
                    await asyncio.sleep(0.01)
            await page.close()
            page = await pages.open(one)
            assert await one.call(page, "store", "b") == ["a", "b"]
            assert await one.call(page, "write", "line") == ["line", "line"]
            second = await pages.open(other)
            assert await other.call(second, "store", "c") == ["c"]
            await page.close()
            await second.close()
        finally:
            await browsers.close()
