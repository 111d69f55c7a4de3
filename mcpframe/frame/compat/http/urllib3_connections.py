"""The connections of urllib3 2.x, and so requests, over fetch.

urllib3 has connections for Pyodide (`urllib3.contrib.emscripten`). Unlike those, these keep urllib3's two timeouts (not
only the one for connecting), raise the errors that retries and requests handle, omit headers that need the server's
consent, know the final address, and deliver a body of any bytes completely.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterable
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
    HttpRequest,
    Network,
    NotPossible,
    warn_once,
)


def fit(module: ModuleType, network: Network) -> None:
    """Let the connections in a module send over a network.

    Args:
        module: `urllib3.contrib.emscripten.connection`.
        network: sends the requests.
    """
    connections: Any = module
    connection = connections.EmscriptenHTTPConnection
    errors: Any = import_module("urllib3.exceptions")

    class Body(io.RawIOBase):
        """The body of an answer."""

        def __init__(self, answer: HttpAnswer, timeout: float | None, url: str) -> None:
            self._answer = answer
            self._timeout = timeout
            self._url = url
            self._rest = memoryview(b"")

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: Any) -> int:
            if not self._rest:
                self._rest = memoryview(self._next())
            count = min(len(buffer), len(self._rest))
            buffer[:count], self._rest = self._rest[:count], self._rest[count:]
            return count

        def readall(self) -> bytes:
            parts = [bytes(self._rest), *iter(self._next, b"")]
            self._rest = memoryview(b"")
            return b"".join(parts)

        def _next(self) -> bytes:
            error: Exception
            try:
                return self._answer.read_now(self._timeout)
            except FetchTimedOut as late:
                error = errors.ReadTimeoutError(None, self._url, str(late))
            except FetchFailed as failure:
                error = errors.ProtocolError(str(failure))
            raise error

        def close(self) -> None:
            self._answer.close()
            super().close()

    def request(
        self: Any, method: str, url: str, body: Any = None, headers: Any = None, *, chunked: bool = False, **_: Any
    ) -> None:
        """Store the request, which is sent once the timeout for reading is known."""
        self._closed = False
        if url.startswith("/"):
            port = f":{self.port}" if self.port is not None and self.port != self.default_port else ""
            url = f"{self.scheme}://{self.host}{port}{url}"
        pairs = tuple((_text(name), _text(value)) for name, value in (headers or {}).items())
        self._to_send = HttpRequest(method, url, pairs, whole(body))

    def getresponse(self: Any) -> Any:
        sent: HttpRequest = self._to_send
        timeout = self.timeout if isinstance(self.timeout, int | float) and self.timeout > 0 else None
        sent = HttpRequest(sent.method, sent.url, sent.headers, sent.body, timeout)
        error: Exception | None = None
        try:
            answer = network.send_now(sent)
        except FetchTimedOut as late:
            error = errors.ReadTimeoutError(self, sent.url, str(late))
        except FetchFailed as failure:
            error = errors.NewConnectionError(self, str(failure))
        except NotPossible as refusal:
            error = errors.LocationValueError(str(refusal))
        if error is not None:
            raise error
        inner = connections.EmscriptenRequest(url=answer.url, method=sent.method)
        body = Body(answer, timeout, answer.url)
        self._response = connections.EmscriptenResponse(
            status_code=answer.status, headers=dict(answer.headers), body=body, request=inner
        )
        response = connections.EmscriptenHttpResponseWrapper(
            internal_response=self._response, url=answer.url, connection=self
        )
        response.reason = answer.reason or None
        return response

    connection.request = request
    connection.getresponse = getresponse


def fill_fetch(module: ModuleType) -> None:
    """Define the names that the connections import from `urllib3.contrib.emscripten.fetch`, and never use here.

    The module uses the browser's workers at import, so that no snapshot could be taken with it.

    Args:
        module: that module, empty.
    """

    class _RequestError(Exception):
        pass

    def send_request(request: object) -> None:
        raise NotImplementedError

    vars(module).update(
        _RequestError=_RequestError,
        _StreamingError=type("_StreamingError", (_RequestError,), {}),
        _TimeoutError=type("_TimeoutError", (_RequestError,), {}),
        send_request=send_request,
        send_streaming_request=send_request,
    )


def fit_requests(module: ModuleType, network: Network) -> None:
    """Set the final address of responses of requests, and read no certificates: TLS is the browser's.

    Args:
        module: `requests.adapters`.
        network: Not used: urllib3 sends.
    """
    import_module("netrc")  # requests imports it with the first request, when a restored page has no files yet
    adapter: Any = getattr(module, "HTTPAdapter")  # noqa: B009
    build = adapter.build_response
    choose = adapter.send

    def build_response(self: Any, request: Any, answer: Any) -> Any:
        response = build(self, request, answer)
        if isinstance(getattr(answer, "url", None), str):
            response.url = answer.url
        return response

    def cert_verify(self: Any, connection: Any, url: str, verify: Any, cert: Any) -> None:
        if verify is False:
            warn_once(VERIFY)
        if cert:
            warn_once(CERT)

    def send(
        self: Any, request: Any, stream: Any = False, timeout: Any = None, verify: Any = True, cert: Any = None,
        proxies: Any = None,
    ) -> Any:  # fmt: skip
        if proxies:
            warn_once(PROXY)
        return choose(self, request, stream, timeout, verify, None, None)

    adapter.build_response = build_response
    adapter.cert_verify = cert_verify
    adapter.send = send


def whole(body: Any) -> bytes | bytearray | memoryview | None:
    """Return the body of a request, given in any form of http.client: bytes, text, a file, or parts."""
    if body is None or isinstance(body, bytes | bytearray | memoryview):
        return body
    if isinstance(body, str):
        return body.encode()
    if hasattr(body, "read"):
        data = body.read()
        return data.encode() if isinstance(data, str) else bytes(data)
    if isinstance(body, os.PathLike) or not isinstance(body, Iterable):
        raise TypeError(f"A body of type {type(body).__name__} cannot be sent.")
    return b"".join(part.encode() if isinstance(part, str) else bytes(part) for part in body)


def _text(value: Any) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)
