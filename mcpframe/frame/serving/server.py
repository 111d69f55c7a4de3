"""The author's surface, `FrameServer`, and the serving of any mcp 2.x server object in a frame.

`serve` takes a `FrameServer`, a plain `MCPServer` or a lowlevel `Server` and adds, without touching its registrations:

- What a handler prints and logs goes to the client as `notifications/message`, in order with `ctx.info`, if the client
  asked for logs of that level: with `logging/setLevel` up to 2025-11-25, with `io.modelcontextprotocol/logLevel` in the
  request's `_meta` from 2026-07-28 (both: MCP specification, server/utilities/logging). `logging/setLevel` is answered
  for the author.
- A client that never sends `initialize` is served (`sdk.accept_without_handshake`).
- A handler may ask its client in every revision (`held_calls`).
- Clients of earlier revisions get no schemas and no data that these do not allow (`earlier_revisions`).
- Any exception of a handler becomes the answer to its request; a tool's exception reaches the client with its Python
  message (`failures`). The traceback is logged, in a page to its console.
"""

from __future__ import annotations

import logging
import sys
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import anyio
import mcp_types as types
from mcp.server.connection import allowed_log_levels
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.mcpserver import MCPServer, RequestStateSecurity
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from mcp.server.runner import serve_dual_era_loop
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from typing_extensions import TypeVar

from mcpframe.frame.compat.direct_reading import read_directly
from mcpframe.frame.compat.earlier_revisions import fit_results
from mcpframe.frame.compat.request_state import handle_security
from mcpframe.frame.compat.resource_addresses import accept_spellings
from mcpframe.frame.compat.resource_updates import ToolListing, announce_update, answer_subscriptions
from mcpframe.frame.compat.sdk import (
    SdkMessages,
    accept_without_handshake,
    connection_state,
    limit_log_levels,
)
from mcpframe.frame.compat.text_arguments import keep_texts
from mcpframe.frame.core.errors import EntryError, KeptError
from mcpframe.frame.core.payload import well_formed
from mcpframe.frame.results.tools import convert_results
from mcpframe.frame.serving import entries
from mcpframe.frame.serving.failures import contain_failures
from mcpframe.frame.serving.framed import Framed, unwrapped
from mcpframe.frame.serving.held_calls import hold_calls
from mcpframe.frame.serving.lifespan import log_problem, own_lifespan, refuse
from mcpframe.frame.session.printing import LEVELS, PrintedLine, PrintedLines, captured, printing_to, send_printed
from mcpframe.frame.waiting.streams import WriteStream as OwnStream

if TYPE_CHECKING:
    from mcp.shared._stream_protocols import ReadStream, WriteStream
    from mcp.shared.message import SessionMessage


LifespanT = TypeVar("LifespanT", default=Any)
ServerObject: TypeAlias = "MCPServer[Any] | Server[Any] | Framed"

log = logging.getLogger(__name__)

_LEVEL_KEY = "mcpframe.log_level"
_WHAT_SERVES = "a FrameServer, an MCPServer or a lowlevel Server"

_equipped: weakref.WeakSet[Server[Any]] = weakref.WeakSet()


