"""uv runs no code of a package on this machine, whatever asks for it. The programs are the real ones; no network."""

from __future__ import annotations

import socket
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from mcpframe.kit.base.errors import ToolFailed
from mcpframe.kit.base.processes import run_tool
from mcpframe.kit.bundle.packages import pins
from mcpframe.kit.bundle.packages.inert_python import REFUSAL, InertPython, inert_python
from mcpframe.kit.bundle.packages.pins import compile_pins
from tests.support.wheels import use_index, write_source, write_wheel

NAME = "mcpframe-tests-sources"
MARK = "from pathlib import Path; Path({marker!r}).touch()\n"
BACKEND = """\
{mark}

def prepare_metadata_for_build_wheel(folder, settings=None):
    info = Path(folder, "mcpframe_tests_sources-1.0.dist-info")
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\\nName: mcpframe-tests-sources\\nVersion: 1.0\\n")
    return info.name

def build_wheel(folder, settings=None, metadata=None):
    raise OSError

def get_requires_for_build_wheel(settings=None):
    return []
"""
# Each package declares its build in another way.
WITH_BACKEND = '[build-system]\nrequires = ["mcpframe-tests-backend"]\nbuild-backend = "mcpframe_tests_backend"\n'
IN_TREE = '[build-system]\nrequires = []\nbuild-backend = "own"\nbackend-path = ["."]\n'
DYNAMIC = f'[project]\nname = "{NAME}"\nversion = "1.0"\ndynamic = ["dependencies"]\n'
KINDS: Mapping[str, Mapping[str, str]] = {
    "a declared backend": {"pyproject.toml": WITH_BACKEND},
    "its own backend": {"pyproject.toml": IN_TREE, "own.py": "{backend}"},
    "its own backend, and dynamic metadata": {"pyproject.toml": IN_TREE + DYNAMIC, "own.py": "{backend}"},
    "a backend by injection": {
        "pyproject.toml": IN_TREE.replace('"own"', '"own\\nimport own"'),
        "own.py": "{backend}",
    },
    "setup.py alone": {"setup.py": "{mark}"},
    "setup.py, and a pyproject.toml without a backend": {"setup.py": "{mark}", "pyproject.toml": ""},
}


@pytest.fixture
def marker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that each package's code writes."""
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("UV_DEFAULT_INDEX", (tmp_path / "empty").as_uri())
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv"))  # which has metadata of earlier builds
    monkeypatch.delenv("UV_FIND_LINKS", raising=False)
    use_index(tmp_path / "index", monkeypatch)
    return tmp_path / "marker"


def publish(index: Path, marker: Path, files: Mapping[str, str]) -> None:
    mark = MARK.format(marker=str(marker))
    backend = BACKEND.format(mark=mark)
    texts = {path: text.replace("{backend}", backend).replace("{mark}", mark) for path, text in files.items()}
    write_source(index, NAME, files=texts, is_dynamic=True)
    write_wheel(index, "mcpframe-tests-backend", {"mcpframe_tests_backend.py": backend})
    legacy = f"class L:\n    build_wheel = 0\n__legacy__ = L()\n{mark}"
    write_wheel(index, "setuptools", {"setuptools/__init__.py": "", "setuptools/build_meta.py": legacy}, version="1000")


@pytest.mark.parametrize("files", KINDS.values(), ids=KINDS)
def test_uv_runs_no_code_of_a_package(files: Mapping[str, str], marker: Path) -> None:
    publish(marker.parent / "index", marker, files)
    found = compile_pins([NAME], {}, {}, sdk=None)
    assert (found[NAME].version, found[NAME].required_by) == ("1.0", ("server",))
    assert not marker.exists()


def test_uv_fetches_nothing_for_a_build(marker: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        where = f"127.0.0.1:{listener.getsockname()[1]}/evil"
        requires = f'requires = ["a @ http://{where}.zip", "b @ git+http://{where}"]\n'
        publish(marker.parent / "index", marker, {"pyproject.toml": IN_TREE.replace("requires = []\n", requires)})
        assert compile_pins([NAME], {}, {}, sdk=None)[NAME].version == "1.0"
        with pytest.raises(BlockingIOError):
            listener.accept()


def test_with_a_real_python_it_would(marker: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    publish(marker.parent / "index", marker, KINDS["its own backend"])
    monkeypatch.setattr(pins, "inert_python", lambda: InertPython(sys.executable))
    compile_pins([NAME], {}, {}, sdk=None)
    assert marker.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="there it is a Python that ends at once")
def test_the_program_runs_nothing(tmp_path: Path) -> None:
    python = inert_python()
    script = f"open({str(tmp_path / 'written')!r}, 'w')"
    with pytest.raises(ToolFailed, match=REFUSAL):
        run_tool([python.program, "-c", script], "python")
    answer = run_tool([python.program, "-I", "-B", "-c", script], "python")
    assert not (tmp_path / "written").exists()
    assert sys.executable not in answer
    assert str(Path(sys.executable).resolve().parent) not in answer


@pytest.mark.skipif(sys.platform != "win32", reason="elsewhere it is no Python")
def test_on_windows_python_ends_before_it_runs_anything() -> None:
    python = inert_python()
    with pytest.raises(ToolFailed, match=REFUSAL):
        run_tool([python.program, "-c", "print(1)"], "python", environment=python.environment)


def test_packages_of_one_resolution_are_unknown_together(marker: Path) -> None:
    index = marker.parent / "index"
    for name in ("a", "b", "c"):
        write_source(index, f"{NAME}-{name}", files={"setup.py": ""}, is_dynamic=True)
    write_wheel(index, "mcpframe-tests-parent", {}, requires=[f"{NAME}-{name}" for name in ("a", "b", "c")])
    assert len(compile_pins(["mcpframe-tests-parent"], {}, {}, sdk=None)) == 4
