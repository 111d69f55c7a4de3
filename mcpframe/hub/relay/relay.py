"""The proxy in a tab: a client of one page server, and the hub's end of it. It neither aggregates nor routes.

    page server ── messages of MCP ── relay ── messages of `messages` ── port ── hub

It uses the page's raw JSON-RPC and not the SDK's models, which drop unknown members of a tool such as `cache`. Without
I/O: its owner connects `to_page` and `to_hub`, and passes their messages to it.
"""

from __future__ import annotations

import itertools
import logging
import uuid
from collections.abc import Callable
from typing import Any

from mcpframe.frame.core import jsonrpc, payload
from mcpframe.frame.core.errors import MessageError
from mcpframe.frame.core.limits import LISTED_TOOLS
from mcpframe.frame.core.paging import Paging
from mcpframe.frame.core.requests import Request, Requests
from mcpframe.frame.waiting.clock import Alarm, Clock
from mcpframe.hub.core import limits
from mcpframe.hub.core.codec import capabilities_of, progress_of
from mcpframe.hub.core.messages import (
    LIST_CHANGES,
    LISTS,
    CallCancelled,
    FromHub,
    FromProxy,
    Json,
    PageRequest,
    ToolAnswer,
    ToolList,
)
from mcpframe.hub.core.names import domain_of

log = logging.getLogger(__name__)

PROTOCOL_VERSION = "2025-11-25"

_Answered = Callable[[Json], None]


