"""Register resources and tools with `_meta` at servers of each SDK.

Only the server's own SDK is imported, once a server of it is used.
"""

from __future__ import annotations

import inspect
import uuid
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from mcpframe.frame.compat.sdk import is_of_fastmcp, major
from mcpframe.frame.core.errors import ViewError

if TYPE_CHECKING:
    from mcpframe.views.view import View


class Registrar(Protocol):
    """The interface for registering views at a server."""

    def add_resource(self, view: View) -> None:
        """Register the resource of a view."""

    def add_tool(self, function: Callable[..., Any], meta: dict[str, Any], options: Mapping[str, Any]) -> None:
        """Register a function as a tool with this `_meta`."""


def registrar_for(server: Any) -> Registrar:
    """Return the registrar for a server object.

    Raises:
        ViewError: if it is not a server.
    """
    names = {cls.__name__ for cls in type(server).__mro__ if cls.__module__.startswith("mcp.server.")}
    if is_of_fastmcp(server):
        return _FastmcpPackage(server)
    if "MCPServer" in names:
        return _McpServer(server)
    if "Apps" in names:
        return _Apps(server)
    if "FastMCP" in names:
        return _FastMcp1(server)
    if "Server" in names:
        if major() == 1:
            from mcpframe.views.lowlevel1 import Lowlevel1

            return Lowlevel1(server)
        from mcpframe.views.lowlevel2 import Lowlevel2

        return Lowlevel2(server)
    raise ViewError(f"An object of type {type(server).__name__} is not an MCP server: views are added to one.")


def _resource(module: str, view: View) -> Any:
    """Return the resource of a view, as the SDK's text resource class in a module."""
    resource = import_module(module).TextResource
    return resource(
        uri=view.uri,
        name=view.uri,
        title=view.title,
        description=view.description,
        mime_type=view.mime_type,
        meta=view.meta,
        text=view.html,
    )


class _ViewIds:
    """Gives the results of tools with views a `viewUUID` in their `_meta`, if they have none.

    A view keeps its values under it: see `Host.view_storage`.
    """

    def __init__(self, lowlevel: Any) -> None:
        """Replace the handler of `tools/call` of a lowlevel server, of mcp 1.x or 2.x."""
        self._names: set[str] = set()
        if major() == 1:
            request_type = import_module("mcp.types").CallToolRequest
            self._call = lowlevel.request_handlers[request_type]
            lowlevel.request_handlers[request_type] = self._answer1
        else:
            entry = lowlevel.get_request_handler("tools/call")
            self._call = entry.handler
            lowlevel.add_request_handler("tools/call", entry.params_type, self._answer2)

    def add(self, name: str) -> None:
        """Add a tool."""
        self._names.add(name)

    async def _answer1(self, request: Any) -> Any:
        answer = await self._call(request)
        return type(answer)(self._named(request.params.name, answer.root))

    async def _answer2(self, ctx: Any, params: Any) -> Any:
        return self._named(params.name, await self._call(ctx, params))

    def _named(self, tool: str, result: Any) -> Any:
        if tool not in self._names or type(result).__name__ != "CallToolResult":
            return result
        return result.model_copy(update={"meta": {"viewUUID": str(uuid.uuid4()), **(result.meta or {})}})


def _name(function: Callable[..., Any], options: Mapping[str, Any]) -> str:
    return str(options.get("name") or getattr(function, "__name__", ""))


class _McpServer:
    """An `MCPServer` of mcp 2.x, with or without the SDK's `Apps`."""

    def __init__(self, server: Any) -> None:
        self._server = server
        apps = import_module("mcp.server.apps")
        self._apps = apps.Apps
        self._ids = _ViewIds(server._lowlevel_server)
        server._lowlevel_server.extensions.setdefault(apps.EXTENSION_ID, {})

    def add_resource(self, view: View) -> None:
        apps = self._apps()
        _Apps(apps).add_resource(view)  # the SDK's own checks
        for binding in apps.resources():
            self._server.add_resource(binding.resource)

    def add_tool(self, function: Callable[..., Any], meta: dict[str, Any], options: Mapping[str, Any]) -> None:
        self._server.add_tool(function, meta=meta, **options)
        self._ids.add(_name(function, options))


class _Apps:
    """The SDK's extension, before an `MCPServer` is created with it."""

    def __init__(self, apps: Any) -> None:
        self._apps = apps

    def add_resource(self, view: View) -> None:
        self._apps.add_resource(_resource("mcp.server.mcpserver.resources", view))

    def add_tool(self, function: Callable[..., Any], meta: dict[str, Any], options: Mapping[str, Any]) -> None:
        others = {key: value for key, value in meta.items() if key != "ui"}
        ui = meta["ui"]
        bound = self._apps.tool(resource_uri=ui["resourceUri"], visibility=ui.get("visibility"), meta=others, **options)
        bound(function)


class _FastMcp1:
    """A `FastMCP` of mcp 1.x."""

    def __init__(self, server: Any) -> None:
        if "meta" not in inspect.signature(server.add_tool).parameters:
            raise ViewError("This version of mcp knows no _meta of tools and resources: install a newer mcp 1.x.")
        self._server = server
        self._ids = _ViewIds(server._mcp_server)

    def add_resource(self, view: View) -> None:
        self._server.add_resource(_resource("mcp.server.fastmcp.resources", view))

    def add_tool(self, function: Callable[..., Any], meta: dict[str, Any], options: Mapping[str, Any]) -> None:
        self._server.add_tool(function, meta=meta, **options)
        self._ids.add(_name(function, options))


class _FastmcpPackage:
    """A `FastMCP` of the package fastmcp. Before 3.0 its resources lose their `_meta` when they are read."""

    def __init__(self, server: Any) -> None:
        self._server = server
        self._ids = _ViewIds(server._mcp_server)
        self._reading: Registrar | None = None
        if import_module("fastmcp").__version__.startswith("2."):
            from mcpframe.views.lowlevel1 import Lowlevel1

            self._reading = Lowlevel1(server._mcp_server)

    def add_resource(self, view: View) -> None:
        if self._reading is not None:
            self._reading.add_resource(view)
        else:
            self._server.add_resource(_resource("fastmcp.resources", view))

    def add_tool(self, function: Callable[..., Any], meta: dict[str, Any], options: Mapping[str, Any]) -> None:
        tool = import_module("fastmcp.tools").Tool
        self._server.add_tool(tool.from_function(function, meta=meta, **options))
        self._ids.add(_name(function, options))
