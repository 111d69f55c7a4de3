"""Cached tools outlive a tab, and a restart."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from mcpframe.hub.core import limits
from mcpframe.hub.core.cached_tools import PREFIX, DomainToolStorage
from tests.support.fake_hub import FakeClock, FakeStore, hub_world, text_result, tool
from tests.support.settling import settled

URL = "https://shop.example/cart"
CART = tool("cart", cache=True)


async def kept(store: FakeStore, clock: FakeClock) -> DomainToolStorage:
    found = DomainToolStorage(store, clock)
    await found.load()
    return found


async def test_cached_tools_survive_a_restart_and_others_do_not() -> None:
    store, clock = FakeStore(), FakeClock()
    first = await kept(store, clock)
    first.put("shop.example", URL, {"cart": CART, "buy": tool("buy")})
    assert first.unsaved
    await first.save()
    assert not first.unsaved
    again = await kept(store, clock)
    assert again.tools("shop.example") == {"cart": CART}
    assert again.url("shop.example") == URL
    assert list(again) == ["shop.example"]
    assert again.tools("else.example") == {}


async def test_a_record_is_of_one_origin() -> None:
    found = await kept(FakeStore(), FakeClock())

    def put(url: str, *names: str) -> None:
        found.put("shop.example", url, {name: tool(name, cache=True) for name in names})

    def has() -> tuple[str | None, list[str]]:
        return found.url("shop.example"), list(found.tools("shop.example"))

    put("http://shop.example/", "plain")
    put(URL, "cart")
    assert has() == (URL, ["cart"])
    put("http://shop.example/", "cart", "more")
    put("https://shop.example:8443/")
    assert has() == (URL, ["cart"])
    put(f"{URL}/2", "list")
    assert has() == (f"{URL}/2", ["cart", "list"])
    put("https://shop.example:8443/", "own")
    assert has() == ("https://shop.example:8443/", ["own"])


async def test_an_entry_of_more_than_an_hour_is_dropped_at_the_start() -> None:
    store, clock = FakeStore(), FakeClock()
    first = await kept(store, clock)
    first.put("old.example", "https://old.example/", {"cart": CART})
    await clock.pass_(1000)
    first.put("new.example", "https://new.example/", {"cart": CART})
    await first.save()
    await clock.pass_(2601)
    again = await kept(store, clock)
    assert list(again) == ["new.example"]
    await again.save()
    assert list(store.values) == [PREFIX + "new.example"]


async def test_a_domain_in_use_is_not_old() -> None:
    store, clock = FakeStore(), FakeClock()
    first = await kept(store, clock)
    first.put("shop.example", URL, {"cart": CART})
    await clock.pass_(3000)
    first.touch("shop.example")
    first.touch("else.example")
    await first.save()
    await clock.pass_(3000)
    assert list(await kept(store, clock)) == ["shop.example"]


RECORD: dict[str, Any] = {"url": URL, "touched": 1_800_000_000.0, "tools": [CART]}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "null",
        "[]",
        "5",
        "[" * 1000,
        json.dumps({**RECORD, "touched": "now"}),
        json.dumps({**RECORD, "touched": None}),
        json.dumps({**RECORD, "touched": 1e300}),
        json.dumps({**RECORD, "tools": {"cart": CART}}),
    ],
)
async def test_what_cannot_be_read_is_dropped(text: str) -> None:
    store = FakeStore()
    store.values = {PREFIX + "bad.example": text, PREFIX + "shop.example": json.dumps(RECORD), "others": "{"}
    found = await kept(store, FakeClock())
    assert list(found) == ["shop.example"]
    await found.save()
    assert list(store.values) == [PREFIX + "shop.example", "others"]


async def test_of_a_stored_domain_only_what_is_valid_is_taken() -> None:
    store = FakeStore()
    tools = [CART, tool("not-cached"), {"name": "invalid"}, 5]
    store.values = {PREFIX + "shop.example": json.dumps({**RECORD, "url": "https://evil.example/", "tools": tools})}
    found = await kept(store, FakeClock())
    assert found.tools("shop.example") == {"cart": CART}
    assert found.url("shop.example") is None


async def test_a_store_that_fails_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    store = FakeStore()
    store.error = OSError("full")
    found = await kept(store, FakeClock())
    found.put("shop.example", URL, {"cart": CART})
    await found.save()
    assert [record.levelno for record in caplog.records] == [logging.ERROR] * 2
    assert not found.unsaved
    store.error = None
    found.touch("shop.example")
    await found.save()
    assert list(store.values) == [PREFIX + "shop.example"]


async def test_it_does_not_grow_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "CACHED_DOMAINS", 2)
    monkeypatch.setattr(limits, "CACHED_TOOLS", 2)
    store = FakeStore()
    found = await kept(store, FakeClock())
    for number in range(4):
        found.put("shop.example", URL, {str(number): tool(str(number), cache=True)})
    assert list(found.tools("shop.example")) == ["2", "3"]
    assert found.put("b.example", "https://b.example/", {"cart": CART}) == []
    assert found.put("c.example", "https://c.example/", {"cart": CART}) == ["shop.example"]
    await found.save()
    assert len(store.values) == 2


async def test_a_tool_that_is_no_longer_cached_is_forgotten_and_one_that_is_not_there_is_kept() -> None:
    found = await kept(FakeStore(), FakeClock())
    found.put("shop.example", URL, {"cart": CART, "list": tool("list", cache=True)})
    found.put("shop.example", URL, {"cart": tool("cart")})
    assert list(found.tools("shop.example")) == ["list"]
    found.put("shop.example", URL, {"list": tool("list")})
    assert list(found) == []


async def test_after_a_restart_only_cached_tools_are_offered_until_tabs_come_back() -> None:
    store = FakeStore()
    async with hub_world(store=store) as world:
        world.page(1, URL, CART, tool("buy"))
        world.page(2, "https://other.example/", tool("read"))
        await settled()
    async with hub_world(store=store) as world:
        assert world.names == ["website_tool_shop_example_cart"]
        assert world.changes == 1
        port = world.page(9, URL, CART, tool("buy"))
        assert world.names == ["website_tool_shop_example_tab1_cart", "website_tool_shop_example_tab1_buy"]
        calling = world.calling("website_tool_shop_example_cart")
        await settled()
        port.answers(text_result("empty"))
        assert await calling == text_result("empty")
