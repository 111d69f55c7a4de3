"""Console scripts that do not serve in a page: each build ends with what their code does, where, and what to do."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from mcpframe.kit.base.errors import BuildError, ConfigError
from mcpframe.kit.bundle.pipeline import build
from mcpframe.kit.project.packaged import PackageOptions, package_project
from tests.support.suites import extended
from tests.support.wheels import use_index, write_wheel

pytestmark = pytest.mark.usefixtures("one_browser")

TOP = """
from mcp.server.fastmcp import FastMCP

mcp = FastMCP("weather")


@mcp.tool()
def forecast(city: str) -> str:
    return "sun"
"""
SERVERS = {
    "http": "def main(): mcp.run(transport='streamable-http')",
    "chooses": "import os\ndef main(): mcp.run(transport=os.getenv('TRANSPORT', 'sse'))  # or stdio",
    "asks": "def main(): input('Your key: ')",
    "password": "import getpass\ndef main(): getpass.getpass()",
    "variable": "import os\ndef main(): os.environ['WEATHER_KEY']",
    "exits": "import os, sys\ndef main(): os.getenv('WEATHER_KEY') or sys.exit('Set WEATHER_KEY first')",
    "exits_late": "import asyncio, sys\nasync def go(): sys.exit('not today')\ndef main(): asyncio.run(go())",
    "ends": "import os\ndef main(): os._exit(4)",
    "imports": "import sys\nsys.exit('No config found')",
    "listens": "import socket\nserver = socket.socket()\nserver.listen()",
    "runs": "import subprocess\nsubprocess.run(['git', '--version'])",
    "library": "import ctypes\nctypes.CDLL('libfoo.so.1')",
    "threads": "import threading\ndef main(): threading.Thread(target=mcp.run).start()",
    "returns": "def main(): print('usage: weather serve')",
    "waits": "import asyncio\nasync def go(): await asyncio.Event().wait()\ndef main(): asyncio.run(go())",
    "sleeps": "import time\ndef main():\n    while True: time.sleep(0.5)",
    "group": (
        "import anyio\nasync def fail(): raise RuntimeError('the database is missing')\n"
        "async def go():\n    async with anyio.create_task_group() as tasks:\n        tasks.start_soon(fail)\n"
        "def main(): anyio.run(go)"
    ),
    "lists": "async def fail(): raise LookupError('no tools today')\nmcp.list_tools = fail\n"
    "mcp._setup_handlers()\ndef main(): mcp.run()",
    "closes": "import sys\ndef main():\n    try: mcp.run()\n    finally: sys.stdout.close()",
    "prints": "def main():\n    print('Starting ...')\n    mcp.run()",
    "prepares": (
        "import asyncio, os, stat, sys\nasync def prepare(): return 'cities'\n"
        "def main():\n    sys.stdin.reconfigure(encoding='utf-8')\n"
        "    if sys.stdin.isatty() or not stat.S_ISFIFO(os.fstat(sys.stdin.fileno()).st_mode): sys.exit('No client')\n"
        "    mcp._mcp_server.name = asyncio.run(prepare())\n"
        "    loop = asyncio.new_event_loop()\n    asyncio.set_event_loop(loop)\n"
        "    loop.create_task(mcp.run_stdio_async())\n    loop.run_forever()"
    ),
}
FIRST = TOP.count("\n") + 1
"""The line after `TOP`."""


@pytest.fixture(scope="module")
def lock(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The place of the lock that all servers share."""
    return tmp_path_factory.mktemp("lock") / "mcpframe.lock"


@pytest.fixture(scope="module", autouse=True)
def index(tmp_path_factory: pytest.TempPathFactory) -> object:
    """A package index with one package that has all servers, and others."""
    folder = tmp_path_factory.mktemp("index")
    files = {f"weather/{name}.py": TOP + code + "\n" for name, code in SERVERS.items()}
    scripts = {name: f"weather.{name}:main" for name in SERVERS}
    requires = ["mcp>=1.24,<2"]
    write_wheel(folder, "weather", {"weather/__init__.py": "", **files}, requires=requires, scripts=scripts)
    with pytest.MonkeyPatch.context() as patch:
        use_index(folder, patch)
        yield folder


