"""Servers of the package fastmcp in a page: as they are written for stdio. With fastmcp 2.14, 3.x and 4.x."""

from __future__ import annotations

from collections.abc import AsyncIterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from mcpframe.frame.compat import fastmcp_package
from tests.other_sdks.inside.conftest import Serving
from tests.support.plain_client import CLIENT, PlainClient

SOURCE = (Path(__file__).parents[2] / "browser" / "servers" / "fastmcp" / "server.py").read_text()
MAJOR = int(version("fastmcp").split(".")[0])
pytestmark = pytest.mark.filterwarnings("ignore:The .* capability is deprecated as of 2026-07-28")
ENTRIES = {"authored:mcp": "", "authored:make()": "", "authored:main": "features"}


@pytest.fixture(autouse=True)
def quiet() -> None:
    """As a page has it: see `sdk.prepare`."""
    fastmcp_package.set_environment()
    fastmcp_package.fit()


@pytest.fixture(params=list(ENTRIES))
async def client(request: pytest.FixtureRequest, serving: Serving) -> AsyncIterator[PlainClient]:
    async with serving(SOURCE, request.param, program=ENTRIES[request.param]) as client:
        yield client


async def test_the_versions_are_those_that_are_meant(client: PlainClient) -> None:
    assert version("mcp").startswith("2." if MAJOR == 4 else "1.")
    result = await client.initialize("2025-11-25")
    assert result["protocolVersion"] == "2025-11-25"
    assert (result["serverInfo"]["name"], result["serverInfo"]["version"]) == ("features", "7")
    assert result["instructions"] == "Be kind."


async def test_tools_of_the_server_and_of_mounted_ones(client: PlainClient) -> None:
    await client.initialize()
    assert (await client.call("add", a=1, b=2))["structuredContent"] == {"result": 3}
    assert (await client.call("point", x=1))["structuredContent"] == {"x": 1, "y": 2}
    assert text_of(await client.call("inner_shout", text="hey")) == "HEY"
    failed = await client.call("fails")
    assert failed["isError"]
    assert "no such thing" in text_of(failed)
    assert failed["_meta"]["mcpframe/raised"]["file"] == "authored.py"
    assert (await client.call("add", a="x"))["isError"]


async def test_lifespan_and_middleware(client: PlainClient) -> None:
    await client.initialize()
    for _ in range(2):
        await client.call("add", a=1, b=2)
    assert (await client.call("noted"))["structuredContent"] == {
        "result": ["began", "called add", "called add", "called noted"]
    }


async def test_the_context_talks_and_keeps_state(client: PlainClient) -> None:
    await client.initialize()
    assert text_of(await client.call("talk", text="this")) == "this"
    logged = [item for item in client.notifications if item["method"] == "notifications/message"]
    assert "logged this" in str(logged[0]["params"]["data"])
    assert [text_of(await client.call("remember")) for _ in range(2)] == (["1", "1"] if MAJOR == 2 else ["1", "2"])


async def test_the_context_asks_the_client(client: PlainClient) -> None:
    capabilities = {"elicitation": {}, "sampling": {}}
    await client.request("initialize", protocolVersion="2025-11-25", capabilities=capabilities, clientInfo=CLIENT)
    await client.notify("notifications/initialized")
    answer = {"action": "accept", "content": {"value": "Ada"}}
    assert text_of(await client.call_answering("ask", "elicitation/create", answer)) == "accept Ada"
    answer = {"role": "assistant", "model": "m", "content": {"type": "text", "text": "hm"}}
    assert text_of(await client.call_answering("think", "sampling/createMessage", answer)) == "hm"


async def test_resources_templates_and_prompts(client: PlainClient) -> None:
    await client.initialize()
    for uri, text in (("notes://all", "all notes"), ("notes://one/text", "the note one")):
        read = await client.request("resources/read", uri=uri)
        assert read["result"]["contents"][0]["text"] == text
    templates = (await client.request("resources/templates/list"))["result"]["resourceTemplates"]
    assert [item["uriTemplate"] for item in templates] == ["notes://{name}/text"]
    prompt = await client.request("prompts/get", name="greet", arguments={"name": "Ada"})
    assert prompt["result"]["messages"][0]["content"]["text"] == "Greet Ada."


async def test_tools_of_an_openapi_description(client: PlainClient) -> None:
    await client.initialize()
    assert (await client.call("described"))["structuredContent"] == {"result": ["get_user"]}


async def test_nothing_is_shown_but_what_is_logged(client: PlainClient, capfd: pytest.CaptureFixture[str]) -> None:
    await client.initialize()
    await client.call("add", a=1, b=2)
    assert "gofastmcp.com" not in "".join(capfd.readouterr())


@pytest.mark.skipif(MAJOR != 4, reason="mcp 1.x has the handshake only")
async def test_a_client_without_a_handshake_of_the_newest_revision(client: PlainClient) -> None:
    meta: dict[str, Any] = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": CLIENT,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    found = await client.request("server/discover", _meta=meta)
    assert "2026-07-28" in found["result"]["supportedVersions"]
    called = await client.request("tools/call", name="add", arguments={"a": 1, "b": 2}, _meta=meta)
    assert called["result"]["structuredContent"] == {"result": 3}


@pytest.mark.skipif(MAJOR != 4, reason="mcp 1.x has the handshake only")
async def test_the_context_asks_a_client_of_the_newest_revision(client: PlainClient) -> None:
    meta: dict[str, Any] = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": CLIENT,
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}, "sampling": {}},
    }
    hm = {"role": "assistant", "model": "m", "content": {"type": "text", "text": "hm"}}
    for tool, method, given, text in (
        ("ask", "elicitation/create", {"action": "accept", "content": {"value": "Ada"}}, "accept Ada"),
        ("think", "sampling/createMessage", hm, "hm"),
    ):
        asked = (await client.request("tools/call", name=tool, arguments={}, _meta=meta))["result"]
        assert asked["resultType"] == "input_required"
        ((key, request),) = asked["inputRequests"].items()
        assert request["method"] == method
        answer = {"inputResponses": {key: given}, "requestState": asked["requestState"]}
        called = await client.request("tools/call", name=tool, arguments={}, _meta=meta, **answer)
        assert text_of(called["result"]) == text
    meta["io.modelcontextprotocol/clientCapabilities"] = {}
    refused = await client.request("tools/call", name="ask", arguments={}, _meta=meta)
    assert "the capability elicitation" in str(refused)


def text_of(result: dict[str, Any]) -> str:
    return str(result["content"][0]["text"])


FAILING = """
import sys

import anyio
from fastmcp import FastMCP

mcp = FastMCP("failing")


async def fail() -> None:
    raise RuntimeError("the inner reason")


@mcp.tool()
async def group() -> str:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(fail)
    return "not reached"


@mcp.tool()
async def leave() -> str:
    sys.exit("not today")


def main() -> None:
    mcp.run()
"""


@pytest.mark.parametrize(("entry", "program"), [("authored:mcp", ""), ("authored:main", "failing")])
async def test_what_a_tool_raises_ends_its_call_alone(serving: Serving, entry: str, program: str) -> None:
    async with serving(FAILING, entry, program=program) as client:
        await client.initialize()
        for tool, reason in (("group", "the inner reason"), ("leave", "SystemExit: not today"), ("group", "inner")):
            failed = await client.call(tool)
            assert failed["isError"]
            assert reason in text_of(failed)
            assert "TaskGroup" not in text_of(failed)
