"""The users of revisions without sessions share no server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from mcp.server.auth.middleware.auth_context import auth_context_var
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken

from mcpframe.kit.edges.http.user_requests import UserRequests


class OneUsers:
    """The application of one user, which counts, and waits where it should."""

    def __init__(self) -> None:
        self.calls = 0
        self.questions: list[str] = []
        self.closed = self.ended = False
        self.asked, self.answering = asyncio.Event(), asyncio.Event()
        self.answering.set()

    async def __call__(self, *_: object) -> None:
        self.calls += 1
        self.asked.set()
        await self.answering.wait()

    def end(self) -> None:
        self.ended = True

    async def close(self) -> None:
        self.closed = True


@contextmanager
def as_user(name: str) -> Iterator[None]:
    token = AccessToken(token="t", client_id=name, subject=name, scopes=[])
    before = auth_context_var.set(AuthenticatedUser(token))
    try:
        yield
    finally:
        auth_context_var.reset(before)


async def ask(requests: UserRequests, user: str) -> int:
    """Send a request of a user; returns the status of an answer that refuses it, else 0."""
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    with as_user(user):
        await requests({"type": "http", "method": "POST", "headers": []}, Callable, send)  # type: ignore[arg-type]
    return int(sent[0]["status"]) if sent else 0


@pytest.fixture
def made() -> list[OneUsers]:
    return []


@pytest.fixture
def requests(made: list[OneUsers]) -> UserRequests:
    def make() -> Any:
        made.append(OneUsers())
        return made[-1]

    return UserRequests(make, 2)


async def test_each_user_has_a_server(requests: UserRequests, made: list[OneUsers]) -> None:
    assert [await ask(requests, user) for user in ("ada", "bob", "ada")] == [0, 0, 0]
    assert [each.calls for each in made] == [2, 1]
    requests.end()
    await requests.close()
    assert all(each.ended and each.closed for each in made)


async def test_whoever_was_away_longest_makes_room(requests: UserRequests, made: list[OneUsers]) -> None:
    for user in ("ada", "bob", "ada", "eve"):
        assert await ask(requests, user) == 0
    assert [each.closed for each in made] == [False, True, False]


async def test_a_user_who_waits_keeps_the_server(requests: UserRequests, made: list[OneUsers]) -> None:
    await ask(requests, "ada")
    await ask(requests, "bob")
    made[0].answering.clear()
    made[0].asked.clear()
    made[1].questions = ["open"]
    waiting = asyncio.create_task(ask(requests, "ada"))
    await asyncio.wait_for(made[0].asked.wait(), 10)
    assert await ask(requests, "eve") == 503
    assert not any(each.closed for each in made)
    made[1].questions = []
    assert await ask(requests, "eve") == 0
    assert [each.closed for each in made] == [False, True, False]
    made[0].answering.set()
    assert await waiting == 0
