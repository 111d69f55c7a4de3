"""A server from its setup to the end of its session: one outer frame, and the MCP client on it.

A connection runs in one task, which closes everything that it has opened; other code only requests its end.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any, Protocol

import mcp_types as types
from mcp import Client
from mcp.client.context import ClientRequestContext
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from inspector.results.output_schemas import Check, show_unchecked
from inspector.session.elicitation_and_sampling import elicit, sample
from inspector.session.servers import Server
from inspector.session.setting_up import SetupGivenUp, ask_for_permissions, reason_of, set_up
from inspector.session.telling import PlainEnd, not_reached, sentence
from inspector.session.updates import Updates
from mcpframe import Element, Page
from mcpframe.hosts import POPUP, Options, OuterFrame
from mcpframe.wire import NoHandshake, Opened, Refused, SetupRequired, SetupStarted, Unresponsive, Visibility, Wire

INFO = types.Implementation(name="mcpframe-inspector", title="mcpframe inspector", version="0.1.0")

MOST_QUESTIONS = 1000
"""Questions of one call, each a request of its own in the newest revision; `mcp.Client` allows 10."""

_SILENCE = 10.0
"""Seconds until a silent page counts as not responding: its author should see that soon."""
_ENDING = 2.0
"""Seconds for a session to end; then it is cut off, as its page may never answer."""
_SHOWN_ELSEWHERE = ("notifications/message", "notifications/progress")


class Watcher(Protocol):
    """Callbacks for the events of a connection."""

    def changed(self) -> None:
        """The state has changed."""

    def completed(self, message: str | None) -> None:
        """The setup is completed, with a message to show for a moment."""

    async def connected(self, client: Client) -> None:
        """The client is ready; called in the task of the connection, before `changed`."""

    def logged(self, params: types.LoggingMessageNotificationParams) -> None:
        """The server has logged something."""

    def notified(self, method: str, params: dict[str, Any]) -> None:
        """The server has sent another notification."""

    def list_changed(self, which: str) -> None:
        """The list of "tools", "prompts" or "resources" has changed."""

    def framing(self) -> None:
        """The page is about to be framed for a session."""

    def wired(self, message: Wire, dialect: str) -> None:
        """A message was sent, received or rejected, in a session of this dialect."""

    def roots(self) -> list[str]:
        """Return the URIs that the client offers as roots."""


class Connection:
    """The connection to one server.

    Attributes:
        state: `"idle"`, `"setting up"`, `"connecting"`, `"connected"` or `"failed"`.
        problem: the reason as a sentence, for `"failed"` and after an end that the user did not ask for.
        hint: advice while the page does not call, as a sentence; empty for none.
        client: the client, while connected.
        outer: the outer frame, from the first attempt on.
        log_level: the log level requested from the server.
        updates: the subscriptions at the server.
        unresponsive: whether the page does not answer.
        check_result: the SDK's check of results against output schemas; None before the first connection.
    """

    def __init__(self, page: Page, server: Server, place: Element, origin: str, watcher: Watcher) -> None:
        """Create a connection; nothing is framed yet.

        Args:
            server: the server; the result of its setup is stored in it.
            place: the element for its iframe.
            origin: the inspector's origin.
            watcher: receives the events.
        """
        self.server = server
        self.state = "idle"
        self.problem = ""
        self.hint = ""
        self.client: Client | None = None
        self.outer: OuterFrame | None = None
        self.log_level: types.LoggingLevel | None = None
        self.updates = Updates(watcher.list_changed)
        self.unresponsive = False
        self.check_result: Check | None = None
        self._page = page
        self._place = place
        self._origin = origin
        self._watcher = watcher
        self._task: asyncio.Task[None] | None = None
        self._stop = asyncio.Event()
        self._changing = asyncio.Lock()

    @property
    def setup_required(self) -> SetupRequired | None:
        """Set if the server asks to be set up again."""
        return self.outer.setup_required if self.outer else None

    @property
    def ready(self) -> Client:
        """The client. Raises `PlainEnd` if there is none at present."""
        if self.client is None:
            raise PlainEnd("Not connected: connect first.")
        return self.client

    @property
    def request_meta(self) -> Any:
        """The `_meta` of a request: in the modern era, the requested log level."""
        if self.log_level is None or self.ready.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            return None
        return {types.LOG_LEVEL_META_KEY: self.log_level}

    @property
    def busy(self) -> bool:
        """Whether the connection is being set up or open."""
        return self._task is not None

    async def run(self, *, setup: bool = False) -> None:
        """End the present session, set the server up if requested or never done, and connect."""
        async with self._changing:
            await self._end()
            self._stop = asyncio.Event()
            self._task = asyncio.ensure_future(self._run(setup or not self.server.set_up))

    async def stop(self) -> None:
        """End the session, and wait for its end."""
        async with self._changing:
            await self._end()

    async def _end(self) -> None:
        task = self._task
        if task is None:
            return
        self._stop.set()
        if self.state != "connected":
            task.cancel()
        elif self.unresponsive or not (await asyncio.wait([task], timeout=_ENDING))[0]:
            self._cut_off()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        if self._task is task:  # it was cancelled before it began
            self._task = None
            self._become("idle")

    def _cut_off(self) -> None:
        """End the session without the page: the requests that wait for it fail."""
        if self.outer is not None and self.outer.session is not None:
            self.outer.session.close()

    async def _run(self, setup: bool) -> None:
        self.problem, self.hint, after = "", "", "failed"
        self.unresponsive = False
        try:
            outer = self.outer = self._frame()
            if setup and self.server.spoken.has_setup:
                await self._set_up(outer)
            await self._connect(outer)
            after = "failed" if self.problem else "idle"
        except asyncio.CancelledError:
            after = "idle"
        except SetupGivenUp as error:
            self.problem = sentence(error)
        except Exception as error:  # noqa: BLE001  any failure of a page is shown, and the user may retry
            self.problem = not_reached(error, self._origin, self.server.spoken.title)
        finally:
            self.client = self._task = None
            self.hint = ""
            self.unresponsive = False
            self._become(after)

    def _frame(self) -> OuterFrame:
        server, before, spoken = self.server, self.outer, self.server.spoken
        outer = OuterFrame(
            server.url,
            dialect=spoken.name,
            session_id=server.session_id if spoken.has_session_ids else None,
            title=server.name,
            visibility=Visibility(server.visibility),
            sandbox=server.sandbox,
            permissions=server.permissions,
            on_permissions=lambda asked: ask_for_permissions(self._page, server.name, asked),
            options=Options(handshake_timeout=server.timeout, unresponsive_after=_SILENCE),
            on_event=self._on_event,
            on_wire=lambda message: self._watcher.wired(message, spoken.name),
        )
        if before is not None and spoken.has_setup:
            outer.setup_required = before.setup_required
        return outer

    async def _set_up(self, outer: OuterFrame) -> None:
        self._become("setting up")
        result = await set_up(self._page, outer, self.server)
        if result.error_code is not None:
            raise SetupGivenUp(reason_of(result))
        server = self.server
        server.title = result.title
        server.visibility = result.visibility.value
        server.visibility_message = result.visibility_message or ""
        server.permissions = sorted(outer.permissions)
        server.set_up = True
        self._watcher.completed(result.ephemeral_message)

    async def _connect(self, outer: OuterFrame) -> None:
        self._become("connecting")
        self._watcher.framing()
        popup = self.server.place == "popup"
        streams = outer.connect(POPUP if popup else self._place, visible=popup or self.server.visible)
        async with Client(
            streams,
            mode=self.server.era,
            client_info=INFO,
            cache=None,  # an inspector shows the current answers of the server
            elicitation_callback=self._on_elicitation,
            input_required_max_rounds=MOST_QUESTIONS,
            sampling_callback=self._on_sampling,
            list_roots_callback=self._on_roots,
            logging_callback=self._on_log,
            message_handler=self._on_message,
        ) as client:
            if self.server.era in MODERN_PROTOCOL_VERSIONS:  # then the client sends no request to find the version
                told = await client.session.send_discover(self.server.era)
                client.session.adopt(types.DiscoverResult.model_validate(told))
            self.check_result = show_unchecked(client)
            self.client = client
            if not self.server.spoken.has_setup:
                info = client.server_info
                self.server.introduced((info.title or info.name) if info else "")
            try:
                await self.updates.begin(client)
                await self._watcher.connected(client)
                self._become("connected")
                await self._end_of(outer)
            finally:
                self.state = "ending"
                await self.updates.end()

    async def _end_of(self, outer: OuterFrame) -> None:
        assert outer.session is not None
        ended = asyncio.ensure_future(outer.session.ended())
        stopped = asyncio.ensure_future(self._stop.wait())
        both: list[asyncio.Future[Any]] = [ended, stopped]
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            if ended.done():
                error = ended.result().error
                self.problem = sentence(error) if error else "The page has ended the session."
        finally:
            for future in both:
                future.cancel()

    def _become(self, state: str) -> None:
        self.state = state
        self._watcher.changed()

    def _on_event(self, event: object) -> None:
        if isinstance(event, NoHandshake):
            self.hint = f"{event.hint} This is {self._origin}."
        elif isinstance(event, Opened | SetupStarted):
            self.hint = ""
        elif isinstance(event, Unresponsive):
            self.unresponsive = event.unresponsive
        if not isinstance(event, Refused):  # these have no effect, and their number is unlimited
            self._watcher.changed()

    async def _on_elicitation(
        self, context: ClientRequestContext, params: types.ElicitRequestParams
    ) -> types.ElicitResult:
        return await elicit(self._page, self.server.name, params)

    async def _on_sampling(
        self, context: ClientRequestContext, params: types.CreateMessageRequestParams
    ) -> types.CreateMessageResult | types.ErrorData:
        return await sample(self._page, self.server.name, params)

    async def _on_roots(self, context: ClientRequestContext) -> types.ListRootsResult:
        roots = [{"uri": uri} for uri in self._watcher.roots()]
        return types.ListRootsResult.model_validate({"roots": roots})

    async def _on_log(self, params: types.LoggingMessageNotificationParams) -> None:
        self._watcher.logged(params)

    async def _on_message(self, message: Any) -> None:
        method = getattr(message, "method", "")
        if method and method not in _SHOWN_ELSEWHERE:
            params = getattr(message, "params", None)
            told = params.model_dump(mode="json", by_alias=True) if params else {}
            self._watcher.notified(method, told)
            self.updates.note(method, told.get("uri", ""))
