"""Builds an author's project into a folder that any web server can serve.

find project → resolve (or use the lock) → fetch wheels → collect → import the server → pack → snapshot → write

`build` finds the project; the other steps are the methods of `Build`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

from mcpframe.frame.compat import later_modules
from mcpframe.frame.core.allowed_origins import OriginEntries
from mcpframe.kit.base.cache import check_writable
from mcpframe.kit.base.progress import Progress, silent
from mcpframe.kit.base.scratch import clear_cache
from mcpframe.kit.bundle.assembly.assemble import Bundle, assemble
from mcpframe.kit.bundle.assembly.assets import Asset
from mcpframe.kit.bundle.assembly.author_files import author_files, first_paint, page_files, page_icons
from mcpframe.kit.bundle.assembly.build_warnings import build_warnings, unseen_page_warnings
from mcpframe.kit.bundle.assembly.built_manifest import described_in, policies_of, read_manifests
from mcpframe.kit.bundle.assembly.description import ServerDescription, SetupDescription
from mcpframe.kit.bundle.assembly.features import absent_packages, code_of, features_of, written_for_a_process
from mcpframe.kit.bundle.assembly.inputs import RUNTIME, Inputs, Scripts, licence_text, runtime_scripts
from mcpframe.kit.bundle.assembly.layers import Layers, own_modules_of
from mcpframe.kit.bundle.assembly.manifest import manifest_of
from mcpframe.kit.bundle.assembly.offered import check_origins_early, origins_for
from mcpframe.kit.bundle.assembly.own_modules import own_files, own_sources, shared_own_files
from mcpframe.kit.bundle.assembly.page_scripts import source_files
from mcpframe.kit.bundle.assembly.special_packages import THIRD_PARTY
from mcpframe.kit.bundle.code.console_scripts import entry_code, with_entry
from mcpframe.kit.bundle.code.entry_object import check_entry_early
from mcpframe.kit.bundle.code.imports import imported_first
from mcpframe.kit.bundle.code.missing_stdlib import missing_stdlib_warnings
from mcpframe.kit.bundle.code.page_use import can_run_in_worker, check_worker, starts_processes
from mcpframe.kit.bundle.first_imports import FirstImports
from mcpframe.kit.bundle.import_places import InNode, InPage
from mcpframe.kit.bundle.output_root import BuildResult, compress, compressing, find_current, write_bundle
from mcpframe.kit.bundle.packages.compile_layers import (
    build_layers,
    compiled,
    is_compiled,
    lazy_wheels,
    packages_of,
    with_sources,
)
from mcpframe.kit.bundle.packages.environment import with_environment
from mcpframe.kit.bundle.packages.fetch import fetch_wheels
from mcpframe.kit.bundle.packages.lock import Lock
from mcpframe.kit.bundle.packages.npm import npm_files
from mcpframe.kit.bundle.project_lock import ProjectLock
from mcpframe.kit.bundle.pyodide.archive import source_date, unpacking
from mcpframe.kit.bundle.pyodide.compile import cache_key
from mcpframe.kit.bundle.pyodide.packages import PyodidePackages
from mcpframe.kit.bundle.pyodide.runtime import Runtime, ensure_runtime
from mcpframe.kit.bundle.pyodide.version import VERSION
from mcpframe.kit.bundle.server_import import ServerFails, compile_and_import
from mcpframe.kit.bundle.snapshot.camera import Camera, Taken, camera
from mcpframe.kit.bundle.snapshot.layers import Server, planned
from mcpframe.kit.bundle.split_cache import in_two_once
from mcpframe.kit.bundle.wasm.profile import profiled
from mcpframe.kit.project.project import (
    Project,
    find_project,
    with_build_sdists,
    with_dialects,
    with_distribution,
    with_origins,
    with_url,
)
from mcpframe.kit.static_hosts.known import limit_warnings

_NO_HOST = "https://host.example"
_KIT = Path(__file__).resolve().parent.parent


def build(
    path: Path,
    out: Path,
    *,
    upgrade: bool = False,
    snapshot: bool | None = None,
    allowed_origins: Sequence[str] | Mapping[str, Sequence[str]] | None = None,
    dialects: Sequence[str] = (),
    url: str | None = None,
    max_unpacked: int | None = None,
    draft: bool = False,
    progress: Progress = silent,
    runtime: Path | None = None,
    distribution: str | None = None,
    build_sdists: bool = False,
    beside_inspector: bool = False,
    installable: bool = False,
    keep: timedelta | None = None,
    taking: Camera | None = None,
) -> BuildResult:
    """Build a bundle.

    Args:
        path: The folder of a server's project, its pyproject.toml, or a Python file.
        out: The output root; several bundles may share one.
        upgrade: Resolve the requirements anew instead of using the lock.
        snapshot: Take a snapshot for the page to start from, if possible; by default unless `$MCPFRAME_SNAPSHOT` is 0.
        allowed_origins: The allowed origins, in place of the project's; for a preview.
        dialects: Dialects that the bundle offers besides those of the project; for a preview.
        url: The public address of the bundle's folder, in place of the project's.
        max_unpacked: The limit of the unpacked wheels, in MB, in place of the project's.
        draft: Build quickly, for a preview while the author works. The snapshot is one of the SDK only. If `out` has an
            earlier build, the author's files are neither compiled nor imported, and the server's description is the
            earlier one.
        progress: Called with a description of each step.
        runtime: A folder with the Pyodide runtime; by default see `ensure_runtime`.
        distribution: The source of packages with native code, in place of the project's; see `PyodidePackages`.
        build_sdists: Whether packages that have only sources may be built, if the project does not allow it.
        beside_inspector: Whether the inspector is beside the bundle: see `Project`.
        installable: Whether the page can be installed and works offline, in a tab of its own.
        keep: How long files of the build that is replaced are kept, for pages that are open; by default not at all.
        taking: The camera for the snapshot, which further builds reuse; by default one of its own.

    Raises:
        ConfigError: The project's configuration is invalid.
        BuildError: The project cannot be built; the message has the reason and the remedy.
        KitError: A dependency of the build is missing or fails.
    """
    out = out.absolute()
    clear_cache()
    project = find_project(path)
    if allowed_origins is not None:
        project = with_origins(project, allowed_origins)
    project = with_dialects(project, dialects)
    if url is not None:
        project = with_url(project, url)
    if distribution is not None:
        project = with_distribution(project, distribution)
    if build_sdists:
        project = with_build_sdists(project)
    project = replace(project, beside_inspector=beside_inspector, installable=installable)
    limit = project.config.max_unpacked if max_unpacked is None else max_unpacked
    with unpacking(limit):
        author = author_files(project, out)
    check_entry_early(project, author)
    check_origins_early(project, author)
    check_worker(project, author)
    pyodide_runtime = ensure_runtime(runtime, progress=progress)
    with unpacking(limit):
        pyodide = PyodidePackages(pyodide_runtime, project.distribution, renewed=upgrade)
        task = Build(
            project,
            out,
            author,
            pyodide_runtime,
            pyodide,
            ProjectLock(project, author, pyodide, upgrade=upgrade, tries=not draft, progress=progress),
            upgrade=upgrade,
            draft=draft,
            snapshot=os.environ.get("MCPFRAME_SNAPSHOT") != "0" if snapshot is None else snapshot,
            earlier=read_manifests(out).get(project.name) if draft else None,
            keep=keep,
            taking=taking,
            progress=progress,
        )
        if project.name not in read_manifests(out):  # a bundle may be current, and needs no writing then
            check_writable(out)
        task.locking.resolve()
        while True:
            try:
                return task.run()
            except ServerFails as error:
                task.locking.resolve_after(error)


@dataclass
class Build:
    """One build. Each method is a step, and keeps its result for the next ones.

    Attributes:
        given: The author's project, as configured.
        out: The output root.
        author: The author's files, by path.
        runtime: The Pyodide runtime.
        pyodide: Pyodide's own packages.
        locking: The project's lock.
        upgrade: Whether to resolve the requirements anew.
        draft: Whether it is for a preview: its snapshot is without the server.
        snapshot: Whether to take a snapshot, if possible.
        earlier: The manifest of an earlier build, which describes the server of this draft; None: import the server.
        keep: How long files of the build that is replaced are kept; None for not at all.
        taking: The camera for the snapshot; None for one of its own.
        progress: Called with a description of each step.
        project: The project with the results of the build, since `run`.
        wheels: The packages' files, since `fetch`.
        page_files: The author's files for the page, by path, since `run`.
        first_paint: The author's HTML for a view that has not drawn, since `run`.
        icons: The author's icons for an installed page, since `run`.
        layers: The archives of the page, since `collect`.
        description: The description of the server, since `import_server`.
    """

    given: Project
    out: Path
    author: Mapping[str, bytes]
    runtime: Runtime
    pyodide: PyodidePackages
    locking: ProjectLock
    upgrade: bool
    draft: bool
    snapshot: bool
    earlier: Mapping[str, Any] | None
    keep: timedelta | None
    taking: Camera | None
    progress: Progress
    project: Project = field(init=False)
    wheels: Mapping[str, Path] = field(init=False)
    page_files: Mapping[str, bytes] = field(init=False)
    first_paint: str = field(init=False)
    icons: Mapping[str, bytes] = field(init=False)
    layers: Layers = field(init=False)
    description: ServerDescription = field(init=False)

    @property
    def lock(self) -> Lock:
        """The packages of the bundle."""
        return self.locking.lock

    def run(self) -> BuildResult:
        """Run the steps after the resolution.

        Raises:
            ServerFails: The server raises when it is imported.
            KitError: As for `build`.
        """
        world = written_for_a_process(self.given, packages_of(self.lock), self.author)
        self.project = replace(self.given, world=world, processes=starts_processes(self.author))
        npm = npm_files(self.given.config.npm, str(self.given.file))
        self.page_files, self.first_paint = page_files(self.project, self.out, npm), first_paint(self.project)
        self.icons = page_icons(self.project, self.out) if self.project.installable else {}
        key = self._inputs()
        if not self.upgrade and (manifest := find_current(self.out, self.project.name, key)):
            return self._result(manifest, unchanged=True)
        check_writable(self.out)
        with nullcontext(self.taking) if self.taking else camera(self.progress) as taking:
            if not self.earlier and not is_compiled(self.author, self.runtime):
                taking.prepare()  # then the cache has neither a description nor a snapshot of them
            self.fetch()
            self.collect()
            self.import_server(taking)
            inputs = self._assembly(self.layers, self.description, origins_for(self.project, self.description.origins))
            with self.progress("Packing the files"):
                bundle = assemble(inputs)
            taken = Taken(None, "starts without a snapshot, as none was requested")
            if self.snapshot:
                with compressing(bundle.assets):
                    taken = self.take_snapshot(taking, bundle)
            if taken.snapshot is not None:
                with self.progress("Packing the snapshot"):
                    bundle = assemble(inputs, taken.snapshot)
            manifest = self.write(inputs, bundle, taken, key)
        return self._result(manifest)

    def fetch(self) -> None:
        """Fetch the wheels; find in them the entry of a project that names none, and the variables that they need."""
        with self.progress("Fetching wheels"):
            self.wheels = fetch_wheels(self.lock.packages, self.pyodide)
        self.project = with_environment(with_entry(self.project, self.wheels, self.author), self.lock)

    def collect(self) -> None:
        """Collect the modules of the page in layers, and compile all except the author's."""
        project, config = self.project, self.project.config
        with self.progress("Compiling to bytecode"):
            packages = packages_of(self.lock)
            code = code_of(packages, self.wheels, self.author)
            features = features_of(project, packages, self.author, code)
            if not THIRD_PARTY.isdisjoint(features):
                chosen = (*config.leave_out, *self.lock.left_out)
                self.project = replace(project, absent=absent_packages(chosen, packages, self.wheels, code))
            own, shared = own_files(code, features), shared_own_files(features)
            self.layers = build_layers(project, self.lock, self.wheels, self.author, own, shared, self.runtime)
            if self.earlier:
                self.layers = with_sources(self.layers, self.earlier.get("sources", ()), self.wheels)
            if not self.earlier and not config.import_server:
                self.layers = compiled(self.layers, self.runtime, project.source)

    def import_server(self, taking: Camera) -> None:
        """Compile the author's files, import the server, and keep its description.

        A draft takes the description of the earlier build.
        """
        project, config = self.project, self.project.config
        if self.earlier:
            self.description = replace(described_in(self.earlier), modules=self._first_imports.kept())
            return
        self.description = ServerDescription(name=project.name)
        if not config.import_server:
            return
        places = InPage(taking, project.name, self._bare), InNode(self.runtime, evaluates=config.csp.unsafe_eval)
        with self.progress("Importing the server in Pyodide"):
            self.layers, self.description = compile_and_import(
                project.entry,
                self.runtime,
                self.layers,
                places,
                origin=project.source,
                kind=config.kind,
                settings=project.settings_for_import,
                code=entry_code(project, self.wheels, self.author),
                wheels=self.wheels,
                timeout=config.import_timeout,
            )
        self._first_imports.keep(self.description.modules)
        if config.visitor_env:
            self.description = replace(self.description, setup=SetupDescription(visible=True))

    def _bare(self, layers: Layers) -> Sequence[Asset]:
        """Return the bundle's files before anything is known of the server."""
        description = ServerDescription(name=self.project.name)
        return assemble(self._assembly(layers, description, OriginEntries((_NO_HOST,)))).assets

    def _assembly(self, layers: Layers, description: ServerDescription, origins: OriginEntries) -> Inputs:
        return Inputs(
            self.project,
            packages_of(self.lock),
            layers,
            licence_text(layers.licences),
            description,
            origins,
            self._scripts,
            lazy_wheels(self.project, self.lock, self.wheels),
            self.page_files,
            self.first_paint,
            icons=self.icons,
        )

    @cached_property
    def _scripts(self) -> Scripts:
        # Patching takes a while, and a build assembles its files repeatedly.
        return runtime_scripts({name: (self.runtime.folder / name).read_bytes() for name in RUNTIME}, in_two_once)

    def take_snapshot(self, taking: Camera, bundle: Bundle) -> Taken:
        """Take a snapshot of the page in a browser."""
        project, server = self.project, None
        # What a visitor enters is known only in the page, and its program is imported after that.
        visitors = bool(project.config.visitor_env)
        if not self.draft and not visitors:
            tools = None if project.program else self.description.tools  # a program is not run for it
            server = Server(project.name, project.entry, project.config.kind, tools)
        layers = planned(
            server,
            *own_modules_of(self.layers),
            shares_sdk=self._shares_sdk(bundle),
            packages=() if visitors else self._first_imports.for_a_layer(self.layers, self.description.modules),
            later=later_modules.NAMES.intersection(self.description.modules),
            settings=project.settings,
        )
        with self.progress("Taking a snapshot in a browser"):
            return taking.take(project.name, bundle.assets, layers)

    def _shares_sdk(self, bundle: Bundle) -> bool:
        """Return whether the server's layer is above the SDK's: nothing of the author's changes that one."""
        packages = packages_of(self.lock)
        # FastMCP reads its settings from the environment when it is imported.
        sets_up_sdk = bool(self.project.settings["env"]) and (packages.sdk == 1 or packages.has_fastmcp)
        return not sets_up_sdk and not any(each["own"] for each in bundle.boot["files"]["libraries"])

    @cached_property
    def _first_imports(self) -> FirstImports:
        code = entry_code(self.project, self.wheels, self.author)
        names = imported_first(self.project.entry.partition(":")[0], code)
        return FirstImports(names, self.lock, self.project.settings)

    def write(self, inputs: Inputs, bundle: Bundle, taken: Taken, key: str) -> dict[str, Any]:
        """Write the bundle below the output root, and return its manifest."""
        config = self.project.config
        with self.progress("Compressing the files"):
            gzips = compress(bundle.assets)
        manifest = manifest_of(inputs, bundle, gzips)
        unseen = unseen_page_warnings(config.visibility.requirement, draws=self.description.draws)
        if notes := [*self.description.notes, *unseen]:
            manifest["notes"] = notes
        if self.description.sources:
            manifest["sources"] = list(self.description.sources)
        could = config.runs_in == "page" and config.import_server and can_run_in_worker(self.project, self.author)
        place = {"runs_in": config.runs_in, "could_run_in_worker": could}
        # Without a final outcome the bundle does not count as current, so the next build retries.
        manifest |= {"start": taken.description, **place, "inputs": key if taken.final else ""}
        with self.progress(f"Writing {self.out / self.project.name}"):
            write_bundle(self.out, self.project.name, bundle.assets, gzips, manifest, keep=self.keep)
        return manifest

    def _result(self, manifest: dict[str, Any], *, unchanged: bool = False) -> BuildResult:
        name, warnings = self.project.name, build_warnings(self.project, manifest, self.page_files)
        sizes = {entry["path"]: entry["bytes"] for entry in manifest["files"]}
        warnings += (
            *missing_stdlib_warnings(self.author),
            *limit_warnings(policies_of(read_manifests(self.out)), sizes),
        )
        return BuildResult(name, self.out / name, manifest, warnings, unchanged=unchanged, notes=self.lock.notes)

    def _inputs(self) -> str:
        """Return the hash of all inputs of the bundle."""
        project = self.project
        parts: list[str | bytes] = [
            repr(source_date()),
            VERSION,
            version("mcpframe"),
            repr(self.lock),
            repr((project.name, project.entry, project.requirements, project.lazy, project.config)),
            repr((self.earlier is not None, self.draft, self.snapshot, project.beside_inspector, project.installable)),
            self.first_paint,
            *profiled(),
        ]
        for files in (own_sources(), self.author, self.page_files, self.icons):
            parts += [part for path, data in files.items() for part in (path, data)]
        ours = [*sorted((_KIT / "bundle").rglob("*.py")), *source_files()]
        return cache_key(*parts, *(path.read_bytes() for path in ours))
