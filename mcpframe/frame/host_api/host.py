"""`session.host`: a page's requests to the host around it, and the host's data and events, in every dialect.

A method that the host does not support raises `HostLacks`, which names it. Under a host that is only an MCP client, and
outside of a browser, all of them do.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from mcpframe.frame.core.errors import HostLacks
from mcpframe.frame.host_api.context import HostContext, ToolEvent, ToolInput, ToolResult
from mcpframe.frame.session.host_messages import TIMEOUT, Progress

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

    from mcpframe.frame.storage.values import Storage

Json = Mapping[str, Any]
Content = str | Json | Any
"""A text, or a content block of MCP: an object, or a model of the SDK."""
Teardown = Callable[[str], Awaitable[None]]
"""Called with the host's reason, which may be empty."""
OnData = Callable[[Any], None]
"""Called with render data: JSON values."""


class Host:
    """The host around a page.

    All requests raise `HostLacks` if the host does not support them, `HostTimeout` if it does not answer within
    `timeout`, and `HostError` if it answers with an error or declines.

    Attributes:
        timeout: seconds that the host may take to answer a request; None waits until the session ends.
        dialect: the dialect that the host speaks; empty outside of a browser.
        name: the host's name; empty if it has sent none.
        version: its version; empty if it has sent none.
        capabilities: its capabilities, as sent.
        context: the page's context, as far as the host has sent it.
        opens_storage: returns the storage of an id. Set by boot.
    """

    opens_storage: Callable[[str], Storage]

    def __init__(self, dialect: str = "") -> None:
        """Created by boot, and by `FrameServer.session` outside of a browser."""
        self.dialect = dialect
        self.timeout: float | None = TIMEOUT
        self.name = ""
        self.version = ""
        self.capabilities: Json = {}
        self.context = HostContext()

    # Data and events of the host

    def context_changes(self) -> AsyncIterator[HostContext]:
        """Return an iterator of the context after each change, until the session ends. It skips missed ones.

        Raises:
            HostLacks: if the host sends no context.
        """
        self._lacks("a context")

    def tool_events(self) -> AsyncIterator[ToolEvent]:
        """Return an iterator of the events of the displayed tool call, until the session ends.

        It begins with past events: the latest arguments, then the result or the cancellation. A slow reader gets only
        the latest partial arguments.

        Raises:
            HostLacks: if the host shows no tool call.
        """
        self._lacks("a tool call")

    async def tool_input(self) -> ToolInput:
        """Wait for the arguments of the tool call.

        Raises:
            HostLacks: if the host shows no tool call.
            HostError: if the session ended before, or the call was cancelled.
        """
        self._lacks("a tool call")

    async def tool_result(self) -> ToolResult:
        """Wait for the result of the tool call.

        Raises:
            HostLacks: if the host shows no tool call.
            HostError: if the session ended before, or the call was cancelled.
        """
        self._lacks("a tool call")

    async def view_storage(self) -> Storage:
        """Wait for the result of the tool call, and return the storage of this call's view.

        It is like `session.storage`, but belongs to the `viewUUID` in the result's `_meta`: a later frame that shows
        the same result has the same values. Without that id, and where the page has no storage, values are kept in
        memory, and the log says so.

        Raises:
            HostLacks: if the host shows no tool call.
            HostError: if the session ended before, or the call was cancelled.
        """
        self._lacks("a tool call")

    def on_list_changed(self, function: Callable[[str], None]) -> None:
        """Call a function whenever a list of the host's server changes, with `"tools"`, `"resources"` or `"prompts"`.

        Raises:
            HostLacks: if the host has no server behind it.
        """
        self._lacks("lists")

    def on_teardown(self, function: Teardown) -> Teardown:
        """Call an async function before the host removes this page; the host waits for it. Usable as a decorator.

        It may take five seconds. Its exceptions are logged.

        Raises:
            HostLacks: if the host does not announce the removal.
        """
        self._lacks("an announced teardown")

    # The host's server

    async def call_tool(
        self,
        name: str,
        arguments: Json | None = None,
        *,
        on_progress: Progress | None = None,
    ) -> CallToolResult:
        """Call a tool of the host's server. Returns its result, which may be an error of the tool (`isError`).

        A host of mcp-ui may answer with any JSON value. One that is not a result of MCP becomes one: the content is the
        text or the JSON of it, and `structuredContent` the value itself, as `{"result": value}` unless it is an object.
        None becomes an empty result.
        """
        self._lacks("tools/call")

    async def list_tools(self, cursor: str | None = None) -> ListToolsResult:
        """List the tools of the host's server: one page, from `cursor`."""
        self._lacks("tools/list")

    async def read_resource(self, uri: str) -> ReadResourceResult:
        """Read a resource of the host's server."""
        self._lacks("resources/read")

    async def list_resources(self, cursor: str | None = None) -> ListResourcesResult:
        """List the resources of the host's server: one page, from `cursor`."""
        self._lacks("resources/list")

    async def list_resource_templates(self, cursor: str | None = None) -> ListResourceTemplatesResult:
        """List the resource templates of the host's server: one page, from `cursor`."""
        self._lacks("resources/templates/list")

    async def list_prompts(self, cursor: str | None = None) -> ListPromptsResult:
        """List the prompts of the host's server: one page, from `cursor`."""
        self._lacks("prompts/list")

    # The host itself

    async def create_message(self, messages: Sequence[Any], max_tokens: int, **params: Any) -> CreateMessageResult:
        """Let the host's model write a message.

        Args:
            messages: `SamplingMessage`s of MCP, as objects or models of the SDK.
            max_tokens: the most tokens to write.
            params: further parameters of `sampling/createMessage`, such as `systemPrompt`.
        """
        self._lacks("sampling/createMessage")

    async def send_message(self, content: Content | Iterable[Content]) -> None:
        """Add a message of the user to the conversation.

        Args:
            content: a text, a content block, or several of them.
        """
        self._lacks("ui/message")

    async def update_model_context(
        self,
        content: Content | Iterable[Content] | None = None,
        structured: Json | None = None,
    ) -> None:
        """Replace this page's context for the model, which gets it with the next message.

        Args:
            content: a text, a content block, or several of them.
            structured: JSON values.
        """
        self._lacks("ui/update-model-context")

    async def intent(self, intent: str, params: Json | None = None) -> Any:
        """Send the host an intent of the user. Returns its answer: JSON values, or None.

        Args:
            intent: its name, such as `"create-task"`.
            params: its parameters.
        """
        self._lacks("intents")

    def notify(self, message: str) -> None:
        """Notify the host of an event in this page, such as `"cart-updated"`. It is not answered."""
        self._lacks("notifications of what the page has done")

    async def request_data(self, kind: str, params: Json | None = None) -> Any:
        """Ask the host for data of its own. Returns its answer: JSON values, or None.

        Args:
            kind: the kind of data, such as `"get-payment-methods"`.
            params: its parameters.
        """
        self._lacks("data of its own")

    async def render_data(self) -> Any:
        """Wait for the host's render data, and return it: JSON values; None for none."""
        self._lacks("render data")

    def on_render_data(self, function: OnData) -> OnData:
        """Call a function with the host's render data: now, if there is any, and whenever it changes.

        Usable as a decorator.

        Raises:
            HostLacks: if the host has no such data.
        """
        self._lacks("render data")

    async def open_link(self, url: str) -> None:
        """Let the host open a URL outside of this page."""
        self._lacks("ui/open-link")

    async def download(self, name: str, data: str | bytes, mime_type: str | None = None) -> None:
        """Offer the user a file through the host.

        Args:
            name: its name.
            data: its content.
            mime_type: its type; by default that of a text or of binary data.
        """
        self._lacks("ui/download-file")

    async def request_display_mode(self, mode: str) -> str:
        """Ask for a display mode: `"inline"`, `"fullscreen"` or `"pip"`. Returns the one that the host has chosen."""
        self._lacks("ui/request-display-mode")

    async def ping(self) -> None:
        """Wait until the host answers a `ping`."""
        self._lacks("ping")

    def request_teardown(self) -> None:
        """Ask the host to remove this page, which it may decline."""
        self._lacks("ui/notifications/request-teardown")

    def log(self, level: str, data: Any, logger: str | None = None) -> None:
        """Write JSON values to the host's log, at a level of MCP, such as `"info"`."""
        self._lacks("notifications/message")

    def _lacks(self, what: str) -> NoReturn:
        where = f"A host that speaks {self.dialect!r}" if self.dialect else "Outside of a browser there is no host: it"
        raise HostLacks(f"{where} does not offer {what}.", what)
