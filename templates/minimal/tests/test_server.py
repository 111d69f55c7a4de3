"""Tests the server in plain Python, which is fast, and in its frame in headless Chromium, as users run it."""

import pytest

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend():
    return "asyncio"


async def test_add(client):
    result = await client.call_tool("add", {"a": 2, "b": 3})
    assert result.structured_content == {"result": 5}


async def test_add_in_the_browser(framed_client):
    result = await framed_client.call_tool("add", {"a": 2, "b": 3})
    assert result.structured_content == {"result": 5}
