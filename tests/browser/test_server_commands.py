"""`mcpframe list`, `call` and `check` on a deployed server, and on pages that are none."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pexpect
import pytest
from playwright.async_api import BrowserContext
from starlette.types import ASGIApp, Receive, Scope, Send

from mcpframe.kit.base.data import script_with, templates_dir
from mcpframe.kit.browser.setup_answers import page_started
from mcpframe.kit.bundle.pipeline import build
from mcpframe.kit.cli.main import main
from mcpframe.kit.client import enter_setup
from mcpframe.kit.web.serve import serve_app, serve_folder
from mcpframe.kit.web.site import Site
from tests.bridge.programs import processes_with
from tests.browser.clients import BOOT_PATIENCE
from tests.browser.conftest import BundleOf
from tests.bundle.conftest import write_project
from tests.support.built import SNAPSHOTS
from tests.support.suites import extended

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("bundles")
    build(templates_dir() / "minimal", out, allowed_origins=["https://chat.example"], snapshot=SNAPSHOTS)
    return out


@pytest.fixture(scope="module")
def authored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server with a setup that shows a form."""
    out = tmp_path_factory.mktemp("authored")
    build(
        Path(__file__).parent / "servers" / "authored",
        out,
        allowed_origins=["https://chat.example"],
        snapshot=SNAPSHOTS,
    )
    with serve_folder(out) as served:
        yield f"{served.origin}/authored/"


@pytest.fixture
def url(folder: Path) -> Iterator[str]:
    with serve_folder(folder) as served:
        yield f"{served.origin}/minimal/"


