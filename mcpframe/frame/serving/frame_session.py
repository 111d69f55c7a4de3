"""An author's session with the host.

Each peer has its own session; `FrameServer.session` is the one of the peer that the code runs for. Outside of a
browser it is a local session with values in memory and no page, so that tools and tests run unchanged.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Literal

from mcpframe.frame.core.errors import StateError

if TYPE_CHECKING:
    from mcpframe.frame.host_api.host import Host
    from mcpframe.frame.page.session_page import Page
    from mcpframe.frame.session.session import Session
    from mcpframe.frame.session.setup_phase import SetupReason
    from mcpframe.frame.storage.values import Storage

Phase = Literal["setup", "transport", "local"]


class FrameSession:
    """The session of this page with its host.

    Attributes:
        id: the id given by the host; `"local"` outside of a frame.
        origin: the host's origin; empty outside of a frame.
        phase: `"setup"`, `"transport"`, or `"local"` outside of a frame.
        storage: the session's values in this browser.
        page: the document of this page.
        host: the requests of this page to its host.
        closed: set when the session is over.
    """

    def __init__(self, session: Session | None, phase: Phase, storage: Storage, page: Page, host: Host) -> None:
        """Created by boot, and by `FrameServer.session` outside of a frame."""
        self.id = session.id if session else "local"
        self.origin = session.origin if session else ""
        self.phase = phase
        self.storage = storage
        self.page = page
        self.host = host
        self.closed = asyncio.Event()
        self._session = session

    def end(self) -> None:
        """Set `closed`, and close the page. Called once the session is over."""
        self.closed.set()
        self.page.close()

    async def require_setup(
        self,
        reason: SetupReason | Literal["AUTH_EXPIRED", "CONFIG_CHANGED", "PERMISSIONS_CHANGED", "OTHER"],
        message: str,
        can_continue: bool = False,
    ) -> None:
        """Ask the host to run this page's setup again (SEP "postMessage Transport", MCP_SETUP_REQUIRED).

        Args:
            reason: one of the reasons of the SEP.
            message: a sentence for the user.
            can_continue: whether the tools work until then.

        Raises:
            StateError: outside of a session's transport phase.
        """
        if self._session is None or self.phase != "transport":
            raise StateError("Only a session with a host, in its transport phase, can ask for its setup again.")
        from mcpframe.frame.session import setup_phase

        setup_phase.require(self._session, setup_phase.SetupReason(reason), message, can_continue)


UiFunction = Callable[[FrameSession], Awaitable[None]]


def local_session() -> FrameSession:
    """Return a session outside of a frame: values in memory, no page, no host."""
    from mcpframe.frame.host_api.host import Host
    from mcpframe.frame.page.session_page import Page
    from mcpframe.frame.storage.values import Storage

    storage = Storage("local")
    return FrameSession(None, "local", storage, Page(None, storage=storage), Host())
