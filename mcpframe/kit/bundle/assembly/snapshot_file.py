"""A snapshot of Python's memory, as a bundle contains it; `kit/bundle/snapshot` takes one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

AUTHOR = "author"
"""The layer of a snapshot that includes the author's module."""
SDK = "sdk"
"""The layer of a snapshot with the SDK and mcpframe, which is the same for all bundles."""
DECODER = "zstd.wasm"
"""The page's decoder of the compression, a static file."""


@dataclass(frozen=True)
class Snapshot:
    """A snapshot.

    Attributes:
        data: The file to publish, compressed.
        layer: `AUTHOR` or `SDK`.
        unpacked: Its uncompressed size, in bytes.
        build: The id of its Pyodide build.
        references: The JavaScript objects that the memory refers to, in Pyodide's format.
        modules: The imported modules.
        made_with: The name and version of its browser.
    """

    data: bytes
    layer: str
    unpacked: int
    build: str
    references: Mapping[str, Any]
    modules: tuple[str, ...]
    made_with: str