@pytest.fixture(autouse=True)
def no_snapshot(monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands build servers whose pages are opened once."""
    monkeypatch.setenv("MCPFRAME_SNAPSHOT", "0")


CHATTY = """
import base64
from typing import Any

import mcp_types as types
from mcp.server.mcpserver import Context
from mcpframe import FrameServer

server = FrameServer("chatty", allowed_origins=["https://chat.example"])


@server.tool(description="Talk \\x1b[2J[bold]to the person.")
async def chat(ctx: Context[Any]) -> list[types.ContentBlock]:
    print("hello \\x1b[31mhost")
    await ctx.report_progress(1, 2, "half")
    await ctx.report_progress(2, 2)
    image = base64.b64encode(b"PNG").decode()
    return [types.TextContent(text="Said"), types.ImageContent(data=image, mime_type="image/png")]
"""


@pytest.fixture(scope="module")
def chatty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A server that prints, reports progress and answers with a picture."""
    folder = tmp_path_factory.mktemp("chatty")
    return write_project(folder, server=CHATTY, name="chatty")


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    def command(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["mcpframe", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        told = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, told.out, told.err

    return command


def test_list(run: Run, url: str) -> None:
    code, out, _ = run("list", url, "--json")
    found = json.loads(out)
    assert (code, found["server"]["name"], [tool["name"] for tool in found["tools"]]) == (0, "minimal", ["add"])


def test_call(run: Run, url: str) -> None:
    assert run("call", url, "add", "a=2", "b=3", "--era", "legacy") == (0, "5\n", "")
    code, out, err = run("call", url, "ad", "a=2")
    assert (code, out) == (1, "")
    assert "The server has no tool 'ad'; it has: add." in err


@pytest.mark.parametrize("era", ["auto", extended("legacy")])
def test_what_a_server_prints_its_progress_and_its_pictures(run: Run, chatty: Path, tmp_path: Path, era: str) -> None:
    code, out, err = run("call", str(chatty), "chat", "--era", era, "--save", str(tmp_path))
    picture = tmp_path / "chat-1.png"
    assert code == 0
    assert out == f"Said\n[image, image/png, 3 bytes: saved as {picture}]\n"
    assert picture.read_bytes() == b"PNG"
    assert {r"hello \x1b[31mhost", "chat: 50% half", "chat: 100%"} <= set(err.splitlines())


@pytest.mark.extended
def test_what_a_server_prints_is_left_out_on_request(run: Run, chatty: Path) -> None:
    code, _, err = run("call", str(chatty), "chat", "--log", "none")
    assert code == 0
    assert "hello" not in err


@pytest.mark.extended
def test_a_server_in_a_folder_that_colours_its_tools(run: Run, chatty: Path, folder: Path, tmp_path: Path) -> None:
    code, out, _ = run("list", str(chatty))
    assert (code, "\x1b" in out) == (0, False)
    assert r"Talk \x1b[2J[bold]to" in out
    two = shutil.copytree(folder, tmp_path / "two")
    shutil.copytree(two / "minimal", two / "other")
    assert run("call", str(folder / "minimal"), "add", "a=2", "b=3")[:2] == (0, "5\n")
    code, _, err = run("list", str(two))
    assert (code, "give the folder of one of minimal, other" in err) == (1, True)


def test_check(run: Run, folder: Path, tmp_path: Path) -> None:
    code, out, _ = run("check", str(folder), "--json")
    [report] = json.loads(out)
    assert (code, report["errors"], report["findings"]) == (0, 0, [])
    damaged = shutil.copytree(folder, tmp_path / "damaged")
    loader = next(damaged.glob("_mcpframe/loader.*.js"))
    loader.write_bytes(loader.read_bytes() + b"\n")
    loader.with_name(f"{loader.name}.gz").unlink()
    code, out, _ = run("check", str(damaged), "--timeout", "2")
    assert code == 1
    assert "It is not the file that was built" in out
    assert "error: handshake" in out
    assert "mend it: Upload the whole folder again" in out


def test_a_page_that_never_speaks(run: Run, tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<!doctype html>")
    with serve_folder(tmp_path) as served:
        code, out, err = run("call", f"{served.origin}/", "add", "--timeout", "1")
    assert (code, out) == (1, "")
    assert "does not speak MCP to a page of https://host.example" in err


def test_a_browser_that_does_not_start(run: Run, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCPFRAME_CHROMIUM", sys.executable)
    code, out, err = run("list", url)
    assert (code, out) == (1, "")
    assert sys.executable in err
    assert "set MCPFRAME_CHROMIUM" in err
    assert len(err.splitlines()) == 1


def test_a_server_that_cannot_go_on_without_its_setup(run: Run, authored: str) -> None:
    code, out, err = run("call", authored, "need_setup", "reason=AUTH_EXPIRED", "can_continue=false")
    assert (code, out) == (1, "")
    [line] = err.splitlines()
    assert line.startswith("error: ")
    assert "(Please sign in): run it first with --setup" in line
    assert "--enter FIELD=VALUE" in line


def test_a_setup_is_run_first(run: Run, authored: str, tmp_path: Path) -> None:
    file = tmp_path / "note.txt"
    file.write_text("a note")
    entered = ["--enter", "Name=Ada = Lovelace", "--enter", f"File=@{file}", "--enter", "Save"]
    code, out, err = run("call", authored, "stored", "key=name", "--json", *entered)
    assert (code, err) == (0, "")
    assert json.loads(out)["structuredContent"]["value"] == {"name": "Ada = Lovelace", "phase": "setup"}


@pytest.mark.parametrize(
    ("entered", "said", "patience"),
    [
        (["--setup"], r"waits for a person and has 'Name', 'File', 'Save', 'Cancel', .*: enter what it", 3.0),
        extended(["--enter", "Nmae=Ada"], r"field 'Nmae' cannot be used .*and has 'Name', .*: write --enter", 3.0),
        (["--enter", "Deny"], r"The setup ended with AUTH_FAILED \(Wrong password\): enter something else", None),
    ],
)
def test_a_setup_that_does_not_succeed(
    run: Run, authored: str, monkeypatch: pytest.MonkeyPatch, entered: list[str], said: str, patience: float | None
) -> None:
    if patience:  # which is waited for in vain
        monkeypatch.setattr(enter_setup, "PATIENCE", patience)
    code, out, err = run("list", authored, *entered)
    assert (code, out) == (1, "")
    assert re.search(said, err)
    assert len(err.splitlines()) == 1


async def test_a_button_is_not_pressed_before_its_page_can_listen(context: BrowserContext) -> None:
    page = await context.new_page()
    form = await page.evaluate_handle(script_with("browser/setup-form.js"))
    pressed = await page.evaluate(
        """async (form) => {
            let pressed = 0;
            document.body.innerHTML = "<button>Save</button>";
            const button = document.querySelector("button");
            setTimeout(() => button.addEventListener("click", () => (pressed += 1)), 10);
            await form.find({ name: "Save", button: true, seconds: 30 });
            form.enter(null);
            return pressed;
        }""",
        form,
    )
    assert pressed == 1


@pytest.mark.extended
async def test_a_page_that_is_not_parsed_yet_has_not_started(context: BrowserContext) -> None:
    page = await context.new_page()
    await page.evaluate("""() => {
        globalThis.looks = 0;
        const find = document.getElementById.bind(document);
        document.getElementById = (id) => { looks += 1; return find(id); };
        document.open();
        document.write("<!doctype html><title>A page</title>");
    }""")
    starting = asyncio.ensure_future(page_started(page.main_frame, BOOT_PATIENCE))
    await page.wait_for_function("() => looks > 2")
    assert not starting.done()
    await page.evaluate("""() => {
        document.write("<div id='mcpframe-page' data-state='booting'></div>");
        document.close();
        looks = 0;
    }""")
    await page.wait_for_function("() => looks > 2")
    assert not starting.done()
    await page.evaluate("() => { document.querySelector('#mcpframe-page').dataset.state = 'ready'; }")
    await starting


HANGS = """
import asyncio

import js
from mcpframe import FrameServer

server = FrameServer("hangs", allowed_origins=["https://chat.example"])


@server.tool()
async def hang() -> None:
    await js.fetch("rung")
    await asyncio.Event().wait()
"""


class _Bell:
    """A site that notices when one address is asked for."""

    def __init__(self, site: ASGIApp) -> None:
        self._site = site
        self.rung = threading.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"].endswith("/rung"):
            self.rung.set()
        await self._site(scope, receive, send)


@pytest.mark.extended
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are found in /proc")
def test_a_browser_that_is_killed_in_mid_call(tmp_path: Path) -> None:
    write_project(tmp_path, "import_server = false", HANGS, name="hangs")
    build(tmp_path, tmp_path / "out", allowed_origins=["https://chat.example"])
    bell = _Bell(Site(tmp_path / "out"))
    # Not below tmp_path: Chromium has a socket in its profile, which is in the cache, and its path may not be long.
    with TemporaryDirectory(prefix="killed-") as profiles, serve_app(bell) as served:
        process = subprocess.Popen(
            [sys.executable, "-m", "mcpframe", "call", f"{served.origin}/hangs/", "hang"],
            env={**os.environ, "MCPFRAME_CACHE": profiles},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert bell.rung.wait(BOOT_PATIENCE)
        for browser in processes_with(profiles):
            with suppress(ProcessLookupError):  # one ends with another
                os.kill(browser, signal.SIGKILL)
        out, err = process.communicate(timeout=BOOT_PATIENCE)
    assert (process.returncode, out) == (1, "")
    assert err == "error: The browser has ended while the server was used: run this again.\n"


@pytest.mark.parametrize("era", [extended("legacy"), "2026-07-28"])
def test_a_tool_asks_on_the_terminal(bundle_of: BundleOf, era: str) -> None:
    bundle = str(bundle_of("everything").folder / "everything")
    arguments = ["-m", "mcpframe", "call", bundle, "book", "train=the night train", "--era", era]
    with pexpect.spawn(sys.executable, arguments, encoding="utf-8", timeout=BOOT_PATIENCE) as terminal:
        terminal.expect("asks:.*How many seats on the night train")
        terminal.expect("How many seats:")
        terminal.sendline("2")
        terminal.expect("yes or no.*:")
        terminal.sendline("yes")
        terminal.expect("2 seats on the night train, window True")
        terminal.expect(pexpect.EOF)


@pytest.mark.extended
def test_ctrl_c_ends_a_question(bundle_of: BundleOf) -> None:
    bundle = str(bundle_of("everything").folder / "everything")
    arguments = ["-m", "mcpframe", "call", bundle, "book", "train=the night train"]
    with pexpect.spawn(sys.executable, arguments, encoding="utf-8", timeout=BOOT_PATIENCE) as terminal:
        terminal.expect("How many seats:")
        terminal.sendintr()
        terminal.expect(pexpect.EOF)
        terminal.wait()
    assert terminal.exitstatus == 130


def test_a_tool_s_question_is_answered_by_options(bundle_of: BundleOf, run: Run) -> None:
    bundle = str(bundle_of("everything").folder / "everything")
    command = ["call", bundle, "book", "train=the night train", "--answer", "window=yes"]
    assert run(*command, "--answer", "seats=2")[:2] == (0, "2 seats on the night train, window True\n")
    code, out, err = run(*command)
    assert (code, out) == (1, "")
    assert "--answer seats=" in err
