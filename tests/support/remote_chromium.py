"""Chromiums that run elsewhere, as far as a bridge is concerned: processes of their own, with a port for DevTools."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from mcpframe.kit.browser.chromium import devtools_address, ensure_chromium, launch_options


class RemoteChromium:
    """A browser that others have started. It can be killed, and started again at the same port.

    Args:
        profile: the folder of its profile.
        arguments: further ones of its command line.
    """

    def __init__(self, profile: Path, arguments: Sequence[str] = ()) -> None:
        self._profile = profile
        self._arguments = arguments
        self._port = 0
        self._process: subprocess.Popen[bytes] | None = None

    async def start(self) -> str:
        """Start it, and return the address of its DevTools."""
        executable = ensure_chromium()
        options = launch_options(executable, off=())
        command = [str(executable), *options["args"], *self._arguments, "--headless=new"]
        command += [f"--user-data-dir={self._profile}", f"--remote-debugging-port={self._port}"]
        command += [*([] if options["chromium_sandbox"] else ["--no-sandbox"]), "about:blank"]
        self._process = subprocess.Popen(command, stderr=subprocess.DEVNULL)  # noqa: ASYNC220
        if not self._port:  # it writes only a port that it has chosen
            self._port = int((await devtools_address(self._profile)).rpartition(":")[2])
        return f"http://127.0.0.1:{self._port}"

    def kill(self) -> None:
        """Kill it, with all its pages, if it runs."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
