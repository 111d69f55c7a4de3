"""Which bundles have what code written for a process needs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from mcpframe.kit.bundle.lock import Lock
from mcpframe.kit.bundle.world_choice import written_for_a_process
from mcpframe.kit.project.project import find_project


@pytest.mark.parametrize(
    ("code", "chosen"),
    [
        ("import asyncio", False),
        ("import threading", False),
        ("def work():\n    from concurrent.futures import ThreadPoolExecutor", True),
        ("import resource", True),
    ],
)
def test_an_author_asks_for_it_by_an_import(code: str, chosen: bool, tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text("from mcp.server import MCPServer\nserver = MCPServer('s')\n")
    project = find_project(tmp_path)
    author = {"server.py": code.encode()}
    assert written_for_a_process(project, Lock("", ()), author) is chosen
    assert written_for_a_process(replace(project, program="server"), Lock("", ()), author)
