"""`AppHost` in Chromium: views with the official `App`, behind a sandbox proxy of another origin."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.server.apps import ResourceCsp
from playwright.async_api import BrowserContext, Frame, Page

from mcpframe.frame.core.errors import PeerGone
from mcpframe.frame.hosting.mcp_apps.host import AppHost
from mcpframe.frame.hosting.mcp_apps.view import RunningView
from mcpframe.kit.browser.playwright_window import PlaywrightPlace
from tests.browser.app_views import official_view, view_frame, weather
from tests.browser.apps_hosts import VERSIONS
from tests.browser.conftest import Origins, Troubles
from tests.browser.outers import PATIENCE
from tests.support.suites import newest_first

Json = dict[str, Any]
SCRIPT = "code => document.head.append(Object.assign(document.createElement('script'), { textContent: code }))"
"""Runs code as the page's own: what Playwright evaluates is not bound by the page's policy."""


@pytest.fixture(scope="session", params=newest_first(VERSIONS))
def html(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A view with the official `App`."""
    return official_view(request.param, tmp_path_factory.mktemp("view"))


class Chat:
    """A host's page, from CPython."""

    def __init__(self, page: Page, origins: Origins) -> None:
        self.page = page
        self.origins = origins

    @asynccontextmanager
    async def shows(self, html: str, *, csp: ResourceCsp | None = None, **options: Any) -> AsyncIterator[RunningView]:
        """Show the view of `forecast` of a server with this view."""
        sandbox = options.pop("sandbox", f"{self.origins.stranger}/sandbox.html")
        async with Client(weather(html, csp)) as client:
            async with AppHost(client, "forecast", sandbox=sandbox, **options).show(
                PlaywrightPlace(self.page)
            ) as running:
                yield running
            assert await self.page.locator("iframe").count() == 0


@pytest.fixture
async def chat(context: BrowserContext, troubles: Troubles, origins: Origins) -> Chat:
    page = await context.new_page()
    await page.goto(f"{origins.host}/page.html")
    return Chat(page, origins)


async def call(frame: Frame, method: str, *given: Any) -> Json:
    with anyio.fail_after(PATIENCE):
        answer: Json = await frame.evaluate("([method, given]) => view.call(method, ...given)", [method, given])
    return answer


async def taken(frame: Frame, kind: str) -> Any:
    with anyio.fail_after(PATIENCE):
        return await frame.evaluate("kind => view.taken(kind)", kind)


async def raw(frame: Frame, method: str, params: Json) -> Json:
    with anyio.fail_after(PATIENCE):
        answer: Json = await frame.evaluate("([method, params]) => view.raw(method, params)", [method, params])
    return answer


async def test_the_handshake_and_a_call(chat: Chat, html: str) -> None:
    context = {"theme": "dark", "locale": "de-AT", "styles": {"variables": {"--color-text-primary": "red"}}}
    async with chat.shows(html, context=context, name="Chat", version="3") as running:
        running.input_partial({"place": "Wi"})
        await running.initialized()
        result = await running.call({"place": "Wien"})
        assert result.structured_content == {"place": "Wien", "degrees": 21, "wind": None}
        assert (running.info["name"], running.info["version"]) == ("An official view", "7")
        frame = await view_frame(chat.page)
        assert await taken(frame, "partial") == {"place": "Wi"}
        assert await taken(frame, "input") == {"place": "Wien"}
        shown = await taken(frame, "result")
        assert shown["structuredContent"] == {"place": "Wien", "degrees": 21, "wind": None}
        assert (await call(frame, "getHostVersion"))["result"] == {"name": "Chat", "version": "3"}
        told = (await call(frame, "getHostContext"))["result"]
        assert (told["theme"], told["locale"], told["toolInfo"]["tool"]["name"]) == ("dark", "de-AT", "forecast")
        running.change_context({"theme": "light", "locale": "de-AT"})
        assert await taken(frame, "context") == {"theme": "light"}
        assert await frame.evaluate("view.origin") == "null"


