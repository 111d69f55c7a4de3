"""A bundle that the playground makes: downloaded, unpacked, checked, served, and called by a host."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, expect

from mcpframe.kit.base.data import checkout_dir, templates_dir
from mcpframe.kit.base.node import install_locked
from mcpframe.kit.bundle.pipeline import build
from mcpframe.kit.web.host_page import bundle_client, copy_host_modules
from mcpframe.kit.web.serve import serve_folder
from tests.browser.conftest import Troubles
from tests.browser.test_playground import EMBEDDING, add, write

SERVER = '''
import threading
import urllib.request

import words
from mcpframe import FrameServer

server = FrameServer("shouting", instructions="Shout.")

@server.tool()
def shout(text: str) -> str:
    """Shout it."""
    return words.loud(text)

@server.ui
async def ui(session):
    await session.page.show("page.html")
'''
WORDS = "def loud(text):\n    return text.upper() + '!'\n"
PAGE = "<h1>Shouting</h1>"
CONFIG = """\
[project]
name = "shouting"
version = "0.1.0"
requires-python = ">=3.11"
dependencies = ["mcpframe"]

[tool.mcpframe]
title = "Shouting"
assets = ["page.html"]
allowed_origins = ["ORIGIN"]
"""
FILES = {"words.py": WORDS, "page.html": PAGE, "pyproject.toml": CONFIG}
MAKING = 120_000  # milliseconds
DIFFERS = ("csp", "files", "inputs", "patches", "sizes", "snapshot", "start", "whole")
"""What a build's manifest has otherwise: its files are in two parts, and it takes a snapshot of its own."""


@pytest.fixture(scope="module")
def embedding(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The origin of a page that embeds bundles."""
    folder = tmp_path_factory.mktemp("host")
    copy_host_modules(folder)
    shutil.copy(bundle_client(install_locked(checkout_dir())), folder / "mcp-client.js")
    (folder / "index.html").write_text(EMBEDDING, "utf-8")
    with serve_folder(folder) as served:
        yield f"http://localhost:{served.port}"


async def ask(page: Page) -> None:
    await page.locator("#project-menu summary").click()
    await page.get_by_role("button", name="Download the bundle").click()


async def show(page: Page, path: str, text: str) -> None:
    await page.get_by_role("tab", name=path).click()
    await write(page, text)


def directives(policy: str) -> dict[str, set[str]]:
    return {name: set(sources) for name, *sources in map(str.split, policy.split(";"))}


def check(folder: Path) -> Any:
    command = [sys.executable, "-m", "mcpframe", "check", str(folder), "--json"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return json.loads(ended.stdout)


async def test_a_bundle_of_the_playground_is_checked_served_and_called(
    page: Page, troubles: Troubles, playground: str, embedding: str, tmp_path: Path
) -> None:
    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(request.url))
    await page.goto(playground)
    await expect(page.locator(".cm-content")).to_contain_text("def add(")
    await write(page, SERVER)
    files = {**FILES, "pyproject.toml": CONFIG.replace("ORIGIN", embedding)}
    for path, text in files.items():
        if await page.get_by_role("tab", name=path).count():
            await show(page, path, text)
        else:
            await add(page, path, text)
    assert not [url for url in fetched if "maker" in url or "making" in url]

    async with page.expect_download(timeout=MAKING) as download:
        await ask(page)
        await expect(page.locator("#notice")).to_contain_text("shouting-bundle.zip has", timeout=MAKING)
    note = await page.locator("#notice").text_content() or ""
    assert "snapshot" in note
    assert "mcpframe build takes" in note
    await expect(page.locator("iframe:not([hidden])")).to_have_count(0)
    made = tmp_path / "made"
    with zipfile.ZipFile(await (await download.value).path()) as archive:
        assert archive.testzip() is None
        archive.extractall(made)
    assert {path.name for path in made.iterdir()} >= {"_mcpframe", "shouting", "_headers", ".htaccess"}
    for gzip in made.rglob("*.gz"):
        assert gzip.with_suffix("").is_file()

    # The same as a build makes it.
    project = tmp_path / "shouting"
    project.mkdir()
    for path, text in {"server.py": SERVER, **files}.items():
        (project / path).write_text(text, "utf-8")
    (project / "mcpframe.lock").write_bytes((templates_dir() / "minimal" / "mcpframe.lock").read_bytes())
    built = json.loads(json.dumps(build(project, tmp_path / "built", snapshot=False).manifest))
    manifest = json.loads((made / "shouting" / "manifest.json").read_text("utf-8"))
    assert {key: manifest.get(key) for key in built if key not in DIFFERS} == {
        key: built[key] for key in built if key not in DIFFERS
    }
    policy, usual = directives(manifest["csp"]), directives(built["csp"])
    assert policy.pop("script-src") >= usual.pop("script-src")  # and the script that fetches the snapshot
    assert policy | {"worker-src": {"'none'"}} == usual
    assert {path.name for path in (tmp_path / "built").iterdir()} == {path.name for path in made.iterdir()}
    [report] = check(made)
    assert (report["errors"], report["session"]) == (0, True)
    assert not [each["subject"] for each in report["findings"] if each["subject"].startswith(("_mcpframe", "shouting"))]

    with serve_folder(made) as served:
        await page.goto(embedding)
        called = "([url, timeout]) => embed(url, timeout)"
        assert await page.evaluate(called, [f"http://127.0.0.1:{served.port}/shouting/", MAKING]) == "HELLO!"


@pytest.mark.extended  # six makers start: a minute
async def test_what_cannot_be_a_bundle_says_why(page: Page, troubles: Troubles, playground: str) -> None:
    notice, config = page.locator("#notice"), CONFIG.replace('assets = ["page.html"]\n', "").replace("ORIGIN", "*")
    begin = "from mcpframe import FrameServer\n\n"
    await page.goto(f"{playground}#template=minimal")
    for text, path, reasons in (
        (config.replace('"*"', ""), "pyproject.toml", ["no page may embed the server", "https://chat.example"]),
        (f"{config}kind = 'page'\n", "pyproject.toml", ["is a page", "mcpframe build"]),
        (config.replace('"mcpframe"]', '"numpy"]'), "pyproject.toml", ["numpy", "mcpframe build"]),
        (f"{config}import_timeout = 3\n", "pyproject.toml", []),
        (f"{begin}def broken(:\n", "server.py", ["server.py", "line 3"]),
        (f"{begin}server = FrameServer('x')\n1 / 0\n", "server.py", ["ZeroDivisionError"]),
        (f"{begin}server = FrameServer('x')\nwhile True: pass\n", "server.py", ["3 seconds"]),
    ):
        await show(page, path, text)
        if reasons:
            await ask(page)
        for reason in reasons:
            await expect(notice).to_contain_text(reason, timeout=MAKING)
        assert "/mcpframe/server" not in (await notice.text_content() or "")
        await expect(page.locator("iframe:not([hidden])")).to_have_count(0)
