"""The composition root, with stand-ins for the browser's window and the loader's page."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import sys
import textwrap
from collections.abc import Mapping
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from mcpframe.frame.boot import boot
from mcpframe.frame.boot.config import BootConfig
from mcpframe.frame.boot.interfaces import Loader
from mcpframe.frame.core.connection import Options
from mcpframe.frame.core.events import Departure
from mcpframe.frame.core.setup import SetupResult, Visibility
from mcpframe.frame.dialects.sep import roles as sep
from mcpframe.frame.session import setup_phase
from mcpframe.frame.session.session import open_session, transport
from tests.support.fake_window import STRANGER, inbound
from tests.support.page_rig import TIMING, Rig, rig
from tests.support.sep import HOST, MESSAGES

__all__ = ["rig"]

SERVER = """
    from mcpframe import FrameServer

    server = FrameServer("test", allowed_origins=["https://chat.example"])

    @server.tool()
    def add(a: int, b: int) -> int:
        return a + b
"""


async def test_serves_the_host_that_the_author_allowed(rig: Rig) -> None:
    rig.write(SERVER, "authored")
    task = rig.start("authored:server")
    async with Client(transport(rig.outer_connection(), rig.outer)) as client:
        assert (await client.call_tool("add", {"a": 1, "b": 2})).structured_content == {"result": 3}
    assert [call[0] for call in rig.loader.calls] == ["progress", "ready", "ready"]
    assert json.loads(rig.loader.calls[1][1]) == {"state": "waiting"}
    assert json.loads(rig.loader.calls[2][1]) == {"state": "connected", "origin": HOST}
    # A host takes it for another document: so it learns of a Python that has ended.
    assert rig.loader.last_words == ({"type": "MCP_TRANSPORT_HANDSHAKE", "protocolVersion": "1.0"}, HOST)
    task.cancel()
    await asyncio.wait([task])


@pytest.mark.parametrize("altered", [False, True])
async def test_packages_are_installed_before_the_authors_code(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, altered: bool
) -> None:
    """If their hash is right; else nothing of the author's runs."""

    async def fetch(url: str) -> bytes:
        return b"another" if altered else b"a wheel"

    async def install(wheels: Mapping[str, bytes]) -> None:
        assert wheels == {"bought-1-py3-none-any.whl": b"a wheel"}
        rig.write("", "bought")

    monkeypatch.setattr("mcpframe.frame.page.load._fetch_from_page", fetch)
    monkeypatch.setattr("mcpframe.frame.page.load._install_with_micropip", install)
    rig.write(f"import bought\n{textwrap.dedent(SERVER)}", name := f"buying_{altered}")
    files = [{"url": "wheels/x/bought-1-py3-none-any.whl", "sha256": hashlib.sha256(b"a wheel").hexdigest()}]
    task = rig.start(f"{name}:server", lazy={"bought": files, "other": []}, load_first=["bought"])
    if altered:
        await task
        kind, title, _ = rig.loader.last
        assert (kind, "its SHA-256 is" in title, name in sys.modules) == ("fail", True, False)
        return
    async with Client(transport(rig.outer_connection(), rig.outer)) as client:
        assert (await client.call_tool("add", {"a": 1, "b": 2})).structured_content == {"result": 3}
    task.cancel()
    await asyncio.wait([task])


@pytest.mark.parametrize("era", ["legacy", "auto"])
async def test_the_host_is_told_of_the_start(rig: Rig, era: str) -> None:
    rig.write(SERVER, "authored_started")
    task = rig.start("authored_started:server")
    async with Client(transport(rig.outer_connection(), rig.outer), mode=era) as client:
        assert client.server_capabilities.experimental == {"mcpframe/boot": TIMING}
        assert client.server_capabilities.tools is not None
    task.cancel()
    await asyncio.wait([task])


