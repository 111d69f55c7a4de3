"""The file of a snapshot: memory, without the parts that every page has, compressed with zstd.

    zstd( length of the JSON, 4 bytes, little-endian | JSON | parts of memory, one after another )

The JSON has

- `memory`, the size of the whole memory;
- `runs`, four numbers for each part: the number of bytes before it that are the same in every page before Python runs,
  then of those that the page keeps as its own, then of zeros; and the length of the part;
- `check`, a checksum of the bytes of the first kind, for the page to compare with its own;
- `table`, the number of entries in the table of functions.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Collection, Iterator, Mapping
from itertools import groupby
from typing import Any

from zstandard import ZstdCompressor

_LEVEL = 9  # 12 takes twice as long, for two percent
_THREADS = 2  # fixed, so that every machine writes the same bytes
# The sizes in which memory is compared, in bytes: from large to small, as Python is slow and half of memory is zeros.
# The first three could be others (smaller grains leave out more, and give more runs), but multiples of a word: `own`
# names words, and static/page/restore.js adds words to the checksum.
_STRETCH = 16384
_BLOCK = 512
_GRAIN = 64
_WORD = 4

_SAME, _OWN, _ZEROS, _PART = range(4)


def whole(sent: bytes) -> bytes:
    """Return the memory that static/build/snapshot-maker.js has sent without its zeros."""
    count, size = struct.unpack_from("<II", sent)
    places = struct.iter_unpack("<II", sent[8 : 8 + 8 * count])
    memory, at = bytearray(size), 8 + 8 * count
    for place, length in places:
        memory[place : place + length] = sent[at : at + length]
        at += length
    return bytes(memory)


def sparse(
    memory: bytes, start: bytes, meta: Mapping[str, Any], *, own: Collection[int] = frozenset()
) -> tuple[bytes, int]:
    """Write a snapshot.

    Args:
        start: The memory of every page before Python runs: the data of WebAssembly modules. Bytes that differ between
            pages are zero.
        meta: Further members of the JSON.
        own: The addresses of 32-bit words that each page keeps, such as random numbers.

    Returns:
        The file, and its size before compression.
    """
    runs: list[int] = []
    parts: list[bytes] = []
    check = at = 0
    run = [0, 0, 0, 0]
    for kind, size in _ranges(memory, start, own):
        if any(run[kind:]):
            runs += run
            run = [0, 0, 0, 0]
        run[kind] = size
        if kind == _PART:
            parts.append(memory[at : at + size])
        elif kind == _SAME:
            check = _checked(memory[at : at + size], check)
        at += size
    header = {**meta, "memory": len(memory), "runs": runs + run, "check": check}
    head = json.dumps(header, separators=(",", ":")).encode()
    content = b"".join([len(head).to_bytes(4, "little"), head, *parts])
    return ZstdCompressor(level=_LEVEL, threads=_THREADS).compress(content), len(content)


def _ranges(memory: bytes, start: bytes, own: Collection[int]) -> Iterator[tuple[int, int]]:
    """Yield the ranges of memory, in order: kind and length of each."""
    for kind, group in groupby(_pieces(memory, start, own), key=lambda piece: piece[0]):
        yield kind, sum(size for _, size in group)


def _pieces(memory: bytes, start: bytes, own: Collection[int]) -> Iterator[tuple[int, int]]:
    """Yield the same in small pieces: large ones for zeros, smaller ones where parts can be left out."""
    nothing = bytes(_STRETCH)
    special = {address // _STRETCH for address in own}
    for at in range(0, len(memory), _STRETCH):
        stretch = memory[at : at + _STRETCH]
        if at // _STRETCH not in special and stretch == nothing[: len(stretch)]:
            yield _ZEROS, len(stretch)
        else:
            here = {address - at for address in own if address // _STRETCH == at // _STRETCH}
            yield from _blocks(stretch, start[at : at + _STRETCH], here)


def _blocks(stretch: bytes, earlier: bytes, own: Collection[int]) -> Iterator[tuple[int, int]]:
    nothing, grain_of_nothing = bytes(_BLOCK), bytes(_GRAIN)
    special = {address // _BLOCK for address in own}
    for at in range(0, len(stretch), _BLOCK):
        block, before = stretch[at : at + _BLOCK], earlier[at : at + _BLOCK]
        if at // _BLOCK in special:
            for word in range(0, len(block), _WORD):
                yield (_OWN if at + word in own else _PART), min(_WORD, len(block) - word)
        elif block == nothing[: len(block)]:
            yield _ZEROS, len(block)
        elif len(before) < len(block) or before == nothing:
            yield _PART, len(block)
        elif block == before and grain_of_nothing not in block:
            yield _SAME, len(block)
        else:
            for grain in range(0, len(block), _GRAIN):
                part = block[grain : grain + _GRAIN]
                # Zeros are never of this kind: the page writes them anyway.
                same = part == before[grain : grain + _GRAIN] and part != grain_of_nothing[: len(part)]
                yield (_SAME if same else _PART), len(part)


def _checked(data: bytes, check: int) -> int:
    """Continue the checksum (FNV-1a over 32-bit words)."""
    for word in struct.unpack(f"<{len(data) // _WORD}I", data):
        check = (check ^ word) * 0x01000193 & 0xFFFFFFFF
    return check
