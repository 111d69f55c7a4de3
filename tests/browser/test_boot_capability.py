"""A framed server tells its host how long each step of its start took, in either era of the protocol."""

import anyio
import pytest
from mcp import Client
from playwright.async_api import BrowserContext

from mcpframe.frame.boot.serving import BOOT_CAPABILITY
from mcpframe.frame.core.roles import Options
from mcpframe.frame.hosting.outer import OuterFrame
from mcpframe.kit.browser.playwright_window import PlaywrightPlace
from tests.browser.clients import BOOT_PATIENCE
from tests.browser.conftest import Bundle, Origins, Troubles
from tests.support.built import SNAPSHOTS

STEPS = {
    "plain": ["loader", "wasm", "unpacked", "files", "python", "libraries", "sdk", "ready"],
    "snapshot": ["loader", "unpacked", "restored", "python", "libraries", "sdk", "ready"],
}


@pytest.mark.parametrize(("era", "version"), [("legacy", "2025-11-25"), ("auto", "2026-07-28")])
async def test_the_host_is_told_of_the_start(
    context: BrowserContext, troubles: Troubles, origins: Origins, everything: Bundle, era: str, version: str
) -> None:
    page = await context.new_page()
    await page.goto(f"{origins.host}/page.html")
    outer = OuterFrame(everything.url, options=Options(handshake_timeout=BOOT_PATIENCE))
    with anyio.fail_after(2 * BOOT_PATIENCE):
        async with Client(outer.connect(PlaywrightPlace(page)), mode=era) as client:
            assert client.protocol_version == version
            told = (client.server_capabilities.experimental or {})[BOOT_CAPABILITY]
    assert set(told) == {"start", "marks", "stores"}
    assert told["stores"] is False, "a private profile, and a frame of another site"
    assert told["start"] == ("snapshot" if SNAPSHOTS else "plain")
    marks = told["marks"]
    assert list(marks) == STEPS[told["start"]]
    times = list(marks.values())
    assert times == sorted(times)
    assert 0 < times[0] < times[-1] < BOOT_PATIENCE * 1000
    assert all(time == round(time, 1) for time in times)
