"""The static data of a WebAssembly module: bytes that it writes into memory when it is linked.

Python's module names addresses. A library's data is one segment, for an address that its linker chooses; places in it
are counted from there.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mcpframe.kit.bundle.wasm import binary
from mcpframe.kit.bundle.wasm.binary import BadWasm, name, number, signed, sized, vector

MOVED = "mcpframe:data"
"""The custom section with parts of a library's data, each after its place and size; see static/page/second-files.js."""
_I32_CONST, _GLOBAL_GET, _END = 0x41, 0x23, 0x0B


@dataclass(frozen=True)
class Segment:
    """Bytes of the data: where they go, and what they are."""

    place: int
    data: bytes

    @property
    def end(self) -> int:
        """The address behind them."""
        return self.place + len(self.data)


def segments(content: bytes) -> list[Segment]:
    """Return the segments of a section of data.

    Raises:
        BadWasm: It has some without an address of their own.
    """
    count, at = number(content, 0)
    parts = []
    for _ in range(count):
        if content[at] or content[at + 1] != _I32_CONST:
            raise BadWasm("its data has no addresses of its own")
        place, at = number(content, at + 2)
        if content[at] != _END:
            raise BadWasm("its data has no addresses of its own")
        length, at = number(content, at + 1)
        parts.append(Segment(place, content[at : at + length]))
        at += length
    return parts


def section(parts: Iterable[Segment]) -> bytes:
    """Return a section of data with these segments."""
    head, end = bytes([0, _I32_CONST]), bytes([_END])
    return vector(head + signed(each.place) + end + sized(each.data) for each in parts)


def without(parts: Sequence[Segment], ranges: Sequence[range]) -> list[Segment]:
    """Return segments without the bytes in some ranges of addresses."""
    left = list(parts)
    for gone in ranges:
        left = [
            Segment(start, each.data[start - each.place : end - each.place])
            for each in left
            for start, end in ((each.place, min(each.end, gone.start)), (max(each.place, gone.stop), each.end))
            if start < end
        ]
    return left


def only(parts: Sequence[Segment], ranges: Sequence[range]) -> list[Segment]:
    """Return one segment for each range, with what segments write there, and zeros elsewhere."""
    kept_parts = []
    for kept in ranges:
        data = bytearray(len(kept))
        for each in parts:
            start, end = max(each.place, kept.start), min(each.end, kept.stop)
            if start < end:
                data[start - kept.start : end - kept.start] = each.data[start - each.place : end - each.place]
        kept_parts.append(Segment(kept.start, bytes(data)))
    return kept_parts


def library_data(content: bytes) -> range | None:
    """Return where a library's data is in its section; None if it is another module's."""
    count, at = number(content, 0)
    if count != 1 or content[at] or content[at + 1] != _GLOBAL_GET:
        return None
    at = number(content, at + 2)[1] + 1
    length, at = number(content, at)
    return range(at, at + length)


def zeroed(content: bytes, ranges: Sequence[range]) -> bytes:
    """Return the section of a library's data with zeros in some ranges of the data."""
    start = _start(content)
    data = bytearray(content)
    for each in ranges:
        data[start + each.start : start + each.stop] = bytes(len(each))
    return bytes(data)


def moved(content: bytes, ranges: Sequence[range]) -> bytes:
    """Return the content of `MOVED` for some ranges of a library's data."""
    start = _start(content)
    data = content[start:]
    return b"".join(struct.pack("<II", each.start, len(each)) + data[each.start : each.stop] for each in ranges)


def moved_parts(data: bytes) -> list[Segment]:
    """Return the parts in `MOVED` of a second file; none if it has no such section."""
    parts, at = [], 0
    begin = name(MOVED)
    content = next((each.content for each in binary.sections(data) if each.content.startswith(begin)), begin)
    content = content[len(begin) :]
    while at < len(content):
        place, length = struct.unpack_from("<II", content, at)
        parts.append(Segment(place, content[at + 8 : at + 8 + length]))
        at += 8 + length
    return parts


def written_by(data: bytes) -> list[range]:
    """Return the addresses that a second file writes; of a library, they are counted from where its data begins.

    Raises:
        BadWasm: It is no module.
    """
    content = next((each.content for each in binary.sections(data) if each.kind == binary.DATA), b"\0")
    return [range(each.place, each.end) for each in (*segments(content), *moved_parts(data))]


def _start(content: bytes) -> int:
    data = library_data(content)
    if data is None:
        raise BadWasm("its data is not that of a library")
    return data.start
