"""A page whose host answered, in a dialect made for the tests, before it listened."""

from __future__ import annotations

import asyncio

import pytest

from mcpframe.frame.core.connection import Connection
from mcpframe.frame.core.dialect import Dialect
from mcpframe.frame.core.events import Inbox, Opened
from mcpframe.frame.session.session import open_session
from tests.support.fake_window import FakeWindow, inbound
from tests.support.second_dialect import (
    ANSWERED,
    DIRECTED,
    FRAME,
    HOST,
    PLAIN,
    candidates,
    from_peer,
    role_of,
)

PATIENCE = 60.0
DIALECTS = [pytest.param(each, id=each.name) for each in (PLAIN, DIRECTED)]
INNER = [role_of(each, "inner") for each in (PLAIN, DIRECTED)]


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_an_answer_from_before_the_page_was_up_needs_no_second_opening(dialect: Dialect) -> None:
    _, window = FakeWindow.pair(HOST, FRAME)
    role = role_of(dialect, "inner")
    other = next(each for each in INNER if each is not role)
    kept = [inbound(from_peer(each, ANSWERED), origin=HOST) for each in (role, other, role)]
    made = Connection(candidates(*INNER))
    async with (
        asyncio.timeout(PATIENCE),
        open_session(made, window, take_inbox=lambda: Inbox(tuple(kept), 0, True)) as session,
    ):
        assert session.started == Opened(dialect=dialect.name, origin=HOST)
        assert [target for _, target in window.posted] == [HOST]  # that it is ready
        assert made.dropped["noise"] == 1
