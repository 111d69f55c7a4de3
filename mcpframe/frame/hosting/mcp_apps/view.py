"""A displayed view of MCP Apps: the host's messages to it, its context, and its own tools."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mcpframe.frame.core.errors import AppError, AppTimeout, StateError
from mcpframe.frame.core.events import Closed, SessionBegun
from mcpframe.frame.core.object_results import called_with_object
from mcpframe.frame.dialects.mcp_apps.further_roles import ViewCalled
from mcpframe.frame.hosting.mcp_apps.call import ShownCall
from mcpframe.frame.hosting.mcp_apps.requests import Hooks, ViewRequests
from mcpframe.frame.hosting.policy import ViewPolicy
from mcpframe.frame.hosting.shown_frame import AXES, ShownFrame
from mcpframe.frame.hosting.view_server import ViewResource, ViewServer
from mcpframe.frame.session.host_messages import TIMEOUT, Errors, HostMessages, Progress, plain

if TYPE_CHECKING:
    from mcp.types import CallToolResult, ListToolsResult

    from mcpframe.frame.session.session import Session

log = logging.getLogger(__name__)

Json = Mapping[str, Any]
LISTS = ("tools", "resources", "prompts")
_ERRORS = Errors("view", AppError, AppError, AppTimeout)


class RunningView:
    """A displayed view. Messages are queued until it is ready.

    Attributes:
        tool: the definition of the tool that it belongs to, as `tools/list` has it; None for a view by its address.
        resource: the resource that it was read from.
        policy: the granted part of its declaration.
        context: the host's context as sent to the view, or queued until it is ready, in the names of MCP Apps.
        info: its name and version, from the handshake.
        capabilities: its capabilities, from the handshake.
    """

    def __init__(
        self,
        frame: ShownFrame,
        server: ViewServer,
        hooks: Hooks,
        resource: ViewResource,
        policy: ViewPolicy,
        tool: Json | None,
        context: Json,
    ) -> None:
        """Created by `AppHost.show`."""
        self.tool = tool
        self.resource = resource
        self.policy = policy
        self.context: dict[str, Any] = dict(context)
        self.info: Json = {}
        self.capabilities: Json = {}
        self._frame = frame
        self._server = server
        self._hooks = hooks
        self._call = ShownCall()
        self._sent_context: dict[str, Any] = {}
        self._open = False
        self.messages = HostMessages(self._begin, _ERRORS)

    @property
    def session(self) -> Session:
        """The session with it."""
        return self._frame.session

    @property
    def size(self) -> tuple[float | None, float | None]:
        """The width and height that it reported last, before any bounds; None if it has not."""
        return self._frame.size

    # The displayed tool call

    def input_partial(self, arguments: Json) -> None:
        """Show partial arguments of the tool call, while a model writes them.

        Raises:
            StateError: once the arguments are complete or the call is over.
        """
        self._call.partial(plain(arguments))

    def input(self, arguments: Json) -> None:
        """Show the complete arguments of the tool call, once.

        Raises:
            StateError: if the arguments are complete already, or the call is over.
        """
        self._call.input(plain(arguments))

    def result(self, result: CallToolResult | Json) -> None:
        """Show the result of the tool call, after its arguments.

        Raises:
            StateError: before the arguments, and once the call is over.
        """
        self._call.result(called_with_object(plain(result)))

    def cancelled(self, reason: str = "") -> None:
        """Show that the tool call has no result.

        Raises:
            StateError: once the call is over.
        """
        self._call.cancelled(reason)

    async def call(self, arguments: Json | None = None) -> CallToolResult:
        """Call the tool with these arguments, and show them and the result. Does not wait for the view.


        Returns:
            The result, also if the view has failed.

        Raises:
            StateError: if the view belongs to no tool, or shows a call already.
            MCPError: an error of the client's `call_tool`; the view is notified of the cancellation.
        """
        if self.tool is None:
            raise StateError("This view was shown by its address: pass a tool to AppHost to call it.")
        self.input(arguments or {})
        try:
            result: CallToolResult = await self._server.call(self.tool["name"], arguments or {})
        except asyncio.CancelledError:
            self._call.cancelled("The call was cancelled.")
            raise
        except Exception as error:
            self._call.cancelled(str(error)[:500])
            raise
        self.result(result)
        return result

    # Context and display

    def change_context(self, changes: Json) -> None:
        """Change the host's context; the view gets the members that differ.

        Args:
            changes: the members to replace, in the names of MCP Apps, such as `{"theme": "dark"}`.
        """
        self.context |= {name: value for name, value in plain(changes).items() if value is not None}
        self._tell_context()

    @property
    def display_mode(self) -> str:
        """The display mode."""
        mode = self.context.get("displayMode")
        return mode if isinstance(mode, str) else "inline"

    @property
    def display_modes(self) -> tuple[str, ...]:
        """The display modes that host and view have in common."""
        ours = self.context.get("availableDisplayModes")
        modes = tuple(ours) if isinstance(ours, list | tuple) else (self.display_mode,)
        theirs = self.capabilities.get("availableDisplayModes")
        return tuple(mode for mode in modes if mode in theirs) if isinstance(theirs, list) else modes

    def show(self) -> None:
        """Show the frame."""
        self._frame.show(True)

    def hide(self) -> None:
        """Hide the frame; the view keeps running."""
        self._frame.show(False)

    def list_changed(self, kind: str) -> None:
        """Notify the view of a change in a list of its server: `"tools"`, `"resources"` or `"prompts"`."""
        if kind not in LISTS:
            raise ValueError(f"{kind!r} is not a list; there are {', '.join(LISTS)}.")
        if kind == "tools":
            self._server.forget_tools()
        self.notify(f"notifications/{kind}/list_changed", {})

    # The view's own tools, and other requests

    async def initialized(self) -> None:
        """Wait until the view is ready.

        Raises:
            SessionError: if it failed to become ready; see its subclasses.
        """
        await self.session.begun()

    async def ended(self) -> Closed:
        """Wait for the end of the view, and return how it ended."""
        return await self.session.ended()

    async def list_tools(self, cursor: str | None = None) -> ListToolsResult:
        """List the tools of the view itself.

        Raises:
            AppError: if it has none, or answers with an error.
        """
        result: ListToolsResult = await self._typed("ListToolsResult", "tools/list", {"cursor": cursor})
        return result

    async def call_tool(
        self, name: str, arguments: Json | None = None, *, on_progress: Progress | None = None
    ) -> CallToolResult:
        """Call a tool of the view itself.

        Raises:
            AppError: if it has none, or answers with an error.
        """
        params = {"name": name, "arguments": plain(arguments or {})}
        result: CallToolResult = await self._typed("CallToolResult", "tools/call", params, on_progress)
        return result

    async def request(self, method: str, params: Json, *, within: float | None = TIMEOUT) -> Json:
        """Send the view a request.

        Raises:
            AppError: if it answers with an error, or not at all.
        """
        await self.initialized()
        return await self.messages.request(method, params, within=within)

    async def tear_down(self, reason: str, within: float) -> None:
        """Let the view prepare for its removal; wait for its answer, but not longer than `within` seconds."""
        if not self._open:
            return
        try:
            await self.messages.request("ui/resource-teardown", {"reason": reason}, within=within)
        except AppError as error:  # most views answer that they do not know the request
            log.debug("The view was removed without its consent: %s", error)

    # Internal: for the host's other parts

    def resized(self, size: Json) -> None:
        """Apply the size that the view reports, within the bounds of the host's context."""
        container = self.context.get("containerDimensions")
        bounds = container if isinstance(container, Mapping) else None
        self._frame.follow(size, bounds, AXES if self.display_mode == "inline" else ())

    def notify(self, method: str, params: Json) -> None:
        """Send the view a notification; does nothing before it is ready and after its end."""
        if self._open:
            self.messages.notify(method, params)

    def called(self, event: ViewCalled) -> None:
        """Complete the handshake: the view has the current context."""
        self.info, self.capabilities = event.info, event.capabilities
        self._sent_context = dict(self.context)

    def over(self) -> None:
        """Handle the end of the session."""
        self._open = False
        self._frame.stop_resizing()
        self.messages.close()

    def _begin(self, _: SessionBegun, messages: HostMessages) -> ViewRequests:
        self._open = True
        self._tell_context()
        self._call.open(messages.notify)
        return ViewRequests(self._server, self._hooks, self)

    def _tell_context(self) -> None:
        if not self._open:
            return
        changed = {name: value for name, value in self.context.items() if self._sent_context.get(name) != value}
        self._sent_context = dict(self.context)
        if changed:
            self.notify("ui/notifications/host-context-changed", changed)

    async def _typed(self, kind: str, method: str, params: Json, on_progress: Progress | None = None) -> Any:
        await self.initialized()
        if "tools" not in self.capabilities:
            raise AppError("This view has no tools.", method)
        return await self.messages.request_model(kind, method, params, on_progress=on_progress)
