"""Serves a program over Streamable HTTP: each session, and each user of the revisions without any, has a process.

The bridge's HTTP edge, with processes in place of pages.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final

from mcp.server.transport_security import RequestBodyLimitMiddleware
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER, unsupported_protocol_version_rejection
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from mcpframe.frame.core import payload
from mcpframe.frame.session.lines import NEWEST_HANDSHAKE
from mcpframe.kit.base.errors import ServeError
from mcpframe.kit.base.limits import START_SECONDS
from mcpframe.kit.base.progress import Progress
from mcpframe.kit.base.signals import ended_by_signals
from mcpframe.kit.bundle.code.sdk_choice import fails_as_earlier
from mcpframe.kit.bundle.code.stdio_choice import stdio_choice
from mcpframe.kit.edges.http.access import Access
from mcpframe.kit.edges.http.endpoint import has_session, mcp_app, serve_until_cancelled
from mcpframe.kit.edges.http.request_checks import read_body, refused
from mcpframe.kit.edges.http.sessions import Sessions
from mcpframe.kit.edges.http.stateless import StatelessRequests
from mcpframe.kit.edges.http.user_requests import UserRequests
from mcpframe.kit.edges.link.messages import ServerMessage
from mcpframe.kit.edges.link.reopening_link import ReopeningLink
from mcpframe.kit.edges.stdio.lines import LIMITS, Line
from mcpframe.kit.plain_python.own_environment import OwnEnvironment, install
from mcpframe.kit.plain_python.running_program import Program, RunningProgram
from mcpframe.kit.project.project import Project

MOST: Final = 32
"""The largest number of sessions, and of users of the revisions without any: each has a process."""
MOST_OF_USER: Final = 8
"""The largest number of sessions of one user: nobody takes the room of all others."""
_STARTER: Final = Path(__file__).with_name("in_environment.py")
_INITIALIZE: Final = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": NEWEST_HANDSHAKE,
        "capabilities": {},
        "clientInfo": {"name": "mcpframe serve", "version": "1"},
    },
}


class _DoesNotStart(ServeError):
    """A program did not answer its first request.

    Args:
        printed: What it has printed meanwhile.
    """

    def __init__(self, message: str, printed: str) -> None:
        super().__init__(message)
        self.printed = printed


def serve_program(
    project: Project, access: Access, listener: socket.socket, listening: Callable[[], None], progress: Progress
) -> None:
    """Install a server's environment, and serve it until a signal.

    Args:
        listening: Called once it serves.

    Raises:
        ServeError: The server does not start.
        McpFrameError: As by `install`.
    """
    environment = install(project, progress)
    program = _program(environment)
    try:
        asyncio.run(_check(program, environment, progress))
    except _DoesNotStart as error:
        if not environment.has_later_sdk or not fails_as_earlier(error.printed):
            raise
        environment = install(project, progress, earlier=True)
        program = _program(environment)
        asyncio.run(_check(program, environment, progress))
    asyncio.run(_serve(program, access, listener, listening))


def _program(environment: OwnEnvironment) -> Program:
    project = environment.project
    # A package's program runs where its user is, as on the command line; an author's beside its files.
    folder, source = (Path.cwd(), "") if project.named_package else (project.source, str(project.source))
    command = [str(environment.python), "-P", str(_STARTER), project.entry, source, project.program]
    return Program([*command, *project.config.args], folder, environment.has_later_sdk, project.config.env)


async def _check(program: Program, environment: OwnEnvironment, progress: Progress) -> None:
    """Start a program once, and end it after its first answer.

    Raises:
        ServeError: It has not answered.
    """
    opened: list[RunningProgram] = []

    async def open_page(link: ReopeningLink) -> RunningProgram:
        opened.append(RunningProgram(program, link))
        return opened[0]

    first = _FirstAnswer()
    link = ReopeningLink(open_page, first)
    try:
        with progress("Starting the server"):
            link.send(payload.encode(_INITIALIZE), _INITIALIZE)
            async with asyncio.timeout(START_SECONDS):
                answer = await first.answer
    except TimeoutError:
        reason = f"it has not answered within {START_SECONDS:.0f} seconds"
    else:
        if "result" in answer:
            return
        reason = str(answer.get("error", {}).get("message"))
    finally:
        await link.close()
    printed = await opened[0].printed()
    choice = stdio_choice(environment.code)
    advice = (
        "See what it has printed above." if "Traceback" in printed else "It has to serve standard input and output."
    )
    project = environment.project
    name = project.program or project.entry
    text = f"{project.file}: {name} is not served: {reason.rstrip(' .')}. {choice.advice if choice else advice}"
    raise _DoesNotStart(text, printed)


class _FirstAnswer:
    """An `Edge` that waits for one answer."""

    def __init__(self) -> None:
        self.answer: asyncio.Future[Mapping[str, Any]] = asyncio.get_running_loop().create_future()

    def deliver(self, server_message: ServerMessage) -> None:
        """Take an answer."""
        if server_message.id == _INITIALIZE["id"] and server_message.method is None and not self.answer.done():
            self.answer.set_result(server_message.message)

    def note(self, _: str) -> None:
        """Drop a note: the error has the reason."""


async def _serve(program: Program, access: Access, listener: socket.socket, listening: Callable[[], None]) -> None:
    with ended_by_signals():
        async with _running(program, access) as (app, end):
            listening()
            await serve_until_cancelled(app, listener, None, end)


@asynccontextmanager
async def _running(program: Program, access: Access) -> AsyncIterator[tuple[ASGIApp, Callable[[], None]]]:
    """Yield the application of a program, and what answers its open requests at the end."""

    async def open_page(link: ReopeningLink) -> RunningProgram:
        return RunningProgram(program, link)

    def take() -> ReopeningLink:
        return ReopeningLink(open_page, reopening_note="It is started again.")

    settings = access.security()
    sessions = Sessions(take, settings, MOST, most_of_user=MOST_OF_USER)
    requests = UserRequests(lambda: StatelessRequests(take, settings), MOST)

    without_session = requests if program.knows_discovery else _refuse

    async def by_era(scope: Scope, receive: Receive, send: Send) -> None:
        with suppress(ClientDisconnect):  # the client left in the middle of its request
            await (sessions if has_session(scope) else without_session)(scope, receive, send)

    def end() -> None:
        sessions.end()
        requests.end()

    app = mcp_app(RequestBodyLimitMiddleware(by_era, LIMITS.max_message_bytes), access, settings)
    try:
        async with sessions.run():
            yield app, end
    finally:
        await requests.close()


async def _refuse(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request of a revision that the server's SDK does not know: clients go on with one that it does."""
    request = Request(scope, receive)
    line = read_body(await request.body())
    version = request.headers[MCP_PROTOCOL_VERSION_HEADER]
    rejection = unsupported_protocol_version_rejection(version, HANDSHAKE_PROTOCOL_VERSIONS)
    assert rejection is not None  # else it has a session
    refusal = refused(rejection, line.message.get("id") if isinstance(line, Line) else None)
    body = payload.encode(refusal.body())
    await Response(body, refusal.status, media_type="application/json")(scope, receive, send)
