"""A folder of stored data: a profile of Chromium, and the sessions of servers that were set up in it.

Only one bridge or hub uses a folder at a time. A second one works on a copy, which is not kept.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import platformdirs

from mcpframe.kit.base.cache import write_file, writing
from mcpframe.kit.base.errors import ProfileInUse
from mcpframe.kit.base.locking import try_hold
from mcpframe.kit.base.scratch import scratch

# Files that Chromium creates again, or that only concern its own process.
_NOT_COPIED = shutil.ignore_patterns("Singleton*", "*Cache*", "Crash*", "*.lock", "LOCK", "*Metrics*")


@dataclass(frozen=True)
class Remembered:
    """The remembered setup of a server.

    Attributes:
        session_id: the session id, under which the server stores its values.
        title: its title, as its setup reported it.
        visibility: whether its frame is shown, as its setup reported it.
        permissions: the permissions that the user has granted it.
    """

    session_id: str
    title: str = ""
    visibility: str = "hidden"
    permissions: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Profile:
    """A folder that this process uses at present.

    Attributes:
        folder: its path.
        is_copy: whether it is a copy, because another process uses the folder itself.
    """

    folder: Path
    is_copy: bool = False

    @property
    def chromium(self) -> Path:
        """The folder of Chromium's profile."""
        return self.folder / "chromium"

    def recall(self, key: str, session_id: str | None = None) -> Remembered:
        """Return the remembered setup of a server, or one with a new random session id.

        Args:
            session_id: the session to use instead of the remembered one.
        """
        known = self._read().get(key)
        try:
            remembered = Remembered(**known) if isinstance(known, dict) else None
        except TypeError:
            remembered = None  # written by another version of mcpframe
        if remembered is None or session_id not in (None, remembered.session_id):
            remembered = Remembered(session_id or str(uuid.uuid4()))
        return remembered

    def remember(self, key: str, remembered: Remembered) -> None:
        """Store the setup of a server.

        Raises:
            WriteError: the file cannot be written.
        """
        known = {**self._read(), key: asdict(remembered)}
        write_file(self._file, json.dumps(known, indent=1).encode())

    @property
    def _file(self) -> Path:
        return self.folder / "sessions.json"

    def _read(self) -> dict[str, Any]:
        try:
            known = json.loads(self._file.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return known if isinstance(known, dict) else {}


def default_folder(key: str) -> Path:
    """Return the default folder of a server's profile."""
    digest = hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()[:12]
    name = slug(key.rstrip("/").rpartition("/")[2])
    return platformdirs.user_data_path("mcpframe", appauthor=False) / "bridge" / f"{name}-{digest}"


@contextmanager
def open_profile(folder: Path, *, alone: bool = False) -> Iterator[Profile]:
    """Hold a profile folder for the duration of the block; it is created if it does not exist.

    Args:
        alone: raise an error instead of using a copy.

    Raises:
        ProfileInUse: another process uses it, and `alone` is set.
        WriteError: the file cannot be written.
    """
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = try_hold(folder / "bridge.lock")
    if lock is not None:
        with lock:
            yield Profile(folder)
        return
    if alone:
        raise ProfileInUse(f"Another bridge is using {folder}: end it, or choose another --profile.")
    with scratch("bridge") as temporary:
        copy = temporary / "profile"
        with suppress(shutil.Error):  # the other process may remove a file meanwhile
            shutil.copytree(folder, copy, ignore=_NOT_COPIED)
        yield Profile(copy, is_copy=True)


def slug(text: str) -> str:
    """Return a short name of letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:32] or "server"
