"""What macOS and Windows need: modules that import there, and the same bytes in every clone."""

from __future__ import annotations

import ast
import subprocess
from pathlib import Path

import pytest

from mcpframe.kit.base.data import checkout_dir
from tests.support.sources import PACKAGE, files, parsed

POSIX_ONLY = {"fcntl", "grp", "posix", "pty", "pwd", "resource", "termios", "tty"}


@pytest.mark.parametrize("folder", ["kit", "views"])
def test_no_module_imports_at_its_start_what_windows_lacks(folder: str) -> None:
    wrong: list[tuple[Path, str]] = []
    for path in files(PACKAGE / folder):
        for node in parsed(path).body:
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module:
                names = [node.module]
            wrong += [(path, name) for name in names if name in POSIX_ONLY]
    assert not wrong


def test_a_clone_has_the_same_line_ends_everywhere() -> None:
    listing = subprocess.run(
        ["git", "ls-files", "--eol"], cwd=checkout_dir(), capture_output=True, text=True, check=True, timeout=60
    ).stdout
    assert not [line for line in listing.splitlines() if not line.startswith(("i/lf", "i/-text", "i/none"))]
    assert not [line for line in listing.splitlines() if line.startswith("i/lf") and "eol=lf" not in line]
