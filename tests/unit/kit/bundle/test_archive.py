"""Archives: the same bytes for the same files, and nothing that leads out of them."""

from __future__ import annotations

import io
import subprocess
import zipfile
from pathlib import Path

import pytest

from mcpframe.kit.base.errors import BuildError
from mcpframe.kit.base.node import find_node
from mcpframe.kit.bundle.pyodide.archive import Files, check_sizes, pack, pack_as_wasm, unpack, unpacking
from mcpframe.kit.bundle.wasm.binary import CUSTOM, sections, text_at

FILES = {"b/two.txt": b"2", "a.txt": b"1" * 1000}


def test_what_was_packed_is_unpacked() -> None:
    assert unpack(pack(FILES)) == FILES


def test_the_order_of_the_files_does_not_matter() -> None:
    assert pack(FILES) == pack(dict(reversed(FILES.items())))


def test_files_are_stored_with_a_fixed_date(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    [first, *_] = zipfile.ZipFile(io.BytesIO(pack(FILES))).infolist()
    assert first.compress_type == zipfile.ZIP_STORED
    assert first.date_time == (1980, 1, 1, 0, 0, 0)


def test_source_date_epoch_is_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    [first, *_] = zipfile.ZipFile(io.BytesIO(pack(FILES))).infolist()
    assert first.date_time == (2023, 11, 14, 22, 13, 20)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "today")
    with pytest.raises(BuildError, match="SOURCE_DATE_EPOCH is 'today'"):
        pack(FILES)


@pytest.mark.parametrize("files", [{}, FILES, {"large": b"1" * 300_000}], ids=["none", "two", "large"])
def test_an_archive_that_is_a_webassembly_module_is_read_as_both(files: Files) -> None:
    data = pack_as_wasm(files)
    assert unpack(data) == files
    [section] = sections(data)
    assert section.kind == CUSTOM
    name, at = text_at(section.content, 0)
    assert name == "zip"
    assert section.content[at:] != pack(files) or not files, "its positions count from the beginning of the module"
    with zipfile.ZipFile(io.BytesIO(data)) as opened:
        assert all(data[info.header_offset :].startswith(b"PK\3\4") for info in opened.infolist())
    node = [find_node().executable, "-p", "WebAssembly.validate(require('node:fs').readFileSync(0))"]
    ran = subprocess.run(node, input=data, capture_output=True, check=True)
    assert ran.stdout == b"true\n"


@pytest.mark.parametrize("path", ["../out", "a/../../out", "/etc/out"])
def test_a_path_that_leads_out_is_refused(path: str) -> None:
    with pytest.raises(BuildError, match="leads out of it"):
        unpack(pack({path: b""}))


def test_a_damaged_archive_is_an_error() -> None:
    with pytest.raises(BuildError, match="is damaged"):
        unpack(pack(FILES)[:-30])


def bomb(path: Path, *sizes: int) -> Path:
    """Write a small zip whose files unpack to these sizes, in MB."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for number, size in enumerate(sizes):
            with archive.open(f"{number}.bin", "w") as file:
                for _ in range(size):
                    file.write(bytes(1_000_000))
    return path


def test_what_unpacks_to_too_much_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    one, several = bomb(tmp_path / "one.whl", 5), bomb(tmp_path / "several.whl", 3, 3, 3, 3, 3)
    with unpacking(16):
        for check in (unpack, lambda path: check_sizes([path])):
            with pytest.raises(BuildError, match=r"one\.whl has a file.*5 MB.*0\.bin.*4 are allowed.*max_unpacked"):
                check(one)
        assert len(unpack(several)) == 5
        with pytest.raises(BuildError, match=r"together.*27 MB.*several\.whl is the largest; 16 are"):
            check_sizes([several, bomb(tmp_path / "other.whl", 4, 4, 4)])
    with unpacking(14), pytest.raises(BuildError, match=r"several\.whl unpacks to 15 MB"):
        unpack(several)
    with unpacking(20):
        assert len(unpack(one)["0.bin"]) == 5_000_000


def test_a_size_that_is_a_lie_is_no_way_around(tmp_path: Path) -> None:
    data = bytearray(bomb(tmp_path / "one.whl", 8).read_bytes())
    directory = data.index(b"PK\x01\x02")
    data[directory + 24 : directory + 28] = (1000).to_bytes(4, "little")  # the uncompressed size
    with unpacking(16), pytest.raises(BuildError, match="is damaged"):
        unpack(bytes(data))
