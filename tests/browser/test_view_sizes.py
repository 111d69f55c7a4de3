"""The height of a view in hosts that apply what it reports: nothing is cut off, nothing collapses, and it ends."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from math import ceil

import anyio
import pytest
from playwright.async_api import BrowserContext, Error, Frame, JSHandle

from docs.generate.views_in_hosts import ANY_VIEW
from mcpframe.hosts import HOST_PROFILES
from mcpframe.kit.base.limits import VIEW_FILLED_PIXELS
from mcpframe.kit.publish.view_checks.run import ViewText, hosted
from mcpframe.kit.publish.view_checks.stage import Stage, stage
from mcpframe.views.html import view_html, view_meta
from tests.browser.clients import BOOT_PATIENCE
from tests.support.built import SERVERS, built
from tests.support.suites import except_for, extended

URL = "https://tools.example/sized/"
UI = view_meta(URL)["ui"]
FORMS = {"inline": "claude", "framed": "chatgpt"}
"""A profile in which the bundle draws in the view's own document, and one in which it has a frame."""
SIZES = "() => [document.documentElement.scrollHeight, innerHeight]"
Opened = tuple[Frame, JSHandle]


@pytest.fixture(scope="module")
def stood() -> Iterator[Stage]:
    _, result = built(SERVERS / "sized", allowed_origins=ANY_VIEW, url=URL)
    headers = {name: HOST_PROFILES[name].policies(UI["csp"])[0] for name in FORMS.values()}
    with stage(URL, result.folder, headers) as running:
        yield running


@pytest.fixture(scope="module")
async def context(stood: Stage) -> AsyncIterator[BrowserContext]:
    async with stood.browser(storage=True) as opened:
        yield opened


@pytest.fixture(scope="module", params=except_for(FORMS, "inline"))
async def host(request: pytest.FixtureRequest, context: BrowserContext, stood: Stage) -> AsyncIterator[Opened]:
    view = ViewText(view_html(URL), UI, URL)
    async with hosted(context, stood, HOST_PROFILES[FORMS[request.param]], view) as opened:
        yield opened


class Shown:
    """A view with a layout of the server."""

    def __init__(self, host: Frame, handle: JSHandle, page: Frame) -> None:
        self.host = host
        self.handle = handle
        self.page = page

    @classmethod
    @asynccontextmanager
    async def open(cls, host: Opened, layout: str, start: int = 200) -> AsyncIterator[Shown]:
        """Open one in a frame of this height, for the duration of the block."""
        frame, functions = host
        before = set(frame.page.frames)
        arguments = {"layout": layout}
        result = {"content": [{"type": "text", "text": "drawn"}]}
        call = {"tool": {"name": "show"}, "arguments": arguments, "partial": {}, "result": result, "height": start}
        handle = await functions.evaluate_handle("(host, call) => host.open(call, 60000)", call)
        try:
            yield cls(frame, handle, await _drawn(frame, before, layout))
        finally:
            await handle.evaluate("shown => shown.frame.remove()")  # below another one it would not be drawn

    async def heights(self) -> list[int]:
        """The heights that it has reported."""
        reported: list[int] = await self.handle.evaluate("shown => shown.heights")
        return reported

    async def settled(self, height: int, hidden: int = 0) -> list[int]:
        """Wait until its frame has a height, and so much of the content is hidden; return its reports."""
        seen: list[int] = []
        try:
            with anyio.fail_after(10):
                while seen != [height + hidden, height] or not await self.heights():
                    seen = await self.page.evaluate(SIZES)
        except TimeoutError:
            raise AssertionError((seen, await self.heights())) from None
        return await self.heights()


async def _drawn(host: Frame, before: set[Frame], layout: str) -> Frame:
    """Wait for the frame with a layout."""
    with anyio.fail_after(BOOT_PATIENCE):
        while True:
            for page in set(host.page.frames) - before:
                with suppress(Error):  # it is gone already
                    if await page.locator(f"html[data-layout={layout}] #map").count():
                        return page
            await anyio.lowlevel.checkpoint()


CONTENT = 60 + 140 + 40
"""The height of the layout `content`, besides its details."""
DETAILS = "document.querySelector('#details')"
PICTURE = """
    const picture = new Image();
    document.querySelector('#line').after(picture);
    picture.style.display = 'block';
    const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="250"/>';
    picture.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
"""
ELEMENT = """
    const section = document.createElement('section');
    section.style.height = '17px';
    document.querySelector('#mcpframe-app').append(section);
"""
GROWING = {
    "details": (f"{DETAILS}.open = true", 300),
    "an image": (PICTURE, 250),
    "text": ("document.querySelector('#line').style.height = '260px'", 200),
    "an element": (ELEMENT, 17),
}


@pytest.mark.parametrize("layout", ["content", "reset"])
async def test_content_that_grows_later_is_never_cut_off(host: Opened, layout: str) -> None:
    async with Shown.open(host, layout) as shown:
        height = CONTENT + await shown.page.evaluate(f"() => {DETAILS}.getBoundingClientRect().height")
        assert await shown.settled(ceil(height)) == [ceil(height)]
        for script, grows in GROWING.values():
            await shown.page.evaluate(script)
            height += grows
            await shown.settled(ceil(height))
        await shown.page.evaluate(f"{DETAILS}.open = false")
        assert len(await shown.settled(ceil(height) - 300)) == 2 + len(GROWING)


@pytest.mark.parametrize("start", [200, extended(700)])
@pytest.mark.parametrize("layout", ["percent", "wrapper", "viewport", "body", "rest", "absolute", "fixed"])
async def test_what_fills_its_frame_keeps_it_or_gets_the_least_height(host: Opened, layout: str, start: int) -> None:
    expected = max(start, VIEW_FILLED_PIXELS)
    async with Shown.open(host, layout, start) as shown:
        assert await shown.settled(expected) == [expected]
        inner = await shown.page.evaluate("() => document.querySelector('#map').offsetHeight")
        assert inner == {"body": 50, "rest": expected - 60}.get(layout, expected)


async def test_what_is_always_higher_than_its_frame_is_reported_once(host: Opened) -> None:
    async with Shown.open(host, "margins") as shown:
        assert await shown.settled(VIEW_FILLED_PIXELS, hidden=16) == [VIEW_FILLED_PIXELS]
