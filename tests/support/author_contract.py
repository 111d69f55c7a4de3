"""The contract of an author's functions and tools in a frame, for servers of any SDK.

The suites that import this have the fixture `kind`: see `tests.support.server_kinds`.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from mcpframe.frame.core.allowed_origins import parse_allowed_origins
from mcpframe.frame.core.connection import Connection
from mcpframe.frame.core.events import Departure
from mcpframe.frame.core.setup import Permission, SetupErrorCode, SetupRequired, SetupResult, Visibility
from mcpframe.frame.dialects.sep import messages as sep_messages
from mcpframe.frame.dialects.sep import roles as sep
from mcpframe.frame.session import setup_phase
from mcpframe.frame.session.lines import PlainMessages
from mcpframe.frame.session.session import Session, open_session
from tests.support.fake_window import FakeWindow
from tests.support.page_rig import Rig, log_of
from tests.support.plain_client import PlainClient
from tests.support.sep import FRAME, HOST, SESSION, alone

ASSETS = {"base": "assets-1/", "files": ["page.html"]}
SERVER = """
    import asyncio
    from mcpframe import FrameServer, Permission, Setup, SetupCancelled

    server = FrameServer("test", allowed_origins=["https://chat.example"])
    log = []

    @server.setup(visible=True, permissions=[Permission("camera", purpose="To scan")])
    async def setup(session):
        log.append((session.id, session.origin, session.phase, server.session is session))
        try:
            await session.page.show("page.html")
            event = await session.page.element("#go").event("click")
            await session.storage.set("name", event.key)
            return Setup(title="Set up", visibility="required", ephemeral_message="Done")
        finally:
            log.append("left")

    @server.ui
    async def ui(session):
        await session.page.show("page.html")
        session.page.element("#go").on("click", lambda: log.append("clicked"))
        try:
            await session.closed.wait()
        finally:
            log.append("ui ended")

    @server.tool()
    async def name() -> str:
        return await server.session.storage.get("name")

    @server.tool()
    async def again() -> None:
        await server.session.require_setup("CONFIG_CHANGED", "Set me up", can_continue=True)

    @server.tool()
    async def heard() -> str:
        return repr(log)

    @server.tool()
    async def draw() -> bool:
        page = server.session.page
        if page.visible:
            page.element("#go").text = "Drawn"
        return page.visible
"""


@asynccontextmanager
async def client_of(connection: Connection, window: FakeWindow, **hooks: Any) -> AsyncIterator[PlainClient]:
    """Open a session and do MCP's handshake."""
    async with open_session(connection, window, messages=PlainMessages(), **hooks) as session:
        client = PlainClient(*session.streams)
        await client.initialize()
        yield client


@asynccontextmanager
async def connected(rig: Rig, **hooks: Any) -> AsyncIterator[PlainClient]:
    """Connect to the page that boots."""
    async with client_of(rig.outer_connection(), rig.outer, **hooks) as client:
        yield client


def setting_up(rig: Rig) -> AbstractAsyncContextManager[Session]:
    """Begin the setup of the page that boots."""
    return open_session(rig.outer_connection(sep.OUTER_SETUP), rig.outer, messages=PlainMessages())


async def until_shown(rig: Rig) -> None:
    while rig.browser.document.documentElement.querySelector("#go") is None or not rig.browser.listeners:
        await anyio.lowlevel.checkpoint()


