"""Which native libraries a page links before Python runs."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from mcpframe.kit.bundle.assembly.native_libraries import linked, needed

MAGIC = b"\0asm\x01\0\0\0"
ENDING = ".cpython-314-wasm32-emscripten.so"


def library(*needs: str) -> bytes:
    """A native library: its head only, with a subsection before that of the needed ones."""
    names = b"".join(bytes([len(name)]) + name.encode() for name in needs)
    content = bytes([len(needs)]) + names
    section = b"\x08dylink.0" + b"\x01\x04\xff\x01\x04\0" + bytes([2, len(content)]) + content
    return MAGIC + bytes([0, 0x80 | len(section), 0]) + section


FILES = {
    "thing/__init__.py": b"",
    f"thing/fast{ENDING}": library("libblas.so"),
    f"thing/other{ENDING}": library(),
    "thing.libs/libblas.so": library("libbase.so"),
    "thing.libs/libbase.so": library(),
    "thing.libs/libunused.so": library(),
}
BASE, BLAS = ("libbase.so", "thing.libs/libbase.so"), ("libblas.so", "thing.libs/libblas.so")
FAST, OTHER = ("", f"thing/fast{ENDING}"), ("", f"thing/other{ENDING}")


def test_the_needed_libraries_are_read() -> None:
    assert needed(library("libblas.so", "libc.so")) == ["libblas.so", "libc.so"]
    assert needed(library()) == []
    assert needed(MAGIC + bytes([0, 9]) + b"\x08dylink.0") == []


@pytest.mark.parametrize(
    ("modules", "expected"),
    [
        (None, [BASE, BLAS, ("", "thing.libs/libunused.so"), FAST, OTHER]),
        (["thing", "thing.fast"], [BASE, BLAS, FAST]),
        (["thing.other"], [OTHER]),
        (["json"], []),
    ],
)
def test_what_is_imported_is_linked_after_what_it_needs(
    modules: Collection[str] | None, expected: list[tuple[str, str]]
) -> None:
    assert list(linked(FILES, modules)) == expected
