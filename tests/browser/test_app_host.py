"""`AppHost` in Chromium: views with the official `App`, behind a sandbox proxy of another origin."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp import Client
from mcp.server.apps import ResourceCsp
from playwright.async_api import BrowserContext, Page

from mcpframe.frame.core.errors import PeerGone
from mcpframe.frame.hosting.mcp_apps.host import AppHost
from mcpframe.frame.hosting.mcp_apps.view import RunningView
from mcpframe.kit.browser.playwright_window import PlaywrightPlace
from tests.browser.app_views import view_frame, weather
from tests.browser.conftest import Origins, Troubles
from tests.browser.outers import PATIENCE

Json = dict[str, Any]
SCRIPT = "code => document.head.append(Object.assign(document.createElement('script'), { textContent: code }))"
"""Runs code as the page's own: what Playwright evaluates is not bound by the page's policy."""


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


async def test_the_frame_follows_the_size_within_bounds(chat: Chat, official_view: str) -> None:
    async with chat.shows(official_view, context={"containerDimensions": {"maxHeight": 300}}) as running:
        await running.initialized()
        frame = await view_frame(chat.page)
        height = "[...document.querySelectorAll('iframe')].at(-1).getBoundingClientRect().height"
        await frame.evaluate("document.body.style.cssText = 'margin: 0; height: 123px'")
        await chat.page.wait_for_function(f"{height} === 123")
        await frame.evaluate("document.body.style.height = '5000px'")
        await chat.page.wait_for_function(f"{height} === 300")


async def test_a_view_that_is_loaded_again_or_goes_elsewhere_ends(
    chat: Chat, troubles: Troubles, official_view: str
) -> None:
    async with chat.shows(official_view) as running:
        await running.initialized()
        await (await view_frame(chat.page)).evaluate("setTimeout(() => location.reload())")
        assert isinstance((await running.ended()).error, PeerGone)
    troubles.expect("Content Security Policy")
    async with chat.shows(official_view) as running:
        await running.initialized()
        elsewhere = f"{chat.origins.bundle}/page.html?inner"
        await (await view_frame(chat.page)).evaluate("url => { setTimeout(() => location.assign(url)); }", elsewhere)
        assert isinstance((await running.ended()).error, PeerGone)


async def test_a_view_can_do_no_more_than_it_declared(chat: Chat, troubles: Troubles, official_view: str) -> None:
    troubles.expect("Content Security Policy")
    troubles.expect("sandbox")
    csp = ResourceCsp(connect_domains=[chat.origins.bundle])
    fetched = "url => fetch(url, { mode: 'no-cors' }).then(() => true, () => false)"
    async with chat.shows(official_view, csp=csp) as running:
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


async def test_a_proxy_of_the_host_s_own_origin_shows_nothing(chat: Chat, official_view: str) -> None:
    async with chat.shows(official_view, sandbox=f"{chat.origins.host}/sandbox.html"):
        text = chat.page.frame_locator("iframe").get_by_text("another origin")
        await text.wait_for(timeout=PATIENCE * 1000)


async def test_a_view_with_the_sandbox_s_origin_has_storage(chat: Chat, official_view: str) -> None:
    async with chat.shows(official_view, own_origin=True, sandbox=f"{chat.origins.neighbour}/sandbox.html") as running:
        await running.initialized()
        frame = await view_frame(chat.page)
        assert await frame.evaluate("origin") == chat.origins.neighbour
        assert await frame.evaluate("localStorage.length") == 0


async def test_webassembly_is_for_hosts_that_say_so(chat: Chat, official_view: str) -> None:
    async with chat.shows(official_view, wasm=True) as running:
        await running.initialized()
        frame = await view_frame(chat.page)
        module = "new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])) instanceof WebAssembly.Module"
        assert await frame.evaluate(module)
