"""Files of npm packages for the author's pages: `[tool.mcpframe.npm]`, each package pinned by version and hash.

In the bundle they are beside the author's assets, at `npm/NAME/PATH`, with the package's licence. No code of a package
runs during the build.
"""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from mcpframe.kit.base.errors import BuildError, ConfigError
from mcpframe.kit.base.npm import npm_archive
from mcpframe.kit.project.pyproject import NpmConfig

_LICENCE = re.compile(r"(licen[cs]e|copying|notice)(\.\w+)?", re.IGNORECASE)
_MAX_BYTES = 256 * 1024 * 1024


def npm_files(packages: Mapping[str, NpmConfig], file: str) -> dict[str, bytes]:
    """Return the files that `[tool.mcpframe.npm]` selects, by path below the assets' folder.

    Args:
        file: The name of the configuration file, for errors.

    Raises:
        ConfigError: A pattern matches nothing in its package.
        DownloadError: A package could not be fetched.
        HashMismatch: A package is not the one that was pinned.
        NodeMissing: There is no npm client to fetch it with.
    """
    chosen: dict[str, bytes] = {}
    for name, package in sorted(packages.items()):
        pinned_by = f"tool.mcpframe.npm.{name} in {file}"
        archive = npm_archive(name, package.version, package.integrity, pinned_by)
        chosen |= {f"npm/{name}/{path}": data for path, data in _chosen(archive, name, package.files, file).items()}
    return chosen


def _chosen(archive: Path, name: str, patterns: Iterable[str], file: str) -> dict[str, bytes]:
    named = list(patterns)
    used: set[str] = set()
    files: dict[str, bytes] = {}
    try:
        with tarfile.open(archive) as tar:
            for member in tar:
                path = member.name.partition("/")[2]  # every npm archive has one top folder, mostly `package`
                matching = {pattern for pattern in named if _matches(path, pattern)}
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
    if missing := [pattern for pattern in named if pattern not in used]:
        raise ConfigError(f"{file}: tool.mcpframe.npm.{name}.files: {missing[0]!r} matches no file of the package.")
    return files


def _matches(path: str, pattern: str) -> bool:
    """Return whether a path matches part by part, so that `*` stays within a folder."""
    parts, patterns = path.split("/"), pattern.split("/")
    return len(parts) == len(patterns) and all(map(fnmatchcase, parts, patterns))
