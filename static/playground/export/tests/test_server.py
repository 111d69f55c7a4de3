"""Tests the server in plain Python, which is fast, and in its frame in headless Chromium, as users run it."""

import pytest

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend():
    return "asyncio"


async def test_the_browser_has_the_tools_of_plain_python(client, framed_client):
    here, framed = [(await each.list_tools()).tools for each in (client, framed_client)]
    assert [tool.name for tool in framed] == [tool.name for tool in here]
