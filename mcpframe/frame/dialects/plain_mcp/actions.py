"""The actions of the roles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from mcpframe.frame.core import payload
from mcpframe.frame.core.actions import end_with
from mcpframe.frame.core.errors import HandshakeTimeout, PeerGone
from mcpframe.frame.core.events import Opened, Output, Send
from mcpframe.frame.core.origins import ANY, OPAQUE
from mcpframe.frame.core.roles import Actor, Message
from mcpframe.frame.dialects.plain_mcp.messages import BEGIN, NAME, PROBE

_FIRST_PROBE = 2
"""A host probes after this many `repeat_interval`s."""


def begin(actor: Actor, message: Message) -> Iterable[Output]:
    """Pin the peer, and hand its first request to the session."""
    yield from opened(actor, message)
    yield from actor.deliver(message.body)


def opened(actor: Actor, message: Message) -> Iterable[Output]:
    actor.pin(message.origin)
    yield Opened(dialect=NAME, origin=message.origin)


def is_probe(_: Actor, message: Message) -> bool:
    return bool(message.body.get("id") == PROBE["id"])


def begins_again(actor: Actor, message: Message) -> bool:
    """Return whether a client that was made anew begins as the one before did: one answer is for both."""
    return message.body["method"] in BEGIN and actor.owes(message.body)


def answer_ping(_: Actor, message: Message) -> Iterable[Output]:
    """Answer whoever asks, without pinning it: an opener may navigate before it opens the session."""
    yield _to(message.origin, {"jsonrpc": "2.0", "id": message.body["id"], "result": {}})


def wait(actor: Actor, message: Message) -> Iterable[Output]:
    """Wait until the page has loaded: an earlier message finds nobody of its origin."""
    actor.repeat_at(message.now + actor.options.repeat_interval * _FIRST_PROBE)
    return ()


def probe(actor: Actor, message: Message) -> Iterable[Output]:
    """Ask whether the peer listens: a framed page cannot know it, and a host cannot know when a page does."""
    actor.repeat_call(message.now)
    origins = [*actor.allowed]
    only = actor.origin or (origins[0] if len(origins) == 1 else ANY)
    yield _to(only, PROBE)


def _to(origin: str, message: Mapping[str, Any]) -> Send:
    return Send(payload.encode(message), ANY if origin == OPAQUE else origin)


nobody_called = end_with(lambda _: HandshakeTimeout("No host answered in time, or posted a first request of MCP."))
nobody_answered = end_with(lambda _: HandshakeTimeout("No host answered a ping of MCP in time."))
never_ready = end_with(
    lambda _: HandshakeTimeout("The framed page answered no ping of MCP in time, and posted no first request.")
)
replaced = end_with(lambda _: PeerGone("The framed page was reloaded or navigated away; the session is over."))
removed = end_with(lambda _: PeerGone("The peer's window is gone; the session is over."))
