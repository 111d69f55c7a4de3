"""Kept values in every dialect: returned by one tool, taken by another one by the handle, and read by pages.

WebMCP has tools only, and the hosts of mcp-ui are no clients: what they lack is tested as well.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp import Client

from mcpframe import FrameServer, Kept, kept
from mcpframe.frame.core.connection import Candidate, Connection, parse_allowed_origins
from mcpframe.frame.core.dialect import TRANSPORT
from mcpframe.frame.core.events import Output, Received
from mcpframe.frame.core.roles import State
from mcpframe.frame.dialects.available import dialect, inner_candidates, offered_names, spoken_names
from mcpframe.frame.serving import server as objects
from mcpframe.frame.serving.frame_session import local_session
from mcpframe.frame.serving.framed import PeerSession
from mcpframe.frame.serving.server import serve
from mcpframe.frame.session.session import open_session, transport
from mcpframe.frame.webmcp.offering import Offering
from tests.support.fake_model_context import FakeModelContext
from tests.support.fake_window import FakeWindow, inbound
from tests.vectors.parts import parts

HOST = "https://chat.example"
FRAME = "https://tools.example"
SECRET = "4111-1111"
CLIENTS = [name for name in spoken_names() if parts(name).is_client]
ROWS = 2500


def data_server() -> FrameServer[Any]:
    server = FrameServer("data", allowed_origins=[HOST])

    @server.tool()
    def rows(count: int) -> Kept[list[Any]]:
        return kept([[number, SECRET] for number in range(count)], summary="Cards")

    @server.tool()
    def total(table: Kept[list[Any]]) -> int:
        return sum(row[0] for row in table.value)

    return server


@asynccontextmanager
async def client_of(name: str, mode: str) -> AsyncIterator[Client]:
    """Yield a client that speaks a dialect with a page that would speak any."""
    outer, inner = FakeWindow.pair(HOST, FRAME)
    server = data_server()

    async def serve_page() -> None:
        about = {"name": "p", "version": "1"}
        page = Connection(inner_candidates(TRANSPORT, parse_allowed_origins([HOST]), about=about))
        async with open_session(page, inner) as session:
            with server.running_for(PeerSession(local_session)):
                await serve(server, *session.streams)

    serving = asyncio.create_task(serve_page())
    offer = dialect(name).host_offer(session_id="a session")
    candidate = Candidate(parts(name).side("outer"), parse_allowed_origins([FRAME]), offer)
    async with Client(transport(Connection([candidate]), outer), mode=mode) as client:
        yield client
    serving.cancel()
    await asyncio.wait([serving])


def test_no_dialect_is_left_out() -> None:
    assert {*CLIENTS, "mcp_ui", "webmcp"} == set(offered_names())


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
@pytest.mark.parametrize("name", CLIENTS)
async def test_a_kept_value_is_passed_on_by_its_handle_and_read_by_pages(name: str, mode: str) -> None:
    async with asyncio.timeout(60), client_of(name, mode) as client:
        made: Any = await client.call_tool("rows", {"count": ROWS})
        assert SECRET not in made.model_dump_json()
        handle, uri = made.structured_content["handle"], made.content[1].uri
        added: Any = await client.call_tool("total", {"table": handle})
        assert added.structured_content == {"result": sum(range(ROWS))}
        found: list[Any] = []
        while uri is not None:
            [page] = (await client.read_resource(uri)).contents
            part = json.loads(page.text)  # type: ignore[union-attr]
            found += part["rows"]
            uri = part["next"]
        assert found == [[number, SECRET] for number in range(ROWS)]
        lost: Any = await client.call_tool("total", {"table": "k0"})
        assert "is unknown" in lost.content[0].text


async def test_webmcp_has_the_handles_and_no_pages() -> None:
    place, server = FakeModelContext(), data_server()
    assert dialect("webmcp").has_messages is False
    with server.running_for(PeerSession(local_session)):
        async with Offering(place, objects.messages(), lambda read, write: objects.serve(server, read, write)):
            await place.until("rows", "total")
            assert set(place.tools) == {"rows", "total"}
            made = await place.call("rows", {"count": ROWS})
            assert SECRET not in json.dumps(made)
            added = await place.call("total", {"table": made["structuredContent"]["handle"]})
            assert added["structuredContent"] == {"result": sum(range(ROWS))}


async def test_a_page_in_mcp_ui_is_asked_for_no_tool_and_for_no_resource() -> None:
    talks = parts("mcp_ui")
    candidate = Candidate(talks.side("inner"), parse_allowed_origins([HOST]), dialect("mcp_ui").page_offer())
    page = Connection([candidate])
    outputs: list[Output] = page.start(0.0)
    for method, params in (("tools/call", {"name": "rows"}), ("resources/read", {"uri": "kept:///k0"})):
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        outputs += page.receive(inbound(request, origin=HOST), 0.0)
    assert not [each for each in outputs if isinstance(each, Received)]
    assert page.state is not State.CLOSED
