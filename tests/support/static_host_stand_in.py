"""A web server on this machine that serves a folder as a static host does: its headers, caching and compression."""

from __future__ import annotations

from pathlib import Path

from starlette.datastructures import MutableHeaders
from starlette.types import Message, Receive, Scope, Send

from mcpframe.kit.static_hosts.rules import EVERYWHERE
from mcpframe.kit.static_hosts.static_host import StaticHost
from mcpframe.kit.web.site import Site

_OF_A_SITE = [*EVERYWHERE, "Content-Security-Policy", "Permissions-Policy", "Connection-Allowlist"]


class StandIn:
    """An ASGI application that serves a folder like a static host.

    Args:
        folder: The output root of a build.
        host: The host.
        forgetful: Whether it forbids all caching, as a host does whose settings are wrong.
    """

    def __init__(self, folder: Path, host: StaticHost, *, forgetful: bool = False) -> None:
        self._site = Site(folder)
        self._host = host
        self._forgetful = forgetful

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request (ASGI)."""
        ending = scope["path"].rpartition(".")[2] if not scope["path"].endswith("/") else "html"
        if self._host.compresses is not None and ending not in self._host.compresses:
            kept = [(name, value) for name, value in scope["headers"] if name != b"accept-encoding"]
            scope = {**scope, "headers": kept}

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._change(MutableHeaders(scope=message))
            await send(message)

        await self._site(scope, receive, with_headers)

    def _change(self, headers: MutableHeaders) -> None:
        headers["Server"] = self._host.server
        if not self._host.sends_headers:
            for name in _OF_A_SITE:
                del headers[name]
            headers["Access-Control-Allow-Origin"] = "*"
            headers["Cache-Control"] = f"max-age={self._host.kept}"
        if self._forgetful:
            headers["Cache-Control"] = "no-store"
