"""`session.host` under a host of MCP Apps (SEP-1865): its requests and notifications, in both directions."""

from __future__ import annotations

import asyncio
import base64
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from urllib.parse import quote

from mcpframe.frame.core.errors import HostError
from mcpframe.frame.core.limits import TEARDOWN_SECONDS
from mcpframe.frame.dialects.mcp_apps.offers import HostFound
from mcpframe.frame.host_api.context import (
    HostContext,
    ToolCancelled,
    ToolEvent,
    ToolInput,
    ToolInputPartial,
    ToolResult,
)
from mcpframe.frame.host_api.host import Content, Host, Teardown
from mcpframe.frame.session.host_messages import HostMessages, Progress, call_all, content_blocks, plain
from mcpframe.frame.storage.values import Storage

if TYPE_CHECKING:
    from mcp.types import (
        CallToolResult,
        CreateMessageResult,
        ListPromptsResult,
        ListResourcesResult,
        ListResourceTemplatesResult,
        ListToolsResult,
        ReadResourceResult,
    )

log = logging.getLogger(__name__)

Json = Mapping[str, Any]
_LISTS = {f"notifications/{kind}/list_changed": kind for kind in ("tools", "resources", "prompts")}
_TOOL = "ui/notifications/tool-"
_CAPABILITIES = {
    "ui/open-link": "openLinks",
    "ui/download-file": "downloadFile",
    "ui/message": "message",
    "ui/update-model-context": "updateModelContext",
}
_VIEW_ID = "viewUUID"
_LONGEST_VIEW_ID = 200

T = TypeVar("T")
_Call = TypeVar("_Call", ToolInput, ToolResult)


