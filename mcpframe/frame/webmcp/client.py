"""`model_context_client`: the tools of a page's document (WebMCP), for agents in Python.

    async with mcp.Client(model_context_client()) as client:
        print(await client.list_tools())

The streams lead to a server in this process that has only tools: the document's current ones, at each request.
"""

from __future__ import annotations

import json
import math
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any, Final, Protocol

import anyio

from mcpframe.frame.compat import sdk
from mcpframe.frame.core import jsonrpc, payload
from mcpframe.frame.core.allowed_origins import parse_origin
from mcpframe.frame.core.errors import MessageError, StateError
from mcpframe.frame.core.object_results import called_with_object
from mcpframe.frame.dialects.webmcp.tools import LIMITS, Json, Rejected, failure
from mcpframe.frame.waiting.answers import AnswerRefused, Answers
from mcpframe.frame.waiting.streams import WriteStream

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

    from mcpframe.frame.session.interfaces import Messages

ORIGIN_KEY: Final = "mcpframe/origin"
"""In a tool's `_meta`: the origin of the document that has registered it."""
_REVISIONS: Final = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
_MEMBERS: Final = ("title", "description")


class ToolSource(Protocol):
    """A source of tools: see `browser.page_tools`."""

    async def list(self) -> Sequence[tuple[Json, Any]]:
        """Return each tool's definition, and the object to `run`. Raises `Rejected`."""
        ...

    async def run(self, tool: Any, arguments: Json) -> str | None:
        """Run a tool, and return its result as text. Raises `Rejected`."""
        ...

    def watch(self, changed: Callable[[], None]) -> Callable[[], None]:
        """Call a function whenever tools are added or removed. Returns a function that ends this."""
        ...


@asynccontextmanager
async def model_context_client(from_origins: Iterable[str] = ()) -> AsyncIterator[TransportStreams]:
    """Open a session with the tools of this page's document, for the duration of the block.

    `list_tools` returns the current tools, and `notifications/tools/list_changed` announces changes. A tool's `_meta`
    has its origin as `mcpframe/origin`. If several documents have a tool of the same name, all but the first get a
    number. Results in the form of MCP are passed on; other texts and values become text. An exception of a tool becomes
    a result with `isError`, without the message, which browsers withhold.

    Args:
        from_origins: the origins of frames in this page whose tools are included. They must expose them to this page's
            origin.

    Yields:
        `(read, write)` of the SDK, for `mcp.Client(model_context_client())`.

    Raises:
        OriginError: if an entry of `from_origins` is not an origin.
        StateError: if the document has no `modelContext`, or its policy does not allow `tools`, or an origin is not
            secure.
    """
    from mcpframe.frame.browser import page_tools

    async with tools_session(page_tools.PageTools([parse_origin(origin) for origin in from_origins])) as streams:
        yield streams


@asynccontextmanager
async def tools_session(source: ToolSource, messages: Messages | None = None) -> AsyncIterator[Any]:
    """Open a session with the tools of a source, like `model_context_client`.

    Args:
        source: the source.
        messages: the form of messages on the streams; by default the SDK's.

    Raises:
        StateError: if it cannot list them.
    """
    server = _ToolServer(source, messages or sdk.SdkMessages())
    try:
        with _usable():
            await server.tools()
            stop = source.watch(server.changed)
        try:
            yield server.streams
        finally:
            stop()
    finally:
        await server.close()


@contextmanager
def _usable() -> Iterator[None]:
    """Turn a `Rejected` of the document in this block into a `StateError`."""
    try:
        yield
    except Rejected as error:
        raise StateError(f"The tools of this document's modelContext cannot be used: {error}") from None


