"""Plain MCP: the tables of a framed server, of a framed client, and of the page around either.

    server ◀── ping (†) ────────────────── host        optional, repeated until the answer; our host sends it
    server ── answer ────────────────────▶ host
    server ◀── initialize, or another ──── host        the first request: the server pins the origin; open
    server ◀── JSON-RPC ─────────────────▶ host

    client ── ping (*) ──────────────────▶ host        repeated until the answer
    client ◀───────────────────── answer ── host       the client pins the origin; open
    client ── initialize ────────────────▶ host        open
    client ◀── JSON-RPC ─────────────────▶ host

A framed server posts nothing before a client has spoken. The first request is `initialize`, `server/discover`, or any
request of the newest era, and nothing else: hosts of MCP Apps post JSON-RPC, too, but none of these. A `ping` is
answered, and adopts nothing.
The page around a frame has one table for both: what comes first, an answer to its ping or a first request, opens it.

Source: the TypeScript SDK's `Client` and `Server` over `PostMessageTransport` of npm's
`@modelcontextprotocol/ext-apps`.
"""

from __future__ import annotations

from dataclasses import replace

from mcpframe.frame.core import actions as common
from mcpframe.frame.core.dialect import TRANSPORT
from mcpframe.frame.core.roles import Local, Role, Rule, State
from mcpframe.frame.dialects.plain_mcp import actions as do
from mcpframe.frame.dialects.plain_mcp.codec import CODEC, SERVER_CODEC
from mcpframe.frame.dialects.plain_mcp.messages import FIRST, MESSAGE, NAME, PING, PONG, read_message

S = State

_OPEN = (
    Rule(S.OPEN, PING, S.OPEN, do.answer_ping, do.is_probe),
    Rule(S.OPEN, FIRST, S.OPEN, common.ignore, do.begins_again),
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
        Rule(S.AWAITING, PING, S.AWAITING, do.answer_ping),
        Rule(S.AWAITING, FIRST, S.OPEN, do.begin),
        Rule(S.AWAITING, Local.DEADLINE, S.CLOSED, do.nobody_called),
        *_OPEN,
        *common.leaving(do.removed, S.AWAITING, S.OPEN),
    ),
    waits={S.AWAITING: "handshake_timeout"},
)

CLIENT = replace(
    SERVER,
    codec=CODEC,
    readers={**SERVER.readers, PONG: read_message},
    rules=(
        *common.beginning(S.CALLING, do.probe),
        Rule(S.CALLING, Local.REPEAT, S.CALLING, do.probe),
        Rule(S.CALLING, PING, S.CALLING, do.answer_ping),
        Rule(S.CALLING, PONG, S.OPEN, do.opened),
        Rule(S.CALLING, Local.DEADLINE, S.CLOSED, do.nobody_answered),
        Rule(S.OPEN, PONG, S.OPEN, common.ignore),
        *_OPEN,
        *common.leaving(do.removed, S.CALLING, S.OPEN),
    ),
    waits={S.CALLING: "handshake_timeout"},
)

HOST = replace(
    CLIENT,
    side="outer",
    rules=(
        *common.beginning(S.AWAITING, do.wait),
        Rule(S.AWAITING, Local.REPEAT, S.AWAITING, do.probe),
        Rule(S.AWAITING, PING, S.AWAITING, do.answer_ping),
        Rule(S.AWAITING, PONG, S.OPEN, do.opened),
        Rule(S.AWAITING, FIRST, S.OPEN, do.begin),
        Rule(S.AWAITING, MESSAGE, S.AWAITING, common.ignore),
        Rule(S.AWAITING, Local.DEADLINE, S.CLOSED, do.never_ready),
        Rule(S.OPEN, PONG, S.OPEN, common.ignore),
        *_OPEN,
        Rule(S.OPEN, Local.PEER_REPLACED, S.CLOSED, do.replaced),
        *common.leaving(do.removed, S.AWAITING, S.OPEN),
    ),
    waits={S.AWAITING: "handshake_timeout"},
)

ROLES = (SERVER, CLIENT, HOST)
