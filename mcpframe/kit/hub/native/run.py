"""`mcpframe hub --native`: connects the hub in the browser's extension with the MCP clients on this machine.

The browser starts it, speaks with it on the standard streams, and closes them when the extension or the browser ends:
then it ends, too. It has no hub itself. Each client has its own session with the extension's hub, and its messages pass
unchanged: over a Unix socket, for `mcpframe hub --connect`, and over Streamable HTTP on request.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version

from mcpframe.frame.core.allowed_origins import parse_allowed_origins
from mcpframe.frame.core.errors import McpFrameError, MessageError
from mcpframe.hub.serving.native_clients import Frame
from mcpframe.kit.base.errors import PortTaken
from mcpframe.kit.base.signals import ended_by_signals
from mcpframe.kit.edges.http.access import HOST, Access
from mcpframe.kit.edges.http.endpoint import BridgeEndpoint, EdgeOptions, Spare, serve_until_cancelled
from mcpframe.kit.edges.link.messages import MOST_UNREAD, ServerMessage
from mcpframe.kit.edges.stdio.lines import Broken, messages_of
from mcpframe.kit.edges.stdio.streams import standard_input, standard_output
from mcpframe.kit.hub.log import hub_log
from mcpframe.kit.hub.native.meeting_place import listening, made_folder, turn
from mcpframe.kit.hub.native.native_framing import NativeFrames, pack
from mcpframe.kit.hub.native.sessions import NativeSessions
from mcpframe.kit.web.serve import bind

log = logging.getLogger(__name__)

_CHUNK = 1 << 16
_MOST_SESSIONS = 48
"""The hub in the extension takes 64 clients."""
_PORT_TRIES = 20
_PORT_SECONDS = 0.25
"""A browser that restarts starts the program before its predecessor has ended and left the port: 5 s in all."""


@dataclass(frozen=True)
class NativeSettings:
    """The options of the command.

    Attributes:
        port: The port of Streamable HTTP; None for none.
        allowed_origins: The origins of web pages that may send requests there.
    """

    port: int | None = None
    allowed_origins: Sequence[str] = ()


def run_native(settings: NativeSettings) -> None:
    """Serve the browser on the standard streams until it closes them.

    Raises:
        OriginError: An origin that can never match.
    """
    origins = list(parse_allowed_origins(settings.allowed_origins)) if settings.allowed_origins else []
    with hub_log():
        asyncio.run(_main(NativeSettings(settings.port, origins)))


async def _main(settings: NativeSettings) -> None:
    with ended_by_signals():
        async with standard_output() as output:
            sessions = NativeSessions(lambda frame: output.write_bytes(pack(frame)))
            host = _Host(settings, sessions, lambda frame: output.write_bytes(pack(frame)))
            reading = asyncio.create_task(_read(sessions))
            serving = asyncio.create_task(host.serve())
            try:
                await asyncio.wait({reading, output.broken}, return_when=asyncio.FIRST_COMPLETED)
                if reading.done():
                    reading.result()
            except MessageError as error:
                log.error("%s", error)
            finally:
                for task in (reading, serving):
                    task.cancel()
                await asyncio.wait({reading, serving})


async def _read(sessions: NativeSessions) -> None:
    frames = NativeFrames()
    async for data in standard_input():
        for frame in frames.feed(data):
            sessions.take(frame)


class _Host:
    """Serves the clients, and reports its state to the extension."""

    def __init__(self, settings: NativeSettings, sessions: NativeSessions, write: Callable[[Frame], None]) -> None:
        self._settings = settings
        self._sessions = sessions
        self._write = write

    async def serve(self) -> None:
        """Serve until cancelled. A failure is only reported: the extension would start the next program."""
        try:
            self._say()
            folder = made_folder()
            other = "Another browser has this extension, and serves the clients of this machine."
            with await turn(folder, lambda: self._say(trouble=other)), listening(folder) as listener:
                async with asyncio.TaskGroup() as tasks:
                    tasks.create_task(self._serve_socket(listener))
                    if self._settings.port is None:
                        self._say(serves=True)
                    else:
                        tasks.create_task(self._serve_http(self._settings.port))
        except* (McpFrameError, OSError) as errors:
            trouble = "; ".join(str(error) for error in errors.exceptions)
            log.error("%s", trouble)
            self._say(trouble=trouble)

    async def _serve_socket(self, listener: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        async with asyncio.TaskGroup() as tasks:
            while True:
                client, _ = await loop.sock_accept(listener)
                if len(self._sessions) >= _MOST_SESSIONS:
                    log.warning("There are %d clients already: one more is turned away.", _MOST_SESSIONS)
                    client.close()
                    continue
                tasks.create_task(SocketClient(client, self._sessions).serve())

    async def _serve_http(self, port: int) -> None:
        try:
            listener = await _bound(port)
        except McpFrameError as error:
            log.error("%s", error)
            self._say(serves=True, trouble=str(error))
            return
        with listener:
            port = listener.getsockname()[1]
            access = Access(allowed_origins=self._settings.allowed_origins)
            bridge = BridgeEndpoint(
                Spare(self._sessions.open_page), port, access, EdgeOptions(most_sessions=_MOST_SESSIONS)
            )
            async with bridge.running():
                self._say(serves=True, http=access.address(port))
                await serve_until_cancelled(bridge.app, listener, None, bridge.end)

    def _say(self, *, serves: bool = False, http: str | None = None, trouble: str = "") -> None:
        state = {"version": version("mcpframe"), "serves": serves, "http": http, "trouble": trouble}
        self._write({"state": state})


async def _bound(port: int) -> socket.socket:
    for _ in range(_PORT_TRIES):
        with contextlib.suppress(PortTaken):
            return bind(HOST, port)
        await asyncio.sleep(_PORT_SECONDS)
    return bind(HOST, port)


class SocketClient:
    """A client over the socket: JSON-RPC in lines, as over stdio.

    Args:
        client: The connected socket.
        sessions: The sessions with the extension.
    """

    def __init__(self, client: socket.socket, sessions: NativeSessions) -> None:
        self._client = client
        self._sessions = sessions
        self._writer: asyncio.StreamWriter | None = None
        self._gone = asyncio.Event()

    async def serve(self) -> None:
        """Pass messages on until either side ends the session."""
        reader, self._writer = await asyncio.open_unix_connection(sock=self._client)
        session = self._sessions.begin(self)
        reading = asyncio.create_task(self._read(reader, session.send))
        gone = asyncio.create_task(self._gone.wait())
        try:
            await asyncio.wait({reading, gone}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            session.end()
            for task in (reading, gone):
                task.cancel()
            await asyncio.wait({reading, gone})
            reading.cancelled() or reading.exception()  # a client may end in any way
            self._writer.close()

    def on_message(self, server_message: ServerMessage) -> None:
        """Pass a message on. A client with too much unread data counts as gone."""
        assert self._writer is not None
        self._writer.write(server_message.text.encode("utf-8", "surrogatepass") + b"\n")
        if self._writer.transport.get_write_buffer_size() > MOST_UNREAD:
            log.warning("A client does not read the messages sent to it: its session ends.")
            self._writer.transport.abort()
            self._gone.set()

    def on_gone(self, reason: str) -> None:
        log.info("%s", reason)
        self._gone.set()

    async def _read(self, reader: asyncio.StreamReader, send: Callable[[str], None]) -> None:
        async for line in messages_of(_chunks(reader)):
            if isinstance(line, Broken):
                self.on_message(ServerMessage(line.answer))
            else:
                send(line.text)


async def _chunks(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    while data := await reader.read(_CHUNK):
        yield data
