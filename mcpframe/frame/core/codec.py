"""What differs between dialects on the wire, and nothing else: four small functions.

A message of the peer is parsed first, within the limits; a codec sees plain JSON values. What it does not claim is
noise of other libraries. Codecs hold no state: where the two directions of a dialect differ, each side has its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from mcpframe.frame.core.outline import MEMBERS, Outline, outline_of, sketch

Trigger = str
"""A kind of message, or a `Local`."""


@dataclass(frozen=True, slots=True)
class Codec:
    """The wire format of one side of a dialect.

    Attributes:
        kind: returns the kind of a parsed message of the peer, or None for noise.
        decode: returns the JSON-RPC message of a message that carries one. Raises `MalformedMessage`.
        encode: returns the wire text of a JSON-RPC message, from its JSON text and from the same message parsed, of
            which only the envelope may be looked at: method, id, result, error. Raises `MessageError` for one that
            the dialect has no form for.
        ids: returns who waits for a message that carries JSON-RPC, also where it cannot be decoded.
        carries: the kinds that carry a JSON-RPC message.
        members: the members of a message that `kind` and `ids` look at. They are all that is read of a message over a
            limit; arrays and objects in them are None then.
        body: the member that holds the JSON-RPC message, whose own members `MEMBERS` are read, too. None where they are
            members of the message itself, or have other names: then they are listed in `members`.
    """

    kind: Callable[[Any], Trigger | None]
    decode: Callable[[Mapping[str, Any]], dict[str, Any]]
    encode: Callable[[str, Mapping[str, Any]], str]
    ids: Callable[[Mapping[str, Any]], Outline]
    carries: frozenset[Trigger]
    members: tuple[str, ...] = MEMBERS
    body: str | None = None

    def sketch(self, text: str) -> dict[str, Any]:
        """Return the members of a message that this codec needs, from a text that must not be parsed."""
        return sketch(text, self.members, self.body)


def enveloped(before: str, after: str) -> Callable[[str, Mapping[str, Any]], str]:
    """Return an `encode` that puts the JSON-RPC text between two others."""
    ends = (before, after)
    return lambda text, _: text.join(ends)


def ids_in(member: str) -> Callable[[Mapping[str, Any]], Outline]:
    """Return an `ids` for a dialect whose JSON-RPC message is a member of the wire's message."""
    return lambda data: outline_of(data.get(member))
