"""Two hundred tabs in the hub of a desktop: nothing of one waits for another, and nobody waits for what has ended."""

from __future__ import annotations

import asyncio

import pytest

from mcpframe.hub.core.errors import TabClosed
from tests.support.fake_hub import tool
from tests.unit.kit.hub.tabs.test_browser_tabs import quick, text, world

__all__ = ["quick"]
TABS = 200


async def test_two_hundred_tabs_are_called_at_once_crash_and_end_with_their_browser() -> None:
    async with world() as hub:
        pages = [hub.page(f"https://s{number}.example/", tool("see")) for number in range(TABS)]
        await hub.happens(lambda: len(hub.names) == TABS)
        names = [f"website_tool_s{number}_example_tab1_see" for number in range(TABS)]
        assert set(hub.names) == set(names)
        results = await asyncio.gather(*(hub.calling(name) for name in names))
        assert [text(result) for result in results] == [f"see at {page.url}" for page in pages]

        # A page that crashes on each call fails its own, each time.
        for page in pages:
            page.silent = True
        calls = [hub.calling(name) for name in names]
        await hub.happens(lambda: all(len(page.calls) == 2 for page in pages))
        for page in pages[:50]:
            page.event("Inspector.targetCrashed", {})
        await hub.happens(lambda: len(hub.names) == TABS - 50)
        crashed = await asyncio.gather(*calls[:50], return_exceptions=True)
        assert all(isinstance(each, TabClosed) for each in crashed)
        assert not any(call.done() for call in calls[50:])
        for page in pages[:50]:
            page.document()
        await hub.happens(lambda: set(hub.names) == set(names))
        for page in pages[:10]:
            before = len(page.calls)
            calling = hub.calling(names[pages.index(page)])
            await hub.happens(lambda: len(page.calls) > before)  # noqa: B023  called at once
            page.event("Inspector.targetCrashed", {})
            with pytest.raises(TabClosed):
                await calling

        # Their browser ends, with all calls that are left.
        hub.chromium.crash()
        ended = await asyncio.gather(*calls[50:], return_exceptions=True)
        assert all(isinstance(each, TabClosed) for each in ended)
        await hub.happens(lambda: not hub.names)
        assert hub.transport.pending == 0
        assert await hub.tabs.list() == {}
