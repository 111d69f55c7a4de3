"""The shop's goods, and a cart. Prices are in cents."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, Field

MOST = 20
"""The most of one product that a cart holds."""


@dataclass(frozen=True)
class Product:
    """Something to buy.

    Attributes:
        id: its short name, for tools.
        name: its name.
        about: what it is, in a few words.
        price: for 100 g, in cents.
        colour: the colour of the tea, for its picture.
    """

    id: str
    name: str
    about: str
    price: int
    colour: str


PRODUCTS = {
    each.id: each
    for each in (
        Product("assam", "Assam", "Black, strong and malty; takes milk", 690, "#8a3410"),
        Product("earl-grey", "Earl Grey", "Black, with oil of bergamot", 790, "#a8551a"),
        Product("sencha", "Sencha", "Green, first flush, fresh as grass", 1250, "#a9bb4e"),
        Product("oolong", "Oolong", "Half fermented, with a note of peach", 1490, "#d1872f"),
        Product("rooibos", "Rooibos", "No caffeine, sweet and woody", 540, "#b3361c"),
        Product("camomile", "Camomile", "No caffeine, whole flowers", 480, "#e6bd43"),
    )
}


class Line(BaseModel):
    """One product in a cart."""

    product: str = Field(description="The product's id")
    name: str
    quantity: int
    price: int = Field(description="For all of them, in cents")


class CartContents(BaseModel):
    """What is in a cart."""

    lines: list[Line]
    total: int = Field(description="In cents")


class Cart:
    """What the person is about to buy.

    Attributes:
        on_change: called after each change.
    """

    def __init__(self, kept: Any = None) -> None:
        """Start with what was kept: product ids with quantities. What is not for sale any more is left out."""
        self.on_change: Callable[[], None] = lambda: None
        self._quantities: dict[str, int] = {}
        for product, quantity in (kept if isinstance(kept, dict) else {}).items():
            if product in PRODUCTS and isinstance(quantity, int) and 0 < quantity <= MOST:
                self._quantities[product] = quantity

    def __len__(self) -> int:
        return sum(self._quantities.values())

    def to_json(self) -> dict[str, int]:
        """Return what to keep."""
        return dict(self._quantities)

    def quantity(self, product: str) -> int:
        """Return how many of a product are in it."""
        return self._quantities.get(product, 0)

    def set(self, product: str, quantity: int) -> None:
        """Set how many of a product are in it; 0 removes it.

        Raises:
            ValueError: There is no such product, or that is more than a cart holds.
        """
        if product not in PRODUCTS:
            raise ValueError(f"There is no product {product!r}; there are: {', '.join(PRODUCTS)}.")
        if not 0 <= quantity <= MOST:
            raise ValueError(f"A cart holds 0 to {MOST} of a product, not {quantity}.")
        if quantity:
            self._quantities[product] = quantity
        else:
            self._quantities.pop(product, None)
        self.on_change()

    def clear(self) -> None:
        """Remove everything."""
        self._quantities.clear()
        self.on_change()

    def contents(self) -> CartContents:
        """Return what is in it."""
        lines = [
            Line(product=id_, name=PRODUCTS[id_].name, quantity=count, price=count * PRODUCTS[id_].price)
            for id_, count in self._quantities.items()
        ]
        return CartContents(lines=lines, total=sum(line.price for line in lines))


def money(cents: int) -> str:
    """Return an amount as people write it."""
    return f"€ {cents // 100}.{cents % 100:02}"