def project_of(script: str, tmp_path: Path, lock: Path, table: str = "") -> Path:
    project = package_project("weather", tmp_path / "project", options=PackageOptions(allowed_origins=["*"]))
    file = project / "pyproject.toml"
    file.write_text(file.read_text().replace("args = ", f'script = "{script}"\n{table}\nargs = '))
    if lock.is_file():
        shutil.copy(lock, project)
    return project


@pytest.mark.parametrize(
    ("script", "line", "expected"),
    [
        extended("http", 0, r"serves HTTP \(run_streamable_http_async\)"),
        extended("chooses", 1, r'serves HTTP \(run_sse_async\).*TRANSPORT = "stdio" in \[tool.mcpframe.env\]'),
        extended("asks", 0, "reads its standard input"),
        extended("password", 1, "reads its standard input"),
        extended("variable", 1, "environment variable WEATHER_KEY, which is not set.*public"),
        ("exits", 1, r"exited with status 1 before it served(.|\n)*Set WEATHER_KEY first\n.*WEATHER_KEY = "),
        extended("exits_late", 1, r"exited with status 1 before it served(.|\n)*not today"),
        extended("ends", 1, "exited with status 4 before it served"),
        extended("imports", 1, "exits when it is imported, saying 'No config found'"),
        extended("listens", 2, "opens a network connection"),
        extended("runs", 1, "runs another program"),
        extended("library", 1, "loads the native library libfoo.so.1"),
        extended("threads", 1, "returned without serving MCP.*it starts a thread"),
        extended("returns", None, "returned without serving MCP"),
        extended("group", 1, "RuntimeError: the database is missing"),
        extended("lists", None, "answers tools/list with an error: no tools today"),
    ],
)
def test_what_keeps_a_program_from_serving_is_an_error_of_the_build(
    script: str, line: int | None, expected: str, tmp_path: Path, lock: Path
) -> None:
    project = project_of(script, tmp_path, lock)
    with pytest.raises(BuildError, match=expected) as caught:
        build(project, tmp_path / "out", snapshot=False)
    shutil.copy(project / "mcpframe.lock", lock)
    if line is not None:
        assert f"weather/{script}.py, line {FIRST + line}" in str(caught.value)
    assert "TaskGroup" not in str(caught.value)


@pytest.mark.parametrize(("script", "line"), [("waits", 1), extended("sleeps", 2)])
def test_a_program_that_never_serves_has_a_deadline(script: str, line: int, tmp_path: Path, lock: Path) -> None:
    project = project_of(script, tmp_path, lock, "import_timeout = 12")
    with pytest.raises(BuildError, match=r"its program (runs, but|waits for) .* 6 seconds") as caught:
        build(project, tmp_path / "out", snapshot=False)
    assert f"weather/{script}.py, line {FIRST + line}" in str(caught.value)
    assert "import_timeout" in str(caught.value)


def test_what_is_printed_before_serving_is_a_warning_with_its_place(tmp_path: Path, lock: Path) -> None:
    project = project_of("prints", tmp_path, lock)
    for unchanged in (False, True):
        result = build(project, tmp_path / "out", snapshot=False)
        assert result.unchanged == unchanged
        [warning] = [text for text in result.warnings if "prints to its standard output" in text]
        assert f"(weather/prints.py, line {FIRST + 1}): 'Starting ...'" in warning
    assert [tool["name"] for tool in result.tools or ()] == ["forecast"]


def test_a_program_may_prepare_in_one_loop_and_serve_in_a_loop_of_its_own(tmp_path: Path, lock: Path) -> None:
    result = build(project_of("prepares", tmp_path, lock), tmp_path / "out", snapshot=False)
    assert result.manifest["server"]["name"] == "cities"
    assert [tool["name"] for tool in result.tools or ()] == ["forecast"]


def test_a_program_may_close_its_standard_output_at_its_end(tmp_path: Path, lock: Path) -> None:
    result = build(project_of("closes", tmp_path, lock), tmp_path / "out", snapshot=False)
    assert [tool["name"] for tool in result.tools or ()] == ["forecast"]


def test_several_programs_are_named(tmp_path: Path, lock: Path) -> None:
    project = package_project("weather", tmp_path / "project", options=PackageOptions(allowed_origins=["*"]))
    if lock.is_file():
        shutil.copy(lock, project)
    with pytest.raises(ConfigError, match=re.escape("set tool.mcpframe.script to one of 'asks', 'chooses'")):
        build(project, tmp_path / "out", snapshot=False)
