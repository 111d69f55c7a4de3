"""The guards and actions of the framed page."""

from __future__ import annotations

from collections.abc import Iterable

from mcpframe.frame.core.actions import end_with
from mcpframe.frame.core.errors import HandshakeTimeout, PeerGone
from mcpframe.frame.core.events import Output
from mcpframe.frame.core.roles import Actor, Message
from mcpframe.frame.dialects.mcp_ui.codec import wire
from mcpframe.frame.dialects.mcp_ui.messages import (
    NAME,
    OPENING_ID,
    OURS,
    READY,
    RENDER_DATA,
    REQUEST_RENDER_DATA,
    RenderData,
)
from mcpframe.frame.dialects.mcp_ui.offers import EmbeddedOffer, EmbedderFound


def waits_for_data(actor: Actor, _: Message) -> bool:
    offer: EmbeddedOffer = actor.offer
    return offer.waits


def answers_opening(_: Actor, message: Message) -> bool:
    return bool(message.body.get("id") == OPENING_ID)


def is_ours(_: Actor, message: Message) -> bool:
    """Return whether a message belongs to a request of this page: hosts confirm every message, even without an id."""
    body = message.body
    id_ = body["id"] if "id" in body else body["params"].get("progressToken")
    return isinstance(id_, str) and id_.startswith(OURS) and id_ != OPENING_ID


def call(actor: Actor, message: Message) -> Iterable[Output]:
    """Announce once that the page is ready, and ask for render data, the only message that every host answers."""
    yield actor.call_out(wire(READY, None, None))
    yield from call_again(actor, message)


def call_again(actor: Actor, message: Message) -> Iterable[Output]:
    actor.repeat_call(message.now)
    yield actor.call_out(wire(REQUEST_RENDER_DATA, OPENING_ID, None))


def begin_with_data(actor: Actor, message: Message) -> Iterable[Output]:
    actor.pin(message.origin)
    render: RenderData = message.body
    yield EmbedderFound(dialect=NAME, origin=message.origin, data=render.data)


def recognise(actor: Actor, message: Message) -> Iterable[Output]:
    """Recognise the host by any other message: it answers an action, or another dialect's opening."""
    actor.pin(message.origin)
    return ()


def begin(actor: Actor, message: Message) -> Iterable[Output]:
    actor.pin(message.origin)
    yield EmbedderFound(dialect=NAME, origin=message.origin)


def render_data(actor: Actor, message: Message) -> Iterable[Output]:
    render: RenderData = message.body
    if isinstance(render.id, str) and render.id.startswith(OURS) and render.id != OPENING_ID:
        answer = {"result": {"renderData": render.data}} if render.error is None else {"error": render.error}
        return actor.deliver({"jsonrpc": "2.0", "id": render.id, **answer})
    if render.error is not None:
        return actor.ignore(message.trigger)
    return actor.deliver({"jsonrpc": "2.0", "method": RENDER_DATA, "params": {"renderData": render.data}})


nobody_answered = end_with(lambda _: HandshakeTimeout("No host answered in time."))
no_data = end_with(
    lambda _: HandshakeTimeout("This page's address says to wait for render data, and the host sent none in time.")
)
removed = end_with(lambda _: PeerGone("The peer's window is gone; the session is over."))
