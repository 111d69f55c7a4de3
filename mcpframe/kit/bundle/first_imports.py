"""The imports of a server before any of its code runs: its snapshot can have them in a layer of their own."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcpframe.kit.base.cache import write_file
from mcpframe.kit.bundle.assembly.layers import Layers, required_modules_of
from mcpframe.kit.bundle.packages.lock import Lock
from mcpframe.kit.bundle.pyodide.compile import cache_key, cached

_LARGE = 1_000_000
"""Bytes of compiled modules that are worth a layer of their own, as each is a file to fetch and a page in a build."""


@dataclass(frozen=True)
class FirstImports:
    """The first imports of a server.

    Attributes:
        names: The modules, in order; see `imported_first`.
        lock: The packages that it finds.
        settings: The environment in which it is imported; see `Project.settings`.
    """

    names: Sequence[str]
    lock: Lock
    settings: Mapping[str, Any]

    def for_a_layer(self, layers: Layers, modules: Collection[str]) -> tuple[str, ...]:
        """Return those that are its requirements, if these are large.

        Args:
            layers: The archives of the page.
            modules: All modules that the server imports.
        """
        sizes = required_modules_of(layers, modules)
        return tuple(name for name in self.names if name in sizes) if sum(sizes.values()) >= _LARGE else ()

    def keep(self, modules: Sequence[str]) -> None:
        """Keep all modules that the server has imported, for its drafts, which do not import it.

        Raises:
            WriteError: The cache cannot be written.
        """
        write_file(self._path, json.dumps(modules).encode())

    def kept(self) -> tuple[str, ...]:
        """Return all modules that the last build of a server with these first imports has kept; none without one."""
        return tuple(json.loads(self._path.read_bytes())) if self._path.is_file() else ()

    @property
    def _path(self) -> Path:
        return cached("imported", cache_key(repr(self.lock), json.dumps(self.settings), *self.names))
