"""Writes the service worker of a folder of the public site, from `static/site/offline.js`."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable
from pathlib import Path

from mcpframe.kit.base.data import static_dir
from mcpframe.kit.base.node import install_locked
from mcpframe.kit.publish.bundle_checks.files import HASHED_NAME
from mcpframe.kit.web.host_page import bundle_module

_SOURCE = static_dir() / "site" / "offline.js"


def write_offline_worker(root: Path, folder: Path, files: Iterable[Path]) -> None:
    """Write `offline.js` and the script that registers it, for the pages below a folder.

    Args:
        root: The repository, whose npm packages have Workbox.
        folder: A folder of the site, whose page loads `register.js`.
        files: The files in it that are fetched at its first visit.

    Raises:
        ToolFailed: esbuild failed.
    """
    values = {
        "OWN_FILES": [_entry(folder, file) for file in sorted(files)],
        "HASHED_NAME": HASHED_NAME.pattern,
        "process.env.NODE_ENV": "production",
    }
    bundle_module(
        str(_SOURCE),
        folder / "offline.js",
        install_locked(root),
        options=["--format=iife", *(f"--define:{name}={json.dumps(value)}" for name, value in values.items())],
    )
    shutil.copy(_SOURCE.with_name("register.js"), folder)


def _entry(folder: Path, file: Path) -> dict[str, str | None]:
    name = file.relative_to(folder).as_posix()
    revision = None if HASHED_NAME.search(name) else hashlib.sha256(file.read_bytes()).hexdigest()[:16]
    return {"url": name, "revision": revision}
