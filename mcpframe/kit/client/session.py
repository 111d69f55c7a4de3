"""One session with a deployed server, from the command line: its page in headless Chromium, framed by a page of an
allowed origin.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import mcp_types as types
from mcp import Client
from mcp.client.session import ElicitationFnT, LoggingFnT
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from mcpframe.frame.core.errors import OriginError, SessionError
from mcpframe.frame.core.origins import ANY, OPAQUE
from mcpframe.frame.core.places import parse_address
from mcpframe.frame.core.roles import Options
from mcpframe.frame.hosting.outer import OuterFrame
from mcpframe.frame.session.setup_phase import SetupRequired
from mcpframe.kit.base.errors import NoFramedServer, SetupNotDone, ToolFailed
from mcpframe.kit.base.scratch import scratch
from mcpframe.kit.browser.chromium import ensure_chromium, launch_options
from mcpframe.kit.client.enter_setup import HOW, PATIENCE, run_setup
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
        ToolFailed: The browser does not start, or has ended meanwhile.
    """
    from playwright.async_api import Error, async_playwright

    from mcpframe.kit.browser.host_tab import OFF, host_tab
    from mcpframe.kit.browser.playwright_window import PlaywrightPlace

    address, _ = parse_address(url)
    page = fetch(address, patience=patience)
    if page.status != 200:
        raise NoFramedServer(f"{url} answers with status {page.status}: give the address of a server's page.")
    manifest = read_manifest(page.url, patience=patience)
    if reason := not_offered(manifest, dialect):
        raise NoFramedServer(f"{url} {reason}.")
    host = origin or host_for(manifest)
    program = ensure_chromium()
    # A profile on disk: otherwise Chromium does not keep the data of framed pages, and a setup would be lost.
    with scratch("session") as profile:
        async with async_playwright() as playwright:
            try:
                context = await playwright.chromium.launch_persistent_context(
                    profile, **launch_options(program, off=OFF)
                )
            except Error as error:
                raise ToolFailed(
                    f"{program} does not start: run it once by hand to see why, or set MCPFRAME_CHROMIUM to another."
                ) from error
            context.set_default_timeout(PATIENCE * 1000)
            ended = asyncio.Event()
            context.on("close", lambda _: ended.set())
            try:
                async with host_tab(context, host) as tab, _Demands() as demands:
                    options = Options(handshake_timeout=patience)
                    outer = OuterFrame(page.url, dialect=dialect, options=options, on_event=demands.on_event)
                    place = PlaywrightPlace(tab.page)
                    try:
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
                    except (SessionError, MCPError) as error:
                        raise NoFramedServer(_no_session(url, host, error, tab.complaints)) from error
                    try:
                        if logs:
                            await _ask_for_logs(client, logs.level, patience)
                        yield client
                    finally:
                        await client.__aexit__(None, None, None)
            except Exception as error:
                if ended.is_set():
                    raise ToolFailed("The browser has ended while the server was used: run this again.") from error
                raise
            finally:
                with suppress(Error):
                    await context.close()


async def _ask_for_logs(client: Client, level: types.LoggingLevel, patience: float) -> None:
    """Request logs in the handshake era; later, each request does (MCP specification, server/utilities/logging)."""
    if client.protocol_version in MODERN_PROTOCOL_VERSIONS or client.server_capabilities.logging is None:
        return
    with suppress(MCPError, TimeoutError):  # a server without logs can still be called
        async with asyncio.timeout(patience):
            # `set_logging_level` warns that later revisions lack it.
            request = types.SetLevelRequest(params=types.SetLevelRequestParams(level=level))
            await client.session.send_request(request, types.EmptyResult)


class _Demands:
    """Ends its block if the server cannot continue without its setup, as no user is present to run it."""

    def __init__(self) -> None:
        self._limit = asyncio.timeout(None)
        self._demand: SetupRequired | None = None

    def on_event(self, event: object) -> None:
        if isinstance(event, SetupRequired) and not event.can_continue and self._demand is None:
            self._demand = event
            self._limit.reschedule(asyncio.get_running_loop().time())

    async def __aenter__(self) -> _Demands:
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


def _no_session(url: str, host: str, error: Exception, complaints: list[str]) -> str:
    reason = str(error).rstrip(".")
    console = "\n".join(dict.fromkeys(complaints))
    return (
        f"{url} does not speak MCP to a page of {host} that frames it ({reason}): is it the page of an mcpframe "
        f"server, and does that allow this origin (--origin)?" + (f"\nThe browser says:\n{console}" if console else "")
    )


def check_origin(origin: str | None) -> None:
    """Raise `OriginError` if no page can have this origin."""
    from mcpframe.frame.core.origins import parse_origin

    if origin is not None:
        if origin in (ANY, OPAQUE):
            raise OriginError(f"{origin!r} is not the origin of a page; write one such as https://chat.example.")
        parse_origin(origin)
