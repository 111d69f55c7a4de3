"""The real files of numpy, pandas, matplotlib, scipy and others for Pyodide, which a package of the index contains.

Pyodide's CDN has them too, but where the index is reached it may not be. Nothing else of the package is kept.
"""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path, PurePosixPath

import pytest

from mcpframe.kit.base.cache import cache_dir, new_folder
from mcpframe.kit.base.data import templates_dir
from mcpframe.kit.base.errors import ToolFailed
from mcpframe.kit.base.locking import locked
from mcpframe.kit.base.processes import python, run_tool
from mcpframe.kit.base.scratch import scratch

_PINNED = "open-webui==0.12.4 --hash=sha256:02e9caba96234db3fa17a92e56163b3f7f2b8ca8227fa886b85c178d696483f6"  # 106 MB
_INSIDE = "open_webui/frontend/pyodide/"
_FOLDER = cache_dir() / "tests" / "pyodide-314.0.3-packages"
"""Outside of the clone, as all clones share it."""
_SECONDS = 300.0

_unreachable = ""


def scientific_packages() -> Path:
    """Return a folder with wheels and their `pyodide-lock.json`, fetched once into the cache.

    The test is skipped if they cannot be fetched.
    """
    global _unreachable
    if not _FOLDER.is_dir() and not _unreachable:
        with locked(_FOLDER):
            try:
                _fetch()
            except ToolFailed as error:
                _unreachable = str(error)
    if _unreachable:
        pytest.skip(f"the files of numpy and others could not be fetched: {_unreachable}")
    return _FOLDER


def data_analyst(folder: Path) -> Path:
    """Copy the template data-analyst into a folder, to be built with these packages: its lock has others."""
    left_out = shutil.ignore_patterns("mcpframe.lock", "tests")
    return Path(shutil.copytree(templates_dir() / "data-analyst", folder / "data-analyst", ignore=left_out))


def _fetch() -> None:
    if _FOLDER.is_dir():  # by another process, meanwhile
        return
    with scratch("download") as temporary:
        (temporary / "requirements.txt").write_text(_PINNED)
        options = ("--no-deps", "--require-hashes", "--only-binary=:all:", "--python-version=3.12", "--quiet")
        where = ("--dest", str(temporary), "--requirement", str(temporary / "requirements.txt"))
        run_tool(python("-m", "pip", "download", *options, *where), "pip", timeout=_SECONDS)
        [wheel] = temporary.glob("*.whl")
        with zipfile.ZipFile(wheel) as archive, new_folder(_FOLDER) as folder:
            for name in archive.namelist():
                path = PurePosixPath(name)
                if name.startswith(_INSIDE) and (path.suffix == ".whl" or path.name == "pyodide-lock.json"):
                    (folder / path.name).write_bytes(archive.read(name))
