"""`mcpframe hub`, browsers of users, and clients in TypeScript as programs, for the hub's tests."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
from mcp import Client
from playwright.async_api import BrowserContext, async_playwright

from mcpframe.kit.base.data import checkout_dir
from mcpframe.kit.base.node import find_node, install_locked
from mcpframe.kit.browser.chromium import devtools_address, ensure_chromium, launch_options
from tests.bridge.programs import PATIENCE, ROOT, environment, processes_with
from tests.support.polling import until

COMMAND = [sys.executable, "-m", "mcpframe", "hub"]
SHOP = [f"website_tool_shop_localhost_tab1_{name}" for name in ("add", "fail", "wait", "grow", "cart")]
BOARD = [f"website_tool_board_localhost_tab1_{name}" for name in ("note", "hang", "more", "fail")]


def in_tab(number: int, names: Sequence[str]) -> list[str]:
    """Return the names of tools as they are in another tab than the first."""
    return [name.replace("tab1", f"tab{number}") for name in names]


async def names(client: Client) -> set[str]:
    return {tool.name for tool in (await client.list_tools()).tools}


async def has(client: Client, *wanted: str) -> None:
    """Wait until a client is offered these tools, and no others."""

    async def offered() -> bool:
        return await names(client) == set(wanted)

    try:
        await until(offered, PATIENCE, pause=0.05)
    except TimeoutError:
        raise AssertionError(f"{await names(client)} are offered, not {wanted}") from None


def text(result: Any) -> str:
    return str(result.content[0].text)


async def no_browser_left(profile: Path) -> None:
    """Wait until no process of a Chromium with this profile is left."""

    async def gone() -> bool:
        return not processes_with(str(profile))

    await until(gone, PATIENCE, pause=0.05)


class HubProgram:
    """A hub over HTTP.

    Attributes:
        address: Its address.
        errors: What it has written to standard error; complete at its end.
    """

    def __init__(self, process: asyncio.subprocess.Process, address: str) -> None:
        self._process = process
        self.address = address
        self.errors = ""

    async def ends(self, number: int) -> int:
        """Send it a signal, and return its exit status."""
        if self._process.returncode is None:
            self._process.send_signal(number)
        with anyio.fail_after(PATIENCE):
            _, errors = await self._process.communicate()
        self.errors += errors.decode()
        assert self._process.returncode is not None
        return self._process.returncode


@asynccontextmanager
async def http_hub(*options: str) -> AsyncIterator[HubProgram]:
    """Run a hub over HTTP; it ends without an error with the block, unless it has ended before."""
    process = await asyncio.create_subprocess_exec(
        *COMMAND,
        *("--http", "--port", "0", *options),
        cwd=ROOT,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout
    with anyio.fail_after(PATIENCE):
        line = await process.stdout.readline()
    hub = HubProgram(process, line.decode().strip())
    try:
        yield hub
    finally:
        is_ended = process.returncode is not None
        status = await hub.ends(signal.SIGTERM)
    assert "Traceback" not in hub.errors, hub.errors
    assert is_ended or status == 0


@asynccontextmanager
async def user_browser(folder: Path) -> AsyncIterator[tuple[BrowserContext, str]]:
    """Run a Chromium of a user; yield its tabs, and the address of its DevTools."""
    launched = launch_options(ensure_chromium())
    launched["args"] = [*launched["args"], "--remote-debugging-port=0", "--enable-features=WebMCP"]
    async with async_playwright() as playwright:
        context = await playwright.chromium.launch_persistent_context(str(folder), headless=True, **launched)
        yield context, await devtools_address(folder)
        await context.close()


class UserBrowser:
    """A Chromium of a user, on a fixed port and profile, which can be killed and started again.

    Args:
        profile: The folder of its profile.

    Attributes:
        address: Where its DevTools are, once it has been started.
    """

    def __init__(self, profile: Path) -> None:
        self.profile = profile
        self.address = ""
        self._port = 0
        self._process: asyncio.subprocess.Process | None = None

    async def start(self, *pages: str) -> None:
        """Start it; the first time, wait until its port is known."""
        options = launch_options(ensure_chromium())
        command = [
            str(options["executable_path"]),
            *options["args"],
            *([] if options["chromium_sandbox"] else ["--no-sandbox"]),
            *("--headless=new", f"--remote-debugging-port={self._port}", f"--user-data-dir={self.profile}"),
            *(pages or ("about:blank",)),
        ]
        streams: Any = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self._process = await asyncio.create_subprocess_exec(*command, start_new_session=True, **streams)
        if not self._port:
            self.address = await devtools_address(self.profile)
            self._port = int(self.address.rpartition(":")[2])

    async def kill(self) -> None:
        """Kill all its processes."""
        process, self._process = self._process, None
        if process is not None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            with anyio.fail_after(PATIENCE):
                await process.wait()


@asynccontextmanager
async def user_chromium(profile: Path) -> AsyncIterator[UserBrowser]:
    """Yield a browser that has not started; it is killed at the end."""
    browser = UserBrowser(profile)
    try:
        yield browser
    finally:
        await browser.kill()


class TypeScriptClients:
    """The program `tests/support/hub_clients.mjs`."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.tools: dict[str, set[str]] = {}
        self.changes: dict[str, int] = {}
        self._ids = itertools.count(1)
        self._calls: dict[int, asyncio.Future[Any]] = {}
        self._heard = asyncio.Event()
        self._reading = asyncio.create_task(self._read())

    async def _read(self) -> None:
        assert self.process.stdout
        while line := await self.process.stdout.readline():
            message = json.loads(line)
            if "client" in message:
                self.tools[message["client"]] = set(message["tools"])
                self.changes[message["client"]] = self.changes.get(message["client"], -1) + 1
                self._heard.set()
            else:
                self._calls.pop(message["id"]).set_result(message)

    def _write(self, message: dict[str, Any]) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps(message).encode() + b"\n")

    async def have(self, *wanted: str) -> None:
        """Wait until each client was notified of these tools, and no others."""
        try:
            with anyio.fail_after(PATIENCE):
                while not self.tools or any(each != set(wanted) for each in self.tools.values()):
                    self._heard.clear()
                    await self._heard.wait()
        except TimeoutError:
            raise AssertionError(f"{self.tools} are offered, not {wanted}") from None

    def calling(self, client: str, tool: str, **arguments: Any) -> tuple[int, asyncio.Future[Any]]:
        """Call a tool; return the call's id, and the future of `{id, result}` or `{id, error}`."""
        id_ = next(self._ids)
        answered = self._calls[id_] = asyncio.get_running_loop().create_future()
        self._write({"id": id_, "client": client, "tool": tool, "arguments": arguments})
        return id_, answered

    async def call(self, client: str, tool: str, **arguments: Any) -> Any:
        """Call a tool, and wait for the answer."""
        with anyio.fail_after(PATIENCE):
            return await self.calling(client, tool, **arguments)[1]

    def cancel(self, id_: int) -> None:
        """Cancel a call."""
        self._write({"cancel": id_})

    async def end(self) -> None:
        """Kill the program."""
        with suppress(ProcessLookupError):
            self.process.kill()
        with anyio.fail_after(PATIENCE):
            await self.process.wait()
            await self._reading


@asynccontextmanager
async def typescript_clients(address: str, *kinds: str) -> AsyncIterator[TypeScriptClients]:
    """Connect clients of the official TypeScript SDKs; see `tests/support/hub_clients.mjs`."""
    install_locked(checkout_dir())
    process = await asyncio.create_subprocess_exec(
        str(find_node().executable),
        str(ROOT / "tests" / "support" / "hub_clients.mjs"),
        *(address, *kinds),
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        limit=1 << 26,
    )
    clients = TypeScriptClients(process)
    try:
        with anyio.fail_after(PATIENCE):
            while set(clients.tools) != set(kinds):
                clients._heard.clear()
                await clients._heard.wait()
        yield clients
    finally:
        await clients.end()
