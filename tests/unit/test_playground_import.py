"""Imports of the playground, in Node: archives, folders and addresses. Whole: tests/browser."""

from __future__ import annotations

import base64
import io
import struct
import zipfile
from collections.abc import Callable
from typing import Any

import pytest

from docs.generate.playground import SOURCES_OF_FILES
from tests.unit.test_playground_files import PIXEL, results

FILES = {"server.py": b"print('\xc3\xa9')\n", "static/a.png": PIXEL}


def zipped(files: dict[str, bytes] | list[tuple[str | zipfile.ZipInfo, bytes]], *, deflated: bool = True) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED if deflated else zipfile.ZIP_STORED) as archive:
        for path, content in files.items() if isinstance(files, dict) else files:
            archive.writestr(path, content)
    return data.getvalue()


def unzipped(data: bytes) -> dict[str, Any]:
    [found] = results(("unzipped", base64.b64encode(data).decode()))
    return found


@pytest.mark.parametrize("deflated", [True, False])
def test_a_zip_is_read_without_its_folder_and_without_what_tools_left(deflated: bool) -> None:
    files = {f"repo-main/{path}": content for path, content in FILES.items()}
    others = {"repo-main/": b"", "repo-main/.git/config": b"x", "repo-main/__pycache__/a.pyc": b"x", "__MACOSX/a": b"x"}
    assert unzipped(zipped(files | others, deflated=deflated) if deflated else zipped(files, deflated=False)) == {
        "value": {"server.py": "print('é')\n", "static/a.png": {"bytes": base64.b64encode(PIXEL).decode()}}
    }


def symlink() -> bytes:
    info = zipfile.ZipInfo("server.py")
    info.create_system = 3
    info.external_attr = 0o120777 << 16
    return zipped([(info, b"/etc/passwd")])


def edited(change: Callable[[bytearray, int, int], None], content: bytes = b"x = 1\n" * 50) -> bytes:
    """Return a zip of one file after a change, which gets the positions of its local and central headers."""
    data = bytearray(zipped({"a.py": content}))
    change(data, data.index(b"PK\x03\x04"), data.index(b"PK\x01\x02"))
    return bytes(data)


def put(at: int, form: str, value: int, *, local: int | None = None) -> Callable[[bytearray, int, int], None]:
    def change(data: bytearray, first: int, central: int) -> None:
        struct.pack_into(form, data, central + at, value)
        if local is not None:
            struct.pack_into(form, data, first + local, value)

    return change


def lie_about_the_name(data: bytearray, first: int, central: int) -> None:
    data[first + 30 : first + 34] = b"b.py"


