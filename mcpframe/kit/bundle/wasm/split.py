"""Split a WebAssembly module in two files: the functions that serving runs, and those that it seldom does.

All numbers stay: functions, types, globals and the places in the table of functions are the same in both files and in
the module as it was, so that code is copied as it is and a snapshot of memory fits all three.

In the first file, a function of the second is a stub: it calls `ensure`, and then the function itself through a table
of the split's own. `ensure` calls the loader, which is in the table's first place, until the second file is there. In
the second file, a function of the first is a stub that calls it through the same table. static/page/second-files.js is
the loader. The page gives the second file the imports of the first, and what the first exports for it: names that begin
with `SHARED_WITH_SECOND`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from mcpframe.kit.bundle.wasm import binary
from mcpframe.kit.bundle.wasm.binary import Section, encoded, name, sized, vector, with_more
from mcpframe.kit.bundle.wasm.data import MOVED, library_data, moved, only, section, segments, without, zeroed
from mcpframe.kit.bundle.wasm.module import (
    FUNCTIONS,
    GLOBALS,
    MEMORIES,
    TABLES,
    TAGS,
    FunctionType,
    Module,
    is_mutable,
    read,
)

SHARED_WITH_SECOND = "mcpframe:"
"""The beginning of the names that the first file exports for the second: as in static/page/second-files.js."""
_TABLE = "mcpframe:table"
_LOADED = "mcpframe:loaded"
_MODULE = name("mcpframe")

_I32 = b"\x7f"
_FUNCTION_REFERENCES = b"\x70"
_MUTABLE = b"\x01"
_IF, _NO_RESULT, _END, _CALL, _CALL_INDIRECT = b"\x04", b"\x40", b"\x0b", b"\x10", b"\x11"
_LOCAL_GET, _GLOBAL_GET, _I32_CONST, _I32_EQZ = b"\x20", b"\x23", b"\x41", b"\x45"
_NO_LOCALS = b"\0"
_INTO_A_TABLE = b"\x02"  # an element segment: a table, a place, and functions by number
_FUNCTIONS_BY_NUMBER = b"\0"
_LOADER = 0  # its place in the table of the split


@dataclass(frozen=True)
class Pair:
    """The two files of a module.

    Attributes:
        first: What the page starts with.
        second: What it loads later.
    """

    first: bytes
    second: bytes


def split(data: bytes, later: Collection[int], tables: Sequence[range] = ()) -> Pair:
    """Split a module.

    Args:
        later: The numbers of the functions for the second file.
        tables: The addresses of the data that only they read, which goes with them; nothing writes it. In a library
            they are counted from where its data begins.

    Raises:
        BadWasm: It is no module, or has what is not read here.
    """
    module = read(data)
    plan = _Plan.of(module, frozenset(later))
    content = module.sections.get(binary.DATA, b"\0")
    kept, gone = content, None
    if tables and library_data(content):
        kept, gone = zeroed(content, tables), Section(binary.CUSTOM, name(MOVED) + moved(content, tables))
    elif tables:
        parts = segments(content)
        kept, gone = section(without(parts, tables)), Section(binary.DATA, section(only(parts, tables)))
    return Pair(binary.written(_first(plan, kept)), binary.written(_second(plan, gone)))


@dataclass(frozen=True)
class _Plan:
    """A split.

    Attributes:
        module: The module as it is.
        later: The functions of the second file.
        places: The place of each function of its own in the table of the split.
        table: The number of that table.
        loaded: The number of the global that says whether the second file is there, in the first.
        ensure: The number of the function that loads it, in the first.
        nothing: The number of the type without parameters and results.
        kinds: The type of each of its own functions, by number.
        bodies: The code of each.
    """

    module: Module
    later: frozenset[int]
    places: dict[int, int]
    table: int
    loaded: int
    ensure: int
    nothing: int
    kinds: dict[int, int]
    bodies: dict[int, bytes]

    @classmethod
    def of(cls, module: Module, later: frozenset[int]) -> _Plan:
        imported = module.imported(FUNCTIONS)
        bodies = dict(enumerate(module.bodies, imported))
        no_values = FunctionType(0, 0)
        plan = cls(
            module,
            later,
            {},
            module.imported(TABLES) + len(module.tables),
            module.imported(GLOBALS) + len(module.globals),
            imported + len(bodies),
            module.types.index(no_values) if no_values in module.types else len(module.types),
            dict(enumerate(module.functions, imported)),
            bodies,
        )
        kept = frozenset(each for each in later if len(plan.stub(each, 1)) < len(bodies[each]))
        order = [each for each in bodies if each not in kept] + sorted(kept)
        return cls(**{**vars(plan), "later": kept, "places": {each: place for place, each in enumerate(order, 1)}})

    @property
    def size(self) -> int:
        """The size of the table of the split."""
        return 1 + len(self.places)

    def stub(self, function: int, place: int) -> bytes:
        """Return the code that calls a function through the table, without its head and its end."""
        kind = self.kinds[function]
        parameters = b"".join(_LOCAL_GET + encoded(each) for each in range(self.module.types[kind].parameters))
        return parameters + _I32_CONST + binary.signed(place) + _CALL_INDIRECT + encoded(kind) + encoded(self.table)

    def types(self) -> bytes:
        """Return the section of types, with the one of the loader."""
        content = self.module.sections[binary.TYPE]
        if self.nothing < len(self.module.types):
            return content
        return with_more(content, [b"\x60\0\0"])

    def elements(self, functions: Iterable[int]) -> bytes:
        """Return a segment that puts functions into the table of the split; they have one place after another."""
        numbers = list(functions)
        if not numbers:
            return b""
        place = _I32_CONST + binary.signed(self.places[numbers[0]]) + _END
        return _INTO_A_TABLE + encoded(self.table) + place + _FUNCTIONS_BY_NUMBER + vector(map(encoded, numbers))


def _first(plan: _Plan, data: bytes) -> Iterator[Section]:
    module, later = plan.module, plan.later
    loader = _I32_CONST + binary.signed(_LOADER) + _CALL_INDIRECT + encoded(plan.nothing) + encoded(plan.table)
    ensure = _GLOBAL_GET + encoded(plan.loaded) + _I32_EQZ + _IF + _NO_RESULT + loader + _END
    call = _CALL + encoded(plan.ensure)

    def body(function: int) -> bytes:
        if function not in later:
            return plan.bodies[function]
        return _NO_LOCALS + call + plan.stub(function, plan.places[function]) + _END

    here = [each for each in plan.places if each not in later]
    more = {
        binary.FUNCTION: [encoded(plan.nothing)],
        binary.TABLE: [_FUNCTION_REFERENCES + b"\0" + encoded(plan.size)],
        binary.GLOBAL: [_I32 + _MUTABLE + _I32_CONST + b"\0" + _END],
        binary.EXPORT: list(_exports(plan)),
        binary.ELEMENT: [plan.elements(here)] if here else [],
    }
    changed = {kind: with_more(module.sections.get(kind, b"\0"), items) for kind, items in more.items() if items}
    changed[binary.TYPE] = plan.types()
    bodies = [*(sized(body(each)) for each in plan.bodies), sized(_NO_LOCALS + ensure + _END)]
    changed[binary.CODE] = vector(bodies)
    if binary.DATA in module.sections:
        changed[binary.DATA] = data
        if binary.DATA_COUNT in module.sections:
            changed[binary.DATA_COUNT] = encoded(binary.number(data, 0)[0])
    yield from (each for each in module.custom if _is_dylink(each))
    for kind in binary.ORDER:
        yield Section(kind, changed.get(kind) or module.sections.get(kind, b""))


def _is_dylink(custom: Section) -> bool:
    """Return whether a custom section is the one for the linker; others are for people."""
    return binary.text_at(custom.content, 0)[0].startswith("dylink")


def _exports(plan: _Plan) -> Iterator[bytes]:
    """Yield the exports of the first file for the second."""
    module = plan.module
    yield name(_TABLE) + bytes([TABLES]) + encoded(plan.table)
    yield name(_LOADED) + bytes([GLOBALS]) + encoded(plan.loaded)
    for kind, each in _shared(module).items():
        for number in range(module.imported(kind), module.imported(kind) + len(each)):
            yield name(_name(kind, number)) + bytes([kind]) + encoded(number)


def _shared(module: Module) -> dict[int, Sequence[bytes]]:
    """Return what a module has of its own that code uses besides functions, as imports describe it, by index space.

    Of globals, these are all up to the last that changes: the others are addresses, for the linker.
    """
    changing = 1 + max((at for at, each in enumerate(module.globals) if is_mutable(each)), default=-1)
    types = [each[:2] for each in module.globals[:changing]]
    return {TABLES: module.tables, MEMORIES: module.memories, GLOBALS: types, TAGS: module.tags}


def _name(kind: int, number: int) -> str:
    return f"{SHARED_WITH_SECOND}{kind}.{number}"


def _second(plan: _Plan, data: Section | None) -> Iterator[Section]:
    module, later = plan.module, plan.later

    def body(function: int) -> bytes:
        if function in later:
            return plan.bodies[function]
        return _NO_LOCALS + plan.stub(function, plan.places[function]) + _END

    yield Section(binary.TYPE, plan.types())
    yield Section(binary.IMPORT, vector(_imports(plan)))
    yield Section(binary.FUNCTION, module.sections[binary.FUNCTION])
    yield Section(binary.ELEMENT, vector(filter(None, [plan.elements(sorted(later))])))
    yield Section(binary.CODE, vector(sized(body(each)) for each in plan.bodies))
    if data:
        yield data


def _imports(plan: _Plan) -> Iterator[bytes]:
    """Yield the imports of the second file: those of the module, then in each index space what the first file has."""
    module = plan.module
    for each in module.imports:
        yield each.names + bytes([each.kind]) + each.description
    for kind, described in _shared(module).items():
        for number, description in enumerate(described, module.imported(kind)):
            yield _MODULE + name(_name(kind, number)) + bytes([kind]) + description
    yield _MODULE + name(_TABLE) + bytes([TABLES]) + _FUNCTION_REFERENCES + b"\0" + encoded(plan.size)
