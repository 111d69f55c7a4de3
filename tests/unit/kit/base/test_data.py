"""Where static files and templates are found."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcpframe.kit.base import data
from mcpframe.kit.base.errors import KitError


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
        data.templates_dir()
