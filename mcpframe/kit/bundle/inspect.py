"""Compiles and imports the author's server in Pyodide during the build: what would fail in the page is an error now."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from mcpframe.kit.bundle.archive import pack
from mcpframe.kit.bundle.layers import SERVER_PATH, SITE_PACKAGES, Layer, Layers, compiled
from mcpframe.kit.bundle.pyodide_job import Mounted, run_in_pyodide
from mcpframe.kit.errors import BuildError
from mcpframe.kit.runtime import Runtime


@dataclass(frozen=True)
class Inspected:
    """What the author's entry is.

    Attributes:
        name: The name that clients see.
        title: The title that clients see, if any.
        version: The server's version, if any.
        instructions: What the server tells models, if anything.
        allowed_origins: The origins passed to `FrameServer`.
        tools: The tools as `tools/list` gives them; None when the server lists them only within a session.
        modules: The names of all modules that are imported once the server is.
    """

    name: str
    title: str | None = None
    version: str | None = None
    instructions: str | None = None
    allowed_origins: tuple[str, ...] = ()
    tools: tuple[dict[str, Any], ...] | None = None
    modules: tuple[str, ...] = ()


def compile_and_inspect(
    entry: str, runtime: Runtime, layers: Layers, *, origin: Path, kind: str
) -> tuple[Layers, Inspected]:
    """Compile the author's files; then import the server, or the main function of a page, and say what it is.

    One Pyodide does both, as its start takes longer than either.

    Args:
        entry: `module:object`.
        runtime: The runtime.
        layers: What the page would unpack, with the author's files as they are.
        origin: The folder the author's files came from, for tracebacks.
        kind: `"server"` or `"page"`.

    Raises:
        BuildError: A file does not compile, the module raises, or the object is no server: then the message has the
            traceback.
    """
    with tempfile.TemporaryDirectory(prefix="mcpframe-inspect-") as scratch:
        folder = Path(scratch)
        (folder / "stdlib.zip").write_bytes(pack(layers.stdlib))
        archives = []
        for layer in (Layer("base", SITE_PACKAGES, layers.base), *layers.author):
            file = folder / f"{layer.name}.zip"
            file.write_bytes(pack(layer.files))
            archives.append(Mounted(file, layer.to, layer.libraries))
        start = partial(
            run_in_pyodide,
            runtime=runtime,
            archives=archives,
            stdlib=folder / "stdlib.zip",
            env={
                "MCPFRAME_ENTRY": entry,
                "MCPFRAME_SERVER": SERVER_PATH,
                "MCPFRAME_KIND": kind,
                "MCPFRAME_PATHS": ":".join(layers.paths),
            },
        )
        inspected: list[Any] = []

        def run(folders: Mapping[str, Path]) -> Mapping[str, str]:
            errors, found = start(["compile", "inspect"], folders=folders)
            inspected.append(found)
            told: Mapping[str, str] = errors
            return told

        layers = compiled(layers, runtime, origin, run)
        [found] = inspected or start(["inspect"])
    if "error" in found:
        shown = str(found["traceback"]).replace(f"{SERVER_PATH}/", f"{origin}/").rstrip()
        raise BuildError(
            f"The {kind} {entry!r} does not start in the page: {str(found['error']).rstrip('.')}."
            + (f"\n{shown}" if shown else "")
        )
    return layers, Inspected(
        name=found["name"],
        title=found["title"],
        version=found["version"],
        instructions=found["instructions"],
        allowed_origins=tuple(found["allowed_origins"]),
        tools=None if found["tools"] is None else tuple(found["tools"]),
        modules=tuple(found["modules"]),
    )
