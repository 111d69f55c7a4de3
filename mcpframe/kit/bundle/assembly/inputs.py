"""The inputs of an assembly: the results of a build's earlier steps, or those of a page with a donor bundle."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from mcpframe.frame.core.allowed_origins import OriginEntries
from mcpframe.kit.base.data import page_dir
from mcpframe.kit.bundle.assembly.assets import SHARED, Asset, asset, content_hash, hashed
from mcpframe.kit.bundle.assembly.description import ServerDescription
from mcpframe.kit.bundle.assembly.layers import Layers
from mcpframe.kit.bundle.assembly.packages import LazyWheel, Packages
from mcpframe.kit.bundle.assembly.page_scripts import loader_script
from mcpframe.kit.bundle.assembly.wasm_files import WasmFile, in_two, wasm_file
from mcpframe.kit.bundle.patches import SCRIPT, patch_script
from mcpframe.kit.bundle.pyodide.archive import Files
from mcpframe.kit.bundle.pyodide.plain_script import GLOBALS, plain_script
from mcpframe.kit.bundle.pyodide.version import VERSION
from mcpframe.kit.bundle.wasm.split import Pair
from mcpframe.kit.project.project import Project

_PYODIDE, _WASM = "pyodide.mjs", "pyodide.asm.wasm"
RUNTIME = (_PYODIDE, SCRIPT, _WASM)
"""The files of the Pyodide runtime in a bundle, besides the archives."""
_LICENCES = b"""\
The licences of the packages in this folder, as distributed with them.
"""
_CHANGED = b"""\
mcpframe has changed pyodide.mjs and pyodide.asm.mjs of Pyodide (Mozilla Public License 2.0): see
mcpframe/kit/bundle/pyodide/plain_script.py and mcpframe/kit/bundle/patches. It has split pyodide.asm.wasm and
_pydantic_core in two files each: see mcpframe/kit/bundle/wasm/split.py.
"""


@dataclass(frozen=True)
class Scripts:
    """The scripts that every bundle has: see `runtime_scripts`.

    Attributes:
        patches: The names of the patches of Pyodide's script, `applied`, and `notes` on those that were not.
    """

    pyodide: Asset
    asm: Asset
    wasm: WasmFile
    loader: Asset
    style: Asset
    patches: Mapping[str, Sequence[str]]

    @property
    def all(self) -> list[Asset]:
        """Those that every start loads."""
        return [self.pyodide, self.asm, self.wasm.first, self.loader, self.style]


@dataclass(frozen=True)
class Inputs:
    """Everything from which a bundle is assembled.

    Attributes:
        packages: Its packages.
        layers: The archives that the page unpacks.
        licences: The text of `licence_text`.
        description: The description of the server.
        origins: The origins that may embed it.
        scripts: The runtime and the loader.
        lazy: The wheels of each lazy requirement.
        page_files: The author's files for the page, by path.
        first_paint: The author's HTML that a view shows until it has drawn.
        second_files: The second files of libraries that are split already, by the hash of the first.
        icons: The author's icons for an installed page, by path.
    """

    project: Project
    packages: Packages
    layers: Layers
    licences: bytes
    description: ServerDescription
    origins: OriginEntries
    scripts: Scripts
    lazy: Mapping[str, Sequence[LazyWheel]] = field(default_factory=dict)
    page_files: Files = field(default_factory=dict)
    first_paint: str = ""
    second_files: Mapping[str, Asset] = field(default_factory=dict)
    icons: Files = field(default_factory=dict)


_patched = lru_cache(maxsize=1)(patch_script)  # for `mcpframe dev`, which builds after each change


def runtime_scripts(runtime: Files, split: Callable[[bytes], Pair] = in_two) -> Scripts:
    """Return the files of the runtime, with Pyodide's script patched, and the loader.

    Args:
        runtime: The files `RUNTIME` of Pyodide.
        split: Returns the two files of Python's WebAssembly.
    """
    patched = _patched(runtime[SCRIPT])
    scripts = {_PYODIDE: runtime[_PYODIDE], SCRIPT: patched.script}
    scripts.update({item: plain_script(item, scripts[item]) for item in GLOBALS})
    wasm = split(runtime[_WASM])
    folder = f"{SHARED}/pyodide-{VERSION}-{content_hash(*scripts.values(), wasm.first)}"
    return Scripts(
        asset(f"{folder}/{_PYODIDE}", scripts[_PYODIDE]),
        asset(f"{folder}/{SCRIPT}", scripts[SCRIPT]),
        wasm_file(wasm, asset, f"{folder}/{_WASM}"),
        loader=hashed(f"{SHARED}/loader.js", loader_script()),
        style=hashed(f"{SHARED}/frame.css", (page_dir() / "frame.css").read_bytes()),
        patches={"applied": list(patched.applied), "notes": list(patched.notes)},
    )


def licence_text(licences: Files) -> bytes:
    """Return the text of a bundle's file of licences.

    Args:
        licences: The licence texts of its packages, by path.
    """
    parts = [_LICENCES, _CHANGED]
    decoder = {"zstddec/LICENSE": (page_dir() / "zstd.licence.txt").read_bytes()}
    for path, text in sorted({**licences, **decoder}.items()):
        parts.append(f"\n{'=' * 20} {path}\n\n".encode() + text.rstrip() + b"\n")
    return b"".join(parts)
