"""Additions of a frame to a server object: the session with each peer, and setup and ui functions."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from mcpframe.frame.compat import in_pyodide
from mcpframe.frame.core.errors import StateError
from mcpframe.frame.dialects.available import entries_of

if TYPE_CHECKING:
    from mcpframe.frame.serving.author_setup import SetupFunction, SetupPhase
    from mcpframe.frame.serving.frame_session import FrameSession, UiFunction
    from mcpframe.frame.session.setup_phase import Permission


class SessionFacts(NamedTuple):
    """A session, for the worker in which its server runs.

    Attributes:
        id: its id.
        origin: the origin of the peer.
        storage_key: the key of its values.
    """

    id: str
    origin: str
    storage_key: str


class PeerSession:
    """The author's session with one peer, opened at its first use: many servers never use it, and start faster.

    Args:
        open_session: returns the session. Called at most once.
        about: what a worker has to know of it; None for a local session.
        process: the name of this process, which handles of kept values begin with; empty unless several serve.

    Attributes:
        kept: the values that it keeps (`serving.kept`); None for none.
    """

    def __init__(
        self, open_session: Callable[[], FrameSession], about: SessionFacts | None = None, process: str = ""
    ) -> None:
        self.about = about
        self.process = process
        self.kept: Any = None
        self._open_session = open_session
        self._session: FrameSession | None = None
        self._closed = False

    @property
    def session(self) -> FrameSession:
        """The session."""
        if self._session is None:
            self._session = self._open_session()
            if self._closed:  # used by a task that outlives the peer
                self.close()
        return self._session

    def close(self) -> None:
        """Set the session's `closed`, and close its page, if the session was ever used."""
        self._closed = True
        self.kept = None
        if self._session is not None:
            self._session.end()


running_peer: ContextVar[PeerSession | None] = ContextVar("mcpframe_running_peer", default=None)
"""The peer that this code runs for, whichever server it is a peer of."""


