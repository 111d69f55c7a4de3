"""The sources of packages: found, fetched and unpacked, with no code of theirs run."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from mcpframe.kit.base.errors import BuildError, HashMismatch
from mcpframe.kit.bundle.packages import sources
from mcpframe.kit.bundle.packages.sources import fetch_sources, find_sources, unpack_sources
from mcpframe.kit.bundle.pyodide.archive import unpacking
from tests.support.wheels import use_index, write_source, write_wheel

NAME = "mcpframe-tests-sources"
NATIVE = "cp314-cp314-manylinux_2_28_x86_64"


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MCPFRAME_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("UV_OFFLINE", "1")
    monkeypatch.delenv("UV_FIND_LINKS", raising=False)
    use_index(tmp_path / "index", monkeypatch)
    return tmp_path / "index"


@pytest.mark.parametrize("is_dynamic", [True, False])
def test_a_version_that_has_only_sources(index: Path, is_dynamic: bool) -> None:
    written = write_source(index, NAME, files={"setup.py": ""}, is_dynamic=is_dynamic)
    found = find_sources(NAME, "1.0")
    assert found is not None
    assert (found.name, found.version, found.filename) == (NAME, "1.0", written.name)
    fetched = fetch_sources(found)
    assert fetched.read_bytes() == written.read_bytes()
    assert unpack_sources(fetched)["setup.py"] == b""
    written.unlink()
    assert fetch_sources(found) == fetched  # it is in the cache


@pytest.mark.parametrize("tag", ["py3-none-any", NATIVE])
def test_a_version_with_a_wheel_is_not_built(index: Path, tag: str) -> None:
    write_source(index, NAME)
    write_wheel(index, NAME, {}, tag=tag)
    assert find_sources(NAME, "1.0") is None
    assert find_sources(NAME, "1.0", alone=False) is not None


def test_another_file_than_the_index_lists_is_refused(index: Path) -> None:
    written = write_source(index, NAME)
    found = find_sources(NAME, "1.0")
    assert found is not None
    written.write_bytes(b"other")
    with pytest.raises(HashMismatch, match="is not the file that the package index lists"):
        fetch_sources(found)


def archive(tmp_path: Path, *members: tuple[tarfile.TarInfo, bytes]) -> Path:
    path = tmp_path / "a-1.0.tar.gz"
    with tarfile.open(path, "w:gz") as tar:
        for member, content in members:
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return path


def member(name: str, kind: bytes = tarfile.REGTYPE, to: str = "", **pax: str) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.pax_headers = kind, to, pax
    return info


@pytest.mark.parametrize("name", ["../evil", "/evil", "a-1.0/../../evil", "a-1.0\\..\\evil", "b-1.0/file", "file"])
def test_a_path_that_leads_out_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(BuildError, match=r"leads out of it|one top folder"):
        unpack_sources(archive(tmp_path, (member("a-1.0/setup.py"), b""), (member(name), b"evil")))


def test_links_and_devices_are_left_out(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    found = unpack_sources(
        archive(
            tmp_path,
            (member("a-1.0/setup.py"), b"code"),
            (member("a-1.0/link", tarfile.SYMTYPE, str(secret)), b""),
            (member("a-1.0/link/file"), b"through"),
            (member("a-1.0/hard", tarfile.LNKTYPE, "a-1.0/setup.py"), b""),
            (member("a-1.0/pipe", tarfile.FIFOTYPE), b""),
        )
    )
    assert found == {"setup.py": b"code", "link/file": b"through"}
    assert secret.read_text() == "secret"


@pytest.mark.parametrize(
    "make",
    [
        lambda path: archive(path, (member("a-1.0/big"), bytes(65_000_000))),
        lambda path: archive(path, (member("a-1.0/file", comment="x" * 65_000_000), b"")),
        lambda path: archive(path, *((member(f"a-1.0/{number}"), b"") for number in range(100))),
    ],
    ids=["a large file", "a large header", "many files"],
)
def test_what_unpacks_to_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], Path]
) -> None:
    monkeypatch.setattr(sources, "_MOST_FILES", 99)
    path = make(tmp_path)
    with pytest.raises(BuildError, match=r"unpacks to more than .* tool\.mcpframe\.max_unpacked"), unpacking(64):
        unpack_sources(path)


def test_a_damaged_archive_is_an_error(tmp_path: Path) -> None:
    path = archive(tmp_path, (member("a-1.0/file"), b"x" * 10_000))
    for data in (path.read_bytes()[:-20], b"no archive", b""):
        path.write_bytes(data)
        with pytest.raises(BuildError, match=r"is damaged|one top folder"):
            unpack_sources(path)


def test_a_zip_is_unpacked_too(tmp_path: Path) -> None:
    path = tmp_path / "a-1.0.zip"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("a-1.0/setup.py", "code")
    assert unpack_sources(path) == {"setup.py": b"code"}
