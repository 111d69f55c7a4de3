"""The relay: one session with a page server, whose tools and calls it passes on as they are."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from mcp.server.mcpserver import Context, MCPServer
from mcp.shared.memory import create_client_server_memory_streams
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from mcpframe.frame.core.limits import LISTED_TOOLS
from mcpframe.frame.waiting.clock import LoopClock
from mcpframe.hub.core import limits
from mcpframe.hub.core.messages import (
    CallCancelled,
    RefreshRequest,
    ResourceRead,
    ToolAnswer,
    ToolCall,
    ToolList,
    ToolProgress,
)
from mcpframe.hub.relay.relay import Relay
from tests.support.fake_hub import FakeClock, FakePort, hub_world, text_result, tool
from tests.support.settling import settled

FULL = {**tool("add", description="Adds.", cache=True), "title": "Add", "own": [None]}


class FakePage:
    """A page server, and the hub's end."""

    def __init__(self, *, notifies: bool = True, **more: Any) -> None:
        self.clock = FakeClock()
        self.posted: list[Any] = []
        self.sent: list[Any] = []
        self.tools: list[Any] = []
        self.capabilities = {"tools": {"listChanged": notifies}, **more}
        self.silent = False
        self.relay = Relay(self.hear, self.sent.append, self.clock, url="https://a.example/")

    def hear(self, message: Any) -> None:
        self.posted.append(message)
        if self.silent or "id" not in message or "method" not in message:
            return
        if message["method"] == "initialize":
            self.answer(message, {"protocolVersion": "2025-06-18", "capabilities": self.capabilities})
        elif message["method"] == "tools/list":
            self.answer(message, {"tools": list(self.tools)})

    def answer(self, message: Any, result: Any) -> None:
        self.relay.from_page({"jsonrpc": "2.0", "id": message["id"], "result": result})

    def changes(self, *tools: Any) -> None:
        self.tools = list(tools)
        self.relay.from_page({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})

    @property
    def said(self) -> list[str]:
        return [message["method"] for message in self.posted if "method" in message]


async def test_it_introduces_itself_and_sends_the_tools_as_the_page_has_them() -> None:
    page = FakePage(browser={"cacheSupported": True})
    page.tools = [FULL, {"invalid": 1}]
    page.relay.start()
    assert page.said == ["initialize", "notifications/initialized", "tools/list"]
    browser = frozenset({"cacheSupported"})
    assert page.sent == [ToolList([FULL, {"invalid": 1}], True, "https://a.example/", browser)]
    assert page.relay.pending == page.clock.pending == 0


@pytest.mark.parametrize(
    ("cursors", "tools"),
    [
        (lambda: map(str, itertools.count()), LISTED_TOOLS),
        (lambda: iter(["1", "2", None]), 3 * 30),
        (lambda: itertools.repeat("again"), 2 * 30),
    ],
    ids=["without end", "three pages", "the same page again"],
)
async def test_a_long_list_is_read_page_by_page(cursors: Callable[[], Iterator[str | None]], tools: int) -> None:
    page = FakePage()
    asked: list[Any] = []
    given: list[Any] = [None]
    following = cursors()

    def hear(message: Any) -> None:
        if message.get("method") == "tools/list":
            asked.append(message.get("params", {}).get("cursor"))
            given.append(next(following))
            page.answer(message, {"tools": [tool("a")] * 30, "nextCursor": given[-1]})
        else:
            FakePage.hear(page, message)

    page.relay._to_page = hear
    page.relay.start()
    [listed] = page.sent
    assert len(listed.tools) == tools
    assert asked == given[:-1]


async def test_changes_are_read_once_after_half_a_second() -> None:
    page = FakePage()
    page.tools = [tool("a")]
    page.relay.start()
    for number in range(5):
        page.changes(tool(f"t{number}"))
    await page.clock.pass_(0.4)
    assert len(page.sent) == 1
    await page.clock.pass_(0.1)
    assert page.sent[1:] == [ToolList([tool("t4")], first=False)]
    await page.clock.pass_(600)
    assert len(page.sent) == 2
    page.changes(tool("t4"))
    await page.clock.pass_(1)
    assert len(page.sent) == 2  # it is the same


async def test_a_page_that_does_not_notify_is_asked_every_minute() -> None:
    page = FakePage(notifies=False)
    page.tools = [tool("a")]
    page.relay.start()
    await page.clock.pass_(120)
    assert page.said.count("tools/list") == 3
    assert len(page.sent) == 1
    page.tools = [tool("b")]
    await page.clock.pass_(60)
    assert page.sent[1:] == [ToolList([tool("b")], first=False)]