class HostOfView(Host):
    """The host of a view.

    A request is posted even if the host does not declare its capability. The official `AppBridge` answers whatever its
    host has a handler for, and declares only the list that the host gives it; so what a host declares may be less than
    what it answers. If such a request fails, the error names the capability.
    """

    def __init__(self, found: HostFound, messages: HostMessages) -> None:
        """Created by boot.

        Args:
            found: the host's handshake.
            messages: the way to the host.
        """
        super().__init__(found.dialect)
        self.name, self.version = (str(found.info.get(key) or "") for key in ("name", "version"))
        self.capabilities = found.capabilities
        self.context = HostContext.read(found.context)
        self._messages = messages
        self._origin = found.origin
        self._view_storage: tuple[str, Storage | None] = ("", None)
        self._past: dict[str, ToolEvent] = {}  # the latest of each kind, in order
        self._tool_feeds: set[_Feed[ToolEvent]] = set()
        self._context_feeds: set[_Feed[HostContext]] = set()
        self._on_list: list[Callable[[str], None]] = []
        self._on_context: list[Callable[[HostContext], None]] = []
        self._on_teardown: list[Teardown] = []
        self._over = False

    # Handler: messages of the host

    def notified(self, method: str, params: Json) -> bool:
        """Handle a notification of the host. Returns whether it is one of MCP Apps."""
        if method.startswith(_TOOL):
            event = _tool_event(method.removeprefix(_TOOL), params)
            if event is not None:
                self._happened(event)
            return True
        if method == "ui/notifications/host-context-changed":
            self.context = self.context.changed(params)
            call_all(self._on_context, self.context)
            for feed in tuple(self._context_feeds):
                feed.put(self.context)
            return True
        if method in _LISTS:
            call_all(self._on_list, _LISTS[method])
            return True
        return method.startswith("ui/")  # of a later revision

    def asked(self, method: str, params: Json) -> Awaitable[Json] | None:
        """Return an awaitable of the answer to a request of the host; None for a request to the server."""
        if method != "ui/resource-teardown":
            return None
        reason = params.get("reason")
        return self._tear_down(reason if isinstance(reason, str) else "")

    def ended(self) -> None:
        """Handle the end of the session."""
        self._over = True
        for feed in tuple(self._tool_feeds):
            feed.end()
        for context_feed in tuple(self._context_feeds):
            context_feed.end()

    def watch_context(self, function: Callable[[HostContext], None]) -> None:
        """Call a function after each change of the context."""
        self._on_context.append(function)

    # Host: requests of the page

    def context_changes(self) -> AsyncIterator[HostContext]:
        feed: _Feed[HostContext] = _Feed(self._context_feeds, latest_only=HostContext)
        if self._over:
            feed.end()
        return feed

    def tool_events(self) -> AsyncIterator[ToolEvent]:
        return self._tool_feed()

    def _tool_feed(self) -> _Feed[ToolEvent]:
        feed: _Feed[ToolEvent] = _Feed(self._tool_feeds, latest_only=ToolInputPartial)
        for event in self._past.values():
            feed.put(event)
        if self._over:
            feed.end()
        return feed

    async def tool_input(self) -> ToolInput:
        return await self._first(ToolInput)

    async def tool_result(self) -> ToolResult:
        return await self._first(ToolResult)

    async def view_storage(self) -> Storage:
        given = (await self.tool_result()).meta.get(_VIEW_ID)
        name = given if isinstance(given, str) and 0 < len(given) <= _LONGEST_VIEW_ID else ""
        last, storage = self._view_storage
        if storage is None or name != last:
            if name:
                storage = self.opens_storage(f"{self.dialect} {self._origin} view {name}")
            else:
                log.warning(
                    "The result's _meta has no %s, so what this view keeps is lost with its frame: see mcpframe.views.",
                    _VIEW_ID,
                )
                storage = Storage("view")
            self._view_storage = name, storage  # the same object, since it may keep its values in memory
        return storage

    def on_list_changed(self, function: Callable[[str], None]) -> None:
        self._on_list.append(function)

    def on_teardown(self, function: Teardown) -> Teardown:
        self._on_teardown.append(function)
        return function

    async def call_tool(
        self,
        name: str,
        arguments: Json | None = None,
        *,
        on_progress: Progress | None = None,
    ) -> CallToolResult:
        params = {"name": name, "arguments": plain(arguments or {})}
        result: CallToolResult = await self._typed("CallToolResult", "tools/call", params, on_progress)
        return result

    async def list_tools(self, cursor: str | None = None) -> ListToolsResult:
        result: ListToolsResult = await self._typed("ListToolsResult", "tools/list", {"cursor": cursor})
        return result

    async def read_resource(self, uri: str) -> ReadResourceResult:
        result: ReadResourceResult = await self._typed("ReadResourceResult", "resources/read", {"uri": uri})
        return result

    async def list_resources(self, cursor: str | None = None) -> ListResourcesResult:
        kind, method = "ListResourcesResult", "resources/list"
        result: ListResourcesResult = await self._typed(kind, method, {"cursor": cursor})
        return result

    async def list_resource_templates(self, cursor: str | None = None) -> ListResourceTemplatesResult:
        kind, method = "ListResourceTemplatesResult", "resources/templates/list"
        result: ListResourceTemplatesResult = await self._typed(kind, method, {"cursor": cursor})
        return result

    async def list_prompts(self, cursor: str | None = None) -> ListPromptsResult:
        result: ListPromptsResult = await self._typed("ListPromptsResult", "prompts/list", {"cursor": cursor})
        return result

    async def create_message(self, messages: Sequence[Any], max_tokens: int, **params: Any) -> CreateMessageResult:
        asked = {**params, "messages": plain(list(messages)), "maxTokens": max_tokens}
        kind = "CreateMessageResultWithTools" if "tools" in params else "CreateMessageResult"
        result: CreateMessageResult = await self._typed(kind, "sampling/createMessage", asked)
        return result

    async def send_message(self, content: Content | Iterable[Content]) -> None:
        await self._done("ui/message", {"role": "user", "content": content_blocks(content)})

    async def update_model_context(
        self,
        content: Content | Iterable[Content] | None = None,
        structured: Json | None = None,
    ) -> None:
        blocks = None if content is None else content_blocks(content)
        params = {"content": blocks, "structuredContent": None if structured is None else plain(structured)}
        await self._done("ui/update-model-context", params)

    async def open_link(self, url: str) -> None:
        await self._done("ui/open-link", {"url": url})

    async def download(self, name: str, data: str | bytes, mime_type: str | None = None) -> None:
        import mimetypes  # late: no start needs it

        guessed = mime_type or mimetypes.guess_type(name)[0]
        resource: dict[str, Any] = {"uri": f"file:///{quote(name)}"}
        if isinstance(data, str):
            resource |= {"mimeType": guessed or "text/plain", "text": data}
        else:
            resource |= {"mimeType": guessed or "application/octet-stream", "blob": base64.b64encode(data).decode()}
        await self._done("ui/download-file", {"contents": [{"type": "resource", "resource": resource}]})

    async def request_display_mode(self, mode: str) -> str:
        method = "ui/request-display-mode"
        chosen = (await self._messages.request(method, {"mode": mode}, within=self.timeout)).get("mode")
        if not isinstance(chosen, str):
            raise HostError(f"The host's answer to {method} has no mode.", method)
        return chosen

    async def ping(self) -> None:
        await self._done("ping", {})

    def request_teardown(self) -> None:
        self._messages.notify("ui/notifications/request-teardown", {})

    def log(self, level: str, data: Any, logger: str | None = None) -> None:
        self._messages.notify("notifications/message", {"level": level, "data": plain(data), "logger": logger})

    def report_size(self, width: int, height: int) -> None:
        """Report the page's size to the host, in CSS pixels."""
        self._messages.notify("ui/notifications/size-changed", {"width": width, "height": height})

    # Helpers

    def _happened(self, event: ToolEvent) -> None:
        if isinstance(event, ToolInputPartial | ToolInput):
            self._past.pop("partial", None)
        self._past["partial" if isinstance(event, ToolInputPartial) else type(event).__name__] = event
        for feed in tuple(self._tool_feeds):
            feed.put(event)

    async def _first(self, kind: type[_Call]) -> _Call:
        if isinstance(event := self._past.get(kind.__name__), kind):
            return event  # also after a cancellation
        feed = self._tool_feed()
        try:
            async for event in feed:
                if isinstance(event, kind):
                    return event
                if isinstance(event, ToolCancelled):
                    raise HostError(f"The tool call was cancelled: {event.reason or 'no reason given'}.", "tools/call")
        finally:
            feed.close()
        raise HostError("The session ended before.", "tools/call")

    async def _tear_down(self, reason: str) -> Json:
        try:
            async with asyncio.timeout(TEARDOWN_SECONDS):
                await asyncio.gather(*(_torn_down(function, reason) for function in self._on_teardown))
        except TimeoutError:
            log.warning("The functions of on_teardown took more than %g seconds.", TEARDOWN_SECONDS)
        return {}

    async def _typed(self, kind: str, method: str, params: Json, on_progress: Progress | None = None) -> Any:
        return await self._messages.request_model(kind, method, params, within=self.timeout, on_progress=on_progress)

    async def _done(self, method: str, params: Json) -> None:
        capability = _CAPABILITIES.get(method)
        try:
            result = await self._messages.request(method, params, within=self.timeout)
        except HostError as error:
            if capability is None or capability in self.capabilities:
                raise
            text = f"{error} It does not name {capability} among its capabilities."
            raise type(error)(text, method, error.code, error.data) from error
        if result.get("isError") is True:
            raise HostError(f"The host declined {method}.", method)


