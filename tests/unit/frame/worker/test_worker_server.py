"""A server in a worker, with the SDK's own client: a process of CPython stands for the worker."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from mcpframe.frame.compat.sdk import SdkMessages
from mcpframe.frame.serving.frame_session import local_session
from mcpframe.frame.serving.framed import PeerSession, SessionFacts, browser_capability
from mcpframe.frame.waiting.streams import WriteStream
from mcpframe.frame.worker import worker_server
from mcpframe.frame.worker.supervisor import Supervisor
from mcpframe.frame.worker.worker_server import WorkerServer
from tests.unit.frame.worker.process import ProcessWorker

pytestmark = pytest.mark.anyio

GRACE = 0.3
PATIENCE = 60.0


class Rig:
    """The page's half, and clients of it."""

    def __init__(self, entry: str = "computing", **limits: float) -> None:
        self.entry = entry
        self.problems: list[str] = []
        self.computing: list[tuple[str, ...]] = []
        self.computes = anyio.Event()
        self.workers: list[ProcessWorker] = []
        self.server = WorkerServer(
            self._start,
            Supervisor(grace=GRACE, limits=limits),
            on_problem=lambda title, detail: self.problems.append(title),
            on_computing=self._on_computing,
        )

    def _on_computing(self, tools: tuple[str, ...], seconds: float) -> None:
        self.computing.append(tools)
        self.computes.set()

    def _start(self, heard: Callable[[str], None], ended: Callable[[str, str, bool], None]) -> ProcessWorker:
        self.workers.append(ProcessWorker(self.entry, heard, ended))
        return self.workers[-1]

    def close(self) -> None:
        """End all workers."""
        for worker in self.workers:
            worker.end()

    @asynccontextmanager
    async def transport(self) -> AsyncIterator[Any]:
        """A transport for `mcp.Client`: the SDK's messages on its side, plain ones on the server's."""
        to_client, client_read = anyio.create_memory_object_stream[Any](math.inf)
        to_server, server_read = anyio.create_memory_object_stream[Any](math.inf)
        sdk, plain = SdkMessages(), worker_server.messages()

        class Up(WriteStream):
            async def send(self, item: Any, /) -> None:
                await to_server.send(plain.read(sdk.members(item)))

            async def aclose(self) -> None:
                to_server.close()

        class Down(WriteStream):
            async def send(self, item: Any, /) -> None:
                await to_client.send(sdk.read(plain.members(item)))

            async def aclose(self) -> None:
                to_client.close()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(worker_server.serve, self.server, server_read, Down())
            yield client_read, Up()
            to_server.close()


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    """A server whose worker is ready."""
    made = Rig()
    try:
        with anyio.fail_after(PATIENCE):
            await made.server.known()
            yield made
    finally:
        made.close()


async def test_a_client_calls_tools(rig: Rig) -> None:
    async with Client(rig.transport()) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == {
            "spin",
            "note",
            "keep",
            "show",
            "wait",
            "crash",
        }
        result = await client.call_tool("note", {"text": "one"})
    assert result.structured_content == {"result": "one"}
    assert len(rig.workers) == 1
    assert browser_capability(rig.server) == {"browser": {"cacheSupported": True}}


async def test_a_tool_has_the_session_of_the_page(rig: Rig) -> None:
    about = SessionFacts("session-1", "https://host.example", "key-1")
    with rig.server.running_for(PeerSession(local_session, about)):
        async with Client(rig.transport()) as client:
            kept = [await client.call_tool("keep", {"text": text}) for text in ("one", "two")]
            shown = await client.call_tool("show", {})
    texts = [f"session-1 https://host.example {texts} False" for texts in ("one", "one two")]
    assert [result.structured_content for result in kept] == [{"result": text} for text in texts]
    assert shown.is_error
    assert 'runs_in = "page"' in str(shown.content)


async def test_a_client_without_a_session(rig: Rig) -> None:
    async with Client(rig.transport()) as client:
        kept = await client.call_tool("keep", {"text": "one"})
    assert kept.structured_content == {"result": "local  one False"}  # in CPython; in a page it raises


