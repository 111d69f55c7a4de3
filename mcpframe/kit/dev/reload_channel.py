"""How host pages, also the inspector, learn of a rebuild: an answer that waits until there is news (long polling).

Each request has the channel's token (`GET …?token=T&…`), which only pages of its own origin can read: those that
`mcpframe dev` serves. Without it nothing is answered, whatever other page or program sends it.

`after=N` answers as soon as the version is greater than N, with JSON: `version`, `url` (the server's page, null
before the first build), `built` (how many builds there were: another one means that the page is a new one), `error`
(what is wrong with the author's files, or null) and `fails` (`"build"` where the page is the one before it, `"start"`
where the new page does not start, or null). `running=N` answers at once: it tells that the page of build N is
connected. It is served at the origin of each host page, so neither the framed bundle nor its policy knows of it.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import secrets
import threading
from urllib.parse import parse_qs

from starlette.responses import JSONResponse, PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

_HELD = 25.0
"""Seconds that an answer is held back where there is no news: proxies and browsers give up later."""


class DevChannel:
    """The state of the build, as an ASGI application. Told from the thread that builds.

    Attributes:
        query: What the query of every request begins with.
    """

    def __init__(self) -> None:
        """Begin before the first build, with a token of its own."""
        self._token = secrets.token_urlsafe(16)
        self.query = f"token={self._token}&"
        self._lock = threading.Lock()
        self._state: dict[str, object] = {"version": 0, "url": None, "built": 0, "error": None, "fails": None}
        self._closed = False
        self._waiting: set[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = set()
        self._news_or_runs = threading.Condition(self._lock)
        self._heard_by = 0
        self._running = 0

    @property
    def built(self) -> int:
        """How many builds there were."""
        return int(str(self._state["built"]))

    def publish(self, *, url: str | None = None, error: str | None = None, of: int | None = None) -> bool:
        """Tell that a build has ended, or what is wrong.

        Args:
            url: The address of the server's page, where there is a new one; None leaves it as it was.
            error: What went wrong; None where nothing did.
            of: It is wrong with the start of the page of this build, by its number: told only where that is the last.

        Returns:
            Whether it was told.
        """
        with self._lock:
            built = self.built
            if of not in (None, built):
                return False
            version = int(str(self._state["version"])) + 1
            self._state = {
                "version": version,
                "url": url or self._state["url"],
                "built": built + (url is not None),
                "error": error,
                "fails": None if error is None else "build" if of is None else "start",
            }
            if url is not None:
                self._heard_by = len(self._waiting)
            self._wake()
        return True

    def runs(self, number: int, within: float) -> bool:
        """Wait until a page of a build is connected; not where no host page is open.

        Args:
            number: Which build.
            within: The longest to wait, in seconds.

        Returns:
            Whether one is connected, or it does not matter any more as there is a newer build.
        """
        with self._news_or_runs:
            if self._heard_by:
                self._news_or_runs.wait_for(lambda: self._over(number), within)
            return self._over(number)

    def _over(self, number: int) -> bool:
        return self._running >= number or self.built != number or self._closed

    def close(self) -> None:
        """Answer everybody who waits, and hold back nothing any more: the web server is about to end."""
        with self._lock:
            self._closed = True
            self._wake()

    def _wake(self) -> None:
        for loop, event in self._waiting:
            loop.call_soon_threadsafe(event.set)
        self._waiting.clear()
        self._news_or_runs.notify_all()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request (ASGI)."""
        asked = parse_qs(scope["query_string"].decode("latin-1"))
        token = asked.get("token", [""])[0]
        if not hmac.compare_digest(token.encode("utf-8", "replace"), self._token.encode()):
            refused = "This run of mcpframe dev has another token: reload the page that it opened."
            await PlainTextResponse(refused, 403, {"cache-control": "no-store"})(scope, receive, send)
            return
        if "running" in asked:
            with self._lock:
                self._running = max(self._running, min(_number(asked["running"][0]), self.built))
                self._news_or_runs.notify_all()
                state: dict[str, object] | asyncio.Event = dict(self._state)
        else:
            state = self._news(_number(asked.get("after", ["0"])[0]))
        if isinstance(state, asyncio.Event):
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(state.wait(), _HELD)
            state = dict(self._state)
        await JSONResponse(state, headers={"cache-control": "no-store"})(scope, receive, send)

    def _news(self, after: int) -> dict[str, object] | asyncio.Event:
        with self._lock:
            if int(str(self._state["version"])) > after or self._closed:
                return dict(self._state)
            event = asyncio.Event()
            self._waiting.add((asyncio.get_running_loop(), event))
            return event


def _number(text: str) -> int:
    return int(text) if text.isdecimal() else 0


class WithChannel:
    """A site with a channel at one path more."""

    def __init__(self, site: ASGIApp, path: str, channel: DevChannel) -> None:
        """Answer `path` from the channel, and the rest from the site."""
        self._site, self._path, self._channel = site, path, channel

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request (ASGI)."""
        app = self._channel if scope["path"] == self._path else self._site
        await app(scope, receive, send)
