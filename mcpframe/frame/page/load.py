"""`await mcpframe.load("numpy")`: fetch lazy requirements, when the server asks for them.

The build locks and vendors lazy requirements like all others, and writes their files and hashes into the boot config,
which boot passes to `configure`. A file is fetched from the bundle's own folder and its hash is checked here, because
micropip does not check the hash of a wheel given by URL; then micropip installs it from memory.

On plain CPython, without a bundle, `load` only checks that the requirement is installed.
"""

from __future__ import annotations

import asyncio
import hashlib
import importlib.util
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NotRequired, TypedDict

from mcpframe.frame.core.errors import LoadError


class LazyFile(TypedDict):
    """One wheel of a lazy requirement: `url` relative to the page, `sha256` of its bytes in hexadecimal digits.

    A page that was handed its files has the `address` of a blob, too.
    """

    url: str
    sha256: str
    address: NotRequired[str]


Fetch = Callable[[str], Awaitable[bytes]]
"""Fetches a file of the bundle; raises OSError if that fails."""
Install = Callable[[Mapping[str, bytes]], Awaitable[None]]
"""Installs wheels, given by file name."""


async def load(*names: str) -> None:
    """Fetch and install lazy requirements of the bundle, so that they can be imported.

    Installed ones are not fetched again, so a tool can call this every time.

    Args:
        names: Distribution names, as in `lazy` of `[tool.mcpframe]`.

    Raises:
        LoadError: A name is not a requirement of this server, or a file cannot be fetched or has a wrong hash. A failed
            call installs nothing and can be retried.
    """
    distributions = [_normalized(name) for name in names]
    if _bundle is not None:
        await _bundle.load(distributions)
        return
    for name in distributions:
        if not _is_installed(name):
            raise LoadError(f"{name!r} is not installed; install it, for example with: pip install {name}", name=name)


def configure(
    lazy: Mapping[str, Sequence[LazyFile]], *, fetch: Fetch | None = None, install: Install | None = None
) -> None:
    """Set the lazy requirements of this bundle. Called once by boot.

    Args:
        lazy: for each lazy requirement the wheels to install, its dependencies included.
        fetch: fetches a file; by default with the browser's `fetch`, relative to the page.
        install: installs wheels; by default with micropip.
    """
    global _bundle
    _bundle = _Bundle(lazy, fetch or _fetch_from_page, install or _install_with_micropip)


def is_lazy(name: str) -> bool:
    """Return whether this bundle has a lazy requirement of this name."""
    return _bundle is not None and _bundle.has(_normalized(name))


class _Bundle:
    def __init__(self, lazy: Mapping[str, Sequence[LazyFile]], fetch: Fetch, install: Install) -> None:
        self._lazy = {_normalized(name): tuple(files) for name, files in lazy.items()}
        self._fetch = fetch
        self._install = install
        self._installed: set[str] = set()
        self._one_at_a_time = asyncio.Lock()  # two requirements may share a dependency

    def has(self, name: str) -> bool:
        return name in self._lazy

    async def load(self, names: Sequence[str]) -> None:
        for name in names:
            if name not in self._lazy and not _is_installed(name):
                known = ", ".join(sorted(self._lazy)) or "none"
                raise LoadError(
                    f"{name!r} is not part of this bundle (lazy requirements: {known}). "
                    "Add it to lazy in [tool.mcpframe] and build again.",
                    name=name,
                )
        async with self._one_at_a_time:
            files = {file["url"]: file for name in names for file in self._lazy.get(name, ())}
            missing = [file for url, file in files.items() if url not in self._installed]
            if missing:
                wheels = await asyncio.gather(*map(self._get, missing))
                await self._install({_file_name(file): wheel for file, wheel in zip(missing, wheels, strict=True)})
                self._installed.update(file["url"] for file in missing)

    async def _get(self, file: LazyFile) -> bytes:
        try:
            wheel = await self._fetch(file.get("address") or file["url"])
        except OSError as error:
            raise LoadError(
                f"{file['url']} of this bundle could not be fetched: {error}. "
                "Reload the page if its site was published anew meanwhile."
            ) from error
        digest = hashlib.sha256(wheel).hexdigest()
        if digest != file["sha256"]:
            raise LoadError(
                f"{file['url']} is not the file this bundle was built with: its SHA-256 is {digest}, "
                f"not {file['sha256']}. Upload the whole bundle again."
            )
        return wheel


_bundle: _Bundle | None = None


def _normalized(name: str) -> str:
    """Return the normalized name of a package (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _is_installed(name: str) -> bool:
    try:
        version(name)
    except PackageNotFoundError:
        module = name.replace("-", "_")
        return module.isidentifier() and importlib.util.find_spec(module) is not None
    return True


def _file_name(file: LazyFile) -> str:
    return file["url"].rpartition("/")[2]


async def _fetch_from_page(url: str) -> bytes:
    from mcpframe.frame.browser import window

    return await window.fetch_bytes(url)


async def _install_with_micropip(wheels: Mapping[str, bytes]) -> None:
    import tempfile

    import micropip

    with tempfile.TemporaryDirectory() as folder:
        for name, wheel in wheels.items():
            (Path(folder) / name).write_bytes(wheel)
        # the lock contains the dependencies
        await micropip.install([f"emfs:{folder}/{name}" for name in wheels], deps=False)
