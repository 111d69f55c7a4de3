"""Web sites of this machine for browsers elsewhere, which cannot reach it: requests are answered over DevTools.

Pages find the sites at their usual origins, below a random path: other programs may use the same browser, and answer
requests for the same origins. Only requests below that path are intercepted.
"""

from __future__ import annotations

import asyncio
import base64
import secrets
from collections.abc import Mapping
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import httpx2

from mcpframe.kit.browser.devtools.protocol import DevTools

_MOST = 70_000_000
"""The largest body, in bytes: Chromium ends DevTools at a command of 100 MB, and base64 adds a third."""

_AT_ONCE = 4
"""The most requests of a browser that are answered at once: after a kill many pages load their 12 MB at the same time,
of which several copies would be in memory."""

_SECONDS = 30.0
_NOT_ASKED = {"host", "connection", "accept-encoding", "if-none-match", "if-modified-since"}
_NOT_ANSWERED = {"connection", "content-encoding", "content-length", "keep-alive", "transfer-encoding"}
"""Headers of one hop. A body that is given over DevTools is not decompressed, so none is compressed."""


class FulfilledSites:
    """The sites of host names that are served on this machine.

    Args:
        ports: their names, each with its port.
    """

    def __init__(self, ports: Mapping[str, int]) -> None:
        self._ports = dict(ports)
        self._base = f"/{secrets.token_hex(16)}"
        self._answers: set[asyncio.Task[None]] = set()
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
                given = await self._answer(devtools, id_, request)
                await asyncio.wait([given], timeout=_SECONDS)

    async def _answer(self, devtools: DevTools, id_: str, request: Mapping[str, Any]) -> asyncio.Future[dict[str, Any]]:
        """Answer a request; the future is done once the browser has taken the answer."""
        try:
            response = await self._fetched(request)
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError):
            return devtools.post("Fetch.failRequest", requestId=id_, errorReason="Failed")
        return devtools.post(
            "Fetch.fulfillRequest",
            requestId=id_,
            responseCode=response.status_code,
            responseHeaders=[
                {"name": name, "value": value}
                for name, value in response.headers.multi_items()
                if name.lower() not in _NOT_ANSWERED
            ],
            body=base64.b64encode(response.content).decode(),
        )

    async def _fetched(self, request: Mapping[str, Any]) -> httpx2.Response:
        parts = urlsplit(request["url"])
        if request["method"] not in ("GET", "HEAD"):
            raise ValueError("The sites are only read.")
        headers = {name: value for name, value in request["headers"].items() if name.lower() not in _NOT_ASKED}
        local = parts._replace(
            netloc=f"127.0.0.1:{self._ports[parts.netloc]}", path=parts.path.removeprefix(self._base), fragment=""
        )
        response = await self._client.request(
            request["method"],
            local.geturl(),
            headers={**headers, "Host": parts.netloc, "Accept-Encoding": "identity"},
        )
        if len(response.content) > _MOST:
            raise ValueError("The file is too large for DevTools.")
        return response
