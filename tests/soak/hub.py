"""The hub in a soak: tabs open, close, reload and crash, while clients of both eras call their tools and cancel."""

from __future__ import annotations

import asyncio
import gc
import itertools
import random
import shutil
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import anyio
import mcp_types as types
from mcp import Client, MCPError
from mcp.client._transport import TransportStreams
from mcp.shared.memory import create_client_server_memory_streams

from mcpframe.hub.core.hub import Hub
from mcpframe.hub.serving.server import HubServer
from mcpframe.kit.base.errors import BrowserGone
from mcpframe.kit.hub.run import HubSettings, run_hub
from mcpframe.kit.hub.tabs.browser_tabs import BrowserTabs
from mcpframe.kit.hub.tabs.tab_page import HubPage
from mcpframe.kit.web.serve import serve_folder
from tests.soak.clients import PATIENCE
from tests.soak.tally import Failures, Tally, WarmUp

_SITES = ("shop", "board", "mail")
_TOOLS = 3
_CALLERS: tuple[Literal["legacy", "auto"], ...] = ("legacy", "auto", "auto")
_BURST = 200
"""How many calls a client makes before another one takes its place."""
_GROWTH = 32
"""Megabytes by which the memory of the process may differ: what the allocator keeps."""
_HTML = """<!doctype html>
<meta charset="utf-8">
<link rel="icon" href="data:,">
<script src="hub_page.js"></script>
"""


@dataclass(frozen=True)
class HubBounds:
    """The limits of a soak of the hub.

    Attributes:
        calls: how many calls are made.
        cycles: how many tabs are opened, closed, loaded again or crashed meanwhile.
        seconds: how long it may take; then it ends with what was made so far.
        tabs: how many tabs there are at a time.
    """

    calls: int
    cycles: int
    seconds: float
    tabs: int = 6


def soak_hub(folder: Path, bounds: HubBounds, seed: int, tell: Callable[[Tally], None] = lambda _: None) -> Tally:
    """Run a hub with a Chromium of its own, and return what happened, and what is left.

    Args:
        folder: for the pages and the profile.
        bounds: when to end.
        seed: the seed of the random choices.
        tell: called now and then with the counts so far.
    """
    tally = Tally()
    site = folder / "site"
    site.mkdir(parents=True)
    shutil.copy(Path(__file__).with_name("hub_page.js"), site)
    (site / "index.html").write_text(_HTML, "utf-8")
    failures = Failures(tally)

    async def serve(server: HubServer) -> None:
        with failures.installed():
            await _Soak(server, port, tally, bounds, random.Random(seed), tell).run()

    with serve_folder(site) as served:
        port = served.port
        run_hub(HubSettings(profile=folder / "profile", headless=True), serve)
    return tally


