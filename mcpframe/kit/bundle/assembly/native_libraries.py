"""Native libraries of packages: which of them a page links before Python runs.

Linked are the libraries that the server imports when it starts, and those that they need. All others are ordinary
files, which Python loads when they are imported.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from mcpframe.kit.bundle.assembly.layers import module_name, native_libraries

_HEAD = 8  # bytes: magic number and version
_NAME = b"\x08dylink.0"
_NEEDED = 2  # WASM_DYLINK_NEEDED


def needed(library: bytes) -> list[str]:
    """Return the names of the shared libraries that a native library needs.

    They are in its first section: WebAssembly's tool conventions, "Dynamic Linking".
    """
    size, at = _number(library, _HEAD + 1)
    end, at = at + size, at + len(_NAME)
    while at < end:
        kind = library[at]
        size, at = _number(library, at + 1)
        if kind == _NEEDED:
            return list(_texts(library, at))
        at += size
    return []


def _number(data: bytes, at: int) -> tuple[int, int]:
    """Return the number at a place (LEB128), and the place after it."""
    number = shift = 0
    while True:
        byte = data[at]
        number |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return number, at


def _texts(data: bytes, at: int) -> Iterator[str]:
    count, at = _number(data, at)
    for _ in range(count):
        length, at = _number(data, at)
        yield data[at : at + length].decode()
        at += length


def linked(files: Mapping[str, bytes], modules: Collection[str] | None) -> Iterator[tuple[str, str]]:
    """Yield the libraries to link, in the order of linking: the name that others need each by, and its path.

    The name is empty for an extension module, which no other library needs.

    Args:
        files: The files of packages, by path in a folder to import from.
        modules: The modules that the server imports when it starts; None for all.
    """
    paths = native_libraries(files)
    shared = {path.rpartition("/")[2]: path for path in paths}
    found = [path for path in paths if modules is None or module_name(path) in modules]
    wanted = _closure(found, shared, files)
    yield from ((name, shared[name]) for name in shared if name in wanted)
    yield from (("", path) for path in found if path.rpartition("/")[2] not in wanted)


def _closure(paths: Iterable[str], shared: Mapping[str, str], files: Mapping[str, bytes]) -> set[str]:
    """Return the names of the shared libraries that some need, directly or through others."""
    wanted: set[str] = set()
    waiting = list(paths)
    while waiting:
        names = {name for name in needed(files[waiting.pop()]) if name in shared} - wanted
        wanted |= names
        waiting += (shared[name] for name in names)
    return wanted
