"""How many pages of a bridge are opened at once."""

from __future__ import annotations

import asyncio
from typing import NoReturn

from mcpframe.kit.base.errors import BrowserGone
from mcpframe.kit.bridge.chromium.pages import Pages
from mcpframe.kit.browser.devtools.browsers import BrowserState
from tests.bridge.test_browsers_elsewhere import Listener


class _Full:
    """Browsers that open no page, once they are let go on."""

    is_ready = True
    states = (BrowserState(None, 0, 0),) * 2

    def __init__(self) -> None:
        self.asked = 0
        self.go_on = asyncio.Event()

    async def open_tab(self) -> NoReturn:
        self.asked += 1
        await self.go_on.wait()
        raise BrowserGone("There is no room.")

    async def close(self) -> None:
        pass


async def test_few_pages_of_a_browser_are_opened_at_once_and_each_gets_its_turn() -> None:
    browsers = _Full()
    pages = Pages(browsers, asyncio.Future)
    opening = [asyncio.create_task(pages.open(Listener())) for _ in range(20)]
    await asyncio.sleep(0)
    assert browsers.asked == 8
    opening[0].cancel()  # one that is being opened,
    opening[10].cancel()  # and one that waits
    browsers.go_on.set()
    ends = await asyncio.gather(*opening, return_exceptions=True)
    assert [type(end) for end in ends] == [asyncio.CancelledError if n in (0, 10) else BrowserGone for n in range(20)]
    assert browsers.asked == 19
