"""The clients of a soak: official ones that call and cancel, raw ones that leave and lie."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Literal

import anyio
import httpx2
import mcp_types as types
from mcp import Client

from tests.soak.tally import Tally

JSON = dict[str, Any]

PATIENCE = 120.0
"""How long an answer may take, in seconds, on a busy machine; then it counts as lost."""

META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
INITIALIZE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
BOTH = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
DEEP = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}}"

NO_MESSAGES = [
    *(DEEP, b"", b"{", b"\xff", b"[]", b"5", b'{"jsonrpc":"2.0"}', b'{"jsonrpc":"2.0","id":{},"method":"ping"}'),
    *(b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}', b'{"jsonrpc":"2.0","id":1,"method":"\\udfff"}'),
    b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"__proto__":{}}}',
    b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":null}',
]
NO_CANCELLATIONS: list[JSON] = [
    {},
    {"requestId": [1]},
    {"requestId": {}},
    {"requestId": None},
    {"requestId": "nobody's"},
]


class Soaker:
    """Makes calls of every kind, and records their outcomes. `started` has the names of the calls that wait."""

    def __init__(self, url: str, tally: Tally, chance: random.Random) -> None:
        """Call the bridge at this address."""
        self.url = url
        self.tally = tally
        self.chance = chance
        self.started: set[str] = set()
        self._last = 0

    def name(self, kind: str) -> str:
        """Return a text of random length that no other call has."""
        self._last += 1
        return f"{kind} {self._last} " + "x" * self.chance.choice((0, 10, 1_000, 100_000))

    # Official clients

    @asynccontextmanager
    async def client(self, where: Any, era: Literal["2026-07-28", "legacy"]) -> AsyncIterator[Client]:
        """Connect an official client."""
        async with Client(where, mode=era) as client:
            yield client

    async def call(self, client: Client, kind: str) -> None:
        """Make a call that answers, or one that is cancelled."""
        if self.chance.random() < 0.1:
            await self._cancel(client, kind)
        elif self.chance.random() < 0.1:
            await self._checked(f"{kind}, with progress", client, "count", {"to": 3}, "counted to 3")
        else:
            text = self.name(kind)
            await self._checked(f"{kind}, answered", client, "echo", {"text": text}, text)

    async def _checked(self, kind: str, client: Client, tool: str, arguments: JSON, expected: str) -> None:
        self.tally.done[kind] += 1
        try:
            async with asyncio.timeout(PATIENCE):
                result = await client.call_tool(tool, arguments)
            found = result.content[0].text if isinstance(result.content[0], types.TextContent) else ""
            if found != expected:
                self.tally.lost.append(f"{kind}: {found[:100]!r} for {expected[:100]!r}")
        except Exception as error:  # noqa: BLE001  any error is a lost answer
            self.tally.lost.append(f"{kind}: {error!r}")

    async def _cancel(self, client: Client, kind: str) -> None:
        self.tally.done[f"{kind}, cancelled"] += 1
        name = f"{kind} {self.name('wait').partition('x')[0]}"
        began = asyncio.Event()

        async def on_progress(*_: object) -> None:
            began.set()

        async def wait() -> None:
            await client.call_tool("wait", {"name": name}, progress_callback=on_progress)

        try:
            async with asyncio.timeout(PATIENCE), anyio.create_task_group() as tasks:
                tasks.start_soon(wait)
                await began.wait()
                self.started.add(name)
                tasks.cancel_scope.cancel()
        except Exception as error:  # noqa: BLE001
            self.tally.lost.append(f"{kind}, cancelled: {error!r}")

    # Raw clients

    async def stateless(self, http: httpx2.AsyncClient) -> None:
        """Act as one of many clients of 2026-07-28 that all use the same id, and leave, lie, or wait for the answer."""
        text = self.name("raw")
        tool, arguments = self.chance.choice((("echo", {"text": text}), ("wait", {"name": text[:40]})))
        params = {"name": tool, "arguments": arguments, "_meta": {**META, "progressToken": 1}}
        message = {"jsonrpc": "2.0", "id": "bridge-1", "method": "tools/call", "params": params}
        head = {**BOTH, "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": tool}
        if self.chance.random() < 0.2:
            await self._refused(http, "stateless, lying", head, self.chance.choice(NO_MESSAGES[:-1]))
        elif tool == "wait":
            await self._left(http, "stateless, left", head, message)
        else:
            answer = await self._posted(http, "stateless, answered", head, json.dumps(message).encode())
            if answer is not None and (answer.get("id"), text_of(answer)) != ("bridge-1", text):
                self.tally.lost.append(f"stateless: {str(answer)[:200]}")

    async def session(self, http: httpx2.AsyncClient, calls: int) -> None:
        """Act as a client of 2025-11-25 that lies, ends its session during a call, or leaves without ending it."""
        head = {**BOTH, "mcp-protocol-version": "2025-11-25"}
        begin = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": INITIALIZE}
        if self.chance.random() < 0.2:
            await self._left(http, "legacy, left before it began", head, begin)
            return
        try:
            async with asyncio.timeout(PATIENCE):
                begun = await http.post(self.url, content=json.dumps(begin).encode(), headers=head)
            head["mcp-session-id"] = begun.headers["mcp-session-id"]
        except Exception as error:  # noqa: BLE001
            self.tally.lost.append(f"legacy, initialize: {error!r}")
            return
        await http.post(self.url, content=b'{"jsonrpc":"2.0","method":"notifications/initialized"}', headers=head)
        for id_ in range(1, calls + 1):
            await self._lie(http, head, id_)
        name = self.name("wait")[:40]
        wait = _call(calls + 1, "wait", name=name)
        if self.chance.random() < 0.5:
            await self._left(http, "legacy, left", head, wait)
            return
        waiting = asyncio.create_task(self._posted(http, "legacy, ended in mid-call", head, json.dumps(wait).encode()))
        await http.delete(self.url, headers=head)
        await waiting

    async def _lie(self, http: httpx2.AsyncClient, head: dict[str, str], id_: int) -> None:
        lie = self.chance.randrange(4)
        if lie == 0:
            await self._refused(http, "legacy, lying", head, self.chance.choice(NO_MESSAGES))
        elif lie == 1:
            for params in NO_CANCELLATIONS:
                note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
                await http.post(self.url, content=json.dumps(note).encode(), headers=head)
            self.tally.done["legacy, wrong cancellations"] += 1
        elif lie == 2:
            async with http.stream("GET", self.url, headers={**head, "last-event-id": "odd"}) as stream:
                if stream.status_code not in (200, 409):
                    self.tally.lost.append(f"legacy, event stream: {stream.status_code}")
            self.tally.done["legacy, event stream begun anew"] += 1
        else:
            text = self.name("raw")
            body = json.dumps(_call(id_, "echo", text=text)).encode()
            answer = await self._posted(http, "legacy raw, answered", head, body)
            if answer is not None and (answer.get("id"), text_of(answer)) != (id_, text):
                self.tally.lost.append(f"legacy raw: {str(answer)[:200]}")

    async def _refused(self, http: httpx2.AsyncClient, kind: str, head: dict[str, str], body: bytes) -> None:
        answer = await self._posted(http, kind, head, body)
        if answer is not None and "error" not in answer:
            self.tally.lost.append(f"{kind}: {body[:80]!r} got {str(answer)[:100]}")

    async def _posted(self, http: httpx2.AsyncClient, kind: str, head: dict[str, str], body: bytes) -> JSON | None:
        self.tally.done[kind] += 1
        try:
            async with asyncio.timeout(PATIENCE):
                response = await http.post(self.url, content=body, headers=head)
            if "event-stream" not in response.headers["content-type"]:
                answer: JSON = response.json()
                return answer
            return [json.loads(line[6:]) for line in response.text.splitlines() if line.startswith("data: ")][-1]
        except Exception as error:  # noqa: BLE001
            self.tally.lost.append(f"{kind}: {error!r}")
            return None

    async def _left(self, http: httpx2.AsyncClient, kind: str, head: dict[str, str], message: JSON) -> None:
        """Send a request and leave: at once, a little later, or with the first byte of the answer."""
        self.tally.done[kind] += 1
        body = json.dumps(message).encode()

        async def ask() -> None:
            async with http.stream("POST", self.url, content=body, headers=head) as stream:
                async for _ in stream.aiter_bytes():
                    return

        await asyncio.wait([asking := asyncio.create_task(ask())], timeout=self.chance.choice((0, 0.01, 0.1, 1)))
        asking.cancel()
        await asyncio.wait([asking])
        if not asking.cancelled():
            asking.exception()


def _call(id_: int, tool: str, **arguments: Any) -> JSON:
    params = {"name": tool, "arguments": arguments, "_meta": {"progressToken": id_}}
    return {"jsonrpc": "2.0", "id": id_, "method": "tools/call", "params": params}


def text_of(answer: JSON) -> Any:
    """The text of a tool's answer; an error is none."""
    return answer.get("result", {}).get("content", [{}])[0].get("text")
