"""Web sites of this machine for browsers elsewhere, which cannot reach it: requests are answered over DevTools.

Pages find the sites at their usual origins, below a random path: other programs may use the same browser, and answer
requests for the same origins. Only requests below that path are intercepted.
"""

from __future__ import annotations

import asyncio
import base64
import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import httpx2

from mcpframe.kit.browser.devtools.protocol import DevTools

_MOST = 70_000_000
"""The largest body, in bytes: Chromium ends DevTools at a command of 100 MB, and base64 adds a third."""

_AT_ONCE = 4
"""The most requests of a browser that are answered at once: so also the most files for it that are in memory."""

_PIECE = 3 << 16
"""Bytes of a piece: divisible by 3, so that the base64 of the pieces, one after the other, is that of the file."""

_SECONDS = 30.0
_ASKED = ("origin", "range", "if-range")
"""Headers that an answer depends on: all others of the browser are left out, so that its answer is any browser's."""
_NOT_ANSWERED = {"connection", "content-encoding", "content-length", "keep-alive", "transfer-encoding"}
"""Headers of one hop. A body that is given over DevTools is not decompressed, so none is compressed."""


@dataclass(frozen=True)
class _Answer:
    """An answer of a site as DevTools take it; the body is pieces of base64."""

    status: int
    headers: Sequence[Mapping[str, str]]
    body: Sequence[str]


@dataclass
class _Shared:
    """An answer for all requests that wait for it, and their number."""

    answer: asyncio.Task[_Answer]
    waiting: int = 0


class FulfilledSites:
    """The sites of host names that are served on this machine.

    Args:
        ports: their names, each with its port.
    """

    def __init__(self, ports: Mapping[str, int]) -> None:
        self._ports = dict(ports)
        self._base = f"/{secrets.token_hex(16)}"
        self._answers: set[asyncio.Task[None]] = set()
        self._shared: dict[tuple[str, ...], _Shared] = {}
        # Without the proxy of the environment, and without its log, which would have the random path.
        self._client = httpx2.AsyncClient(trust_env=False, timeout=_SECONDS)

    def url(self, url: str) -> str:
        """Return the address at which browsers elsewhere find a page: another one for sites of this machine only."""
        parts = urlsplit(url)
        return parts._replace(path=self._base + parts.path).geturl() if parts.netloc in self._ports else url

    async def begin(self, devtools: DevTools) -> None:
        """Answer the requests of a browser from now on.

        Raises:
            BrowserGone: it is gone, or refuses.
        """
        devtools.handle("", partial(self._on_event, devtools, asyncio.Semaphore(_AT_ONCE)))
        patterns = [{"urlPattern": f"http://{name}{self._base}/*"} for name in self._ports]
        await devtools.command("Fetch.enable", patterns=patterns)

    async def close(self) -> None:
        """Answer nothing any more."""
        for answer in self._answers:
            answer.cancel()
        await asyncio.gather(*self._answers, return_exceptions=True)
        await self._client.aclose()

    def _on_event(self, devtools: DevTools, few: asyncio.Semaphore, method: str, params: dict[str, Any]) -> None:
        if method == "Fetch.requestPaused":
            answer = asyncio.ensure_future(self._in_turn(devtools, few, params["requestId"], params["request"]))
            self._answers.add(answer)
            answer.add_done_callback(self._answers.discard)

    async def _in_turn(self, devtools: DevTools, few: asyncio.Semaphore, id_: str, request: Mapping[str, Any]) -> None:
        async with few:
            if not devtools.closed.done():
                await self._answer(devtools, id_, request)

    async def _answer(self, devtools: DevTools, id_: str, request: Mapping[str, Any]) -> None:
        """Answer a request, and wait until the browser has taken the answer."""
        try:
            async with self._answer_to(request) as answer:
                given = devtools.post(
                    "Fetch.fulfillRequest",
                    body=answer.body,
                    requestId=id_,
                    responseCode=answer.status,
                    responseHeaders=answer.headers,
                )
                await asyncio.wait([given], timeout=_SECONDS)
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError):
            devtools.post("Fetch.failRequest", requestId=id_, errorReason="Failed")

    @asynccontextmanager
    async def _answer_to(self, request: Mapping[str, Any]) -> AsyncIterator[_Answer]:
        """Yield the answer of a site. It is asked once by all who wait for the same at the same time.

        Raises:
            ValueError: The request is none that is answered, or the answer is too large.
            HTTPError: The site gives no answer.
        """
        url = urlsplit(request["url"])._replace(fragment="").geturl()
        given = {name.lower(): value for name, value in request["headers"].items()}
        headers = {name: given[name] for name in _ASKED if name in given}
        key = (request["method"], url, *map(repr, headers.items()))
        shared = self._shared.get(key)
        if shared is None:
            fetching = asyncio.ensure_future(self._fetched(request["method"], url, headers))
            shared = self._shared[key] = _Shared(fetching)
        shared.waiting += 1
        try:
            yield await asyncio.shield(shared.answer)
        finally:
            shared.waiting -= 1
            if not shared.waiting:
                del self._shared[key]
                shared.answer.cancel()
                await asyncio.wait([shared.answer])

    async def _fetched(self, method: str, url: str, headers: Mapping[str, str]) -> _Answer:
        parts = urlsplit(url)
        if method not in ("GET", "HEAD"):
            raise ValueError("The sites are only read.")
        local = parts._replace(
            netloc=f"127.0.0.1:{self._ports[parts.netloc]}", path=parts.path.removeprefix(self._base)
        )
        sent = {**headers, "Host": parts.netloc, "Accept-Encoding": "identity"}
        body: list[str] = []
        size = 0
        async with self._client.stream(method, local.geturl(), headers=sent) as response:
            async for piece in response.aiter_bytes(_PIECE):
                size += len(piece)
                if size > _MOST:
                    raise ValueError("The file is too large for DevTools.")
                body.append(base64.b64encode(piece).decode())
        answered = [
            {"name": name, "value": value}
            for name, value in response.headers.multi_items()
            if name.lower() not in _NOT_ANSWERED
        ]
        return _Answer(response.status_code, answered, body)