async def test_a_visible_setup_is_done_by_the_person(rig: Rig) -> None:
    rig.write(SERVER, "authored_a")
    rig.fragment = "#setup"
    task = rig.start("authored_a:server", assets=ASSETS)
    async with setting_up(rig) as session:
        assert isinstance(session.started, setup_phase.SetupStarted)
        assert session.started.requires_visible
        assert session.started.permissions == (Permission("camera", purpose="To scan"),)
        await until_shown(rig)
        assert rig.loader.last_words
        words, target = rig.loader.last_words
        failed = sep_messages.read_setup_complete(words)
        assert (failed.error_code, target) == (SetupErrorCode.CONFIG_ERROR, HOST)
        rig.browser.happen("#go", "click", key="Ada")
        assert await setup_phase.result_of(session) == SetupResult(
            "Set up", Visibility.REQUIRED, ephemeral_message="Done"
        )
    await task
    assert log_of("authored_a") == [(SESSION, HOST, "setup", True), "left"]
    assert await rig.records.get(SESSION, "name") == '"Ada"'
    assert rig.browser.listeners == []
    states = [json.loads(call[1])["state"] for call in rig.loader.calls if call[0] == "ready"]
    assert states == ["waiting", "setting up", "set up"]
    assert rig.loader.last_words is None


async def test_an_invisible_setup_needs_no_page(rig: Rig) -> None:
    rig.write(
        """
        from mcpframe import FrameServer, Setup

        server = FrameServer("test", allowed_origins=["https://chat.example"])

        @server.setup(visible=False)
        async def setup(session):
            await session.storage.set("ready", True)
            return Setup(ephemeral_message="Ready")
        """,
        "authored_h",
    )
    rig.fragment = "#setup"
    task = rig.start("authored_h:server")
    async with setting_up(rig) as session:
        assert isinstance(session.started, setup_phase.SetupStarted)
        assert not session.started.requires_visible
        assert await setup_phase.result_of(session) == SetupResult("Test", ephemeral_message="Ready")
    await task
    assert await rig.records.get(SESSION, "ready") == "true"


async def test_a_setup_whose_host_goes_away_is_cleaned_up(rig: Rig) -> None:
    rig.write(SERVER, "authored_b")
    rig.fragment = "#setup"
    task = rig.start("authored_b:server", assets=ASSETS)
    async with setting_up(rig):
        await until_shown(rig)
        rig.inner.peer_departs(Departure.REMOVED)
        await task
    assert log_of("authored_b")[-1] == "left"
    assert rig.browser.listeners == []
    assert rig.loader.last[0] == "fail"
    assert all(message["type"] == "MCP_SETUP_HANDSHAKE" for message, _ in rig.inner.posted)


async def test_a_setup_with_a_deadline_tells_the_host_when_it_is_missed(rig: Rig) -> None:
    rig.write(SERVER, "authored_c")
    rig.fragment = "#setup"
    task = rig.start("authored_c:server", assets=ASSETS, options={"setup_timeout": 0.1})
    async with setting_up(rig) as session:
        result = await setup_phase.result_of(session)
    assert (result.error_code, result.error_message) == (
        SetupErrorCode.TIMEOUT,
        "The setup was not completed in time.",
    )
    await task
    assert log_of("authored_c")[-1] == "left"
    assert rig.loader.last[:2] == ("fail", "The setup was not completed in time.")


async def test_a_setup_that_raises_is_reported_and_shown(rig: Rig) -> None:
    rig.write(SERVER.replace('"page.html"', '"absent.html"'), "authored_d")
    rig.fragment = "#setup"
    task = rig.start("authored_d:server", assets=ASSETS)
    async with setting_up(rig) as session:
        result = await setup_phase.result_of(session)
    assert result.error_code == SetupErrorCode.CONFIG_ERROR
    assert "'absent.html' is not an asset of this page" in (result.error_message or "")
    await task
    kind, title, detail = rig.loader.last
    assert kind == "fail"
    assert "absent.html" in title
    assert "Traceback" in detail


async def test_ui_runs_beside_the_tools_and_ends_with_the_session(rig: Rig) -> None:
    rig.write(SERVER, "authored_e")
    task = rig.start("authored_e:server", assets=ASSETS)
    heard: list[Any] = []
    async with connected(rig, on_event=heard.append) as client:
        await until_shown(rig)
        rig.browser.happen("#go", "click")
        assert (await client.call("heard"))["content"][0]["text"] == "['clicked']"
        await client.call("again")
    (required,) = [event for event in heard if isinstance(event, SetupRequired)]
    assert (required.reason, required.message, required.can_continue) == ("CONFIG_CHANGED", "Set me up", True)
    rig.inner.peer_departs(Departure.REMOVED)
    await task
    assert log_of("authored_e") == ["clicked", "ui ended"]
    assert rig.browser.listeners == []


