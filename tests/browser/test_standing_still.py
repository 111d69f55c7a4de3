"""Pages that stand still and go on: in the back/forward cache, frozen by the browser, on a computer that sleeps."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import anyio
import pytest
from playwright.async_api import Frame, Page, Worker, async_playwright

from tests.browser.conftest import BundleOf, Origins, Troubles, new_context
from tests.browser.mcpb import Peer, bring, bundle_peers
from tests.browser.outers import PATIENCE
from tests.support.origins import chromium_options
from tests.support.suites import extended

STILL = 3.0
"""For how long pages stand still, in seconds."""
SILENT = 1.0
"""After how many seconds a silent page counts as unresponsive here."""


@pytest.fixture
async def caching(origins: Origins) -> AsyncIterator[tuple[Page, Troubles]]:
    """A page in a Chromium whose back/forward cache works, as Playwright's does not by itself."""
    async with async_playwright() as playwright:
        ignored = ["--disable-back-forward-cache"]
        browser = await playwright.chromium.launch(**chromium_options(), ignore_default_args=ignored)
        async with new_context(browser) as (context, troubles):
            yield await context.new_page(), troubles
        await browser.close()


async def go_and_come_back(page: Page, origins: Origins, ready: str) -> bool:
    """Leave a page and go back to it; return whether the browser has kept it: else a test of this proves nothing."""
    runners: list[Frame | Worker] = [*page.frames, *page.workers]
    for runner in runners:  # Chromium does not keep a page with large downloads under way
        await runner.evaluate("globalThis.mcpframeComplete?.()")
    await page.evaluate("addEventListener('pageshow', (event) => (window.restored = event.persisted))")
    url = page.url
    await page.goto(f"{origins.stranger}/page.html")
    await page.evaluate("() => void setTimeout(() => history.back())")  # this page, and so an answer, may go at once
    await page.wait_for_url(url, wait_until="commit")  # there is no load event: it was loaded before
    await page.wait_for_function(ready)
    return bool(await page.evaluate("window.restored"))


async def test_a_host_page_that_comes_back_goes_on(caching: tuple[Page, Troubles], origins: Origins) -> None:
    page, _ = caching
    await page.goto(f"{origins.host}/host.html")
    await page.wait_for_function("() => window.lab")
    await page.evaluate("url => lab.connect({ url })", f"{origins.bundle}/page.html?inner")
    await page.evaluate("lab.next('opened')")
    assert await go_and_come_back(page, origins, "() => window.lab"), (
        "Chromium did not keep it: the line proves nothing"
    )
    await page.evaluate('lab.send(\'{"jsonrpc":"2.0","id":1,"method":"echo","params":{"still":"here"}}\')')
    with anyio.fail_after(PATIENCE):
        received = await page.evaluate("lab.next('received')")
    assert received["payload"]["result"] == {"still": "here"}


class Hosted:
    """A host page with a server in a frame."""

    def __init__(self, page: Page) -> None:
        self.page = page

    async def open(self, origins: Origins, url: str, **options: Any) -> None:
        """Connect to the server, with these options of `FrameTransport`."""
        await self.page.goto(f"{origins.host}/template.html")
        await self.page.wait_for_function("() => window.lab")
        await self.page.evaluate("([url, options]) => lab.connect(url, undefined, options)", [url, options])
        await self.page.evaluate(
            "lab.silent = []; lab.transport.onunresponsive = (silent) => void lab.silent.push(silent); 0"
        )

    async def begin(self, tool: str, **arguments: Any) -> None:
        """Call a tool, without waiting for the answer."""
        await self.page.evaluate("([tool, args]) => void (lab.begun = lab.call(tool, args))", [tool, arguments])

    async def ended(self) -> Any:
        """Wait for the answer."""
        with anyio.fail_after(PATIENCE):
            return (await self.page.evaluate("lab.begun"))["structuredContent"]["result"]

    async def call(self, tool: str, **arguments: Any) -> Any:
        await self.begin(tool, **arguments)
        return await self.ended()


IN_PAGE, IN_WORKER = ("everything", "compute", "computed True"), ("computing", "nap", "slept")


