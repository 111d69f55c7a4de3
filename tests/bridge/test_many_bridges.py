"""Two bridges and two browsers behind a balancer, each a process of its own: killed, started again, drained, upgraded.

The walk in docs/how-to/many-bridges.md, by the official client, with the configurations of docs/examples/scale.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import ElicitResult

from mcpframe.kit.edges.http.routing_names import split_session
from tests.bridge.programs import PATIENCE, ROOT, environment
from tests.support.balancers import KINDS, NGINX, Balancer, balancer, free_port
from tests.support.built import built
from tests.support.remote_chromium import RemoteChromium
from tests.support.takes_tasks import TakesTasks, TaskClient


class Bridge:
    """A bridge, which may be started again at the same port.

    Args:
        name: Its name.
        browsers: The addresses of the browsers.
        folder: Where its log is.
    """

    def __init__(self, name: str, browsers: list[str], folder: Path) -> None:
        root, result = built("computing")
        self.port = free_port()
        self._log = folder / f"{name}.log"
        self._command = [sys.executable, "-m", "mcpframe", "bridge", str(root / result.folder.name), "--http"]
        self._command += ["--port", str(self.port), "--public-host", "127.0.0.1", "--browsers", ",".join(browsers)]
        self._command += ["--name", name, "--drain", str(PATIENCE), "--timeout", str(PATIENCE)]
        self._process: subprocess.Popen[str] | None = None

    async def start(self) -> None:
        """Start it, and wait until it serves."""
        with self._log.open("a") as log:
            self._process = subprocess.Popen(  # noqa: ASYNC220  returns at once
                self._command, cwd=ROOT, env=environment(), stdout=subprocess.PIPE, stderr=log, text=True
            )
        assert self._process.stdout
        line = await asyncio.to_thread(self._process.stdout.readline)
        assert line.strip() == f"http://127.0.0.1:{self.port}/mcp", self._log.read_text()

    def kill(self) -> None:
        """Kill it, if it runs."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()

    def drain(self) -> None:
        """End it once its clients have."""
        assert self._process
        self._process.terminate()

    @property
    def runs(self) -> bool:
        """Whether it has not ended."""
        return self._process is not None and self._process.poll() is None

    async def ended(self) -> int:
        """Wait for its end; return its exit status."""
        assert self._process
        await asyncio.to_thread(self._process.communicate, timeout=PATIENCE)  # which closes its output, too
        return self._process.returncode


class Session:
    """A session of the official client of 2025-11-25, in a task of its own.

    Attributes:
        id: Its id.
    """

    id = ""

    def __init__(self, url: str) -> None:
        self._url = url
        self._kept: list[str] = []
        self._ending = asyncio.Event()
        self._begun: asyncio.Future[Client[Any]] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._run())

    @property
    def bridge(self) -> str:
        """The name of the bridge that has begun it."""
        return split_session(self.id)[0]

    async def _note(self, response: httpx2.Response) -> None:
        self.id = response.headers.get("mcp-session-id", self.id)

    async def _run(self) -> None:
        try:
            async with (
                httpx2.AsyncClient(timeout=PATIENCE, event_hooks={"response": [self._note]}) as http,
                Client(streamable_http_client(self._url, http_client=http), mode="legacy") as client,
            ):
                self._begun.set_result(client)
                await self._ending.wait()
        except Exception as error:
            if self._begun.done():
                raise
            self._begun.set_exception(error)

    async def begin(self) -> Session:
        """Wait until the session has begun."""
        await self._begun
        return self

    async def end(self) -> None:
        """End it, as a client does."""
        self._ending.set()
        await self._task

    async def call(self) -> str:
        """Keep a text in a global of the page.

        Returns:
            `same page` if it has all texts of this session and no other, `new page` if it has only this one.
        """
        client = await self._begun
        self._kept.append(f"{self.id} {len(self._kept)}")
        with anyio.fail_after(PATIENCE):
            result = await client.call_tool("keep", {"text": self._kept[-1]})
        texts = [block.text for block in result.content if block.type == "text"]
        if texts == self._kept:
            return "same page"
        assert texts == self._kept[-1:], result
        self._kept = texts
        return "new page"

    async def is_refused(self) -> bool:
        """Call; return whether the answer is that its bridge does not know it."""
        with pytest.raises(MCPError) as raised:
            await self.call()
        return raised.value.error.message in ("Session not found", "Session terminated")


async def asks(url: str, answer: Callable[[], Any]) -> str:
    """Call a tool that asks the user, as a client of 2026-07-28; return its text.

    Args:
        answer: Called when the user is asked; its result is awaited.
    """

    async def on_elicitation(_: Any, __: Any) -> ElicitResult:
        await answer()
        return ElicitResult(action="accept", content={"answer": "yes"})

    async with Client(url, mode="2026-07-28", elicitation_callback=on_elicitation) as client:
        result = await client.call_tool("ask", {"question": "Sure?"})
    [block] = result.content
    assert block.type == "text"
    return block.text


async def at_once() -> None:
    """Answer without thinking."""