async def test_a_page_whose_files_are_late_is_not_visible_to_a_tool(rig: Rig) -> None:
    rig.write(SERVER, "authored_late")
    rig.browser.show(True)
    rig.browser.reachable.clear()
    task = rig.start("authored_late:server", assets=ASSETS)
    async with connected(rig) as client:
        assert (await client.call("draw"))["structuredContent"] == {"result": False}
        rig.browser.reachable.set()
        await until_shown(rig)
        assert (await client.call("draw"))["structuredContent"] == {"result": True}
    task.cancel()
    await asyncio.wait([task])
    button = rig.browser.document.documentElement.querySelector("#go")
    assert button is not None
    assert button.textContent == "Drawn"


async def test_ui_that_fails_is_shown_and_the_tools_go_on(rig: Rig) -> None:
    rig.write(SERVER.replace('element("#go").on(', 'element("#absent").on('), "authored_f")
    task = rig.start("authored_f:server", assets=ASSETS)
    await rig.records.set(SESSION, "name", '"kept"')
    async with connected(rig) as client:
        assert (await client.call("name"))["structuredContent"] == {"result": "kept"}
    kinds = [call for call in rig.loader.calls if call[0] == "problem"]
    assert "no element '#absent'" in kinds[0][1]
    assert "Traceback" in kinds[0][2]
    task.cancel()
    await asyncio.wait([task])


@pytest.mark.parametrize("raised", ["SystemExit(3)", "asyncio.CancelledError()", "BaseException()"])
async def test_whatever_ui_raises_is_shown_and_the_tools_go_on(rig: Rig, raised: str) -> None:
    name = f"authored_h{len(raised)}"
    rig.write(SERVER.replace("await session.closed.wait()", f"raise {raised}"), name)
    task = rig.start(f"{name}:server", assets=ASSETS)
    await rig.records.set(SESSION, "name", '"kept"')
    async with connected(rig) as client:
        assert (await client.call("name"))["structuredContent"] == {"result": "kept"}
    [problem] = [call for call in rig.loader.calls if call[0] == "problem"]
    assert raised.partition("(")[0].rpartition(".")[2] in problem[1]
    task.cancel()
    await asyncio.wait([task])


