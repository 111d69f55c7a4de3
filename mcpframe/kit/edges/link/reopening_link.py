"""One MCP connection to a framed server: opens its page, and reopens it when it crashes.

Messages pass unchanged. After a crash, the open requests are answered with an error, and the state that the client has
set up (until 2025-11-25) is repeated to the next page: `initialize`, `notifications/initialized`, the log level and the
subscribed resources. From 2026-07-28 on there is nothing to repeat.

The page itself reports its end (`on_gone`): see `kit/bridge/chromium/bridge_page.py`.
"""

from __future__ import annotations

import asyncio
import json
import logging
import uuid
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, Protocol

from mcpframe.frame.core import jsonrpc, payload
from mcpframe.frame.core.errors import MessageError
from mcpframe.frame.waiting.peer import Overdue, Peer
from mcpframe.kit.base.errors import PageFailed
from mcpframe.kit.edges.link.messages import ServerMessage, checked

logger = logging.getLogger(__name__)


_REPEAT_SECONDS = 30.0
"""Seconds for a server to answer a request that is repeated to its new page."""


class LinkedPage(Protocol):
    """A page with a server, such as `BridgePage`."""

    def send(self, text: str) -> None:
        """Send the server a message."""

    def await_answer(self, still: Callable[[], bool]) -> None:
        """Watch the page while requests wait for an answer."""

    def answer_cancelled(self) -> None:
        """Record that no request waits."""

    async def complete(self) -> None:
        """Load all of its files."""

    async def close(self) -> None:
        """Close the page."""


OpenPage = Callable[["ReopeningLink"], Awaitable[LinkedPage]]
"""Opens a page with the server, which calls the link back about events. Raises KitError."""


class Edge(Protocol):
    """The client's side of a link."""

    def deliver(self, server_message: ServerMessage) -> None:
        """Deliver a message to the client."""

    def note(self, text: str) -> None:
        """Show the user a message."""


