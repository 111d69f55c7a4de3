"""`mcpframe dev` in Chromium: a change reaches a reconnected session, a syntax error its page, and both go on."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.async_api import BrowserContext, Page

from mcpframe.frame.errors import McpFrameError
from mcpframe.kit.dev import DevServer, serve_dev
from mcpframe.kit.scaffold import scaffold
from tests.browser.clients import BOOT_PATIENCE
from tests.browser.conftest import Troubles


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return scaffold("adder", parent=tmp_path)


@pytest.fixture
def server(project: Path) -> Iterator[DevServer]:
    """The development server, following changes."""
    told: list[McpFrameError | None] = []
    with serve_dev(project) as server:
        thread = threading.Thread(target=server.watch, args=(lambda error, seconds: told.append(error),))
        thread.start()
        yield server
        server.stop()
        thread.join(20)


async def reaches(page: Page, state: str, tools: str) -> None:
    """Wait until the page is in a state and shows these tools."""
    script = """([state, tools]) => document.documentElement.dataset.state === state
        && document.querySelector("#tools").textContent === tools"""
    await page.wait_for_function(script, arg=[state, tools], timeout=BOOT_PATIENCE * 1000)


async def test_changes_are_followed_at_the_same_session(
    server: DevServer, project: Path, context: BrowserContext, troubles: Troubles
) -> None:
    page = await context.new_page()
    await page.goto(server.url)
    await reaches(page, "ready", "add")
    session = await page.inner_text("#session")

    source = (project / "server.py").read_text()
    (project / "server.py").write_text(source.replace("def add(", "def plus("))
    await reaches(page, "ready", "plus")
    assert await page.inner_text("#session") == session

    (project / "server.py").write_text(source.replace("def add(", "def add(("))
    await reaches(page, "broken", "plus")
    line = next(number for number, text in enumerate(source.splitlines(), 1) if "def add(" in text)
    assert re.search(rf"server\.py.*line {line}", await page.inner_text("#error"))

    (project / "server.py").write_text(source)
    await reaches(page, "ready", "add")
    assert await page.locator("#error").is_hidden()
    assert await page.inner_text("#session") == session
