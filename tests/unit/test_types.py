"""host.d.ts, checked by TypeScript: against both official packages, and as a host would use it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from mcpframe.kit.base.data import checkout_dir, static_dir
from mcpframe.kit.base.errors import ToolFailed
from mcpframe.kit.base.node import find_node, install_locked

ROOT = checkout_dir()
TYPES = ROOT / "tests" / "types"
EXAMPLE = ROOT / "docs" / "examples" / "host-typescript"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A host's folder: host.js with its types, its own modules, and the npm packages."""
    modules = install_locked(ROOT)
    shutil.copytree(TYPES, tmp_path, dirs_exist_ok=True)
    shutil.copy(EXAMPLE / "host.ts", tmp_path / "example.ts")
    shutil.copy(static_dir() / "host" / "host.d.ts", tmp_path)
    # Declarations of libraries are left unchecked (those of the SDK name types of Node): ours are checked as a source.
    shutil.copy(static_dir() / "host" / "host.d.ts", tmp_path / "declarations.ts")
    (tmp_path / "node_modules").symlink_to(modules, target_is_directory=True)
    return tmp_path


def test_the_types_fit_both_official_packages_and_an_example_host(project: Path) -> None:
    """What must be a mistake is marked with `@ts-expect-error`: the compiler complains where it is none."""
    compiler = project / "node_modules" / "typescript" / "lib" / "tsc.js"
    try:
        said = find_node().run(str(compiler), "--project", str(project), timeout=300)
    except ToolFailed as error:
        said = error.output
    assert said == ""
