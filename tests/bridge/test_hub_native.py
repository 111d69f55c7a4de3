"""`mcpframe hub --native` and `--connect` as programs; the browser's extension is played by the test."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.bridge.native_hosts import HUB, at, extension
from tests.bridge.programs import PATIENCE, ROOT
from tests.support.fake_hub import FakePort, text_result, tool
from tests.support.polling import until
from tests.support.suites import extended

SHOP = "https://shop.example/"
ADD = "website_tool_shop_example_tab1_add"
LONG = '½€😀"\\<' * 300_000
"""Megabytes, of characters that are longer in frames."""


def connecting(folder: Path, mode: str, changes: asyncio.Queue[None] | None = None) -> Client:
    server = StdioServerParameters(command=HUB[0], args=[*HUB[1:], "--connect"], env=at(folder), cwd=ROOT)

    async def hear(message: Any) -> None:
        if changes is not None and getattr(message, "method", "") == "notifications/tools/list_changed":
            changes.put_nowait(None)

    return Client(stdio_client(server), mode=mode, cache=None, message_handler=hear)


async def names(client: Client) -> list[str]:
    with anyio.fail_after(PATIENCE):
        return [each.name for each in (await client.list_tools()).tools]


async def offers(client: Client, *wanted: str) -> None:
    async def listed() -> bool:
        return await names(client) == list(wanted)

    await until(listed, PATIENCE, pause=0.05)


async def called(port: FakePort, count: int = 1) -> None:
    await until(lambda: len(port.calls) >= count, PATIENCE, pause=0.01)


async def answered(client: Client, port: FakePort, text: str, given: str = "") -> None:
    """Call the tool, and check what comes through in both directions."""
    before = len(port.calls)
    calling = asyncio.create_task(client.call_tool(ADD, {"given": given}))
    await called(port, before + 1)
    assert port.calls[-1].arguments == {"given": given}
    port.answers(text_result(text))
    with anyio.fail_after(PATIENCE):
        result: Any = await calling
    assert result.content[0].text == text


@pytest.mark.parametrize("mode", ["auto", extended("legacy")])
async def test_a_client_over_stdio_is_served_before_with_and_after_a_browser(tmp_path: Path, mode: str) -> None:
    changes: asyncio.Queue[None] = asyncio.Queue()
    async with connecting(tmp_path, mode, changes) as client:
        assert await names(client) == []
        with pytest.raises(MCPError) as none:
            await client.call_tool(ADD, {})
        assert none.value.error.data["reason"] == "TabNotFound"
        for _ in range(
            2 if mode == "legacy" else 1
        ):  # a browser that is started again, or an extension that is loaded again
            async with extension(tmp_path) as browser:
                port = browser.world.page(1, SHOP, tool("add"))
                assert (await browser.serving())["http"] is None
                if mode == "legacy":
                    with anyio.fail_after(PATIENCE):
                        await changes.get()
                await offers(client, ADD)
                await answered(client, port, LONG, given=LONG)
                calling = asyncio.create_task(client.call_tool(ADD, {}))
                await called(port, 2)
                assert await browser.leave() == 0
                with anyio.fail_after(PATIENCE), pytest.raises(MCPError) as gone:
                    await calling
                assert gone.value.error.code == -32000
                assert gone.value.error.data["mayHaveRun"]
            await offers(client)


@pytest.mark.extended
async def test_clients_come_and_go_over_http_and_stdio_in_both_eras(tmp_path: Path) -> None:
    async with extension(tmp_path, "--http", "--port", "0", "--allow-origin", "https://chat.example") as browser:
        port = browser.world.page(1, SHOP, tool("add"))
        url = (await browser.serving())["http"]
        async with Client(url, mode="legacy", cache=None) as old, Client(url, mode="auto", cache=None) as new:
            async with connecting(tmp_path, "auto") as third:
                for client in (old, new, third):
                    assert await names(client) == [ADD]
                    await answered(client, port, "5")
                await answered(old, port, LONG[:100_000], given=LONG)
                browser.world.page(2, SHOP, tool("add"))
                for client in (old, new, third):
                    await offers(client, ADD, ADD.replace("tab1", "tab2"))
                calling = asyncio.create_task(third.call_tool(ADD, {}))
                before = len(port.posted)
                await called(port, 5)
                calling.cancel()
                await until(lambda: len(port.posted) >= before + 2, PATIENCE, pause=0.01)
                assert "cancel" in json.dumps(port.posted[-1])
            await until(lambda: len(browser.clients) <= 2, PATIENCE, pause=0.01)
            await refuses_strangers(url)
            assert await names(old) == [ADD, ADD.replace("tab1", "tab2")]


async def refuses_strangers(url: str) -> None:
    """Check the headers that web pages and rebound names send."""
    host, _, port = url.removeprefix("http://").removesuffix("/mcp").partition(":")
    for header, allowed in (
        ("Origin: https://chat.example", True),
        ("Origin: https://evil.example", False),
        ("Host: evil.example", False),
    ):
        reader, writer = await asyncio.open_connection(host, int(port))
        own = "" if header.startswith("Host") else f"Host: {host}:{port}\r\n"
        writer.write(f"GET /mcp HTTP/1.1\r\n{own}{header}\r\nConnection: close\r\n\r\n".encode())
        status = int((await reader.readline()).split()[1])
        writer.close()
        assert (status not in (403, 421)) is allowed, header


@pytest.mark.extended
async def test_a_second_browser_waits_for_its_turn(tmp_path: Path) -> None:
    async with extension(tmp_path) as first:
        await first.serving()
        async with extension(tmp_path) as second:
            await second.state()
            assert "Another browser" in (await second.state())["trouble"]
            second.world.page(1, SHOP, tool("add"))
            async with connecting(tmp_path, "auto") as client:
                assert await names(client) == []
                first.process.kill()
                await second.serving()
                await offers(client, ADD)
