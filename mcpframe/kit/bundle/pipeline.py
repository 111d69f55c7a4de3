"""From an author's project to a folder that any web server can serve: the steps of a build, in order.

find project → resolve (or use the lock) → fetch wheels → compile → collect → inspect → snapshot → write
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from mcpframe.frame.core.origins import ANY, OPAQUE, OriginEntries
from mcpframe.frame.dialects.available import entries_of
from mcpframe.kit.base.errors import BuildError, ConfigError
from mcpframe.kit.base.progress import Progress, silent
from mcpframe.kit.base.scratch import clear_cache
from mcpframe.kit.bundle.author_files import author_files, page_files
from mcpframe.kit.bundle.code.console_scripts import entry_code, with_entry
from mcpframe.kit.bundle.code.inline_code import inline_code_warnings
from mcpframe.kit.bundle.code.sdk_choice import asks_for_later, fails_as_earlier, written_for_earlier
from mcpframe.kit.bundle.contents import assemble
from mcpframe.kit.bundle.features import code_of, features_of, written_for_a_process
from mcpframe.kit.bundle.offered import embedders, lists_of, needs_hosts, without_hosts, without_use
from mcpframe.kit.bundle.output.write import BuildResult, find_current, origins_of, read_manifests, write_bundle
from mcpframe.kit.bundle.own_modules import own_files, own_sources
from mcpframe.kit.bundle.packages.layers import build_layers, compiled, is_compiled
from mcpframe.kit.bundle.packages.left_out import modules_of
from mcpframe.kit.bundle.packages.lock import Lock, inputs_hash, read_lock, write_lock
from mcpframe.kit.bundle.packages.resolve import BASE, INSTALLER, resolve
from mcpframe.kit.bundle.packages.wheels import fetch_wheels
from mcpframe.kit.bundle.page.scripts import source_files
from mcpframe.kit.bundle.pyodide.archive import source_date, unpacking
from mcpframe.kit.bundle.pyodide.compile import cache_key
from mcpframe.kit.bundle.pyodide.packages import PyodidePackages
from mcpframe.kit.bundle.pyodide.runtime import Runtime, ensure_runtime
from mcpframe.kit.bundle.pyodide.version import VERSION
from mcpframe.kit.bundle.server_import import Inspected, ServerFails, compile_and_inspect
from mcpframe.kit.bundle.snapshot.snapshot import AUTHOR, SDK, Server, Taken, camera
from mcpframe.kit.project.project import Project, find_project, with_dialects, with_origins, with_url

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
    packages: Path | None = None,
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
        max_unpacked: What the wheels may unpack to, in MB, in place of the project's.
        draft: Build quickly, for a preview while the author works. The snapshot is one of the SDK only. If `out` has an
            earlier build, the author's files are neither compiled nor imported, and the server's description is the
            earlier one.
        progress: Called with a description of each step.
        runtime: A folder with the Pyodide runtime; by default see `ensure_runtime`.
        packages: A folder with packages of Pyodide's distribution; by default see `PyodidePackages`.

    Raises:
        ConfigError: The project's configuration is invalid.
        BuildError: The project cannot be built; the message says why and what to do.
        KitError: Something that the build needs is missing or fails.
    """
    out = out.absolute()
    clear_cache()
    snapshot = os.environ.get("MCPFRAME_SNAPSHOT") != "0" if snapshot is None else snapshot
    project = find_project(path)
    if allowed_origins is not None:
        project = with_origins(project, allowed_origins)
    project = with_dialects(project, dialects)
    if url is not None:
        project = with_url(project, url)
    _check_origins_early(project)
    pyodide_runtime = ensure_runtime(runtime, progress=progress)
    pyodide = PyodidePackages(pyodide_runtime, packages)
    author = author_files(project, out)
    with unpacking(project.config.max_unpacked if max_unpacked is None else max_unpacked):
        lock = _locked(project, pyodide, author, upgrade=upgrade, progress=progress)
        task = _Task(project, out, author, pyodide_runtime, pyodide, upgrade, snapshot, draft, progress)
        try:
            return _build_with(lock, task)
        except ServerFails as error:
            lock = _with_earlier_sdk(lock, task, error)
        return _build_with(lock, task)


@dataclass(frozen=True)
class _Task:
    """What is built, and how: the arguments of `build`."""

    project: Project
    out: Path
    author: Mapping[str, bytes]
    runtime: Runtime
    pyodide: PyodidePackages
    upgrade: bool
    snapshot: bool
    draft: bool
    progress: Progress


def _with_earlier_sdk(lock: Lock, task: _Task, error: ServerFails) -> Lock:
    """Return a lock with mcp 1.x for a server that fails with 2.x as only code for 1.x does, and keep it.

    Raises:
        ServerFails: It is another error, or the requirements exclude 1.x.
    """
    evidence = fails_as_earlier(error.error)
    wanted = _requirements(task.project, task.author)
    if lock.sdk == 1 or not evidence or asks_for_later(wanted):
        raise error
    note = f"mcp 1.x instead of 2.x, with which the server fails: {evidence}"
    with task.progress(f"Resolving the requirements with mcp 1.x, as with 2.x the server fails ({evidence})"):
        try:
            found = resolve(
                (*wanted, "mcp<2"), task.pyodide, inputs=lock.inputs, leave_out=task.project.config.leave_out
            )
        except BuildError as conflict:
            raise error from conflict
    found = replace(found, notes=(note, *found.notes))
    write_lock(task.project.lock_path, found)
    return found


