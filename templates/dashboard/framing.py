"""The copilot's frame: the check of its address, and a session for as long as the dashboard is open.

The copilot receives the results of the tools, so its address matters. It is part of the bundle (`copilot.json`), and is
never taken from the dashboard's own address: a link could put any page there. It has to be of another origin than the
dashboard: a page of the same origin could access this one in spite of its sandbox.
"""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from mcpframe import FrameServer, errors
from mcpframe.hosts import Options, OuterFrame, serve

MOST_IDLE = 3
"""After how many sessions in a row without a call the user has to start the next one."""

START_PATIENCE = 60.0
"""How long the copilot may take until its first message, in seconds: its page has to load Python first."""

Stage = Literal["connecting", "connected", "stopped"]


def read_address(text: str, own_origin: str) -> str:
    """Return the copilot's address from the content of `copilot.json`.

    Args:
        text: the content.
        own_origin: the dashboard's origin.

    Raises:
        errors.OriginError: The address is missing, cannot be framed, or is of the dashboard's own origin.
    """
    try:
        address = json.loads(text)["url"]
    except (ValueError, TypeError, KeyError):
        address = None
    if not isinstance(address, str):
        raise errors.OriginError('copilot.json has to be {"url": "https://…"}, with the address of the copilot.')
    if OuterFrame(address).origin == own_origin:
        raise errors.OriginError(
            f"The copilot at {address} is of the dashboard's own origin, so that no sandbox would hold it: "
            "serve it at another origin, and put that into copilot.json and frame_src."
        )
    return address


def read_dialect(text: str) -> str | None:
    """Return the dialect in the content of `copilot.json`; None for that of mcpframe's own pages."""
    dialect = json.loads(text).get("dialect")
    return None if dialect is None else str(dialect)


@dataclass(frozen=True)
class Standing:
    """The state of the copilot.

    Attributes:
        stage: the stage of its session.
        text: the same as a text for people.
    """

    stage: Stage
    text: str


class Copilot:
    """The copilot in its frame, served by one server in successive sessions."""

    def __init__(
        self,
        address: str,
        server: FrameServer,
        place: Any,
        tell: Callable[[Standing], None],
        *,
        dialect: str | None = None,
    ) -> None:
        """Create it; nothing is framed yet.

        Args:
            address: the copilot's address.
            server: the server for it.
            place: the element for its frame.
            tell: called with each new state.
            dialect: see `OuterFrame`.
        """
        self._address = address
        self._server = server
        self._place = place
        self._tell = tell
        self._dialect = dialect
        self._idle = 0
        self._restart = asyncio.Event()

    def called(self) -> None:
        """Record that the copilot has made a call."""
        self._idle = 0

    def start(self) -> None:
        """Start it again, at the user's request."""
        self._restart.set()

    async def run(self) -> None:
        """Serve it for ever. When a session ends, the page is loaded again for a new one."""
        while True:
            self._tell(Standing("connecting", "The copilot is starting …"))
            self._restart.clear()
            try:
                await self._serve()
                self._idle += 1
                reason = "The copilot ended its session, again and again."
            except errors.McpFrameError as error:
                self._idle = MOST_IDLE
                reason = str(error)
            if self._idle >= MOST_IDLE:
                self._tell(Standing("stopped", reason))
                await self._restart.wait()
                self._idle = 0

    async def _serve(self) -> None:
        """Serve one session, from a new frame to its end. Raises `McpFrameError` if there is none."""
        wrong: asyncio.Future[errors.UnexpectedOrigin] = asyncio.get_running_loop().create_future()

        def note(event: Any) -> None:
            error = getattr(event, "error", None)
            if isinstance(error, errors.UnexpectedOrigin) and not wrong.done():
                wrong.set_result(error)

        options = Options(handshake_timeout=START_PATIENCE)
        frame = OuterFrame(self._address, title="Copilot", dialect=self._dialect, options=options, on_event=note)
        serving = asyncio.ensure_future(self._connect(frame))
        try:
            await asyncio.wait([serving, wrong], return_when=asyncio.FIRST_COMPLETED)
            if wrong.done():
                raise errors.SessionError(
                    f"{self._address} leads to another origin, which was told nothing. {wrong.result()}"
                )
            serving.result()
        finally:
            serving.cancel()
            await asyncio.gather(serving, return_exceptions=True)

    async def _connect(self, frame: OuterFrame) -> None:
        async with frame.connect(self._place, visible=True) as streams:
            self._tell(Standing("connected", f"The copilot of {frame.origin} can read this dashboard."))
            await serve(self._server, *streams)
