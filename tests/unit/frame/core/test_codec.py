"""A codec carries whatever a dialect does to JSON-RPC: another name for the id, an envelope by direction."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from mcpframe.frame.core.codec import Codec, enveloped, ids_in
from mcpframe.frame.core.errors import MalformedMessage, MessageTooLarge
from mcpframe.frame.core.events import Received, Refused, Send
from mcpframe.frame.core.exchange import Exchange
from mcpframe.frame.core.outline import Outline
from mcpframe.frame.core.roles import Options
from tests.support.second_dialect import DIRECTED, PLAIN, role_of

Json = dict[str, Any]


def _decode(data: Mapping[str, Any]) -> Json:
    if not isinstance(data.get("payload"), dict):
        raise MalformedMessage("payload must be an object.")
    id_ = {"id": json.loads(data["messageId"])} if data.get("messageId") is not None else {}
    if data["type"] == "call":
        return {"jsonrpc": "2.0", **id_, "method": "tools/call", "params": data["payload"]}
    body = data["payload"]
    return {"jsonrpc": "2.0", **id_, **({"error": body["error"]} if "error" in body else {"result": body["response"]})}


def _encode(text: str, message: Mapping[str, Any]) -> str:
    body = json.loads(text)
    if "method" in message and message["method"] != "tools/call":
        raise MalformedMessage(f"There is no form for {message['method']} here.")
    if "method" in message:
        return json.dumps({"type": "call", "messageId": json.dumps(body["id"]), "payload": body["params"]})
    payload = {"error": body["error"]} if "error" in body else {"response": body["result"]}
    return json.dumps({"type": "answer", "messageId": json.dumps(body["id"]), "payload": payload})


def _ids(data: Mapping[str, Any]) -> Outline:
    try:
        id_ = json.loads(data["messageId"])
    except (KeyError, TypeError, ValueError):
        return Outline("other")
    return Outline("request" if data["type"] == "call" else "response", id_)


TRANSLATING = Codec(
    kind=lambda data: data.get("type") if isinstance(data, dict) and data.get("type") in ("call", "answer") else None,
    decode=_decode,
    encode=_encode,
    ids=_ids,
    carries=frozenset({"call", "answer"}),
    members=("type", "messageId"),
)


def exchange(codec: Codec = TRANSLATING) -> Exchange:
    return Exchange(codec, Options(), lambda text: Send(text, "https://peer.example"), asks=False)


@pytest.mark.parametrize(
    "message",
    [
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "add"}},
        {"jsonrpc": "2.0", "id": "1", "result": {"a": 1}},
        {"jsonrpc": "2.0", "id": 1, "error": {"code": -32000, "message": "no"}},
    ],
)
def test_a_message_comes_back_from_its_wire_text(message: Json) -> None:
    wire = json.loads(TRANSLATING.encode(json.dumps(message), message))
    assert TRANSLATING.kind(wire)
    assert TRANSLATING.decode(wire) == message


def test_whoever_waits_is_found_by_a_codecs_own_members() -> None:
    text = '{"payload":{"messageId":"2","x":[[1]]},"type":"call","messageId":"1","more":{"type":"answer"}}'
    found = TRANSLATING.sketch(text)
    assert found == {"type": "call", "messageId": "1"}
    assert (TRANSLATING.kind(found), TRANSLATING.ids(found)) == ("call", Outline("request", 1))


def test_a_refused_request_is_answered_in_the_codecs_form() -> None:
    [answer] = exchange().fail_refused(Outline("request", "7"), MessageTooLarge("too large"))
    assert isinstance(answer, Send)
    wire = json.loads(answer.text)
    assert (wire["type"], wire["messageId"], wire["payload"]["error"]["code"]) == ("answer", '"7"', -32600)


def test_what_the_dialect_has_no_form_for_fails_for_whoever_waits() -> None:
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    _, failed = exchange().transmit(json.dumps(request), request, "https://peer.example")
    assert isinstance(failed, Received)
    assert (failed.payload["id"], failed.payload["error"]["code"]) == (1, -32603)
    note = {"jsonrpc": "2.0", "method": "notifications/progress"}
    _, refused = exchange().transmit(json.dumps(note), note, "https://peer.example")
    assert isinstance(refused, Refused)


def test_an_envelope_may_differ_by_direction() -> None:
    inner, outer = role_of(DIRECTED, "inner").codec, role_of(DIRECTED, "outer").codec
    message = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    for writes, reads in ((inner, outer), (outer, inner)):
        wire = json.loads(writes.encode(json.dumps(message), message))
        assert reads.decode(wire) == message
        assert (reads.kind(wire), writes.kind(wire)) == ("message", None)  # one's own direction is noise


def test_the_parts_that_codecs_are_made_of() -> None:
    assert enveloped("<", ">")("text", {}) == "<text>"
    assert ids_in("body")({"body": {"id": 1, "method": "m"}}) == Outline("request", 1, "m")
    assert ids_in("body")({"id": 1, "method": "m"}) == Outline("other")
    plain = role_of(PLAIN, "inner").codec
    assert plain.ids(plain.sketch('{"result":{"deep":[1]},"id":3}')) == Outline("response", 3)
