"""MCP Apps: the host, with its table, its part of the handshake, and the readers of a view's messages; see `roles`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from mcpframe.frame.core import actions as common
from mcpframe.frame.core import jsonrpc
from mcpframe.frame.core.dialect import TRANSPORT
from mcpframe.frame.core.errors import HandshakeTimeout, MalformedMessage, PeerGone
from mcpframe.frame.core.events import Opened, Output, OwnEvent
from mcpframe.frame.core.roles import Actor, Local, Message, Role, Rule, State
from mcpframe.frame.dialects.mcp_apps import actions as view
from mcpframe.frame.dialects.mcp_apps.codec import CODEC
from mcpframe.frame.dialects.mcp_apps.messages import (
    INITIALIZE,
    INITIALIZED,
    MESSAGE,
    NAME,
    PROXY_READY,
    RESOURCE_READY,
    VERSIONS,
    Json,
    object_member,
    read_message,
    text_member,
)

S = State


@dataclass(frozen=True, slots=True, kw_only=True)
class AppsHostOffer:
    """A host's part of the handshake.

    Attributes:
        info: `hostInfo`: name and version.
        capabilities: `hostCapabilities`.
        context: `hostContext` at the time of the handshake.
        resource: the parameters of `ui/notifications/sandbox-resource-ready`, where the host frames a sandbox proxy;
            None where it frames the view itself.
    """

    info: Mapping[str, Any] = field(default_factory=lambda: {"name": "mcpframe", "version": "0"})
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    context: Mapping[str, Any] = field(default_factory=dict)
    resource: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewCalled(OwnEvent):
    """A view has called its host. `Opened` follows once it is ready.

    Attributes:
        version: the revision that it asks for; None if it names none.
        info: `appInfo`.
        capabilities: `appCapabilities`.
    """

    version: str | None
    info: Mapping[str, Any] = field(hash=False)
    capabilities: Mapping[str, Any] = field(hash=False)


@dataclass(frozen=True, slots=True)
class Initialize:
    """A view's `ui/initialize`.

    Attributes:
        id: the id of the request.
        version: the revision that it asks for; None in the seed's form.
        info: its `appInfo`; empty in the seed's form.
        capabilities: its `appCapabilities`.
    """

    id: jsonrpc.RequestId
    version: str | None
    info: Json
    capabilities: Json


def read_initialize(data: Json) -> Initialize:
    message = read_message(data)
    if "id" not in message:
        raise MalformedMessage("ui/initialize must be a request: it has no id.")
    params = message.get("params", {})
    return Initialize(
        message["id"],
        text_member(params, "protocolVersion"),
        object_member(params, "appInfo"),
        object_member(params, "appCapabilities"),
    )


def read_initialized(data: Json) -> None:
    if "id" in read_message(data):
        raise MalformedMessage("ui/notifications/initialized must be a notification: it has an id.")


def read_proxy_ready(data: Json) -> None:
    if "id" in read_message(data):
        raise MalformedMessage("ui/notifications/sandbox-proxy-ready must be a notification: it has an id.")


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


never_called = common.end_with(lambda _: HandshakeTimeout("The view sent no ui/initialize in time."))
never_ready = common.end_with(lambda _: HandshakeTimeout("The view was not ready in time after ui/initialize."))
replaced = common.end_with(lambda _: PeerGone("The view was reloaded or navigated away; the session is over."))

HOST = Role(
    dialect=NAME,
    side="outer",
    phase=TRANSPORT,
    codec=CODEC,
    offers=AppsHostOffer,
    readers={
        PROXY_READY: read_proxy_ready,
        INITIALIZE: read_initialize,
        INITIALIZED: read_initialized,
        MESSAGE: read_message,
    },
    rules=(
        *common.beginning(S.AWAITING),
        Rule(S.AWAITING, PROXY_READY, S.AWAITING, hand_over, has_proxy),
        Rule(S.AWAITING, INITIALIZE, S.CONFIRMING, answer, has_view),
        Rule(S.AWAITING, Local.DEADLINE, S.CLOSED, never_called),
        Rule(S.CONFIRMING, INITIALIZE, S.CONFIRMING, answer),
        Rule(S.CONFIRMING, INITIALIZED, S.OPEN, ready),
        Rule(S.CONFIRMING, PROXY_READY, S.CLOSED, replaced, has_proxy),
        Rule(S.CONFIRMING, Local.DEADLINE, S.CLOSED, never_ready),
        Rule(S.OPEN, INITIALIZED, S.OPEN, common.ignore),
        Rule(S.OPEN, INITIALIZE, S.CLOSED, replaced),
        Rule(S.OPEN, PROXY_READY, S.CLOSED, replaced, has_proxy),
        *common.exchanging(MESSAGE),
        Rule(S.OPEN, Local.PEER_REPLACED, S.CLOSED, replaced),
        *common.leaving(view.removed, S.AWAITING, S.CONFIRMING, S.OPEN),
    ),
    waits={S.AWAITING: "handshake_timeout", S.CONFIRMING: "accept_timeout"},
)

ROLES: dict[str, Any] = {"outer": {TRANSPORT: HOST}}
