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
from mcpframe.kit.bundle.code.imports import imports_come_first


@pytest.mark.parametrize(
    ("source", "first"),
    [
        ("", True),
        ("import a", True),
        ("'''A server.'''\nfrom __future__ import annotations\nimport a\nfrom b import c\nx = 1", True),
        ("import a\nx = 1\ndef f():\n    import b", True),
        ("import a\nclass A:\n    def f(self):\n        import b", True),
        ("x = 1\nimport a", False),
        ("import os\nos.environ['A'] = '1'\nimport a", False),
        ("try:\n    import a\nexcept ImportError:\n    pass", False),
        ("import os\nif os.environ:\n    import a", False),
        ("import a\nx = 1\nwith x:\n    import b", False),
        ("def f():\n    pass\nimport a", False),
        ("import", False),
    ],
)
def test_only_a_module_that_begins_with_its_imports_can_find_them_imported(source: str, first: bool) -> None:
    assert imports_come_first(source.encode()) is first


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
