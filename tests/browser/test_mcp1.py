"""Servers written for mcp 1.x, built as they are and called by the official clients of today."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import anyio
import pytest
from mcp import Client
from playwright.async_api import BrowserContext, Page

from mcpframe.frame.boot.serving import BOOT_CAPABILITY
from mcpframe.frame.core.roles import Options
from mcpframe.frame.hosting.outer import OuterFrame
from mcpframe.kit.browser.playwright_window import PlaywrightPlace
from tests.browser.clients import BOOT_PATIENCE, McpClient, PythonClient, TypeScriptClient
from tests.browser.conftest import Bundle, BundleOf, Origins, Troubles
from tests.support.built import SNAPSHOTS
from tests.support.suites import extended


@pytest.fixture(scope="module")
def bundles(bundle_of: BundleOf) -> dict[str, Bundle]:
    """The bundles of the servers written for mcp 1.x."""
    return {name: bundle_of(name) for name in ("mcp1", "mcp1-lowlevel")}


@pytest.fixture(params=["python", extended("typescript")])
async def client(
    request: pytest.FixtureRequest,
    context: BrowserContext,
    troubles: Troubles,
    origins: Origins,
    typescript_client: None,
) -> AsyncIterator[McpClient]:
    """Each of the two official clients, which begin with the handshake."""
    page = await context.new_page()
    await page.goto(f"{origins.host}/client.html")
    async with AsyncExitStack() as stack:
        yield PythonClient(page, "legacy", stack) if request.param == "python" else TypeScriptClient(page, "legacy")


async def test_a_fastmcp_server_answers_and_asks(client: McpClient, bundles: dict[str, Bundle]) -> None:
    await client.open(bundles["mcp1"].url)
    assert client.version == "2025-11-25"
    tools = await client.request("tools/list")
    assert [tool["name"] for tool in tools["tools"]] == ["celsius", "talk", "ask", "leave", "read_secret"]
    assert (await client.call("celsius", fahrenheit=212))["structuredContent"] == {"result": 100.0}
    read = await client.request("resources/read", {"uri": "units://metre"})
    assert read["contents"][0]["text"] == "the unit metre"
    await client.answer("roots/list", {"roots": [{"uri": "file:///here"}]})
    assert (await client.call("ask"))["content"][0]["text"] == "file:///here"


async def test_it_reports_logs_and_prints(client: McpClient, bundles: dict[str, Bundle]) -> None:
    await client.open(bundles["mcp1"].url)
    await client.set_log_level("info")
    assert (await client.call("talk", text="this"))["structuredContent"] == {"result": "this"}
    assert (await client.next("progress"))["message"] == "half"
    assert [(await client.next("log"))["data"] for _ in range(2)] == ["logged this", "printed this"]


async def test_what_a_tool_raises_ends_its_call_alone(
    client: McpClient, bundles: dict[str, Bundle], troubles: Troubles
) -> None:
    troubles.expect("SystemExit")
    troubles.expect("KeyError: 'SECRET'")
    await client.open(bundles["mcp1"].url)
    left = await client.call("leave")
    assert left["isError"]
    assert left["content"][0]["text"] == "Error executing tool leave: SystemExit: 1"
    secret = await client.call("read_secret")
    assert "The environment variable 'SECRET' is not set" in secret["content"][0]["text"]
    assert (await client.call("celsius", fahrenheit=212))["structuredContent"] == {"result": 100.0}


async def test_a_lowlevel_server(client: McpClient, bundles: dict[str, Bundle]) -> None:
    await client.open(bundles["mcp1-lowlevel"].url)
    assert (await client.call("echo", text="ä"))["content"][0]["text"] == "ä"


async def test_a_client_that_discovers_falls_back_to_the_handshake(host_page: Page, bundles: dict[str, Bundle]) -> None:
    outer = OuterFrame(bundles["mcp1"].url, options=Options(handshake_timeout=BOOT_PATIENCE))
    with anyio.fail_after(2 * BOOT_PATIENCE):
        async with Client(outer.connect(PlaywrightPlace(host_page)), mode="auto") as client:
            assert client.protocol_version == "2025-11-25"
            boot = (client.server_capabilities.experimental or {})[BOOT_CAPABILITY]
            assert boot["start"] == ("snapshot" if SNAPSHOTS else "plain")
            assert (await client.call_tool("celsius", {"fahrenheit": 32})).structured_content == {"result": 0.0}
