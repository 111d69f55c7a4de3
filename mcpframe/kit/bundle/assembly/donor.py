"""A built bundle as the donor of a new one, which needs neither Node.js nor uv nor a lock then.

It lends its runtime, packages and snapshot. A page makes bundles with it: `read_donor` reads its files, and
`Donor.inputs` compiles what is the new bundle's own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from importlib.util import source_hash
from posixpath import join, normpath
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from mcpframe.kit.base.errors import BuildError
from mcpframe.kit.bundle.assembly.assets import Asset, asset
from mcpframe.kit.bundle.assembly.built_manifest import MANIFEST
from mcpframe.kit.bundle.assembly.description import ServerDescription
from mcpframe.kit.bundle.assembly.features import features_of, written_for_a_process
from mcpframe.kit.bundle.assembly.index_page import boot_of
from mcpframe.kit.bundle.assembly.inputs import Inputs, Scripts
from mcpframe.kit.bundle.assembly.layers import SERVER_PATH, SITE_PACKAGES, Layer, Layers
from mcpframe.kit.bundle.assembly.offered import origins_for
from mcpframe.kit.bundle.assembly.own_modules import own_files, shared_own_files
from mcpframe.kit.bundle.assembly.packages import LazyWheel, Packages
from mcpframe.kit.bundle.assembly.snapshot_file import SDK, LayerFile, Snapshot
from mcpframe.kit.bundle.assembly.wasm_files import lent_file
from mcpframe.kit.bundle.code.page_use import starts_processes
from mcpframe.kit.bundle.pyodide.archive import Files, unpack
from mcpframe.kit.bundle.pyodide.bytecode import Compiler, compile_libraries, compile_server, compiled_here
from mcpframe.kit.bundle.pyodide.version import VERSION
from mcpframe.kit.project.project import Project

_SERVER = "server"
_BASE = "base"
_PARTS = "parts"
_OURS = ("mcpframe/", f"mcpframe-{version('mcpframe')}.dist-info/")
_HASH = slice(8, 16)
"""The hash of the source in a file of bytecode (PEP 552)."""


@dataclass(frozen=True)
class Donor:
    """The parts that a built bundle lends to a new one.

    Attributes:
        packages: Its packages.
        scripts: The runtime and the loader.
        archives: The archives of its page, without the author's files.
        deferred: The files fetched when one of them is imported.
        licences: Its file of licences.
        lazy: The wheels of each lazy requirement.
        absent: What its page answers for packages that it lacks: see `Project.absent`.
        image: Its snapshot; None if it has none without its author's code.
        second_files: See `Inputs`.
    """

    packages: Packages
    scripts: Scripts
    archives: tuple[Layer, ...]
    deferred: Files
    licences: bytes
    lazy: Mapping[str, Sequence[LazyWheel]]
    absent: Mapping[str, Any]
    image: Snapshot | None
    second_files: Mapping[str, Asset]

    def inputs(
        self,
        project: Project,
        author: Files,
        description: ServerDescription,
        *,
        page_files: Files | None = None,
        first_paint: str = "",
        compiler: Compiler = compiled_here,
    ) -> Inputs:
        """Return the inputs of a new bundle.

        Args:
            author: The author's files, by path.
            page_files: The author's files for the page, by path.
            first_paint: The author's HTML that a view shows until it has drawn.
            compiler: Compiles its modules; by default this Python, which has to be that of bundles.

        Raises:
            BuildError: The donor lacks a requirement, or a file does not compile.
            ConfigError: No page may embed the server.
        """
        self.check_requirements(project)
        world = written_for_a_process(project, self.packages, author)
        project = replace(project, world=world, processes=starts_processes(author), absent=self.absent)
        code = {path: data for path, data in author.items() if path.endswith(".py")}
        features = features_of(project, self.packages, author, code)
        own, shared = own_files(code, features), shared_own_files(features)
        parts = _with_own({}, {path: data for path, data in own.items() if path not in shared}, compiler)
        server = compile_server(author, compiler, shown=SERVER_PATH, root=project.source)
        archives = [
            replace(each, files=_with_own(each.files, shared, compiler)) if each.name == _BASE else each
            for each in self.archives
            if not each.part
        ]
        if parts:
            archives.insert(2, Layer(_PARTS, SITE_PACKAGES, parts, part=True))
        return Inputs(
            project,
            self.packages,
            Layers({}, {}, (*archives, Layer(_SERVER, SERVER_PATH, server, own=True)), self.deferred, {}),
            self.licences,
            description,
            origins_for(project, description.origins),
            self.scripts,
            {root: self.lazy[root] for root in map(_package, project.lazy)},
            page_files or {},
            first_paint,
            self.second_files,
        )

    def snapshot(self, inputs: Inputs) -> Snapshot | None:
        """Return the snapshot for a new bundle; None if its part of mcpframe, which is in memory, is another."""
        same = _shared(inputs.layers.archives) == _shared(self.archives)
        return self.image if same else None

    def check_requirements(self, project: Project) -> None:
        """Raise `BuildError` if the donor lacks a requirement of a project."""
        lacking = [item for item in project.requirements if _package(item) not in self.packages.versions]
        if lacking := [*lacking, *(item for item in project.lazy if _package(item) not in self.lazy)]:
            raise BuildError(
                f"{project.file}: {', '.join(lacking)} is not in the bundle that lends its packages: leave it out, or "
                "build the project with mcpframe build."
            )


def read_donor(name: str, files: Files) -> Donor:
    """Read a built bundle.

    Args:
        name: Its folder.
        files: Its files and its manifest, by path below the output root.

    Raises:
        BuildError: It is of another version of mcpframe or Pyodide, or a file is missing or changed.
    """
    manifest = _manifest(name, files)
    hashes = {entry["path"]: entry["sha256"] for entry in manifest["files"]}

    def lent(path: str) -> Asset:
        item = asset(path, files.get(path, b""))
        if item.sha256 != hashes.get(path):
            raise BuildError(f"{path} of the bundle that lends its packages is missing or changed: build it again.")
        return item

    def linked(entry: Mapping[str, Any]) -> Asset:
        return lent(normpath(join(name, entry["url"])))

    boot = boot_of(lent(f"{name}/index.html").data)
    listed, image = boot["files"], boot["files"]["snapshot"]
    native = {entry["path"]: linked(entry).data for entry in listed["libraries"]}
    archives = tuple(_layer(entry, linked(entry), native) for entry in listed["archives"])
    lent_archives = tuple(layer for layer in archives if layer.name != _SERVER)
    versions = manifest["versions"]["packages"]
    style, licences = (
        next(path for path in hashes if path.startswith(f"_mcpframe/{start}.")) for start in ("frame", "licences")
    )
    pyodide, asm, loader = (linked(listed[each]) for each in ("pyodide", "asm", "loader"))
    split = [lent_file(entry, linked) for entry in listed["libraries"]]
    return Donor(
        Packages(versions, _further(lent_archives)),
        Scripts(pyodide, asm, lent_file(listed["wasm"], linked), loader, lent(style), manifest["patches"]),
        lent_archives,
        unpack(linked(listed["deferred"]).data),
        lent(licences).data,
        {root: [_wheel(linked(entry)) for entry in entries] for root, entries in boot["lazy"].items()},
        boot.get("absent", {}),
        _image(image, manifest["snapshot"]["made_with"], linked(image["layers"][0]).data) if image else None,
        {file.first.sha256: file.second for file in split if file.second},
    )


def _manifest(name: str, files: Files) -> dict[str, Any]:
    try:
        manifest: dict[str, Any] = json.loads(files.get(f"{name}/{MANIFEST}", b""))
        built_by = {key: manifest["versions"][key] for key in ("mcpframe", "pyodide")}
    except (ValueError, LookupError, TypeError) as error:
        raise BuildError(f"{name} is not a bundle that could lend its packages: its {MANIFEST} is missing.") from error
    if built_by != {"mcpframe": version("mcpframe"), "pyodide": VERSION}:
        raise BuildError(f"The bundle {name} was built by another version ({built_by}): build it again.")
    return manifest


def _layer(entry: Mapping[str, Any], archive: Asset, native: Files) -> Layer:
    """Return an archive of a page, with its linked libraries, which are files of their own."""
    files = unpack(archive.data)
    files |= {path: data for path in files if (data := native.get(f"{entry['to']}/{path}")) is not None}
    name = archive.path.rpartition("/")[2].rsplit(".", 3)[0]  # of `base.zip.HASH.wasm`
    return Layer(name, entry["to"], files, own=entry["own"], part=entry["part"], apart=entry["apart"])


def _further(archives: Sequence[Layer]) -> frozenset[str]:
    """Return the packages that only some bundles have, by their metadata in the author's archives."""
    paths = {path.partition("/")[0] for each in archives if each.own and not each.apart for path in each.files}
    return frozenset(_package(path.partition("-")[0]) for path in paths if path.endswith(".dist-info"))


