"""Wheels of builds that nobody vouches for: what is wrong is refused, and the same files give the same bytes."""

from __future__ import annotations

import base64
import hashlib
import io
import zipfile
from collections.abc import Mapping

import pytest

from mcpframe.kit.base.errors import BuildError
from mcpframe.kit.bundle.packages.built_wheel import BuiltWheel, normalized, plain_requirement
from mcpframe.kit.bundle.pyodide.archive import unpack, unpacking

INFO = "a_b-1.0.dist-info"
METADATA = "Metadata-Version: 2.1\nName: a.b\nVersion: 1.0\n"
FILES = {"a_b.py": "code", f"{INFO}/METADATA": METADATA, f"{INFO}/WHEEL": "Generator: x", f"{INFO}/RECORD": "wrong"}
NAME = "a_b-1.0-py3-none-any.whl"


def zipped(files: Mapping[str, str], *, date: int = 2020) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in files.items():
            archive.writestr(zipfile.ZipInfo(path, (date, 1, 1, 0, 0, 0)), text)
    return buffer.getvalue()


def wheel(changed: Mapping[str, str] | None = None, name: str = NAME) -> BuiltWheel:
    return normalized("a-b", "1.0", name, zipped({**FILES, **(changed or {})}))


def test_the_same_files_give_the_same_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    first = wheel()
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    backwards = zipped(dict(reversed(FILES.items())), date=2021)
    assert normalized("a-b", "1.0", "A.b-1.0-py2.py3-none-any.whl", backwards) == first
    assert first.filename == NAME
    assert b"Generator: mcpframe" in unpack(first.data)[f"{INFO}/WHEEL"]


def test_its_record_lists_every_file() -> None:
    made = wheel({"a,b.txt": "text"})
    record = unpack(made.data)[f"{INFO}/RECORD"].decode()
    digest = base64.urlsafe_b64encode(hashlib.sha256(b"code").digest()).decode().rstrip("=")
    assert f"a_b.py,sha256={digest},4\n" in record
    assert '"a,b.txt",sha256=' in record
    assert record.endswith(f"{INFO}/RECORD,,\n")


def test_its_requirements_are_read() -> None:
    lines = "Requires-Dist: lupa >=2 ; extra == 'x'\nRequires-Dist: cffi\n"
    assert wheel({f"{INFO}/METADATA": METADATA + lines}).requires == ('lupa>=2; extra == "x"', "cffi")


@pytest.mark.parametrize(
    ("changed", "name", "told"),
    [
        ({}, "setup.py", "returns no wheel"),
        ({}, "../a_b-1.0-py3-none-any.whl", "wheel of something else|returns no wheel"),
        ({}, "other-1.0-py3-none-any.whl", "wheel of something else"),
        ({}, "a_b-2.0-py3-none-any.whl", "wheel of something else"),
        ({}, "a_b-1.0-cp314-cp314-linux_x86_64.whl", "has native code"),
        ({"a_b/_c.cpython-314-x86_64-linux-gnu.so": ""}, NAME, "has native code"),
        ({"../evil.py": ""}, NAME, "leads out of it"),
        ({"/evil.py": ""}, NAME, "leads out of it"),
        ({f"{INFO}/METADATA": METADATA.replace("a.b", "setuptools")}, NAME, "of another package"),
        ({f"{INFO}/METADATA": METADATA.replace("1.0", "x")}, NAME, "of another package"),
        ({f"{INFO}/METADATA": METADATA + "Requires-Dist: c @ https://evil.example/c.whl\n"}, NAME, "it requires 'c @"),
        ({f"{INFO}/METADATA": METADATA + "Requires-Dist: --index-url=x\n"}, NAME, "it requires"),
        ({"other-1.dist-info/METADATA": METADATA}, NAME, "several packages"),
        ({"big": "0" * 17_000_000}, NAME, "unpacks to 17 MB"),
    ],
)
def test_what_is_wrong_is_refused(changed: Mapping[str, str], name: str, told: str) -> None:
    with pytest.raises(BuildError, match=told), unpacking(64):
        wheel(changed, name)


def test_what_is_no_zip_is_refused() -> None:
    with pytest.raises(BuildError, match="damaged"):
        normalized("a-b", "1.0", NAME, b"")


def test_a_link_becomes_a_file() -> None:
    buffer = io.BytesIO(zipped(FILES))
    with zipfile.ZipFile(buffer, "a") as archive:
        link = zipfile.ZipInfo("link.py")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    made = normalized("a-b", "1.0", NAME, buffer.getvalue())
    with zipfile.ZipFile(io.BytesIO(made.data)) as archive:
        assert {info.external_attr >> 16 for info in archive.infolist()} == {0o644}


@pytest.mark.parametrize("text", ["a @ file:///tmp/a", "a\n--index-url=x", "-r file", "", "ä", "a; x"])
def test_what_is_no_plain_requirement_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="'"):
        plain_requirement(text)
