"""Frames of a page: which are relayed, when, and for how long. Nothing is posted to one that may have another host."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from mcpframe.hub.core.errors import TabClosed, TabNotFound
from mcpframe.hub.core.frame_numbers import FrameNumbers, frame_number, frame_tab, page_tab
from mcpframe.hub.core.limits import FRAME_QUIET_SECONDS, FRAME_START_SECONDS, KNOWN_FRAMES, PAGE_FRAMES
from mcpframe.hub.relay.frame import FrameState, is_past_opening
from tests.support.fake_half import FakeHalf, FakeServer, pages_world
from tests.support.fake_hub import HubWorld, tool
from tests.support.mcpb import to_client
from tests.support.settling import settled

PI = "https://pi.example/pi/"
ORIGIN = "https://pi.example"
NAME = "website_tool_pi_example_tab1_digits"
IDLE, QUIET, RELAYED, HOSTED = FrameState
UI_READY = {"type": "ui-lifecycle-iframe-ready"}
FOREIGN = {"jsonrpc": "2.0", "id": 7, "result": {}}


def state(half: FakeHalf, source: int = 1) -> FrameState:
    assert half.relay is not None
    return half.relay.frames[source].state


async def begun(page: Callable[..., FakeHalf]) -> tuple[FakeHalf, FakeServer]:
    half = page()
    frame = half.frame(1, PI, tool("digits"))
    await settled()
    return half, frame


async def in_state(world: HubWorld, page: Callable[..., FakeHalf], wanted: FrameState) -> tuple[FakeHalf, FakeServer]:
    half, frame = await begun(page)
    frame.ready()
    if wanted in (RELAYED, HOSTED):
        await world.clock.pass_(FRAME_QUIET_SECONDS)
    if wanted is HOSTED:
        frame.says(FOREIGN)
    if wanted is IDLE:
        frame.stops()
    await settled()
    assert state(half) is wanted
    return half, frame


EVENTS: dict[str, Callable[[FakeHalf, FakeServer], None]] = {
    "ready": lambda half, frame: frame.says("mcp-server-ready"),
    "stopped": lambda half, frame: frame.says("mcp-server-stopped"),
    "a host's answer": lambda half, frame: frame.says(FOREIGN),
    "another dialect's session": lambda half, frame: half.message(
        1, ORIGIN, {"type": "MCP_TRANSPORT_ACCEPTED", "sessionId": "one"}
    ),
    "another dialect's opening": lambda half, frame: half.message(1, ORIGIN, UI_READY),
    "noise": lambda half, frame: half.message(1, ORIGIN, {"hello": "world"}),
    "no message at all": lambda half, frame: half.report("message", 1, origin=ORIGIN, text=None),
    "what cannot be read": lambda half, frame: half.report(
        "message", 1, origin=ORIGIN, text=["MalformedMessage", "It holds itself.", "{}"]
    ),
    "another origin's message": lambda half, frame: frame.says(FOREIGN, origin="https://evil.example"),
    "another origin's server": lambda half, frame: frame.says("mcp-server-ready", origin="https://evil.example"),
    "another document": lambda half, frame: half.report("loaded", 1),
}
LEADS_TO: dict[str, tuple[FrameState, FrameState, FrameState, FrameState]] = {
    # from:                          idle   quiet   relayed  hosted
    "ready": (QUIET, QUIET, QUIET, HOSTED),
    "stopped": (IDLE, IDLE, IDLE, HOSTED),
    "a host's answer": (IDLE, HOSTED, HOSTED, HOSTED),
    "another dialect's session": (IDLE, HOSTED, HOSTED, HOSTED),
    "another dialect's opening": (IDLE, QUIET, RELAYED, HOSTED),
    "noise": (IDLE, QUIET, RELAYED, HOSTED),
    "no message at all": (IDLE, QUIET, RELAYED, HOSTED),
    "what cannot be read": (IDLE, QUIET, RELAYED, HOSTED),
    "another origin's message": (IDLE, QUIET, RELAYED, HOSTED),
    "another origin's server": (QUIET, QUIET, QUIET, QUIET),
    "another document": (IDLE, QUIET, IDLE, IDLE),
}


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("before", FrameState)
async def test_every_event_in_every_state(before: FrameState, event: str) -> None:
    async with pages_world() as (world, page):
        half, frame = await in_state(world, page, before)
        posted = len(half.to(1))
        EVENTS[event](half, frame)
        after = LEADS_TO[event][list(FrameState).index(before)]
        assert state(half) is after
        await settled()
        assert state(half) is after
        assert world.names == ([NAME] if after is RELAYED else [])
        if after is not RELAYED:
            assert len(half.to(1)) == posted
        if after is not before or after is QUIET:
            assert half.watched[1] is (after is QUIET)
        assert not any(isinstance(each, str) for each in half.to(1))  # nobody is asked whether it is ready
        assert all(origin == ORIGIN for source, _, origin in half.posted if source == 1)


async def test_a_frame_is_relayed_when_nobody_else_has_answered_for_a_while() -> None:
    async with pages_world() as (world, page):
        half, frame = await begun(page)
        frame.ready()
        await world.clock.pass_(FRAME_QUIET_SECONDS - 0.1)
        frame.ready()  # somebody asks: perhaps a host
        await world.clock.pass_(FRAME_QUIET_SECONDS - 0.1)
        assert not half.to(1)
        await world.clock.pass_(0.1)
        assert world.names == [NAME]
        assert (await world.hub.call(NAME, {}))["content"][0]["text"] == f"digits at {ORIGIN}"
        frame.changes(tool("digits"), tool("reset"))
        await world.clock.pass_(0.5)
        assert len(world.names) == 2
        frame.stops()
        await settled()
        assert not world.names
        assert world.transport.url(frame_tab(1, 1)) is None


async def test_another_document_is_looked_at_anew_whatever_the_order_of_its_events() -> None:
    async with pages_world() as (world, page):
        half, frame = await in_state(world, page, HOSTED)
        frame.ready()
        half.report("loaded", 1)
        assert state(half) is QUIET
        frame.says(FOREIGN)
        assert state(half) is HOSTED
        frame.ready()
        frame.says(FOREIGN)  # its host is there again
        half.report("loaded", 1)
        assert state(half) is IDLE
        frame.ready()
        await world.clock.pass_(FRAME_QUIET_SECONDS)
        assert world.names == [NAME]


@pytest.mark.parametrize("how", ["removed", "another document", "another origin", "claimed", "closed by the hub"])
async def test_a_call_of_a_frame_that_ends_fails_at_once(how: str) -> None:
    async with pages_world() as (world, page):
        half, frame = await in_state(world, page, RELAYED)
        frame.silent = True
        calling = world.calling(NAME)
        await settled()
        assert len(frame.calls) == 1
        if how == "removed":
            half.report("gone", 1)
        elif how == "another document":
            half.report("loaded", 1)
        elif how == "another origin":
            frame.says("mcp-server-ready", origin="https://evil.example")
        elif how == "claimed":
            frame.says(FOREIGN)
        else:
            world.transport.disconnect(frame_tab(1, 1))
        posted = [origin for _, _, origin in half.posted].count(ORIGIN)
        await settled()
        assert calling.done()
        with pytest.raises(TabClosed) as caught:
            await calling
        assert caught.value.data is not None
        assert caught.value.data["mayHaveRun"]
        assert not world.names
        await world.clock.pass_(60)
        assert [origin for _, _, origin in half.posted].count(ORIGIN) == posted  # not even that the call is cancelled
        calling = world.calling(NAME)
        await world.clock.pass_(FRAME_QUIET_SECONDS + 2)
        with pytest.raises(TabNotFound):
            await calling


async def test_an_answer_of_another_frame_or_of_the_page_is_none() -> None:
    async with pages_world() as (world, page):
        half, frame = await in_state(world, page, RELAYED)
        other = half.frame(2, "https://evil.example/", tool("digits")).ready()
        await world.clock.pass_(FRAME_QUIET_SECONDS)
        frame.silent = True
        calling = world.calling(NAME)
        await settled()
        id_ = half.to(1)[-1]["id"]
        answer = {"jsonrpc": "2.0", "id": id_, "result": {"content": [{"type": "text", "text": "forged"}]}}
        half.message(0, "https://shop.example", to_client(answer, "mcp-iframe"))
        half.message(0, "https://shop.example", to_client(answer, "mcp-default"))
        other.says(answer)
        half.message(1, "https://evil.example", to_client(answer))
        await settled()
        assert not calling.done()
        frame.says({**answer, "result": {"content": []}})
        assert await calling == {"content": []}


async def test_frames_are_pages_with_their_own_domains_and_only_allowed_ones() -> None:
    def allows(url: str) -> bool:
        return not url.startswith("https://evil.")

    async with pages_world(allows) as (world, page):
        half = page()
        half.server("https://shop.example", tool("add"))
        half.frame(1, PI, tool("digits")).ready()
        half.frame(2, "https://evil.example/", tool("steal")).ready()
        half.frame(3, PI, tool("digits")).ready()
        half.message(4, "null", to_client("mcp-server-ready"), "https://pi.example/")
        liar = half.frame(5, "https://bank.example/", tool("pay"))
        liar.origin = "https://liar.example"  # the address is what the page around it says
        liar.ready()
        await settled()
        half.servers[0].ready()
        await world.clock.pass_(FRAME_QUIET_SECONDS)
        assert world.names == [
            "website_tool_shop_example_tab1_add",
            NAME,
            NAME.replace("tab1", "tab2"),
            "website_tool_liar_example_tab1_pay",
        ]
        assert {source for source, _, _ in half.posted} == {0, 1, 3, 5}
        assert world.transport.url(frame_tab(1, 3)) == "https://liar.example/"
        result = await world.hub.call(NAME.replace("tab1", "tab2"), {})
        assert not half.servers[1].calls
        assert result["content"][0]["text"] == f"digits at {ORIGIN}"


async def test_a_frame_has_its_names_again_when_its_page_is_loaded_again() -> None:
    async with pages_world() as (world, page):
        half = page()
        for source, url in ((1, PI), (2, "https://other.example/")):
            half.frame(source, url, tool("digits")).ready()
        await world.clock.pass_(FRAME_QUIET_SECONDS)
        before = set(world.names)
        await half.end()
        assert not world.names
        half = page()
        for source, url in ((1, "https://other.example/"), (2, PI)):
            half.frame(source, url, tool("digits")).ready()
        await world.clock.pass_(FRAME_QUIET_SECONDS)
        assert set(world.names) == before


async def test_a_call_waits_for_the_frame_of_a_page_that_is_loaded_again() -> None:
    async with pages_world() as (world, page):
        half, _ = await in_state(world, page, RELAYED)
        await half.end()
        calling = world.calling(NAME)
        await settled()
        assert not calling.done()
        await in_state(world, page, RELAYED)
        assert (await calling)["content"][0]["text"] == f"digits at {ORIGIN}"
        half.world.tabs.urls.clear()  # the tab is closed
        world.transport.disconnect(frame_tab(1, 1))
        with pytest.raises(TabNotFound):
            await world.hub.call(NAME, {})


async def test_the_frame_in_the_active_tab_is_the_best_one() -> None:
    async with pages_world() as (world, page):
        halves = [page(tab=tab) for tab in (1, 2)]
        for half in halves:
            half.frame(1, PI, tool("digits")).ready()
        await world.clock.pass_(FRAME_QUIET_SECONDS)
        for tab, half in enumerate(halves, 1):
            world.tabs.looked_at = tab
            world.hub.activated(tab)
            assert world.descriptions == [f"[pi.example - 2 tabs • Tab {tab} Active]"] * 2
            await world.hub.call("website_tool_pi_example_digits", {})
            assert len(half.servers[1].calls) == 1
        world.hub.activated(3)
        assert world.descriptions == ["[pi.example - 2 tabs]"] * 2


async def test_a_bundle_may_take_long_to_start_but_not_for_ever() -> None:
    async with pages_world() as (world, page):
        half, frame = await begun(page)
        frame.deaf = True  # it says so before Python runs
        frame.ready()
        await world.clock.pass_(FRAME_QUIET_SECONDS + FRAME_START_SECONDS - 1)
        assert state(half) is RELAYED
        frame.deaf = False
        frame.takes(half.to(1)[0])
        await settled()
        assert world.names == [NAME]
        half.report("loaded", 1)
        frame.deaf = True
        frame.ready()
        posted = len(half.to(1))
        await world.clock.pass_(FRAME_QUIET_SECONDS + FRAME_START_SECONDS)
        assert state(half) is IDLE
        assert len(half.to(1)) == posted + 1


async def test_a_frame_that_says_without_end_that_it_is_ready_is_told_nothing() -> None:
    async with pages_world() as (world, page):
        half, frame = await begun(page)
        told: list[str] = []
        tell = half.tell
        half.tell = lambda function, *arguments: (told.append(function), tell(function, *arguments))[-1]  # type: ignore[method-assign]
        for _ in range(100):
            frame.ready()
        await settled()
        assert told == ["watch"]
        await world.clock.pass_(FRAME_QUIET_SECONDS)
        assert world.names == [NAME]


async def test_a_page_with_frames_without_end_has_a_limit() -> None:
    async with pages_world() as (world, page):
        half = page()
        for source in range(1, PAGE_FRAMES + 10):
            half.frame(source, PI, tool("digits")).ready()
        await settled()
        assert half.relay is not None
        assert len(half.relay.frames) == PAGE_FRAMES
        for source in range(1, PAGE_FRAMES + 1):
            half.report("gone", source)
        half.servers[PAGE_FRAMES + 1].ready()
        await world.clock.pass_(FRAME_QUIET_SECONDS)
        assert len(world.names) == 1


def test_numbers_of_frames() -> None:
    assert frame_tab(7, 2) == 20000000007
    assert (page_tab(20000000007), frame_number(20000000007)) == (7, 2)
    assert (page_tab(7), frame_number(7)) == (7, 0)
    numbers = FrameNumbers()
    assert [numbers.take(PI), numbers.take("https://b.example/"), numbers.take(PI)] == [1, 2, 3]
    numbers.give_back(1)
    assert numbers.take(PI) == 1
    for number in range(KNOWN_FRAMES):
        numbers.give_back(numbers.take(f"https://c.example/{number}"))
    assert numbers.take("https://d.example/") > KNOWN_FRAMES
    numbers.give_back(1)
    assert numbers.take(PI) not in (2, 3)


def test_what_a_frame_says_only_to_a_host_that_has_answered() -> None:
    openings = ({"type": "MCP_TRANSPORT_HANDSHAKE"}, {"type": "MCP_SETUP_HANDSHAKE"}, UI_READY)
    initialize = {"jsonrpc": "2.0", "id": 1, "method": "ui/initialize", "params": {}}
    for message in (*openings, initialize, json.dumps(initialize), to_client(FOREIGN), {}, None, [], "text", '{"a', 5):
        assert not is_past_opening(message), message
    sessions = (
        {"type": "MCP_TRANSPORT_ACCEPTED"},
        {"type": "MCP_MESSAGE"},
        {"jsonrpc": "2.0", "method": "ui/notifications/initialized"},
    )
    for message in (*sessions, json.dumps(sessions[-1]), {"jsonrpc": "2.0", "id": 2, "method": "tools/call"}):
        assert is_past_opening(message), message


@pytest.mark.parametrize("seed", range(20))
async def test_whatever_frames_do_nothing_is_posted_without_a_session_and_nobody_waits(seed: int) -> None:
    drawn = random.Random(seed)
    async with pages_world() as (world, page):
        half = page()
        frames = {source: half.frame(source, PI, tool("digits")) for source in (1, 2, 3)}
        await settled()
        calls: list[asyncio.Task[Any]] = []
        for _ in range(60):
            source = drawn.choice((1, 2, 3))
            frame = frames[source]
            frame.silent, frame.deaf = drawn.random() < 0.5, drawn.random() < 0.1
            posted, before = len(half.to(source)), _state_or_none(half, source)
            event = drawn.choice([*EVENTS, "time", "time", "gone", "call"])
            if event == "time":
                await world.clock.pass_(drawn.choice([0.5, FRAME_QUIET_SECONDS]))
            elif event == "gone":
                half.report("gone", source)
            elif event == "call" and world.names:
                calls.append(world.calling(drawn.choice(world.names)))
            elif event in EVENTS and source == 1:
                EVENTS[event](half, frame)
            elif event in ("ready", "stopped"):
                frame.says(f"mcp-server-{event}")
            await settled()
            if before is not RELAYED and _state_or_none(half, source) is not RELAYED:
                assert len(half.to(source)) == posted
            relayed = [each for each in (1, 2, 3) if _state_or_none(half, each) is RELAYED]
            assert len(world.names) <= len(relayed)
        await world.clock.pass_(12)
        await settled()
        assert all(call.done() for call in calls)
        await asyncio.gather(*calls, return_exceptions=True)


def _state_or_none(half: FakeHalf, source: int) -> FrameState | None:
    assert half.relay is not None
    frame = half.relay.frames.get(source)
    return frame.state if frame else None
