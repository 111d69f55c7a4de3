"""A connection served by a program that reads and writes lines, whatever it is."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from mcpframe.frame.core.reasons import reason_of
from mcpframe.frame.session.lines import LineFiles, serve_lines
from tests.support.plain_client import PlainClient

Program = Callable[[LineFiles], Awaitable[None]]


class Writer:
    """The write stream of a session, of which the client reads."""

    def __init__(self, to: Any) -> None:
        self._to = to

    async def send(self, item: tuple[str, dict[str, Any]]) -> None:
        assert json.loads(item[0]) == item[1]
        await self._to.send(item[1])

    async def __aenter__(self) -> Writer:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._to.aclose()


@asynccontextmanager
async def client_of(program: Program, **options: Any) -> AsyncIterator[PlainClient]:
    to_program, read = anyio.create_memory_object_stream[Any](100)
    answers, received = anyio.create_memory_object_stream[Any](100)

    class Sender:
        async def send(self, item: tuple[str, dict[str, Any]]) -> None:
            await to_program.send(item[1])

    serving = asyncio.create_task(serve_lines(program, read, Writer(answers), **options))
    async with received:
        yield PlainClient(received, Sender())
        await to_program.aclose()
        await serving


def problems() -> tuple[list[tuple[str, BaseException | None]], dict[str, Any]]:
    found: list[tuple[str, BaseException | None]] = []
    return found, {"on_problem": lambda title, error: found.append((title, error))}


async def echo(files: LineFiles) -> None:
    """Answer each request with its params."""
    async for line in files.stdin:
        body = json.loads(line)
        if "id" in body:
            capabilities = {"capabilities": {"tools": {}}} if body["method"] == "initialize" else {}
            result = {"method": body["method"], **body.get("params", {}), **capabilities}
            await files.stdout.write(json.dumps({"jsonrpc": "2.0", "id": body["id"], "result": result}) + "\n")
            await files.stdout.flush()


async def test_lines_go_in_and_come_out() -> None:
    async with client_of(echo) as client:
        await client.initialize()
        assert (await client.request("tools/call", text="ä\u2028\n"))["result"]["text"] == "ä\u2028\n"


async def test_a_line_may_be_written_in_parts_and_several_at_once() -> None:
    async def program(files: LineFiles) -> None:
        first = json.loads(await files.stdin.readline())["id"]
        text = json.dumps({"jsonrpc": "2.0", "id": first, "result": {}})
        notification = json.dumps({"jsonrpc": "2.0", "method": "notifications/message"})
        await files.stdout.write(f"{notification}\n\n{notification}\n{text[:5]}")
        await files.stdout.write(f"{text[5:]}\n")
        assert await files.stdin.readline() == await files.stdin.readline() == ""

    async with client_of(program) as client:
        assert (await client.request("ping"))["result"] == {}
        assert len(client.notifications) == 2


async def test_what_a_program_writes_that_is_no_message_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def program(files: LineFiles) -> None:
        await files.stdout.write("Starting…\n[]\n")
        await echo(files)

    async with client_of(program) as client:
        await client.initialize()
    assert "Starting…" in caplog.text


NO_JSON = {"a number": "NaN", "a list": "[-Infinity]", "depth": "[" * 100_000 + "]" * 100_000}


@pytest.mark.parametrize("value", NO_JSON.values(), ids=NO_JSON)
async def test_who_waits_for_a_line_that_is_no_json_is_answered(value: str) -> None:
    heard: list[Any] = []

    async def program(files: LineFiles) -> None:
        async for line in files.stdin:
            body = json.loads(line)
            heard.append(body)
            if body.get("method") == "tools/call":
                await files.stdout.write(f'{{"jsonrpc":"2.0","id":"a","method":"ping","params":{{"a":{value}}}}}\n')
                await files.stdout.write(f'{{"jsonrpc":"2.0","result":{{"a":{value}}},"id":{body["id"]}}}\n')

    async with client_of(program) as client, asyncio.timeout(60):
        answer = await client.request("tools/call", name="mean")
        assert answer["error"]["code"] == -32603
        assert "not JSON" in answer["error"]["message"]
    assert [(each["id"], each["error"]["code"]) for each in heard if "error" in each] == [("a", -32700)]


async def test_a_client_of_the_stateless_era_needs_no_handshake_where_the_program_knows_it() -> None:
    seen: list[str] = []

    async def program(files: LineFiles) -> None:
        seen.extend([json.loads(line)["method"] async for line in files.stdin])

    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    for discovers, expected in (
        (True, ["server/discover", "tools/list"]),
        (False, ["initialize", "notifications/initialized", "tools/list"]),
    ):
        seen.clear()
        async with client_of(program, discovers=discovers) as client:
            await client.ask("server/discover", _meta=meta)
            await client.ask("tools/list", _meta=meta)
        assert seen == expected


async def test_a_program_that_ends_leaves_nobody_waiting() -> None:
    async def program(files: LineFiles) -> None:
        await files.stdin.readline()
        await files.stdin.readline()

    found, report = problems()
    async with client_of(program, **report) as client:
        one, two = await client.ask("initialize"), await client.ask("tools/list")
        for id_ in (one, two, await client.ask("tools/list")):
            assert (await client.answer(id_))["error"]["message"] == "The server's program has ended."
    assert found == [("The server's program has ended.", None)]


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ValueError("no key"), "no key"),
        (SystemExit(2), "SystemExit: 2"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
        (asyncio.CancelledError(), "CancelledError"),
        (
            BaseExceptionGroup("unhandled errors", [ValueError("one"), BaseExceptionGroup("more", [OSError("two")])]),
            "one; two",
        ),
    ],
)
async def test_a_program_that_raises_is_the_answer(error: BaseException, reason: str) -> None:
    async def program(files: LineFiles) -> None:
        raise error

    found, report = problems()
    async with client_of(program, **report) as client:
        answer = await client.request("initialize")
        assert answer["error"]["message"] == f"The server's program has ended: {reason}"
    assert found == [(f"The server's program has ended: {reason}", error)]


async def test_a_program_that_does_not_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcpframe.frame.session.lines._PATIENCE", 0.01)
    ended = asyncio.Event()

    async def program(files: LineFiles) -> None:
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()

    async with client_of(program):
        pass
    assert ended.is_set()


async def test_a_program_that_logs_keeps_its_levels() -> None:
    async def program(files: LineFiles) -> None:
        async for line in files.stdin:
            body = json.loads(line)
            if "id" in body:
                result = {"method": body["method"], "capabilities": {"logging": {}}}
                await files.stdout.write(json.dumps({"jsonrpc": "2.0", "id": body["id"], "result": result}) + "\n")

    async with client_of(program) as client:
        await client.initialize()
        assert (await client.request("logging/setLevel", level="info"))["result"]["method"] == "logging/setLevel"


LOG_LEVEL = "io.modelcontextprotocol/logLevel"
MODERN = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}


async def talkative(files: LineFiles) -> None:
    """Print, log and send a message within each request."""
    async for line in files.stdin:
        body = json.loads(line)
        if "id" in body:
            print("a")
            told = {"level": "info", "data": "b"}
            message = {"jsonrpc": "2.0", "method": "notifications/message", "params": told}
            await files.stdout.write(json.dumps(message) + "\n")
            print("c", file=sys.stderr)
            os.write(2, b"d\n")
            await files.stdout.write(json.dumps({"jsonrpc": "2.0", "id": body["id"], "result": {}}) + "\n")


def logs_of(client: PlainClient) -> list[str]:
    return [each["params"]["data"] for each in client.notifications if each["method"] == "notifications/message"]


@pytest.mark.parametrize(("level", "logged"), [("debug", "abcd"), ("info", "abcd"), ("error", "b"), ("odd", "b")])
async def test_a_request_of_the_stateless_era_names_the_level_of_what_is_printed_in_it(level: str, logged: str) -> None:
    async with client_of(talkative, discovers=True) as client:
        await client.request("tools/call", _meta={**MODERN, LOG_LEVEL: level})
        assert "".join(logs_of(client)) == logged


async def test_the_level_of_a_request_of_the_stateless_era_ends_with_its_answer() -> None:
    async with client_of(talkative, discovers=True) as client:
        await client.request("tools/call", _meta={**MODERN, LOG_LEVEL: "info"})
        client.notifications.clear()
        await client.request("tools/call", _meta=MODERN)
        assert logs_of(client) == ["b"]


async def test_what_a_program_prints_is_in_order_with_its_messages() -> None:
    async with client_of(talkative) as client:
        await client.initialize()
        await client.request("logging/setLevel", level="info")
        client.notifications.clear()
        await client.request("tools/call")
        assert logs_of(client) == ["a", "b", "c", "d"]


@pytest.mark.parametrize("modern", [True, False])
async def test_earlier_revisions_get_schemas_and_data_of_objects_only(modern: bool) -> None:
    tool = {"name": "a", "inputSchema": {"type": "object"}, "outputSchema": {"type": "array"}}

    async def program(files: LineFiles) -> None:
        async for line in files.stdin:
            body = json.loads(line)
            if "id" in body:
                result = {"capabilities": {}, "tools": [tool], "content": [], "structuredContent": [1]}
                await files.stdout.write(json.dumps({"jsonrpc": "2.0", "id": body["id"], "result": result}) + "\n")

    async with client_of(program, discovers=True) as client:
        params = {"_meta": MODERN} if modern else {}
        [listed] = (await client.request("tools/list", **params))["result"]["tools"]
        assert ("outputSchema" in listed) is modern
        called = (await client.request("tools/call", **params))["result"]
        assert ("structuredContent" in called) is modern
        assert called["content"] == ([] if modern else [{"type": "text", "text": "[1]"}])


async def test_a_reason_has_the_notes_of_its_exception() -> None:
    error = ValueError("no key")
    error.add_note("Set one.")
    assert reason_of(error) == "no key\nSet one."
    assert reason_of(ValueError()) == "ValueError"
