"""Boot with the author's functions, over fake windows and a fake document: setup, ui, and pages that are no server."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.server.mcpserver import MCPServer

from mcpframe.frame import setup_phase
from mcpframe.frame.core.events import Departure
from mcpframe.frame.dialects.sep import messages as sep_messages
from mcpframe.frame.dialects.sep import roles as sep
from mcpframe.frame.dialects.sep.events import Permission, SetupErrorCode, SetupRequired, SetupResult, Visibility
from mcpframe.frame.server import serve
from mcpframe.frame.session import open_session, transport
from tests.support.sep import HOST, SESSION
from tests.unit.frame.test_boot import Rig, bounded, rig

__all__ = ["bounded", "rig"]

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
"""


def log_of(name: str) -> list[Any]:
    log: list[Any] = sys.modules[name].log
    return log


async def until_shown(rig: Rig) -> None:
    while rig.browser.document.documentElement.querySelector("#go") is None or not rig.browser.listeners:
        await anyio.lowlevel.checkpoint()


async def test_a_visible_setup_is_done_by_the_person(rig: Rig) -> None:
    rig.write(SERVER, "authored_a")
    rig.fragment = "#setup"
    task = rig.start("authored_a:server", assets=ASSETS)
    async with open_session(rig.outer_connection(sep.OUTER_SETUP), rig.outer) as session:
        assert session.started.requires_visible  # type: ignore[union-attr]
        assert session.started.permissions == (Permission("camera", purpose="To scan"),)  # type: ignore[union-attr]
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
    async with open_session(rig.outer_connection(sep.OUTER_SETUP), rig.outer) as session:
        assert not session.started.requires_visible  # type: ignore[union-attr]
        assert await setup_phase.result_of(session) == SetupResult("Test", ephemeral_message="Ready")
    await task
    assert await rig.records.get(SESSION, "ready") == "true"


async def test_a_setup_whose_host_goes_away_is_cleaned_up(rig: Rig) -> None:
    rig.write(SERVER, "authored_b")
    rig.fragment = "#setup"
    task = rig.start("authored_b:server", assets=ASSETS)
    async with open_session(rig.outer_connection(sep.OUTER_SETUP), rig.outer):
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
    async with open_session(rig.outer_connection(sep.OUTER_SETUP), rig.outer) as session:
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
    async with open_session(rig.outer_connection(sep.OUTER_SETUP), rig.outer) as session:
        result = await setup_phase.result_of(session)
    assert result.error_code == SetupErrorCode.CONFIG_ERROR
    assert "'absent.html' is no asset of this page" in (result.error_message or "")
    await task
    kind, title, detail = rig.loader.last
    assert kind == "fail"
    assert "absent.html" in title
    assert "Traceback" in detail


async def test_ui_runs_beside_the_tools_and_ends_with_the_session(rig: Rig) -> None:
    rig.write(SERVER, "authored_e")
    task = rig.start("authored_e:server", assets=ASSETS)
    heard: list[Any] = []
    async with Client(transport(rig.outer_connection(), rig.outer, on_event=heard.append)) as client:
        await until_shown(rig)
        rig.browser.happen("#go", "click")
        content: Any = (await client.call_tool("heard", {})).content[0]
        assert content.text == "['clicked']"
        await client.call_tool("again", {})
    (required,) = [event for event in heard if isinstance(event, SetupRequired)]
    assert (required.reason, required.message, required.can_continue) == ("CONFIG_CHANGED", "Set me up", True)
    rig.inner.peer_departs(Departure.REMOVED)
    await task
    assert log_of("authored_e") == ["clicked", "ui ended"]
    assert rig.browser.listeners == []


async def test_ui_that_fails_is_shown_and_the_tools_go_on(rig: Rig) -> None:
    rig.write(SERVER.replace('element("#go").on(', 'element("#absent").on('), "authored_f")
    task = rig.start("authored_f:server", assets=ASSETS)
    await rig.records.set(SESSION, "name", '"kept"')
    async with Client(transport(rig.outer_connection(), rig.outer)) as client:
        assert (await client.call_tool("name", {})).structured_content == {"result": "kept"}
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
    async with Client(transport(rig.outer_connection(), rig.outer)) as client:
        assert (await client.call_tool("name", {})).structured_content == {"result": "kept"}
    [problem] = [call for call in rig.loader.calls if call[0] == "problem"]
    assert raised.partition("(")[0].rpartition(".")[2] in problem[1]
    task.cancel()
    await asyncio.wait([task])


