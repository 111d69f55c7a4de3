"""The lock of a project: packages that are built from their sources are in it only where that is allowed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mcpframe.kit.base.errors import BuildError
from mcpframe.kit.bundle import project_lock
from mcpframe.kit.bundle.packages.lock import BuiltFrom, Lock, Locked
from mcpframe.kit.bundle.project_lock import ProjectLock
from mcpframe.kit.bundle.pyodide.packages import LOCK, PyodidePackages
from mcpframe.kit.bundle.pyodide.runtime import Runtime
from mcpframe.kit.project.project import find_project, with_build_sdists

BUILT = Locked(
    "a", "1.0", "a-1.0-py3-none-any.whl", "0" * 64, "sources", ("server",), BuiltFrom("a-1.0.tar.gz", "1" * 64, ())
)


def test_a_lock_with_built_packages_needs_the_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "server.py").write_text("server = 1\n")
    (tmp_path / LOCK).write_text("{}")
    pyodide = PyodidePackages(Runtime(tmp_path))
    asked: list[bool] = []

    def resolve(*_: object, inputs: str, build_sdists: bool, **__: Any) -> Lock:
        asked.append(build_sdists)
        return Lock(inputs, (BUILT,) if build_sdists else ())

    monkeypatch.setattr(project_lock, "resolve", resolve)
    project = find_project(tmp_path / "server.py")
    allowed = with_build_sdists(project)
    for _ in range(2):
        ProjectLock(allowed, {}, pyodide).resolve()
    with pytest.raises(BuildError, match=r"\(a 1\.0\), which is not allowed here: .*--build-sdists.*--upgrade"):
        ProjectLock(project, {}, pyodide).resolve()
    locking = ProjectLock(project, {}, pyodide, upgrade=True)
    locking.resolve()
    assert locking.lock.packages == ()
    assert asked == [True, False]
