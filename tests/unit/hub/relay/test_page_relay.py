"""The proxy of one page: its page server, the tools of its document, and frames."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest
from mcp.server.mcpserver import Context, MCPServer

from mcpframe.frame.core import payload
from mcpframe.frame.core.events import Inbound
from mcpframe.frame.page_server.server import page_server
from mcpframe.hub.core.errors import TabClosed
from mcpframe.hub.relay.document_tools import DocumentTools
from mcpframe.hub.relay.frame import FrameState
from mcpframe.hub.relay.half import HalfFailed, HalfGone, PortHalf
from mcpframe.hub.relay.page_relay import PageRelay
from tests.support.fake_half import FakeHalf, pages_world
from tests.support.fake_hub import hub_world, tool
from tests.support.fake_window import FakeWindow
from tests.support.page_rig import Rig, rig
from tests.support.polling import until
from tests.support.settling import settled

__all__ = ["rig"]
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
        await until(lambda: world.names == [NAME, GROW])
        result = await world.hub.call(NAME, {"a": 2, "b": 3})
        assert result["structuredContent"] == {"result": 5}
        failed = await world.hub.call(NAME, {"a": "x"})
        assert failed["isError"]
        changed = len(rig.own.posted)
        await world.hub.call(GROW, {})
        await until(lambda: any(_is_change(message) for message, _ in rig.own.posted[changed:]))
        await settled()
        await world.clock.pass_(0.5)
        await until(lambda: world.names == [GROW])
        serving.cancel()
        await asyncio.wait([serving])
        await until(lambda: not world.names)
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


BAD = {
    "text": {"name": "text", "description": "\ud800", "inputSchema": {"type": "object"}},
    "key": {"name": "key", "inputSchema": {"type": "object", "properties": {"\udfff": {}}}},
    "prototype": {"name": "prototype", "inputSchema": {"type": "object", "properties": {"__proto__": {}}}},
    "deep": {"name": "deep", "inputSchema": {"type": "object", "default": json.loads("[" * 90 + "]" * 90)}},
}


@pytest.mark.parametrize("place", ["page", "frame", "proxy", "document"])
async def test_one_bad_tool_costs_itself_and_the_log_names_page_and_tool(
    place: str, caplog: pytest.LogCaptureFixture
) -> None:
    listed = [tool("add"), *BAD.values(), tool("grow")]
    async with pages_world() as (world, page):
        if place == "proxy":
            world.page(1, f"{SHOP}/", *listed, form="extension")
        elif place == "document":
            tools = FakeTools("add", "grow")
            tools.others = list(BAD.values())
            page(tools=DocumentTools(tools))
        else:
            half = page()
            (half.server(SHOP, *listed) if place == "page" else half.frame(1, f"{SHOP}/in", *listed)).ready()
        await world.clock.pass_(5)
        assert world.names == [NAME, GROW]
        for name in BAD:
            [line] = [each.getMessage() for each in caplog.records if repr(name) in each.getMessage()]
            assert "shop.example" in line


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


class FakeTools:
    """`document-tools.js`: tools of a document, which change when a test says so; those of frames begin with `+`."""

    def __init__(self, *tools: str) -> None:
        self.tools: list[str] | None = list(tools) or None
        self.others: list[Any] = []
        """More definitions, as they are."""
        self.ran: list[tuple[str, int, Any]] = []
        self.cancelled: list[int] = []
        self.stopped = self.silent = False
        self._changes = 0
        self._changed = asyncio.Event()

    def change(self, *tools: str) -> None:
        self.tools = list(tools)
        self._changes += 1
        self._changed.set()

    def tell(self, function: str, *arguments: Any) -> None:
        if function == "cancel":
            self.cancelled.append(arguments[0])
        else:
            self.stopped = function == "stop"

    async def ask(self, function: str, *arguments: Any) -> Any:
        if function == "next":
            while arguments[0] == self._changes and self._changes:
                self._changed.clear()
                await self._changed.wait()
            self._changes = max(1, self._changes)
            return json.dumps({"changes": self._changes, "there": self.tools is not None})
        if function == "list":
            described = [
                {"name": name.lstrip("+"), "inputSchema": {"type": "object"}, "framed": name.startswith("+")}
                for name in self.tools or []
            ]
            return json.dumps({"value": described + self.others})
        _, name, text, further = arguments
        self.ran.append((name, further, json.loads(text)))
        if self.silent:
            await asyncio.Event().wait()
        return json.dumps({"value": f"{name} of the document"})


def _names(*tools: str) -> list[str]:
    return [f"website_tool_shop_example_tab1_{name}" for name in tools]


@pytest.mark.parametrize("first", ["the server", "the document's tools"])
async def test_a_page_server_is_before_the_tools_of_the_document_whichever_comes_first(first: str) -> None:
    async with pages_world() as (world, page):
        document = FakeTools()
        half = page(tools=DocumentTools(document))
        server = half.server(SHOP, tool("add"), tool("see"))
        server.deaf = True
        await world.clock.pass_(6)
        if first == "the server":
            server.deaf = False
            server.ready()
            await settled()
            assert world.names == _names("add", "see")
            document.change("add", "look")
            await world.clock.pass_(1)
        else:
            document.change("add", "look")
            await world.clock.pass_(1)
            assert world.names == _names("add", "look")
            assert await world.hub.call(_names("add")[0], {"a": 1}) == {
                "content": [{"type": "text", "text": "add of the document"}],
                "isError": False,
            }
            document.silent = True
            calling = world.calling(_names("look")[0])
            await settled()
            server.deaf = False
            server.ready()
            await settled()
            assert (await calling)["isError"]
            assert document.cancelled
        # Either way its tools are offered, and each once.
        assert world.names == _names("add", "see")
        assert (await world.hub.call(_names("add")[0], {}))["content"][0]["text"] == f"add at {SHOP}"
        document.silent, server.deaf = False, True
        document.change("add", "look", "late")
        await world.clock.pass_(1)
        assert world.names == _names("add", "see")
        # Without it, the document's are.
        server.stops()
        await world.clock.pass_(2)
        assert world.names == _names("add", "look", "late")
        document.change()
        await world.clock.pass_(1)
        assert not world.names
        server.deaf = False
        server.ready()
        await settled()
        assert world.names == _names("add", "see")
        await half.end()
        assert document.stopped


async def test_what_a_frame_of_the_same_origin_offers_in_both_ways_is_offered_once() -> None:
    async with pages_world() as (world, page):
        document = FakeTools("add", "+digits", "+other")
        half = page(tools=DocumentTools(document))
        await world.clock.pass_(1)
        assert world.names == _names("add", "digits", "other")
        document.change("add", "+add", "+digits", "+other")
        await world.clock.pass_(1)
        await world.hub.call(_names("add_2")[0], {})  # nobody else's
        assert document.ran == [("add", 1, {})]
        document.change("add", "+digits", "+other")
        half.frame(1, f"{SHOP}/pi/", tool("digits"), tool("add")).ready()
        half.frame(2, "https://pi.example/", tool("other")).ready()
        await world.clock.pass_(4)
        own, framed = set(_names("add", "other")), {name.replace("tab1", "tab2") for name in _names("digits", "add")}
        assert set(world.names) == own | framed | {"website_tool_pi_example_tab1_other"}
        half.report("gone", 1)
        await world.clock.pass_(1)
        assert set(world.names) == {*_names("add", "digits", "other"), "website_tool_pi_example_tab1_other"}


async def test_a_server_of_transports_0_1_is_found_by_its_answer_to_ping() -> None:
    async with pages_world() as (world, page):
        half = page()
        server = half.server(SHOP, tool("add"))
        takes = server.takes
        server.takes = lambda message: None if isinstance(message, str) else takes(message)  # type: ignore[method-assign]
        await world.clock.pass_(2)
        assert world.names == _names("add")


async def test_reports_after_the_end_and_of_frames_that_are_not_known_change_nothing() -> None:
    async with pages_world() as (_, page):
        half = page()
        await settled()
        for kind in ("loaded", "gone", "other"):
            half.report(kind, 7)
        half.message(7, "https://pi.example", {"hello": "world"})
        assert half.relay is not None
        assert [frame.state for frame in half.relay.frames.values()] == [FrameState.IDLE]
        with pytest.raises((KeyError, TypeError, ValueError)):
            half.relay.report({"kind": "message"})
        await half.end()
        half.relay.report({"kind": "message", "source": 1, "origin": SHOP, "text": "{}"})
        half.relay.close()


async def test_a_page_whose_port_the_hub_closes_calls_back() -> None:
    async with hub_world() as world:
        half = FakeHalf(world)
        ended: list[None] = []
        relay = PageRelay(
            1, f"{SHOP}/", SHOP, half, None, world.transport, world.clock, on_close=lambda: ended.append(None)
        )
        half.begin(relay)
        half.server(SHOP, tool("add"))
        await settled()
        assert world.names == _names("add")
        world.transport.disconnect(1)
        assert ended == [None]
        await half.end()


async def test_a_half_behind_a_port() -> None:
    posted: list[Mapping[str, Any]] = []
    half = PortHalf("document", posted.append)
    half.tell("stop")
    asking = [asyncio.create_task(half.ask("run", number)) for number in (1, 2, 3)]
    await settled()
    assert posted[0] == {"half": "document", "call": "stop", "arguments": ()}
    ids = [each["id"] for each in posted[1:]]
    for report in ({}, {"id": "x"}, {"id": 99, "value": 1}, {"id": True}):
        half.answered({"kind": "answer", **report})
    half.answered({"kind": "answer", "id": ids[1], "value": "two"})
    half.answered({"kind": "answer", "id": ids[1], "value": "again"})
    half.answered({"kind": "answer", "id": ids[2], "error": "no"})
    assert await asking[1] == "two"
    with pytest.raises(HalfFailed, match="no"):
        await asking[2]
    half.close()
    with pytest.raises(HalfGone):
        await asking[0]
    with pytest.raises(HalfGone):
        await half.ask("next")
    half.tell("stop")
    assert len(posted) == 4
