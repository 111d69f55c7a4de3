"""A Chromium of the bridge or the hub: started, and ended with this process, even after a crash.

Chromium is controlled over pipes (`protocol.py`) and exits when they close, also when this process is killed. If it
hangs instead, a watchdog that waits for the same pipe to close kills its process group a second later.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path

from mcpframe.kit.base.errors import BrowserGone
from mcpframe.kit.base.processes import end_watchdog, start_watchdog
from mcpframe.kit.browser.chromium import launch_options
from mcpframe.kit.browser.devtools.protocol import DevTools, connect_pipes

_START_SECONDS = 30.0
_GOODBYE_SECONDS = 5.0

_COMMANDS, _ANSWERS = 3, 4
"""The descriptors on which Chromium reads its commands and writes its answers."""

_ARGUMENTS = (
    "--remote-debugging-pipe",
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

    def __init__(self, pid: int, watchdog: subprocess.Popen[bytes], devtools: DevTools) -> None:
        self._watchdog = watchdog
        self._first_tab = True
        self.devtools = devtools
        self.pid = pid

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
        await _ended(self.pid)
        end_watchdog(self._watchdog)


async def launch(
    executable: Path,
    profile: Path,
    *,
    addresses: Mapping[str, int],
    visible: bool = False,
    app: str = "",
    page: str = "about:blank",
    muted: bool = True,
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

    Raises:
        BrowserGone: it does not start.
    """
    options = launch_options(executable, off=())  # like the browser of its users
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
        f"--app={app}" if app else page,
    ]
    pid, reading, writing = _start(command)
    watchdog = start_watchdog(pid)
    try:
        browser = StartedChromium(pid, watchdog, await connect_pipes(reading, writing))
    except BaseException:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)  # no other code has its id
        end_watchdog(watchdog)
        raise
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


def _start(command: list[str]) -> tuple[int, int, int]:
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
        raise BrowserGone(f"Chromium cannot be started: {error}.") from error
    finally:
        for number in (in_its, out_its, nowhere, *theirs):
            os.close(number)
    return pid, out_ours, in_ours


async def _ended(pid: int) -> None:
    """Wait until the process has ended; kill it after a deadline."""
    waiting = asyncio.create_task(asyncio.to_thread(os.waitpid, pid, 0))
    done, _ = await asyncio.wait([waiting], timeout=_GOODBYE_SECONDS)
    if not done:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
        await waiting
