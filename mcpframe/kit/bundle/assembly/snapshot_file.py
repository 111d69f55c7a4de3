"""A snapshot of Python's memory, as a bundle contains it; `kit/bundle/snapshot` takes one.

It is a chain of layers, each a file: the lowest is a whole memory, and each further one is the difference to the layer
below it. All servers of a site share the file of the SDK's layer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

SDK = "sdk"
"""The layer with the SDK and the modules of mcpframe that all its servers have."""
PARTS = "parts"
"""The layer with the other modules of mcpframe in a bundle; only in place of the server's, which has them, too."""
PACKAGES = "packages"
"""The layer with the modules of the author's requirements, below the server's; above the SDK's, or in its place."""
SERVER = "server"
"""The layer with the author's module."""
DECODER = "zstd.wasm"
"""The page's decoder of the compression, a static file."""


@dataclass(frozen=True)
class LayerFile:
    """The file of one layer.

    Attributes:
        name: `SDK`, `PARTS`, `PACKAGES` or `SERVER`.
        data: The file to publish, compressed.
        unpacked: Its uncompressed size, in bytes.
        build: The id of its Pyodide build.
        references: The JavaScript objects that the memory refers to, in Pyodide's format.
        modules: The imported modules.
        made_with: The name and version of its browser.
    """

    name: str
    data: bytes
    unpacked: int
    build: str
    references: Mapping[str, Any]
    modules: tuple[str, ...]
    made_with: str


@dataclass(frozen=True)
class Snapshot:
    """A snapshot.

    Attributes:
        layers: Its layers, the lowest first.
    """

    layers: tuple[LayerFile, ...]

    @property
    def top(self) -> LayerFile:
        """The last layer, which describes the memory as it is restored."""
        return self.layers[-1]

    @property
    def has_server(self) -> bool:
        """Whether the author's module is in it."""
        return self.top.name == SERVER

    @property
    def links_all(self) -> bool:
        """Whether it was taken with the native libraries of the author linked before Python ran."""
        return self.layers[0].name != SDK


def snapshot_entry(
    snapshot: Snapshot,
    links: Sequence[Mapping[str, Any]],
    *,
    decoder: Mapping[str, Any],
    shared: int,
    libraries: int,
    paths: Sequence[str],
    files: str,
) -> dict[str, Any]:
    """Return the entry of a snapshot in the boot config.

    Args:
        links: The entries of its files: URL, hash and size.
        decoder: The entry of the decoder.
        shared: The number of native libraries that all bundles have.
        libraries: The number of all linked libraries.
        paths: The folders of the author's requirements.
        files: Which archives a page fetches at its start if the author's module is not in memory: that of the
            "server", the author's "own", or "all".
    """
    return {
        "layers": [
            {**link, "name": layer.name, "unpacked": layer.unpacked, "references": dict(layer.references)}
            for link, layer in zip(links, snapshot.layers, strict=True)
        ],
        "decoder": decoder,
        "build": snapshot.top.build,
        # Libraries that the snapshot has in memory; the others are linked once Python runs.
        "libraries": libraries if snapshot.links_all else shared,
        "files": "none" if snapshot.has_server else files,
        "paths": [] if snapshot.has_server else list(paths),
    }
