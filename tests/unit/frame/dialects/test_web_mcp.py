"""Boot where the document has a `modelContext`."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import anyio
import pytest
from mcp import Client

from mcpframe.frame.session.session import transport
from tests.support.fake_model_context import FakeModelContext
from tests.support.mcpb import to_server
from tests.support.page_rig import Rig, rig
from tests.support.sep import FRAME, HOST

__all__ = ["rig"]

SERVER = """
    from mcpframe import FrameServer

    server = FrameServer("test", allowed_origins=["https://chat.example", "http://chat.example"])

    @server.tool()
    async def who() -> str:
        await server.session.storage.set("asked", True)
        return f"{server.session.host.dialect} {server.session.origin}"

    @server.tool()
    async def again() -> str:
        await server.session.require_setup("OTHER", "again")
"""


@pytest.fixture
def place(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeModelContext]:
    found = FakeModelContext("https://around.example")
    module = ModuleType("mcpframe.frame.browser.model_context")
    module.ModelContext = lambda: found  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(module.__name__, module, raising=False)
    sys.modules["mcpframe.frame.browser.window"].takes_tools = lambda name: True  # type: ignore[attr-defined]
    return found


async def end(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.wait([task])


async def test_in_a_frame_it_is_served_beside_the_host(rig: Rig, place: FakeModelContext) -> None:
    rig.write(SERVER, "authored_webmcp_a")
    task = rig.start("authored_webmcp_a:server")
    await place.until("who", "again")
    assert place.exposed["who"] == [HOST]  # what is not secure cannot be exposed to
    async with Client(transport(rig.outer_connection(), rig.outer)) as client:
        asked = await asyncio.gather(client.call_tool("who", {}), place.call("who"))
        assert asked[0].content[0].text == f"sep {HOST}"  # type: ignore[union-attr]
        assert asked[1]["content"][0]["text"] == f"webmcp {FRAME}"
        assert (await place.call("again"))["isError"]
    assert await rig.records.keys(f"webmcp {FRAME}") == ["asked"]
    await end(task)
    assert place.tools == {}


async def test_a_frame_that_only_webmcp_uses_goes_on(rig: Rig, place: FakeModelContext) -> None:
    nobody_answered = anyio.Event()
    rig.loader.at_end = lambda info: nobody_answered.set()  # type: ignore[method-assign]
    rig.write(SERVER, "authored_webmcp_b")
    options = {"handshake_timeout": 2}  # more than its tools take to be registered
    task = rig.start("authored_webmcp_b:server", allowed_origins=["*"], options=options)
    await place.until("who", "again")
    assert place.exposed["who"] == ["https://around.example"]
    await nobody_answered.wait()
    await anyio.wait_all_tasks_blocked()
    assert "again" in place.tools
    assert all(call[0] != "fail" for call in rig.loader.calls)
    await end(task)


async def test_in_a_tab_nobody_has_to_be_allowed(rig: Rig, place: FakeModelContext) -> None:
    rig.framed = False
    nobody = SERVER.replace(', allowed_origins=["https://chat.example", "http://chat.example"]', "")
    rig.write(nobody, "authored_webmcp_c")
    task = rig.start("authored_webmcp_c:server")
    await place.until("who", "again")
    assert place.exposed["who"] == []
    await end(task)
    assert place.tools == {}


async def test_nobody_allowed_in_this_dialect_is_nothing_registered(rig: Rig, place: FakeModelContext) -> None:
    rig.write(SERVER, "authored_webmcp_d")
    origins: Any = {"allowed_origins": [HOST], "dialect_origins": {"webmcp": []}}
    task = rig.start("authored_webmcp_d:server", **origins)
    async with Client(transport(rig.outer_connection(), rig.outer)) as client:
        await client.list_tools()
    assert place.tools == {}
    await end(task)


async def test_without_the_api_nothing_is_imported(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if "webmcp" in name or name.endswith("model_context")]:
        monkeypatch.delitem(sys.modules, name)
    rig.write(SERVER, "authored_webmcp_e")
    task = rig.start("authored_webmcp_e:server")
    async with Client(transport(rig.outer_connection(), rig.outer)) as client:
        await client.list_tools()
    assert not [name for name in sys.modules if name.startswith("mcpframe.frame.webmcp")]
    await end(task)


async def test_a_bundle_of_webmcp_alone(rig: Rig, place: FakeModelContext) -> None:
    for number, framed in enumerate((True, False)):
        rig.framed = framed
        rig.write(SERVER, f"authored_webmcp_alone{number}")
        task = rig.start(f"authored_webmcp_alone{number}:server", dialects=["webmcp"])
        await place.until("who", "again")
        await end(task)
        assert place.tools == {}
    assert rig.inner.posted == rig.own.posted == []


async def test_a_bundle_without_webmcp_registers_nothing(rig: Rig, place: FakeModelContext) -> None:
    rig.write(SERVER, "authored_webmcp_f")
    task = rig.start("authored_webmcp_f:server", dialects=["sep"])
    async with Client(transport(rig.outer_connection(), rig.outer)) as client:
        await client.list_tools()
    assert place.tools == {}
    await end(task)


PROGRAM = """
    from mcp.server.mcpserver import MCPServer

    server = MCPServer("tools")

    @server.tool()
    def add(a: int, b: int) -> int:
        return a + b

    def main():
        server.run()
"""
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}},
}


async def test_a_program_serves_one_client_at_a_time(rig: Rig, place: FakeModelContext) -> None:
    rig.write(PROGRAM, "authored_webmcp_g")
    rig.framed = False
    task = rig.start("authored_webmcp_g:main", program="tools")
    await place.until("add")
    assert (await place.call("add", {"a": 2, "b": 3}))["structuredContent"] == {"result": 5}
    answered = rig.own.when_posted(len(rig.own.posted) + 2)
    rig.own.post(json.dumps(to_server(INITIALIZE, "mcp-default")), FRAME)
    await place.until()
    await answered
    assert rig.own.posted[-1][0]["payload"]["result"]["serverInfo"]["name"] == "tools"
    await end(task)


async def test_a_program_in_a_frame_is_its_hosts_alone(rig: Rig, place: FakeModelContext) -> None:
    rig.write(PROGRAM, "authored_webmcp_h")
    task = rig.start("authored_webmcp_h:main", program="tools", allowed_origins=[HOST])
    async with Client(transport(rig.outer_connection(), rig.outer), mode="legacy") as client:
        assert (await client.call_tool("add", {"a": 2, "b": 3})).structured_content == {"result": 5}
    assert place.tools == {}
    await end(task)
