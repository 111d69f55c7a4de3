"""The program's side of the sessions over native messaging: one for each client, to the hub in the extension."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from mcpframe.frame.core.errors import MessageError
from mcpframe.frame.core.outline import outline
from mcpframe.hub.core.limits import TO_EXTENSION_CHARACTERS
from mcpframe.hub.serving.native_clients import Frame, FrameJoiner, begin_of, end_of, frames_of
from mcpframe.kit.edges.link.messages import ServerMessage
from mcpframe.kit.edges.link.reopening_link import ReopeningLink

log = logging.getLogger(__name__)

_ENDED = "The hub in the browser has ended the session."


class SessionListener(Protocol):
    """Callbacks for a session; `ReopeningLink` is one."""

    def on_message(self, server_message: ServerMessage) -> None:
        """Take a message of the hub."""

    def on_gone(self, reason: str) -> None:
        """Note that the hub has ended the session."""


class NativeSession:
    """One session: a `LinkedPage`."""

    def __init__(
        self, id_: str, listener: SessionListener, write: Callable[[Frame], None], forget: Callable[[str], None]
    ) -> None:
        self.id = id_
        self.listener = listener
        self.joiner = FrameJoiner()
        self._write = write
        self._forget = forget
        write(begin_of(id_))

    def send(self, text: str) -> None:
        """Send the hub a message, as JSON text."""
        for frame in frames_of(self.id, text, TO_EXTENSION_CHARACTERS):
            self._write(frame)

    def end(self) -> None:
        """End the session: its calls are cancelled."""
        self._forget(self.id)
        self._write(end_of(self.id))

    async def close(self) -> None:
        self.end()

    async def complete(self) -> None:
        """Do nothing: all files are loaded."""

    def await_answer(self, still: Callable[[], bool]) -> None:
        """Do nothing: the hub has its own deadlines."""

    def answer_cancelled(self) -> None:
        """Do nothing."""


class NativeSessions:
    """All sessions.

    Args:
        write: Writes a frame for the extension.
    """

    def __init__(self, write: Callable[[Frame], None]) -> None:
        self._write = write
        self._numbers = itertools.count(1)
        self._sessions: dict[str, NativeSession] = {}

    def __len__(self) -> int:
        return len(self._sessions)

    def begin(self, listener: SessionListener) -> NativeSession:
        session = NativeSession(str(next(self._numbers)), listener, self._write, self._forget)
        self._sessions[session.id] = session
        return session

    async def open_page(self, link: ReopeningLink) -> NativeSession:
        return self.begin(link)

    def take(self, frame: Mapping[str, Any]) -> None:
        """Take a frame of the extension. Never raises."""
        id_ = frame.get("session")
        session = self._sessions.get(id_) if isinstance(id_, str) else None
        if session is None:
            return
        if "end" in frame:
            reason = frame["end"]
            self._gone(session, reason if isinstance(reason, str) and reason else _ENDED)
            return
        try:
            text = session.joiner.add(frame)
        except MessageError as error:
            session.end()
            self._gone(session, f"A message of the hub cannot be read: {error}")
            return
        if text is not None:
            session.listener.on_message(server_message_of(text))

    def _forget(self, id_: str) -> None:
        self._sessions.pop(id_, None)

    def _gone(self, session: NativeSession, reason: str) -> None:
        self._forget(session.id)
        session.listener.on_gone(reason)


def server_message_of(text: str) -> ServerMessage:
    """Return a message of the hub with its head."""
    head = outline(text)
    id_ = head.id if isinstance(head.id, str | int) else None
    return ServerMessage(text, id_, head.method)