async def test_a_server_that_asks_for_no_session_gets_none(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("mcpframe.frame.page_storage.open_storage", opened.append)
    source = SERVER.partition("@server.setup")[0] + "@server.tool()\n    def one() -> int:\n        return 1\n"
    rig.write(source, "authored_g")
    task = rig.start("authored_g:server")
    async with Client(transport(rig.outer_connection(), rig.outer)) as client:
        assert (await client.call_tool("one", {})).structured_content == {"result": 1}
    assert opened == []
    task.cancel()
    await asyncio.wait([task])


# Pages that are no server


def greet(name: str) -> str:
    """Greet."""
    return f"Hello, {name}"


MAIN = """
    import mcpframe
    from mcp import Client

    log = []

    async def main(page):
        await page.show("page.html")
        await page.storage.set("visits", (await page.storage.get("visits", 0)) + 1)
        page.element("#go").on("click", print)
        log.append("began")
        async with Client(mcpframe.connect_to_host()) as client:
            log.append((await client.call_tool("greet", {"name": "page"})).structured_content["result"])
        log.append("ended")
"""
PAGE = {"kind": "page", "assets": ASSETS, "allowed_origins": [HOST]}


async def test_a_page_is_a_client_of_the_page_around_it(rig: Rig) -> None:
    rig.write(MAIN, "authored_page_a")
    task = rig.start("authored_page_a:main", **PAGE)
    server = MCPServer("outer")
    server.add_tool(greet)
    async with open_session(rig.outer_connection(), rig.outer) as session:
        serving = asyncio.ensure_future(serve(server, *session.streams))
        await task
        serving.cancel()
        await asyncio.wait([serving])
    assert log_of("authored_page_a") == ["began", "Hello, page", "ended"]
    assert rig.browser.listeners == []
    assert await rig.records.keys("page test") == ["visits"]
    assert all(call[0] != "fail" for call in rig.loader.calls)
    assert rig.loader.last_words is None


async def test_a_page_that_stops_in_a_session_has_last_words_for_its_host(rig: Rig) -> None:
    rig.write(
        """
        from mcpframe import connect_to_host

        async def main(page):
            async with connect_to_host():
                raise KeyError("k")
        """,
        "authored_page_e",
    )
    task = rig.start("authored_page_e:main", **PAGE)
    async with open_session(rig.outer_connection(), rig.outer):
        await asyncio.wait([task])
    assert isinstance(task.exception(), KeyError)
    assert rig.loader.last_words == ({"type": "MCP_TRANSPORT_HANDSHAKE", "protocolVersion": "1.0"}, HOST)


async def test_a_page_is_set_up_at_once(rig: Rig) -> None:
    rig.write(MAIN, "authored_page_b")
    rig.fragment = "#setup"
    task = rig.start("authored_page_b:main", **PAGE, visibility={"requirement": "required", "message": "A chat"})
    async with open_session(rig.outer_connection(sep.OUTER_SETUP), rig.outer) as session:
        assert await setup_phase.result_of(session) == SetupResult("Test", Visibility.REQUIRED, "A chat")
    assert log_of("authored_page_b") == ["began"]
    task.cancel()
    await asyncio.wait([task])


@pytest.mark.parametrize(
    ("source", "config", "said"),
    [
        ("def main(page): pass", {}, "has to be an async function"),
        ("", {}, "has no 'main'; write `async def main(page): ...` in it"),
        ("async def main(page): raise KeyError('k')", {}, "KeyError"),
        ("import mcpframe\nasync def main(page):\n    async with mcpframe.connect_to_host(): pass", {}, "allowed"),
    ],
)
async def test_what_is_wrong_with_a_page_is_shown(rig: Rig, source: str, config: dict[str, Any], said: str) -> None:
    name = f"authored_page_{abs(hash(source))}"
    rig.write(source, name)
    task = rig.start(f"{name}:main", **{**PAGE, "allowed_origins": [], **config})
    await asyncio.wait([task])
    assert rig.loader.last[0] == "fail"
    assert said in rig.loader.last[1]
    task.exception()


async def test_a_page_opened_by_itself_runs(rig: Rig) -> None:
    rig.write(MAIN, "authored_page_c")
    rig.framed = False
    await rig.start("authored_page_c:main", **PAGE)
    assert log_of("authored_page_c") == ["began"]
    assert "opened by itself" in rig.loader.last[1]  # its connect_to_host is what fails
