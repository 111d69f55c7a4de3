"""The static data that goes into second files: what only functions of these files read.

Data is read by functions that have its address, or that follow a pointer to it. So a range may go if no function of the
first file has an address in it, and if only functions of the second follow the pointers to it. The first is checked
here; the second was looked at by hand, and tests/browser/test_second_files.py reads each range while it is cold. (The
frozen modules are no such range: looking for one reads them.)
"""

from __future__ import annotations

from collections.abc import Sequence

from mcpframe.kit.bundle.wasm.module import read
from mcpframe.kit.bundle.wasm.split import Pair
from tests.wasm_profile.constants import constants

PYTHON = "cc36e3cab04fdfc9a63ff13eb52eae2b911bf46c025cc7b281f394bd3de1d5e6"
"""The `pyodide.asm.wasm` of Pyodide 314.0.7."""
TABLES: dict[str, tuple[range, ...]] = {
    # Both ends are rounded to the stretches in which a snapshot compares memory.
    PYTHON: (
        # The East Asian encodings (Modules/cjkcodecs: pointers to them are only in `struct dbcs_index`), and the
        # database of Unicode (Modules/unicodedata_db.h, unicodename_db.h).
        range(57 * 16384, 121 * 16384),
    ),
}
"""The addresses of the tables, by the hash of the file."""
_NUMBERS = {
    *(0xF0000, 0xFFC00, 0xFFFFF, 0x100000, 0x10FFFF, 0x110000),  # of Unicode
    *(0xF423F, 0xF4240, 0xF4243, 0x19660D),  # a million, and the factors of hashes and of random numbers
    *(0x100B83, 0x120000),  # of texts of integers, and bits
}
"""Constants that are no addresses: what functions of the first file have between those of the tables."""


def prove_unread(pair: Pair, tables: Sequence[range]) -> None:
    """Check that no function of a first file has an address in tables that the second has.

    Raises:
        AssertionError: One has: it is to be looked at.
    """
    found = {
        value
        for body in read(pair.first).bodies
        for value in constants(body)
        if any(value in table for table in tables)
    }
    assert found <= _NUMBERS, f"addresses in the tables, or further numbers: {sorted(map(hex, found - _NUMBERS))}"