class Walk:
    """The processes, and sessions through the balancer."""

    def __init__(self, folder: Path) -> None:
        self.browsers = [RemoteChromium(folder / name) for name in ("chrome1", "chrome2")]
        self.bridges: dict[str, Bridge] = {}
        self.balancer: Balancer
        self.sessions: list[Session] = []

    async def begin(self) -> Session:
        """Begin a session."""
        self.sessions.append(session := Session(self.balancer.url))
        return await session.begin()

    async def until_new_sessions_are_at(self, *names: str) -> None:
        """Wait until two sessions, one after the other, have begun at these bridges."""
        last: list[str] = []
        async with asyncio.timeout(PATIENCE):
            while len(last) < 2 or set(last[-2:]) != set(names):
                session = Session(self.balancer.url)
                try:
                    await session.begin()
                except (MCPError, httpx2.HTTPError):  # of a bridge that has ended, as the balancer does not know yet
                    last.clear()
                    continue
                last.append(session.bridge)
                await session.end()

    def at(self, name: str) -> list[Session]:
        """Return the sessions of a bridge."""
        return [session for session in self.sessions if session.bridge == name]

    async def end(self, *sessions: Session) -> None:
        """End sessions."""
        for session in sessions:
            self.sessions.remove(session)
            await session.end()


@pytest.fixture(params=KINDS, ids=str)
async def walk(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Walk]:
    walk = Walk(tmp_path)
    try:
        addresses = [await browser.start() for browser in walk.browsers]
        walk.bridges = {name: Bridge(name, addresses, tmp_path) for name in ("b1", "b2")}
        await asyncio.gather(*(bridge.start() for bridge in walk.bridges.values()))
        ports = {name: bridge.port for name, bridge in walk.bridges.items()}
        async with balancer(request.param, ports, tmp_path) as walk.balancer:
            yield walk
            await walk.end(*walk.sessions)
    finally:
        for bridge in walk.bridges.values():
            bridge.kill()
        for browser in walk.browsers:
            browser.kill()


@pytest.mark.extended
async def test_an_operators_walk(walk: Walk) -> None:
    b1, b2 = walk.bridges["b1"], walk.bridges["b2"]

    # Start: sessions are spread, and each has its page.
    await walk.until_new_sessions_are_at("b1", "b2")
    sessions = [await walk.begin() for _ in range(4)]
    assert Counter(session.bridge for session in sessions) == {"b1": 2, "b2": 2}
    for _ in range(2):
        assert [await session.call() for session in sessions] == ["same page"] * 4
    assert [await asks(walk.balancer.url, at_once) for _ in range(4)] == ["yes!"] * 4

    # A browser is killed: its sessions get new pages at the other one, the others keep theirs.
    walk.browsers[0].kill()
    assert Counter([await session.call() for session in sessions]) == {"same page": 2, "new page": 2}
    await walk.browsers[0].start()
    assert [await session.call() for session in sessions] == ["same page"] * 4

    # A bridge is killed: its sessions have to begin anew, at the other one.
    b1.kill()
    assert [await session.is_refused() for session in walk.at("b1")] == [True, True]
    assert [await session.call() for session in walk.at("b2")] == ["same page"] * 2
    await walk.end(*walk.at("b1"))
    await walk.until_new_sessions_are_at("b2")
    asked, answering = asyncio.Event(), asyncio.Event()

    async def think() -> None:
        asked.set()
        await answering.wait()

    question = asyncio.create_task(asks(walk.balancer.url, think))
    await asyncio.wait_for(asked.wait(), PATIENCE)

    # It is started again.
    await b1.start()
    await walk.until_new_sessions_are_at("b1", "b2")

    # The other one is upgraded: it drains, and its successor takes its place.
    if walk.balancer.kind is NGINX:
        walk.balancer.reload(without="b2")
        await walk.until_new_sessions_are_at("b1")
    b2.drain()
    await walk.until_new_sessions_are_at("b1")
    assert [await session.call() for session in walk.at("b2")] == ["same page"] * 2
    await walk.end(*walk.at("b2"))
    assert b2.runs  # a user still thinks
    answering.set()
    assert await asyncio.wait_for(question, PATIENCE) == "yes!"
    assert await b2.ended() == 0
    await b2.start()
    if walk.balancer.kind is NGINX:
        walk.balancer.reload()
    await walk.until_new_sessions_are_at("b1", "b2")


async def calls(client: Client[Any]) -> None:
    """Call a tool again and again, until a call fails."""
    while True:
        await client.call_tool("keep", {"text": "on"})


@pytest.mark.extended
async def test_a_bridge_that_drains_ends_once_its_task_has(tmp_path: Path) -> None:
    chromium = RemoteChromium(tmp_path / "chrome1")
    try:
        bridge = Bridge("b1", [await chromium.start()], tmp_path)
        await bridge.start()
        try:
            taking = Client(
                f"http://127.0.0.1:{bridge.port}/mcp", mode="2026-07-28", extensions=[TakesTasks()], cache=None
            )
            async with asyncio.timeout(2 * PATIENCE), taking as client:
                tasks = TaskClient(client)
                id_ = (await tasks.begin("hang"))["taskId"]
                assert id_.startswith("b1-")
                bridge.drain()
                with pytest.raises(MCPError, match="is ending"):
                    await calls(client)  # until the signal has arrived
                assert (await tasks.ask("tasks/get", id_))["status"] == "working"
                assert bridge.runs
                await tasks.ask("tasks/cancel", id_)
                assert await bridge.ended() == 0
        finally:
            bridge.kill()
    finally:
        chromium.kill()
