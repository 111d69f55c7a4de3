"""Whatever a handler raises is the answer to its request, and the server lives."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import Context, MCPServer
from mcp.shared.exceptions import MCPError

from mcpframe import FrameServer
from mcpframe.frame.serving.failures import message_of
from tests.support.memory import ERAS, Heard, ask_for_logs, connected, logging_to, text

pytestmark = pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
both_eras = pytest.mark.parametrize("era", ERAS)
SHORT = 0.3
"""Seconds for a call that never returns, and that has to begin within them."""


class Odd(BaseException):
    """No `Exception`, as some libraries have them."""


def noted(notes: object) -> BaseException:
    error = ValueError("no")
    error.__notes__ = notes  # type: ignore[assignment]
    return error


class Mute(Exception):
    def __str__(self) -> str:
        raise Odd("not even this")


def deep(levels: int) -> BaseException:
    error: BaseException = ValueError("deep down")
    for _ in range(levels):
        error = ExceptionGroup("level", [error]) if isinstance(error, Exception) else BaseExceptionGroup("", [error])
    return error


RAISED: dict[str, tuple[Callable[[], BaseException], str]] = {
    "SystemExit": (lambda: SystemExit(3), "SystemExit: 3"),
    "SystemExit with text": (lambda: SystemExit("enough"), "SystemExit: enough"),
    "KeyboardInterrupt": (KeyboardInterrupt, "KeyboardInterrupt"),
    "GeneratorExit": (GeneratorExit, "GeneratorExit"),
    "CancelledError": (asyncio.CancelledError, "CancelledError"),
    "BaseException": (lambda: BaseException("bare"), "BaseException: bare"),
    "a subclass": (lambda: Odd("odd"), "Odd: odd"),
    "a group": (lambda: BaseExceptionGroup("two", [SystemExit(1), ValueError("no")]), "SystemExit: 1; no"),
    "a group of cancellations": (lambda: BaseExceptionGroup("", [asyncio.CancelledError()]), "CancelledError"),
    "a deep group": (lambda: deep(500), "deep down"),
    "StopIteration": (lambda: StopIteration(1), "coroutine raised StopIteration"),
    "StopAsyncIteration": (StopAsyncIteration, "StopAsyncIteration"),
    "MemoryError": (MemoryError, "MemoryError"),
    "RecursionError": (lambda: RecursionError("too deep"), "too deep"),
    "no message": (Mute, "Mute"),
    "notes": (lambda: noted(["at all", 1]), "no\nat all"),
    "no list of notes": (lambda: noted(1), "no"),
    "a lone surrogate": (lambda: ValueError("\ud83d!"), "?!"),
}
each_raised = pytest.mark.parametrize(("raised", "told"), RAISED.values(), ids=RAISED)


async def no_tools(ctx: Any, params: Any) -> types.ListToolsResult:
    return types.ListToolsResult(tools=[])


def raising(raised: Callable[[], BaseException], make: type[MCPServer], kind: str) -> MCPServer:
    server = make("s")

    def fail() -> str:
        raise raised()

    async def fail_later() -> str:
        raise raised()

    async def fail_in_a_group() -> str:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(anyio.sleep_forever)
            raise raised()

    async def failing_template(key: str) -> str:
        raise raised()

    tools = {"sync": fail, "async": fail_later, "in a group": fail_in_a_group}
    server.add_tool(tools[kind], name="fail")
    server.add_tool(lambda: "alive", name="live")
    server.resource("data://fail")(tools[kind])
    server.resource("data://{key}/fail", name="template")(failing_template)
    server.prompt("fail")(tools[kind])

    @server.completion()
    async def complete(ref: Any, argument: Any, context: Any) -> None:
        raise raised()

    return server


@both_eras
@each_raised
@pytest.mark.parametrize("kind", ["sync", "async"])
@pytest.mark.parametrize("make", [FrameServer, MCPServer])
async def test_what_a_tool_raises_is_its_result(era, raised, told, kind, make, caplog):
    if raised is GeneratorExit and kind == "sync" and sys.platform != "emscripten":
        pytest.skip("asyncio throws a thread's GeneratorExit into every coroutine on the way")
    async with connected(raising(raised, make, kind), era) as client:
        for _ in range(2):
            result = await client.call_tool("fail")
            assert result.is_error
            assert text(result) == f"Error executing tool fail: {told}"
            assert text(await client.call_tool("live")) == "alive"
    assert "raise raised()" in caplog.text


@both_eras
@pytest.mark.parametrize("raised", [lambda: SystemExit(3), asyncio.CancelledError, GeneratorExit])
async def test_what_a_tool_raises_out_of_a_group_is_its_result(era, raised):
    async with connected(raising(raised, FrameServer, "in a group"), era) as client:
        assert (await client.call_tool("fail")).is_error
        assert text(await client.call_tool("live")) == "alive"


@both_eras
@each_raised
async def test_what_a_tool_of_a_lowlevel_server_raises_is_its_result(era, raised, told):
    async def call(ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        if params.name == "fail":
            raise raised()
        return types.CallToolResult(content=[])

    async with connected(Server("s", on_list_tools=no_tools, on_call_tool=call), era) as client:
        result = await client.call_tool("fail")
        assert result.is_error
        assert text(result) == f"Error executing tool fail: {told}"
        assert not (await client.call_tool("live")).is_error


@both_eras
@each_raised
async def test_what_a_resource_a_prompt_or_a_completion_raises_is_an_error(era, raised, told):
    async with connected(raising(raised, FrameServer, "async"), era) as client:
        prompt = types.PromptReference(type="ref/prompt", name="fail")
        for ask in (
            lambda: client.read_resource("data://fail"),
            lambda: client.read_resource("data://key/fail"),
            lambda: client.get_prompt("fail"),
            lambda: client.complete(prompt, {"name": "a", "value": "b"}),
        ):
            with pytest.raises(MCPError) as caught:
                await ask()
            if not isinstance(raised(), Exception):
                assert caught.value.error.code == types.INTERNAL_ERROR
                assert caught.value.error.message == told
        assert text(await client.call_tool("live")) == "alive"


@both_eras
async def test_a_tool_may_cancel_the_task_it_runs_in(era):
    server = FrameServer("s")

    @server.tool()
    async def cancel(when: str) -> str:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        if when == "awaiting":
            await asyncio.sleep(0)
        return "returned"

    async with connected(server, era) as client:
        for when in ("awaiting", "returning"):
            result = await client.call_tool("cancel", {"when": when})
            assert text(result) == ("Error executing tool cancel: CancelledError" if when == "awaiting" else "returned")


@both_eras
async def test_a_call_that_the_client_cancels_is_not_answered_and_cleans_up(era):
    server = FrameServer("s")
    began, ended = anyio.Event(), anyio.Event()

    @server.tool()
    async def wait(how: str) -> str:
        began.set()
        try:
            await anyio.sleep_forever()
        except asyncio.CancelledError:
            if how == "exits":
                sys.exit(1)
            raise
        finally:
            ended.set()
        return ""

    async with connected(server, era) as client:
        for how in ("ends", "exits"):
            began, ended = anyio.Event(), anyio.Event()
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(client.call_tool, "wait", {"how": how})
                await began.wait()
                tasks.cancel_scope.cancel()
            await ended.wait()
        assert len((await client.list_tools()).tools) == 1


@both_eras
async def test_what_a_tool_in_a_tool_raises_is_the_result_of_the_outer_one(era):
    server = FrameServer("s")

    @server.tool()
    def inner() -> str:
        sys.exit("inside")

    @server.tool()
    async def outer(ctx: Context) -> str:
        await ctx.mcp_server.call_tool("inner", {})
        return ""

    async with connected(server, era) as client:
        assert text(await client.call_tool("outer")) == "Error executing tool outer: SystemExit: inside"


@both_eras
@pytest.mark.parametrize("how", ["asyncio.timeout", "asyncio.wait_for", "a task", "anyio"])
async def test_a_tool_may_cancel_its_own_call_of_another(era, how):
    server = FrameServer("s")
    began, ended = anyio.Event(), []

    @server.tool()
    async def inner() -> None:
        began.set()
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("inner")

    @server.tool()
    async def outer() -> str:
        call = server.call_tool("inner", {})
        if how == "asyncio.timeout":
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(SHORT):
                    await call
        elif how == "asyncio.wait_for":
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(call, SHORT)
        elif how == "a task":
            task = asyncio.create_task(call)
            await began.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        else:
            with anyio.move_on_after(SHORT) as scope:
                await call
            assert scope.cancelled_caught
        task = asyncio.current_task()
        assert task
        assert not task.cancelling()
        return "outer"

    async with connected(server, era) as client:
        assert text(await client.call_tool("outer")) == "outer"
        assert ended == ["inner"]


@both_eras
async def test_what_is_raised_while_prints_are_sent_is_the_result_too(era):
    server = FrameServer("s")

    @server.tool()
    def fail() -> str:
        print("before")
        raise SystemExit(1)

    heard = Heard()
    async with connected(server, era, **logging_to(heard, era)) as client:
        await ask_for_logs(client, era)
        assert text(await client.call_tool("fail")) == "Error executing tool fail: SystemExit: 1"
        assert heard.logs == [("info", "before")]


async def test_what_a_handler_of_notifications_or_a_middleware_raises_ends_nothing():
    heard = anyio.Event()

    async def changed(ctx: Any, params: Any) -> None:
        heard.set()
        raise SystemExit(1)

    async def refuse(ctx: Any, call_next: Any) -> Any:
        if ctx.method == "prompts/list":
            raise Odd("not you")
        return await call_next(ctx)

    server = FrameServer("s", middleware=[refuse])
    server._lowlevel_server.add_notification_handler(
        "notifications/roots/list_changed", types.NotificationParams, changed
    )
    async with connected(server, "2025") as client:
        await client.session.send_notification(types.RootsListChangedNotification())
        await heard.wait()
        with pytest.raises(MCPError, match="Odd: not you"):
            await client.list_prompts()
        assert (await client.list_tools()).tools == []


def nested(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


def cyclic() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


def free(value: list[Any]) -> None:
    """Take a nested list apart: Pyodide ends where thousands of levels are freed at once."""
    while value:
        value = value.pop() if value[0] is not value else []


@both_eras
@pytest.mark.parametrize("tool", ["typed", "untyped", "plain", "lowlevel"])
@pytest.mark.parametrize("make", [lambda: nested(300), lambda: nested(900), cyclic], ids=["300", "900", "cyclic"])
async def test_a_result_that_is_nested_too_deep_is_answered(era, make, tool):
    value: list[Any] = make()
    server = FrameServer("s")

    @server.tool()
    def typed() -> list[Any]:
        return value

    @server.tool()
    def untyped() -> Any:
        return value

    @server.tool(structured_output=False)
    def plain() -> Any:
        return value

    async def call(ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        return types.CallToolResult(content=[], structured_content={"value": value})

    low = Server("s", on_list_tools=no_tools, on_call_tool=call)
    async with connected(low if tool == "lowlevel" else server, era) as client:
        result = await client.call_tool(tool)
        assert result.is_error or make is not cyclic
        assert (await client.call_tool(tool)).is_error is result.is_error
    free(value)


def test_messages_of_chains_and_groups_end():
    loop = ExceptionGroup("g", [ValueError(str(number)) for number in range(1000)])
    assert message_of(loop).startswith("0; 1; 2; ")
    assert len(message_of(loop)) < 1000
