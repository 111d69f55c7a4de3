"""Which bundles have an HTTP library."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcpframe.kit.bundle.http_libraries import has_http_library
from mcpframe.kit.bundle.lock import Lock, Locked
from tests.support.wheels import write_wheel


def lock(**required_by: str) -> Lock:
    packages = [
        Locked(name.replace("_", "-"), "1.0", f"{name}-1.0-py3-none-any.whl", "0" * 64, "index", (who,))
        for name, who in required_by.items()
    ]
    return Lock("", tuple(packages))


@pytest.mark.parametrize("name", ["httpx", "httpx2", "urllib3", "aiohttp"])
def test_a_package_is_one(name: str) -> None:
    assert has_http_library(lock(mcp="mcpframe", **{name: "server"}), {}, {})


def test_one_that_only_the_sdk_requires_is_part_of_it() -> None:
    assert not has_http_library(lock(mcp="mcpframe", httpx="mcp"), {}, {})


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import urllib.request", True),
        ("from urllib import request", True),
        ("def get():\n    from http.client import HTTPSConnection", True),
        ("import urllib.parse", False),
        ("import http", False),
    ],
)
def test_a_module_of_the_standard_library_is_one(tmp_path: Path, source: str, expected: bool) -> None:
    assert has_http_library(lock(mcp="mcpframe"), {}, {"server.py": source.encode()}) == expected
    wheel = write_wheel(tmp_path, "theirs", {"theirs.py": source})
    assert has_http_library(lock(mcp="mcpframe", theirs="server"), {"theirs": wheel}, {}) == expected
    assert not has_http_library(lock(mcp="mcpframe", theirs="mcp"), {"theirs": wheel}, {})
