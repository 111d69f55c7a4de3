"""Which files a bundle carries: an allow-list, so what is not meant to be published is not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from mcpframe.kit.base.errors import BuildError, ConfigError
from mcpframe.kit.bundle.collect import (
    author_files,
    may_be_page,
    may_have_views,
    may_host,
    may_wrap,
    names_app,
    names_hub,
    own_files,
)
from mcpframe.kit.bundle.left_out import modules_of
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


def test_of_mcpframe_only_the_frame_is_carried() -> None:
    files = own_files("1.2.3")
    metadata = files.pop("mcpframe-1.2.3.dist-info/METADATA")
    assert b"Name: mcpframe\nVersion: 1.2.3\n" in metadata
    assert "mcpframe/__init__.py" in files
    assert "mcpframe/frame/boot.py" in files
    assert not [path for path in files if not path.startswith(("mcpframe/frame/", "mcpframe/__init__.py"))]


_FOR_LINES = {"compat/absent.py", "compat/left_out_modules.py", "compat/stdio.py", "lines.py"}


def test_what_other_sdks_need_is_carried_with_them_alone() -> None:
    shared = {*_FOR_LINES, "other_server.py"}
    ours = set(own_files("1.2.3"))
    of_mcp_1, of_fastmcp = set(own_files("1.2.3", sdk=1)), set(own_files("1.2.3", fastmcp=True))
    assert of_mcp_1 - ours == {
        f"mcpframe/frame/{name}" for name in {*shared, "compat/earlier_pydantic.py", "compat/mcp1.py"}
    }
    assert of_fastmcp - ours == {f"mcpframe/frame/{name}" for name in {*shared, "compat/fastmcp_package.py"}}


def test_what_programs_need_is_carried_with_them_alone() -> None:
    for sdk in (1, 2):
        only = set(own_files("1.2.3", sdk=sdk, program=True)) - set(own_files("1.2.3", sdk=sdk))
        names = {"console.py", "program_input.py", "program_loops.py"}
        names |= {"compat/mcp2_program.py", *_FOR_LINES} if sdk == 2 else set()
        assert only == {f"mcpframe/frame/{name}" for name in names}


@pytest.mark.parametrize(
    ("files", "wraps"),
    [
        ({"server.py": b"from mcpframe import FrameServer"}, False),
        ({"server.py": b"import textwrap"}, False),
        ({"server.py": b"import mcpframe\nserver = mcpframe.wrap(it)"}, True),
        ({"server.py": b"import own", "own.py": b"from mcpframe import wrap"}, True),
        ({"note.txt": b"nothing of Python"}, True),
        ({}, True),
    ],
)
def test_wrapping_is_carried_where_it_may_be_used(files: dict[str, bytes], wraps: bool) -> None:
    assert may_wrap(files) is wraps
    only = set(own_files("1.2.3", wraps=True)) - set(own_files("1.2.3"))
    assert only == {"mcpframe/frame/wrapped.py"}


def test_views_are_carried_where_they_may_be_used() -> None:
    assert not may_have_views({"server.py": b"from mcpframe import FrameServer"})
    assert may_have_views({"server.py": b"from mcpframe.views import View, Views"})
    only = set(own_files("1.2.3", views=True)) - set(own_files("1.2.3"))
    assert {path for path in only if not path.startswith("mcpframe/views/")} == {
        "mcpframe/frame/app_page.py",
        "mcpframe/frame/app_shim.py",
    }
    assert {"mcpframe/views/__init__.py", "mcpframe/views/view.py"} < only


@pytest.mark.parametrize(
    "name", ["AppHost", "UiHost", "ui_resource", "tab_client", "iframe_client", "OuterFrame", "POPUP"]
)
def test_what_hosts_need_is_carried_where_it_may_be_used(name: str) -> None:
    assert not may_host({"server.py": b"from mcpframe import FrameServer, Page, connect_to_host"})
    assert may_host({"main.py": f"from mcpframe import {name}".encode()})
    assert may_host({"main.py": b"from mcpframe import *"})
    assert may_host({"main.py": b"from mcpframe.frame.places import parse_address"})
    assert may_host({"main.py": b"from mcpframe.frame import outer"})
    module = f"mcpframe.{name}"
    code = f"import sys, mcpframe; {module}; print(*sorted(m for m in sys.modules if m.startswith('mcpframe.')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    carried = {path.removesuffix(".py").replace("/", ".") for path in own_files("1.2.3", hosts=True)}
    needed = set(done.stdout.split())
    assert {module.removesuffix(".__init__") for module in carried} >= needed
    assert not {module.replace(".", "/") + ".py" for module in needed} <= set(own_files("1.2.3"))


def test_what_pages_need_is_carried_where_it_may_be_used() -> None:
    assert not may_be_page({"server.py": b"from mcpframe import FrameServer, OuterFrame"})
    for code in (
        b"from mcpframe import page_server",
        b"mcpframe.connect_to_host()",
        b"from mcpframe.frame import boot",
    ):
        assert may_be_page({"main.py": b"import mcpframe\n" + code})
    only = set(own_files("1.2.3", page=True)) - set(own_files("1.2.3"))
    assert only == {f"mcpframe/frame/{name}.py" for name in ("host_link", "page_main", "page_server")}


def test_the_hub_is_carried_where_the_author_names_it() -> None:
    assert not names_hub({})
    assert not names_hub({"server.py": b"from mcpframe import *  # https://github.com/x"})
    assert names_hub({"main.py": b"from mcpframe.frame.hub.names import domain_of"})
    only = set(own_files("1.2.3", hub=True)) - set(own_files("1.2.3"))
    assert all(path.startswith("mcpframe/frame/hub/") for path in only)
    assert "mcpframe/frame/hub/messages.py" in only


def test_what_a_tab_of_an_app_needs_is_carried_where_the_author_names_it() -> None:
    assert not names_app({"main.py": b"from mcpframe.frame.hub.hub import Hub"})
    assert names_app({"main.py": b"from mcpframe.frame.hub.app import AppHub"})
    code = (
        "import sys; before = set(sys.modules)\n"
        "from mcpframe.frame.hub import app\n"
        "from mcpframe.frame.hub.page import leading, offering, remote\n"
        "print(*(name for name in sys.modules if name.startswith('mcpframe') and name not in before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    carried = {path.removesuffix(".py").replace("/", ".") for path in own_files("1.2.3", hub=True, app=True)}
    assert {module.removesuffix(".__init__") for module in carried} | {"mcpframe.frame.hub.page"} >= {
        name for name in done.stdout.split() if f"{name}.__init__" not in carried
    }
    assert "mcpframe/frame/browser/app_tab.py" in own_files("1.2.3", hub=True, app=True)
    assert not {path for path in own_files("1.2.3", hub=True) if "/page/" in path or "app_tab" in path}


def test_the_modules_that_the_author_leaves_out_are_told_to_the_page() -> None:
    name = "mcpframe/frame/compat/left_out_modules.py"
    files = own_files("1.2.3", program=True, left_out=modules_of(["PyYAML", "some-thing"]))
    assert files[name] == b"MODULES = {'some_thing': 'some-thing', 'yaml': 'pyyaml'}\n"
    assert name not in own_files("1.2.3", left_out={"a": "a"})


def test_what_http_libraries_need_is_carried_with_them_alone() -> None:
    only = set(own_files("1.2.3", http=True)) - set(own_files("1.2.3"))
    others = {path for path in only if not path.startswith("mcpframe/frame/compat/http/")}
    assert others == {"mcpframe/frame/browser/fetching.py"}
    assert "mcpframe/frame/compat/http/hooks.py" in only


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


def test_what_code_written_for_a_process_needs_is_carried_with_it_alone() -> None:
    only = set(own_files("1.2.3", world=True)) - set(own_files("1.2.3"))
    modules = {path.removeprefix("mcpframe/frame/") for path in only}
    others = {name for name in modules if not name.startswith("world/")}
    assert {"world/__init__.py", "world/threads.py"} <= modules
    assert others == {"browser/visitor.py"}


def test_what_kept_files_need_is_carried_with_them_alone() -> None:
    only = set(own_files("1.2.3", persists=True)) - set(own_files("1.2.3"))
    assert only == {f"mcpframe/frame/{name}" for name in ("browser/leaving.py", "page_files.py", "persist.py")}


def test_what_webmcp_needs_is_left_out_where_nothing_is_offered_or_used() -> None:
    only = set(own_files("1.2.3")) - set(own_files("1.2.3", webmcp=False))
    assert {path.rpartition("/")[2] for path in only} == {
        *("__init__.py", "document.py", "inside.py", "model_context.py", "offering.py", "tools.py"),
    }
    assert only <= set(own_files("1.2.3", webmcp=False, hosts=True))
