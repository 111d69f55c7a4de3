"""The archives, native libraries and the snapshot of a bundle: the files from which its page starts Python."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

from mcpframe.kit.base.data import page_dir
from mcpframe.kit.bundle.assembly.assets import SHARED, Asset, hashed
from mcpframe.kit.bundle.assembly.index_page import link
from mcpframe.kit.bundle.assembly.inputs import Inputs
from mcpframe.kit.bundle.assembly.layers import (
    LIBRARY,
    SERVER_PATH,
    STDLIB_PATH,
    STDLIB_ZIP,
    Layer,
    needs_deferred,
    required_modules_of,
)
from mcpframe.kit.bundle.assembly.native_libraries import linked
from mcpframe.kit.bundle.assembly.snapshot_file import DECODER, PACKAGES, SERVER, LayerFile, Snapshot, snapshot_entry
from mcpframe.kit.bundle.assembly.wasm_files import WasmFile, in_two, wasm_file
from mcpframe.kit.bundle.pyodide.archive import Date, Files, pack_as_wasm, source_date
from mcpframe.kit.bundle.pyodide.version import ABI, PLATFORM, PYTHON_VERSION, VERSION
from mcpframe.kit.bundle.wasm.split import Pair

_ARCHIVE = ".zip.wasm"  # see `pack_as_wasm`


@dataclass(frozen=True)
class LinkedLibrary:
    """A native library that the page links before Python runs.

    Attributes:
        layer: The layer that it is in.
        needed_as: The name by which other libraries need it; empty for an extension module.
        path: Its path in the layer.
        file: Its files.
    """

    layer: Layer
    needed_as: str
    path: str
    file: WasmFile


@dataclass(frozen=True)
class Archives:
    """The files from which a page starts Python.

    Attributes:
        by_layer: The archive of each layer, by name.
        libraries: The linked libraries, in order.
        deferred: The archive of the modules fetched when one of them is imported.
        at_start: Whether the start imports one of them.
        decoder: The decoder of the snapshot.
        images: The layers of the snapshot; empty if there is none.
        snapshot: Its entry in the boot config.
    """

    by_layer: Mapping[str, Asset]
    libraries: Sequence[LinkedLibrary]
    deferred: Asset
    at_start: bool
    decoder: Asset
    images: tuple[Asset, ...]
    snapshot: Mapping[str, Any] | None

    @property
    def native(self) -> list[Asset]:
        """The files of the libraries that every start loads."""
        return [library.file.first for library in self.libraries]

    @property
    def second(self) -> list[Asset]:
        """Their second files."""
        return [library.file.second for library in self.libraries if library.file.second]

    @property
    def plain(self) -> list[Asset]:
        """The archives that a start without a snapshot needs."""
        return [*self.by_layer.values(), *([self.deferred] if self.at_start else [])]

    def starting(self, layers: Sequence[Layer]) -> list[Asset]:
        """Return the archives, and the layers of the snapshot, that a start needs.

        Args:
            layers: The author's.
        """
        if self.snapshot is None:
            return self.plain
        own = [self.by_layer[layer.name] for layer in layers]
        server = [self.by_layer[layer.name] for layer in layers if layer.to == SERVER_PATH]
        needed = {"none": [], "server": server, "own": own, "all": self.plain}
        return [*self.images, self.decoder, *needed[self.snapshot["files"]]]

    def in_background(self, layers: Sequence[Layer]) -> list[Asset]:
        """Return what a page that has started from a snapshot fetches once it serves."""
        return [
            *(self.by_layer[layer.name] for layer in layers if not layer.apart),
            *self.plain[len(self.by_layer) :],
        ]


def archives_of(inputs: Inputs, snapshot: Snapshot | None) -> Archives:
    """Pack the layers."""
    name, layers = inputs.project.name, inputs.layers
    modules = inputs.description.modules
    linking = partial(_linked, inputs.second_files)
    libraries = [*linking(layers.shared, None), *linking(layers.author, modules or None)]
    by_layer = {
        layer.name: hashed(
            f"{name if layer.name == 'server' else SHARED}/{layer.name}{_ARCHIVE}",
            (pack_as_wasm if layer.own else _packed)(
                _emptied(layer.files, {each.path for each in libraries if each.layer is layer})
            ),
        )
        for layer in layers.archives
    }
    decoder = hashed(f"{SHARED}/{DECODER}", (page_dir() / DECODER).read_bytes())
    images, entry = ((), None) if snapshot is None else _snapshot(snapshot, inputs, decoder, len(libraries))
    return Archives(
        by_layer,
        libraries,
        hashed(f"{SHARED}/deferred{_ARCHIVE}", _packed(layers.deferred)),
        not inputs.project.config.import_server or needs_deferred(modules, layers.deferred),
        decoder,
        images,
        entry,
    )


def _packed(files: Files) -> bytes:
    """Return a zip. Those that servers share are packed once: a build assembles its files repeatedly."""
    return _pack_once(tuple(files.items()), source_date())


@lru_cache(maxsize=8)
def _pack_once(files: tuple[tuple[str, bytes], ...], date: Date) -> bytes:
    return pack_as_wasm(dict(files), date=date)


def files_config(inputs: Inputs, archives: Archives) -> dict[str, Any]:
    """Return the part of the boot config with the files from which the page starts Python."""
    name, layers, scripts = inputs.project.name, inputs.layers, inputs.scripts
    return {
        "pyodide": link(scripts.pyodide, name),
        "asm": link(scripts.asm, name),
        "loader": link(scripts.loader, name),  # for workers
        "wasm": scripts.wasm.entry(name),
        "archives": [
            {
                **link(archives.by_layer[layer.name], name),
                "to": layer.to,
                "own": layer.own,
                "part": layer.part,
                "apart": layer.apart,
            }
            for layer in layers.archives
        ],
        "libraries": [
            {
                **each.file.entry(name),
                "path": f"{each.layer.to}/{each.path}",
                "own": each.layer.own,
                "neededAs": each.needed_as or None,
            }
            for each in archives.libraries
        ],
        "paths": layers.paths,
        "snapshot": archives.snapshot,
        "deferred": {**link(archives.deferred, name), "to": LIBRARY, "atStart": archives.at_start},
        "env": {"PYTHONPATH": STDLIB_PATH},
        "server_path": SERVER_PATH,
        "stdlib_zip": STDLIB_ZIP,
        "lock": {
            "info": {
                "abi_version": ABI,
                "arch": "wasm32",
                "platform": PLATFORM,
                "python": PYTHON_VERSION,
                "version": VERSION,
            },
            "packages": {},
        },
    }


def _linked(
    second_files: Mapping[str, Asset], layers: Sequence[Layer], modules: Collection[str] | None
) -> list[LinkedLibrary]:
    """Return the libraries to link, in order.

    Args:
        second_files: See `Inputs`.
        modules: The modules that the server imports when it starts; None for all.
    """
    places = {
        f"{layer.name}/{path}" if layer.apart else path: (layer, path) for layer in layers for path in layer.libraries
    }
    files = {name: layer.files[path] for name, (layer, path) in places.items()}
    libraries = []
    for needed_as, name in linked(files, modules):
        layer, path = places[name]
        data, place = layer.files[path], f"{SHARED}/{path.rpartition('/')[2].partition('.')[0]}.wasm"
        # The author's may also be linked once Python runs, by Emscripten alone.
        file = wasm_file(Pair(data, b"") if layer.own else in_two(data), hashed, place)
        file = replace(file, second=file.second or second_files.get(file.first.sha256))
        libraries.append(LinkedLibrary(layer, needed_as, path, file))
    return libraries


def _emptied(files: Files, linked_paths: Collection[str]) -> Files:
    """Return the files with linked libraries emptied: those are linked before there is a file system."""
    return {path: b"" if path in linked_paths else data for path, data in files.items()}


def _snapshot(
    snapshot: Snapshot, inputs: Inputs, decoder: Asset, libraries: int
) -> tuple[tuple[Asset, ...], dict[str, Any]]:
    """Return the files of a snapshot, and its entry in the boot config."""
    layers, name = inputs.layers, inputs.project.name
    images = tuple(
        hashed(f"{name}/snapshot.bin" if layer.name == SERVER else f"{SHARED}/layer.bin", layer.data)
        for layer in snapshot.layers
    )
    return images, snapshot_entry(
        snapshot,
        [link(image, name) for image in images],
        decoder=link(decoder, name),
        shared=len([path for layer in layers.shared for path in layer.libraries]),
        libraries=libraries,
        paths=layers.paths,
        files=_needed_to_import(inputs, snapshot.top),
    )


def _needed_to_import(inputs: Inputs, below: LayerFile) -> str:
    """Return which archives a page needs to import the server above a layer; see `snapshot_entry`."""
    layers = inputs.layers
    missing = set(inputs.description.modules) - set(below.modules)
    shared = {  # the files of the archives that all bundles share, by path below `LIBRARY`
        f"{layer.to.removeprefix(f'{LIBRARY}/')}/{path}": data
        for layer in layers.shared
        for path, data in layer.files.items()
    }
    if needs_deferred(missing, {**layers.deferred, **shared}):
        return "all"
    has_required = below.name == PACKAGES and not required_modules_of(layers, missing)
    return "server" if has_required else "own"
