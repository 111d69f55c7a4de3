"""`mcpframe hub --native` as a program, with a hub at the other end in the place of a browser's extension."""

from __future__ import annotations

import asyncio
import json
import struct
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio

from mcpframe.hub.serving.native_clients import NativeClients
from mcpframe.hub.serving.port_clients import HubClients
from mcpframe.hub.serving.server import HubServer
from tests.bridge.programs import PATIENCE, ROOT, environment
from tests.support.fake_hub import HubWorld, hub_world

HUB = [sys.executable, "-m", "mcpframe", "hub"]
MOST = 1024 * 1024
"""The largest message that a browser accepts in a frame."""


def at(folder: Path) -> dict[str, str]:
    """The variables of programs that meet in a folder of their own."""
    return {**environment(), "XDG_DATA_HOME": str(folder), "HOME": str(folder)}


class Extension:
    """A hub, and the program that it has started.

    Attributes:
        world: The hub.
        clients: Its clients.
        states: What the program has said about itself.
    """

    def __init__(self, world: HubWorld, clients: HubClients, process: asyncio.subprocess.Process) -> None:
        self.world = world
        self.clients = clients
        self.process = process
        self.states: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._native = NativeClients(clients, self.frame)

    def frame(self, text: str) -> None:
        """Write a frame as the browser does."""
        data = text.encode()
        assert self.process.stdin
        self.process.stdin.write(struct.pack("=I", len(data)) + data)

    async def state(self) -> dict[str, Any]:
        """Return the next state of the program."""
        with anyio.fail_after(PATIENCE):
            return await self.states.get()

    async def serving(self) -> dict[str, Any]:
        """Return its state once it serves."""
        while not (state := await self.state())["serves"]:
            assert not state["trouble"], state
        return state

    async def read(self) -> None:
        """Read frames until the program ends."""
        assert self.process.stdout
        with suppress(asyncio.IncompleteReadError):
            while True:
                (size,) = struct.unpack("=I", await self.process.stdout.readexactly(4))
                assert size <= MOST
                body = await self.process.stdout.readexactly(size)
                if (state := self._native.received(json.dumps(json.loads(body)))) is not None:
                    self.states.put_nowait(state)
        self._native.closed()

    async def leave(self) -> int:
        """Close the program's standard input, as a browser does that ends; return its exit status."""
        assert self.process.stdin
        self.process.stdin.close()
        with anyio.fail_after(PATIENCE):
            return await self.process.wait()


@asynccontextmanager
async def extension(folder: Path, *options: str) -> AsyncIterator[Extension]:
    """Run a hub and the program, until the block ends."""
    async with hub_world() as world:
        server = HubServer(world.hub)
        clients = HubClients(server)
        process = await asyncio.create_subprocess_exec(
            *HUB, "--native", *options, env=at(folder), cwd=ROOT, stdin=-1, stdout=-1, limit=1 << 26
        )
        running = Extension(world, clients, process)
        async with server.running(), clients.running():
            reading = asyncio.create_task(running.read())
            try:
                yield running
            finally:
                if process.returncode is None:
                    assert await running.leave() == 0
                await reading
                process._transport.close()  # type: ignore[attr-defined]