class ReopeningLink:
    """A connection between one client and one framed server."""

    def __init__(
        self, open_page: OpenPage, edge: Edge | None = None, reopening_note: str = "It is opened again."
    ) -> None:
        """Create a link; its page is opened by `open` or the first `send`. The edge may be set later, before `send`.

        `reopening_note` says that an ended page is reopened.
        """
        self._reopening_note = reopening_note
        self.edge = edge
        self._open_page = open_page
        self._page: LinkedPage | None = None
        self._opening: asyncio.Task[None] | None = None
        self._closing = False
        self._raises = False  # whether `open` raises the reason if there is no page
        self._queue: list[str] = []
        self._asked: dict[jsonrpc.RequestId, bool] = {}
        """The open requests of the client, and whether a page has received them."""
        self._owed: dict[jsonrpc.RequestId, None] = {}
        self._beginning = _Beginning()
        self._repeated: Peer[str, None] = Peer(_unused_ids())

    @property
    def pending(self) -> int:
        """The number of the client's requests that wait for an answer."""
        return len(self._asked)

    async def open(self) -> None:
        """Open the page, unless it is open.

        Raises:
            KitError: the page cannot be opened; the message says why. Open requests have been answered with an error.
        """
        if self._page is None:
            self._raises = True
            await asyncio.shield(self._start_opening())
            self._raises = False

    def waits_for(self, id_: jsonrpc.RequestId) -> bool:
        """Return whether a request with this id waits for an answer."""
        return id_ in self._asked

    def send(self, text: str, message: Mapping[str, Any]) -> None:
        """Send one message of the client; it is queued until the page is open.

        Args:
            text: the message as JSON text, for the server.
            message: the same message, parsed.
        """
        if "method" not in message:
            if message.get("id") not in self._owed:
                return  # an answer to an earlier page
            del self._owed[message["id"]]
        elif "id" in message:
            self._asked[message["id"]] = self._page is not None
        elif (cancelled := jsonrpc.cancelled_id(message)) is not None:
            self._cancel(cancelled)
        self._beginning.note(text, message)
        if self._page is not None:
            self._page.send(text)
            self._watch()
        else:
            self._queue.append(text)
            self._start_opening()

    def closed_error(self, id_: jsonrpc.RequestId, reason: str) -> dict[str, Any]:
        """Return the error for an open request without an answer: its `data` indicates whether it may have run."""
        data = {"reason": "ConnectionClosed", "mayHaveRun": self._asked.get(id_, False)}
        return jsonrpc.error_response(id_, jsonrpc.CONNECTION_CLOSED, reason, data)

    async def close(self) -> None:
        """Close the page. No message is delivered after this."""
        self._closing = True
        if self._opening is not None:
            self._opening.cancel()
            await asyncio.wait([self._opening])
        if self._page is not None:
            await self._page.close()

    # Callbacks of the page

    def on_message(self, server_message: ServerMessage) -> None:
        """Pass a message of the server on, unless it answers a request of the link itself."""
        if self._closing:
            return
        try:
            server_message = checked(server_message)
        except MessageError as error:
            self.on_note(f"A message of the server was dropped: {error}")
            return
        if server_message.method is None and self._repeated.answered(server_message.id, None):
            return
        if server_message.method is None and server_message.id is not None:
            self._asked.pop(server_message.id, None)
            self._beginning.answered(server_message)
        elif server_message.id is not None:
            self._owed[server_message.id] = None
        elif (withdrawn := jsonrpc.cancelled_id(server_message.message)) is not None:
            self._owed.pop(withdrawn, None)
        self._deliver(server_message)

    def on_note(self, text: str) -> None:
        """Pass a message for the user on."""
        if self.edge is not None and not self._closing:
            self.edge.note(text)

    def on_gone(self, reason: str, repeatable: Mapping[jsonrpc.RequestId, str] | None = None) -> None:
        """Answer the open requests with an error, and reopen the page.

        Args:
            repeatable: open requests that have certainly had no effect, by id, as JSON text: the next page gets them.
        """
        if self._closing:
            return
        page, self._page = self._page, None
        self.on_note(f"{reason} {self._reopening_note}".rstrip())
        self._repeated.fail_all(lambda: PageFailed(reason))
        kept = {id_: text for id_, text in (repeatable or {}).items() if id_ in self._asked}
        for id_ in kept:
            del self._asked[id_]
        self._fail_everybody(reason)
        self._asked |= dict.fromkeys(kept, False)
        self._queue += kept.values()
        self._start_opening(page)

    # Internals

    def _watch(self) -> None:
        if self._page is not None and self._asked:
            self._page.await_answer(lambda: bool(self._asked))

    def _cancel(self, id_: jsonrpc.RequestId) -> None:
        self._asked.pop(id_, None)
        if self._page is not None and not self._asked:
            self._page.answer_cancelled()

    def _start_opening(self, before: LinkedPage | None = None) -> asyncio.Task[None]:
        if self._opening is None or self._opening.done():
            self._opening = asyncio.get_running_loop().create_task(self._open(before))
            self._opening.add_done_callback(self._opened)
        return self._opening

    async def _open(self, before: LinkedPage | None) -> None:
        if before is not None:
            await before.close()
        try:
            page = await self._open_page(self)
            try:
                await self._repeat(page)
            except BaseException:
                await page.close()
                raise
        except Exception as error:  # includes a failed build
            self._fail_everybody(str(error))
            raise
        self._page = page
        queue, self._queue = self._queue, []
        self._asked = dict.fromkeys(self._asked, True)
        for text in queue:
            page.send(text)
        self._watch()

    def _opened(self, task: asyncio.Task[None]) -> None:
        if self._opening is task:  # a message may have begun another attempt
            self._opening = None
        if not task.cancelled() and (error := task.exception()) and not self._raises:
            self.on_note(str(error))

    async def _repeat(self, page: LinkedPage) -> None:
        for message in self._beginning.messages():
            if "id" not in message:
                page.send(payload.encode(message))
                continue

            def send(id_: str, message: Mapping[str, Any] = message) -> None:
                page.send(payload.encode({**message, "id": id_}))

            try:
                await self._repeated.ask(send, within=_REPEAT_SECONDS)
            except Overdue:
                raise PageFailed("The server does not answer after its page was opened again.") from None

    def _fail_everybody(self, reason: str) -> None:
        errors = {id_: self.closed_error(id_, reason) for id_ in self._asked}
        self._asked = {}
        self._beginning.failed()
        owed, self._owed = list(self._owed), {}
        self._queue = [text for text in self._queue if "id" not in json.loads(text)]
        for id_, error in errors.items():
            self._deliver(ServerMessage(payload.encode(error), id_))
        for id_ in owed:
            cancelled = payload.encode(jsonrpc.cancellation(id_, reason))
            self._deliver(ServerMessage(cancelled, None, jsonrpc.CANCELLED))

    def _deliver(self, server_message: ServerMessage) -> None:
        if self.edge is None:
            return
        try:
            self.edge.deliver(server_message)
        except Exception:  # one message must not end the session
            logger.exception("A message could not be passed on.")


class _Beginning:
    """The state that a client of the handshake era has set up, to repeat it to a new page."""

    def __init__(self) -> None:
        self._waiting: dict[jsonrpc.RequestId, Mapping[str, Any]] = {}
        self._kept: dict[str, Mapping[str, Any]] = {}

    def note(self, text: str, message: Mapping[str, Any]) -> None:
        """Record a message of the client."""
        method = message.get("method")
        if method in ("initialize", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"):
            if "id" in message:
                self._waiting[message["id"]] = message
        elif method == "notifications/initialized":
            self._kept[method] = message

    def failed(self) -> None:
        """Record that open requests get no answer."""
        self._waiting.clear()

    def answered(self, server_message: ServerMessage) -> None:
        """Record an answer: only requests that the server has accepted are repeated."""
        assert server_message.id is not None
        message = self._waiting.pop(server_message.id, None)
        if message is None or "result" not in server_message.message:
            return
        method = message["method"]
        if method.startswith("resources/"):
            key = f"resources/subscribe {message.get('params', {}).get('uri')}"
            self._kept.pop(key, None)
            if method == "resources/unsubscribe":
                return
        else:
            key = method
        self._kept[key] = message

    def messages(self) -> list[Mapping[str, Any]]:
        """Return the messages to repeat, in order; none before the client is initialized."""
        if "initialize" not in self._kept:
            return []
        order = ("initialize", "notifications/initialized")
        first = [self._kept[key] for key in order if key in self._kept]
        return [*first, *(message for key, message in self._kept.items() if key not in order)]


def _unused_ids() -> Iterator[str]:
    """Yield ids that no client uses."""
    while True:
        yield f"mcpframe-bridge-{uuid.uuid4().hex}"
