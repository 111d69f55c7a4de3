"""Where static files and templates are found."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from mcpframe.kit.base import data
from mcpframe.kit.base.errors import KitError
from mcpframe.kit.base.inspector_source import inspector_source
from mcpframe.kit.project.template_files import template_files, template_names


def test_in_a_checkout() -> None:
    assert (data.static_dir() / "host" / "host.js").is_file()
    assert data.templates_dir().parent == data.static_dir().parent == data.checkout_dir()


def test_in_an_installed_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "_PACKAGE", tmp_path / "mcpframe")
    folder = tmp_path / "mcpframe" / "_data" / "static"
    folder.mkdir(parents=True)
    (tmp_path / "static").mkdir()
    assert data.static_dir() == folder
    with pytest.raises(KitError, match="clone"):
        data.checkout_dir()


def test_a_missing_folder_is_a_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "_PACKAGE", tmp_path / "mcpframe")
    with pytest.raises(KitError, match=r"'templates' is missing.*reinstall"):
        data.templates()


def test_the_projects_of_a_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed wheel has the templates and the inspector in an archive."""
    assert inspector_source() == data.static_dir() / "inspector"
    expected, names = template_files("mine", "shop"), template_names()
    folder = tmp_path / "mcpframe" / "_data"
    folder.mkdir(parents=True)
    (folder / "static").symlink_to(data.static_dir(), target_is_directory=True)
    own = tmp_path / "projects"
    shutil.copytree(data.templates_dir(), own / "templates", ignore=shutil.ignore_patterns("dist", "__pycache__"))
    shutil.copytree(data.static_dir() / "inspector", own / "inspector")
    shutil.make_archive(str(folder / "projects"), "zip", own)
    monkeypatch.setattr(data, "_PACKAGE", tmp_path / "mcpframe")
    monkeypatch.setenv("MCPFRAME_CACHE", str(tmp_path / "cache"))
    assert template_names() == names
    assert template_files("mine", "shop") == expected
    source = inspector_source()
    assert source == inspector_source()
    assert (source / "inspector" / "main.py").read_bytes() == (own / "inspector" / "inspector" / "main.py").read_bytes()
