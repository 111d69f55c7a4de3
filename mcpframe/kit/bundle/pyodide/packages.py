"""Packages with native code from a distribution of Pyodide, such as numpy. The distribution's lock has their hashes.

A distribution is a folder, or an address, with the files of packages and their `pyodide-lock.json`. By default it is
Pyodide's own, which is fetched from its CDN and whose lock is the runtime's.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name

from mcpframe.kit.base.cache import cache_dir, move_file, sha256_of, write_file, writing
from mcpframe.kit.base.download import download
from mcpframe.kit.base.errors import BuildError, DownloadError, HashMismatch
from mcpframe.kit.base.progress import count
from mcpframe.kit.base.scratch import scratch
from mcpframe.kit.bundle.pyodide.runtime import Runtime
from mcpframe.kit.bundle.pyodide.version import VERSION

CDN = f"https://cdn.jsdelivr.net/pyodide/v{VERSION}/full/"
LOCK = "pyodide-lock.json"


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


@dataclass(frozen=True)
class Wanted:
    """A file to be fetched.

    Attributes:
        filename: Its name in the distribution.
        sha256: Its SHA-256.
        target: Where it is written.
    """

    filename: str
    sha256: str
    target: Path


class PyodidePackages:
    """A distribution.

    Args:
        runtime: The runtime.
        source: A folder, or an address that begins with `https://`. By default `$MCPFRAME_PYODIDE_PACKAGES`, else the
            CDN. A folder without a pyodide-lock.json has files of the runtime's.
        renewed: Whether to fetch the lock of an address although it is in the cache.
    """

    def __init__(self, runtime: Runtime, source: str | Path | None = None, *, renewed: bool = False) -> None:
        self.runtime = runtime
        self.source = str(source or os.environ.get("MCPFRAME_PYODIDE_PACKAGES") or CDN)
        self._renewed = renewed

    @property
    def _is_address(self) -> bool:
        return self.source.startswith(("https://", "http://"))

    @property
    def lock_sha256(self) -> str:
        """The SHA-256 of the distribution's lock; empty for the runtime's. Raises as `lock` does."""
        return "" if self.lock == self._runtime_lock else hashlib.sha256(self.lock).hexdigest()

    @cached_property
    def _runtime_lock(self) -> bytes:
        return (self.runtime.folder / LOCK).read_bytes()

    @cached_property
    def lock(self) -> bytes:
        """The content of the distribution's lock.

        Raises:
            BuildError: There is no such folder.
            DownloadError: It cannot be fetched.
        """
        if self.source == CDN:
            return self._runtime_lock
        if not self._is_address:
            file = Path(self.source, LOCK)
            if not file.parent.is_dir():
                raise BuildError(f"{self.source} is not a folder: build with another distribution of packages.")
            return file.read_bytes() if file.is_file() else self._runtime_lock
        kept = cache_dir() / "distributions" / f"{hashlib.sha256(self.source.encode()).hexdigest()}.json"
        if self._renewed or not kept.is_file():
            with scratch("download") as folder:
                download(f"{self.source}{LOCK}", folder / LOCK)
                write_file(kept, (folder / LOCK).read_bytes())
        return kept.read_bytes()

    @cached_property
    def _packages(self) -> dict[str, dict[str, Any]]:
        try:
            lock = json.loads(self.lock)
            abi = str(lock["info"]["abi_version"])
            listed: dict[str, dict[str, Any]] = lock["packages"]
        except (ValueError, KeyError, TypeError) as error:
            raise BuildError(f"{LOCK} of {self.source} is not a lock of Pyodide ({error!r}).") from error
        if abi != self.runtime.abi:
            raise BuildError(
                f"The packages of {self.source} are built for the ABI {abi}, not {self.runtime.abi} of Pyodide "
                f"{VERSION}: use a distribution of that ABI."
            )
        return {canonicalize_name(name): entry for name, entry in listed.items()}

    def find(self, name: str) -> PyodidePackage | None:
        """Return the package of a normalized name, or None.

        Raises:
            BuildError: The distribution has no valid lock, or is for another ABI.
            DownloadError: Its lock cannot be fetched.
        """
        entry = self._packages.get(name)
        # Only Python packages: not shared or static libraries.
        if entry is None or entry["package_type"] != "package" or not entry["file_name"].endswith(".whl"):
            return None
        depends = tuple(canonicalize_name(item) for item in entry["depends"])
        return PyodidePackage(name, entry["version"], entry["file_name"], entry["sha256"], depends)

    def wheels(self) -> list[PyodidePackage]:
        """Return all its Python packages. Raises as `find` does."""
        return [wheel for name in self._packages if (wheel := self.find(name))]

    def fetch_into(self, folder: Path, names: Iterable[str]) -> list[str]:
        """Make a folder that is a distribution of some packages and all that they need.

        Files that it has already are not fetched again.

        Args:
            names: The names of packages.

        Returns:
            The names of the files.

        Raises:
            BuildError: The distribution lacks some of the packages; the message names all. Or as for `find`.
            DownloadError: Files cannot be fetched; the message names all.
            HashMismatch: A file has another hash.
            WriteError: The folder cannot be written.
        """
        waiting, reached = [canonicalize_name(name) for name in names], set[str]()
        while waiting:
            name = waiting.pop()
            if name not in reached:
                reached.add(name)
                waiting += map(canonicalize_name, self._packages.get(name, {}).get("depends", ()))
        if unknown := reached - self._packages.keys():
            raise BuildError(
                f"{self.source} has no {_listed(unknown)}. Name only packages with native code here; the others come "
                "from the package index."
            )
        entries = [self._packages[name] for name in sorted(reached)]
        files = [Wanted(entry["file_name"], entry["sha256"], folder / entry["file_name"]) for entry in entries]
        self.fetch(item for item in files if not (item.target.is_file() and sha256_of(item.target) == item.sha256))
        write_file(folder / LOCK, self.lock, public=True)
        return [item.filename for item in files]

    def fetch(self, files: Iterable[Wanted]) -> None:
        """Write files of the distribution to their targets.

        Raises:
            BuildError: The folder lacks some of them; the message names all.
            DownloadError: Some cannot be fetched; the message names all.
            HashMismatch: A file has another hash.
            WriteError: A file cannot be written.
        """
        requested = list(files)
        if not self._is_address:
            missing = [item.filename for item in requested if not Path(self.source, item.filename).is_file()]
            if missing:
                raise BuildError(
                    f"{self.source} does not have {_listed(missing)}: put them there "
                    f"(`mcpframe packages fetch` does), or build with another distribution."
                )
        missing, reason = [], ""
        for done, item in enumerate(requested):
            count(done, len(requested))
            try:
                self._fetch(item)
            except DownloadError as error:
                missing.append(item.filename)
                reason = str(error)
        if missing:
            raise DownloadError(
                f"{self.source} does not send {_listed(missing)} ({reason}): check the network, or have a folder with "
                "them made on another machine (`mcpframe packages fetch NAME --to FOLDER`), and set "
                "tool.mcpframe.distribution to it."
            )

    def _fetch(self, item: Wanted) -> None:
        with writing(item.target), scratch("download") as folder:
            file = folder / "file"
            if self._is_address:
                download(f"{self.source}{item.filename}", file)
            else:
                shutil.copyfile(Path(self.source, item.filename), file)
            if sha256_of(file) != item.sha256:
                raise HashMismatch(
                    f"{item.filename} of {self.source} is not the file that the lock names: its SHA-256 differs; "
                    "nothing of it was kept. If it was replaced intentionally, run the build with --upgrade."
                )
            move_file(file, item.target)


def _listed(names: Collection[str]) -> str:
    return ", ".join(sorted(names))
