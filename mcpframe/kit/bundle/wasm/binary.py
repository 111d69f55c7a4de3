"""The binary format of WebAssembly: numbers, vectors and sections (WebAssembly Core Specification, "Binary Format")."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

HEADER = b"\0asm\x01\0\0\0"
CUSTOM, TYPE, IMPORT, FUNCTION, TABLE, MEMORY, GLOBAL, EXPORT, START, ELEMENT, CODE, DATA, DATA_COUNT, TAG = range(14)
"""The sections, by number."""
ORDER = (TYPE, IMPORT, FUNCTION, TABLE, MEMORY, TAG, GLOBAL, EXPORT, START, ELEMENT, DATA_COUNT, CODE, DATA)
"""The order in which they stand in a file."""


class BadWasm(ValueError):
    """The bytes are no WebAssembly module, or one that has what is not read here; the message says which."""


@dataclass(frozen=True)
class Section:
    """A section: its number, and its content."""

    kind: int
    content: bytes


def number(data: bytes, at: int) -> tuple[int, int]:
    """Return the number at a place (unsigned LEB128), and the place after it."""
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def encoded(value: int, size: int = 1) -> bytes:
    """Return a number as LEB128, unsigned; at least `size` bytes of it."""
    out = bytearray()
    while value > 127 or len(out) < size - 1:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def signed(value: int) -> bytes:
    """Return a number as LEB128, signed."""
    out = bytearray()
    while not -64 <= value < 64:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value & 127)
    return bytes(out)


def vector(items: Iterable[bytes]) -> bytes:
    """Return items with their number before them."""
    each = list(items)
    return encoded(len(each)) + b"".join(each)


def with_more(content: bytes, items: Collection[bytes]) -> bytes:
    """Return a vector with further items at its end."""
    count, at = number(content, 0)
    return encoded(count + len(items)) + content[at:] + b"".join(items)


def sized(content: bytes) -> bytes:
    """Return bytes with their length before them."""
    return encoded(len(content)) + content


def name(text: str) -> bytes:
    """Return a name."""
    return sized(text.encode())


def text_at(data: bytes, at: int) -> tuple[str, int]:
    """Return the name at a place, and the place after it."""
    length, at = number(data, at)
    return data[at : at + length].decode(), at + length


def sections(data: bytes) -> Iterator[Section]:
    """Yield the sections of a file.

    Raises:
        BadWasm: It is no WebAssembly module.
    """
    if not data.startswith(HEADER):
        raise BadWasm("it does not begin as a WebAssembly module")
    at = len(HEADER)
    while at < len(data):
        kind = data[at]
        length, start = number(data, at + 1)
        at = start + length
        if at > len(data):
            raise BadWasm("a section is cut off")
        yield Section(kind, data[start:at])


def written(parts: Iterable[Section]) -> bytes:
    """Return the file with these sections; empty ones are left out."""
    return HEADER + b"".join(bytes([each.kind]) + sized(each.content) for each in parts if each.content)
