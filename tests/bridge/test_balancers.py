"""The balancers of docs/examples/scale before two bridges, whose servers are in this process: where requests arrive."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx2
import pytest

from mcpframe.kit.edges.http.access import Access
from mcpframe.kit.edges.http.routing_names import split_session, split_state
from tests.support.balancers import HAPROXY, KINDS, NGINX, Balancer, Kind, balancer
from tests.support.bridged import HttpBridge, Place, http_bridge
from tests.support.polling import until
from tests.support.suites import except_for
from tests.unit.kit.edges.test_http import BOTH, INITIALIZE, META

pytestmark = pytest.mark.extended

JSON = dict[str, Any]
PATIENCE = 60.0
HERE = Access(names=["127.0.0.1"])
OVER_THE_BUFFER = 100_000
QUESTION = {"resultType": "input_required", "inputRequests": {}, "requestState": "secret"}


def lies(name: str) -> dict[str, list[JSON]]:
    """Return what the page of a bridge answers: a question to one method, and its only task to others."""
    task = {"taskId": f"{name}-secret", "status": "working", "ttlMs": 60_000, "statusMessage": f"at {name}"}
    return {
        "prompts/get": [{"result": QUESTION}],
        "tools/call": [{"result": {**task, "resultType": "task"}}],
        "tasks/get": [{"result": task}],
    }


class Clients:
    """Clients of a balancer, by hand.

    Attributes:
        balancer: The balancer.
        bridges: The bridges behind it.
    """

    def __init__(self, balancer: Balancer, bridges: dict[str, HttpBridge], http: httpx2.AsyncClient) -> None:
        self.balancer = balancer
        self.bridges = bridges
        self._http = http

    async def post(self, message: JSON, head: dict[str, str]) -> httpx2.Response:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        return await self._http.post(self.balancer.url, content=body, headers={**BOTH, **head})

    async def begin(self) -> str:
        """Begin a session; return its id."""
        response = await self.post({"id": 0, "method": "initialize", "params": INITIALIZE}, {})
        assert response.status_code == 200
        return response.headers["mcp-session-id"]

    async def status(self, session: str) -> int:
        """Send a request of a session; return the status of the answer."""
        head = {"mcp-session-id": session, "mcp-protocol-version": "2025-11-25"}
        return (await self.post({"id": 1, "method": "ping"}, head)).status_code

    async def ask(self, user: str, **params: Any) -> JSON:
        """Send a request of 2026-07-28 that is answered with a question."""
        head = {"mcp-protocol-version": "2026-07-28", "mcp-method": "prompts/get", "mcp-name": "ask"}
        message = {"id": 1, "method": "prompts/get", "params": {"name": "ask", "_meta": META, **params}}
        response = await self.post(message, {**head, "authorization": f"Bearer {user}"})
        answer: JSON = response.json()
        return answer

    async def begin_task(self, user: str) -> str:
        """Send a call of 2026-07-28 that becomes a task; return the task's id."""
        return (await self._of_task("tools/call", "work", user, {"name": "work", "arguments": {}}))["taskId"]

    async def polled(self, task: str) -> str:
        """Ask for a task as some user; return the message of the answer."""
        return (await self._of_task("tasks/get", task, "another", {"taskId": task}))["statusMessage"]

    async def _of_task(self, method: str, name: str, user: str, params: JSON) -> JSON:
        head = {"mcp-protocol-version": "2026-07-28", "mcp-method": method, "mcp-name": name}
        message = {"id": 1, "method": method, "params": {**params, "_meta": META}}
        answer: JSON = (await self.post(message, {**head, "authorization": f"Bearer {user}"})).json()
        return answer["result"]

    async def answer(self, state: str, user: str = "another", **params: Any) -> str:
        """Answer a question; return the bridge that has continued it, or the reason of its refusal."""
        answer = await self.ask(user, requestState=state, inputResponses={}, **params)
        if "error" in answer:
            return answer["error"]["data"]["reason"]
        return split_state(answer["result"]["requestState"])[0]


@pytest.fixture(params=except_for(KINDS, HAPROXY, NGINX), ids=str)
async def clients(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Clients]:
    kind: Kind = request.param
    kind.program()  # skips before anything has begun
    bridges: dict[str, HttpBridge] = {}
    async with AsyncExitStack() as stack, httpx2.AsyncClient(timeout=PATIENCE) as http:
        for name in ("b1", "b2"):
            place = Place(lies=lies(name))
            running = http_bridge(place.open_page, HERE, drain_seconds=PATIENCE, name=name)
            bridges[name] = await stack.enter_async_context(running)
        ports = {name: int(bridge.url.split(":")[2].split("/")[0]) for name, bridge in bridges.items()}
        clients = Clients(await stack.enter_async_context(balancer(kind, ports, tmp_path)), bridges, http)
        async with asyncio.timeout(2 * PATIENCE):  # later than the end of any one request
            # Envoy waits for its first check of a bridge.
            while await clients.status("none") != 404:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        yield clients
        for bridge in bridges.values():
            await drains(bridge)  # the second signal, at the end of its block, ends it


