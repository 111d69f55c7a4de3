"""The browser's storage and locks for tests in plain CPython: several `Storage` over them are pages of one origin."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio

from mcpframe.frame.core.errors import StorageError


class FakeTexts:
    """`storage.Texts`: what earlier versions have left in localStorage."""

    def __init__(self, **texts: str) -> None:
        self.kept = texts

    def get(self, key: str) -> str | None:
        return self.kept.get(key)

    def delete(self, key: str) -> None:
        self.kept.pop(key, None)

    def names(self) -> list[str]:
        return list(self.kept)


class FakeLocks:
    """`storage.Locks`. What is in `stuck` is held by a page that never lets go."""

    def __init__(self, *stuck: str) -> None:
        self.stuck = stuck
        self.used: list[str] = []
        self._locks: defaultdict[str, anyio.Lock] = defaultdict(anyio.Lock)

    @asynccontextmanager
    async def held(self, name: str) -> AsyncIterator[None]:
        if name in self.stuck:
            raise StorageError("stuck")
        self.used.append(name)
        async with self._locks[name]:
            yield
