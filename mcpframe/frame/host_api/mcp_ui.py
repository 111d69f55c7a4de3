"""`session.host` under a host of mcp-ui's embeddable UI: the page's actions, and its render data.

Such a host is not an MCP client: it hands actions to its own code, and sends that code's answers, which may be any JSON
values, and errors of any shape.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from mcpframe.frame.compat import sdk
from mcpframe.frame.core.errors import HostLacks, HostTimeout
from mcpframe.frame.dialects.mcp_ui.messages import OURS, RENDER_DATA, REQUEST_RENDER_DATA, SIZE_CHANGE
from mcpframe.frame.dialects.mcp_ui.offers import EmbedderFound
from mcpframe.frame.host_api.context import HostContext
from mcpframe.frame.host_api.host import Content, Host, OnData
from mcpframe.frame.session.host_messages import HostMessages, Progress, call_all, content_blocks, plain

if TYPE_CHECKING:
    from mcp.types import CallToolResult

log = logging.getLogger(__name__)

Json = Mapping[str, Any]

_CONTEXT = ("theme", "locale")
"""The members of render data that belong to the host's context."""


class EmbeddingHost(Host):
    """The host of an embedded page."""

    def __init__(self, found: EmbedderFound, messages: HostMessages) -> None:
        """Created by boot.

        Args:
            found: the event that began the session.
            messages: the way to the host.
        """
        super().__init__(found.dialect)
        messages.prefix = f"{OURS}{os.urandom(16).hex()}/"  # unguessable, so that only the host can answer
        self._messages = messages
        self._data: Any = None
        self._arrived = asyncio.Event()
        self._on_data: list[OnData] = []
        self._on_context: list[Callable[[HostContext], None]] = []
        self._take_data(found.data)

    # Handler: messages of the host

    def notified(self, method: str, params: Json) -> bool:
        """Handle render data, the only notification of such a host."""
        if method == RENDER_DATA:
            self._take_data(params.get("renderData"))
        return True

    def asked(self, method: str, params: Json) -> Awaitable[Json] | None:
        """Return None: such a host sends no requests."""
        return None

    def ended(self) -> None:
        """Handle the end of the session."""

    def watch_context(self, function: Callable[[HostContext], None]) -> None:
        """Call a function after each change of the context."""
        self._on_context.append(function)

    def report_size(self, width: int, height: int) -> None:
        """Report the page's height to the host, in CSS pixels.

        The width of a page is that of its frame: a host that applied it would fix the frame's width permanently.
        """
        self._messages.notify(SIZE_CHANGE, {"height": height})

    # Host: requests of the page

    async def render_data(self) -> Any:
        if self._data is None:
            arriving = asyncio.ensure_future(self._arrived.wait())
            asking = asyncio.ensure_future(
                self._messages.request(REQUEST_RENDER_DATA, {}, within=self.timeout, on_progress=_nothing)
            )
            try:
                await asyncio.wait((arriving, asking), return_when=asyncio.FIRST_COMPLETED)
                if not arriving.done():
                    self._take_data(asking.result().get("renderData"))
            finally:
                for task in (arriving, asking):
                    task.cancel()
                await asyncio.gather(arriving, asking, return_exceptions=True)
        return self._data

    def on_render_data(self, function: OnData) -> OnData:
        self._on_data.append(function)
        if self._data is not None:
            call_all([function], self._data)
        return function

    async def call_tool(
        self,
        name: str,
        arguments: Json | None = None,
        *,
        on_progress: Progress | None = None,
    ) -> CallToolResult:
        response = await self._ask("tool", {"toolName": name, "params": arguments or {}}, on_progress)
        result: CallToolResult = _tool_result(response)
        return result

    async def send_message(self, content: Content | Iterable[Content]) -> None:
        blocks = content_blocks(content)
        if any(block.get("type") != "text" for block in blocks):
            raise HostLacks("A prompt of mcp-ui has only text.", "prompt")
        await self._ask("prompt", {"prompt": "\n".join(block["text"] for block in blocks)})

    async def open_link(self, url: str) -> None:
        await self._ask("link", {"url": url})

    async def intent(self, intent: str, params: Json | None = None) -> Any:
        return await self._ask("intent", {"intent": intent, "params": params or {}})

    def notify(self, message: str) -> None:
        self._messages.notify("notify", {"message": message})

    async def request_data(self, kind: str, params: Json | None = None) -> Any:
        return await self._ask("ui-request-data", {"requestType": kind, "params": params or {}})

    # Helpers

    async def _ask(self, action: str, content: Json, on_progress: Progress | None = None) -> Any:
        received = False

        def on_received(progress: float, total: float | None, text: str | None) -> None:
            nonlocal received
            received = True
            if on_progress is not None:
                on_progress(progress, total, text)

        try:
            answer = await self._messages.request(action, plain(content), within=self.timeout, on_progress=on_received)
        except HostTimeout as error:
            if received:
                raise
            text = f"{error} It has not acknowledged it either: it may not handle actions."
            raise HostTimeout(text, action) from None
        return answer.get("response")

    def _take_data(self, data: Any) -> None:
        if data is None or data == self._data:  # hosts send it on load, when the page is ready, and on request
            return
        self._data = data
        self._arrived.set()
        if isinstance(data, dict):
            self.context = HostContext.read({name: data[name] for name in _CONTEXT if name in data})
        call_all(self._on_context, self.context)
        call_all(self._on_data, data)


def _tool_result(response: Any) -> Any:
    """Return a host's answer to a tool call as a result of MCP; most hosts pass on that result unchanged."""
    model = sdk.model("CallToolResult")
    if isinstance(response, dict) and isinstance(response.get("content"), list):
        try:
            return model.model_validate(response)
        except ValueError:
            log.debug("The host's answer to a tool call is not what MCP specifies")
    if response is None:
        return model.model_validate({"content": []})
    text = response if isinstance(response, str) else json.dumps(response, ensure_ascii=False)
    structured = response if isinstance(response, dict) else {"result": response}
    return model.model_validate({"content": [{"type": "text", "text": text}], "structuredContent": structured})


def _nothing(*_: Any) -> None:
    pass
