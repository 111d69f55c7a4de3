"""A bridge on browsers that run elsewhere and are killed, one after the other, in a soak.

Every answer names its page and its browser, and how many calls they, and the session's storage, have had. So a client
knows what it may lose: when the browser of its last answer has been killed since then, one pending request, and what
that page remembered. It may lose another request before its next answer only if a browser was killed after the first
loss, as its page may have been opened there. Anything else that does not arrive, or is wrong, counts as lost.
"""

from __future__ import annotations

import asyncio
import json
import math
import random
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import TextIO

import httpx2

from tests.bridge.programs import environment
from tests.soak.clients import BOTH, INITIALIZE, JSON, META, PATIENCE, text_of
from tests.soak.processes import browser_processes, open_files, resident
from tests.soak.tally import Tally
from tests.support.built import built
from tests.support.remote_chromium import RemoteChromium

SERVER = Path(__file__).with_name("remembering")
_CALLS = 12
"""How many calls a client makes in a session, before it ends it and lets another client begin one."""
_ARRIVAL = 1.2
"""Seconds between the first sessions of two clients."""
_SAMPLE_SECONDS = 2.0
_GROWTH = 20.0
"""How many megabytes more the bridge may have in the last third of the time than in the second. The first third is left
out: the allocator keeps the memory of the most files that were ever given at once, for the next ones. A reference that
stays after a kill is of the files of a page, 12 MB, and is found after a few kills.
"""
_LEAVE_SECONDS = 30.0


@dataclass(frozen=True)
class BrowsersBounds:
    """The limits of a soak of browsers elsewhere.

    Attributes:
        seconds: how long it takes.
        sessions: how many clients take part. Each has a session of its own, again and again.
        live: how many of them have a session, and so a page, at a time.
        browsers: how many browsers there are.
        interval: the seconds between two kills.
        pause: the seconds between two calls of a session, on the average.
    """

    seconds: float
    sessions: int = 200
    live: int = 200
    browsers: int = 4
    interval: float = 10.0
    pause: float = 1.0


