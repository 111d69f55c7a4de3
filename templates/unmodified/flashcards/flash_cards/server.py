"""Flashcards, with the package fastmcp."""

import json
import logging
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import resources
from typing import Annotated

from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.server.middleware.timing import TimingMiddleware
from pydantic import BaseModel, Field

from flash_cards.spelling import normalized, spelling

logger = logging.getLogger(__name__)


class Card(BaseModel):
    """A card."""

    front: str
    back: str
    deck: str


@asynccontextmanager
async def lifespan(server: FastMCP) -> AsyncIterator[dict[str, list[Card]]]:
    """Read the cards when the server starts."""
    text = resources.files("flash_cards").joinpath("cards.json").read_text("utf-8")
    yield {"cards": [Card(**card) for card in json.loads(text)]}
    logger.info("Stopped")


mcp = FastMCP("flashcards", instructions="Asks what is on the back of cards.", version="1.0.0", lifespan=lifespan)
mcp.add_middleware(TimingMiddleware())
mcp.mount(spelling, namespace="spelling")


def cards(ctx: Context) -> list[Card]:
    """Return all cards."""
    return ctx.lifespan_context["cards"]


@mcp.tool(tags={"read"}, annotations={"readOnlyHint": True})
async def list_cards(ctx: Context, deck: Annotated[str, Field(description="The name of a deck.")]) -> list[Card]:
    """Return the cards of a deck."""
    await ctx.info(f"Reading the deck {deck}")
    return [card for card in cards(ctx) if card.deck == deck]


@mcp.tool
async def answer(front: str, back: str, ctx: Context) -> bool:
    """Check an answer."""
    found = [card.back for card in cards(ctx) if card.front == front]
    if not found:
        raise ToolError(f"There is no card {front!r}.")
    right = normalized(back) in found
    key = "right" if right else "wrong"
    await ctx.set_state(key, (await ctx.get_state(key) or 0) + 1)
    return right


@mcp.tool
async def score(ctx: Context) -> dict[str, int]:
    """Return how many answers were right and wrong in this session."""
    return {key: await ctx.get_state(key) or 0 for key in ("right", "wrong")}


@mcp.tool
async def quiz(ctx: Context) -> str:
    """Ask the user for the back of every card."""
    asked = cards(ctx)
    for number, card in enumerate(asked):
        await ctx.report_progress(number, len(asked))
        result = await ctx.elicit(f"What is {card.front} ({card.deck})?", response_type=str)
        if result.action != "accept":
            return f"Stopped after {number} cards."
        if result.data != card.back:
            return f"{card.front} is {card.back}."
    return "All right."


@mcp.resource("flashcards://{deck}", mime_type="application/json")
def deck_cards(deck: str, ctx: Context) -> str:
    """The cards of a deck as JSON."""
    return json.dumps([card.model_dump() for card in cards(ctx) if card.deck == deck])


@mcp.prompt
def practise(deck: str = "french") -> str:
    """Ask for an exercise."""
    return f"Ask me about the cards of the deck {deck}, one after the other."


def main() -> None:
    """Serve on standard input and output."""
    logging.basicConfig(level=os.environ.get("FLASHCARDS_LOG_LEVEL", "WARNING"))
    mcp.run()


if __name__ == "__main__":
    main()
