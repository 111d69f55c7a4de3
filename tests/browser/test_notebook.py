"""The widget of a notebook in Jupyter and in marimo, with their own servers, front ends and kernels."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest
from playwright.async_api import BrowserContext, Locator, Page, expect

from mcpframe.kit.base.data import checkout_dir
from mcpframe.kit.web.serve import bind
from tests.browser.clients import BOOT_PATIENCE

EXAMPLE = checkout_dir() / "docs" / "examples" / "notebook" / "prices.py"
SERVER = (
    EXAMPLE.read_text("utf-8").partition("\n\n\nhosts.")[0]
    + """

from mcp.server.mcpserver import Context
from pydantic import BaseModel

seen = []


class Name(BaseModel):
    name: str


@server.tool()
def add(a: int, b: int) -> int:
    seen.append(a + b)
    return a + b


@server.tool()
async def greet(ctx: Context) -> str:
    answer = await ctx.elicit("Who are you?", Name)
    return f"Hello, {answer.data.name}!"


hosts.playground(server)
"""
)
MARIMO = """import marimo

app = marimo.App()


@app.cell
def _():
{cell}
    return


if __name__ == "__main__":
    app.run()
"""
PACKAGES = {"marimo": ["marimo", "anywidget"], "jupyter": ["jupyterlab", "ipykernel", "anywidget"]}
"""What is tried, with the newest versions."""


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Installs one of them into a folder, which comes after this environment's own packages."""

    def install(name: str) -> Path:
        folder = tmp_path_factory.mktemp(name)
        command = [sys.executable, "-m", "uv", "pip", "install", "-q", "--python", sys.executable, "--target", folder]
        subprocess.run([*command, *PACKAGES[name]], check=True)
        return folder

    return install


def free_port() -> int:
    with bind("127.0.0.1", 0) as socket:
        return int(socket.getsockname()[1])


@contextmanager
def served(packages: Path, folder: Path, *command: str) -> Iterator[None]:
    """Run a notebook's server for the duration of the block."""
    paths = os.pathsep.join([str(checkout_dir()), str(packages)])
    jupyter = packages / "share" / "jupyter"
    of_jupyter = {"JUPYTER_PATH": str(jupyter), "JUPYTERLAB_DIR": str(jupyter / "lab")}
    env = {**os.environ, "PYTHONPATH": paths, "HOME": str(folder), **of_jupyter}
    log = (folder / "log").open("wb")
    process = subprocess.Popen([sys.executable, "-m", *command], cwd=folder, env=env, stdout=log, stderr=log)
    try:
        yield
    finally:
        process.terminate()
        process.wait()
        log.close()


async def opened(page: Page, url: str) -> None:
    """Open a page whose server may still be starting."""
    with anyio.fail_after(BOOT_PATIENCE):
        while True:
            try:
                await page.goto(url)
            except Exception as error:
                if "ERR_CONNECTION_REFUSED" not in str(error):
                    raise
                await page.wait_for_timeout(200)
            else:
                return


async def use(page: Page) -> None:
    """Use the widget as a person does."""
    status = page.get_by_role("status").filter(has_text="Ready: 3 tools.")
    await expect(status).to_be_visible(timeout=BOOT_PATIENCE * 1000)

    def tool(name: str) -> Locator:
        return page.locator(f'details:has(> summary:text-is("{name}"))')

    await tool("add").locator("summary").first.click()
    await tool("add").get_by_label("A", exact=True).fill("20")
    await tool("add").get_by_label("B", exact=True).fill("22")
    await tool("add").get_by_role("button", name="Call").click()
    await expect(tool("add").locator("[part~=result]")).to_contain_text("42")
    await tool("greet").locator("summary").first.click()
    await tool("greet").get_by_role("button", name="Call").click()
    question = page.locator("[part=question]")
    await expect(question.locator("[part=asker]")).to_have_text("prices asks")
    await question.get_by_label("Name").fill("Ada")
    await question.get_by_role("button", name="Send").click()
    await expect(tool("greet").locator("[part~=result]")).to_contain_text("Hello, Ada!")


@pytest.mark.extended
async def test_marimo(context: BrowserContext, packages: Callable[[str], Path], tmp_path: Path) -> None:
    cell = "".join(f"    {line}".rstrip() + "\n" for line in SERVER.splitlines())
    (tmp_path / "notebook.py").write_text(MARIMO.format(cell=cell))
    port = free_port()
    options = ("--headless", "--no-token", "--port", str(port))
    with served(packages("marimo"), tmp_path, "marimo", "run", "notebook.py", *options):
        page = await context.new_page()
        await opened(page, f"http://localhost:{port}")
        await use(page)


@pytest.mark.extended
async def test_jupyter(context: BrowserContext, packages: Callable[[str], Path], tmp_path: Path) -> None:
    cells = [
        {"cell_type": "code", "id": name, "source": source, "metadata": {}, "outputs": [], "execution_count": None}
        for name, source in (("server", SERVER), ("seen", "seen"))
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "notebook.ipynb").write_text(json.dumps(notebook))
    port = free_port()
    options = ("--no-browser", "--IdentityProvider.token=", f"--ServerApp.port={port}", "--allow-root")
    with served(packages("jupyter"), tmp_path, "jupyterlab", *options):
        page = await context.new_page()
        await opened(page, f"http://localhost:{port}/lab/tree/notebook.ipynb")
        await page.locator(".jp-CodeCell").first.click(timeout=BOOT_PATIENCE * 1000)
        await page.keyboard.press("Shift+Enter")
        await use(page)
        await page.locator(".jp-CodeCell").nth(1).locator(".cm-content").click()
        await page.keyboard.press("Shift+Enter")
        await expect(page.locator(".jp-OutputArea-output").last).to_contain_text("[42]")
