"""A hub in a world of its own: ports, tabs, a store and a clock that a test moves by hand."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from mcpframe.hub.core.codec import Form, hub_message, to_hub
from mcpframe.hub.core.errors import TabLoadError
from mcpframe.hub.core.hub import Hub
from mcpframe.hub.core.messages import FromHub, FromProxy, ResourceRead, ToolAnswer, ToolCall, ToolList
from mcpframe.hub.core.options import HubOptions
from mcpframe.hub.core.transport import PortTransport, TextPort
from tests.support.settling import settled

SCHEMA: dict[str, Any] = {"type": "object"}
ENVELOPE: dict[str, Any] = {
    "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
}
"""The `_meta` of a request in the protocol era without a handshake."""


def tool(name: str, *, description: str | None = None, **annotations: Any) -> dict[str, Any]:
    made: dict[str, Any] = {"name": name, "inputSchema": SCHEMA}
    if description is not None:
        made["description"] = description
    return {**made, "annotations": annotations} if annotations else made


def text_result(text: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}]}


class FakeClock:
    def __init__(self) -> None:
        self.seconds = 1000.0
        self.since_1970 = 1_800_000_000.0
        self._timers: list[tuple[float, int, Callable[[], object]]] = []
        self._stopped: set[int] = set()
        self._numbers = itertools.count()

    def now(self) -> float:
        return self.seconds

    def wall(self) -> float:
        return self.since_1970

    def call_later(self, seconds: float, callback: Callable[[], object]) -> Callable[[], None]:
        number = next(self._numbers)
        heapq.heappush(self._timers, (self.seconds + seconds, number, callback))
        return lambda: self._stopped.add(number)

    @property
    def pending(self) -> int:
        """How many timers are set."""
        return sum(number not in self._stopped for _, number, _ in self._timers)

    async def pass_(self, seconds: float) -> None:
        """Advance the time: each timer, and its effects, run at their time."""
        await settled()
        end = self.seconds + seconds
        while self.next_timer(end):
            await settled()
        await settled()

    def next_timer(self, end: float) -> bool:
        """Have time pass until the next timer, and call it; else until `end`. Returns whether there was one."""
        while self._timers and self._timers[0][0] <= end:
            due, number, callback = heapq.heappop(self._timers)
            if number not in self._stopped:
                self._pass_until(due)
                callback()
                return True
        self._pass_until(end)
        return False

    def _pass_until(self, time: float) -> None:
        passed = max(0.0, time - self.seconds)
        self.since_1970 += passed
        self.seconds += passed


class FakePort(TextPort):
    """A port, with the proxy and the page behind it."""

    def __init__(self, transport: PortTransport, tab: int, url: str, form: Form = "json-rpc") -> None:
        super().__init__(tab, url, self._take, self._end, transport)
        self.form = form
        self.posted: list[dict[str, Any]] = []
        self.open = True
        self.broken = False
        transport.connected(self)

    def _take(self, text: str) -> None:
        if self.broken or not self.open:
            raise OSError("the port is closed")
        self.posted.append(json.loads(text))

    def _end(self) -> None:
        self.open = False

    def says(self, *said: Any) -> None:
        """Say something, whatever it is."""
        for each in said:
            self.received(json.dumps(to_hub(each, self.form) if isinstance(each, FromProxy) else each))

    def registers(
        self,
        *tools: Any,
        first: bool = True,
        url: str | None = None,
        browser: frozenset[str] = frozenset(),
        resources: Sequence[Any] = (),
        templates: Sequence[Any] = (),
    ) -> FakePort:
        self.says(ToolList(tools, first, url, browser, resources, templates))
        return self

    def ends(self) -> None:
        self.open = False
        self._transport.closed(self)

    @property
    def heard(self) -> list[FromHub]:
        return [read for each in self.posted if (read := hub_message(each)) is not None]

    @property
    def calls(self) -> list[ToolCall]:
        return [each for each in self.heard if isinstance(each, ToolCall)]

    @property
    def reads(self) -> list[ResourceRead]:
        return [each for each in self.heard if isinstance(each, ResourceRead)]

    def answers(self, result: Any, number: int = -1) -> None:
        """Answer a call: with a result, or with a text that says why there is none."""
        self.says(answer(self.calls[number].id, result))

    def answers_read(self, result: Any) -> None:
        """Answer the last read; see `answers`."""
        self.says(answer(self.reads[-1].id, result))


def answer(id_: str, result: Any) -> ToolAnswer:
    return ToolAnswer(id_, None, result) if isinstance(result, str) else ToolAnswer(id_, result)


class FakeTabs:
    """The tabs of a browser."""

    def __init__(self) -> None:
        self.urls: dict[int, str] = {}
        self.looked_at: int | None = None
        self.opened: list[str] = []
        self.failing = 0
        self.on_open: Callable[[int, str], Awaitable[None]] | None = None
        self._numbers = itertools.count(1000)

    async def list(self) -> Mapping[int, str | None]:
        return dict(self.urls)

    async def active(self) -> int | None:
        return self.looked_at

    async def open(self, url: str) -> int:
        self.opened.append(url)
        if self.failing:
            self.failing -= 1
            raise TabLoadError("net::ERR_CONNECTION_REFUSED")
        tab = next(self._numbers)
        self.urls[tab] = url
        if self.on_open is not None:
            await self.on_open(tab, url)
        return tab

    async def url(self, tab: int) -> str | None:
        return self.urls.get(tab)


class FakeStore:
    def __init__(self) -> None:
        self.values: dict[str, str] = {}
        self.error: Exception | None = None

    async def get(self, key: str) -> str | None:
        self._check()
        return self.values.get(key)

    async def set(self, key: str, value: str) -> None:
        self._check()
        self.values[key] = value

    async def delete(self, key: str) -> None:
        self._check()
        self.values.pop(key, None)

    async def keys(self) -> Sequence[str]:
        self._check()
        return list(self.values)

    def _check(self) -> None:
        if self.error is not None:
            raise self.error


class HubWorld:
    """The hub, and all that is around it."""

    def __init__(self, options: HubOptions | None = None, store: FakeStore | None = None) -> None:
        self.clock = FakeClock()
        self.transport = PortTransport(self.clock)
        self.tabs = FakeTabs()
        self.store = store or FakeStore()
        self.hub = Hub(self.transport, self.tabs, self.store, self.clock, options)
        self.changes = 0
        self.hub.subscribe(self._changed)

    def _changed(self) -> None:
        self.changes += 1

    def page(self, tab: int, url: str, *tools: Any, form: Form = "json-rpc") -> FakePort:
        """Have a page with tools be in a tab."""
        self.tabs.urls[tab] = url
        return FakePort(self.transport, tab, url, form).registers(*tools)

    def close(self, port: FakePort) -> None:
        """Close a tab."""
        self.tabs.urls.pop(port.tab, None)
        port.ends()

    def calling(self, name: str, **arguments: Any) -> asyncio.Task[Any]:
        """Call a tool."""
        return asyncio.create_task(self.hub.call(name, arguments))

    @property
    def names(self) -> list[str]:
        return [each["name"] for each in self.hub.definitions]

    @property
    def descriptions(self) -> list[str]:
        return [each["description"] for each in self.hub.definitions]


@asynccontextmanager
async def hub_world(options: HubOptions | None = None, store: FakeStore | None = None) -> AsyncIterator[HubWorld]:
    """Yield a running hub; afterwards nothing of it waits."""
    world = HubWorld(options, store)
    async with world.hub.running():
        yield world
    assert world.transport.pending == 0
    assert not world.hub.waits
