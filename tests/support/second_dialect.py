"""Two small dialects made for the tests, so that the core is proved without any that mcpframe speaks.

    inner ── hello (*) ──▶ outer      repeated until the answer
    inner ◀── answered ─── outer      inner pins the origin
    inner ── ready ──────▶ outer      open; JSON-RPC messages both ways

Both have the same tables and no session id. Only the codecs differ: `plain` posts JSON-RPC as it is, `directed` has an
envelope with a channel that says which way a message goes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from mcpframe.frame.core import jsonrpc
from mcpframe.frame.core.codec import Codec, enveloped, ids_in
from mcpframe.frame.core.connection import AllowedOrigins, Candidate, Connection, Options, parse_allowed_origins
from mcpframe.frame.core.dialect import TRANSPORT, Dialect
from mcpframe.frame.core.errors import HandshakeTimeout, MalformedMessage, PeerGone, SessionError, VersionMismatch
from mcpframe.frame.core.events import Opened, Output
from mcpframe.frame.core.outline import outline_of
from mcpframe.frame.core.roles import Actor, Local, Message, Role, Rule, State

HOST = "https://chat.example"
FRAME = "https://tools.example"

HELLO, ANSWERED, READY, MESSAGE = "hello", "answered", "ready", "message"
VERSION = 1

REQUEST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
RESPONSE = {"jsonrpc": "2.0", "id": 1, "result": {}}
NOTIFICATION = {"jsonrpc": "2.0", "method": "notifications/initialized"}
Json = dict[str, Any]

BODIES: dict[str, Json] = {
    HELLO: {"jsonrpc": "2.0", "id": HELLO, "method": HELLO, "params": {"version": VERSION}},
    ANSWERED: {"jsonrpc": "2.0", "id": HELLO, "result": {"version": VERSION}},
    READY: {"jsonrpc": "2.0", "method": READY},
    MESSAGE: REQUEST,
}


def _kind_of(body: Any) -> str | None:
    if not isinstance(body, dict):
        return None
    if body.get("method") in (HELLO, READY):
        return str(body["method"])
    return ANSWERED if body.get("id") == HELLO and "method" not in body else MESSAGE


def _plain() -> Codec:
    def kind(data: Any) -> str | None:
        return _kind_of(data) if isinstance(data, dict) and data.get("jsonrpc") == "2.0" else None

    return Codec(
        kind=kind,
        decode=lambda data: jsonrpc.with_usable_id(dict(data)),
        encode=lambda text, _: text,
        ids=outline_of,
        carries=frozenset({MESSAGE}),
        members=("jsonrpc", "id", "method", "result", "error"),
    )


def _directed(reads: str, writes: str) -> Codec:
    def kind(data: Any) -> str | None:
        claimed = isinstance(data, dict) and (data.get("channel"), data.get("way")) == ("directed", reads)
        return (_kind_of(data.get("payload")) or MESSAGE) if claimed else None

    def decode(data: Mapping[str, Any]) -> Json:
        body = data.get("payload")
        if not isinstance(body, dict):
            raise MalformedMessage("payload must be an object.")
        return jsonrpc.with_usable_id(body)

    return Codec(
        kind=kind,
        decode=decode,
        encode=enveloped(f'{{"channel":"directed","way":"{writes}","payload":', "}"),
        ids=ids_in("payload"),
        carries=frozenset({MESSAGE}),
        members=("channel", "way"),
        body="payload",
    )


def _wire(actor: Actor, kind: str) -> Json:
    """Return one of the dialect's own messages, as the codec of its side writes it."""
    message: Json = json.loads(actor.role.codec.encode(json.dumps(BODIES[kind]), BODIES[kind]))
    return message


def _version(body: Json, member: str) -> int:
    inside = body.get(member)
    version = inside.get("version") if isinstance(inside, dict) else None
    if not isinstance(version, int):
        raise MalformedMessage(f"{member}.version must be an integer.")
    return version


def _speaks_ours(_: Actor, message: Message) -> bool:
    return bool(message.body == VERSION)


def _call(actor: Actor, message: Message) -> Iterable[Output]:
    actor.repeat_at(message.now + actor.options.repeat_interval)
    yield actor.call_out(_wire(actor, HELLO))


def _accept(actor: Actor, message: Message) -> Iterable[Output]:
    actor.pin(message.origin)
    yield actor.say(_wire(actor, READY))
    yield Opened(dialect=actor.role.dialect, origin=message.origin)


def _reply(actor: Actor, message: Message) -> Iterable[Output]:
    actor.pin(message.origin)
    yield actor.say(_wire(actor, ANSWERED))


def _opened(actor: Actor, message: Message) -> Iterable[Output]:
    yield Opened(dialect=actor.role.dialect, origin=message.origin)


def _received(actor: Actor, message: Message) -> Iterable[Output]:
    return actor.deliver(message.body)


def _send(actor: Actor, message: Message) -> Iterable[Output]:
    return actor.transmit(*message.body)


