"""How many requests a client may send: further ones are answered with 429, and when to ask again.

A client is the user of its token, or its address. Each process counts for itself.

Source: RFC 6585, section 4.
"""

from __future__ import annotations

import ipaddress
import math
import time
from typing import TYPE_CHECKING

from starlette.types import ASGIApp, Receive, Scope, Send

from mcpframe.frame.core.jsonrpc import INVALID_REQUEST
from mcpframe.kit.base.errors import ConfigError
from mcpframe.kit.base.extras import need
from mcpframe.kit.edges.http.error_answers import error_answer
from mcpframe.kit.edges.http.principal import sender_of

if TYPE_CHECKING:
    from limits import RateLimitItem

_IPV6_NETWORK = 64
"""The bits of an IPv6 address that name a client: a provider gives each at least a network of this size."""


def parse_rate(text: str) -> RateLimitItem:
    """Return a rate such as `120/minute` or `10 per 2 seconds`.

    Raises:
        ConfigError: It is none.
        ExtraMissing: The package for it is not installed.
    """
    need("public", "A rate limit")
    from limits import parse_many

    try:
        [rate] = parse_many(text)
        if rate.amount < 1 or rate.multiples < 1:
            raise ValueError
    except (KeyError, ValueError):
        raise ConfigError(f"{text[:80]!r} is not a rate: write a number and a time, such as 120/minute.") from None
    return rate


class RateLimited:
    """An ASGI application that passes on a client's requests up to a rate, and refuses further ones.

    Args:
        app: The application that gets the requests.
        rate: The rate, as by `parse_rate`.
    """

    def __init__(self, app: ASGIApp, rate: str) -> None:
        self._rate = parse_rate(rate)
        from limits.aio.storage import MemoryStorage
        from limits.aio.strategies import SlidingWindowCounterRateLimiter

        self._app = app
        # two numbers for each client, unlike the time of every request
        self._limiter = SlidingWindowCounterRateLimiter(MemoryStorage())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        who = _client(scope)
        if await self._limiter.hit(self._rate, who):
            await self._app(scope, receive, send)
            return
        again = (await self._limiter.get_window_stats(self._rate, who)).reset_time
        seconds = max(1, math.ceil(again - time.time()))
        text = f"Too many requests: at most {self._rate.amount} in {self._rate.get_expiry()} seconds."
        answer = error_answer(429, INVALID_REQUEST, text, {"Retry-After": str(seconds)})
        await answer(scope, receive, send)


def _client(scope: Scope) -> str:
    user = sender_of(scope)
    if user is not None:
        return f"user {user}"
    return f"address {_network((scope.get('client') or ('', 0))[0])}"


def _network(address: str) -> str:
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return "unknown"
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    return str(parsed.ipv4_mapped or ipaddress.ip_network((int(parsed), _IPV6_NETWORK), strict=False))