async def test_an_empty_list_is_an_update_and_so_is_what_follows() -> None:
    page = FakePage()
    page.relay.start()
    assert page.sent == [ToolList([], first=False)]
    page.changes(tool("late"))
    await page.clock.pass_(0.5)
    assert page.sent[1:] == [ToolList([tool("late")], first=False)]


async def test_calls_are_passed_on_and_answered() -> None:
    page = FakePage()
    page.relay.start()
    page.relay.from_hub(ToolCall("i", "add", {"a": 1}, progress=True))
    page.relay.from_hub(ToolCall("j", "add", {}))
    first, second = page.posted[-2:]
    assert first["params"] == {"name": "add", "arguments": {"a": 1}, "_meta": {"progressToken": first["id"]}}
    assert second["params"] == {"name": "add", "arguments": {}}
    for call in (first, second):
        params = {"progressToken": call["id"], "progress": 1, "message": "on"}
        page.relay.from_page({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
    error = {"code": -32602, "message": "no such tool"}
    page.relay.from_page({"jsonrpc": "2.0", "id": second["id"], "error": error})
    page.answer(first, text_result("5"))
    page.answer(first, text_result("again"))
    assert page.sent[1:] == [
        ToolProgress("i", 1, None, "on"),
        ToolAnswer("j", None, "no such tool"),
        ToolAnswer("i", text_result("5")),
    ]
    assert page.relay.pending == 0


async def test_a_call_that_is_cancelled_is_cancelled_in_the_page() -> None:
    page = FakePage()
    page.relay.start()
    page.relay.from_hub(ToolCall("i", "add", {}))
    call = page.posted[-1]
    page.relay.from_hub(CallCancelled("i", "why"))
    page.relay.from_hub(CallCancelled("i", "again"))
    assert page.posted[-1]["params"] == {"requestId": call["id"], "reason": "why"}
    page.answer(call, text_result("5"))
    assert len(page.sent) == 1
    assert page.relay.pending == 0


async def test_a_refresh_sends_the_list_also_if_it_is_the_same() -> None:
    page = FakePage()
    page.tools = [tool("a")]
    page.relay.start()
    page.relay.from_hub(RefreshRequest())
    assert page.sent == [ToolList([tool("a")], url="https://a.example/"), ToolList([tool("a")], first=False)]


async def test_a_server_that_stops_leaves_nothing_behind() -> None:
    page = FakePage()
    page.tools = [tool("a")]
    page.relay.start()
    page.relay.from_hub(ToolCall("i", "a", {}))
    page.relay.page_ended()
    assert page.sent[1:] == [
        ToolAnswer("i", None, "The page's server has stopped."),
        ToolList([], first=False),
    ]
    page.relay.page_ended()
    page.relay.from_hub(ToolCall("j", "a", {}))
    page.changes(tool("b"))
    await page.clock.pass_(700)
    assert len(page.sent) == 3
    assert page.relay.pending == page.clock.pending == 0


async def test_when_the_port_is_lost_nothing_more_is_said() -> None:
    page = FakePage(notifies=False)
    page.relay.start()
    page.relay.from_hub(ToolCall("i", "a", {}))
    before = len(page.posted)
    page.relay.close()
    await page.clock.pass_(700)
    assert len(page.posted) == before
    assert page.clock.pending == 0


async def test_a_page_that_is_silent_is_given_up_and_one_whose_list_fails_is_asked_again() -> None:
    page = FakePage()
    page.silent = True
    page.relay.start()
    await page.clock.pass_(700)
    assert page.said == ["initialize"]
    page = FakePage()
    page.relay.start()
    page.silent = True
    page.changes(tool("a"))
    await page.clock.pass_(10.5)
    page.silent = False
    await page.clock.pass_(60)
    assert page.sent[-1] == ToolList([tool("a")], first=False)


@pytest.mark.parametrize(
    "message",
    [
        None,
        "mcp-server-ready",
        {},
        {"jsonrpc": "2.0", "id": 99, "result": {}},
        {"jsonrpc": "2.0", "id": "x", "result": {}},
        {"jsonrpc": "2.0", "id": 1, "result": 5},
        {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": [1], "progress": 1}},
        {"jsonrpc": "2.0", "method": "notifications/message", "params": {}},
    ],
)
async def test_what_a_page_says_otherwise_changes_nothing(message: Any) -> None:
    page = FakePage()
    page.relay.start()
    page.relay.from_page(message)
    assert (len(page.sent), len(page.posted), page.relay.pending) == (1, 3, 0)


async def test_no_two_relays_have_an_id_in_common() -> None:
    """All clients in one window hear every answer."""
    pages = [FakePage(), FakePage()]
    for page in pages:
        page.relay.start()
        page.relay.from_hub(ToolCall("i", "add", {}))
    ids = [message["id"] for page in pages for message in page.posted if "id" in message]
    assert len(set(ids)) == 6
    pages[0].answer(pages[1].posted[-1], text_result("another's"))
    assert len(pages[0].sent) == 1


async def test_a_page_that_asks_is_answered() -> None:
    page = FakePage()
    page.relay.start()
    page.relay.from_page({"jsonrpc": "2.0", "id": "p", "method": "ping"})
    page.relay.from_page({"jsonrpc": "2.0", "id": "s", "method": "sampling/createMessage", "params": {}})
    assert page.posted[-2] == {"jsonrpc": "2.0", "id": "p", "result": {}}
    assert page.posted[-1]["error"]["code"] == -32601


@asynccontextmanager
async def page_server(server: MCPServer, port: FakePort) -> AsyncIterator[Relay]:
    """Relay a real server of the SDK to a port of the hub."""
    async with create_client_server_memory_streams() as ((read, write), (from_client, to_client)):
        outgoing: asyncio.Queue[Any] = asyncio.Queue()
        relay = Relay(outgoing.put_nowait, port.says, LoopClock(), url=port.url)
        port.post = relay.from_hub  # type: ignore[method-assign]

        async def post() -> None:
            while True:
                message = jsonrpc_message_adapter.validate_python(await outgoing.get())
                await write.send(SessionMessage(message))

        async def receive() -> None:
            async for item in read:
                assert isinstance(item, SessionMessage)
                relay.from_page(item.message.model_dump(by_alias=True, mode="json", exclude_unset=True))

        lowlevel = server._lowlevel_server
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(post)
            tasks.start_soon(receive)
            tasks.start_soon(lowlevel.run, from_client, to_client, lowlevel.create_initialization_options())
            relay.start()
            yield relay
            relay.close()
            tasks.cancel_scope.cancel()


async def test_a_real_server_is_called_through_relay_and_hub() -> None:
    server = MCPServer("shop")

    @server.tool()
    async def add(a: int, b: int, ctx: Context[Any, Any]) -> int:
        """Add two numbers."""
        await ctx.report_progress(1, 2, "half")
        return a + b

    async with hub_world() as world:
        port = FakePort(world.transport, 1, "https://shop.example/")
        async with page_server(server, port):
            with anyio.fail_after(120):
                while not world.names:  # noqa: ASYNC110
                    await asyncio.sleep(0)
                heard: list[ToolProgress] = []
                result = await world.hub.call("website_tool_shop_example_tab1_add", {"a": 2, "b": 3}, heard.append)
            assert result["structuredContent"] == {"result": 5}
            assert [each.message for each in heard] == ["half"]
            assert world.descriptions == ["[shop.example] Add two numbers."]
    await settled()


# Resources

NOTE = {"uri": "notes://one", "name": "one"}
KEPT = {"uriTemplate": "kept:///{handle}", "name": "kept"}


class PageWithResources(FakePage):
    """A page server that has resources."""

    def __init__(self, *, notifies: bool = True, fails: bool = False) -> None:
        super().__init__(resources={"listChanged": notifies})
        self.fails = fails
        self.tools = [tool("a")]
        self.pages = {
            "resources/list": [[NOTE], [{**NOTE, "uri": "notes://two"}]],
            "resources/templates/list": [[KEPT]],
        }

    def hear(self, message: Any) -> None:
        super().hear(message)
        method = message.get("method")
        if self.silent or method not in self.pages:
            return
        if self.fails and method == "resources/list":
            error = {"code": -32603, "message": "no"}
            self.relay.from_page({"jsonrpc": "2.0", "id": message["id"], "error": error})
            return
        number = int(message.get("params", {}).get("cursor", 0))
        pages = self.pages[method]
        following = {"nextCursor": str(number + 1)} if number + 1 < len(pages) else {}
        member = "resources" if method == "resources/list" else "resourceTemplates"
        self.answer(message, {member: pages[number], **following})


async def test_resources_and_templates_are_sent_with_the_tools() -> None:
    page = PageWithResources()
    page.relay.start()
    two = [NOTE, {**NOTE, "uri": "notes://two"}]
    assert page.sent == [
        ToolList([tool("a")], True, "https://a.example/"),
        ToolList([tool("a")], False, None, frozenset(), two, [KEPT]),
    ]
    page.pages["resources/list"] = [[]]
    page.relay.from_page({"jsonrpc": "2.0", "method": "notifications/resources/list_changed"})
    await page.clock.pass_(0.6)
    assert page.said.count("tools/list") == 1
    assert page.sent[2:] == [ToolList([tool("a")], False, None, frozenset(), [], [KEPT])]
    asked = len(page.said)
    await page.clock.pass_(200)
    assert len(page.said) == asked  # it notifies
    page.relay.page_ended()
    assert page.sent[-1] == ToolList([], first=False)


@pytest.mark.parametrize(("notifies", "fails"), [(False, False), (True, True)])
async def test_lists_of_resources_that_may_change_or_failed_are_asked_for_again(notifies: bool, fails: bool) -> None:
    page = PageWithResources(notifies=notifies, fails=fails)
    page.relay.start()
    _, sent = page.sent
    assert (sent.tools, bool(sent.resources), sent.templates) == ([tool("a")], not fails, [KEPT])
    page.fails = False
    page.pages["resources/list"] = [[NOTE]]
    await page.clock.pass_(61)
    assert [page.sent[-1].resources, len(page.sent)] == [[NOTE], 3]
    page.fails = True  # which takes nothing away
    await page.clock.pass_(61)
    assert len(page.sent) == 3
    assert page.said.count("tools/list") == 1


class PageWithSlowResources(PageWithResources):
    """A page server that does not answer requests for its resources by itself."""

    def hear(self, message: Any) -> None:
        if message.get("method") != "resources/list":
            super().hear(message)
        else:
            self.posted.append(message)


async def test_tools_do_not_wait_for_resources_that_are_never_listed() -> None:
    page = PageWithSlowResources()
    page.relay.start()
    assert page.sent == [ToolList([tool("a")], True, "https://a.example/")]
    page.changes(tool("b"))
    await page.clock.pass_(0.5)
    assert page.sent[1:] == [ToolList([tool("b")], False)]
    page.relay.from_hub(RefreshRequest())
    assert page.sent[2:] == [ToolList([tool("b")], False)]
    await page.clock.pass_(10)  # the page's time is over: templates are there without resources
    assert page.sent[3:] == [ToolList([tool("b")], False, None, frozenset(), (), [KEPT])]
    await page.clock.pass_(1)
    page.answer(page.posted[-1], {"resources": [NOTE]})
    assert page.sent[4:] == [ToolList([tool("b")], False, None, frozenset(), [NOTE], [KEPT])]
    assert page.relay.pending == 0


async def test_resources_are_not_taken_for_a_page_s_first_list() -> None:
    page = PageWithResources()
    page.silent = True
    page.relay.start()
    page.answer(page.posted[0], {"protocolVersion": "2025-06-18", "capabilities": page.capabilities})
    page.relay.from_page({"jsonrpc": "2.0", "method": "notifications/resources/list_changed"})
    await page.clock.pass_(1)
    assert page.said == ["initialize", "notifications/initialized", "tools/list"]
    page.silent = False
    page.answer(page.posted[2], {"tools": [tool("a")]})
    assert [len(each.resources) for each in page.sent] == [0, 2]


async def test_lists_that_are_too_large_together_cost_no_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "HUB_MESSAGE_BYTES", 1000)
    page = PageWithResources()
    page.tools = [tool("a", description="x" * 900)]
    page.relay.start()
    assert page.sent == [ToolList(page.tools, True, "https://a.example/")]
    page.changes(tool("a"))
    await page.clock.pass_(0.5)
    assert [len(each.resources) for each in page.sent] == [0, 2]


async def test_reads_are_passed_on_with_their_progress_results_and_failures() -> None:
    page = PageWithResources()
    page.relay.start()
    del page.posted[:], page.sent[:]
    page.relay.from_hub(ResourceRead("i", "kept:///k?offset=1", progress=True))
    page.relay.from_hub(ResourceRead("j", "notes://one"))
    first, second = page.posted
    assert (first["method"], first["params"]) == (
        "resources/read",
        {"uri": "kept:///k?offset=1", "_meta": {"progressToken": first["id"]}},
    )
    assert second["params"] == {"uri": "notes://one"}
    page.relay.from_page(
        {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": first["id"], "progress": 1}}
    )
    page.answer(first, {"contents": []})
    error = {"code": -32602, "message": "unknown"}
    page.relay.from_page({"jsonrpc": "2.0", "id": second["id"], "error": error})
    assert page.sent == [ToolProgress("i", 1), ToolAnswer("i", {"contents": []}), ToolAnswer("j", None, "unknown")]
    page.relay.from_hub(ResourceRead("k", "notes://one"))
    page.relay.from_hub(CallCancelled("k", "why"))
    assert page.said[-2:] == ["resources/read", "notifications/cancelled"]
