"""The transports of httpx, and of httpx2, over fetch: without connections, and without the modules for them.

The browser follows redirects: a client gets only the last answer, as if it had requested that address.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
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
    """Let the transports in a module send over a network.

    Args:
        module: `httpx._transports.default`, `httpx2._transports.default` or `httpx2_jsfetch`.
        network: sends the requests.
    """
    library = "httpx2" if module.__name__.startswith("httpx2") else "httpx"
    errors: Any = import_module(f"{library}._exceptions")
    models: Any = import_module(f"{library}._models")
    types: Any = import_module(f"{library}._types")
    urls: Any = import_module(f"{library}._urls")

    @contextmanager
    def library_errors(failed: type[Exception]) -> Iterator[None]:
        error: Exception
        try:
            yield
            return
        except FetchTimedOut as late:
            error = errors.ReadTimeout(str(late))
        except FetchFailed as failure:
            error = failed(str(failure))
        except NotPossible as refusal:
            error = errors.UnsupportedProtocol(str(refusal))
        raise error

    class AsyncStream(types.AsyncByteStream):  # type: ignore[misc]
        def __init__(self, answer: HttpAnswer, timeout: float | None) -> None:
            self._answer = answer
            self._timeout = timeout

        async def __aiter__(self) -> AsyncIterator[bytes]:
            with library_errors(errors.ReadError):
                while part := await self._answer.read(self._timeout):
                    yield part

        async def aclose(self) -> None:
            self._answer.close()

    class SyncStream(types.SyncByteStream):  # type: ignore[misc]
        def __init__(self, answer: HttpAnswer, timeout: float | None) -> None:
            self._answer = answer
            self._timeout = timeout

        def __iter__(self) -> Iterator[bytes]:
            with library_errors(errors.ReadError):
                while part := self._answer.read_now(self._timeout):
                    yield part

        def close(self) -> None:
            self._answer.close()

    def response(request: Any, answer: HttpAnswer, stream: Any) -> Any:
        if answer.redirected:
            request.url = urls.URL(answer.url)
        extensions = {"reason_phrase": answer.reason.encode("latin-1", "replace")} if answer.reason else {}
        return models.Response(answer.status, headers=answer.headers, stream=stream, extensions=extensions)

    async def handle_async_request(self: Any, request: Any) -> Any:
        parts = [part async for part in request.stream]
        with library_errors(errors.ConnectError):
            answer = await network.send(_to_send(request, parts))
        return response(request, answer, AsyncStream(answer, _timeouts(request).get("read")))

    def handle_request(self: Any, request: Any) -> Any:
        parts = list(request.stream)
        with library_errors(errors.ConnectError):
            answer = network.send_now(_to_send(request, parts))
        return response(request, answer, SyncStream(answer, _timeouts(request).get("read")))

    for name, handle in (("AsyncHTTPTransport", handle_async_request), ("HTTPTransport", handle_request)):
        transport: Any = getattr(module, name, None) or getattr(module, _OF_JSFETCH[name])
        transport.__init__ = _init
        setattr(transport, handle.__name__, handle)
        for method in ("__enter__", "__exit__", "__aenter__", "__aexit__", "close", "aclose"):
            if method in vars(transport):
                delattr(transport, method)  # fall back to the base's, which do nothing


_OF_JSFETCH = {"AsyncHTTPTransport": "AsyncJavascriptFetchTransport", "HTTPTransport": "JavascriptFetchTransport"}


def _init(self: Any, verify: Any = True, cert: Any = None, *_: Any, proxy: Any = None, **options: Any) -> None:
    """Take the options of a transport; those for connections are ignored."""
    if proxy is not None:
        warn_once(PROXY)
    if verify is False:
        warn_once(VERIFY)
    if cert is not None:
        warn_once(CERT)
    if options.get("uds") is not None:
        raise ValueError("A page has no Unix sockets: leave out uds.")


def _timeouts(request: Any) -> dict[str, float | None]:
    return request.extensions.get("timeout") or {}


def _to_send(request: Any, parts: list[bytes]) -> HttpRequest:
    limits = _timeouts(request)
    timeout, write = limits.get("read"), limits.get("write")
    if timeout is not None and any(parts):  # the browser does not report when the body is sent
        timeout = None if write is None and "write" in limits else timeout + (write or 0)
    return HttpRequest(
        request.method,
        str(request.url.copy_with(username=None, password=None, fragment=None)),
        tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers.raw),
        parts[0] if len(parts) == 1 else b"".join(parts),
        timeout,
    )