async def test_a_cancelled_call(chat: Chat, html: str) -> None:
    async with chat.shows(html) as running:
        running.input({"place": "Wien"})
        running.cancelled("enough")
        await running.initialized()
        assert await taken(await view_frame(chat.page), "cancelled") == {"reason": "enough"}


async def test_what_a_view_asks_of_its_server(chat: Chat, html: str) -> None:
    async with chat.shows(html) as running:
        await running.initialized()
        frame = await view_frame(chat.page)
        answer = await call(frame, "callServerTool", {"name": "refresh", "arguments": {}})
        assert answer["result"]["content"] == [{"type": "text", "text": "fresh"}]
        refused = await call(frame, "callServerTool", {"name": "erase", "arguments": {}})
        assert refused["code"] == -32602
        assert "models only" in refused["error"]
        read = await call(frame, "readServerResource", {"uri": "data://stations"})
        assert read["result"]["contents"][0]["text"] == "Wien"
        assert "error" in await call(frame, "readServerResource", {"uri": "data://nothing"})
        listed = (await call(frame, "listServerResources"))["result"]["resources"]
        assert "data://stations" in [resource["uri"] for resource in listed]
        tools = (await raw(frame, "tools/list", {}))["result"]["tools"]
        assert [tool["name"] for tool in tools] == ["forecast", "refresh"]
        assert (await raw(frame, "ping", {}))["result"] == {}
        assert (await raw(frame, "no/such", {}))["error"]["code"] == -32601