HOSTILE = {
    "a bomb": (zipped({"a.txt": b"\0" * 20_000_000}), "larger than 6 MB"),
    "a bomb that lies": (edited(put(24, "<I", 100, local=22), b"\0" * 3_000_000), "damaged in the zip"),
    "out": (zipped({"../a.py": b""}), "leaves the folder"),
    "out below a folder": (zipped({"a/../../b.py": b"", "a/c.py": b""}), "leaves the folder"),
    "absolute": (zipped({"/etc/a.py": b""}), "leaves the folder"),
    "of Windows": (zipped({"a.py": b""}).replace(b"a.py", b"c:\\a"), "cannot be"),
    "twice": (zipped({"a.py": b"1", "b.py": b"2"}).replace(b"b.py", b"a.py"), "twice"),
    "case": (zipped({"a.py": b"", "A.py": b""}), "twice"),
    "a file and a folder": (zipped({"a": b"", "a/b": b""}), "both a file and a folder"),
    "a link": (symlink(), "is a link"),
    "encrypted": (edited(put(8, "<H", 1, local=6)), "encrypted"),
    "another method": (edited(put(10, "<H", 14, local=8)), "packed in a way"),
    "two methods": (edited(put(10, "<H", 0)), "damaged in the zip"),
    "two names": (edited(lie_about_the_name), "damaged in the zip"),
    "a wrong checksum": (edited(put(16, "<I", 1, local=14)), "damaged in the zip"),
    "a position outside": (edited(put(42, "<I", 0x7FFFFFFF)), "damaged in the zip"),
    "too many": (zipped({f"{number}.py": b"" for number in range(101)}), "more than 100 files"),
    "far too many": (zipped({"a.py": b""})[:-12] + struct.pack("<HIIH", 5_001, 0, 0, 0), "more than 5000 members"),
    "nothing": (zipped({}), "no file"),
    "cut": (zipped(FILES)[:-30], "no zip file"),
    "none": (b"PK" + b"\0" * 100, "no zip file"),
    "empty": (b"", "no zip file"),
    "no text": (zipped({"a.py": b"\xff\xfea\0"}), "not UTF-8"),
    "invisible": (zipped({"a\u202e.py": b""}), "invisible"),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_zips_are_refused(name: str) -> None:
    data, reason = HOSTILE[name]
    assert reason in unzipped(data)["error"]


def test_every_byte_of_a_zip_may_be_damaged_and_only_a_users_error_comes() -> None:
    data = zipped(FILES)
    calls = []
    for at in range(len(data)):
        damaged = bytearray(data)
        damaged[at] ^= 0xFF
        calls.append(("unzipped", base64.b64encode(bytes(damaged)).decode()))
    known = (
        "zip",
        "damaged",
        "UTF-8",
        "cannot be called",
        "link or a device",
        "packed in a way",
        "larger than",
        "twice",
    )
    for found in results(*calls):
        assert "value" in found or any(word in found["error"] for word in known), found


def test_folders_lose_their_name_in_a_new_project_and_keep_it_in_an_old_one() -> None:
    folder = [["shop/server.py", "1"], ["shop/node_modules/x.js", "2"], ["shop/a/b.css", "3"]]
    new, added, single, mixed = results(
        ("imported", [folder, True]),
        ("imported", [folder, False]),
        ("imported", [[["main.py", "1"]], True]),
        ("imported", [[["../a/server.py", "1"], ["../b.py", "1"]], True]),
    )
    assert new == {"value": {"server.py": "1", "a/b.css": "3"}}
    assert added == {"value": {"shop/server.py": "1", "shop/a/b.css": "3"}}
    assert single == {"value": {"server.py": "1"}}
    assert "leaves the folder" in mixed["error"]


def test_addresses_are_those_of_listed_hosts_and_pages_become_files() -> None:
    commit = "a" * 40
    raw = "https://raw.githubusercontent.com"
    good = {
        "https://github.com/o/r/blob/main/a/s%20v.py?x=1#L3": (f"{raw}/o/r/main/a/s%20v.py", "s v.py", False),
        f"https://github.com/o/r/blob/{commit}/server.py": (f"{raw}/o/r/{commit}/server.py", "server.py", True),
        f"{raw}/o/r/{commit}/server.py": (f"{raw}/o/r/{commit}/server.py", "server.py", True),
        f"{raw}/o/r/main/{commit}/server.py": (f"{raw}/o/r/main/{commit}/server.py", "server.py", False),
        "https://gist.github.com/o/abc": ("https://gist.githubusercontent.com/o/abc/raw", "server.py", False),
        f"https://gist.githubusercontent.com/o/abc/raw/{commit}/s.py": (
            f"https://gist.githubusercontent.com/o/abc/raw/{commit}/s.py", "s.py", True),
    }  # fmt: skip
    bad = [
        "",
        "server.py",
        "javascript:alert(1)",
        "data:text/plain,x",
        "http://raw.githubusercontent.com/o/r/main/a.py",
        "https://raw.githubusercontent.com.evil.example/o/r/main/a.py",
        "https://evil.example/raw.githubusercontent.com/a.py",
        "https://raw.githubusercontent.com@evil.example/a.py",
        "https://user:pass@raw.githubusercontent.com/o/r/main/a.py",
        "https://raw.githubusercontent.com:444/o/r/main/a.py",
        "https://github.com/o/r/tree/main/a",
        "https://github.com/login?return_to=x",
        "file:///etc/passwd",
    ]
    found = results(
        *(("raw", [address, SOURCES_OF_FILES]) for address in [*good, *bad]), ("raw", [next(iter(good)), []])
    )
    for (url, name, pinned), each in zip(good.values(), found, strict=False):
        assert each == {"value": {"url": url, "name": name, "isPinned": pinned}}
    assert [each for each in found[len(good) :] if "error" not in each] == []
