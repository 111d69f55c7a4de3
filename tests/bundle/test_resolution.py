"""The resolution with uv and pip: packages of a local index whose newest versions do not run in Pyodide."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from playwright.sync_api import Page

from mcpframe.kit.base.errors import BuildError
from mcpframe.kit.base.processes import run_tool
from mcpframe.kit.bundle.packages.lock import Lock, read_lock
from mcpframe.kit.bundle.packages.no_wheel import NoWheelFound
from mcpframe.kit.bundle.packages.resolve import resolve
from mcpframe.kit.bundle.pipeline import build
from mcpframe.kit.bundle.pyodide.packages import PyodidePackages
from mcpframe.kit.bundle.pyodide.runtime import ensure_runtime
from mcpframe.kit.project.packaged import PackageOptions, package_project
from tests.bundle.conftest import write_project
from tests.bundle.served_pages import Serving, call
from tests.support.suites import extended
from tests.support.wheels import use_index, write_source, write_wheel

pytestmark = pytest.mark.usefixtures("one_browser")

NATIVE = "cp314-cp314-manylinux_2_28_x86_64"
SERVER = """
import importlib


def main():
    server = importlib.import_module("mcp.server.fastmcp").FastMCP("hidden")

    @server.tool()
    def add(a: int, b: int) -> int:
        return a + b

    server.run()
