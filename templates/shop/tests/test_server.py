"""The tools in plain Python, with the official client in memory."""

import asyncio

import pytest
from mcp import Client

from cart import MOST, Cart
from server import Shop

ALWAYS = ["find_products", "add_to_cart", "view_cart"]
ALL = [*ALWAYS, "set_quantity", "check_out"]

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend():
    return "asyncio"


class Person:
    """Who sits at the page."""

    def __init__(self):
        self.seen = []
        self.asked = asyncio.Event()
        self.answer = asyncio.get_running_loop().create_future()

    async def confirm(self):
        self.asked.set()
        return await self.answer


def opened(cart, person):
    shop = Shop(cart, person.confirm, person.seen.append)
    cart.on_change = shop.offer
    return shop.server


async def names(client):
    return [tool.name for tool in (await client.list_tools()).tools]


async def test_the_tools_are_those_that_the_cart_needs():
    person = Person()
    async with Client(opened(Cart(), person), cache=None) as client:
        assert await names(client) == ALWAYS
        added = await client.call_tool("add_to_cart", {"product": "sencha", "quantity": 2})
        assert added.structured_content["total"] == 2500
        assert await names(client) == ALL
        await client.call_tool("set_quantity", {"product": "sencha", "quantity": 0})
        assert await names(client) == ALWAYS
        assert (await client.call_tool("view_cart", {})).structured_content == {"lines": [], "total": 0}
    assert len(person.seen) == 2


@pytest.mark.parametrize("buys", [True, False])
async def test_nothing_is_bought_without_the_person(buys):
    person, cart = Person(), Cart({"assam": 1, "coffee": 3, "oolong": 1000})
    assert cart.to_json() == {"assam": 1}
    async with Client(opened(cart, person), cache=None) as client:
        assert await names(client) == ALL
        calling = asyncio.ensure_future(client.call_tool("check_out", {}))
        await person.asked.wait()
        assert len(cart) == 1
        person.answer.set_result(buys)
        assert (await calling).is_error is not buys
        assert await names(client) == (ALWAYS if buys else ALL)


async def test_what_cannot_be_is_said_to_the_client():
    async with Client(opened(Cart({"assam": MOST}), Person())) as client:
        for arguments in ({"product": "coffee"}, {"product": "assam"}, {"product": "assam", "quantity": 0}):
            assert (await client.call_tool("add_to_cart", arguments)).is_error


async def test_products_are_found_by_their_words():
    async with Client(opened(Cart(), Person())) as client:
        for words, count in (("", 6), ("caffeine sweet", 1), ("coffee", 0)):
            found = await client.call_tool("find_products", {"words": words})
            assert len(found.structured_content["result"]) == count