class Relay:
    """One session with a page server, which begins with `start`.

    Args:
        to_page: Posts a JSON-RPC message to the page. Raises `MessageError` if it has no form in JSON.
        to_hub: Posts a message to the hub.
        url: The page's address, for the hub; None to leave it out.
        introduction_seconds: How long the page may take to answer `initialize`.

    Attributes:
        on_close: Called once, when the session ends.
    """

    def __init__(
        self,
        to_page: Callable[[Json], None],
        to_hub: Callable[[FromProxy], None],
        clock: Clock,
        *,
        url: str | None = None,
        introduction_seconds: float = limits.ANSWER_SECONDS,
    ) -> None:
        self._to_page = to_page
        self._to_hub = to_hub
        self._clock = clock
        self._url = url
        self._introduction_seconds = introduction_seconds
        self.on_close: Callable[[], None] = lambda: None
        self._prefix = f"hub-{uuid.uuid4().hex}-"  # all clients in a window receive every answer
        ids = (f"{self._prefix}{number}" for number in itertools.count(1))
        self._requests: Requests[str, PageRequest | _Answered] = Requests(ids)
        """The hub's calls and reads, and this client's own requests with the function that takes the answer."""
        self._alarm = Alarm(clock, self._expire)
        self._methods = ["tools/list"]
        """The requests for the lists that the page has."""
        self._listed: dict[str, list[Any]] | None = None
        self._browser: frozenset[str] = frozenset()
        self._notifies = self._lists = self._again = self._unread = self._refreshes = self._closed = False
        self._stop_timer: Callable[[], None] = lambda: None

    @property
    def names(self) -> frozenset[str]:
        """The names of the page's tools, as listed last."""
        tools = (tool.get("name") for tool in (self._listed or {}).get("tools", ()) if isinstance(tool, dict))
        return frozenset(name for name in tools if isinstance(name, str))

    @property
    def pending(self) -> int:
        """The number of requests that wait for the page."""
        return len(self._requests)

    def start(self) -> None:
        """Send `initialize` to the page, whose server has to be ready; then its tools go to the hub."""
        info = {"name": "mcpframe-hub", "version": "1"}
        params = {"protocolVersion": PROTOCOL_VERSION, "capabilities": {}, "clientInfo": info}
        self._ask("initialize", params, self._introduced, self._introduction_seconds)

    def has_asked(self, id_: object) -> bool:
        """Return whether a response's id is of this client's requests, and not of another client's."""
        return isinstance(id_, str) and id_.startswith(self._prefix)

    def from_page(self, message: Any) -> None:
        """Take a message of the page, a parsed JSON value. Never raises."""
        if self._closed or not isinstance(message, dict):
            return
        try:
            id_ = jsonrpc.request_id(message)
        except MessageError as error:
            log.warning("A message of the page is ignored: %s", error)
            return
        if "method" not in message:
            self._answered(id_, message)
        elif id_ is not None:
            self._asked(id_, message["method"])
        elif message["method"] in LIST_CHANGES:
            self._changed()
        elif message["method"] == "notifications/progress":
            self._progressed(message.get("params") or {})

    def from_hub(self, message: FromHub) -> None:
        """Take a message of the hub.

        Raises:
            MessageError: The arguments of a call cannot be passed to the page.
        """
        if self._closed:
            return
        if isinstance(message, PageRequest):
            self._call(message)
        elif isinstance(message, CallCancelled):
            self._cancel(message)
        else:
            self._refreshes = True
            self._list()

    def page_ended(self) -> None:
        """Note that the page's server has stopped: its tools are removed, and calls fail."""
        if self._closed:
            return
        for request in self._requests.take_all():
            if isinstance(request.value, PageRequest):
                self._to_hub(ToolAnswer(request.value.id, None, "The page's server has stopped."))
        if self._listed is not None:
            self._send({})
        self.close()

    def close(self) -> None:
        """End the session: the hub's port, or the page, is gone. Closing again does nothing."""
        if self._closed:
            return
        self._closed = True
        self._stop_timer()
        self._requests.take_all()
        self._alarm.set(None)
        self.on_close()

    # The session with the page

    def _post(self, method: str, params: Json, id_: str | None = None) -> None:
        head: dict[str, Any] = {"jsonrpc": "2.0"} if id_ is None else {"jsonrpc": "2.0", "id": id_}
        self._to_page({**head, "method": method, **({"params": params} if params else {})})

    def _ask(self, method: str, params: Json, answered: _Answered, seconds: float = limits.ANSWER_SECONDS) -> None:
        request = self._requests.open(answered, self._clock.now() + seconds)
        self._alarm.set(self._requests.deadline)
        self._post(method, params, request.id)

    def _expire(self) -> None:
        for request in self._requests.take_overdue(self._clock.now()):
            if not isinstance(request.value, PageRequest):
                log.warning("The page has not answered in time.")
                request.value({"error": {"message": "no answer"}})
        self._alarm.set(self._requests.deadline)

    def _answered(self, id_: jsonrpc.RequestId | None, message: Json) -> None:
        request = self._requests.take(id_)
        if request is None:
            return
        self._alarm.set(self._requests.deadline)
        if not isinstance(request.value, PageRequest):
            request.value(message)
        elif "error" in message:
            error = message["error"]["message"] or "The page's server failed."
            self._to_hub(ToolAnswer(request.value.id, None, error))
        else:
            self._to_hub(ToolAnswer(request.value.id, message["result"]))

    def _asked(self, id_: jsonrpc.RequestId, method: str) -> None:
        if method == "ping":
            self._to_page({"jsonrpc": "2.0", "id": id_, "result": {}})
        else:
            self._to_page(jsonrpc.error_response(id_, jsonrpc.METHOD_NOT_FOUND, "A relay does not do that."))

    def _introduced(self, message: Json) -> None:
        if "result" not in message:
            log.warning("The page's server did not accept this client: its tools are not relayed.")
            self.close()
            return
        capabilities = message["result"].get("capabilities")
        capabilities = capabilities if isinstance(capabilities, dict) else {}
        if isinstance(capabilities.get("resources"), dict):
            self._methods = list(LISTS)
        declared = (capabilities.get(method.partition("/")[0]) for method in self._methods)
        self._notifies = all(isinstance(each, dict) and each.get("listChanged") is True for each in declared)
        self._browser = capabilities_of(capabilities.get("browser"))
        self._post("notifications/initialized", {})
        self._list()

    # The lists of tools and resources

    def _changed(self) -> None:
        """Read the lists a little later, once for all changes until then."""
        if not self._again:
            self._again = True
            self._set_timer(limits.LIST_DEBOUNCE_SECONDS)

    def _set_timer(self, seconds: float) -> None:
        self._stop_timer()
        self._stop_timer = self._clock.call_later(seconds, self._list)

    def _list(self) -> None:
        if self._lists:
            self._again = True  # a change meanwhile: read once more afterwards
            return
        self._stop_timer()
        self._lists, self._again, self._unread = True, False, False
        self._ask_list({}, 0)

    def _ask_list(self, listed: dict[str, list[Any]], length: int) -> None:
        """Ask for the first list that is not there yet; without one, all are read."""
        method = next((each for each in self._methods if LISTS[each] not in listed), None)
        if method is None:
            self._read(listed)
        else:
            listed[LISTS[method]] = []
            self._ask_page(method, Paging(limits.RELAYED_PAGES), listed, length)

    def _ask_page(self, method: str, pages: Paging, listed: dict[str, list[Any]], length: int) -> None:
        member = LISTS[method]
        items = listed[member]

        def answered(message: Json) -> None:
            result = message.get("result")
            if not isinstance(result, dict) or not isinstance(result.get(member), list):
                error = result if "error" not in message else message["error"].get("message")
                log.warning("The list of %s of %s cannot be read: %.200s", member, domain_of(self._url), error)
                self._unread = True
                if member == "tools":
                    self._read(None)
                else:  # which costs no tools
                    self._ask_list(listed, length)
                return
            following = result.get("nextCursor")
            is_whole = len(self._methods) == 1 and pages.cursor is None and following is None
            size = length if is_whole else length + len(payload.encode(result[member]))
            if size < limits.HUB_MESSAGE_BYTES:
                items.extend(result[member][: LISTED_TOOLS - len(items)])
                pages.follow(following)
                if pages.more and len(items) < LISTED_TOOLS:
                    self._ask_page(method, pages, listed, size)
                    return
            self._ask_list(listed, size)

        self._ask(method, pages.params, answered)

    def _read(self, listed: dict[str, list[Any]] | None) -> None:
        """Send the lists if they differ from the last ones; None if the tools could not be read."""
        self._lists = False
        if listed is not None and (self._refreshes or listed != self._listed):
            if not listed["tools"]:
                log.info("The page has no tools at present.")
            self._send(listed)
        if self._again:
            self._set_timer(limits.LIST_DEBOUNCE_SECONDS)
        elif not self._notifies or self._unread:
            self._set_timer(limits.LIST_POLL_SECONDS)

    def _send(self, listed: dict[str, list[Any]]) -> None:
        first = self._listed is None and any(listed.values())
        url = self._url if first else None
        self._listed, self._refreshes = listed, False
        resources, templates = (listed.get(member, ()) for member in ("resources", "resourceTemplates"))
        self._to_hub(ToolList(listed.get("tools", []), first, url, self._browser, resources, templates))

    # Calls and reads

    def _call(self, call: PageRequest) -> None:
        if self._called(call.id) is not None:
            log.warning("The hub has sent a call twice: the second one is ignored.")
            return
        request = self._requests.open(call)
        method, params = call.request
        if call.progress:
            params["_meta"] = {"progressToken": request.id}
        try:
            self._post(method, params, request.id)
        except MessageError:
            self._requests.take(request.id)
            raise

    def _called(self, id_: str) -> Request[str, PageRequest | _Answered] | None:
        calls = (each for each in self._requests if isinstance(each.value, PageRequest) and each.value.id == id_)
        return next(calls, None)

    def _cancel(self, cancelled: CallCancelled) -> None:
        request = self._called(cancelled.id)
        if request is not None:
            self._requests.take(request.id)
            self._post("notifications/cancelled", {"requestId": request.id, "reason": cancelled.reason})

    def _progressed(self, params: Json) -> None:
        request = self._requests.find(params.get("progressToken"))
        if request is None or not isinstance(request.value, PageRequest) or not request.value.progress:
            return
        try:
            self._to_hub(progress_of(request.value.id, params))
        except MessageError as error:
            log.warning("Progress of the page is ignored: %s", error)
