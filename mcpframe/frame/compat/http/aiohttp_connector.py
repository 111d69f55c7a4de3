"""The connector of aiohttp's client over fetch.

A session writes each request to the transport of a connection, and parses the answer itself, so that its timeouts,
hooks, streams and errors work as usual.
"""

from __future__ import annotations

import asyncio
from importlib import import_module
from types import ModuleType
from typing import Any

from mcpframe.frame.browser.http_exchange import (
    CERT,
    PROXY,
    VERIFY,
    FetchFailed,
    FetchTimedOut,
    HttpAnswer,
    Network,
    NotPossible,
    warn_once,
)
from mcpframe.frame.compat.http.http1 import RequestReader, head_of


class FetchTransport(asyncio.Transport):
    """The transport of one request.

    Args:
        network: sends the request.
        protocol: parses the answer.
        origin: the origin of the request's address.
        failure: returns aiohttp's error for a message.

    Attributes:
        url: the address of the answer, if it differs from the requested one.
    """

    def __init__(self, network: Network, protocol: Any, origin: str, failure: Any) -> None:
        super().__init__()
        self._network = network
        self._protocol = protocol
        self._reader = RequestReader(origin)
        self._failure = failure
        self._sending: asyncio.Task[None] | None = None
        self._may_read = asyncio.Event()
        self._may_read.set()
        self._is_closing = False
        self.url = ""

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Add a part of the request, which is sent once it is complete."""
        if self._reader.feed(data) and self._sending is None:
            self._sending = asyncio.get_running_loop().create_task(self._send())

    async def _send(self) -> None:
        error: Exception | None = None
        answer: HttpAnswer | None = None
        try:
            if any(name.lower() == "upgrade" for name, _ in self._reader.headers):
                raise NotPossible("aiohttp's WebSockets do not work in a page: use js.WebSocket.")
            answer = await self._network.send(self._reader.request(None))
            self.url = answer.url if answer.redirected else ""
            self._protocol.data_received(head_of(answer))
            while part := await answer.read():
                self._protocol.data_received(part)
                await self._may_read.wait()
        except (FetchFailed, FetchTimedOut, NotPossible) as failure:
            error = self._failure(str(failure))
        finally:
            if answer is not None:
                answer.close()
        if not self._is_closing:
            self._is_closing = True
            if error is not None and not self.url and answer is None:
                self._protocol.set_exception(error)
            self._protocol.connection_lost(error)

    def is_closing(self) -> bool:
        """Return whether it is closed, or closing."""
        return self._is_closing

    def close(self) -> None:
        """Abort the unread rest of the answer."""
        if not self._is_closing:
            self._is_closing = True
            if self._sending is not None:
                self._sending.cancel()
            asyncio.get_running_loop().call_soon(self._protocol.connection_lost, None)

    def abort(self) -> None:
        """Like `close`."""
        self.close()

    def pause_reading(self) -> None:
        """Stop delivering parts of the answer."""
        self._may_read.clear()

    def resume_reading(self) -> None:
        """Continue delivering parts of the answer."""
        self._may_read.set()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """Return the default: nothing is known about the connection."""
        return default


def fit(module: ModuleType, network: Network) -> None:
    """Let the connector in a module send over a network.

    Args:
        module: `aiohttp.connector`.
        network: sends the requests.
    """
    connector: Any = module
    errors: Any = import_module("aiohttp.client_exceptions")

    async def create_connection(self: Any, req: Any, *_: Any) -> Any:
        if req.proxy:
            warn_once(PROXY)
        if req.ssl is False:
            warn_once(VERIFY)
        elif req.ssl is not True and req.ssl is not None:
            warn_once(CERT)

        def failure(message: str) -> Exception:
            error: Exception = errors.ClientConnectorError(req.connection_key, OSError(0, message))
            return error

        protocol = self._factory()
        origin = str(req.url.origin())
        protocol.connection_made(FetchTransport(network, protocol, origin, failure))
        return protocol

    connector.TCPConnector._create_connection = create_connection


def fit_responses(module: ModuleType, network: Network) -> None:
    """Set the final address of responses.

    Args:
        module: `aiohttp.client_reqrep`.
        network: Not used: the connector sends.
    """
    responses: Any = module
    original = responses.ClientResponse.start

    async def start(self: Any, connection: Any) -> Any:
        transport = connection.transport
        result = await original(self, connection)
        if isinstance(transport, FetchTransport) and transport.url:
            self._real_url = self._url = responses.URL(transport.url)
        return result

    responses.ClientResponse.start = start
