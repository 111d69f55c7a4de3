"""A page server in a window, through relay and hub."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from mcp.server.mcpserver import Context, MCPServer

from mcpframe.frame.core.connection import Options
from mcpframe.frame.core.errors import HandshakeTimeout
from mcpframe.frame.core.events import Departure, Inbound
from mcpframe.frame.hub import messages
from mcpframe.frame.hub.relay_window import relay_page
from mcpframe.frame.page_server import page_server
from tests.support.fake_hub import FakePort, hub_world, settled
from tests.support.fake_window import FakeWindow
from tests.support.page_rig import Rig, bounded, rig

__all__ = ["bounded", "rig"]
pytestmark = pytest.mark.anyio
NAME = "website_tool_shop_example_tab1_add"
GROW = "website_tool_shop_example_tab1_grow"


class SameWindow:
    """A second listener of a window."""

    def __init__(self, window: FakeWindow) -> None:
        self._window = window

    def listen(self, deliver: Callable[[Inbound], None], gone: Callable[[Departure], None]) -> Callable[[], None]:
        take = self._window.take

        def both(event: Inbound) -> None:
            take(event)
            deliver(event)

        self._window.take = both  # type: ignore[method-assign]
        return lambda: setattr(self._window, "take", take)

    def post(self, text: str, target_origin: str) -> None:
        self._window.post(text, target_origin)


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

    serving: list[asyncio.Task[None]] = []

    async def begin() -> None:
        await asyncio.sleep(0)
        serving.append(asyncio.create_task(page_server(server)))

    async with hub_world() as world:
        port = FakePort(world.transport, 1, "https://shop.example/")
        beginning = asyncio.create_task(begin())  # the relay is there first
        async with relay_page(SameWindow(rig.own), rig.own.origin, port.says, world.clock, url=port.url) as relay:
            await beginning
            port.post = lambda text: relay.from_hub(messages.parse(text))  # type: ignore[method-assign]
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
            serving[0].cancel()
            await asyncio.wait(serving)
            await happens(lambda: not world.names)
        port.ends()


async def test_a_page_without_a_server_is_not_waited_for_for_ever(rig: Rig) -> None:
    async with hub_world() as world:
        with pytest.raises(HandshakeTimeout):
            async with relay_page(
                SameWindow(rig.own), rig.own.origin, lambda _: None, world.clock, options=Options(handshake_timeout=0.1)
            ):
                raise AssertionError("there is no server")
