"""The bridge over stdio in a soak: a program that a raw client speaks to, lying now and then."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Sequence
from pathlib import Path

from mcpframe.kit.base.data import checkout_dir
from tests.bridge.programs import environment
from tests.soak.clients import INITIALIZE, JSON, NO_CANCELLATIONS, NO_MESSAGES, PATIENCE, text_of
from tests.soak.tally import Tally


class StdioSoaker:
    """A raw client of a bridge over stdio."""

    def __init__(self, process: asyncio.subprocess.Process, tally: Tally, chance: random.Random) -> None:
        """Created by `start`."""
        self._process = process
        self._tally = tally
        self._chance = chance
        self._last = 0
        self._waiting: dict[int, asyncio.Future[JSON]] = {}
        self._reading = asyncio.create_task(self._read())

    @classmethod
    async def start(cls, command: Sequence[str], tally: Tally, chance: random.Random, errors: Path) -> StdioSoaker:
        """Run a bridge; what it prints to standard error goes to a file."""
        with errors.open("wb") as stderr:
            process = await asyncio.create_subprocess_exec(
                *command,
                cwd=checkout_dir(),
                env=environment(),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=stderr,
                limit=1 << 28,
            )
        client = cls(process, tally, chance)
        await client._ask("initialize", INITIALIZE)
        await client._send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        return client

    async def call(self) -> None:
        """Make a call that answers, one that is cancelled, or lie."""
        choice = self._chance.random()
        if choice < 0.1:
            self._tally.done["stdio, lying"] += 1
            await self._send(self._chance.choice(NO_MESSAGES))
            for params in NO_CANCELLATIONS:
                note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
                await self._send(json.dumps(note).encode())
        elif choice < 0.2:
            self._tally.done["stdio, cancelled"] += 1
            params = {"name": "wait", "arguments": {"name": "stdio"}}
            await self._ask("tools/call", params, is_cancelled=True)
            note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": self._last}}
            await self._send(json.dumps(note).encode())
        else:
            self._tally.done["stdio, answered"] += 1
            text = f"stdio {self._last} " + "x" * self._chance.choice((0, 10, 1_000, 100_000))
            answer = await self._ask("tools/call", {"name": "echo", "arguments": {"text": text}})
            if text_of(answer) != text:
                self._tally.lost.append(f"stdio: {str(answer)[:200]}")

    async def end(self, errors: Path) -> None:
        """End it, and check how it ended."""
        assert self._process.stdin
        self._process.stdin.close()
        async with asyncio.timeout(PATIENCE):
            await self._process.wait()
            await self._reading
        said = await asyncio.to_thread(errors.read_text, "utf-8", "replace")
        if self._process.returncode or "Traceback" in said:
            self._tally.failures.append(f"The bridge over stdio ended with {self._process.returncode}: {said[-500:]}")
        self._tally.left["requests over stdio"] = len(self._waiting)

    async def _ask(self, method: str, params: JSON, *, is_cancelled: bool = False) -> JSON:
        self._last += 1
        id_ = self._last
        message = {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}
        answered: asyncio.Future[JSON] = asyncio.get_running_loop().create_future()
        if not is_cancelled:  # it may stay without an answer
            self._waiting[id_] = answered
        await self._send(json.dumps(message).encode())
        if is_cancelled:
            return {}
        try:
            async with asyncio.timeout(PATIENCE):
                return await answered
        except TimeoutError:
            return {"error": "no answer"}
        finally:
            self._waiting.pop(id_, None)

    async def _send(self, line: bytes) -> None:
        assert self._process.stdin
        self._process.stdin.write(line + b"\n")
        await self._process.stdin.drain()

    async def _read(self) -> None:
        assert self._process.stdout
        async for line in self._process.stdout:
            message = json.loads(line)
            waiting = self._waiting.get(message.get("id")) if "method" not in message else None
            if waiting is not None and not waiting.done():
                waiting.set_result(message)
