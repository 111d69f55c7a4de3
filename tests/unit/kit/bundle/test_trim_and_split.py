"""Files of wheels that are left out, or put aside until they are imported."""

from __future__ import annotations

import json

import pytest

from mcpframe.kit.bundle.assembly.layers import module_name, native_libraries, needs_deferred
from mcpframe.kit.bundle.packages.deferred_modules import index_of, split
from mcpframe.kit.bundle.packages.trim import trim_wheel
from mcpframe.kit.bundle.pyodide.archive import pack


@pytest.mark.parametrize(
    "path",
    [
        "p/tests/test_a.py",
        "tests/x.py",
        "p/a.pyi",
        "p/py.typed",
        "p/fast.pyx",
        "p/fast.c",
        "p/README.md",
        "p-1.0.dist-info/RECORD",
        "p-1.0.dist-info/top_level.txt",
        "p-1.0.data/scripts/run",
        "docs/index.html",
    ],
)
def test_what_a_page_can_never_use_is_left_out(path: str) -> None:
    assert trim_wheel({path: b""}) == ({}, {})


@pytest.mark.parametrize(
    "path",
    [
        "p/a.py",
        "p/data.json",
        "p/testing.py",
        "p/contest/x.py",
        "django/test/client.py",
        "p/examples/x.json",
        "p/_native.cpython-314-wasm32-emscripten.so",
        "p-1.0.dist-info/entry_points.txt",
        "p-1.0.dist-info/WHEEL",
    ],
)
def test_what_a_page_may_use_is_kept(path: str) -> None:
    assert trim_wheel({path: b"x"}) == ({path: b"x"}, {})


def test_metadata_is_kept_without_the_description() -> None:
    kept, _ = trim_wheel({"p-1.0.dist-info/METADATA": b"Name: p\r\nVersion: 1.0\r\n\r\nA long text.\r\n"})
    assert kept == {"p-1.0.dist-info/METADATA": b"Name: p\nVersion: 1.0\n"}


def test_licences_are_kept_apart() -> None:
    files = {"p-1.0.dist-info/licenses/LICENSE": b"l", "p-1.0.dist-info/COPYING.txt": b"c"}
    assert trim_wheel(files) == ({}, files)


def test_relocated_files_are_put_where_an_installer_puts_them() -> None:
    kept, _ = trim_wheel({"p-1.0.data/purelib/p/a.py": b"a", "p-1.0.data/platlib/p/b.so": b"b"})
    assert kept == {"p/a.py": b"a", "p/b.so": b"b"}
    assert native_libraries(kept) == ("p/b.so",)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("a.pyc", "a"),
        ("a/__init__.pyc", "a"),
        ("a/b/c.pyc", "a.b.c"),
        ("a/__init__.py", "a"),
        ("a/__pycache__/__init__.cpython-314.pyc", "a"),
        ("a/__pycache__/b.cpython-314.pyc", "a.b"),
        ("a/data/x.json", "a.data"),
        ("a/_n.cpython-314-wasm32-emscripten.so", "a._n"),
        ("top.txt", ""),
    ],
)
def test_which_module_a_file_belongs_to(path: str, name: str) -> None:
    assert module_name(path) == name


def test_only_what_serving_imports_is_of_startup() -> None:
    files = dict.fromkeys(
        ["a/__init__.pyc", "a/b.pyc", "a/c.pyc", "a/x.json", "n/_n.so", "p-1.dist-info/METADATA", "other/data.txt"], b""
    )
    startup, deferred = split(files, {"a", "a.b"})
    assert set(deferred) == {"a/c.pyc", "other/data.txt"}
    assert set(startup) == set(files) - set(deferred)


def test_the_index_says_where_files_are_in_the_archive() -> None:
    files = {"std/a.pyc": b"first", "site-packages/b/c.pyc": b"second", "empty": b""}
    archive = pack(files)
    found = {path: archive[offset : offset + size] for path, offset, size in json.loads(index_of(archive))}
    assert found == files


def test_a_server_that_imports_a_deferred_module_needs_the_archive_at_start() -> None:
    deferred = {"std/statistics.pyc": b"", "site-packages/pydantic/v1/main.pyc": b""}
    assert needs_deferred({"sys", "statistics"}, deferred)
    assert needs_deferred({"pydantic.v1.main"}, deferred)
    assert not needs_deferred({"sys", "pydantic"}, deferred)


def test_a_module_that_is_named_as_a_file_of_tests_stays() -> None:
    paths = ("conftest.py", "setup.py", "library/_conf/conftest.py", "library/setup.py")
    kept, _ = trim_wheel(dict.fromkeys(paths, b""))
    assert set(kept) == {"library/_conf/conftest.py", "library/setup.py"}


def test_documentation_stays_with_a_package_that_reads_it() -> None:
    files = {"p/prompt.md": b"# Do it", "p/a.py": b"(files / f'{name}.md').read_text()"}
    assert trim_wheel(files) == (files, {})
    assert trim_wheel({**files, "p/a.py": b"self.md5 = 1"}) == ({"p/a.py": b"self.md5 = 1"}, {})
