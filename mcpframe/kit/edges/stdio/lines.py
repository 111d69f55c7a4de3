"""Newline-delimited JSON-RPC of MCP's stdio transport: bytes in; messages, or error answers to malformed ones, out.

Source: MCP specification, basic/transports, "stdio". Without I/O.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any

from mcpframe.frame.core import jsonrpc, payload
from mcpframe.frame.core.errors import MalformedMessage, MessageError, MessageTooLarge
from mcpframe.frame.core.outline import Outline, outline, outline_of, outline_of_ends
from mcpframe.frame.core.roles import Options

LIMITS = Options()
"""The limits of a framed server's connection, which would reject a larger message."""

_ENDS = 1024
"""The number of bytes kept of both ends of an overlong line, to find the request's id."""


@dataclass(frozen=True)
class Line:
    """A message of the client, as text and parsed. An id that was written as `1.0` is an integer in both."""

    text: str
    message: dict[str, Any]


@dataclass(frozen=True)
class Broken:
    """A line that is not a message: the answer as JSON text, and the error."""

    answer: str
    error: str


class Lines:
    """Splits incoming bytes into lines, and returns the message of each complete line.

    Args:
        max_bytes: the longest line. Of a longer one only both ends are kept.
        max_nesting: the deepest nesting of arrays and objects: see `frame.core.payload.check_text`.
    """

    def __init__(self, *, max_bytes: int = LIMITS.max_message_bytes, max_nesting: int = LIMITS.max_nesting) -> None:
        self._max_bytes = max_bytes
        self._max_nesting = max_nesting
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> Iterator[Line | Broken]:
        """Add the next bytes; empty lines are ignored."""
        *ended, rest = data.split(b"\n")
        for part in ended:
            self._keep(part)
            parts, size = self._parts, self._size
            self._parts, self._size = [], 0
            if size > self._max_bytes:
                yield self._too_long(b"".join(parts), size)
            elif line := b"".join(parts).strip():
                yield read_message(line, max_bytes=self._max_bytes, max_nesting=self._max_nesting)
        self._keep(rest)

    def end(self) -> Iterator[Line | Broken]:
        """Handle the end of the input; the last line may have no line break."""
        yield from self.feed(b"\n")

    def _keep(self, part: bytes) -> None:
        if part:
            self._parts.append(part)
            self._size += len(part)
        if self._size > self._max_bytes:
            kept = b"".join(self._parts)
            self._parts = [kept[:_ENDS], kept[max(_ENDS, len(kept) - _ENDS) :]]

    def _too_long(self, kept: bytes, size: int) -> Broken:
        text = kept.strip().decode("utf-8", "replace")
        error = MessageTooLarge(f"The message has {size:,} bytes; the limit is {self._max_bytes:,}.")
        return broken(_waits(outline_of_ends(text, text[-_ENDS:])), jsonrpc.INVALID_REQUEST, error)


async def messages_of(chunks: AsyncIterable[bytes]) -> AsyncIterator[Line | Broken]:
    """Yield the messages in the lines of a stream; the last line may have no line break."""
    lines = Lines()
    async for data in chunks:
        for line in lines.feed(data):
            yield line
    for line in lines.end():
        yield line


def read_message(line: bytes, *, max_bytes: int, max_nesting: int) -> Line | Broken:
    """Read one JSON-RPC message.

    Args:
        max_bytes: the most bytes, and
        max_nesting: the deepest nesting: see `frame.core.payload.check_text`.
    """
    try:
        text = line.decode("utf-8")
        message = payload.parse(text, max_bytes=max_bytes, max_nesting=max_nesting)
    except (UnicodeDecodeError, MalformedMessage) as error:
        return broken(None, jsonrpc.PARSE_ERROR, error)
    except MessageError as error:
        return broken(_waits(outline(text)), jsonrpc.INVALID_REQUEST, error)
    if not isinstance(message, dict):
        what = "a batch" if isinstance(message, list) else "no object"
        return broken(None, jsonrpc.INVALID_REQUEST, f"The message is {what}: send one JSON-RPC object.")
    try:
        payload.check_content(text, message)
        read = jsonrpc.with_usable_id(message)
    except MessageError as error:
        return broken(_waits(outline_of(message)), jsonrpc.INVALID_REQUEST, error)
    return Line(text if read is message else payload.encode(read), read)


def _waits(outline: Outline) -> str | int | float | None:
    """Return the id if the message is a request, which needs an answer."""
    return jsonrpc.answerable_id(outline.id) if outline.kind == "request" else None


def broken(id_: str | int | float | None, code: int, error: object) -> Broken:
    """Return the error answer to a malformed message; its id is null if unknown (JSON-RPC 2.0, section 5)."""
    answer = {"jsonrpc": "2.0", "id": id_, "error": {"code": code, "message": str(error)}}
    return Broken(payload.encode(answer), str(error))
