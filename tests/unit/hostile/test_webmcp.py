"""The matrix of bad input and attacks at the document's `modelContext` (WebMCP), as far as no browser is needed.

    line                                                        what must happen
    arguments of any shape, too deep, prototype keys            a result with `isError`; the tools go on
    calls at once, cancelled ones                               each gets its result
    lists without an end, with what is not a tool in them          the tools that are there, and no endless loop
    answers of any shape, none, after the end                   a result with `isError`
    a document's own tools, of any shape, for an agent          those that are tools; the agent's Python goes on

`tests/browser/test_webmcp.py` has pages whose scripts have replaced `modelContext`, or call as no browser does.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from mcpframe.frame.dialects.webmcp.tools import Rejected
from mcpframe.frame.serving import server as objects
from mcpframe.frame.webmcp.client import tools_session
from mcpframe.frame.webmcp.offering import Offering
from tests.hostile.values import ODD, Record
from tests.support.fake_model_context import FakeModelContext
from tests.unit.frame.webmcp.test_client import FakeTools, tool
from tests.unit.frame.webmcp.test_offering import TOOLS, offering, tools

Json = dict[str, Any]
DEEP = "[" * 200 + "]" * 200


ARGUMENTS: list[str] = [
    *(json.dumps(odd) for odd in ODD if not isinstance(odd, dict)),
    *("", "{", "[" * 100_000, "{" * 100_000, "nan", "NaN", "Infinity", "1e400", "\ud800", '"\\ud800"', "'x'", "\0"),
    *(f'{{"a": {value}, "b": 1}}' for value in ("null", "{}", "[]", DEEP, '{"__proto__": 1}', '"\\ud800"', '"x"')),
    *(f'{{"{key}": {{"prototype": 1}}, "a": 1, "b": 1}}' for key in ("__proto__", "\\u005f_proto__", "constructor")),
    *('{"a": 1}', '{"b": 1}', '{"A": 1, "B": 1}', '{"a": 1, "b": 1' + "}" * 5, '{"a": 1, "a": "x", "b": 1}'),
]


async def test_arguments_of_any_shape_are_errors(record_property: Record) -> None:
    place = FakeModelContext()
    async with offering(place, tools()):
        await place.until(*TOOLS)
        for text in ARGUMENTS:
            assert (await place.call("add", text))["isError"], text
        calls = [asyncio.create_task(place.call("add", {"a": number, "b": 1})) for number in range(500)]
        for number, call in enumerate(calls):
            if number % 3 == 0:
                call.cancel()
        done = await asyncio.gather(*calls, return_exceptions=True)
        for number, result in enumerate(done):
            if number % 3:
                assert not isinstance(result, BaseException)
                assert result["structuredContent"] == {"result": number + 1}
        assert (await place.call("add", {"a": 2, "b": 3}))["structuredContent"] == {"result": 5}
    record_property("lines", len(ARGUMENTS) + 2)


Answer = Callable[[Json], Any]


def answering(answer: Answer) -> Callable[[Any, Any], Any]:
    """Return what serves a client by hand: `answer` returns the members of each answer, or None for none."""
    messages = objects.messages()

    async def serve(read: Any, write: Any) -> None:
        async for item in read:
            request = dict(messages.members(item))
            if "id" not in request:
                continue
            about = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "x"}}
            members = {"result": about} if request["method"] == "initialize" else answer(request)
            if members is not None:
                about["serverInfo"]["version"] = "1"
                await write.send(messages.read({"jsonrpc": "2.0", "id": request["id"], **members}))

    return serve


TOOL = {"name": "good", "inputSchema": {"type": "object"}}
LISTS: dict[str, Any] = {
    "no tools, and always a next page": {"tools": [7], "nextCursor": "again"},
    "one tool, and always a next page": {"tools": [TOOL], "nextCursor": "again"},
    "what is not a tool": {"tools": [TOOL, *ODD, *({"name": odd} for odd in (7, None, [], {}))]},
    "schemas of any shape": {"tools": [TOOL, *({"name": f"s{n}", "inputSchema": odd} for n, odd in enumerate(ODD))]},
    "notes of any shape": {"tools": [TOOL, *({"name": f"n{n}", "annotations": odd} for n, odd in enumerate(ODD))]},
    "texts of any shape": {"tools": [TOOL, *({"name": f"t{n}", "description": o} for n, o in enumerate(ODD))]},
    "a million tools": {"tools": [TOOL, *({"name": f"m{n}"} for n in range(5000))], "nextCursor": "again"},
    "odd cursors": {"tools": [TOOL], "nextCursor": {}},
}


@pytest.mark.parametrize("name", LISTS)
async def test_lists_of_any_shape_end(name: str) -> None:
    asked: list[Json] = []

    def answer(request: Json) -> Json:
        asked.append(request)
        return {"result": LISTS[name] if request["method"] == "tools/list" else {"content": []}}

    place = FakeModelContext()
    async with Offering(place, objects.messages(), answering(answer)) as offer:
        with anyio.fail_after(60):
            await (anyio.wait_all_tasks_blocked() if "no tools" in name else place.registered("good"))
        if "no tools" not in name:
            assert (await place.call("good"))["content"] == []
        assert len(offer.registered) <= 1000
        assert len(asked) <= 101


ANSWERS: list[Any] = [
    *({"result": odd} for odd in ODD if isinstance(odd, dict)),
    *({"error": {"code": -1, "message": text}} for text in ("", "x" * 100_000)),
    {"result": {"content": ODD}},
    {"result": {"content": [], "isError": "x"}},
]


async def test_answers_of_any_shape(record_property: Record) -> None:
    """Each call gets a result, also where the server ends before it has answered."""
    remaining = list(ANSWERS)

    def answer(request: Json) -> Any:
        if request["method"] == "tools/list":
            return {"result": {"tools": [TOOL]}}
        return remaining.pop(0) if remaining else None

    place = FakeModelContext()
    async with Offering(place, objects.messages(), answering(answer)):
        await place.until("good")
        for _ in ANSWERS:
            assert isinstance(await place.call("good"), dict)
        pending = [asyncio.create_task(place.call("good")) for _ in range(20)]
        await anyio.wait_all_tasks_blocked()
    assert all([(await call)["isError"] for call in pending])
    record_property("lines", len(ANSWERS) + 1)


async def test_calls_after_a_server_has_closed_its_streams(record_property: Record) -> None:
    """A script may have kept a tool: what it calls then fails at once."""
    closed = anyio.Event()
    leave = anyio.Event()

    async def serve(read: Any, write: Any) -> None:
        await answering(lambda request: {"result": {"tools": [TOOL]}})(_First(read, 3), write)
        read.close()
        closed.set()
        await leave.wait()

    place = FakeModelContext()
    async with Offering(place, objects.messages(), serve):
        await place.until("good")
        kept = place._execute["good"]
        await closed.wait()
        for _ in range(3):
            with anyio.fail_after(60):
                assert json.loads(await kept("{}"))["isError"]
        leave.set()
    assert json.loads(await kept("{}"))["isError"]
    record_property("lines", 2)


class _First:
    """The first messages of a stream."""

    def __init__(self, stream: Any, count: int) -> None:
        self._stream = stream
        self._left = count

    def __aiter__(self) -> _First:
        return self

    async def __anext__(self) -> Any:
        if self._left == 0:
            raise StopAsyncIteration
        self._left -= 1
        return await self._stream.receive()


# The document's tools, for an agent in Python

TEXTS: list[str] = [
    *("[" * 100_000, '{"a":' * 100_000, "[" * 50_000 + "]" * 50_000, "9" * 10_000, "{", "", "NaN", "null", "[]", "7"),
    *('{"content": [' * 5000 + "]}" * 5000, '{"__proto__": {}}', '"\\ud800"', '{"content": [{"type": "text"}]}'),
    *('{"content": 7}', '{"content": [7]}', '{"content": [{"type": {}}]}', '{"content": [], "isError": "x"}'),
]


def hostile_tools() -> list[Json]:
    """Return definitions as a document has them, of which few are those of a tool."""
    odd = [{"name": f"schema {n}", "inputSchema": value} for n, value in enumerate([*ODD, *TEXTS])]
    odd += [{"name": f"note {n}", "annotations": value, "_meta": value} for n, value in enumerate(ODD)]
    odd += [{"name": f"text {n}", "title": value, "description": value} for n, value in enumerate(ODD)]
    odd += [{"name": f"origin {n}", "origin": value} for n, value in enumerate(ODD)]
    odd += [{"name": value} for value in (*ODD, "\ud800", "__proto__", "x" * 10_000, "good", "good", "good_2")]
    return [{**tool, "answer": "fine"} for tool in odd]


async def test_documents_with_tools_of_any_shape(record_property: Record) -> None:
    """The agent lists what is a tool, and calls it: what another origin makes up is not parsed without limits."""
    source = FakeTools(tool("good", "fine"), *hostile_tools())
    source.tools += [tool(f"answer {number}", text) for number, text in enumerate(TEXTS)]
    failures = [KeyError("x"), ValueError("\ud800"), RecursionError(), Rejected("", "")]
    source.tools += [tool(f"fails {number}", error) for number, error in enumerate(failures)]
    async with Client(tools_session(source), mode="legacy") as client:
        with anyio.fail_after(60):
            names = [each.name for each in (await client.list_tools()).tools]
            assert len(names) == len(set(names))
            for number in range(len(TEXTS)):
                with suppress(MCPError, ValueError):
                    await client.call_tool(f"answer {number}", {})
            for number in range(len(failures)):
                with suppress(MCPError):
                    assert (await client.call_tool(f"fails {number}", {})).is_error
            assert (await client.call_tool("good", {})).content[0].text == "fine"
    record_property("lines", len(source.tools))
