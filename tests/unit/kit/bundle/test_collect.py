"""Which files of the author a bundle carries: an allow-list, so what is not meant to be published is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcpframe.kit.base.errors import BuildError, ConfigError
from mcpframe.kit.bundle.assembly.author_files import author_files, page_files
from mcpframe.kit.bundle.pyodide.archive import unpacking
from mcpframe.kit.project.project import find_project


def tree(folder: Path, *paths: str) -> Path:
    for path in paths:
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("")
    return folder


def project(folder: Path, more: str = "") -> Path:
    (folder / "pyproject.toml").write_text(f'[tool.mcpframe]\nentry = "server:server"\n{more}')
    return folder


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


def test_files_that_are_too_large_are_named_before_they_are_read(tmp_path: Path) -> None:
    found = project(tree(tmp_path, "server.py", "data/small.bin", "data/video.js"), 'assets = ["data"]')
    for name, size in (("video.js", 3_000_000_000), ("small.bin", 129_000_000)):
        with (tmp_path / "data" / name).open("wb") as file:
            file.truncate(size)  # takes no room
    out = tmp_path / "dist"
    with pytest.raises(BuildError, match=r"data/small.bin has 129 MB, and 128 are allowed for a file.*max_unpacked"):
        author_files(find_project(found), out)
    with pytest.raises(BuildError, match=r"data/video.js has 3,000 MB, and 128 are allowed for a file"):
        page_files(find_project(found), out)
    with unpacking(600), pytest.raises(BuildError, match=r"data/video.js has 3,000 MB, and 150 are allowed"):
        page_files(find_project(found), out)
    for number in range(5):
        with (tmp_path / "data" / f"{number}.bin").open("wb") as file:
            file.truncate(127_000_000)
    (tmp_path / "data" / "video.js").unlink()
    (tmp_path / "data" / "small.bin").unlink()
    with pytest.raises(BuildError, match=r"its files have 635 MB together, .* and 512 are allowed"):
        page_files(find_project(found), out)


def test_a_project_may_allow_larger_files(tmp_path: Path) -> None:
    found = project(tree(tmp_path, "server.py", "data.bin"), 'assets = ["data.bin"]\nmax_unpacked = 600')
    with (tmp_path / "data.bin").open("wb") as file:
        file.truncate(129_000_000)
    assert len(author_files(find_project(found), tmp_path / "dist")["data.bin"]) == 129_000_000


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


@pytest.fixture
def inside(tmp_path: Path) -> Path:
    """A project's folder, with private files beside it and in it."""
    (tmp_path / "outside").mkdir()
    for name in ("secret.py", "outside/part.py"):
        (tmp_path / name).write_text("PASSWORD = 'hunter2'")
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / ".env").write_text("PASSWORD=hunter2")
    return project(tree(folder, "server.py", "package/__init__.py", "package/part.py"))


@pytest.mark.parametrize(
    ("link", "target"),
    [
        ("linked.py", "../secret.py"),
        ("package/linked.py", "../../secret.py"),
        ("linked", "../outside"),
        ("package/deep", "../../outside"),
        ("linked.py", ".env"),
    ],
)
def test_a_link_to_what_is_not_the_projects_is_an_error(inside: Path, link: str, target: str) -> None:
    (inside / link).symlink_to(target)
    with pytest.raises(ConfigError, match="must not be published") as caught:
        author_files(find_project(inside), inside / "dist")
    assert str(inside / link) in str(caught.value)


def test_links_within_a_project_are_followed_and_loops_are_not(inside: Path) -> None:
    (inside / "alias.py").symlink_to("package/part.py")
    (inside / "alias").symlink_to("package")
    (inside / "package" / "loop").symlink_to("..")
    (inside / "package" / "self").symlink_to(".")
    (inside / "nowhere").symlink_to("nowhere")
    found = author_files(find_project(inside), inside / "dist")
    assert list(found) == [
        *("alias.py", "alias/__init__.py", "alias/part.py"),
        *("package/__init__.py", "package/part.py", "server.py"),
    ]


def test_a_linked_folder_without_anything_to_publish_does_no_harm(inside: Path) -> None:
    (inside.parent / "data").mkdir()
    (inside / "data").symlink_to("../data")
    assert "server.py" in author_files(find_project(inside), inside / "dist")


def test_a_project_may_be_behind_a_link(inside: Path) -> None:
    (inside.parent / "link").symlink_to(inside)
    assert list(author_files(find_project(inside.parent / "link"), inside / "dist"))[-1] == "server.py"


@pytest.mark.parametrize("link", ["helper.py", "helper"])
def test_what_a_single_file_imports_may_not_be_a_link_elsewhere(inside: Path, link: str) -> None:
    (inside.parent / "outside" / "__init__.py").touch()
    (inside / link).symlink_to("../secret.py" if link.endswith(".py") else "../outside")
    (inside / "tool.py").write_text("import helper\n")
    with pytest.raises(ConfigError, match="must not be published"):
        author_files(find_project(inside / "tool.py"), inside / "dist")


def test_an_asset_that_is_a_link_to_something_private_is_an_error(inside: Path) -> None:
    project(inside, 'assets = ["*.txt"]')
    (inside / "harmless.txt").symlink_to(".env")
    with pytest.raises(ConfigError, match="must not be published"):
        author_files(find_project(inside), inside / "dist")
