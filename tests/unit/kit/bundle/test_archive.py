"""Archives: the same bytes for the same files, and nothing that leads out of them."""

from __future__ import annotations

import io
import zipfile

import pytest

from mcpframe.kit.base.errors import BuildError
from mcpframe.kit.bundle.archive import pack, unpack

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


@pytest.mark.parametrize("path", ["../out", "a/../../out", "/etc/out"])
def test_a_path_that_leads_out_is_refused(path: str) -> None:
    with pytest.raises(BuildError, match="leads out of it"):
        unpack(pack({path: b""}))


def test_a_damaged_archive_is_an_error() -> None:
    with pytest.raises(BuildError, match="is damaged"):
        unpack(pack(FILES)[:-30])
