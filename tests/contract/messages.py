"""Malformed, oversized and poisoned messages of the framed page itself: each is rejected, and the session goes on."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.contract.outer import Origins, Outer
from tests.contract.playing import accept, heard, say
from tests.hostile.values import nested

NOTE = {"jsonrpc": "2.0", "method": "notifications/note"}


def message(**payload: Any) -> dict[str, Any]:
    return {"type": "MCP_MESSAGE", "payload": payload}


MALFORMED = {
    "unknown type": {"type": "MCP_NONSENSE"},
    "a prototype's name": {"type": "MCP_constructor"},
    "accepted without id": {"type": "MCP_TRANSPORT_ACCEPTED"},
    "accepted, id of a wrong kind": {"type": "MCP_TRANSPORT_ACCEPTED", "sessionId": 5},
    "handshake without version": {"type": "MCP_TRANSPORT_HANDSHAKE"},
    "handshake, version a number": {"type": "MCP_TRANSPORT_HANDSHAKE", "protocolVersion": 1.0},
    "handshake, version no version": {"type": "MCP_TRANSPORT_HANDSHAKE", "protocolVersion": "one"},
    "setup required, reason unknown": {
        "type": "MCP_SETUP_REQUIRED",
        "reason": "BECAUSE",
        "message": "x",
        "canContinue": True,
    },
    "setup required, no message": {"type": "MCP_SETUP_REQUIRED", "reason": "OTHER", "canContinue": True},
    "setup required, canContinue a text": {
        "type": "MCP_SETUP_REQUIRED",
        "reason": "OTHER",
        "message": "x",
        "canContinue": "yes",
    },
    "setup handshake in this phase": {
        "type": "MCP_SETUP_HANDSHAKE",
        "protocolVersion": "1.0",
        "requiresVisibleSetup": True,
    },
    "setup complete in this phase": {
        "type": "MCP_SETUP_COMPLETE",
        "status": "success",
        "serverTitle": "x",
        "transportVisibility": {"requirement": "hidden"},
    },
    "a reply from the wrong side": {
        "type": "MCP_TRANSPORT_HANDSHAKE_REPLY",
        "sessionId": "x",
        "protocolVersion": "1.0",
    },
    "no payload": {"type": "MCP_MESSAGE"},
    "payload null": {"type": "MCP_MESSAGE", "payload": None},
    "payload a text": {"type": "MCP_MESSAGE", "payload": json.dumps(NOTE)},
    "payload a list": {"type": "MCP_MESSAGE", "payload": [NOTE]},
    "no jsonrpc": message(method="notifications/note"),
    "jsonrpc 1.0": message(jsonrpc="1.0", method="notifications/note"),
    "method a number": message(jsonrpc="2.0", method=5),
    "params a list": message(jsonrpc="2.0", method="notifications/note", params=[1]),
    "id an object": message(jsonrpc="2.0", id={}, method="ping"),
    "id a fraction": message(jsonrpc="2.0", id=1.5, method="ping"),
    "a request and an answer": message(jsonrpc="2.0", id=1, method="ping", result={}),
    "result and error": message(jsonrpc="2.0", id=1, result={}, error={"code": 1, "message": "x"}),
    "neither": message(jsonrpc="2.0", id=1),
    "a result for nobody": message(jsonrpc="2.0", result={}),
}


async def test_each_malformed_message_is_reported_and_changes_nothing(outer: Outer, origins: Origins) -> None:
    await outer.open(f"{origins.bundle}/page.html?inner")
    frame = await outer.inner()
    outcomes = {}
    for name, bad in MALFORMED.items():
        await say(frame, bad)
        refused = await outer.next("refused")
        assert refused["error"] in ("MalformedMessage", "UnexpectedMessage"), name
        answer = await outer.call(still="here")
        outcomes[name] = (answer.get("result"), await outer.rest())
    assert outcomes == dict.fromkeys(MALFORMED, ({"still": "here"}, []))


@pytest.mark.parametrize(
    "params",
    [
        {"__proto__": {"polluted": True}},
        {"deep": [{"__proto__": None}]},
        {"constructor": {"prototype": {"polluted": True}}},
    ],
    ids=["__proto__", "deep", "constructor.prototype"],
)
async def test_keys_that_reach_a_prototype_are_refused_both_ways(
    outer: Outer, origins: Origins, params: dict[str, Any]
) -> None:
    await outer.open(f"{origins.bundle}/page.html?inner")
    frame = await outer.inner()

    await say(frame, message(**NOTE, params=params))
    assert (await outer.next("refused"))["error"] == "PrototypeKey"

    said = len(await frame.evaluate("heard"))
    assert "key" in await outer.failure({"jsonrpc": "2.0", "id": 1, "method": "echo", "params": params})
    assert len(await frame.evaluate("heard")) == said

    # A poisoned answer fails the request, rather than leaving it to wait.
    await outer.send({"jsonrpc": "2.0", "id": "poisoned", "method": "silence"})
    await heard(frame, said + 1)
    await say(frame, message(jsonrpc="2.0", id="poisoned", result=params))
    assert (await outer.next("refused"))["error"] == "PrototypeKey"
    answer = (await outer.next("received"))["payload"]
    assert answer["id"] == "poisoned"
    assert "key" in answer["error"]["message"]


async def test_ordinary_words_pass_both_ways(outer: Outer, origins: Origins) -> None:
    await outer.open(f"{origins.bundle}/page.html?inner")
    words = {"constructor": "Renzo Piano", "prototype": {"built": True}, "toString": 1, "hasOwnProperty": False}
    assert (await outer.call(**words))["result"] == words


async def test_limits_of_one_message_hold_both_ways(outer: Outer, origins: Origins) -> None:
    await outer.open(f"{origins.bundle}/page.html?inner", limits={"max_message_bytes": 1000, "max_nesting": 20})
    frame = await outer.inner()
    cases = {"MessageTooLarge": "é" * 600, "MessageTooDeep": nested(40)}
    for error, value in cases.items():
        await say(frame, message(**NOTE, params={"value": value}))
        assert (await outer.next("refused"))["error"] == error
        said = len(await frame.evaluate("heard"))
        text = await outer.failure({"jsonrpc": "2.0", "id": 1, "method": "echo", "params": {"value": value}})
        assert "max" in text
        assert len(await frame.evaluate("heard")) == said
    assert (await outer.call(fits="é" * 400, nested=nested(10)))["result"]["fits"] == "é" * 400
    assert await outer.rest() == []


async def test_a_refused_request_of_the_page_is_answered_with_an_error(outer: Outer, origins: Origins) -> None:
    frame = await outer.ready(f"{origins.bundle}/page.html", limits={"max_message_bytes": 1000, "max_pending": 2})
    await accept(frame)
    await outer.next("opened")
    await say(frame, message(jsonrpc="2.0", id="large", method="ping", params={"filling": "x" * 2000}))
    await outer.next("refused")
    answer = (await heard(frame, 2))[-1]
    assert answer["origin"] == origins.host
    assert answer["data"]["payload"]["id"] == "large"
    assert "1" in answer["data"]["payload"]["error"]["message"]

    for number in (1, 2, 3):
        await say(frame, message(jsonrpc="2.0", id=number, method="ping"))
    assert (await outer.next("refused"))["error"] == "TooManyPending"
    answer = (await heard(frame, 3))[-1]["data"]["payload"]
    assert answer["id"] == 3
    assert "max" in answer["error"]["message"]
    assert [(await outer.next("received"))["payload"]["id"] for _ in range(2)] == [1, 2]


async def test_too_many_requests_of_our_own_fail_at_once(outer: Outer, origins: Origins) -> None:
    frame = await outer.ready(f"{origins.bundle}/page.html", limits={"max_pending": 2})
    await accept(frame)
    await outer.next("opened")
    for number in (1, 2):
        await outer.send({"jsonrpc": "2.0", "id": number, "method": "silence"})
    assert "waiting" in await outer.failure({"jsonrpc": "2.0", "id": 3, "method": "silence"})
    await outer.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
    await outer.send({"jsonrpc": "2.0", "id": 4, "method": "silence"})
    ids = [item["data"]["payload"].get("id") for item in (await heard(frame, 5))[1:]]
    assert ids == [1, 2, None, 4]


async def test_the_page_may_ask_for_its_setup_again(outer: Outer, origins: Origins) -> None:
    await outer.open(f"{origins.bundle}/page.html?inner")
    request = {"reason": "AUTH_EXPIRED", "message": "Sign in again.", "canContinue": True}
    await say(await outer.inner(), {"type": "MCP_SETUP_REQUIRED", **request})
    assert (await outer.next("setup required")).items() >= request.items()
    assert (await outer.call(still="here"))["result"] == {"still": "here"}


async def test_ten_megabytes_cross_both_ways(outer: Outer, origins: Origins) -> None:
    await outer.open(f"{origins.bundle}/page.html?inner")
    text = "0123456789" * 1024 * 1024
    assert (await outer.call(text=text))["result"] == {"text": text}


async def test_a_page_that_does_not_answer_is_told_and_so_is_that_it_does_again(outer: Outer, origins: Origins) -> None:
    await outer.open(f"{origins.bundle}/page.html?inner", unresponsive_after=0.2)
    frame = await outer.inner()
    await outer.send({"jsonrpc": "2.0", "id": 1, "method": "silence"})
    assert (await outer.next("unresponsive"))["unresponsive"]
    _, request, ping = (await heard(frame, 3))[:3]
    assert request["data"]["payload"]["id"] == 1
    assert ping["origin"] == origins.host
    assert ping["data"]["payload"]["method"] == "ping"
    id_ = ping["data"]["payload"]["id"]
    await say(frame, message(jsonrpc="2.0", id=id_, result={}))
    assert not (await outer.next("unresponsive"))["unresponsive"]
    await say(frame, message(jsonrpc="2.0", id=1, result={"late": True}))
    answer = (await outer.next("received"))["payload"]
    assert (answer["id"], answer["result"]) == (1, {"late": True})
    assert "received" not in await outer.rest()
