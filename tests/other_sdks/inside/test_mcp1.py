"""Servers of mcp 1.x in a page: as they are written for stdio."""

from __future__ import annotations

import re
import sys
import textwrap
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

import anyio
import pytest
from mcp.server.fastmcp import FastMCP  # type: ignore[attr-defined]

from mcpframe import wrap
from mcpframe.frame.core.errors import EntryError, SdkError
from mcpframe.frame.core.places import Framing
from mcpframe.frame.serving import other_server
from mcpframe.hosts import OuterFrame
from tests.other_sdks.inside.conftest import Serving
from tests.support.fake_place import FakePlace
from tests.support.fake_window import FakeWindow
from tests.support.plain_client import TIMING, QuietPage

FASTMCP = """
    import sys
    from mcp.server.fastmcp import Context, FastMCP, Image

    server = FastMCP("unit", instructions="Be kind.")

    @server.tool()
    def add(a: int, b: int) -> int:
        "Adds two numbers."
        return a + b

    @server.tool()
    async def chat(text: str, ctx: Context) -> str:
        await ctx.info(f"said {text}")
        print("printed", text)
        return text

    @server.tool()
    def fails() -> str:
        raise ValueError("no such thing")

    @server.tool()
    def fails_with_notes() -> str:
        error = ValueError("no such thing")
        error.add_note("Try another.")
        raise error

    @server.tool()
    async def fails_in_group() -> str:
        raise ExceptionGroup("unhandled errors in a TaskGroup", [ValueError("the reason")])

    @server.tool()
    def exits() -> str:
        sys.exit("enough")

    @server.tool()
    def surrogate() -> str:
        return "\\ud800"

    @server.tool()
    def picture() -> Image:
        return Image(data=b"123", format="png")

    @server.resource("notes://{name}")
    def note(name: str) -> str:
        return f"the note {name}"

    @server.prompt()
    def ask(topic: str) -> str:
        return f"What is {topic}?"
"""
LOWLEVEL = """
    from mcp import types
    from mcp.server.lowlevel import Server

    server = Server("low", version="3")

    @server.list_tools()
    async def list_tools():
        return [types.Tool(name="echo", description="d", inputSchema={"type": "object"})]

    @server.call_tool()
    async def call_tool(name, arguments):
        if arguments.get("exit"):
            raise SystemExit(3)
        if arguments.get("fail"):
            raise KeyError("lost")
        return [types.TextContent(type="text", text=str(arguments))]
"""


def text_of(result: dict[str, Any]) -> str:
    return str(result["content"][0]["text"])


async def test_the_sdk_is_the_one_that_is_meant() -> None:
    assert version("mcp").startswith("1.")


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
async def test_a_fastmcp_object_speaks_the_revisions_of_its_sdk(serving: Serving, revision: str) -> None:
    async with serving(FASTMCP) as client:
        result = await client.initialize(revision)
        assert result["protocolVersion"] == revision
        assert (result["serverInfo"]["name"], result["instructions"]) == ("unit", "Be kind.")
        assert (await client.call("add", a=1, b=2))["structuredContent"] == {"result": 3}


async def test_an_unknown_revision_is_answered_with_the_newest_of_the_sdk(serving: Serving) -> None:
    async with serving(FASTMCP) as client:
        assert (await client.initialize("2026-07-28"))["protocolVersion"] == "2025-11-25"


async def test_tools_resources_and_prompts(serving: Serving) -> None:
    async with serving(FASTMCP) as client:
        await client.initialize()
        tools = (await client.request("tools/list"))["result"]["tools"]
        assert {"add", "chat", "picture"} <= {tool["name"] for tool in tools}
        assert (await client.call("picture"))["content"][0]["type"] == "image"
        read = await client.request("resources/read", uri="notes://one")
        assert read["result"]["contents"][0]["text"] == "the note one"
        prompt = await client.request("prompts/get", name="ask", arguments={"topic": "life"})
        assert prompt["result"]["messages"][0]["content"]["text"] == "What is life?"


async def test_discovery_is_answered_as_an_unknown_method(serving: Serving) -> None:
    async with serving(FASTMCP) as client:
        assert (await client.request("server/discover"))["error"]["code"] == -32601
        await client.initialize()
        assert (await client.call("add", a=1, b=2))["structuredContent"] == {"result": 3}


async def test_a_client_that_resumes_without_a_handshake_is_served(serving: Serving) -> None:
    async with serving(FASTMCP) as client:
        assert (await client.call("add", a=1, b=2))["structuredContent"] == {"result": 3}
        assert client.notifications == []


async def test_the_host_is_told_of_the_start(serving: Serving) -> None:
    async with serving(FASTMCP) as client:
        result = await client.initialize()
    assert result["capabilities"]["experimental"] == {"mcpframe/boot": TIMING}


async def test_what_is_printed_is_sent_to_a_client_that_wants_it(serving: Serving) -> None:
    async with serving(FASTMCP) as client:
        assert "logging" in (await client.initialize())["capabilities"]
        await client.call("chat", text="one")
        assert [item["params"]["data"] for item in client.notifications] == ["said one"]
        assert (await client.request("logging/setLevel", level="info"))["result"] == {}
        await client.call("chat", text="two")
        await client.request("logging/setLevel", level="error")
        await client.call("chat", text="three")
    assert [item["params"]["data"] for item in client.notifications] == [
        *("said one", "said two", "printed two", "said three")
    ]


