"""The static data that goes into second files: what only functions of these files read.

Data is read by functions that have its address, or that follow a pointer to it. So a range may go if no function of
the first file has an address in it, and if only functions of the second follow the pointers to it. `prove_unread`
checks the first, and that pointers are only where they were looked at by hand (`_HOLDERS`), or, of a library, where no
function of the first file has an address. tests/browser/test_second_files.py reads each range while it is cold.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from mcpframe.kit.bundle.wasm import binary
from mcpframe.kit.bundle.wasm.binary import number
from mcpframe.kit.bundle.wasm.data import Segment, library_data, only, segments
from mcpframe.kit.bundle.wasm.module import read
from mcpframe.kit.bundle.wasm.split import Pair
from tests.wasm_profile.constants import after_locals, constants

PYTHON = "cc36e3cab04fdfc9a63ff13eb52eae2b911bf46c025cc7b281f394bd3de1d5e6"
"""The `pyodide.asm.wasm` of Pyodide 314.0.7."""
CORE = (
    "1f7d406a7c5dc50cf47d641966efff85d62fbfdfa44d80f014fbda69a39cc157",
    "cf0287906f536341b99f1c629fd7cc53a117495664fca1af2d7cb5c5e0b1cfa2",
)
"""The `_pydantic_core` of pydantic-core 2.50.4 and 2.50.5."""
_FROZEN = (
    *(0x23AC90, 0x24B1C0, 0x251FE0, 0x253F20, 0x25E2A0, 0x25FB00, 0x26B610, 0x26C9B0, 0x26E8A0, 0x2758B0),
    *(0x27A580, 0x285E00, 0x28DDC0, 0x28F330, 0x2922D0, 0x292AD0, 0x296470, 0x296820, 0x296980, 0x2969F0, 0x296A60),
    *(0x296BC0, 0x296C00),
)
"""The first byte of each frozen module but the first, and their end. Who looks for one reads that byte: it stays."""
TABLES: dict[str, tuple[range, ...]] = {
    # The ends of each are multiples of the blocks in which a snapshot compares memory.
    PYTHON: (
        # The East Asian encodings (Modules/cjkcodecs: pointers to them are only in `struct dbcs_index`).
        range(0xC4000, 0xE0000),
        range(0xE4000, 0x153400),
        # The database of Unicode (Modules/unicodedata_db.h, unicodename_db.h), behind the docstrings of its module.
        range(0x155000, 0x1FB200),
        # The frozen modules (Python/frozen.c: pointers to them are only in `struct _frozen`, for `find_frozen`, whose
        # callers pass them on to functions of `READERS`).
        range(0x22C800, _FROZEN[0]),
        *(range(start + 1, end) for start, end in pairwise(_FROZEN)),
        # The tables of LZMA's checksums and of its encoder.
        range(0x297000, 0x29CE00),
        # SQLite's (pointers to them are in its own: names and operations of its functions).
        range(0x29D200, 0x2A7800),
        # Those of crypt (musl), of iconv, and of the text of floats in C++.
        range(0x2AC800, 0x2AFA00),
        range(0x2B1400, 0x2D3400),
        range(0x2DCA00, 0x2E0A00),
        range(0x2E0C00, 0x2FCC00),
    ),
    # Tables of Unicode for regular expressions (regex-syntax and regex-automata), for schemas with a pattern.
    **dict.fromkeys(
        CORE, (range(0x18E00, 0x34A00), range(0x37600, 0x4D000), range(0x4D200, 0x52800), range(0x54800, 0x73E00))
    ),
}
"""The addresses of the tables, by the hash of the file."""
READERS: dict[str, frozenset[int]] = {
    # PyMemoryView_FromMemory, PyMarshal_ReadObjectFromString: what callers of `find_frozen` pass a module to.
    PYTHON: frozenset({2288, 4630}),
}
"""Functions that follow pointers to tables for functions of the first file, so that they are in the second."""
_HOLDERS = (range(0x376A00, 0x384300), range(0x39B600, 0x39B830), range(0x39CD80, 0x39E300))
"""Where the pointers to tables are: of the encodings, of the frozen modules, and SQLite's."""
_NEAR = range(-12, 8, 4)
"""What code may add to the address of a structure for a pointer in it, as that has some before it."""
_RELOCATED = 0x300000
"""Where data begins that has pointers; what is before it is the same at any address."""
_NUMBERS = {
    *(0xF0000, 0xFFC00, 0xFFFFF, 0x100000, 0x10FFFF, 0x110000),  # of Unicode
    *(0xF423F, 0xF4240, 0xF4243, 0x19660D),  # a million, and the factors of hashes and of random numbers
    *(0x100B83, 0x120000),  # of texts of integers, and bits
    *(0x1FFFE, 0x26000, 0x28000, 0x28140, 0x28280, 0x3FFC0, 0x40000, 0x5FFF6),  # of texts of floats and of tables
    *(0x100008, 0x100010, 0x140000, 0x180000, 0x1C0000, 0x23000B, 0x281520),  # flags, and sets of bits
}
"""Constants that are no addresses: what functions and data of the first file have between those of the tables."""


def prove_unread(sha256: str, pair: Pair, later: Collection[int], tables: Sequence[range]) -> None:
    """Check that nothing of a first file has an address in tables that the second has, except for `_HOLDERS`.

    Args:
        sha256: The hash of the module that was split.
        later: The functions of the second file.

    Raises:
        AssertionError: Something has: it is to be looked at.
    """
    if not tables:
        return
    first = read(pair.first)
    data = first.sections[binary.DATA]
    relocates = max(first.bodies, key=len) if library_data(data) else None
    words = {value for body in first.bodies if body is not relocates for value in constants(body)}
    if relocates:
        words |= {target for place, target in _relocated(relocates) if any(place + at in words for at in _NEAR)}
    else:
        words |= set(_pointers(segments(data)))
    found = {value for value in words if any(value in table for table in tables)}
    assert found <= _NUMBERS, f"addresses in the tables, or further numbers: {sorted(map(hex, found - _NUMBERS))}"
    assert READERS.get(sha256, frozenset()) <= frozenset(later)


def _relocated(code: bytes) -> Iterator[tuple[int, int]]:
    """Yield the pointers that a library's largest function writes, `__wasm_apply_data_relocs`: each place and address.

    Raises:
        AssertionError: It has another instruction than `global.get`, `i32.const`, `i32.add`, `local.tee`, `local.get`,
            `i32.store` and `end`.
    """
    stack: list[int] = []
    kept: dict[int, int] = {}
    at = after_locals(code)
    while code[at] != 0x0B:
        instruction, (value, after) = code[at], number(code, at + 1)
        assert instruction in (0x23, 0x41, 0x6A, 0x22, 0x20, 0x36), hex(instruction)
        at = at + 1 if instruction == 0x6A else after
        if instruction == 0x41:
            stack.append(value)  # after `global.get`, to which it is added
        elif instruction == 0x22:
            kept[value] = stack[-1]
        elif instruction == 0x20:
            stack.append(kept[value])
        elif instruction == 0x36:
            offset, at = number(code, at)  # behind the alignment
            yield stack[-2] + offset, stack[-1]
            stack.clear()


def _pointers(data: Sequence[Segment]) -> Iterator[int]:
    """Yield the words of data that may be pointers to tables, without those that were looked at."""
    end = max(each.end for each in data)
    [all_of_it] = only(data, [range(_RELOCATED, -(-end // 4) * 4)])
    for at, (word,) in enumerate(struct.iter_unpack("<I", all_of_it.data)):
        if not any(_RELOCATED + 4 * at in each for each in _HOLDERS):
            yield word
