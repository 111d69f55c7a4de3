"""The author's session of each user: what a session with a host is in a frame.

HTTP from 2026-07-28 on has no sessions, and clients of earlier revisions begin one whenever they start. So
`server.session` is the user's: of the bearer token, or the one user of a server without authorization.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

from mcpframe.frame.host_api.host import Host
from mcpframe.frame.page.session_page import Page
from mcpframe.frame.serving.frame_session import FrameSession
from mcpframe.frame.serving.framed import Framed, PeerSession
from mcpframe.kit.edges.http.principal import LOCAL, current_user

if TYPE_CHECKING:
    from mcpframe.frame.storage.values import Storage

MOST = 1000
"""Open sessions; with one more, that of the user who was away longest is closed."""


def setup_id(user: str) -> str:
    """Return the storage id of what is known of a user's setup. No user has such a name."""
    return f"setup of {user}"


SET_UP = "done"
"""The key of whether a user has set the server up."""


class RepeatableSession(FrameSession):
    """The author's session, whose setup is repeated before the next call.

    Args:
        storage: The user's values.
        setup: The storage of what is known of the user's setup.
    """

    def __init__(self, user: str, storage: Storage, setup: Storage) -> None:
        super().__init__(None, "local", storage, Page(None, storage=storage), Host())
        self.id = user
        self._setup = setup

    async def require_setup(self, reason: object, message: str, can_continue: bool = False) -> None:
        """Ask the user again before their next call, whatever the reason; see `FrameSession.require_setup`."""
        await self._setup.delete(SET_UP)


class UserSession(PeerSession):
    """A user's session, which outlives the requests that run for it."""

    def close(self) -> None:
        """Keep it open: a request has ended, not the session."""

    def end(self) -> None:
        """Close it."""
        super().close()


class Users:
    """The sessions of a server's users.

    Args:
        open_storage: Returns the storage of an id.
        process: The name of this process, if several serve: values that tools keep are in one of them.
    """

    def __init__(self, server: Framed, open_storage: Callable[[str], Storage], process: str = "") -> None:
        self._server = server
        self._process = process
        self._open_storage = open_storage
        self._sessions: OrderedDict[str, UserSession] = OrderedDict()

    def session_of(self, user: str) -> UserSession:
        """Return a user's session."""
        session = self._sessions.get(user)
        if session is None:
            session = self._sessions[user] = UserSession(lambda: self._opened(user), process=self._process)
            while len(self._sessions) > MOST:
                self._sessions.popitem(last=False)[1].end()
        self._sessions.move_to_end(user)
        return session

    def _opened(self, user: str) -> FrameSession:
        return RepeatableSession(user, self._open_storage(user), self._open_storage(setup_id(user)))

    def begin(self) -> None:
        """Let code that runs outside of requests, such as the lifespan, use the session of the server itself."""
        self._server.session = self.session_of(LOCAL).session

    def end(self) -> None:
        """Close all sessions."""
        for session in self._sessions.values():
            session.end()

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Handle a request for its user: a middleware of the lowlevel server."""
        with self._server.running_for(self.session_of(current_user())):
            return await call_next(ctx)
