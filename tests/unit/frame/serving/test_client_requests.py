"""A handler's requests to its client: `ctx.elicit`, `create_message` and `list_roots`, in both eras."""

from __future__ import annotations

import warnings
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp import Client
from mcp.server.connection import Connection
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.session import ServerSession
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from pydantic import BaseModel

from mcpframe import FrameServer
from mcpframe.frame.serving.asking_session import AskingSession
from mcpframe.frame.serving.held_calls import HeldCalls
from mcpframe.frame.serving.server import equip

pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore:The .* capability is deprecated as of 2026-07-28")]

PI = "https://pay.example/7"
ERAS = {"auto": "2026-07-28", "legacy": "2025-11-25"}


class Seats(BaseModel):
    count: int = 1


def said(text: str) -> list[types.SamplingMessage]:
    return [types.SamplingMessage(role="user", content=types.TextContent(type="text", text=text))]


def add_handlers(server: MCPServer[Any]) -> None:
    @server.tool()
    async def book(ctx: Context, times: int = 1) -> str:
        answers = [await ctx.elicit(f"Seats {number}?", Seats) for number in range(times)]
        return " ".join(str(answer.data.count) if answer.action == "accept" else answer.action for answer in answers)

    @server.tool()
    async def pay(ctx: Context) -> str:
        return (await ctx.elicit_url("Pay there", PI, "7")).action

    @server.tool()
    async def think(ctx: Context) -> str:
        return text_of(await ctx.session.create_message(said("Hm?"), max_tokens=5))

    @server.tool()
    async def where(ctx: Context) -> str:
        return " ".join(str(root.uri) for root in (await ctx.session.list_roots()).roots)

    @server.tool()
    async def everything(ctx: Context) -> str:
        parts: list[str] = []

        async def add(tool: str) -> None:
            parts.append(text_of((await server.call_tool(tool, {}, ctx)).content[0]))  # type: ignore[union-attr]

        async with anyio.create_task_group() as tasks:
            for tool in ("book", "think", "where"):
                tasks.start_soon(add, tool)
        return " ".join(sorted(parts))

    @server.tool()
    async def report(ctx: Context) -> str:
        await ctx.report_progress(1, 3, "begun")
        await ctx.elicit("Seats?", Seats)
        await ctx.report_progress(2, 3, "asked")
        await ctx.session.list_roots()
        await ctx.report_progress(3, 3, "done")
        return "reported"

    @server.tool()
    async def wrong(ctx: Context) -> str:
        return str(await ctx.session.elicit_form("Rows?", {"type": "object", "properties": "rows"}))

    @server.prompt()
    async def greeting(ctx: Context) -> str:
        answer = await ctx.elicit("Seats?", Seats)
        return f"For {answer.action}."

    @server.resource("seats://{name}")
    async def seats(name: str, ctx: Context) -> str:
        return f"{name} {(await ctx.elicit('Seats?', Seats)).action}"


def text_of(holder: Any) -> str:
    content = getattr(holder, "content", holder)
    content = content[0] if isinstance(content, list) else content
    return str(getattr(content, "text", content))


@pytest.fixture(params=["equipped", "plain"])
def server(request: pytest.FixtureRequest) -> MCPServer[Any]:
    """A server as a page serves it, and a FrameServer that plain Python serves."""
    server = FrameServer("asking") if request.param == "plain" else MCPServer("asking")
    add_handlers(server)
    if request.param == "equipped":
        equip(server)
    return server


class User:
    """A client's user, model and folders, with what they were asked."""

    def __init__(self, action: Any = "accept") -> None:
        self.asked: list[str] = []
        self.action = action

    async def elicit(self, context: object, params: Any) -> types.ElicitResult:
        self.asked.append(params.message)
        is_form = params.mode == "form" and self.action == "accept"
        return types.ElicitResult(action=self.action, content={"count": 2} if is_form else None)

    async def sample(self, context: object, params: types.CreateMessageRequestParams) -> types.CreateMessageResult:
        self.asked.append(text_of(params.messages[0]))
        return types.CreateMessageResult(role="assistant", model="m", content=types.TextContent(type="text", text="ah"))

    async def roots(self, context: object) -> types.ListRootsResult:
        self.asked.append("roots")
        return types.ListRootsResult(roots=[types.Root(uri="file:///home")])  # type: ignore[arg-type]


