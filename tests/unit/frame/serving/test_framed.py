"""Additions of serving in a frame: prints as logs, and the messages and tracebacks of exceptions."""

from __future__ import annotations

import logging
import os
import sys
import warnings

import anyio
import anyio.lowlevel
import mcp_types as types
import pytest
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.shared.exceptions import MCPError

from mcpframe import FrameServer
from mcpframe.frame.serving.stdio import stdio_of
from mcpframe.frame.session.lines import LineFiles
from tests.support.memory import ERAS, Heard, ask_for_logs, connected, logging_to, text

pytestmark = pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
both_eras = pytest.mark.parametrize("era", ERAS)


def printer() -> FrameServer:
    server = FrameServer("s")

    @server.tool()
    def sync_print(lines: str) -> str:
        print(lines)
        return "printed"

    @server.tool()
    async def async_print(lines: str) -> str:
        print(lines, end="")
        await anyio.lowlevel.checkpoint()
        print(" and more")
        return "printed"

    return server


@both_eras
@pytest.mark.parametrize("tool", ["sync_print", "async_print"])
async def test_print_goes_to_the_console_and_to_a_client_that_asked(era, tool, capsys):
    heard = Heard()
    async with connected(printer(), era, **logging_to(heard, era)) as client:
        await ask_for_logs(client, era)
        await client.call_tool(tool, {"lines": "one\ntwo"})
        more = " and more" if tool == "async_print" else ""
        assert heard.logs == [("info", "one"), ("info", "two" + more)]
    assert capsys.readouterr().out == f"one\ntwo{more}\n"


@both_eras
async def test_print_goes_to_the_console_alone_when_the_client_did_not_ask(era, capsys):
    heard = Heard()
    async with connected(printer(), era, logging_callback=heard.log) as client:
        await client.call_tool("sync_print", {"lines": "quiet"})
        await client.list_tools()
        assert heard.logs == []
    assert capsys.readouterr().out == "quiet\n"


@both_eras
async def test_a_client_that_asked_for_errors_gets_no_prints(era):
    heard = Heard()
    async with connected(printer(), era, **logging_to(heard, era, "error")) as client:
        await ask_for_logs(client, era, "error")
        await client.call_tool("sync_print", {"lines": "quiet"})
        assert heard.logs == []


@both_eras
async def test_the_level_applies_to_what_the_author_logs(era):
    server = FrameServer("s")
    heard = Heard()

    @server.tool()
    async def log(ctx: Context) -> str:
        await ctx.info("detail")
        await ctx.error("trouble")
        return "logged"

    async with connected(server, era, **logging_to(heard, era, "warning")) as client:
        await ask_for_logs(client, era, "warning")
        await client.call_tool("log")
        assert heard.logs == [("error", "trouble")]


@both_eras
async def test_prints_of_requests_at_the_same_time_do_not_mix(era):
    server = FrameServer("s")
    both_in = [anyio.Event(), anyio.Event()]

    @server.tool()
    async def speak(me: int) -> str:
        print(f"{me}:a", end=" ")
        both_in[me].set()
        await both_in[1 - me].wait()
        print(f"{me}:b")
        return "spoken"

    heard = Heard()
    async with connected(server, era, **logging_to(heard, era)) as client:
        await ask_for_logs(client, era)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "speak", {"me": 0})
            tasks.start_soon(client.call_tool, "speak", {"me": 1})
        assert sorted(heard.logs) == [("info", "0:a 0:b"), ("info", "1:a 1:b")]


@both_eras
async def test_what_sending_a_line_prints_is_not_sent(era, monkeypatch):
    import mcp.server.session as session

    send = session.ServerSession.send_notification

    async def talkative(self, *args, **kwargs):
        print("sending")
        await send(self, *args, **kwargs)

    monkeypatch.setattr(session.ServerSession, "send_notification", talkative)
    heard = Heard()
    async with connected(printer(), era, **logging_to(heard, era)) as client:
        await ask_for_logs(client, era)
        await client.call_tool("sync_print", {"lines": "one"})
        assert heard.logs == [("info", "one")]


@both_eras
async def test_a_flood_of_lines_is_cut_and_says_so(era):
    heard = Heard()
    async with connected(printer(), era, **logging_to(heard, era)) as client:
        await ask_for_logs(client, era)
        await client.call_tool("sync_print", {"lines": "\n".join(str(line) for line in range(1500))})
        assert len(heard.logs) == 1001
        assert heard.logs[-1] == ("info", "(500 more printed lines were not sent)")


@both_eras
async def test_all_that_a_tool_says_goes_one_road_in_order(era, capfd):
    server = FrameServer("s")
    logger = logging.getLogger("shop")

    @server.tool()
    async def speak(ctx: Context) -> str:
        print("a")
        await ctx.info("b")
        print("c", file=sys.stderr)
        logger.warning("d\ne")
        os.write(1, b"f\n")
        sys.stdout.buffer.write(b"g\n")
        await ctx.warning("h")
        os.write(2, "\u00e9\n".encode())
        return "spoken"

    with stdio_of(
        LineFiles(lambda line: anyio.lowlevel.checkpoint())
    ):  # a program's server in this process changes nothing
        pass
    heard = Heard()
    expected = ["a", "b", "c", "WARNING d\ne", "f", "g", "h", "é"]
    async with connected(server, era, **logging_to(heard, era)) as client:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(levelname)s %(message)s"))
        logger.addHandler(handler)
        try:
            await ask_for_logs(client, era)
            await client.call_tool("speak")
        finally:
            logger.removeHandler(handler)
        assert [data for _, data in heard.logs] == expected
        assert [level for level, _ in heard.logs] == ["info"] * 3 + ["warning", "info", "info", "warning", "info"]
    printed = capfd.readouterr()
    assert set(printed.out.split()) == {"a", "f", "g"}
    assert "WARNING d\ne\n" in printed.err


