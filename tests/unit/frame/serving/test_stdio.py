"""`stdio_server()` has the lines of the connection that it is called for, also where several are served at once."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import anyio
import pytest
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.stdio import stdio_server

from mcpframe.frame.serving.stdio import stdio_of
from mcpframe.frame.session.lines import LineFiles
from tests.unit.frame.session.test_lines import client_of

pytestmark = pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")


def ping(number: int) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "ping"})


class Connection:
    """A program that serves once it may, and what it wrote."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.may_serve, self.is_in, self.may_end = anyio.Event(), anyio.Event(), anyio.Event()
        self.written: list[str] = []
        self.read: list[int] = []

    async def note(self, line: str) -> None:
        self.written.append(line)

    async def serve(self) -> None:
        files = LineFiles(self.note)
        files.stdin.put(ping(self.number))
        with stdio_of(files):
            self.is_in.set()
            await self.may_serve.wait()
            async with stdio_server() as (read, write), read, write:
                item: Any = await read.receive()
                self.read.append(item.message.id)
                await write.send(item)
                while not self.written:
                    await anyio.lowlevel.checkpoint()
                files.stdin.end()
            await self.may_end.wait()


async def test_connections_of_one_page_have_lines_of_their_own() -> None:
    before = stdio_server.__wrapped__.__defaults__  # type: ignore[attr-defined]
    one, two = Connection(1), Connection(2)
    with anyio.fail_after(60):
        async with asyncio.TaskGroup() as tasks:
            for each in (one, two):
                tasks.create_task(each.serve())
                await each.is_in.wait()
            one.may_serve.set()  # its files were put in place first
            one.may_end.set()
            while not one.written:
                await anyio.lowlevel.checkpoint()
            two.may_serve.set()  # and the first has ended
            two.may_end.set()
    assert (one.read, two.read) == ([1], [2])
    assert [[json.loads(line)["id"] for line in each.written] for each in (one, two)] == [[1], [2]]
    assert stdio_server.__wrapped__.__defaults__ == before == (None, None)  # type: ignore[attr-defined]


async def test_what_a_server_prints_is_in_order_with_its_notifications() -> None:
    server = MCPServer("s")

    @server.tool()
    async def speak(ctx: Context) -> str:
        print("a")
        await ctx.info("b")
        print("c")
        await ctx.info("d")
        print("e")
        return "spoken"

    async def program(files: LineFiles) -> None:
        with stdio_of(files):
            await server.run_stdio_async()

    async with client_of(program, discovers=True) as client:
        await client.initialize()
        await client.request("logging/setLevel", level="info")
        await client.call("speak")
        assert [each["params"]["data"] for each in client.notifications] == ["a", "b", "c", "d", "e"]