async def test_a_server_that_asks_for_no_session_gets_none(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("mcpframe.frame.boot.author_page.open_storage", opened.append)
    source = SERVER.partition("@server.setup")[0] + "@server.tool()\n    def one() -> int:\n        return 1\n"
    rig.write(source, "authored_g")
    task = rig.start("authored_g:server")
    async with connected(rig) as client:
        assert (await client.call("one"))["structuredContent"] == {"result": 1}
    assert opened == []
    task.cancel()
    await asyncio.wait([task])


# Several peers at once

ONE, TWO = "session-of-the-first-peer", "session-of-the-second-peer"
PEERS = """
    import asyncio
    from contextlib import AbstractAsyncContextManager, asynccontextmanager
    import anyio
    from mcpframe import FrameServer, Setup

    @asynccontextmanager
    async def lifespan(_):
        lived.append(server.session.id)
        yield

    server = FrameServer("test", allowed_origins=["https://chat.example"], lifespan=lifespan)
    lived, shown, clicks, late, sessions = [], [], [], {}, {}
    arrived = []
    both = asyncio.Event()

    @server.ui
    async def ui(session):
        shown.append((session.id, server.session is session))
        session.page.element("#mcpframe-app").on("click", lambda event: clicks.append((event.key, server.session.id)))

    @server.setup(visible=False)
    async def setup(session):
        await asyncio.sleep(0)
        assert server.session is session
        return Setup(title=session.id)

    async def ask():
        await asyncio.sleep(0)
        return server.session.id

    @server.tool()
    async def ids() -> list[str]:
        before = server.session.id
        sessions[before] = server.session
        arrived.append(before)
        if len(arrived) == 2:
            both.set()
        await both.wait()
        found = [before, server.session.id, await asyncio.create_task(ask()), await asyncio.to_thread(sync)]
        async with anyio.create_task_group() as tasks:
            async def add():
                found.append(await ask())
            tasks.start_soon(add)
        await server.session.storage.set("id", before)
        return found

    def sync():
        return server.session.id

    @server.tool()
    async def stay() -> None:
        over = asyncio.Event()

        async def outlive():
            await over.wait()
            return server.session

        late[server.session.id] = over, asyncio.create_task(outlive())

    @server.tool()
    async def closed() -> bool:
        return server.session.closed.is_set()
"""


async def served(
    rig: Rig, name: str, session_id: str, role: Any = sep.OUTER_TRANSPORT
) -> tuple[Connection, FakeWindow, Any]:
    """Boot the server of this name for one more host; return the host's connection and window, and the page's task."""
    outer, rig.inner = FakeWindow.pair(HOST, FRAME)
    connection = alone(role, parse_allowed_origins([FRAME]), session_id=session_id)
    page = rig.start(f"{name}:server")
    while not rig.inner.listening:
        await anyio.lowlevel.checkpoint()
    return connection, outer, page


async def test_two_peers_at_once_have_a_session_each(rig: Rig) -> None:
    rig.write(PEERS, "authored_two")

    async def ids(client: PlainClient, name: str) -> None:
        assert (await client.call("ids"))["structuredContent"] == {"result": [name] * 5}
        await client.call("stay")

    connection, window, first_page = await served(rig, "authored_two", ONE)
    async with client_of(connection, window) as first:
        connection, window, second_page = await served(rig, "authored_two", TWO)
        async with client_of(connection, window) as second:
            author = sys.modules["authored_two"]
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(ids, first, ONE)
                tasks.start_soon(ids, second, TWO)
            assert sorted(author.arrived) == [ONE, TWO]
            # The package fastmcp enters a server's lifespan once, for all that it serves at the same time.
            assert sorted(author.lived) == ([ONE] if rig.kind == "fastmcp" else [ONE, TWO])
            assert sorted(author.shown) == [(ONE, True), (TWO, True)]
            assert await rig.records.get(ONE, "id") == f'"{ONE}"'
            assert await rig.records.get(TWO, "id") == f'"{TWO}"'
            rig.browser.happen("#mcpframe-app", "click", key="a")  # as JavaScript calls: in a context without a peer
            assert sorted(author.clicks) == [("a", ONE), ("a", TWO)]
        await ended(second_page)
        assert author.sessions[TWO].closed.is_set()
        assert not author.sessions[ONE].closed.is_set()
        rig.browser.happen("#mcpframe-app", "click", key="b")
        assert author.clicks[2:] == [("b", ONE)]
        assert (await first.call("closed"))["structuredContent"] == {"result": False}
        for name in (ONE, TWO):
            over, task = author.late[name]
            over.set()
            assert await task is author.sessions[name]
    await ended(first_page)
    assert author.sessions[ONE].closed.is_set()
    assert author.server.session.id == "local"


async def ended(page: asyncio.Task[None]) -> None:
    page.cancel()
    await asyncio.wait([page])


async def test_two_setups_at_once_have_a_session_each(rig: Rig) -> None:
    rig.write(PEERS, "authored_setups")
    rig.fragment = "#setup"
    opened = [await served(rig, "authored_setups", name, sep.OUTER_SETUP) for name in (ONE, TWO)]

    async def title(connection: Connection, window: FakeWindow, page: asyncio.Task[None]) -> str | None:
        async with open_session(connection, window, messages=PlainMessages()) as session:
            result = await setup_phase.result_of(session)
        await page
        return result.title

    assert await asyncio.gather(*(title(*each) for each in opened)) == [ONE, TWO]
