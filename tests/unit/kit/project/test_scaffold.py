"""`mcpframe new`: every template becomes a project of another name, in one go or not at all."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from mcpframe.kit.base.errors import ScaffoldError
from mcpframe.kit.bundle.packages.lock import read_lock
from mcpframe.kit.project.project import find_project
from mcpframe.kit.project.scaffold import scaffold
from mcpframe.kit.project.template_files import template_names


@pytest.mark.parametrize("template", template_names())
def test_a_project_with_everything_in_it(template: str, tmp_path: Path) -> None:
    folder = scaffold("my-server.2", template=template, parent=tmp_path)
    project = find_project(folder)
    assert (folder.name, project.name) == ("my-server.2", "my-server.2")
    assert tomllib.loads((folder / "pyproject.toml").read_text())["project"]["name"] == "my-server.2"
    if project.config.kind == "server":
        assert f'"{template}"' not in (folder / "server.py").read_text()
        assert "dist/my-server.2/" in (folder / "README.md").read_text()
    assert not re.search(rf"[/`]{template}/", (folder / "README.md").read_text())
    assert read_lock(folder / "mcpframe.lock")
    assert list((folder / "tests").glob("test_*.py"))
    assert "mcpframe test" in (folder / ".github" / "workflows" / "test.yml").read_text()
    pages = (folder / ".github" / "workflows" / "pages.yml").read_text()
    assert "mcpframe build" in pages
    assert "path: dist" in pages
    assert "mcpframe-results/" in (folder / ".gitignore").read_text()
    assert not list(folder.rglob("__pycache__"))


def test_the_view_of_a_server_is_at_the_project_s_own_name(tmp_path: Path) -> None:
    code = (scaffold("weather", template="forecast", parent=tmp_path) / "server.py").read_text()
    assert '"http://localhost:8001/weather/"' in code


def test_the_default_is_named_after_the_project(tmp_path: Path) -> None:
    folder = scaffold("word-counter", parent=tmp_path)
    assert 'title = "Word counter"' in (folder / "pyproject.toml").read_text()
    assert (folder / "README.md").read_text().startswith("# Word counter\n")


@pytest.mark.parametrize("name", ["", "a/b", "../up", "-a", "a-", "a b", ".hidden", "ä"])
def test_names_that_cannot_be_one(name: str, tmp_path: Path) -> None:
    with pytest.raises(ScaffoldError, match="cannot be a project's name"):
        scaffold(name, parent=tmp_path)
    assert not list(tmp_path.iterdir())


def test_an_unknown_template_is_told_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(ScaffoldError, match=r"no template 'pi'; there are: .*pi-calculator"):
        scaffold("a", template="pi", parent=tmp_path)


def test_an_empty_folder_is_filled_and_another_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert (scaffold("empty", parent=tmp_path) / "server.py").is_file()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").write_text("mine")
    with pytest.raises(ScaffoldError, match="is not empty"):
        scaffold("full", parent=tmp_path)
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["notes.txt"]


def test_what_a_killed_one_has_left_is_removed(tmp_path: Path) -> None:
    (tmp_path / ".mine.abcd_123" / "new").mkdir(parents=True)
    scaffold("mine", parent=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