@pytest.mark.parametrize(
    ("tool", "expected"),
    [
        ("fails", "Error executing tool fails: no such thing"),
        ("fails_with_notes", "Error executing tool fails_with_notes: no such thing\nTry another."),
        ("fails_in_group", "Error executing tool fails_in_group: the reason"),
        ("exits", "Error executing tool exits: SystemExit: enough"),
    ],
)
async def test_what_a_tool_raises_is_its_result(serving: Serving, tool: str, expected: str) -> None:
    async with serving(FASTMCP) as client:
        await client.initialize()
        result = await client.call(tool)
        assert result["isError"] is True
        assert text_of(result) == expected
        assert result["_meta"]["mcpframe/raised"]["type"]
        assert (await client.call("add", a=1, b=2))["structuredContent"] == {"result": 3}


async def test_a_result_without_a_form_in_json_fails_for_its_request_alone(serving: Serving) -> None:
    async with serving(FASTMCP) as client:
        await client.initialize()
        answer = await client.request("tools/call", name="surrogate", arguments={})
        assert "error" in answer or answer["result"]["isError"]
        assert (await client.call("add", a=1, b=2))["structuredContent"] == {"result": 3}


async def test_a_lowlevel_server(serving: Serving) -> None:
    async with serving(LOWLEVEL) as client:
        result = await client.initialize()
        assert result["serverInfo"] == {"name": "low", "version": "3"}
        assert result["capabilities"]["tools"] == {"listChanged": True}
        assert text_of(await client.call("echo", a=1)) == "{'a': 1}"
        assert "lost" in text_of(await client.call("echo", fail=True))
        assert text_of(await client.call("echo", exit=True)) == "Error executing tool echo: SystemExit: 3"
        assert text_of(await client.call("echo", a=2)) == "{'a': 2}"


async def test_a_lifespan_that_cannot_begin_answers_every_request(serving: Serving, page: QuietPage) -> None:
    source = """
        from contextlib import asynccontextmanager
        from mcp.server.fastmcp import FastMCP

        @asynccontextmanager
        async def lifespan(server):
            raise RuntimeError("no key")
            yield

        server = FastMCP("unit", lifespan=lifespan)
    """
    async with serving(source) as client:
        for _ in range(2):
            answer = await client.request("initialize", protocolVersion="2025-06-18")
            assert answer["error"]["message"] == "The server's program has ended: no key"
    assert [call[1] for call in page.calls if call[0] == "problem"] == ["The server's program has ended: no key"]


async def test_a_request_that_is_no_request_of_mcp_is_answered(serving: Serving) -> None:
    async with serving(FASTMCP) as client:
        await client.initialize()
        assert "error" in await client.request("tools/call", name=3)
        assert "error" in await client.request("no/such/method")


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("authored:number", "is of type int; it has to be a FastMCP or a lowlevel Server of mcp 1.x"),
        ("authored:servr", "its servers are: server"),
    ],
)
async def test_an_entry_that_is_no_server_says_what_would_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: str, expected: str
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "authored.py").write_text(textwrap.dedent(FASTMCP) + "number = 3\n")
    with pytest.raises(EntryError, match=re.escape(expected)):
        other_server.load_entry(entry)
    del sys.modules["authored"]


MODULES = [
    import_module(name) for name in ("mcpframe", "mcpframe.hosts", "mcpframe.wire", "mcpframe.hub", "mcpframe.views")
]
NEED_MCP_2 = ["PageHub", "FrameServer", "HubServer", "PlaywrightPlace", "serve", "Tasks"]


@pytest.mark.parametrize(
    ("module", "name"), [("", "FrameServer"), ("", "Tasks"), (".hosts", "serve"), (".hub", "PageHub")]
)
async def test_what_needs_mcp_2_says_so(module: str, name: str) -> None:
    with pytest.raises(SdkError, match=rf"mcpframe{module}\.{name} needs mcp 2\.x"):
        getattr(import_module(f"mcpframe{module}"), name)


async def test_a_page_of_mcp_1_is_no_host() -> None:
    async def serve_nothing(window: FakeWindow, framing: Framing) -> None:
        return None

    outer = OuterFrame("https://tools.example/index.html")
    with pytest.raises(SdkError, match="connects to no other frame"):
        async with outer.connect(FakePlace("https://chat.example", serve_nothing)):
            pass


@pytest.mark.parametrize("module", MODULES)
async def test_the_rest_of_the_package_needs_no_certain_sdk(module: ModuleType) -> None:
    assert all(getattr(module, name) is not None for name in module.__all__ if name not in NEED_MCP_2)


async def test_importing_mcpframe_or_wrapping_imports_nothing_of_an_sdk() -> None:
    program = """
import sys, mcpframe
assert not [name for name in sys.modules if name.partition(".")[0] in ("mcp", "mcp_types", "pydantic")]
try:
    mcpframe.wrap(object())
except TypeError:
    pass
assert not [name for name in sys.modules if name.partition(".")[0] in ("mcp", "mcp_types", "pydantic")]
"""
    await anyio.run_process([sys.executable, "-S", "-c", program])


async def test_updates_of_resources_need_another_sdk() -> None:
    with pytest.raises(SdkError, match="A server of type FastMCP has no list of subscriptions"):
        await wrap(FastMCP("unit")).resource_updated("notes://one")


async def test_in_plain_python_it_has_a_local_session() -> None:
    server = wrap(FastMCP("unit"), allowed_origins=["https://chat.example"])
    assert (server.name, server.session.id, server.wrapped.name) == ("unit", "local", "unit")
    await server.session.storage.set("key", 7)
    assert await server.session.storage.get("key") == 7