class FrameServer(Framed, MCPServer[LifespanT]):
    """An MCP server in a browser frame: an `MCPServer` of the official SDK with an allow-list of hosts.

    Args:
        name: The server's name, as the client sees it.
        allowed_origins: The origins of the pages that may embed this server, exact (`"https://chat.example"`);
            `"*"` for all, `"self"` for the bundle's own. A table has a list for each dialect:
            `{"sep": [...], "mcp_apps": ["*"]}`. None: those of
            `[tool.mcpframe]` in pyproject.toml, which also takes precedence over this list.
        browser: The capability `browser` for MCP-B clients, such as `{"cacheSupported": True}`.
        request_state_security: See `MCPServer`; None keeps the state in the frame (`HandleCodec`).
        inline_schemas: List tools without references in their schemas, for clients that drop `$defs`; references of a
            type to itself stay.
        options: Further arguments of `MCPServer`, by name.

    Raises:
        OriginError: An entry of `allowed_origins` can never match, or the list is empty.
        TypeError: `browser` has a value without a JSON form.

    Attributes:
        setup_phase: The setup function, registered with `setup`; None for none.
        ui_function: The function registered with `ui`; None for none.
    """

    def __init__(
        self,
        name: str,
        *,
        allowed_origins: Sequence[str] | Mapping[str, Sequence[str]] | None = None,
        browser: Mapping[str, Any] | None = None,
        request_state_security: RequestStateSecurity | None = None,
        inline_schemas: bool = False,
        **options: Any,
    ) -> None:
        self._inline_schemas = inline_schemas
        convert_results()
        accept_spellings()
        keep_texts()
        Framed.__init__(self, allowed_origins, browser)
        MCPServer.__init__(self, name, request_state_security=request_state_security or handle_security(), **options)
        hold_calls(self._lowlevel_server)  # in plain Python, too, which serves it without `equip`
        answer_subscriptions(self._lowlevel_server, self._subscriptions)
        self._tool_list = ToolListing(self._lowlevel_server, self._subscriptions)
        for extension in options.get("extensions") or ():
            if (listens := getattr(extension, "intercept_listen", None)) is not None:  # the SDK has only that of calls
                self._lowlevel_server.middleware.append(listens)

    async def list_tools(self) -> list[types.Tool]:
        """Return the tools, as clients get them."""
        tools = await super().list_tools()
        if not self._inline_schemas:
            return tools
        from mcpframe.frame.serving.inline_schemas import inlined_tool  # most servers start without it

        return [inlined_tool(tool) for tool in tools]

    async def list_resource_templates(self) -> list[types.ResourceTemplate]:
        """List the templates of resources: the author's, and that of kept values where they are used."""
        listed = await super().list_resource_templates()
        if (kept := _kept()) is None:
            return listed
        about = types.ResourceTemplate(
            uri_template=kept.TEMPLATE, name=kept.TEMPLATE_NAME, description=kept.TEMPLATE_ABOUT
        )
        return [*listed, about]

    async def read_resource(
        self, uri: Any, context: Any = None
    ) -> Iterable[ReadResourceContents] | types.InputRequiredResult:
        """Read a resource, or a page of a kept value; see `MCPServer.read_resource`."""
        kept = _kept()
        if kept is None or not str(uri).startswith(kept.ADDRESS):
            return await super().read_resource(uri, context)
        try:
            excerpt, meta = kept.read(str(uri))
        except KeptError as error:
            raise ResourceNotFoundError(str(error)) from None
        except (TypeError, ValueError) as error:  # a figure that cannot be drawn
            raise ResourceError(str(error)) from error
        return [ReadResourceContents(content=excerpt.content, mime_type=excerpt.media_type, meta=meta)]

    async def resource_updated(self, uri: str) -> None:
        """Notify the subscribers of a resource of a change, also outside of any request.

        Args:
            uri: The resource's URI.
        """
        await announce_update(self._subscriptions, uri)

    async def tools_changed(self) -> None:
        """Notify all clients that tools were added or removed, also outside of any request."""
        await self._tool_list.changed()

    def cache(self, *names: str) -> None:
        """Let hubs (MCP-B) offer tools while this page is not open: calling one opens the page.

        Such a tool gets the annotation `cache`, which the SDK's model of annotations lacks.

        Args:
            names: The names of the tools.
        """
        self._tool_list.cache(names)


def _kept() -> Any:
    """Return the module of kept values; None where no author has imported it, and no bundle need have it."""
    return sys.modules.get(f"{__package__}.kept")  # no import: see `own_modules`


def lowlevel(server: object) -> Server[Any]:
    """The lowlevel `Server` in a server object.

    Args:
        server: A FrameServer, an MCPServer or a lowlevel Server.

    Raises:
        EntryError: It is none of them.
    """
    server = unwrapped(server)
    if isinstance(server, MCPServer):
        return server._lowlevel_server
    if isinstance(server, Server):
        return server
    raise EntryError(f"An object of type {type(server).__name__} is not an MCP server: pass {_WHAT_SERVES}.")


def load_entry(entry: str) -> ServerObject:
    """Import the server an entry names; see `ServerModule`."""
    server: ServerObject = entries.load_server(entry, _is_server, _WHAT_SERVES)
    return server


async def open_entry(entry: str) -> ServerObject:
    """Import the server an entry names, or call its factory; see `ServerModule`."""
    server: ServerObject = await entries.open_server(entry, _is_server, _WHAT_SERVES)
    return server


def _is_server(found: object) -> bool:
    return isinstance(unwrapped(found), MCPServer | Server)


def messages() -> SdkMessages:
    """Return the form of the messages in the streams of `serve`."""
    return SdkMessages()


async def list_tools(server: Any) -> list[Any] | None:
    """Return the tools of a server object; None for a lowlevel server, which lists them only within a session."""
    return await server.list_tools() if hasattr(server, "list_tools") else None


async def serve(
    server: object,
    read: ReadStream[SessionMessage | Exception],
    write: WriteStream[SessionMessage],
    *,
    experimental: dict[str, dict[str, Any]] | None = None,
    on_problem: Callable[[str, BaseException], None] = log_problem,
) -> None:
    """Serve one connection with a frame's additions, until its read stream ends; see `ServerModule`.

    An exception of the server's lifespan does not end the connection: see `lifespan`.
    """
    target = equip(server)
    read_directly()
    changes = NotificationOptions(prompts_changed=True, resources_changed=True, tools_changed=True)
    if experimental:
        _tell_who_discovers(target, experimental)
    options = target.create_initialization_options(changes, experimental)
    with captured():
        async with own_lifespan(lambda: target.lifespan(target), on_problem) as begun:
            if begun.error is not None:
                await refuse(read, write, begun.error)
            else:
                ordered = _InOrder(write)
                await serve_dual_era_loop(target, read, ordered, lifespan_state=begun.state, init_options=options)