async def soak_browsers(
    folder: Path, bounds: BrowsersBounds, seed: int, tell: Callable[[Tally], None] = lambda _: None
) -> Tally:
    """Run the browsers and the bridge, kill browsers, and return what happened, and what is left.

    Args:
        folder: for profiles, and the output of the bridge.
        bounds: when to end, and how much there is of everything.
        seed: the seed of the random choices.
        tell: called now and then with the counts so far.
    """
    browsers = [
        RemoteChromium(folder / name, [f"--user-agent={name}", "--disable-dev-shm-usage"])
        for name in (f"browser-{number}" for number in range(1, bounds.browsers + 1))
    ]
    root, result = await asyncio.to_thread(built, SERVER)
    try:
        addresses = [await browser.start() for browser in browsers]
        # Twice the room that is needed: a killed browser's sessions move to the others, and ended ones need a moment.
        most = -(-2 * bounds.live // bounds.browsers)
        with (folder / "stderr.txt").open("w+", encoding="utf-8", errors="replace") as log:
            async with _bridge(root / result.folder.name, addresses, most, log) as (url, process):
                tally = await _BrowsersSoak(url, process, browsers, addresses, bounds, random.Random(seed)).run(tell)
            log.seek(0)
            tally.failures += _failures(log.read())
        return tally
    finally:
        for browser in browsers:
            browser.kill()


@asynccontextmanager
async def _bridge(bundle: Path, addresses: list[str], most: int, log: TextIO) -> AsyncIterator[tuple[str, int]]:
    """Run a bridge; yield its address and its process."""
    command = [sys.executable, "-m", "mcpframe", "bridge", str(bundle), "--http", "--port", "0"]
    command += ["--browsers", ",".join(addresses), "--sessions", str(most), "--timeout", str(PATIENCE)]
    process = await asyncio.create_subprocess_exec(*command, env=environment(), stdout=subprocess.PIPE, stderr=log)
    assert process.stdout is not None
    try:
        yield (await process.stdout.readline()).decode().strip(), process.pid
    finally:
        process.terminate()
        await process.wait()


class _BrowsersSoak:
    def __init__(
        self,
        url: str,
        process: int,
        browsers: list[RemoteChromium],
        addresses: list[str],
        bounds: BrowsersBounds,
        chance: random.Random,
    ) -> None:
        self.tally = Tally()
        self.killed: dict[str, float] = {}
        """The browsers that were killed, each with the last time."""
        self.last_kill = 0.0
        """When the last kill of any browser began."""
        self.url = url
        self.chance = chance
        self._process = process
        self._browsers = browsers
        self._addresses = addresses
        self._bounds = bounds
        self._until = time.monotonic() + bounds.seconds
        self._memory: list[float] = []
        self._most_of_pages = 0.0
        self._seconds: list[float] = []

    async def run(self, tell: Callable[[Tally], None]) -> Tally:
        """Do all of it."""
        live = asyncio.Semaphore(self._bounds.live)
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=None)
        async with httpx2.AsyncClient(timeout=PATIENCE, limits=limits) as http:
            async with asyncio.TaskGroup() as tasks:
                others = [tasks.create_task(self._kill()), tasks.create_task(self._measure(tell))]
                clients = [tasks.create_task(self._client(http, n, live)) for n in range(self._bounds.sessions)]
                clients += [tasks.create_task(self._stateless(http)) for _ in range(2)]
                await asyncio.wait(clients)
                for other in others:
                    other.cancel()
            await self._count_what_is_left(http)
        self._sum_up()
        return self.tally

    def goes_on(self) -> bool:
        """Return whether there is time left."""
        return time.monotonic() < self._until

    def answered_in(self, seconds: float) -> None:
        """Record how long an answer took."""
        self._seconds.append(seconds)

    async def pause(self) -> None:
        """Wait as long as a client does between two calls."""
        await asyncio.sleep(self.chance.uniform(0.5, 1.5) * self._bounds.pause)

    async def _client(self, http: httpx2.AsyncClient, number: int, live: asyncio.Semaphore) -> None:
        last = 0
        await asyncio.sleep(min(number * _ARRIVAL, self._bounds.seconds))
        while self.goes_on():
            async with live:
                if not self.goes_on():
                    return
                last += 1
                await _Session(self, http, f"client {number}, session {last}").run()
            await asyncio.sleep(0)

    async def _stateless(self, http: httpx2.AsyncClient) -> None:
        """Make calls as a client from 2026-07-28 on; the page that they share may be lost with any browser."""
        head = {**BOTH, "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "echo"}
        number, when, lost = 0, time.monotonic(), 0.0
        while self.goes_on():
            number += 1
            text = f"{number} {'x' * self.chance.choice((0, 1_000, 100_000))}"
            params = {"name": "echo", "arguments": {"text": text}, "_meta": META}
            self.tally.done["2026-07-28, called"] += 1
            begun = time.monotonic()
            answer = await self.posted(http, head, {"id": number, "method": "tools/call", "params": params})
            may_lose = self.last_kill >= lost if lost else any(killed >= when for killed in self.killed.values())
            if _was_lost(answer) and may_lose:
                self.tally.measured["2026-07-28, pending in a killed browser"] += 1
                lost = time.monotonic()
            elif answer is None or text_of(answer) != text:
                self.tally.lost.append(f"2026-07-28: {str(answer)[:200]}")
            else:
                when, lost = begun, 0.0
            await self.pause()

    async def posted(self, http: httpx2.AsyncClient, head: dict[str, str], message: JSON) -> JSON | None:
        """Send a message and return its answer; what is none is recorded."""
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        try:
            async with asyncio.timeout(PATIENCE):  # the pings of a stream are no answer
                response = await http.post(self.url, content=body, headers=head)
            if mcp_session := response.headers.get("mcp-session-id"):
                head["mcp-session-id"] = mcp_session
            if "event-stream" not in response.headers.get("content-type", ""):
                answer: JSON = response.json() if response.content else {}
                return answer
            return [json.loads(line[6:]) for line in response.text.splitlines() if line.startswith("data: {")][-1]
        except Exception as error:  # noqa: BLE001  any error is a lost answer
            self.tally.lost.append(f"{message['method']}: {error!r}")
            return None

    async def _kill(self) -> None:
        """Kill the browsers in turn, and start them again at once."""
        while True:
            for number, browser in enumerate(self._browsers, 1):
                await asyncio.sleep(self._bounds.interval)
                name = f"browser-{number}"
                self.last_kill = time.monotonic()
                self.killed[name] = math.inf  # what is lost meanwhile may be noticed before this thread goes on
                await asyncio.to_thread(browser.kill)
                self.killed[name] = time.monotonic()
                await browser.start()
                self.tally.measured["browsers killed"] += 1

    async def _measure(self, tell: Callable[[Tally], None]) -> None:
        while True:
            await asyncio.sleep(_SAMPLE_SECONDS)
            self._memory.append(await asyncio.to_thread(resident, [self._process]))
            if len(self._memory) % 10 == 0:  # reading the maps of many processes is slow
                pages = [each for each in browser_processes(["renderer"]) if each != self._process]
                self._most_of_pages = max(self._most_of_pages, await asyncio.to_thread(resident, pages))
                self.tally.measured["renderers, at most"] = max(self.tally.measured["renderers, at most"], len(pages))
            tell(self.tally)

    async def _count_what_is_left(self, http: httpx2.AsyncClient) -> None:
        """Count the pages of sessions; the one that clients from 2026-07-28 on share stays."""
        until = time.monotonic() + _LEAVE_SECONDS
        while True:
            pages = answered = 0
            for address in self._addresses:
                with suppress(httpx2.TransportError):  # one that was just killed has none
                    targets = (await http.get(f"{address}/json/list")).json()
                    answered += 1
                    pages += sum(each["type"] == "page" and each["url"].startswith("http") for each in targets)
            if pages <= 1 or time.monotonic() > until:
                break
            await asyncio.sleep(0.5)
        self.tally.left["pages of sessions"] = max(0, pages - 1)
        if answered < len(self._addresses) - 1:
            self.tally.failures.append(f"only {answered} browsers say which pages they have")

    def _sum_up(self) -> None:
        third = len(self._memory) // 3
        parts = (self._memory[:third], self._memory[third:-third], self._memory[-third:])
        first, second, last = map(fmean, parts)
        measured = self.tally.measured
        for part, memory in (("first", first), ("second", second), ("last", last)):
            measured[f"MB of the bridge, {part} third"] = round(memory)
        if last - second > _GROWTH:
            self.tally.failures.append(f"the bridge has grown from {second:.1f} to {last:.1f} MB")
        measured["MB of all renderers, at most"] = round(self._most_of_pages)
        measured["open files of the bridge"] = open_files([self._process])
        ordered = sorted(self._seconds)
        measured["ms for an answer, median"] = round(ordered[len(ordered) // 2] * 1000)
        measured["ms for an answer, 99 of 100"] = round(ordered[len(ordered) * 99 // 100] * 1000)


class _Session:
    """One session of a client until 2025-11-25."""

    def __init__(self, soak: _BrowsersSoak, http: httpx2.AsyncClient, name: str) -> None:
        self._soak = soak
        self._tally = soak.tally
        self._http = http
        self._name = name
        self._head = {**BOTH, "mcp-protocol-version": "2025-11-25"}
        self._last: JSON | None = None  # the last answer
        self._when = 0.0  # when that was asked
        self._lost = 0.0  # when a request was lost since then
        self._unknown = 0  # calls since then whose answer was lost: they may have run

    async def run(self) -> None:
        """Begin it, make calls, and end it."""
        self._when = time.monotonic()
        self._tally.done["sessions begun"] += 1
        begin = {"id": 0, "method": "initialize", "params": INITIALIZE}
        answer = await self._soak.posted(self._http, self._head, begin)
        if _was_lost(answer) and self._may_lose():
            self._tally.measured["begun in a killed browser"] += 1
            return
        if answer is None or "result" not in answer:
            self._tally.lost.append(f"{self._name}: {str(answer)[:200]}")
            return
        await self._soak.posted(self._http, self._head, {"method": "notifications/initialized"})
        for number in range(1, _CALLS + 1):
            await self._call(number)
            await self._soak.pause()
            if not self._soak.goes_on():
                break
        response = await self._http.delete(self._soak.url, headers=self._head)
        if response.status_code != 200:
            self._tally.lost.append(f"{self._name}: its end has status {response.status_code}")

    async def _call(self, number: int) -> None:
        text = f"{self._name}, call {number} {'x' * self._soak.chance.choice((0, 10, 1_000, 50_000))}"
        message = {
            "id": number,
            "method": "tools/call",
            "params": {"name": "remember", "arguments": {"text": text}},
        }
        self._tally.done["called"] += 1
        begun = time.monotonic()
        answer = await self._soak.posted(self._http, self._head, message)
        if _was_lost(answer) and self._may_lose_request():
            self._tally.measured["pending in a killed browser"] += 1
            self._unknown += 1
            self._lost = time.monotonic()
            return
        try:
            found: JSON = json.loads(text_of(answer or {}))
        except (TypeError, ValueError):
            self._tally.lost.append(f"{self._name}: {str(answer)[:300]}")
            self._unknown += 1
            return
        self._soak.answered_in(time.monotonic() - begun)
        if wrong := self._wrong(found, text):
            self._tally.lost.append(f"{self._name}, call {number}: {wrong}")
        self._last, self._when, self._lost, self._unknown = found, begun, 0.0, 0

    def _wrong(self, found: JSON, text: str) -> str:
        """Return what is wrong with an answer; empty for nothing."""
        last = self._last
        if found["text"] != text:
            return f"{found['text'][:100]!r} for {text[:100]!r}"
        if last is None:
            expected = (range(1, self._unknown + 2),) * 2
        elif (found["page"], found["browser"]) == (last["page"], last["browser"]):
            expected = (range(last["calls"] + 1, last["calls"] + 2), range(last["stored"] + 1, last["stored"] + 2))
        elif not self._may_lose():
            return f"another page, and {last['browser']} is alive: {found}, after {last}"
        else:
            self._tally.measured["pages lost with their browser"] += 1
            # The browser reports a stored value after the answer: the last one may be lost with it.
            expected = (range(1, self._unknown + 2), range(last["stored"], last["stored"] + self._unknown + 2))
        if found["calls"] not in expected[0]:
            return f"the page remembers {found['calls']} calls: {found}, after {last}"
        if found["stored"] not in expected[1]:
            return f"the session has stored {found['stored']} calls: {found}, after {last}"
        return ""

    def _may_lose_request(self) -> bool:
        """Return whether a request may be lost: after a loss only if any browser was killed since then."""
        return self._soak.last_kill >= self._lost if self._lost else self._may_lose()

    def _may_lose(self) -> bool:
        """Return whether the browser of the last answer was killed since it was asked; without one, whether any was."""
        killed = self._soak.killed
        whose = killed.values() if self._last is None else [killed.get(self._last["browser"], 0.0)]
        return any(when >= self._when for when in whose)


def _failures(logged: str) -> list[str]:
    """Return the exceptions that the bridge has logged, each by its line before the traceback and its last one."""
    parts = logged.split("Traceback (most recent call last):\n")
    before = [part.rstrip("\n").rpartition("\n")[2] for part in parts]
    last = [next((line for line in part.splitlines() if not line.startswith(" ")), "") for part in parts[1:]]
    return [f"{line} {error}" for line, error in zip(before, last, strict=False)]


def _was_lost(answer: JSON | None) -> bool:
    """Return whether an answer says that its page was lost, or, to a client of 2026-07-28, is not back yet."""
    error = (answer or {}).get("error", {})
    closed = (error.get("data") or {}).get("reason") == "ConnectionClosed"
    return closed or "try again later" in error.get("message", "")
