"""The matrix of bad input and attacks of pages at the hub, over the hub's own port and through its relay.

    line                                                        what must happen
    messages of any shape over a port                           nothing but a log; the port is heard further
    lists with what is not a tool in them, deep, huge, endless      the tools that are, within limits, in a valid list
    addresses and names that mimic those of others              no name, label or call of theirs
    names that were given out, and floods to have them back     they mean nothing else
    answers for others, double, late, of any shape              one answer for each call, of its own tab
    a page that never answers, or ends in each call             an error with a reason, nothing is repeated
    two proxies in one tab                                      the newer one counts

`test_matrix_relay.py` has page servers that lie to the relay, `tests/bridge/test_hub_hostile.py` pages in a browser.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
import re
from typing import Any

import pytest
from mcp import Client
from mcp_types import methods

from mcpframe.frame.core.visible import DEFAULT_IGNORABLE, visible
from mcpframe.hub.core.codec import Form, hub_message, proxy_message, to_proxy
from mcpframe.hub.core.errors import RequestTimedOut, TabClosed, TabFailed
from mcpframe.hub.core.limits import PAGE_TOOLS
from mcpframe.hub.core.messages import CallCancelled, ToolCall
from mcpframe.hub.core.options import HubOptions
from tests.hostile.values import ODD, Record
from tests.support.fake_hub import FakePort, HubWorld, hub_world, text_result, tool
from tests.support.polling import until
from tests.support.settling import settled
from tests.unit.hub.serving.test_server import served

Json = dict[str, Any]

SHOP, EVIL = "https://shop.example/", "https://evil.example/"
PAY = "website_tool_shop_example_tab1_pay"
FORMS: tuple[Form, ...] = ("json-rpc", "extension")
SURROGATE = "\ud800"
DEEP: Any = {}
for _ in range(50):
    DEEP = {"type": "object", "properties": {"a": DEEP}}


def all_good(world: HubWorld) -> None:
    """What holds whatever a page does: the list is one that strict clients take, and names are unique."""
    definitions = world.hub.definitions
    assert all(re.fullmatch("[a-zA-Z0-9_]{1,128}", name) for name in world.names)
    assert len(set(world.names)) == len(world.names)
    head = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
    for version in ("2024-11-05", "2025-06-18", "2025-11-25", "2026-07-28"):
        methods.validate_server_result("tools/list", version, {**head, "tools": definitions})
    json.dumps(definitions, ensure_ascii=False, allow_nan=False).encode()


async def works(world: HubWorld, port: FakePort, name: str = PAY) -> None:
    """A page's tool can be called, and the page's answer is the result."""
    calling = world.calling(name, amount=1)
    await settled()
    assert port.calls[-1].arguments == {"amount": 1}
    port.answers(text_result(f"paid at {port.url}"))
    assert (await calling)["content"][0]["text"] == f"paid at {port.url}"


TEXTS = [
    *("", "{", "null", "7", "[]", '"x"', "NaN", "1e400", "9" * 10_000, "\0", SURROGATE, '"\\ud800"', "[" * 100_000),
    *(
        '{"a":' * 100_000,
        "[" * 50_000 + "]" * 50_000,
        '{"__proto__": {}}',
        '{"type": "register-tools", "__proto__": 1}',
    ),
    '{"type": "register-tools", "tools": [{"name": "\\ud800", "inputSchema": {"type": "object"}}]}',
    '{"type": "register-tools", "tools": [], "constructor": {"prototype": {}}}',
    '{"type": "tool-result", "requestId": "x", "data": {"success": true, "payload": {"__proto__": {}}}}',
    f'{{"type": "register-tools", "tools": ["{"x" * 17_000_000}"]}}',
]
KINDS = [
    *("browser/registerTools", "browser/updateTools", "notifications/progress", "browser/executeTool", "tools/list"),
    *("register-tools", "tools-updated", "tool-result", "tool-progress", "execute-tool", "request-tools-refresh"),
    *("constructor", "toString", "", "register-tools\0", "REGISTER-TOOLS", "browser/__proto__"),
]


def odd_messages() -> list[Any]:
    lines: list[Any] = list(ODD)
    for kind, odd in itertools.product(KINDS, ODD):
        lines += [
            {"jsonrpc": "2.0", "method": kind, "params": odd},
            {"jsonrpc": odd, "method": kind, "params": {"tools": []}, "type": kind},
            {"type": kind, "requestId": odd, "data": odd, "progress": odd, "total": odd, "message": odd},
            {"type": kind, "tools": {"0": odd, "length": 1}, "tabUrl": odd, "capabilities": odd},
        ]
    for odd in ODD:
        lines += [
            {"jsonrpc": "2.0", "id": odd, "result": odd},
            {"jsonrpc": "2.0", "id": odd, "error": odd},
            {"jsonrpc": "2.0", "id": "x", "error": {"code": odd, "message": odd}},
            {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": odd, "progress": 1}},
            {"jsonrpc": "2.0", "method": odd},
            {"type": odd, "tools": []},
        ]
    return lines


async def test_messages_of_any_shape(record_property: Record) -> None:
    lines = odd_messages()
    async with hub_world() as world:
        port = world.page(1, SHOP, tool("pay"))
        evil = FakePort(world.transport, 2, EVIL)
        for line in lines:
            evil.says(line)
        for text in TEXTS:
            evil.received(text)
        await settled()
        all_good(world)
        assert world.names == [PAY]
        await works(world, port)
        evil.registers(tool("still"))
        await works(world, evil, "website_tool_evil_example_tab1_still")
    record_property("lines", len(lines) + len(TEXTS))


def odd_tools() -> list[Any]:
    good = tool("good")
    lines = [*ODD, *({"name": odd} for odd in ODD), *({"inputSchema": odd, "name": "s"} for odd in ODD)]
    for number, (member, odd) in enumerate(
        itertools.product(("description", "title", "outputSchema", "annotations", "icons", "execution", "_meta"), ODD)
    ):
        lines.append({**good, "name": f"{member} {number}", member: odd})
    for number, (member, odd) in enumerate(itertools.product(("properties", "required", "$schema", "type"), ODD)):
        lines.append({"name": f"{member} {number}", "inputSchema": {"type": "object", member: odd}})
    for number, odd in enumerate(ODD):
        lines.append(tool(f"hints {number}", readOnlyHint=odd, cache=odd, title=odd))
        lines.append({**good, "name": f"own {number}", "own": odd, "constructor": odd, "toString": odd})
    lines += [
        {**good, "name": "deep", "inputSchema": DEEP},
        {**good, "name": "huge", "description": "x" * 100_000},
        {**good, "name": "x" * 300},
        {**good, "name": "a number", "_meta": {"n": 10**300, "m": 1e300}},
    ]
    return lines


async def test_tools_of_any_shape_are_a_valid_list(record_property: Record) -> None:
    """In both eras the official client lists what is left, and calls it."""
    lines = odd_tools()
    async with served() as hub:
        world = hub.world
        for tab, form in enumerate(FORMS, 1):
            world.page(tab, EVIL, *lines, tool("last"), form=form)
        port = world.page(9, SHOP, tool("pay"))
        all_good(world)
        offered = set(world.names)
        assert {"website_tool_evil_example_tab1_last", PAY} <= offered
        assert not [name for name in offered if "huge" in name or "deep" in name]
        for mode in ("legacy", "auto"):
            async with Client(hub.streams(), mode=mode, cache=None) as client:
                assert {each.name for each in (await client.list_tools()).tools} == offered
        await works(world, port)
    record_property("lines", len(lines) * len(FORMS))


async def test_floods_are_bounded(record_property: Record, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "mcpframe.hub")
    async with hub_world() as world:
        port = world.page(1, SHOP, tool("pay"))
        evil = world.page(2, EVIL, *(tool(f"t{number}") for number in range(10_000)))
        await works(world, port)
        assert len(world.names) == PAGE_TOOLS + 1
        # Each of them large: what clients get of one page has a limit, too.
        evil.registers(*(tool(f"l{number}", description="x" * 60_000) for number in range(250)))
        assert len(json.dumps(world.hub.definitions)) < 2_000_000
        assert len(world.names) > 2
        # Of what is left out little is logged.
        caplog.clear()
        evil.registers(*[None] * 10_000, first=False)
        assert len(caplog.records) < 20
        # Lists that change without end: few are taken.
        before = world.changes
        for number in range(2000):
            evil.registers(tool(f"c{number}"), first=False)
        assert world.changes - before < 100
        for _ in range(100):
            evil.registers(tool("again"), first=False)
            await world.clock.pass_(0.01)
        assert world.changes - before < 110
        await world.clock.pass_(1)
        assert world.names == [PAY, "website_tool_evil_example_tab1_again"]
        await works(world, port)
    record_property("lines", 5)


ADDRESSES = [
    *("https://shop.example.evil.example/", "https://evil.example/?https://shop.example/", "https://shop-example/"),
    *("https://shop.example@evil.example/", "https://evil.example#https://shop.example/", "https://shop_example/"),
    *(
        "https://xn--shp-example-ahm/",
        "https://sh\u043ep.example/",
        "https://shop.example./",
        "https://shop\u3002example/",
    ),
    *(
        "about:blank",
        "data:text/html,shop.example",
        "file:///shop.example",
        "https://[::1",
        "",
        "shop.example",
        "https:",
    ),
    *("blob:https://shop.example/1", "filesystem:https://shop.example/x", "view-source:https://shop.example/"),
]
"""Where a page is that wants to be taken for that of `SHOP`."""
MIMICS = [
    *("pay", "pay ", " pay", "pay\0", "pay\n", "p\u0430y", "pa\u200by", "\u202epay", "pay\u2060", "PAY", "tab1_pay"),
    *(
        "shop_example_tab1_pay",
        PAY,
        "website_tool_shop.example_tab1_pay",
        "../pay",
        "pay'",
        'pay"',
        "pay`;",
        "<b>pay</b>",
    ),
    *(
        "__proto__",
        "constructor",
        "toString",
        "hasOwnProperty",
        "\u043fay",
        "\uff50\uff41\uff59",
        "pa\u0301y",
        "p\u00e1y",
    ),
]


async def test_addresses_and_names_that_mimic_those_of_others(record_property: Record) -> None:
    for first in (True, False):  # it may be there before the one that it mimics
        async with hub_world() as world:
            port = world.page(1, SHOP, tool("pay")) if not first else None
            evil = [
                world.page(tab, url, *(tool(name) for name in MIMICS)) for tab, url in enumerate(ADDRESSES, start=10)
            ]
            port = port or world.page(1, SHOP, tool("pay"))
            all_good(world)
            assert len(world.names) == 1 + len(ADDRESSES) * len([name for name in MIMICS if visible(name) == name])
            [mine] = [each for each in world.hub.definitions if each["description"] == "[shop.example]"]
            for name in world.names:
                calling = world.calling(name)
                await settled()
                asked = [each for each in (port, *evil) if each.calls]
                assert [each is port for each in asked] == [name == mine["name"]]
                asked[0].posted.clear()
                calling.cancel()
            await settled()
    record_property("lines", 2 * len(ADDRESSES) * len(MIMICS))


async def test_a_page_that_claims_to_be_another_is_not_taken(record_property: Record) -> None:
    claims = [SHOP, "https://shop.example:444/", "about:blank", "https://evil.example.shop.example/", "x" * 9000, "//"]
    async with hub_world() as world:
        port = world.page(1, SHOP, tool("pay"))
        for form in FORMS:
            evil = FakePort(world.transport, 2, EVIL, form)
            for claim in claims:
                evil.registers(tool("pay"), url=claim)
                assert world.names == [PAY]
            evil.registers(tool("own"), url="https://evil.example/elsewhere")
            assert len(world.names) == 2
        await works(world, port)
    record_property("lines", len(claims) * 2)


HIDDEN = [
    *(
        "\u202e",
        "\u2066",
        "\u200f",
        "\x1b[2K",
        "\r",
        "\x08" * 40,
        "\u2028",
        "\x85",
        "\u061c",
        "\ufeff",
        "\u200b",
        "\u2060",
    ),
    *("\u00ad", "\ufff9", "\u2800", "\x00", "\x9b2J"),
    *(chr(first) * 3 for first, _ in DEFAULT_IGNORABLE),
    *(chr(last) * 3 for _, last in DEFAULT_IGNORABLE),
]


async def test_descriptions_that_hide_their_label_or_something_else(record_property: Record) -> None:
    """Invisible characters could hide the label from a person, or instructions for a model."""
    async with hub_world() as world:
        for n, each in enumerate(HIDDEN):
            text = f"{each}[shop.example] Pay{each}"
            page = world.page(n, EVIL, {**tool("pay", description=text, title=f"\n{text}"), "title": f"\n\n{text}"})
            [shown] = world.hub.definitions
            for text in (shown["description"], shown["title"], shown["annotations"]["title"]):
                assert text.replace("[2K", "").replace("2J", "") == "[evil.example] [shop.example] Pay", ascii(each)
            world.close(page)
        # What scripts and emoji are written with stays.
        kept = "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 \U0001f468\u200d\U0001f469\u200d\U0001f467\n\t1."
        world.page(2, SHOP, tool("pay", description=kept))
        assert world.descriptions[-1] == f"[shop.example] {kept}"
    record_property("lines", len(HIDDEN) + 1)


async def test_a_name_that_was_given_out_is_not_to_be_had_by_others(record_property: Record) -> None:
    """A client may remember a name: also if others flood the table, it never calls a page of theirs."""
    async with hub_world() as world:
        victim = world.page(1, "https://a.b.example/", tool("pay"))
        [name] = world.names
        world.close(victim)
        evil = world.page(2, "https://a-b.example/")
        numbers = itertools.count()
        for _ in range(80):
            evil.registers(*(tool(f"t{next(numbers)}") for _ in range(250)), first=False)
            await world.clock.pass_(1)
        for tab in range(3, 60):  # also from many tabs
            world.close(world.page(tab, "https://a-b.example/", *(tool(f"t{next(numbers)}") for _ in range(250))))
        evil.registers(tool("pay"), tool("tab1_pay"), first=False)
        await world.clock.pass_(1)
        again = world.page(70, "https://a-b.example/", tool("pay"))
        assert name not in world.names
        calling = world.calling(name)
        await settled()
        assert not evil.calls
        assert not again.calls
        with pytest.raises(TabFailed):
            await calling
        assert len(world.hub._registry._names) < 12_000
    record_property("lines", 3)


async def test_answers_of_others_double_late_and_of_any_shape(record_property: Record) -> None:
    results: list[Any] = [
        *ODD,
        *({"success": odd, "payload": odd} for odd in ODD),
        *({"success": True, "payload": odd} for odd in ODD),
        *({"success": False, "payload": odd} for odd in ODD),
        *({"success": True, "payload": {"content": odd, "isError": odd, "resultType": odd}} for odd in ODD),
    ]
    async with served() as hub:
        world = hub.world
        port = world.page(1, SHOP, tool("pay"))
        evil = world.page(2, EVIL, tool("x"), form="extension")
        for mode in ("legacy", "auto"):
            async with Client(hub.streams(), mode=mode, cache=None) as client:
                for result in results:
                    # The same answer for the other's call, for its own, and again.
                    theirs = world.calling(PAY)
                    calling = asyncio.create_task(client.call_tool("website_tool_evil_example_tab1_x", {}))
                    await until(lambda: evil.calls and port.calls)
                    for id_ in (port.calls[-1].id, evil.calls[-1].id, evil.calls[-1].id):
                        evil.says({"type": "tool-result", "requestId": id_, "data": result})
                        evil.says({"jsonrpc": "2.0", "id": id_, "result": result})
                    assert (await calling).content is not None
                    assert not theirs.done()
                    port.answers(text_result("paid"))
                    assert (await theirs)["content"][0]["text"] == "paid"
                    port.posted.clear()
                    evil.posted.clear()
        assert world.transport.pending == 0
    record_property("lines", len(results) * 2 * 6)


async def test_pages_that_never_answer_or_end_in_each_call(record_property: Record) -> None:
    async with hub_world(HubOptions(load_retries=0)) as world:
        port = world.page(1, SHOP, tool("pay"))
        evil = world.page(2, EVIL, *(tool(f"t{number}") for number in range(100)), tool("once", idempotentHint=True))
        calls = [world.calling(f"website_tool_evil_example_tab1_t{number}") for number in range(100)]
        await settled()
        await works(world, port)
        await world.clock.pass_(10)
        assert all(isinstance(call.exception(), RequestTimedOut) for call in calls)
        for _ in range(20):
            calling = world.calling("website_tool_evil_example_tab1_t1")
            await settled()
            world.page(2, EVIL, tool("t1"))  # it has crashed, and is there again
            with pytest.raises(TabClosed):
                await calling
        # A call that may be repeated is repeated twice, whoever crashes.
        sent = 0

        def crash() -> FakePort:
            nonlocal evil, sent
            sent += len(evil.calls)
            evil = world.page(2, EVIL, tool("once", idempotentHint=True))
            return evil

        crash()
        sent = 0
        calling = world.calling("website_tool_evil_example_tab1_once")
        for _ in range(10):
            await settled()
            crash()
        with pytest.raises(TabClosed):
            await calling
        assert sent == 3
        # Its answer comes after its end.
        calling = world.calling("website_tool_evil_example_tab1_once")
        await settled()
        world.tabs.urls.pop(2)
        for old in [evil]:
            old.ends()
            old.answers(text_result("late"))
        with pytest.raises(TabFailed):
            await calling
        await works(world, port)
    record_property("lines", 100 + 20 + 2)


async def test_two_proxies_in_one_tab(record_property: Record) -> None:
    """A page may have a proxy of its own besides the hub's: the newer one counts, in either form."""
    lines = 0
    async with hub_world() as world:
        port = world.page(1, SHOP, tool("pay"))
        for first, second in itertools.product(FORMS, FORMS):
            old = world.page(2, EVIL, tool("old"), form=first)
            calling = world.calling("website_tool_evil_example_tab1_old")
            await settled()
            new = world.page(2, EVIL, tool("new"), form=second)
            with pytest.raises(TabClosed):
                await calling
            assert not old.open
            for _ in range(10):
                old.registers(tool("old"))
                old.registers(tool("again"), first=False)
                old.answers(text_result("late"))
                new.registers(tool("new"), first=False)
            old.ends()
            assert sorted(world.names) == ["website_tool_evil_example_tab1_new", PAY]
            await works(world, new, "website_tool_evil_example_tab1_new")
            # One proxy that uses both forms is answered in the one that it used last.
            new.form = "extension"
            new.registers(tool("both"), first=False)
            await works(world, new, "website_tool_evil_example_tab1_both")
            lines += 3
        await works(world, port)
    record_property("lines", lines)


def test_a_message_of_a_page_is_not_a_call() -> None:
    """What a page says never reaches what the hub alone may say, and the reverse."""
    for form in FORMS:
        for message in (ToolCall("x", "pay", {}), CallCancelled("x")):
            assert hub_message(to_proxy(message, form)) == message
            assert proxy_message(to_proxy(message, form)) is None
