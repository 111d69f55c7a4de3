"""The types of host.js, checked by TypeScript: against both official packages, and as a host would use it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from mcpframe.kit.base.data import checkout_dir, static_dir
from mcpframe.kit.base.errors import ToolFailed
from mcpframe.kit.base.node import find_node, install_locked
from tests.release.host_package import write_types

ROOT = checkout_dir()
TYPES = ROOT / "tests" / "types"
EXAMPLES = ROOT / "docs" / "examples"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A host's folder: its own modules, and the npm packages."""
    shutil.copytree(TYPES, tmp_path, dirs_exist_ok=True)
    for name in ("host-typescript", "plain-host"):
        shutil.copy(EXAMPLES / name / "host.ts", tmp_path / f"{name}.ts")
    (tmp_path / "node_modules").symlink_to(install_locked(ROOT), target_is_directory=True)
    return tmp_path


def errors(*options: str) -> str:
    """Run the compiler, and return its errors."""
    try:
        return find_node().run(str(install_locked(ROOT) / "typescript" / "lib" / "tsc.js"), *options, timeout=300)
    except ToolFailed as error:
        return error.output


def test_the_types_fit_both_official_packages_and_an_example_host(project: Path) -> None:
    """What must be a mistake is marked with `@ts-expect-error`: the compiler complains where it is none."""
    write_types(project, install_locked(ROOT))
    assert errors("--project", str(project)) == ""
    # Declarations of libraries are left unchecked there (those of the SDK name types of Node): ours are checked here.
    ours = ("host.d.ts", "page-server.d.ts", "page-hub.d.ts")
    options = ("--ignoreConfig", "--noEmit", "--strict", "--target", "es2022", "--moduleResolution", "bundler")
    assert errors(*options, "--module", "esnext", *(str(project / name) for name in ours)) == ""


def test_the_modules_have_their_types_without_the_declarations(project: Path) -> None:
    """With `allowJs`, TypeScript reads them from the comments in host.js."""
    for module in (static_dir() / "host").glob("*.js"):
        shutil.copy(module, project)
    config = json.loads((project / "tsconfig.json").read_text("utf-8"))
    config["compilerOptions"] |= {"allowJs": True, "paths": {"@mcpframe/host": ["./host.js"]}}
    (project / "tsconfig.json").write_text(json.dumps(config), "utf-8")
    assert errors("--project", str(project)) == ""
