"""Reads the messages that `on_wire` of a session gets, of any dialect, for tools that show or record them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from mcpframe.frame.core.codec import Codec
from mcpframe.frame.core.dialect import Dialect
from mcpframe.frame.core.errors import MessageError
from mcpframe.frame.dialects.complete import complete_dialects


@dataclass(frozen=True, slots=True)
class WireMessage:
    """The description of a message on the wire.

    Attributes:
        dialect: its dialect.
        kind: its kind, in the terms of that dialect.
        body: the JSON-RPC message in it; None if it carries none, or a malformed one.
        step: the name for people of this step of the handshake; empty if it is none.
    """

    dialect: str
    kind: str
    body: Any = None
    step: str = ""


def read_wire(message: Any, spoken: str = "") -> WireMessage | None:
    """Return the description of a parsed message, of any dialect and direction; None for one of no dialect.

    Args:
        message: the message.
        spoken: the dialect of the session, where it is known: some have messages of the same form.
    """
    for each, codec in sorted(_codecs(), key=lambda pair: pair[0].name != spoken) if spoken else _codecs():
        kind = codec.kind(message)
        if kind is None:
            continue
        body = None
        if codec.recodes:
            with suppress(MessageError):
                body = codec.decode(message)
        elif kind in codec.carries:
            body = message if codec.body is None else message.get(codec.body)
        return WireMessage(each.name, kind, body if isinstance(body, dict) else None, each.steps.get(kind, ""))
    return None


def body_text(text: str) -> str | None:
    """Return the JSON-RPC text inside a wire text, if its envelope is exactly the one we would write."""
    for _, codec in _codecs():
        if codec.recodes:
            continue
        before, _, after = codec.encode("\0", {}).partition("\0")
        if before and text.startswith(before) and text.endswith(after):
            return text[len(before) : len(text) - len(after)]
    return None


def bare_body(message: Any) -> Any:
    """Return the JSON-RPC message in a parsed one, if its envelope is exactly the one we would write; else None."""
    for _, codec in _codecs():
        if codec.body is None or codec.kind(message) not in codec.carries:
            continue
        body = message.get(codec.body)
        envelope = json.loads(codec.encode("null", {})) if isinstance(body, dict) else None
        if envelope == {**message, codec.body: None}:
            return body
    return None


def _codecs() -> Iterator[tuple[Dialect, Codec]]:
    """Return the codecs of both sides of each dialect, each once."""
    for each in complete_dialects():
        roles = (*each.inner.values(), *each.outer.values())
        yield from ((each, codec) for codec in dict.fromkeys(role.codec for role in roles))