async def test_the_configured_origins_win_over_the_authors(rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
    rig.write(SERVER, "authored_two")
    task = rig.start(
        "authored_two:server", allowed_origins=["https://other.example"], options={"handshake_timeout": 0.1}
    )
    with caplog.at_level(logging.WARNING, "mcpframe"):
        rig.outer.post(json.dumps(MESSAGES["MCP_TRANSPORT_HANDSHAKE_REPLY"]), "*")
        await task
    assert rig.loader.last[0] == "fail"
    assert "No host answered" in rig.loader.last[1]


async def test_a_host_that_is_not_allowed_is_named_in_the_log(rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
    rig.write(SERVER, "authored_three")
    rig.outer.origin = STRANGER
    posted = rig.inner.when_posted(1)
    task = rig.start("authored_three:server", options={"handshake_timeout": 0.2})
    with caplog.at_level(logging.WARNING, "mcpframe"):
        await posted
        rig.inner.take(inbound(MESSAGES["MCP_TRANSPORT_HANDSHAKE_REPLY"], origin=STRANGER))
        await task
    assert STRANGER in caplog.text
    assert HOST in caplog.text


async def test_wildcard_is_warned_about(rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
    rig.write(SERVER, "authored_four")
    with caplog.at_level(logging.WARNING, "mcpframe"):
        await rig.start("authored_four:server", allowed_origins=["*"], options={"handshake_timeout": 0.01})
    assert "Any page may embed this server" in caplog.text


async def test_setup_completes_at_once_from_the_configuration(rig: Rig) -> None:
    rig.write(SERVER, "authored_five")
    rig.fragment = "#setup"
    task = rig.start("authored_five:server", visibility={"requirement": "optional", "message": "See the points"})
    async with open_session(rig.outer_connection(sep.OUTER_SETUP), rig.outer) as session:
        assert await setup_phase.result_of(session) == SetupResult("Test", Visibility.OPTIONAL, "See the points")
    await task
    assert all(call[0] != "fail" for call in rig.loader.calls)


async def test_opened_by_itself_it_says_what_it_is(rig: Rig) -> None:
    rig.write(SERVER, "authored_six")
    rig.framed = False
    task = rig.start("authored_six:server")
    await anyio.wait_all_tasks_blocked()
    assert rig.loader.last[0] == "standalone"
    task.cancel()  # it serves the scripts of its own window
    await asyncio.wait([task])


@pytest.mark.parametrize(
    ("source", "entry", "said", "in_detail"),
    [
        ("raise KeyError('no such key')", "authored_bad1:server", "the server's module raised", "no such key"),
        ("import sys; sys.exit(7)", "authored_bad0:server", "the server's module raised", "SystemExit: 7"),
        ("x = (", "authored_bad2:server", "the server's module raised", "SyntaxError"),
        ("import not_there_at_all", "authored_bad3:server", "not_there_at_all", "Traceback"),
        ("server = 7", "authored_bad4:server", "int", "EntryError"),
        ("", "authored_bad5:server", "server", "EntryError"),
        ("", "authored_bad6", "module:object", "EntryError"),
    ],
)
async def test_whatever_is_wrong_with_the_module_is_shown(
    rig: Rig, source: str, entry: str, said: str, in_detail: str
) -> None:
    rig.write(source, entry.partition(":")[0])
    await rig.start(entry)
    kind, title, detail = rig.loader.last
    assert kind == "fail"
    assert said in title
    assert in_detail in detail


async def test_nobody_allowed_is_an_error_that_says_so(rig: Rig) -> None:
    rig.write(SERVER.replace(', allowed_origins=["https://chat.example"]', ""), "authored_seven")
    await rig.start("authored_seven:server")
    assert rig.loader.last[0] == "fail"
    assert "allowed_origins" in rig.loader.last[1]


async def test_a_lifespan_that_cannot_begin_is_shown_and_told(rig: Rig) -> None:
    rig.write(
        """
        from contextlib import asynccontextmanager
        from mcpframe import FrameServer

        @asynccontextmanager
        async def lifespan(server):
            raise SystemExit("no database")
            yield

        server = FrameServer("test", allowed_origins=["https://chat.example"], lifespan=lifespan)
        """,
        "authored_eight",
    )
    task = rig.start("authored_eight:server")
    async with open_session(rig.outer_connection(), rig.outer) as session:
        read, write = session.streams
        request = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        await write.send(SessionMessage(jsonrpc_message_adapter.validate_python(request)))
        answer = await read.receive()
        assert answer.message.error.message == "The server could not begin: SystemExit: no database"
        kind, title, detail = rig.loader.last
        assert (kind, title) == ("problem", "The server's lifespan could not begin: SystemExit: no database")
        assert "Traceback" in detail
    rig.inner.peer_departs(Departure.REMOVED)
    await task


async def test_a_server_that_crashes_is_shown_and_raised(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    async def crash(*args: Any, **options: Any) -> None:
        raise RuntimeError("no database")

    monkeypatch.setattr("mcpframe.frame.serving.server.serve", crash)
    rig.write(SERVER, "authored_nine")
    task = rig.start("authored_nine:server")
    async with open_session(rig.outer_connection(), rig.outer):
        await asyncio.wait([task])
    with pytest.raises(RuntimeError, match="no database"):
        task.result()
    assert rig.loader.last[1] == "The server stopped: RuntimeError: no database"
    assert rig.loader.last_words  # which the page posts then
    assert not await boot.serves()


async def test_an_error_that_cannot_be_formatted_is_told_all_the_same(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Unprintable(BaseException):
        def __str__(self) -> str:
            raise MemoryError

    async def run(config: BootConfig, loader: Loader) -> None:
        assert await boot.serves()
        raise Unprintable

    monkeypatch.setattr(boot, "_run", run)
    task = rig.start("a:b")
    await asyncio.wait([task])
    assert isinstance(task.exception(), Unprintable)
    assert rig.loader.last == ("fail", "The server stopped: Unprintable.", "")


async def test_options_are_those_of_the_connection() -> None:
    config = BootConfig("a:b", "n", "t", options={"max_pending": 7, "allow_opaque": True, "handshake_timeout": None})
    assert config.connection_options == Options(max_pending=7, handshake_timeout=None)


@pytest.mark.parametrize(("kind", "longer"), [("server", True), ("page", False)])
async def test_a_server_waits_longer_for_its_host_than_a_page_that_may_have_none(kind: str, longer: bool) -> None:
    usual = Options().handshake_timeout
    assert usual
    found = BootConfig("a:b", "n", "t", kind=kind).connection_options.handshake_timeout
    assert found
    assert (found > 10 * usual) == longer
    assert BootConfig("a:b", "n", "t", kind=kind, options={"handshake_timeout": 5}).connection_options == Options(
        handshake_timeout=5
    )
