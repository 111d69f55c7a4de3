"""A WebAssembly module by its index spaces: functions, tables, memories, globals and tags, imported ones first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from mcpframe.kit.bundle.wasm.binary import (
    CODE,
    CUSTOM,
    EXPORT,
    FUNCTION,
    GLOBAL,
    IMPORT,
    MEMORY,
    TABLE,
    TAG,
    TYPE,
    BadWasm,
    Section,
    number,
    sections,
    text_at,
)

FUNCTIONS, TABLES, MEMORIES, GLOBALS, TAGS = range(5)
"""The index spaces, as imports and exports number them."""
_FUNCTION_TYPE = 0x60
_REFERENCE_TO_TYPE = (0x63, 0x64)
_END = 0x0B
_CONSTANTS = (0x41, 0x42, 0x23, 0xD2, 0xD0)  # i32.const, i64.const, global.get, ref.func, ref.null: each has one number


@dataclass(frozen=True)
class FunctionType:
    """A type of functions: how many parameters, and how many results."""

    parameters: int
    results: int


@dataclass(frozen=True)
class WasmImport:
    """An import.

    Attributes:
        names: Its module and its name, as written.
        kind: Its index space.
        description: What is imported, as written: a type of functions, limits, and so on.
    """

    names: bytes
    kind: int
    description: bytes


@dataclass(frozen=True)
class Module:
    """A module that has been read.

    Attributes:
        sections: Its sections besides custom ones, by number.
        custom: Its custom sections.
        types: Its types of functions.
        imports: Its imports.
        functions: The type of each of its own functions.
        tables: Its own tables, as written: type and limits.
        memories: Its own memories, as written: limits.
        globals: Its own globals, as written: type, mutability, and first value.
        tags: Its own tags, as written.
        exports: What it exports: each name, index space and index.
        bodies: The code of each of its own functions, as written, without its length.
    """

    sections: dict[int, bytes]
    custom: tuple[Section, ...]
    types: tuple[FunctionType, ...]
    imports: tuple[WasmImport, ...]
    functions: tuple[int, ...]
    tables: tuple[bytes, ...]
    memories: tuple[bytes, ...]
    globals: tuple[bytes, ...]
    tags: tuple[bytes, ...]
    exports: tuple[tuple[str, int, int], ...]
    bodies: tuple[bytes, ...]

    def imported(self, kind: int) -> int:
        """Return how many of an index space are imported."""
        return sum(each.kind == kind for each in self.imports)


def read(data: bytes) -> Module:
    """Read a module.

    Raises:
        BadWasm: It is none, or has what is not read here.
    """
    contents: dict[int, bytes] = {}
    custom = []
    for each in sections(data):
        if each.kind == CUSTOM:
            custom.append(each)
        else:
            contents[each.kind] = each.content
    try:
        return Module(
            contents,
            tuple(custom),
            tuple(_types(contents.get(TYPE, b"\0"))),
            tuple(_imports(contents.get(IMPORT, b"\0"))),
            tuple(_numbers(contents.get(FUNCTION, b"\0"))),
            tuple(_described(contents.get(TABLE, b"\0"), _after_table)),
            tuple(_described(contents.get(MEMORY, b"\0"), _after_limits)),
            tuple(_described(contents.get(GLOBAL, b"\0"), _after_global)),
            tuple(_described(contents.get(TAG, b"\0"), _after_tag)),
            tuple(_exports(contents.get(EXPORT, b"\0"))),
            tuple(_bodies(contents.get(CODE, b"\0"))),
        )
    except IndexError as error:
        raise BadWasm("a section is cut off") from error


def _types(content: bytes) -> Iterator[FunctionType]:
    count, at = number(content, 0)
    for _ in range(count):
        if content[at] != _FUNCTION_TYPE:
            raise BadWasm("it has types other than those of functions")
        parameters, at = _value_types(content, at + 1)
        results, at = _value_types(content, at)
        yield FunctionType(parameters, results)


def _value_types(content: bytes, at: int) -> tuple[int, int]:
    count, at = number(content, at)
    for _ in range(count):
        at = _after_value_type(content, at)
    return count, at


def _after_value_type(content: bytes, at: int) -> int:
    return number(content, at + 1)[1] if content[at] in _REFERENCE_TO_TYPE else at + 1


def _imports(content: bytes) -> Iterator[WasmImport]:
    count, at = number(content, 0)
    for _ in range(count):
        start = at
        _, at = text_at(content, at)
        _, at = text_at(content, at)
        names, kind = content[start:at], content[at]
        start = at + 1
        at = _AFTER[kind](content, start)
        yield WasmImport(names, kind, content[start:at])


def _after_number(content: bytes, at: int) -> int:
    return number(content, at)[1]


def _after_table(content: bytes, at: int) -> int:
    return _after_limits(content, _after_value_type(content, at))


def _after_limits(content: bytes, at: int) -> int:
    has_most = content[at] & 1
    at = number(content, at + 1)[1]
    return number(content, at)[1] if has_most else at


def _after_global_type(content: bytes, at: int) -> int:
    return _after_value_type(content, at) + 1


def _after_tag(content: bytes, at: int) -> int:
    return number(content, at + 1)[1]


_AFTER = {
    FUNCTIONS: _after_number,
    TABLES: _after_table,
    MEMORIES: _after_limits,
    GLOBALS: _after_global_type,
    TAGS: _after_tag,
}


def _numbers(content: bytes) -> Iterator[int]:
    count, at = number(content, 0)
    for _ in range(count):
        value, at = number(content, at)
        yield value


def _after_global(content: bytes, at: int) -> int:
    at = _after_global_type(content, at)
    while content[at] != _END:
        if content[at] not in _CONSTANTS:
            raise BadWasm("the first value of a global is not one of those read here")
        at = number(content, at + 1)[1]
    return at + 1


def _described(content: bytes, after: Callable[[bytes, int], int]) -> Iterator[bytes]:
    """Yield the items of a section, as written."""
    count, at = number(content, 0)
    for _ in range(count):
        start, at = at, after(content, at)
        yield content[start:at]


def _exports(content: bytes) -> Iterator[tuple[str, int, int]]:
    count, at = number(content, 0)
    for _ in range(count):
        text, at = text_at(content, at)
        kind = content[at]
        index, at = number(content, at + 1)
        yield text, kind, index


def _bodies(content: bytes) -> Iterator[bytes]:
    count, at = number(content, 0)
    for _ in range(count):
        length, start = number(content, at)
        at = start + length
        yield content[start:at]


def is_mutable(own_global: bytes) -> bool:
    """Return whether a global can change."""
    return own_global[_after_value_type(own_global, 0)] == 1
