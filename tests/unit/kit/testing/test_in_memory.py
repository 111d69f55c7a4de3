"""A server in this process: what has no server object is refused with what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcpframe.frame.core.errors import EntryError
from mcpframe.kit.project.packaged import package_project
from mcpframe.kit.project.project import find_project
from mcpframe.kit.testing.in_memory import import_server


async def test_a_console_script_is_run_only_in_a_page(tmp_path: Path) -> None:
    project = find_project(package_project("somebody-elses-server", tmp_path / "project"))
    with pytest.raises(EntryError, match="is a console script, which is run only in a page: use framed_client"):
        await import_server(project)
