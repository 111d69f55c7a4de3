"""Whether a bundle has an HTTP library that `mcpframe.frame.compat.http` fits to the page."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from mcpframe.kit.bundle.archive import unpack
from mcpframe.kit.bundle.imports import imports_named
from mcpframe.kit.bundle.layers import base_packages
from mcpframe.kit.bundle.lock import Lock

PACKAGES = frozenset({"aiohttp", "httpx", "httpx2", "urllib3"})
"""Those that are packages."""
MODULES = ("http.client", "urllib.request")
"""Those of the standard library."""


def has_http_library(lock: Lock, wheels: Mapping[str, Path], author: Mapping[str, bytes]) -> bool:
    """Return whether a bundle has an HTTP library.

    Args:
        lock: Its packages.
        wheels: Their files, by package.
        author: The author's files.
    """
    base = base_packages(lock)
    names = [package.name for package in lock.packages if package.name not in base]
    if not PACKAGES.isdisjoint(names):
        return True
    return _imports_one(author) or any(_imports_one(unpack(wheels[name])) for name in names)


def uses_http(files: Mapping[str, bytes]) -> bool:
    """Return whether Python files import an HTTP library."""
    return _imports_one(files) or any(imports_named(module, files) for module in (*PACKAGES, "requests"))


def _imports_one(files: Mapping[str, bytes]) -> bool:
    return any(imports_named(module, files) for module in MODULES)