@pytest.mark.parametrize(
    ("server", "tool", "answer"), [IN_PAGE, extended(*IN_WORKER)], ids=["in the page", "in a worker"]
)
@pytest.mark.usefixtures("typescript_client")
async def test_a_server_that_comes_back_goes_on(
    caching: tuple[Page, Troubles], origins: Origins, bundle_of: BundleOf, server: str, tool: str, answer: str
) -> None:
    """No call of the page's own Python is under way: Chromium drops what a frame posts while it is being kept."""
    page, _ = caching
    hosted = Hosted(page)
    await hosted.open(origins, bundle_of(server).url)
    await hosted.begin(tool, seconds=1)
    if server == "everything":
        assert await hosted.ended() == answer
    assert await go_and_come_back(page, origins, "() => window.lab?.client")
    assert await hosted.ended() == answer
    assert await hosted.call(tool, seconds=0.01) == answer


@pytest.mark.extended
async def test_a_page_server_that_comes_back_serves_its_clients(
    caching: tuple[Page, Troubles], origins: Origins, bundle_of: BundleOf, tmp_path: Any
) -> None:
    page, _ = caching
    await page.goto(bundle_of("pageserver").url)
    await page.wait_for_selector("#mcpframe-page[data-state=standalone]", state="attached")
    await bring(page, bundle_peers(tmp_path))
    peer = await Peer.tab(page)
    await page.evaluate("number => mcpb.watch(number, 'hang', { tag: 'left' })", peer.number)
    assert await peer.heard("progress") == "progress: 1 of 2, left"
    assert await go_and_come_back(page, origins, "() => window.mcpb")
    assert (await peer.heard("watched")).startswith("watched: error")  # as no page knows whether it comes back
    assert (await peer.tool("add", a=2, b=3))["structuredContent"] == {"result": 5}


Stop = Callable[[Page], AbstractAsyncContextManager[None]]


@asynccontextmanager
async def frozen(page: Page) -> AsyncIterator[None]:
    """Have the browser freeze a page with all its frames, as it does with tabs in the background."""
    devtools = await page.context.new_cdp_session(page)
    await devtools.send("Page.setWebLifecycleState", {"state": "frozen"})
    try:
        yield
    finally:
        await devtools.send("Page.setWebLifecycleState", {"state": "active"})


@asynccontextmanager
async def asleep(page: Page) -> AsyncIterator[None]:
    """Stop the browser's renderers, as a computer that sleeps does; the clock goes on."""
    assert page.context.browser is not None
    devtools = await page.context.browser.new_browser_cdp_session()
    processes = (await devtools.send("SystemInfo.getProcessInfo"))["processInfo"]
    renderers = [each["id"] for each in processes if each["type"] == "renderer"]
    _signal(renderers, signal.SIGSTOP)
    try:
        yield
    finally:
        _signal(renderers, signal.SIGCONT)


def _signal(processes: Sequence[int], number: int) -> None:
    for process in processes:
        os.kill(process, number)


@pytest.mark.parametrize("stop", [frozen, extended(asleep)], ids=["frozen", "asleep"])
@pytest.mark.parametrize(
    ("server", "tool", "answer"), [IN_PAGE, extended(*IN_WORKER)], ids=["in the page", "in a worker"]
)
@pytest.mark.usefixtures("typescript_client")
async def test_a_call_under_way_goes_on(
    host_page: Page, origins: Origins, bundle_of: BundleOf, stop: Stop, server: str, tool: str, answer: str
) -> None:
    hosted = Hosted(host_page)
    await hosted.open(origins, bundle_of(server).url, unresponsiveAfter=SILENT * 1000)
    await hosted.begin(tool, seconds=1)
    async with stop(host_page):
        await anyio.sleep(STILL)  # there is no event for time that passes
    assert await hosted.ended() == answer
    silent = await host_page.evaluate("lab.silent")
    assert silent in ([], [True, False]), "a host whose page answers again does not offer to reload it"
    assert await host_page.evaluate("lab.client.ping().then(() => lab.silent)") == silent
