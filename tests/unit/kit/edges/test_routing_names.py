"""A bridge's name in what clients return to it: another bridge, and the same one later, refuse it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import httpx2
import pytest

from mcpframe.kit.edges.http.routing_names import NAME, named_session, named_state, split_session, split_state
from tests.support.bridged import PATIENCE, HttpBridge, Place, http_bridge
from tests.support.polling import until
from tests.unit.kit.edges.test_http import INITIALIZE, Legacy, stateless

JSON = dict[str, Any]
STATE = "secret/with-a-slash"
QUESTION = {"resultType": "input_required", "inputRequests": {}, "requestState": STATE}
REFUSED = {"code": -32602, "message": "Invalid or expired requestState", "data": {"reason": "invalid_request_state"}}


@pytest.mark.parametrize("text", ["", "x", "a-b", "a/b", "-", "/", "a\n-/b", "Ä/ö-"])
@pytest.mark.parametrize("name", ["b1", "0", "w0123456789ab", "x" * 32])
def test_a_name_is_split_off_what_it_was_put_before(name: str, text: str) -> None:
    assert split_session(named_session(name, text)) == (name, text)
    assert split_state(named_state(name, text)) == (name, text)


def test_without_a_name_nothing_is_changed() -> None:
    assert (named_session("", "ab12"), named_state("", "ab12")) == ("ab12", "ab12")


@pytest.mark.parametrize("text", ["", "ab12", "-x", "/x", "B1-x", "B1/x", "a.b-x", "x" * 33 + "-y", "mcpframe-input/x"])
def test_other_texts_have_no_name(text: str) -> None:
    assert split_state(text) == ("", text)
    assert split_session(text)[0] in ("", "mcpframe")


@pytest.mark.parametrize("name", ["", "B1", "b-1", "b/1", "b.1", "b 1", "b1\n", "é", "x" * 33])
def test_what_balancers_cannot_match_is_no_name(name: str) -> None:
    assert NAME.fullmatch(name) is None


@pytest.fixture
def place() -> Place:
    return Place(lies={"tools/call": [{"result": QUESTION}]})


@pytest.fixture
async def bridges(place: Place) -> AsyncIterator[dict[str, HttpBridge]]:
    """Three, of which one has no name."""
    async with asyncio.timeout(PATIENCE * 3), AsyncExitStack() as stack:
        yield {
            name: await stack.enter_async_context(http_bridge(place.open_page, name=name)) for name in ("b1", "b2", "")
        }


async def test_a_session_begins_with_its_bridge_and_another_one_does_not_know_it(
    bridges: dict[str, HttpBridge], http: httpx2.AsyncClient
) -> None:
    client = await Legacy(bridges["b1"], http).begin()
    name, rest = split_session(client.head["mcp-session-id"])
    assert (name, len(rest)) == ("b1", 32)
    assert "result" in await client.ask(1, "ping")
    for other in ("b2", ""):
        client.url = bridges[other].url
        for status in (
            await client.post({"id": 1, "method": "ping"}),
            await http.delete(client.url, headers=client.head),
        ):
            assert status.status_code == 404
    unnamed = await Legacy(bridges[""], http).begin()
    assert "-" not in unnamed.head["mcp-session-id"]


async def call(bridge: HttpBridge, http: httpx2.AsyncClient, **params: Any) -> JSON:
    response = await stateless(bridge, http, 7, "tools/call", name="ask", arguments={}, **params)
    answer: JSON = response.json()
    assert answer["id"] == 7
    return answer


async def test_the_answer_to_a_question_reaches_only_the_frame_that_has_asked(
    bridges: dict[str, HttpBridge], place: Place, http: httpx2.AsyncClient
) -> None:
    assert (await call(bridges["b1"], http))["result"] == {**QUESTION, "requestState": f"b1/{STATE}"}
    assert (await call(bridges[""], http))["result"] == QUESTION
    for bridge, state in (("b2", f"b1/{STATE}"), ("b1", STATE), ("b1", f"/{STATE}"), ("b1", f"B1/{STATE}"), ("b1", "")):
        assert (await call(bridges[bridge], http, requestState=state))["error"] == REFUSED
    assert place.heard("tools/call") == 2  # no frame has got one of these
    again = await call(bridges["b1"], http, requestState=f"b1/{STATE}", inputResponses={"input": {}})
    assert again["result"]["requestState"] == f"b1/{STATE}"
    assert place.heard("tools/call", requestState=STATE, inputResponses={"input": {}}) == 1
    await call(bridges["b2"], http, requestState=5)  # the server's own rule for a state that is no text
    assert place.heard("tools/call", requestState=5) == 1


async def test_a_bridge_that_drains_still_takes_the_answers_to_its_questions(
    place: Place, http: httpx2.AsyncClient
) -> None:
    running = http_bridge(place.open_page, drain_seconds=PATIENCE * 3, name="b1")
    async with asyncio.timeout(PATIENCE * 3), running as bridge:
        client = await Legacy(bridge, http).begin()
        assert "result" in await call(bridge, http)
        bridge.serving.cancel()
        await until(lambda: bridge.requests.is_draining)
        assert len(bridge.requests.questions) == 1
        place.lies["tools/call"] = [{"result": {"content": []}}]
        assert (await call(bridge, http))["error"]["code"] == -32603
        assert (await call(bridge, http, requestState=f"b2/{STATE}"))["error"] == REFUSED
        new = await Legacy(bridge, http).post({"id": 0, "method": "initialize", "params": INITIALIZE})
        assert (new.status_code, new.json()["error"]["code"]) == (503, -32603)
        assert (await http.delete(bridge.url, headers=client.head)).status_code == 200
        assert "result" in await call(bridge, http, requestState=f"b1/{STATE}")  # the last thing it waits for
        await asyncio.wait([bridge.serving])
