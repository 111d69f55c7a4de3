"""A `.mcpb`, as the format's own tool takes it."""

from __future__ import annotations

import ast
import io
import json
import runpy
import sys
import tomllib
import zipfile
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import pytest

from mcpframe.kit.base.data import checkout_dir
from mcpframe.kit.base.errors import ConfigError
from mcpframe.kit.base.node import find_node, install_locked
from mcpframe.kit.publish.listings.listing import Listing
from mcpframe.kit.publish.listings.mcpb import file_name, mcpb
from tests.unit.kit.publish.listings.conftest import PAGE


@pytest.fixture
def unpacked(listing: Listing, tmp_path: Path) -> Path:
    with zipfile.ZipFile(io.BytesIO(mcpb(listing, "Some One"))) as archive:
        archive.extractall(tmp_path / "unpacked")
    return tmp_path / "unpacked"


def test_the_official_tool_takes_it(unpacked: Path, tmp_path: Path) -> None:
    modules = install_locked(checkout_dir() / "tests" / "npm" / "mcpb")
    tool, node = str(modules / "@anthropic-ai" / "mcpb" / "dist" / "cli" / "cli.js"), find_node()
    assert "passes" in node.run(tool, "validate", str(unpacked / "manifest.json"))
    node.run(tool, "pack", str(unpacked), str(tmp_path / "packed.mcpb"))
    assert (tmp_path / "packed.mcpb").stat().st_size > 500


def test_its_manifest(unpacked: Path, listing: Listing) -> None:
    manifest = json.loads((unpacked / "manifest.json").read_text("utf-8"))
    assert (manifest["manifest_version"], manifest["server"]["type"]) == ("0.4", "uv")
    assert manifest["server"]["mcp_config"]["command"] == "uv"
    assert manifest["tools"] == [{"name": "estimate", "description": "Estimate pi"}, {"name": "reset"}]
    assert file_name(listing) == "pi-calculator.mcpb"


def test_its_project_pins_mcpframe_and_its_program_runs_the_bridge(
    unpacked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tomllib.loads((unpacked / "pyproject.toml").read_text())["project"]
    assert project["dependencies"] == [f"mcpframe=={version('mcpframe')}"]
    assert (unpacked / ".python-version").read_text().strip()
    ran = []
    monkeypatch.setattr(sys, "argv", ["main.py", "something"])
    run_module = lambda name, run_name: ran.append((name, run_name, sys.argv[1:]))  # noqa: E731
    with monkeypatch.context() as patched:
        patched.setattr(runpy, "run_module", run_module)
        exec(compile((unpacked / "main.py").read_text("utf-8"), "main.py", "exec"), {})
    assert ran == [("mcpframe", "__main__", ["bridge", PAGE])]


@pytest.mark.parametrize("title", ['x""" \\', "\\", '"', "{page}"])
def test_a_title_ends_no_text_of_the_program(listing: Listing, title: str) -> None:
    with zipfile.ZipFile(io.BytesIO(mcpb(replace(listing, title=title), "Me"))) as archive:
        [said, *statements] = ast.parse(archive.read("main.py")).body
    assert isinstance(said, ast.Expr)
    assert [type(each) for each in statements] == [ast.Import, ast.Import, ast.Assign, ast.Expr]


def test_the_same_inputs_give_the_same_bytes(listing: Listing) -> None:
    assert mcpb(listing, "Some One") == mcpb(listing, "Some One")


def test_no_author(listing: Listing) -> None:
    with pytest.raises(ConfigError, match="--author"):
        mcpb(listing, " ")
