"""Which files a bundle carries: an allow-list, so what is not meant to be published is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcpframe.kit.bundle.collect import author_files, own_files
from mcpframe.kit.errors import BuildError, ConfigError
from mcpframe.kit.project import find_project


def tree(folder: Path, *paths: str) -> Path:
    for path in paths:
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("")
    return folder


def project(folder: Path, more: str = "") -> Path:
    (folder / "pyproject.toml").write_text(f'[tool.mcpframe]\nentry = "server:server"\n{more}')
    return folder


def test_of_mcpframe_only_the_frame_is_carried() -> None:
    files = own_files("1.2.3")
    metadata = files.pop("mcpframe-1.2.3.dist-info/METADATA")
    assert b"Name: mcpframe\nVersion: 1.2.3\n" in metadata
    assert "mcpframe/__init__.py" in files
    assert "mcpframe/frame/boot.py" in files
    assert not [path for path in files if not path.startswith(("mcpframe/frame/", "mcpframe/__init__.py"))]


def test_of_a_project_its_python_files_are_carried_and_nothing_private(tmp_path: Path) -> None:
    project(tree(tmp_path, "server.py", "package/__init__.py", "package/part.py", "package/data.json"))
    tree(
        tmp_path,
        "tests/test_server.py",
        "test_more.py",
        "conftest.py",
        ".venv/lib/x.py",
        "env2/pyvenv.cfg",
        "env2/x.py",
    )
    tree(
        tmp_path,
        ".env",
        ".secret.py",
        "dist/x.py",
        "other-out/_mcpframe/x",
        "other-out/x.py",
        "mcpframe.lock",
        "out/x.py",
    )
    tree(tmp_path, "node_modules/x.py", "__pycache__/x.py", "setup.py", "README.md")
    found = author_files(find_project(tmp_path), tmp_path / "out")
    assert list(found) == ["package/__init__.py", "package/part.py", "server.py"]


def test_declared_assets_are_carried(tmp_path: Path) -> None:
    project(
        tree(tmp_path, "server.py", "data/a.json", "data/b.txt", "data/deep/c.json", "data/.hidden.json"),
        'assets = ["data"]',
    )
    found = author_files(find_project(tmp_path), tmp_path / "dist")
    assert set(found) == {"server.py", "data/a.json", "data/b.txt", "data/deep/c.json"}


def test_assets_beside_a_source_folder_keep_their_path(tmp_path: Path) -> None:
    project(tree(tmp_path, "src/server.py", "src/inner.txt", "data/a.json"), 'assets = ["data/*.json", "src/*.txt"]')
    found = author_files(find_project(tmp_path), tmp_path / "dist")
    assert set(found) == {"server.py", "inner.txt", "data/a.json"}


@pytest.mark.parametrize(
    ("pattern", "told"),
    [("nothing/*", "matches no file"), ("*.toml", "must not be published"), ("key.pem", "must not be published")],
)
def test_a_pattern_that_is_wrong_is_an_error(tmp_path: Path, pattern: str, told: str) -> None:
    project(tree(tmp_path, "server.py", "key.pem"), f'assets = ["{pattern}"]')
    with pytest.raises(ConfigError, match=told):
        author_files(find_project(tmp_path), tmp_path / "dist")


def test_an_asset_that_leads_out_of_the_project_is_an_error(tmp_path: Path) -> None:
    inside = tmp_path / "project"
    inside.mkdir()
    (tmp_path / "secret.txt").write_text("secret")
    project(tree(inside, "server.py"), 'assets = ["*.txt"]')
    (inside / "link.txt").symlink_to(tmp_path / "secret.txt")
    with pytest.raises(ConfigError, match="must not be published"):
        author_files(find_project(inside), tmp_path / "dist")


def test_of_a_single_file_only_what_it_imports_is_carried(tmp_path: Path) -> None:
    tree(tmp_path, "unrelated.py", "package/__init__.py", "package/part.py", "package/tests/x.py")
    (tmp_path / "helper.py").write_text("import json\nfrom package import part\n")
    (tmp_path / "tool.py").write_text("import helper\nimport os.path\n")
    found = author_files(find_project(tmp_path / "tool.py"), tmp_path / "dist")
    assert set(found) == {"tool.py", "helper.py", "package/__init__.py", "package/part.py"}


def test_a_single_file_that_is_broken_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("def (:\n")
    (tmp_path / "tool.py").write_text("import helper\n")
    with pytest.raises(BuildError, match=r"helper.py, line 1"):
        author_files(find_project(tmp_path / "tool.py"), tmp_path / "dist")
