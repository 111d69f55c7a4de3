"""The features of a bundle: an HTTP library, code that was written for a process, and what its configuration says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from mcpframe.kit.bundle.assembly.features import (
    FEATURES,
    code_of,
    features_of,
    has_http_library,
    written_for_a_process,
)
from mcpframe.kit.bundle.assembly.own_modules import own_modules
from mcpframe.kit.bundle.assembly.packages import Packages
from mcpframe.kit.bundle.packages.compile_layers import packages_of
from mcpframe.kit.bundle.packages.lock import Lock, Locked
from mcpframe.kit.project.project import find_project
from tests.support.wheels import write_wheel


def lock(**required_by: str) -> Packages:
    packages = [
        Locked(name.replace("_", "-"), "1.0", f"{name}-1.0-py3-none-any.whl", "0" * 64, "index", (who,))
        for name, who in required_by.items()
    ]
    return packages_of(Lock("", tuple(packages)))


@pytest.mark.parametrize("name", ["httpx", "httpx2", "urllib3", "aiohttp"])
def test_a_package_is_one(name: str) -> None:
    assert has_http_library(lock(mcp="mcpframe", **{name: "server"}), {})


def test_one_that_only_the_sdk_requires_is_part_of_it() -> None:
    assert not has_http_library(lock(mcp="mcpframe", httpx="mcp"), {})


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
    assert has_http_library(lock(mcp="mcpframe"), {"server.py": source.encode()}) == expected
    wheel = {"theirs": write_wheel(tmp_path, "theirs", {"theirs.py": source})}
    for who, is_further in (("server", True), ("mcp", False)):
        locked = lock(mcp="mcpframe", theirs=who)
        assert has_http_library(locked, code_of(locked, wheel, {})) == (expected and is_further)


def test_the_code_of_a_bundle_is_the_authors_and_that_of_wheels(tmp_path: Path) -> None:
    wheel = write_wheel(tmp_path, "theirs", {"theirs.py": "import mcpframe.hub", "data.json": "{}"})
    author = {"server.py": b"import theirs", "data.json": b"{}"}
    code = code_of(lock(mcp="mcpframe", theirs="server"), {"theirs": wheel}, author)
    assert sorted(code.values()) == [b"import mcpframe.hub", b"import theirs"]
    assert "mcpframe.hub" in own_modules(code, {"mcp2"})


@pytest.mark.parametrize(
    ("code", "chosen"),
    [
        ("import asyncio", False),
        ("import threading", True),
        ("import multiprocessing.dummy", True),
        ("import asyncio, sched", False),
        ("def work():\n    from concurrent.futures import ThreadPoolExecutor", True),
        ("import resource", True),
    ],
)
def test_an_author_asks_for_it_by_an_import(code: str, chosen: bool, tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text("from mcp.server import MCPServer\nserver = MCPServer('s')\n")
    project = find_project(tmp_path)
    author = {"server.py": code.encode()}
    assert written_for_a_process(project, lock(), author) is chosen
    assert written_for_a_process(replace(project, program="server"), lock(), author)


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ("", {"mcp2", "document"}),
        ('dialects = ["sep"]', {"mcp2"}),
        ('dialects = ["sep", "webmcp"]', {"mcp2", "document"}),
        ('kind = "page"', {"mcp2", "page"}),
        ('persist = ["~/data"]', {"mcp2", "document", "persist"}),
    ],
)
def test_the_configuration_has_features(config: str, expected: set[str], tmp_path: Path) -> None:
    (tmp_path / "main.py").touch()
    (tmp_path / "pyproject.toml").write_text(f'[tool.mcpframe]\nentry = "main:main"\n{config}\n')
    assert features_of(find_project(tmp_path), lock(), {}, {}) == expected
    assert expected <= FEATURES.keys()
