"""The bridge's own page, in a real Chromium: how it starts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from mcpframe.kit.base.data import static_dir
from mcpframe.kit.bridge.chromium import bridge_page
from mcpframe.kit.bridge.chromium.bridge_page import HOST_NAME, BridgePage
from mcpframe.kit.browser.chromium import ensure_chromium
from mcpframe.kit.browser.devtools.browsers import LocalChromium
from mcpframe.kit.edges.link.messages import ServerMessage
from mcpframe.kit.edges.link.meter import PageOutcome
from tests.bridge.programs import PATIENCE

_TYPES = {".html": "text/html", ".js": "text/javascript"}


class _Listener:
    def on_message(self, server_message: ServerMessage) -> None:
        raise AssertionError(server_message)

    def on_gone(self, reason: str, *, outcome: PageOutcome = "lost") -> None:
        raise AssertionError(reason)

    def on_note(self, text: str) -> None:
        raise AssertionError(text)


class SlowSite:
    """The bridge's files, of which some are late.

    The first page gets its script once the second is asked for, which gets its text once `hello` of the first is there.
    """

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.second_is_asked_for = asyncio.Event()
        self.first_has_begun = asyncio.Event()

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        path = (await reader.readuntil(b"\r\n\r\n")).split()[1].decode()
        self.asked.append(path)
        if path == "/bridge/bridge.html?2":
            self.second_is_asked_for.set()
            await self.first_has_begun.wait()
        elif path == "/bridge/bridge.js":
            await self.second_is_asked_for.wait()
        file = static_dir() / path.partition("?")[0].lstrip("/")
        body = file.read_bytes() if file.suffix in _TYPES else b""
        head = f"HTTP/1.1 200 OK\r\nContent-Type: {_TYPES.get(file.suffix, 'text/plain')}\r\n"
        writer.write(f"{head}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body)
        await writer.drain()
        writer.close()


@pytest.fixture
async def site() -> AsyncIterator[tuple[SlowSite, int]]:
    site = SlowSite()
    async with await asyncio.start_server(site, "127.0.0.1", 0) as server:
        yield site, server.sockets[0].getsockname()[1]


async def test_a_page_that_begins_late_is_not_taken_for_the_one_that_replaces_it(
    site: tuple[SlowSite, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow, port = site
    monkeypatch.setattr(bridge_page, "_HELLO_SECONDS", (2.0, PATIENCE))
    browsers = LocalChromium(ensure_chromium(), tmp_path, {HOST_NAME: port})
    page = BridgePage(await browsers.open_tab(), _Listener())
    on_binding = page._on_binding
    hellos: list[str] = []

    def heard(context: int, payload: str) -> None:
        hellos.append(payload)
        on_binding(context, payload)
        asyncio.get_running_loop().call_soon(slow.first_has_begun.set)

    monkeypatch.setattr(page, "_on_binding", heard)
    try:
        async with asyncio.timeout(PATIENCE):
            await page.load()
        assert [slow.asked.count(f"/bridge/bridge.html?{attempt}") for attempt in (1, 2)] == [1, 1]
        assert len(hellos) == 2
        answer = await page._devtools.command(
            "Runtime.evaluate", page._session, expression="location.search", contextId=page._context
        )
        assert answer["result"]["value"] == "?2"
    finally:
        await page.close()
        await browsers.close()
