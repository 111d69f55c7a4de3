"""One MCP connection to a framed server: opens its page, and reopens it when it crashes.

Messages pass unchanged. After a crash, the open requests are answered with an error, and the state that the client has
set up (until 2025-11-25) is repeated to the next page: `initialize`, `notifications/initialized`, the log level and the
subscribed resources. From 2026-07-28 on there is nothing to repeat. A page that opens after a client has been answered
from the manifest (`early_answers`) gets the same.

The page itself reports its end (`on_gone`): see `kit/bridge/chromium/bridge_page.py`.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
import uuid
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, Protocol

from mcpframe.frame.core import jsonrpc, payload
from mcpframe.frame.core.errors import MessageError
from mcpframe.frame.waiting.peer import Overdue, Peer
from mcpframe.kit.base.errors import PageFailed
from mcpframe.kit.edges.link.beginning import Beginning
from mcpframe.kit.edges.link.early_answers import CHANGED, EarlyAnswers, differs
from mcpframe.kit.edges.link.messages import ServerMessage, checked
from mcpframe.kit.edges.link.meter import UNMETERED, LinkMeter, PageOutcome, RequestTimes, outcome_of

logger = logging.getLogger(__name__)

_ATTEMPTS = 3
"""How many pages in a row may be lost before the client's requests are sent to one."""

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
        self,
        open_page: OpenPage,
        edge: Edge | None = None,
        reopening_note: str = "It is opened again.",
        early: EarlyAnswers | None = None,
        meter: LinkMeter = UNMETERED,
    ) -> None:
        """Create a link; its page is opened by `open` or the first `send`. The edge may be set later, before `send`.

        `reopening_note` says that an ended page is reopened. `early` answers until the page is open for the first time.
        `meter` counts its requests and pages.
        """
        self._early = early
        self._meter = meter
        self._times = RequestTimes(meter)
        self._reopening_note = reopening_note
        self.edge = edge
        self._open_page = open_page
        self._page: LinkedPage | None = None
        self._opening: asyncio.Task[None] | None = None
        self._closing = False
        self._lost = ""  # why the page that is being opened has gone already
        self._raises = False  # whether `open` raises the reason if there is no page
        self._queue: list[str] = []
        self._asked: dict[jsonrpc.RequestId, bool] = {}
        """The open requests of the client, and whether a page has received them."""
        self._owed: dict[jsonrpc.RequestId, None] = {}
        self._beginning = Beginning()
        self._repeated: Peer[str, ServerMessage] = Peer(_unused_ids())

    @property
    def pending(self) -> int:
        """The number of the client's requests that wait for an answer."""
        return len(self._asked)

    @property
    def is_opening(self) -> bool:
        """Whether a page is being opened."""
        return self._opening is not None

    @property
    def has_answered_early(self) -> bool:
        """Whether the client has been answered before there was a page."""
        return self._early is not None and self._early.has_answered

    async def open(self) -> None:
        """Open the page, unless it is open.

        Raises:
            KitError: the page cannot be opened; the message says why. Open requests have been answered with an error.
        """
        if self._page is None:
            self._raises = True
            try:
                await asyncio.shield(self._start_opening())
            finally:
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
            if self._answer_early(text, message):
                return
            self._asked[message["id"]] = self._page is not None
            self._times.begin(message["id"], message["method"])
        elif (cancelled := jsonrpc.cancelled_id(message)) is not None:
            self._cancel(cancelled)
        self._beginning.note(text, message)
        if self._page is not None:
            self._page.send(text)
            self._watch()
        elif message.get("method") == "notifications/initialized" and self.has_answered_early:
            pass  # it is repeated to the page with the request that has been answered
        else:
            self._queue.append(text)
            self._start_opening()

    def _answer_early(self, text: str, message: Mapping[str, Any]) -> bool:
        """Answer a request before there is a page, if that is possible."""
        answer = self._early.answer(message) if self._early is not None and self._page is None else None
        if answer is None:
            return False
        self._times.begin(message["id"], message["method"])
        self._times.end(message["id"], "result")
        self._beginning.note(text, message)
        self._beginning.answered(answer)
        if message["method"] == "initialize":
            self._start_opening()
        self._deliver(answer)
        return True

    def closed_error(self, id_: jsonrpc.RequestId, reason: str) -> dict[str, Any]:
        """Return the error for an open request without an answer: its `data` indicates whether it may have run."""
        data = {"reason": "ConnectionClosed", "mayHaveRun": self._asked.get(id_, False)}
        return jsonrpc.error_response(id_, jsonrpc.CONNECTION_CLOSED, reason, data)

    async def close(self) -> None:
        """Close the page. No message is delivered after this."""
        self._closing = True
        self._times.end_all()
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
        if server_message.method is None and self._repeated.answered(server_message.id, server_message):
            return
        if server_message.method is None and server_message.id is not None:
            self._asked.pop(server_message.id, None)
            self._times.end(server_message.id, outcome_of(server_message.message))
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

    def on_gone(
        self,
        reason: str,
        repeatable: Mapping[jsonrpc.RequestId, str] | None = None,
        *,
        outcome: PageOutcome = "lost",
    ) -> None:
        """Answer the open requests with an error, and reopen the page.

        Args:
            repeatable: open requests that have certainly had no effect, by id, as JSON text: the next page gets them.
            outcome: what is counted.
        """
        if self._closing:
            return
        if self._page is None and self._opening is not None:  # requests wait for it, and none has been sent
            self._lost = reason
            self._repeated.fail_all(lambda: PageFailed(reason))
            return
        page, self._page = self._page, None
        self._meter.page(outcome)
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
        self._times.end(id_, "cancelled")
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
        begun = time.monotonic()
        try:
            page, changed = await self._open_ready_page()
        except Exception as error:  # includes a failed build
            self._meter.page("failed", time.monotonic() - begun)
            if not self.has_answered_early:
                self._early = None  # the client's first request is answered with the reason
            self._fail_everybody(str(error))
            raise
        self._meter.page("started", time.monotonic() - begun)
        self._page, self._early = page, None
        queue, self._queue = self._queue, []
        self._asked = dict.fromkeys(self._asked, True)
        for text in queue:
            page.send(text)
        self._watch()
        for method in changed:
            self._deliver(ServerMessage(payload.encode({"jsonrpc": "2.0", "method": method}), None, method))

    async def _open_ready_page(self) -> tuple[LinkedPage, list[str]]:
        """Open a page, and repeat the client's state to it: see `_repeat`.

        A page that is lost before that is replaced, but not for ever.
        """
        for _ in range(_ATTEMPTS):
            self._lost = ""
            page = await self._open_page(self)
            try:
                changed = [] if self._lost else await self._repeat(page)
            except BaseException as error:
                await page.close()
                if not (self._lost and isinstance(error, PageFailed)):
                    raise
            else:
                if not self._lost:  # it may be lost between its last answer and this line
                    return page, changed
                await page.close()
        raise PageFailed(self._lost)

    def _opened(self, task: asyncio.Task[None]) -> None:
        if self._opening is task:  # a message may have begun another attempt
            self._opening = None
        if not task.cancelled() and (error := task.exception()) and not self._raises:
            self.on_note(str(error))

    async def _repeat(self, page: LinkedPage) -> list[str]:
        """Repeat what the client has set up, also meanwhile, and return notifications of the lists that differ."""
        given = self._early.given if self._early is not None else {}
        repeated: list[Mapping[str, Any]] = []
        compared: dict[str, bool] = {}
        while True:
            message = next((each for each in self._beginning.messages() if each not in repeated), None)
            method = next((each for each in CHANGED if each in given and each not in compared), None)
            if message is not None:
                repeated.append(message)
                await self._repeat_message(page, message, given)
            elif method is not None:
                now = await self._ask(page, {"jsonrpc": "2.0", "method": method, "params": {}})
                compared[method] = differs(method, given[method], now)
            else:
                return list(dict.fromkeys(CHANGED[method] for method, has_changed in compared.items() if has_changed))

    async def _repeat_message(
        self, page: LinkedPage, message: Mapping[str, Any], given: Mapping[str, Mapping[str, Any]]
    ) -> None:
        if "id" not in message:
            page.send(payload.encode(message))
            return
        now = await self._ask(page, message)
        first = given.get("initialize") if message["method"] == "initialize" else None
        if first is not None and differs("initialize", first, now):
            self.on_note("The server's page says something else than its manifest did: start its client again.")

    async def _ask(self, page: LinkedPage, message: Mapping[str, Any]) -> Mapping[str, Any]:
        """Ask a page in the link's own name, and return the result; empty for an error."""

        def send(id_: str) -> None:
            page.send(payload.encode({**message, "id": id_}))

        try:
            answer = await self._repeated.ask(send, within=_REPEAT_SECONDS)
        except Overdue:
            raise PageFailed("The server does not answer after its page was opened again.") from None
        result = answer.message.get("result")
        return result if isinstance(result, dict) else {}

    def _fail_everybody(self, reason: str) -> None:
        errors = {id_: self.closed_error(id_, reason) for id_ in self._asked}
        self._asked = {}
        self._beginning.failed()
        owed, self._owed = list(self._owed), {}
        self._queue = [text for text in self._queue if "id" not in json.loads(text)]
        for id_, error in errors.items():
            self._times.end(id_, "lost")
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


def _unused_ids() -> Iterator[str]:
    """Yield ids that no client uses."""
    while True:
        yield f"mcpframe-bridge-{uuid.uuid4().hex}"
