"""A page whose process hangs or ends before it is ready is given up, and its tab closed."""

from __future__ import annotations

import asyncio
import json

import pytest

from mcpframe.kit.browser.devtools import driven_page
from mcpframe.kit.browser.devtools.browsers import OpenTab
from mcpframe.kit.browser.devtools.driven_page import DevToolsPage
from mcpframe.kit.browser.devtools.protocol import DevTools
from mcpframe.kit.browser.page_window import PageGone


class BrowserWithSilentPage:
    """A `DevToolsWire` whose browser answers, and whose page does not."""

    def __init__(self) -> None:
        self.taken: list[str] = []
        self._answers: asyncio.Queue[str] = asyncio.Queue()

    def send(self, text: str) -> None:
        message = json.loads(text)
        self.taken.append(message["method"])
        if "sessionId" not in message:
            self._answers.put_nowait(json.dumps({"id": message["id"], "result": {"sessionId": "page"}}))

    async def receive(self) -> str:
        return await self._answers.get()

    def close(self) -> None:
        pass


async def test_a_page_that_does_not_answer_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driven_page, "_OPENING_SECONDS", 0.05)
    wire = BrowserWithSilentPage()
    devtools = DevTools(wire)
    page = DevToolsPage(OpenTab(devtools, "tab"))
    with pytest.raises(PageGone, match=r"has not answered for 0\.05 s"):
        async with page.opening():
            await page.command("Emulation.setLocaleOverride", locale="en-US")
    assert page.gone.done()
    assert wire.taken[-1] == "Target.closeTarget"
    assert not devtools.closed.done(), "the browser and its other pages go on"
    await devtools.close()