@both_eras
async def test_a_client_that_asked_for_warnings_gets_the_records_of_that_level(era):
    server = FrameServer("s")

    @server.tool()
    def speak() -> str:
        print("quiet")
        print("quiet", file=sys.stderr)
        logging.getLogger("shop").warning("loud")
        return "spoken"

    heard = Heard()
    async with connected(server, era, **logging_to(heard, era, "warning")) as client:
        handler = logging.StreamHandler()
        logging.getLogger("shop").addHandler(handler)
        try:
            await ask_for_logs(client, era, "warning")
            await client.call_tool("speak")
        finally:
            logging.getLogger("shop").removeHandler(handler)
        assert heard.logs == [("warning", "loud")]


@both_eras
async def test_records_of_the_serving_stay_on_the_console(era, capsys):
    server = FrameServer("s")

    @server.tool()
    async def fail(ctx: Context) -> str:
        warnings.simplefilter("always")
        warnings.showwarning = lambda *told: print(told[0], file=sys.stderr)
        await ctx.session.send_log_message("notice", "sent")
        warnings.warn("the author's", stacklevel=1)
        raise ValueError("no")

    heard = Heard()
    async with connected(server, era, **logging_to(heard, era, "debug")) as client:
        handler = logging.StreamHandler()
        logging.getLogger().addHandler(handler)
        try:
            await ask_for_logs(client, era, "debug")
            with warnings.catch_warnings():
                await client.call_tool("fail")
        finally:
            logging.getLogger().removeHandler(handler)
        assert heard.logs == [("notice", "sent"), ("info", "the author's")]
    console = capsys.readouterr().err
    assert "ValueError: no" in console
    assert "deprecated" in console


async def test_stdout_is_as_it_was_after_serving():
    before = sys.stdout, sys.stderr, os.write
    async with connected(printer(), "2026"):
        assert before[0] is not sys.stdout
        assert before[1] is not sys.stderr
        assert before[2] is not os.write
    assert before == (sys.stdout, sys.stderr, os.write)


async def test_a_server_that_handles_logging_levels_itself_keeps_its_handler():
    levels = []

    async def set_level(ctx, params):
        levels.append(params.level)
        return types.EmptyResult()

    async def call(ctx, params):
        print("hello")
        return types.CallToolResult(content=[])

    async def list_tools(ctx, params):
        return types.ListToolsResult(tools=[])

    server = Server("s", on_list_tools=list_tools, on_call_tool=call, on_set_logging_level=set_level)
    heard = Heard()
    async with connected(server, "2025", logging_callback=heard.log) as client:
        await ask_for_logs(client, "2025", "debug")
        await client.call_tool("any")
    assert levels == ["debug"]
    assert heard.logs == [("info", "hello")]


@both_eras
async def test_one_server_object_serves_one_client_after_another(era):
    server = printer()
    for _ in range(3):
        heard = Heard()
        async with connected(server, era, **logging_to(heard, era)) as client:
            await ask_for_logs(client, era)
            await client.call_tool("sync_print", {"lines": "once"})
            assert heard.logs == [("info", "once")]


@both_eras
async def test_what_an_author_raises_on_purpose_is_as_the_sdk_has_it(era):
    server = FrameServer("s")

    @server.tool()
    def refuse(how: str) -> str:
        if how == "tool":
            raise ToolError("not today")
        raise MCPError(code=-32099, message="protocol")

    async with connected(server, era) as client:
        assert text(await client.call_tool("refuse", {"how": "tool"})) == "Error executing tool refuse: not today"
        assert "validation error" in text(await client.call_tool("refuse", {"how": []}))
        assert "Unknown tool" in text(await client.call_tool("nothing"))
        with pytest.raises(MCPError, match="protocol"):
            await client.call_tool("refuse", {"how": "protocol"})


@both_eras
async def test_an_exception_in_an_inner_tool_or_a_task_group_is_named(era):
    server = FrameServer("s")

    @server.tool()
    def inner() -> str:
        raise ValueError("deep down")

    @server.tool()
    async def outer(ctx: Context) -> str:
        await ctx.mcp_server.call_tool("inner", {})
        return ""

    @server.tool()
    async def group() -> str:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(fail_inside)
        return ""

    async def fail_inside() -> None:
        raise ValueError("in a group")

    async with connected(server, era) as client:
        assert text(await client.call_tool("outer")) == "Error executing tool outer: deep down"
        assert text(await client.call_tool("group")) == "Error executing tool group: in a group"


@both_eras
async def test_an_exception_passes_through_while_prints_are_sent(era):
    server = FrameServer("s")

    @server.tool()
    def fail() -> str:
        print("before")
        raise MCPError(code=-32099, message="as it is")

    heard = Heard()
    async with connected(server, era, **logging_to(heard, era)) as client:
        await ask_for_logs(client, era)
        with pytest.raises(MCPError, match="as it is"):
            await client.call_tool("fail")
        assert heard.logs == [("info", "before")]
