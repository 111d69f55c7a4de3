"""A web server on a loopback address, for previews and tests: started and stopped by a `with` block.

A page of another site could reach this server by DNS rebinding: its host name may resolve to this machine. So every
server answers only requests for the names in `NAMES`, which never depend on DNS.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import ipaddress
import os
import socket
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import uvicorn
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.types import ASGIApp

from mcpframe.kit.base.errors import PortTaken, ServeError
from mcpframe.kit.web.site import Site

FRAMED_HOST = "localhost"
"""The host of framed servers; the pages around them are on 127.0.0.1. To browsers these are two sites, each with its
own process, so that an endless loop of a server blocks only its own.
"""

_START_TIMEOUT = 10.0
_STOP_TIMEOUT = 10.0
_CLOSING_TIMEOUT = 1.0

NAMES = ("127.0.0.1", "[::1]", "localhost", "*.localhost")
"""The hosts that requests may name, with any port. Browsers never look up `localhost` or its subdomains in DNS."""


@dataclass(frozen=True)
class Served:
    """A running server.

    Attributes:
        host: The loopback address.
        port: Its port.
    """

    host: str
    port: int

    @property
    def origin(self) -> str:
        """The origin of its pages, such as `http://127.0.0.1:8000`."""
        return f"http://{bracketed(self.host)}:{self.port}"


def bracketed(host: str) -> str:
    """Return a host name or an IP address as it stands in an address: one of IPv6 in brackets."""
    return f"[{host}]" if ":" in host else host


@contextlib.contextmanager
def serve_folder(
    path: Path, port: int = 0, host: str = "127.0.0.1", *, headers: Mapping[str, str] | None = None
) -> Iterator[Served]:
    """Serve the files of a folder, with the headers of its `_headers` file, for the duration of the block.

    Args:
        path: The folder, served as by `Site`.
        port: The port; 0 for a free one.
        host: A loopback address or `localhost`.
        headers: Additional headers of every response.

    Yields:
        The running server; its `origin` is the address of the folder's root.

    Raises:
        PortTaken: Another program listens on the port.
        ServeError: The folder does not exist, or the address is not a loopback address.
    """
    with serve_app(Site(path, headers), port, host) as served:
        yield served


@contextlib.contextmanager
def serve_app(
    app: ASGIApp,
    port: int = 0,
    host: str = "127.0.0.1",
    *,
    names: Sequence[str] = NAMES,
    certificate: Path | None = None,
) -> Iterator[Served]:
    """Run an ASGI application in a thread for the duration of the block; it listens when the block starts.

    Requests for a host that is not in `names` get status 400, and do not reach the application.

    Args:
        certificate: A file with a certificate and its key, to serve https; None for http.

    Raises:
        PortTaken: Another program listens on the port.
        ServeError: The address is not a loopback address, or the server does not start.
    """
    with bind(host, port) as listener:
        port = listener.getsockname()[1]
        settings = http_settings(TrustedHostMiddleware(app, list(names), www_redirect=False))
        settings.ssl_certfile = certificate
        server = _Server(settings)
        thread = threading.Thread(target=server.run, args=([listener],), name=f"serve {host}:{port}", daemon=True)
        thread.start()
        try:
            if not server.listening.wait(_START_TIMEOUT):
                raise ServeError(f"The web server on {host} did not start within {_START_TIMEOUT:.0f} seconds.")
            yield Served(host, port)
        finally:
            server.should_exit = True
            thread.join(_STOP_TIMEOUT)


def serve_at(stack: contextlib.ExitStack, app: ASGIApp, usual: int, host: str = "127.0.0.1") -> Served:
    """Serve an application at a port if that is free, else at a free one, until the stack is left."""
    try:
        return stack.enter_context(serve_app(app, usual, host))
    except PortTaken:
        return stack.enter_context(serve_app(app, host=host))


def http_settings(app: ASGIApp, ws: Literal["none", "wsproto"] = "none", ws_max_size: int = 0) -> uvicorn.Config:
    """Return the uvicorn settings of previews and the bridge: no log output, and HTTP only, unless `ws` is given."""
    return uvicorn.Config(
        app,
        lifespan="off",
        ws=ws,
        ws_max_size=ws_max_size,
        # By default uvicorn takes httptools and uvloop where they happen to be installed.
        http="h11",
        loop="asyncio",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # by default uvicorn believes what any program of this machine says of the client
        # Longer than clients keep idle connections: a request fails if its connection is closed at that moment.
        timeout_keep_alive=600,
        timeout_graceful_shutdown=1,
    )


class ClosingServer(uvicorn.Server):
    """A uvicorn server that has closed every connection when it has ended, also to a client that reads no more."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Answer what is open, for as long as the settings say, and close the connections."""
        await super().shutdown(sockets)
        # uvicorn asks a transport to close once what was written is sent, and does not wait for that.
        for each in list(self.server_state.connections):
            each.transport.abort()
        await asyncio.sleep(0)
        # Requests that were cancelled close their files.
        if tasks := self.server_state.tasks:
            await asyncio.wait(tasks, timeout=_CLOSING_TIMEOUT)


class _Server(ClosingServer):
    """A server that reports when it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listening = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.listening.set()


def bind(host: str, port: int) -> socket.socket:
    """Listen on a loopback address. Raises `PortTaken` and `ServeError`, as `serve_folder` does."""
    if not is_loopback(host):
        raise ServeError(
            f"{host!r} is not a loopback address: previews are served on this machine only, say on 127.0.0.1."
        )
    return listen(host, port)


def listen(host: str, port: int) -> socket.socket:
    """Listen on any address of this machine. Raises `PortTaken` and `ServeError`."""
    # asyncio sets TCP_NODELAY only if the protocol is named; without it, a small body waits 40 ms for the head's ACK.
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        # Except on Windows, this allows a port to be reused at once, but not to be shared by two programs.
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


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine alone: a loopback address, or `localhost`."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
