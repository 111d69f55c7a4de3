"""The first answers over HTTP, from the manifest: sessions and requests whose page is not open yet."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import httpx2
import pytest

from mcpframe.kit.base.errors import PageFailed
from mcpframe.kit.edges.http.access import Access
from mcpframe.kit.edges.http.endpoint import EdgeOptions, serve_http
from mcpframe.kit.edges.link.early_answers import EarlyAnswers, recorded_answers
from mcpframe.kit.edges.link.reopening_link import ReopeningLink
from tests.support.bridged import PATIENCE, HttpBridge, Place, ServerPage
from tests.support.polling import until
from tests.unit.kit.edges.test_early_answers import MANIFEST, TOOLS
from tests.unit.kit.edges.test_http import INITIALIZE, Legacy, events, stateless


class SlowPlace(Place):
    """Pages that open once they may, or fail."""

    def __init__(self) -> None:
        super().__init__()
        self.may_open = asyncio.Event()
        self.failure = ""

    async def open_page(self, link: ReopeningLink) -> ServerPage:
        await self.may_open.wait()
        if self.failure:
            raise PageFailed(self.failure)
        return await super().open_page(link)


def answers() -> EarlyAnswers:
    return EarlyAnswers(recorded_answers(MANIFEST))


@pytest.fixture
def place() -> SlowPlace:
    return SlowPlace()


@pytest.fixture
def edge() -> dict[str, Any]:
    return {"most_sessions": 2, "early": answers}


async def test_both_eras_begin_before_there_is_a_page(
    bridge: HttpBridge, place: SlowPlace, http: httpx2.AsyncClient
) -> None:
    async def ready() -> str:
        return (await http.get(bridge.url.replace("/mcp", "/readyz"))).text

    assert await ready() == "starting"
    client = await Legacy(bridge, http).begin()
    assert (await client.ask(1, "tools/list"))["result"] == TOOLS
    listed = events(await stateless(bridge, http, "a", "tools/list"))
    assert [(message["id"], message["result"]["tools"]) for message in listed] == [("a", TOOLS["tools"])]
    call: dict[str, Any] = {"name": "echo", "arguments": {"text": "modern"}}
    of_legacy = asyncio.create_task(client.call(2, "echo", text="legacy"))
    of_modern = asyncio.create_task(stateless(bridge, http, "b", "tools/call", **call))
    async with http.stream("GET", bridge.url, headers={**client.head, "accept": "text/event-stream"}) as stream:
        assert not place.pages
        place.may_open.set()
        lines = stream.aiter_lines()
        while "notifications/tools/list_changed" not in await anext(lines):
            pass
    legacy, modern = await of_legacy, await of_modern
    assert legacy["result"]["content"][0]["text"] == "legacy"
    assert modern.json()["result"]["content"][0]["text"] == "modern"
    assert await ready() == "ready"
    assert (place.heard("initialize"), len(place.pages)) == (1, 2)
    assert "echo" in {tool["name"] for tool in (await client.ask(3, "tools/list"))["result"]["tools"]}


async def test_a_session_keeps_its_room_while_its_page_opens(
    bridge: HttpBridge, place: SlowPlace, http: httpx2.AsyncClient
) -> None:
    clients = [await Legacy(bridge, http).begin() for _ in range(2)]
    begin = {"id": 0, "method": "initialize", "params": INITIALIZE}
    assert (await Legacy(bridge, http).post(begin)).status_code == 503
    place.may_open.set()
    await clients[0].call(1, "echo", text="x")
    await clients[1].call(1, "echo", text="x")
    await Legacy(bridge, http).begin()
    assert (await clients[0].post({"id": 2, "method": "ping"})).status_code == 404
    assert bridge.sessions.count == 2


async def test_a_session_that_ends_before_its_page_leaves_none(
    bridge: HttpBridge, place: SlowPlace, http: httpx2.AsyncClient
) -> None:
    client = await Legacy(bridge, http).begin()
    assert (await http.delete(bridge.url, headers=client.head)).status_code == 200
    await until(lambda: not bridge.sessions.count)
    assert (await client.post({"id": 1, "method": "ping"})).status_code == 404
    assert (await http.get(bridge.url.replace("/mcp", "/readyz"))).text == "ready"
    place.may_open.set()
    await (await Legacy(bridge, http).begin()).call(1, "echo", text="x")
    assert len(place.pages) == 1


async def test_a_page_that_does_not_open_fails_each_call_of_a_client_that_has_begun(
    bridge: HttpBridge, place: SlowPlace, http: httpx2.AsyncClient
) -> None:
    client = await Legacy(bridge, http).begin()
    place.failure = "It needs its setup."
    place.may_open.set()
    assert (await client.call(1, "echo", text="x"))["error"]["message"] == "It needs its setup."
    assert (await client.ask(2, "tools/list"))["result"] == TOOLS
    place.failure = ""
    assert (await client.call(3, "echo", text="x"))["result"]["content"][0]["text"] == "x"


async def test_a_bridge_whose_page_fails_before_a_client_comes_ends_with_the_reason(
    place: SlowPlace, capsys: pytest.CaptureFixture[str]
) -> None:
    place.failure = "It is not there."
    serving = asyncio.create_task(serve_http(place.open_page, 0, Access(), EdgeOptions(early=answers)))  # type: ignore[arg-type]
    printed = ""
    while "http://" not in printed:  # at once, as it answers
        await asyncio.sleep(0)
        printed += capsys.readouterr().out
    place.may_open.set()
    with pytest.raises(PageFailed, match=r"It is not there\."):
        await asyncio.wait_for(serving, PATIENCE)


@pytest.mark.parametrize("has_browser", [True, False])
async def test_without_a_browser_nobody_is_answered_early(
    place: SlowPlace, capsys: pytest.CaptureFixture[str], has_browser: bool
) -> None:
    serving = asyncio.create_task(
        serve_http(place.open_page, 0, Access(), EdgeOptions(ready=lambda: has_browser, early=answers))  # type: ignore[arg-type]
    )
    for _ in range(100):
        await asyncio.sleep(0)
    assert ("http://" in capsys.readouterr().out) == has_browser
    serving.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await asyncio.wait_for(serving, PATIENCE)
