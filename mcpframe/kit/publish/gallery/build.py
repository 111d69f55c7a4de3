"""Build all servers of a folder into one site, with a page on which each can be started, inspected and taken home."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from mcpframe.kit.base.cache import make_public_folder, write_file
from mcpframe.kit.base.errors import BuildError, KitError
from mcpframe.kit.base.locking import locked
from mcpframe.kit.base.progress import Progress, labelled, silent
from mcpframe.kit.bundle.assembly.assets import INSPECTOR
from mcpframe.kit.bundle.output_root import BuildResult
from mcpframe.kit.bundle.pipeline import build
from mcpframe.kit.bundle.snapshot.camera import camera
from mcpframe.kit.project.project import Project, find_project
from mcpframe.kit.publish.gallery.cards import gallery_page
from mcpframe.kit.publish.gallery.files import ASSETS, gallery_assets
from mcpframe.kit.publish.gallery.index import INDEX, PICTURES, Entry, entry_of, index_text, read_index
from mcpframe.kit.publish.gallery.pictures import SUFFIX, Subject, take_pictures
from mcpframe.kit.publish.inspector import build_inspector

_PYPROJECT = "pyproject.toml"
_TAKEN = frozenset({INSPECTOR, ASSETS})


@dataclass(frozen=True)
class Gallery:
    """A built gallery.

    Attributes:
        folder: The output root, with `index.html` and `index.json`.
        entries: The servers, in the order of their titles.
        results: Their bundles, in the same order.
        failures: By project folder, why a server is missing. The rest of the gallery is complete.
    """

    folder: Path
    entries: tuple[Entry, ...]
    results: tuple[BuildResult, ...]
    failures: dict[Path, KitError]


def projects_of(folder: Path) -> list[Project]:
    """Return the projects of servers in the folders of a folder, by name.

    Raises:
        BuildError: There is none, two have the same name, or one has a name that the gallery needs.
        ConfigError: The configuration of one is invalid.
    """
    projects = [find_project(each.parent) for each in sorted(folder.glob(f"*/{_PYPROJECT}"))]
    servers = {project.root: project for project in projects if project.config.kind == "server"}
    if not servers:
        raise BuildError(f"{folder} has no folder with the {_PYPROJECT} of a server: a gallery shows several projects.")
    by_name: dict[str, Project] = {}
    for project in servers.values():
        if project.name in _TAKEN:
            raise BuildError(
                f"{project.file}: a gallery has a folder {project.name!r} of its own: choose another name."
            )
        other = by_name.setdefault(project.name, project)
        if other is not project:
            raise BuildError(f"{project.file} and {other.file} have the same name, {project.name!r}: rename one.")
    return list(by_name.values())


def build_gallery(
    folder: Path,
    out: Path,
    *,
    title: str = "",
    edits: Mapping[str, str] | None = None,
    runs: str = "",
    upgrade: bool = False,
    snapshot: bool | None = None,
    allowed_origins: Sequence[str] | None = None,
    distribution: str | None = None,
    pictures: bool = True,
    keep: timedelta | None = None,
    progress: Progress = silent,
) -> Gallery:
    """Build the servers of a folder's projects, the inspector, and the page of all.

    A server that cannot be built is left out, and an earlier build of it remains.

    Args:
        folder: The folder with the projects' folders.
        out: The output root.
        title: The page's title; by default from the folder's name.
        edits: By a project's folder name, the address where the project can be edited.
        runs: As for `build_inspector`.
        upgrade: As for `build`.
        snapshot: As for `build`.
        allowed_origins: As for `build`. The gallery's own pages may embed its servers in any case.
        distribution: As for `build`.
        pictures: Whether to take a picture of each server whose project has none, if there is a browser.
        keep: As for `build`.
        progress: Reports long steps.

    Raises:
        BuildError: There is no server, or none can be built.
        KitError: Something the build needs is missing or fails.
    """
    built: list[tuple[Project, BuildResult]] = []
    failures: dict[Path, KitError] = {}
    with camera(reused=True) as taking:
        for project in projects_of(folder):
            try:
                result = build(
                    project.root,
                    out,
                    upgrade=upgrade,
                    snapshot=snapshot,
                    allowed_origins=allowed_origins,
                    distribution=distribution,
                    beside_inspector=True,
                    keep=keep,
                    taking=taking,
                    progress=labelled(project.name, progress),
                )
            except KitError as error:
                failures[project.root] = error
            else:
                built.append((project, result))
        if not built:
            raise next(iter(failures.values()))
        built.sort(key=lambda each: str(each[1].manifest["title"]).casefold())
        results = tuple(result for _, result in built)
        build_inspector(out, results, runs=runs, taking=taking, progress=progress)
    shown = _pictures(out, built, progress) if pictures else _own_pictures(built)
    entries = _write(out, title or folder.resolve().name.replace("-", " ").capitalize(), built, edits or {}, shown)
    return Gallery(out, entries, results, failures)


def _own_pictures(built: Sequence[tuple[Project, BuildResult]]) -> dict[str, tuple[str, bytes]]:
    """Return the pictures in the projects' folders, by the server's name: the ending of the file, and its content."""
    pictures = {}
    for project, result in built:
        if file := next((path for name in PICTURES if (path := project.root / name).is_file()), None):
            pictures[result.name] = (file.suffix, file.read_bytes())
    return pictures


def _pictures(
    out: Path, built: Sequence[tuple[Project, BuildResult]], progress: Progress
) -> dict[str, tuple[str, bytes]]:
    """Return the same, with pictures that are taken of the others."""
    own = _own_pictures(built)
    subjects = {
        result.name: Subject(result.url_path, str(result.manifest["inputs"]), bool(result.manifest.get("draws")))
        for _, result in built
        if result.name not in own
    }
    return own | {name: (SUFFIX, data) for name, data in take_pictures(out, subjects, progress).items()}


def _write(
    out: Path,
    title: str,
    built: Sequence[tuple[Project, BuildResult]],
    edits: Mapping[str, str],
    pictures: Mapping[str, tuple[str, bytes]],
) -> tuple[Entry, ...]:
    """Write the page, its files and the index; return the servers."""
    files = gallery_assets()
    with locked(out):
        earlier = read_index(out)
        entries: list[Entry] = []
        for project, result in built:
            picture = None
            if result.name in pictures:
                suffix, data = pictures[result.name]
                picture = f"{ASSETS}/{result.name}{suffix}"
                files[picture] = data
            entries.append(entry_of(project, result, picture, edits.get(project.root.name), earlier))
        files |= {"index.html": gallery_page(title, entries).encode(), INDEX: index_text(title, entries).encode()}
        for name, data in files.items():
            make_public_folder((out / name).parent)
            write_file(out / name, data, public=True)
    return tuple(entries)
