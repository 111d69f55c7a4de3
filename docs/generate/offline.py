"""Writes the service worker of a folder of the public site, from `static/page/offline.js`."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable
from pathlib import Path

from mcpframe.kit.base.data import page_dir
from mcpframe.kit.bundle.assembly.installable import WORKER, offline_worker
from mcpframe.kit.publish.bundle_checks.files import HASHED_NAME


def write_offline_worker(folder: Path, files: Iterable[Path]) -> None:
    """Write `offline.js` and the script that registers it, for the pages below a folder.

    Args:
        folder: A folder of the site, whose page loads `register.js`.
        files: The files in it that are fetched at its first visit.

    Raises:
        KitError: The script is missing, or its sources have changed since it was bundled.
    """
    text = offline_worker([_entry(folder, file) for file in sorted(files)], hashed_name=HASHED_NAME.pattern)
    (folder / WORKER).write_text(text, "utf-8", newline="\n")
    shutil.copy(page_dir() / "register.js", folder)


def _entry(folder: Path, file: Path) -> dict[str, str | None]:
    name = file.relative_to(folder).as_posix()
    revision = None if HASHED_NAME.search(name) else hashlib.sha256(file.read_bytes()).hexdigest()[:16]
    return {"url": name, "revision": revision}
