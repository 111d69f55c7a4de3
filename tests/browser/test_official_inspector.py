"""The official Inspector, as it is published, shows the view of a template: its own server, page and sandbox."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest
from playwright.async_api import BrowserContext, Error, Page, expect

from mcpframe.kit.base.data import checkout_dir, templates_dir
from mcpframe.kit.base.node import find_node, install_locked
from mcpframe.kit.web.serve import bind
from tests.browser.clients import BOOT_PATIENCE
from tests.browser.conftest import Bundle, BundleOf
from tests.support.built import OWN

pytestmark = [
    pytest.mark.extended,
    pytest.mark.skipif("sys.platform == 'win32'", reason="Windows has no groups of processes to end"),
]

LAUNCHER = "@modelcontextprotocol/inspector/clients/launcher/build/index.js"
"""Its version is that of tests/conformance/package-lock.json."""


@pytest.fixture(scope="module")
def forecast(bundle_of: BundleOf) -> Bundle:
    """The template as it is."""
    return bundle_of("forecast", allowed_origins=OWN)


@pytest.fixture
def address(forecast: Bundle, tmp_path: Path) -> Iterator[str]:
    """The address of an Inspector that knows the template's server over stdio."""
    ports = [bind("127.0.0.1", 0) for _ in range(3)]
    numbers = [str(each.getsockname()[1]) for each in ports]
    for each in ports:
        each.close()
    settings = {
        **dict(zip(("CLIENT_PORT", "MCP_SANDBOX_PORT", "MCP_APP_ORIGIN_PORT"), numbers, strict=True)),
        "MCP_AUTO_OPEN_ENABLED": "false",
        "DANGEROUSLY_OMIT_AUTH": "true",
        "HOME": str(tmp_path),
        "MCP_STORAGE_DIR": str(tmp_path),
    }
    given = {"FORECAST_URL": forecast.url, "PYTHONPATH": str(checkout_dir())}
    launcher = install_locked(checkout_dir() / "tests" / "conformance") / LAUNCHER
    command = [str(find_node().executable), str(launcher), "--web"]
    for name, value in given.items():
        command += ["-e", f"{name}={value}"]
    command += ["--", sys.executable, str(templates_dir() / "forecast" / "server.py")]
    with (tmp_path / "output.txt").open("w") as output:
        process = subprocess.Popen(
            command,
            env=os.environ | settings,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        try:
            yield f"http://localhost:{numbers[0]}/"
        finally:
            os.killpg(process.pid, signal.SIGKILL)  # it waits for its connections, and so for its own server
            process.wait(30)


async def opened(page: Page, address: str) -> None:
    with anyio.fail_after(BOOT_PATIENCE):
        while True:
            try:
                await page.goto(address)
            except Error:  # it does not listen yet
                await anyio.sleep(0.2)
            else:
                return


async def test_it_draws_the_view_of_a_server_over_stdio(
    context: BrowserContext, address: str, forecast: Bundle
) -> None:
    page = await context.new_page()
    await opened(page, address)
    await page.get_by_role("switch").first.click(force=True)
    await page.get_by_text("Apps", exact=True).first.click()
    await page.get_by_text("Forecast", exact=True).first.click()
    await page.get_by_label("Place").first.fill("Wien")
    await page.get_by_role("button", name="Open App").click()
    view = page.frame_locator("iframe").frame_locator("iframe").frame_locator("#mcpframe-view")
    await expect(view.locator("[data-day]")).to_have_count(7, timeout=BOOT_PATIENCE * 1000)
    assert await view.locator("html").evaluate("() => [self.origin, location.href]") == ["null", forecast.url]
