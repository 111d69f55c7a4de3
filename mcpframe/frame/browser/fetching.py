"""Send the requests of HTTP libraries with the browser's fetch: `http_exchange.Network`.

Synchronous code waits for fetch by stack switching. If the browser lacks that, or the call does not allow it, a
synchronous XMLHttpRequest is sent: it blocks the page until its whole answer has arrived, and has no timeout.
"""

from __future__ import annotations

import asyncio
import os
from typing import Any

import js
from pyodide.ffi import JsException, to_js

from mcpframe.frame.browser import fetch_policy as policy
from mcpframe.frame.browser import stack
from mcpframe.frame.browser.http_exchange import (
    FetchFailed,
    FetchTimedOut,
    HttpAnswer,
    HttpRequest,
    NotPossible,
    seen_headers,
    warn_once,
)

_NO_TIMEOUT = (
    "This browser has no stack switching: a synchronous request stops the page until it is answered, without a timeout."
)
_BINARY = "text/plain; charset=x-user-defined"
"""Decodes each byte to the lower half of one UTF-16 unit (https://encoding.spec.whatwg.org/#x-user-defined)."""


async def send(request: HttpRequest) -> HttpAnswer:
    """Send a request; see `http_exchange.Network`."""
    request.check()
    controller = js.AbortController.new()
    options = js.Object.new()
    options.method = request.method
    options.headers = to_js(request.sent_headers)
    options.signal = controller.signal
    if request.body:
        options.body = to_js(request.body)
    try:
        async with asyncio.timeout(request.timeout):
            response = await js.fetch(_address(request), options)
    except TimeoutError:
        controller.abort()
        raise FetchTimedOut(_late(request.url, request.timeout)) from None
    except JsException as error:
        raise _failure(error, request) from None
    except BaseException:
        controller.abort()
        raise
    return _Fetched(request, response, controller)


def send_now(request: HttpRequest) -> HttpAnswer:
    """Send a request from synchronous code; see `http_exchange.Network`."""
    if stack.can_wait():
        answer: HttpAnswer = stack.wait_for(send(request))
        return answer
    request.check()
    if request.timeout is not None:
        warn_once(_NO_TIMEOUT)
    sent = js.XMLHttpRequest.new()
    try:
        sent.open(request.method, _address(request), False)
        sent.overrideMimeType(_BINARY)
        for name, value in request.sent_headers:
            sent.setRequestHeader(name, value)
        sent.send(to_js(request.body) if request.body else None)
    except JsException as error:
        raise _failure(error, request) from None
    return _Received(request, sent)


def _address(request: HttpRequest) -> str:
    embedding = getattr(js.location, "ancestorOrigins", None)  # not in older versions of Firefox
    address = policy.upgraded(request.url, [str(js.origin), *(embedding or ())])
    proxy, page, of_page = _proxy(), str(js.origin), str(js.mcpframeOfPage().policy)
    if proxy and not policy.is_allowed(address, policy.connect_sources(of_page), page):
        raise FetchFailed(policy.reason(address, policy=of_page, page=page, online=True))  # browsers see the proxy only
    return policy.by_proxy(address, proxy, page)


def _proxy() -> str:
    """Return the address of the visitor's `mcpframe proxy`; empty for none."""
    return os.environ.get("MCPFRAME_CORS_PROXY", "")


class _Fetched:
    """The answer of `fetch`, whose body is read as it arrives."""

    def __init__(self, request: HttpRequest, response: Any, controller: Any) -> None:
        self.status = int(response.status)
        self.reason = str(response.statusText)
        headers = js.Object.fromEntries(response.headers).to_py()
        self.headers = seen_headers(request.method, headers.items())
        self.url = policy.behind_proxy(str(response.url).partition("#")[0], _proxy()) or request.url
        self.redirected = bool(response.redirected)
        self._reader = response.body.getReader() if response.body else None
        self._controller = controller
        self._request = request

    async def read(self, limit: float | None = None) -> bytes:
        """Return the next part of the body; see `http_exchange.HttpAnswer`."""
        while self._reader is not None:
            try:
                async with asyncio.timeout(limit):
                    part = await self._reader.read()
            except TimeoutError:
                self.close()
                raise FetchTimedOut(_late(self.url, limit)) from None
            except JsException as error:
                self._reader = None
                raise FetchFailed(f"The answer of {self.url} was cut off: {error}") from None
            except BaseException:
                self.close()
                raise
            if part.done:
                self._reader = None
            elif part.value.length:
                return bytes(part.value.to_bytes())
        return b""

    def read_now(self, limit: float | None = None) -> bytes:
        """Like `read`, from synchronous code."""
        return b"" if self._reader is None else bytes(stack.wait_for(self.read(limit)))

    def close(self) -> None:
        """Abort the rest of the answer."""
        if self._reader is not None:
            self._reader = None
            self._controller.abort()


class _Received:
    """The answer of a synchronous request, which has arrived completely."""

    def __init__(self, request: HttpRequest, sent: Any) -> None:
        self.status = int(sent.status)
        self.reason = str(sent.statusText)
        lines = [line.partition(": ") for line in str(sent.getAllResponseHeaders()).split("\r\n") if line]
        self.headers = seen_headers(request.method, ((name, value) for name, _, value in lines))
        address = str(js.URL.new(_address(request)).href).partition("#")[0]
        self.redirected = str(sent.responseURL) not in ("", address)
        self.url = policy.behind_proxy(str(sent.responseURL), _proxy()) or request.url
        self._body = str(sent.responseText).encode("utf-16", "surrogatepass")[2::2]  # after the byte order mark

    async def read(self, limit: float | None = None) -> bytes:
        """Return the body; see `http_exchange.HttpAnswer`."""
        return self.read_now()

    def read_now(self, limit: float | None = None) -> bytes:
        """Return the body; empty the next time."""
        body, self._body = self._body, b""
        return body

    def close(self) -> None:
        """Drop the body."""
        self._body = b""


def _failure(error: JsException, request: HttpRequest) -> Exception:
    if error.name not in ("TypeError", "NetworkError", "AbortError"):
        return NotPossible(f"The browser does not send this request: {error}")
    return FetchFailed(
        policy.reason(
            _address(request),
            policy=str(js.mcpframeOfPage().policy),
            page=str(js.origin),
            online=js.navigator.onLine is not False,
            proxy=_proxy(),
        )
    )


def _late(url: str, timeout: float | None) -> str:
    return f"No answer of {url} within {timeout:g} seconds."
