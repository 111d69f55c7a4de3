"""A request and its answer, or its failure, between an HTTP library and the browser.

The libraries' modules here use a `Network`, and know no browser; in a page it is `browser.fetching`.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlsplit

from mcpframe.frame.core.allowed_origins import MADE_UP_ADDRESS

_CHOSEN_BY_THE_BROWSER = frozenset(
    [
        *("accept-charset", "accept-encoding", "access-control-request-headers", "access-control-request-method"),
        *("connection", "content-length", "cookie", "cookie2", "date", "dnt", "expect", "host", "keep-alive", "origin"),
        *("referer", "set-cookie", "te", "trailer", "transfer-encoding", "upgrade", "via"),
    ]
)
"""Headers that a page cannot set: https://fetch.spec.whatwg.org/#forbidden-request-header."""
_NAMES_THE_CLIENT = "user-agent"
"""Also left out: browsers send their own, or need the server's consent first (CORS preflight)."""
_OF_THE_WIRE = frozenset({"content-encoding", "transfer-encoding"})
_SIZE = "content-length"
_WITHOUT_BODY = frozenset({"GET", "HEAD"})
_HOST = re.compile(r"[A-Za-z0-9._-]+(:\d+)?")
_FORBIDDEN = frozenset({"CONNECT", "TRACE", "TRACK"})


class FetchFailed(Exception):
    """The browser got no answer, or only a part of it. The message has the reason and advice."""


class FetchTimedOut(Exception):
    """The answer, or a part of it, did not come in time."""


class NotPossible(Exception):
    """A request that a page cannot send."""


@dataclass(frozen=True)
class HttpRequest:
    """A request.

    Attributes:
        method: The method.
        url: The address, without user and password. Code that looks up a host's address, and sends the request to that
            with the header Host, means the host.
        headers: The headers; those that only the browser may set are not sent.
        body: The body; None or empty for none.
        timeout: Seconds to wait for the headers of the answer; None for no limit.
    """

    method: str
    url: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | bytearray | memoryview | None = None
    timeout: float | None = None

    def __post_init__(self) -> None:
        if MADE_UP_ADDRESS not in self.url:
            return
        parts = urlsplit(self.url)
        host = next((value for name, value in self.headers if name.lower() == "host"), "")
        if parts.hostname == MADE_UP_ADDRESS and _HOST.fullmatch(host):
            object.__setattr__(self, "url", parts._replace(netloc=host).geturl())

    def check(self) -> None:
        """Raise NotPossible if the browser would not send this."""
        if not self.url.lower().startswith(("http://", "https://")):
            raise NotPossible(
                f"{self.url!r} is not an address of a page's requests: they begin with http:// or https://."
            )
        if self.method.upper() in _FORBIDDEN:
            raise NotPossible(f"A page cannot send requests of the method {self.method}.")
        if self.body and self.method.upper() in _WITHOUT_BODY:
            raise NotPossible(f"A page cannot send a body with {self.method}: use POST, or put it into the address.")

    @property
    def sent_headers(self) -> list[tuple[str, str]]:
        """The headers that a page may set."""
        return [
            (name, value)
            for name, value in self.headers
            if name.lower() not in _CHOSEN_BY_THE_BROWSER
            and name.lower() != _NAMES_THE_CLIENT
            and not name.lower().startswith(("proxy-", "sec-"))
        ]


class HttpAnswer(Protocol):
    """The answer to a request.

    Attributes:
        status: The status.
        reason: The text of the status; empty with HTTP/2 and later.
        headers: The headers that the server exposes to pages, with lower-case names.
        url: The address of the answer, after redirects.
        redirected: Whether that differs from the requested one.
    """

    status: int
    reason: str
    headers: list[tuple[str, str]]
    url: str
    redirected: bool

    async def read(self, limit: float | None = None) -> bytes:
        """Return the next part of the body, decoded; empty at its end.

        Args:
            limit: seconds to wait for it; None for no limit.

        Raises:
            FetchFailed: if the answer was cut off.
            FetchTimedOut: if the part did not arrive in time.
        """
        ...

    def read_now(self, limit: float | None = None) -> bytes:
        """Like `read`, from synchronous code."""
        ...

    def close(self) -> None:
        """Let the browser drop the unread rest."""
        ...


class Network(Protocol):
    """Sends requests."""

    async def send(self, request: HttpRequest) -> HttpAnswer:
        """Send a request, and return its answer once it has begun.

        Raises:
            FetchFailed: if no answer arrived.
            FetchTimedOut: if it did not arrive in time.
            NotPossible: if a page cannot send this.
        """
        ...

    def send_now(self, request: HttpRequest) -> HttpAnswer:
        """Like `send`, from synchronous code."""
        ...


def seen_headers(method: str, headers: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the headers of an answer that apply to its body after the browser has decoded it."""
    dropped = _OF_THE_WIRE if method.upper() == "HEAD" else _OF_THE_WIRE | {_SIZE}
    return [(name.lower(), value) for name, value in headers if name.lower() not in dropped]


_warned: set[str] = set()


def warn_once(what: str) -> None:
    """Warn once about an option that has no effect in a page.

    Args:
        what: the option and the browser's behaviour instead, as a sentence.
    """
    if what not in _warned:
        _warned.add(what)
        warnings.warn(what, RuntimeWarning, stacklevel=3)


PROXY = "A page cannot choose a proxy: the requests go the way that the browser is set up for."
VERIFY = "A page cannot turn off the checks of certificates or add authorities: the browser checks them."
CERT = "A page cannot present a client certificate: the browser chooses one, or none."
