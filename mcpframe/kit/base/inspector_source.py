"""The project of the inspector, which is built when it is first shown."""

from __future__ import annotations

import zipfile
from pathlib import Path

from mcpframe.kit.base.cache import cache_dir, new_folder, sha256_of
from mcpframe.kit.base.data import projects_archive, static_dir
from mcpframe.kit.base.locking import locked

NAME = "inspector"
"""The name of its folder, in `static` and in the wheel's archive."""


def inspector_source() -> Path:
    """Return the project's folder: that of a checkout, or one in the cache with the files of the wheel's archive.

    Raises:
        KitError: The installation is incomplete.
        WriteError: The cache cannot be written.
    """
    archive = projects_archive()
    if archive is None:
        return static_dir() / NAME
    folder = cache_dir() / NAME / sha256_of(archive)[:16]
    with locked(folder):
        if not folder.exists():
            with new_folder(folder) as target, zipfile.ZipFile(archive) as files:
                files.extractall(target, [name for name in files.namelist() if name.startswith(f"{NAME}/")])
    return folder / NAME
