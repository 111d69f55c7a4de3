"""The outer frame over fake windows: its phases, what it grants, what it refuses, and both MCP roles on it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from typing import Any

import anyio
import pytest
from mcp import Client, ClientSession
from mcp.server.mcpserver import MCPServer
from mcp.shared.exceptions import MCPError

from mcpframe.frame.core.connection import Options, parse_allowed_origins
from mcpframe.frame.core.errors import HandshakeTimeout, OriginError, PeerGone, PermissionsDenied, StateError
from mcpframe.frame.core.events import Closed, Departure, Opened, Unresponsive, Wire
from mcpframe.frame.core.places import SANDBOX, Framing, NoHandshake, VisibilityChanged
from mcpframe.frame.core.setup import (
    Permission,
    SetupCompleted,
    SetupErrorCode,
    SetupReason,
    SetupRequired,
    SetupResult,
    SetupStarted,
    Visibility,
)
from mcpframe.frame.dialects.sep import roles as sep
from mcpframe.frame.dialects.sep.messages import phase_of
from mcpframe.frame.dialects.sep.offers import PageOffer
from mcpframe.frame.hosting import outer as outer_module
from mcpframe.frame.hosting.outer import POPUP, OuterFrame
from mcpframe.frame.serving.server import serve
from mcpframe.frame.session import setup_phase
from mcpframe.frame.session.session import open_session
from tests.support.fake_place import FakePlace
from tests.support.fake_window import FakeWindow
from tests.support.sep import FRAME, HOST, alone

URL = f"{FRAME}/pi/"
CAMERA = Permission("camera", ("setup",), required=True, purpose="Scan a code")
CLIPBOARD = Permission("clipboard-read", ("transport",))


class Inner:
    """A framed page: a server that adds, with a setup that ends as it is told."""

    def __init__(self, result: SetupResult | None = None, **offer: Any) -> None:
        self.result = result
        self.offer = PageOffer(**offer)
        self.ids: list[str] = []
        self.setups = 0
        self.started = anyio.Event()
        self.server = MCPServer("inner")
        self.server.add_tool(lambda a, b: a + b, name="add", description="add", structured_output=False)
        self.server.add_tool(self.forever, name="forever", description="wait")

    async def forever(self) -> str:
        self.started.set()
        await anyio.sleep_forever()
        raise AssertionError

    async def __call__(self, window: FakeWindow, framing: Framing) -> None:
        allowed = parse_allowed_origins([HOST])
        if phase_of(framing.url.partition("#")[2]) == "setup":
            connection = alone(sep.INNER_SETUP, allowed, offer=self.offer)
            async with open_session(connection, window) as session:
                self.setups += 1
                self.ids.append(session.id)
                if self.result:
                    setup_phase.complete(session, self.result)
                await session.ended()
            return
        async with open_session(alone(sep.INNER_TRANSPORT, allowed), window) as self.session:
            self.ids.append(self.session.id)
            await serve(self.server, *self.session.streams)


def result(**more: Any) -> SetupResult:
    return SetupResult("Pi", Visibility.REQUIRED, ephemeral_message="Ready", **more)


async def test_a_setup_then_a_session_in_fresh_windows_with_one_id() -> None:
    inner = Inner(result())
    place = FakePlace(HOST, inner)
    events: list[Any] = []
    outer = OuterFrame(f"{URL}#setup,dark", on_event=events.append)
    async with outer.setup(place) as setup:
        assert not setup.requires_visible
        assert await setup.result() == result()
    assert (outer.title, outer.visibility) == ("Pi", Visibility.REQUIRED)
    async with Client(outer.connect(place)) as client:
        assert outer.visible
        assert (await client.call_tool("add", {"a": 1, "b": 2})).content[0].text == "3"  # type: ignore[union-attr]
    first, second = place.windows
    assert (first.framing.url, second.framing.url) == (f"{URL}#setup,dark", f"{URL}#dark")
    assert (first.framing.visible, second.framing.visible) == (False, True)
    assert first.framing.name != second.framing.name
    assert (first.framing.title, second.framing.title) == (FRAME, "Pi")
    assert first.framing.sandbox == SANDBOX["standard"]
    assert first.removed
    assert second.removed
    assert inner.ids == [outer.session_id] * 2
    assert {target for window in place.windows for _, target in window.posted} == {FRAME}
    kinds = [type(event) for event in events]
    assert kinds == [SetupStarted, SetupCompleted, Closed, Opened, Closed]
    assert not outer.visible


async def test_a_page_that_needs_to_be_seen_is_shown_and_can_be_given_up() -> None:
    place = FakePlace(HOST, Inner(requires_visible_setup=True))
    events: list[Any] = []
    outer = OuterFrame(URL, on_event=events.append)
    async with outer.setup(place) as setup:
        assert setup.requires_visible
        assert outer.visible
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await setup.result()
    assert VisibilityChanged(True) in events
    (window,) = place.windows
    assert window.shown == [True]
    assert window.removed
    assert (outer.title, outer.setup_required) == ("", None)


async def test_a_setup_that_fails_says_so_and_changes_nothing() -> None:
    failed = result(error_code=SetupErrorCode.AUTH_FAILED, error_message="Wrong password")
    outer = OuterFrame(URL)
    async with outer.setup(FakePlace(HOST, Inner(failed))) as setup:
        got = await setup.result()
    assert (got.error_code, got.error_message) == (SetupErrorCode.AUTH_FAILED, "Wrong password")
    assert (outer.title, outer.visibility) == ("", Visibility.HIDDEN)


async def test_a_setup_whose_page_is_gone_raises() -> None:
    place = FakePlace(HOST, Inner())
    async with OuterFrame(URL).setup(place) as setup:
        place.windows[0].depart(Departure.REMOVED)
        with pytest.raises(PeerGone):
            await setup.result()


async def test_showing_and_hiding_are_told_once() -> None:
    place = FakePlace(HOST, Inner())
    events: list[Any] = []
    outer = OuterFrame(URL, on_event=events.append)
    for call in (outer.show, outer.hide):
        with pytest.raises(StateError, match="Nothing is framed"):
            call()
    async with outer.connect(place):
        assert not outer.visible
        outer.show()
        outer.show()
        assert outer.visible
        outer.hide()
    changes = [event.visible for event in events if isinstance(event, VisibilityChanged)]
    assert changes == [True, False]
    assert place.windows[0].shown == [True, True, False]


async def test_a_prepared_page_is_the_one_that_is_connected_to() -> None:
    inner = Inner()
    place = FakePlace(HOST, inner)
    events: list[Any] = []
    opened = anyio.Event()
    outer = OuterFrame(URL, visibility="required", on_event=lambda event: (events.append(event), opened.set()))
    async with outer.prepare(place):
        await opened.wait()
        assert not outer.visible
        with pytest.raises(StateError, match="already framed"):
            async with outer.setup(place):
                raise AssertionError
        posted = len(place.windows[0].posted)
        async with Client(outer.connect(place)) as client:
            assert outer.visible
            assert (await client.call_tool("add", {"a": 1, "b": 2})).content[0].text == "3"  # type: ignore[union-attr]
        assert len(place.windows[0].posted) > posted
        assert place.windows[0].removed
        async with outer.connect(place):
            assert len(place.windows) == 2, "it is loaded anew"
    assert [type(event) for event in events] == [Opened, VisibilityChanged, Closed, Opened, Closed]
    assert inner.ids == [outer.session_id] * 2


async def test_a_prepared_page_that_is_not_used_is_removed() -> None:
    place = FakePlace(HOST, Inner())
    outer = OuterFrame(URL)
    async with outer.prepare(place):
        [window] = place.windows
    assert window.removed
    async with outer.connect(place):
        assert len(place.windows) == 2
    with pytest.raises(StateError, match="popup"):
        async with outer.prepare(POPUP):
            raise AssertionError


async def test_what_a_prepared_page_fails_with_is_raised_once_it_is_used() -> None:
    async def silent(window: FakeWindow, framing: Framing) -> None:
        await anyio.sleep_forever()

    place = FakePlace(HOST, silent)
    ended = anyio.Event()
    outer = OuterFrame(URL, options=Options(handshake_timeout=0.01), on_event=lambda _: ended.set())
    async with outer.prepare(place):
        await ended.wait()
        with pytest.raises(HandshakeTimeout):
            async with outer.connect(place):
                raise AssertionError
    assert place.windows[0].removed
    async with OuterFrame(URL).prepare(place):
        pass


async def test_a_prepared_page_that_has_gone_is_told_to_who_connects() -> None:
    place = FakePlace(HOST, Inner())
    events: list[Any] = []
    opened = anyio.Event()
    outer = OuterFrame(URL, on_event=lambda event: (events.append(event), opened.set()))
    async with outer.prepare(place):
        await opened.wait()
        place.windows[0].depart(Departure.REMOVED)
        with pytest.raises(PeerGone):
            async with outer.connect(place):
                raise AssertionError


async def test_one_phase_at_a_time() -> None:
    place = FakePlace(HOST, Inner())
    outer = OuterFrame(URL)
    async with outer.connect(place):
        for phase in (outer.setup, outer.connect):
            with pytest.raises(StateError, match="already framed"):
                async with phase(place):
                    raise AssertionError
    async with outer.connect(place):
        pass
    assert len(place.windows) == 2


@pytest.mark.parametrize("departure", list(Departure))
async def test_a_frame_that_goes_away_in_mid_call_fails_the_call(departure: Departure) -> None:
    inner = Inner()
    place = FakePlace(HOST, inner)
    outer = OuterFrame(URL)
    async with Client(outer.connect(place)) as client:
        call = asyncio.create_task(client.call_tool("forever", {}))
        await inner.started.wait()
        place.windows[0].depart(departure)
        with pytest.raises(MCPError, match="session is over"):
            await call
    async with Client(outer.connect(place)) as client:
        assert await client.list_tools()


# Permissions: only what was granted, and only for its phase


async def set_up(outer: OuterFrame, place: FakePlace) -> tuple[Permission, ...]:
    async with outer.setup(place) as setup:
        await setup.result()
        return setup.permissions


async def test_the_host_decides_before_the_page_learns_anything() -> None:
    inner = Inner(result(), permissions=(CAMERA, CLIPBOARD))
    place = FakePlace(HOST, inner)
    asked: list[tuple[Permission, ...]] = []

    async def decide(wanted: tuple[Permission, ...]) -> Iterable[str]:
        assert place.windows[-1].removed
        assert place.windows[-1].posted == []
        asked.append(wanted)
        return ["camera"]

    events: list[Any] = []
    outer = OuterFrame(URL, on_permissions=decide, on_event=events.append)
    await set_up(outer, place)
    await set_up(outer, place)
    assert asked == [(CAMERA, CLIPBOARD)]
    assert outer.permissions == {"camera"}
    assert [window.framing.allow for window in place.windows] == ["", "camera", "camera"]
    assert inner.setups == 2
    assert [type(event) for event in events] == [SetupStarted, SetupCompleted, Closed] * 2


async def test_nothing_is_granted_where_nobody_is_asked() -> None:
    place = FakePlace(HOST, Inner(result(), permissions=(CLIPBOARD,)))
    outer = OuterFrame(URL)
    await set_up(outer, place)
    async with outer.connect(place):
        pass
    assert [window.framing.allow for window in place.windows] == ["", ""]


async def test_what_was_not_asked_for_is_not_granted() -> None:
    outer = OuterFrame(URL, on_permissions=lambda wanted: ["camera", "microphone"])
    with pytest.raises(StateError, match="microphone"):
        await set_up(outer, FakePlace(HOST, Inner(result(), permissions=(CAMERA,))))
    assert outer.permissions == set()


async def test_a_page_cannot_smuggle_a_permission_into_the_name_of_another() -> None:
    name = "camera *; microphone *"
    sly = Permission(name, ("setup",), required=True)
    outer = OuterFrame(URL, on_permissions=lambda wanted: [p.name for p in wanted])
    with pytest.raises(OriginError, match="not the name of a permission"):
        await set_up(outer, FakePlace(HOST, Inner(result(), permissions=(sly,))))
    assert outer.permissions == set()


async def test_a_page_that_asks_for_more_each_time_is_stopped() -> None:
    inner = Inner(result())

    async def page(window: FakeWindow, framing: Framing) -> None:
        inner.offer = PageOffer(permissions=(Permission(f"feature-{len(place.windows)}"),))
        await inner(window, framing)

    place = FakePlace(HOST, page)
    outer = OuterFrame(URL, on_permissions=lambda wanted: [p.name for p in wanted])
    with pytest.raises(PermissionsDenied, match="whenever it is loaded"):
        await set_up(outer, place)
    assert inner.setups == 0
    assert len(place.windows) == 3


# The setup that is needed again


@pytest.mark.parametrize("can_continue", [True, False])
async def test_a_session_may_need_its_setup_again(can_continue: bool) -> None:
    wanted = SetupRequired(SetupReason.AUTH_EXPIRED, "Sign in again.", can_continue)
    inner = Inner(result())
    place = FakePlace(HOST, inner)
    asked = anyio.Event()
    outer = OuterFrame(URL, on_event=lambda event: asked.set() if event == wanted else None)
    async with Client(outer.connect(place)) as client:
        setup_phase.require(inner.session, wanted.reason, wanted.message, wanted.can_continue)
        await asked.wait()
        assert outer.setup_required == wanted
        assert await client.list_tools()  # what is under way may end
    if can_continue:
        async with outer.connect(place):
            pass
    else:
        with pytest.raises(StateError, match="Sign in again"):
            async with outer.connect(place):
                raise AssertionError
    await set_up(outer, place)
    assert outer.setup_required is None
    async with outer.connect(place):
        pass


async def test_places_that_cannot_work() -> None:
    with pytest.raises(StateError, match="PlaywrightPlace"):
        async with OuterFrame(URL).connect("#tools"):
            raise AssertionError
    with pytest.raises(OriginError, match="popup"):
        async with OuterFrame(URL, sandbox="strict", opaque=True).connect(POPUP):
            raise AssertionError


async def test_the_wire_is_told_in_both_phases() -> None:
    place = FakePlace(HOST, Inner(SetupResult("A page")))
    wires: list[Wire] = []
    outer = OuterFrame(URL, on_wire=wires.append)
    async with outer.setup(place) as setup:
        await setup.result()
    kinds = [json.loads(wire.text or "")["type"] for wire in wires]
    assert kinds == ["MCP_SETUP_HANDSHAKE", "MCP_SETUP_HANDSHAKE_REPLY", "MCP_SETUP_COMPLETE"]
    wires.clear()
    async with Client(outer.connect(place)) as client:
        await client.call_tool("add", {"a": 1, "b": 2})
    kinds = [json.loads(wire.text or "")["type"] for wire in wires]
    assert kinds[:3] == ["MCP_TRANSPORT_HANDSHAKE", "MCP_TRANSPORT_HANDSHAKE_REPLY", "MCP_TRANSPORT_ACCEPTED"]
    assert set(kinds[3:]) == {"MCP_MESSAGE"}
    assert {(wire.direction, wire.origin) for wire in wires} == {("sent", FRAME), ("received", FRAME)}


async def test_a_page_that_has_loaded_and_does_not_call_is_hinted_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outer_module, "HINT_AFTER", 0)
    hinted = anyio.Event()
    events: list[Any] = []

    def note(event: Any) -> None:
        events.append(event)
        hinted.set()

    async def silent(window: FakeWindow, framing: Framing) -> None:
        assert framing.on_load is not None
        framing.on_load()
        await hinted.wait()

    outer = OuterFrame(URL, on_event=note, options=Options(handshake_timeout=60))
    connecting = asyncio.create_task(outer.connect(FakePlace(HOST, silent)).__aenter__())
    await hinted.wait()
    assert [type(event) for event in events] == [NoHandshake]
    assert URL in events[0].hint
    connecting.cancel()
    await asyncio.wait([connecting])


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
