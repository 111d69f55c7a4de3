"""Frames of native messaging: the length in four bytes in native order, then JSON in UTF-8.

Browsers allow a program 1 MiB in a frame, and send it at most 64 MiB. Without I/O.
Source: Chrome's documentation, "Native messaging", "Native messaging protocol".
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from typing import Any

from mcpframe.frame.core.errors import MalformedMessage, MessageTooLarge

MOST_OUT = 1024 * 1024
MOST_IN = 64 * 1024 * 1024

_LENGTH = struct.Struct("=I")


def pack(frame: dict[str, Any]) -> bytes:
    """Return a frame for the browser.

    Raises:
        MessageTooLarge: It is over the browser's limit, which would end this program.
    """
    data = json.dumps(frame, separators=(",", ":")).encode("ascii")
    if len(data) > MOST_OUT:
        raise MessageTooLarge(f"A frame for the browser has {len(data):,} bytes; the limit is {MOST_OUT:,}.")
    return _LENGTH.pack(len(data)) + data


class NativeFrames:
    """Reads frames of the browser."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[dict[str, Any]]:
        """Add the next bytes, and yield each complete frame. Values other than objects are dropped.

        Raises:
            MessageTooLarge: A frame is longer than browsers send: the rest cannot be read.
            MalformedMessage: A frame is not JSON: the rest cannot be read.
        """
        self._buffer += data
        while len(self._buffer) >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._buffer)
            if length > MOST_IN:
                raise MessageTooLarge(f"A frame of the browser has {length:,} bytes; the limit is {MOST_IN:,}.")
            end = _LENGTH.size + length
            if len(self._buffer) < end:
                return
            body = bytes(self._buffer[_LENGTH.size : end])
            del self._buffer[:end]
            try:
                frame = json.loads(body)
            except (ValueError, RecursionError) as error:
                raise MalformedMessage(f"A frame of the browser is not JSON: {error}") from None
            if isinstance(frame, dict):
                yield frame
