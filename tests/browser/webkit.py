"""WebKitGTK, driven over WebDriver: its MiniBrowser, on a screen of its own. Safari's engine, as far as Linux has it.

Source: the WebDriver specification, https://www.w3.org/TR/webdriver2/.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mcpframe.kit.base.errors import ToolFailed
from mcpframe.kit.base.processes import run_tool
from tests.browser.firefox import PATIENCE

_PACKAGES = ["webkit2gtk-driver", "xvfb", "dbus"]
_APT = (["apt-get", "update", "-q"], ["apt-get", "install", "-y", "-q", "--no-install-recommends", *_PACKAGES])
_PROGRAMS = ("WebKitWebDriver", "Xvfb", "dbus-run-session")


def ensure_webkit() -> str | None:
    """Find WebKitGTK's MiniBrowser; root on Debian installs it. None where there is none."""
    found = _find()
    if found is None and hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get"):
        environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        try:
            for command in _APT:
                run_tool(command, "apt-get", timeout=900, environment=environment)
        except ToolFailed:
            return None
        found = _find()
    return found


def _find() -> str | None:
    browsers = sorted(Path("/usr").glob("lib*/*/webkit2gtk-*/MiniBrowser"))
    return str(browsers[0]) if browsers and all(map(shutil.which, _PROGRAMS)) else None


class WebKit:
    """A running MiniBrowser with one tab."""

    def __init__(self, driver: str, program: str, group: int) -> None:
        """Begin a session with a driver that runs at an address, and leads a process group."""
        self._driver = driver
        self.group = group
        options = {"webkitgtk:browserOptions": {"binary": program, "args": ["--automation"]}}
        begun = self._ask("POST", "/session", {"capabilities": {"alwaysMatch": options}})
        self._session = f"/session/{begun['sessionId']}"
        self.version: str = begun["capabilities"]["browserVersion"]
        self._ask("POST", f"{self._session}/timeouts", {"script": int(PATIENCE * 1000)})

    def open(self, url: str) -> None:
        """Open a page in the tab and wait until it is loaded."""
        self._ask("POST", f"{self._session}/url", {"url": url})

    def back(self) -> None:
        """Go back to the page before."""
        left = self._ask("GET", f"{self._session}/url")
        # The driver's own command waits for a load event, which a page in the cache does not have.
        script = {"script": "setTimeout(() => history.back())", "args": []}
        self._ask("POST", f"{self._session}/execute/sync", script)
        until = time.monotonic() + PATIENCE
        while self._ask("GET", f"{self._session}/url") == left:
            assert time.monotonic() < until, f"The page at {left} stays."
            time.sleep(0.02)

    def run(self, script: str, *frames: str) -> Any:
        """Run the body of an async function in the page, or in a frame of it, and return what it returns.

        Args:
            script: the body.
            frames: the selectors of the frames that lead there, from the outermost on.
        """
        until = time.monotonic() + PATIENCE
        while not self._enter(frames):  # a script in the empty document would be lost with it
            assert time.monotonic() < until, "The frame stays empty."
            time.sleep(0.02)
        text = f"""
            const done = arguments[arguments.length - 1];
            (async () => {{ {script} }})().then(
                (result) => done(JSON.stringify({{ result: result ?? null }})),
                (error) => done(JSON.stringify({{ error: String(error) }})));
        """
        answer = json.loads(self._ask("POST", f"{self._session}/execute/async", {"script": text, "args": []}))
        assert "error" not in answer, answer
        return answer["result"]

    def _enter(self, frames: Sequence[str]) -> bool:
        """Go to the page, or to a frame of it; return whether that has left its empty document."""
        self._ask("POST", f"{self._session}/frame", {"id": None})
        if not frames:
            return True
        for selector in frames:
            query = {"using": "css selector", "value": selector}
            frame = self._ask("POST", f"{self._session}/element", query)
            self._ask("POST", f"{self._session}/frame", {"id": frame})
        try:
            address = self._ask("POST", f"{self._session}/execute/sync", {"script": "return location.href", "args": []})
        except urllib.error.HTTPError:  # it has left right now
            return False
        return address not in ("", "about:blank")

    def close(self) -> None:
        """Quit."""
        self._ask("DELETE", self._session)

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self._driver}{path}", data, method=method)
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return json.load(answer)["value"]


@contextmanager
def running_webkit(program: str, home: Path) -> Iterator[WebKit]:
    """Run WebKitGTK with a fresh home folder for as long as the block lasts."""
    home.mkdir(exist_ok=True)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    with _started(["Xvfb", "-displayfd", "1", "-nolisten", "tcp"], dict(os.environ)) as screen:
        assert screen.stdout
        display = f":{screen.stdout.readline().strip()}"
        environment = os.environ | {"HOME": str(home), "DISPLAY": display, "NO_AT_BRIDGE": "1"}
        command = ["dbus-run-session", "--", "WebKitWebDriver", f"--port={port}"]
        with _started(command, environment) as process:
            _wait_for(port)
            webkit = WebKit(f"http://127.0.0.1:{port}", program, process.pid)
            try:
                yield webkit
            finally:
                webkit.close()


@contextmanager
def _started(command: Sequence[str], environment: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    """Run a program, and whatever it starts, for as long as the block lasts."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    if command[0] != "Xvfb":
        pipes["stdout"] = subprocess.DEVNULL
    process = subprocess.Popen(command, text=True, env=environment, start_new_session=True, **pipes)  # type: ignore[call-overload]
    try:
        yield process
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if process.stdout:
            process.stdout.close()


def _wait_for(port: int) -> None:
    until = time.monotonic() + PATIENCE
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=PATIENCE).close()
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)  # the driver does not say when it listens
        else:
            return
