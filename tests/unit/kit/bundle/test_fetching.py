"""Wheels from pip and from Pyodide's distribution: the hash decides, and each failure says what to do."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from mcpframe.kit.base.errors import BuildError, DownloadError, HashMismatch, ToolFailed
from mcpframe.kit.bundle.packages import fetch
from mcpframe.kit.bundle.packages import wheels as module
from mcpframe.kit.bundle.packages.fetch import fetch_wheels
from mcpframe.kit.bundle.packages.lock import Locked
from mcpframe.kit.bundle.packages.wheels import NoWheel, download, wheel_path
from mcpframe.kit.bundle.pyodide.packages import PyodidePackages
from mcpframe.kit.bundle.pyodide.runtime import Runtime
from mcpframe.kit.bundle.pyodide.version import ABI
from tests.support.wheels import use_index, write_wheel

WHEEL = b"a wheel"
DIGEST = hashlib.sha256(WHEEL).hexdigest()
NAME = "thing-1.0-py3-none-any.whl"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MCPFRAME_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("MCPFRAME_PYODIDE_PACKAGES", raising=False)
    return tmp_path / "cache"


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    folder = tmp_path / "runtime"
    folder.mkdir()
    entry = {"version": "1.0", "file_name": NAME, "sha256": DIGEST, "depends": ["Other_One"], "package_type": "package"}
    library = {**entry, "package_type": "shared_library", "file_name": "libthing.zip"}
    (folder / "pyodide-lock.json").write_text(
        json.dumps({"info": {"abi_version": ABI}, "packages": {"Thing": entry, "libthing": library}})
    )
    return Runtime(folder)


def locked(source: str = "pyodide") -> Locked:
    return Locked("thing", "1.0", NAME, DIGEST, source, ("server",))  # type: ignore[arg-type]


def test_packages_are_found_by_normalized_name(runtime: Runtime) -> None:
    packages = PyodidePackages(runtime)
    found = packages.find("thing")
    assert found is not None
    assert (found.version, found.depends) == ("1.0", ("other-one",))
    assert packages.find("libthing") is None
    assert packages.find("nothing") is None


def test_a_package_comes_from_the_given_folder(tmp_path: Path, runtime: Runtime) -> None:
    (tmp_path / NAME).write_bytes(WHEEL)
    found = fetch_wheels([locked()], PyodidePackages(runtime, tmp_path))
    assert found["thing"].read_bytes() == WHEEL
    (tmp_path / NAME).unlink()
    assert fetch_wheels([locked()], PyodidePackages(runtime, tmp_path)) == found  # it is in the cache


def test_another_file_under_its_name_is_refused(tmp_path: Path, runtime: Runtime) -> None:
    (tmp_path / NAME).write_bytes(b"another")
    with pytest.raises(HashMismatch, match="is not the file that the lock names"):
        fetch_wheels([locked()], PyodidePackages(runtime, tmp_path))
    assert not wheel_path(locked()).exists()


def test_a_folder_without_the_package_is_an_error(tmp_path: Path, runtime: Runtime) -> None:
    with pytest.raises(BuildError, match="does not have thing"):
        fetch_wheels([locked()], PyodidePackages(runtime, tmp_path))


@pytest.mark.parametrize(
    ("output", "error", "told"),
    [
        (
            "ERROR: Could not find a version that satisfies the requirement Thing==1.0 (from versions: 0.8, 0.9)\n",
            NoWheel,
            "thing",
        ),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.", HashMismatch, "--upgrade"),
        ("WARNING: Retrying ... NewConnectionError: Name or service not known", DownloadError, "check the network"),
        ("ERROR: something else", ToolFailed, "pip failed"),
    ],
)
def test_what_pip_says_is_understood(
    monkeypatch: pytest.MonkeyPatch, output: str, error: type[Exception], told: str
) -> None:
    def run_tool(*_: object, **__: object) -> str:
        raise ToolFailed("pip failed", output)

    monkeypatch.setattr(module, "run_tool", run_tool)
    with pytest.raises(error, match=told) as caught:
        download({"thing": ("1.0", (DIGEST,))}, locked=True)
    if isinstance(caught.value, NoWheel):
        assert caught.value.versions == ("0.8", "0.9")


@pytest.mark.parametrize(
    "output",
    [
        (
            "ERROR: Ignored the following versions that require a different python version: 0.9 Requires-Python <3; "
            "1.0 Requires-Python ~=3.12.0\nERROR: Could not find a version that satisfies the requirement Thing==1.0 "
            "(from versions: 0.8)"
        ),
        "ERROR: Package 'Thing' requires a different Python: 3.14.0 not in '~=3.12.0'",
    ],
)
def test_the_pythons_that_a_wheel_is_for_are_the_reason(monkeypatch: pytest.MonkeyPatch, output: str) -> None:
    def run_tool(*_: object, **__: object) -> str:
        raise ToolFailed("pip failed", output)

    monkeypatch.setattr(module, "run_tool", run_tool)
    with pytest.raises(NoWheel) as caught:
        download({"thing": ("1.0", (DIGEST,))})
    assert (caught.value.name, caught.value.requires_python) == ("thing", "~=3.12.0")


def test_pip_says_which_python_a_wheel_is_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "index"
    wheel = write_wheel(folder, "forthree", {"forthree.py": ""}, requires_python="~=3.12.0")
    use_index(folder, monkeypatch)
    monkeypatch.setenv("PIP_NO_INDEX", "true")
    with pytest.raises(NoWheel) as caught:
        download({"forthree": ("1.0", (hashlib.sha256(wheel.read_bytes()).hexdigest(),))})
    assert (caught.value.name, caught.value.requires_python) == ("forthree", "~=3.12.0")


def test_what_pip_fetched_is_kept_under_its_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    def run_tool(command: list[str], *_: object, **__: object) -> str:
        folder = Path(command[command.index("--dest") + 1])
        folder.mkdir()
        (folder / NAME).write_bytes(WHEEL)
        assert DIGEST in Path(command[command.index("--requirement") + 1]).read_text()
        return ""

    monkeypatch.setattr(module, "run_tool", run_tool)
    assert download({"thing": ("1.0", (DIGEST,))}) == {"thing": ("1.0", NAME, DIGEST)}
    assert wheel_path(locked()).read_bytes() == WHEEL


def test_the_other_wheels_are_kept_where_one_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def run_tool(command: list[str], *_: object, **__: object) -> str:
        asked.append(Path(command[command.index("--requirement") + 1]).read_text())
        if "native" in asked[-1]:
            raise ToolFailed(
                "pip failed",
                "Could not find a version that satisfies the requirement native==1.0 (from versions: none)",
            )
        folder = Path(command[command.index("--dest") + 1])
        folder.mkdir()
        (folder / NAME).write_bytes(WHEEL)
        return ""

    monkeypatch.setattr(module, "run_tool", run_tool)
    with pytest.raises(NoWheel, match="native"):
        download({"native": ("1.0", ("ab" * 32,)), "thing": ("1.0", (DIGEST,))})
    assert len(asked) == 2
    assert download({"thing": ("1.0", (DIGEST,))}) == {"thing": ("1.0", NAME, DIGEST)}
    assert len(asked) == 2  # pip is not asked again
    wheel_path(locked()).unlink()
    download({"thing": ("1.0", (DIGEST,))})
    assert len(asked) == 3  # unless the cache has lost it


def test_a_wheel_that_changed_on_the_index_is_an_error(monkeypatch: pytest.MonkeyPatch, runtime: Runtime) -> None:
    monkeypatch.setattr(fetch, "download", lambda _, locked: {})
    with pytest.raises(HashMismatch, match=r"another wheel of thing 1\.0 than the locked one"):
        fetch_wheels([locked("index")], PyodidePackages(runtime))
