"""A client of the server in the same process: JSON-RPC over streams in memory, without an SDK of its own."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

import anyio

from mcpframe.frame.core import jsonrpc
from mcpframe.frame.core.limits import LISTED_TOOLS
from mcpframe.frame.core.paging import Paging
from mcpframe.frame.dialects.webmcp.tools import argument_problem, failure
from mcpframe.frame.session.read_ahead import ReadAhead
from mcpframe.frame.waiting.peer import Peer
from mcpframe.frame.waiting.streams import WriteStream

if TYPE_CHECKING:
    from mcpframe.frame.session.interfaces import Messages

Json = Mapping[str, Any]

REVISION: Final = "2025-11-25"
"""The newest revision with a handshake; it announces changes of the list without a subscription."""
_CHANGED = "notifications/tools/list_changed"


class CallFailed(Exception):
    """The server has answered with an error, or has ended."""


class InsideClient(WriteStream):
    """The client of one session, which is also the write stream of its server.

    Requests of the server other than `ping` get an error: this client has no user and no model.
    """

    def __init__(self, incoming: Any, messages: Messages, changed: Callable[[], None]) -> None:
        """Prepare a client.

        Args:
            incoming: the sending end of the stream that the server reads.
            messages: the form of messages on both streams.
            changed: called whenever the server announces a change of its tools.
        """
        self._incoming = incoming
        self._messages = messages
        self._on_changed = changed
        self._server: Peer[int, Json] = Peer(itertools.count(1))
        self._over = False
        self._ahead = ReadAhead(self._hand_over)

    async def begin(self, name: str = "WebMCP") -> None:
        """Do the handshake. Raises `CallFailed`.

        Args:
            name: who the client is.
        """
        about = {"name": name, "version": "1"}
        await self.request("initialize", {"protocolVersion": REVISION, "capabilities": {}, "clientInfo": about})
        self._post({"method": "notifications/initialized"})

    async def tools(self) -> list[Json]:
        """Return the server's tools. Raises `CallFailed`."""
        tools: list[Json] = []
        pages = Paging()
        while pages.more and len(tools) < LISTED_TOOLS:
            result = await self.request("tools/list", pages.params)
            page = result.get("tools")
            if not isinstance(page, list):
                break
            tools += [tool for tool in page if isinstance(tool, Mapping)]
            pages.follow(result.get("nextCursor"))
        return tools[:LISTED_TOOLS]

    async def call(self, tool: str, schema: Json, arguments: Any) -> Json:
        """Return the result of a tool's call; a failure, or arguments that cannot be right, are a result, too.

        Args:
            tool: its name.
            schema: its `inputSchema`.
            arguments: JSON values.
        """
        if problem := argument_problem(schema, arguments):
            return failure(f"Invalid arguments for {tool!r}: {problem}")
        try:
            return await self.request("tools/call", {"name": tool, "arguments": arguments})
        except CallFailed as error:
            return failure(str(error))

    async def request(self, method: str, params: Json) -> Json:
        """Return the result of a request. Cancelling this cancels the request. Raises `CallFailed`."""
        return await self._server.ask(
            lambda id_: self._post({"id": id_, "method": method, "params": params}),
            cancel=lambda id_, _: self._post({"method": "notifications/cancelled", "params": {"requestId": id_}}),
        )

    def end(self) -> None:
        """Fail the open requests, and ignore further messages."""
        self._over = True
        self._server.close(lambda: CallFailed("The server has ended."))

    def _post(self, message: Json) -> None:
        self._ahead.take({"jsonrpc": "2.0", **message})

    def _hand_over(self, message: Json) -> None:
        try:
            self._incoming.send_nowait(self._messages.read(message))
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            self.end()
        except ValueError as error:
            self._server.answered(message.get("id"), CallFailed(str(error)))

    # The server's write stream

    async def send(self, item: Any, /) -> None:
        """Handle a message of the server. Raises `anyio.ClosedResourceError` after the end."""
        if self._over:
            raise anyio.ClosedResourceError
        message = self._messages.members(item)
        if "method" not in message:
            self._server.answered(message.get("id"), self._answer_of(item))
        elif message["method"] == _CHANGED:
            self._on_changed()
        elif message["method"] == "ping" and "id" in message:
            self._post({"id": message["id"], "result": {}})
        elif "id" in message:
            lacks = f"WebMCP has no {message['method']}."
            self._post(jsonrpc.error_response(message["id"], jsonrpc.METHOD_NOT_FOUND, lacks))

    def _answer_of(self, item: Any) -> Json | CallFailed:
        try:
            whole = json.loads(self._messages.text(item))
        except Exception as error:  # noqa: BLE001  an author's serializer may raise anything
            return CallFailed(f"The result has no form in JSON: {error}")
        result = whole.get("result")
        return result if isinstance(result, dict) else CallFailed(str(whole.get("error", {}).get("message")))

    async def aclose(self) -> None:
        """End the session."""
        self.end()


class WatchedWriter(WriteStream):
    """The write stream of another session of the same server, watched for changes of its tools."""

    def __init__(self, write: Any, messages: Messages, changed: Callable[[], None]) -> None:
        """Wrap a write stream.

        Args:
            write: the stream.
            messages: the form of messages on it.
            changed: called after each message that announces a change of the tools.
        """
        self._write = write
        self._messages = messages
        self._on_changed = changed

    async def send(self, item: Any, /) -> None:
        """Send one message."""
        await self._write.send(item)
        if self._messages.members(item).get("method") == _CHANGED:
            self._on_changed()

    async def aclose(self) -> None:
        """Close the stream."""
        await self._write.aclose()
