"""The author's files for the page: which they are, where they go, and what Python gets of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcpframe.kit.base.errors import ConfigError
from mcpframe.kit.bundle.assembly.assemble import author_assets
from mcpframe.kit.bundle.assembly.assets import Asset
from mcpframe.kit.bundle.assembly.author_files import author_files, page_files, style_paths
from mcpframe.kit.bundle.assembly.csp import page_policy
from mcpframe.kit.project.project import find_project
from mcpframe.kit.project.pyproject import CspConfig, read_config
from mcpframe.kit.static_hosts.headers_file import headers_for, parse
from mcpframe.kit.static_hosts.known import host_files

FILES = {
    "page.html": "<p>",
    "draw.js": "export {}",
    "deep/part.mjs": "export {}",
    "look.css": "p {}",
    "font.woff2": "font",
    "data/a.json": "{}",
    "data/deep/b.csv": "1",
    "other.txt": "not asked for",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "server.py").write_text("")
    write(tmp_path, 'assets = ["*.html", "*.js", "deep", "*.woff2", "data/**"]\nstyles = ["look.css"]')
    return tmp_path


def write(folder: Path, table: str) -> None:
    (folder / "pyproject.toml").write_text(f'[tool.mcpframe]\nentry = "server:server"\n{table}\n')


def test_the_page_gets_all_of_them_and_python_what_it_may_read(folder: Path) -> None:
    project = find_project(folder)
    declared = {name: text.encode() for name, text in FILES.items() if name != "other.txt"}
    assert page_files(project, folder / "dist") == declared
    assert set(author_files(project, folder / "dist")) == {"server.py", "page.html", "data/a.json", "data/deep/b.csv"}
    assert style_paths(project) == ["look.css"]


def test_in_a_source_folder_they_are_named_from_there(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    for name in ("src/server.py", "src/page.html", "src/look.css", "outside.html"):
        (tmp_path / name).write_text("")
    write(tmp_path, 'assets = ["src/page.html", "outside.html"]\nstyles = ["src/look.css"]')
    project = find_project(tmp_path)
    assert list(page_files(project, tmp_path / "dist")) == ["look.css", "outside.html", "page.html"]
    assert style_paths(project) == ["look.css"]


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ('styles = ["absent.css"]', "tool.mcpframe.styles: 'absent.css' matches no file"),
        ('assets = ["absent/*"]', "tool.mcpframe.assets: 'absent/*' matches no file"),
        ('assets = ["pyproject.toml"]', "must not be published"),
    ],
)
def test_a_mistake_names_the_key(folder: Path, table: str, told: str) -> None:
    write(folder, table)
    with pytest.raises(ConfigError) as caught:
        page_files(find_project(folder), folder / "dist")
    assert told in str(caught.value)


def test_they_keep_their_names_in_a_folder_that_says_what_is_in_it() -> None:
    files = {"a.js": b"import './deep/b.js'", "deep/b.js": b"x"}
    folder, assets = author_assets("pi", files)
    assert folder.startswith("assets-")
    assert {path: asset.path for path, asset in assets.items()} == {
        "a.js": f"pi/{folder}/a.js",
        "deep/b.js": f"pi/{folder}/deep/b.js",
    }
    assert all(isinstance(asset, Asset) for asset in assets.values())
    assert author_assets("pi", files)[0] == folder
    for changed in ({**files, "a.js": b""}, {"b.js": b"import './deep/b.js'", "deep/b.js": b"x"}, {}):
        assert author_assets("pi", changed)[0] != folder


def test_they_may_be_cached_for_ever() -> None:
    rules = parse(host_files({"pi": "default-src 'none'"})["_headers"].decode())
    headers = headers_for("/pi/assets-0123456789abcdef/deep/b.js", rules)
    assert "immutable" in headers["cache-control"]
    assert headers["content-security-policy"] == "default-src 'none'"


def test_only_a_page_that_hosts_may_frame_its_own_origin() -> None:
    assert "frame-src 'none'" in page_policy(CspConfig())
    assert "frame-src 'self';" in page_policy(CspConfig(), frames=True)
    named = CspConfig(frame_src=["https://tools.example"])
    assert "frame-src https://tools.example;" in page_policy(named, frames=True)


def test_a_page_has_an_entry_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text("")
    (tmp_path / "pyproject.toml").write_text('[tool.mcpframe]\nkind = "page"\n')
    assert find_project(tmp_path).entry == "main:main"
    (tmp_path / "tool.py").write_text('# /// script\n# [tool.mcpframe]\n# kind = "page"\n# ///\n')
    assert find_project(tmp_path / "tool.py").entry == "tool:main"
    with pytest.raises(ConfigError, match="kind"):
        read_config({"kind": "host"}, "pyproject.toml")


@pytest.mark.parametrize("ending", [".gz", ".br"])
def test_a_file_and_its_compressed_form_cannot_both_be_published(folder: Path, ending: str) -> None:
    (folder / "data" / f"a.json{ending}").write_bytes(b"of something else")
    with pytest.raises(ConfigError, match=rf"data/a\.json and data/a\.json\{ending} cannot both"):
        page_files(find_project(folder), folder / "dist")


def test_a_compressed_file_alone_is_published(folder: Path) -> None:
    (folder / "data" / "only.json.gz").write_bytes(b"x")
    assert "data/only.json.gz" in page_files(find_project(folder), folder / "dist")
