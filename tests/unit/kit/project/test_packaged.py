"""The project of somebody else's package."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcpframe.kit.base.errors import ConfigError, ScaffoldError
from mcpframe.kit.project.packaged import PackageOptions, package_project
from mcpframe.kit.project.project import find_project


def test_a_package_becomes_a_project(tmp_path: Path) -> None:
    folder = package_project(
        "My_Weather==1.2",
        tmp_path / "w",
        options=PackageOptions(
            args=["--city", 'Ulm "West"'],
            env={"LOG_LEVEL": "debug", "A B": "\\"},
            allowed_origins=["https://chat.example"],
            connect_src=["https://api.example"],
        ),
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
    folder = package_project("weather", tmp_path / "w", options=PackageOptions(persist=["~/.weather"]))
    assert find_project(folder).config.persist == ["~/.weather"]


def test_options_are_added_to_a_project_that_nobody_has_edited(tmp_path: Path) -> None:
    first = PackageOptions(["--first"], {"A": "1"}, persist=["~/.a"], leave_out=["lupa"], build_sdists=True)
    package_project("weather", tmp_path / "w", first)
    more = PackageOptions(env={"B": "2"}, connect_src=["https://api.example"], leave_out=["cffi", "lupa"])
    config = find_project(package_project("weather", tmp_path / "w", more)).config
    assert (config.args, config.env, config.persist) == (["--first"], {"A": "1", "B": "2"}, ["~/.a"])
    assert config.build_sdists
    assert (config.leave_out, config.csp.connect_src) == (["lupa", "cffi"], ["https://api.example"])
    config = find_project(package_project("weather", tmp_path / "w", PackageOptions(["--other"]))).config
    assert (config.args, config.env) == (["--other"], {"A": "1", "B": "2"})


def test_what_was_edited_stays(tmp_path: Path) -> None:
    file = package_project("weather", tmp_path / "w") / "pyproject.toml"
    edited = file.read_text() + "# mine\n"
    file.write_text(edited)
    assert package_project("weather", tmp_path / "w") == tmp_path / "w"
    assert file.read_text() == edited
    with pytest.raises(ScaffoldError, match=r"is there already, edited .*: edit its pyproject\.toml"):
        package_project("weather", tmp_path / "w", options=PackageOptions(args=["--other"]))
    with pytest.raises(ScaffoldError, match="is there already"):
        package_project("weather", tmp_path / "w", options=PackageOptions(connect_src=["https://api.example"]))
    with pytest.raises(ScaffoldError, match="is there already"):
        package_project("weather==2", tmp_path / "w")
    with pytest.raises(ScaffoldError, match="another project"):
        package_project("climate", tmp_path / "w")


@pytest.mark.parametrize("package", ["a b", "", "weather @ https://x.example/w.whl", "weather; python_version > '3'"])
def test_what_is_no_package(tmp_path: Path, package: str) -> None:
    with pytest.raises(ScaffoldError, match=r"write NAME, or NAME==VERSION"):
        package_project(package, tmp_path / "w")
    assert not (tmp_path / "w").exists()


def test_a_folder_with_something_else_in_it(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(ScaffoldError, match="exists and is not empty"):
        package_project("weather", tmp_path)


def test_a_variable_that_cannot_be_one(tmp_path: Path) -> None:
    folder = package_project("weather", tmp_path / "w", options=PackageOptions(env={"A=B": "x"}))
    with pytest.raises(ConfigError, match="must be the name of an environment variable"):
        find_project(folder)
