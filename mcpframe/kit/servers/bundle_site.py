"""A web site of one bundle: it serves the files that the bundle's manifest lists, and no others.

A bundle is untrusted code, and the folder around it may have private files. So each bundle is served alone, on its own
origin, with its shared runtime.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, Response

from mcpframe.kit.bundle.assembly.assets import SHARED
from mcpframe.kit.bundle.assembly.built_manifest import MANIFEST
from mcpframe.kit.servers.guests import with_ancestors, with_guests
from mcpframe.kit.web.site import Site


class BundleSite(Site):
    """An ASGI application that serves one bundle, under its folder's name, and the shared files that it lists.

    The manifest is read again when it changes. A listed path outside the bundle and the shared folder, or through a
    link that leads out of them, is not served.

    Attributes:
        name: The bundle's folder.

    Args:
        root: The folder that contains the bundle and the shared files.
        name: The bundle's folder in it, which may be created later.
        readers: As for `Site`.
        guests: Origins on this machine, such as the inspector's, that may embed the bundle here besides its own allowed
            origins. The bundle treats them like those.

    Raises:
        ServeError: The root does not exist, or its `_headers` cannot be read.
    """

    def __init__(
        self, root: Path, name: str, *, readers: Collection[str] | None = None, guests: Sequence[str] = ()
    ) -> None:
        super().__init__(root, readers=readers)
        self._guests = guests
        self.name = name
        self._listed: dict[str, bool] = {}
        self._stamp = -1

    @classmethod
    def of(cls, bundle: Path, *, readers: Collection[str] | None = None, guests: Sequence[str] = ()) -> BundleSite:
        """Return the site of a bundle's folder."""
        folder = bundle.resolve()
        return cls(folder.parent, folder.name, readers=readers, guests=guests)

    def _find(self, path: str) -> Path | None:
        self._read_manifest()
        inner = path.removeprefix("/")
        if inner.removesuffix("/") == self.name:
            inner = f"{self.name}/index.html"
        if inner not in self._listed:
            return None
        file = super()._find(path)
        top = self._root / inner.partition("/")[0]
        # If the shared folder itself is a link, it leads out of the root.
        return file if file is not None and top.resolve() == top and file.is_relative_to(top) else None

    def _compressed(self, file: Path) -> Path | None:
        inside = file.relative_to(self._root).as_posix()
        return super()._compressed(file) if self._listed.get(inside) else None

    def _file(self, file: Path, asked: Headers, headers: dict[str, str]) -> Response:
        if not self._guests or file != self._root / self.name / "index.html":
            return super()._file(file, asked, headers)
        policy = "content-security-policy"
        allowed = {policy: with_ancestors(headers[policy], self._guests)} if policy in headers else {}
        page = with_guests(file.read_text("utf-8"), self._guests)
        return HTMLResponse(page, headers={**headers, **allowed, "cache-control": "no-store"})

    def _read_manifest(self) -> None:
        file = self._root / self.name / MANIFEST
        try:
            if not file.is_file():  # reading a pipe would block
                raise FileNotFoundError(file)
            stamp = file.stat().st_mtime_ns
            if stamp != self._stamp:
                self._listed = _listed(json.loads(file.read_text("utf-8")), self.name)
                self._stamp = stamp
        except (OSError, ValueError, RecursionError):
            self._listed, self._stamp = {}, -1


def _listed(manifest: Any, name: str) -> dict[str, bool]:
    """Return the paths that a manifest lists, below the root, and whether each has a compressed form."""
    listed = {f"{name}/{MANIFEST}": False}
    files = manifest.get("files") if isinstance(manifest, dict) else None
    for entry in files if isinstance(files, list) else ():
        path = entry.get("path") if isinstance(entry, dict) else None
        if not isinstance(path, str):
            continue
        folder, _, rest = path.partition("/")
        # Paths do not depend on the bundle's name, as it may have been renamed: they are shared, or its own.
        listed[path if folder == SHARED else f"{name}/{rest}"] = entry.get("gzip_bytes") is not None
    return listed
