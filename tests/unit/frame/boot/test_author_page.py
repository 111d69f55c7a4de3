"""Boot with the author's functions, over fake windows and a fake document: setup, ui, and pages without a server."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from mcp.server.mcpserver import MCPServer

from mcpframe.frame.core.connection import Candidate, Connection, parse_allowed_origins
from mcpframe.frame.core.events import Inbound
from mcpframe.frame.core.setup import SetupResult, Visibility
from mcpframe.frame.dialects.plain_mcp import further_roles as plain_mcp
from mcpframe.frame.dialects.sep import roles as sep
from mcpframe.frame.serving.server import serve
from mcpframe.frame.session import setup_phase
from mcpframe.frame.session.session import open_session
from tests.support.fake_window import STRANGER, inbound
from tests.support.page_rig import Rig, log_of, rig
from tests.support.sep import FRAME, HOST

__all__ = ["rig"]

ASSETS = {"base": "assets-1/", "files": ["page.html"]}
# Pages that are not servers


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


PONG = {"jsonrpc": "2.0", "id": "mcpframe/ping", "result": {}}
NAMED = """
import mcp, mcpframe
log = []
async def main(page):
    async with mcp.Client(mcpframe.connect_to_host(dialect="{}")) as client:
        log.append((await client.call_tool("greet", {{"name": "page"}})).content[0].text)
"""


async def test_a_page_is_a_client_in_a_dialect_by_name(rig: Rig) -> None:
    rig.write(NAMED.format("plain_mcp"), "authored_page_n")
    task = rig.start("authored_page_n:main", **PAGE)
    server = MCPServer("outer")
    server.add_tool(greet)
    host = Connection([Candidate(plain_mcp.HOST, parse_allowed_origins([FRAME]))])
    async with open_session(host, rig.outer) as session:
        serving = asyncio.ensure_future(serve(server, *session.streams))
        await task
        serving.cancel()
        await asyncio.wait([serving])
    assert log_of("authored_page_n") == ["Hello, page"]
    assert {target for _, target in rig.inner.posted} == {HOST}  # the only one that is allowed, also for the ping


@pytest.mark.parametrize("stranger", [inbound(PONG, origin=STRANGER), inbound(PONG, origin=HOST, from_peer=False)])
async def test_a_page_of_a_named_dialect_is_not_opened_by_a_stranger(rig: Rig, stranger: Inbound) -> None:
    rig.write(NAMED.format("plain_mcp"), "authored_page_s")
    task = rig.start("authored_page_s:main", **PAGE, options={"handshake_timeout": 0.3})
    await rig.inner.when_posted(1)
    rig.inner.take(stranger)
    await asyncio.wait([task])
    assert "No host answered a ping" in rig.loader.last[1]
    assert all("initialize" not in json.dumps(message) for message, _ in rig.inner.posted)


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
        (
            "import mcpframe\nasync def main(page):\n    async with mcpframe.connect_to_host(): pass # ",
            {"allowed_origins": [HOST], "dialects": ["mcp_ui"]},
            "see `dialects` and",
        ),
        (NAMED.format("telex"), {"allowed_origins": [HOST]}, "only in: sep, plain_mcp"),
        (NAMED.format("mcp_apps"), {"allowed_origins": [HOST]}, "only in: sep, plain_mcp"),
        (NAMED.format("plain_mcp"), {"allowed_origins": [HOST], "dialects": ["sep"]}, "is not offered"),
        (NAMED.format("plain_mcp"), {"dialect_origins": {"sep": [HOST]}}, "is not offered"),
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