class _ToolServer(WriteStream):
    """The server's side of the streams, and the client's write stream."""

    def __init__(self, source: ToolSource, messages: Messages) -> None:
        self._source = source
        self._messages = messages
        self._out, read = anyio.create_memory_object_stream[Any](math.inf)
        self.streams: Any = (read, self)
        self._answers = Answers(self._post)
        self._initialized = False
        self._over = False

    async def tools(self) -> dict[str, tuple[Json, Any]]:
        """Return the definition of each tool, and the object to `run`, by a unique name."""
        named: dict[str, tuple[Json, Any]] = {}
        for definition, tool in await self._source.list():
            name = definition.get("name")
            if not isinstance(name, str) or not name:
                continue
            number, unique = 2, name
            while unique in named:
                unique, number = f"{name}_{number}", number + 1
            named[unique] = (_tool(unique, definition), tool)
        return named

    def changed(self) -> None:
        """Announce a change of the list."""
        if self._initialized:
            self._post({"method": "notifications/tools/list_changed"})

    async def close(self) -> None:
        """End all calls."""
        self._over = True
        self._out.close()
        self.streams[0].close()
        self._answers.close()
        await self._answers.ended()

    def _post(self, message: Json) -> None:
        if not self._over:
            self._out.send_nowait(self._messages.read({"jsonrpc": "2.0", **message}))

    # The client's write stream

    async def send(self, item: Any, /) -> None:
        """Handle a message of the client. Raises `anyio.ClosedResourceError` after the end."""
        if self._over:
            raise anyio.ClosedResourceError
        self.take(json.loads(self._messages.text(item)))

    def take(self, message: Json) -> None:
        """Handle a JSON-RPC message of the client; do nothing after the end."""
        if self._over:
            return
        if (cancelled := jsonrpc.cancelled_id(message)) is not None:
            self._answers.cancel(cancelled)
        elif jsonrpc.is_request(message):
            method = message["method"]
            self._answers.begin(message["id"], method, self._answer(method, message.get("params") or {}))

    async def _answer(self, method: str, params: Json) -> Json:
        handlers: dict[str, Callable[[Json], Coroutine[Any, Any, Json]]] = {
            "initialize": self._initialize,
            "ping": self._ping,
            "tools/list": self._list,
            "tools/call": self._call,
        }
        if method not in handlers:
            raise AnswerRefused(jsonrpc.METHOD_NOT_FOUND, f"WebMCP has no {method}.")
        try:
            return await handlers[method](params)
        except Rejected as error:
            raise AnswerRefused(jsonrpc.INTERNAL_ERROR, f"{error.kind}: {error}") from error

    async def _initialize(self, params: Json) -> Json:
        asked = params.get("protocolVersion")
        self._initialized = True
        return {
            "protocolVersion": asked if asked in _REVISIONS else _REVISIONS[0],
            "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": "modelContext", "version": "1"},
        }

    async def _ping(self, params: Json) -> Json:
        return {}

    async def _list(self, params: Json) -> Json:
        return {"tools": [definition for definition, _ in (await self.tools()).values()]}

    async def _call(self, params: Json) -> Json:
        name = str(params.get("name"))
        tool = (await self.tools()).get(name)
        if tool is None:
            raise AnswerRefused(jsonrpc.INVALID_PARAMS, f"This page's document has no tool {name!r}.")
        try:
            return result_of(await self._source.run(tool[1], params.get("arguments") or {}))
        except Rejected as error:
            return failure(f"The tool {name!r} has failed ({error.kind}): {error}")

    async def aclose(self) -> None:
        """End the session."""
        await self.close()


def _tool(name: str, definition: Json) -> Json:
    """Return a tool in the form of `tools/list`, without members of other types than MCP's."""
    schema = definition.get("inputSchema")
    if isinstance(schema, str):  # the form of WebMCP's drafts
        try:
            schema = payload.parse(schema, **LIMITS)
        except MessageError:
            schema = None
    tool: dict[str, Any] = {"name": name, "inputSchema": {"type": "object"}}
    if isinstance(schema, Mapping):
        tool["inputSchema"] = {**schema, "type": "object"}
    for member in _MEMBERS:
        if isinstance(definition.get(member), str) and definition[member]:
            tool[member] = definition[member]
    hints = definition.get("annotations")
    if isinstance(hints, Mapping):
        tool["annotations"] = {key: value for key, value in hints.items() if isinstance(value, bool)}
    if isinstance(definition.get("origin"), str):
        tool["_meta"] = {ORIGIN_KEY: definition["origin"]}
    return tool


def result_of(text: str | None) -> Json:
    """Return a tool's result in the form of MCP.

    Args:
        text: the result of `executeTool`: a text, or the JSON of any other value.
    """
    try:
        value = None if text is None else payload.parse(text, **LIMITS)
    except MessageError:
        value = text
    blocks = value.get("content") if isinstance(value, dict) else None
    if isinstance(value, dict) and isinstance(blocks, list) and all(map(_is_block, blocks)):
        members = {"content": blocks, "isError": value.get("isError") is True}
        if value.get("structuredContent") is not None:
            members["structuredContent"] = value["structuredContent"]
        return called_with_object(members)
    return {"content": [] if text is None else [{"type": "text", "text": text}], "isError": False}


def _is_block(block: Any) -> bool:
    """Return whether the SDK accepts this as a content block of MCP ("Tool Result")."""
    if not isinstance(block, dict):
        return False
    kind, texts = block.get("type"), _BLOCKS.get(str(block.get("type")))
    if kind == "resource":
        held = block.get("resource")
        return (
            isinstance(held, dict)
            and isinstance(held.get("uri"), str)
            and any(isinstance(held.get(each), str) for each in ("text", "blob"))
        )
    return texts is not None and all(isinstance(block.get(name), str) for name in texts)


_BLOCKS: Final[Mapping[str, tuple[str, ...]]] = {
    "text": ("text",),
    "image": ("data", "mimeType"),
    "audio": ("data", "mimeType"),
    "resource_link": ("uri", "name"),
}
"""The text members of each kind of block."""
