"""The project of somebody else's package."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcpframe.kit.base.errors import ConfigError, ScaffoldError
from mcpframe.kit.project.packaged import package_project
from mcpframe.kit.project.project import find_project


def test_a_package_becomes_a_project(tmp_path: Path) -> None:
    folder = package_project(
        "My_Weather==1.2",
        tmp_path / "w",
        args=["--city", 'Ulm "West"'],
        env={"LOG_LEVEL": "debug", "A B": "\\"},
        allowed_origins=["https://chat.example"],
        connect_src=["https://api.example"],
    )
    project = find_project(folder)
    assert (project.name, project.entry, project.requirements) == ("my-weather", "my-weather", ("My_Weather==1.2",))
    assert project.settings == {"args": ["--city", 'Ulm "West"'], "env": {"LOG_LEVEL": "debug", "A B": "\\"}}
    assert project.config.allowed_origins == ["https://chat.example"]
    assert project.config.csp.connect_src == ["https://api.example"]


def test_by_default_it_is_in_a_folder_of_the_packages_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert package_project("My_Weather") == Path("my-weather")
    assert find_project(tmp_path / "my-weather").config.allowed_origins == ["http://localhost:8000"]


def test_files_to_keep_are_written_down(tmp_path: Path) -> None:
    folder = package_project("weather", tmp_path / "w", persist=["~/.weather"])
    assert find_project(folder).config.persist == ["~/.weather"]


def test_what_was_edited_stays(tmp_path: Path) -> None:
    file = package_project("weather", tmp_path / "w") / "pyproject.toml"
    edited = file.read_text().replace("args = []", 'args = ["--edited"]')
    file.write_text(edited)
    assert package_project("weather", tmp_path / "w") == tmp_path / "w"
    assert file.read_text() == edited
    with pytest.raises(ScaffoldError, match=r"is there already: edit its pyproject\.toml"):
        package_project("weather", tmp_path / "w", args=["--other"])
    with pytest.raises(ScaffoldError, match="is there already"):
        package_project("weather", tmp_path / "w", connect_src=["https://api.example"])
    with pytest.raises(ScaffoldError, match="is there already"):
        package_project("weather==2", tmp_path / "w")
    with pytest.raises(ScaffoldError, match="a project of something else"):
        package_project("climate", tmp_path / "w")


@pytest.mark.parametrize("package", ["a b", "", "weather @ https://x.example/w.whl", "weather; python_version > '3'"])
def test_what_is_no_package(tmp_path: Path, package: str) -> None:
    with pytest.raises(ScaffoldError, match=r"is not the name of a package: write NAME, or NAME==VERSION"):
        package_project(package, tmp_path / "w")
    assert not (tmp_path / "w").exists()


def test_a_folder_with_something_else_in_it(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(ScaffoldError, match="is there and is not empty"):
        package_project("weather", tmp_path)


def test_a_variable_that_cannot_be_one(tmp_path: Path) -> None:
    folder = package_project("weather", tmp_path / "w", env={"A=B": "x"})
    with pytest.raises(ConfigError, match="must be the name of an environment variable"):
        find_project(folder)
