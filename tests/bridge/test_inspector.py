"""The Inspector's command line, a second real client: it runs the bridge over stdio, in both eras."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mcpframe.kit.base.node import find_node, install_locked
from tests.bridge.programs import PATIENCE, ROOT, environment
from tests.support.suites import extended

HERE = ROOT / "tests" / "conformance"
PROGRAM = Path("@modelcontextprotocol", "inspector", "clients", "launcher", "build", "index.js")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def inspector() -> list[str]:
    """How the Inspector is run: the pinned one."""
    return [str(find_node().executable), str(install_locked(HERE) / PROGRAM), "--cli"]


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The profile of all its bridges, one after another."""
    return tmp_path_factory.mktemp("profile")


@pytest.mark.parametrize("era", [extended("legacy"), "modern"])
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        extended(("tools/list",), '"name": "test_simple_text"'),
        (("tools/call", "--tool-name", "test_simple_text"), "This is a simple text response for testing."),
        extended(("resources/read", "--uri", "test://static-text"), "This is the content of the static text resource."),
        extended(
            ("prompts/get", "--prompt-name", "test_prompt_with_arguments", "--prompt-args", "arg1=hello", "arg2=world"),
            "Prompt with arguments: arg1='hello', arg2='world'",
        ),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else None,
)
def test_the_inspector(inspector: list[str], profile: Path, era: str, options: tuple[str, ...], expected: str) -> None:
    server = [sys.executable, "-m", "mcpframe", "bridge", str(ROOT / "templates" / "everything")]
    milliseconds = str(int(PATIENCE * 1000))
    command = [*inspector, *server, "--profile", str(profile), "--cwd", str(ROOT)]
    command += ["--protocol-era", era, "--connect-timeout", milliseconds, "--method", *options]
    for name in ("PYTHONPATH", "MCPFRAME_CHROMIUM", "MCPFRAME_CACHE", "XDG_CACHE_HOME"):
        if value := environment().get(name):
            command += ["-e", f"{name}={value}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False, env=os.environ)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert expected in json.dumps(found, ensure_ascii=False)
