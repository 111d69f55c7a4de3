"""Writing a bundle: whole or not at all, beside others, by one build at a time."""

from __future__ import annotations

import errno
import os
import threading
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from mcpframe.kit.base.errors import BuildError, WriteError
from mcpframe.kit.bundle import output_root as module
from mcpframe.kit.bundle.assembly.assets import Asset, asset, hashed
from mcpframe.kit.bundle.assembly.built_manifest import read_manifests
from mcpframe.kit.bundle.earlier_deploys import RECORD
from mcpframe.kit.bundle.output_root import BuildResult, Packed, compress, find_current, write_bundle


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCPFRAME_CACHE", str(tmp_path_factory.mktemp("cache")))


def bundle(name: str, text: str = "x", inputs: str = "i") -> tuple[list[Asset], Packed, dict[str, Any]]:
    assets = [hashed("_mcpframe/a.js", text.encode() * 5000), asset(f"{name}/index.html", f"page {text}".encode())]
    gzips = compress(assets)
    sizes = {path: None if data is None else len(data) for path, data in gzips.items()}
    files = [{"path": a.path, "bytes": len(a.data), "gzip_bytes": sizes[a.path], "sha256": a.sha256} for a in assets]
    manifest = {"mcpframe_manifest": 1, "csp": f"frame-ancestors {name}", "files": files, "inputs": inputs}
    return assets, gzips, {**manifest, "tools": None, "sizes": {"total": 1}, "allowed_origins": []}


def everything(out: Path) -> dict[str, bytes]:
    return {path.relative_to(out).as_posix(): path.read_bytes() for path in out.rglob("*") if path.is_file()}


def test_a_bundle_is_written_with_its_headers(tmp_path: Path) -> None:
    assets, gzips, manifest = bundle("pi")
    write_bundle(tmp_path, "pi", assets, gzips, manifest)
    files = everything(tmp_path)
    assert files["pi/index.html"] == b"page x"
    assert files[assets[0].path] == assets[0].data
    assert files[assets[0].path + ".gz"] == gzips[assets[0].path]
    assert b"frame-ancestors pi" in files["_headers"]
    assert read_manifests(tmp_path) == {"pi": manifest}
    assert all(path.stat().st_mode & 0o444 == 0o444 for path in tmp_path.rglob("*"))  # a web server may read it


def test_bundles_share_a_root_and_the_files_that_are_equal(tmp_path: Path) -> None:
    for name in ("pi", "other"):
        write_bundle(tmp_path, name, *bundle(name))
    files = everything(tmp_path)
    assert len([path for path in files if path.startswith("_mcpframe/") and not path.endswith(".gz")]) == 1
    assert b"frame-ancestors pi" in files["_headers"]
    assert b"frame-ancestors other" in files["_headers"]


def test_what_no_bundle_uses_any_more_is_removed(tmp_path: Path) -> None:
    write_bundle(tmp_path, "pi", *bundle("pi", "old"))
    write_bundle(tmp_path, "other", *bundle("other", "kept"))
    write_bundle(tmp_path, "pi", *bundle("pi", "new"))
    shared = {path.name for path in (tmp_path / "_mcpframe").iterdir() if path.suffix == ".js"}
    assert shared == {Path(bundle("x", text)[0][0].path).name for text in ("kept", "new")}


def with_own(text: str) -> tuple[list[Asset], Packed, dict[str, Any]]:
    """Return a bundle with a file of a hashed name in its own folder, too."""
    assets, _, manifest = bundle("pi", text, inputs=text)
    assets.append(hashed("pi/packages/a.whl", f"wheel {text}".encode() * 5000))
    gzips = compress(assets)
    files = [{"path": a.path, "bytes": len(a.data), "gzip_bytes": None, "sha256": a.sha256} for a in assets]
    return assets, gzips, {**manifest, "files": files}


def test_files_of_earlier_builds_stay_for_the_stated_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Clock(datetime):
        hours = 0

        @classmethod
        def now(cls, tz: Any = None) -> datetime:
            return datetime(2026, 1, 1, tzinfo=tz) + timedelta(hours=cls.hours)

    monkeypatch.setattr(module, "datetime", Clock)
    builds = {text: with_own(text) for text in ("one", "two", "three", "four")}
    files = {
        text: {path for path in gzips if path != "pi/index.html"} | {f"{path}.gz" for path in gzips if gzips[path]}
        for text, (_, gzips, _) in builds.items()
    }

    def there() -> list[str]:
        found = everything(tmp_path)
        return [text for text in builds if files[text] <= found.keys()]

    write_bundle(tmp_path, "pi", *builds["one"])
    write_bundle(tmp_path, "pi", *builds["two"], keep=timedelta(hours=24))
    assert there() == ["one", "two"]
    assert everything(tmp_path)["pi/index.html"] == b"page two"
    Clock.hours = 23
    write_bundle(tmp_path, "pi", *builds["three"], keep=timedelta(hours=24))
    assert there() == ["one", "two", "three"]
    Clock.hours = 25
    write_bundle(tmp_path, "pi", *builds["four"])  # without the option: what was promised stays
    assert there() == ["two", "four"]
    assert not files["one"] & everything(tmp_path).keys()
    Clock.hours = 48
    write_bundle(tmp_path, "pi", *builds["one"])
    assert there() == ["one"]
    assert RECORD not in everything(tmp_path)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"kept": [1]}', '{"kept": [{"until": "never", "files": []}]}'])
