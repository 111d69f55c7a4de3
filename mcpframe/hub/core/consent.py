"""Consent to calls: the user is asked, one question at a time; permanent permissions are remembered.

The client itself is not asked (MCP's elicitation): it requested the call, and many clients answer for their users. The
home of the hub asks the user.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping
from typing import Any, Protocol

from mcpframe.frame.core.visible import visible
from mcpframe.hub.core import limits
from mcpframe.hub.core.interfaces import CallRequest
from mcpframe.hub.core.names import UNKNOWN, domain_of

log = logging.getLogger(__name__)


class Asks(Protocol):
    async def __call__(self, question: Mapping[str, Any]) -> str:
        """Return the answer: `once`, `tool` (or all resources), `origin` or `deny`.

        Raises:
            McpFrameError: The user cannot be asked.
        """
        ...


class Consent:
    """`HubOptions.consents`: asks the user, one question at a time, unless the call is always allowed.

    Args:
        asks: Asks the user.
        seconds: The time for this question and those queued before it.
    """

    def __init__(self, asks: Asks, seconds: float = limits.CONSENT_SECONDS) -> None:
        self._asks = asks
        self._seconds = seconds
        self._always: set[tuple[str, str, str | None]] = set()
        """The origins of client and page, and the tool, which is empty for all resources; None for everything."""
        self._turn = asyncio.Lock()

    async def __call__(self, request: CallRequest) -> bool:
        """Return whether a call is allowed. No answer, or a page that was closed, denies it.

        Raises:
            McpFrameError: The user cannot be asked: the browser has ended.
        """
        try:
            async with asyncio.timeout(self._seconds), self._turn:
                if self._is_known(request):
                    return True
                answer = await self._asks(question(request))
        except TimeoutError:
            log.warning("The user has not answered whether a call of %s is allowed: it is denied.", request.origin)
            return False
        if answer == "tool":
            self._always.add((request.client.origin, request.origin, request.tool))
        elif answer == "origin":
            self._always.add((request.client.origin, request.origin, None))
        return answer in ("once", "tool", "origin")

    def _is_known(self, request: CallRequest) -> bool:
        return any((request.client.origin, request.origin, tool) in self._always for tool in (request.tool, None))


def question(request: CallRequest) -> dict[str, Any]:
    """Return the question that `consent.js` shows, with misleading characters as escapes."""
    text = visible(json.dumps(request.arguments, indent=2, ensure_ascii=False))
    if len(text) > limits.CONSENT_CHARACTERS:
        text = f"{text[: limits.CONSENT_CHARACTERS]}\n… and {len(text) - limits.CONSENT_CHARACTERS:,} more characters"
    domain = domain_of(request.origin)
    named = "" if domain == UNKNOWN or request.origin.endswith(f"/{domain}") else f" ({domain} in names)"
    reads = request.uri is not None
    return {
        "title": f"wants to {'read a resource' if reads else 'call a tool'} of a page",
        "what": "Resource" if reads else "Tool",
        "always": "Always allow reading" if reads else "Always allow this tool",
        "client": visible(request.client.origin),
        "name": shown_name(request.client.name),
        "origin": f"{request.origin}{named}",
        "tool": visible(request.tool if request.uri is None else request.uri[: limits.CONSENT_CHARACTERS]),
        "text": "" if reads else text,
        "delay": round(limits.CONSENT_DELAY_SECONDS * 1000),
    }


def shown_name(name: str) -> str:
    """Return a client's own name as one short line without misleading characters."""
    return " ".join(visible(name[: limits.CLIENT_NAME_CHARACTERS]).split())
