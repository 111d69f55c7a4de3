"""The databases of sessions: stored as images, and opened once on first use."""

import asyncio
from collections.abc import Sequence

from mcpframe import FrameSession
from workspace import QueryError, Workspace

CONTENTS = "databases"
IMAGE = "database: "


class Shelf:
    """The workspaces of sessions."""

    def __init__(self) -> None:
        """Create it without open workspaces."""
        self._open: tuple[str, Workspace] | None = None
        self._lock = asyncio.Lock()

    async def put(self, session: FrameSession, workspace: Workspace, files: Sequence[str]) -> None:
        """Store a workspace for a session, instead of the one before."""
        images = workspace.images()
        for key in await session.storage.keys():
            if key.startswith(IMAGE) and key.removeprefix(IMAGE) not in images:
                await session.storage.delete(key)
        for database, image in images.items():
            await session.storage.set(IMAGE + database, image)
        contents = {"files": list(files), "databases": list(images), "writable": workspace.writable}
        await session.storage.set(CONTENTS, contents)
        self._open = session.id, workspace

    async def get(self, session: FrameSession) -> Workspace:
        """Return the session's workspace.

        Raises:
            QueryError: The session has none.
        """
        async with self._lock:  # two calls at the same time open large databases once
            if self._open is None or self._open[0] != session.id:
                contents = await session.storage.get(CONTENTS)
                if contents is None:
                    raise QueryError("No files have been chosen: run this server's setup and choose some.")
                workspace = Workspace(writable=contents["writable"])
                workspace.restore({name: await session.storage.get(IMAGE + name) for name in contents["databases"]})
                self._open = session.id, workspace
            return self._open[1]

    async def files(self, session: FrameSession) -> list[str]:
        """Return the names of the files that the session has chosen; none if it has none."""
        contents = await session.storage.get(CONTENTS)
        return list(contents["files"]) if contents else []

    async def keep(self, session: FrameSession) -> None:
        """Store the changes of a statement, so that they are there when the page is opened again."""
        workspace = await self.get(session)
        await self.put(session, workspace, await self.files(session))
