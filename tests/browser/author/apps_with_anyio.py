"""An author's tests of `servers/view` in a host of MCP Apps, with anyio's plugin. Those named `fails` have to."""

import pytest
from playwright.async_api import expect

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.mark.mcpframe(context={"theme": "dark", "locale": "de-AT"})
async def test_a_call_is_shown(app_host, app_view):
    await app_host.stream_input({"place": "Wien"})
    await app_host.send_result({"structuredContent": {"degrees": 21}})
    await expect(app_view.frame.locator("#told")).to_contain_text("21")
    await expect(app_view.frame.locator("html")).to_have_attribute("data-theme", "dark")
    await app_host.set_context(theme="light")
    await expect(app_view.frame.locator("html")).to_have_attribute("data-theme", "light")


async def test_the_host_answers(app_host, app_view):
    app_host.answer("call_tool", {"content": [{"type": "text", "text": "fresh"}]})
    app_host.answer("open_link", lambda link: {"isError": link["url"].startswith("http:")})
    called = await app_view.call_tool("ask", {"method": "call_tool", "arguments": {"name": "forecast"}})
    assert called.structured_content["result"]["content"][0]["text"] == "fresh"
    assert app_host.received("call_tool") == [{"name": "forecast", "arguments": {}}]
    await app_view.call_tool("ask", {"method": "open_link", "arguments": {"url": "http://example.org/"}})
    assert await app_host.wait_for("open_link") == {"url": "http://example.org/"}


async def test_the_app_s_own_tools_and_size(app_host, app_view):
    assert "grow" in [tool.name for tool in await app_view.list_tools()]
    assert (await app_view.call_tool("add", {"a": 2, "b": 3})).structured_content == {"result": 5}
    assert app_view.info == {"name": "view", "version": "1.4", "title": "A view"}
    await app_view.call_tool("grow", {"pixels": 700})
    await app_host.wait_for("size", where=lambda size: size["height"] >= 700)
    assert app_view.size["height"] >= 700
    box = await app_host.page.locator("iframe").bounding_box()
    assert box["height"] == app_view.size["height"]
    await app_host.teardown("done")
    assert app_host.received("log")[-1]["data"] == {"last": "words"}
    assert app_host.view is None


async def test_answers_of_a_server(app_host, app_view, client):
    app_host.use_server(client)
    shown = await app_host.run_tool(client, "add", {"a": 2, "b": 3})
    assert shown.structured_content == {"result": 5}
    await expect(app_view.frame.locator("#told")).to_contain_text("5")
    asked = {"method": "call_tool", "arguments": {"name": "add", "arguments": {"a": 4, "b": 5}}}
    answered = await app_view.call_tool("ask", asked)
    assert answered.structured_content["result"]["structuredContent"] == {"result": 9}
    listed = await app_view.call_tool("ask", {"method": "list_tools", "arguments": {}})
    assert "add" in [tool["name"] for tool in listed.structured_content["result"]["tools"]]


@pytest.mark.mcpframe(capabilities={"openLinks": {}})
async def test_what_a_host_lacks_and_what_a_test_did_not_answer(app_host):
    app_host.answer("open_link", PermissionError("not on this machine"))
    view = await app_host.open()
    lacks = await view.call_tool("ask", {"method": "download", "arguments": {"name": "a.txt", "data": "a"}})
    assert lacks.structured_content["error"] == "HostLacks"
    declined = await view.call_tool("ask", {"method": "open_link", "arguments": {"url": "https://example.org/"}})
    assert "not on this machine" in declined.structured_content["message"]
    mode = await view.call_tool("ask", {"method": "request_display_mode", "arguments": {"mode": "fullscreen"}})
    assert (mode.structured_content["result"], app_host.context["displayMode"]) == ("fullscreen", "fullscreen")


async def test_fails_on_an_error_of_the_view(app_view):
    await app_view.frame.evaluate("() => { setTimeout(() => { throw new Error('of the view'); }); }")


async def test_fails_as_the_test_s_own_answer_does(app_host, app_view):
    app_host.answer("open_link", lambda link: link["address"])
    await app_view.call_tool("ask", {"method": "open_link", "arguments": {"url": "https://example.org/"}})


async def test_fails_as_nothing_is_asked(app_host, app_view):
    await app_host.wait_for("open_link", timeout=0.1)


@pytest.mark.mcpframe(origin="https://stranger.example")
async def test_fails_in_a_host_that_is_not_allowed(app_host):
    await app_host.open()
