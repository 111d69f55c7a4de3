"""Calls: which tab executes them, what happens if it ends, and what the caller gets."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from mcpframe.hub.core.errors import (
    RequestTimedOut,
    TabClosed,
    TabFailed,
    TabLoadError,
    TabNotFound,
    UnknownTool,
)
from mcpframe.hub.core.interfaces import CallRequest
from mcpframe.hub.core.limits import PENDING_CALLS
from mcpframe.hub.core.messages import CallCancelled, ToolProgress
from mcpframe.hub.core.names import address_for
from mcpframe.hub.core.options import HubOptions
from mcpframe.hub.core.registry import TabEntry, best_tab
from tests.support.fake_hub import FakePort, FakeStore, HubWorld, hub_world, text_result, tool
from tests.support.settling import settled

SHOP = "https://shop.example/cart"
DOMAIN = "website_tool_shop_example_"
CART = tool("cart", cache=True)
READ = tool("read", readOnlyHint=True)


async def failure(task: asyncio.Task[Any], kind: type[TabFailed]) -> dict[str, Any]:
    with pytest.raises(kind) as caught:
        await task
    assert caught.value.code == -32001
    assert caught.value.data is not None
    return caught.value.data


async def test_each_tab_executes_its_own_calls_and_results_are_passed_on_unchanged() -> None:
    result = {"content": [{"type": "text", "text": "x", "own": 1}], "structuredContent": {"a": None}, "_meta": {"b": 2}}
    async with hub_world() as world:
        ports = [world.page(tab, SHOP, tool("add")) for tab in (1, 2)]
        calling = [world.calling(f"{DOMAIN}tab{number}_add", a=number) for number in (2, 1)]
        await settled()
        assert [port.calls[0].arguments for port in ports] == [{"a": 1}, {"a": 2}]
        assert {port.calls[0].tool for port in ports} == {"add"}
        for port in ports:
            port.answers({**result, "from": port.tab})
        assert await calling[0] == {**result, "from": 2}
        assert await calling[1] == {**result, "from": 1}


async def test_a_failure_of_the_page_is_a_result_that_says_so() -> None:
    async with hub_world() as world:
        port = world.page(1, SHOP, tool("add"))
        calling = world.calling(DOMAIN + "tab1_add")
        await settled()
        port.answers("no such thing")
        assert await calling == {"content": [{"type": "text", "text": "no such thing"}], "isError": True}


async def test_a_name_that_means_nothing_is_unknown() -> None:
    async with hub_world() as world:
        world.page(1, SHOP, tool("add"))
        for name in ("add", "website_tool_shop_example_tab2_add", "website_tool_else_example_add", "", "x" * 5000):
            with pytest.raises(UnknownTool) as caught:
                await world.hub.call(name, {})
            assert caught.value.code == -32602
            assert len(str(caught.value)) < 300


def entry(tab: int, updated: float) -> TabEntry:
    return TabEntry(tab, "d", "u", tab, {}, frozenset(), updated)


def test_the_best_tab_is_the_active_one_and_else_the_one_updated_last() -> None:
    tabs = [entry(1, 5), entry(2, 9), entry(3, 7)]
    assert best_tab(tabs, 3) is tabs[2]
    assert best_tab(tabs, None) is best_tab(tabs, 8) is tabs[1]
    assert best_tab([], 1) is None


def test_a_tab_is_opened_where_the_page_was_and_else_at_its_domain() -> None:
    assert address_for("shop.example", SHOP) == SHOP
    assert address_for("shop.example", "https://evil.example/") == "https://shop.example"
    assert address_for("localhost:3000", None) == "http://localhost:3000"
    assert address_for("unknown", None) is None


async def test_a_name_without_a_tab_goes_to_the_best_one() -> None:
    async with hub_world() as world:
        first, second = world.page(1, SHOP, tool("add")), world.page(2, SHOP, tool("add"))
        third = world.page(3, SHOP, tool("other"))
        await world.clock.pass_(1)
        first.registers(tool("add"), tool("new"), first=False)
        world.tabs.looked_at = 3  # which has no such tool
        for port, looked_at in ((first, 3), (second, 2), (first, None)):
            world.tabs.looked_at = looked_at
            calling = world.calling(DOMAIN + "add")
            await settled()
            port.answers(text_result(str(port.tab)))
            assert await calling == text_result(str(port.tab))
        assert third.calls == []


async def test_a_cached_tool_opens_its_page_and_is_bound_to_it() -> None:
    async with hub_world() as world:
        world.close(world.page(1, SHOP, CART))
        ports: list[FakePort] = []

        async def load(tab: int, url: str) -> None:
            assert url == SHOP
            ports.append(FakePort(world.transport, tab, url))

        world.tabs.on_open = load
        calling = [world.calling(DOMAIN + "cart"), world.calling(DOMAIN + "tab1_cart")]
        await settled()
        assert len(ports) == 1
        await world.clock.pass_(1.5)
        ports[0].registers(first=False)
        ports[0].registers(CART, first=False)
        await settled()
        assert len(ports[0].calls) == 2
        for number, each in enumerate(calling):
            ports[0].answers(text_result("full"), number)
            assert await each == text_result("full")
        assert world.names == [DOMAIN + "tab2_cart"]
        assert world.tabs.opened == [SHOP]


@pytest.mark.parametrize("other", ["http://shop.example/cart", "https://shop.example:8443/cart"])
async def test_another_origin_of_the_domain_does_not_get_the_calls_of_a_cached_tool(other: str) -> None:
    async with hub_world() as world:
        world.close(world.page(1, SHOP, CART))
        port = world.page(2, other, tool("cart"))
        world.tabs.failing = 4
        calling = world.calling(DOMAIN + "cart"), world.calling(DOMAIN + "tab1_cart")
        await world.clock.pass_(10)
        for each in calling:
            await failure(each, TabLoadError)
        assert set(world.tabs.opened) == {SHOP}
        assert not port.calls
        own = world.calling(DOMAIN + "tab2_cart")
        await settled()
        port.answers(text_result("its own"))
        assert await own == text_result("its own")


async def test_a_new_tab_has_two_seconds_to_register() -> None:
    async with hub_world() as world:
        world.close(world.page(1, SHOP, CART))
        calling = world.calling(DOMAIN + "cart")
        await world.clock.pass_(1.9)
        assert not calling.done()
        await world.clock.pass_(0.1)
        data = await failure(calling, TabNotFound)
        assert data == {
            "reason": "TabNotFound",
            "tab": None,
            "mayHaveRun": False,
            "domain": "shop.example",
            "tool": "cart",
        }


async def test_a_page_that_is_sent_elsewhere_does_not_get_the_call() -> None:
    async with hub_world() as world:
        world.close(world.page(1, SHOP, CART))

        async def load(tab: int, url: str) -> None:
            FakePort(world.transport, tab, "https://login.example/").registers(CART)

        world.tabs.on_open = load
        calling = world.calling(DOMAIN + "cart")
        await world.clock.pass_(2)
        assert (await failure(calling, TabNotFound))["domain"] == "shop.example"


@pytest.mark.parametrize(("shown", "seconds"), [("https://login.example/", 5), ("about:blank", 20), (SHOP, 20)])
async def test_a_tab_that_stays_on_another_site_is_not_given_the_time_of_one_that_starts(
    shown: str, seconds: float
) -> None:
    async with hub_world(HubOptions(start_seconds=20)) as world:
        world.close(world.page(1, SHOP, CART))

        async def load(tab: int, url: str) -> None:
            world.tabs.urls[tab] = shown

        world.tabs.on_open = load
        calling = world.calling(DOMAIN + "cart")
        await world.clock.pass_(seconds - 0.1)
        assert not calling.done()
        await world.clock.pass_(0.1)
        with pytest.raises(TabNotFound, match="login.example" if seconds == 5 else "does not offer") as caught:
            await calling
        assert caught.value.data is not None
        assert (caught.value.data["tab"], caught.value.data["mayHaveRun"]) == (None, False)
        calling = world.calling(DOMAIN + "cart")
        await world.clock.pass_(6)
        world.tabs.urls[1001] = SHOP  # it is back from there, and has been slow
        if seconds == 20:
            port = FakePort(world.transport, 1001, SHOP).registers(CART)
            await settled()
            port.answers(text_result("full"))
            assert await calling == text_result("full")
        else:
            await failure(calling, TabNotFound)


async def test_a_load_that_fails_is_tried_three_times_more_after_a_second_each() -> None:
    async with hub_world() as world:
        world.close(world.page(1, SHOP, CART))
        world.tabs.failing = 3

        async def load(tab: int, url: str) -> None:
            FakePort(world.transport, tab, url).registers(CART)

        world.tabs.on_open = load
        calling = world.calling(DOMAIN + "cart")
        for opened in (1, 2, 3):
            await settled()
            assert len(world.tabs.opened) == opened
            await world.clock.pass_(0.9)
            assert len(world.tabs.opened) == opened
            await world.clock.pass_(0.1)
        port = world.transport._tabs[1000].port
        assert isinstance(port, FakePort)
        port.answers(text_result("ok"))
        assert await calling == text_result("ok")
        world.close(port)
        world.tabs.failing = 4
        calling = world.calling(DOMAIN + "cart")
        await world.clock.pass_(3)
        assert (await failure(calling, TabLoadError))["reason"] == "TabLoadFailed"
        assert len(world.tabs.opened) == 8


async def test_a_browser_that_does_not_answer_or_is_gone_holds_nobody_up(caplog: pytest.LogCaptureFixture) -> None:
    async with hub_world(HubOptions(start_seconds=20)) as world:
        world.close(world.page(1, SHOP, CART))
        port = world.page(2, "https://other.example/", tool("add"))

        async def hang(*_: Any) -> Any:
            await asyncio.Event().wait()

        async def fail(*_: Any) -> Any:
            raise OSError("the browser is gone")

        world.tabs.on_open = hang
        calling = world.calling(DOMAIN + "cart")
        await world.clock.pass_(4 * 30 + 3)
        await failure(calling, TabLoadError)
        world.tabs.on_open = None
        world.tabs.url = fail  # type: ignore[method-assign, assignment]
        calling = world.calling(DOMAIN + "cart")
        await world.clock.pass_(20)
        await failure(calling, TabNotFound)
        world.tabs.active = fail  # type: ignore[method-assign]
        calling = world.calling("website_tool_other_example_add")
        await settled()
        port.answers(text_result("ok"))
        assert await calling == text_result("ok")
        world.tabs.active = hang  # type: ignore[method-assign]
        calling = world.calling("website_tool_other_example_add")
        await world.clock.pass_(2)
        port.answers(text_result("ok"))
        assert await calling == text_result("ok")


async def test_a_closed_domain_is_opened_for_a_name_without_a_tab() -> None:
    async with hub_world() as world:
        world.close(world.page(1, "http://localhost:3000/x", tool("add")))
        assert world.names == []

        async def load(tab: int, url: str) -> None:
            FakePort(world.transport, tab, url).registers(tool("add"))

        world.tabs.on_open = load
        calling = world.calling("website_tool_localhost_3000_add")
        await settled()
        assert world.tabs.opened == ["http://localhost:3000"]
        port = world.transport._tabs[1000].port
        assert isinstance(port, FakePort)
        port.answers(text_result("ok"))
        await calling


async def test_a_tool_of_a_closed_tab_goes_to_no_other_tab() -> None:
    async with hub_world() as world:
        world.close(world.page(1, SHOP, tool("add")))
        other = world.page(2, SHOP, tool("add"))
        data = await failure(world.calling(DOMAIN + "tab1_add"), TabNotFound)
        assert (data["reason"], data["tab"], data["mayHaveRun"]) == ("TabNotFound", 1, False)
        assert other.calls == []


async def test_an_error_has_the_number_of_the_tab_as_in_names() -> None:
    async with hub_world() as world:
        port = world.page(48151623, SHOP, tool("add"))
        assert world.names == [DOMAIN + "tab1_add"]
        calling = world.calling(DOMAIN + "tab1_add")
        await settled()
        world.close(port)
        data = await failure(calling, TabClosed)
        assert (data["reason"], data["tab"]) == ("TabClosed", 1)


async def test_a_tab_that_is_being_loaded_again_is_waited_for() -> None:
    async with hub_world() as world:
        world.page(1, SHOP, tool("add")).ends()  # the tab is still there
        calling = world.calling(DOMAIN + "tab1_add")
        await world.clock.pass_(1.9)
        port = world.page(1, SHOP, tool("add"))
        await settled()
        port.answers(text_result("back"))
        assert await calling == text_result("back")
        port.ends()
        calling = world.calling(DOMAIN + "tab1_add")
        await world.clock.pass_(2)
        await failure(calling, TabNotFound)


async def test_pages_that_take_long_to_start_may_be_given_more_time_than_a_tool_that_is_not_there() -> None:
    async with hub_world(HubOptions(start_seconds=20)) as world:
        world.page(1, SHOP, tool("add"), tool("buy")).ends()
        adding, buying = (world.calling(f"{DOMAIN}tab1_{name}") for name in ("add", "buy"))
        await world.clock.pass_(19)
        port = world.page(1, SHOP, tool("add"))
        await settled()
        port.answers(text_result("back"))
        assert await adding == text_result("back")
        assert not buying.done()
        await world.clock.pass_(2)
        await failure(buying, TabNotFound)


async def test_a_call_whose_tab_ends_is_not_repeated() -> None:
    async with hub_world() as world:
        port, other = world.page(1, SHOP, tool("buy")), world.page(2, SHOP, tool("buy"))
        for name in (DOMAIN + "tab1_buy", DOMAIN + "buy"):
            world.tabs.looked_at = 1
            calling = world.calling(name)
            await settled()
            world.close(port)
            data = await failure(calling, TabClosed)
            assert (data["reason"], data["tab"], data["mayHaveRun"]) == ("TabClosed", 1, True)
            port = world.page(1, SHOP, tool("buy"))
        assert other.calls == port.calls == []


@pytest.mark.parametrize("annotation", ["readOnlyHint", "idempotentHint"])
async def test_a_call_that_may_run_twice_goes_to_the_next_tab(annotation: str) -> None:
    async with hub_world() as world:
        safe = tool("read", **{annotation: True})
        first, second = world.page(1, SHOP, safe), world.page(2, SHOP, safe)
        world.tabs.looked_at = 1
        calling = world.calling(DOMAIN + "read")
        await settled()
        world.close(first)
        await settled()
        second.answers(text_result("second"))
        assert await calling == text_result("second")


async def test_a_call_of_one_tab_that_may_run_twice_waits_for_that_tab() -> None:
    async with hub_world() as world:
        first, other = world.page(1, SHOP, READ), world.page(2, SHOP, READ)
        calling = world.calling(DOMAIN + "tab1_read")
        for _ in range(2):
            await settled()
            first.ends()
            await settled()
            first = world.page(1, SHOP, READ)
        await settled()
        first.answers(text_result("first"))
        assert await calling == text_result("first")
        assert other.calls == []


async def test_a_page_that_ends_each_time_is_not_called_for_ever() -> None:
    async with hub_world() as world:
        calling = None
        for _ in range(3):
            port = world.page(1, SHOP, READ)
            calling = calling or world.calling(DOMAIN + "tab1_read")
            await settled()
            assert len(port.calls) == 1
            port.ends()
            await settled()
        assert calling is not None
        await failure(calling, TabClosed)


@pytest.mark.parametrize("second", ["no tab", "busy", "denied"])
async def test_a_call_that_was_sent_may_have_run_whatever_its_second_try_ends_with(second: str) -> None:
    answers = iter([True, False])
    asked: list[CallRequest] = []

    async def consents(request: CallRequest) -> bool:
        asked.append(request)
        return next(answers)

    async with hub_world(HubOptions(consents=consents) if second == "denied" else None) as world:
        first = world.page(1, SHOP, READ)
        if second != "no tab":
            world.page(2, SHOP, READ)
        others = [world.calling(f"{DOMAIN}tab2_read") for _ in range(PENDING_CALLS if second == "busy" else 0)]
        await settled()
        world.tabs.looked_at = 1
        calling = world.calling(DOMAIN + ("tab1_read" if second == "no tab" else "read"))
        await settled()
        assert len(first.calls) == 1
        world.close(first)
        data = await failure(calling, TabClosed)
        assert (data["reason"], data["mayHaveRun"], data["tab"]) == ("TabClosed", True, 1)
        assert len(asked) == (2 if second == "denied" else 0)
        for each in others:
            each.cancel()
        await settled()


async def test_a_page_that_is_silent_is_told_that_its_call_is_over() -> None:
    async with hub_world() as world:
        port = world.page(1, SHOP, READ)
        calling = world.calling(DOMAIN + "tab1_read")
        await world.clock.pass_(10)
        data = await failure(calling, RequestTimedOut)
        assert (data["reason"], data["mayHaveRun"]) == ("RequestTimeout", True)
        assert isinstance(port.heard[-1], CallCancelled)
        assert len(port.calls) == 1


async def test_progress_and_cancellation_go_through() -> None:
    async with hub_world() as world:
        port = world.page(1, SHOP, tool("slow"))
        heard: list[ToolProgress] = []
        calling = asyncio.create_task(world.hub.call(DOMAIN + "tab1_slow", {}, heard.append))
        await settled()
        port.says(ToolProgress(port.calls[0].id, 1, 2, "half"))
        assert [(each.progress, each.total, each.message) for each in heard] == [(1, 2, "half")]
        calling.cancel()
        await asyncio.wait({calling})
        assert isinstance(port.heard[-1], CallCancelled)


async def test_one_caller_that_leaves_does_not_end_the_opening_for_another() -> None:
    async with hub_world() as world:
        world.close(world.page(1, SHOP, CART))
        leaving, staying = world.calling(DOMAIN + "cart"), world.calling(DOMAIN + "cart")
        await settled()
        leaving.cancel()
        await settled()
        port = FakePort(world.transport, 1000, SHOP).registers(CART)
        await settled()
        assert len(port.calls) == 1
        port.answers(text_result("ok"))
        assert await staying == text_result("ok")


async def test_who_waits_when_the_hub_ends_gets_an_error() -> None:
    world = HubWorld(store=FakeStore())
    async with world.hub.running():
        world.close(world.page(1, SHOP, CART))
        port = world.page(2, SHOP, tool("add"))
        waiting, running = world.calling(DOMAIN + "cart"), world.calling(DOMAIN + "tab2_add")
        await settled()
    await settled()
    await failure(running, TabClosed)
    await world.clock.pass_(2)
    await failure(waiting, TabNotFound)
    assert not port.open


async def test_calls_are_logged_with_tab_and_domain_and_without_arguments(caplog: pytest.LogCaptureFixture) -> None:
    async with hub_world() as world:
        port = world.page(7, SHOP, tool("add"))
        caplog.set_level(logging.INFO, "mcpframe.hub.core.hub")
        caplog.clear()  # the registration may have been logged, too
        calling = world.calling(DOMAIN + "tab1_add", secret="hunter2")
        await settled()
        port.answers(text_result("ok"))
        await calling
        [line] = [record.getMessage() for record in caplog.records]
        assert "7" not in line  # the browser's number says nothing to a person
        assert "tab 1" in line  # as the tool's name has it
        assert "shop.example" in line
        assert "add" in line
        assert "hunter2" not in caplog.text
        caplog.clear()
        calling = world.calling(DOMAIN + "tab1_add")
        await settled()
        world.close(port)
        await failure(calling, TabClosed)
        assert all("shop.example, tab 1" in record.getMessage() for record in caplog.records)
        assert len(caplog.records) == 3


async def test_calls_leave_nothing_behind() -> None:
    async with hub_world() as world:
        port = world.page(1, SHOP, tool("add"))
        for _ in range(2000):
            calling = world.calling(DOMAIN + "tab1_add")
            await settled()
            port.answers(text_result("ok"))
            await calling
            port.posted.clear()
        assert world.transport.pending == world.clock.pending == 0
