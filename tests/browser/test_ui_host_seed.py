"""The seed's own pages in `UiHost`: the iframe's examples of "Embeddable UI", in a page that Playwright has open."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import pytest
from playwright.async_api import Frame, Page, Route, expect

from mcpframe.frame.hosting.mcp_ui.host import ShownUi, UiHost
from mcpframe.frame.hosting.mcp_ui.resource import ui_resource
from mcpframe.kit.browser.playwright_window import PlaywrightPlace
from tests.browser.conftest import PAGES, Origins, Troubles

EXAMPLES = "ui_examples.html"
HTML = (PAGES / EXAMPLES).read_text("utf-8")
URI = "ui://test/it"
DATA = {"theme": "dark"}


@dataclass
class Showing:
    """A page of the seed that is shown.

    Attributes:
        shown: the host's side.
        frame: the page.
        wire: the types of what it has posted.
    """

    shown: ShownUi
    frame: Frame
    wire: list[str] = field(default_factory=list)

    async def shows(self, selector: str, text: str) -> None:
        await expect(self.frame.locator(selector)).to_have_text(text)


@asynccontextmanager
async def showing(page: Page, block: Any, **options: Any) -> AsyncIterator[Showing]:
    """Show a resource for as long as the block lasts."""
    place = PlaywrightPlace(page)
    wire: list[str] = []

    def note(event: Any) -> None:
        if event.direction == "received" and event.text:
            wire.append(json.loads(event.text)["type"])

    async with UiHost(block, on_wire=note, **options).show(place) as shown:
        assert place.window
        frame = await place.window.frame()
        if block.resource.mime_type == "text/uri-list":
            await frame.wait_for_url(lambda url: not url.startswith("about:"))
        yield Showing(shown, frame, wire)


async def test_by_its_address_and_again_after_it_has_reloaded(page: Page, origins: Origins) -> None:
    block = ui_resource(URI, url=f"{origins.bundle}/{EXAMPLES}", render_data=DATA, size=("50%", 300))
    async with showing(page, block, on_tool=lambda *_: {"content": []}, on_data=lambda *_: ["card"]) as its:
        await its.shows("#ui", '{"theme":"dark"}')
        iframe = page.locator("iframe")
        assert await iframe.evaluate("element => [element.style.width, element.style.height]") == ["50%", "300px"]
        await its.frame.click("#tool")
        await its.frame.click("#data")
        heard = ["received t", 't: {"content":[]}', "received 123", '123: ["card"]']
        await expect(its.frame.locator("#heard li")).to_have_text(heard)
        its.shown.render({"theme": "light"})
        await its.frame.click("#request")
        await its.shows("#requested", '{"theme":"light"}')
        await its.frame.evaluate("location.reload()")
        await its.shows("#ui", '{"theme":"light"}')  # it has said again that it is ready
        await its.frame.click("#tool")
        await expect(its.frame.locator("#heard li")).to_have_text(heard[:2])
    assert its.wire.count("ui-lifecycle-iframe-ready") == 2
    assert its.shown.closed.is_set()
    await expect(iframe).to_have_count(0)


async def test_as_html_text_whose_host_follows_its_size(page: Page, origins: Origins) -> None:
    block = ui_resource(URI, html=HTML, render_data=DATA)
    async with showing(page, block, auto_resize=True) as its:
        await its.shows("#ui", "null")  # HTML text has no address
        assert await its.frame.evaluate("self.origin") == "null"
        await its.frame.click("#request")
        await its.shows("#requested", '{"theme":"dark"}')
        await its.frame.click("#observe")
        for pixels in (700, 300):
            await its.frame.evaluate("pixels => { document.body.style.height = `${pixels}px`; }", pixels)
            within = "pixels => Math.abs(document.querySelector('iframe').clientHeight - pixels) < 60"
            await page.wait_for_function(within, arg=pixels)
        width, height = its.shown.size
        assert width is None
        assert height is not None


async def test_pages_side_by_side(page: Page, origins: Origins) -> None:
    """Each page has a host of its own; one is removed while its action is handled."""
    ended = anyio.Event()

    async def never(*_: Any) -> None:
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()

    address = ui_resource(URI, url=f"{origins.bundle}/{EXAMPLES}")
    async with (
        showing(page, address, on_tool=never) as removed,
        showing(page, address, on_tool=lambda *_: "second") as second,
        showing(page, ui_resource(URI, html=HTML), on_tool=lambda *_: "third") as third,
        showing(page, ui_resource(URI, url=f"{origins.host}/{EXAMPLES}"), on_tool=lambda *_: "own") as own,
    ):
        assert [await each.frame.evaluate("self.origin") for each in (second, third, own)] == [
            origins.bundle,
            "null",
            "null",  # that of the host, in which it could reach everything
        ]
        await removed.frame.click("#tool")
        await expect(removed.frame.locator("#heard li")).to_have_text(["received t"])
        await page.locator("iframe").first.evaluate("element => element.remove()")
        with anyio.fail_after(30):
            await removed.shown.closed.wait()
            await ended.wait()
        for each, answer in ((second, "second"), (third, "third"), (own, "own")):
            await each.frame.click("#tool")
            await expect(each.frame.locator("#heard li")).to_have_text(["received t", f't: "{answer}"'])


async def test_a_redirect_within_its_origin_and_one_to_another(
    page: Page, origins: Origins, caplog: pytest.LogCaptureFixture, troubles: Troubles
) -> None:
    async def redirect(route: Route) -> None:
        to = origins.bundle if "within" in route.request.url else origins.stranger
        query = "?waitForRenderData=true"
        await route.fulfill(status=302, headers={"Location": f"{to}/{EXAMPLES}{query}"})

    await page.route("**/moved-*", redirect)
    within = ui_resource(URI, url=f"{origins.bundle}/moved-within", render_data=DATA)
    async with showing(page, within, on_tool=lambda *_: "yes") as its:
        await its.shows("#ui", '{"theme":"dark"}')
    assert not caplog.records
    troubles.expect("does not match the recipient window's origin")
    away = ui_resource(URI, url=f"{origins.bundle}/moved-away", render_data=DATA)
    with caplog.at_level(logging.WARNING):
        async with showing(page, away, on_tool=lambda *_: "yes") as its:
            await its.frame.click("#tool")
            with anyio.fail_after(30):
                while not caplog.records:
                    await its.frame.evaluate("new Promise(requestAnimationFrame)")
            assert await its.frame.locator("#heard li").count() == 0
            await its.shows("#ui", "")  # the data is for the other origin only
    (record,) = caplog.records
    assert f"is now a page of {origins.stranger}" in record.message
