"""The hub's store: the extension's, which its service worker reads and writes."""

from __future__ import annotations

from collections.abc import Sequence

from mcpframe.frame.extension_hub.runtime import Worker


class ExtensionStore:
    """`frame.hub.interfaces.KeyValues` in `chrome.storage.local`.

    Args:
        worker: The service worker.
    """

    def __init__(self, worker: Worker) -> None:
        self._worker = worker

    async def get(self, key: str) -> str | None:
        """Return the text of a key; None where there is none."""
        value = await self._worker.ask("read", key=key)
        return value if isinstance(value, str) else None

    async def set(self, key: str, value: str) -> None:
        """Store a text."""
        await self._worker.ask("write", key=key, value=value)

    async def delete(self, key: str) -> None:
        """Remove a key."""
        await self._worker.ask("forget", key=key)

    async def keys(self) -> Sequence[str]:
        """Return the keys."""
        return [str(key) for key in await self._worker.ask("keys")]
