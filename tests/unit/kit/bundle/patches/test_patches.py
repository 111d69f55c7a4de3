"""Patches of Pyodide's script: all apply to the pinned one; an unknown one is left as it is, with a note."""

from __future__ import annotations

import hashlib
import re
import subprocess
from importlib import import_module
from pathlib import Path

import pytest

from mcpframe.kit.base.data import checkout_dir
from mcpframe.kit.base.errors import DownloadError, NodeMissing
from mcpframe.kit.bundle import patches
from mcpframe.kit.bundle.packages.npm import npm_files
from mcpframe.kit.bundle.patches import SCRIPT, SCRIPTS, KnownScript, Patched, functions_on_demand, patch_script
from mcpframe.kit.bundle.patches.patch import Patch
from mcpframe.kit.bundle.pyodide.version import FILES, VERSION
from mcpframe.kit.project.pyproject import NpmConfig

RESULT = "ebc593630be355bdbbc04f601334dbc9c57d59f0171c7f95096432faa18d9d7c"
"""The SHA-256 of the pinned script with all of its patches."""

OTHERS = {
    "314.0.6": "sha512-BKDTJyIqFxC4BExLqeRS3f5xvXZIjOt8C3zGLN/Cc7tFxSwvKVhVkchQQ2AGLOtR4YrVOIFxbV8poyDOOmWwxQ==",
    "0.29.5": "sha512-TkYrUv9m8QmfImADKRmpwZulL48E0uUaBSO+dvRQKyAJc0qh9gu7jn8btyHPh3NZm1r2IH2YrJhIr7Q2B9urAw==",
}
"""Other versions of Pyodide, with the integrity of their npm packages."""
PATCHES = SCRIPTS[FILES[SCRIPT]].patches
NAMES = tuple(patch.name for patch in PATCHES)


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def as_if_known(script: bytes, patches: tuple[Patch, ...] = PATCHES) -> Patched:
    """The script with whichever of the patches apply, as if they had been made for it."""
    return patch_script(script, {sha256(script): KnownScript("1.2.3", patches)})


def check_syntax(script: bytes, folder: Path) -> None:
    (folder / "script.mjs").write_bytes(script)
    subprocess.run(["node", "--check", folder / "script.mjs"], check=True)


def published(version: str, name: str) -> bytes:
    """A file of another version of Pyodide's npm package; the test is skipped where npm cannot fetch it."""
    package = NpmConfig(version=version, integrity=OTHERS[version], files=[name])
    try:
        return npm_files({"pyodide": package}, "this test")[f"npm/pyodide/{name}"]
    except (DownloadError, NodeMissing) as error:
        pytest.skip(str(error))


def test_the_pinned_script_is_known() -> None:
    assert SCRIPTS[FILES[SCRIPT]].version == VERSION


def test_every_patch_is_named_after_its_module() -> None:
    folder = Path(functions_on_demand.__file__).parent
    assert {f"{name}.py" for name in NAMES} == {path.name for path in folder.glob("*.py")} - {"__init__.py", "patch.py"}


@pytest.mark.parametrize("name", NAMES)
def test_every_patch_names_its_upstream_and_is_documented(name: str) -> None:
    module = import_module(f"{patches.__name__}.{name}")
    assert re.search(r"^Upstream: .*https://", module.__doc__ or "", re.MULTILINE | re.DOTALL)
    assert f"`{name}`" in (checkout_dir() / "docs" / "explanation" / "performance.md").read_text("utf-8")


def test_all_patches_apply_to_the_pinned_script(script: bytes, tmp_path: Path) -> None:
    found = patch_script(script)
    assert (found.applied, found.notes) == (NAMES, ())
    assert sha256(found.script) == RESULT
    assert len(found.script) < 0.75 * len(script)
    check_syntax(found.script, tmp_path)


@pytest.mark.parametrize("patch", PATCHES, ids=NAMES)
def test_each_patch_applies_alone(script: bytes, patch: Patch, tmp_path: Path) -> None:
    found = as_if_known(script, (patch,))
    assert (found.applied, found.notes) == ((patch.name,), ())
    assert found.script != script
    check_syntax(found.script, tmp_path)


def test_a_script_with_another_byte_is_left_as_it_is_with_one_note(script: bytes) -> None:
    other = script.replace(b"e", b"E", 1)
    found = patch_script(other)
    assert (found.script, found.applied) == (other, ())
    [note] = found.notes
    assert sha256(other) in note
    assert SCRIPT in note
    assert VERSION in note
    assert "slower" in note


@pytest.mark.parametrize(
    "other", [b"", b"export default function f() {}", b"async function f() {}export default g;", b"f();"]
)
def test_a_patch_that_finds_nothing_changes_nothing_and_leaves_a_note(other: bytes) -> None:
    assert patch_script(other).script == other
    found = as_if_known(other)
    assert (found.script, found.applied) == (other, ())
    assert len(found.notes) == len(PATCHES)
    for patch, note in zip(PATCHES, found.notes, strict=True):
        assert patch.name in note
        assert patch.cost in note
        assert sha256(other) in note
        assert "\n" not in note


def test_a_patch_is_applied_in_all_of_its_places_or_in_none(script: bytes) -> None:
    [_, (old, _), *_] = functions_on_demand.CHANGES
    other = script.replace(old, b"something()")
    found = as_if_known(other)
    assert set(NAMES) - set(found.applied) == {"functions_on_demand"}
    assert all(old in found.script for old, _ in (functions_on_demand.CHANGES[0], functions_on_demand.CHANGES[2]))
    assert len(found.notes) == 1


def test_a_place_that_is_there_twice_is_not_patched(script: bytes) -> None:
    [(old, _), *_] = functions_on_demand.CHANGES
    found = as_if_known(script + old, (functions_on_demand.PATCH,))
    assert (found.script, found.applied) == (script + old, ())


@pytest.mark.parametrize(
    ("version", "name", "applied"),
    [
        ("314.0.6", "pyodide.asm.mjs", set(NAMES)),
        ("0.29.5", "pyodide.asm.js", {"one_module_for_trampolines", "quiet_file_system", "no_compile_on_restore"}),
    ],
)
def test_another_version_of_pyodide(version: str, name: str, applied: set[str], tmp_path: Path) -> None:
    script = published(version, name)
    unknown = patch_script(script)
    assert (unknown.script, unknown.applied, len(unknown.notes)) == (script, (), 1)
    tried = as_if_known(script)  # as a maintainer does who raises the version
    assert set(tried.applied) == applied
    assert len(tried.notes) == len(set(NAMES) - applied)
    check_syntax(tried.script, tmp_path)
