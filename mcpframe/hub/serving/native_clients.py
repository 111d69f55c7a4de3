"""Many sessions over one port of native messaging, between the extension's hub and `mcpframe hub --native`.

    {"session": "7", "begin": true}                 program to extension: a client is there
    {"session": "7", "text": "…"}                   a message of this session, as JSON text
    {"session": "7", "text": "…", "more": true}     a piece of one: more follow
    {"session": "7", "end": "why"}                  the session has ended; empty without an error
    {"state": {…}}                                  program to extension: its state, for the popup

Browsers end a host that sends more than 1 MiB in a frame, so long messages are sent in pieces. The program's side
numbers the sessions. Without I/O. Source: Chrome's documentation, "Native messaging".
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from mcpframe.frame.core import payload
from mcpframe.frame.core.errors import MalformedMessage, MessageError
from mcpframe.frame.core.limits import MESSAGE_BYTES
from mcpframe.hub.core import limits
from mcpframe.hub.core.pieces import Joiner, cut
from mcpframe.hub.serving.port_clients import HubClients

log = logging.getLogger(__name__)

Frame = dict[str, Any]

NATIVE_HOST = "mcpframe.hub"
"""The name of the host, by which the extension connects to it."""


def frames_of(session: str, text: str, longest: int) -> Iterator[Frame]:
    """Yield the frames of a message, which is JSON text, with at most this many characters each."""
    for piece, more in cut(text, longest):
        yield {"session": session, "text": piece} | ({"more": True} if more else {})


def begin_of(session: str) -> Frame:
    return {"session": session, "begin": True}


def end_of(session: str, reason: str = "") -> Frame:
    return {"session": session, "end": reason}


class FrameJoiner:
    """Joins the messages of one session."""

    def __init__(self) -> None:
        self._joiner = Joiner(MESSAGE_BYTES, limits.NATIVE_PIECES)

    def add(self, frame: Mapping[str, Any]) -> str | None:
        """Return the message that this frame completes; None if more follow.

        Raises:
            MessageError: It is not a piece, or its message is too large.
        """
        text = frame.get("text")
        if not isinstance(text, str):
            raise MalformedMessage("A frame has no text.")
        return self._joiner.add(text, more=frame.get("more") is True)


class _SessionPort:
    def __init__(self, session: str, post: Callable[[Frame], None], forget: Callable[[str], None]) -> None:
        self._session = session
        self._post = post
        self._forget = forget
        self.joiner = FrameJoiner()

    def post(self, text: str) -> None:
        for frame in frames_of(self._session, text, limits.TO_PROGRAM_CHARACTERS):
            self._post(frame)

    def close(self, reason: str = "The hub has ended the session.") -> None:
        self._forget(self._session)
        self._post(end_of(self._session, reason))


class NativeClients:
    """The extension's side: each session is a client of the hub.

    Args:
        post: Posts a frame, as JSON text, to the program.
    """

    def __init__(self, clients: HubClients, post: Callable[[str], None]) -> None:
        self._clients = clients
        self._post = post
        self._ports: dict[str, _SessionPort] = {}

    def received(self, text: str) -> Frame | None:
        """Take a frame of the program, as JSON text. Never raises.

        Returns:
            The program's state, if the frame has it; else None.
        """
        try:
            frame = payload.parse(text, max_bytes=limits.NATIVE_FRAME_BYTES, max_nesting=limits.HUB_MESSAGE_NESTING)
        except MessageError as error:
            log.warning("A frame of native messaging is ignored: %s", error)
            return None
        if not isinstance(frame, dict):
            return None
        if isinstance(state := frame.get("state"), dict):
            return state
        if isinstance(session := frame.get("session"), str):
            self._take(session, frame)
        return None

    def closed(self) -> None:
        """Note that the program has ended, and all its sessions with it."""
        ports, self._ports = self._ports, {}
        for port in ports.values():
            self._clients.closed(port)

    def _take(self, session: str, frame: Frame) -> None:
        port = self._ports.get(session)
        if "end" in frame:
            if port is not None:
                del self._ports[session]
                self._clients.closed(port)
            return
        if frame.get("begin") is True and port is None:
            port = self._ports[session] = _SessionPort(session, self._frame, self._forget)
            self._clients.connected(port)
            return
        if port is None:
            return  # the hub has ended it
        try:
            message = port.joiner.add(frame)
        except MessageError as error:
            self._clients.closed(port)
            port.close(f"The session has ended: {error}")
            return
        if message is not None:
            self._clients.received(port, message)

    def _forget(self, session: str) -> None:
        self._ports.pop(session, None)

    def _frame(self, frame: Frame) -> None:
        self._post(payload.encode(frame))
