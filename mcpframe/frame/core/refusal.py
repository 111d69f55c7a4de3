"""Origins that are not allowed: the report of them, and the message by which a framed page tells its host.

A message of an origin that is not allowed is dropped unread, so the page does not know the dialect of its sender: the
message is of none. The page answers once per document, and only before its peer's origin is pinned:

    {"type": "mcpframe-origin-refused", "origin": "http://127.0.0.1:8000"}

The origin is the receiver's own, as the browser reports it, and the message is posted to no other. An opaque origin
cannot be named as a target; the message to one contains "null" and nothing else. It never contains the allowed origins.
A host that waits for the page's handshake ends with `HandshakeRefused`; in an open session the message is noise.
`static/page/inbox.js` posts the same before Python runs, and `static/host/connection.js` reads it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mcpframe.frame.core import payload
from mcpframe.frame.core.allowed_origins import ANY, OPAQUE, parse_origin
from mcpframe.frame.core.errors import OriginError, UnexpectedOrigin
from mcpframe.frame.core.events import Output, Refused, Send

ORIGIN_REFUSED = "mcpframe-origin-refused"
_LONGEST = 300
"""Characters of an origin: a host name has at most 253, and a scheme and a port come with it."""
_MOST_REPORTED = 8
"""The most origins that are reported; a page could be loaded from any number of them."""


class StrangeOrigins:
    """The origins of which messages were dropped.

    Attributes:
        tells: Whether the next one is told that it is not allowed.
    """

    def __init__(self, *, tells: bool) -> None:
        self.tells = tells
        self._reported: set[str] = set()

    def refuse(self, origin: str, allowed: Iterable[str], *, is_pinned: bool) -> list[Output]:
        """Report an origin once, as a missing entry in the allow-list is a common mistake.

        Args:
            origin: That of the dropped message.
            allowed: The allow-list.
            is_pinned: Whether the peer's origin is known: then nobody else is told anything.
        """
        answers: list[Output] = []
        if self.tells and not is_pinned:
            self.tells = False
            answers = [refusal_for(origin)]
        if origin in self._reported or len(self._reported) >= _MOST_REPORTED:
            return answers
        self._reported.add(origin)
        error = UnexpectedOrigin(f"A page of {origin} is not heard; allowed: {', '.join(dict.fromkeys(allowed))}.")
        return [*answers, Refused(error, origin)]


def refusal_for(origin: str) -> Send:
    """Return the message for a peer of an origin that is not allowed."""
    return Send(payload.encode({"type": ORIGIN_REFUSED, "origin": origin}), ANY if origin == OPAQUE else origin)


def is_refusal(data: Any) -> bool:
    """Return whether a parsed message is such an answer."""
    return isinstance(data, dict) and data.get("type") == ORIGIN_REFUSED


def refused_origin(data: dict[str, Any]) -> str:
    """Return the origin in such an answer; empty if it is not one, as the sender is not trusted."""
    origin = data.get("origin")
    if not isinstance(origin, str) or len(origin) > _LONGEST:
        return ""
    try:
        return origin if origin == OPAQUE or parse_origin(origin) == origin else ""
    except OriginError:
        return ""


def explained(origin: str) -> str:
    """Return the reason of `HandshakeRefused`, with what to do.

    Args:
        origin: as `refused_origin` returns it.
    """
    if origin == OPAQUE:
        return (
            "The framed page allows no host of an opaque origin, as files and sandboxed frames have: serve the host's "
            "page over http or https, and add its origin to the allowed_origins of the framed page."
        )
    return (
        f"The framed page does not allow {origin or 'the origin of this page'}: add it to allowed_origins in its "
        "[tool.mcpframe] and build it again, or open this page at an address that it allows."
    )
