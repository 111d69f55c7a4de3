"""A page that can be installed, in a tab of its own: without a network, across deploys, and as a frame."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.async_api import BrowserContext, Page, expect
from starlette.types import Receive, Scope, Send

from mcpframe.kit.web.serve import serve_app, serve_folder
from mcpframe.kit.web.site import Site
from tests.browser.clients import BOOT_PATIENCE
from tests.browser.conftest import Origins, Troubles
from tests.browser.outers import PATIENCE
from tests.browser.test_docs import EXAMPLES
from tests.support.built import build_plain
from tests.support.deploys import deploy

_STARTS = BOOT_PATIENCE * 1000
_CONTROLLED = "() => navigator.serviceWorker.controller"
_WORKERS = "async () => (await navigator.serviceWorker.getRegistrations()).length"
_KEPT = """async () => {
  const caches_ = await Promise.all((await caches.keys()).map(async (name) => (await caches.open(name)).keys()));
  return caches_.flat().map(({ url }) => url);
}"""
_WAITS = "async () => (await navigator.serviceWorker.getRegistration())?.waiting?.state === 'installed'"

_TAKEN = "async () => !(await navigator.serviceWorker.getRegistration('below/deployed/')).waiting"


@contextmanager
def published(folder: Path, port: int = 0) -> Iterator[tuple[str, int]]:
    """Serve the builds of `deploy` below a path, and return the page's address and the port."""
    with serve_folder(folder / "web", port) as served:
        yield f"http://localhost:{served.port}/below/deployed/", served.port


def publish(folder: Path, number: int, *, installable: bool = True) -> None:
    """Replace what is published by a build, as a host does that keeps nothing."""
    deploy(folder, number, installable=installable)
    target = folder / "web" / "below"
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(folder / "site", target)
    shutil.copy(folder / "site" / "_headers", folder / "web" / "_headers")
    (folder / "web" / "outside.html").write_text('<!doctype html><link rel="icon" href="data:,">')
    headers = (folder / "web" / "_headers").read_text().replace("\n/", "\n/below/")
    (folder / "web" / "_headers").write_text(headers)


async def until(page: Page, condition: str) -> None:
    """Wait until the promise of an expression is fulfilled with true; `wait_for_function` takes a promise for true."""
    await page.evaluate(
        """async (patience) => {
          const end = performance.now() + patience;
          while (!(await (CONDITION)())) {
            if (performance.now() > end) throw new Error("not in time");
            await new Promise((resolve) => setTimeout(resolve, 50));
          }
        }""".replace("CONDITION", condition),
        PATIENCE * 1000,
    )


async def shows(page: Page, number: int) -> None:
    await expect(page.locator("#build")).to_have_text(f"build {number}", timeout=_STARTS)


async def test_it_works_without_a_network_and_a_new_deploy_is_taken_at_the_next_visit(
    context: BrowserContext, troubles: Troubles, tmp_path: Path
) -> None:
    publish(tmp_path, 1)
    with published(tmp_path) as (address, port):
        open_page = await context.new_page()
        await open_page.goto(address)
        await shows(open_page, 1)
        session = await context.new_cdp_session(open_page)
        problems = (await session.send("Page.getInstallabilityErrors"))["installabilityErrors"]
        assert [each["errorId"] for each in problems] == ["in-incognito"]  # as each test's context is
        manifest = await session.send("Page.getAppManifest")
        assert (manifest["errors"], manifest["url"]) == ([], f"{address}installable.json")
        await until(open_page, _CONTROLLED)

        publish(tmp_path, 2)
        later = await context.new_page()
        await later.goto(address)
        await shows(later, 2)
        # The open page is of the first build to the end, though its files are nowhere else any more.
        await open_page.click("#late")
        await expect(open_page.locator("#answer")).to_have_text("late of 1")
        await until(later, _WAITS)
        outside = await context.new_page()  # not a page of the worker, and of its origin
        await outside.goto(f"{address}../../outside.html")
        await open_page.close()
        await later.close()
        await until(outside, _TAKEN)
    # The second build's worker takes over: all of it is there, and nothing of the first.
    troubles.expect("ERR_CONNECTION_REFUSED")
    page = await context.new_page()
    await page.goto(address)
    await shows(page, 2)
    await page.click("#late")
    await expect(page.locator("#answer")).to_have_text("late of 2")
    kept = await page.evaluate(_KEPT)
    assert sum("/server." in url for url in kept) == 1

    troubles.expect("404")  # the browser looks for a new worker, and finds none
    with published(tmp_path, port):
        publish(tmp_path, 3, installable=False)
        await page.goto(address)
        await shows(page, 3)
        await until(page, f"async () => !(await ({_WORKERS})())")
        await until(page, f"async () => !(await ({_KEPT})()).length")
        await page.click("#late")  # through the worker that has left, which stores nothing
        await expect(page.locator("#answer")).to_have_text("late of 3")
        assert await page.evaluate("() => caches.keys()") == []


@pytest.mark.extended
@pytest.mark.parametrize("framed", [True, False], ids=["framed", "in a tab"])
async def test_a_frame_starts_no_worker_and_fetches_nothing_more(
    context: BrowserContext, troubles: Troubles, origins: Origins, tmp_path: Path, *, framed: bool
) -> None:
    result = build_plain(EXAMPLES / "adder" / "adder.py", tmp_path, allowed_origins=[origins.host], installable=True)
    asked: list[str] = []
    site = Site(tmp_path)

    async def counted(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            asked.append(scope["path"].rpartition("/")[2])
        await site(scope, receive, send)

    page = await context.new_page()
    await page.clock.install()
    with serve_app(counted) as served:
        address = f"{served.origin}/{result.url_path}"
        if framed:
            await page.goto(f"{origins.host}/page.html")
            await page.evaluate(
                "(src) => document.body.append(Object.assign(document.createElement('iframe'), { src }))", address
            )
        else:
            await page.goto(address)
        shown = page.frame_locator("iframe").locator("#mcpframe-page") if framed else page.locator("#mcpframe-page")
        await expect(shown).to_have_attribute("data-state", re.compile("ready|standalone"), timeout=_STARTS)
        await page.clock.fast_forward(60_000)
        if framed:
            assert not {"offline.js", "installable.json", "icon.svg"} & set(asked)
        else:
            await page.evaluate("() => navigator.serviceWorker.ready.then(() => {})")
            assert "offline.js" in asked
