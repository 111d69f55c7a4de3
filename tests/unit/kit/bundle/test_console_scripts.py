"""Entries that lead into requirements: objects of installed packages, and console scripts."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcpframe.kit.base.errors import ConfigError
from mcpframe.kit.bundle.code.console_scripts import console_scripts, server_objects, with_entry
from mcpframe.kit.bundle.pyodide.archive import pack
from mcpframe.kit.project.project import Project, find_project

SCRIPTS = b"""
[console_scripts]
Weather = weather.cli:main
forecast=weather.cli:commands.forecast [extra]
broken = weather

[other.group]
x = y:z
"""
CODE = b"from mcp.server.fastmcp import FastMCP\nmcp = FastMCP('w')\nother = 3\n"


def project(folder: Path, entry: str, more: str = "") -> Project:
    (folder / "pyproject.toml").write_text(
        f'[project]\nname = "x"\ndependencies = ["weather"]\n[tool.mcpframe]\nentry = "{entry}"\n{more}\n'
    )
    return find_project(folder)


def wheels(folder: Path, **files: bytes) -> dict[str, Path]:
    path = folder / "weather-1-py3-none-any.whl"
    path.write_bytes(pack({"weather/__init__.py": b"", "weather/app.py": CODE, **files}))
    return {"weather": path}


def test_the_console_scripts_of_a_wheel() -> None:
    files = {"weather-1.dist-info/entry_points.txt": SCRIPTS}
    assert console_scripts(files) == {"Weather": "weather.cli:main", "forecast": "weather.cli:commands.forecast"}
    assert console_scripts({}) == {}
    assert console_scripts({"weather-1.dist-info/entry_points.txt": b"no section"}) == {}


def test_the_servers_that_modules_make() -> None:
    assert server_objects({"weather/app.py": CODE, "weather/__init__.py": CODE, "a.txt": CODE}) == [
        "weather:mcp",
        "weather.app:mcp",
    ]


def test_a_package_alone_is_its_console_script(tmp_path: Path) -> None:
    found = wheels(tmp_path, **{"weather-1.dist-info/entry_points.txt": SCRIPTS})
    chosen = with_entry(project(tmp_path, "weather"), found, {})
    assert (chosen.entry, chosen.program) == ("weather.cli:main", "Weather")
    chosen = with_entry(project(tmp_path, "weather", 'script = "forecast"'), found, {})
    assert (chosen.entry, chosen.program) == ("weather.cli:commands.forecast", "forecast")


def test_an_object_of_a_package(tmp_path: Path) -> None:
    chosen = with_entry(project(tmp_path, "weather.app:mcp"), wheels(tmp_path), {})
    assert (chosen.entry, chosen.program) == ("weather.app:mcp", "")


@pytest.mark.parametrize(
    ("entry", "files", "told"),
    [
        ("nowhere.app:mcp", {}, "there is no nowhere.py or nowhere/ in .*, and no requirement has a module 'nowhere'"),
        (
            "weather",
            {},
            "the package weather has no console script to run: set tool.mcpframe.entry to 'weather.app:mcp'",
        ),
        ("weather", {"weather/app.py": b""}, "no console script .* set tool.mcpframe.entry to 'module:object'"),
        (
            "weather",
            {"weather-1.dist-info/entry_points.txt": b"[console_scripts]\na = w:a\nb = w:b\n"},
            "weather has several programs: set tool.mcpframe.script to one of 'a', 'b'",
        ),
    ],
)
def test_what_is_wrong_with_an_entry(tmp_path: Path, entry: str, files: dict[str, bytes], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        with_entry(project(tmp_path, entry), wheels(tmp_path, **files), {})
