"""The layers of a page, each an archive: standard library, SDK with mcpframe, the author's requirements, and files."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from mcpframe.kit.bundle.pyodide.archive import Files
from mcpframe.kit.bundle.pyodide.version import PYTHON_VERSION

LIBRARY = f"/lib/python{PYTHON_VERSION.rpartition('.')[0]}"
SITE_PACKAGES = f"{LIBRARY}/site-packages"
STDLIB_ZIP = f"/lib/python{''.join(PYTHON_VERSION.split('.')[:2])}.zip"
"""The zip of Pyodide's own standard library; empty in the page."""
STDLIB_PATH = f"{LIBRARY}/std"
"""The folder of the standard library in the page. Unlike a zip, it can be filled later."""


SERVER_PATH = "/mcpframe/server"
"""The folder of the author's files in the page."""
PACKAGES_PATH = "/mcpframe/packages"
"""The folder of the author's requirements in the page, apart from the SDK's, which may be filled after the start."""


@dataclass(frozen=True)
class Layer:
    """One archive of a bundle.

    Attributes:
        name: The name of its file.
        to: Its folder in Python's file system.
        files: Its files.
        own: Whether it is the author's: requirements or files.
        part: Whether it has those modules of mcpframe that only some bundles have, besides those of another archive.
        apart: Whether it is a large package. A page that has started from a snapshot fetches it when one of its files
            is read, and not with the others.
    """

    name: str
    to: str
    files: Files
    own: bool = False
    part: bool = False
    apart: bool = False

    @property
    def libraries(self) -> tuple[str, ...]:
        """The native libraries in it, by path."""
        return native_libraries(self.files)


@dataclass(frozen=True)
class Layers:
    """Everything a page unpacks.

    Attributes:
        stdlib: The whole standard library.
        base: The whole of mcpframe and the SDK.
        archives: The archives that a page unpacks at its start, in this order.
        deferred: The files fetched when one of them is imported, by path below `LIBRARY`.
        licences: The licence texts of the packages.
    """

    stdlib: Files
    base: Files
    archives: tuple[Layer, ...]
    deferred: Files
    licences: Files

    @property
    def paths(self) -> list[str]:
        """The folders to import from, besides those of the standard library, the SDK and the author's files."""
        return [layer.to for layer in self.archives if layer.to == PACKAGES_PATH]

    @property
    def shared(self) -> tuple[Layer, ...]:
        """The archives of Python, the SDK and mcpframe."""
        return tuple(layer for layer in self.archives if not layer.own)

    @property
    def author(self) -> tuple[Layer, ...]:
        """The archives of the author: requirements and files."""
        return tuple(layer for layer in self.archives if layer.own)


def native_libraries(paths: Iterable[str]) -> tuple[str, ...]:
    """Return the native libraries among paths, in their loading order."""
    return tuple(sorted(path for path in paths if path.endswith(".so")))


def module_name(path: str) -> str:
    """Return the module of a compiled file, or the package of a data file."""
    parts = path.removesuffix(".py").removesuffix(".pyc").split("/")
    if "__pycache__" in parts:
        parts.remove("__pycache__")
    parts[-1] = parts[-1].split(".")[0]
    if not path.endswith((".py", ".pyc", ".so")) or parts[-1] == "__init__":
        parts.pop()
    return ".".join(parts)


def own_modules_of(layers: Layers) -> tuple[frozenset[str], frozenset[str]]:
    """Return the modules of mcpframe that all servers of an SDK have, and those that this bundle has besides."""
    shared, parts = (
        frozenset(
            name
            for layer in layers.shared
            if layer.part is part and layer.to == SITE_PACKAGES
            for path in layer.files
            if path.startswith("mcpframe/") and (name := module_name(path))
        )
        for part in (False, True)
    )
    return shared, parts


def required_modules_of(layers: Layers, modules: Collection[str]) -> dict[str, int]:
    """Return those of these modules that are the author's requirements, with the size of each file in bytes."""
    named = {
        module_name(f"{layer.name}/{path}" if layer.apart else path): len(data)
        for layer in layers.author
        if layer.to != SERVER_PATH
        for path, data in layer.files.items()
        if path.endswith((".py", ".pyc"))
    }
    return {name: size for name, size in named.items() if name in modules}


def needs_deferred(modules: Collection[str], deferred: Files) -> bool:
    """Return whether any of these modules is among files whose paths begin with `std/` or `site-packages/`."""
    names = {module_name(path.partition("/")[2]) for path in deferred}
    return bool(names & set(modules))
