"""A Chromium that is started for the first tab, and again when it has ended."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from mcpframe.kit.browser.devtools import browsers
from mcpframe.kit.browser.devtools.browsers import LocalChromium


class Started:
    """A browser with as many tabs as were opened."""

    def __init__(self) -> None:
        self.devtools = self
        self.gone = False
        self.ended = False
        self.closed_tab: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.slow: asyncio.Future[None] | None = None
        self._tabs = 0

    async def new_tab(self) -> str:
        if self.slow is not None:
            await self.slow
        self._tabs += 1
        return f"tab {self._tabs}"

    def post(self, method: str, *, targetId: str) -> None:  # noqa: N803  as DevTools names it
        assert method == "Target.closeTarget"
        self.closed_tab.set_result(targetId)

    async def close(self) -> None:
        self.ended = True


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Started]:
    all_started: list[Started] = []

    async def launch(executable: Path, profile: Path, **options: Any) -> Started:
        assert (executable, profile) == (Path("chromium"), Path("profile"))
        assert options == {"addresses": {"a.localhost": 80}, "visible": False}
        all_started.append(Started())
        return all_started[-1]

    monkeypatch.setattr(browsers, "launch", launch)
    return all_started


def chromium() -> LocalChromium:
    return LocalChromium(Path("chromium"), Path("profile"), {"a.localhost": 80})


async def test_one_browser_has_all_tabs_until_it_ends(started: list[Started]) -> None:
    opened = chromium()
    tabs = await asyncio.gather(opened.open_tab(), opened.open_tab())
    assert (len(started), {tab.target for tab in tabs}) == (1, {"tab 1", "tab 2"})
    started[0].gone = True
    assert (await opened.open_tab()).devtools is started[1].devtools  # type: ignore[comparison-overlap]
    assert started[0].ended
    await opened.close()
    assert started[1].ended


async def test_a_tab_that_nobody_waits_for_any_more_is_closed(started: list[Started]) -> None:
    opened = chromium()
    await opened.open_tab()
    slow = started[0].slow = asyncio.get_running_loop().create_future()
    opening = asyncio.create_task(opened.open_tab())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    slow.set_result(None)
    assert await asyncio.wait_for(started[0].closed_tab, 10) == "tab 2"
