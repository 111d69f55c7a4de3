"""Tests the server in plain Python, with the official client in memory: no browser needed."""

import pytest
from mcp import Client

from server import PUBLISHED, server

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend():
    return "asyncio"


async def test_roll():
    async with Client(server) as client:
        rolled = (await client.call_tool("roll_dice", {"count": 5})).structured_content
    assert len(rolled["dice"]) == 5
    assert set(rolled["dice"]) <= set(range(1, 7))
    assert rolled["total"] == sum(rolled["dice"])


async def test_the_tool_has_the_view():
    async with Client(server) as client:
        (tool,) = (await client.list_tools()).tools
        (content,) = (await client.read_resource(tool.meta["ui"]["resourceUri"])).contents
    assert content.mime_type == "text/html;profile=mcp-app"
    assert PUBLISHED in content.text
