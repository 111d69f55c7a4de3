"""Native libraries of packages: which of them a page links before Python runs.

Linked are the libraries that the server imports when it starts, and those that they need. All others are ordinary
files, which Python loads when they are imported.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from mcpframe.kit.bundle.assembly.layers import module_name, native_libraries
from mcpframe.kit.bundle.wasm.binary import number, sections, text_at

_NEEDED = 2  # WASM_DYLINK_NEEDED


def needed(library: bytes) -> list[str]:
    """Return the names of the shared libraries that a native library needs.

    They are in its first section: WebAssembly's tool conventions, "Dynamic Linking".
    """
    about = next(sections(library)).content
    at = text_at(about, 0)[1]
    while at < len(about):
        kind = about[at]
        size, at = number(about, at + 1)
        if kind == _NEEDED:
            return list(_texts(about, at))
        at += size
    return []


def _texts(data: bytes, at: int) -> Iterator[str]:
    count, at = number(data, at)
    for _ in range(count):
        text, at = text_at(data, at)
        yield text


def linked(files: Mapping[str, bytes], modules: Collection[str] | None) -> Iterator[tuple[str, str]]:
    """Yield the libraries to link, in the order of linking: the name that others need each by, and its path.

    The name is empty for an extension module, which no other library needs.

    Args:
        files: The files of packages, by path in a folder to import from.
        modules: The modules that the server imports when it starts; None for all.
    """
    paths = native_libraries(files)
    shared = {path.rpartition("/")[2]: path for path in paths}
    chosen = [path for path in paths if modules is None or module_name(path) in modules]
    names = _closure(chosen, shared, files)
    yield from ((name, shared[name]) for name in shared if name in names)
    yield from (("", path) for path in chosen if path.rpartition("/")[2] not in names)


def _closure(paths: Iterable[str], shared: Mapping[str, str], files: Mapping[str, bytes]) -> set[str]:
    """Return the names of the shared libraries that some need, directly or through others."""
    closure: set[str] = set()
    waiting = list(paths)
    while waiting:
        names = {name for name in needed(files[waiting.pop()]) if name in shared} - closure
        closure |= names
        waiting += (shared[name] for name in names)
    return closure