def _build_with(lock: Lock, task: _Task) -> BuildResult:
    out, author, pyodide_runtime, pyodide = task.out, task.author, task.runtime, task.pyodide
    project = replace(task.project, world=written_for_a_process(task.project, lock, author))
    upgrade, snapshot, draft, progress = task.upgrade, task.snapshot, task.draft, task.progress
    for_page = page_files(project, out)
    earlier = read_manifests(out).get(project.name) if draft else None
    snapshot_layers = (SDK,) if draft else (AUTHOR, SDK)
    draft = earlier is not None
    key = _inputs(project, lock, author, for_page, draft=draft, snapshot=snapshot_layers if snapshot else ())
    if not upgrade and (manifest := find_current(out, project.name, key)):
        warnings = _warnings(project, manifest, for_page)
        return BuildResult(project.name, out / project.name, manifest, warnings, unchanged=True, notes=lock.notes)

    with camera(progress) as taking:
        if snapshot and not draft and not is_compiled(author, pyodide_runtime):
            taking.prepare()  # then the cache has no snapshot of them either
        with progress("Fetching wheels"):
            wheels = fetch_wheels(lock.packages, pyodide)
        project = with_entry(project, wheels, author)
        with progress("Compiling to bytecode"):
            code = code_of(lock, wheels, author)
            left_out = modules_of((*project.config.leave_out, *lock.left_out))
            own = own_files(code, features_of(project, lock, author, code), left_out)
            layers = build_layers(project, lock, wheels, author, own, pyodide_runtime)
            if not draft and not project.config.inspect:
                layers = compiled(layers, pyodide_runtime, project.source)
        inspected = _as_before(earlier) if earlier else Inspected(name=project.name)
        if not draft and project.config.inspect:
            with progress("Importing the server in Pyodide"):
                layers, inspected = compile_and_inspect(
                    project.entry,
                    pyodide_runtime,
                    layers,
                    origin=project.source,
                    kind=project.config.kind,
                    settings=project.settings,
                    code=entry_code(project, wheels, author),
                    timeout=project.config.import_timeout,
                    evaluates=project.config.csp.unsafe_eval,
                )
        origins = _origins(project, inspected)
        parts = (project, lock, wheels, layers, inspected, origins, pyodide_runtime, for_page)
        with progress("Packing the files"):
            assets, manifest = assemble(*parts)
        taken = Taken(None, "starts without a snapshot, as none was requested")
        if snapshot:
            with progress("Taking a snapshot in a browser"):
                tools = None if project.program else inspected.tools  # a program is not run for it
                server = Server(project.name, project.entry, project.config.kind, tools, project.settings)
                taken = taking.take(server, assets, snapshot_layers)
            if taken.snapshot is not None:
                with progress("Packing the snapshot"):
                    assets, manifest = assemble(*parts, snapshot=taken.snapshot)
        # Without a final outcome the bundle does not count as current, so that the next build tries again.
        if inspected.notes:
            manifest["notes"] = list(inspected.notes)
        manifest |= {"start": taken.description, "inputs": key if taken.final else ""}
        with progress(f"Writing {out / project.name}"):
            write_bundle(out, project.name, assets, manifest)
    return BuildResult(
        project.name, out / project.name, manifest, _warnings(project, manifest, for_page), notes=lock.notes
    )


def _locked(
    project: Project, pyodide: PyodidePackages, author: Mapping[str, bytes], *, upgrade: bool, progress: Progress
) -> Lock:
    """Return the project's lock; resolved anew if it is missing, is to be upgraded, or is of other requirements."""
    wanted = _requirements(project, author)
    left_out = project.config.leave_out
    inputs = inputs_hash(wanted, (*BASE, *INSTALLER), (VERSION,), *([left_out] if left_out else []))
    found = read_lock(project.lock_path)
    if found is not None and found.inputs == inputs and not upgrade:
        return found
    with progress("Resolving the requirements"):
        lock = resolve(
            wanted, pyodide, inputs=inputs, previous=None if upgrade else found, leave_out=project.config.leave_out
        )
    write_lock(project.lock_path, lock)
    return lock


def _requirements(project: Project, author: Mapping[str, bytes]) -> tuple[str, ...]:
    wanted = (*project.requirements, *project.lazy)
    earlier = written_for_earlier(author) and not asks_for_later(wanted)
    return (*wanted, "mcp<2") if earlier else wanted


