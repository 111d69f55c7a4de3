"""The bridge over stdio: from its start to the first answer, and what a call costs more than in the page itself."""

from __future__ import annotations

import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mcpframe.kit.base.data import checkout_dir, templates_dir
from tests.benchmarks.browser import BenchmarkBrowser, BenchmarkError, host_page
from tests.benchmarks.figures import Figure, Goal
from tests.benchmarks.samples import take_turns
from tests.benchmarks.sites import SERVERS, Sites

BRIDGE, PAGE = "bridge", "in the page"
SHORT = 100
BATCH = 100

_INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "benchmark", "version": "1"},
}


class StdioBridge:
    """A bridge, spoken to without a client of its own, so that nothing but the bridge is measured.

    Args:
        server: What is bridged.
        profile: The folder of its profile.
    """

    def __init__(self, server: Path, profile: Path) -> None:
        command = [sys.executable, "-m", "mcpframe", "bridge", str(server), "--profile", str(profile)]
        environment = {**os.environ, "PYTHONPATH": str(checkout_dir())}
        self._process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self._last_id = 0

    def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Make a request, and give its result.

        Raises:
            BenchmarkError: There is none.
        """
        assert self._process.stdin
        assert self._process.stdout
        self._last_id += 1
        message = {"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params}
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline() or b"{}")
        if answer.get("id") != self._last_id or "result" not in answer:
            raise BenchmarkError(f"The bridge answered {method} with {answer}.")
        result: dict[str, Any] = answer["result"]
        return result

    def calls(self, count: int, length: int) -> list[float]:
        """Call the echo so many times, one after another; give how long each took, in milliseconds."""
        samples = []
        for number in range(count):
            text = f"{number}".rjust(length, "x")
            start = time.perf_counter()
            result = self.request("tools/call", {"name": "echo", "arguments": {"text": text}})
            samples.append((time.perf_counter() - start) * 1000)
            if result["content"] != [{"type": "text", "text": text}]:
                raise BenchmarkError("The bridge's answer is a wrong one.")
        return samples

    def close(self) -> None:
        """End it."""
        self._process.communicate()


@contextlib.contextmanager
def stdio_bridge(server: Path, profile: Path | None = None) -> Iterator[StdioBridge]:
    """Run a bridge for as long as the block lasts; without a profile it has a fresh one."""
    with tempfile.TemporaryDirectory(prefix="mcpframe-bench-", ignore_cleanup_errors=True) as folder:
        bridge = StdioBridge(server, profile or Path(folder))
        try:
            yield bridge
        finally:
            bridge.close()


def measure_bridge(browser: BenchmarkBrowser, sites: Sites, rounds: int, starts: int) -> list[Figure]:
    """The figures about the bridge.

    Args:
        browser: The browser.
        sites: What is served.
        rounds: How many rounds of 100 calls, over the bridge and in the page in turns.
        starts: How many starts.
    """
    return [*_start(starts), *_calls(browser, sites, rounds)]


def _start(starts: int) -> list[Figure]:
    server = templates_dir() / "pi-calculator"
    with tempfile.TemporaryDirectory(prefix="mcpframe-bench-", ignore_cleanup_errors=True) as folder:
        profiles = {"fresh profile": None, "kept profile": Path(folder)}

        def first_answer(kind: str) -> float:
            start = time.perf_counter()
            with stdio_bridge(server, profiles[kind]) as bridge:
                bridge.request("initialize", _INITIALIZE)
                return (time.perf_counter() - start) * 1000

        samples = take_turns(list(profiles), starts, first_answer)
    return [Figure.of_times(f"bridge over stdio, first answer, {kind}", samples[kind], 3000) for kind in profiles]


def _calls(browser: BenchmarkBrowser, sites: Sites, rounds: int) -> list[Figure]:
    with (
        browser.profile() as context,
        host_page(context, sites.host) as host,
        stdio_bridge(SERVERS / "echo") as bridge,
    ):
        host.bench("open", PAGE, sites.echo.url)
        bridge.request("initialize", _INITIALIZE)

        def batch(peer: str) -> list[float]:
            if peer == BRIDGE:
                return bridge.calls(BATCH, SHORT)
            measured: list[float] = host.bench("calls", PAGE, BATCH, SHORT, 1)["samples"]
            return measured

        batches = take_turns((BRIDGE, PAGE), rounds, batch, warm_up=2)
    samples = {peer: [sample for batch in batches[peer] for sample in batch] for peer in (BRIDGE, PAGE)}
    ours, page = (statistics.median(samples[peer]) for peer in (BRIDGE, PAGE))
    return [
        Figure("bridge over stdio, round trip, 100 bytes, median", "ms", ours, page, PAGE, None, {"samples": samples}),
        Figure("bridge over stdio, extra per call, median", "ms", ours - page, goal=Goal(value=10)),
    ]
