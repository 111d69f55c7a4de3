"""A server of the package fastmcp, built as it is and called by an official client."""

from __future__ import annotations

from pathlib import Path

import anyio
from mcp import Client
from playwright.async_api import Page

from mcpframe.frame.core.roles import Options
from mcpframe.frame.outer import OuterFrame
from mcpframe.kit.browser.playwright_window import PlaywrightPlace
from mcpframe.kit.bundle import build
from mcpframe.kit.web.serve import serve_folder
from tests.browser.clients import BOOT_PATIENCE
from tests.browser.conftest import SERVERS, Origins


async def test_a_fastmcp_server_answers_in_both_eras(host_page: Page, origins: Origins, tmp_path: Path) -> None:
    built = build(SERVERS / "fastmcp4", tmp_path, allowed_origins=[origins.host])
    assert [tool["name"] for tool in built.manifest["tools"]] == ["add", "talk"]
    with serve_folder(tmp_path) as served:
        outer = OuterFrame(
            f"http://bundle.localhost:{served.port}/{built.url_path}", options=Options(handshake_timeout=BOOT_PATIENCE)
        )
        for mode, version in (("legacy", "2025-11-25"), ("auto", "2026-07-28")):
            with anyio.fail_after(2 * BOOT_PATIENCE):
                async with Client(outer.connect(PlaywrightPlace(host_page)), mode=mode) as client:
                    assert client.protocol_version == version
                    assert (await client.call_tool("add", {"a": 1, "b": 2})).structured_content == {"result": 3}
                    assert (await client.call_tool("talk", {"text": "hi"})).structured_content == {"result": "hi"}
                    assert (await client.call_tool("add", {"a": "x"})).is_error