async def test_clients_share_the_worker(rig: Rig) -> None:
    async with Client(rig.transport()) as one, Client(rig.transport()) as other:
        await one.call_tool("note", {"text": "one"})
        result = await other.call_tool("note", {"text": "other"})
    assert result.structured_content == {"result": "one, other"}


async def test_a_cancelled_tool_that_waits_keeps_the_worker(rig: Rig) -> None:
    async with Client(rig.transport()) as client:
        await client.call_tool("note", {"text": "kept"})
        begun = anyio.Event()

        async def on_progress(*_: Any) -> None:
            begun.set()

        async def wait() -> None:
            await client.call_tool("wait", {}, progress_callback=on_progress)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait)
            await begun.wait()
            tasks.cancel_scope.cancel()
        result = await client.call_tool("note", {"text": "again"})
    assert result.structured_content == {"result": "kept, again"}
    assert len(rig.workers) == 1


async def test_a_worker_that_fails_to_start_again_is_started_anew_for_a_later_request(rig: Rig) -> None:
    async with Client(rig.transport()) as client:
        rig.entry = "missing"
        with pytest.raises(MCPError, match="was ended while"):
            await client.call_tool("crash", {})
        with pytest.raises(MCPError, match="could not be started"):
            await client.call_tool("note", {"text": "lost"})
        rig.entry = "computing"
        result = await client.call_tool("note", {"text": "new"})
    assert result.structured_content == {"result": "new"}


async def test_a_call_that_waits_for_another_is_run_by_the_next_worker(rig: Rig) -> None:
    async with Client(rig.transport()) as client, Client(rig.transport()) as other:
        answers: list[Any] = []

        async def spin() -> None:
            with pytest.raises(MCPError, match="stopped by a person") as raised:
                await client.call_tool("spin", {})
            answers.append(raised.value.error.data)

        async def note() -> None:
            answers.append((await other.call_tool("note", {"text": "late"})).structured_content)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(spin)
            await rig.computes.wait()
            tasks.start_soon(note)
            await anyio.lowlevel.checkpoint()
            rig.server.stop()
    assert answers == [{"reason": "stopped", "mayHaveRun": True}, {"result": "late"}]
    assert rig.computing == [("spin",), ()]


async def test_a_page_that_can_have_no_worker() -> None:
    def start(heard: Any, ended: Callable[[str, str, bool], None]) -> Any:
        asyncio.get_running_loop().call_soon(ended, "No worker here.", "", False)

    server = WorkerServer(start, Supervisor(grace=GRACE), on_problem=print, on_computing=print)
    with pytest.raises(worker_server.NoWorker, match="No worker here"):
        await server.begun()


class Changed(Rig):
    """A page whose worker never runs, as one of its scripts has been changed."""

    def _start(self, heard: Callable[[str], None], ended: Callable[[str, str, bool], None]) -> Any:
        asyncio.get_running_loop().call_soon(ended, "loader.js is not the file that was built.", "", True)
        return self

    def post(self, text: str) -> None:
        pytest.fail("It never runs.")

    def end(self) -> None:
        """It never runs."""


async def test_a_worker_whose_script_is_changed_is_reported_and_tried_again_for_the_next_request() -> None:
    rig = Changed()
    with anyio.fail_after(PATIENCE):
        await rig.server.begun()  # and does not raise NoWorker: then the page would serve in its place
        await rig.server.known()
        for attempt in (1, 2):
            refused = pytest.RaisesExc(MCPError, match="not the file that was built")
            with pytest.RaisesGroup(refused, flatten_subgroups=True):
                async with Client(rig.transport(), mode="legacy"):
                    pytest.fail("It was initialized.")
            assert len(rig.problems) == 1 + attempt


async def test_a_client_that_comes_before_a_server_that_cannot_be_imported() -> None:
    rig = Rig(entry="missing")
    try:
        with anyio.fail_after(PATIENCE):
            await rig.server.begun()
            refused = pytest.RaisesExc(MCPError, match="could not be started")
            with pytest.RaisesGroup(refused, flatten_subgroups=True):
                async with Client(rig.transport(), mode="legacy"):
                    pytest.fail("It was initialized.")
            assert rig.problems == ["The process has ended."]
            await rig.server.known()
    finally:
        rig.close()
