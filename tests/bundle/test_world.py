"""The world of other people's servers in a page: built from wheels, called in Chromium."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from mcpframe.kit.bundle.pipeline import build
from mcpframe.kit.project.packaged import PackageOptions, package_project
from tests.bundle.conftest import write_project
from tests.bundle.served_pages import Serving, call
from tests.support.suites import extended
from tests.support.wheels import use_index, write_wheel

pytestmark = pytest.mark.usefixtures("one_browser")

NAME = "mcpframe-tests-around"
SERVER = '''
import concurrent.futures
import json
import logging
import os
import threading
import time
from importlib import metadata, resources
from pathlib import Path

from mcp.server.fastmcp import FastMCP

logging.basicConfig(level=logging.INFO)
mcp = FastMCP("around")
ticks = []
logs = Path.home() / ".logs" / "deep"
logs.mkdir(parents=True, exist_ok=True)


def tick():
    while True:
        ticks.append(time.monotonic())
        time.sleep(0.01)


@mcp.tool()
def threads() -> str:
    """Whether threads run while a tool sleeps."""
    before = len(ticks)
    time.sleep(0.1)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        doubled = list(pool.map(lambda n: n * 2, range(3)))
    return json.dumps([len(ticks) > before, doubled])


@mcp.tool()
def package() -> str:
    """What the package knows of itself."""
    own = resources.files("around_server")
    return json.dumps([
        metadata.version("mcpframe-tests-around"),
        metadata.metadata("mcpframe-tests-around")["Name"],
        [point.value for point in metadata.entry_points(group="around.plugins")],
        metadata.version("mcp").split(".")[0],
        [(own / name).read_text() for name in ("README.md", "data.txt", "config.yaml", "templates/page.html")],
        (Path(__file__).parent / "data.json").read_text(),
    ])


@mcp.tool()
def files() -> str:
    """Where files are written."""
    import tempfile

    home = Path.home()
    (home / "note.txt").write_text("kept")
    (logs / "log.txt").write_text("in a folder that was made at import")
    Path("here.txt").write_text("here")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "a").write_text("b")
    return json.dumps([(home / "note.txt").read_text(), os.path.expanduser("~") == str(home), os.getcwd()])


@mcp.tool()
def count() -> str:
    """How often this was called in the session, and what was there when main ran."""
    file = Path.home() / ".around" / "deep" / "count.txt"
    file.parent.mkdir(parents=True, exist_ok=True)
    number = int(file.read_text()) + 1 if file.exists() else 1
    file.write_text(str(number))
    (Path.home() / "forgotten.txt").write_text("gone with the page")
    return json.dumps([number, *at_start])


@mcp.tool()
def place() -> str:
    """Where and when the visitor is."""
    from datetime import datetime, timezone

    july = datetime(2026, 7, 1, 12, tzinfo=timezone.utc).astimezone()
    return json.dumps([os.environ["TZ"], os.environ["LANG"], july.hour, time.localtime(july.timestamp()).tm_hour])


at_start = []


def main():
    at_start[:] = [(Path.home() / ".around" / "deep" / "count.txt").exists(), Path("forgotten.txt").exists()]
    threading.Thread(target=tick, daemon=True).start()
    mcp.run()
'''


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project of a package with a console script, data and metadata."""
    folder = tmp_path / "index"
    files = {
        "around_server/__init__.py": "",
        "around_server/server.py": SERVER,
        "around_server/README.md": "readme",
        "around_server/data.txt": "text",
        "around_server/data.json": "{}",
        "around_server/config.yaml": "a: 1",
        "around_server/templates/page.html": "<p>",
    }
    script = {"around": "around_server.server:main"}
    write_wheel(folder, NAME, files, requires=["mcp<2"], scripts=script, version="1.2.3")
    use_index(folder, monkeypatch)
    return package_project(
        NAME, tmp_path / "project", options=PackageOptions(allowed_origins=["*"], persist=["~/.around"])
    )


def called(page: Page, host: str, frame: str, tool: str, session: str | None = None) -> object:
    [content] = json.loads(call(page, host, frame, tool, session=session))["content"]
    return json.loads(content["text"])


def test_a_program_finds_threads_files_and_its_package(
    project: Path, tmp_path: Path, page: Page, host: str, serving: Serving
) -> None:
    result = build(project, tmp_path / "out", snapshot=True)
    assert result.manifest["start"] == "starts from a snapshot with the server imported"
    # Of the host's site: in private profiles, such as Playwright's, frames of other sites have no storage.
    frame = f"{serving(tmp_path / 'out', 'host')}/{NAME}/"
    assert called(page, host, frame, "threads") == [True, [0, 2, 4]]
    assert called(page, host, frame, "files") == ["kept", True, "/home/pyodide"]
    assert called(page, host, frame, "package") == [
        *("1.2.3", NAME, [], "1", ["readme", "text", "a: 1", "<p>"], "{}"),
    ]
    assert called(page, host, frame, "count") == [1, False, False]
    assert called(page, host, frame, "count") == [2, True, False]  # in a page that was loaded anew
    assert called(page, host, frame, "count", "another-session") == [1, False, False]
    assert called(page, host, frame, "count") == [3, True, False]


@pytest.mark.parametrize("snapshot", [True, extended(False)])
def test_time_zone_and_language_are_the_visitors(
    project: Path, tmp_path: Path, browser: Browser, host: str, serving: Serving, snapshot: bool
) -> None:
    build(project, tmp_path / "out", snapshot=snapshot)
    frame = f"{serving(tmp_path / 'out')}/{NAME}/"
    context = browser.new_context(timezone_id="America/New_York", locale="de-AT")
    try:
        assert called(context.new_page(), host, frame, "place") == ["America/New_York", "de_AT.UTF-8", 8, 8]
    finally:
        context.close()


OBJECT = """
import asyncio
import json
import threading

from mcp.server import MCPServer

server = MCPServer("s")
local = threading.local()
background = asyncio.new_event_loop()
met = threading.Barrier(2)


async def answer() -> str:
    await asyncio.sleep(0.001)
    return threading.current_thread().name


@server.tool()
def own() -> str:
    \"\"\"Meet the other call, each with its own locals and loop, and one loop in a thread for both.\"\"\"
    if not background.is_running():
        threading.Thread(target=background.run_forever, name="loop", daemon=True).start()
    local.name = threading.get_ident()
    met.wait(10)
    loop = asyncio.new_event_loop()
    names = [loop.run_until_complete(answer()), asyncio.run_coroutine_threadsafe(answer(), background).result(10)]
    loop.close()
    return json.dumps([local.name == threading.get_ident() != threading.main_thread().ident, names])


@server.tool()
async def twice() -> str:
    \"\"\"Call it twice at once, as clients do.\"\"\"
    import anyio.to_thread

    both = await asyncio.gather(*(anyio.to_thread.run_sync(own) for _ in "ab"))
    return json.dumps([json.loads(each) for each in both])
"""


def test_an_object_of_mcp_2_has_threads_and_loops(tmp_path: Path, page: Page, host: str, serving: Serving) -> None:
    project = write_project(tmp_path / "project", server=OBJECT)
    build(project, tmp_path / "out", allowed_origins=["*"])
    result = called(page, host, f"{serving(tmp_path / 'out')}/adder/", "twice")
    assert result == [[True, ["AnyIO worker thread", "MainThread"]]] * 2
