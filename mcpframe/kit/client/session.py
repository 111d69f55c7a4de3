"""One session with a deployed server, from the command line: its page in headless Chromium, framed by a page of an
allowed origin.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import mcp_types as types
from mcp import Client
from mcp.client.session import ElicitationFnT, LoggingFnT
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from mcpframe.frame.core.allowed_origins import ANY, OPAQUE
from mcpframe.frame.core.errors import OriginError, SessionError
from mcpframe.frame.core.places import parse_address
from mcpframe.frame.core.roles import Options
from mcpframe.frame.hosting.outer import OuterFrame
from mcpframe.frame.session.setup_phase import SetupRequired
from mcpframe.kit.base.errors import NoFramedServer, SetupNotDone, ToolFailed
from mcpframe.kit.base.scratch import scratch
from mcpframe.kit.browser.chromium import ensure_chromium
from mcpframe.kit.browser.devtools.browsers import OpenTab
from mcpframe.kit.browser.devtools.host_page import OFF, HostPage, host_page
from mcpframe.kit.browser.devtools.launch import StartedChromium, launch
from mcpframe.kit.browser.page_window import PageGone
from mcpframe.kit.client.enter_setup import HOW, run_setup
from mcpframe.kit.servers.published import fetch, host_for, not_offered, read_manifest

MOST_QUESTIONS = 1000
"""Questions of one call to a client of 2026-07-28, each a request of its own; `mcp.Client` allows 10."""


@dataclass(frozen=True)
class Logs:
    """The handling of the messages that a server logs.

    Attributes:
        level: The lowest level to request.
        callback: Called with each message.
    """

    level: types.LoggingLevel
    callback: LoggingFnT


@asynccontextmanager
async def one_session(
    url: str,
    *,
    origin: str | None = None,
    dialect: str | None = None,
    era: str = "auto",
    patience: float = 30.0,
    setup: Sequence[tuple[str, Any]] | None = None,
    logs: Logs | None = None,
    elicit: ElicitationFnT | None = None,
) -> AsyncIterator[Client]:
    """Open a session with the page at `url` for the duration of the block.

    The block ends with an error if the server reports that it cannot continue without its setup.

    Args:
        url: The page's address.
        origin: The origin of the page that frames it; by default the first that its manifest allows.
        dialect: The dialect that the page speaks; by default the preferred one.
        era: The `mode` of `mcp.Client`.
        patience: The deadline for the page's first message, in seconds, and for the web server to answer.
        setup: The entries for the server's setup, from `parse_entries`, which runs first; None runs no setup.
        logs: Handles the messages that the server logs, including its `print`; they are requested only if given.
        elicit: Answers the questions of the server; without it, it is told that nobody does.

    Raises:
        ChromiumMissing: No browser is installed.
        NoFramedServer: The page does not answer as a framed server.
        SetupNotDone: The server requires its setup, or the setup does not succeed.
        BrowserGone: The browser does not start.
        ToolFailed: It has ended meanwhile.
    """
    address, _ = parse_address(url)
    page = fetch(address, patience=patience)
    if page.status != 200:
        raise NoFramedServer(f"{url} answers with status {page.status}: give the address of a server's page.")
    manifest = read_manifest(page.url, patience=patience)
    if reason := not_offered(manifest, dialect):
        raise NoFramedServer(f"{url} {reason}.")
    host = origin or host_for(manifest)
    async with session_browser() as browser:
        tab = OpenTab(browser.devtools, await browser.new_tab())
        async with host_page(tab, host) as place, Demands() as demands:
            options = Options(handshake_timeout=patience)
            outer = OuterFrame(page.url, dialect=dialect, options=options, on_event=demands.on_event)
            with session_errors(url, host, place):
                if setup is not None:
                    await run_setup(outer, place, setup)
                client = Client(
                    outer.connect(place),
                    mode=era,
                    elicitation_callback=elicit,
                    input_required_max_rounds=MOST_QUESTIONS,
                    logging_callback=logs.callback if logs else None,
                    log_level=logs.level if logs else None,
                )
                await client.__aenter__()
            try:
                if logs:
                    await _ask_for_logs(client, logs.level, patience)
                yield client
            finally:
                await client.__aexit__(None, None, None)


@asynccontextmanager
async def session_browser() -> AsyncIterator[StartedChromium]:
    """Start a browser with an empty profile for the duration of the block.

    Raises:
        ChromiumMissing: No browser is installed.
        BrowserGone: The browser does not start.
        ToolFailed: It has ended meanwhile, or a page of it is lost.
    """
    program = ensure_chromium()
    # A profile on disk: otherwise Chromium does not keep the data of framed pages, and a setup would be lost.
    with scratch("session") as profile:
        browser = await launch(program, profile, addresses={}, off=OFF)
        try:
            yield browser
        except Exception as error:
            if browser.gone:
                raise ToolFailed("The browser has ended while the server was used: run this again.") from error
            if isinstance(error, PageGone):
                raise ToolFailed(f"The browser's page was lost ({error}): run this again.") from error
            raise
        finally:
            await browser.close()


async def _ask_for_logs(client: Client, level: types.LoggingLevel, patience: float) -> None:
    """Request logs in the handshake era; later, each request does (MCP specification, server/utilities/logging)."""
    if client.protocol_version in MODERN_PROTOCOL_VERSIONS or client.server_capabilities.logging is None:
        return
    with suppress(MCPError, TimeoutError):  # a server without logs can still be called
        async with asyncio.timeout(patience):
            # `set_logging_level` warns that later revisions lack it.
            request = types.SetLevelRequest(params=types.SetLevelRequestParams(level=level))
            await client.session.send_request(request, types.EmptyResult)


class Demands:
    """Ends its block if the server cannot continue without its setup, as no user is present to run it."""

    def __init__(self) -> None:
        self._limit = asyncio.timeout(None)
        self._demand: SetupRequired | None = None

    def on_event(self, event: object) -> None:
        if isinstance(event, SetupRequired) and not event.can_continue and self._demand is None:
            self._demand = event
            self._limit.reschedule(asyncio.get_running_loop().time())

    async def __aenter__(self) -> Demands:
        await self._limit.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with suppress(TimeoutError):
            await self._limit.__aexit__(kind, error, traceback)
        if self._demand is not None and (error is None or isinstance(error, Exception | asyncio.CancelledError)):
            message = self._demand.message.rstrip(".")
            raise SetupNotDone(
                f"The server cannot go on without its setup ({message}): run it first with --setup, and give what it "
                f"needs with {HOW}."
            ) from None


@contextmanager
def session_errors(url: str, host: str, place: HostPage) -> Iterator[None]:
    """Say for a session that is opened in the block why there is none, with what the page's console has.

    Args:
        url: The address of the server's page.
        host: The origin of the page that frames it.

    Raises:
        NoFramedServer: The page does not answer as a framed server.
    """
    try:
        yield
    except (SessionError, MCPError, PageGone) as error:
        raise NoFramedServer(_no_session(url, host, error, place.complaints)) from error


def _no_session(url: str, host: str, error: Exception, complaints: list[str]) -> str:
    reason = str(error).rstrip(".")
    console = "\n".join(dict.fromkeys(complaints))
    return (
        f"{url} does not speak MCP to a page of {host} that frames it ({reason}): is it the page of an mcpframe "
        f"server, and does that allow this origin (--origin)?" + (f"\nThe browser says:\n{console}" if console else "")
    )


def check_origin(origin: str | None) -> None:
    """Raise `OriginError` if no page can have this origin."""
    from mcpframe.frame.core.allowed_origins import parse_origin

    if origin is not None:
        if origin in (ANY, OPAQUE):
            raise OriginError(f"{origin!r} is not the origin of a page; write one such as https://chat.example.")
        parse_origin(origin)
