"""The proxy in a tab: a client of one page server, and the hub's end of it. It neither aggregates nor routes.

    page server ── messages of MCP ── relay ── messages of `messages` ── port ── hub

JSON-RPC as the page has it, and not the SDK's models, which keep of a tool what MCP knows and so lose `cache`. Without
I/O: whoever owns it connects `to_page` and `to_hub`, and calls it back with what they say.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Mapping
from typing import Any

from mcpframe.frame.core import jsonrpc, payload
from mcpframe.frame.core.errors import MessageError
from mcpframe.frame.core.origins import AllowedOrigins
from mcpframe.frame.waiting.clock import Clock
from mcpframe.hub.core import messages
from mcpframe.hub.core.messages import CallCancelled, Form, Json, RefreshRequest, ToolCall

log = logging.getLogger(__name__)

PROTOCOL_VERSION = "2025-11-25"
DEBOUNCE_SECONDS = 0.5
"""How long further changes of the list are waited for."""
POLL_SECONDS = 60.0
"""How often the list of a page is read that does not say when it changes."""
ANSWER_SECONDS = 10.0
"""How long a page may take to introduce itself, or for its list."""
MAX_LISTED = 1000
"""How many tools are relayed; the hub takes fewer."""
_MOST_PAGES = 50

_Answered = Callable[[Mapping[str, Any]], None]


def is_relayed(origin: str, allowed: AllowedOrigins) -> bool:
    """Return whether the page of an origin is relayed at all.

    Args:
        origin: The origin, as the browser knows it.
        allowed: The origins that are; those of `parse_allowed_origins(["*"])` are all.
    """
    return origin in allowed


class Relay:
    """One session with a page server, which begins with `start`.

    Args:
        to_page: Posts a JSON-RPC message to the page.
        to_hub: Posts a message to the hub.
        clock: The time.
        url: The page's address, for the hub; None to leave it out.
        form: The form of the messages to the hub.
        introduction_seconds: How long the page may take to introduce itself.

    Attributes:
        on_close: Called once, when the session ends.
    """

    def __init__(
        self,
        to_page: Callable[[Json], None],
        to_hub: Callable[[Json], None],
        clock: Clock,
        *,
        url: str | None = None,
        form: Form = "json-rpc",
        introduction_seconds: float = ANSWER_SECONDS,
    ) -> None:
        self._to_page = to_page
        self._to_hub = to_hub
        self._clock = clock
        self._url = url
        self._form = form
        self._introduction_seconds = introduction_seconds
        self.on_close: Callable[[], None] = lambda: None
        self._prefix = f"hub-{uuid.uuid4().hex}-"  # all clients in a window hear every answer
        self._last_id = 0
        self._waiting: dict[str, tuple[_Answered, Callable[[], None]]] = {}
        self._calls: dict[str, str] = {}
        """The ids of calls, as the hub and as the page know them."""
        self._called: dict[str, ToolCall] = {}
        self._listed: list[Any] | None = None
        self._browser: dict[str, bool] = {}
        self._notifies = self._lists = self._again = self._refreshes = self._closed = False
        self._stop_timer: Callable[[], None] = lambda: None

    @property
    def names(self) -> frozenset[str]:
        """The names of the page's tools, as they were listed last."""
        tools = (tool.get("name") for tool in self._listed or () if isinstance(tool, dict))
        return frozenset(name for name in tools if isinstance(name, str))

    @property
    def pending(self) -> int:
        """How many requests wait for the page."""
        return len(self._waiting) + len(self._called)

    def start(self) -> None:
        """Introduce this client to the page, whose server has to be ready; then its tools go to the hub."""
        info = {"name": "mcpframe-hub", "version": "1"}
        params = {"protocolVersion": PROTOCOL_VERSION, "capabilities": {}, "clientInfo": info}
        self._ask("initialize", params, self._introduced, self._introduction_seconds)

    def has_asked(self, id_: object) -> bool:
        """Return whether the id of a response is one of this client's requests, and not of another client's."""
        return isinstance(id_, str) and id_.startswith(self._prefix)

    def from_page(self, message: Any) -> None:
        """Take what the page has said. Nothing that it says raises anything here.

        Args:
            message: A parsed JSON value.
        """
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
        elif message["method"] == "notifications/tools/list_changed":
            self._changed()
        elif message["method"] == "notifications/progress":
            self._progressed(message.get("params") or {})

    def from_hub(self, message: Any) -> None:
        """Take what the hub has said. As `from_page`."""
        if self._closed:
            return
        read = messages.read_from_hub(message)
        if isinstance(read, ToolCall):
            self._call(read)
        elif isinstance(read, CallCancelled):
            self._cancel(read)
        elif isinstance(read, RefreshRequest):
            self._refreshes = True
            self._list()

    def page_ended(self) -> None:
        """Note that the page's server has stopped: its tools are gone, and calls fail."""
        if self._closed:
            return
        for call in list(self._called.values()):
            self._to_hub(messages.answer(call.id, "The page's server has stopped.", form=call.form))
        if self._listed is not None:
            self._send([])
        self.close()

    def close(self) -> None:
        """End the session: the hub's port, or the page, is gone. Closing again does nothing."""
        if self._closed:
            return
        self._closed = True
        self._stop_timer()
        for _, stop_timer in self._waiting.values():
            stop_timer()
        self._waiting.clear()
        self._calls.clear()
        self._called.clear()
        self.on_close()

    # The session with the page

    def _next_id(self) -> str:
        self._last_id += 1
        return f"{self._prefix}{self._last_id}"

    def _post(self, method: str, params: dict[str, Any], id_: str | None = None) -> None:
        head: dict[str, Any] = {"jsonrpc": "2.0"} if id_ is None else {"jsonrpc": "2.0", "id": id_}
        self._to_page({**head, "method": method, **({"params": params} if params else {})})

    def _ask(self, method: str, params: dict[str, Any], answered: _Answered, seconds: float = ANSWER_SECONDS) -> None:
        id_ = self._next_id()

        def too_late() -> None:
            del self._waiting[id_]
            log.warning("The page did not answer %s within %g s.", method, seconds)
            answered({"error": {"message": "no answer"}})

        self._waiting[id_] = (answered, self._clock.call_later(seconds, too_late))
        self._post(method, params, id_)

    def _answered(self, id_: jsonrpc.RequestId | None, message: dict[str, Any]) -> None:
        if not isinstance(id_, str):
            return
        if waiting := self._waiting.pop(id_, None):
            answered, stop_timer = waiting
            stop_timer()
            answered(message)
        elif call := self._called.pop(id_, None):
            self._calls.pop(call.id, None)
            failed = "error" in message
            result = message["error"]["message"] or "The page's tool failed." if failed else message["result"]
            self._to_hub(messages.answer(call.id, result, form=call.form))

    def _asked(self, id_: jsonrpc.RequestId, method: str) -> None:
        if method == "ping":
            self._to_page({"jsonrpc": "2.0", "id": id_, "result": {}})
        else:
            self._to_page(jsonrpc.error_response(id_, jsonrpc.METHOD_NOT_FOUND, "A relay does not do that."))

    def _introduced(self, message: Mapping[str, Any]) -> None:
        if "result" not in message:
            log.warning("The page's server did not accept this client: its tools are not relayed.")
            self.close()
            return
        capabilities = message["result"].get("capabilities")
        capabilities = capabilities if isinstance(capabilities, dict) else {}
        tools, browser = capabilities.get("tools"), capabilities.get("browser")
        self._notifies = isinstance(tools, dict) and tools.get("listChanged") is True
        self._browser = browser if isinstance(browser, dict) else {}
        self._post("notifications/initialized", {})
        self._list()

    # The list of tools

    def _changed(self) -> None:
        """Read the list a little later, once for all changes until then."""
        if not self._again:
            self._again = True
            self._set_timer(DEBOUNCE_SECONDS)

    def _set_timer(self, seconds: float) -> None:
        self._stop_timer()
        self._stop_timer = self._clock.call_later(seconds, self._list)

    def _list(self) -> None:
        if self._lists:
            self._again = True  # a change meanwhile: once more afterwards
            return
        self._stop_timer()
        self._lists, self._again = True, False
        self._ask_page([], None, 0)

    def _ask_page(self, tools: list[Any], cursor: str | None, pages: int, length: int = 0) -> None:
        def answered(message: Mapping[str, Any]) -> None:
            result = message.get("result")
            if not isinstance(result, dict) or not isinstance(result.get("tools"), list):
                log.warning("The page's list of tools could not be read.")
                self._read(None)
                return
            tools.extend(result["tools"][: MAX_LISTED - len(tools)])
            following = result.get("nextCursor")
            goes_on = isinstance(following, str) and len(tools) < MAX_LISTED and pages < _MOST_PAGES
            size = length + (len(payload.encode(result["tools"])) if goes_on else 0)
            if goes_on and size < messages.MAX_MESSAGE_BYTES:
                self._ask_page(tools, following, pages + 1, size)
            else:
                self._read(tools)

        self._ask("tools/list", {} if cursor is None else {"cursor": cursor}, answered)

    def _read(self, tools: list[Any] | None) -> None:
        """Send the list that was read if it is another one than before; None where it could not be read."""
        self._lists = False
        if tools is not None and (self._refreshes or tools != self._listed):
            if not tools:
                log.info("The page has no tools at present.")
            self._send(tools)
        if self._again:
            self._set_timer(DEBOUNCE_SECONDS)
        elif not self._notifies or tools is None:
            self._set_timer(POLL_SECONDS)

    def _send(self, tools: list[Any]) -> None:
        first = self._listed is None and bool(tools)
        url = self._url if first else None
        self._listed, self._refreshes = tools, False
        self._to_hub(messages.tool_list(tools, form=self._form, first=first, url=url, browser=self._browser))

    # Calls

    def _call(self, call: ToolCall) -> None:
        if call.id in self._calls:
            log.warning("The hub has sent a call twice: the second one is ignored.")
            return
        id_ = self._next_id()
        self._calls[call.id] = id_
        self._called[id_] = call
        params: dict[str, Any] = {"name": call.tool, "arguments": dict(call.arguments)}
        if call.progress:
            params["_meta"] = {"progressToken": id_}
        self._post("tools/call", params, id_)

    def _cancel(self, cancelled: CallCancelled) -> None:
        id_ = self._calls.pop(cancelled.id, None)
        if id_ is not None:
            del self._called[id_]
            self._post("notifications/cancelled", {"requestId": id_, "reason": cancelled.reason})

    def _progressed(self, params: Mapping[str, Any]) -> None:
        token = params.get("progressToken")
        call = self._called.get(token) if isinstance(token, str) else None
        if call is None or not call.progress:
            return
        message = {**params, "type": "tool-progress", "requestId": call.id}
        try:
            read = messages.read_from_proxy(message)
        except MessageError as error:
            log.warning("Progress of the page is ignored: %s", error)
            return
        assert isinstance(read, messages.ToolProgress)
        self._to_hub(messages.progress(call.id, read.progress, read.total, read.message, form=call.form))