class _Soak:
    def __init__(
        self,
        server: HubServer,
        port: int,
        tally: Tally,
        bounds: HubBounds,
        chance: random.Random,
        tell: Callable[[Tally], None],
    ) -> None:
        self.server = server
        assert isinstance(server._hub, Hub)
        self.hub = server._hub
        tabs = self.hub._tabs._tabs
        assert isinstance(tabs, BrowserTabs)
        self.tabs = tabs
        self.port = port
        self.tally = tally
        self.bounds = bounds
        self.chance = chance
        self.tell = tell
        self.pages: dict[str, HubPage] = {}
        """The pages that are open, by what they answer."""
        self.tab_of: dict[str, int] = {}
        """The tabs of all pages that have been open."""
        self.answered: dict[str, int] = {}
        """By the name of a tool, in which tab it is."""
        self.cycles = 0
        self.numbers = itertools.count(1)
        self.until = asyncio.get_running_loop().time() + bounds.seconds

    async def run(self) -> None:
        """Do everything, and count what is left."""
        before, warm_up = dict[str, int](), WarmUp(self.bounds.seconds)
        async with asyncio.TaskGroup() as tasks:
            for _ in range(self.bounds.tabs):
                await self._open()
            idle = asyncio.all_tasks()
            working = [tasks.create_task(self._cycle()), *(tasks.create_task(self._call(era)) for era in _CALLERS)]
            while not all(task.done() for task in working):
                await asyncio.wait(working, timeout=1)
                self.tell(self.tally)
                if not before and warm_up.is_over(self._progress()):
                    before = memory()
        await self._count_what_is_left(before, idle)

    def _progress(self) -> float:
        return min(self._share_of_calls(), self._share_of_cycles())

    def _share_of_cycles(self) -> float:
        return self.cycles / self.bounds.cycles

    def _share_of_calls(self) -> float:
        return self.tally.calls / self.bounds.calls

    def _goes_on(self) -> bool:
        return self._progress() < 1 and asyncio.get_running_loop().time() < self.until

    # The tabs

    async def _cycle(self) -> None:
        """One cycle after another, no faster than the calls."""
        while self._goes_on():
            name = self.chance.choice(list(self.pages))
            kind = self.chance.choice(("closed", "loaded again", "crashed", "left"))
            if self.cycles < self.bounds.cycles:
                self.cycles += 1
                self.tally.measured[f"tabs {kind}"] += 1
                try:
                    async with asyncio.timeout(PATIENCE):
                        await self._end(name, kind)
                except (TimeoutError, BrowserGone) as error:
                    self.tally.lost.append(f"a tab that was {kind}: {error!r}")
                    self.until = 0  # there is no use in more
            await self._happens(lambda: not self._goes_on() or self._share_of_cycles() <= self._share_of_calls())

    async def _open(self) -> None:
        name = f"{self.chance.choice(_SITES)}-{next(self.numbers)}"
        page = await self.tabs.new_page()
        self.tab_of[name] = page.tab
        await page.load(self._url(name))
        self.pages[name] = page
        await self._registered(page)

    def _url(self, name: str) -> str:
        return f"http://{name.partition('-')[0]}.localhost:{self.port}/index.html?{name}"

    async def _end(self, name: str, kind: str) -> None:
        page = self.pages[name]
        entry = self.hub._registry.tab(page.tab)
        if kind == "closed":
            del self.pages[name]
            self.tabs.close(page)
            await self._happens(lambda: self.hub._registry.tab(page.tab) is None)
            await self._open()
            return
        if kind == "crashed":
            page.devtools.post("Page.crash", page.session)
            await self._happens(lambda: self.hub._registry.tab(page.tab) is None)
        if kind == "left":  # the same tab has another page
            del self.pages[name]
            name = f"{self.chance.choice(_SITES)}-{next(self.numbers)}"
            self.pages[name] = page
            self.tab_of[name] = page.tab
        page.devtools.post("Page.navigate", page.session, url=self._url(name))
        await self._happens(lambda: self.hub._registry.tab(page.tab) not in (None, entry))
        await self._registered(page)

    async def _registered(self, page: HubPage) -> None:
        def has_tools() -> bool:
            entry = self.hub._registry.tab(page.tab)
            return entry is not None and len(entry.tools) >= _TOOLS

        await self._happens(has_tools)

    async def _happens(self, condition: Callable[[], bool], pause: float = 0.005) -> None:
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(pause)  # the browser's doing is not reported

    # The clients

    async def _call(self, era: Literal["legacy", "auto"]) -> None:
        while self._goes_on():
            async with Client(self._streams(), mode=era, cache=None) as client:
                for number in range(_BURST):
                    if not self._goes_on():
                        return
                    if number % 20 == 0:
                        names = [tool.name for tool in (await client.list_tools()).tools]
                    if names:
                        await self._call_one(client, era, self.chance.choice(names))

    @asynccontextmanager
    async def _streams(self) -> AsyncIterator[TransportStreams]:
        async with create_client_server_memory_streams() as (client, (read, write)), anyio.create_task_group() as tasks:
            tasks.start_soon(self.server.server.run, read, write, self.server.options)
            yield client
            tasks.cancel_scope.cancel()

    async def _call_one(self, client: Client, era: str, name: str) -> None:
        if name.endswith("_wait"):
            await self._cancel(client, era, name)
            return
        text = f"{next(self.numbers)} " + "x" * self.chance.choice((0, 10, 1000, 100_000))
        kind = "answered"
        try:
            async with asyncio.timeout(PATIENCE):
                result = await client.call_tool(name, {"text": text})
            answer = result.content[0].text if isinstance(result.content[0], types.TextContent) else ""
            page, _, rest = answer.partition(": ")
            if result.is_error:
                kind = "ended with its tab"  # the page's own error, as it was left
            elif rest.partition(" ")[2] != text or self._tab_of(name, page) != self.tab_of[page]:
                self.tally.lost.append(f"{name} ({era}): {answer[:100]!r} for {text[:100]!r}")
        except MCPError as error:
            kind = self._failed(error, name)
        except Exception as error:  # noqa: BLE001  any other error is a lost answer
            self.tally.lost.append(f"{name} ({era}): {error!r}")
        self.tally.done[f"hub, {era}, {kind}"] += 1

    def _tab_of(self, name: str, page: str) -> int:
        """Return the tab of a tool: of the page that has answered it first, which no name ever changes."""
        return self.answered.setdefault(name, self.tab_of[page])

    def _failed(self, error: MCPError, name: str) -> str:
        reason = (error.error.data or {}).get("reason")
        if reason not in ("TabClosed", "TabNotFound"):
            self.tally.lost.append(f"{name}: {error!r}")
        return "ended with its tab"

    async def _cancel(self, client: Client, era: str, name: str) -> None:
        self.tally.done[f"hub, {era}, cancelled"] += 1
        began = asyncio.Event()

        async def on_progress(*_: object) -> None:
            began.set()

        async def wait() -> None:
            try:
                await client.call_tool(name, {}, progress_callback=on_progress)
            except MCPError as error:
                self._failed(error, name)
            began.set()  # its tab has ended

        try:
            async with asyncio.timeout(PATIENCE), anyio.create_task_group() as tasks:
                tasks.start_soon(wait)
                await began.wait()
                tasks.cancel_scope.cancel()
        except Exception as error:  # noqa: BLE001
            self.tally.lost.append(f"{name} ({era}), cancelled: {error!r}")

    # What is left

    async def _count_what_is_left(self, before: Mapping[str, int], idle: set[asyncio.Task[Any]]) -> None:
        left = self.tally.left
        waits = 0
        async with Client(self._streams(), cache=None) as client:
            for tool in (await client.list_tools()).tools:
                if tool.name.endswith("_echo"):
                    [content] = (await client.call_tool(tool.name, {"text": ""})).content
                    assert isinstance(content, types.TextContent)
                    waits += int(content.text.split()[1])
        left["calls at work in pages"] = waits
        for name in list(self.pages):
            self.tabs.close(self.pages.pop(name))
        devtools = await self.tabs.started()

        def tables() -> dict[str, int]:
            transport: Any = self.hub._transport
            gc.collect()
            extra = [task for task in asyncio.all_tasks() - idle if not task.done()]
            return {
                "calls in the hub": transport.pending,
                "ports": len(transport._tabs),
                "tabs in the hub": len(self.hub._registry),
                "tools": len(self.hub.definitions),
                "tabs of the browser, but for its first": len(self.tabs._pages) - 1,
                "ids of tabs, but for its first": len(self.tabs._tabs) - 1,
                "handlers of tabs, but for its first": len(devtools._handlers) - 2,
                "calls that wait for a tab": len(self.hub._changes) + len(self.hub._openings),
                "tabs with a pace": len(self.hub._pace._tabs),
                "listeners": len(self.hub._listeners) - 1,
                "tasks": len(extra),
            }

        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                await self._happens(lambda: not any(tables().values()), 0.1)
        left |= tables()
        names = self.hub._registry._names
        left["names beyond those that are kept"] = max(0, len(names) - names._most_retired)
        now = memory()
        for what, size in before.items():
            grown = now[what] - size
            left[f"MB of memory beyond {_GROWTH}, after a warm-up"] = max(0, grown - _GROWTH)
            self.tally.measured[f"MB {what} in the hub's process, {grown:+} since the warm-up"] = now[what]


def memory() -> dict[str, int]:
    """Return the memory of this process in megabytes; nothing where the system does not say."""
    gc.collect()
    status = Path("/proc/self/status")
    if not status.exists():
        return {}
    [line] = [line for line in status.read_text("utf-8").splitlines() if line.startswith("VmRSS:")]
    return {"resident": int(line.split()[1]) // 1024}
