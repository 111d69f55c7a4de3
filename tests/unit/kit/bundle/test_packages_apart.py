"""Which requirements may have a layer of a snapshot below the server's."""

from __future__ import annotations

import pytest

from mcpframe.kit.bundle.assembly.layers import (
    PACKAGES_PATH,
    SERVER_PATH,
    SITE_PACKAGES,
    Layer,
    Layers,
    required_modules_of,
)
from mcpframe.kit.bundle.code.imports import imported_first


@pytest.mark.parametrize(
    ("source", "first"),
    [
        ("", []),
        ("import a", ["a"]),
        ("'''A server.'''\nfrom __future__ import a\nimport b.c", ["__future__", "__future__.a", "b.c"]),
        ("from a import b, c", ["a", "a.b", "a.c"]),
        ("import a\nx = 1\nimport b", ["a", "b"]),
        ("import a\nx: int = f()\nimport b", ["a"]),
        ("import a\nx.y = 1\nimport b", ["a"]),
        ("import a\n__all__ = ['x', *('y', 'z')]\nimport b", ["a"]),
        ("import a\n__all__ = ['x', ('y', 1.0)]\nimport b", ["a", "b"]),
        ("import a\nif TYPE_CHECKING:\n    import b\nimport c", ["a", "c"]),
        ("import a\nif typing.TYPE_CHECKING:\n    import b\nelse:\n    import c\nimport d", ["a"]),
        ("import a\nif not TYPE_CHECKING:\n    import b\nimport c", ["a"]),
        ("import a\ndef f():\n    import b\nimport c", ["a"]),
        ("import os\nos.environ['A'] = '1'\nimport a", ["os"]),
        ("import a\ntry:\n    import b\nexcept ImportError:\n    pass", ["a"]),
        ("import", []),
    ],
)
def test_only_what_a_server_imports_before_it_does_anything_can_be_there_earlier(source: str, first: list[str]) -> None:
    assert imported_first("server", {"server.py": source.encode()}) == first


@pytest.mark.parametrize(
    ("files", "first"),
    [
        ({"server.py": "import a\nimport mine\nimport b", "mine.py": "import c"}, ["a", "c", "b"]),
        ({"server.py": "import a\nimport mine\nimport b", "mine.py": "import c\nf()\nimport d"}, ["a", "c"]),
        ({"server.py": "from pack import x, y", "pack/__init__.py": "import a", "pack/x.py": "import b"}, ["a", "b"]),
        ({"server.py": "import pack.x\nimport b", "pack/__init__.py": "f()", "pack/x.py": "import a"}, []),
        ({"server.py": "import pack.x\nimport b", "pack/x.py": "import a"}, ["a", "b"]),
        ({"server.py": "import mine\nimport b", "mine.py": "import server\nimport a"}, ["a", "b"]),
        ({"other.py": "import a"}, []),
    ],
)
def test_the_author_s_modules_are_followed(files: dict[str, str], first: list[str]) -> None:
    assert imported_first("server", {path: source.encode() for path, source in files.items()}) == first


def test_a_module_in_a_package_imports_relative_to_it() -> None:
    server = b"from . import other\nfrom .deep.x import y"
    files = {"pack/__init__.py": b"", "pack/server.py": server, "pack/other.py": b""}
    files |= {"pack/deep/__init__.py": b"import a", "pack/deep/x.py": b"from .. import other\nimport b"}
    assert imported_first("pack.server", files) == ["a", "b"]


def test_the_imported_modules_of_the_author_s_requirements() -> None:
    archives = (
        Layer("base", SITE_PACKAGES, {"mcp/__init__.pyc": b"mcp"}),
        Layer(
            "packages", PACKAGES_PATH, {"one.pyc": b"one", "other.pyc": b"", "one-1.dist-info/METADATA": b""}, own=True
        ),
        Layer("big", f"{PACKAGES_PATH}/big", {"__init__.pyc": b"12345", "sub/x.pyc": b"12"}, own=True, apart=True),
        Layer("server", SERVER_PATH, {"server.py": b"server"}, own=True),
    )
    imported = ["mcp", "one", "big", "big.sub.x", "server", "json"]
    assert required_modules_of(Layers({}, {}, archives, {}, {}), imported) == {"one": 3, "big": 5, "big.sub.x": 2}
