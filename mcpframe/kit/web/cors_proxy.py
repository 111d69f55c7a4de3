"""A small forwarder for servers that do not allow pages (CORS): `http://127.0.0.1:8716/https://api.example/path`.

It serves the pages of listed origins, and reaches listed origins only. A request takes along what the page's own code
wrote: no cookies, and no credentials of this machine.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping
from urllib.parse import urljoin, urlsplit

import httpx2
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

SECONDS = 60.0
"""The longest wait for a connection, and for each part of an answer."""
LONGEST = 600.0
"""The longest answer, in seconds."""
MOST_SENT, MOST_RECEIVED = 16_000_000, 64_000_000
"""The largest bodies, in bytes."""

_METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE"
_NOT_SENT = frozenset(
    [
        *("connection", "content-length", "cookie", "host", "keep-alive", "origin", "referer", "te", "trailer"),
        *("transfer-encoding", "upgrade", "forwarded", "via", "accept-encoding", "proxy-connection"),
        *("proxy-authorization", "proxy-authenticate", "proxy-authentication-info"),
    ]
)
_NOT_RETURNED = frozenset(
    [
        *("connection", "content-encoding", "content-length", "keep-alive", "set-cookie", "set-cookie2", "trailer"),
        *("transfer-encoding", "upgrade", "location", "strict-transport-security", "content-security-policy"),
        *("proxy-connection", "proxy-authenticate", "proxy-authentication-info"),
        "date",  # the web server sends its own
    ]
)


class CorsProxy:
    """The forwarder, as an ASGI application.

    Args:
        hosts: The origins that it reaches.
        pages: The origins of the pages that may use it; without any, all pages of this machine's own addresses.
        client: The HTTP client; by default one without cookies, settings of the environment and redirects.
    """

    def __init__(
        self, hosts: Collection[str], pages: Collection[str] = (), client: httpx2.AsyncClient | None = None
    ) -> None:
        self._hosts = frozenset(hosts)
        self._pages = frozenset(pages)
        self._client = client or httpx2.AsyncClient(follow_redirects=False, trust_env=False, timeout=SECONDS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            request = Request(scope, receive)
            await (await self._answer(request))(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        page = request.headers.get("origin", "")
        if not (page in self._pages if self._pages else _is_local(page)):
            return PlainTextResponse("This page may not use the proxy: --allow-origin names those that may.", 403)
        headers = {"access-control-allow-origin": page, "access-control-expose-headers": "*", "vary": "origin"}
        if request.method == "OPTIONS":
            asked = request.headers.get("access-control-request-headers", "")
            allowed = {"access-control-allow-methods": _METHODS, "access-control-allow-headers": asked}
            return Response(status_code=204, headers={**headers, **allowed})
        raw: bytes = request.scope.get("raw_path") or request.scope["path"].encode()
        query: bytes = request.scope["query_string"]
        target = (raw.lstrip(b"/") + (b"?" + query if query else b"")).decode("latin-1")
        if origin_of(target) not in self._hosts:
            reason = f"The proxy does not reach {origin_of(target) or target!r}: --allow-host names what it does."
            return PlainTextResponse(reason, 403, headers)
        return await self._forwarded(request, target, headers)

    async def _forwarded(self, request: Request, target: str, headers: Mapping[str, str]) -> Response:
        body = b""
        try:
            async for part in request.stream():
                body += part
                if len(body) > MOST_SENT:
                    return PlainTextResponse(f"The proxy sends bodies of at most {MOST_SENT} bytes.", 413, headers)
            kept_out = _NOT_SENT | _hop_by_hop(request.headers)
            sent = [(name, value) for name, value in request.headers.items() if name not in kept_out]
            asked = self._client.build_request(request.method, target, headers=sent, content=body or None)
            answer = await self._client.send(asked, stream=True)
        except (httpx2.HTTPError, ClientDisconnect) as error:
            return PlainTextResponse(f"{origin_of(target)} gives no answer: {type(error).__name__}.", 502, headers)
        self._client.cookies.clear()
        hop = _hop_by_hop(answer.headers)
        kept = {name: value for name, value in answer.headers.items() if _is_returned(name) and name not in hop}
        if place := answer.headers.get("location"):
            place = urljoin(target, place)
            if origin_of(place) not in self._hosts:
                await answer.aclose()
                reason = f"{origin_of(target)} redirects to {origin_of(place)}, which --allow-host does not name."
                return PlainTextResponse(reason, 502, headers)
            kept["location"] = f"/{place}"
        return StreamingResponse(_parts(answer), answer.status_code, {**kept, **headers})


def origin_of(url: str) -> str:
    """Return the origin of an address of http or https, without user and password; empty for anything else."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return ""
    if parts.scheme not in ("http", "https") or not host or parts.username is not None:
        return ""
    usual = {"http": 80, "https": 443}[parts.scheme]
    host = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{host}" + (f":{port}" if port not in (None, usual) else "")


def _is_local(origin: str) -> bool:
    """Return whether an origin is one of this machine's own, which browsers never look up elsewhere."""
    host = urlsplit(origin).hostname or ""
    return host in ("localhost", "127.0.0.1", "::1") or host.endswith(".localhost")


def _hop_by_hop(headers: Mapping[str, str]) -> set[str]:
    """Return the names that headers `Connection` list: those are for this connection only (RFC 9110, 7.6.1)."""
    values = [value for name, value in headers.items() if name.lower() == "connection"]
    return {name.strip().lower() for value in values for name in value.split(",")}


def _is_returned(name: str) -> bool:
    return name not in _NOT_RETURNED and not name.startswith("access-control-")


async def _parts(answer: httpx2.Response) -> AsyncIterator[bytes]:
    """Yield the body; one that is too large or too late is cut off, which the page sees as an error."""
    size = 0
    try:
        async with asyncio.timeout(LONGEST):
            async for part in answer.aiter_bytes():
                size += len(part)
                if size > MOST_RECEIVED:
                    raise OSError(f"The answer of {answer.url.host} has more than {MOST_RECEIVED} bytes.")
                yield part
    finally:
        await answer.aclose()
