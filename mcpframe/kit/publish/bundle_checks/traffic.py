"""The requests of a tab, its frames and their workers, as Chromium's DevTools count them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from mcpframe.kit.browser.devtools.browsers import OpenTab

_QUIET = 0.5  # seconds without a request, after which a page counts as loaded
_FOLLOWED = [{"type": "iframe"}, {"type": "worker"}]


@dataclass
class TabRequest:
    """One request that has been made.

    Attributes:
        url: Its address.
        encoding: The content encoding of its response; empty for none.
        size: The bytes that came over the network, headers included; 0 from a cache.
        cached: Whether the response came from a cache, without asking the web server.
        ended: Whether it is complete, or has failed.
    """

    url: str
    encoding: str = ""
    size: int = 0
    cached: bool = False
    ended: bool = False


class Traffic:
    """The requests of a tab from now on.

    Attributes:
        requests: All that were begun, in order.
    """

    def __init__(self, tab: OpenTab) -> None:
        self._devtools = tab.devtools
        self._target = tab.target
        self._by_id: dict[str, TabRequest] = {}  # unique in a browser: a frame's own process ends what its parent began
        self._changed = asyncio.Event()
        self.requests: list[TabRequest] = []

    async def begin(self) -> None:
        """Begin to count, before the tab opens a page.

        Raises:
            BrowserGone: The browser has ended.
        """
        answer = await self._devtools.command("Target.attachToTarget", targetId=self._target, flatten=True)
        self._follow(answer["sessionId"])

    async def quiet(self, patience: float) -> None:
        """Wait until no request is under way, at most for some seconds."""
        try:
            async with asyncio.timeout(patience):
                while True:
                    self._changed.clear()
                    try:
                        async with asyncio.timeout(_QUIET):
                            await self._changed.wait()
                    except TimeoutError:
                        if all(request.ended for request in self.requests):
                            return
        except TimeoutError:
            return

    def _follow(self, session: str) -> None:
        devtools = self._devtools
        devtools.handle(session, self._on_event)
        devtools.post("Network.enable", session, maxTotalBufferSize=0, maxResourceBufferSize=0)
        # A worker waits until its requests are counted, too.
        devtools.post(
            "Target.setAutoAttach",
            session,
            autoAttach=True,
            waitForDebuggerOnStart=True,
            flatten=True,
            filter=_FOLLOWED,
        )
        devtools.post("Runtime.runIfWaitingForDebugger", session)

    def _on_event(self, method: str, params: dict[str, Any]) -> None:
        if method == "Target.attachedToTarget":
            self._follow(params["sessionId"])
            return
        if method == "Target.detachedFromTarget":
            self._devtools.handle(params["sessionId"], None)
            return
        if not method.startswith("Network.") or "requestId" not in params:
            return
        key = params["requestId"]
        if method == "Network.requestWillBeSent":
            if params["request"]["url"].startswith(("http:", "https:")):
                request = self._by_id[key] = TabRequest(params["request"]["url"])
                self.requests.append(request)
        elif (known := self._by_id.get(key)) is not None:
            self._note(known, method, params)
        self._changed.set()

    @staticmethod
    def _note(request: TabRequest, method: str, params: dict[str, Any]) -> None:
        match method:
            case "Network.requestServedFromCache":
                request.cached = True
            case "Network.responseReceived":
                response = params["response"]
                headers = {name.lower(): value for name, value in response["headers"].items()}
                request.encoding = headers.get("content-encoding", "")
                request.cached = request.cached or bool(response.get("fromDiskCache"))
            case "Network.loadingFinished":
                request.size = 0 if request.cached else int(params["encodedDataLength"])
                request.ended = True
            case "Network.loadingFailed":
                request.ended = True
