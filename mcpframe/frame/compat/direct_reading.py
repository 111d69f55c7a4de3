"""Let a server of mcp 2.x read its client's stream itself.

`serve_dual_era_loop` reads until the first request, which decides the era of the connection. Then it has a task pass on
every message through a second stream. Here the second stream is the first one, behind what was read of it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import anyio
from anyio.abc import ObjectReceiveStream
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCRequest

if TYPE_CHECKING:
    from mcp.shared._stream_protocols import ReadStream

_FUNCTION = "_replay_from_opening_request"
_MOST_BEFORE = 8
"""Messages that are kept before the first request, as in the original."""


def read_directly() -> None:
    """Replace the SDK's function. Does nothing when repeated, or for an SDK that has no such function."""
    from mcp.server import runner  # not above, as the snapshot of 1.x, which has none, tries this module

    if hasattr(runner, _FUNCTION):
        setattr(runner, _FUNCTION, _from_opening_request)


class _Replayed(ObjectReceiveStream[Any]):
    """The stream of a client, behind what was read of it."""

    def __init__(self, stream: ReadStream[Any], lead: deque[Any]) -> None:
        self._stream = stream
        self._lead = lead

    @property
    def last_context(self) -> Any:
        """The context of the sender, if the stream has it."""
        return getattr(self._stream, "last_context", None)

    async def receive(self) -> Any:
        return self._lead.popleft() if self._lead else await self._stream.receive()

    async def aclose(self) -> None:
        await self._stream.aclose()


@asynccontextmanager
async def _from_opening_request(stream: ReadStream[Any]) -> AsyncIterator[tuple[JSONRPCRequest | None, _Replayed]]:
    """Yield the first request, None if there is none, and a stream of everything up to and after it."""
    lead: deque[Any] = deque()
    opening: JSONRPCRequest | None = None
    try:
        with suppress(anyio.ClosedResourceError):  # the end, as in the original
            async for item in stream:
                if isinstance(item, SessionMessage) and isinstance(item.message, JSONRPCRequest):
                    opening = item.message
                elif len(lead) >= _MOST_BEFORE:
                    continue
                lead.append(item)
                if opening is not None:
                    break
        yield opening, _Replayed(stream, lead)
    finally:
        await stream.aclose()
