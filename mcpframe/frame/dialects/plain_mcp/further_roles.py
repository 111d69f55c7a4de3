"""Plain MCP: the tables of a framed client, and of the page around a server or a client.

    client ── ping (*) ──────────────────▶ host        repeated until the answer
    client ◀───────────────────── answer ── host       the client pins the origin; open
    client ── initialize ────────────────▶ host        open
    client ◀── JSON-RPC ─────────────────▶ host

The page around a frame has one table for both: what comes first, an answer to its ping or a first request, opens it.
A client pings at once over a port that it is given.

Some framed pages wait for a port, such as those of npm's `mcp-browser-transport`. So a host pings the window, and with
every other probe hands over a port, and pings that, too: noise to all other pages. The first answer pins its way.

    page ◀─────────────── ping ── host        to its origin; repeated until the first answer
    page ◀── "init" with a port ── host        to its origin, with the second, the fourth, … ping to the window
    page ◀─────────────── ping ── host        over the port
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final

from mcpframe.frame.core import actions as common
from mcpframe.frame.core.allowed_origins import ANY, OPAQUE
from mcpframe.frame.core.dialect import TRANSPORT
from mcpframe.frame.core.errors import HandshakeTimeout, PeerGone
from mcpframe.frame.core.events import Output, Send
from mcpframe.frame.core.roles import Actor, Local, Message, Rule, State
from mcpframe.frame.dialects.plain_mcp import roles as do
from mcpframe.frame.dialects.plain_mcp.messages import FIRST, MESSAGE, PING, PING_ID, PONG, codec, kind, read_message

S = State

PROBE: Final = {"jsonrpc": "2.0", "id": PING_ID, "method": PING}
"""Posted until it is answered, be it by an error: a page listens only some time after it was framed."""
HANDOVER: Final = '"init"'
"""The JSON text of the message with which a port is handed over: that of npm's `mcp-browser-transport`."""
_FIRST_PROBE = 2
"""A host probes after this many `repeat_interval`s."""


def wait(actor: Actor, message: Message) -> Iterable[Output]:
    """Wait until the page has loaded: an earlier message finds nobody of its origin."""
    actor.repeat_at(message.now + actor.options.repeat_interval * _FIRST_PROBE)
    return ()


def probe(actor: Actor, message: Message) -> Iterable[Output]:
    """Ask whether the peer listens: a framed page cannot know it, and a host cannot know when a page does."""
    actor.repeat_call(message.now)
    yield from ask(actor, message)


def ask(actor: Actor, _: Message) -> Iterable[Output]:
    origins = [*actor.allowed]
    only = actor.origin or (origins[0] if len(origins) == 1 else ANY)
    yield do.post_to(only, actor, PROBE)


def hand_over(actor: Actor, message: Message) -> Iterable[Output]:
    """Ask, and hand over a port, which is asked, too: a page may listen on that alone."""
    yield from probe(actor, message)
    (origin,) = actor.allowed
    yield Send(HANDOVER, ANY if origin == OPAQUE else origin, hands_over=True)


def is_second(actor: Actor, _: Message) -> bool:
    """Return whether this is every other probe: a page that answers the first ping is handed no port."""
    return actor.repeats % 2 == 0


nobody_answered = common.end_with(lambda _: HandshakeTimeout("No host answered a ping of MCP in time."))
never_ready = common.end_with(
    lambda _: HandshakeTimeout(
        "The framed page answered no ping of MCP in time, neither to its window nor over a port that it was handed, "
        "and posted no first request."
    )
)
replaced = common.end_with(lambda _: PeerGone("The framed page was reloaded or navigated away; the session is over."))

CLIENT = replace(
    do.SERVER,
    codec=codec(kind),
    readers={**do.SERVER.readers, PONG: read_message},
    rules=(
        *common.beginning(S.CALLING, probe),
        Rule(S.CALLING, Local.REPEAT, S.CALLING, probe),
        Rule(S.CALLING, Local.PORT, S.CALLING, probe),
        Rule(S.CALLING, PING, S.CALLING, do.answer_ping),
        Rule(S.CALLING, PONG, S.OPEN, do.opened),
        Rule(S.CALLING, Local.DEADLINE, S.CLOSED, nobody_answered),
        Rule(S.OPEN, PONG, S.OPEN, common.ignore),
        *do.OPEN,
        *common.leaving(do.removed, S.CALLING, S.OPEN),
    ),
    waits={S.CALLING: "handshake_timeout"},
)

HOST = replace(
    CLIENT,
    side="outer",
    rules=(
        *common.beginning(S.AWAITING, wait),
        Rule(S.AWAITING, Local.REPEAT, S.AWAITING, hand_over, is_second),
        Rule(S.AWAITING, Local.REPEAT, S.AWAITING, probe),
        Rule(S.AWAITING, Local.PORT, S.AWAITING, ask),
        Rule(S.AWAITING, PING, S.AWAITING, do.answer_ping),
        Rule(S.AWAITING, PONG, S.OPEN, do.opened),
        Rule(S.AWAITING, FIRST, S.OPEN, do.begin),
        Rule(S.AWAITING, MESSAGE, S.OPEN, do.begin, do.is_request_over_port),
        Rule(S.AWAITING, MESSAGE, S.AWAITING, common.ignore),
        Rule(S.AWAITING, Local.DEADLINE, S.CLOSED, never_ready),
        Rule(S.OPEN, PONG, S.OPEN, common.ignore),
        *do.OPEN,
        Rule(S.OPEN, Local.PEER_REPLACED, S.CLOSED, replaced),
        *common.leaving(do.removed, S.AWAITING, S.OPEN),
    ),
    waits={S.AWAITING: "handshake_timeout"},
)

ROLES: dict[str, Any] = {"inner_client": {TRANSPORT: CLIENT}, "outer": {TRANSPORT: HOST}}
