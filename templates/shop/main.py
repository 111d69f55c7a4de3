"""A shop that is an MCP server for the assistants in its visitor's browser: a page server of MCP-B, in Python.

Each tab has a cart of its own, which is kept in the tab's `sessionStorage`, so that it is there after a reload.
"""

import json
from contextlib import suppress
from typing import Any

from cart import Cart
from mcpframe import Page, page_server
from server import Shop
from view import View

KEY = "cart"


async def main(page: Page) -> None:
    """Show the shop, and serve assistants while it is open."""
    await page.show("shop.html")
    cart = Cart(read_kept(page))
    view = View(page, cart)
    shop = Shop(cart, view.confirm, view.tell)

    def on_change() -> None:
        keep(page, cart.to_json())
        view.show()
        if shop.offer():
            page.run(shop.server.tools_changed, "Announcing the tools")

    cart.on_change = on_change
    view.show()
    await page_server(shop.server)


def read_kept(page: Page) -> Any:
    """Return what this tab has kept; None for nothing."""
    with suppress(Exception):  # a browser without storage, or something that is not JSON
        return json.loads(page.js.defaultView.sessionStorage.getItem(KEY))
    return None


def keep(page: Page, value: Any) -> None:
    """Keep a value in this tab, until it is closed."""
    with suppress(Exception):  # a browser without storage: the shop goes on without
        page.js.defaultView.sessionStorage.setItem(KEY, json.dumps(value))