async def test_what_a_view_asks_of_its_host(chat: Chat, html: str) -> None:
    asked: list[Any] = []
    logged: list[Any] = []

    async def note(*given: Any) -> None:
        asked.append(given)

    async def mode(wanted: str) -> str:
        return wanted

    options = {
        "on_link": note,
        "on_message": note,
        "on_download": note,
        "on_model_context": note,
        "on_display_mode": mode,
        "on_log": lambda *given: logged.append(given),
        "on_sampling": lambda params: {"role": "assistant", "content": {"type": "text", "text": "!"}, "model": "m"},
        "context": {"availableDisplayModes": ["inline", "fullscreen"]},
        "teardown": PATIENCE,
    }
    text = {"type": "text", "text": "Hello"}
    file = {"type": "resource", "resource": {"uri": "file:///a.txt", "mimeType": "text/plain", "text": "a"}}
    async with chat.shows(html, **options) as running:
        await running.initialized()
        frame = await view_frame(chat.page)
        assert (await call(frame, "openLink", {"url": "https://example.org/"}))["result"] == {}
        assert (await call(frame, "sendMessage", {"role": "user", "content": [text]}))["result"] == {}
        assert (await call(frame, "downloadFile", {"contents": [file]}))["result"] == {}
        await call(frame, "updateModelContext", {"content": [text], "structuredContent": {"t": 72}})
        assert asked == [("https://example.org/",), ([text],), ([file],), ([text], {"t": 72})]
        for url in ("javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "https://user:x@example.org/"):
            assert (await call(frame, "openLink", {"url": url}))["code"] == -32602
        assert len(asked) == 4
        assert (await call(frame, "requestDisplayMode", {"mode": "fullscreen"}))["result"] == {"mode": "fullscreen"}
        assert await taken(frame, "context") == {"displayMode": "fullscreen"}
        sampled = await call(frame, "createSamplingMessage", {"messages": [], "maxTokens": 5})
        assert sampled["result"]["content"] == {"type": "text", "text": "!"}
        await call(frame, "sendLog", {"level": "info", "data": "a"})
        await raw(frame, "ping", {})
        assert logged == [("info", "a", None)]
    assert logged[-1] == ("info", {"last": "words"}, None)  # the official App has no reason


async def test_the_view_s_own_tools_are_offered_to_the_host(chat: Chat, html: str) -> None:
    async with chat.shows(html) as running:
        [tool] = (await running.list_tools()).tools
        assert tool.name == "zoom"
        called = await running.call_tool("zoom", {"by": 2})
        assert called.content[0].text == 'zoom {"by":2}'  # type: ignore[union-attr]


async def test_the_frame_follows_the_size_within_bounds(chat: Chat, html: str) -> None:
    async with chat.shows(html, context={"containerDimensions": {"maxHeight": 300}}) as running:
        await running.initialized()
        frame = await view_frame(chat.page)
        height = "[...document.querySelectorAll('iframe')].at(-1).getBoundingClientRect().height"
        await frame.evaluate("document.body.style.cssText = 'margin: 0; height: 123px'")
        await chat.page.wait_for_function(f"{height} === 123")
        await frame.evaluate("document.body.style.height = '5000px'")
        await chat.page.wait_for_function(f"{height} === 300")


async def test_a_view_that_is_loaded_again_or_goes_elsewhere_ends(chat: Chat, troubles: Troubles, html: str) -> None:
    async with chat.shows(html) as running:
        await running.initialized()
        await (await view_frame(chat.page)).evaluate("setTimeout(() => location.reload())")
        assert isinstance((await running.ended()).error, PeerGone)
    troubles.expect("Content Security Policy")
    async with chat.shows(html) as running:
        await running.initialized()
        elsewhere = f"{chat.origins.bundle}/page.html?inner"
        await (await view_frame(chat.page)).evaluate("url => { setTimeout(() => location.assign(url)); }", elsewhere)
        assert isinstance((await running.ended()).error, PeerGone)


async def test_a_view_can_do_no_more_than_it_declared(chat: Chat, troubles: Troubles, html: str) -> None:
    troubles.expect("Content Security Policy")
    troubles.expect("sandbox")
    csp = ResourceCsp(connect_domains=[chat.origins.bundle])
    fetched = "url => fetch(url, { mode: 'no-cors' }).then(() => true, () => false)"
    async with chat.shows(html, csp=csp) as running:
        await running.initialized()
        frame = await view_frame(chat.page)
        assert await frame.evaluate(fetched, f"{chat.origins.bundle}/page.html")
        assert not await frame.evaluate(fetched, f"{chat.origins.host}/page.html")
        assert not await frame.evaluate(fetched, chat.origins.stranger)
        for attempt in (
            "parent.document",
            "top.document",
            "localStorage",
            "eval('1')",
            "new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]))",
        ):
            tries = f"try {{ {attempt}; window.done = 'done' }} catch {{ window.done = 'blocked' }}"
            await frame.evaluate(SCRIPT, f"delete window.done; setTimeout(() => {{ {tries} }})")
            done = await frame.wait_for_function("window.done")
            assert await done.json_value() == "blocked", attempt
        assert await frame.evaluate("open('about:blank')") is None


async def test_a_proxy_of_the_host_s_own_origin_shows_nothing(chat: Chat, html: str) -> None:
    async with chat.shows(html, sandbox=f"{chat.origins.host}/sandbox.html"):
        text = chat.page.frame_locator("iframe").get_by_text("another origin")
        await text.wait_for(timeout=PATIENCE * 1000)


async def test_a_view_with_the_sandbox_s_origin_has_storage(chat: Chat, html: str) -> None:
    async with chat.shows(html, own_origin=True, sandbox=f"{chat.origins.neighbour}/sandbox.html") as running:
        await running.initialized()
        frame = await view_frame(chat.page)
        assert await frame.evaluate("view.origin") == chat.origins.neighbour
        assert await frame.evaluate("localStorage.length") == 0


async def test_webassembly_is_for_hosts_that_say_so(chat: Chat, html: str) -> None:
    async with chat.shows(html, wasm=True) as running:
        await running.initialized()
        frame = await view_frame(chat.page)
        module = "new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])) instanceof WebAssembly.Module"
        assert await frame.evaluate(module)