def _wheel(file: Asset) -> LazyWheel:
    folder, _, filename = file.path.rpartition("/")
    return LazyWheel(_package(filename.partition("-")[0]), filename, folder.rpartition("/")[2], file.data)


def _image(entry: Mapping[str, Any], made_with: str, data: bytes) -> Snapshot | None:
    """Return the SDK's layer; its modules are unknown, so a page fetches every archive before it imports its server."""
    lowest = entry["layers"][0]
    if lowest["name"] != SDK:
        return None
    return Snapshot((LayerFile(SDK, data, lowest["unpacked"], entry["build"], lowest["references"], (), made_with),))


def _shared(archives: Sequence[Layer]) -> list[Files]:
    return [each.files for each in archives if not each.own and not each.part]


def _with_own(base: Files, own: Files, compiler: Compiler) -> dict[str, bytes]:
    """Return the files of the SDK and mcpframe with other modules of mcpframe; equal ones are not compiled again."""
    kept = {path: data for path, data in base.items() if not path.startswith(_OURS)}
    there = {
        path: base[f"{path}c"] for path, data in own.items() if base.get(f"{path}c", b"")[_HASH] == source_hash(data)
    }
    new = {path: data for path, data in own.items() if path not in there}
    compiled = compile_libraries({"": new}, compiler, shown=SITE_PACKAGES, docstrings="none")[""]
    return {**kept, **{f"{path}c": data for path, data in there.items()}, **compiled}


def _package(requirement: str) -> str:
    return canonicalize_name(Requirement(requirement).name)
