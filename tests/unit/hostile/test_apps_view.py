"""A view of MCP Apps in the hands of a hostile host. `tests/hostile/mcp_apps.py` has the lines."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import anyio
import pytest

from mcpframe.frame.core.connection import Candidate, parse_allowed_origins
from mcpframe.frame.core.events import Inbound
from mcpframe.frame.dialects.mcp_apps.roles import VIEW
from mcpframe.frame.host_api.context import ToolInput
from mcpframe.frame.host_api.mcp_apps import HostOfView
from tests.hostile.mcp_apps import (
    CHANGED,
    DAMAGED,
    EARLY,
    FORGED,
    GOOD,
    ID,
    ODD_CONTEXTS,
    RESULT,
    TEXTS,
    TWICE,
    answer,
    answer_without,
)
from tests.hostile.page_side import HOST, PAGE, PageSide
from tests.hostile.values import PROTOTYPE_KEYS, Record, strangers_are_dropped
from tests.support.fake_window import STRANGER

Json = dict[str, Any]
_NUMBERS = itertools.count()


class View(PageSide):
    """A page whose host speaks MCP Apps."""

    @property
    def host(self) -> HostOfView:
        assert isinstance(self.messages.handler, HostOfView)
        return self.messages.handler

    @property
    def methods(self) -> list[Any]:
        return [message.get("method") for message, _ in self.posted]

    async def opens(self) -> None:
        self.tell(GOOD)
        await self.session.begun()
        assert self.methods.count("ui/notifications/initialized") == 1
        await self.works()

    async def works(self) -> None:
        """A request of the host reaches the server, and one of the view gets its answer; all is posted to the host."""
        name = f"good {next(_NUMBERS)}"  # nobody answers it, so that its id stays in use
        self.tell({"jsonrpc": "2.0", "id": name, "method": "tools/list"})
        while getattr((await self.session.streams[0].receive()).message, "id", None) != name:
            pass
        self.posted.clear()
        asking = asyncio.ensure_future(self.host.open_link("https://a.example/"))
        await anyio.wait_all_tasks_blocked()
        self.tell({"jsonrpc": "2.0", "id": self.posted[-1][0]["id"], "result": {}})
        await asking
        assert {target for _, target in self.posted} == {HOST}


@pytest.fixture
async def view() -> AsyncIterator[View]:
    """A view whose host has not answered yet."""
    view = View(Candidate(VIEW, parse_allowed_origins([HOST])))
    yield view
    view.close()


@pytest.fixture
async def opened(view: View) -> View:
    await view.opens()
    return view


async def test_damaged_answers_open_nothing(view: View, record_property: Record) -> None:
    view.tell(*DAMAGED.values())
    assert set(view.methods) == {"ui/initialize"}
    await view.opens()
    record_property("lines", len(DAMAGED))


async def test_a_second_answer_changes_nothing(view: View, record_property: Record) -> None:
    other = {**RESULT, "hostInfo": {"name": "Another", "version": "2"}, "hostContext": {"theme": "light"}}
    refusal = {**answer_without("result"), "error": {"code": -1, "message": "no"}}
    again = answer(result={**RESULT, "protocolVersion": "1999-01-01"})
    view.tell(GOOD, answer(result=other), refusal, answer(result=other), again)
    await view.session.begun()
    assert (view.host.name, view.host.context.theme) == ("A host", "dark")
    assert view.methods.count("ui/notifications/initialized") == 1
    await view.works()
    record_property("lines", 4)


@pytest.mark.parametrize("late", [False, True], ids=["answer", "change"])
async def test_odd_contexts_are_passed_over(view: View, late: bool, record_property: Record) -> None:
    if late:
        await view.opens()
        view.tell(*({"jsonrpc": "2.0", "method": CHANGED, "params": context} for context in ODD_CONTEXTS.values()))
    else:
        keys = [json.dumps(key)[2:12] for key in PROTOTYPE_KEYS]  # __proto__ and constructor
        refused = [each for each in ODD_CONTEXTS.values() if any(key in json.dumps(each) for key in keys)]
        view.tell(*(answer(result={**RESULT, "hostContext": context}) for context in refused))
        assert set(view.methods) == {"ui/initialize"}
        merged: Json = {}
        for context in ODD_CONTEXTS.values():
            merged |= {} if context in refused else context
        view.tell(answer(result={**RESULT, "hostContext": merged}))
        await view.session.begun()
    await view.works()
    view.tell({"jsonrpc": "2.0", "method": CHANGED, "params": {"theme": "light", "safeAreaInsets": {"top": 1}}})
    assert view.host.context.theme == "light"
    record_property("lines", len(ODD_CONTEXTS))


async def test_strangers_are_dropped_unread(view: View, record_property: Record) -> None:
    lines = await strangers_are_dropped(view.deliver, view.opens, origin=HOST, host=PAGE)
    lines += await strangers_are_dropped(view.deliver, view.works, origin=HOST, host=PAGE)
    assert view.host.context.theme == "dark"
    record_property("lines", lines)


async def test_a_host_that_may_not_embed_it_is_told_nothing_more(view: View, record_property: Record) -> None:
    view.tell(*FORGED, origin=STRANGER)
    assert set(view.methods) == {"ui/initialize"}
    assert all("result" not in message for message, _ in view.posted)
    await view.opens()
    record_property("lines", len(FORGED))


async def test_what_comes_out_of_order_breaks_nothing(view: View, record_property: Record) -> None:
    view.tell(*EARLY)
    await view.opens()
    assert view.host.context.theme == "dark"
    assert await view.host.tool_input() == ToolInput({"early": 2})
    view.tell(*TWICE)
    await view.works()
    record_property("lines", len(EARLY) + len(TWICE))


async def test_a_teardown_twice_and_with_an_odd_reason(opened: View, record_property: Record) -> None:
    reasons = [{"reason": {"a": [1]}}, {"reason": None}, {}, {"reason": "x" * 100_000}]
    for number, params in enumerate(reasons):
        opened.tell({"jsonrpc": "2.0", "id": number, "method": "ui/resource-teardown", "params": params})
    await anyio.wait_all_tasks_blocked()
    answers = [message for message, _ in opened.posted if "result" in message]
    assert answers == [{"jsonrpc": "2.0", "id": number, "result": {}} for number in range(len(reasons))]
    await opened.works()
    record_property("lines", len(reasons))


async def test_ids_that_collide_are_kept_apart(opened: View, record_property: Record) -> None:
    """The host's requests have the ids of the view's own ones, while these wait."""
    asking = asyncio.ensure_future(opened.host.open_link("https://example.org/"))
    await anyio.wait_all_tasks_blocked()
    waiting = opened.posted[-1][0]["id"]
    ids = [waiting, ID, "outer 2", 0, 1]
    for id_ in ids:
        opened.tell({"jsonrpc": "2.0", "id": id_, "method": "tools/list"})
        assert (await opened.session.streams[0].receive()).message.id == id_
    assert not asking.done()
    opened.tell(*({"jsonrpc": "2.0", "id": waiting, "result": result} for result in ({}, {"isError": True})))
    await asking
    await opened.works()
    record_property("lines", len(ids) + 1)


async def test_texts_that_are_no_message_reach_nobody(opened: View, record_property: Record) -> None:
    for text in TEXTS:
        for each in (text, json.dumps(text)):
            with suppress(RecursionError):
                opened.deliver(Inbound(HOST, True, lambda each=each: each))
    await opened.works()
    record_property("lines", 2 * len(TEXTS))


async def test_a_flood_leaves_the_view_alive(opened: View, record_property: Record) -> None:
    for number in range(5000):
        partial = {"arguments": {"n": number}}
        opened.tell(
            {"jsonrpc": "2.0", "method": "ui/notifications/tool-input-partial", "params": partial},
            {"jsonrpc": "2.0", "method": CHANGED, "params": {"locale": f"x-{number}"}},
            {"jsonrpc": "2.0", "id": f"nobody's {number}", "result": {}},
            {"source": "react-devtools", "n": number},
        )
    assert opened.host.context.locale == "x-4999"
    await opened.works()
    record_property("lines", 4)
