"""`Answers`: each request gets one answer, and a cancelled one none."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest

from mcpframe.frame.core.errors import StateError
from mcpframe.frame.waiting.answers import AnswerRefused, Answers

pytestmark = pytest.mark.anyio


class Rig:
    """Answers, and what was posted."""

    def __init__(self, limit: int | None = None) -> None:
        self.answers = Answers(self.post, limit)
        self.posted: list[Any] = []
        self.changed = asyncio.Event()
        self.begun = asyncio.Event()
        self.over = False

    def post(self, message: Any) -> None:
        self.changed.set()
        if self.over:
            raise StateError("The session is over.")
        if message.get("result") == {"no form": "in JSON"}:
            raise TypeError("This has no form in JSON.")
        self.posted.append(message)

    async def next(self) -> Any:
        while not self.posted:
            self.changed.clear()
            await self.changed.wait()
        return self.posted.pop(0)

    async def hang(self) -> dict[str, Any]:
        self.begun.set()
        return await asyncio.get_running_loop().create_future()


async def returns(value: Any) -> Any:
    return value


async def fails(error: BaseException) -> Any:
    raise error


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    with anyio.fail_after(60):
        yield Rig()


async def test_results_and_errors(rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
    assert rig.answers.begin(7, "a", returns({"a": 1}))
    assert await rig.next() == {"jsonrpc": "2.0", "id": 7, "result": {"a": 1}}
    rig.answers.begin("x", "a", fails(AnswerRefused(-5, "no", {"why": 1})))
    assert (await rig.next())["error"] == {"code": -5, "message": "no", "data": {"why": 1}}
    assert not caplog.records
    for error in (ValueError("broken"), asyncio.CancelledError("by something it waited for")):
        rig.answers.begin(8, "its name", fails(error))
        answer = await rig.next()
        assert answer["error"]["code"] == -32603
        assert answer["error"]["message"] == f"{type(error).__name__}: {error}"
        assert "its name" in caplog.text
    rig.answers.begin(9, "a", returns({"no form": "in JSON"}))
    assert (await rig.next())["error"]["code"] == -32603


async def test_without_an_id_or_a_session_nothing_is_sent(rig: Rig) -> None:
    rig.answers.begin(None, "a", returns({"a": 1}))
    rig.answers.begin(None, "a", fails(AnswerRefused(-5, "no")))
    rig.answers.begin(1, "a", returns({"b": 1}))
    assert (await rig.next())["id"] == 1
    assert rig.posted == []
    rig.over, rig.changed = True, asyncio.Event()
    rig.answers.begin(2, "a", returns({}))
    await rig.changed.wait()
    assert rig.posted == []


async def test_a_cancelled_request_gets_no_answer(rig: Rig) -> None:
    rig.answers.begin(1, "a", rig.hang())
    rig.answers.begin(2, "a", rig.hang())
    await rig.begun.wait()
    rig.answers.begin(3, "not begun when it is cancelled", rig.hang())
    assert rig.answers.cancel(1)
    assert rig.answers.cancel(3)
    rig.answers.begin(4, "a", returns({}))
    assert (await rig.next())["id"] == 4
    assert not rig.answers.cancel(1)
    assert rig.answers.cancel(2)


async def test_more_than_the_limit_are_refused_until_some_have_ended() -> None:
    rig = Rig(2)
    for id_ in (1, 2):
        assert rig.answers.begin(id_, "a", rig.hang())
    await rig.begun.wait()
    assert not rig.answers.begin(3, "a", returns({}))
    assert (await rig.next())["error"]["code"] == -32603
    assert not rig.answers.begin(None, "a", returns({}))
    rig.answers.close()
    while not rig.answers.begin(4, "a", returns({})):
        assert (await rig.next())["id"] == 4
        await anyio.lowlevel.checkpoint()
    assert (await rig.next())["result"] == {}
