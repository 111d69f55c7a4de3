"""A copy of Python's WebAssembly in which `malloc` returns zeros, for the page whose memory becomes a snapshot.

What a program has freed is still in the blocks that others get, behind their objects and in parts of arrays that are
not used yet: a tenth of a snapshot. The allocator is Emscripten's dlmalloc: the word before a block has its size, with
that word, and flags in the three low bits. Functions keep their numbers.
"""

from __future__ import annotations

from mcpframe.kit.bundle.wasm import binary
from mcpframe.kit.bundle.wasm.binary import BadWasm, Section, encoded, signed, sized, vector, with_more
from mcpframe.kit.bundle.wasm.module import FUNCTIONS, read

_ONE_LOCAL = b"\x01\x01\x7f"  # of type i32
_SIZE, _BLOCK = b"\0", b"\x01"  # the parameter, and that local
_GET, _TEE, _CALL, _I32_CONST, _I32_SUB, _I32_AND, _END = b"\x20", b"\x22", b"\x10", b"\x41", b"\x6b", b"\x71", b"\x0b"
_IF_THERE_IS_ONE = b"\x04\x40"
_LOAD = b"\x28\x02\0"  # of an aligned word
_FILL = b"\xfc\x0b\0"  # of an address, a value and a length
_WORD = _I32_CONST + signed(4)
_WITHOUT_FLAGS = _I32_CONST + b"\x78" + _I32_AND  # -8


def with_zeroed_malloc(data: bytes) -> bytes:
    """Return Python's module with the `malloc` for a snapshot.

    Raises:
        BadWasm: It is no module, or exports no `malloc`.
    """
    module = read(data)
    imported = module.imported(FUNCTIONS)
    malloc = next((number for name, kind, number in module.exports if (name, kind) == ("malloc", FUNCTIONS)), None)
    if malloc is None:
        raise BadWasm("it exports no malloc")
    at = malloc - imported
    length = _GET + _BLOCK + _WORD + _I32_SUB + _LOAD + _WITHOUT_FLAGS + _WORD + _I32_SUB
    zeroed = _GET + _BLOCK + _I32_CONST + b"\0" + length + _FILL
    own = _CALL + encoded(imported + len(module.bodies))  # what was `malloc`, now the last function
    code = _ONE_LOCAL + _GET + _SIZE + own + _TEE + _BLOCK + _IF_THERE_IS_ONE + zeroed + _END + _GET + _BLOCK + _END
    changed = {
        **module.sections,
        binary.FUNCTION: with_more(module.sections[binary.FUNCTION], [encoded(module.functions[at])]),
        binary.CODE: vector(map(sized, [*module.bodies[:at], code, *module.bodies[at + 1 :], module.bodies[at]])),
    }
    return binary.written([*module.custom, *(Section(kind, changed.get(kind, b"")) for kind in binary.ORDER)])
