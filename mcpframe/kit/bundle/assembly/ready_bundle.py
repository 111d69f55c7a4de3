"""A bundle that a page makes of a project, with what a donor lends: see `donor`.

The author's code is compiled, and never imported: the report on its import comes from another page. The bundle starts
from the donor's snapshot of the SDK, as a snapshot of the server needs a browser that the build drives.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mcpframe.kit.base.errors import BuildError, ConfigError
from mcpframe.kit.bundle.assembly.assemble import assemble
from mcpframe.kit.bundle.assembly.assets import packed
from mcpframe.kit.bundle.assembly.author_files import author_files, first_paint, page_files
from mcpframe.kit.bundle.assembly.build_warnings import build_warnings, unseen_page_warnings
from mcpframe.kit.bundle.assembly.built_manifest import MANIFEST, trials_of
from mcpframe.kit.bundle.assembly.description import ServerDescription
from mcpframe.kit.bundle.assembly.donor import Donor
from mcpframe.kit.bundle.assembly.features import written_for_a_process
from mcpframe.kit.bundle.assembly.import_report import checked_report
from mcpframe.kit.bundle.assembly.layers import SERVER_PATH
from mcpframe.kit.bundle.assembly.manifest import manifest_of, manifest_text
from mcpframe.kit.bundle.assembly.offered import check_origins_early
from mcpframe.kit.bundle.code.entry_object import check_entry_early
from mcpframe.kit.bundle.code.missing_stdlib import missing_stdlib_warnings
from mcpframe.kit.bundle.code.page_use import can_run_in_worker, check_worker
from mcpframe.kit.bundle.pyodide.archive import Files
from mcpframe.kit.bundle.pyodide.bytecode import Compiler, compile_server, compiled_here
from mcpframe.kit.project.project import Project, find_project
from mcpframe.kit.static_hosts.known import host_files

_MADE_IN_A_PAGE = "a page has made the bundle, and mcpframe build takes a snapshot of the server"


@dataclass(frozen=True)
class ReadyBundle:
    """A bundle that a page has made.

    Attributes:
        name: Its folder.
        made: Its files that the donor does not lend, its manifest and the files for static hosts, by path.
        packed: Those of them that are worth it as gzip, by path.
        lent: The paths of its other files, which are the donor's.
        has_snapshot: Whether it starts from the donor's snapshot of the SDK.
        warnings: Warnings for the author, each in a sentence or two.
    """

    name: str
    made: Files
    packed: Files
    lent: tuple[str, ...]
    has_snapshot: bool
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class CheckedProject:
    """A project of which a page can make a bundle, as far as that is known before its server is imported.

    Attributes:
        author: The author's files, by path.
    """

    project: Project
    author: Files

    @property
    def environment(self) -> dict[str, Any]:
        """The environment of its code, for `in_pyodide/import_server.py`."""
        settings = self.project.settings_for_import
        return {"args": settings["args"], "env": settings["env"], "world": self.project.world}


def checked_project(root: Path, donor: Donor, *, compiler: Compiler = compiled_here) -> CheckedProject:
    """Check a project.

    Args:
        root: Its folder.
        compiler: Compiles its modules; by default this Python, which has to be that of bundles.

    Raises:
        ConfigError: Its configuration is invalid, needs what a page lacks, or lets no page embed the server.
        BuildError: The donor lacks a requirement, or a file does not compile.
    """
    project = find_project(root)
    if project.config.kind == "page":
        raise ConfigError(f"{project.file}: this project is a page, not a server: build it with mcpframe build.")
    if project.config.npm:
        raise ConfigError(f"{project.file}: tool.mcpframe.npm needs a package registry: use mcpframe build.")
    author = author_files(project, root / "dist")
    compile_server(author, compiler, shown=SERVER_PATH, root=project.source)
    donor.check_requirements(project)
    check_entry_early(project, author)
    check_origins_early(project, author)
    check_worker(project, author)
    return CheckedProject(replace(project, world=written_for_a_process(project, donor.packages, author)), author)


def ready_bundle(
    checked: CheckedProject,
    donor: Donor,
    lent: Mapping[str, int | None],
    report: object,
    *,
    compiler: Compiler = compiled_here,
) -> ReadyBundle:
    """Make a bundle.

    Args:
        lent: The donor's files, by path: the bytes of each as gzip, or None for one that is sent as it is.
        report: The result of `in_pyodide/import_server.py`; None without an import.
        compiler: As for `checked_project`.

    Raises:
        BuildError: The server raises when it is imported.
        ConfigError: No page may embed it.
    """
    project, author, config = checked.project, checked.author, checked.project.config
    description = _described(checked, report) if config.import_server else ServerDescription(project.name)
    files = page_files(project, project.root / "dist")
    inputs = donor.inputs(
        project, author, description, page_files=files, first_paint=first_paint(project), compiler=compiler
    )
    snapshot = donor.snapshot(inputs)
    bundle = assemble(inputs, snapshot)
    own = [item for item in bundle.assets if item.path not in lent]
    gzips = packed(own)
    of_lent = {path: None if size is None else bytes(size) for path, size in lent.items()}  # only their sizes are read
    manifest = manifest_of(inputs, bundle, {**of_lent, **gzips})
    notes = [*description.notes, *unseen_page_warnings(config.visibility.requirement, draws=description.draws)]
    start = "starts without a snapshot"
    if snapshot:
        start = "starts from a snapshot of the SDK; the server is imported in each page"
    could = config.runs_in == "page" and config.import_server and can_run_in_worker(project, author)
    manifest |= {
        **({"notes": notes} if notes else {}),
        "start": f"{start}, as {_MADE_IN_A_PAGE}",
        "runs_in": config.runs_in,
        "could_run_in_worker": could,
        "inputs": "",  # a build makes it anew
    }
    contents = {item.path: item.data for item in own}
    contents |= {
        f"{project.name}/{MANIFEST}": manifest_text(manifest),
        **host_files({project.name: manifest["csp"]}, trials_of({project.name: manifest})),
    }
    return ReadyBundle(
        project.name,
        contents,
        {path: data for path, data in gzips.items() if data is not None},
        tuple(item.path for item in bundle.assets if item.path in lent),
        snapshot is not None,
        (*build_warnings(project, manifest, files), *missing_stdlib_warnings(author)),
    )


def _described(checked: CheckedProject, report: object) -> ServerDescription:
    project, kind = checked.project, checked.project.config.kind
    imported = checked_report(report, project.entry, kind)
    code = {path: data for path, data in checked.author.items() if path.endswith(".py")}
    if imported.error is not None:
        raise BuildError(imported.failure(code, project.entry, kind, project.source))
    return imported.description(code)
