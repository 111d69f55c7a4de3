"""`mcpframe dev` in Chromium: a change reaches a reconnected session, an error its page, and both go on."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import IO

import anyio
import pytest
from playwright.async_api import Browser, BrowserContext, Page, expect

from mcpframe.kit.dev.server import serve_dev
from mcpframe.kit.project.scaffold import scaffold
from tests.browser.clients import BOOT_PATIENCE
from tests.browser.conftest import Origins, Troubles, chromium
from tests.browser.inspecting import BOOT, ServerPart


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return scaffold("adder", parent=tmp_path)


@pytest.fixture(scope="module")
async def browser() -> AsyncIterator[Browser]:
    """A Chromium without site isolation, for this file alone.

    The driver of Playwright 1.65 crashes on an assertion in `FrameManager.frameAttached`, and all its browsers with it,
    if a frame of another process becomes one of the page's own at the wrong moment. Each rebuild does that: the frame
    goes to about:blank and back. Without site isolation there are no such frames.
    """
    async with chromium("--disable-site-isolation-trials") as browser:
        yield browser


async def reaches(page: Page, state: str, tools: str) -> None:
    """Wait until the page is in a state and shows these tools."""
    script = """([state, tools]) => document.documentElement.dataset.state === state
        && document.querySelector("#tools").textContent === tools"""
    await page.wait_for_function(script, arg=[state, tools], timeout=BOOT_PATIENCE * 1000)


async def test_a_page_of_another_site_reads_nothing_of_it(
    project: Path, context: BrowserContext, troubles: Troubles, origins: Origins
) -> None:
    troubles.expect("blocked by CORS policy")
    troubles.expect("net::ERR_FAILED")
    with serve_dev(project) as server:
        assert server.server_url
        page = await context.new_page()
        await page.goto(f"{origins.stranger}/page.html")
        config = f"{server.url}config.json"
        for address in (server.server_url, f"{server.server_url}manifest.json", server.url, config):
            fetched = await page.evaluate("url => fetch(url).then(got => got.text(), error => error.name)", address)
            assert fetched == "TypeError", address
        await page.goto(server.url)
        assert "dev-state?token=" in await page.evaluate("url => fetch(url).then(got => got.text())", config)
        await page.close()


class Terminal:
    """The command in a process of its own, and what it prints."""

    def __init__(self, project: Path) -> None:
        """Start it."""
        command = [sys.executable, "-m", "mcpframe", "dev", str(project), "--no-open"]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        self.told = ""
        self._heard = threading.Condition()
        self._readers = [threading.Thread(target=self._read, args=(stream,)) for stream in self._streams]
        for reader in self._readers:
            reader.start()

    @property
    def _streams(self) -> tuple[IO[str], IO[str]]:
        assert self._process.stdout
        assert self._process.stderr
        return self._process.stdout, self._process.stderr

    def _read(self, stream: IO[str]) -> None:
        for line in stream:
            with self._heard:
                self.told += line
                self._heard.notify_all()

    async def says(self, pattern: str) -> str:
        """Wait until it has printed something that matches, and give the first group."""

        def wait() -> str:
            with self._heard:
                assert self._heard.wait_for(lambda: re.search(pattern, self.told), BOOT_PATIENCE), self.told
                found = re.search(pattern, self.told)
            assert found
            return found[1]

        return await anyio.to_thread.run_sync(wait)

    def end(self) -> int:
        """Press Ctrl-C, and give its status."""
        self._process.send_signal(signal.SIGINT)
        status = self._process.wait(BOOT_PATIENCE)
        for reader in self._readers:
            reader.join()
        for stream in self._streams:
            stream.close()
        return status


@pytest.fixture
def terminal(project: Path) -> Iterator[Terminal]:
    terminal = Terminal(project)
    try:
        yield terminal
    finally:
        assert terminal.end() == 130
        assert "Traceback" not in terminal.told.partition("error:")[0]


async def test_the_inspector_follows_and_an_error_at_import_is_told_everywhere(
    terminal: Terminal, project: Path, context: BrowserContext, troubles: Troubles
) -> None:
    troubles.expect("Fetch API cannot load")  # of a page that is replaced while it fetches
    inspector = await context.new_page()
    await inspector.goto(await terminal.says(r"Serving (http\S+)"))
    server = ServerPart(inspector.get_by_role("region", name="Adder", exact=True))
    tools = server.view.get_by_role("navigation", name="Tools").get_by_role("button")
    await expect(tools).to_have_text(["add"], timeout=BOOT)
    session = await server.session_id()
    await server.tab("Tools")
    page = await context.new_page()
    await page.goto(await terminal.says(r"host page +(http\S+)"))
    await reaches(page, "ready", "add")

    file = project / "server.py"
    source = file.read_text()
    file.write_text(source.replace("def add(", "def plus("))
    await expect(tools).to_have_text(["plus"], timeout=BOOT)
    await reaches(page, "ready", "plus")

    troubles.expect("ModuleNotFoundError")
    file.write_text(f"import not_there\n{source}")
    line = re.compile(r"server\.py\", line 1\b[^$]*No module named 'not_there'")
    alert = server.view.locator(".insp-notice pre")
    await expect(alert).to_have_text(line, timeout=BOOT)
    await expect(page.locator("#error")).to_have_text(line, timeout=BOOT)
    await reaches(page, "broken", "plus")
    assert str(file) in await terminal.says(r"(File .*server\.py\", line 1\b)")

    file.write_text(source)
    await expect(tools).to_have_text(["add"], timeout=BOOT)
    await expect(alert).to_be_hidden()
    await reaches(page, "ready", "add")
    assert await server.session_id() == session
