"""Reports rebuilds to host pages and the inspector by long polling: a response is held back until the next report.

Each request has the channel's token (`GET …?token=T&…`), which only pages of the channel's own origin can read: those
that `mcpframe dev` serves. Requests without it are rejected, so no other page or program learns anything.

`after=N` is answered as soon as the version is greater than N, with JSON: `version`, `url` (the server's page, null
before the first build), `built` (the number of builds; if it has changed, so has the page), `error` (the error in the
author's files, or null) and `fails` (`"build"` if the page is still the previous one, `"start"` if the new page does
not start, or null). `running=N` is answered at once: a host page reports that the page of build N is connected. So is
`said=TEXT`: lines that the server has logged or printed, and exceptions of its tools, for the terminal. The channel is
served at the origin of each host page, so the framed bundle and its policy are not affected.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import secrets
import threading
from collections.abc import Callable
from urllib.parse import parse_qs

from starlette.responses import JSONResponse, PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

_HELD = 25.0
"""The longest time, in seconds, for which a response is held back: less than the timeouts of proxies and browsers."""


class DevChannel:
    """The state of the build, as an ASGI application; the thread that builds updates it.

    Args:
        on_said: Called with each line that the server says; in the web server's thread.

    Attributes:
        query: The beginning of every request's query, with the token.
    """

    def __init__(self, on_said: Callable[[str], None] = lambda _: None) -> None:
        self._on_said = on_said
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
        """The number of builds so far."""
        return int(str(self._state["built"]))

    def publish(self, *, url: str | None = None, error: str | None = None, of: int | None = None) -> bool:
        """Report the end of a build, or an error.

        Args:
            url: The address of the server's new page; None if it has not changed.
            error: The error's message; None if there is none.
            of: The number of the build whose page does not start; reported only if it is the last build.

        Returns:
            Whether it was reported.
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
        """Wait until a page of a build is connected; return at once if no host page is open.

        Args:
            within: The deadline in seconds.

        Returns:
            Whether a page is connected, or no longer needs to be, as there is a newer build.
        """
        with self._news_or_runs:
            if self._heard_by:
                self._news_or_runs.wait_for(lambda: self._over(number), within)
            return self._over(number)

    def _over(self, number: int) -> bool:
        return self._running >= number or self.built != number or self._closed

    def close(self) -> None:
        """Send all held back responses, and hold back no more, as the web server is about to end."""
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
        if "said" in asked:
            for line in asked["said"][0].splitlines():
                self._on_said(line)
            state: dict[str, object] | asyncio.Event = dict(self._state)
        elif "running" in asked:
            with self._lock:
                self._running = max(self._running, min(_number(asked["running"][0]), self.built))
                self._news_or_runs.notify_all()
                state = dict(self._state)
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
    """A site with a channel at one additional path."""

    def __init__(self, site: ASGIApp, path: str, channel: DevChannel) -> None:
        """Answer `path` from the channel, and the rest from the site."""
        self._site, self._path, self._channel = site, path, channel

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request (ASGI)."""
        app = self._channel if scope["path"] == self._path else self._site
        await app(scope, receive, send)
