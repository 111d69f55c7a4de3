"""A bundle whose Pyodide is not patched, or not in every way: the build says so in one line, and its page works."""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page

from mcpframe.kit.bundle import patches
from mcpframe.kit.bundle.assembly import inputs
from mcpframe.kit.bundle.patches import SCRIPT, SCRIPTS, KnownScript
from mcpframe.kit.bundle.patches.patch import DoesNotApply, Patch
from mcpframe.kit.bundle.pipeline import build
from mcpframe.kit.bundle.pyodide.runtime import ensure_runtime
from mcpframe.kit.bundle.pyodide.version import FILES
from tests.bundle.conftest import SERVER, Adder, write_project
from tests.bundle.served_pages import Serving, call

PATCHES = SCRIPTS[FILES[SCRIPT]].patches
NAMES = [patch.name for patch in PATCHES]


def another_runtime(folder: Path) -> tuple[Path, str]:
    """The pinned runtime, with a byte more in its script; and the script's hash."""
    shutil.copytree(ensure_runtime().folder, folder)
    script = (folder / SCRIPT).read_bytes() + b"\n"
    (folder / SCRIPT).write_bytes(script)
    return folder, hashlib.sha256(script).hexdigest()


def never(script: bytes) -> bytes:
    raise DoesNotApply


def without(patch: Patch) -> Patch:
    return replace(patch, apply=never) if patch.name == "functions_on_demand" else patch


@pytest.mark.extended  # the patches of a build are tested without a browser, and change with a version of Pyodide
@pytest.mark.parametrize("applied", [[], NAMES[1:]], ids=["unknown script", "one patch does not apply"])
def test_the_page_works_without_patches(
    page: Page,
    host: str,
    serving: Serving,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    applied: list[str],
) -> None:
    folder, digest = another_runtime(tmp_path / "runtime")
    inputs._patched.cache_clear()  # it knows the script of the other case
    monkeypatch.setitem(FILES, SCRIPT, digest)
    if applied:
        known = KnownScript("1.2.3", tuple(without(patch) for patch in PATCHES))
        monkeypatch.setattr(patches, "SCRIPTS", {digest: known})
    server = SERVER.replace("https://chat.example", "*")
    project = write_project(tmp_path / "project", server=server)
    result = build(project, tmp_path / "out", snapshot=True, runtime=folder)
    again = build(project, tmp_path / "out", snapshot=True, runtime=folder)
    assert result.manifest["patches"]["applied"] == applied
    assert again.unchanged
    for built in (result, again):
        [warning] = [warning for warning in built.warnings if digest in warning]
        assert SCRIPT in warning
        assert "slower" in warning
        assert ("functions_on_demand" in warning) is bool(applied)
    [licences] = (tmp_path / "out").glob("_mcpframe/licences.*.txt")
    assert "mcpframe has changed" in licences.read_text("utf-8")  # names of globals, at least: see `plain_script`
    answer = json.loads(call(page, host, f"{serving(tmp_path / 'out')}/adder/", "add", '{"a":20,"b":22}'))
    assert answer["structuredContent"] == {"result": 42}
    marks = page.frames[1].evaluate("() => performance.getEntriesByType('mark').map(({ name }) => name)")
    assert "mcpframe:restored" in marks


def test_the_pinned_runtime_has_all_patches(adder: Adder) -> None:
    manifest = json.loads((adder.out / "adder" / "manifest.json").read_text("utf-8"))
    assert manifest["patches"] == {"applied": NAMES, "notes": []}
