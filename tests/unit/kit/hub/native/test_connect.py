"""`mcpframe hub --connect`: what comes over the socket, for a client that waits for it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import anyio

from mcpframe.kit.edges.link.messages import ServerMessage
from mcpframe.kit.edges.link.reopening_link import ReopeningLink
from mcpframe.kit.hub.native.connect import Connections
from mcpframe.kit.hub.native.meeting_place import listening


class Answers:
    """The client's side of a link."""

    def __init__(self) -> None:
        self._heard: asyncio.Queue[Any] = asyncio.Queue()

    def deliver(self, server_message: ServerMessage) -> None:
        self._heard.put_nowait(json.loads(server_message.text))

    def note(self, text: str) -> None:
        pass

    async def next(self) -> Any:
        with anyio.fail_after(30):
            return await self._heard.get()


def call(link: ReopeningLink, id_: int) -> None:
    message = {"jsonrpc": "2.0", "id": id_, "method": "tools/call", "params": {"name": "add"}}
    link.send(json.dumps(message), message)


async def test_every_answer_of_the_hub_comes_through_or_the_call_fails(tmp_path: Path) -> None:
    deep = json.loads("[" * 120 + "]" * 120)
    with listening(tmp_path) as listener:
        async with Connections(tmp_path).running() as connections:
            edge = Answers()
            link = ReopeningLink(connections.open_page, edge)
            await link.open()
            hub, _ = await asyncio.get_running_loop().sock_accept(listener)
            with hub:
                call(link, 1)
                answer = {"jsonrpc": "2.0", "id": 1, "result": {"content": [], "structuredContent": {"a": deep}}}
                await asyncio.get_running_loop().sock_sendall(hub, json.dumps(answer).encode() + b"\n")
                assert await edge.next() == answer
                call(link, 2)
                await asyncio.get_running_loop().sock_sendall(hub, b'{"jsonrpc":"2.0","id":2,"result":{\n')
                failed = await edge.next()
                assert (failed["id"], failed["error"]["code"]) == (2, -32000)
            await link.close()


async def test_a_call_says_whether_it_may_have_run_where_the_connection_ends(tmp_path: Path) -> None:
    with listening(tmp_path) as listener:
        async with Connections(tmp_path).running() as connections:
            edge = Answers()
            link = ReopeningLink(connections.open_page, edge)
            await link.open()
            hub, _ = await asyncio.get_running_loop().sock_accept(listener)
            call(link, 1)
            await asyncio.get_running_loop().sock_recv(hub, 1)
            hub.close()  # the extension's service worker has ended, and with it the program that it has started
            failed = (await edge.next())["error"]
            assert (failed["code"], failed["data"]) == (-32000, {"reason": "ConnectionClosed", "mayHaveRun": True})
            await link.close()
