"""Resources of pages in the hub: their addresses, reads that reach one tab alone, consent, and links in results."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpframe.hub.core.addresses import address, addressed, read_address
from mcpframe.hub.core.consent import Consent, question
from mcpframe.hub.core.errors import (
    CallDenied,
    RequestTimedOut,
    ResourceFailed,
    TabClosed,
    TabNotFound,
    UnknownResource,
)
from mcpframe.hub.core.interfaces import CallRequest
from mcpframe.hub.core.limits import PAGE_TOOLS
from mcpframe.hub.core.options import HubOptions
from mcpframe.hub.core.tools import RESOURCES, TEMPLATES, checked
from tests.support.fake_hub import FakePort, HubWorld, hub_world, text_result, tool
from tests.support.settling import settled

SHOP = "https://shop.example/"
OTHER = "https://other.example/"
ADD = "website_tool_shop_example_tab1_add"
PLACE = "website://shop.example/tab1/"
NOTES = {"uri": "notes://one", "name": "one", "mimeType": "text/plain", "size": 5, "_meta": {"a": 1}, "own": [None]}
KEPT = {"uriTemplate": "kept:///{handle}{?offset,limit}", "name": "kept", "title": "Kept\nvalues", "description": "A"}
CONTENTS = {"contents": [{"uri": "notes://one", "text": "hello"}]}


def shop(world: HubWorld, tab: int = 1, url: str = SHOP) -> FakePort:
    return world.page(tab, url, tool("add")).registers(tool("add"), resources=[NOTES], templates=[KEPT])


def reading(world: HubWorld, uri: str) -> asyncio.Task[Any]:
    return asyncio.create_task(world.hub.read(uri))


# Addresses


@given(
    st.sampled_from(["shop.example", "localhost:8765", "[2001:db8::1]", "unknown"]), st.integers(1, 10**6), st.text()
)
def test_an_address_has_the_page_s_own_unchanged(domain: str, number: int, uri: str) -> None:
    assert read_address(address(domain, number, f"a:{uri}")) == (domain, number, f"a:{uri}")


@pytest.mark.parametrize(
    "text",
    [
        *("", "notes://one", "website://", "website://a", "website://a/tab1", "website://a/tab1/", "website:///tab1/x"),
        *("website://a/tab0/x", "website://a/tab01/x", "website://a/tab-1/x", "website://a/tab1x/x", "website://a/1/x"),
        *("Website://a/tab1/x", " website://a/tab1/x", "website://a/tab9999999999999999/x", "website://a/tab٣/x"),
    ],
)
async def test_what_is_no_address_of_the_hub_reaches_no_page(text: str) -> None:
    async with hub_world() as world:
        port = shop(world)
        with pytest.raises(UnknownResource, match="website://DOMAIN/tabN/"):
            await world.hub.read(text)
        assert not port.reads


# Lists


async def test_resources_have_the_domain_and_the_tab_and_are_otherwise_as_the_page_has_them() -> None:
    async with hub_world() as world:
        shop(world)
        world.page(2, OTHER, tool("add")).registers(tool("add"), resources=[NOTES])
        mine, others = world.hub.resources
        assert mine == {
            **NOTES,
            "uri": PLACE + "notes://one",
            "name": "[shop.example] one",
            "description": "[shop.example]",
        }
        assert others["uri"] == "website://other.example/tab1/notes://one"
        assert world.hub.templates == [
            {
                "uriTemplate": PLACE + "kept:///{handle}{?offset,limit}",
                "name": "[shop.example] kept",
                "title": "[shop.example] Kept values",
                "description": "[shop.example] A",
            }
        ]


async def test_resources_come_and_go_with_their_page_and_only_changes_are_reported() -> None:
    async with hub_world() as world:
        port = shop(world)
        before = world.changes
        port.registers(tool("add"), resources=[NOTES], templates=[KEPT])
        assert world.changes == before
        port.registers(tool("add"), templates=[KEPT])
        assert (world.hub.resources, len(world.hub.templates), world.changes) == ([], 1, before + 1)
        port.registers(resources=[NOTES])
        assert (len(world.hub.resources), world.hub.definitions, world.changes) == (1, [], before + 2)
        world.close(port)
        assert (world.hub.resources, world.hub.templates, world.changes) == ([], [], before + 3)


async def test_resources_of_a_page_that_is_not_allowed_are_not_taken() -> None:
    async with hub_world(HubOptions(allows=lambda url: url == OTHER)) as world:
        port = shop(world)
        assert world.hub.resources == world.hub.templates == []
        with pytest.raises(UnknownResource):
            await world.hub.read(PLACE + "notes://one")
        assert not port.reads


BAD = [
    *(None, 5, {}, {"uri": 1, "name": "a"}, {"uri": "", "name": "a"}, {"uri": "no scheme", "name": "a"}),
    *({"uri": "a:b"}, {"uri": "a:b", "name": 1}, {"uri": "a:b", "name": "a\u202e"}, {"uri": "a:\u200b", "name": "a"}),
    *({"uri": "a:b", "name": "a", **more} for more in ({"size": -1}, {"size": 1.5}, {"size": True}, {"mimeType": 1})),
    *({"uri": "a:b", "name": "a", "annotations": each} for each in ([], {"audience": ["x"]}, {"priority": 2})),
    *({"uri": "a:" + "x" * 9000, "name": "a"}, {"uri": "a:b", "name": "a", "__proto__": {}}, {"uri": "a:c"}),
]


def test_what_strict_clients_reject_or_hides_something_is_left_out() -> None:
    valid, problems = checked(RESOURCES, [*BAD, NOTES, NOTES], SHOP)
    assert valid == {"notes://one": NOTES}
    assert problems[0].startswith("Resource 0 ('None') is left out")
    many = [{"uriTemplate": f"a:{{b}}{number}", "name": "a"} for number in range(PAGE_TOOLS + 5)]
    valid, problems = checked(TEMPLATES, [{"uriTemplate": "{a}", "name": "a"}, *many], SHOP)
    assert len(valid) == PAGE_TOOLS
    assert len(problems) == 2


# Reads


@pytest.mark.parametrize("uri", ["notes://one", "kept:///k1?offset=5#x", "any:thing that/no list: has"])
async def test_a_read_goes_to_the_tab_of_its_address_and_to_no_other(uri: str) -> None:
    async with hub_world() as world:
        one, two = shop(world), shop(world, tab=2)
        reading_ = reading(world, f"website://shop.example/tab2/{uri}")
        await settled()
        assert [each.uri for each in two.reads] == [uri]
        assert not one.reads
        two.answers_read({"contents": [{"uri": uri, "blob": "AA=="}], "own": 1})
        found = await reading_
        assert found == {"contents": [{"uri": f"website://shop.example/tab2/{uri}", "blob": "AA=="}], "own": 1}


async def test_an_address_never_comes_to_mean_another_tab() -> None:
    async with hub_world() as world:
        port = shop(world)
        for domain, number in (("other.example", 1), ("shop.example", 2), ("shop_example", 1)):
            with pytest.raises(UnknownResource):
                await world.hub.read(f"website://{domain}/tab{number}/notes://one")
        world.close(port)
        later = shop(world, tab=2)
        with pytest.raises(TabNotFound) as raised:
            await world.hub.read(PLACE + "notes://one")
        assert raised.value.data == {
            "reason": "TabNotFound",
            "mayHaveRun": False,
            "domain": "shop.example",
            "uri": "notes://one",
            "tab": 1,
        }
        moved = shop(world, tab=2, url=OTHER)
        with pytest.raises(TabNotFound):
            await world.hub.read("website://shop.example/tab2/notes://one")
        assert not [*port.reads, *later.reads, *moved.reads]
        assert not world.tabs.opened


async def test_a_tab_that_is_loaded_again_meanwhile_gets_the_read_again() -> None:
    async with hub_world() as world:
        port = shop(world)
        reading_ = reading(world, PLACE + "notes://one")
        await settled()
        port.ends()  # the browser still shows the page
        await settled()
        again = shop(world)
        await settled()
        again.answers_read(CONTENTS)
        assert (await reading_)["contents"][0]["text"] == "hello"
        assert len(port.reads) == len(again.reads) == 1


async def test_failures_and_deadlines_are_errors_that_name_the_address(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    async with hub_world(HubOptions(request_seconds=5, most_sends=1)) as world:
        port = shop(world)
        reading_ = reading(world, PLACE + "notes://secret")
        await settled()
        port.answers_read("Unknown\u202e resource")
        with pytest.raises(ResourceFailed, match=r"^Unknown resource$") as raised:
            await reading_
        expected = {"reason": "ResourceFailed", "domain": "shop.example", "uri": "notes://secret", "tab": 1}
        assert raised.value.data == expected
        reading_ = reading(world, PLACE + "notes://secret")
        await world.clock.pass_(5)
        with pytest.raises(RequestTimedOut):
            await reading_
        reading_ = reading(world, PLACE + "notes://secret")
        await settled()
        world.close(port)
        with pytest.raises(TabClosed):
            await reading_
    assert "A resource is read from shop.example, tab 1." in caplog.text
    assert "secret" not in caplog.text


# Consent


async def test_a_read_needs_consent_like_a_call_and_says_what_is_read() -> None:
    requests: list[CallRequest] = []

    async def consents(request: CallRequest) -> bool:
        requests.append(request)
        return "allowed" in str(request.uri)

    async with hub_world(HubOptions(consents=consents)) as world:
        port = shop(world)
        with pytest.raises(CallDenied) as raised:
            await world.hub.read(PLACE + "notes://one")
        assert raised.value.data == {
            "reason": "CallDenied",
            "origin": "https://shop.example",
            "uri": "notes://one",
        }
        assert not port.reads
        reading_ = reading(world, PLACE + "notes://allowed")
        await settled()
        port.answers_read(CONTENTS)
        await reading_
    assert requests[0] == CallRequest(1, "https://shop.example", "", {}, uri="notes://one")


async def test_always_for_resources_is_not_for_tools_nor_the_reverse() -> None:
    asked: list[dict[str, Any]] = []

    async def asks(question: Any) -> str:
        asked.append(dict(question))
        return "tool"

    consent = Consent(asks)
    read = CallRequest(1, "https://shop.example", "", {}, uri="notes://one\u202e")
    call = CallRequest(1, "https://shop.example", "resources/read", {"a": 1})
    for request in (read, call, read, call):
        assert await consent(request)
    assert len(asked) == 2
    assert [(each["what"], each["tool"], each["text"]) for each in asked] == [
        ("Resource", "notes://one\\u202e", ""),
        ("Tool", "resources/read", '{\n  "a": 1\n}'),
    ]
    assert "read a resource" in question(read)["title"]


# Links in results


async def test_the_links_of_a_result_can_be_read() -> None:
    link = {"type": "resource_link", "uri": "kept:///k1", "name": "k1"}
    result = {
        "content": [{"type": "text", "text": "kept:///k1"}, link, {"type": "resource", "resource": NOTES}],
        "structuredContent": {"uri": "kept:///k1", "rows": [["kept:///k1", "kept:///k2", 5]], "handle": "k1"},
    }
    async with hub_world() as world:
        port = shop(world)
        calling = world.calling(ADD)
        await settled()
        port.answers(result)
        found = await calling
    assert [each.get("uri") for each in found["content"]] == [None, PLACE + "kept:///k1", None]
    assert found["content"][0]["text"] == "kept:///k1"
    assert found["content"][2]["resource"] == {**NOTES, "uri": PLACE + "notes://one"}
    assert found["structuredContent"] == {
        "uri": PLACE + "kept:///k1",
        "rows": [[PLACE + "kept:///k1", "kept:///k2", 5]],
        "handle": "k1",
    }


JSON = st.recursive(
    st.none() | st.integers() | st.text(max_size=5),
    lambda each: (
        st.lists(each, max_size=3)
        | st.dictionaries(
            st.sampled_from(["content", "contents", "type", "uri", "resource", "_meta", "structuredContent"]),
            each | st.sampled_from(["resource_link", "resource"]),
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(["content", "contents", "structuredContent", "x"]), JSON))
def test_results_of_any_form_keep_what_is_no_address(result: dict[str, Any]) -> None:
    found = addressed(result, "a", 1)
    assert set(found) == set(result)
    assert found.get("x") == result.get("x")


def test_a_result_without_links_is_unchanged() -> None:
    assert addressed(text_result("a:b"), "a", 1) == text_result("a:b")
    following = {"contents": [{"uri": "kept:///k", "_meta": {"mcpframe/next": "kept:///k?offset=9", "a": 1}}]}
    [found] = addressed(following, "a", 1)["contents"]
    assert found["_meta"] == {"mcpframe/next": "website://a/tab1/kept:///k?offset=9", "a": 1}
