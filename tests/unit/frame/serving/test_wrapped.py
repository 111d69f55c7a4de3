"""`mcpframe.wrap` with server objects of mcp 2.x; tests/support/author_contract.py has the tests of what it adds."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from mcp import Client
from mcp.server.lowlevel.server import Server
from mcp.server.mcpserver import MCPServer
from mcp.shared.exceptions import MCPDeprecationWarning

from mcpframe import FrameServer, wrap
from mcpframe.frame.core.errors import EntryError, OriginError, SdkError
from mcpframe.frame.serving.server import equip
from mcpframe.frame.session.session import transport
from tests.support.page_rig import Rig, rig
from tests.support.sep import SESSION

__all__ = ["rig"]


def lowlevel_server() -> Server[Any]:
    return Server("low", version="3")


def test_other_attributes_are_those_of_the_wrapped_server() -> None:
    inner = MCPServer("inner", instructions="Be kind.")
    server = wrap(inner, allowed_origins=["https://chat.example"])
    assert server.wrapped is inner
    assert (server.name, server.instructions) == ("inner", "Be kind.")
    assert server.allowed_origins == ("https://chat.example",)
    for name in ("no_such_thing", "_lowlevel_server"):
        with pytest.raises(AttributeError, match=name):
            getattr(server, name)


@pytest.mark.parametrize("make", [lambda: MCPServer("a"), lowlevel_server])
def test_a_server_is_wrapped_once(make: Callable[[], Any]) -> None:
    server = make()
    for one in (server, wrap(server)):
        with pytest.raises(EntryError, match="wrap a server once"):
            wrap(one)


def test_a_frame_server_has_all_that_wrapping_adds() -> None:
    with pytest.raises(EntryError, match="has setup, ui and sessions already"):
        wrap(FrameServer("a"))


@pytest.mark.parametrize("given", [7, "server", None, MCPServer, object()])
def test_what_is_no_server_is_refused(given: object) -> None:
    with pytest.raises(EntryError, match="is not an MCP server: wrap a FastMCP"):
        wrap(given)


def test_origins_are_checked() -> None:
    with pytest.raises(OriginError):
        wrap(MCPServer("a"), allowed_origins=["https://chat.example/path"])


async def test_in_plain_python_it_has_a_local_session() -> None:
    server = wrap(MCPServer("a"))

    @server.wrapped.tool()
    async def keep(value: int) -> int:
        await server.session.storage.set("value", value)
        return value

    async with Client(server.wrapped) as client:
        assert (await client.call_tool("keep", {"value": 7})).structured_content == {"result": 7}
    assert (server.session.id, await server.session.storage.get("value")) == ("local", 7)


async def test_subscribers_learn_of_updates() -> None:
    server = wrap(MCPServer("a"))
    heard: list[Any] = []
    changed = asyncio.Event()

    async def hear(message: Any) -> None:
        heard.append(message)
        changed.set()

    equip(server)
    async with Client(server.wrapped, mode="legacy", message_handler=hear) as client:
        with pytest.warns(MCPDeprecationWarning):
            await client.subscribe_resource("notes://one")
        await server.resource_updated("notes://two")
        await server.resource_updated("notes://one")
        await changed.wait()
    assert [message.params.uri for message in heard] == ["notes://one"]


async def test_a_server_without_subscriptions_says_so() -> None:
    with pytest.raises(SdkError, match=r"A server of type Server .* send_resource_updated"):
        await wrap(lowlevel_server()).resource_updated("notes://one")
    with pytest.raises(SdkError, match=r"type Server: call send_tool_list_changed"):
        await wrap(lowlevel_server()).tools_changed()
    with pytest.raises(SdkError, match=r"type Server: .* annotations="):
        wrap(lowlevel_server()).cache("one")


LOWLEVEL = """
    from mcp import types
    from mcp.server.lowlevel import Server
    from mcpframe import wrap

    async def list_tools(ctx, params):
        return types.ListToolsResult(tools=[types.Tool(name=framed.session.id, input_schema={"type": "object"})])

    server = Server("low", on_list_tools=list_tools)
    framed = wrap(server, allowed_origins=["https://chat.example"])
"""


@pytest.mark.parametrize("named", ["server", "framed"])
async def test_the_entry_names_either_object(rig: Rig, named: str) -> None:
    rig.write(LOWLEVEL, f"authored_{named}")
    page = rig.start(f"authored_{named}:{named}")
    async with Client(transport(rig.outer_connection(), rig.outer), mode="legacy") as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == [SESSION]
    page.cancel()
    await asyncio.wait([page])
