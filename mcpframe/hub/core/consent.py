"""Consent to calls: the user is asked, one question at a time, and what is always allowed is remembered.

The client itself is not asked (MCP's elicitation): it is the one that wants the call, and many answer for their users.
How the user is asked is up to the home of the hub.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping
from typing import Any, Protocol

from mcpframe.frame.core.visible import visible
from mcpframe.hub.core.interfaces import CallRequest
from mcpframe.hub.core.names import UNKNOWN, domain_of

log = logging.getLogger(__name__)

ASK_SECONDS = 45.0
"""How long the user has: many clients wait for a call for 60 seconds, and the page needs some of them."""
_DELAY = 600
"""Milliseconds before a call can be allowed."""
_LONGEST = 20_000
_LONGEST_NAME = 100


class Asks(Protocol):
    """Asks the user."""

    async def __call__(self, question: Mapping[str, Any]) -> str:
        """Return the answer: `once`, `tool`, `origin` or `deny`. Raises `McpFrameError` where nobody can be asked."""
        ...


class Consent:
    """`HubOptions.consents`: asks the user, once for what a client is always allowed, and one question at a time.

    Args:
        asks: Asks the user.
        seconds: How long the user has for all questions before this one, and this one.
    """

    def __init__(self, asks: Asks, seconds: float = ASK_SECONDS) -> None:
        self._asks = asks
        self._seconds = seconds
        self._always: set[tuple[str, str, str | None]] = set()
        """The origins of client and page, and the tool; None for all tools."""
        self._turn = asyncio.Lock()

    async def __call__(self, request: CallRequest) -> bool:
        """Return whether a call is allowed. No answer, or a page that was closed, denies it.

        Args:
            request: The call.

        Raises:
            McpFrameError: Nobody can be asked: the browser has ended.
        """
        try:
            async with asyncio.timeout(self._seconds), self._turn:
                if self._is_known(request):
                    return True
                answer = await self._asks(question(request))
        except TimeoutError:
            log.warning("Nobody has answered whether a call of %s is allowed: it is denied.", request.origin)
            return False
        if answer == "tool":
            self._always.add((request.client.origin, request.origin, request.tool))
        elif answer == "origin":
            self._always.add((request.client.origin, request.origin, None))
        return answer in ("once", "tool", "origin")

    def _is_known(self, request: CallRequest) -> bool:
        return any((request.client.origin, request.origin, tool) in self._always for tool in (request.tool, None))


def question(request: CallRequest) -> dict[str, Any]:
    """Return what `consent.js` shows: what could mislead a reader is written as escapes."""
    text = visible(json.dumps(request.arguments, indent=2, ensure_ascii=False))
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST]}\n… and {len(text) - _LONGEST:,} more characters"
    domain = domain_of(request.origin)
    named = "" if domain == UNKNOWN or request.origin.endswith(f"/{domain}") else f" ({domain} in names)"
    return {
        "client": visible(request.client.origin),
        "name": shown_name(request.client.name),
        "origin": f"{request.origin}{named}",
        "tool": visible(request.tool),
        "text": text,
        "delay": _DELAY,
    }


def shown_name(name: str) -> str:
    """Return the name that a client gives itself, as one short line that misleads nobody."""
    return " ".join(visible(name[:_LONGEST_NAME]).split())
