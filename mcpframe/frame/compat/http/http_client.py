"""The connections of `http.client`, over fetch; `urllib.request` and others use them.

A connection writes its request to a `PageSocket`, which sends it once the connection reads the answer.
"""

from __future__ import annotations

import io
from importlib import import_module
from types import ModuleType
from typing import Any

from mcpframe.frame.browser.http_exchange import (
    PROXY,
    FetchFailed,
    FetchTimedOut,
    HttpAnswer,
    Network,
    NotPossible,
    warn_once,
)
from mcpframe.frame.compat.http.http1 import RequestReader, head_of


class PageSocket:
    """Replaces the socket of a connection.

    Args:
        network: sends the request.
        origin: the origin of the request's address.
        timeout: seconds for the answer to begin and for each part of it; None for no limit.
    """

    def __init__(self, network: Network, origin: str, timeout: float | None) -> None:
        self._network = network
        self._reader = RequestReader(origin)
        self._timeout = timeout

    def sendall(self, data: Any) -> None:
        """Collect a part of the request."""
        self._reader.feed(data)

    def settimeout(self, timeout: float | None) -> None:
        """Set the timeout."""
        self._timeout = timeout

    def setsockopt(self, *_: object) -> None:
        """Do nothing: the browser manages the connections."""

    def makefile(self, mode: str = "rb", *_: object, **__: object) -> io.BufferedReader:
        """Send the request, and return its answer as a file.

        Raises:
            OSError: if no answer arrived; a TimeoutError if not in time.
        """
        error: Exception
        try:
            return io.BufferedReader(AnswerFile(self._network.send_now(self._reader.request(self._timeout)), self))
        except FetchTimedOut as late:
            error = TimeoutError(str(late))
        except FetchFailed as failure:
            error = OSError(str(failure))
        except NotPossible as refusal:
            error = OSError(str(refusal))
        raise error

    def close(self) -> None:
        """Do nothing: the answer stays open until it is read or closed."""

    @property
    def timeout(self) -> float | None:
        """The timeout."""
        return self._timeout


class AnswerFile(io.RawIOBase):
    """An answer in its wire format.

    Attributes:
        url: The address of the answer.
    """

    def __init__(self, answer: HttpAnswer, socket: PageSocket) -> None:
        self.url = answer.url
        self._answer = answer
        self._socket = socket
        self._rest = memoryview(head_of(answer))

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read the data that has arrived, or wait for the next part."""
        error: Exception
        try:
            if not self._rest:
                self._rest = memoryview(self._answer.read_now(self._socket.timeout))
            count = min(len(buffer), len(self._rest))
            buffer[:count], self._rest = self._rest[:count], self._rest[count:]
            return count
        except FetchTimedOut as late:
            error = TimeoutError(str(late))
        except FetchFailed as failure:
            error = OSError(str(failure))
        raise error

    def close(self) -> None:
        """Drop the unread rest."""
        self._answer.close()
        super().close()


def fit(module: ModuleType, network: Network) -> None:
    """Let connections send over a network.

    Args:
        module: `http.client`.
        network: sends the requests.
    """
    client: Any = module

    def connecting(scheme: str) -> Any:
        def connect(self: Any) -> None:
            if self._tunnel_host:
                warn_once(PROXY)
            host, port = (self._tunnel_host or self.host), (self._tunnel_port if self._tunnel_host else self.port)
            name = f"[{host}]" if ":" in host else host
            timeout = self.timeout if isinstance(self.timeout, int | float) else None
            self.sock = PageSocket(network, f"{scheme}://{name}:{port}", timeout)

        return connect

    client.HTTPConnection.connect = connecting("http")
    client.HTTPSConnection.connect = connecting("https")
    client._create_https_context = lambda http_version: None


def fit_urllib(module: ModuleType, network: Network) -> None:
    """Set the final address of responses.

    Args:
        module: `urllib.request`.
        network: Not used: `http.client` sends.
    """
    handler: Any = getattr(module, "AbstractHTTPHandler")  # noqa: B009
    url_error: Any = import_module("urllib.error").URLError
    original = handler.do_open

    def do_open(self: Any, connection: Any, request: Any, **options: Any) -> Any:
        if request.has_proxy():
            warn_once(PROXY)
        try:
            response = original(self, connection, request, **options)
        except (TimeoutError, url_error):
            raise
        except OSError as error:
            raise url_error(error) from None
        file = getattr(response.fp, "raw", None)
        if isinstance(file, AnswerFile):
            response.url = file.url
        return response

    handler.do_open = do_open
