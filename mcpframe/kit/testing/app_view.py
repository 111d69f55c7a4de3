"""A view of MCP Apps in a test, from its host's side."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from playwright.async_api import Frame

from mcpframe.kit.base.limits import START_SECONDS
from mcpframe.kit.testing.app_answers import Json

if TYPE_CHECKING:
    from mcp.types import CallToolResult, Tool


class Call(Protocol):
    """Calls a method of `AppBridge` that sends the view a request."""

    async def __call__(self, method: str, params: Json, *, within: float = ...) -> Any: ...


class AppView:
    """A view in its frame, from its host's side.

    Attributes:
        frame: The view's page, for Playwright's locators.
        info: The `appInfo` of its `ui/initialize`: name, version, title.
        capabilities: Its `appCapabilities`.
    """

    def __init__(self, frame: Frame, initialize: Json, call: Call, sizes: Callable[[], list[dict[str, Any]]]) -> None:
        self.frame = frame
        self.info: Json = initialize.get("appInfo") or {}
        self.capabilities: Json = initialize.get("appCapabilities") or {}
        self._call = call
        self._sizes = sizes

    @property
    def size(self) -> dict[str, Any] | None:
        """The last reported width and height of the view, in CSS pixels; None before that."""
        return next(reversed(self._sizes()), None)

    async def list_tools(self) -> list[Tool]:
        """Return the app's tools. Raises `ViewFailed` if it does not answer."""
        from mcp.types import ListToolsResult

        return ListToolsResult.model_validate(await self._call("listTools", {})).tools

    async def call_tool(self, name: str, arguments: Json | None = None) -> CallToolResult:
        """Call a tool of the app, as the host's model would.

        Returns:
            Its result, which may be an error of the tool.

        Raises:
            ViewFailed: The view answers with a JSON-RPC error, or not in time.
        """
        from mcp.types import CallToolResult

        result = await self._call("callTool", {"name": name, "arguments": dict(arguments or {})}, within=START_SECONDS)
        return CallToolResult.model_validate(result)
