"""Bridges as separate programs with a hand-written client, and their processes."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio

from tests.support.polling import until

JSON = dict[str, Any]

ROOT = Path(__file__).parents[2]
PATIENCE = 120.0
"""How long to wait for an expected event, in seconds, on a busy machine."""

INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "by hand", "version": "1"},
}


def environment() -> dict[str, str]:
    """The variables of a bridge."""
    return {**os.environ, "PYTHONPATH": str(ROOT)}


@contextmanager
def over_http(command: Sequence[str], profile: Path) -> Iterator[str]:
    """Run a bridge over HTTP, on a free port.

    Args:
        command: Its command line, without the options of HTTP.
        profile: Its profile; its standard error is written to `stderr.txt` there.

    Yields:
        Its address.
    """
    options = ["--http", "--port", "0", *([] if "--browsers" in command else ["--profile", str(profile)])]
    with (profile / "stderr.txt").open("w") as errors:
        process = subprocess.Popen(
            [*command, *options], cwd=ROOT, env=environment(), stdout=subprocess.PIPE, stderr=errors, text=True
        )
        assert process.stdout
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()
            process.communicate(timeout=PATIENCE)
    assert process.returncode == 0


class Program:
    """A bridge over stdio, by hand."""

    def __init__(self, process: asyncio.subprocess.Process, profile: Path) -> None:
        """Created by `start`."""
        self.process = process
        self.profile = profile

    async def send(self, *messages: JSON | bytes) -> None:
        """Write lines."""
        assert self.process.stdin
        for message in messages:
            self.process.stdin.write(message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n")
        await self.process.stdin.drain()

    async def request(self, id_: int, method: str, **params: Any) -> None:
        """Send a request; `next` returns its answer."""
        await self.send({"jsonrpc": "2.0", "id": id_, "method": method, "params": params})

    async def next(self) -> JSON:
        """Read the next line, which is JSON-RPC like every other one."""
        assert self.process.stdout
        with anyio.fail_after(PATIENCE):
            line = await self.process.stdout.readline()
        message: JSON = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        return message

    async def answer(self, id_: int) -> JSON:
        """Read until the answer to a request."""
        while (message := await self.next()).get("id") != id_:
            pass
        return message

    async def initialize(self) -> None:
        """Initialize as a client of the handshake era."""
        await self.request(0, "initialize", **INITIALIZE)
        assert (await self.next())["result"]["serverInfo"]["name"] == "everything"
        await self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    async def ended(self) -> tuple[int, str]:
        """Wait for the end; return the exit status and the output."""
        assert self.process.stderr
        with anyio.fail_after(PATIENCE):
            told = await self.process.stderr.read()
            return await self.process.wait(), told.decode()

    def browsers(self) -> list[int]:
        """The processes of the bridge's Chromium: those that know its profile."""
        return processes_with(str(self.profile))


@asynccontextmanager
async def start(*arguments: str, profile: Path, program: Sequence[str] = ("-m", "mcpframe")) -> AsyncIterator[Program]:
    """Run a bridge for as long as the block lasts; `program` are the arguments of Python."""
    command = [sys.executable, *program, "bridge", *arguments, "--profile", str(profile)]
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=ROOT,
        env=environment(),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        limit=1 << 28,
    )
    bridge = Program(process, profile)
    try:
        yield bridge
    finally:
        if process.returncode is None:
            process.terminate()
            await bridge.ended()
        process._transport.close()  # type: ignore[attr-defined]


def processes_with(text: str) -> list[int]:
    """The processes that have a text in their command line, other than bridges themselves."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            except OSError:
                continue
            if f"--user-data-dir={text}" in line:
                found.append(int(entry.name))
    return found


async def gone(program: Program) -> None:
    """Wait until no process of the bridge's Chromium is left."""
    await until(lambda: not program.browsers(), PATIENCE, pause=0.05)
