"""Lowlevel servers of mcp 2.x: views are added to the results of their resource handlers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

import mcp_types as types

from mcpframe.frame.core.errors import ViewError
from mcpframe.views.view import EXTENSION_ID

if TYPE_CHECKING:
    from mcpframe.views.view import View

_LIST, _READ = "resources/list", "resources/read"


class Lowlevel2:
    """A lowlevel `Server`."""

    def __init__(self, server: Any) -> None:
        self._views: dict[str, View] = {}
        server.extensions.setdefault(EXTENSION_ID, {})
        self._list, self._read = (_handler(server, method) for method in (_LIST, _READ))
        server.add_request_handler(_LIST, types.PaginatedRequestParams, self._answer_list)
        server.add_request_handler(_READ, types.ReadResourceRequestParams, self._answer_read)

    def add_resource(self, view: View) -> None:
        self._views[view.uri] = view

    def add_tool(self, function: Callable[..., Any], meta: dict[str, Any], options: Mapping[str, Any]) -> NoReturn:
        raise no_functions()

    async def _answer_list(self, ctx: Any, params: types.PaginatedRequestParams) -> Any:
        result = types.ListResourcesResult(resources=[]) if self._list is None else await self._list(ctx, params)
        if getattr(params, "cursor", None) is None and isinstance(result, types.ListResourcesResult):
            ours = [
                types.Resource(
                    uri=view.uri,
                    name=view.uri,
                    title=view.title,
                    description=view.description,
                    mime_type=view.mime_type,
                    _meta=view.meta,
                )
                for view in self._views.values()
            ]
            result = result.model_copy(update={"resources": [*result.resources, *ours]})
        return result

    async def _answer_read(self, ctx: Any, params: types.ReadResourceRequestParams) -> Any:
        if view := self._views.get(str(params.uri)):
            text = types.TextResourceContents(uri=view.uri, text=view.html, mime_type=view.mime_type, _meta=view.meta)
            return types.ReadResourceResult(contents=[text])
        if self._read is None:
            from mcp.shared.exceptions import MCPError

            raise MCPError(code=types.INVALID_PARAMS, message=f"Unknown resource: {params.uri}")
        return await self._read(ctx, params)


def _handler(server: Any, method: str) -> Any:
    entry = server.get_request_handler(method)
    return None if entry is None else entry.handler


def no_functions() -> ViewError:
    """Return the error for registering a function as a tool: lowlevel servers list their tools themselves."""
    return ViewError("A lowlevel server lists its tools itself: put views.meta(view) into the _meta of its Tool.")
