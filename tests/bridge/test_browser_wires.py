"""The wires to a Chromium of this machine: pipes, and a port, as on Windows."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from mcpframe.kit.base.errors import BrowserGone
from mcpframe.kit.browser.chromium import ensure_chromium
from mcpframe.kit.browser.devtools.launch import launch
from tests.bridge.programs import PATIENCE


async def test_a_browser_on_a_port(tmp_path: Path) -> None:
    (tmp_path / "DevToolsActivePort").write_text("1\n/devtools/browser/of-an-earlier-run")
    browser = await launch(ensure_chromium(), tmp_path, addresses={}, pipes=False)
    try:
        target = await browser.new_tab()
        attached = await browser.devtools.command("Target.attachToTarget", targetId=target, flatten=True)
        evaluated = await browser.devtools.command("Runtime.evaluate", attached["sessionId"], expression="6 * 7")
        assert evaluated["result"]["value"] == 42
    finally:
        await browser.close()
    with pytest.raises(ProcessLookupError):
        os.kill(browser.pid, 0)
    with pytest.raises(BrowserGone):
        await browser.devtools.command("Browser.getVersion")


async def test_what_a_busy_page_was_asked_ends_with_the_page(tmp_path: Path) -> None:
    browser = await launch(ensure_chromium(), tmp_path, addresses={})
    devtools = browser.devtools
    try:
        target = await browser.new_tab()
        attached = await devtools.command("Target.attachToTarget", targetId=target, flatten=True)
        asked = [devtools.post("Runtime.evaluate", attached["sessionId"], expression="for (;;);") for _ in range(2)]
        await devtools.command("Target.closeTarget", targetId=target)
        async with asyncio.timeout(PATIENCE):
            for each in asked:
                with pytest.raises(BrowserGone):
                    await each
        assert len(devtools._commands) == 0
    finally:
        await browser.close()
