"""The actions of the roles."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from mcpframe.frame.core.actions import end_with
from mcpframe.frame.core.allowed_origins import ANY
from mcpframe.frame.core.dialect import TAB
from mcpframe.frame.core.errors import HandshakeTimeout, PeerGone
from mcpframe.frame.core.events import Opened, Output, Send
from mcpframe.frame.core.roles import Actor, Message
from mcpframe.frame.dialects.mcp_b.messages import CHECK_READY, NAME, PING, READY, STOPPED

_FIRST_CHECK = 5
"""The client of an iframe checks after this many `repeat_interval`s: the page announces itself before."""


def announce(actor: Actor, _: Message) -> Iterable[Output]:
    yield actor.call_out(_wire(actor, READY))


def answer_check(actor: Actor, message: Message) -> Iterable[Output]:
    """Answer the client, and pin its origin."""
    actor.pin(message.origin)
    yield actor.say(_wire(actor, READY))


def begin(actor: Actor, message: Message) -> Iterable[Output]:
    yield from opened(actor, message)
    yield from actor.deliver(message.body)


def stop(actor: Actor, _: Message) -> Iterable[Output]:
    """Announce the end; a framed server without a client has no one to notify."""
    if actor.origin is not None or actor.role.phase == TAB:
        yield _post(actor, STOPPED)
    yield from actor.end()


def check(actor: Actor, message: Message) -> Iterable[Output]:
    yield from wait(actor, message)
    actor.repeat_at(message.now + actor.options.repeat_interval)
    yield _post(actor, CHECK_READY)


def wait(actor: Actor, message: Message) -> Iterable[Output]:
    """Wait until the page has loaded: an earlier message to its origin would log an error in the browser's console."""
    origins = [*actor.allowed]
    if len(origins) == 1 and origins[0] != ANY:
        actor.pin(origins[0])
    actor.repeat_at(message.now + actor.options.repeat_interval * _FIRST_CHECK)
    return ()


def check_again(actor: Actor, message: Message) -> Iterable[Output]:
    actor.repeat_at(message.now + actor.options.repeat_interval)
    yield _post(actor, CHECK_READY)
    yield _post(actor, PING)


def opened(actor: Actor, message: Message) -> Iterable[Output]:
    actor.pin(message.origin)
    yield Opened(dialect=NAME, origin=message.origin)


def _post(actor: Actor, payload: str | Mapping[str, Any]) -> Send:
    message = _wire(actor, payload)
    return actor.call_out(message) if actor.origin is None else actor.say(message)


def _wire(actor: Actor, payload: str | Mapping[str, Any]) -> dict[str, Any]:
    message: dict[str, Any] = json.loads(actor.role.codec.encode(json.dumps(payload), {}))
    return message


nobody_called = end_with(lambda _: HandshakeTimeout("No host answered what the page server posted in time."))
never_ready = end_with(lambda _: HandshakeTimeout("No page server was ready in time."))
stopped = end_with(lambda _: PeerGone("The page server has stopped; the session is over."))
replaced = end_with(lambda _: PeerGone("The page server was reloaded or navigated away; the session is over."))
removed = end_with(lambda _: PeerGone("The peer's window is gone; the session is over."))
