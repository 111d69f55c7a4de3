"""A project of the playground as a folder for the command line."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from docs.generate.playground import export_parts
from mcpframe.kit.project.template_files import template_files
from tests.unit.test_playground_files import results

SERVER = """
from mcpframe import FrameServer

server = FrameServer("shouting")


@server.tool()
def shout(text: str) -> str:
    return text.upper()
"""


@pytest.fixture
def parts(tmp_path: Path) -> str:
    path = tmp_path / "export.json"
    path.write_text(json.dumps(export_parts(["minimal"])), "utf-8")
    return str(path)


def exported(parts: str, project: dict[str, Any], template: Any = None) -> dict[str, str]:
    [found] = results(("exported", [project, parts, template]))
    files: dict[str, str] = found["value"]
    return files


def test_a_project_gets_what_new_makes_and_keeps_its_own(parts: str) -> None:
    new = template_files("new")
    bare = exported(parts, {"name": "Élan $& vital_1", "files": {"server.py": SERVER}})
    assert set(bare) == set(new) - {"mcpframe.lock"}
    config = tomllib.loads(bare["pyproject.toml"])
    assert config["project"]["name"] == "elan-vital_1"
    assert config["tool"] == tomllib.loads(new["pyproject.toml"].decode())["tool"] | {
        "mcpframe": {**config["tool"]["mcpframe"], "title": "Élan $& vital_1"}
    }
    assert bare[".gitignore"] == new[".gitignore"].decode()

    own = {"server.py": SERVER, "readme.md": "mine", "tests/test_a.py": "", "pyproject.toml": "[tool.x]\ny = 1"}
    kept = exported(parts, {"name": "x", "files": own})
    assert set(kept) == {*own, ".gitignore", ".github/workflows/test.yml", ".github/workflows/pages.yml"}
    config = tomllib.loads(kept["pyproject.toml"])
    assert config["tool"] == {"x": {"y": 1}, "mcpframe": {"allowed_origins": ["http://localhost:8000"]}}
    assert config["project"]["name"] == "x"

    for text in ("[tool.mcpframe]\nallowed_origins = []\n[project]\n", "broken ["):
        assert exported(parts, {"name": "x", "files": {"pyproject.toml": text}})["pyproject.toml"] == text
    partly = "[project]\nname = 'x'\n[tool.mcpframe]  # mine\nentry = 'a:b'"
    found = exported(parts, {"name": "x", "files": {"pyproject.toml": partly}})["pyproject.toml"]
    assert tomllib.loads(found)["tool"]["mcpframe"] == {"entry": "a:b", "allowed_origins": ["http://localhost:8000"]}


def test_a_template_keeps_its_tests_until_it_is_changed(parts: str) -> None:
    files = {path: data.decode() for path, data in template_files("minimal").items()}
    shown = {path: files[path] for path in ("server.py", "README.md", "pyproject.toml")}
    template = {"name": "minimal", "files": shown}
    same = exported(parts, {"name": "minimal", "files": shown}, template)
    assert same == {path: text for path, text in files.items() if path != "mcpframe.lock"}
    changed = exported(parts, {"name": "minimal", "files": shown | {"server.py": SERVER}}, template)
    assert changed["tests/test_server.py"] != same["tests/test_server.py"]


@pytest.mark.extended
def test_an_export_passes_its_tests_and_builds(parts: str, tmp_path: Path) -> None:
    folder = tmp_path / "shouting"
    for path, text in exported(parts, {"name": "Shouting", "files": {"server.py": SERVER}}).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, "utf-8")
    for verb in ("test", "build"):
        command = [sys.executable, "-m", "mcpframe", verb, str(folder)]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    assert (folder / "mcpframe.lock").is_file()
    assert (folder / "dist" / "shouting" / "index.html").is_file()
