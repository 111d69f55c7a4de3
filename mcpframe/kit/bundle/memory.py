"""The file of a snapshot: memory without what a page has anyway, compressed by zstd, whose decoder a page fetches, too.

    zstd( length of the JSON, 4 bytes, little-endian | JSON | parts of memory, one after another )

The JSON has `memory`, the size of the whole; `runs`, four numbers for each part: how many bytes before it are as they
are in every page before Python runs, how many then are as they are in this page, how many then are zeros, and how long
the part is; `check`, a number made of the bytes of the first kind, so that a page notices where its memory begins
otherwise; and `table`, the number of entries that the table of functions had.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Collection, Iterator, Mapping
from itertools import groupby
from typing import Any

from zstandard import ZstdCompressor

DECODER = "zstd.wasm"
"""What undoes the compression in a page; one of the static files."""

_LEVEL = 9  # 12 takes twice as long, for two percent
_THREADS = 2  # whatever the machine has: the same bytes everywhere
_STRETCH = 16384
_BLOCK = 512
_GRAIN = 64
_WORD = 4

_SAME, _OWN, _ZEROS, _PART = range(4)


def whole(sent: bytes) -> bytes:
    """Memory from what static/build/snapshot-maker.js sends of it, which is without zeros."""
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
        memory: The whole memory.
        start: Memory as it is in every page before Python runs: the data of WebAssembly modules. What differs from page
            to page is zero in it.
        meta: What else belongs into the JSON.
        own: The addresses of 32-bit words that belong to a page and stay as they are: what is drawn at random there.

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
    told = {**meta, "memory": len(memory), "runs": runs + run, "check": check}
    head = json.dumps(told, separators=(",", ":")).encode()
    content = b"".join([len(head).to_bytes(4, "little"), head, *parts])
    return ZstdCompressor(level=_LEVEL, threads=_THREADS).compress(content), len(content)


def _ranges(memory: bytes, start: bytes, own: Collection[int]) -> Iterator[tuple[int, int]]:
    """What memory consists of, in order: kinds and lengths."""
    for kind, group in groupby(_pieces(memory, start, own), key=lambda piece: piece[0]):
        yield kind, sum(size for _, size in group)


def _pieces(memory: bytes, start: bytes, own: Collection[int]) -> Iterator[tuple[int, int]]:
    """The same in small pieces: the larger where there is nothing, the smaller where it pays."""
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
                # Zeros do not count: they are written, whatever a page has there.
                same = part == before[grain : grain + _GRAIN] and part != grain_of_nothing[: len(part)]
                yield (_SAME if same else _PART), len(part)


def _checked(data: bytes, check: int) -> int:
    """Goes on with the check (FNV-1a over 32-bit words)."""
    for word in struct.unpack(f"<{len(data) // _WORD}I", data):
        check = (check ^ word) * 0x01000193 & 0xFFFFFFFF
    return check
