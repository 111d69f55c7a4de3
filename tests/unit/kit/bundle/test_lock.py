"""The lock file: what is written is read, and a file that is none is refused with what to do."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mcpframe.kit.base.errors import BuildError
from mcpframe.kit.bundle.packages.lock import BuiltFrom, Lock, Locked, Tool, inputs_hash, read_lock, write_lock


def locked(name: str, *required_by: str) -> Locked:
    return Locked(name, "1.0", f"{name}-1.0-py3-none-any.whl", "0" * 64, "index", required_by)


LOCK = Lock("inputs", (locked("a", "server"), locked("b", "a"), locked("c", "b", "d"), locked("d", "mcpframe")))


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "mcpframe.lock"
    write_lock(path, LOCK)
    assert read_lock(path) == LOCK
    assert "http" not in path.read_text()


BUILT = replace(
    locked("e"),
    source="sources",
    built_from=BuiltFrom("e-1.0.tar.gz", "1" * 64, (Tool("setuptools", "80.0", "2" * 64),)),
)


def test_a_wheel_that_is_built_has_its_sources_and_tools(tmp_path: Path) -> None:
    path = tmp_path / "mcpframe.lock"
    write_lock(path, replace(LOCK, packages=(*LOCK.packages, BUILT)))
    found = read_lock(path)
    assert found is not None
    assert found.packages[-1] == BUILT
    assert path.read_text().count("built_from") == 1


@pytest.mark.parametrize(
    "change",
    [
        lambda package: package.pop("built_from"),
        lambda package: package["built_from"].update(filename="../e-1.0.tar.gz"),
        lambda package: package["built_from"].update(filename="e-1.0-py3-none-any.whl"),
        lambda package: package["built_from"].update(sha256="xyz"),
        lambda package: package["built_from"].pop("tools"),
        lambda package: package["built_from"]["tools"][0].update(version="1\n--index-url=https://evil.example"),
        lambda package: package["built_from"]["tools"][0].update(name="Set up"),
        lambda package: package["built_from"]["tools"][0].update(sha256=None),
    ],
)
def test_sources_that_are_none_are_refused(tmp_path: Path, change: Any) -> None:
    path = tmp_path / "mcpframe.lock"
    write_lock(path, Lock("inputs", (BUILT,)))
    data = json.loads(path.read_text())
    change(data["packages"][0])
    path.write_text(json.dumps(data))
    with pytest.raises(BuildError, match="is not a lock"):
        read_lock(path)


def test_no_file_is_no_lock(tmp_path: Path) -> None:
    assert read_lock(tmp_path / "mcpframe.lock") is None


@pytest.mark.parametrize(("roots", "found"), [(["a"], "abc"), (["d"], "cd"), (["c"], "c"), ([], ""), (["nothing"], "")])
def test_a_closure_is_what_a_package_needs(roots: list[str], found: str) -> None:
    assert "".join(package.name for package in LOCK.closure(roots)) == found


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda data: data.update(format=99), "has format 99"),
        (lambda data: data.pop("packages"), "is not a lock"),
        (lambda data: data["packages"][0].update(filename="../evil.whl"), "is not a lock"),
        (lambda data: data["packages"][0].update(sha256="xyz"), "is not a lock"),
        (lambda data: data["packages"][0].update(source="somewhere"), "is not a lock"),
        (lambda data: data["packages"][0].update(name="A_b"), "is not a lock"),
        # pip reads what is made of them line by line
        (lambda data: data["packages"][0].update(name="a\nb"), "is not a lock"),
        (lambda data: data["packages"][0].update(version="1.0\n--index-url=https://evil.example"), "is not a lock"),
        (lambda data: data["packages"][0].update(version="1.0\n"), "is not a lock"),
        (lambda data: data["packages"][0].update(version="1.0 --pre"), "is not a lock"),
        (lambda data: data["packages"][0].update(version=["1.0"]), "is not a lock"),
        (lambda data: data["packages"][0].update(filename="a-1.0-py3-none-any.whl\n-r x"), "is not a lock"),
        (lambda data: data["packages"][0].update(filename="a-1.0-py3-none-any.exe"), "is not a lock"),
        (lambda data: data["packages"][0].update(required_by=["x\ny"]), "is not a lock"),
    ],
)
def test_a_file_that_is_no_lock_is_refused(tmp_path: Path, change: Any, told: str) -> None:
    path = tmp_path / "mcpframe.lock"
    write_lock(path, LOCK)
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))
    with pytest.raises(BuildError, match=told):
        read_lock(path)


def test_text_that_is_not_json_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mcpframe.lock"
    path.write_text("<<<<<<< ours")
    with pytest.raises(BuildError, match=r"cannot be read .* delete it to resolve anew"):
        read_lock(path)


def test_the_hash_of_the_inputs_knows_groups_but_no_order() -> None:
    assert inputs_hash(["a", "b"], ["c"]) == inputs_hash(["b", "a"], ["c"])
    assert inputs_hash(["a", "b"], ["c"]) != inputs_hash(["a"], ["b", "c"])


@pytest.mark.parametrize("version", ["1.0", "2024.02.02", "1!2.0", "1.0+cpu.1", "2.0.0rc1", "1.0.post1", "1.0-1"])
def test_every_version_that_packages_have_is_read(tmp_path: Path, version: str) -> None:
    lock = Lock("inputs", (replace(locked("a", "server"), version=version),))
    write_lock(tmp_path / "mcpframe.lock", lock)
    assert read_lock(tmp_path / "mcpframe.lock") == lock
