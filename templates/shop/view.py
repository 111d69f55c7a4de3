"""The shop's page: shows the goods and the cart, and lets the person shop."""

import asyncio

from cart import MOST, PRODUCTS, Cart, Product, money
from mcpframe import Element, Page, PageEvent


class View:
    """Everything on the page."""

    def __init__(self, page: Page, cart: Cart) -> None:
        """Use a page that shows `shop.html`."""
        self._page = page
        self._cart = cart
        self._shown: dict[str, int] | None = None
        self._answer: asyncio.Future[bool] | None = None
        goods = page.element("#goods")
        for product in PRODUCTS.values():
            _add_product(goods, product)
        goods.on("click", self._on_product)
        page.element("#lines").on("click", self._on_line)
        page.element("#buy").on("click", self._on_buy)
        page.element("#confirm").on("close", self._on_decided)

    def show(self) -> None:
        """Update the cart. The keyboard focus stays on its button."""
        focused = self._page.js.activeElement
        kept = focused and focused.id
        contents = self._cart.contents()
        place = self._page.element("#lines")
        place.clear()
        for line in contents.lines:
            is_new = self._shown is not None and self._shown.get(line.product) != line.quantity
            item = place.add("li", class_="line new" if is_new else "line")
            item.add("span", class_="dot").js.style.background = PRODUCTS[line.product].colour
            item.add("span", line.name, class_="grow")
            for sign, step, label in (("\u2212", -1, f"One less {line.name}"), ("+", 1, f"One more {line.name}")):
                if step == 1:
                    item.add("span", str(line.quantity), class_="count")
                item.add(
                    "button",
                    sign,
                    type="button",
                    id=f"line-{line.product}-{'more' if step == 1 else 'less'}",
                    aria_label=label,
                    data_product=line.product,
                    data_quantity=str(line.quantity + step),
                    disabled=line.quantity + step > MOST,
                )
            item.add("span", money(line.price), class_="price")
        self._shown = self._cart.to_json()
        self._page.element("#empty").hidden = bool(contents.lines)
        self._page.element("#total").text = money(contents.total)
        self._page.element("#buy").disabled = not contents.lines
        count = len(self._cart)
        self._page.element("#count").text = f"{count} item{'' if count == 1 else 's'}"
        button = kept and self._page.js.getElementById(kept)
        if button:
            button.focus()

    def tell(self, text: str) -> None:
        """Show what has happened; screen readers say it."""
        self._page.element("#told").text = text

    async def confirm(self) -> bool:
        """Ask the person whether to buy what is in the cart, and return whether they do.

        If something else is in it by then, nothing is bought: they have not seen that.
        """
        if self._answer is not None:
            raise RuntimeError("The person is being asked already.")
        self._answer = asyncio.get_running_loop().create_future()
        contents = self._cart.contents()
        place = self._page.element("#confirm-lines")
        place.clear()
        for line in contents.lines:
            place.add("li", f"{line.quantity} {line.name}, {money(line.price)}")
        self._page.element("#confirm-total").text = money(contents.total)
        dialog = self._page.element("#confirm").js
        dialog.returnValue = ""  # what Escape leaves as it is
        dialog.showModal()
        try:
            buys = await self._answer
        finally:
            self._answer = None
            dialog.close()
        if buys and self._cart.contents() != contents:
            self.tell("The cart has changed meanwhile: check out again.")
            return False
        return buys

    def _on_decided(self) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(self._page.element("#confirm").js.returnValue == "buy")

    async def _on_buy(self) -> None:
        if self._answer is None and await self.confirm():
            total = self._cart.contents().total
            self._cart.clear()
            self.tell(f"Ordered for {money(total)}. Thank you!")

    def _on_product(self, event: PageEvent) -> None:
        if event.target and (product := event.target.get("data-product")):
            self._set(product, self._cart.quantity(product) + 1)

    def _on_line(self, event: PageEvent) -> None:
        if event.target and (product := event.target.get("data-product")):
            self._set(product, int(event.target.get("data-quantity") or 0))

    def _set(self, product: str, quantity: int) -> None:
        try:
            self._cart.set(product, quantity)
        except ValueError as error:
            self.tell(str(error))


def _add_product(place: Element, product: Product) -> None:
    item = place.add("li", class_="product")
    cup = item.add("span", class_="cup", aria_hidden="true")
    cup.add("span").js.style.setProperty("--tea", product.colour)
    item.add("h2", product.name)
    item.add("p", product.about, class_="quiet")
    foot = item.add("div", class_="foot")
    foot.add("span", f"{money(product.price)} / 100 g", class_="price")
    foot.add("button", "Add", type="button", aria_label=f"Add {product.name}", data_product=product.id)
