"""The official client and a server served as in a frame, joined in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import anyio
import mcp_types as types
from mcp import Client
from mcp.shared.memory import create_client_server_memory_streams

from mcpframe.frame.serving.lifespan import log_problem
from mcpframe.frame.serving.server import serve

ERAS = {"2025": "legacy", "2026": "auto"}
"""The `mode` that makes the official client speak each protocol era."""


@asynccontextmanager
async def connected(
    server: object, era: str, *, on_problem: Callable[[str, BaseException], None] = log_problem, **options: Any
) -> AsyncIterator[Client]:
    """A client of `server` that speaks one era. A test that hangs in here fails after ten seconds."""
    with anyio.fail_after(60):
        async with create_client_server_memory_streams() as (client_streams, server_streams):

            @asynccontextmanager
            async def transport() -> AsyncIterator[Any]:
                yield client_streams

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(partial(serve, on_problem=on_problem), server, *server_streams)
                async with Client(transport(), mode=ERAS[era], **options) as client:
                    yield client
                tasks.cancel_scope.cancel()


class Heard:
    """The arguments of a client's callbacks."""

    def __init__(self) -> None:
        self.logs: list[tuple[str, object]] = []
        self.changes: list[str] = []
        self.changed = anyio.Event()

    async def log(self, params: types.LoggingMessageNotificationParams) -> None:
        self.logs.append((params.level, params.data))

    async def message(self, message: object) -> None:
        if isinstance(message, types.Notification) and "list_changed" in message.method:
            self.changes.append(message.method)
            self.changed.set()


def logging_to(heard: Heard, era: str, level: str = "info") -> dict[str, Any]:
    """Options of a client that wants logs: from 2026-07-28 each request says so."""
    return {"logging_callback": heard.log} | ({"log_level": level} if era == "2026" else {})


async def ask_for_logs(client: Client, era: str, level: str = "info") -> None:
    """Before 2026-07-28, the client asks for logs with `logging/setLevel`."""
    if era == "2025":
        await client.set_logging_level(level)


def text(result: types.CallToolResult) -> str:
    assert isinstance(result.content[0], types.TextContent)
    return result.content[0].text
