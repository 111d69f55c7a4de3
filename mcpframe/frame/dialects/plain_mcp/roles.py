"""Plain MCP: the table of a framed server. `further_roles` has those of a framed client, and of the page around either.

    server ◀── ping (†) ────────────────── host        optional, repeated until the answer; our host sends it
    server ── answer ────────────────────▶ host
    server ◀── initialize, or another ──── host        the first request: the server pins the origin; open
    server ◀── JSON-RPC ─────────────────▶ host

A framed server posts nothing before a client has spoken. The first request is `initialize`, `server/discover`, or any
request of the newest era, and nothing else: hosts of MCP Apps post JSON-RPC, too, but none of these. A `ping` is
answered, and adopts nothing.

A host may hand over a port, with a message of any form, and post all of this there: the port is pinned with the origin.
Over a port any request of MCP but `ping` opens: a transport of npm's `mcp-browser-transport` has an id of a session,
so the official `Client` takes itself for initialized.

Source: the TypeScript SDK's `Client` and `Server` over `PostMessageTransport` of npm's
`@modelcontextprotocol/ext-apps`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from mcpframe.frame.core import actions as common
from mcpframe.frame.core import payload
from mcpframe.frame.core.allowed_origins import ANY, OPAQUE
from mcpframe.frame.core.dialect import TRANSPORT
from mcpframe.frame.core.errors import HandshakeTimeout, PeerGone
from mcpframe.frame.core.events import Opened, Output, Send
from mcpframe.frame.core.roles import Actor, Local, Message, Role, Rule, State
from mcpframe.frame.dialects.plain_mcp.messages import (
    BEGIN,
    FIRST,
    MESSAGE,
    NAME,
    OF_MCP,
    PING,
    PING_ID,
    SERVER_CODEC,
    read_message,
)

S = State


def begin(actor: Actor, message: Message) -> Iterable[Output]:
    """Pin the peer, and hand its first request to the session."""
    yield from opened(actor, message)
    yield from actor.deliver(message.body)


def opened(actor: Actor, message: Message) -> Iterable[Output]:
    actor.pin(message.origin)
    yield Opened(dialect=NAME, origin=message.origin)


def is_probe(_: Actor, message: Message) -> bool:
    return bool(message.body.get("id") == PING_ID)


def is_request_over_port(actor: Actor, message: Message) -> bool:
    return actor.port is not None and "id" in message.body and message.body.get("method", "").startswith(OF_MCP)


def begins_again(actor: Actor, message: Message) -> bool:
    """Return whether a client that was made anew begins as the one before did: one answer is for both."""
    return message.body["method"] in BEGIN and actor.owes(message.body)


def answer_ping(actor: Actor, message: Message) -> Iterable[Output]:
    """Answer whoever asks, without pinning it: an opener may navigate before it opens the session."""
    yield post_to(message.origin, actor, {"jsonrpc": "2.0", "id": message.body["id"], "result": {}})


def post_to(origin: str, actor: Actor, message: Mapping[str, Any]) -> Send:
    return Send(payload.encode(message), ANY if origin == OPAQUE else origin, actor.port)


nobody_called = common.end_with(lambda _: HandshakeTimeout("No host answered in time, or posted a request of MCP."))
removed = common.end_with(lambda _: PeerGone("The peer's window is gone; the session is over."))

OPEN = (
    Rule(S.OPEN, PING, S.OPEN, answer_ping, is_probe),
    Rule(S.OPEN, FIRST, S.OPEN, common.ignore, begins_again),
    *common.exchanging(PING, FIRST, MESSAGE),
)

SERVER = Role(
    dialect=NAME,
    side="inner",
    phase=TRANSPORT,
    codec=SERVER_CODEC,
    readers={FIRST: read_message, PING: read_message, MESSAGE: read_message},
    rules=(
        *common.beginning(S.AWAITING),
        Rule(S.AWAITING, Local.PORT, S.AWAITING),
        Rule(S.AWAITING, PING, S.AWAITING, answer_ping),
        Rule(S.AWAITING, FIRST, S.OPEN, begin),
        Rule(S.AWAITING, MESSAGE, S.OPEN, begin, is_request_over_port),
        Rule(S.AWAITING, Local.DEADLINE, S.CLOSED, nobody_called),
        *OPEN,
        *common.leaving(removed, S.AWAITING, S.OPEN),
    ),
    waits={S.AWAITING: "handshake_timeout"},
)
