"""The wire format of a dialect, as four small functions: everything that differs between dialects on the wire.

Messages are parsed within the limits first; a codec gets plain JSON values. Messages that no codec claims are noise of
other libraries. Codecs are stateless: if the two directions of a dialect differ, each side has its own codec.
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
        ids: returns the `Outline` of the JSON-RPC in a message, also if it cannot be decoded.
        carries: the kinds that carry a JSON-RPC message.
        members: the members of a message that `kind` and `ids` use. Only these are read of a message over a limit;
            arrays and objects in them are then None.
        body: the member that holds the JSON-RPC message, of which `MEMBERS` are read as well. None if these are members
            of the message itself, or have other names and are listed in `members`.
        reads_text: whether a message may also be posted as its JSON text.
        unspoken: the prefix of the methods of notifications that the dialect has no form for. They are not posted, but
            a cancellation among them still counts. None for none.
        recodes: whether messages on the wire are not JSON-RPC, so that only `decode` reads them and `encode` needs the
            text.
    """

    kind: Callable[[Any], Trigger | None]
    decode: Callable[[Mapping[str, Any]], dict[str, Any]]
    encode: Callable[[str, Mapping[str, Any]], str]
    ids: Callable[[Mapping[str, Any]], Outline]
    carries: frozenset[Trigger]
    members: tuple[str, ...] = MEMBERS
    body: str | None = None
    reads_text: bool = False
    unspoken: str | None = None
    recodes: bool = False

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
