"""Packages of npm by name, version and hash: fetched once into the cache. No code of a package is run."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

from mcpframe.kit.base.cache import cache_dir, move_file, writing
from mcpframe.kit.base.download import not_trusted
from mcpframe.kit.base.errors import DownloadError, HashMismatch, ToolFailed
from mcpframe.kit.base.node import find_node
from mcpframe.kit.base.scratch import scratch


def npm_archive(name: str, version: str, integrity: str, pinned_by: str) -> Path:
    """Return the archive of a package in the cache; fetch it if it is not there.

    Args:
        integrity: The hash of its archive, as lock files of npm have it: `sha512-…`.
        pinned_by: The place with the hash, for errors.

    Raises:
        DownloadError: The package could not be fetched.
        HashMismatch: The archive has another hash; it is not kept.
        NodeMissing: There is no npm client to fetch it with.
    """
    key = hashlib.sha256(integrity.encode()).hexdigest()[:32]
    path = cache_dir() / "npm" / f"{key}.tgz"
    if path.is_file() and _integrity(path) == integrity:
        return path
    with writing(path), scratch("download") as folder:
        archive = _download(f"{name}@{version}", folder)
        actual = _integrity(archive)
        if actual != integrity:
            raise HashMismatch(
                f"The npm package {name} {version} is not the pinned one: its integrity is {actual}, "
                f"{pinned_by} has {integrity}; nothing of it was kept."
            )
        move_file(archive, path)
    return path


def _download(package: str, folder: Path) -> Path:
    node = find_node()
    try:
        node.npm("pack", package, "--ignore-scripts", "--loglevel=error", cwd=folder)
    except ToolFailed as error:
        if untrusted := not_trusted(error.output, "NODE_EXTRA_CA_CERTS"):
            raise untrusted from error
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
