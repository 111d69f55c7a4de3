"""Browsers elsewhere: spread tabs, browsers that are lost and return, and those that never come."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from mcpframe.kit.base.errors import BrowserGone
from mcpframe.kit.browser.devtools import remote
from mcpframe.kit.browser.devtools.remote import RemoteBrowsers
from tests.support.devtools_server import Browser, listening
from tests.support.polling import until

CONTEXT, TAB = "Target.createBrowserContext", "Target.createTarget"


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "_FIRST_PAUSE", 0.01)
    monkeypatch.setattr(remote, "_LONGEST_PAUSE", 0.02)


@pytest.fixture
async def stack() -> AsyncIterator[AsyncExitStack]:
    async with AsyncExitStack() as stack:
        yield stack


def browser(name: str) -> Browser:
    made = Browser()
    made.results = {CONTEXT: {"browserContextId": f"context of {name}"}, TAB: {"targetId": name}}
    return made


def using(stack: AsyncExitStack, *places: str, most: int = 10) -> RemoteBrowsers:
    browsers = RemoteBrowsers([f"http://{place}?token=s3cret" for place in places], {"a.localhost": 1}, most)
    stack.push_async_callback(browsers.close)
    return browsers


async def test_tabs_go_to_the_browser_with_the_fewest_up_to_the_limit(stack: AsyncExitStack) -> None:
    one, two = browser("one"), browser("two")
    places = [await stack.enter_async_context(listening(each)) for each in (one, two)]
    browsers = using(stack, *places, most=2)
    first = await browsers.open_tab()
    await until(lambda: all(remote.is_connected for remote in browsers._remotes))
    tabs = [first, *[await browsers.open_tab() for _ in range(3)]]
    assert sorted(tab.target for tab in tabs) == ["one", "one", "two", "two"]
    assert {tab.context for tab in tabs} == {"context of one", "context of two"}
    with pytest.raises(BrowserGone, match="have 2 pages each"):
        await browsers.open_tab()
    await tabs[2].close()
    assert "Target.disposeBrowserContext" in one.commands + two.commands
    assert (await browsers.open_tab()).target == tabs[2].target
    assert first.url("http://a.localhost/x?y") not in ("http://a.localhost/x?y", "http://a.localhost//x?y")
    assert first.url("https://b.example/x") == "https://b.example/x"


async def test_a_lost_browser_is_replaced_and_taken_in_again(stack: AsyncExitStack) -> None:
    one, two = browser("one"), browser("two")
    async with listening(one) as place:
        browsers = using(stack, place, await stack.enter_async_context(listening(two)))
        await browsers.open_tab()
        await until(lambda: all(remote.is_connected for remote in browsers._remotes))
        await browsers.open_tab()  # each has one now
        lost = next(iter(browsers._remotes))
        assert lost.is_connected
    await until(lambda: not lost.is_connected)
    assert (await browsers.open_tab()).target == "two"
    async with listening(one, port=int(place.partition(":")[2])):
        await until(lambda: lost.is_connected)
        assert lost.tabs == 0
        assert (await browsers.open_tab()).target == "one"


async def test_a_tab_waits_a_while_for_the_only_browser_to_come_back(stack: AsyncExitStack) -> None:
    one = browser("one")
    async with listening(one) as place:
        browsers = using(stack, place)
        tab = await browsers.open_tab()
    await tab.devtools.closed
    opening = asyncio.create_task(browsers.open_tab())
    await until(lambda: browsers._remotes[0].failure is not None)
    async with listening(one, port=int(place.partition(":")[2])):
        assert (await opening).target == "one"


async def test_browsers_that_are_not_there_or_refuse_are_one_error_without_tokens(
    stack: AsyncExitStack, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    refusing, unfit = browser("one"), browser("two")
    refusing.results[TAB] = ValueError("no more targets")
    unfit.results["Fetch.enable"] = ValueError("no such method")
    async with listening(refusing) as nobody:
        pass
    places = [await stack.enter_async_context(listening(each)) for each in (refusing, unfit)]
    with pytest.raises(BrowserGone) as caught:
        await using(stack, *places, nobody).open_tab()
    said = str(caught.value)
    assert all(part in said for part in ("no more targets", "no such method", nobody, "--remote-debugging-port"))
    assert "Target.disposeBrowserContext" in refusing.commands
    assert "s3cret" not in said + caplog.text


async def test_a_tab_that_nobody_waits_for_any_more_is_closed(stack: AsyncExitStack) -> None:
    one = browser("one")
    browsers = using(stack, await stack.enter_async_context(listening(one)))
    await browsers.open_tab()
    opening = asyncio.create_task(browsers.open_tab())
    await asyncio.sleep(0)
    await asyncio.sleep(0)  # the command is sent, and the answer has not come
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    await until(lambda: "Target.disposeBrowserContext" in one.commands)
    assert browsers._remotes[0].tabs == 1
