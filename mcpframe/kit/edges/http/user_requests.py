"""The requests of 2026-07-28 of several users, who share nothing: each has a server of their own.

Up to 2025-11-25 each session has one: see `sessions`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from starlette.types import Receive, Scope, Send

from mcpframe.frame.core.jsonrpc import INTERNAL_ERROR
from mcpframe.kit.edges.http.error_answers import error_answer
from mcpframe.kit.edges.http.principal import current_user
from mcpframe.kit.edges.http.stateless import StatelessRequests


class UserRequests:
    """An ASGI application for the requests of this era.

    Args:
        make: Returns an application for one user.
        most: The most users at once. With one more, that of the user who was away longest is closed.
    """

    def __init__(self, make: Callable[[], StatelessRequests], most: int) -> None:
        self._make = make
        self._most = most
        self._of: OrderedDict[str, _OneUser] = OrderedDict()

    def end(self) -> None:
        """Answer the open requests with an error: the server ends."""
        for user in self._of.values():
            user.requests.end()

    async def close(self) -> None:
        """Close the users' servers."""
        while self._of:
            await self._of.popitem()[1].requests.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        name = current_user()
        left = None
        if name not in self._of:
            if len(self._of) >= self._most and (left := self._leaving()) is None:
                text = f"{self._most} users are served, and each waits for an answer: try again later."
                await error_answer(503, INTERNAL_ERROR, text)(scope, receive, send)
                return
            self._of[name] = _OneUser(self._make())
        self._of.move_to_end(name)
        user = self._of[name]
        user.open += 1
        try:
            if left is not None:
                await left.close()
            await user.requests(scope, receive, send)
        finally:
            user.open -= 1

    def _leaving(self) -> StatelessRequests | None:
        """Return the server of the user who was away longest, and waits for nothing; it is theirs no longer."""
        for name, user in self._of.items():
            if not user.open and not user.requests.questions:
                return self._of.pop(name).requests
        return None


@dataclass
class _OneUser:
    """A user's server, and the number of their open HTTP requests."""

    requests: StatelessRequests
    open: int = 0
