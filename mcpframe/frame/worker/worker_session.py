"""The author's session in a worker: its values are those of the page's session, and there is no page."""

from __future__ import annotations

import asyncio
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from mcpframe.frame.core.errors import StateError
from mcpframe.frame.serving.frame_session import FrameSession
from mcpframe.frame.serving.framed import Framed, PeerSession, SessionFacts
from mcpframe.frame.storage.values import Storage

if TYPE_CHECKING:
    from collections.abc import Callable


class WorkerSession(FrameSession):
    """A session of the page around this worker. Its `page` and `host` raise `StateError`."""

    def __init__(self, about: SessionFacts, storage: Storage) -> None:
        self.id = about.id
        self.origin = about.origin
        self.phase = "transport"
        self.storage = storage
        self.closed = asyncio.Event()
        self._session = None

    def __getattr__(self, name: str) -> Any:
        if name in ("page", "host"):
            raise StateError(
                f'This server runs in a worker: set runs_in = "page" in [tool.mcpframe] to use session.{name}.'
            )
        raise AttributeError(name)

    def end(self) -> None:
        """Set `closed`."""
        self.closed.set()


def running_for(
    target: Any, about: SessionFacts | None, open_storage: Callable[[str], Storage]
) -> AbstractContextManager[None]:
    """Return a context manager in whose block `server.session` is the session with this peer.

    Args:
        target: the author's server.
        about: the session; None for a client without one.
        open_storage: returns the values under a key.
    """
    if about is None or not isinstance(target, Framed):
        return nullcontext()
    return target.running_for(PeerSession(lambda: WorkerSession(about, open_storage(about.storage_key)), about))
