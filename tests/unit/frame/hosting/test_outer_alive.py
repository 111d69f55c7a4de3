"""A host in Python whose page does not answer: it is told, and loads the page anew into the same session."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from mcp import Client, ClientSession
from mcp.shared.exceptions import MCPError

from mcpframe.frame.core.connection import Options, parse_allowed_origins
from mcpframe.frame.core.events import Closed, Opened, Unresponsive
from mcpframe.frame.dialects.sep import roles as sep
from mcpframe.frame.hosting.outer import OuterFrame
from mcpframe.frame.session.places import Framing
from mcpframe.frame.session.session import open_session
from tests.support.fake_place import FakePlace
from tests.support.fake_window import FakeWindow
from tests.support.sep import HOST, alone
from tests.unit.frame.hosting.test_outer import URL, Inner


class Deaf:
    """A framed page that hears nothing any more once it is connected, until a test says so."""

    def __init__(self) -> None:
        self.ids: list[str] = []

    async def __call__(self, window: FakeWindow, framing: Framing) -> None:
        async with open_session(alone(sep.INNER_TRANSPORT, parse_allowed_origins([HOST])), window) as session:
            self.ids.append(session.id)
            window.take = lambda event: None  # type: ignore[method-assign]
            await session.ended()


async def test_a_page_that_is_silent_is_loaded_anew_into_the_same_session() -> None:
    told = asyncio.Event()
    events: list[Any] = []

    def note(event: Any) -> None:
        events.append(event)
        if event == Unresponsive(True):
            told.set()

    outer = OuterFrame(URL, options=Options(unresponsive_after=0.02), on_event=note)
    deaf, inner = Deaf(), Inner()
    async with outer.connect(FakePlace(HOST, deaf)) as streams, ClientSession(*streams) as session:
        calling = asyncio.ensure_future(session.send_ping())
        await told.wait()
        assert outer.session
        outer.session.close()
        with pytest.raises(MCPError) as failed:
            await calling
    assert failed.value.error.code == -32000
    assert [type(event) for event in events] == [Opened, Unresponsive, Closed]
    async with Client(outer.connect(FakePlace(HOST, inner))) as client:
        assert (await client.call_tool("add", {"a": 1, "b": 2})).content[0].text == "3"  # type: ignore[union-attr]
    assert deaf.ids + inner.ids == [outer.session_id] * 2


async def test_the_hook_may_end_the_session() -> None:
    def note(event: Any) -> None:
        if event == Unresponsive(True):
            assert outer.session
            outer.session.close()

    outer = OuterFrame(URL, options=Options(unresponsive_after=0.02), on_event=note)
    async with outer.connect(FakePlace(HOST, Deaf())) as streams, ClientSession(*streams) as session:
        with pytest.raises(MCPError, match="closed before the answer"):
            await session.send_ping()
