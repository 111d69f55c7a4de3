"""Lowlevel servers of mcp 1.x: views are added to the results of their resource handlers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

from mcpframe.frame.core.errors import ViewError

if TYPE_CHECKING:
    from mcpframe.views.view import View


class Lowlevel1:
    """A lowlevel `Server`."""

    def __init__(self, server: Any) -> None:
        self._types: Any = import_module("mcp.types")
        self._views: dict[str, View] = {}
        handlers = server.request_handlers
        self._list = handlers.get(self._types.ListResourcesRequest)
        self._read = handlers.get(self._types.ReadResourceRequest)
        handlers[self._types.ListResourcesRequest] = self._answer_list
        handlers[self._types.ReadResourceRequest] = self._answer_read

    def add_resource(self, view: View) -> None:
        self._views[view.uri] = view

    def add_tool(self, function: Callable[..., Any], meta: dict[str, Any], options: Mapping[str, Any]) -> NoReturn:
        raise ViewError("A lowlevel server lists its tools itself: put views.meta(view) into the _meta of its Tool.")

    async def _answer_list(self, request: Any) -> Any:
        types = self._types
        answer = None if self._list is None else await self._list(request)
        result = types.ListResourcesResult(resources=[]) if answer is None else answer.root
        if isinstance(result, types.ListResourcesResult) and not (request.params and request.params.cursor):
            for view in self._views.values():
                described = types.Resource(
                    uri=view.uri,
                    name=view.uri,
                    title=view.title,
                    description=view.description,
                    mimeType=view.mime_type,
                    _meta=view.meta,
                )
                result.resources.append(described)
        return types.ServerResult(result)

    async def _answer_read(self, request: Any) -> Any:
        types = self._types
        uri = str(request.params.uri)
        if view := self._views.get(uri):
            text = types.TextResourceContents(uri=uri, text=view.html, mimeType=view.mime_type, _meta=view.meta)
            return types.ServerResult(types.ReadResourceResult(contents=[text]))
        if self._read is None:
            raise ValueError(f"Unknown resource: {uri}")
        return await self._read(request)
