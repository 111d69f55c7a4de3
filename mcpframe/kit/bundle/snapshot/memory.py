"""The file of a snapshot's layer: memory, without the parts that a page has already, compressed with zstd.

    zstd( length of the JSON, 4 bytes, little-endian | JSON | runs | parts of memory, one after another )

All sizes are multiples of a word, so that a page copies words. The runs are four columns of numbers, each in words and
as LEB128: for each part the size of what the page has already before it, then of what the page keeps as its own, then
of zeros; and the size of the part. In columns they compress best, and a page reads them without an object for each.

The JSON, which ends with spaces for that, has

- `memory`, the size of the whole memory, in bytes;
- `runs`, the size of each column, in bytes;
- `table`, the number of entries in the table of functions;
- `check`, in the lowest layer: a checksum of the bytes that every page has before Python runs, for the page to compare
  with its own. A layer above is a difference to a memory whose bytes are all known;
- `links`, in the lowest layer: the address of the first link of the list of objects that Python's garbage collector
  tracks. Each link has the addresses of the next and of the previous one, in two words whose two low bits are flags:
  a tenth of the file. In the file, links follow each other by address, and each has only the distance to the next,
  the last 0.
"""

from __future__ import annotations

import json
import struct
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

if sys.version_info >= (3, 14):
    from compression import zstd as zstd
else:
    from backports import zstd as zstd

