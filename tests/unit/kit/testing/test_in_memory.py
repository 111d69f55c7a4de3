"""A server in this process: what has no server object is refused with what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcpframe.frame.core.errors import EntryError
from mcpframe.kit.project.packaged import package_project
from mcpframe.kit.project.project import find_project
from mcpframe.kit.servers.imported import import_server


async def test_a_console_script_is_run_only_in_a_page(tmp_path: Path) -> None:
    project = find_project(package_project("somebody-elses-server", tmp_path / "project"))
    with pytest.raises(EntryError, match="use framed_client"):
        await import_server(project, instead="use framed_client")


@pytest.mark.parametrize(
    ("code", "sdk"),
    [
        ("from mcp.server.fastmcp import FastMCP\nserver = FastMCP('s')", "mcp 1.x"),
        ("from mcp.server.lowlevel import Server\n@Server('s').list_tools()\ndef server(): ...", "mcp 1.x"),
        ("class FastMCP: ...\nserver = FastMCP()", "the package fastmcp"),
    ],
)
async def test_a_server_of_another_sdk_is_tested_in_its_page(
    code: str, sdk: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"of_another_sdk_{abs(hash((code, str(tmp_path))))}"
    (tmp_path / f"{name}.py").write_text(code)
    (tmp_path / "pyproject.toml").write_text(f'[project]\nname = "s"\n[tool.mcpframe]\nentry = "{name}:server"\n')
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(EntryError, match=f"is one of {sdk}, and this process has mcp 2(.|\n)*use framed_client"):
        await import_server(find_project(tmp_path), instead="use framed_client")


async def test_other_errors_of_a_server_are_as_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "fails_on_its_own.py").write_text("raise LookupError('no')")
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nname = "s"\n[tool.mcpframe]\nentry = "fails_on_its_own:server"\n'
    )
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(LookupError, match="no"):
        await import_server(find_project(tmp_path), instead="use framed_client")
