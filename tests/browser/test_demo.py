"""`build.py demo`: the README's first command, in a process of its own."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from playwright.async_api import BrowserContext, expect

from mcpframe.kit.base.data import checkout_dir
from mcpframe.kit.base.errors import DemoError
from mcpframe.kit.base.node import install_locked
from mcpframe.kit.browser.chromium import ensure_chromium
from mcpframe.kit.dev.demo import ask
from mcpframe.kit.web.host_page import bundle_client, write_host_page
from mcpframe.kit.web.serve import serve_folder
from tests.browser.clients import BOOT_PATIENCE
from tests.browser.conftest import Origins, TemplateSite
from tests.support.suites import extended

ROOT = checkout_dir()
COMMAND = [sys.executable, "build.py", "demo"]


def test_once() -> None:
    done = subprocess.run([*COMMAND, "--once"], cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert "tools: calculate_pi, reset" in done.stdout
    assert re.search(r"calculate_pi\(iterations=100000\) answers: .*3\.1", done.stdout)
    page, server = re.findall(r"http://(127\.0\.0\.1|localhost):(\d+)", done.stdout)
    assert page[0] != server[0]  # another site
    assert page[1] != server[1]


@pytest.mark.extended
@pytest.mark.skipif(os.name == "nt", reason="Windows has no way to send Ctrl-C to one process")
def test_it_serves_until_it_is_interrupted(tmp_path: Path) -> None:
    told = tmp_path / "told.txt"
    with (
        told.open("wb") as errors,
        subprocess.Popen(COMMAND, cwd=ROOT, stdout=subprocess.PIPE, stderr=errors, text=True) as running,
    ):
        assert running.stdout is not None
        try:
            lines = []
            for line in running.stdout:
                lines.append(line)
                if "Ctrl-C" in line:
                    break
            addresses = re.findall(r"http://\S+", "".join(lines))
            assert len(addresses) == 3, told.read_text()
            for address in addresses:
                with urllib.request.urlopen(address, timeout=60) as answer:
                    assert answer.status == 200
                    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
            running.send_signal(signal.SIGINT)
            assert running.wait(90) == 0, told.read_text()
        finally:
            running.kill()


@pytest.mark.parametrize("option", ["--port", extended("--page-port")])
def test_a_port_in_use_is_one_line(option: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        command = [*COMMAND, "--once", option, str(port)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=180, check=False)
    assert done.returncode == 1
    assert re.fullmatch(rf"build\.py: Port {port} .*choose another port.*", done.stderr.strip().splitlines()[-1])
    assert "Traceback" not in done.stderr


@pytest.mark.extended
async def test_the_frame_has_room_for_its_page(
    context: BrowserContext, origins: Origins, site: Path, templates: TemplateSite
) -> None:
    write_host_page(site / "demo", templates.url("pi-calculator"), bundle_client(install_locked(ROOT)))
    page = await context.new_page()
    await page.goto(f"{origins.host}/demo/")
    hint = page.frame_locator("#frame").locator(".hint")
    await expect(hint).to_be_visible(timeout=BOOT_PATIENCE * 1000)
    for width in (1280, 900, 800, 360):  # beside the tools and below them; each with its own line breaks
        await page.set_viewport_size({"width": width, "height": 800})
        bottom, height = await hint.evaluate("element => [element.getBoundingClientRect().bottom, innerHeight]")
        assert bottom < height, width


@pytest.mark.extended
def test_a_host_page_that_cannot_connect_says_why(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text('<html data-state="failed"><p id="status">Could not connect: no reason.</p>')
    with serve_folder(tmp_path) as served, pytest.raises(DemoError, match="no reason"):
        ask(f"{served.origin}/", ensure_chromium(), {})


@pytest.mark.extended
def test_a_host_page_that_is_not_there_is_one_error() -> None:
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))  # nobody listens, and nobody else gets the port meanwhile
        address = f"http://127.0.0.1:{deaf.getsockname()[1]}/"
        with pytest.raises(DemoError, match="did not answer"):
            ask(address, ensure_chromium(), {})


@pytest.mark.extended
def test_a_host_page_that_blocks_itself_is_waited_for_no_longer_than_allowed(tmp_path: Path) -> None:
    """Playwright reads the tools off a page without a deadline of its own."""
    (tmp_path / "index.html").write_text(
        """<html data-state="connecting"><script>
        setTimeout(() => { document.documentElement.dataset.state = "ready"; setTimeout(() => { for (;;); }); });
        </script>"""
    )
    with serve_folder(tmp_path) as served, pytest.raises(DemoError, match="did not answer within 5 seconds"):
        ask(f"{served.origin}/", ensure_chromium(), {}, patience=5)
