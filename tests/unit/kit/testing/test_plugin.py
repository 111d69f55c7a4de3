"""The pytest plugin without a browser: the client in memory, options that cannot be, and what a run pays for it."""

from __future__ import annotations

import re
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from mcpframe.kit.base import progress
from mcpframe.kit.testing.plugin import progress_of
from tests.support.author_tests import ROOT, run_author_tests

SERVER = '''
from mcpframe import FrameServer, Setup

server = FrameServer("adder")


@server.setup(visible=False)
async def setup(session):
    await session.storage.set("greeting", "hello")
    return Setup(title="Adder")


@server.tool()
async def greet() -> str:
    """Greet."""
    return await server.session.storage.get("greeting", "no setup")
'''

TESTS = """
import pytest

BACKENDS = [pytest.mark.asyncio, pytest.mark.asyncio(loop_scope="session"), pytest.mark.anyio]


@pytest.fixture
def anyio_backend():
    return "asyncio"


async def greeted(client):
    return (await client.call_tool("greet", {})).content[0].text


@pytest.mark.asyncio
async def test_function_loop(client):
    assert await greeted(client) == "no setup"


@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.mcpframe(setup=True, era="legacy")
async def test_session_loop_with_setup(client):
    assert await greeted(client) == "hello"


@pytest.mark.anyio
async def test_anyio_and_a_session_of_its_own(client):
    assert await greeted(client) == "no setup"


@pytest.mark.anyio
async def test_framed_in_memory(framed_client):
    assert await greeted(framed_client) == "no setup"


@pytest.mark.anyio
async def test_of_the_page(frame_page):
    raise AssertionError("skipped without a browser")
"""

REFUSED = """
import pytest


@pytest.fixture(params=["trio"])
def anyio_backend(request):
    return request.param


def test_sync(client):
    pass


@pytest.mark.anyio
async def test_trio(client):
    pass


@pytest.mark.asyncio
@pytest.mark.mcpframe(origins="https://a.example")
async def test_unknown_option(client):
    pass


@pytest.mark.asyncio
@pytest.mark.mcpframe(dialect="smoke signals")
async def test_unknown_dialect(client):
    pass
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "server.py").write_text(SERVER)
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nname = "adder"\n[tool.mcpframe]\nentry = "server:server"\n[tool.pytest.ini_options]\n'
    )
    return tmp_path


def test_in_memory_with_both_plugins(project: Path) -> None:
    (project / "test_it.py").write_text(TESTS)
    outcome = run_author_tests(project, "--mcpframe-memory", "-W", "error")
    passed = ["function_loop", "session_loop_with_setup", "anyio_and_a_session_of_its_own", "framed_in_memory"]
    assert outcome.tests == {**{f"test_{name}": "passed" for name in passed}, "test_of_the_page": "skipped"}, (
        outcome.output
    )


def test_what_cannot_be_is_one_sentence(project: Path) -> None:
    (project / "test_it.py").write_text(REFUSED)
    told = run_author_tests(project).told
    assert "are for async tests: mark the test with @pytest.mark.anyio" in told["test_sync"]
    assert "run on asyncio, not on trio" in told["test_trio[trio]"]
    assert "does not take origins; it takes project, origin, setup" in told["test_unknown_option"]
    assert "is not a dialect of mcpframe; choose one of: sep" in told["test_unknown_dialect"]
    assert all("Traceback" not in text for text in told.values())


@pytest.mark.parametrize("mode", ["auto", "strict"])
def test_a_test_for_two_event_loops_is_refused(project: Path, mode: str) -> None:
    """Its fixtures would be in another loop than the test, which would wait for ever."""
    both = "" if mode == "auto" else "@pytest.mark.asyncio\n"
    (project / "test_it.py").write_text(
        "import pytest\n\n@pytest.fixture\ndef anyio_backend():\n    return 'asyncio'\n\n"
        f"{both}@pytest.mark.anyio\nasync def test_both(client):\n    await client.list_tools()\n"
    )
    outcome = run_author_tests(project, f"--asyncio-mode={mode}")
    assert "for both anyio's plugin and pytest-asyncio" in outcome.told["test_both"], outcome.output


def test_a_run_that_does_not_use_it_imports_nothing_but_the_plugin() -> None:
    code = (
        "import sys, pytest\n"
        "before = set(sys.modules)\n"
        "import mcpframe.kit.testing.plugin\n"
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.split() == ["mcpframe", "mcpframe.kit", "mcpframe.kit.testing", "mcpframe.kit.testing.plugin"]


class Terminal:
    """A fake of pytest's terminal, and of its capture."""

    def __init__(self) -> None:
        self.text = "test_server.py "
        self.is_captured = True

    @contextmanager
    def global_and_fixture_disabled(self):
        self.is_captured = False
        yield
        self.is_captured = True

    def ensure_newline(self) -> None:
        self.write("" if self.text.endswith("\n") else "\n")

    def write(self, text: str, *, flush: bool = False) -> None:
        assert not self.is_captured
        self.text += text


def config_with(**plugins: object) -> SimpleNamespace:
    return SimpleNamespace(pluginmanager=SimpleNamespace(get_plugin=plugins.get))


def test_the_steps_of_a_fixture_are_lines_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "COUNTS_EVERY", 0)
    terminal = Terminal()
    steps = progress_of(config_with(terminalreporter=terminal, capturemanager=terminal))
    with steps("Fetching wheels"):
        progress.count(12, 29)
    with pytest.raises(ValueError, match="no"), steps("Writing"):
        raise ValueError("no")
    first, *lines = terminal.text.splitlines()
    assert first == "test_server.py "
    assert [re.sub(r"\d+\.\d s$", "", line) for line in lines] == [
        "mcpframe: Fetching wheels ... 12/29 ... ",
        "mcpframe: Writing ... ",
    ]
    assert terminal.is_captured


@pytest.mark.parametrize("missing", ["terminalreporter", "capturemanager"])
def test_a_worker_without_a_terminal_shows_no_steps(missing: str) -> None:
    terminal = Terminal()
    there = {"terminalreporter": terminal, "capturemanager": terminal} | {missing: None}
    with progress_of(config_with(**there))("Writing"):
        progress.count(1, 2)
    assert terminal.text == "test_server.py "
