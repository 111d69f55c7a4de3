"""A copy of a WebAssembly module whose functions note that they have run, in a memory of their own."""

from __future__ import annotations

from hashlib import sha256

from mcpframe.kit.bundle.wasm import binary
from mcpframe.kit.bundle.wasm.binary import Section, encoded, name, signed, sized, vector, with_more
from mcpframe.kit.bundle.wasm.module import FUNCTIONS, MEMORIES, read
from tests.wasm_profile.constants import after_locals

NOTED = "mcpframe-noted:"
"""The beginning of the name of the exported memory, before the hash. It has a byte for each function."""
_PAGE = 65536
_I32_CONST, _I32_STORE8 = b"\x41", b"\x3a"
_IN_A_MEMORY = 0x40  # a flag: the number of the memory follows


def noting(data: bytes) -> bytes:
    """Return a module that notes which of its functions run.

    Raises:
        BadWasm: It is no module, or has what is not read here.
    """
    module = read(data)
    memory = module.imported(MEMORIES) + len(module.memories)
    store = _I32_STORE8 + encoded(_IN_A_MEMORY) + encoded(memory) + b"\0"
    pages = -(-len(module.bodies) // _PAGE)

    export = name(NOTED + sha256(data).hexdigest()) + bytes([MEMORIES]) + encoded(memory)

    def body(place: int, code: bytes) -> bytes:
        at = after_locals(code)
        return code[:at] + _I32_CONST + signed(place) + _I32_CONST + b"\1" + store + code[at:]

    changed = {
        binary.MEMORY: with_more(module.sections.get(binary.MEMORY, b"\0"), [b"\0" + encoded(pages)]),
        binary.EXPORT: with_more(module.sections.get(binary.EXPORT, b"\0"), [export]),
        binary.CODE: vector(sized(body(place, code)) for place, code in enumerate(module.bodies)),
    }
    found = {**module.sections, **changed}
    return binary.written([*module.custom, *(Section(kind, found.get(kind, b"")) for kind in binary.ORDER)])


def numbers(data: bytes, places: frozenset[int]) -> frozenset[int]:
    """Return the numbers of functions by their places among those of the module's own."""
    imported = read(data).imported(FUNCTIONS)
    return frozenset(imported + place for place in places)