@asynccontextmanager
async def connected(server: Any, mode: str, user: User | None, **options: Any) -> AsyncIterator[Client]:
    if user:
        options |= {"elicitation_callback": user.elicit, "sampling_callback": user.sample}
        options["list_roots_callback"] = user.roots
    with anyio.fail_after(30), warnings.catch_warnings():
        warnings.simplefilter("ignore", MCPDeprecationWarning)
        async with Client(server, mode=mode, **options) as client:
            assert client.protocol_version == ERAS[mode]
            yield client


@pytest.fixture(params=list(ERAS))
def mode(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def test_each_request_is_answered_in_both_eras(server: MCPServer[Any], mode: str) -> None:
    user = User()
    async with connected(server, mode, user) as client:
        assert text_of(await client.call_tool("book", {"times": 3})) == "2 2 2"
        assert text_of(await client.call_tool("pay", {})) == "accept"
        assert text_of(await client.call_tool("think", {})) == "ah"
        assert text_of(await client.call_tool("where", {})) == "file:///home"
        assert user.asked == ["Seats 0?", "Seats 1?", "Seats 2?", "Pay there", "Hm?", "roots"]


async def test_requests_beside_each_other_are_all_answered(server: MCPServer[Any], mode: str) -> None:
    async with connected(server, mode, User()) as client:
        assert text_of(await client.call_tool("everything", {})) == "2 ah file:///home"


async def test_prompts_and_resources_ask_too(server: MCPServer[Any], mode: str) -> None:
    async with connected(server, mode, User()) as client:
        prompt = await client.get_prompt("greeting")
        assert text_of(prompt.messages[0]) == "For accept."
        read = await client.read_resource("seats://night")
        assert text_of(read.contents[0]) == "night accept"


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_a_user_may_decline(server: MCPServer[Any], mode: str, action: str) -> None:
    async with connected(server, mode, User(action)) as client:
        assert text_of(await client.call_tool("book", {})) == action
        assert text_of(await client.call_tool("pay", {})) == action


async def test_progress_is_that_of_the_request_that_waits(server: MCPServer[Any], mode: str) -> None:
    told: list[float] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        told.append(progress)

    async with connected(server, mode, User()) as client:
        await client.call_tool("report", {}, progress_callback=on_progress)
    assert told == [1, 2, 3]


@pytest.mark.parametrize(("tool", "capability"), [("book", "elicitation"), ("think", "sampling"), ("where", "roots")])
async def test_a_client_without_the_capability_is_named_with_advice(
    server: MCPServer[Any], mode: str, tool: str, capability: str
) -> None:
    async with connected(server, mode, None) as client:
        with pytest.raises(MCPError, match=f"capability {capability}") as caught:
            await client.call_tool(tool, {})
    assert caught.value.code == types.MISSING_REQUIRED_CLIENT_CAPABILITY
    assert capability in caught.value.data["requiredCapabilities"]
    assert "ctx.client_capabilities" in caught.value.message


@pytest.mark.parametrize(
    ("declared", "form", "url"),
    [({}, True, False), ({"form": {}}, True, False), ({"url": {}}, False, True), ({"form": {}, "url": {}}, True, True)],
)
async def test_a_client_is_asked_in_the_ways_that_it_has_declared(
    declared: dict[str, Any], form: bool, url: bool
) -> None:
    async def accept(request: Any) -> object:
        return {"action": "accept"}

    connection = Connection.from_envelope("2026-07-28", None, {"elicitation": declared})
    no_channel: Any = None
    session = AskingSession(ServerSession(no_channel, connection), accept)
    ways = [(form, lambda: session.elicit_form("?", {})), (url, lambda: session.elicit_url("?", PI, "7"))]
    for is_taken, ask in ways:
        if is_taken:
            assert (await ask()).action == "accept"
        else:
            with pytest.raises(MCPError) as caught:
                await ask()
            assert caught.value.code == types.MISSING_REQUIRED_CLIENT_CAPABILITY


async def test_the_time_that_a_request_is_given_is_a_limit() -> None:
    async def never(request: Any) -> object:
        await anyio.sleep_forever()
        raise AssertionError

    no_channel: Any = None
    connection = Connection.from_envelope("2026-07-28", None, {"roots": {}})
    session = AskingSession(ServerSession(no_channel, connection), never)
    with pytest.raises(MCPError, match="within 0 s") as caught:
        await session.send_request(types.ListRootsRequest(), types.ListRootsResult, 0)
    assert caught.value.code == types.REQUEST_TIMEOUT


async def test_a_form_that_the_protocol_has_not_fails_where_it_is_asked() -> None:
    server = MCPServer("asking")
    add_handlers(server)
    equip(server)
    async with connected(server, "auto", User()) as client:
        failed = await client.call_tool("wrong", {})
        assert failed.is_error
        assert "elicitation/create" in text_of(failed)


async def test_an_answer_of_another_kind_is_an_error_of_the_request(server: MCPServer[Any]) -> None:
    async with connected(server, "auto", User()) as client:
        for tool in ("think", "where"):
            asked = await client.session.call_tool(tool, {}, allow_input_required=True)
            assert isinstance(asked, types.InputRequiredResult)
            assert asked.input_requests
            answer: Any = dict.fromkeys(asked.input_requests, types.ElicitResult(action="accept"))
            with pytest.raises(MCPError, match="without a valid answer"):
                await client.session.call_tool(tool, {}, input_responses=answer, request_state=asked.request_state)


async def test_a_question_that_has_timed_out_does_not_take_the_next_ones_answer(server: MCPServer[Any]) -> None:
    @server.tool()
    async def hurry(ctx: Context) -> str:
        with anyio.move_on_after(0):
            await ctx.elicit("Too late?", Seats)
        return str((await ctx.elicit("Now?", Seats)).action)

    user = User()
    async with connected(server, "auto", user) as client:
        assert text_of(await client.call_tool("hurry", {})) == "accept"
    assert user.asked[-1] == "Now?"


async def test_a_task_that_outlives_its_call_asks_nobody(server: MCPServer[Any]) -> None:
    outcome: list[str] = []
    over = anyio.Event()

    async with anyio.create_task_group() as tasks:

        @server.tool()
        async def leave(ctx: Context) -> str:
            async def later() -> None:
                try:
                    await returned.wait()
                    await ctx.elicit("Still there?", Seats)
                except MCPError as error:
                    outcome.append(error.message)
                over.set()

            tasks.start_soon(later)
            return "left"

        returned = anyio.Event()
        async with connected(server, "auto", User()) as client:
            assert text_of(await client.call_tool("leave", {})) == "left"
            returned.set()
            await over.wait()
    assert "before it returns" in outcome[0]


async def test_only_some_requests_can_ask() -> None:
    async def complete(ctx: Any, params: types.CompleteRequestParams) -> types.CompleteResult:
        await ctx.session.list_roots()
        raise AssertionError

    server: Server[Any] = Server("asking")
    server.add_request_handler("completion/complete", types.CompleteRequestParams, complete)
    equip(server)
    async with connected(server, "auto", User()) as client:
        with pytest.raises(MCPError, match="roots/list cannot be sent here"):
            await client.complete(types.PromptReference(type="ref/prompt", name="x"), {"name": "a", "value": ""})


def test_the_calls_of_a_server_are_held_in_one_place() -> None:
    server = FrameServer("asking")
    for _ in range(2):
        equip(server)
    holders = [each for each in server._lowlevel_server.middleware if isinstance(each, HeldCalls)]
    assert holders == server._lowlevel_server.middleware[:1]