def test_a_record_that_cannot_be_read_keeps_nothing(tmp_path: Path, text: str) -> None:
    write_bundle(tmp_path, "pi", *with_own("one"))
    (tmp_path / RECORD).write_text(text)
    write_bundle(tmp_path, "pi", *with_own("two"))
    assert not {asset.path for asset in with_own("one")[0][:1]} & everything(tmp_path).keys()


def test_a_record_with_a_path_outside_copies_nothing(tmp_path: Path) -> None:
    root = tmp_path / "dist"
    (tmp_path / "secret").write_text("mine")
    write_bundle(root, "pi", *with_own("one"))
    (root / RECORD).write_text('{"kept": [{"until": "9999-01-01T00:00:00+00:00", "files": ["pi/../../secret"]}]}')
    write_bundle(root, "pi", *with_own("two"))
    assert not any(data == b"mine" for data in everything(root).values())


def test_a_folder_that_is_no_bundle_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "pi").mkdir()
    (tmp_path / "pi" / "thesis.txt").write_text("years of work")
    with pytest.raises(BuildError, match="exists and is not a bundle"):
        write_bundle(tmp_path, "pi", *bundle("pi"))
    assert (tmp_path / "pi" / "thesis.txt").read_text() == "years of work"


def test_a_full_disk_leaves_the_old_bundle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_bundle(tmp_path, "pi", *bundle("pi", "old"))
    before = everything(tmp_path)

    def put(path: Path, content: bytes, gzip: bytes | None) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(module, "_put", put)
    with pytest.raises(WriteError, match="disk is full"):
        write_bundle(tmp_path, "pi", *bundle("pi", "new"))
    assert everything(tmp_path) == before
    with pytest.raises(WriteError, match="disk is full"):
        write_bundle(tmp_path / "new", "pi", *bundle("pi", "new"))
    assert not (tmp_path / "new").exists()


def test_an_interrupt_leaves_the_old_bundle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_bundle(tmp_path, "pi", *bundle("pi", "old"))

    def put(path: Path, content: bytes, gzip: bytes | None) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "_put", put)
    with pytest.raises(KeyboardInterrupt):
        write_bundle(tmp_path, "pi", *bundle("pi", "new"))
    assert (tmp_path / "pi" / "index.html").read_text() == "page old"


def test_builds_at_the_same_time_wait_for_each_other(tmp_path: Path) -> None:
    texts = [f"text{number}" for number in range(6)]
    failures: list[BaseException] = []

    def write(text: str) -> None:
        try:
            write_bundle(tmp_path, "pi", *bundle("pi", text, inputs=text))
        except BaseException as error:  # noqa: BLE001 handed to the test's own thread
            failures.append(error)

    threads = [threading.Thread(target=write, args=(text,)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not failures
    [won] = [text for text in texts if find_current(tmp_path, "pi", text)]
    assert (tmp_path / "pi" / "index.html").read_text() == f"page {won}"
    assert set(everything(tmp_path)) >= {bundle("pi", won)[0][0].path}


def test_a_bundle_is_current_when_it_is_whole_and_from_the_same_inputs(tmp_path: Path) -> None:
    assets, gzips, manifest = bundle("pi")
    write_bundle(tmp_path, "pi", assets, gzips, manifest)
    assert find_current(tmp_path, "pi", "i") == manifest
    assert find_current(tmp_path, "pi", "other inputs") is None
    assert find_current(tmp_path, "nothing", "i") is None
    (tmp_path / assets[0].path).unlink()
    assert find_current(tmp_path, "pi", "i") is None


def test_files_that_are_not_ours_are_passed_over(tmp_path: Path) -> None:
    for name, text in {"a": "[]", "b": "not json", "c": '{"name": "an app"}'}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "manifest.json").write_text(text)
    assert read_manifests(tmp_path) == {}


def test_a_result_says_where_its_page_is(tmp_path: Path) -> None:
    result = BuildResult("pi", tmp_path / "pi", bundle("pi")[-1])
    assert result.url_path == "pi/"
    assert result.tools is None


@pytest.mark.skipif("os.name != 'posix'", reason="only POSIX has a umask")
def test_a_web_server_may_read_everything_whatever_the_umask_is(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        assets, _, manifest = bundle("pi")
        more = [*assets, asset("pi/npm/a/b.js", b"x" * 5000)]
        write_bundle(tmp_path / "deep" / "out", "pi", more, compress(more), manifest)
    finally:
        os.umask(before)
    modes = {path: path.stat().st_mode & 0o777 for path in (tmp_path / "deep", *(tmp_path / "deep").rglob("*"))}
    assert {path: oct(mode) for path, mode in modes.items() if mode != (0o755 if path.is_dir() else 0o644)} == {}
    assert len(modes) > 10


@pytest.mark.skipif("os.name != 'posix'", reason="only POSIX has modes")
def test_shared_files_that_nobody_may_read_are_written_anew(tmp_path: Path) -> None:
    assets, gzips, manifest = bundle("pi")
    write_bundle(tmp_path, "pi", assets, gzips, manifest)
    (tmp_path / assets[0].path).chmod(0o600)
    write_bundle(tmp_path, "pi", assets, gzips, manifest)
    assert (tmp_path / assets[0].path).stat().st_mode & 0o777 == 0o644
