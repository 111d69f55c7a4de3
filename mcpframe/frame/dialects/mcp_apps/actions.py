"""The guards and actions of the two roles."""

from __future__ import annotations

from collections.abc import Iterable

from mcpframe.frame.core.actions import end_with
from mcpframe.frame.core.errors import HandshakeRefused, HandshakeTimeout, PeerGone, VersionMismatch
from mcpframe.frame.core.events import Opened, Output
from mcpframe.frame.core.roles import Actor, Message
from mcpframe.frame.dialects.mcp_apps.messages import (
    CONFIRMATION,
    INITIALIZE,
    INITIALIZE_ID,
    NAME,
    RESOURCE_READY,
    VERSIONS,
    Initialize,
    InitializeAnswer,
)
from mcpframe.frame.dialects.mcp_apps.offers import AppsHostOffer, HostFound, ViewCalled, ViewOffer

_REPEATED_AFTER = 5
"""A view repeats its request after this many `repeat_interval`s: a host answers each repetition."""


def speaks_ours(_: Actor, message: Message) -> bool:
    answer: InitializeAnswer = message.body
    return answer.error is None and answer.version in (None, *VERSIONS)


def is_refusal(_: Actor, message: Message) -> bool:
    answer: InitializeAnswer = message.body
    return answer.error is not None


def call(actor: Actor, message: Message) -> Iterable[Output]:
    actor.repeat_call(message.now, _REPEATED_AFTER)
    offer: ViewOffer = actor.offer
    params = {"appInfo": offer.info, "appCapabilities": offer.capabilities, "protocolVersion": VERSIONS[0]}
    yield actor.call_out({"jsonrpc": "2.0", "id": INITIALIZE_ID, "method": INITIALIZE, "params": params})


def begin(actor: Actor, message: Message) -> Iterable[Output]:
    actor.pin(message.origin)
    answer: InitializeAnswer = message.body
    yield actor.say(CONFIRMATION)
    yield HostFound(
        dialect=NAME,
        origin=message.origin,
        version=answer.version,
        info=answer.info or {},
        capabilities=answer.capabilities or {},
        context=answer.context or {},
    )


def answer(actor: Actor, message: Message) -> Iterable[Output]:
    """Answer with the revision that the view asks for, if it is spoken; otherwise the view decides (as in MCP)."""
    actor.pin(message.origin)
    asked: Initialize = message.body
    offer: AppsHostOffer = actor.offer
    result = {
        "protocolVersion": asked.version if asked.version in VERSIONS else VERSIONS[0],
        "hostInfo": dict(offer.info),
        "hostCapabilities": dict(offer.capabilities),
        "hostContext": dict(offer.context),
    }
    yield actor.say({"jsonrpc": "2.0", "id": asked.id, "result": result})
    yield ViewCalled(version=asked.version, info=asked.info, capabilities=asked.capabilities)


def has_proxy(actor: Actor, _: Message) -> bool:
    return actor.offer.resource is not None


def has_view(actor: Actor, _: Message) -> bool:
    """Return whether a view may exist yet: a sandbox proxy has none before it received the view's resource."""
    return actor.offer.resource is None or actor.origin is not None


def hand_over(actor: Actor, message: Message) -> Iterable[Output]:
    actor.pin(message.origin)
    yield actor.say({"jsonrpc": "2.0", "method": RESOURCE_READY, "params": actor.offer.resource})


def ready(_: Actor, message: Message) -> Iterable[Output]:
    yield Opened(dialect=NAME, origin=message.origin)


_OURS = " and ".join(VERSIONS)
wrong_version = end_with(
    lambda message: VersionMismatch(f"The host speaks MCP Apps {message.body.version}, we speak {_OURS}.")
)
refused = end_with(lambda message: HandshakeRefused(f"The host refused ui/initialize: {message.body.error}"))
nobody_answered = end_with(lambda _: HandshakeTimeout("No host answered ui/initialize in time."))
never_called = end_with(lambda _: HandshakeTimeout("The view sent no ui/initialize in time."))
never_ready = end_with(lambda _: HandshakeTimeout("The view was not ready in time after ui/initialize."))
replaced = end_with(lambda _: PeerGone("The view was reloaded or navigated away; the session is over."))
removed = end_with(lambda _: PeerGone("The peer's window is gone; the session is over."))
