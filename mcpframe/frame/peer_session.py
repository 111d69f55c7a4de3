"""The author's session with one peer, which `FrameServer.session` returns to whatever runs for that peer."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcpframe.frame.author import FrameSession


class PeerSession:
    """The author's session with one peer, opened when it is first asked for: many servers never do, and start without.

    Args:
        open_session: Returns the session. Called once at most.
    """

    def __init__(self, open_session: Callable[[], FrameSession]) -> None:
        self._open_session = open_session
        self._session: FrameSession | None = None
        self._closed = False

    @property
    def session(self) -> FrameSession:
        """The session."""
        if self._session is None:
            self._session = self._open_session()
            if self._closed:  # asked for by what outlives the peer
                self.close()
        return self._session

    def close(self) -> None:
        """Say to whoever uses the session that it is over, and let go of the page. Nothing where nobody has asked."""
        self._closed = True
        if self._session is not None:
            self._session.closed.set()
            self._session.page.close()
