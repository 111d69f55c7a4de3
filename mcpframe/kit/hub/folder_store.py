"""The hub's store in a folder: a file for each key, written atomically, readable for its owner only."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from mcpframe.kit.base.cache import write_file

_ENDING = ".json"


class FolderStore:
    """`hub.core.interfaces.KeyValues` in a folder, which is created on the first write.

    A file contains its key, and its name is a hash of the key, as domains are not valid file names everywhere. Other
    files are ignored.

    Args:
        folder: The folder. If several hubs use it, the last write wins.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def get(self, key: str) -> str | None:
        """Return the text of a key; None if there is none, or it is unreadable."""
        record = await asyncio.to_thread(_read, self._path(key))
        return record[1] if record is not None and record[0] == key else None

    async def set(self, key: str, value: str) -> None:
        """Store a text. Raises `WriteError`."""
        data = json.dumps([key, value]).encode()
        await asyncio.to_thread(write_file, self._path(key), data)

    async def delete(self, key: str) -> None:
        """Remove a key. Does nothing if it does not exist."""
        await asyncio.to_thread(self._path(key).unlink, missing_ok=True)

    async def keys(self) -> Sequence[str]:
        return await asyncio.to_thread(self._keys)

    def _keys(self) -> list[str]:
        if not self._folder.is_dir():
            return []
        keys = []
        for path in sorted(self._folder.glob(f"*{_ENDING}")):
            record = _read(path)
            if record is not None and path == self._path(record[0]):
                keys.append(record[0])
        return keys

    def _path(self, key: str) -> Path:
        digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
        return self._folder / f"{digest[:32]}{_ENDING}"


def _read(path: Path) -> tuple[str, str] | None:
    """Return the key and the text of a file; None for a file that is not the store's."""
    with suppress(OSError, ValueError, RecursionError):
        key, value = json.loads(path.read_text("utf-8"))
        if isinstance(key, str) and isinstance(value, str):
            return key, value
    return None
