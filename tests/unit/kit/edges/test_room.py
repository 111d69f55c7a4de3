"""The room for sessions: who gets a new one, and who loses one for it."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx2
import pytest

from mcpframe.kit.edges.http.access import Access
from tests.support.bridged import PATIENCE, HttpBridge, Place, http_bridge
from tests.support.polling import until
from tests.unit.kit.edges.test_http import INITIALIZE, Legacy


@pytest.fixture
def edge() -> dict[str, Any]:
    return {"most_sessions": 2}


async def test_a_session_that_begins_loses_its_room_to_no_other(
    bridge: HttpBridge, place: Place, http: httpx2.AsyncClient
) -> None:
    busy = await Legacy(bridge, http).begin()
    waiting = asyncio.create_task(busy.call(1, "wait", name="x"))
    await until(lambda: place.heard("tools/call"))
    begin = {"id": 0, "method": "initialize", "params": INITIALIZE}
    begun = await asyncio.gather(*(Legacy(bridge, http).post(begin) for _ in range(3)))
    assert sorted(response.status_code for response in begun) == [200, 503, 503]
    await http.delete(bridge.url, headers=busy.head)
    await waiting


async def test_a_session_that_ends_has_left_its_room(
    bridge: HttpBridge, place: Place, http: httpx2.AsyncClient
) -> None:
    idle = await Legacy(bridge, http).begin()
    ending = await Legacy(bridge, http).begin()
    page, closing, may_close = place.last, asyncio.Event(), asyncio.Event()
    close = page.close

    async def close_slowly() -> None:
        closing.set()
        await may_close.wait()
        await close()

    page.close = close_slowly  # type: ignore[method-assign]
    await http.delete(bridge.url, headers=ending.head)
    await closing.wait()
    await Legacy(bridge, http).begin()
    assert (await idle.call(1, "echo", text="still here"))["result"]["content"][0]["text"] == "still here"
    may_close.set()


async def test_a_user_has_so_many_sessions_and_loses_only_idle_ones_for_a_new_one(
    place: Place, http: httpx2.AsyncClient
) -> None:
    access = Access(tokens={"a" * 32: "ada", "b" * 32: "bob"})
    running = http_bridge(place.open_page, access, most_sessions=3, most_of_user=2)
    async with asyncio.timeout(PATIENCE * 3), running as bridge:

        def client(token: str) -> Legacy:
            one = Legacy(bridge, http)
            one.head["authorization"] = f"Bearer {token * 32}"
            return one

        others = await client("b").begin()
        idle = await client("a").begin()
        kept = [await client("a").begin() for _ in range(2)]  # the second takes the room of the idle one
        assert (await idle.post({"id": 1, "method": "ping"})).status_code == 404
        waits = [asyncio.create_task(each.call(1, "wait", name="x")) for each in kept]
        await until(lambda: place.heard("tools/call", name="wait") == len(waits))
        full = await client("a").post({"id": 0, "method": "initialize", "params": INITIALIZE})
        assert full.status_code == 429
        assert "2 sessions" in full.json()["error"]["message"]
        assert bridge.sessions.count == 3
        await client("b").begin()  # the whole is full: the idle one of the three goes, which is his own
        assert (await others.post({"id": 1, "method": "ping"})).status_code == 404
        for each in kept:
            await http.delete(bridge.url, headers=each.head)
        await asyncio.gather(*waits)
