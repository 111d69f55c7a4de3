"""Consent to calls: who is asked, for which origin, and what happens meanwhile."""

from __future__ import annotations

import asyncio
import logging

import pytest

from mcpframe.hub.core.errors import CallDenied, TabNotFound
from mcpframe.hub.core.interfaces import CallRequest
from mcpframe.hub.core.names import origin_of
from mcpframe.hub.core.options import HubOptions
from tests.support.fake_hub import hub_world, text_result, tool
from tests.support.settling import settled

SHOP = "https://shop.example/cart"
ADD = "website_tool_shop_example_tab1_add"
CART = "website_tool_shop_example_tab1_cart"


class Asked:
    """Who is asked, and has not answered yet."""

    def __init__(self) -> None:
        self.requests: list[CallRequest] = []
        self.answers: list[asyncio.Future[bool]] = []

    async def __call__(self, request: CallRequest) -> bool:
        self.requests.append(request)
        self.answers.append(asyncio.get_running_loop().create_future())
        return await self.answers[-1]


async def test_a_call_is_sent_only_after_consent_to_its_origin_and_arguments(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    asked = Asked()
    async with hub_world(HubOptions(consents=asked)) as world:
        port = world.page(1, SHOP, tool("add"))
        calling = world.calling(ADD, a=1)
        await settled()
        assert asked.requests == [CallRequest(1, "https://shop.example", "add", {"a": 1})]
        assert not port.calls
        asked.answers[0].set_result(True)
        await settled()
        port.answers(text_result("done"))
        assert await calling == text_result("done")
        assert len(asked.requests) == 1

        denied = world.calling(ADD, a=2)
        await settled()
        asked.answers[1].set_result(False)
        with pytest.raises(CallDenied) as caught:
            await denied
        assert caught.value.data == {"reason": "CallDenied", "origin": "https://shop.example", "tool": "add"}
        assert len(port.calls) == 1
        assert "is denied in" in caplog.text


async def test_a_page_that_has_gone_elsewhere_meanwhile_does_not_get_the_call() -> None:
    asked = Asked()
    async with hub_world(HubOptions(consents=asked)) as world:
        world.page(1, SHOP, tool("cart", cache=True))
        calling = world.calling(CART)
        await settled()
        # The same domain, but another origin: it is asked for anew.
        port = world.page(1, "http://shop.example/cart", tool("cart", cache=True))
        asked.answers[0].set_result(True)
        await settled()
        assert [request.origin for request in asked.requests] == ["https://shop.example", "http://shop.example"]
        assert not port.calls
        asked.answers[1].set_result(False)
        with pytest.raises(CallDenied):
            await calling


async def test_a_tab_that_ends_while_its_user_is_asked_gets_nothing() -> None:
    asked = Asked()
    async with hub_world(HubOptions(consents=asked)) as world:
        port = world.page(1, SHOP, tool("add"))
        calling = world.calling(ADD)
        await settled()
        world.close(port)
        asked.answers[0].set_result(True)
        with pytest.raises(TabNotFound):
            await calling


async def test_where_nobody_can_be_asked_nothing_is_called() -> None:
    async def fails(request: CallRequest) -> bool:
        raise OSError("no display")

    async with hub_world(HubOptions(consents=fails)) as world:
        port = world.page(1, SHOP, tool("add"))
        with pytest.raises(CallDenied, match="no display"):
            await world.calling(ADD)
        assert not port.calls


async def test_a_caller_that_leaves_ends_the_question() -> None:
    asked = Asked()
    async with hub_world(HubOptions(consents=asked)) as world:
        world.page(1, SHOP, tool("add"))
        calling = world.calling(ADD)
        await settled()
        calling.cancel()
        await settled()
        assert asked.answers[0].cancelled()


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://Shop.example:443/a?b#c", "https://shop.example"),
        ("http://shop.example:8080/", "http://shop.example:8080"),
        ("http://user:word@shop.example/", "http://shop.example"),
        ("http://[::1]:80/", "http://[::1]"),
        ("https://shop.example:99999/", "null"),
        ("file:///etc/passwd", "null"),
        ("about:blank", "null"),
        ("https:///x", "null"),
    ],
)
def test_the_origin_of_an_address(url: str, origin: str) -> None:
    assert origin_of(url) == origin
