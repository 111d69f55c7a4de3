"""Malformed, oversized and poisoned messages of the framed page itself: each is rejected, and the session goes on."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.outer import Origins, Outer
from tests.contract.playing import heard, say

NOTE = {"jsonrpc": "2.0", "method": "notifications/note"}


def message(**payload: Any) -> dict[str, Any]:
    return {"type": "MCP_MESSAGE", "payload": payload}


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
