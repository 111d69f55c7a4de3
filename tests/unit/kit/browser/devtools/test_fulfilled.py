"""Sites that are given over DevTools: a few files at a time, once for all, and none to a browser that is gone."""

from __future__ import annotations

import asyncio
import secrets
from base64 import b64decode
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.types import Receive, Scope, Send

from mcpframe.kit.base.errors import BrowserGone
from mcpframe.kit.browser.devtools import fulfilled
from mcpframe.kit.browser.devtools.fulfilled import FulfilledSites
from mcpframe.kit.web.serve import serve_app, serve_folder
from tests.support.polling import until

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

    def ask(self, url: str, method: str = "GET", **headers: str) -> None:
        request = {"url": url, "method": method, "headers": headers}
        self.on_event("Fetch.requestPaused", {"requestId": str(len(url)), "request": request})


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
    given = {(method, "".join(params["body"])) for method, params in browser.given}
    assert given == {("Fetch.fulfillRequest", "dGV4dA==")}


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


async def test_a_file_is_asked_for_once_by_all_who_wait_for_it() -> None:
    asked: list[str] = []
    file = secrets.token_bytes(2 * fulfilled._PIECE + 1)

    async def site(scope: Scope, _: Receive, send: Send) -> None:
        asked.append(scope["path"])
        await send({"type": "http.response.start", "status": 200, "headers": [(b"x-kept", b"1")]})
        await send({"type": "http.response.body", "body": file})

    with serve_app(site) as served:
        sites = FulfilledSites({NAME: served.port})
        browsers = [Browser() for _ in range(3)]
        for browser in browsers:
            await sites.begin(browser)  # type: ignore[arg-type]
            browser.ask(sites.url(f"http://{NAME}/large"), **{"User-Agent": str(id(browser)), "Accept": "*/*"})
        await until(lambda: all(browser.given for browser in browsers))
        assert asked == ["/large"]
        answers = [browser.given[0][1] for browser in browsers]
        assert b64decode("".join(answers[0]["body"])) == file
        assert {"name": "x-kept", "value": "1"} in answers[0]["responseHeaders"]
        assert all(answer["body"] is answers[0]["body"] for answer in answers)

        browsers[0].ask(sites.url(f"http://{NAME}/large"), Range="bytes=0-1")  # which is another answer
        await until(lambda: len(browsers[0].given) == 2)
        assert asked == ["/large"] * 2
        for browser in browsers:
            for pending in browser.pending:
                pending.set_result({})
        await until(lambda: not sites._shared)  # nobody waits for them any more

        browsers[0].ask(sites.url(f"http://{NAME}/large"))
        await until(lambda: len(browsers[0].given) == 3)
        assert asked == ["/large"] * 3
        await sites.close()
        assert not sites._shared


async def test_who_does_not_wait_any_more_takes_no_file_from_others(
    sites: FulfilledSites, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetching, may_go_on = asyncio.Event(), asyncio.Event()
    fetched = sites._fetched

    async def slow(*request: Any) -> Any:
        fetching.set()
        await may_go_on.wait()
        return await fetched(*request)

    monkeypatch.setattr(sites, "_fetched", slow)
    leaving, staying = Browser(), Browser()
    for browser in (leaving, staying):
        await sites.begin(browser)  # type: ignore[arg-type]
        browser.ask(sites.url(f"http://{NAME}/file.txt"))
        await fetching.wait()
    await until(lambda: [shared.waiting for shared in sites._shared.values()] == [2])
    next(iter(sites._answers)).cancel()
    await until(lambda: [shared.waiting for shared in sites._shared.values()] == [1])
    may_go_on.set()
    await until(lambda: len(leaving.given) + len(staying.given) == 1)


async def test_a_file_that_devtools_cannot_take_fails(sites: FulfilledSites, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fulfilled, "_MOST", 3)
    browser = Browser()
    await sites.begin(browser)  # type: ignore[arg-type]
    browser.ask(sites.url(f"http://{NAME}/file.txt"))
    await until(lambda: bool(browser.given))
    assert browser.given[0][0] == "Fetch.failRequest"
    await until(lambda: not sites._shared)
