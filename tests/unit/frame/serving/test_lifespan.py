"""A server's lifespan: what it raises, when, and what the client hears of it."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import Context, MCPServer
from mcp.shared.exceptions import MCPError
from mcp.shared.memory import create_client_server_memory_streams

from mcpframe import FrameServer
from mcpframe.frame.serving.lifespan import own_lifespan
from mcpframe.frame.serving.server import serve
from tests.support.memory import ERAS, connected, text

both_eras = pytest.mark.parametrize("era", ERAS)
tenant: contextvars.ContextVar[str] = contextvars.ContextVar("tenant", default="nobody")


def with_lifespan(make: Any, lifespan: Any) -> Any:
    server = make("s", lifespan=lifespan)
    if isinstance(server, MCPServer):
        server.add_tool(lambda: "alive", name="live")
    return server


RAISED = [SystemExit(2), KeyboardInterrupt(), asyncio.CancelledError(), GeneratorExit(), OSError("no database")]


@both_eras
@pytest.mark.parametrize("raised", RAISED, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("make", [FrameServer, MCPServer, Server])
async def test_a_lifespan_that_cannot_begin_is_the_answer_to_every_request(era, raised, make, caplog):
    @asynccontextmanager
    async def lifespan(server: Any) -> AsyncIterator[None]:
        raise raised
        yield

    message = "no database" if isinstance(raised, OSError) else type(raised).__name__
    refused = pytest.RaisesExc(MCPError, match=f"The server could not begin: {message}")
    with pytest.RaisesGroup(refused, flatten_subgroups=True):
        async with connected(with_lifespan(make, lifespan), era):
            raise AssertionError("there is nothing to connect to")
    assert "The server's lifespan could not begin" in caplog.text
    assert "raise raised" in caplog.text


@both_eras
@pytest.mark.parametrize("raised", RAISED[:2] + RAISED[4:], ids=lambda error: type(error).__name__)
async def test_a_lifespan_that_fails_later_ends_no_request(era, raised):
    broken, told = anyio.Event(), []

    async def fail() -> None:
        await broken.wait()
        raise BaseExceptionGroup("", [raised])  # asyncio hands a bare SystemExit to the loop as well

    @asynccontextmanager
    async def lifespan(server: Any) -> AsyncIterator[dict[str, str]]:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(fail)
            yield {"key": "value"}

    server = with_lifespan(FrameServer, lifespan)
    reported = anyio.Event()

    @server.tool()
    async def state(ctx: Context) -> str:
        broken.set()
        await reported.wait()
        return str(ctx.request_context.lifespan_context)

    def report(title: str, error: BaseException) -> None:
        told.append(title)
        reported.set()

    async with connected(server, era, on_problem=report) as client:
        assert text(await client.call_tool("state")) == "{'key': 'value'}"
        assert text(await client.call_tool("live")) == "alive"
    [title] = told
    assert title.startswith("The server's lifespan stopped: ")


@both_eras
async def test_a_lifespan_that_fails_at_its_end_is_reported(era, caplog):
    @asynccontextmanager
    async def lifespan(server: Any) -> AsyncIterator[None]:
        yield
        raise SystemExit("on leaving")

    async with connected(with_lifespan(FrameServer, lifespan), era) as client:
        assert text(await client.call_tool("live")) == "alive"
    assert "The server's lifespan stopped: SystemExit: on leaving" in caplog.text


@both_eras
async def test_a_lifespan_begins_before_and_ends_after_the_session(era):
    log: list[str] = []

    @asynccontextmanager
    async def lifespan(server: Any) -> AsyncIterator[None]:
        log.append("begun")
        try:
            yield
        finally:
            await anyio.lowlevel.checkpoint()
            log.append("ended")

    server = with_lifespan(FrameServer, lifespan)

    server.add_tool(lambda: log.append("called"), name="call")
    async with connected(server, era) as client:
        await client.call_tool("call")
    assert log == ["begun", "called", "ended"]


async def test_serving_that_is_cancelled_while_the_lifespan_begins_ends_it():
    log: list[str] = []
    began = anyio.Event()

    @asynccontextmanager
    async def lifespan(server: Any) -> AsyncIterator[None]:
        began.set()
        try:
            await anyio.sleep_forever()
            yield
        finally:
            log.append("ended")

    with anyio.fail_after(60):
        async with create_client_server_memory_streams() as (_, streams), anyio.create_task_group() as tasks:
            tasks.start_soon(serve, with_lifespan(FrameServer, lifespan), *streams)
            await began.wait()
            tasks.cancel_scope.cancel()
    assert log == ["ended"]


async def test_what_a_lifespan_sets_in_its_context_is_set_while_it_lasts():
    @asynccontextmanager
    async def lifespan() -> AsyncIterator[None]:
        tenant.set("somebody")
        yield

    async with own_lifespan(lifespan):
        assert tenant.get() == "somebody"
