"""The views of one server, and the tools that they belong to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from mcpframe.frame.core.errors import ViewError
from mcpframe.frame.serving.framed import unwrapped
from mcpframe.views.servers import Registrar, registrar_for
from mcpframe.views.view import ToolVisibility, View

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])

_KEPT = "_mcpframe_views"
"""The attribute of a server object that its `Views` objects share."""


def views_of(server: Any) -> tuple[View, ...]:
    """Return the views that a server has."""
    _, views = getattr(unwrapped(server), _KEPT, (None, {}))
    return tuple(views.values())


class Views:
    """The views of a server: a registry by their URI.

    Args:
        server: a `FrameServer` or the result of `mcpframe.wrap`, an `MCPServer` or a lowlevel `Server` of mcp 2.x, its
            `Apps` extension, a `FastMCP` or a lowlevel `Server` of mcp 1.x, or a `FastMCP` of the package fastmcp. A
            lowlevel server needs its handlers first: those that list and read resources are extended here.
        views: its views; more can be added later.

    Raises:
        ViewError: The server is none of these, or two views have the same URI.
    """

    def __init__(self, server: Any, *views: View) -> None:
        server = unwrapped(server)
        kept: tuple[Registrar, dict[str, View]] | None = getattr(server, _KEPT, None)
        if kept is None:
            kept = registrar_for(server), {}
            setattr(server, _KEPT, kept)
        self._registrar, self._views = kept
        for view in views:
            self.add(view)

    def add(self, view: View) -> View:
        """Add a view, whose resource the server lists and reads from then on. Returns the view.

        Raises:
            ViewError: The server has a view of this URI.
        """
        if view.uri in self._views:
            raise ViewError(f"This server has two views of the URI {view.uri}: give each a URI of its own.")
        self._registrar.add_resource(view)
        self._views[view.uri] = view
        return view

    def tool(
        self,
        view: View | str,
        *,
        visibility: Sequence[ToolVisibility] | None = None,
        meta: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Callable[[FunctionT], FunctionT]:
        """Return a decorator that registers a function as a tool with a view.

        Args:
            view: The view, or its URI.
            visibility: Who may call the tool: `["model"]`, `["app"]` or both; by default both.
            meta: Further `_meta` of the tool.
            options: further arguments of the server's own `add_tool`: `name`, `title`, `description`, …

        Raises:
            ViewError: The server has no such view, `visibility` cannot be used, or the server's SDK registers no tools
                from functions: see `meta`.
        """
        combined = {**(meta or {}), **self.meta(view, visibility=visibility)}

        def register(function: FunctionT) -> FunctionT:
            self._registrar.add_tool(function, combined, options)
            return function

        return register

    def meta(self, view: View | str, *, visibility: Sequence[ToolVisibility] | None = None) -> dict[str, Any]:
        """Return the `_meta` of a tool with a view, for tools that a lowlevel server registers itself.

        Args:
            view: The view, or its URI.
            visibility: see `tool`.

        Raises:
            ViewError: The server has no such view, or `visibility` cannot be used.
        """
        uri = view.uri if isinstance(view, View) else view
        known = self._views.get(uri)
        if known is None or (isinstance(view, View) and known is not view):
            have = ", ".join(self._views) or "none"
            raise ViewError(
                f"This server has no view {uri}: add it with Views(server, View(…, uri={uri!r})). It has: {have}."
            )
        return known.tool_meta(visibility)