class _Feed(Generic[T]):
    """An iterator of events for one subscriber. A queued event is replaced by a later one of its type."""

    def __init__(self, feeds: set[_Feed[T]], latest_only: type) -> None:
        self._feeds = feeds
        self._latest_only = latest_only
        self._waiting: list[T] = []
        self._changed = asyncio.Event()
        self._ended = False
        feeds.add(self)

    def put(self, event: T) -> None:
        if self._waiting and isinstance(event, self._latest_only) and isinstance(self._waiting[-1], self._latest_only):
            self._waiting.pop()
        self._waiting.append(event)
        self._changed.set()

    def end(self) -> None:
        self._ended = True
        self._changed.set()

    def close(self) -> None:
        self._feeds.discard(self)

    def __aiter__(self) -> _Feed[T]:
        return self

    async def __anext__(self) -> T:
        while not self._waiting:
            if self._ended:
                self.close()
                raise StopAsyncIteration
            self._changed.clear()
            await self._changed.wait()
        return self._waiting.pop(0)


async def _torn_down(function: Teardown, reason: str) -> None:
    """Call one of the author's functions, and log its failure."""
    try:
        await function(reason)
    except Exception:
        log.exception("A function of on_teardown has failed")


def _tool_event(what: str, params: Json) -> ToolEvent | None:
    arguments = params.get("arguments")
    given: Json = arguments if isinstance(arguments, dict) else {}
    if what == "input-partial":
        return ToolInputPartial(given)
    if what == "input":
        return ToolInput(given)
    if what == "result":
        return ToolResult.read(params)
    if what == "cancelled":
        reason = params.get("reason")
        return ToolCancelled(reason if isinstance(reason, str) else "")
    return None
