"""A host of MCP Apps with hostile views, proxies and servers. `tests/hostile/mcp_apps.py` has the lines."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.server.mcpserver import MCPServer

from mcpframe.frame.core.errors import PeerGone
from mcpframe.frame.core.events import Inbound
from mcpframe.frame.hosting.mcp_apps.host import AppHost
from mcpframe.frame.hosting.mcp_apps.view import RunningView
from tests.hostile.mcp_apps import BAD_OPENINGS, INITIALIZE, INITIALIZED, ODD_REQUESTS, REFUSED, SIZES, UNKNOWN
from tests.hostile.values import LINKS, Record, strangers_are_dropped
from tests.support.app_view import HOST, ORIGIN, READY, SANDBOX, weather
from tests.support.fake_place import FakePlace
from tests.support.fake_window import FakeWindow

Json = dict[str, Any]
SIZE_CHANGED = "ui/notifications/size-changed"


class View:
    """A view by hand behind its proxy, and its host.

    Attributes:
        heard: what it has heard.
        notes: which functions of the host were called, with what.
    """

    running: RunningView

    def __init__(self, client: Client) -> None:
        self.heard: list[Any] = []
        self.notes: list[Any] = []
        self.place = FakePlace(HOST, self._run)
        asked = ("link", "message", "download", "model_context", "display_mode", "sampling")
        told = ("log", "tools_changed", "teardown_request")
        hooks: Json = {f"on_{name}": self._noting(name, name in asked) for name in (*asked, *told)}
        self.host = AppHost(client, "forecast", sandbox=SANDBOX, **hooks)
        self._changed = anyio.Event()

    def _noting(self, name: str, answer: bool) -> Any:
        return lambda *given: self.notes.append((name, *given)) or answer

    async def _run(self, window: FakeWindow, framing: Any) -> None:
        self.window = window
        window.listen(self._hear, lambda departure: None)
        self.say(READY)
        await anyio.sleep_forever()

    def _hear(self, inbound: Inbound) -> None:
        message = json.loads(inbound.read())
        if message.get("method") == "ui/resource-teardown":
            self.say({"jsonrpc": "2.0", "id": message["id"], "result": {}})
        self.heard.append(message)
        self._changed.set()

    def say(self, *messages: Any) -> None:
        for message in messages:
            self.window.post(json.dumps(message), "*")

    async def hears(self, accepts: Any) -> Json:
        """Wait for a message, and return it."""
        while True:
            for message in self.heard:
                if accepts(message):
                    return dict(message)
            self._changed = anyio.Event()
            await self._changed.wait()

    async def ask(self, id_: Any, method: str, params: Any) -> Json:
        self.say({"jsonrpc": "2.0", "id": id_, "method": method, "params": params})
        return await self.hears(lambda message: message.get("id") == id_ and "method" not in message)

    async def opens(self) -> None:
        """A good handshake opens the session."""
        self.say(INITIALIZE)
        await self.hears(lambda message: message.get("id") == "hello")
        self.say(INITIALIZED)
        await self.running.initialized()
        await self.works()

    async def works(self) -> None:
        """A good call works, and the host posts to nobody else."""
        answer = await self.ask(f"works {len(self.heard)}", "tools/call", {"name": "plain", "arguments": {"text": "x"}})
        assert answer["result"]["content"][0]["text"] == "x"
        assert {target for _, target in self.place.windows[0].posted} == {ORIGIN}


@asynccontextmanager
async def shown(server: MCPServer | None = None) -> AsyncIterator[View]:
    async with Client(server or weather()) as client:
        view = View(client)
        async with view.host.show(view.place) as view.running:
            await view.hears(lambda message: message.get("method") == "ui/notifications/sandbox-resource-ready")
            yield view


@pytest.fixture
async def view() -> AsyncIterator[View]:
    """A view that has its HTML, and has said nothing yet."""
    async with shown() as view:
        yield view


@pytest.fixture
async def opened(view: View) -> View:
    await view.opens()
    return view


async def test_damaged_openings_open_nothing(view: View, record_property: Record) -> None:
    view.running.input({"place": "Wien"})
    view.running.change_context({"theme": "dark"})
    view.say(*BAD_OPENINGS.values(), INITIALIZE)
    answer = await view.hears(lambda message: "hostInfo" in message.get("result", {}))
    assert answer["result"]["protocolVersion"] == "2026-01-26"
    methods = {message["method"] for message in view.heard if "method" in message}
    assert methods == {"ui/notifications/sandbox-resource-ready"}, "nothing is sent before initialized"
    await view.opens()
    assert view.notes == []
    record_property("lines", len(BAD_OPENINGS))


async def test_what_is_no_link_is_not_opened(opened: View, record_property: Record) -> None:
    for number, url in enumerate(LINKS):
        answer = await opened.ask(f"link {number}", "ui/open-link", {"url": url})
        assert answer["error"]["code"] == -32602, url
    assert opened.notes == []
    assert "result" in await opened.ask("good", "ui/open-link", {"url": "https://a.example/?q=1#x"})
    assert opened.notes == [("link", "https://a.example/?q=1#x")]
    await opened.works()
    record_property("lines", len(LINKS))


async def test_odd_requests_are_errors(opened: View, record_property: Record) -> None:
    unknown = [(method, {}) for method in UNKNOWN]
    for number, (method, params) in enumerate([*REFUSED, *unknown, *ODD_REQUESTS]):
        answer = await opened.ask(f"odd {number}", method, params)
        if (method, params) in ODD_REQUESTS:
            assert "error" in answer or answer["result"]["isError"], (method, params)
        else:
            code = -32601 if (method, params) in unknown else -32602
            assert answer.get("error", {}).get("code") == code, (method, params)
    assert opened.notes == []
    await opened.works()
    record_property("lines", len(REFUSED) + len(UNKNOWN) + len(ODD_REQUESTS))


async def test_odd_sizes_and_thousands_of_them(opened: View, record_property: Record) -> None:
    sizes = [*SIZES, *({"height": height} for height in range(1, 5001)), {"height": 321}]
    opened.say(*({"jsonrpc": "2.0", "method": SIZE_CHANGED, "params": size} for size in sizes))
    await opened.works()
    window = opened.place.windows[0]
    await window.resized_to(321)
    assert all(0 <= height <= 10_000 for _, height in window.sizes if height is not None)
    assert len(window.sizes) < 1000
    assert opened.running.size[1] == 321
    record_property("lines", len(SIZES) + 1)


async def test_ids_that_collide_and_floods(opened: View, record_property: Record) -> None:
    async with anyio.create_task_group() as tasks:
        answers: list[Any] = []

        async def asking() -> None:
            answers.append(await opened.running.request("ping", {}))

        tasks.start_soon(asking)
        waiting = (await opened.hears(lambda message: message.get("method") == "ping"))["id"]
        answer = await opened.ask(waiting, "ui/open-link", {"url": "https://a.example/"})
        assert (answer["result"], answers) == ({}, [])
        guessed = (f"{waiting}0", None, {"id": waiting}, [waiting])
        opened.say(*({"jsonrpc": "2.0", "id": id_, "result": {"forged": 1}} for id_ in guessed))
        opened.say({"jsonrpc": "2.0", "id": waiting, "result": {"mine": 1}})
    assert answers == [{"mine": 1}]
    opened.say({"jsonrpc": "2.0", "id": waiting, "result": {"mine": 2}})
    for number in range(3000):
        opened.say(
            {"jsonrpc": "2.0", "id": f"flood {number}", "method": "ping", "params": {}},
            {"jsonrpc": "2.0", "id": f"nobody's {number}", "result": {}},
            {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": number}},
        )
    await opened.hears(lambda message: message.get("id") == "flood 2999")
    await opened.works()
    record_property("lines", 5 + len(guessed))


async def test_strangers_are_dropped_unread(view: View, record_property: Record) -> None:
    window = view.place.windows[0]
    lines = await strangers_are_dropped(window.take, view.opens, origin=ORIGIN, host=HOST)
    lines += await strangers_are_dropped(window.take, view.works, origin=ORIGIN, host=HOST)
    assert view.notes == []
    record_property("lines", lines)


async def test_a_proxy_that_speaks_twice_gets_one_session(view: View, record_property: Record) -> None:
    """Before the view has begun it gets the same again; afterwards it is another document."""
    view.say(READY)
    await view.opens()
    view.say(READY)
    assert isinstance((await view.running.ended()).error, PeerGone)
    record_property("lines", 2)
