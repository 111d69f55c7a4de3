"""The guards and actions of the view."""

from __future__ import annotations

from collections.abc import Iterable

from mcpframe.frame.core.actions import end_with
from mcpframe.frame.core.errors import HandshakeRefused, HandshakeTimeout, PeerGone, VersionMismatch
from mcpframe.frame.core.events import Output
from mcpframe.frame.core.roles import Actor, Message
from mcpframe.frame.dialects.mcp_apps.messages import (
    CONFIRMATION,
    INITIALIZE,
    INITIALIZE_ID,
    NAME,
    VERSIONS,
    InitializeAnswer,
)
from mcpframe.frame.dialects.mcp_apps.offers import HostFound, ViewOffer

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


_OURS = " and ".join(VERSIONS)
wrong_version = end_with(
    lambda message: VersionMismatch(f"The host speaks MCP Apps {message.body.version}, we speak {_OURS}.")
)
refused = end_with(lambda message: HandshakeRefused(f"The host refused ui/initialize: {message.body.error}"))
nobody_answered = end_with(lambda _: HandshakeTimeout("No host answered ui/initialize in time."))
removed = end_with(lambda _: PeerGone("The peer's window is gone; the session is over."))
