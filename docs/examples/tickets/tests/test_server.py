"""The client of a test answers as its user would."""

import asyncio
from typing import Any

import pytest
from mcp import Client
from mcp_types import ElicitResult

from server import server


async def accept(context: object, params: Any) -> ElicitResult:
    assert params.message == "How many seats on the night train?"
    return ElicitResult(action="accept", content={"count": 2})


async def decline(context: object, params: Any) -> ElicitResult:
    return ElicitResult(action="decline")


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize(
    ("answer", "text"),
    [(accept, "2 seats on the night train are booked."), (decline, "Nothing is booked: decline."), (None, "Nobody")],
)
def test_the_user_is_asked(mode: str, answer: Any, text: str) -> None:
    async def book() -> str:
        async with Client(server, mode=mode, elicitation_callback=answer) as client:
            result = await client.call_tool("book", {"train": "the night train"})
            return result.content[0].text

    assert asyncio.run(book()).startswith(text)
