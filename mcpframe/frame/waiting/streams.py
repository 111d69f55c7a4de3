"""Write streams for a server or a client of the SDK, over other channels than a pipe."""

from __future__ import annotations

from typing import Any, Self


class WriteStream:
    """A write stream whose subclasses have `send`, and `aclose` if its end matters."""

    async def send(self, item: Any, /) -> None:
        """Send one message. Raises `anyio.ClosedResourceError` after the end."""
        raise NotImplementedError

    async def aclose(self) -> None:
        """End the stream."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
