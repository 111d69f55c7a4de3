"""Lines of a session in place of standard input and output, for servers that use the SDK's `stdio_server`.

All versions of the official SDK have `mcp.server.stdio.stdio_server(stdin=None, stdout=None)`, which other code imports
by name at any time. Only its two defaults are set here, so that the function itself stays the same.

What a server prints stays in order with its notifications, which take some turns of the event loop to get here.

The SDK's writer, and the server with it, would end at a response without a JSON form. Such a response becomes an error
response.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from typing import Any

from mcpframe.frame.compat.sdk import major
from mcpframe.frame.core import jsonrpc
from mcpframe.frame.core.reasons import reason_of
from mcpframe.frame.session.lines import LineFiles, LineReader
from mcpframe.frame.session.printing import message_follows

log = logging.getLogger(__name__)


_files: ContextVar[LineFiles] = ContextVar("mcpframe_files")
"""The files of the connection that this code runs for: a page may serve several at once."""
_serving: list[LineFiles] = []


class _Stdin:
    """Standard input of the connection that the reader runs for."""

    def __aiter__(self) -> LineReader:
        return _files.get().stdin


class _Stdout:
    """Standard output of the connection that the writer runs for."""

    async def write(self, text: str) -> int:
        return await _files.get().stdout.write(text)

    async def flush(self) -> None:
        await _files.get().stdout.flush()


@contextmanager
def stdio_of(files: LineFiles) -> Iterator[None]:
    """Let `stdio_server()` use these files when the block, or a task that it starts, calls it."""
    function: Any = import_module("mcp.server.stdio").stdio_server.__wrapped__
    function.__defaults__ = (_Stdin(), _Stdout())
    _write_what_can_be_written()
    _keep_the_order()
    token = _files.set(files)
    _serving.append(files)
    try:
        yield
    finally:
        _files.reset(token)
        _serving.remove(files)
        if not _serving:
            function.__defaults__ = (None, None)


@cache
def _write_what_can_be_written() -> None:
    name = "JSONRPCMessage" if major() == 1 else "JSONRPCResponse"
    message: Any = getattr(import_module("mcp.types"), name)
    message.model_dump_json = _writing(message.model_dump_json)


@cache
def _keep_the_order() -> None:
    """Mark the place of a server's notifications among what it prints, as they reach its output some turns later."""
    name = "send_notification" if major() == 1 else "_notify"
    session: Any = import_module("mcp.server.session").ServerSession
    send = getattr(session, name)

    async def in_order(self: Any, *args: Any, **options: Any) -> None:
        with message_follows():
            await send(self, *args, **options)

    setattr(session, name, in_order)


def _writing(dump: Callable[..., str]) -> Callable[..., str]:
    def model_dump_json(self: Any, **options: Any) -> str:
        try:
            text = dump(self, **options)
            text.encode()
        except Exception as error:
            response = getattr(self, "root", self)
            if not hasattr(response, "result"):
                raise
            reason = reason_of(error).partition("\n")[0][:500]
            log.exception("A result has no form in JSON")
            return json.dumps(
                jsonrpc.error_response(
                    response.id, jsonrpc.INTERNAL_ERROR, f"The message has no form in JSON: {reason}"
                )
            )
        return text

    return model_dump_json
