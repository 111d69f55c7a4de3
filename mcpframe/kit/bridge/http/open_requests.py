"""The HTTP requests that are open when a server ends: they are answered, or ended as HTTP has it.

A web server that ends cancels what its application still does, and reports that as a failure of the application. And
some clients wait until their own time-out for the answer of a request whose stream was cut off.
"""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping
from typing import Any, Final

import anyio
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

GRACE_SECONDS: Final = 2.0
"""How long requests may go on: the time in which their answers are written."""


class OpenRequests:
    """An ASGI application that can end the requests of another one.

    Args:
        app: The other one.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._open: dict[anyio.CancelScope, str] = {}
        self._closed = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        begun = complete = False

        async def watched(message: MutableMapping[str, Any]) -> None:
            nonlocal begun, complete
            begun = True
            complete = message["type"] == "http.response.body" and not message.get("more_body", False)
            await send(message)

        with anyio.CancelScope() as cancelling:
            self._open[cancelling] = scope.get("method", "")
            try:
                await self._app(scope, receive, watched)
            finally:
                del self._open[cancelling]
                self._closed.set()
        if cancelling.cancelled_caught and not begun:
            await PlainTextResponse("The server has ended.", 503)(scope, receive, send)
        elif cancelling.cancelled_caught and not complete:
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def end(self) -> None:
        """End the streams that wait for no answer, and the other requests when they are answered, or after a time."""
        self._cancel("GET")
        with anyio.move_on_after(GRACE_SECONDS):
            await self._all_closed()
        self._cancel()
        with anyio.move_on_after(GRACE_SECONDS):
            await self._all_closed()

    def _cancel(self, method: str | None = None) -> None:
        for cancelling, its_method in list(self._open.items()):
            if method in (None, its_method):
                cancelling.cancel()

    async def _all_closed(self) -> None:
        while self._open:
            self._closed.clear()
            await self._closed.wait()
