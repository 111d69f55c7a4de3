"""Packages that have only sources: built in Pyodide, confined, into wheels that are the same everywhere."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from mcpframe.kit.base.cache import sha256_of
from mcpframe.kit.base.errors import HashMismatch
from mcpframe.kit.bundle.packages import source_builds
from mcpframe.kit.bundle.packages.lock import Locked
from mcpframe.kit.bundle.packages.no_wheel import NoWheelFound
from mcpframe.kit.bundle.packages.resolve import resolve
from mcpframe.kit.bundle.packages.source_builds import SourceBuilds, rebuild
from mcpframe.kit.bundle.packages.wheels import wheel_path
from mcpframe.kit.bundle.pyodide.archive import unpack, unpacking
from mcpframe.kit.bundle.pyodide.packages import PyodidePackages
from mcpframe.kit.bundle.pyodide.runtime import Runtime, ensure_runtime
from tests.support.suites import extended
from tests.support.wheels import use_index, write_source, write_wheel

NAME = "mcpframe-tests-sources"
MODULE = "mcpframe_tests_sources.py"
PROJECT = f'[project]\nname = "{NAME}"\nversion = "1.0"\ndependencies = ["mcpframe-tests-more"]\n'
SYSTEM = '[build-system]\nrequires = ["{0}"]\nbuild-backend = "{1}"\n'
SETUP = f"""
from setuptools import setup
setup(name="{NAME}", version="1.0", py_modules=["mcpframe_tests_sources"], install_requires=["mcpframe-tests-more"])
"""
POETRY = f"""
[tool.poetry]
name = "{NAME}"
version = "1.0"
description = ""
authors = []
[tool.poetry.dependencies]
mcpframe-tests-more = "*"
"""
FLIT = f'[project]\nname = "{NAME}"\nversion = "1.0"\ndescription = "x"\ndependencies = ["mcpframe-tests-more"]\n'
BACKENDS: Mapping[str, Mapping[str, str]] = {
    "setup.py": {"setup.py": SETUP},
    "hatchling": {"pyproject.toml": SYSTEM.format("hatchling", "hatchling.build") + PROJECT},
    "setuptools": {"pyproject.toml": SYSTEM.format("setuptools>=61", "setuptools.build_meta") + PROJECT},
    "flit_core": {"pyproject.toml": SYSTEM.format("flit_core>=3.2", "flit_core.buildapi") + FLIT},
    "poetry-core": {"pyproject.toml": SYSTEM.format("poetry-core", "poetry.core.masonry.api") + POETRY},
    "pdm-backend": {"pyproject.toml": SYSTEM.format("pdm-backend", "pdm.backend") + PROJECT},
}
# A backend of its own, with a build that is given.
OWN = '[build-system]\nrequires = []\nbuild-backend = "own"\nbackend-path = ["."]\n'
BACKEND = f"""
import io, json, os, zipfile
from pathlib import Path
from typing import Any

INFO = "mcpframe_tests_sources-1.0.dist-info"

