"""`ShownFrame` in a place without a browser: its session, its size, and its end."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any

import anyio
import pytest

from mcpframe.frame.core.connection import Candidate, Options, parse_allowed_origins
from mcpframe.frame.core.errors import StateError
from mcpframe.frame.core.events import Departure
from mcpframe.frame.core.places import POPUP, Framing
from mcpframe.frame.dialects.sep.offers import HostOffer
from mcpframe.frame.dialects.sep.roles import OUTER_TRANSPORT
from mcpframe.frame.hosting.shown_frame import LARGEST, ShownFrame, bounded, find_place
from mcpframe.frame.session.session import Session
from tests.support.framed_page import FRAME, FramedPage
from tests.support.sep import SESSION

Json = Mapping[str, Any]


def opened(frame: ShownFrame, page: FramedPage, **options: Any) -> AbstractAsyncContextManager[Session]:
    candidate = Candidate(OUTER_TRANSPORT, parse_allowed_origins([FRAME]), HostOffer(session_id=SESSION))
    return frame.open(find_place(page), Framing(url=f"{FRAME}/"), candidate, options=Options(), **options)


def test_a_size_is_bounded_by_its_container() -> None:
    rows: list[tuple[Json, Json, tuple[int | None, int | None]]] = [
        ({"width": 10, "height": 20.7}, {}, (10, 20)),
        ({"width": 10**9, "height": 10**9}, {}, (LARGEST, LARGEST)),
        ({"width": 1e308, "height": 10**400}, {}, (LARGEST, LARGEST)),
        ({"width": 700, "height": 700}, {"maxWidth": 400, "maxHeight": 300}, (400, 300)),
        ({"width": 700, "height": 700}, {"width": 400, "height": 300}, (None, None)),
        ({"height": 700}, {"width": 400}, (None, 700)),
        ({"width": -1, "height": True}, {}, (None, None)),
        ({"width": "1", "height": None}, {}, (None, None)),
        ({}, {"maxHeight": "x"}, (None, None)),
    ]
    for reported, container, size in rows:
        assert bounded(reported, container) == size


async def test_the_frame_follows_reports_once_per_animation_frame_and_only_changes() -> None:
    frame, page = ShownFrame(), FramedPage()
    async with opened(frame, page):
        frame.follow({"width": 10})
        frame.follow({"height": 5, "width": "x"})
        assert frame.size == (10, 5)
        assert await page.sizes.get() == (10, 5)
        frame.follow({"width": 10, "height": 5})
        for height in range(5000, 6, -1):
            frame.follow({"width": 99, "height": height}, axes=["height"])
        frame.follow({"height": 8}, axes=[])
        assert frame.size == (99, 8)
        assert await page.sizes.get() == (10, 7)
        frame.follow({"width": 1, "height": 1})
    assert page.sizes.empty()


@pytest.mark.parametrize("once", [False, True])
async def test_another_document_ends_the_session_of_a_frame_that_is_for_one(once: bool) -> None:
    frame, page = ShownFrame(), FramedPage()
    async with opened(frame, page, once=once) as session:
        page.gone(Departure.REPLACED)  # before its handshake, a page may move on to another address
        if once:
            assert (await session.ended()).error
        page.gone(Departure.REMOVED)
        assert (await session.ended()).error


async def test_the_session_lasts_until_what_comes_before_the_removal_has_ended() -> None:
    frame, page = ShownFrame(), FramedPage()
    steps: list[str] = []

    async def say_goodbye() -> None:
        await anyio.lowlevel.checkpoint()
        assert not page.left
        steps.append("goodbye")

    with pytest.raises(LookupError):
        async with opened(frame, page, before_removal=say_goodbye) as session:
            raise LookupError
    assert steps == ["goodbye"]
    assert page.left
    assert (await session.ended()).error is None


def test_what_is_not_framed_is_neither_shown_nor_resized() -> None:
    frame = ShownFrame()
    with pytest.raises(StateError, match="Nothing is framed"):
        frame.show(True)
    frame.resize(1, 1)
    assert not frame.visible


def test_a_popup_is_a_place_only_for_pages_that_need_no_sandbox() -> None:
    with pytest.raises(StateError, match="no sandbox"):
        find_place(POPUP)
    with pytest.raises(StateError, match="pass a PlaywrightPlace"):
        find_place("#view")
