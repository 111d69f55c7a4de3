"""A distribution of packages with native code: a folder or an address with its own lock."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.staticfiles import StaticFiles

from mcpframe.kit.base.errors import BuildError, ConfigError, DownloadError, HashMismatch
from mcpframe.kit.bundle import project_lock
from mcpframe.kit.bundle.packages.fetch import fetch_wheels
from mcpframe.kit.bundle.packages.lock import Lock, Locked, read_lock
from mcpframe.kit.bundle.project_lock import ProjectLock
from mcpframe.kit.bundle.pyodide.packages import LOCK, PyodidePackages
from mcpframe.kit.bundle.pyodide.runtime import Runtime
from mcpframe.kit.bundle.pyodide.version import ABI
from mcpframe.kit.project.project import find_project, with_distribution
from mcpframe.kit.web.serve import serve_app

FILES = {name: f"{name}-1.0-cp314-cp314-pyemscripten_2026_0_wasm32.whl" for name in ("one", "two", "three")}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCPFRAME_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("MCPFRAME_PYODIDE_PACKAGES", raising=False)


def lock_of(abi: str = ABI, version: str = "1.0") -> str:
    packages = {
        name.title(): {
            "version": version,
            "file_name": filename,
            "sha256": hashlib.sha256(name.encode()).hexdigest(),
            "depends": ["Two", "libfour"] if name == "one" else [],
            "package_type": "package",
        }
        for name, filename in FILES.items()
    }
    four = {"file_name": "libfour.zip", "sha256": hashlib.sha256(b"four").hexdigest()}
    library = {"version": "4", **four, "depends": [], "package_type": "shared_library"}
    return json.dumps({"info": {"abi_version": abi}, "packages": {**packages, "libfour": library}})


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    folder = tmp_path / "runtime"
    folder.mkdir()
    (folder / LOCK).write_text(json.dumps({"info": {"abi_version": ABI}, "packages": {}}))
    return Runtime(folder)


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    folder = tmp_path / "mirror"
    folder.mkdir()
    for name, filename in FILES.items():
        (folder / filename).write_bytes(name.encode())
    (folder / "libfour.zip").write_bytes(b"four")
    (folder / LOCK).write_text(lock_of())
    return folder


@pytest.fixture
def address(mirror: Path) -> Iterator[str]:
    app = Starlette()
    app.mount("/full", StaticFiles(directory=mirror))
    with serve_app(app) as serving:
        yield f"{serving.origin}/full/"


def locked(name: str) -> Locked:
    return Locked(name, "1.0", FILES[name], hashlib.sha256(name.encode()).hexdigest(), "pyodide", ("server",))


def test_a_folder_and_an_address_are_the_same_distribution(runtime: Runtime, mirror: Path, address: str) -> None:
    for source in (mirror, address):
        packages = PyodidePackages(runtime, source)
        found = packages.find("one")
        assert found is not None
        assert found.depends == ("two", "libfour")
        assert packages.lock_sha256 == hashlib.sha256(lock_of().encode()).hexdigest()
    fetched = fetch_wheels([locked("one"), locked("two")], packages)
    assert fetched["two"].read_bytes() == b"two"


def test_the_lock_of_an_address_is_read_again_to_renew_it(runtime: Runtime, mirror: Path, address: str) -> None:
    earlier = PyodidePackages(runtime, address).lock_sha256
    (mirror / LOCK).write_text(lock_of(version="1.1"))
    assert PyodidePackages(runtime, address).lock_sha256 == earlier
    assert PyodidePackages(runtime, address, renewed=True).lock_sha256 != earlier


def test_a_folder_without_a_lock_has_the_files_of_the_runtimes(runtime: Runtime, mirror: Path) -> None:
    (mirror / LOCK).unlink()
    assert PyodidePackages(runtime, mirror).lock_sha256 == ""


@pytest.mark.parametrize(("text", "told"), [(lock_of("2025_0"), "the ABI 2025_0, not 2026_0"), ("[]", "not a lock")])
def test_a_lock_that_does_not_fit_is_refused(runtime: Runtime, mirror: Path, text: str, told: str) -> None:
    (mirror / LOCK).write_text(text)
    with pytest.raises(BuildError, match=told):
        PyodidePackages(runtime, mirror).find("one")


def test_all_missing_files_are_named_at_once(runtime: Runtime, mirror: Path, address: str) -> None:
    (mirror / FILES["one"]).unlink()
    (mirror / FILES["three"]).unlink()
    for source, error in ((mirror, BuildError), (address, DownloadError)):
        with pytest.raises(error) as caught:
            fetch_wheels([*map(locked, FILES)], PyodidePackages(runtime, source))
        assert FILES["one"] in str(caught.value)
        assert FILES["three"] in str(caught.value)
        assert FILES["two"] not in str(caught.value)


def test_a_folder_is_made_of_packages_and_what_they_need(
    tmp_path: Path, runtime: Runtime, mirror: Path, address: str
) -> None:
    made = tmp_path / "made"
    files = PyodidePackages(runtime, address).fetch_into(made, ["One"])
    assert sorted(files) == sorted([FILES["one"], FILES["two"], "libfour.zip"])
    assert PyodidePackages(runtime, made).lock_sha256 == PyodidePackages(runtime, mirror).lock_sha256
    (mirror / FILES["one"]).unlink()
    PyodidePackages(runtime, address).fetch_into(made, ["one", "three"])  # fetches what is not there
    (mirror / FILES["three"]).write_bytes(b"another")
    with pytest.raises(HashMismatch, match="three"):
        PyodidePackages(runtime, mirror).fetch_into(tmp_path / "other", ["three"])
    with pytest.raises(BuildError, match="has no five, six"):
        PyodidePackages(runtime, mirror).fetch_into(tmp_path / "other", ["six", "five"])


@pytest.mark.parametrize("value", ["http://mirror.example/", "ftp://mirror.example/", "https://"])
def test_other_addresses_are_refused(tmp_path: Path, value: str) -> None:
    (tmp_path / "server.py").write_text("server = None\n")
    with pytest.raises(ConfigError, match="distribution"):
        with_distribution(find_project(tmp_path / "server.py"), value)


def test_a_lock_belongs_to_its_distribution(
    tmp_path: Path, runtime: Runtime, mirror: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "server.py").write_text(
        "# /// script\n# [tool.mcpframe]\n# distribution = 'mirror'\n# ///\nserver = 1\n"
    )
    project = find_project(tmp_path / "server.py")
    resolved: list[str] = []

    def resolve(_: object, packages: PyodidePackages, *, inputs: str, **__: Any) -> Lock:
        resolved.append(packages.lock_sha256)
        return Lock(inputs, (), distribution=packages.lock_sha256)

    def locking(source: str | None, *, upgrade: bool = False) -> ProjectLock:
        return ProjectLock(project, {}, PyodidePackages(runtime, source), upgrade=upgrade)

    monkeypatch.setattr(project_lock, "resolve", resolve)
    locking(project.distribution).resolve()
    locking(project.distribution).resolve()
    assert resolved == [hashlib.sha256(lock_of().encode()).hexdigest()]
    written = read_lock(project.lock_path)
    assert written is not None
    assert written.distribution == resolved[0]
    for source in (None, str(mirror)):
        (mirror / LOCK).write_text(lock_of(version="1.1"))
        with pytest.raises(BuildError, match="another distribution"):
            locking(source).resolve()
    locking(str(mirror), upgrade=True).resolve()
    assert len(resolved) == 2
