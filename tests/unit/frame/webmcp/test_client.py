"""`model_context_client` with the SDK's own client, over tools that a test makes up."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from mcpframe.frame.core.errors import StateError
from mcpframe.frame.dialects.webmcp.tools import Rejected
from mcpframe.frame.webmcp.client import tools_session

OWN, OTHER = "https://own.example", "https://other.example"


class FakeTools:
    """The tools of a document: definitions with `answer`, which may be an error, or a function."""

    def __init__(self, *tools: Mapping[str, Any]) -> None:
        self.tools = list(tools)
        self.given: list[Any] = []
        self.ended: list[str] = []
        self.listening: list[Callable[[], None]] = []
        self.failure: Rejected | None = None

    async def list(self) -> Sequence[tuple[Mapping[str, Any], Any]]:
        if self.failure:
            raise self.failure
        return [(tool, tool) for tool in self.tools]

    async def run(self, tool: Any, arguments: Mapping[str, Any]) -> str | None:
        self.given.append(arguments)
        answer = tool["answer"]
        if answer is Ellipsis:
            try:
                await asyncio.Event().wait()
            finally:
                self.ended.append(tool["name"])
        if isinstance(answer, Exception):
            raise answer
        found: str | None = answer
        return found

    def watch(self, changed: Callable[[], None]) -> Callable[[], None]:
        self.listening.append(changed)
        return lambda: self.listening.remove(changed)


def tool(name: str, answer: Any = "ok", origin: str = OWN, **members: Any) -> Mapping[str, Any]:
    return {"name": name, "answer": answer, "origin": origin, "description": name.upper(), **members}


def mcp(**members: Any) -> str:
    return json.dumps({"content": [{"type": "text", "text": "hello"}], **members})


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_tools_and_their_results(mode: str) -> None:
    schema = {"properties": {"x": {"type": "number"}}}
    source = FakeTools(
        tool("plain", "a text", title="Plain", inputSchema=schema, annotations={"readOnlyHint": True, "odd": 7}),
        tool("mcp", mcp(structuredContent={"a": 1})),
        tool("failed", mcp(isError=True)),
        tool("thrown", Rejected("UnknownError", "no reason")),
        tool("plain", "of the other", OTHER, inputSchema='{"type": "object"}'),
        tool(""),
        {"answer": ""},
    )
    async with Client(tools_session(source), mode=mode) as client:  # type: ignore[arg-type]
        listed = {each.name: each for each in (await client.list_tools()).tools}
        assert sorted(listed) == ["failed", "mcp", "plain", "plain_2", "thrown"]
        plain = listed["plain"]
        assert (plain.title, plain.description) == ("Plain", "PLAIN")
        assert plain.input_schema == {**schema, "type": "object"}
        assert plain.annotations is not None
        assert plain.annotations.read_only_hint
        assert [listed[name].meta for name in ("plain", "plain_2")] == [
            {"mcpframe/origin": OWN},
            {"mcpframe/origin": OTHER},
        ]
        results = {name: await client.call_tool(name, {"x": 1}) for name in listed}
    texts = {name: result.content[0].text for name, result in results.items()}  # type: ignore[union-attr]
    assert texts["plain"] == "a text"
    assert texts["plain_2"] == "of the other"
    assert texts["mcp"] == texts["failed"] == "hello"
    assert "UnknownError" in texts["thrown"]
    assert results["mcp"].structured_content == {"a": 1}
    assert [name for name, result in results.items() if result.is_error] == ["failed", "thrown"]
    assert source.given == [{"x": 1}] * 5
    assert source.listening == []


async def test_an_unknown_tool_and_requests_that_webmcp_has_not() -> None:
    async with Client(tools_session(FakeTools(tool("one"))), mode="legacy") as client:
        with pytest.raises(MCPError, match="no tool 'two'"):
            await client.call_tool("two", {})
        with pytest.raises(MCPError, match="prompts/list"):
            await client.list_prompts()
        assert (await client.call_tool("one", {})).content


async def test_changes_are_announced() -> None:
    source = FakeTools(tool("one"))
    changed = anyio.Event()

    async def on_message(message: Any) -> None:
        changed.set()

    async with Client(tools_session(source), mode="legacy", message_handler=on_message) as client:
        source.tools.append(tool("two"))
        source.listening[0]()
        await changed.wait()
        assert [each.name for each in (await client.list_tools()).tools] == ["one", "two"]


async def test_a_call_ends_with_its_caller_and_all_with_the_session() -> None:
    source = FakeTools(tool("one", ...), tool("two", ...))
    async with Client(tools_session(source), mode="legacy") as client:
        calling = asyncio.create_task(client.call_tool("one", {}))
        await anyio.wait_all_tasks_blocked()
        calling.cancel()
        await asyncio.wait([calling])
        await anyio.wait_all_tasks_blocked()
        assert source.ended == ["one"]
        left = asyncio.create_task(client.call_tool("two", {}))
        await anyio.wait_all_tasks_blocked()
    assert source.ended == ["one", "two"]
    left.cancel()
    await asyncio.wait([left])


async def test_tools_that_cannot_be_listed() -> None:
    source = FakeTools()
    source.failure = Rejected("NotAllowedError", "Access to the feature is disallowed by permissions policy.")
    with pytest.raises(StateError, match="permissions policy"):
        async with tools_session(source):
            pass
    source.failure = None
    async with Client(tools_session(source), mode="legacy") as client:
        source.failure = Rejected("InvalidStateError", "gone")
        with pytest.raises(MCPError, match="gone"):
            await client.list_tools()


@pytest.mark.parametrize(("levels", "kept"), [(96, True), (97, False), (100, False)])
async def test_a_schema_too_deep_for_a_message_costs_no_list(levels: int, kept: bool) -> None:
    schema = '{"type": "object", "a": ' + "[" * (levels - 1) + "]" * (levels - 1) + "}"
    async with Client(tools_session(FakeTools(tool("deep", inputSchema=schema), tool("other")))) as client:
        listed = {each.name: each.input_schema for each in (await client.list_tools()).tools}
    assert listed["other"] == {"type": "object"}
    assert ("a" in listed["deep"]) is kept
