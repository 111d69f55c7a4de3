"""`input()` by elicitation: the part that waits; a browser decides whether it can."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import anyio
import pytest
from mcp_types import ElicitResult

from mcpframe.frame.serving.user_input import answer_to

pytestmark = pytest.mark.anyio


async def asked(action: Any, answer: str | None = None) -> str | None:
    async def elicit(message: str, schema: Mapping[str, Any]) -> ElicitResult:
        assert message == "Name?"
        assert list(schema["properties"]) == ["answer"]
        return ElicitResult(action=action, content=None if answer is None else {"answer": answer})

    return await answer_to("Name? ", elicit, this_task())


def this_task() -> asyncio.Task[Any]:
    task = asyncio.current_task()
    assert task
    return task


async def test_an_answer() -> None:
    assert await asked("accept", "Ada") == "Ada"


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_no_answer_is_the_end_of_the_input(action: str) -> None:
    with pytest.raises(EOFError):
        await asked(action)


async def test_a_client_that_cannot_ask() -> None:
    async def elicit(message: str, schema: Mapping[str, Any]) -> ElicitResult:
        raise LookupError("no such method")

    assert await answer_to("", elicit, this_task()) is None


async def test_a_call_that_is_cancelled_waits_no_more() -> None:
    cancelled = anyio.Event()

    async def elicit(message: str, schema: Mapping[str, Any]) -> ElicitResult:
        call.cancel()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()
        raise AssertionError

    call = asyncio.create_task(asyncio.Event().wait())
    with pytest.raises(EOFError, match="cancelled"):
        await answer_to("", elicit, call)
    with anyio.fail_after(5):
        await cancelled.wait()
