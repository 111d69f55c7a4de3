"""The packages of a bundle, by name: their versions, and the wheels that a page may fetch later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Packages:
    """The packages of a bundle. Names are normalized.

    Attributes:
        versions: The version of each.
        further: The packages that only some bundles have.
    """

    versions: Mapping[str, str]
    further: frozenset[str]

    @property
    def sdk(self) -> int:
        """The major version of the official SDK."""
        return int(self.versions.get("mcp", "2").partition(".")[0])

    @property
    def has_fastmcp(self) -> bool:
        """Whether the package fastmcp is among the wheels."""
        return not self.versions.keys().isdisjoint(("fastmcp", "fastmcp-slim"))


@dataclass(frozen=True)
class LazyWheel:
    """A wheel of a lazy requirement.

    Attributes:
        package: Its package.
        filename: Its file name, which micropip reads.
        sha256: The locked SHA-256; it is in the folder's name, for caching.
        data: Its content.
    """

    package: str
    filename: str
    sha256: str
    data: bytes