"""


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    use_index(tmp_path / "index", monkeypatch)
    return tmp_path / "index"


def resolved(*requirements: str, leave_out: tuple[str, ...] = (), named: str = "") -> Lock:
    packages = PyodidePackages(ensure_runtime(None))
    return resolve(requirements, packages, inputs="", leave_out=leave_out, named=named)


def versions(lock: Lock) -> dict[str, str]:
    return {package.name: package.version for package in lock.packages}


@pytest.mark.extended
def test_a_parent_goes_back_to_a_version_that_does_without_a_native_package(index: Path) -> None:
    write_wheel(index, "mcpframe-tests-native", {}, tag=NATIVE)
    write_source(index, "mcpframe-tests-native")
    write_wheel(index, "mcpframe-tests-parent", {}, version="1.4")
    code = {"parent.py": "import mcpframe_tests_native\n"}
    write_wheel(index, "mcpframe-tests-parent", code, version="1.5", requires=["mcpframe-tests-native"])
    lock = resolved("mcpframe-tests-parent")
    assert versions(lock)["mcpframe-tests-parent"] == "1.4"
    [note] = lock.notes
    assert note.startswith("mcpframe-tests-parent 1.4 instead of 1.5, which leads to mcpframe-tests-native 1.0")
    with pytest.raises(NoWheelFound) as caught:
        resolved("mcpframe-tests-parent>=1.5")
    assert "mcpframe-tests-parent requires it" in str(caught.value)
    assert caught.value.chain == ("mcpframe-tests-parent", "mcpframe-tests-native")
    assert caught.value.places == ("parent.py, line 1 (when the module is imported)",)
    left = resolved("mcpframe-tests-parent", leave_out=("mcpframe-tests-native",))
    assert (versions(left)["mcpframe-tests-parent"], left.notes) == ("1.5", ())


@pytest.mark.extended
def test_it_does_not_go_back_silently_where_there_are_no_sources_either(index: Path) -> None:
    write_wheel(index, "mcpframe-tests-native", {}, tag=NATIVE)
    needs = ["mcp", "mcpframe-tests-native"]
    write_wheel(index, "mcpframe-tests-parent", {}, version="1.4", requires=["mcp"])
    write_wheel(index, "mcpframe-tests-parent", {}, version="1.5", requires=needs)
    lock = resolved("mcpframe-tests-parent")
    assert versions(lock)["mcpframe-tests-parent"] == "1.4"
    [note] = lock.notes
    assert note.startswith("mcpframe-tests-parent 1.4 instead of 1.5, because ")
    assert "mcpframe-tests-native" in note
    with pytest.raises(BuildError, match=r"mcpframe-tests-native.* ask for it as mcpframe-tests-parent==1\.4"):
        resolved("mcpframe-tests-parent", named="mcpframe-tests-parent")
    write_wheel(index, "mcpframe-tests-parent", {}, version="2.0", requires=needs)
    with pytest.raises(BuildError, match=r"mcpframe-tests-parent 2.0 cannot be resolved .* mcpframe-tests-native"):
        resolved("mcpframe-tests-parent")


def test_a_package_of_sources_alone_is_not_built(index: Path, tmp_path: Path) -> None:
    """Neither uv nor pip runs its code; an earlier version with a wheel is taken."""
    setup = f"open({str(tmp_path / 'marker')!r}, 'w')\n"
    write_source(index, "mcpframe-tests-sources", version="2.0", files={"setup.py": setup}, is_dynamic=True)
    write_wheel(index, "mcpframe-tests-parent", {}, requires=["mcpframe-tests-sources"])
    write_wheel(index, "mcpframe-tests-sources", {}, version="1.0", requires=["mcpframe-tests-more"])
    write_wheel(index, "mcpframe-tests-more", {})
    lock = resolved("mcpframe-tests-parent")
    assert (versions(lock)["mcpframe-tests-sources"], versions(lock)["mcpframe-tests-more"]) == ("1.0", "1.0")
    assert not (tmp_path / "marker").exists()


@pytest.mark.extended
def test_a_stray_version_before_the_release_is_no_way_out(index: Path) -> None:
    write_wheel(index, "mcpframe-tests-native", {}, tag=NATIVE)
    write_source(index, "mcpframe-tests-native")
    write_wheel(index, "mcpframe-tests-native", {}, version="0.0.1a1")
    write_wheel(index, "mcpframe-tests-early", {}, version="2.0b1")
    with pytest.raises(BuildError, match=r"mcpframe-tests-native 1.0 has no wheel that runs in Pyodide"):
        resolved("mcpframe-tests-native")
    assert versions(resolved("mcpframe-tests-native==0.0.1a1"))["mcpframe-tests-native"] == "0.0.1a1"
    assert versions(resolved("mcpframe-tests-early"))["mcpframe-tests-early"] == "2.0b1"


def test_a_package_may_be_named_server(index: Path) -> None:
    write_wheel(index, "mcpframe-tests-helper", {})
    write_wheel(index, "server", {}, version="999", requires=["mcpframe-tests-helper"])
    lock = resolved("server")
    found = {package.name: package.required_by for package in lock.packages}
    assert (found["server"], found["mcpframe-tests-helper"]) == (("server",), ("server (package)",))


@pytest.mark.parametrize(("pinned", "sdk"), [("1.9.4", 1), extended("2.0.0", 2)])
def test_a_package_that_pins_an_early_sdk_gets_a_later_one(index: Path, pinned: str, sdk: int) -> None:
    write_wheel(index, "mcpframe-tests-pinning", {}, version="1.1", requires=[f"mcp=={pinned}"])
    write_wheel(index, "mcpframe-tests-pinning", {}, version="1.0", requires=["mcp"])
    lock = resolved("mcpframe-tests-pinning")
    assert (versions(lock)["mcpframe-tests-pinning"], lock.sdk) == ("1.1", sdk)
    assert lock.notes[0].startswith(f"mcp {versions(lock)['mcp']} instead of {pinned}, which mcpframe-tests-pinning")


def test_a_second_resolution_does_not_ask_pip_again(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_wheel(index, "mcpframe-tests-again", {})
    first = resolved("mcpframe-tests-again")
    started: list[str] = []

    def counted(command: list[str], name: str, **options: object) -> str:
        started.append(name)
        return run_tool(command, name, **options)  # type: ignore[arg-type]

    monkeypatch.setattr("mcpframe.kit.bundle.packages.pins.run_tool", counted)
    monkeypatch.setattr("mcpframe.kit.bundle.packages.wheels.run_tool", counted)
    assert resolved("mcpframe-tests-again") == first
    assert set(started) == {"uv"}


def test_a_server_that_fails_as_only_one_of_mcp_1_does_is_built_with_mcp_1(index: Path, tmp_path: Path) -> None:
    files = {"hidden_server.py": SERVER}
    write_wheel(index, "mcpframe-tests-hidden", files, requires=["mcp>=1.9"], scripts={"hidden": "hidden_server:main"})
    project = package_project(
        "mcpframe-tests-hidden", tmp_path / "project", options=PackageOptions(allowed_origins=["*"])
    )
    result = build(project, tmp_path / "out", snapshot=False)
    assert [tool["name"] for tool in result.tools or ()] == ["add"]
    assert "No module named 'mcp.server.fastmcp'" in result.notes[0]
    lock = read_lock(project / "mcpframe.lock")
    assert lock is not None
    assert (lock.sdk, lock.notes) == (1, result.notes)
    assert build(project, tmp_path / "out", snapshot=False).unchanged


def test_what_the_author_leaves_out_may_be_imported_at_module_level(index: Path, tmp_path: Path) -> None:
    write_wheel(index, "mcpframe-tests-native", {}, tag=NATIVE)
    write_source(index, "mcpframe-tests-native")
    files = {
        "needing_server.py": (
            "import mcpframe_tests_native as native\nimport uvicorn\n"
            "from starlette.routing import Route\n"
            "def main():\n"
            "    from mcp.server import MCPServer\n"
            "    server = MCPServer('needing')\n"
            "    @server.tool()\n"
            "    def version() -> str: return native.version()\n"
            "    server.run()\n"
        )
    }
    requires = ["mcp>=2", "mcpframe-tests-native"]
    write_wheel(index, "mcpframe-tests-needing", files, requires=requires, scripts={"needing": "needing_server:main"})
    project = package_project(
        "mcpframe-tests-needing", tmp_path / "project", options=PackageOptions(allowed_origins=["*"])
    )
    with (project / "pyproject.toml").open("a") as file:
        file.write('leave_out = ["mcpframe-tests-native"]\n')
    result = build(project, tmp_path / "out", snapshot=False)
    assert [tool["name"] for tool in result.tools or ()] == ["version"]


@pytest.mark.extended
def test_a_native_package_that_only_a_tool_imports_is_left_out(
    index: Path, tmp_path: Path, page: Page, host: str, serving: Serving
) -> None:
    write_wheel(index, "mcpframe-tests-native", {}, tag=NATIVE)
    write_source(index, "mcpframe-tests-native")
    code = (
        "from mcp.server import MCPServer\n"
        "server = MCPServer('lazy')\n"
        "@server.tool()\n"
        "def version() -> str:\n"
        "    import mcpframe_tests_native\n"
        "    return mcpframe_tests_native.version()\n"
        "main = server.run\n"
    )
    requires = ["mcp>=2", "mcpframe-tests-native"]
    files, scripts = {"lazy_server.py": code}, {"lazy": "lazy_server:main"}
    write_wheel(index, "mcpframe-tests-lazy", files, requires=requires, scripts=scripts)
    project = package_project(
        "mcpframe-tests-lazy", tmp_path / "project", options=PackageOptions(allowed_origins=["*"])
    )
    result = build(project, tmp_path / "out", snapshot=False)
    assert result.notes[0].startswith("mcpframe-tests-native 1.0 is left out")
    answer = json.loads(call(page, host, f"{serving(tmp_path / 'out')}/mcpframe-tests-lazy/", "version"))
    assert "mcpframe_tests_native.version is not available in this page" in answer["content"][0]["text"]


READING = '''
import inspect

from pydantic import BaseModel, ConfigDict


class Query(BaseModel):
    model_config = ConfigDict(use_attribute_docstrings=True)

    text: str
    """The words to look for."""


def where() -> None:
    """Has no body."""


WHERE = inspect.getsource(where)
'''
ASKING = '''
from mcpframe import FrameServer
from mcpframe_tests_reading.models import WHERE, Query

server = FrameServer("reading", allowed_origins=["*"])


@server.tool()
def find(query: Query) -> str:
    """Finds words."""
    return WHERE
'''


def test_the_sources_that_a_package_reads_are_in_its_bundle(
    page: Page, host: str, serving: Serving, index: Path, tmp_path: Path
) -> None:
    files = {"mcpframe_tests_reading/__init__.py": "", "mcpframe_tests_reading/models.py": READING}
    write_wheel(index, "mcpframe-tests-reading", files)
    write_wheel(index, "mcpframe-tests-read-by-nobody", {"mcpframe_tests_unread.py": "X = 1"})
    needed = '["mcpframe-tests-reading", "mcpframe-tests-read-by-nobody"]'
    project = write_project(tmp_path / "project", server=ASKING, dependencies=needed)
    result = build(project, tmp_path / "out", snapshot=True)
    [tool] = result.manifest["tools"]
    assert tool["inputSchema"]["$defs"]["Query"]["properties"]["text"]["description"] == "The words to look for."
    assert result.manifest["start"] == "starts from a snapshot with the server imported"
    answer = json.loads(call(page, host, f"{serving(tmp_path / 'out')}/adder/", "find", '{"query": {"text": "a"}}'))
    assert answer["structuredContent"]["result"].startswith("def where()")
    names = [
        name
        for file in (tmp_path / "out" / "_mcpframe").glob("packages.zip.*.wasm")
        for name in zipfile.ZipFile(file).namelist()
    ]
    assert [name for name in names if name.endswith(".py")] == list(files)
    assert result.manifest["sources"] == ["mcpframe_tests_reading"]  # for a draft, which is not imported
