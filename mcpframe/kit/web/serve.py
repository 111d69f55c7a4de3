"""A web server on a loopback address, for previews and tests: started and stopped by a `with` block.

A page of another site can reach this server, too: its own name may be rebound to this machine. Every server therefore
answers only requests for the names of this machine (`NAMES`), which no name server decides about.
"""

from __future__ import annotations

import contextlib
import errno
import ipaddress
import os
import socket
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import uvicorn
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.types import ASGIApp

from mcpframe.kit.base.errors import PortTaken, ServeError
from mcpframe.kit.web.site import Site

FRAMED_HOST = "localhost"
"""The host that servers are framed from, by pages of 127.0.0.1: browsers take them for two sites and so give them two
processes. A server that computes for ever blocks its own."""

_START_TIMEOUT = 10.0
_STOP_TIMEOUT = 10.0

NAMES = ("127.0.0.1", "[::1]", "localhost", "*.localhost")
"""The hosts that requests may be for, whatever their port. Browsers never look up `localhost` and what is below it."""


@dataclass(frozen=True)
class Served:
    """A server that is running.

    Attributes:
        host: The loopback address.
        port: The port it listens on.
    """

    host: str
    port: int

    @property
    def origin(self) -> str:
        """The origin of its pages, such as `http://127.0.0.1:8000`."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"


@contextlib.contextmanager
def serve_folder(
    path: Path, port: int = 0, host: str = "127.0.0.1", *, headers: Mapping[str, str] | None = None
) -> Iterator[Served]:
    """Serve the files of a folder, with the headers of its `_headers` file, for as long as the block lasts.

    Args:
        path: The folder; see `Site` for how it is served.
        port: The port; 0 takes a free one.
        host: A loopback address or `localhost`.
        headers: Further headers for every answer.

    Yields:
        The running server; its `origin` is where the folder's root is.

    Raises:
        PortTaken: Another program listens on the port.
        ServeError: The folder is not there, or the address is not a loopback address.
    """
    with serve_app(Site(path, headers), port, host) as served:
        yield served


@contextlib.contextmanager
def serve_app(app: ASGIApp, port: int = 0, host: str = "127.0.0.1") -> Iterator[Served]:
    """Run an ASGI application in a thread for as long as the block lasts; it answers when the block starts.

    Requests for another host than one of `NAMES` get status 400, and don't reach the application.

    Raises:
        PortTaken: Another program listens on the port.
        ServeError: The address is not a loopback address, or the server does not start.
    """
    with bind(host, port) as listener:
        port = listener.getsockname()[1]
        server = _Server(http_settings(TrustedHostMiddleware(app, NAMES, www_redirect=False)))
        thread = threading.Thread(target=server.run, args=([listener],), name=f"serve {host}:{port}", daemon=True)
        thread.start()
        try:
            if not server.listening.wait(_START_TIMEOUT):
                raise ServeError(f"The web server on {host} did not start within {_START_TIMEOUT:.0f} seconds.")
            yield Served(host, port)
        finally:
            server.should_exit = True
            thread.join(_STOP_TIMEOUT)


def http_settings(app: ASGIApp) -> uvicorn.Config:
    """How HTTP is spoken on this machine, by previews and by the bridge: quietly, and HTTP only."""
    return uvicorn.Config(
        app,
        lifespan="off",
        ws="none",
        http="h11",
        loop="asyncio",
        log_config=None,
        access_log=False,
        server_header=False,
        # Longer than clients keep idle connections: one closed just as it is used again fails a request.
        timeout_keep_alive=600,
        timeout_graceful_shutdown=1,
    )


class _Server(uvicorn.Server):
    """uvicorn, telling when it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listening = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.listening.set()


def bind(host: str, port: int) -> socket.socket:
    """Listen on a loopback address. Raises `PortTaken` and `ServeError` as `serve_folder`."""
    if host != "localhost" and not _is_loopback(host):
        raise ServeError(
            f"{host!r} is not a loopback address: previews are served on this machine only, say on 127.0.0.1."
        )
    # With the protocol named, asyncio sets TCP_NODELAY: else a small answer's body waits 40 ms for the head's ACK.
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        # Elsewhere than on Windows this lets a port be used again at once, and does not let two programs share it.
        if os.name != "nt":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(256)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise PortTaken(
                f"Port {port} of {host} is in use by another program: choose another port, or 0 for a free one."
            ) from error
        if error.errno == errno.EACCES:
            raise ServeError(f"Port {port} may not be used without special rights: choose one above 1023.") from error
        raise ServeError(f"Cannot listen on {host}:{port}: {error.strerror}.") from error
    return listener


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
