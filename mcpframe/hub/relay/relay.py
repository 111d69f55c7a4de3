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

from mcpframe.frame.core import jsonrpc
from mcpframe.frame.core.errors import MessageError
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
from mcpframe.hub.relay.page_lists import Lists, PageLists

log = logging.getLogger(__name__)

PROTOCOL_VERSION = "2025-11-25"

_TOOLS, *_OTHERS = LISTS
_TOOLS_CHANGED, _RESOURCES_CHANGED = LIST_CHANGES

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
        self._tools, self._others = (
            PageLists(methods, self._ask, read, clock, domain_of(url))
            for methods, read in (([_TOOLS], self._tools_are_read), (_OTHERS, self._are_read))
        )
        self._has_others = False
        self._known: Lists = {}
        self._listed: Lists | None = None
        self._browser: frozenset[str] = frozenset()
        self._refreshes = self._closed = False

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
        elif message["method"] == _TOOLS_CHANGED:
            self._tools.changed()
        elif message["method"] == _RESOURCES_CHANGED and self._lists_others:
            self._others.changed()
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
            self._tools.read()
            if self._lists_others:
                self._others.read()

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
        self._tools.stop()
        self._others.stop()
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
        self._has_others = isinstance(capabilities.get("resources"), dict)
        self._tools.measures = self._others.measures = self._has_others
        for lists, kind in ((self._tools, "tools"), (self._others, "resources")):
            declared = capabilities.get(kind)
            lists.notifies = isinstance(declared, dict) and declared.get("listChanged") is True
        self._browser = capabilities_of(capabilities.get("browser"))
        self._post("notifications/initialized", {})
        self._tools.read()

    # The lists of tools and resources: the page's tools do not wait for its resources

    @property
    def _lists_others(self) -> bool:
        """Whether the resources are read: not before the tools, as the hub takes any list for a page's first one."""
        return self._has_others and self._listed is not None

    def _tools_are_read(self, listed: Lists) -> None:
        is_first = self._listed is None
        refreshes, self._refreshes = self._refreshes and bool(listed), self._refreshes and not listed
        self._are_read(listed, refreshes=refreshes)
        if is_first and self._lists_others:
            self._others.read()

    def _are_read(self, listed: Lists, *, refreshes: bool = False) -> None:
        """Send the lists of the page if they differ from the last ones, or the hub has asked for them.

        Args:
            listed: Those that could be read.
        """
        self._known |= listed
        if not self._known or self._closed:
            return
        fits = self._tools.size + self._others.size < limits.HUB_MESSAGE_BYTES
        known = dict(self._known) if fits else {LISTS[_TOOLS]: self._known[LISTS[_TOOLS]]}  # which costs no tools
        if refreshes or known != self._listed:
            if not known["tools"]:
                log.info("The page has no tools at present.")
            self._send(known)

    def _send(self, listed: Lists) -> None:
        first = self._listed is None and any(listed.values())
        url = self._url if first else None
        self._listed = listed
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
