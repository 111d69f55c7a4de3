"""A bundle as a view of MCP Apps, inside the official AppBridge of npm's `@modelcontextprotocol/ext-apps`."""

from __future__ import annotations

import base64
import os
import struct

import pytest
from playwright.async_api import BrowserContext, expect

from tests.browser.apps_hosts import CONTEXT, AppsHost
from tests.browser.conftest import Bundle, Origins, Troubles
from tests.support.suites import extended


@pytest.fixture
async def host(
    context: BrowserContext, troubles: Troubles, origins: Origins, view: Bundle, app_bridge: str
) -> AppsHost:
    return await AppsHost.load(context, origins, view.url, app_bridge)


async def test_the_handshake_and_the_view_s_own_tools(host: AppsHost) -> None:
    said = await host.open(context=CONTEXT)
    assert said["appInfo"] == {"name": "view", "version": "1.4", "title": "A view"}
    assert said["appCapabilities"] == {"tools": {"listChanged": True}}
    assert said["protocolVersion"] == "2026-01-26"
    listed = await host.call("listTools")
    assert [tool["name"] for tool in listed["result"]["tools"]][:5] == ["add", "told", "ask", "kept", "draw"]
    assert await host.tool("add", a=2, b=3) == {"result": 5}
    told = await host.tool("told")
    assert (told["name"], told["version"], told["dialect"]) == ("A host", "3", "mcp_apps")
    context = told["context"]
    assert (context["theme"], context["locale"], context["time_zone"]) == ("dark", "de-AT", "Europe/Vienna")
    assert context["display_modes"] == ["inline", "fullscreen"]
    assert context["container"] == {"width": 400, "height": None, "max_width": None, "max_height": 600}
    assert context["safe_area"] == {"top": 1, "right": 2, "bottom": 3, "left": 4}
    assert (context["platform"], context["touch"], context["hover"]) == ("desktop", False, True)
    assert (context["tool"]["name"], context["tool_call_id"]) == ("forecast", 7)
    unknown = await host.call("callTool", {"name": "nothing", "arguments": {}})
    assert unknown["result"]["isError"] if "result" in unknown else unknown["error"]


async def test_the_tool_call_that_it_shows(host: AppsHost) -> None:
    await host.open()
    await host.call("sendToolInputPartial", {"arguments": {"place": "Wi"}})
    await host.call("sendToolInput", {"arguments": {"place": "Wien"}})
    result = {"content": [{"type": "text", "text": "21 °C"}], "structuredContent": {"degrees": 21}}
    await host.call("sendToolResult", result)
    frame = host.page.frame_locator("iframe")
    await expect(frame.locator("#told")).to_contain_text("21 °C")
    heard = (await host.tool("told"))["heard"]
    kinds = [kind for kind, _ in heard]
    assert kinds[-2:] == ["ToolInput", "ToolResult"]
    assert heard[-2][1] == {"arguments": {"place": "Wien"}}
    assert heard[-1][1]["structured"] == {"degrees": 21}
    assert (await host.ask("tool_input"))["result"]["arguments"] == {"place": "Wien"}
    await host.call("sendToolCancelled", {"reason": "enough"})
    await expect(frame.locator("#told")).to_contain_text("enough")


@pytest.mark.parametrize("blocked", [False, extended(True)])
async def test_a_view_s_values_outlive_its_frame_where_it_has_storage(
    context: BrowserContext, troubles: Troubles, origins: Origins, view: Bundle, app_bridge: str, blocked: bool
) -> None:
    url = view.url if blocked else view.url.replace("bundle.", "bundle.host.", 1)  # the browser blocks other sites
    found = []
    for name in ("one", "one", "two"):  # a page with a frame of its own for each call
        host = await AppsHost.load(context, origins, url, app_bridge)
        await host.open()
        await host.call("sendToolResult", {"content": [], "_meta": {"viewUUID": name}})
        found.append(await host.tool("kept", value=7))
        if blocked:
            assert (await host.tool("kept"))["value"] == 7
            await troubles.said("This page has no storage")
        await host.page.close()
    assert found == [{"value": value, "persistent": not blocked} for value in (None, None if blocked else 7, None)]


@pytest.mark.extended
async def test_a_large_picture_comes_once(host: AppsHost) -> None:
    await host.open()
    width, height = 1000, 1700
    pixels = os.urandom(3 * width * height)  # 5 MB
    header = struct.pack("<2sIHHIIiiHHIIiiII", b"BM", 54 + len(pixels), 0, 0, 54, 40, width, height, 1, 24, *[0] * 6)
    data = base64.b64encode(header + pixels).decode()
    await host.call("sendToolResult", {"content": [{"type": "image", "mimeType": "image/bmp", "data": data}]})
    assert await host.tool("draw") == {"result": 1}
    drawn = host.page.frame_locator("iframe").locator("#drawn")
    await expect(drawn).to_have_js_property("naturalWidth", width)
    await expect(drawn).to_have_js_property("naturalHeight", height)


async def test_what_a_host_does_not_do_is_an_error_that_names_it(host: AppsHost) -> None:
    await host.open(answers={"onopenlink": {"isError": True}, "onmessage": "not now", "oncalltool": None})
    declined = await host.ask("open_link", url="https://example.org/")
    assert declined == {
        "error": "HostError",
        "message": "The host declined ui/open-link.",
        "request": "ui/open-link",
        "code": None,
    }
    failed = await host.ask("send_message", content="Hello")
    assert (failed["error"], failed["request"], failed["code"]) == ("HostError", "ui/message", -32603)
    assert "not now" in failed["message"]
    lacking = await host.ask("list_prompts")
    assert (lacking["error"], lacking["request"]) == ("HostLacks", "prompts/list")


async def test_appearance_and_size(host: AppsHost) -> None:
    await host.open(context=CONTEXT)
    frame = host.page.frame_locator("iframe").locator("html")
    assert await frame.get_attribute("data-theme") == "dark"
    assert await frame.evaluate("element => element.style.colorScheme") == "dark"
    variable = "element => getComputedStyle(element).getPropertyValue('--color-text-primary')"
    assert await frame.evaluate(variable) == "rgb(1, 2, 3)"
    await host.tool("add", a=1, b=2)  # once Python runs
    assert await frame.evaluate("() => document.adoptedStyleSheets[0].cssRules[0].style.fontFamily") == "Hosts"
    assert await frame.evaluate("element => element.style.padding") == "1px 2px 3px 4px"
    await host.tool("grow", pixels=2000)
    while (await host.taken("size"))["height"] < 2000:
        pass
    changed = {"theme": "light", "styles": {"variables": {"--color-text-secondary": "red"}}}
    await host.call("sendHostContextChange", changed)
    await expect(frame).to_have_attribute("data-theme", "light")
    assert await frame.evaluate(variable) == ""
    assert (await host.tool("told"))["context"]["locale"] == "de-AT"


@pytest.mark.extended
async def test_a_host_that_follows_the_size_does_not_make_it_grow(host: AppsHost) -> None:
    await host.open()
    heights = []
    for pixels in (300, 900, 200):
        await host.tool("grow", pixels=pixels)
        size = await host.taken("size")
        while size["height"] < pixels or (heights and pixels == 200 and size["height"] >= heights[-1]):
            size = await host.taken("size")
        heights.append(size["height"])
        await host.page.evaluate("height => { apps.iframe.style.height = `${height}px`; }", size["height"])
    assert heights[0] < heights[1] > heights[2]
    await host.page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert await host.page.evaluate("apps.count('size')") <= 1
