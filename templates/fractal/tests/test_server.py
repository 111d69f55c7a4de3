"""The server in plain Python, with the official client in memory: its processes are CPython's."""

import asyncio
import base64
import struct

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

import server
from tiles import escape, picture_of, tiles_of


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.mark.anyio
async def test_a_picture_is_drawn_in_tiles():
    seen = []

    async def on_progress(progress, total, message):
        seen.append((progress, total))

    async with Client(server.server) as client:
        result = await client.call_tool("draw", {"detail": 20}, progress_callback=on_progress)
    picture = base64.b64decode(result.content[0].data)
    assert picture.startswith(b"\x89PNG")
    assert struct.unpack(">II", picture[16:24]) == (server.SIZE, server.SIZE)
    assert seen == [(number, 16) for number in range(1, 17)]


@pytest.mark.anyio
async def test_it_is_stopped_by_its_button_and_by_its_client(monkeypatch):
    begun, ended = asyncio.Event(), asyncio.Event()

    def show(text, picture=None):
        (ended if "stopped" in text else begun).set()

    monkeypatch.setattr(server.drawing, "show", show)
    endless = {"detail": 1_000_000, "width": 0.001, "x": 0}
    async with Client(server.server) as client:
        drawing = asyncio.ensure_future(client.call_tool("draw", endless))
        await begun.wait()
        server.drawing.stop()
        result = await drawing
        assert result.is_error
        assert "It was stopped after" in result.content[0].text
        ended.clear()
        with pytest.raises((MCPError, TimeoutError)):
            await client.call_tool("draw", endless, read_timeout_seconds=0.5)
        await ended.wait()
    assert not server.drawing.running


def test_the_set_is_where_it_should_be():
    assert escape(0j, 50) == 50
    assert escape(-1 + 0j, 50) == 50
    assert escape(1 + 1j, 50) == 2


def test_tiles_cover_the_picture():
    tiles = tiles_of(0, 0, 4, 80)
    whole = picture_of({tile: bytes(tile.size**2) for tile in tiles}, 80)
    assert len({(tile.left, tile.top) for tile in tiles}) == 16
    assert whole == picture_of({}, 80)
