"""The matrix of bad input and attacks of page servers at the relay.

line                                            what must happen
messages and answers of any shape               calls are answered once, what is sent to the hub can be read
lists without end, of any size                  they end, and so does what is kept of them
a page that never answers                       nothing is kept of what was asked
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from typing import Any

from mcpframe.hub.core.messages import CallCancelled, FromProxy, RefreshRequest, ToolAnswer, ToolCall, ToolList
from mcpframe.hub.relay.relay import Relay
from tests.hostile.values import ODD, Record
from tests.support.fake_hub import FakeClock, FakePort, hub_world, tool
from tests.unit.hub.core.test_matrix_hub import DEEP, EVIL, all_good

Json = dict[str, Any]


class LyingPage:
    """A page server whose answers a test makes up, and the hub's end of its relay."""

    def __init__(self, **answers: Any) -> None:
        self.clock = FakeClock()
        self.answers: Json = {"initialize": {"capabilities": {"tools": {"listChanged": True}}}, **answers}
        self.asked: list[Json] = []
        self.sent: list[FromProxy] = []
        self.relay = Relay(self._hear, self.sent.append, self.clock)
        self.relay.start()

    def _hear(self, message: Any) -> None:
        self.asked.append(message)
        answer = self.answers.get(message.get("method", ""))
        if "id" in message and answer is not None:
            self.says(answer(message) if callable(answer) else answer, message["id"])

    def says(self, result: Any, id_: Any) -> None:
        self.relay.from_page({"jsonrpc": "2.0", "id": id_, "result": result})

    @property
    def lists(self) -> list[Any]:
        return [each.tools for each in self.sent if isinstance(each, ToolList)]

    def call(self, id_: str = "c") -> None:
        self.relay.from_hub(ToolCall(id_, "pay", {}, progress=True))

    def answered(self, id_: str = "c") -> list[Any]:
        return [each.result for each in self.sent if isinstance(each, ToolAnswer) and each.id == id_]


async def test_a_page_server_with_messages_of_any_shape(record_property: Record) -> None:
    page = LyingPage(**{"tools/list": {"tools": [tool("pay")]}})
    page.call()
    id_ = page.asked[-1]["id"]
    lines: list[Any] = list(ODD)
    for odd in ODD:
        lines += [
            {"jsonrpc": "2.0", "id": odd, "result": {}},
            {"jsonrpc": "2.0", "id": id_, "result": odd} if not isinstance(odd, dict) else odd,
            {"jsonrpc": "2.0", "id": id_, "error": odd},
            {"jsonrpc": "2.0", "id": id_, "error": {"code": odd, "message": 7}},
            {"jsonrpc": "2.0", "id": odd, "method": "ping"},
            {"jsonrpc": "2.0", "id": 1, "method": odd},
            {"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": odd},
            {"jsonrpc": "2.0", "method": "notifications/progress", "params": odd},
            {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": odd, "progress": odd}},
            {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": id_, "progress": odd}},
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": odd}},
        ]
    for line in lines:
        page.relay.from_page(line)
    assert page.answered() == []
    assert page.lists == [[tool("pay")]]
    page.says({"content": []}, id_)
    page.says({"content": ["again"]}, id_)
    assert page.answered() == [{"content": []}]
    page.relay.close()
    page.says({"content": []}, id_)
    assert page.clock.pending == page.relay.pending == 0
    record_property("lines", len(lines) + 2)


async def test_page_servers_with_answers_of_any_shape(record_property: Record) -> None:
    lines = 0
    for odd in [*ODD, DEEP]:
        for answers in (
            {"initialize": {"capabilities": odd}},
            {"initialize": {"capabilities": {"tools": odd, "browser": odd}}},
            {"initialize": {"capabilities": {"tools": {"listChanged": odd}}, "protocolVersion": odd}},
            {"tools/list": {"tools": odd}},
            {"tools/list": {"tools": [odd], "nextCursor": odd if odd != "x" * 5000 else None}},
        ):
            page = LyingPage(**{"tools/list": {"tools": [tool("pay")]}, **answers})
            page.relay.from_page({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
            await page.clock.pass_(100)
            page.call()
            page.says({"content": []}, page.asked[-1]["id"])
            assert len(page.answered()) == 1
            async with hub_world() as world:
                port = FakePort(world.transport, 1, EVIL)
                for message in page.sent:
                    port.says(message)
                all_good(world)
            lines += 1
    record_property("lines", lines)


async def test_page_servers_with_lists_without_end(record_property: Record) -> None:
    """A list ends, whatever the page says; and so does what is kept of it."""
    number = itertools.count()
    endless: dict[str, Callable[[Any], Json]] = {
        "one": lambda _: {"tools": [tool("pay")], "nextCursor": "again"},
        "none": lambda _: {"tools": [], "nextCursor": f"c{next(number)}"},
        "many": lambda _: {"tools": [tool(f"t{n}") for n in range(10_000)], "nextCursor": "again"},
        "large": lambda _: {"tools": [tool("l", description="x" * 4_000_000)] * 2, "nextCursor": "again"},
    }
    for name, answer in endless.items():
        page = LyingPage(**{"tools/list": answer})
        assert len(page.asked) < 60, name
        [listed] = page.lists
        assert len(listed) <= 1000
        assert len(json.dumps(listed)) < 32_000_000, name
    # A page that changes with each reading is read twice a second, and no more often.
    page = LyingPage()
    page.answers["tools/list"] = lambda _: (
        page.relay.from_page({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        or {"tools": [tool(f"t{next(number)}")]}
    )
    page.relay.from_hub(RefreshRequest())
    await page.clock.pass_(100)
    assert len(page.asked) < 210
    record_property("lines", len(endless) + 1)


async def test_page_servers_that_never_answer(record_property: Record) -> None:
    for silent in ("initialize", "tools/list"):
        page = LyingPage(**{silent: None})
        for number in range(300):
            page.call(f"c{number}")
            page.relay.from_hub(CallCancelled(f"c{number}", "late"))
        await page.clock.pass_(3600)
        assert page.relay.pending <= 1
        assert page.clock.pending <= 1
        assert page.lists == []
    record_property("lines", 2)