def wheel(folder, files):
    name = "mcpframe_tests_sources-1.0-py3-none-any.whl"
    metadata = "Metadata-Version: 2.1\\nName: {NAME}\\nVersion: 1.0\\n"
    with zipfile.ZipFile(Path(folder, name), "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in {{INFO + "/METADATA": metadata, INFO + "/WHEEL": "", **files}}.items():
            archive.writestr(path, data)
    return name
"""


@pytest.fixture(scope="module")
def runtime() -> Runtime:
    return ensure_runtime()


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    use_index(tmp_path / "index", monkeypatch)
    return tmp_path / "index"


def built(runtime: Runtime, name: str = NAME) -> Locked:
    builds = SourceBuilds(runtime)
    package = builds.wheel(name, "1.0")
    assert package is not None, builds.failures
    return package


def failure(runtime: Runtime) -> str:
    builds = SourceBuilds(runtime)
    assert builds.wheel(NAME, "1.0") is None
    return builds.failures[NAME]


def write_own(index: Path, code: str) -> None:
    """Write sources whose build runs code."""
    files = {"pyproject.toml": OWN, "own.py": BACKEND + code}
    write_source(index, NAME, files=files, is_dynamic=True)


@pytest.mark.extended
@pytest.mark.parametrize("backend", BACKENDS)
def test_sources_become_a_wheel(index: Path, runtime: Runtime, backend: str) -> None:
    write_source(index, NAME, files={**BACKENDS[backend], MODULE: "X = 1\n"}, is_dynamic=True)
    builds = SourceBuilds(runtime)
    package = builds.wheel(NAME, "1.0")
    assert package is not None, builds.failures
    files = unpack(wheel_path(package))
    assert (package.filename, files[MODULE]) == ("mcpframe_tests_sources-1.0-py3-none-any.whl", b"X = 1\n")
    assert builds.required_by_sources(NAME, "1.0") == ("mcpframe-tests-more",)
    assert package.built_from is not None
    assert any(tool.name in backend.replace("_", "-") or backend == "setup.py" for tool in package.built_from.tools)


@pytest.mark.extended
@pytest.mark.parametrize("backend", ["setup.py", *(extended(name) for name in BACKENDS if name != "setup.py")])
def test_another_machine_builds_the_same_wheel(index: Path, runtime: Runtime, backend: str) -> None:
    write_source(index, NAME, files={**BACKENDS[backend], MODULE: "X = 1\n"}, is_dynamic=True)
    package = built(runtime)
    wheel_path(package).unlink()
    rebuild(package, runtime)
    assert sha256_of(wheel_path(package)) == package.sha256


@pytest.mark.extended
def test_another_wheel_than_the_locked_one_is_refused(index: Path, runtime: Runtime) -> None:
    write_own(index, "def build_wheel(folder, *_):\n    return wheel(folder, {'module.py': ''})\n")
    package = replace(built(runtime), sha256="0" * 64)
    with pytest.raises(HashMismatch, match="is not the locked one"):
        rebuild(package, runtime)
    assert not wheel_path(package).exists()


def test_a_build_reaches_nothing_of_this_machine(index: Path, runtime: Runtime, tmp_path: Path) -> None:
    """It starts nothing, reads and writes no file, and connects to nothing."""
    secret = tmp_path / "secret"
    secret.write_text("secret")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        port = listener.getsockname()[1]
        write_own(
            index,
            f"""
def attempt(act):
    try:
        return repr(act())
    except BaseException as error:
        return type(error).__name__

def build_wheel(folder, settings=None, metadata=None):
    import socket, subprocess, urllib.request
    import js
    from pyodide.code import run_js
    outcomes = {{
        "read": attempt(lambda: Path({str(secret)!r}).read_text()),
        "write in": attempt(lambda: Path("/in/given.json").write_text("x")),
        "start": attempt(lambda: subprocess.run(["touch", {str(tmp_path / "started")!r}])),
        "connect": attempt(lambda: socket.create_connection(("127.0.0.1", {port}), 1)),
        "request": attempt(lambda: urllib.request.urlopen("http://127.0.0.1:{port}/", timeout=1)),
        "node": attempt(lambda: run_js("process.env")),
        "environment": json.dumps(sorted(os.environ)),
    }}
    attempt(lambda: os.system({f"touch {tmp_path / 'started'}"!r}))
    attempt(lambda: Path({str(tmp_path / "written")!r}).write_text("x"))
    attempt(lambda: js.fetch("http://127.0.0.1:{port}/"))
    return wheel(folder, {{"outcomes.json": json.dumps(outcomes)}})
""",
        )
        outcomes = json.loads(unpack(wheel_path(built(runtime)))["outcomes.json"])
        with pytest.raises(BlockingIOError):
            listener.accept()
    environment = json.loads(outcomes.pop("environment"))
    assert not {"HOSTNAME", "PIP_FIND_LINKS", "UV_FIND_LINKS", "MCPFRAME_CACHE"} & set(environment)
    assert all(outcome.endswith(("Error", "Exception")) for outcome in outcomes.values()), outcomes
    assert not [path for path in (tmp_path / "started", tmp_path / "written") if path.exists()]


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("def build_wheel(*_):\n    raise ValueError('no \\x1b[31mreason')", "its build fails .*no reason|no .*reason"),
        extended(
            "def build_wheel(*_):\n    print('begun')\n    print('\\x1b[31mno cc')\n    raise SystemExit(3)",
            "its build fails .*SystemExit: 3; it printed '.*no cc'",
        ),
        extended("def build_wheel(*_):\n    os._exit(0)", "build_wheel"),
        extended(
            "def build_wheel(*_):\n    import subprocess; subprocess.run(['cc'])", "no compiler, no other program"
        ),
        extended("def build_wheel(folder, *_):\n    return wheel(folder, {'../evil.py': ''})", "leads out of it"),
        extended("def build_wheel(folder, *_):\n    return wheel(folder, {'big': bytes(17_000_000)})", "unpacks to 17"),
        extended("def build_wheel(folder, *_):\n    return '../../in/given.json'", "returns no wheel"),
        extended(
            "def get_requires_for_build_wheel(*_):\n    return ['a @ https://evil.example/a.whl']", "its build needs"
        ),
        extended("def get_requires_for_build_wheel(*_):\n    return ['-r /etc/passwd']", "its build needs '-r"),
    ],
)
def test_a_build_that_goes_wrong_says_why(index: Path, runtime: Runtime, code: str, told: str) -> None:
    write_own(index, code)
    with unpacking(64):
        reason = failure(runtime)
    assert re.search(told, reason), reason
    assert "\x1b" not in reason


@pytest.mark.extended
def test_a_build_that_never_ends_is_stopped(index: Path, runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_builds, "PATIENCE", 1.0)
    write_own(index, "while True:\n    pass\n")
    assert failure(runtime) == "its build takes more than 1 seconds"


def test_a_build_with_a_native_tool_says_which(index: Path, runtime: Runtime) -> None:
    write_wheel(index, "mcpframe-tests-native", {}, tag="cp314-cp314-manylinux_2_28_x86_64")
    write_source(index, "mcpframe-tests-native")
    write_source(
        index, NAME, files={"pyproject.toml": SYSTEM.format("mcpframe-tests-native", "native")}, is_dynamic=True
    )
    assert "its build needs mcpframe-tests-native" in failure(runtime)


def test_a_package_is_built_if_that_is_allowed(index: Path, runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    code = f"""
def build_wheel(folder, *_):
    metadata = "Metadata-Version: 2.1\\nName: {NAME}\\nVersion: 1.0\\nRequires-Dist: mcpframe-tests-more\\n"
    return wheel(folder, {{"module.py": "", INFO + "/METADATA": metadata}})
"""
    write_own(index, code)
    write_wheel(index, "mcpframe-tests-parent", {}, requires=[NAME])
    write_wheel(index, "mcpframe-tests-more", {})
    pyodide = PyodidePackages(runtime)
    with pytest.raises(NoWheelFound, match="--build-sdists"):
        resolve(["mcpframe-tests-parent"], pyodide, inputs="")
    lock = resolve(["mcpframe-tests-parent"], pyodide, inputs="", build_sdists=True)
    found = {package.name: package for package in lock.packages}
    assert found["mcpframe-tests-more"].required_by == (NAME,)
    package = found[NAME]
    assert (package.source, package.required_by) == ("sources", ("mcpframe-tests-parent",))
    assert f"{NAME} 1.0 was built from its sources" in lock.notes
    # Sources that changed since then are not built.
    wheel_path(package).unlink()
    write_own(index, code + "X = 1")
    with pytest.raises(HashMismatch, match=r"other sources of mcpframe-tests-sources 1\.0 than the locked"):
        rebuild(package, runtime)
