"""The proof that a split loses nothing: made for each file that is split, whatever its profile says."""

from __future__ import annotations

from mcpframe.kit.bundle.wasm import binary
from mcpframe.kit.bundle.wasm.binary import number
from mcpframe.kit.bundle.wasm.data import library_data, moved_parts, only, segments, written_by
from mcpframe.kit.bundle.wasm.module import FUNCTIONS, GLOBALS, TABLES, Module, read
from mcpframe.kit.bundle.wasm.split import SHARED_WITH_SECOND, Pair

_ALL = [range(2**24)]
_I32_CONST, _CALL_INDIRECT, _END, _CALL, _LOCAL_GET = b"\x41", b"\x11", b"\x0b", b"\x10", b"\x20"


def prove(data: bytes, pair: Pair) -> None:
    """Check that a module and its two files have the same functions and exports, and that every stub reaches its own.

    Raises:
        AssertionError: They differ.
    """
    whole, first, second = read(data), read(pair.first), read(pair.second)
    imported = whole.imported(FUNCTIONS)
    assert tuple(each for each in first.exports if not each[0].startswith(SHARED_WITH_SECOND)) == whole.exports
    assert first.functions[:-1] == second.functions == whole.functions
    assert first.types[: len(whole.types)] == whole.types
    assert first.types == second.types
    assert first.imports == whole.imports
    assert [each for each in second.imports if each.kind == FUNCTIONS] == [
        each for each in whole.imports if each.kind == FUNCTIONS
    ]
    assert first.globals[:-1] == whole.globals
    for kind in (binary.MEMORY, binary.TAG, binary.START):
        assert first.sections.get(kind) == whole.sections.get(kind)
    _prove_data(whole.sections.get(binary.DATA, b""), first.sections.get(binary.DATA, b""), pair.second)
    table = whole.imported(TABLES) + len(whole.tables)
    assert second.imported(TABLES) == table + 1
    assert second.imported(GLOBALS) <= whole.imported(GLOBALS) + len(whole.globals)
    here, there = _places(first, table), _places(second, table)
    places = {function: place for place, function in {**here, **there}.items()}
    assert len(places) == len(whole.bodies) == len(here) + len(there)
    ensure = imported + len(whole.bodies)
    for function, body in enumerate(whole.bodies, imported):
        kind = whole.functions[function - imported]
        parameters = b"".join(_LOCAL_GET + binary.encoded(each) for each in range(whole.types[kind].parameters))
        through = _I32_CONST + binary.signed(places[function])
        stub = parameters + through + _CALL_INDIRECT + binary.encoded(kind) + binary.encoded(table) + _END
        bodies = first.bodies[function - imported], second.bodies[function - imported]
        if places[function] in here:
            assert bodies == (body, b"\0" + stub)
        else:
            assert bodies == (b"\0" + _CALL + binary.encoded(ensure) + stub, body)


def _prove_data(whole: bytes, first: bytes, second: bytes) -> None:
    """Check that both files together write what the module does, and nothing twice."""
    if whole == first:
        assert written_by(second) == []
        return
    if place := library_data(whole):
        data = bytearray(first)
        for each in moved_parts(second):
            assert not any(data[place.start + each.place : place.start + each.end])
            data[place.start + each.place : place.start + each.end] = each.data
        assert data == whole
        return
    ranges = written_by(second)
    for each in segments(first):
        assert not any(each.place < late.stop and late.start < each.end for late in ranges)
    assert only([*segments(first), *segments(read(second).sections[binary.DATA])], _ALL) == only(segments(whole), _ALL)


def _places(module: Module, table: int) -> dict[int, int]:
    """Return the function at each place of a table that a file fills."""
    content = module.sections.get(binary.ELEMENT, b"\0")
    segments, at = number(content, 0)
    found: dict[int, int] = {}
    for _ in range(segments):
        kind, at = number(content, at)
        assert kind in (0, 2), "a segment is not of functions by number"
        into, at = number(content, at) if kind else (0, at)
        place, at = number(content, at + 1)
        at += 2 if kind else 1
        count, at = number(content, at)
        for each in range(count):
            function, at = number(content, at)
            if into == table:
                found[place + each] = function
    return found
