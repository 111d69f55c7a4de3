"""A page over DevTools as a host: messages of any length both ways, its console, and its end."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from mcpframe.frame.core.events import Departure
from mcpframe.frame.core.places import Framing
from mcpframe.kit.browser.chromium import ensure_chromium
from mcpframe.kit.browser.devtools.browsers import OpenTab
from mcpframe.kit.browser.devtools.host_page import OFF, DevToolsWindow, HostPage, host_page
from mcpframe.kit.browser.devtools.launch import launch
from mcpframe.kit.browser.page_window import PageGone
from mcpframe.kit.web.serve import serve_folder
from tests.browser.outers import PATIENCE
from tests.browser.test_playwright_window import Listener


@pytest.fixture
async def host(tmp_path: Path) -> AsyncIterator[HostPage]:
    browser = await launch(ensure_chromium(), tmp_path / "profile", addresses={}, off=OFF)
    try:
        async with host_page(OpenTab(browser.devtools, await browser.new_tab()), "https://chat.example") as page:
            yield page
    finally:
        await browser.close()


async def test_messages_of_any_length_pass_in_order_and_the_end_is_noticed(
    host: HostPage, site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve_folder(site) as served:
        origin = served.origin
        monkeypatch.setattr(DevToolsWindow, "piece", 1000)
        listener = Listener()
        sizes = [0, 10, 999, 1000, 1001, 5000, 10, 2500]
        window = host(Framing(f"{origin}/page.html?inner", visible=True))
        async with window:
            window.listen(listener.deliver, listener.gone)
            await listener.until(1)
            for number, size in enumerate(sizes):
                call = {"jsonrpc": "2.0", "id": f"{number}{'x' * size}", "method": "echo", "params": {}}
                window.post(json.dumps({"type": "MCP_MESSAGE", "payload": call}), origin)
            await listener.until(1 + len(sizes))
            answered = [json.loads(inbound.read())["payload"]["id"] for inbound in listener.heard[1:]]
            assert answered == [f"{number}{'x' * size}" for number, size in enumerate(sizes)]
            assert {inbound.origin for inbound in listener.heard} == {origin}
            framed = await window.framed()
            assert await framed.call("window => window.origin") == origin
            await framed.call("() => { console.error('no', 1); setTimeout(() => { throw new Error('late'); }); }")
            async with asyncio.timeout(PATIENCE):
                while len(host.complaints) < 2:  # noqa: ASYNC110  of another process
                    await asyncio.sleep(0.01)
            assert host.complaints[0] == "no 1"
            assert re.match("uncaught: (Uncaught )?Error: late", host.complaints[1])
            with pytest.raises(PageGone, match="nothing"):
                await framed.call("() => nothing")
            await host.page.close()
            await listener.until(1 + len(sizes), departures=1)
        assert listener.departures == [Departure.REMOVED]
        with pytest.raises(PageGone, match="it was closed"):
            await host.page.evaluate("1")
