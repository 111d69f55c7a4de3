"""The hub's two edges: the standard streams, and Streamable HTTP."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client

from mcpframe.frame.core.errors import OriginError
from mcpframe.hub.core.interfaces import ON_THIS_MACHINE, Caller, CallRequest
from mcpframe.hub.core.messages import CallCancelled
from mcpframe.hub.core.options import HubOptions
from mcpframe.hub.serving.server import HubServer
from mcpframe.kit.base.errors import PortTaken
from mcpframe.kit.edges.http.access import Access
from mcpframe.kit.edges.stdio import edge as stdio
from mcpframe.kit.edges.stdio.streams import Output
from mcpframe.kit.hub import http
from mcpframe.kit.hub.stdio import HubEdge
from tests.support.fake_hub import ENVELOPE, FakePort, HubWorld, hub_world, text_result, tool
from tests.support.foreign_requests import refused_before_their_bodies
from tests.support.settling import settled

SHOP = "https://shop.example/"
NAME = "website_tool_shop_example_tab1_add"
INITIALIZE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}


class Wire:
    """A client at the other end of the standard streams."""

    def __init__(self, edge: HubEdge, reading: int) -> None:
        self.edge = edge
        self._lines = os.fdopen(reading, "rb")

    async def line(self) -> Any:
        return json.loads(await asyncio.to_thread(self._lines.readline))

    async def ask(self, id_: Any, method: str, params: Any = None) -> Any:
        self.edge.take({"jsonrpc": "2.0", "id": id_, "method": method, "params": params or {}})
        while (found := await self.line()).get("id") != id_:
            pass
        return found

    def close(self) -> None:
        self._lines.close()


@asynccontextmanager
async def stdio_wire() -> AsyncIterator[tuple[HubWorld, Wire]]:
    async with hub_world() as world:
        server = HubServer(world.hub)
        reading, writing = os.pipe()
        output = Output(writing)
        edge = HubEdge(output)
        wire = Wire(edge, reading)
        async with server.running(), anyio.create_task_group() as tasks:
            tasks.start_soon(server.server.run, edge.read, edge, server.options)
            with anyio.fail_after(60):
                yield world, wire
            edge.end()
        await output.flush()
        os.close(writing)
        wire.close()


async def over_http(
    server: HubServer, capsys: pytest.CaptureFixture[str], access: Access | None = None
) -> tuple[asyncio.Task[None], str]:
    """Serve a hub; return the task, and the address that is printed."""
    serving = asyncio.create_task(http.serve_http(server, 0, access or Access()))
    url = ""
    with anyio.fail_after(60):
        while not url:
            await asyncio.sleep(0.001)
            url = capsys.readouterr().out.strip()
    return serving, url


async def called(port: FakePort) -> None:
    """Wait until a page is called."""
    with anyio.fail_after(60):
        while not port.calls:  # noqa: ASYNC110
            await asyncio.sleep(0.001)


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_client_of_stdio_lists_and_calls(era: str) -> None:
    more = {} if era == "legacy" else ENVELOPE
    async with stdio_wire() as (world, wire):
        port = world.page(1, SHOP, tool("add"))
        if era == "legacy":
            assert "result" in await wire.ask(0, "initialize", INITIALIZE)
            wire.edge.take({"jsonrpc": "2.0", "method": "notifications/initialized"})
        [listed] = (await wire.ask("a", "tools/list", more))["result"]["tools"]
        assert listed["name"] == NAME
        wire.edge.take(
            {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": NAME, "arguments": {}, **more}}
        )
        await called(port)
        port.answers(text_result("5"))
        while (answer := await wire.line()).get("id") != 7:
            pass
        assert answer["result"]["content"] == [{"type": "text", "text": "5"}]
        with anyio.fail_after(1):
            await wire.edge.answered()


async def test_what_the_sdk_cannot_read_is_answered() -> None:
    async with stdio_wire() as (_, wire):
        wire.edge.take({"jsonrpc": "2.0", "id": 1, "method": 5})
        assert (await wire.line())["error"]["code"] == -32600
        wire.edge.take({"jsonrpc": "2.0", "method": 5})
        assert "result" in await wire.ask(0, "initialize", INITIALIZE)


async def test_the_end_waits_for_answers_but_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdio, "GRACE_SECONDS", 0.05)
    async with stdio_wire() as (world, wire):
        world.page(1, SHOP, tool("add"))
        await wire.ask(0, "initialize", INITIALIZE)
        wire.edge.take({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": NAME}})
        await wire.edge.answered()
        cancelled = {"method": "notifications/cancelled", "params": {"requestId": 7}}
        wire.edge.take({"jsonrpc": "2.0", **cancelled})
        monkeypatch.setattr(stdio, "GRACE_SECONDS", 60)
        with anyio.fail_after(5):
            await wire.edge.answered()
        await settled()


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_clients_over_http(
    mode: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[Caller] = []

    async def consents(request: CallRequest) -> bool:
        asked.append(request.client)
        return False

    async with hub_world(HubOptions(consents=consents)) as world:
        world.page(1, SHOP, tool("add"))
        server = HubServer(world.hub)
        async with server.running():
            serving, url = await over_http(server, capsys, Access(allowed_origins=["https://chat.example"]))
            async with Client(url, mode=mode, cache=None) as one, Client(url, mode=mode, cache=None) as other:
                for client in (one, other):
                    assert [each.name for each in (await client.list_tools()).tools] == [NAME]
                async with httpx2.AsyncClient(headers={"Origin": "https://chat.example"}) as page:
                    of_page = streamable_http_client(url, http_client=page)
                    async with Client(of_page, mode=mode, cache=None) as third:
                        for client in (one, third):
                            with pytest.raises(MCPError):
                                await client.call_tool(NAME, {})
                assert [each.origin for each in asked] == [ON_THIS_MACHINE, "https://chat.example"]
                assert all(each.name for each in asked)
                port = int(url.rpartition(":")[2].partition("/")[0])
                for header, allowed in (
                    ("Origin: https://chat.example", True),
                    ("Origin: https://evil.example", False),
                    (f"Origin: http://127.0.0.1:{port}", True),
                    ("Host: evil.example", False),
                ):
                    assert (await status(port, header) not in (403, 421)) is allowed, header
                await refused_before_their_bodies(url, 60)
                with pytest.raises(PortTaken):
                    await http.serve_http(server, port, Access())
            serving.cancel()
            await asyncio.wait({serving})
        with pytest.raises(OriginError):
            await http.serve_http(server, 0, Access(allowed_origins=["chat.example"]))


async def test_a_client_with_a_token_is_named_by_its_user(capsys: pytest.CaptureFixture[str]) -> None:
    asked: list[Caller] = []

    async def consents(request: CallRequest) -> bool:
        asked.append(request.client)
        return False

    token = "t" * 32
    access = Access("0.0.0.0", allowed_origins=["https://chat.example"], tokens={token: "ada"})
    async with hub_world(HubOptions(consents=consents)) as world, (server := HubServer(world.hub)).running():
        world.page(1, SHOP, tool("add"))
        serving, printed = await over_http(server, capsys, access)
        url = printed.replace("0.0.0.0", "127.0.0.1")
        for headers in ({}, {"Origin": "https://chat.example"}):  # which a program may write itself
            async with (
                httpx2.AsyncClient(headers={**headers, "Authorization": f"Bearer {token}"}) as http_client,
                Client(streamable_http_client(url, http_client=http_client), cache=None) as client,
            ):
                with pytest.raises(MCPError):
                    await client.call_tool(NAME, {})
        assert [each.origin for each in asked] == ["the user ada"] * 2
        async with httpx2.AsyncClient() as stranger:
            assert (await stranger.post(url, json={})).status_code == 401
        serving.cancel()
        await asyncio.wait({serving})


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_hub_that_ends_answers_the_calls_of_its_clients_over_http(
    mode: str, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    async with hub_world() as world:
        port = world.page(1, SHOP, tool("add"))
        server = HubServer(world.hub)
        async with server.running():
            serving, url = await over_http(server, capsys)
            async with Client(url, mode=mode, cache=None) as client:
                calling = asyncio.create_task(client.call_tool(NAME, {}))
                await called(port)
                serving.cancel()
                with anyio.fail_after(60), pytest.raises(MCPError) as caught:
                    await calling
                assert caught.value.error.code == -32000
                assert caught.value.error.data == {"reason": "HubClosed", "mayHaveRun": True}
                await asyncio.wait({serving})
        assert isinstance(port.heard[-1], CallCancelled)
    assert not [record for record in caplog.records if record.name.startswith("uvicorn")]


async def test_a_client_over_http_that_resumes_its_stream_gets_a_new_one(capsys: pytest.CaptureFixture[str]) -> None:
    async with hub_world() as world, (server := HubServer(world.hub)).running():
        serving, url = await over_http(server, capsys)
        with anyio.fail_after(60):
            async with httpx2.AsyncClient(headers={"Accept": "application/json, text/event-stream"}) as client:
                initialize = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": INITIALIZE}
                begun = await client.post(url, json=initialize)
                resumed = {"Mcp-Session-Id": begun.headers["mcp-session-id"], "Last-Event-ID": "7"}
                async with client.stream("GET", url, headers=resumed) as stream:
                    assert stream.status_code == 200
        serving.cancel()
        await asyncio.wait({serving})


async def test_an_id_in_use_is_refused_over_stdio() -> None:
    async def lines(*messages: dict[str, Any]) -> AsyncIterator[bytes]:
        for message in messages:
            yield json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"

    call = {"id": 7, "method": "tools/call", "params": {"name": NAME}}
    async with stdio_wire() as (world, wire):
        port = world.page(1, SHOP, tool("add"))
        await wire.ask(0, "initialize", INITIALIZE)
        await wire.edge.read_all(lines({"method": "notifications/initialized"}, call, {**call, "id": 7.0}))
        refused = await wire.line()
        assert (refused["id"], refused["error"]["code"]) == (7, -32600)
        await called(port)
        port.answers(text_result("5"))
        assert (await wire.line())["result"]["content"][0]["text"] == "5"
        await wire.edge.read_all(lines({"id": 7, "method": "ping"}))
        assert (await wire.line())["result"] == {}


async def test_messages_over_http_are_read_as_over_stdio(capsys: pytest.CaptureFixture[str]) -> None:
    async with hub_world() as world:
        page = world.page(1, SHOP, tool("add"))
        server = HubServer(world.hub)
        async with server.running(), httpx2.AsyncClient(timeout=60) as client:
            serving, url = await over_http(server, capsys)
            head = {"content-type": "application/json", "accept": "application/json, text/event-stream"}

            async def post(text: str) -> httpx2.Response:
                return await client.post(url, content=f'{{"jsonrpc":"2.0",{text}}}'.encode(), headers=head)

            begun = await post(f'"id":0.0,"method":"initialize","params":{json.dumps(INITIALIZE)}')
            assert answers(begun)[-1]["id"] == 0
            head |= {"mcp-session-id": begun.headers["mcp-session-id"], "mcp-protocol-version": "2025-11-25"}
            assert answers(await post('"id":1e3,"method":"ping"')) == [{"jsonrpc": "2.0", "id": 1000, "result": {}}]
            call = f'"id":7,"method":"tools/call","params":{{"name":"{NAME}","arguments":{{}}}}'
            calling = asyncio.create_task(post(call))
            await called(page)
            for text in (
                '"id":7,"method":"ping"',
                '"id":"7","method":"ping"',
                '"id":8,"method":"notifications/cancelled"',
            ):
                refused = await post(text)
                assert (refused.status_code, answers(refused)[0]["error"]["code"]) == (400, -32600), text
            page.answers(text_result("5"))
            assert answers(await calling)[-1]["result"]["content"][0]["text"] == "5"
            assert answers(await post('"id":7,"method":"ping"'))[-1]["result"] == {}
            serving.cancel()
            await asyncio.wait({serving})


def answers(response: httpx2.Response) -> list[Any]:
    """The messages of a response, which is an event stream or one message."""
    if "event-stream" not in response.headers["content-type"]:
        return [response.json()]
    return [json.loads(line[6:]) for line in response.text.splitlines() if line.startswith("data: ")]


async def status(port: int, header: str) -> int:
    """Return the status of a request with a header more."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE}).encode()
    host = "" if header.startswith("Host") else f"Host: 127.0.0.1:{port}\r\n"
    head = f"POST /mcp HTTP/1.1\r\n{host}{header}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    writer.write(f"{head}Accept: application/json, text/event-stream\r\nConnection: close\r\n\r\n".encode() + body)
    line = await reader.readline()
    writer.close()
    return int(line.split()[1])
