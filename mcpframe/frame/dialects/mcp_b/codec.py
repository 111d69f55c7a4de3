"""The wire format: one codec for each channel and direction. Messages of another channel or direction are noise.

So are a page's own messages: on the tab channel it receives what it posts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcpframe.frame.core.codec import Codec, enveloped, ids_in
from mcpframe.frame.core.errors import MalformedMessage
from mcpframe.frame.core.payload import encode
from mcpframe.frame.dialects.mcp_b.messages import (
    CHECK_READY,
    MESSAGE,
    PING,
    PONG,
    READY,
    STOPPED,
    TO_CLIENT,
    TO_SERVER,
    read_payload,
)


def server_codec(channel: str) -> Codec:
    """Return the codec of a page server."""
    return _codec(channel, TO_SERVER, TO_CLIENT, (CHECK_READY,))


def client_codec(channel: str) -> Codec:
    """Return the codec of a client."""
    return _codec(channel, TO_CLIENT, TO_SERVER, (READY, STOPPED), pong=PONG)


def _codec(channel: str, reads: str, writes: str, signals: tuple[str, ...], *, pong: str = MESSAGE) -> Codec:
    def kind(data: Any) -> str | None:
        if not isinstance(data, dict) or "payload" not in data:
            return None
        if (data.get("channel"), data.get("type"), data.get("direction")) != (channel, "mcp", reads):
            return None
        payload = data["payload"]
        if isinstance(payload, str) and payload in signals:
            return payload
        is_pong = isinstance(payload, dict) and payload.get("id") == PING["id"] and "method" not in payload
        return pong if is_pong else MESSAGE

    envelope = enveloped(
        f'{{"channel":{encode(channel)},"type":"mcp","direction":"{writes}","payload":',
        "}",
    )

    def write(text: str, message: Mapping[str, Any]) -> str:
        """Encode a message; reject an id of null or a fraction, as other implementations do."""
        if not isinstance(message.get("id", 0), str | int):
            raise MalformedMessage("A message of MCP-B has a text or an integer as its id.")
        return envelope(text, message)

    return Codec(
        kind=kind,
        decode=read_payload,
        encode=write,
        ids=ids_in("payload"),
        carries=frozenset({MESSAGE, pong}),
        members=("channel", "type", "direction"),
        body="payload",
    )
