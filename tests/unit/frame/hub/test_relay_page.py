"""The proxy of one page: its page server, the tools of its document, and frames."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from mcp.server.mcpserver import Context, MCPServer

from mcpframe.frame.core import payload
from mcpframe.frame.core.events import Inbound
from mcpframe.frame.hub.errors import TabClosed
from mcpframe.frame.hub.relay_page import PageRelay
from mcpframe.frame.page_server import page_server
from tests.support.fake_half import pages_world
from tests.support.fake_hub import hub_world, settled, tool
from tests.support.fake_window import FakeWindow
from tests.support.page_rig import Rig, bounded, rig

__all__ = ["bounded", "rig"]
pytestmark = pytest.mark.anyio
NAME = "website_tool_shop_example_tab1_add"
GROW = "website_tool_shop_example_tab1_grow"
SHOP = "https://shop.example"


class WindowHalf:
    """`page.js` in a fake window, beside its page server."""

    def __init__(self, window: FakeWindow) -> None:
        self._window = window
        self.relay: PageRelay | None = None
        take = window.take

        def both(event: Inbound) -> None:
            take(event)
            if self.relay is not None:
                text = event.read()
                self.relay.report({"kind": "message", "source": 0, "origin": event.origin, "text": text})

        window.take = both  # type: ignore[method-assign]

    def tell(self, function: str, *arguments: Any) -> None:
        if function == "post":
            self._window.post(*arguments[1:])


def _is_change(message: Any) -> bool:
    return isinstance(message["payload"], dict) and message["payload"].get("method", "").endswith("/list_changed")


async def happens(condition: Callable[[], Any]) -> None:
    with anyio.fail_after(20):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0)


async def test_a_page_server_is_waited_for_called_updated_and_left(rig: Rig) -> None:
    server = MCPServer("an author's")

    @server.tool()
    def add(a: int, b: int) -> int:
        return a + b

    @server.tool()
    async def grow(ctx: Context[Any, Any]) -> None:
        server.remove_tool("add")
        await ctx.session.send_tool_list_changed()

    async with hub_world() as world:
        half = WindowHalf(rig.own)
        half.relay = PageRelay(1, "https://shop.example/", rig.own.origin, half, None, world.transport, world.clock)
        relaying = asyncio.create_task(half.relay.serve())  # the relay is there first
        await settled()
        serving = asyncio.create_task(page_server(server))
        await happens(lambda: world.names == [NAME, GROW])
        result = await world.hub.call(NAME, {"a": 2, "b": 3})
        assert result["structuredContent"] == {"result": 5}
        failed = await world.hub.call(NAME, {"a": "x"})
        assert failed["isError"]
        changed = len(rig.own.posted)
        await world.hub.call(GROW, {})
        await happens(lambda: any(_is_change(message) for message, _ in rig.own.posted[changed:]))
        await settled()
        await world.clock.pass_(0.5)
        await happens(lambda: world.names == [GROW])
        serving.cancel()
        await asyncio.wait([serving])
        await happens(lambda: not world.names)
        relaying.cancel()
        await asyncio.wait([relaying])


async def test_a_page_without_a_server_is_asked_for_a_while_and_then_rarely(rig: Rig) -> None:
    async with pages_world() as (world, page):
        half = page()
        await world.clock.pass_(5)
        asked = len(half.posted)
        assert half.to(0).count("mcp-check-ready") >= 5
        await world.clock.pass_(30)
        assert len(half.posted) <= asked + 1
        assert {origin for _, _, origin in half.posted} == {SHOP}
        # One comes after all, and another one when that has stopped.
        half.server(SHOP, tool("add")).ready()
        await settled()
        assert world.names == [NAME]
        half.servers[0].stops()
        await settled()
        assert not world.names
        await world.clock.pass_(1)
        assert world.names == [NAME]


async def test_a_page_that_is_left_in_mid_call_fails_it_and_its_frames_calls() -> None:
    async with pages_world() as (world, page):
        half = page()
        for server in (half.server(SHOP, tool("add")), half.frame(1, "https://tools.example/pi/", tool("digits"))):
            server.silent = True
            server.ready()
        await world.clock.pass_(3)
        assert world.names == [NAME, "website_tool_tools_example_tab1_digits"]
        calls = [world.calling(name) for name in world.names]
        await settled()
        await half.end()
        await settled()
        assert not half.listens
        assert not world.names
        for call in calls:
            with pytest.raises(TabClosed):
                await call
        half.report("message", 0, origin=SHOP, text=payload.encode("mcp-server-ready"))
