"""mcp-ui: the host, with its table, its render data, its codec and the readers of a page's actions; see `roles`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from mcpframe.frame.core import actions as common
from mcpframe.frame.core import payload
from mcpframe.frame.core.codec import Codec
from mcpframe.frame.core.dialect import TRANSPORT
from mcpframe.frame.core.errors import MalformedMessage
from mcpframe.frame.core.events import Opened, Output
from mcpframe.frame.core.roles import Actor, Local, Message, Role, Rule, State
from mcpframe.frame.dialects.mcp_ui import actions as page
from mcpframe.frame.dialects.mcp_ui.codec import ids_of, kind_of, wire
from mcpframe.frame.dialects.mcp_ui.messages import (
    ACTIONS,
    NAME,
    PROGRESS,
    READY,
    RECEIVED,
    RENDER_DATA,
    REQUEST_RENDER_DATA,
    RESPONSE,
    SIZE_CHANGE,
    TO_HOST,
    Json,
    message_id,
    payload_of,
)

S = State

_WORDS: dict[type, str] = {str: "a text", dict: "an object"}
_FIELDS: dict[str, dict[str, type]] = {
    "tool": {"toolName": str},
    "intent": {"intent": str},
    "prompt": {"prompt": str},
    "notify": {"message": str},
    "link": {"url": str},
    "ui-request-data": {"requestType": str},
}
"""The required fields of each action."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedderOffer:
    """A host's part of the handshake.

    Attributes:
        origin: the origin of the page, `"null"` for an opaque one. The host posts its render data as soon as the page
            has loaded, before the first message of the page.
        data: the render data; None for none.
    """

    origin: str = ""
    data: Any = None


class EmbedderAct(StrEnum):
    """Acts of a host in this dialect, besides sending: see `Connection.act`."""

    LOADED = "send render data on load"
    """The page has loaded: send it the render data, if there is any."""
    RENDER = "send other render data"
    """Send other render data from now on, and at once."""


def read_action(data: Json) -> dict[str, Any]:
    """Read an action, or a size."""
    method, params = data["type"], payload_of(data)
    for name, kind in _FIELDS[method].items():
        if not isinstance(params.get(name), kind):
            raise MalformedMessage(f"payload.{name} of {method!r} must be {_WORDS[kind]}.")
    if not isinstance(params.get("params", {}), dict | None):
        raise MalformedMessage(f"payload.params of {method!r} must be an object.")
    id_ = message_id(data)
    return {"jsonrpc": "2.0", **({} if id_ is None else {"id": id_}), "method": method, "params": params}


def read_size(data: Json) -> dict[str, Any]:
    sizes = {name: value for name, value in payload_of(data).items() if name in ("width", "height")}
    for name, value in sizes.items():
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise MalformedMessage(f"payload.{name} of {SIZE_CHANGE!r} must be a number.")
    return {"jsonrpc": "2.0", "method": SIZE_CHANGE, "params": {k: v for k, v in sizes.items() if v is not None}}


def read_ready(data: Json) -> None:
    """A page is ready. Further members have no meaning."""


def _decode_for_host(data: Json) -> dict[str, Any]:
    if data["type"] in ACTIONS:
        return read_action(data)
    return read_size(data) if data["type"] == SIZE_CHANGE else {"jsonrpc": "2.0", "method": data["type"]}


def _encode_for_frame(text: str, message: Json) -> str:
    """Return the answer to an action, or the confirmation of its receipt."""
    parsed = json.loads(text)
    if message.get("method") == PROGRESS:
        return payload.encode(wire(RECEIVED, parsed["params"].get("progressToken"), None))
    if "method" in message or message.get("id") is None:
        raise MalformedMessage(f"{message.get('method') or 'An answer without an id'} has no form in mcp-ui.")
    if "error" in message:
        error = {"name": "Error", **parsed["error"]}
        return payload.encode(wire(RESPONSE, message["id"], {"error": error}))
    return payload.encode(wire(RESPONSE, message["id"], parsed["result"]))


HOST_CODEC = Codec(
    kind=kind_of(TO_HOST),
    decode=_decode_for_host,
    encode=_encode_for_frame,
    ids=ids_of("request"),
    carries=frozenset({*ACTIONS, SIZE_CHANGE}),
    members=("type", "messageId"),
    recodes=True,
)
"""The codec of a host, which reads a framed page's messages."""


def listen(actor: Actor, _: Message) -> Iterable[Output]:
    offer: EmbedderOffer = actor.offer
    if offer.origin:
        actor.pin(offer.origin)
    return ()


def loaded(actor: Actor, message: Message) -> Iterable[Output]:
    offer: EmbedderOffer = actor.offer
    if offer.data is not None:
        yield actor.say(wire(RENDER_DATA, None, {"renderData": offer.data}))


def render(actor: Actor, message: Message) -> Iterable[Output]:
    actor.offer = replace(actor.offer, data=message.body)
    return loaded(actor, message)


def answer_request(actor: Actor, message: Message) -> Iterable[Output]:
    """Answer a request for render data, even if there is none."""
    offer: EmbedderOffer = actor.offer
    content = {} if offer.data is None else {"renderData": offer.data}
    yield actor.say(wire(RENDER_DATA, message.body, content))


def open_with_load(actor: Actor, message: Message) -> Iterable[Output]:
    yield from _opened(actor, message)
    yield from loaded(actor, message)


def open_with_answer(actor: Actor, message: Message) -> Iterable[Output]:
    yield from _opened(actor, message)
    yield from answer_request(actor, message)


def open_with_message(actor: Actor, message: Message) -> Iterable[Output]:
    yield from _opened(actor, message)
    yield from common.received(actor, message)


def _opened(actor: Actor, message: Message) -> Iterable[Output]:
    actor.pin(message.origin)
    yield Opened(dialect=NAME, origin=message.origin)


EMBEDDER = Role(
    dialect=NAME,
    side="outer",
    phase=TRANSPORT,
    codec=HOST_CODEC,
    offers=EmbedderOffer,
    readers={
        **dict.fromkeys(ACTIONS, read_action),
        SIZE_CHANGE: read_size,
        READY: read_ready,
        REQUEST_RENDER_DATA: message_id,
    },
    rules=(
        *common.beginning(S.AWAITING, listen),
        Rule(S.AWAITING, READY, S.OPEN, open_with_load),
        Rule(S.AWAITING, REQUEST_RENDER_DATA, S.OPEN, open_with_answer),
        *(Rule(S.AWAITING, kind, S.OPEN, open_with_message) for kind in (*ACTIONS, SIZE_CHANGE)),
        Rule(S.OPEN, READY, S.OPEN, loaded),
        Rule(S.OPEN, REQUEST_RENDER_DATA, S.OPEN, answer_request),
        *common.exchanging(*ACTIONS, SIZE_CHANGE),
        *(
            rule
            for state in (S.AWAITING, S.OPEN)
            for rule in (
                Rule(state, EmbedderAct.LOADED, state, loaded),
                Rule(state, EmbedderAct.RENDER, state, render),
                Rule(state, Local.PEER_REPLACED, state, loaded),
            )
        ),
        *common.leaving(page.removed, S.AWAITING, S.OPEN),
    ),
    waits={},
    opens_unheard=True,
)

ROLES: dict[str, Any] = {"outer": {TRANSPORT: EMBEDDER}}