def _as_before(manifest: Mapping[str, Any]) -> Inspected:
    """Return the description of the server in an earlier manifest."""
    server, tools = manifest["server"], manifest["tools"]
    return Inspected(
        name=server["name"],
        title=server["title"],
        version=server["version"],
        instructions=manifest["instructions"],
        origins=origins_of(manifest),
        tools=None if tools is None else tuple(tools),
    )


def _inputs(
    project: Project,
    lock: Lock,
    author: Mapping[str, bytes],
    for_page: Mapping[str, bytes],
    *,
    draft: bool,
    snapshot: Sequence[str],
) -> str:
    """Return the hash of all inputs of a bundle."""
    ours = [*sorted((_KIT / "bundle").rglob("*.py")), *source_files()]
    parts: list[str | bytes] = [
        repr(source_date()),
        VERSION,
        version("mcpframe"),
        repr(lock),
        _described(project),
        repr((draft, snapshot)),
    ]
    for files in (own_sources(), author, for_page):
        parts += [part for path, data in files.items() for part in (path, data)]
    return cache_key(*parts, *(path.read_bytes() for path in ours))


def _described(project: Project) -> str:
    return repr((project.name, project.entry, project.requirements, project.lazy, project.config))


def _check_origins_early(project: Project) -> None:
    # Report this before the long steps of the build.
    config = project.config
    named = entries_of(config.allowed_origins) or config.options.allow_opaque or not needs_hosts(config.dialects)
    if config.kind == "server" and not config.inspect and not named:
        raise ConfigError(_no_origins(project, " (FrameServer's are not known, as inspect is false)"))


def _origins(project: Project, inspected: Inspected) -> OriginEntries:
    config = project.config
    origins = entries_of(config.allowed_origins) or inspected.origins
    if config.kind == "server" and needs_hosts(config.dialects) and not config.options.allow_opaque:
        if not origins:
            raise ConfigError(_no_origins(project, ""))
        if not embedders(config.dialects, origins):
            named = ", ".join(without_use(config.dialects, origins))
            raise ConfigError(
                f"{project.file}: no page may embed the server: allowed_origins has hosts only for {named}, and "
                f"tool.mcpframe.dialects only {', '.join(config.dialects)}: name the same dialects in both."
            )
    return origins


def _no_origins(project: Project, remark: str) -> str:
    return (
        f"{project.file}: no page may embed the server{remark}: set tool.mcpframe.allowed_origins to the origins of "
        'the pages that may, such as ["https://chat.example"], or pass FrameServer(..., allowed_origins=[...]).'
    )


def _has_bytes(schema: object) -> bool:
    """Return whether a JSON schema, as pydantic generates it, has bytes somewhere."""
    if isinstance(schema, Mapping):
        return schema.get("format") == "binary" or any(map(_has_bytes, schema.values()))
    return isinstance(schema, list) and any(map(_has_bytes, schema))


def _dialect_warnings(project: Project, origins: OriginEntries) -> list[str]:
    setting, opaque = project.config.dialects, project.config.options.allow_opaque
    found = [
        f"allowed_origins.{name} names hosts, but tool.mcpframe.dialects leaves {name!r} out: they are not served."
        for name in without_use(setting, origins)
    ]
    if project.config.kind == "server" and (origins or opaque):
        found += [
            f"tool.mcpframe.dialects has {name!r}, but no page may be its host: name some in allowed_origins.{name}."
            for name in without_hosts(setting, lists_of(setting, origins, opaque=opaque))
        ]
    return found


def _warnings(project: Project, manifest: Mapping[str, Any], files: Mapping[str, bytes]) -> tuple[str, ...]:
    found = [*manifest["patches"]["notes"], *manifest.get("notes", ())]
    origins = origins_of(manifest)
    found += _dialect_warnings(project, origins)
    if ANY in origins.common:
        found.append('allowed_origins has "*": any page on the web may embed the server and call its tools.')
    for dialect, own in origins.own.items():
        for entry, who in ((ANY, "page on the web"), (OPAQUE, "sandboxed frame or file")):
            if entry in own:
                found.append(
                    f'allowed_origins.{dialect} has "{entry}": any {who} may embed the server as a host of that '
                    "dialect, and call its tools."
                )
    if project.config.options.allow_opaque:
        found.append("allow_opaque is set: any sandboxed frame or file may embed the server.")
    if project.config.env:
        found.append(
            f"tool.mcpframe.env is in the bundle, where anybody can read it: {', '.join(sorted(project.config.env))}. "
            "Ask for secrets in a setup instead."
        )
    if project.config.csp.unsafe_eval:
        found.append("csp.unsafe_eval is set: the page may run JavaScript from text.")
    found += inline_code_warnings(files, styles_allowed="'unsafe-inline'" in project.config.csp.style_src)
    found += [
        f"The tool {tool['name']!r} returns bytes, which arrive only if they are UTF-8 text: return an Image or "
        "Audio of mcp.server.mcpserver, an EmbeddedResource of mcp.types, or base64 text."
        for tool in manifest["tools"] or ()
        if _has_bytes(tool.get("outputSchema"))
    ]
    return tuple(found)
