"""Files of npm packages for the author's pages: `[tool.mcpframe.npm]`, each package pinned by version and hash.

In the bundle they are beside the author's assets, at `npm/NAME/PATH`, with the package's licence. No code of a package
runs during the build.
"""

from __future__ import annotations

import base64
import hashlib
import re
import tarfile
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from mcpframe.kit.base.cache import cache_dir, move_file, writing
from mcpframe.kit.base.errors import BuildError, ConfigError, DownloadError, HashMismatch, ToolFailed
from mcpframe.kit.base.node import find_node
from mcpframe.kit.base.scratch import scratch
from mcpframe.kit.project.config import NpmConfig

_LICENCE = re.compile(r"(licen[cs]e|copying|notice)(\.\w+)?", re.IGNORECASE)
_MAX_BYTES = 256 * 1024 * 1024


def npm_files(packages: Mapping[str, NpmConfig], file: str) -> dict[str, bytes]:
    """Return the files that `[tool.mcpframe.npm]` selects, by path below the assets' folder.

    Args:
        packages: The packages by name.
        file: The name of the configuration file, for errors.

    Raises:
        ConfigError: A pattern matches nothing in its package.
        DownloadError: A package could not be fetched.
        HashMismatch: A package is not the one that was pinned.
        NodeMissing: There is no npm client to fetch it with.
    """
    found: dict[str, bytes] = {}
    for name, package in sorted(packages.items()):
        archive = _fetched(name, package, file)
        found |= {f"npm/{name}/{path}": data for path, data in _chosen(archive, name, package.files, file).items()}
    return found


def _fetched(name: str, package: NpmConfig, file: str) -> Path:
    """Return the package's archive in the cache."""
    key = hashlib.sha256(package.integrity.encode()).hexdigest()[:32]
    path = cache_dir() / "npm" / f"{key}.tgz"
    if path.is_file() and _integrity(path) == package.integrity:
        return path
    with writing(path), scratch("download") as folder:
        archive = _download(f"{name}@{package.version}", folder)
        actual = _integrity(archive)
        if actual != package.integrity:
            raise HashMismatch(
                f"{file}: the npm package {name} {package.version} is not the pinned one: its integrity is "
                f"{actual}, tool.mcpframe.npm.{name} has {package.integrity}; nothing of it was kept."
            )
        move_file(archive, path)
    return path


def _download(package: str, folder: Path) -> Path:
    node = find_node()
    try:
        node.npm("pack", package, "--ignore-scripts", "--loglevel=error", cwd=folder)
    except ToolFailed as error:
        raise DownloadError(
            f"The npm package {package} could not be fetched ({str(error).rstrip('.')}): "
            "check the network, the name and the version."
        ) from error
    archive = next(folder.glob("*.tgz"), None)
    if archive is None:
        raise DownloadError(f"npm reported success for {package} but left no archive.")
    return archive


def _integrity(path: Path) -> str:
    with path.open("rb") as file:
        return "sha512-" + base64.b64encode(hashlib.file_digest(file, "sha512").digest()).decode()


def _chosen(archive: Path, name: str, patterns: Iterable[str], file: str) -> dict[str, bytes]:
    wanted = list(patterns)
    used: set[str] = set()
    files: dict[str, bytes] = {}
    try:
        with tarfile.open(archive) as tar:
            for member in tar:
                path = member.name.partition("/")[2]  # every npm archive has one top folder, mostly `package`
                matching = {pattern for pattern in wanted if _matches(path, pattern)}
                used |= matching
                if not member.isfile() or not (matching or _LICENCE.fullmatch(path)):
                    continue
                if ".." in path.split("/") or path.startswith("/") or member.size > _MAX_BYTES:
                    raise BuildError(f"The npm package {name} has the file {path!r}, which cannot be published.")
                content = tar.extractfile(member)
                assert content is not None
                files[path] = content.read()
    except (tarfile.TarError, EOFError) as error:
        raise BuildError(f"The archive of the npm package {name} is damaged ({error}): {archive}.") from error
    if missing := [pattern for pattern in wanted if pattern not in used]:
        raise ConfigError(f"{file}: tool.mcpframe.npm.{name}.files: {missing[0]!r} matches no file of the package.")
    return files


def _matches(path: str, pattern: str) -> bool:
    """Return whether a path matches part by part, so that `*` stays within a folder."""
    parts, patterns = path.split("/"), pattern.split("/")
    return len(parts) == len(patterns) and all(map(fnmatchcase, parts, patterns))
