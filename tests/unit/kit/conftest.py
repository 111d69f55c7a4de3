"""The command line is read once. On Windows, tests with pipes are left out."""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator

import pytest
import typer.main

_WITH_PIPES = [
    "browser/devtools/test_protocol.py",
    "edges/test_http.py",
    "edges/test_link.py",
    "edges/test_unread.py",
    "hub/native/test_connect.py",
    "hub/native/test_native.py",
    "hub/tabs/test_many_tabs.py",
    "hub/test_edges.py",
    "hub/test_log.py",
]
collect_ignore = _WITH_PIPES if sys.platform == "win32" else []


@pytest.fixture(scope="session", autouse=True)
def commands_are_read_once() -> Iterator[None]:
    """Read the options of all commands once, not for each command line: that is most of its time in a test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.main, "get_command", functools.cache(typer.main.get_command))
        yield
