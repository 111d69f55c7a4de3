"""A server's tools at a `modelContext`, with servers of the SDK and a stand-in for the document."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import anyio
import pytest
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import Context, MCPServer
from mcp_types import CallToolResult, ListToolsResult, TextContent, Tool

from mcpframe.frame.serving import console
from mcpframe.frame.serving import server as objects
from mcpframe.frame.webmcp.offering import Offering
from tests.support.fake_model_context import FakeModelContext

log: list[str] = []


def tools() -> MCPServer[Any]:
    server = MCPServer("tools")
    hanging = asyncio.Event()

    @server.tool()
    def add(a: int, b: int) -> int:
        return a + b

    @server.tool()
    def fail() -> str:
        raise ValueError("no luck")

    @server.tool()
    async def hang() -> None:
        hanging.set()
        try:
            await asyncio.Event().wait()
        finally:
            log.append("cancelled")

    @server.tool()
    async def hangs() -> bool:
        return await hanging.wait()

    @server.tool()
    async def grow(context: Context[Any, Any]) -> None:
        server.add_tool(lambda: "more", name="more", description="More.")
        await context.session.send_tool_list_changed()

    @server.tool()
    async def shrink(context: Context[Any, Any]) -> None:
        server.remove_tool("more")
        await context.session.send_tool_list_changed()

    @server.tool()
    async def ask(context: Context[Any, Any]) -> str:
        return str(await context.session.list_roots())

    return server


TOOLS = ["add", "ask", "fail", "grow", "hang", "hangs", "shrink"]


def offering(place: FakeModelContext, server: Any, kind: Any = objects, **more: Any) -> Offering:
    return Offering(place, kind.messages(), lambda read, write: kind.serve(server, read, write), **more)


def text_of(result: Any) -> str:
    return str(result["content"][0]["text"])


async def test_tools_are_registered_called_and_unregistered() -> None:
    place = FakeModelContext()
    async with offering(place, tools(), exposed=["https://host.example"]) as offer:
        await place.until(*TOOLS)
        assert sorted(offer.registered) == TOOLS
        assert place.exposed["add"] == ["https://host.example"]
        assert (await place.call("add", {"a": 2, "b": 3}))["structuredContent"] == {"result": 5}
        failed = await place.call("fail")
        assert failed["isError"]
        assert "no luck" in text_of(failed)
    assert place.tools == {}
    assert offer.registered == {}


@pytest.mark.parametrize("arguments", [{"a": 2}, {"a": 2, "b": "three"}, {"a": 2, "b": {}}])
async def test_bad_arguments_are_a_result_that_names_the_field(arguments: Any) -> None:
    place = FakeModelContext()
    async with offering(place, tools()):
        await place.until(*TOOLS)
        bad = await place.call("add", arguments)
    assert bad["isError"]
    assert "b" in text_of(bad)


@pytest.mark.parametrize("text", ["", "7", "[]", "{", "null", '{"__proto__": {}}', "[" * 200 + "]" * 200])
async def test_what_are_no_arguments_at_all(text: str) -> None:
    place = FakeModelContext()
    async with offering(place, tools()):
        await place.until(*TOOLS)
        assert (await place.call("add", text))["isError"]
        assert (await place.call("add", {"a": 2, "b": 3}))["structuredContent"] == {"result": 5}


async def test_a_call_that_is_cancelled_cancels_its_tool() -> None:
    log.clear()
    place = FakeModelContext()
    async with offering(place, tools()):
        await place.until(*TOOLS)
        call = asyncio.create_task(place.call("hang"))
        await place.call("hangs")
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await anyio.wait_all_tasks_blocked()
    assert log == ["cancelled"]


async def test_changes_of_the_list_and_of_other_sessions() -> None:
    place = FakeModelContext()
    server = tools()
    async with offering(place, server) as offer:
        await place.until(*TOOLS)
        await place.call("grow")
        await place.until(*TOOLS, "more")
        assert text_of(await place.call("more")) == "more"
        await place.call("shrink")
        await place.until(*TOOLS)

        sent: list[Any] = []

        class Write:
            async def send(self, item: Any) -> None:
                sent.append(item)

        server.add_tool(lambda: "late", name="late", description="Late.")
        changed = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
        await offer.watched(Write()).send(objects.messages().read(changed))
        await place.until(*TOOLS, "late")
        assert len(sent) == 1


async def test_what_a_tool_asks_of_its_client_is_an_error() -> None:
    place = FakeModelContext()
    async with offering(place, tools()):
        await place.until(*TOOLS)
        assert (await place.call("ask"))["isError"]


async def test_a_tool_that_the_document_rejects_is_logged_and_the_others_go_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    place = FakeModelContext()
    place.rejects = {"add"}
    with caplog.at_level(logging.WARNING, "mcpframe"):
        async with offering(place, tools()):
            await place.until(*[name for name in TOOLS if name != "add"])
            await place.call("grow")
            await place.until(*[name for name in TOOLS if name != "add"], "more")
    assert [record.getMessage() for record in caplog.records if "'add'" in record.getMessage()] == [
        "The tool 'add' is not offered to WebMCP: Duplicate tool name"
    ]


async def test_calls_under_way_end_with_the_server() -> None:
    place = FakeModelContext()
    offer = offering(place, tools())
    async with offer:
        await place.until(*TOOLS)
        call = asyncio.create_task(place.call("hang"))
        await place.call("hangs")
    ended = await call
    assert ended["isError"]


async def test_a_lowlevel_server_whose_arguments_nobody_else_checks() -> None:
    async def on_list(ctx: Any, params: Any) -> ListToolsResult:
        first = Tool(name="echo", input_schema={"type": "object", "required": ["text"]})
        second = Tool(name="other", input_schema={"type": "object"})
        if params is None or params.cursor is None:
            return ListToolsResult(tools=[first], next_cursor="2")
        return ListToolsResult(tools=[second])

    async def on_call(ctx: Any, params: Any) -> CallToolResult:
        return CallToolResult(content=[TextContent(type="text", text=params.arguments["text"])])

    place = FakeModelContext()
    async with offering(place, Server("low", on_list_tools=on_list, on_call_tool=on_call)):
        await place.until("echo", "other")
        assert text_of(await place.call("echo", {"text": "hello"})) == "hello"
        assert "'text'" in text_of(await place.call("echo", {}))


async def test_a_server_without_tools(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "mcpframe"):
        async with offering(FakeModelContext(), Server("none")) as offer:
            await offer.ended()
    assert "No tools are offered" in caplog.text


async def test_a_server_that_cannot_be_served_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def serve(read: Any, write: Any) -> None:
        raise ValueError("broken")

    async with Offering(FakeModelContext(), objects.messages(), serve) as offer:
        await offer.ended()
    assert "broken" in caplog.text


def program() -> None:
    tools().run()


async def test_a_program_stands_aside_for_another_client() -> None:
    place = FakeModelContext()
    async with offering(place, console.ConsoleScript(program), console) as offer:
        await place.until(*TOOLS)
        assert (await place.call("add", {"a": 2, "b": 3}))["structuredContent"] == {"result": 5}
        async with offer.standing_aside():
            assert place.tools == {}
        await place.until(*TOOLS)
    assert place.tools == {}


# Tools that forms declare


async def test_a_tool_is_left_to_a_form_until_that_gives_it_back() -> None:
    place = FakeModelContext()
    async with offering(place, tools()) as offer:
        await place.until(*TOOLS)
        take_back = await offer.leave_to_form("add")
        assert take_back is not None
        assert set(place.tools) == {*TOOLS} - {"add"}
        await place.call("grow")  # the list is read again
        await place.until(*{*TOOLS, "more"} - {"add"})
        assert await offer.leave_to_form("add") is None
        take_back()
        await place.until(*TOOLS, "more")


async def test_a_tool_is_left_to_a_form_only_once_it_is_not_being_registered() -> None:
    place = FakeModelContext()
    began, goes_on = asyncio.Event(), asyncio.Event()
    register = place.register

    async def slow(tool: Any, *more: Any) -> Any:
        if tool["name"] == "add":
            began.set()
            await goes_on.wait()
        return await register(tool, *more)

    place.register = slow  # type: ignore[method-assign]
    async with offering(place, tools()) as offer:
        await began.wait()
        leaving = asyncio.create_task(offer.leave_to_form("add"))
        given_up = asyncio.create_task(offer.leave_to_form("ask"))
        await anyio.wait_all_tasks_blocked()
        assert not leaving.done()
        given_up.cancel()
        goes_on.set()
        await place.until(*{*TOOLS} - {"add"})
        assert await leaving is not None


async def test_a_form_declares_nothing_where_the_document_makes_no_tools_of_forms() -> None:
    place = FakeModelContext()
    place.makes_tools_of_forms = False
    async with offering(place, tools()) as offer:
        await place.until(*TOOLS)
        assert await offer.leave_to_form("add") is None
        assert "add" in place.tools
