"""The constants in WebAssembly code that may be addresses: operands of `i32.const`, and offsets of loads and stores.

WebAssembly Core Specification, "Binary Format": instructions.
"""

from __future__ import annotations

from collections.abc import Iterator

from mcpframe.kit.bundle.wasm.binary import BadWasm, number

_I32_CONST = 0x41
_NUMBERS = {
    **dict.fromkeys((0x02, 0x03, 0x04, 0x06), 1),  # block, loop, if, try: a type
    **dict.fromkeys((0x07, 0x08, 0x09, 0x0C, 0x0D, 0x18), 1),  # catch, throw, rethrow, br, br_if, delegate
    **dict.fromkeys((0x10, 0x12, 0x14, 0x15), 1),  # call, return_call, call_ref, return_call_ref
    **dict.fromkeys((0x11, 0x13), 2),  # call_indirect, return_call_indirect
    **dict.fromkeys(range(0x20, 0x27), 1),  # of locals, globals and tables
    **dict.fromkeys((0x3F, 0x40, 0x42, 0xD0, 0xD2), 1),  # memory.size, memory.grow, i64.const, ref.null, ref.func
    **dict.fromkeys((0xD5, 0xD6), 1),  # br_on_null, br_on_non_null
}
"""How many numbers follow an instruction."""
_LOADS_AND_STORES = range(0x28, 0x3F)
_FLOATS = {0x43: 4, 0x44: 8}
_AFTER_FC = {8: 2, 9: 1, 10: 2, 11: 1, 12: 2, 13: 1, 14: 2, 15: 1, 16: 1, 17: 1}
_LANES = {**dict.fromkeys(range(21, 35), 1), **dict.fromkeys(range(84, 92), 1)}


def constants(code: bytes) -> Iterator[int]:
    """Yield the constants of a function's code, as it stands in a file without its length.

    Raises:
        BadWasm: It has an instruction that is not read here.
    """
    at = after_locals(code)
    while at < len(code):
        instruction, at = code[at], at + 1
        if instruction == _I32_CONST:
            start = at
            value, at = number(code, start)
            is_negative = code[at - 1] & 0x40
            yield (value - (is_negative and 1 << 7 * (at - start))) & 0xFFFFFFFF
        elif instruction in _LOADS_AND_STORES:
            offset, at = _memory_operand(code, at)
            yield offset
        elif instruction in _NUMBERS:
            for _ in range(_NUMBERS[instruction]):
                at = number(code, at)[1]
        elif instruction in _FLOATS:
            at += _FLOATS[instruction]
        elif instruction == 0x0E:  # br_table
            count, at = number(code, at)
            for _ in range(count + 1):
                at = number(code, at)[1]
        elif instruction == 0x1C:  # select, with types
            count, at = number(code, at)
            at += count
        elif instruction == 0x1F:  # try_table
            at = _after_catches(code, at)
        elif instruction == 0xFC:
            which, at = number(code, at)
            for _ in range(_AFTER_FC.get(which, 0)):
                at = number(code, at)[1]
        elif instruction == 0xFD:
            offset, at = _vector_operand(code, at)
            if offset is not None:
                yield offset
        elif instruction > 0xC4 and instruction not in (0xD1, 0xD3, 0xD4):  # ref.is_null, ref.eq, ref.as_non_null
            raise BadWasm(f"an instruction {instruction:#x} is not read here")


def after_locals(code: bytes) -> int:
    """Return the place behind the locals of a function's code."""
    count, at = number(code, 0)
    for _ in range(count):
        at = number(code, at)[1] + 1
    return at


def _memory_operand(code: bytes, at: int) -> tuple[int, int]:
    _, at = number(code, at)
    return number(code, at)


def _after_catches(code: bytes, at: int) -> int:
    at = number(code, at)[1]
    count, at = number(code, at)
    for _ in range(count):
        kind, at = code[at], at + 1
        for _ in range(2 if kind < 2 else 1):
            at = number(code, at)[1]
    return at


def _vector_operand(code: bytes, at: int) -> tuple[int | None, int]:
    """Return the offset of a vector instruction, if it has one, and the place after it."""
    which, at = number(code, at)
    if which <= 11 or which in (92, 93):
        return _memory_operand(code, at)
    if 84 <= which <= 91:
        offset, at = _memory_operand(code, at)
        return offset, at + 1
    if which in (12, 13):  # v128.const, i8x16.shuffle
        return None, at + 16
    return None, at + _LANES.get(which, 0)