LEVEL = 9
"""The level of compression of what each change of a server takes anew: 12 takes twice as long, for 2 percent."""
LEVEL_OF_SHARED = 19
"""That of a layer which is taken once: 10 percent smaller than at 9, and takes half a minute."""
QUICK = 1
"""That of a layer which is tried before it is compressed at its own level."""
_THREADS = 2  # fixed, so that every machine writes the same bytes
# The sizes in which memory is compared, in bytes: from large to small, as Python is slow and half of memory is zeros.
# The first three could be others (smaller grains leave out more, and give more runs), but multiples of a word: `own`
# names words, and static/page/restore.js adds words to the checksum.
_STRETCH = 16384
_BLOCK = 512
_GRAIN = 64
_WORD = 4
_FLAGS = 3

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
    memory: bytes,
    below: bytes,
    meta: Mapping[str, Any],
    *,
    own: Collection[int] = frozenset(),
    later: Sequence[range] = (),
    links: int = 0,
    is_lowest: bool = True,
    level: int = LEVEL,
) -> tuple[bytes, int]:
    """Write a layer of a snapshot.

    Args:
        below: The memory of the layer below. For the lowest layer, that of every page before Python runs: the data of
            WebAssembly modules. Bytes that differ between pages are zero in it.
        meta: Further members of the JSON.
        own: The addresses of 32-bit words that each page keeps, such as random numbers.
        later: The addresses that second files of WebAssembly modules write, which each page keeps, too. What is in the
            same blocks of 512 bytes is constant.
        links: The address of any link of the list of tracked objects, for the lowest layer; 0 leaves the list as it is.
        is_lowest: Whether it is the lowest layer.
        level: The level of compression.

    Returns:
        The file, and its size before compression.
    """
    memory, first = _without_links(memory, links) if links and is_lowest else (memory, 0)
    columns = [bytearray() for _ in range(4)]
    parts: list[bytes] = []
    check = at = 0
    run = [0, 0, 0, 0]
    late = {block for each in later for block in range(each.start // _BLOCK, -(-each.stop // _BLOCK))}
    pieces = (_pieces if is_lowest else _differences)(memory, below, own, late)
    for kind, group in groupby(pieces, key=lambda piece: piece[0]):
        size = sum(size for _, size in group)
        if any(run[kind:]):
            _add(columns, run)
            run = [0, 0, 0, 0]
        run[kind] = size
        if kind == _PART:
            parts.append(memory[at : at + size])
        elif kind == _SAME and is_lowest:
            check = _checked(memory[at : at + size], check)
        at += size
    _add(columns, run)
    header = {**meta, "memory": len(memory), "runs": [len(column) for column in columns]}
    header |= ({"check": check} if is_lowest else {}) | ({"links": first} if first else {})
    head = json.dumps(header, separators=(",", ":")).encode()
    head += b" " * (-(len(head) + sum(header["runs"])) % _WORD)
    content = b"".join([len(head).to_bytes(4, "little"), head, *columns, *parts])
    # Threads are slower for a small file, as a difference is.
    return _compressed(content, level, _THREADS if is_lowest else 0), len(content)


def repacked(layer: bytes, level: int) -> bytes:
    """Return the lowest layer at another level of compression."""
    return _compressed(zstd.decompress(layer), level, _THREADS)


def _compressed(content: bytes, level: int, threads: int) -> bytes:
    parameter = zstd.CompressionParameter
    options: dict[int, int] = {parameter.compression_level: level, parameter.nb_workers: threads}
    return zstd.compress(content, options=options)


def filled(layer: bytes, below: bytes) -> bytes:
    """Return the memory of a layer, as a page fills it: the inverse of `sparse`. Words that pages keep are as below."""
    content = zstd.decompress(layer)
    start = 4 + int.from_bytes(content[:4], "little")
    header = json.loads(content[4:start])
    columns = []
    for size in header["runs"]:
        columns.append(_numbers(content[start : start + size]))
        start += size
    memory = bytearray(_of_size(below, header["memory"]))
    at, parts = 0, memoryview(content)[start:]
    for same, own, zeros, part in zip(*columns, strict=True):
        at += same + own
        memory[at : at + zeros] = bytes(zeros)
        at += zeros
        memory[at : at + part] = parts[:part]
        parts = parts[part:]
        at += part
    if first := header.get("links"):
        _link(memory, first)
    return bytes(memory)


def _without_links(memory: bytes, link: int) -> tuple[bytes, int]:
    """Return memory with distances in its list of tracked objects, and the first link; 0 if there is no such list."""
    words = memoryview(bytearray(memory)).cast("I")
    links: list[int] = []
    at = link
    while not links or at != link:
        following = _address(words[at // _WORD]) if at < len(memory) else 0
        if not following or following + 2 * _WORD > len(memory) or _address(words[following // _WORD + 1]) != at:
            return memory, 0
        links.append(at)
        at = following
    links.sort()
    for at, following in zip(links, [*links[1:], links[-1]], strict=True):
        place = at // _WORD
        words[place] = following - at | words[place] & _FLAGS
        words[place + 1] &= _FLAGS
    return words.tobytes(), links[0]


def _link(memory: bytearray, first: int) -> None:
    """Write the list of tracked objects: the inverse of `_without_links`, but for the order."""
    words = memoryview(memory).cast("I")
    at = first
    while True:
        word = words[at // _WORD]
        following = at + _address(word) if _address(word) else first
        words[at // _WORD] = following | word & _FLAGS
        words[following // _WORD + 1] |= at
        at = following
        if at == first:
            return


def _address(word: int) -> int:
    return word & ~_FLAGS


def _add(columns: Sequence[bytearray], run: Sequence[int]) -> None:
    """Add a run, in bytes, to its columns."""
    for column, size in zip(columns, run, strict=True):
        rest = size // _WORD
        while rest > 0x7F:
            column.append(rest & 0x7F | 0x80)
            rest >>= 7
        column.append(rest)


def _numbers(column: bytes) -> Iterator[int]:
    """Yield the sizes in a column, in bytes."""
    number = shift = 0
    for byte in column:
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            yield number * _WORD
            number = shift = 0


def _of_size(memory: bytes, size: int) -> bytes:
    """Return memory, with zeros behind it."""
    return memory[:size].ljust(size, b"\0")


def _differences(memory: bytes, below: bytes, own: Collection[int], late: Collection[int]) -> Iterator[tuple[int, int]]:
    """Yield the pieces of a memory above one that is known: everything equal is left out, also zeros.

    Words, as larger grains would double the file.
    """
    below = _of_size(below, len(memory))
    words, earlier = memoryview(memory).cast("I"), memoryview(below).cast("I")
    for at in range(0, len(memory), _STRETCH):
        if memory[at : at + _STRETCH] == below[at : at + _STRETCH]:
            yield _SAME, min(_STRETCH, len(memory) - at)
            continue
        for block in range(at, min(at + _STRETCH, len(memory)), _GRAIN):
            if block // _BLOCK in late or memory[block : block + _GRAIN] == below[block : block + _GRAIN]:
                yield _SAME, _GRAIN
                continue
            for word in range(block // _WORD, (block + _GRAIN) // _WORD):
                is_same = words[word] == earlier[word] or word * _WORD in own
                yield (_SAME if is_same else _PART), _WORD


def _pieces(memory: bytes, start: bytes, own: Collection[int], late: Collection[int]) -> Iterator[tuple[int, int]]:
    """Yield the same in small pieces: large ones for zeros, smaller ones where parts can be left out."""
    nothing = bytes(_STRETCH)
    special = {address // _STRETCH for address in own} | {block * _BLOCK // _STRETCH for block in late}
    for at in range(0, len(memory), _STRETCH):
        stretch = memory[at : at + _STRETCH]
        if at // _STRETCH not in special and stretch == nothing[: len(stretch)]:
            yield _ZEROS, len(stretch)
        else:
            here = {address - at for address in own if address // _STRETCH == at // _STRETCH}
            blocks = range(at // _BLOCK, (at + _STRETCH) // _BLOCK)
            its = {number for number, block in enumerate(blocks) if block in late}
            yield from _blocks(stretch, start[at : at + _STRETCH], here, its)


def _blocks(stretch: bytes, earlier: bytes, own: Collection[int], late: Collection[int]) -> Iterator[tuple[int, int]]:
    nothing, grain_of_nothing = bytes(_BLOCK), bytes(_GRAIN)
    special = {address // _BLOCK for address in own}
    for at in range(0, len(stretch), _BLOCK):
        block, before = stretch[at : at + _BLOCK], earlier[at : at + _BLOCK]
        if at // _BLOCK in late:
            yield _OWN, len(block)
        elif at // _BLOCK in special:
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
