"""`input()` for clients of MCP 2026-07-28: the SDK's client answers the questions of a suspended tool."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp import Client
from mcp.server.mcpserver import MCPServer
from mcp.shared.exceptions import MCPError

from mcpframe.frame.serving import held_calls
from mcpframe.frame.serving.server import equip
from mcpframe.frame.serving.user_input import asking

pytestmark = pytest.mark.anyio

ADA = types.ElicitResult(action="accept", content={"answer": "Ada"})
DECLINED = types.ElicitResult(action="decline")


@pytest.fixture
def server() -> MCPServer:
    """A server whose tools ask as `input()` does in a page; only a browser can suspend a synchronous function."""
    server = MCPServer("asking")
    server.ended = []  # type: ignore[attr-defined]

    @server.tool()
    async def greet(times: int = 1, side: bool = False) -> str:
        try:
            if side:
                return " ".join(map(str, await asyncio.gather(ask("A?"), ask("B?"))))
            return " ".join([str(await ask(f"Name {number}?")) for number in range(times)])
        finally:
            server.ended.append(times)  # type: ignore[attr-defined]

    @server.tool()
    async def fail() -> str:
        raise ValueError(f"no {await ask('Who?')}")

    equip(server)
    return server


async def ask(prompt: str) -> str | None:
    question = asking(prompt)
    assert question
    return await question


class Asked:
    """A client's user, and the questions."""

    def __init__(self, *answers: types.ElicitResult) -> None:
        self.answers = list(answers)
        self.questions: list[str] = []

    async def __call__(self, context: object, params: Any) -> types.ElicitResult:
        self.questions.append(params.message)
        assert list(params.requested_schema["properties"]) == ["answer"]
        return self.answers[len(self.questions) - 1] if self.answers else ADA


@asynccontextmanager
async def connected(server: MCPServer, user: Asked | None) -> AsyncIterator[Client]:
    with anyio.fail_after(30):
        async with Client(server, mode="auto", elicitation_callback=user) as client:
            assert client.protocol_version == "2026-07-28"
            yield client


def text(result: types.CallToolResult) -> str:
    assert isinstance(result.content[0], types.TextContent)
    return result.content[0].text


async def test_each_question_of_a_tool_is_a_round(server: MCPServer) -> None:
    user = Asked()
    async with connected(server, user) as client:
        assert text(await client.call_tool("greet", {"times": 3})) == "Ada Ada Ada"
        assert user.questions == ["Name 0?", "Name 1?", "Name 2?"]
        assert text(await client.call_tool("greet", {"times": 0})) == ""


async def test_questions_of_two_tasks_are_asked_one_after_the_other(server: MCPServer) -> None:
    user = Asked()
    async with connected(server, user) as client:
        assert text(await client.call_tool("greet", {"side": True})) == "Ada Ada"
        assert user.questions == ["A?", "B?"]


async def test_calls_beside_each_other_keep_their_answers(server: MCPServer) -> None:
    async with connected(server, Asked()) as client, anyio.create_task_group() as tasks:
        for _ in range(5):
            tasks.start_soon(client.call_tool, "greet", {"times": 2})
    assert server.ended == [2] * 5  # type: ignore[attr-defined]


async def test_a_declined_question_and_an_exception_are_errors_of_the_tool(server: MCPServer) -> None:
    async with connected(server, Asked(DECLINED, ADA)) as client:
        declined = await client.call_tool("greet", {})
        assert (declined.is_error, "has not answered" in text(declined)) == (True, True)
        failed = await client.call_tool("fail", {})
        assert (failed.is_error, "no Ada" in text(failed)) == (True, True)


async def test_a_client_that_cannot_be_asked_is_not(server: MCPServer) -> None:
    async with connected(server, None) as client:
        assert text(await client.call_tool("greet", {})) == "None"  # `input()` then reads standard input


async def first_round(client: Client, **arguments: Any) -> types.InputRequiredResult:
    asked = await client.session.call_tool("greet", arguments, allow_input_required=True)
    assert isinstance(asked, types.InputRequiredResult)
    return asked


async def test_an_answer_is_taken_once_and_for_the_same_request_only(server: MCPServer) -> None:
    async with connected(server, Asked()) as client:
        asked = await first_round(client)
        answer: dict[str, Any] = {"input_responses": {"input": ADA}, "request_state": asked.request_state}
        with pytest.raises(MCPError, match="make the call again"):
            await client.session.call_tool("greet", {"times": 2}, **answer)
        assert text(await client.session.call_tool("greet", {}, **answer)) == "Ada"
        for state in (asked.request_state, "mcpframe-input/", "mcpframe-input/guessed"):
            with pytest.raises(MCPError, match="make the call again"):
                await client.session.call_tool("greet", {}, **{**answer, "request_state": state})
        with pytest.raises(MCPError, match="requestState"):
            await client.session.call_tool("greet", {}, **{**answer, "request_state": "of another kind"})


@pytest.mark.parametrize("responses", [None, {}, {"other": ADA}, {"input": types.ListRootsResult(roots=[])}])
async def test_a_round_without_an_answer_ends_the_input(server: MCPServer, responses: Any) -> None:
    async with connected(server, Asked()) as client:
        asked = await first_round(client)
        again = await client.session.call_tool(
            "greet", {}, input_responses=responses, request_state=asked.request_state
        )
        assert (again.is_error, "has not answered" in text(again)) == (True, True)


async def test_a_tool_waits_for_a_while_and_few_of_them_do(server: MCPServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held_calls, "MOST", 2)
    async with connected(server, Asked()) as client:
        for times in (1, 2, 3):
            await first_round(client, times=times)
        await client.list_tools()
        assert server.ended == [1]  # type: ignore[attr-defined]
        monkeypatch.setattr(held_calls, "ANSWER_SECONDS", 0.0)
        await first_round(client, times=4)
        while len(server.ended) < 3:  # type: ignore[attr-defined]
            await client.list_tools()
        assert server.ended == [1, 2, 4]  # type: ignore[attr-defined]


async def test_a_tool_that_asks_again_and_again_ends_with_its_time(
    server: MCPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(held_calls, "ANSWER_SECONDS", 0.0)
    ended = anyio.Event()

    @server.tool()
    async def insist() -> str:
        try:
            while True:
                with suppress(EOFError):
                    await ask("Name?")
        finally:
            ended.set()

    async with connected(server, Asked()) as client:
        asked = await client.session.call_tool("insist", {}, allow_input_required=True)
        assert isinstance(asked, types.InputRequiredResult)
        await ended.wait()


async def test_a_request_that_is_cancelled_cancels_its_tool(server: MCPServer) -> None:
    begun, ended = anyio.Event(), anyio.Event()

    @server.tool()
    async def wait() -> str:
        await ask("Ready?")
        begun.set()
        try:
            await anyio.sleep_forever()
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.lowlevel.checkpoint()
                ended.set()
        return ""

    async with connected(server, Asked()) as client:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "wait", {})
            await begun.wait()
            tasks.cancel_scope.cancel()
        await ended.wait()
        assert text(await client.call_tool("greet", {})) == "Ada"
