"""A command of mcpframe that is an MCP server over stdio, and a client by hand: nothing but the server is measured."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

from mcpframe.kit.base.data import checkout_dir
from tests.benchmarks.browser import BenchmarkError

_INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "benchmark", "version": "1"},
}
_LIST_CHANGED = "notifications/tools/list_changed"


class StdioServer:
    """The server.

    Args:
        arguments: The command's arguments.
    """

    def __init__(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "mcpframe", *arguments]
        environment = {**os.environ, "PYTHONPATH": str(checkout_dir())}
        self._process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self._last_id = 0
        self._changed = False

    def initialize(self) -> None:
        """Begin the session."""
        self.request("initialize", _INITIALIZE)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Make a request, and return its result.

        Raises:
            BenchmarkError: There is none.
        """
        self._last_id += 1
        self._send({"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params})
        answer = self._next()
        while "method" in answer:
            answer = self._next()
        if answer.get("id") != self._last_id or "result" not in answer:
            raise BenchmarkError(f"The server answered {method} with {answer}.")
        result: dict[str, Any] = answer["result"]
        return result

    def wait_for_change(self) -> None:
        """Wait until the list of tools has changed since the last time."""
        while not self._changed:
            self._next()
        self._changed = False

    def tools(self) -> list[str]:
        """Return the names of the tools."""
        return [each["name"] for each in self.request("tools/list", {})["tools"]]

    def calls(self, tool: str, count: int, length: int) -> list[float]:
        """Call a tool that returns its text so many times, one after another.

        Returns:
            How long each took, in milliseconds.
        """
        samples = []
        for number in range(count):
            text = f"{number}".rjust(length, "x")
            start = time.perf_counter()
            result = self.request("tools/call", {"name": tool, "arguments": {"text": text}})
            samples.append((time.perf_counter() - start) * 1000)
            if result["content"] != [{"type": "text", "text": text}]:
                raise BenchmarkError("The server's answer is a wrong one.")
        return samples

    def close(self) -> None:
        """End it."""
        self._process.communicate()

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def _next(self) -> dict[str, Any]:
        assert self._process.stdout
        message: dict[str, Any] = json.loads(self._process.stdout.readline() or b"{}")
        if not message:
            raise BenchmarkError("The server has ended.")
        self._changed |= message.get("method") == _LIST_CHANGED
        return message


@contextlib.contextmanager
def stdio_server(*arguments: str) -> Iterator[StdioServer]:
    """Run a server for as long as the block lasts."""
    server = StdioServer(*arguments)
    try:
        yield server
    finally:
        server.close()
