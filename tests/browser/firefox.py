"""Firefox, driven over WebDriver BiDi: Playwright drives a Firefox of its own only, and the system's needs no driver.

Source: the WebDriver BiDi specification, https://www.w3.org/TR/webdriver-bidi/.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import Any

from websocket import WebSocket, create_connection

from mcpframe.kit.base.errors import ToolFailed
from mcpframe.kit.base.processes import run_tool

PATIENCE = 120.0
"""How long one command may take, in seconds: among them the start of Python on a busy machine."""

_APT = (["apt-get", "update", "-q"], ["apt-get", "install", "-y", "-q", "--no-install-recommends", "firefox-esr"])


def ensure_firefox() -> str | None:
    """Find a Firefox; root on Debian installs one. None where there is none."""
    found = _find()
    if found is None and hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get"):
        try:
            for command in _APT:
                run_tool(
                    command, "apt-get", timeout=900, environment=os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
                )
        except ToolFailed:
            return None
        found = _find()
    return found


def _find() -> str | None:
    return shutil.which("firefox-esr") or shutil.which("firefox")


class Firefox:
    """A running Firefox with one tab."""

    def __init__(self, connection: WebSocket, group: int) -> None:
        """Talk to a Firefox, the leader of a process group, through an open connection."""
        self._connection = connection
        self.group = group
        self._last = 0
        self.events: list[dict[str, Any]] = []
        self.version: str = self._ask("session.new", capabilities={})["capabilities"]["browserVersion"]
        self._ask("session.subscribe", events=["log.entryAdded"])
        self._tab = self._ask("browsingContext.getTree")["contexts"][0]["context"]

    def open(self, url: str) -> None:
        """Open a page in the tab and wait until it is loaded."""
        self._ask("browsingContext.navigate", context=self._tab, url=url, wait="complete")

    def back(self) -> None:
        """Go back to the page before."""
        left = self._address(self._tab)
        self._evaluate(self._tab, "void setTimeout(() => history.back())")
        self._wait_while(self._tab, left)

    def preload(self, script: str) -> None:
        """Run a script at the beginning of every document from now on."""
        self._ask("script.addPreloadScript", functionDeclaration=f"() => {{ {script} }}")

    def run(self, script: str, *frames: str) -> Any:
        """Run the body of an async function in the page, or in a frame of it, and give what it returns.

        Args:
            script: the body.
            frames: the selectors of the frames that lead there, from the outermost on.
        """
        context = self._tab
        for selector in frames:
            context = self._frame(context, selector)
        return self._run(context, script)

    def run_privileged(self, script: str) -> Any:
        """Run the body of an async function in the browser's own window; it needs `--remote-allow-system-access`."""
        tree = self._ask("browsingContext.getTree", maxDepth=0, **{"moz:scope": "chrome"})
        return self._run(tree["contexts"][0]["context"], script)

    def _run(self, context: str, script: str) -> Any:
        answer = self._evaluate(context, f"(async () => JSON.stringify(await (async () => {{ {script} }})()))()")
        return json.loads(answer.get("value", "null"))

    def _frame(self, context: str, selector: str) -> str:
        """Return a frame once it has left its empty document, with which a script would be lost."""
        until = time.monotonic() + PATIENCE
        while True:
            found = self._evaluate(context, f"document.querySelector({json.dumps(selector)}).contentWindow")
            frame = str(found["value"]["context"])
            with suppress(AssertionError):  # its page has just moved to another process
                if self._address(frame) != "about:blank":
                    return frame
            assert time.monotonic() < until, "The frame stays empty."
            time.sleep(0.02)

    def _wait_while(self, context: str, address: str) -> None:
        """Wait until a tab has left the page at an address."""
        until = time.monotonic() + PATIENCE
        while self._address(context) == address:
            assert time.monotonic() < until, f"The page at {address} stays."
            time.sleep(0.02)

    def _address(self, context: str) -> str:
        return str(self._ask("browsingContext.getTree", root=context, maxDepth=0)["contexts"][0]["url"])

    def _evaluate(self, context: str, expression: str) -> dict[str, Any]:
        answer = self._ask("script.evaluate", target={"context": context}, awaitPromise=True, expression=expression)
        assert answer["type"] == "success", answer
        return dict(answer["result"])

    def close(self) -> None:
        """Quit."""
        self._ask("browser.close")

    def _ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._last += 1
        self._connection.send(json.dumps({"id": self._last, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self._connection.recv())
            if answer.get("id") == self._last:
                assert answer["type"] == "success", answer
                return dict(answer["result"])
            self.events.append(answer)


@contextmanager
def running(
    program: str, profile: Path, *arguments: str, settings: Mapping[str, object] | None = None
) -> Iterator[Firefox]:
    """Run Firefox without a window, with a fresh profile, for as long as the block lasts.

    Args:
        program: Its program.
        profile: The folder of its profile.
        arguments: Further arguments.
        settings: Preferences, as in `about:config`.
    """
    profile.mkdir(exist_ok=True)
    lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in (settings or {}).items()]
    (profile / "user.js").write_text("".join(lines))
    command = [program, "--headless", "--no-remote", "--profile", str(profile), "--remote-debugging-port", "0"]
    command += arguments
    environment = os.environ | {"HOME": str(profile)}
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True
    ) as process:
        assert process.stderr
        try:
            said = (re.search(r"BiDi listening on (\S+)", line) for line in process.stderr)
            address = next(match[1] for match in said if match)
            Thread(target=process.stderr.read, daemon=True).start()  # a full pipe would stop the browser
            with closing(create_connection(f"{address}/session", suppress_origin=True, timeout=PATIENCE)) as connection:
                firefox = Firefox(connection, process.pid)
                yield firefox
                firefox.close()
                process.wait(PATIENCE)
        finally:
            process.kill()