async def drains(bridge: HttpBridge) -> None:
    """Drain a bridge, as a signal does."""
    bridge.serving.cancel()
    async with asyncio.timeout(PATIENCE):
        await until(lambda: bridge.requests.is_draining)


async def test_what_a_bridge_holds_reaches_it_and_no_other(clients: Clients) -> None:
    sessions = [await clients.begin() for _ in range(4)]
    of_bridge = {split_session(session)[0]: session for session in sessions}
    assert set(of_bridge) == {"b1", "b2"}
    for _ in range(3):
        assert [await clients.status(session) for session in sessions] == [200] * 4
    assert [await clients.status(session) for session in ("b1-0", "b2-0", "b3-0", "0", "../b1-0")] == [404] * 5

    states: dict[str, str] = {}
    for user in range(32):  # each has one bridge
        first, second = [(await clients.ask(f"{user}"))["result"]["requestState"] for _ in range(2)]
        assert first == second
        states[split_state(first)[0]] = first
    assert set(states) == {"b1", "b2"}
    for name, state in states.items():
        assert [await clients.answer(state, f"{user}") for user in range(8)] == [name] * 8
        assert await clients.answer(state, arguments={"a": '{"requestState": "b1/x", "b": ["b2/"]}'}) == name
        large = {await clients.answer(state, f"{user}", arguments={"a": "x" * OVER_THE_BUFFER}) for user in range(8)}
        assert name in large <= {name, "invalid_request_state"}
    for state in ("b3/secret", "secret", "b1secret", "/secret", ""):
        assert await clients.answer(state) == "invalid_request_state"

    assert {await clients.begin_task(f"{user}") for user in range(32)} == {"b1-secret", "b2-secret"}
    for name in ("b1", "b2"):
        assert [await clients.polled(f"{name}-secret") for _ in range(4)] == [f"at {name}"] * 4


async def held(clients: Clients) -> tuple[dict[str, str], dict[str, str]]:
    """Return a session and the state of a question of each bridge."""
    sessions = [await clients.begin() for _ in range(4)]
    questions = [(await clients.ask(f"{user}"))["result"]["requestState"] for user in range(32)]
    return ({split_session(each)[0]: each for each in sessions}, {split_state(each)[0]: each for each in questions})


async def newcomers(clients: Clients) -> set[str]:
    """Return the bridges to which new clients come."""
    begun = {split_session(await clients.begin())[0] for _ in range(4)}
    asked = [(await clients.ask(f"{user}"))["result"]["requestState"] for user in range(8)]
    return begun | {split_state(each)[0] for each in asked}


async def test_a_bridge_that_drains_keeps_what_it_holds_and_one_that_has_ended_sends_nobody_astray(
    clients: Clients,
) -> None:
    sessions, states = await held(clients)
    await drains(clients.bridges["b1"])
    assert [await clients.status(sessions[name]) for name in ("b1", "b2")] == [200, 200]
    assert [await clients.answer(states[name]) for name in ("b1", "b2")] == ["b1", "b2"]
    assert [await clients.polled(f"{name}-secret") for name in ("b1", "b2")] == ["at b1", "at b2"]
    if clients.balancer.kind is NGINX:  # which checks no bridges: its administrator tells it
        clients.balancer.reload(without="b1")
        async with asyncio.timeout(PATIENCE):
            while {"error" in await clients.ask(f"{user}") for user in range(8)} != {False}:
                pass
    assert await newcomers(clients) == {"b2"}

    await clients.bridges["b1"].end()  # as a second signal
    assert [await clients.status(sessions[name]) for name in ("b1", "b2")] == [404, 200]
    assert [await clients.answer(states[name]) for name in ("b1", "b2")] == ["invalid_request_state", "b2"]
    assert await clients.polled("b1-secret") == "at b2"  # where in truth there is no such task
    assert await newcomers(clients) == {"b2"}


async def test_only_the_endpoint_is_public(clients: Clients) -> None:
    async with httpx2.AsyncClient(timeout=PATIENCE) as http:
        for path in ("/", "/healthz", "/readyz", "/metrics", "/body-is-read", "/mcp/x"):
            assert (await http.get(clients.balancer.url.replace("/mcp", path))).status_code == 404
