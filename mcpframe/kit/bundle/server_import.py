"""Compile and import the author's server in Pyodide during the build, so that errors show before the page is opened."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from mcpframe.kit.base.cache import write_file
from mcpframe.kit.base.errors import BuildError
from mcpframe.kit.base.terminal import visible
from mcpframe.kit.bundle.assembly.description import ServerDescription
from mcpframe.kit.bundle.assembly.import_report import ImportReport, checked_report
from mcpframe.kit.bundle.assembly.layers import PACKAGES_PATH, SERVER_PATH, Layers
from mcpframe.kit.bundle.import_places import NoPlace, Place
from mcpframe.kit.bundle.packages.compile_layers import compiled, is_compiled, with_sources
from mcpframe.kit.bundle.pyodide.compile import cache_key, cached
from mcpframe.kit.bundle.pyodide.job import JobFailed, JobTimeout, Outcome, job_sources
from mcpframe.kit.bundle.pyodide.runtime import Runtime

JOB = "import_server"
_FORMAT = "5"
_MOST_SHOWN = 2000  # characters
_ENDING = 10.0
"""The seconds after the time limit, in which an import that was interrupted says where it stands."""


class ServerFails(BuildError):
    """The server raises when it is started.

    Args:
        message: The sentences for the author, and the traceback.
        error: The exception, and its traceback.
    """

    def __init__(self, message: str, error: str) -> None:
        super().__init__(message)
        self.error = error


def compile_and_import(
    entry: str,
    runtime: Runtime,
    layers: Layers,
    places: Sequence[Place],
    *,
    origin: Path,
    kind: str,
    settings: Mapping[str, Any],
    code: Mapping[str, bytes],
    wheels: Mapping[str, Path],
    timeout: float = 120.0,
) -> tuple[Layers, ServerDescription]:
    """Compile the author's files, then import and inspect the server, or the main function of a page.

    If the source of a package is read meanwhile, its sources are kept, and the server is imported again. The
    description of a server is cached by its files, so a second build of it, as for other hosts, needs no Pyodide.

    Args:
        entry: `module:object`, or `module:factory()`.
        layers: The archives of the page, with the author's files uncompiled.
        places: Where it can be imported, the best first.
        origin: The folder of the author's files on this machine, for tracebacks.
        kind: `"server"` or `"page"`.
        settings: The environment of the author's code; see `Project.settings`.
        code: The server's code, by path in its import folder, for errors.
        wheels: The files of its packages, by name.
        timeout: The time limit, in seconds, of the import, and of a console script until it serves.

    Raises:
        BuildError: A file does not compile, the module raises or does not return in time, or the object is not a
            server. The message has the traceback.
    """
    asked = (entry, kind, json.dumps(settings, sort_keys=True), repr((timeout, places[0].identity)))
    env = {
        "MCPFRAME_ENTRY": entry,
        "MCPFRAME_SERVER": SERVER_PATH,
        "MCPFRAME_KIND": kind,
        "MCPFRAME_SETTINGS": json.dumps(settings),
        "MCPFRAME_PATHS": ":".join(layers.paths),
        "MCPFRAME_PATIENCE": str(timeout / 2),
        "MCPFRAME_LIMIT": str(timeout),
    }
    kept: set[str] = set()
    while True:
        ready, report, remarks = _imported(entry, runtime, layers, places, origin, kind, asked, env, timeout)
        read = {path.removeprefix(f"{PACKAGES_PATH}/").partition("/")[0] for path in report.sources}
        if (restored := with_sources(layers, read, wheels)) == layers:
            break
        layers = restored
        kept |= read
    if report.error is not None:
        raise ServerFails(report.failure(code, entry, kind, origin), f"{report.error}\n{report.traceback or ''}")
    return ready, replace(report.description(code, remarks), sources=tuple(sorted(kept)))


def _imported(
    entry: str,
    runtime: Runtime,
    layers: Layers,
    places: Sequence[Place],
    origin: Path,
    kind: str,
    asked: Sequence[str],
    env: Mapping[str, str],
    timeout: float,
) -> tuple[Layers, ImportReport, list[str]]:
    """Return the compiled layers, what the import reports, and remarks for the author."""
    if is_compiled(layers.archives[-1].files, runtime):
        ready = compiled(layers, runtime, origin)
        kept = _kept(ready, runtime, asked)
        if kept.is_file():
            result, remarks = json.loads(kept.read_bytes())
            return ready, checked_report(result, entry, kind), remarks
    try:
        layers, outcome, remarks = _in_first_possible(places, runtime, layers, origin, env, timeout)
    except JobTimeout as error:
        if error.job != JOB:
            raise
        raise BuildError(
            f"The {kind} {entry!r} does not start in the page: starting it took more than {timeout:g} seconds. "
            "A module must not run for ever when it is imported; if it only takes long, raise "
            "tool.mcpframe.import_timeout."
        ) from error
    except JobFailed as error:
        if error.job != JOB:
            raise
        shown = error.output.strip()[-_MOST_SHOWN:]
        raise BuildError(
            visible(
                f"The {kind} {entry!r} ends Python when it is imported, or describes itself in too many bytes: "
                f"{str(error).rstrip('.')}." + (f"\n{shown}" if shown else "")
            )
        ) from error
    report = checked_report(outcome.result, entry, kind)
    if report.error is None:
        write_file(_kept(layers, runtime, asked), json.dumps([outcome.result, remarks]).encode())
    return layers, report, remarks


def _in_first_possible(
    places: Sequence[Place], runtime: Runtime, layers: Layers, origin: Path, env: Mapping[str, str], timeout: float
) -> tuple[Layers, Outcome, list[str]]:
    """Compile and import in the first place that can.

    Returns:
        The compiled layers, the outcome of the import, and remarks for the author.

    Raises:
        NoPlace: None can.
        BuildError: A file does not compile.
        JobTimeout, JobFailed: See `Place`.
    """
    place, *others = places
    imported: list[Outcome] = []

    def run(folders: Mapping[str, Path]) -> Outcome:
        # Compile before importing anything: the author's code could change results that are cached for others.
        outcome, result = place.run(["compile", JOB], layers, folders=folders, env=env, timeout=timeout + _ENDING)
        imported.append(result)
        return outcome

    try:
        ready = compiled(layers, runtime, origin, run)
        [outcome] = imported or place.run([JOB], ready, folders={}, env=env, timeout=timeout + _ENDING)
    except NoPlace as error:
        if not others:
            raise
        result = _in_first_possible(others, runtime, layers, origin, env, timeout)
        return (*result[:2], [f"The server was imported in Node.js, as it cannot be in its page here: {error}."])
    return ready, outcome, []


def _kept(layers: Layers, runtime: Runtime, asked: Sequence[str]) -> Path:
    """Return the path of the result in the cache, named after all inputs of the run."""
    parts: list[str | bytes] = [_FORMAT, runtime.version, *job_sources(JOB), *asked]
    folders = [("stdlib", layers.stdlib), ("base", layers.base), *((layer.to, layer.files) for layer in layers.author)]
    for folder, files in folders:
        parts += [folder, *(part for path in sorted(files) for part in (path, files[path]))]
    return cached("inspections", cache_key(*parts))
