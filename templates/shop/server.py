"""The shop's tools. Those for what is in the cart exist only while there is something in it."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import BaseModel, Field

from cart import MOST, PRODUCTS, Cart, CartContents, money
from mcpframe import FrameServer

FOR_CARTS = ("set_quantity", "check_out")
"""The tools that need something in the cart."""
REPORT_SECONDS = 4.0
"""How often a client is told that the person has not decided yet: clients and hubs give up on silent calls."""

READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)

ProductId = Annotated[str, Field(description="The product's id, as find_products returns it")]


class Found(BaseModel):
    """A product that is for sale."""

    id: str
    name: str
    about: str
    price: int = Field(description="For 100 g, in cents")


class Shop:
    """The server of one page, for its cart.

    Attributes:
        server: the server.
    """

    def __init__(self, cart: Cart, confirm: Callable[[], Awaitable[bool]], tell: Callable[[str], None]) -> None:
        """Create it, with the tools for the cart as it is.

        Args:
            cart: the cart.
            confirm: asks the person at the page whether to buy what is in the cart.
            tell: shows what an assistant has done.
        """
        self.server = FrameServer(
            "shop",
            title="Tea shop",
            version="0.1.0",
            instructions="A tea shop. Checking out asks the person at the page.",
            browser={"multiTabSupport": True, "cacheSupported": True},
        )
        self._cart = cart
        self._confirm = confirm
        self._tell = tell
        self._offered = False
        self.server.add_tool(self.find_products, title="Find products", annotations=READS)
        self.server.add_tool(self.add_to_cart, title="Add to the cart")
        self.server.add_tool(self.view_cart, title="View the cart", annotations=READS)
        self.server.cache("find_products")  # it does not depend on the tab: a hub may open one for it
        self.offer()

    def offer(self) -> bool:
        """Add or remove the tools for what is in the cart; return whether the list is another one now."""
        if self._offered == bool(self._cart):
            return False
        self._offered = not self._offered
        if self._offered:
            again = ToolAnnotations(idempotent_hint=True)
            self.server.add_tool(self.set_quantity, title="Change the cart", annotations=again)
            self.server.add_tool(self.check_out, title="Check out")
        else:
            for name in FOR_CARTS:
                self.server.remove_tool(name)
        return True

    def find_products(
        self, words: Annotated[str, Field(description="What to look for; empty for everything")] = ""
    ) -> list[Found]:
        """Find what is for sale."""
        wanted = words.lower().split()
        return [
            Found(id=each.id, name=each.name, about=each.about, price=each.price)
            for each in PRODUCTS.values()
            if all(word in f"{each.name} {each.about}".lower() for word in wanted)
        ]

    async def add_to_cart(
        self, product: ProductId, quantity: Annotated[int, Field(ge=1, le=MOST, description="How many 100 g")] = 1
    ) -> Annotated[CallToolResult, CartContents]:
        """Put a product into the cart of this tab."""
        self._set(product, self._cart.quantity(product) + quantity)
        return self._result(f"Added {quantity} {PRODUCTS[product].name}.")

    async def set_quantity(
        self, product: ProductId, quantity: Annotated[int, Field(ge=0, le=MOST, description="0 removes it")]
    ) -> Annotated[CallToolResult, CartContents]:
        """Change how many of a product are in the cart."""
        self._set(product, quantity)
        name = PRODUCTS[product].name
        return self._result(f"{quantity} {name} now." if quantity else f"Removed {name}.")

    def view_cart(self) -> CartContents:
        """Return what is in the cart."""
        return self._cart.contents()

    async def check_out(self, ctx: Context) -> str:
        """Ask the person at the page to buy what is in the cart. Waits until they have decided."""
        total = self._cart.contents().total
        asking = asyncio.ensure_future(self._confirm())
        try:
            seconds = 0.0
            while not asking.done():
                await ctx.report_progress(seconds, None, "Waiting for the person at the page")
                await asyncio.wait({asking}, timeout=REPORT_SECONDS)
                seconds += REPORT_SECONDS
            bought = asking.result()
        finally:
            asking.cancel()  # the call may have been cancelled
        if not bought:
            raise ToolError("The person did not buy. Everything is still in the cart.")
        self._cart.clear()
        self._tell(f"Ordered for {money(total)}. Thank you!")
        return f"Ordered for {money(total)}."

    def _set(self, product: str, quantity: int) -> None:
        try:
            self._cart.set(product, quantity)
        except ValueError as error:
            raise ToolError(str(error)) from None

    def _result(self, done: str) -> CallToolResult:
        self._tell(f"An assistant did this: {done}")
        contents = self._cart.contents()
        text = f"{done} The cart comes to {money(contents.total)}."
        return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=contents.model_dump())
