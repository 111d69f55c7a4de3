"""The messages between tabs of a hub, and the names of their channels and locks.

    directory channel    hub      a tab leads, under an id of its own
                         connect  a port looks for the hub, and holds its own lock already
    port's channel       open     the hub has the port; from here on the port's line is used
    line's channel       ready    the port uses the line
                         ping, pong, seen, close

All messages are text. On a line, `m` marks a message of the port, and `c` a control message of the table, which is
JSON. Ids are random, and a line is named by the ids of hub and port: a former leader that does not know yet of its
successor posts on a line without listeners.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeGuard, get_args

from mcpframe.frame.core import payload
from mcpframe.frame.core.errors import MessageError
from mcpframe.frame.core.limits import MESSAGE_BYTES
from mcpframe.hub.core import limits

PortKind = Literal["tools", "window", "client", "watch"]
"""The purpose of a port: a tab's tools (`hub.core.codec`), a window's messages, which the hub relays, a client of MCP,
or a check that the hub responds.
"""

NUMBERED: frozenset[PortKind] = frozenset({"tools", "window"})
"""Ports whose tab has a number."""

_KINDS: Mapping[Any, PortKind] = {kind: kind for kind in get_args(PortKind)}
_MESSAGE, _CONTROL = "m", "c"
_LIMITS = {"max_bytes": limits.HUB_CONTROL_BYTES, "max_nesting": limits.HUB_CONTROL_NESTING}


@dataclass(frozen=True)
class ChannelNames:
    """The names of a hub's channels and locks."""

    name: str

    @property
    def directory(self) -> str:
        """The channel on which tabs find each other."""
        return f"mcpframe-hub:{self.name}"

    @property
    def leader(self) -> str:
        """The lock of the tab that leads."""
        return f"mcpframe-hub:{self.name}:leader"

    def hub(self, hub: str) -> str:
        """The lock that a hub holds while it leads."""
        return f"mcpframe-hub:{self.name}:hub:{hub}"

    def port(self, port: str) -> str:
        """The lock that a port holds while it is open, and the channel on which it is answered."""
        return f"mcpframe-hub:{self.name}:port:{port}"

    def number(self, number: int) -> str:
        """The lock of the tab that has a number."""
        return f"mcpframe-hub:{self.name}:number:{number}"

    def line(self, hub: str, port: str) -> str:
        """The channel between a hub and a port."""
        return f"mcpframe-hub:{self.name}:line:{hub}:{port}"

    def key(self, key: str) -> str:
        """The key of a stored value."""
        return f"mcpframe-hub:{self.name}:{key}"


@dataclass(frozen=True)
class Hello:
    """A tab leads.

    Attributes:
        hub: The id of its hub.
    """

    hub: str


@dataclass(frozen=True)
class Connect:
    """A port looks for the hub.

    Attributes:
        port: Its id.
        kind: Its purpose.
        url: The address of its page.
        number: The number that its tab remembers; None for none.
    """

    port: str
    kind: PortKind
    url: str = ""
    number: int | None = None
    window_name: str = ""


def new_id() -> str:
    """Return an id that cannot be guessed."""
    return secrets.token_hex(16)


def hello(hub: str) -> str:
    return payload.encode({"type": "hub", "hub": hub})


def connect(call: Connect) -> str:
    message = {"type": "connect", "port": call.port, "kind": call.kind, "url": call.url, "number": call.number}
    return payload.encode({**message, "windowName": call.window_name})


def read_directory(text: str) -> Hello | Connect | None:
    """Return a message of the directory; None for an invalid one, as any script of the origin can post there."""
    message = _object(text)
    hub, port, kind = message.get("hub"), message.get("port"), message.get("kind")
    known = _KINDS.get(kind) if isinstance(kind, str) else None
    if message.get("type") == "hub" and is_name(hub):
        return Hello(hub)
    if message.get("type") == "connect" and is_name(port) and known is not None:
        url, number, name = message.get("url"), message.get("number"), message.get("windowName")
        return Connect(
            port,
            known,
            url if is_name(url) else "",
            number if type(number) is int and 0 < number < 10**9 else None,
            name if is_name(name) else "",
        )
    return None


def message(text: str) -> str:
    """Return a message of a port as text for the line."""
    return _MESSAGE + text


def control(kind: str, **more: Any) -> str:
    """Return a control message as text for a line, or for a port's channel."""
    return _CONTROL + payload.encode({"type": kind, **more})


def read_line(text: str) -> str | Mapping[str, Any]:
    """Return a message as text, and a control message as an object, which is empty if it is unreadable."""
    if text[:1] == _MESSAGE:
        return text[1:] if len(text) <= MESSAGE_BYTES else {}
    return _object(text[1:]) if text[:1] == _CONTROL else {}


def _object(text: str) -> Mapping[str, Any]:
    try:
        value = payload.parse(text, **_LIMITS)
    except MessageError:
        return {}
    return value if isinstance(value, dict) else {}


def is_name(value: Any) -> TypeGuard[str]:
    """Return whether a value is text that is neither empty nor too long."""
    return isinstance(value, str) and 0 < len(value) <= limits.HUB_NAME_CHARACTERS
