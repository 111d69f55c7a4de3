"""A browser that hangs is given up: nobody waits for it for ever."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator

import pytest

from mcpframe.kit.base.errors import BrowserGone
from mcpframe.kit.bridge import devtools
from mcpframe.kit.bridge.devtools import DevTools, connect_pipes


@pytest.fixture
async def silent() -> AsyncIterator[DevTools]:
    """A client whose browser takes every command and says nothing."""
    in_its, in_ours = os.pipe()
    out_ours, out_its = os.pipe()
    client = await connect_pipes(out_ours, in_ours)
    yield client
    await client.close()
    os.close(in_its)
    os.close(out_its)


async def test_a_browser_that_does_not_answer_counts_as_gone(silent: DevTools, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devtools, "_ANSWER_SECONDS", 0.05)
    other = silent.post("Target.getTargets")
    with pytest.raises(BrowserGone, match="has not answered"):
        await silent.command("Target.createTarget")
    assert silent.closed.done()
    with pytest.raises(BrowserGone):
        await other
    with pytest.raises(BrowserGone):
        await silent.command("Target.createTarget")


async def test_a_deadline_of_the_callers_is_the_callers(silent: DevTools) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await silent.command("Browser.close")
    assert not silent.closed.done()
