"""Each message of MCP Apps, in the host's role: `AppHost` around a view with the official `App`, of 2.0.4 and 1.7.5.

`tests/support/apps_rows.py` says which test is for which message. One view does for all of them. The host is in CPython
here.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest
from playwright.async_api import BrowserContext

from mcpframe.frame.core.errors import AppTimeout
from tests.browser.app_hosting import Shown, showing
from tests.browser.clients import BOOT_PATIENCE
from tests.browser.conftest import Origins, watched

Json = dict[str, Any]
TEXT = [{"type": "text", "text": "a text"}]
CONTEXT = {"theme": "dark", "locale": "de-AT", "availableDisplayModes": ["inline", "fullscreen"]}


@pytest.fixture(scope="module")
async def shown(profile: BrowserContext, origins: Origins, official_view: str) -> AsyncIterator[Shown]:
    async with watched(profile):
        page = await profile.new_page()
        await page.goto(f"{origins.host}/page.html")
        async with showing(page, origins.sandbox, official_view, context=CONTEXT, name="Chat", version="3") as shown:
            yield shown


async def call(shown: Shown, method: str, *given: Any) -> Any:
    """Call a method of the official `App`; return its result."""
    answer = await shown.inside("([method, given]) => view.call(method, ...given)", [method, given])
    assert "error" not in answer, answer
    return answer["result"]


async def raw(shown: Shown, method: str, params: Json) -> Json:
    """Send a request past the `App`; return the result."""
    answer = await shown.inside("([method, params]) => view.raw(method, params)", [method, params])
    assert "error" not in answer, answer
    result: Json = answer["result"]
    return result


async def test_behind_a_sandbox_proxy(shown: Shown, origins: Origins) -> None:
    proxy, view = shown.frames
    assert proxy.url == origins.sandbox
    assert await proxy.evaluate("origin") == origins.sandbox.removesuffix("/sandbox.html")
    assert await view.evaluate("origin") == "null"


async def test_the_handshake(shown: Shown) -> None:
    assert shown.running.info == {"name": "A view", "version": "1.2"}
    assert shown.running.capabilities == {"tools": {"listChanged": True}}
    told = await shown.inside("() => view.connected")
    assert told["host"] == {"name": "Chat", "version": "3"}
    offered = {"openLinks", "downloadFile", "message", "updateModelContext", "sampling", "logging"}
    assert set(told["capabilities"]) == {"serverTools", "serverResources", "sandbox", *offered}
    assert (told["context"]["theme"], told["context"]["displayMode"]) == ("dark", "inline")
    assert told["context"]["toolInfo"]["tool"]["name"] == "forecast"


async def test_a_link(shown: Shown) -> None:
    assert await call(shown, "openLink", {"url": "https://example.org/"}) == {}
    assert await shown.asked.taken("link") == "https://example.org/"
    for url in ("javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "https://user:x@example.org/"):
        assert (await shown.inside("params => view.call('openLink', params)", {"url": url}))["code"] == -32602
    assert "link" not in [kind for kind, *_ in shown.asked.notes]


async def test_a_download(shown: Shown) -> None:
    file = {"type": "resource", "resource": {"uri": "file:///a.txt", "mimeType": "text/plain", "text": "x"}}
    assert await call(shown, "downloadFile", {"contents": [file]}) == {}
    assert await shown.asked.taken("download") == [file]


async def test_a_message(shown: Shown) -> None:
    assert await call(shown, "sendMessage", {"role": "user", "content": TEXT}) == {}
    assert await shown.asked.taken("message") == TEXT
    shown.asked.answers["message"] = False
    assert await call(shown, "sendMessage", {"role": "user", "content": TEXT}) == {"isError": True}
    assert await shown.asked.taken("message") == TEXT
    del shown.asked.answers["message"]


async def test_model_context(shown: Shown) -> None:
    assert await call(shown, "updateModelContext", {"content": TEXT, "structuredContent": {"t": 72}}) == {}
    assert await shown.asked.taken("model_context") == [TEXT, {"t": 72}]


async def test_a_display_mode(shown: Shown) -> None:
    shown.asked.answers["display_mode"] = "fullscreen"
    assert await call(shown, "requestDisplayMode", {"mode": "fullscreen"}) == {"mode": "fullscreen"}
    assert await shown.asked.taken("display_mode") == "fullscreen"
    assert await shown.heard("context", {"displayMode": "fullscreen"})
    assert await call(shown, "requestDisplayMode", {"mode": "pip"}) == {"mode": "fullscreen"}
    shown.running.change_context({"displayMode": "inline"})


async def test_a_tool_of_the_server(shown: Shown) -> None:
    answer = await shown.inside("params => view.callTool(params)", {"name": "refresh", "arguments": {"days": 2}})
    assert answer["result"]["structuredContent"] == {"result": [0, 1]}
    assert await shown.heard("progress") == {"progress": 1, "total": 2, "message": "half"}
    refused = await shown.inside("params => view.callTool(params)", {"name": "erase", "arguments": {}})
    assert refused["code"] == -32602
    assert "for models only" in refused["error"]
    assert ("erased", True) not in shown.asked.notes


async def test_a_resource_of_the_server(shown: Shown) -> None:
    read = await raw(shown, "resources/read", {"uri": "data://stations"})
    assert read["contents"] == [{"uri": "data://stations", "mimeType": "text/plain", "text": "Wien"}]
    assert "error" in await shown.inside("params => view.raw('resources/read', params)", {"uri": "data://nothing"})


@pytest.mark.parametrize(
    ("method", "member", "names"),
    [
        ("tools/list", "tools", {"forecast", "refresh"}),
        ("resources/list", "resources", {"stations", "forecast"}),
        ("resources/templates/list", "resourceTemplates", {"station"}),
        ("prompts/list", "prompts", {"ask"}),
    ],
)
async def test_lists_of_the_server(shown: Shown, method: str, member: str, names: set[str]) -> None:
    listed = await raw(shown, method, {})
    assert {item["name"].rpartition("/")[2] for item in listed[member]} == names


async def test_a_message_of_the_model(shown: Shown) -> None:
    shown.asked.answers["sampling"] = {"role": "assistant", "model": "a model", "content": TEXT[0]}
    asked = {"messages": [{"role": "user", "content": TEXT[0]}], "maxTokens": 5}
    answered = await raw(shown, "sampling/createMessage", asked)
    assert (answered["role"], answered["content"]) == ("assistant", TEXT[0])
    assert await shown.asked.taken("sampling") == asked


async def test_pings(shown: Shown) -> None:
    assert await raw(shown, "ping", {}) == {}
    assert await shown.running.request("ping", {}) == {}
    assert (await shown.inside("() => view.raw('no/such', {})"))["error"]["code"] == -32601


RESIZED = """() => new Promise((done) => {
  const look = () => innerWidth === 300 ? requestAnimationFrame(() => requestAnimationFrame(() => done(true)))
    : requestAnimationFrame(look);
  look();
})"""


async def test_the_size(shown: Shown) -> None:
    # After a change of its width the view reports its own size: now, not between the two looks below.
    await call(shown, "sendSizeChanged", {"width": 300, "height": 100})
    assert await shown.inside(RESIZED)
    await call(shown, "sendSizeChanged", {"width": 300, "height": 432})
    script = "() => document.querySelector('iframe').clientHeight === 432"
    await shown.page.wait_for_function(script)
    assert shown.running.size == (300, 432)


async def test_a_request_to_be_removed(shown: Shown) -> None:
    await call(shown, "requestTeardown", {})
    assert await shown.asked.taken("teardown_request") == []


async def test_a_line_for_the_log(shown: Shown) -> None:
    await call(shown, "sendLog", {"level": "warning", "data": {"a": 1}, "logger": "view"})
    assert await shown.asked.taken("log") == ["warning", {"a": 1}, "view"]


async def test_an_app_tool(shown: Shown) -> None:
    assert [tool.name for tool in (await shown.running.list_tools()).tools] == ["add", "work"]
    assert (await shown.running.call_tool("add", {"a": 2, "b": 3})).structured_content == {"result": 5}


async def test_the_app_s_tools_change(shown: Shown) -> None:
    await call(shown, "sendToolListChanged", {})
    assert await shown.asked.taken("tools_changed") == []


async def test_an_app_tool_that_takes_time(shown: Shown) -> None:
    reported = anyio.Event()

    async def work() -> None:
        await shown.running.call_tool("work", on_progress=lambda *_: reported.set())

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(work)
        with anyio.fail_after(BOOT_PATIENCE):
            await reported.wait()
        tasks.cancel_scope.cancel()
    assert await shown.heard("stopped") == "work"
    with pytest.raises(AppTimeout):
        await shown.running.request("tools/call", {"name": "work"}, within=0.1)


async def test_a_request_that_the_view_cancels(shown: Shown) -> None:
    shown.asked.answers["link"] = None
    begin = "([method, params]) => view.begin(method, params)"
    await shown.inside(begin, ["openLink", {"url": "https://example.org/late"}])
    # Before it is cancelled: a request that is cancelled at once may never reach the hook.
    assert await shown.asked.taken("link") == "https://example.org/late"
    assert "enough" in (await shown.inside("() => view.cancel()"))["error"]
    assert await shown.asked.taken("cancelled") == "link"
    del shown.asked.answers["link"]


async def test_partial_arguments(shown: Shown) -> None:
    shown.running.input_partial({"place": "Wi"})
    assert await shown.heard("partial") == {"arguments": {"place": "Wi"}}


async def test_arguments_and_result(shown: Shown) -> None:
    result = await shown.running.call({"place": "Wien"})
    assert result.structured_content == {"place": "Wien", "degrees": 21}
    assert await shown.heard("input") == {"arguments": {"place": "Wien"}}
    assert (await shown.heard("result"))["structuredContent"] == {"place": "Wien", "degrees": 21}


async def test_a_cancelled_call(profile: BrowserContext, origins: Origins, official_view: str) -> None:
    page = await profile.new_page()
    await page.goto(f"{origins.host}/page.html")
    async with showing(page, origins.sandbox, official_view) as other:
        other.running.cancelled("enough")
        assert await other.heard("cancelled") == {"reason": "enough"}
    await page.close()


async def test_context_changes(shown: Shown) -> None:
    shown.running.change_context({"theme": "light", "locale": "de-AT"})
    assert await shown.heard("context", {"theme": "light"})


@pytest.mark.parametrize("kind", ["tools", "resources", "prompts"])
async def test_lists_of_the_server_change(shown: Shown, kind: str) -> None:
    shown.running.list_changed(kind)
    assert await shown.heard(f"notifications/{kind}/list_changed") is None


async def test_teardown(shown: Shown) -> None:
    await shown.running.tear_down("done", BOOT_PATIENCE)
    assert await shown.heard("teardown") == {}, "the official App leaves the reason out"
    assert (await shown.asked.taken("log"))[1] == "last words"
