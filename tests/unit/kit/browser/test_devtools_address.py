"""The address of DevTools, whose port Chromium writes a moment after its start."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from mcpframe.kit.base.errors import BrowserGone
from mcpframe.kit.browser import chromium
from mcpframe.kit.browser.chromium import devtools_address


async def test_a_port_that_is_written_later_is_waited_for(tmp_path: Path) -> None:
    file = tmp_path / "DevToolsActivePort"
    asking = asyncio.create_task(devtools_address(tmp_path))
    await asyncio.sleep(0)
    file.touch()  # as it is between being opened and being written
    await asyncio.sleep(0)
    assert not asking.done()
    file.write_text("1234\n/devtools/browser/x")
    async with asyncio.timeout(60):
        assert await asking == "http://127.0.0.1:1234"


async def test_a_port_that_is_never_written_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chromium, "_DEVTOOLS_SECONDS", 0.05)
    with pytest.raises(BrowserGone, match="port of its DevTools"):
        await devtools_address(tmp_path)
