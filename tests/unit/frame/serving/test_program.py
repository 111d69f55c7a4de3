"""Console scripts: whatever their `main` starts serves the frame's messages."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from contextvars import Context
from typing import Any

import anyio
import pytest
from mcp.server import MCPServer
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from mcpframe.frame.core.errors import EntryError, ProgramError
from mcpframe.frame.serving import console

CLIENT = {"name": "client", "version": "1"}


def notes() -> MCPServer[Any]:
    server = MCPServer("notes")

    @server.tool()
    def double(number: int) -> int:
        return number * 2

    return server


def plain() -> None:
    notes().run()


def by_keyword() -> None:
    notes().run(transport="stdio")


def guarded() -> None:
    try:
        notes().run()
    except BaseException:  # noqa: BLE001  programs do
        sys.exit(1)


def in_asyncio() -> None:
    asyncio.run(notes().run_stdio_async())


def with_a_runner() -> None:
    with asyncio.Runner() as runner:
        runner.run(notes().run_stdio_async())


def in_a_loop_of_its_own() -> None:
    loop = asyncio.new_event_loop()
    try:
        loop.run_until_complete(notes().run_stdio_async())
    finally:
        loop.close()


def in_anyio() -> None:
    anyio.run(lowlevel, "low")


async def lowlevel(name: str) -> None:
    server = Server[Any](name)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


async def asynchronous() -> None:
    await notes().run_stdio_async()


async def asked(main: Callable[[], object], *requests: tuple[str, dict[str, Any]]) -> tuple[list[Any], list[Any]]:
    """Ask a program, one request after another; its answers, and what it reports of its end."""
    asking, read = anyio.create_memory_object_stream[Any](1)
    write, answers = anyio.create_memory_object_stream[Any](10)
    problems: list[Any] = []
    found = []
    async with answers, anyio.create_task_group() as tasks:
        with anyio.fail_after(30):

            async def serve() -> None:
                report = lambda title, error: problems.append((title, error))  # noqa: E731
                await console.serve(console.ConsoleScript(main), read, write, on_problem=report)

            tasks.start_soon(serve)
            for number, (method, params) in enumerate(requests):
                await asking.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
                while "id" not in (answer := (await answers.receive())[1]):
                    pass
                found.append(answer)
            await asking.aclose()
    return found, problems


INITIALIZE = ("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": CLIENT})


@pytest.mark.parametrize(
    "main", [plain, by_keyword, guarded, in_asyncio, with_a_runner, in_a_loop_of_its_own, asynchronous]
)
async def test_what_main_starts_serves(main: Callable[[], object]) -> None:
    call = ("tools/call", {"name": "double", "arguments": {"number": 4}})
    [hello, tools, called], problems = await asked(main, INITIALIZE, ("tools/list", {}), call)
    assert hello["result"]["serverInfo"]["name"] == "notes"
    assert [tool["name"] for tool in tools["result"]["tools"]] == ["double"]
    assert called["result"]["content"][0]["text"] == "8"
    assert problems == []


async def test_a_lowlevel_server_on_anyio() -> None:
    [hello], _ = await asked(in_anyio, INITIALIZE)
    assert hello["result"]["serverInfo"]["name"] == "low"


async def test_it_serves_again() -> None:
    for _ in range(2):
        [hello], _ = await asked(plain, INITIALIZE)
        assert hello["result"]["serverInfo"]["name"] == "notes"


async def test_callbacks_of_main_run_coroutines_of_their_own_while_it_serves() -> None:
    said: list[object] = []

    async def seven(seconds: float) -> int:
        await asyncio.sleep(seconds)
        return 7

    def call_back() -> None:
        said.append(asyncio.run(seven(0)))
        try:
            asyncio.run(seven(1))
        except RuntimeError as error:
            said.append(str(error))

    def main() -> None:
        asyncio.get_running_loop().call_soon(call_back)  # in this context
        plain()

    [hello], problems = await asked(main, INITIALIZE)
    assert hello["result"]["serverInfo"]["name"] == "notes"
    assert said[0] == 7
    assert "Write an async function" in str(said[1])
    assert problems == []


def parses() -> None:
    import argparse

    parser = argparse.ArgumentParser(prog="notes")
    parser.add_argument("--root", required=True)
    parser.parse_args([])


def exits() -> None:
    sys.exit("NOTES_KEY is missing")


def returns() -> None:
    print("usage: notes serve")


def raises() -> None:
    raise KeyError("NOTES_KEY")


@pytest.mark.parametrize(
    ("main", "kind", "told"),
    [
        (parses, ProgramError, "exited with status 2 (.|\n)* arguments are required: --root(.|\n)*tool.mcpframe.args"),
        (exits, ProgramError, "exited with status 1 (.|\n)*NOTES_KEY is missing(.|\n)*tool.mcpframe.env"),
        (returns, ProgramError, "returned without serving MCP"),
        (raises, KeyError, "NOTES_KEY"),
    ],
)
async def test_a_program_that_does_not_serve_says_why(
    main: Callable[[], object], kind: type[Exception], told: str
) -> None:
    with pytest.raises(kind, match=told):
        await console.run(main)
    [refused], [(_, error)] = await asked(main, INITIALIZE)
    assert "program has ended" in refused["error"]["message"]
    assert isinstance(error, kind)


def test_event_loops_outside_of_a_program_are_as_they_were() -> None:
    async def seven() -> int:
        return 7

    # In a context of its own: that of a worker which has run async tests may say that a loop is running.
    assert Context().run(asyncio.run, seven()) == Context().run(anyio.run, seven) == 7


async def test_an_entry_that_is_no_function() -> None:
    with pytest.raises(EntryError, match="is of type dict, not a function"):
        await console.open_entry("tests.unit.frame.serving.test_program:CLIENT")
