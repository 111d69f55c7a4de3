"""Packages from Pyodide's own distribution only, such as numpy; the runtime's lock file has their hashes."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import urllib.error
import urllib.request
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name

from mcpframe.kit.base.cache import move_file, sha256_of, writing
from mcpframe.kit.base.errors import BuildError, DownloadError, HashMismatch
from mcpframe.kit.base.scratch import scratch
from mcpframe.kit.bundle.pyodide.runtime import Runtime
from mcpframe.kit.bundle.pyodide.version import VERSION

CDN = f"https://cdn.jsdelivr.net/pyodide/v{VERSION}/full/"

_TIMEOUT = 30.0  # seconds without a byte


@dataclass(frozen=True)
class PyodidePackage:
    """One package of the distribution.

    Attributes:
        name: Its normalized name.
        version: Its version.
        filename: Its file.
        sha256: The file's SHA-256.
        depends: The normalized names of its requirements in the distribution.
    """

    name: str
    version: str
    filename: str
    sha256: str
    depends: tuple[str, ...]


class PyodidePackages:
    """Pyodide's distribution.

    Args:
        runtime: The runtime; its pyodide-lock.json lists the packages.
        folder: A folder with their files; by default `$MCPFRAME_PYODIDE_PACKAGES`, else they are fetched from the CDN.
    """

    def __init__(self, runtime: Runtime, folder: Path | None = None) -> None:
        self._lock_file = runtime.folder / "pyodide-lock.json"
        chosen = os.environ.get("MCPFRAME_PYODIDE_PACKAGES")
        self._folder = folder or (Path(chosen) if chosen else None)

    @cached_property
    def _packages(self) -> dict[str, dict[str, Any]]:
        listed: dict[str, dict[str, Any]] = json.loads(self._lock_file.read_text("utf-8"))["packages"]
        return {canonicalize_name(name): entry for name, entry in listed.items()}

    def find(self, name: str) -> PyodidePackage | None:
        """Return the package of a normalized name, or None."""
        entry = self._packages.get(name)
        # Only Python packages: not shared or static libraries.
        if entry is None or entry["package_type"] != "package" or not entry["file_name"].endswith(".whl"):
            return None
        depends = tuple(canonicalize_name(item) for item in entry["depends"])
        return PyodidePackage(name, entry["version"], entry["file_name"], entry["sha256"], depends)

    def fetch(self, filename: str, sha256: str, target: Path) -> None:
        """Copy a package's file to `target`, from the folder or the CDN.

        Raises:
            BuildError: It is not in the folder.
            DownloadError: The CDN cannot be reached.
            HashMismatch: The file has another hash.
            WriteError: The file cannot be written.
        """
        with writing(target), scratch("download") as folder:
            file = folder / filename
            if self._folder is not None:
                if not (self._folder / filename).is_file():
                    raise BuildError(
                        f"{self._folder} does not have {filename}: put it there, or unset "
                        "MCPFRAME_PYODIDE_PACKAGES to have it fetched."
                    )
                shutil.copyfile(self._folder / filename, file)
            else:
                _download(CDN + filename, file)
            if sha256_of(file) != sha256:
                raise HashMismatch(
                    f"{filename} from {self._folder or CDN} is not the file of Pyodide {VERSION}: "
                    "its SHA-256 differs; nothing of it was kept."
                )
            move_file(file, target)


def _download(url: str, file: Path) -> None:
    try:
        with urllib.request.urlopen(url, timeout=_TIMEOUT) as answer, file.open("wb") as out:  # noqa: S310 https
            shutil.copyfileobj(answer, out)
    except (urllib.error.URLError, TimeoutError, http.client.HTTPException, ConnectionError) as error:
        reason = getattr(error, "reason", None) or error
        raise DownloadError(
            f"{url} could not be fetched ({reason}): check the network, or put the file into a folder and set "
            "MCPFRAME_PYODIDE_PACKAGES to it."
        ) from error
