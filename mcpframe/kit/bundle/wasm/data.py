"""The static data of a WebAssembly module: bytes that it writes into memory when it is linked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mcpframe.kit.bundle.wasm import binary
from mcpframe.kit.bundle.wasm.binary import BadWasm, number, signed, sized, vector

_I32_CONST, _END = 0x41, 0x0B


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
    found = []
    for _ in range(count):
        if content[at] or content[at + 1] != _I32_CONST:
            raise BadWasm("its data has no addresses of its own")
        place, at = number(content, at + 2)
        if content[at] != _END:
            raise BadWasm("its data has no addresses of its own")
        length, at = number(content, at + 1)
        found.append(Segment(place, content[at : at + length]))
        at += length
    return found


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
    found = []
    for kept in ranges:
        data = bytearray(len(kept))
        for each in parts:
            start, end = max(each.place, kept.start), min(each.end, kept.stop)
            if start < end:
                data[start - kept.start : end - kept.start] = each.data[start - each.place : end - each.place]
        found.append(Segment(kept.start, bytes(data)))
    return found


def written_by(data: bytes) -> list[range]:
    """Return the addresses that a second file writes.

    Raises:
        BadWasm: It is no module.
    """
    content = next((each.content for each in binary.sections(data) if each.kind == binary.DATA), b"\0")
    return [range(each.place, each.end) for each in segments(content)]
