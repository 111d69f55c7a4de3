"""Resolves the name of a server on the command line: an address, built bundles, a project, or a package."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcpframe.frame.core.places import parse_address
from mcpframe.kit.base.cache import cache_dir
from mcpframe.kit.base.errors import ConfigError, NoFramedServer
from mcpframe.kit.base.extras import need
from mcpframe.kit.bundle.assembly.built_manifest import MANIFEST, read_manifests
from mcpframe.kit.project.source_file import has_project, is_there, project_file
from mcpframe.kit.servers.published import not_offered

KINDS = "the address of a server's page, a built folder, a project, its Python file, or package:NAME"
"""The kinds of names, for help and errors."""

PACKAGE = "package:"
_BUILDING = "Building a server"
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


@dataclass(frozen=True)
class Published:
    """A page on the web.

    Attributes:
        origin: The origin of `url`.
    """

    url: str
    origin: str


@dataclass(frozen=True)
class Built:
    """Bundles that were built into a folder.

    Attributes:
        root: The folder that contains the bundles.
        names: Their folders in it.
    """

    root: Path
    names: tuple[str, ...]

    @property
    def only(self) -> Path:
        """The folder of the one bundle. Raises `ConfigError` if there are several."""
        if len(self.names) > 1:
            raise ConfigError(f"{self.root} has more than one bundle: give the folder of one of {_list(self.names)}.")
        return self.root / self.names[0]


@dataclass(frozen=True)
class Sources:
    """A project, to be built before use. Its configuration may still have errors.

    Attributes:
        path: Its folder, its pyproject.toml, or its Python file.
    """

    path: Path


Named = Published | Built | Sources


def named_server(word: str) -> Named:
    """Resolve the name of a server.

    A folder that is both a project and the root of bundles is a project.

    Args:
        word: An address of http or https, the folder of a bundle or of several, a project's folder, pyproject.toml or
            Python file, or `package:NAME` for a public package, whose project is then created in the cache.

    Raises:
        OriginError: The address cannot be framed.
        ConfigError: It is none of these, or a damaged bundle.
        ExtraMissing: It has to be built, which needs the extra of authors.
        ScaffoldError: The package's name is invalid.
    """
    if _SCHEME.match(word):
        return Published(*parse_address(word))
    if word.startswith(PACKAGE):
        need("author", _BUILDING)
        from mcpframe.kit.project.packaged import package_project

        requirement = word.removeprefix(PACKAGE)
        return Sources(package_project(requirement, package_folder(requirement)))
    path = Path(word).expanduser().absolute()
    if not word or not is_there(path):
        raise ConfigError(f"There is nothing at {word!r}: give {KINDS}.")
    if path.is_dir():
        if _is_bundle(path):
            bundle = path.resolve()
            return Built(bundle.parent, (bundle.name,))
        if not has_project(path) and (names := tuple(read_manifests(path))):
            return Built(path.resolve(), names)
    elif path.name == MANIFEST:
        raise ConfigError(f"{path} is a file of a bundle: give the bundle's folder.")
    project_file(path)  # raises if there is none
    need("author", _BUILDING)
    return Sources(path)


def package_folder(requirement: str) -> Path:
    """Return the folder in the cache for the project of a public package, `NAME` or `NAME==VERSION`."""
    return cache_dir() / "packages" / re.sub(r"[^\w.-]+", "-", requirement)


def named_project(word: str) -> Path:
    """Return the path of a project, for commands that need its source.

    Raises:
        ConfigError: There is none, or it is a built or a published server.
        McpFrameError: As for `named_server`.
    """
    named = named_server(word)
    if isinstance(named, Sources):
        return named.path
    kind = "a built folder" if isinstance(named, Built) else "an address"
    raise ConfigError(f"{word} is {kind}: give the folder of a project, or its Python file.")


def server_manifest(bundle: Path, dialect: str | None = None) -> dict[str, Any]:
    """Return the manifest of a built server.

    Args:
        bundle: The folder of a bundle, from `Built`.
        dialect: The dialect that it has to offer; by default that of mcpframe's own commands.

    Raises:
        ConfigError: It is a page, not a server.
        NoFramedServer: It does not offer the dialect.
    """
    manifest = read_manifests(bundle.parent)[bundle.name]
    if manifest.get("kind") == "page":
        raise ConfigError(f"{bundle} is a page, not a server: open it with mcpframe serve.")
    if reason := not_offered(manifest, dialect):
        raise NoFramedServer(f"{bundle} {reason}.")
    return manifest


def _is_bundle(folder: Path) -> bool:
    file = folder / MANIFEST
    if not file.is_file() or not (folder / "index.html").is_file():
        return False
    try:
        manifest = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        manifest = None
    if isinstance(manifest, dict) and manifest.get("mcpframe_manifest"):
        return True
    if has_project(folder):  # a project's own page, and the manifest of a web app
        return False
    raise ConfigError(f"{file} is not the manifest of a bundle: build the project again.")


def _list(names: tuple[str, ...]) -> str:
    return ", ".join(sorted(names))
