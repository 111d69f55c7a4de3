"""Ends the open HTTP requests of a server that ends: each is answered, or its stream is closed.

A web server that ends cancels the work of its application, and reports that as the application's failure. And some
clients wait until their own time-out for the answer of a request whose stream was cut off.
"""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping
from typing import Any, Final

import anyio
from starlette.types import ASGIApp, Receive, Scope, Send

from mcpframe.frame.core.jsonrpc import CONNECTION_CLOSED
from mcpframe.kit.edges.http.error_answers import error_answer

GRACE_SECONDS: Final = 2.0
"""Seconds for open requests to end: the time to write their answers."""


class OpenRequests:
    """An ASGI application that wraps another one, and can end its requests.

    Args:
        app: The wrapped application.
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
            # Not 503, which says that a request was not taken: balancers send it to another server.
            await error_answer(500, CONNECTION_CLOSED, "The server has ended.")(scope, receive, send)
        elif cancelling.cancelled_caught and not complete:
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def end(self) -> None:
        """End the streams without pending answers, and the other requests once answered, or after a time-out."""
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