class Framed:
    """A server object of a frame: a `FrameServer`, or the result of `mcpframe.wrap` for servers of other SDKs.

    Args:
        allowed_origins: see `FrameServer`.
        browser: see `FrameServer`.

    Attributes:
        allowed_origins: The origins that were passed: the preferred dialect's, if it was a table; None for none.
        dialect_origins: The lists of the other dialects, if they differ.
        browser: The capability `browser` of a page server; None for none.
        setup_phase: The setup function, registered with `setup`; None for none.
        ui_function: The function registered with `ui`; None for none.
    """

    served_by: ClassVar[str] = ""
    """The name of the module that serves it; empty for the one of its SDK."""

    allowed_origins: tuple[str, ...] | None
    dialect_origins: Mapping[str, tuple[str, ...]]
    browser: Mapping[str, Any] | None
    setup_phase: SetupPhase | None
    ui_function: UiFunction | None

    def __init__(
        self,
        allowed_origins: Sequence[str] | Mapping[str, Sequence[str]] | None,
        browser: Mapping[str, Any] | None = None,
    ) -> None:
        entries = entries_of(allowed_origins)
        lists = None if allowed_origins is None else entries.parse()
        self.allowed_origins = None if lists is None else tuple(lists.common or ())
        self.dialect_origins = entries.own
        self.browser = None if browser is None else json.loads(json.dumps(browser, allow_nan=False))
        self.setup_phase = self.ui_function = None
        self._peer: ContextVar[PeerSession | None] = ContextVar("mcpframe_peer", default=None)
        self._local_session: FrameSession | None = None

    @property
    def wrapped(self) -> Any:
        """The server object of the SDK."""
        return self

    async def known(self) -> None:
        """Wait until `browser` is known: at once, unless the server runs in a worker."""

    @property
    def peer(self) -> PeerSession | None:
        """The peer that this code runs for, if any."""
        return self._peer.get()

    @property
    def session(self) -> FrameSession:
        """The session with the peer that this code runs for; outside of a browser a local one (see `FrameSession`).

        Requests, the lifespan, and the setup and ui functions run for a peer; so do the handlers of events that any of
        these listens to, and the tasks and threads that any of these starts.

        Raises:
            StateError: In a page, outside of these: when the server's module is imported, or in a callback that was
                handed to JavaScript.
        """
        if self.peer:
            return self.peer.session
        if self._local_session is None:
            if in_pyodide():
                raise StateError(
                    "There is no session here: use server.session in tools, and in setup and ui functions, and keep it "
                    "in a variable for a callback that you hand to JavaScript."
                )
            from mcpframe.frame.serving.frame_session import local_session

            self._local_session = local_session()
        return self._local_session

    @session.setter
    def session(self, session: FrameSession | None) -> None:
        """Set by tests to a local session of their own; None for a new one."""
        self._local_session = session

    @contextmanager
    def running_for(self, peer: PeerSession) -> Iterator[None]:
        """Make `session` this peer's in the block, and in every task and thread that is started there.

        The session is closed at the end. Several peers may be served at once, each in a task of its own.

        Args:
            peer: The peer's session.
        """
        try:
            with self.joining(peer):
                yield
        finally:
            peer.close()

    @contextmanager
    def joining(self, peer: PeerSession) -> Iterator[None]:
        """Make `session` this peer's in the block, like `running_for`, for code beside it: the session goes on.

        Args:
            peer: The peer's session.
        """
        token, running = self._peer.set(peer), running_peer.set(peer)
        try:
            yield
        finally:
            self._peer.reset(token)
            running_peer.reset(running)

    def setup(
        self, *, visible: bool, permissions: Sequence[Permission | str] = ()
    ) -> Callable[[SetupFunction], SetupFunction]:
        """Register the function that runs when the host sets this server up (SEP "postMessage Transport", setup phase).

        It gets the `FrameSession` and returns a `Setup`, or raises `SetupCancelled` or `SetupFailed`; any other
        exception is reported to the host as CONFIG_ERROR, and a `TimeoutError` as TIMEOUT. Without such a function a
        setup completes immediately, with the values of `[tool.mcpframe]`.

        Args:
            visible: Whether the page must be visible meanwhile.
            permissions: The browser permissions to request from the host, for either phase.

        Returns:
            A decorator for an async function.

        Raises:
            TypeError: The function is not async, or there is one already.
        """
        if not isinstance(visible, bool):
            raise TypeError("Write @server.setup(visible=True) or @server.setup(visible=False).")

        def register(function: SetupFunction) -> SetupFunction:
            from mcpframe.frame.serving.author_setup import SetupPhase, parse_permissions

            _check_author_function(function, "setup", self.setup_phase)
            self.setup_phase = SetupPhase(function, visible, parse_permissions(permissions))
            return function

        return register

    def ui(self, function: UiFunction) -> UiFunction:
        """Register the function that runs beside the tools, from the beginning of a session: the page's own UI.

        It gets the `FrameSession`, is cancelled when the session ends, and may return earlier. Its exceptions are shown
        on the page; the tools continue.

        Args:
            function: An async function.

        Raises:
            TypeError: The function is not async, or there is one already.
        """
        _check_author_function(function, "ui", self.ui_function)
        self.ui_function = function
        return function


def unwrapped(server: object) -> Any:
    """Return the object that an SDK serves: the wrapped one of a wrapped server, or the server itself."""
    return server.wrapped if isinstance(server, Framed) else server


def browser_capability(server: object) -> Mapping[str, Any] | None:
    """Return the capabilities of a page server beyond those of MCP; None for none."""
    declared = server.browser if isinstance(server, Framed) else None
    return None if declared is None else {"browser": declared}


def _check_author_function(function: object, kind: str, present: object) -> None:
    if not inspect.iscoroutinefunction(function):
        raise TypeError(f"The {kind} function has to be async: async def {kind}(session): ...")
    if present is not None:
        raise TypeError(f"This server has a {kind} function already.")
