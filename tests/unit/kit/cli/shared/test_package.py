"""`package:NAME`, and the one option for its project."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from mcpframe.kit.cli.main import main
from mcpframe.kit.cli.shared.output import silently
from mcpframe.kit.cli.shared.package import apply_settings
from mcpframe.kit.project.project import find_project
from mcpframe.kit.servers.named_server import Sources, named_server

SETTINGS = (
    *("args=--root '/my data'", "env.LEVEL=debug", "allowed_origins=https://chat.example", "persist=~/.thing"),
    *("csp.connect_src=api.example", "csp.connect_src=http://localhost:8000", "leave_out=lupa", "visitor_env=KEY"),
    "build_sdists=true",
)


def check_settings(folder: Path) -> None:
    config = find_project(folder).config
    assert (config.args, config.env, config.visitor_env) == (["--root", "/my data"], {"LEVEL": "debug"}, ["KEY"])
    assert (config.allowed_origins, config.persist) == (["https://chat.example"], ["~/.thing"])
    assert config.csp.connect_src == ["https://api.example", "http://localhost:8000"]
    assert (config.leave_out, config.build_sdists) == (["lupa"], True)


def test_settings_are_those_of_the_project_in_the_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MCPFRAME_CACHE", str(tmp_path))
    apply_settings("package:thing", SETTINGS[:4], silently)
    apply_settings("package:thing", SETTINGS[4:], silently)
    named = named_server("package:thing")
    assert isinstance(named, Sources)
    check_settings(named.path)


def test_a_project_of_a_package_is_made_to_be_edited(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    given = [word for setting in SETTINGS for word in ("--set", setting)]
    monkeypatch.setattr(sys, "argv", ["mcpframe", "new", "mine", "--package", "thing==2", *given])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    assert find_project(tmp_path / "mine").requirements == ("thing==2",)
    check_settings(tmp_path / "mine")
