"""`mcpframe.wrap`: the features of a `FrameServer` for server objects of any SDK.

Importing this imports no SDK; it uses the server's own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from mcpframe.frame.compat.sdk import is_of_fastmcp
from mcpframe.frame.core.errors import EntryError, SdkError
from mcpframe.frame.serving.entries import WRAPPER
from mcpframe.frame.serving.framed import Framed

if TYPE_CHECKING:
    from mcpframe.frame.compat.resource_updates import ToolListing

ServerT = TypeVar("ServerT")

_CLASSES = frozenset({"FastMCP", "MCPServer", "Server"})


class WrappedServer(Framed, Generic[ServerT]):
    """A server object with the features that a `FrameServer` adds to an `MCPServer`. Created by `wrap`.

    Any other public attribute is the wrapped server's: `server.tool`, `server.resource`, `server.name`.
    """

    def __init__(
        self,
        server: ServerT,
        allowed_origins: Sequence[str] | Mapping[str, Sequence[str]] | None,
        browser: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(allowed_origins, browser)
        self._wrapped = server
        self._tool_list: ToolListing | None = None

    @property
    def wrapped(self) -> ServerT:
        """The server object that was wrapped, for type checkers and for `mcp.Client`."""
        return self._wrapped

    async def resource_updated(self, uri: str) -> None:
        """Notify the subscribers of a resource of a change, also outside of any request.

        Args:
            uri: The resource's URI.

        Raises:
            SdkError: The server is not an `MCPServer` of mcp 2.x: others keep no list of subscriptions.
        """
        bus = _subscriptions(self._wrapped)
        if bus is None:
            raise SdkError(
                f"A server of type {type(self._wrapped).__name__} has no list of subscriptions: call "
                "send_resource_updated(uri) of its request's session."
            )
        await import_module("mcpframe.frame.compat.resource_updates").announce_update(bus, uri)

    async def tools_changed(self) -> None:
        """Notify all clients that tools were added or removed, also outside of any request.

        Raises:
            SdkError: The server is not an `MCPServer` of mcp 2.x.
        """
        await self._listing("call send_tool_list_changed() of its request's session").changed()

    def cache(self, *names: str) -> None:
        """Let hubs (MCP-B) offer tools while this page is not open: calling one opens the page.

        Args:
            names: The names of the tools.

        Raises:
            SdkError: The server is not an `MCPServer` of mcp 2.x. mcp 1.x supports such annotations itself.
        """
        self._listing("with mcp 1.x, pass annotations=ToolAnnotations(cache=True) to a tool").cache(names)

    def _listing(self, instead: str) -> ToolListing:
        if self._tool_list is None:
            name = type(self._wrapped).__name__
            raise SdkError(f"mcpframe does not change the list of tools of a server of type {name}: {instead}.")
        return self._tool_list

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self._wrapped, name)


def wrap(
    server: ServerT,
    *,
    allowed_origins: Sequence[str] | Mapping[str, Sequence[str]] | None = None,
    browser: Mapping[str, Any] | None = None,
) -> WrappedServer[ServerT]:
    """Return a server object of any SDK with the features of a `FrameServer`: sessions, storage, setup and ui.

    The entry of the project may name the result or the server itself.

    Args:
        server: An `MCPServer` or a lowlevel `Server` of mcp 2.x, a `FastMCP` or a lowlevel `Server` of mcp 1.x, or a
            `FastMCP` of the package fastmcp.
        allowed_origins: See `FrameServer`.
        browser: See `FrameServer`.

    Raises:
        EntryError: It is none of them, or wrapped already.
        OriginError: An entry of `allowed_origins` can never match, or the list is empty.
        TypeError: `browser` has a value without a JSON form.
    """
    if isinstance(server, Framed) or getattr(server, WRAPPER, None) is not None:
        raise EntryError(f"This {type(server).__name__} has setup, ui and sessions already: wrap a server once.")
    if not _is_server(server):
        raise EntryError(
            f"An object of type {type(server).__name__} is not an MCP server: wrap a FastMCP, an MCPServer or a "
            "lowlevel Server."
        )
    wrapped = WrappedServer(server, allowed_origins, browser)
    setattr(server, WRAPPER, wrapped)
    if (bus := _subscriptions(server)) is not None:
        updates = import_module("mcpframe.frame.compat.resource_updates")
        lowlevel = getattr(server, "_lowlevel_server")  # noqa: B009  of the SDK's type
        updates.answer_subscriptions(lowlevel, bus)
        wrapped._tool_list = updates.ToolListing(lowlevel, bus)
    return wrapped


def _is_server(server: object) -> bool:
    sdks = any(cls.__name__ in _CLASSES and cls.__module__.startswith("mcp.server.") for cls in type(server).__mro__)
    return sdks or is_of_fastmcp(server)


def _subscriptions(server: object) -> Any:
    """The list of subscriptions of an `MCPServer` of mcp 2.x; None for others."""
    return getattr(server, "_subscriptions", None) if hasattr(server, "_lowlevel_server") else None
