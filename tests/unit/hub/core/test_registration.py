"""Tools of tabs as the hub offers them: registering, updating, activating and ending."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from mcpframe.hub.core.options import HubOptions
from tests.support.fake_hub import FakePort, HubWorld, hub_world, tool
from tests.support.settling import settled

SHOP, OTHER = "https://shop.example/", "https://other.example/"
FULL = {
    **tool("add", description="Adds.", cache=True, idempotentHint=True, own="x"),
    "title": "Add",
    "inputSchema": {"type": "object", "properties": {"a": {"type": "number"}}, "x-own": 1},
    "outputSchema": {"type": "object"},
    "_meta": {"a": 1},
    "own": [None],
}


async def test_a_tool_is_offered_as_its_page_has_it_with_a_name_of_its_own() -> None:
    async with hub_world() as world:
        world.page(7, SHOP, FULL)
        texts = {"title": "[shop.example] Add", "description": "[shop.example] Adds."}
        expected = {**FULL, **texts, "name": "website_tool_shop_example_tab1_add"}
        assert world.hub.definitions == [expected]
        assert world.changes == 1


async def test_the_same_tool_in_two_tabs_is_two_tools_and_domains_are_never_merged() -> None:
    async with hub_world() as world:
        world.page(1, SHOP, tool("add"))
        world.page(2, SHOP, tool("add"))
        world.page(3, OTHER, tool("add"))
        assert world.names == [
            "website_tool_shop_example_tab1_add",
            "website_tool_shop_example_tab2_add",
            "website_tool_other_example_tab1_add",
        ]


async def test_domains_and_tools_that_look_alike_have_names_of_their_own() -> None:
    async with hub_world(HubOptions(longest_name=64)) as world:
        world.page(1, "https://a.b.com/", tool("x-y"), tool("x_y"))
        world.page(2, "https://a-b.com/", tool("x_y"))
        world.page(3, "https://a_b.com/", tool("x_y"), tool("x" * 200), tool("x" * 201))
        assert len(set(world.names)) == 6
        assert all(len(name) <= 64 for name in world.names)


async def test_registering_the_same_again_changes_nothing() -> None:
    async with hub_world() as world:
        port = world.page(1, SHOP, FULL, tool("b"))
        before = world.hub.definitions
        port.registers(FULL, tool("b"))
        port.registers(FULL, tool("b"), first=False)
        assert world.changes == 1
        assert all(one is two for one, two in zip(before, world.hub.definitions, strict=True))


async def test_an_update_takes_away_changes_and_adds_and_replaces_no_definition_in_place() -> None:
    async with hub_world() as world:
        port = world.page(1, SHOP, tool("gone"), tool("kept"), tool("changed"))
        before = {each["name"]: each for each in world.hub.definitions}
        port.registers(tool("kept"), tool("changed", description="new"), tool("added"), first=False)
        now = {each["name"]: each for each in world.hub.definitions}
        prefix = "website_tool_shop_example_tab1_"
        assert list(now) == [prefix + name for name in ("kept", "changed", "added")]
        assert now[prefix + "kept"] is before[prefix + "kept"]
        assert before[prefix + "changed"]["description"] == "[shop.example]"
        assert now[prefix + "changed"]["description"] == "[shop.example] new"
        assert world.changes == 2


async def test_an_empty_list_is_taken_and_a_later_update_registers() -> None:
    async with hub_world() as world:
        port = world.page(1, SHOP)
        assert world.hub.definitions == []
        assert world.changes == 0
        port.registers(tool("late"), first=False)
        assert world.names == ["website_tool_shop_example_tab1_late"]
        port.registers(first=False)
        assert world.names == []
        assert world.changes == 2


async def test_a_cached_tool_that_an_update_takes_away_is_kept_for_the_domain() -> None:
    async with hub_world() as world:
        port = world.page(1, SHOP, tool("cart", cache=True), tool("buy"))
        port.registers(first=False)
        assert world.names == ["website_tool_shop_example_cart"]


async def test_invalid_tools_are_left_out_with_a_log(caplog: pytest.LogCaptureFixture) -> None:
    async with hub_world() as world:
        port = world.page(1, SHOP, {"name": "bad"}, tool("good"), None)
        port.says({"type": "register-tools", "tools": {"no": "list"}})
        assert world.names == ["website_tool_shop_example_tab1_good"]
        assert len([each for each in caplog.records if each.levelno == logging.WARNING]) == 3


@pytest.mark.parametrize("kind", ["register-tools", "tools-updated", "browser/registerTools", "browser/updateTools"])
async def test_both_forms_register(kind: str) -> None:
    async with hub_world() as world:
        port = FakePort(world.transport, 1, SHOP)
        tools = [tool("add")]
        own = {"jsonrpc": "2.0", "method": kind, "params": {"tools": tools}}
        port.says(own if "/" in kind else {"type": kind, "tools": tools})
        assert world.names == ["website_tool_shop_example_tab1_add"]


async def test_descriptions_name_the_tabs_and_the_active_one() -> None:
    async with hub_world() as world:
        first = world.page(1, SHOP, tool("add", description="Adds."))
        assert world.descriptions == ["[shop.example] Adds."]
        world.hub.activated(1)
        assert world.descriptions == ["[shop.example • Active] Adds."]
        second = world.page(2, SHOP, tool("sub"))
        several = "[shop.example - 2 tabs • Tab 1 Active]"
        assert world.descriptions == [several + " Adds.", several]
        changes, names = world.changes, world.names
        world.hub.activated(2)
        assert world.descriptions[0] == "[shop.example - 2 tabs • Tab 2 Active] Adds."
        assert (world.changes, world.names) == (changes + 1, names)
        world.hub.activated(2)
        assert world.changes == changes + 1
        world.hub.activated(None)
        assert world.descriptions[1] == "[shop.example - 2 tabs]"
        second.ends()
        assert world.descriptions == ["[shop.example] Adds."]
        first.ends()
        world.hub.activated(1)
        assert world.descriptions == []


async def test_activating_a_tab_of_another_domain_takes_the_mark_from_the_first() -> None:
    async with hub_world() as world:
        world.page(1, SHOP, tool("a"))
        world.page(2, OTHER, tool("b"))
        world.hub.activated(1)
        world.hub.activated(2)
        assert world.descriptions == ["[shop.example]", "[other.example • Active]"]


async def test_the_end_of_a_tab_takes_its_own_tools_and_no_others() -> None:
    async with hub_world() as world:
        port = world.page(1, SHOP, tool("add"), tool("cart", cache=True))
        world.page(2, SHOP, tool("add"))
        world.page(3, OTHER, tool("add"))
        port.ends()
        assert sorted(world.names) == [
            "website_tool_other_example_tab1_add",
            "website_tool_shop_example_cart",
            "website_tool_shop_example_tab2_add",
        ]
        changes = world.changes
        port.ends()
        port.registers(tool("add"))
        assert world.changes == changes


async def test_a_tab_that_is_loaded_again_has_its_old_names_and_the_late_end_of_its_old_port_changes_nothing() -> None:
    async with hub_world() as world:
        old = world.page(1, SHOP, tool("add"), tool("old"))
        world.page(2, SHOP, tool("add"))
        world.page(1, SHOP, tool("add"), tool("new"))
        expected = {"website_tool_shop_example_" + each for each in ("tab1_add", "tab1_new", "tab2_add")}
        assert set(world.names) == expected
        old.ends()
        old.registers(tool("old"))
        assert set(world.names) == expected


async def test_a_tab_that_goes_to_another_domain_leaves_nothing_behind() -> None:
    async with hub_world() as world:
        world.page(1, SHOP, tool("add"), tool("cart", cache=True))
        world.page(1, OTHER, tool("read"))
        assert set(world.names) == {"website_tool_shop_example_cart", "website_tool_other_example_tab1_read"}


async def test_the_domain_is_that_of_the_transport_and_who_claims_another_is_refused(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with hub_world() as world:
        port = FakePort(world.transport, 1, "https://evil.example/")
        port.registers(tool("pay"), url="https://bank.example/")
        assert world.names == []
        assert "claims" in caplog.text
        port.registers({**tool("pay"), "domain": "bank.example"}, url="https://evil.example/else")
        assert world.names == ["website_tool_evil_example_tab1_pay"]


async def test_pages_that_are_not_allowed_are_not_taken(caplog: pytest.LogCaptureFixture) -> None:
    async with hub_world(HubOptions(allows=lambda url: url.startswith(SHOP))) as world:
        world.page(1, SHOP, tool("add"))
        world.page(2, OTHER, tool("add"))
        assert world.names == ["website_tool_shop_example_tab1_add"]
        assert "not allowed" in caplog.text


async def test_the_browser_capability_is_that_of_any_page() -> None:
    async with hub_world() as world:
        assert world.hub.browser == {}
        world.page(1, SHOP).registers(browser=frozenset({"cacheSupported"}))
        second = world.page(2, OTHER).registers(browser=frozenset({"multiTabSupport"}))
        assert world.hub.browser == {"cacheSupported": True, "multiTabSupport": True}
        second.ends()
        assert world.hub.browser == {"cacheSupported": True}


async def test_registrations_and_ends_are_logged_with_tab_and_domain(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "mcpframe.hub.core.hub")
    async with hub_world() as world:
        world.page(7, SHOP, tool("add")).ends()
    lines = [record.getMessage() for record in caplog.records]
    assert len(lines) == 2
    assert all("7" not in line and "shop.example, tab 1" in line for line in lines)


async def test_two_hundred_tabs_are_listed_without_work_for_those_that_did_not_change() -> None:
    """By counts, not times: what one tab does touches its own domain only."""
    async with hub_world() as world:
        ports = [
            world.page(tab, f"https://d{tab}.example/", *(tool(f"t{each}") for each in range(10))) for tab in range(200)
        ]
        before = {each["name"]: each for each in world.hub.definitions}
        assert len(before) == 2000
        ports[5].registers(tool("only"), first=False)
        now = {each["name"]: each for each in world.hub.definitions}
        made = [name for name, each in now.items() if before.get(name) is not each]
        assert made == ["website_tool_d5_example_tab1_only"]
        assert world.changes == 201


async def test_opening_and_closing_tabs_leaves_nothing_behind() -> None:
    async with hub_world() as world:
        for tab in range(500):
            world.close(world.page(tab, SHOP, tool("add")))
        assert world.hub.definitions == []
        assert world.clock.pending == 0
        await settled()


async def test_a_page_that_changes_all_the_time_is_slowed_down_and_its_last_list_is_taken() -> None:
    async with hub_world() as world:
        port, calm = world.page(1, SHOP), world.page(2, OTHER)
        for number in range(10_000):
            port.registers(tool(f"t{number}"), first=False)
        assert world.names == ["website_tool_shop_example_tab1_t48"]
        calm.registers(tool("calm"), first=False)
        assert len(world.names) == 2
        changes = world.changes
        await world.clock.pass_(0.25)
        assert "website_tool_shop_example_tab1_t9999" in world.names
        await world.clock.pass_(60)
        assert world.changes == changes + 1
        for number in range(60):
            port.registers(tool(f"t{number}"), first=False)
        port.ends()
        await world.clock.pass_(60)
        assert world.names == ["website_tool_other_example_tab1_calm"]
        assert world.clock.pending == 0


async def test_what_a_page_floods_the_hub_with_is_bounded() -> None:
    async with hub_world() as world:
        world.page(1, SHOP, *(tool(f"t{each}") for each in range(10_000)))
        assert len(world.hub.definitions) == 256


def test_the_hub_is_importable_without_a_browser() -> None:
    import subprocess
    import sys

    program = (
        "import sys, mcpframe.hub.core.hub, mcpframe.hub.core.transport\n"
        "assert not {'js', 'pyodide', 'playwright', 'mcp', 'time.sleep'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def world_of(options: Any = None) -> HubWorld:
    return HubWorld(options)


async def test_the_hub_takes_all_it_needs() -> None:
    world = world_of()
    assert (world.hub.definitions, world.hub.browser, world.hub.waits) == ([], {}, False)
