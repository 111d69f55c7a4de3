"""Clients of page servers that a test keeps open, and page servers that it starts and stops."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import js
from mcp import Client
from mcp.server.mcpserver import MCPServer
from mcp.shared.exceptions import MCPError
from pyodide.ffi import create_proxy

import main as shown
from mcpframe import Page, errors, page_server
from mcpframe.hosts import iframe_client, tab_client

TRANSPORTS: dict[str, Callable[..., Any]] = {"tab": tab_client, "iframe": iframe_client}


class Held:
    """A client that stays open until its server has ended, or a test closes it."""

    def __init__(self, kind: str, parameters: str) -> None:
        self._closing = asyncio.Event()
        self.ended: str | None = None
        self.opened: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        transport = TRANSPORTS[kind](**json.loads(parameters), on_event=self._note)
        self.task = asyncio.create_task(self._run(transport))

    def _note(self, event: Any) -> None:
        if type(event).__name__ == "Closed":
            self.ended = type(event.error).__name__
            self._closing.set()

    async def _run(self, transport: Any) -> None:
        try:
            async with Client(transport, mode="legacy") as client:
                self.opened.set_result(client)
                await self._closing.wait()
        except errors.McpFrameError as error:
            if not self.opened.done():
                self.opened.set_exception(error)

    async def close(self) -> None:
        self._closing.set()
        await self.task


class Driver:
    """What a test calls."""

    def __init__(self, server: MCPServer) -> None:
        self._server = server
        self._held: list[Held] = []
        self._serving: asyncio.Task[None] | None = None

    async def open(self, kind: str, parameters: str) -> str:
        """Open a client; return its number, the server's name, and its capability `browser`."""
        self._held.append(held := Held(kind, parameters))
        try:
            client = await held.opened
        except errors.McpFrameError as error:
            return json.dumps({"error": type(error).__name__})
        experimental = client.server_capabilities.experimental or {}
        browser = experimental.get("browser")
        return json.dumps({"number": len(self._held) - 1, "name": client.server_info.name, "browser": browser})

    async def call(self, number: int, name: str, arguments: str = "{}") -> str:
        """Call a tool; return its text, or the error of the call."""
        try:
            result = await (await self._held[number].opened).call_tool(name, json.loads(arguments))
        except MCPError as error:
            return json.dumps({"code": error.code, "data": error.error.data})
        return json.dumps({"text": result.content[0].text})

    async def ended(self, number: int) -> str:
        """Wait until a session has ended by itself; return the name of its error."""
        await self._held[number].task
        return str(self._held[number].ended)

    async def close(self, number: int) -> None:
        """Close a client."""
        await self._held[number].close()

    def serve(self, parameters: str) -> None:
        """Start to serve."""
        self._serving = asyncio.create_task(page_server(self._server, **json.loads(parameters)))

    async def stop(self) -> None:
        """Stop serving."""
        if self._serving:
            self._serving.cancel()
            await asyncio.wait([self._serving])


async def main(page: Page) -> None:
    """Let a test call it, beside what the documentation shows."""
    driver = Driver(shown.server)
    js.held = js.Object.new()
    for name in ("open", "call", "ended", "close", "serve", "stop"):
        setattr(js.held, name, create_proxy(getattr(driver, name)))
    await shown.main(page)
