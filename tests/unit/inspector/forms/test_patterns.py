"""Patterns of schemas: matched in a worker, each with a deadline. What a real one decides is in tests/browser."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from typing import Any

import mcp_types as types
import pytest
from jsonschema import Draft7Validator, Draft202012Validator, _keywords, _legacy_keywords, _utils
from mcp import Client
from mcp.server.lowlevel import Server

from inspector.forms import patterns
from inspector.forms.patterns import Patterns
from inspector.results import output_schemas
from inspector.results.output_schemas import limit_patterns, mismatch, show_unchecked

SLOW = "(a+)+$"


class FakeWorker:
    """A worker that never finishes `SLOW`."""

    started = 0

    def __init__(self) -> None:
        FakeWorker.started += 1
        self.messages: asyncio.Queue[str] = asyncio.Queue()
        self.ended = False
        self.messages.put_nowait("ready")

    def post(self, text: str) -> None:
        pattern, value = json.loads(text)
        assert not self.ended
        if pattern != SLOW:
            self.messages.put_nowait(json.dumps(None if pattern == "(" else bool(re.search(pattern, value))))

    async def next(self) -> str:
        return await self.messages.get()

    def end(self) -> None:
        self.ended = True


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "MATCH_SECONDS", 0.01)
    FakeWorker.started = 0


async def test_what_is_not_known_is_matched_by_settling() -> None:
    found = Patterns(FakeWorker)
    assert (found.matches("^a+$", "aa"), found.matches("^a+$", "b"), found.matches("(", "a")) == (None, None, None)
    assert await found.settle()
    assert (found.matches("^a+$", "aa"), found.matches("^a+$", "b"), found.matches("(", "a")) == (True, False, None)
    assert not await found.settle()
    assert not found.is_late("(")
    assert FakeWorker.started == 1


async def test_a_worker_is_terminated_at_the_deadline_and_the_others_go_on_in_a_new_one() -> None:
    workers: list[FakeWorker] = []

    def start() -> FakeWorker:
        workers.append(FakeWorker())
        return workers[-1]

    found = Patterns(start)
    for pattern in (SLOW, "b"):
        found.matches(pattern, "ab")
    assert await found.settle()
    assert (found.matches(SLOW, "ab"), found.matches("b", "ab")) == (None, True)
    assert (found.is_late(SLOW), found.is_late("b")) == (True, False)
    assert [worker.ended for worker in workers] == [True, False]
    found.matches(SLOW, "another text")
    assert found.is_settled, "a pattern that was late is not tried again"


async def test_all_matches_together_have_a_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "SETTLE_SECONDS", 0.0)
    found = Patterns(FakeWorker)
    for at in range(1000):
        found.matches(f"a{at}", "a")
    assert await found.settle()
    assert all(found.is_late(f"a{at}") for at in range(1000))


async def test_without_workers_nothing_is_matched(monkeypatch: pytest.MonkeyPatch) -> None:
    class Silent(FakeWorker):
        async def next(self) -> str:
            return await asyncio.get_running_loop().create_future()

    monkeypatch.setattr(patterns, "START_SECONDS", 0.01)
    found = Patterns(Silent)
    found.matches("a", "a")
    await found.settle()
    assert found.is_late("a")
    assert found.matches("b", "b") is None
    assert found.is_settled


def test_long_patterns_and_texts_are_left_to_the_server() -> None:
    found = Patterns(FakeWorker)
    assert (found.matches("a" * 10_001, "a"), found.matches("a", "a" * 10_001)) == (None, None)
    assert found.is_settled


@pytest.fixture
def limited(monkeypatch: pytest.MonkeyPatch) -> Iterator[Patterns]:
    for module in (_keywords, _legacy_keywords, _utils):
        monkeypatch.setattr(module, "re", re)  # and so it is again afterwards
    found = Patterns(FakeWorker)
    monkeypatch.setattr(output_schemas, "PATTERNS", found)
    limit_patterns.cache_clear()
    limit_patterns()
    yield found
    limit_patterns.cache_clear()


@pytest.mark.parametrize("validator", [Draft7Validator, Draft202012Validator])
@pytest.mark.parametrize(
    ("schema", "right", "wrong"),
    [
        ({"properties": {"x": {"pattern": "b$"}}}, {"x": "ab"}, {"x": "aa"}),
        ({"patternProperties": {"b$": {"type": "string"}}}, {"aa": 1}, {"ab": 1}),
        ({"patternProperties": {"b$": {}}, "additionalProperties": False}, {"ab": 1}, {"aa": 1}),
    ],
)
async def test_a_check_is_right_once_its_matches_are_settled(
    limited: Patterns, validator: Any, schema: Any, right: Any, wrong: Any
) -> None:
    for value, expected in ((right, True), (wrong, False)):
        validator(schema).is_valid(value)
        await limited.settle()
        assert validator(schema).is_valid(value) is expected


@pytest.mark.usefixtures("limited")
@pytest.mark.parametrize(("pattern", "fails"), [("b$", True), (SLOW, False), ("^a+$", False)])
async def test_the_sdk_checks_results_so(pattern: str, fails: bool) -> None:
    schema = {"type": "object", "properties": {"x": {"type": "string", "pattern": pattern}}}
    tool = types.Tool(name="odd", input_schema={"type": "object"}, output_schema=schema)

    async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[tool])

    async def call_tool(context: Any, params: Any) -> types.CallToolResult:
        return types.CallToolResult(content=[], structured_content={"x": "a" * 60})

    async with Client(Server("odd", on_list_tools=list_tools, on_call_tool=call_tool)) as client:
        check = show_unchecked(client)
        result = await client.call_tool("odd", {})
        assert result.structured_content == {"x": "a" * 60}
        told = await mismatch(check, "odd", result)
        assert told.startswith("The result does not fit the tool's output schema" if fails else "")
        assert bool(told) is fails
        assert "\n" not in told
        bare = types.CallToolResult(content=[types.TextContent(type="text", text="done")])
        assert "has no structured content" in await mismatch(check, "odd", bare)
        assert await mismatch(check, "odd", bare.model_copy(update={"is_error": True})) == ""
