"""Tasks of several users of one bridge, over a real socket: each is its user's, and its states reach who listens."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from mcpframe import FrameServer, Tasks
from mcpframe.frame.core.callers import CALLER_KEY
from mcpframe.kit.edges.http.access import Access
from mcpframe.kit.edges.link.reopening_link import ReopeningLink
from tests.support.bridged import PATIENCE, HttpBridge, ServerPage, http_bridge
from tests.support.polling import until
from tests.support.takes_tasks import TakesTasks, TaskClient, completed
from tests.unit.kit.edges.test_http import BOTH, META

ADA, BOB = "a" * 32, "b" * 32
ACCESS = Access(tokens={ADA: "ada", BOB: "bob"})


@asynccontextmanager
async def bridged(
    access: Access, drain_seconds: float = 0
) -> AsyncIterator[tuple[HttpBridge, asyncio.Event, list[ServerPage]]]:
    gate, pages = asyncio.Event(), []
    server = FrameServer("long", extensions=[Tasks(after=0.05)])

    @server.tool()
    async def work() -> str:
        await gate.wait()
        return "done"

    async def open_page(link: ReopeningLink) -> ServerPage:
        pages.append(ServerPage(link, server))
        return pages[-1]

    running = http_bridge(open_page, access, name="b1", drain_seconds=drain_seconds)
    async with asyncio.timeout(PATIENCE * 3), running as bridge:
        yield bridge, gate, pages


@asynccontextmanager
async def client_of(bridge: HttpBridge, token: str) -> AsyncIterator[TaskClient]:
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=PATIENCE, trust_env=False) as http,
        Client(
            streamable_http_client(bridge.url, http_client=http),
            mode="2026-07-28",
            extensions=[TakesTasks()],
            cache=None,
        ) as client,
    ):
        yield TaskClient(client)


def callers(pages: list[ServerPage], method: str) -> list[dict[str, str]]:
    """Return whose requests of a method the pages have got."""
    return [
        each["params"]["_meta"][CALLER_KEY] for page in pages for each in page.heard if each.get("method") == method
    ]


async def test_a_task_is_its_users_alone_whatever_others_say() -> None:
    async with bridged(ACCESS) as (bridge, gate, pages), client_of(bridge, ADA) as ada, client_of(bridge, BOB) as bob:
        id_ = (await ada.begin("work"))["taskId"]
        assert id_.startswith("b1-")
        [adas] = callers(pages, "tools/call")
        assert set(adas) == {"user", "by"}
        assert "ada" not in adas["user"]
        for said in ("", adas["user"], "ada"):
            for method in ("tasks/get", "tasks/update", "tasks/cancel"):
                with pytest.raises(MCPError, match="no such task"):
                    await bob.ask(method, id_, of=said, inputResponses={})
        cancelling = callers(pages, "tasks/cancel")
        assert len(cancelling) == 3
        assert adas not in cancelling
        assert (await ada.ask("tasks/get", id_, of="bob"))["status"] == "working"
        gate.set()
        await ada.until(id_, completed)


async def test_the_states_of_tasks_reach_who_listens() -> None:
    async with bridged(ACCESS) as (bridge, gate, _), client_of(bridge, ADA) as ada, client_of(bridge, BOB) as bob:
        ids = [(await client.begin("work"))["taskId"] for client in (ada, bob)]
        head = {**BOTH, "mcp-protocol-version": "2026-07-28", "mcp-method": "subscriptions/listen"}
        capabilities = {"io.modelcontextprotocol/clientCapabilities": {"extensions": {Tasks.identifier: {}}}}
        params = {"notifications": {"taskIds": ids}, "_meta": {**META, **capabilities}}
        message = {"jsonrpc": "2.0", "id": "mine", "method": "subscriptions/listen", "params": params}
        heard: list[dict[str, Any]] = []
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {BOB}"}, timeout=PATIENCE) as http,
            http.stream("POST", bridge.url, json=message, headers=head) as stream,
        ):
            async for line in stream.aiter_lines():
                heard += [json.loads(line[6:])["params"]] if line.startswith("data: ") else []
                if len(heard) == 2:
                    gate.set()
                if heard and heard[-1].get("status") == "completed":
                    break
        assert heard[0]["notifications"] == {"taskIds": ids[1:]}
        assert {each["taskId"] for each in heard[1:]} == {ids[1]}
        assert {each["_meta"]["io.modelcontextprotocol/subscriptionId"] for each in heard} == {"mine"}
        assert heard[-1]["result"]["content"] == [{"type": "text", "text": "done"}]


async def test_a_bridge_that_drains_waits_until_clients_have_their_results() -> None:
    draining = bridged(ACCESS, drain_seconds=PATIENCE * 3)
    async with draining as (bridge, gate, _), client_of(bridge, ADA) as ada, client_of(bridge, BOB) as bob:
        adas, bobs, unwanted = [(await client.begin("work"))["taskId"] for client in (ada, bob, bob)]
        ending = asyncio.create_task(bridge.end())
        await until(lambda: bridge.requests.is_draining)
        with pytest.raises(MCPError, match="is ending"):
            await bob.begin("work")
        with pytest.raises(MCPError, match="no such task"):
            await bob.ask("tasks/get", adas)
        await bob.ask("tasks/cancel", unwanted)
        for client, id_ in ((bob, bobs), (ada, adas)):
            assert (await client.ask("tasks/get", id_))["status"] == "working"
            assert len(bridge.requests.tasks) == 2
        gate.set()
        await bob.until(bobs, completed)
        assert len(bridge.requests.tasks) == 1
        assert not ending.done()
        await ada.until(adas, completed)
        await ending


async def test_a_bridge_says_how_many_tasks_are_lost(caplog: pytest.LogCaptureFixture) -> None:
    async with bridged(ACCESS, drain_seconds=0.01) as (bridge, _, __), client_of(bridge, ADA) as ada:
        for _ in range(2):
            await ada.begin("work")
        await bridge.end()
    assert [record.args for record in caplog.records if "lost" in record.message] == [(2,)]
