"""A Chromium of the bridge or the hub: started, and ended with this process, even after a crash.

Chromium is controlled over pipes (`protocol.py`) and exits when they close, also when this process is killed. If it
hangs instead, a watchdog that waits for the same pipe to close kills its process group a second later.

Where programs inherit no pipes (Windows), it is controlled over a WebSocket, on a random port of the loopback address.
Any program of this machine can connect to that port, and Chromium is ended by command only.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from mcpframe.kit.base.errors import BrowserGone
from mcpframe.kit.base.processes import end_watchdog, start_watchdog
from mcpframe.kit.browser.chromium import devtools_address, launch_options
from mcpframe.kit.browser.devtools.protocol import DevTools, connect_pipes

_START_SECONDS = 30.0
_GOODBYE_SECONDS = 5.0

_COMMANDS, _ANSWERS = 3, 4
"""The descriptors on which Chromium reads its commands and writes its answers."""

_HAS_PIPES = os.name == "posix"

_ARGUMENTS = (
    "--no-default-browser-check",
    "--hide-crash-restore-bubble",
    # Without these, Linux and macOS ask the user to unlock a keyring for a new profile.
    "--password-store=basic",
    "--use-mock-keychain",
    # By default, frames of one site share a process, even in different tabs: a server that computes for ever would
    # block the sessions of all clients.
    "--enable-features=DisableProcessReuse",
    # A connection's tab is never in front, and must not be slowed down for it.
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
)


class StartedChromium:
    """A Chromium with a profile.

    Attributes:
        devtools: the connection to its DevTools.
        pid: its process id.
    """

    def __init__(self, process: _Process, devtools: DevTools) -> None:
        self._process = process
        self._first_tab = True
        self.devtools = devtools
        self.pid = process.pid

    @property
    def gone(self) -> bool:
        """Whether the browser has ended."""
        return self.devtools.closed.done()

    async def new_tab(self) -> str:
        """Open an empty tab, and return its target id.

        The first tab of the browser is not used: it may still be navigating to its own address. It is closed once
        another one is open.

        Raises:
            BrowserGone: the browser has ended.
        """
        targets = (await self.devtools.command("Target.getTargets"))["targetInfos"] if self._first_tab else []
        created = await self.devtools.command("Target.createTarget", url="about:blank")
        self._first_tab = False
        for target in targets:
            if target["type"] == "page":
                self.devtools.post("Target.closeTarget", targetId=target["targetId"])
        return str(created["targetId"])

    async def close(self) -> None:
        """Close the browser and wait until it has exited. It writes its profile first."""
        with contextlib.suppress(BrowserGone, TimeoutError):
            async with asyncio.timeout(_GOODBYE_SECONDS):
                await self.devtools.command("Browser.close")
        await self.devtools.close()
        await self._process.ended()


async def launch(
    executable: Path,
    profile: Path,
    *,
    addresses: Mapping[str, int],
    visible: bool = False,
    app: str = "",
    page: str = "about:blank",
    muted: bool = True,
    off: Sequence[str] = (),
    arguments: Sequence[str] = (),
    pipes: bool | None = None,
) -> StartedChromium:
    """Start Chromium.

    Args:
        profile: the folder of its profile; no other Chromium may be using it.
        addresses: host names that are served on this machine, each with the port that its port 80 is mapped to. The
            origin of a page, and so its stored data, does not depend on its port.
        visible: open a window.
        app: the address for a visible window without a browser's toolbars.
        page: the address to open without `app`.
        muted: play no sound.
        off: features to disable; by default the browser is like that of its users.
        arguments: further arguments of the program.
        pipes: control it over pipes, else over a port of the loopback address; by default, what this system has.

    Raises:
        BrowserGone: it does not start.
    """
    options = launch_options(executable, off=off)
    rules = ", ".join(f"MAP {name}:80 127.0.0.1:{port}" for name, port in addresses.items())
    command = [
        str(executable),
        *options["args"],
        *_ARGUMENTS,
        f"--user-data-dir={profile}",
        f"--host-resolver-rules={rules}",
        *([] if visible else ["--headless=new"]),
        *([] if options["chromium_sandbox"] else ["--no-sandbox"]),
        *(["--mute-audio"] if muted else []),
        *arguments,
        f"--app={app}" if app else page,
    ]
    process, devtools = await (
        _start_with_pipes(command) if (_HAS_PIPES if pipes is None else pipes) else _start_with_port(command, profile)
    )
    browser = StartedChromium(process, devtools)
    try:
        async with asyncio.timeout(_START_SECONDS):
            await browser.devtools.command("Browser.getVersion")
    except BaseException as error:
        await browser.close()
        if not isinstance(error, BrowserGone | TimeoutError):
            raise
        raise BrowserGone(
            f"Chromium ({executable}) does not start: run it once by hand to see why, or set MCPFRAME_CHROMIUM to "
            "another one."
        ) from error
    return browser


class _Process:
    """Chromium's process.

    Args:
        wait: waits for its end, in a thread.
    """

    def __init__(self, pid: int, wait: Callable[[], object]) -> None:
        self.pid = pid
        self._wait = wait
        self._watchdog = start_watchdog(pid) if _HAS_PIPES else None

    def kill(self) -> None:
        if _HAS_PIPES:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
        else:
            with contextlib.suppress(OSError):
                os.kill(self.pid, signal.SIGTERM)  # on Windows this ends it at once

    async def ended(self) -> None:
        """Wait until the process has ended; kill it after a deadline."""
        waiting = asyncio.create_task(asyncio.to_thread(self._wait))
        done, _ = await asyncio.wait([waiting], timeout=_GOODBYE_SECONDS)
        if not done:
            self.kill()
            await waiting
        if self._watchdog is not None:
            end_watchdog(self._watchdog)


async def _start_with_pipes(command: list[str]) -> tuple[_Process, DevTools]:
    pid, reading, writing = _spawn([command[0], "--remote-debugging-pipe", *command[1:]])
    process = _Process(pid, partial(os.waitpid, pid, 0))
    try:
        return process, await connect_pipes(reading, writing)
    except BaseException:
        process.kill()  # no other code has its id
        await process.ended()
        raise


async def _start_with_port(command: list[str], profile: Path) -> tuple[_Process, DevTools]:
    (profile / "DevToolsActivePort").unlink(missing_ok=True)  # of an earlier Chromium
    try:
        started = subprocess.Popen(  # noqa: ASYNC220  its start is short
            [command[0], "--remote-debugging-port=0", *command[1:]],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        raise _not_started(error) from error
    process = _Process(started.pid, started.wait)
    try:
        from mcpframe.kit.browser.devtools.websocket import connect  # a slow import, for Windows only

        return process, DevTools(await connect(await devtools_address(profile)))
    except BaseException:
        process.kill()
        await process.ended()
        raise


def _not_started(error: OSError) -> BrowserGone:
    return BrowserGone(f"Chromium cannot be started: {error}.")


def _spawn(command: list[str]) -> tuple[int, int, int]:
    """Start a program with its debugging pipes; return its process id, and our ends to read from and to write to."""
    import fcntl  # not on Windows, where this module is only imported

    in_its, in_ours = os.pipe()
    out_ours, out_its = os.pipe()
    # Above the child's own descriptor numbers, so that none overwrites another.
    theirs = [fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, 10) for number in (in_its, out_its)]
    nowhere = os.open(os.devnull, os.O_RDWR)
    becomes = [(nowhere, 0), (nowhere, 1), (nowhere, 2), (theirs[0], _COMMANDS), (theirs[1], _ANSWERS)]
    actions = [(os.POSIX_SPAWN_DUP2, ours, its) for ours, its in becomes]
    try:
        # A session of its own: a Ctrl-C in the terminal is this process's to handle.
        pid = os.posix_spawn(command[0], command, os.environ, file_actions=actions, setsid=True)
    except OSError as error:
        os.close(in_ours)
        os.close(out_ours)
        raise _not_started(error) from error
    finally:
        for number in (in_its, out_its, nowhere, *theirs):
            os.close(number)
    return pid, out_ours, in_ours
