"""Sites that are given over DevTools: a few files at a time, and none to a browser that is gone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from mcpframe.kit.base.errors import BrowserGone
from mcpframe.kit.browser.devtools import fulfilled
from mcpframe.kit.browser.devtools.fulfilled import FulfilledSites
from mcpframe.kit.web.serve import serve_folder

NAME = "a.localhost"


class Browser:
    """DevTools that take an answer when the test says so."""

    def __init__(self) -> None:
        self.closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.given: list[tuple[str, dict[str, Any]]] = []
        self.pending: list[asyncio.Future[dict[str, Any]]] = []
        self.on_event: Callable[[str, dict[str, Any]], None]

    def handle(self, _: str, handler: Callable[[str, dict[str, Any]], None]) -> None:
        self.on_event = handler

    async def command(self, method: str, **_: Any) -> dict[str, Any]:
        assert method == "Fetch.enable"
        return {}

    def post(self, method: str, **params: Any) -> asyncio.Future[dict[str, Any]]:
        self.given.append((method, params))
        self.pending.append(asyncio.get_running_loop().create_future())
        return self.pending[-1]

    def ask(self, url: str, method: str = "GET") -> None:
        request = {"url": url, "method": method, "headers": {}}
        self.on_event("Fetch.requestPaused", {"requestId": str(len(url)), "request": request})


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not true():  # noqa: ASYNC110  the site is in another thread
            await asyncio.sleep(0.001)


@pytest.fixture
async def sites(tmp_path: Path) -> AsyncIterator[FulfilledSites]:
    (tmp_path / "file.txt").write_text("text")
    with serve_folder(tmp_path) as served:
        sites = FulfilledSites({NAME: served.port})
        yield sites
        await sites.close()


async def test_a_few_answers_are_on_their_way_at_once(sites: FulfilledSites) -> None:
    browser, other = Browser(), Browser()
    for each in (browser, other):
        await sites.begin(each)  # type: ignore[arg-type]
    url = sites.url(f"http://{NAME}/file.txt")
    for _ in range(3 * fulfilled._AT_ONCE):
        browser.ask(url)
    await until(lambda: len(browser.given) == fulfilled._AT_ONCE)
    other.ask(url)  # is not kept waiting by a browser that is slow
    await until(lambda: len(other.given) == 1)
    assert len(browser.given) == fulfilled._AT_ONCE
    browser.pending[0].set_result({})
    await until(lambda: len(browser.given) == fulfilled._AT_ONCE + 1)
    browser.closed.set_result(None)
    for future in browser.pending[1:]:
        future.set_exception(BrowserGone("gone"))
        future.exception()  # is looked at, as DevTools do it
    await until(lambda: len(sites._answers) == 1)  # that of the other one
    assert len(browser.given) == fulfilled._AT_ONCE + 1
    assert {(method, params["body"]) for method, params in browser.given} == {("Fetch.fulfillRequest", "dGV4dA==")}


async def test_a_browser_that_takes_no_answer_holds_none_back_for_ever(
    sites: FulfilledSites, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fulfilled, "_SECONDS", 0.05)
    browser = Browser()
    await sites.begin(browser)  # type: ignore[arg-type]
    for _ in range(fulfilled._AT_ONCE + 1):
        browser.ask(sites.url(f"http://{NAME}/file.txt"))
    await until(lambda: len(browser.given) == fulfilled._AT_ONCE + 1)


@pytest.mark.parametrize("method", ["POST", "PUT"])
async def test_a_site_is_only_read(sites: FulfilledSites, method: str) -> None:
    browser = Browser()
    await sites.begin(browser)  # type: ignore[arg-type]
    browser.ask(sites.url(f"http://{NAME}/file.txt"), method)
    await until(lambda: bool(browser.given))
    assert browser.given[0][0] == "Fetch.failRequest"