class _InOrder(OwnStream):
    """The write stream of a client, on which a request's printed output precedes what the request sends after it."""

    def __init__(self, write: WriteStream[SessionMessage]) -> None:
        self._write = write

    async def send(self, item: Any, /) -> None:
        await send_printed()
        await self._write.send(item)

    async def aclose(self) -> None:
        await self._write.aclose()


def _tell_who_discovers(target: Server[Any], experimental: dict[str, dict[str, Any]]) -> None:
    """Add experimental capabilities to the answer of `server/discover`; `initialize` takes them from its options."""
    entry = target.get_request_handler("server/discover")
    if entry is None:
        return

    async def discover(ctx: ServerRequestContext[Any, Any], params: types.RequestParams) -> HandlerResult:
        result = await entry.handler(ctx, params)
        if isinstance(result, types.DiscoverResult):
            result.capabilities.experimental = {**(result.capabilities.experimental or {}), **experimental}
        return result

    target.add_request_handler("server/discover", types.RequestParams, discover)


def equip(server: object) -> Server[Any]:
    """Add the frame's features to a server object, once, and return the lowlevel server in it.

    Raises:
        EntryError: It is not a server object.
    """
    target = lowlevel(server)
    if target in _equipped:
        return target
    _equipped.add(target)
    own_levels = target.get_request_handler("logging/setLevel") is not None
    if not own_levels:
        target.add_request_handler("logging/setLevel", types.SetLevelRequestParams, _accept_level)
    contain_failures(unwrapped(server), target)
    fit_results(target)
    target.middleware.insert(0, _Logs(limit=not own_levels))
    target.middleware.insert(0, _serve_uninitialized)
    hold_calls(target)
    return target


_HANDSHAKE = frozenset({"initialize", "notifications/initialized", "ping", "server/discover"})
"""Requests before a session: the handshake (MCP specification, basic/lifecycle), and `server/discover`."""


async def _serve_uninitialized(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    if ctx.method not in _HANDSHAKE:
        accept_without_handshake(ctx)
    return await call_next(ctx)


async def _accept_level(ctx: ServerRequestContext[Any, Any], params: types.SetLevelRequestParams) -> types.EmptyResult:
    return types.EmptyResult()  # _Logs, which gets every request, applies the level


class _Logs:
    """The middleware that sends a request's printed output, and applies the client's log level.

    Args:
        limit: Whether the level also applies to the author's log messages; false if the author handles the level.
    """

    def __init__(self, *, limit: bool) -> None:
        self._limit = limit

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        if ctx.request_id is None or ctx.method == "initialize":
            return await call_next(ctx)
        if ctx.method == "logging/setLevel":
            result = await call_next(ctx)
            connection_state(ctx)[_LEVEL_KEY] = (ctx.params or {}).get("level")
            return result
        if levels := self._levels_of(ctx):
            return await _sending_what_is_printed(ctx, call_next, levels)
        return await call_next(ctx)

    def _levels_of(self, ctx: ServerRequestContext[Any, Any]) -> frozenset[types.LoggingLevel]:
        if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
            return allowed_log_levels(ctx.protocol_version, ctx.meta)
        level = connection_state(ctx).get(_LEVEL_KEY)
        if level not in LEVELS:
            return frozenset()
        levels = cast("frozenset[types.LoggingLevel]", frozenset(LEVELS[LEVELS.index(level) :]))
        if self._limit:
            limit_log_levels(ctx, levels)
        return levels


async def _sending_what_is_printed(
    ctx: ServerRequestContext[Any, Any], call_next: CallNext, levels: frozenset[types.LoggingLevel]
) -> HandlerResult:
    async def send(line: PrintedLine) -> None:
        if line.level in levels:
            data = well_formed(line.text)
            params = types.LoggingMessageNotificationParams(level=line.level, logger=line.logger, data=data)
            await ctx.session.send_notification(types.LoggingMessageNotification(params=params), ctx.request_id)

    lines = PrintedLines(send)
    result: HandlerResult = None
    failure: Exception | None = None
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lines.send_all)
        try:
            with printing_to(lines):
                result = await call_next(ctx)
        except Exception as error:  # noqa: BLE001  raised below: a task group would wrap it
            failure = error
        lines.close()
    if failure is not None:
        raise failure
    return result
