"""Getting the pinned runtime: every source, every failure.

The files here are small stand-ins with pins of their own.
"""

from __future__ import annotations

import errno
import hashlib
import io
import shutil
import socket
import tarfile
from pathlib import Path

import pytest

from mcpframe.kit.base.errors import DownloadError, HashMismatch, NodeMissing, ToolFailed, WriteError
from mcpframe.kit.bundle.pyodide import runtime
from mcpframe.kit.bundle.pyodide.runtime import ensure_runtime
from mcpframe.kit.bundle.pyodide.version import ABI, FILES, VERSION
from mcpframe.kit.web.serve import serve_folder

CONTENTS = {name: f"the {name}".encode() for name in FILES}


class FakeNode:
    """An npm client that packs `archive`, or fails."""

    def __init__(self, archive: bytes | None) -> None:
        self.archive = archive
        self.calls: list[tuple[str, ...]] = []

    def npm(self, *arguments: str, cwd: Path) -> str:
        self.calls.append(arguments)
        if self.archive is None:
            raise ToolFailed("npm failed with status 1: network unreachable")
        (cwd / "pyodide.tgz").write_bytes(self.archive)
        return ""


def tar(contents: dict[str, bytes], root: str, mode: str) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:  # type: ignore[call-overload]
        for name, content in contents.items():
            member = tarfile.TarInfo(f"{root}/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def packed(contents: dict[str, bytes] = CONTENTS) -> bytes:
    return tar({**contents, "package.json": b"{}", "deep/pyodide.mjs": b"not this one"}, "package", "w:gz")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder and pins of this test; no network: the release's address is a closed port."""
    monkeypatch.setenv("MCPFRAME_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("MCPFRAME_PYODIDE", raising=False)
    monkeypatch.setattr(runtime, "FILES", {name: hashlib.sha256(data).hexdigest() for name, data in CONTENTS.items()})
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        monkeypatch.setattr(runtime, "RELEASE_URL", f"http://127.0.0.1:{closed.getsockname()[1]}/core.tar.bz2")
    return tmp_path / "cache"


def use_npm(monkeypatch: pytest.MonkeyPatch, archive: bytes | None) -> FakeNode:
    node = FakeNode(archive)
    monkeypatch.setattr(runtime, "find_node", lambda: node)
    return node


def leftovers(cache: Path) -> list[str]:
    return (
        sorted(path.name for path in cache.iterdir() if path.name not in ("locks", "scratch")) if cache.exists() else []
    )


def assert_complete(folder: Path) -> None:
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == CONTENTS


def test_it_comes_from_npm_and_stays_in_the_cache(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    node = use_npm(monkeypatch, packed())
    found = ensure_runtime()
    assert_complete(found.folder)
    assert node.calls == [("pack", f"pyodide@{VERSION}", "--ignore-scripts", "--loglevel=error")]
    assert ensure_runtime() == found
    assert len(node.calls) == 1
    assert leftovers(cache) == [f"pyodide-{VERSION}"]


def test_it_says_what_it_knows() -> None:
    assert (runtime.Runtime(Path()).version, runtime.Runtime(Path()).abi) == (VERSION, ABI)
    assert runtime.Runtime(Path()).python_version.startswith("3.14.")


def test_a_damaged_cache_is_fetched_again(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_npm(monkeypatch, packed())
    folder = ensure_runtime().folder
    (folder / "pyodide.mjs").write_text("damaged")
    (folder / "python_stdlib.zip").unlink()
    assert_complete(ensure_runtime().folder)


@pytest.mark.parametrize("has_node", [True, False])
def test_it_comes_from_the_release_where_npm_fails_and_where_there_is_no_node(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_node: bool
) -> None:
    def none() -> None:
        raise NodeMissing("Node.js was not found.")

    use_npm(monkeypatch, None)
    if not has_node:
        monkeypatch.setattr(runtime, "find_node", none)
    site = tmp_path / "site"
    site.mkdir()
    (site / "core.tar.bz2").write_bytes(tar(CONTENTS, "pyodide", "w:bz2"))
    with serve_folder(site) as served:
        monkeypatch.setattr(runtime, "RELEASE_URL", f"{served.origin}/core.tar.bz2")
        assert_complete(ensure_runtime().folder)
    assert leftovers(cache) == [f"pyodide-{VERSION}"]


def test_without_network_there_is_one_error_and_nothing_else(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_npm(monkeypatch, None)
    with pytest.raises(DownloadError, match=r"network unreachable.*refused.*MCPFRAME_PYODIDE"):
        ensure_runtime()
    assert leftovers(cache) == []


def test_a_release_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_npm(monkeypatch, None)
    with serve_folder(tmp_path) as served:
        monkeypatch.setattr(runtime, "RELEASE_URL", f"{served.origin}/core.tar.bz2")
        with pytest.raises(DownloadError, match="Not Found"):
            ensure_runtime()


def test_a_wrong_hash_is_an_error_and_nothing_is_kept(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_npm(monkeypatch, packed({**CONTENTS, "pyodide.asm.wasm": b"something else"}))
    with pytest.raises(HashMismatch, match=r"pyodide\.asm\.wasm.*SHA-256"):
        ensure_runtime()
    assert leftovers(cache) == []


def test_an_archive_without_a_file_is_an_error(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_npm(monkeypatch, packed({name: data for name, data in CONTENTS.items() if name != "pyodide.mjs"}))
    with pytest.raises(HashMismatch, match=r"pyodide\.mjs is missing"):
        ensure_runtime()
    assert leftovers(cache) == []


@pytest.mark.parametrize("cut", [10, 200])
def test_a_damaged_archive_is_an_error(cache: Path, monkeypatch: pytest.MonkeyPatch, cut: int) -> None:
    use_npm(monkeypatch, packed()[:cut])
    with pytest.raises(HashMismatch, match="damaged"):
        ensure_runtime()
    assert leftovers(cache) == []


def test_a_damaged_release_is_an_error(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_npm(monkeypatch, None)
    site = tmp_path / "site"
    site.mkdir()
    archive = bytearray(tar({"pyodide.mjs": bytes(range(256)) * 8000}, "pyodide", "w:bz2"))
    archive[len(archive) // 2 :] = bytes(len(archive) - len(archive) // 2)
    (site / "core.tar.bz2").write_bytes(archive)
    with serve_folder(site) as served:
        monkeypatch.setattr(runtime, "RELEASE_URL", f"{served.origin}/core.tar.bz2")
        with pytest.raises(HashMismatch):
            ensure_runtime()
    assert leftovers(cache) == []


def test_an_oversized_file_is_refused(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "_MAX_FILE_BYTES", 10)
    use_npm(monkeypatch, packed())
    with pytest.raises(HashMismatch, match="bytes"):
        ensure_runtime()
    assert leftovers(cache) == []


def test_a_full_disk_is_an_error_and_nothing_is_kept(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_npm(monkeypatch, packed())
    written: list[object] = []

    def full(source: object, target: object, *_: object) -> None:
        written.append(target)
        if len(written) > 2:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(shutil, "copyfileobj", full)
    with pytest.raises(WriteError, match="disk is full"):
        ensure_runtime()
    assert len(written) == 3
    assert leftovers(cache) == []


def test_a_given_folder_is_used_where_it_is(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, data in CONTENTS.items():
        (tmp_path / name).write_bytes(data)
    assert ensure_runtime(tmp_path).folder == tmp_path
    monkeypatch.setenv("MCPFRAME_PYODIDE", str(tmp_path))
    assert ensure_runtime().folder == tmp_path
    assert leftovers(cache) == []


def test_a_given_folder_is_checked(tmp_path: Path) -> None:
    with pytest.raises(HashMismatch, match="missing"):
        ensure_runtime(tmp_path)
    for name in CONTENTS:
        (tmp_path / name).write_text("something else")
    with pytest.raises(HashMismatch, match="SHA-256"):
        ensure_runtime(tmp_path)
