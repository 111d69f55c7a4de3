"""The tools in plain Python, with the official client in memory, and two tabs with one storage."""

import asyncio

import pytest
from mcp import Client

from board import KEY, Board
from mcpframe import Storage
from server import BoardTools

ALWAYS = ["list_notes", "add_note"]
ALL = [*ALWAYS, "edit_note", "move_note", "remove_note"]

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend():
    return "asyncio"


def opened(storage, seen):
    board = Board(storage)
    tools = BoardTools(board, seen.append)
    board.on_change = tools.offer
    return board, tools.server


async def names(client):
    return [tool.name for tool in (await client.list_tools()).tools]


async def test_the_tools_for_notes_are_there_while_there_are_notes():
    seen = []
    _, server = opened(Storage("local"), seen)
    async with Client(server, cache=None) as client:
        assert await names(client) == ALWAYS
        added = await client.call_tool("add_note", {"text": "  Buy\nmilk "})
        assert added.structured_content == {"id": 1, "text": "Buy milk", "column": "To do"}
        assert await names(client) == ALL
        await client.call_tool("move_note", {"note": 1, "column": "Done"})
        await client.call_tool("edit_note", {"note": 1, "text": "Milk is bought"})
        listed = await client.call_tool("list_notes", {})
        assert listed.structured_content["result"] == [{"id": 1, "text": "Milk is bought", "column": "Done"}]
        await client.call_tool("remove_note", {"note": 1})
        assert await names(client) == ALWAYS
        again = await client.call_tool("add_note", {"text": "Tea", "column": "Doing"})
        assert again.structured_content["id"] == 2
    assert len(seen) == 5


async def test_what_cannot_be_is_said_to_the_client():
    board, server = opened(Storage("local"), [])
    async with Client(server) as client:
        for text in ("", " \n", "a" * 501):
            assert (await client.call_tool("add_note", {"text": text})).is_error
        await board.add("here")
        wrong = await client.call_tool("remove_note", {"note": 7})
        assert wrong.is_error
        assert "1" in wrong.content[0].text
        assert (await client.call_tool("move_note", {"note": 1, "column": "Elsewhere"})).is_error


async def test_two_tabs_have_the_same_notes():
    storage = Storage("local")
    one, server = opened(storage, [])
    two, other = opened(storage, [])
    one.announce = lambda: told.set()
    told = asyncio.Event()
    async with Client(server, cache=None) as client, Client(other, cache=None) as watching:
        await client.call_tool("add_note", {"text": "from one"})
        await told.wait()
        assert await names(watching) == ALWAYS
        await two.load()
        assert await names(watching) == ALL
        await watching.call_tool("add_note", {"text": "from two"})
        assert [note.text for note in two.notes] == ["from one", "from two"]


@pytest.mark.parametrize("stored", [None, [], "text", {"notes": [{"id": "x"}]}])
async def test_what_another_version_has_stored_is_an_empty_board(stored):
    storage = Storage("local")
    await storage.set(KEY, stored)
    board = Board(storage)
    await board.load()
    assert (await board.add("first")).id == 1
