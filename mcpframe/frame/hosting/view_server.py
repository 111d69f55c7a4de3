"""The only server that a view can reach, through the host's client: its tools, resources and views."""

from __future__ import annotations

import base64
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcpframe.frame.core import jsonrpc
from mcpframe.frame.core.errors import AppError
from mcpframe.frame.core.object_results import called_with_object, tool_with_object
from mcpframe.frame.core.paging import Paging
from mcpframe.frame.hosting.policy import is_model_only, resource_uri, ui_of
from mcpframe.frame.session.host_messages import plain
from mcpframe.frame.waiting.answers import AnswerRefused

if TYPE_CHECKING:
    from mcp import Client

log = logging.getLogger(__name__)

Json = Mapping[str, Any]
Progress = Callable[[float, float | None, str | None], None]

MIME_TYPE = "text/html;profile=mcp-app"
LARGEST_VIEW = 16 * 1024 * 1024
"""The largest HTML text of a view, in characters."""


@dataclass(frozen=True, slots=True)
class ViewResource:
    """The `ui://` resource of a view.

    Attributes:
        uri: its address.
        html: its text.
        ui: its `_meta.ui`.
    """

    uri: str
    html: str
    ui: Json


class ViewServer:
    """The server of a host's views."""

    def __init__(self, client: Client) -> None:
        """Use a connected client of the SDK."""
        self._client = client
        self._tools: dict[str, Json] | None = None
        self._answers: dict[str, Callable[[Json, Progress | None], Awaitable[Json]]] = {}
        offered = client.server_capabilities
        if offered.tools is not None:
            self._answers |= {"tools/call": self._call_tool, "tools/list": self._list_tools}
        if offered.resources is not None:
            self._answers |= {
                "resources/read": self._read_resource,
                "resources/list": self._lister(client.list_resources),
                "resources/templates/list": self._lister(client.list_resource_templates),
            }
        if offered.prompts is not None:
            self._answers["prompts/list"] = self._lister(client.list_prompts)

    @property
    def capabilities(self) -> dict[str, Json]:
        """The part of `hostCapabilities` that the server offers."""
        names = {"serverTools": "tools/call", "serverResources": "resources/read"}
        return {name: {} for name, method in names.items() if method in self._answers}

    def answers(self, method: str) -> bool:
        """Return whether a view's request is one for the server."""
        return method in self._answers

    async def answer(self, method: str, params: Json, on_progress: Progress | None = None) -> Json:
        """Pass a view's request to the server.

        Args:
            method: a method that it answers.
            params: the parameters.
            on_progress: called with the progress that the server reports.

        Returns:
            The result.

        Raises:
            AnswerRefused: with the server's error, or if the request is not allowed to views.
        """
        try:
            return await self._answers[method](params, on_progress)
        except AnswerRefused:
            raise
        except Exception as error:
            code = getattr(error, "code", None)  # an error of the SDK has the server's code
            if not isinstance(code, int):
                raise
            raise AnswerRefused(code, str(error), getattr(error, "data", None)) from error

    async def call(self, name: str, arguments: Json) -> Any:
        """Call a tool for the host. Returns a `CallToolResult`."""
        return await self._client.call_tool(name, dict(arguments))

    async def tool(self, name: str) -> Json | None:
        """Return the definition of a tool from `tools/list`; None if there is none."""
        if self._tools is None or name not in self._tools:
            self._tools = {tool["name"]: tool async for tool in self._pages(self._client.list_tools, "tools")}
        return self._tools.get(name)

    def forget_tools(self) -> None:
        """Read the list of tools again before the next call."""
        self._tools = None

    async def view_of(self, tool: str) -> tuple[Json, str]:
        """Return the definition of a tool, and the address of its view.

        Raises:
            AppError: if there is no such tool, or it has no view.
        """
        definition = await self.tool(tool)
        if definition is None:
            raise AppError(f"The server has no tool {tool!r}.")
        uri = resource_uri(definition)
        if uri is None:
            raise AppError(f"The tool {tool!r} has no view: there is no ui:// address in its _meta.ui.resourceUri.")
        return definition, uri

    async def read_view(self, uri: str) -> ViewResource:
        """Read the resource of a view.

        Raises:
            AppError: if it is not a view, is too large, or is not the one that was requested.
        """
        contents = plain((await self._client.read_resource(uri)).contents)
        view = next((content for content in contents if content.get("uri") == uri), None)
        if view is None:
            raise AppError(f"The server answered with another resource than {uri}.", "resources/read")
        if _mime_type(view.get("mimeType")) != MIME_TYPE:
            reason = f"{uri} is not a view: its type is {view.get('mimeType')!r}, and not {MIME_TYPE!r}."
            raise AppError(reason, "resources/read")
        html = view.get("text")
        if html is None:
            try:
                html = base64.b64decode(view.get("blob", ""), validate=True).decode()
            except ValueError:
                raise AppError(f"{uri} is not a text in UTF-8.", "resources/read") from None
        if len(html) > LARGEST_VIEW:
            reason = f"{uri} has {len(html):,} characters; a view has at most {LARGEST_VIEW:,}."
            raise AppError(reason, "resources/read")
        return ViewResource(uri, html, ui_of(view) or await self._listed_ui(uri))

    async def _listed_ui(self, uri: str) -> Json:
        """Return the `_meta.ui` of the resource's list entry; that of the content itself takes precedence."""
        try:
            async for resource in self._pages(self._client.list_resources, "resources"):
                if resource.get("uri") == uri:
                    return ui_of(resource)
        except Exception as error:  # noqa: BLE001  the view itself was read; a server may list none, or a faulty list
            log.warning("The server cannot list its resources, so a policy for %s there is not applied: %s", uri, error)
        return {}

    async def _call_tool(self, params: Json, on_progress: Progress | None) -> Json:
        name, arguments = params.get("name"), params.get("arguments", {})
        if not isinstance(name, str) or not isinstance(arguments, dict):
            raise AnswerRefused(
                jsonrpc.INVALID_PARAMS, "tools/call needs the name of a tool, and an object of arguments."
            )
        definition = await self.tool(name)
        if definition is None:
            raise AnswerRefused(jsonrpc.INVALID_PARAMS, f"Unknown tool: {name[:200]}")
        if is_model_only(definition):
            raise AnswerRefused(jsonrpc.INVALID_PARAMS, f"The tool {name[:200]} is for models only, not for views.")

        async def report(progress: float, total: float | None, message: str | None) -> None:
            if on_progress is not None:
                on_progress(progress, total, message)

        called = self._client.call_tool(name, arguments, progress_callback=report if on_progress else None)
        return called_with_object(plain(await called))

    async def _list_tools(self, params: Json, _: Progress | None) -> Json:
        listed = plain(await self._client.list_tools(cursor=_cursor(params)))
        return {**listed, "tools": [tool_with_object(tool) for tool in listed["tools"] if not is_model_only(tool)]}

    async def _read_resource(self, params: Json, _: Progress | None) -> Json:
        uri = params.get("uri")
        if not isinstance(uri, str):
            raise AnswerRefused(jsonrpc.INVALID_PARAMS, "resources/read needs the address of a resource.")
        result: Json = plain(await self._client.read_resource(uri))
        return result

    def _lister(self, method: Callable[..., Awaitable[Any]]) -> Callable[[Json, Progress | None], Awaitable[Json]]:
        async def answer(params: Json, _: Progress | None) -> Json:
            result: Json = plain(await method(cursor=_cursor(params)))
            return result

        return answer

    async def _pages(self, method: Callable[..., Awaitable[Any]], member: str) -> AsyncIterator[Json]:
        pages = Paging()
        while pages.more:
            page = plain(await method(cursor=pages.cursor))
            for item in page[member]:
                yield item
            pages.follow(page.get("nextCursor"))


def _cursor(params: Json) -> str | None:
    cursor = params.get("cursor")
    if not isinstance(cursor, str | None):
        raise AnswerRefused(jsonrpc.INVALID_PARAMS, "The cursor must be a text.")
    return cursor


def _mime_type(text: Any) -> str:
    return "".join(text.lower().split()) if isinstance(text, str) else ""