def _ignore(actor: Actor, message: Message) -> Iterable[Output]:
    return actor.ignore(message.trigger)


def _end(error: SessionError | None = None) -> Callable[[Actor, Message], Iterable[Output]]:
    return lambda actor, _: actor.end(error)


def _leaving(*states: State) -> Iterable[Rule]:
    for state in states:
        yield Rule(state, Local.PEER_REMOVED, State.CLOSED, _end(PeerGone("removed")))
        yield Rule(state, Local.CLOSE, State.CLOSED, _end())


def _roles(name: str, inner: Codec, outer: Codec) -> Dialect:
    def read_hello(data: Mapping[str, Any]) -> int:
        return _version(outer.decode(data), "params")

    def read_answer(data: Mapping[str, Any]) -> int:
        return _version(inner.decode(data), "result")

    s, timeout = State, HandshakeTimeout("nobody")
    inner_role = Role(
        dialect=name,
        side="inner",
        phase=TRANSPORT,
        codec=inner,
        readers={ANSWERED: read_answer, MESSAGE: inner.decode},
        rules=(
            Rule(s.IDLE, Local.START, s.CALLING, _call),
            Rule(s.CALLING, Local.REPEAT, s.CALLING, _call),
            Rule(s.CALLING, ANSWERED, s.OPEN, _accept, _speaks_ours),
            Rule(s.CALLING, ANSWERED, s.CLOSED, _end(VersionMismatch(f"another {name}"))),
            Rule(s.CALLING, Local.DEADLINE, s.CLOSED, _end(timeout)),
            Rule(s.OPEN, ANSWERED, s.OPEN, _ignore),
            Rule(s.OPEN, MESSAGE, s.OPEN, _received),
            Rule(s.OPEN, Local.SEND, s.OPEN, _send),
            *_leaving(s.IDLE, s.CALLING, s.OPEN),
        ),
        waits={s.CALLING: "handshake_timeout"},
    )
    outer_role = Role(
        dialect=name,
        side="outer",
        phase=TRANSPORT,
        codec=outer,
        readers={HELLO: read_hello, READY: outer.decode, MESSAGE: outer.decode},
        rules=(
            Rule(s.IDLE, Local.START, s.AWAITING),
            Rule(s.AWAITING, HELLO, s.CONFIRMING, _reply, _speaks_ours),
            Rule(s.AWAITING, HELLO, s.CLOSED, _end(VersionMismatch(f"another {name}"))),
            Rule(s.AWAITING, Local.DEADLINE, s.CLOSED, _end(timeout)),
            Rule(s.CONFIRMING, HELLO, s.CONFIRMING, _reply, _speaks_ours),
            Rule(s.CONFIRMING, READY, s.OPEN, _opened),
            Rule(s.CONFIRMING, Local.DEADLINE, s.CLOSED, _end(timeout)),
            Rule(s.OPEN, MESSAGE, s.OPEN, _received),
            Rule(s.OPEN, HELLO, s.CLOSED, _end(PeerGone("replaced"))),
            Rule(s.OPEN, Local.SEND, s.OPEN, _send),
            *_leaving(s.IDLE, s.AWAITING, s.CONFIRMING, s.OPEN),
        ),
        waits={s.AWAITING: "handshake_timeout", s.CONFIRMING: "accept_timeout"},
    )
    return Dialect(name=name, title=name, preference=9, inner={TRANSPORT: inner_role}, outer={TRANSPORT: outer_role})


PLAIN = _roles("plain", _plain(), _plain())
DIRECTED = _roles("directed", _directed("to page", "to host"), _directed("to host", "to page"))
DIALECTS = {each.name: each for each in (PLAIN, DIRECTED)}


def role_of(dialect: Dialect, side: str) -> Role:
    """Return the role of a side."""
    return (dialect.inner if side == "inner" else dialect.outer)[TRANSPORT]


def peer_of(role: Role) -> str:
    """Return the origin of the peer of this role in these tests."""
    return HOST if role.side == "inner" else FRAME


def from_peer(role: Role, kind: str | Json) -> Json:
    """Return a message as the peer of a role posts it: one of `BODIES`, or this JSON-RPC message."""
    other = role_of(DIALECTS[role.dialect], "outer" if role.side == "inner" else "inner")
    body = BODIES[kind] if isinstance(kind, str) else kind
    message: Json = json.loads(other.codec.encode(json.dumps(body), body))
    return message


def candidates(*roles: Role, allowed: Mapping[str, AllowedOrigins] | None = None) -> list[Candidate]:
    """Return these roles for their usual peer, or for other origins by dialect."""
    lists = allowed or {}
    return [Candidate(role, lists.get(role.dialect) or parse_allowed_origins([peer_of(role)])) for role in roles]


def connection(*roles: Role, options: Options | None = None, **origins: list[str]) -> Connection:
    """Make a connection of these candidates; by name of the dialect, with other origins than the usual peer's."""
    allowed = {name: parse_allowed_origins(entries) for name, entries in origins.items()}
    return Connection(candidates(*roles, allowed=allowed), options=options)
