"""An author's tests of `servers/view` in a host of MCP Apps, with pytest-asyncio."""

import pytest
from playwright.async_api import expect


@pytest.mark.asyncio
async def test_in_the_function_s_loop(app_host, app_view):
    app_host.answer("call_tool", lambda params: {"content": [], "structuredContent": params["arguments"]})
    asked = {"method": "call_tool", "arguments": {"name": "forecast", "arguments": {"place": "Wien"}}}
    answered = await app_view.call_tool("ask", asked)
    assert answered.structured_content["result"]["structuredContent"] == {"place": "Wien"}


@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.mcpframe(origin="https://other.example")
async def test_in_the_session_s_loop_beside_a_frame_with_a_client(app_host, app_view, framed_client, frame_page):
    await app_host.send_cancelled("enough")
    await expect(app_view.frame.locator("#told")).to_contain_text("enough")
    assert (await framed_client.call_tool("add", {"a": 1, "b": 2})).structured_content == {"result": 3}
    assert frame_page is not app_view.frame
