"""The list of what is left out, against the real packages: each named module imports what it is said to import.

That the SDKs import and serve without it is shown by the bundles of `test_unmodified` and of tests/browser, which are
built without it.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from mcpframe.kit.bundle.assembly.special_packages import SPECIAL, USERS, Special, Use, is_left_out, modules_of
from mcpframe.kit.bundle.code.imports import imports_named
from mcpframe.kit.bundle.packages.lock import OWN, SERVER, Locked
from mcpframe.kit.bundle.packages.optional_native import is_foreign, pure_wheel
from mcpframe.kit.bundle.packages.pins import compile_pins
from mcpframe.kit.bundle.packages.resolve import resolve
from mcpframe.kit.bundle.packages.wheels import download, wheel_path
from mcpframe.kit.bundle.pyodide.archive import unpack
from mcpframe.kit.bundle.pyodide.packages import PyodidePackages
from mcpframe.kit.bundle.pyodide.runtime import ensure_runtime
from tests.support.suites import newest_first

GENERATIONS = ("mcp>=2", "mcp<2", "fastmcp>=4", "fastmcp<4", "fastmcp<3", "fastmcp<2.13")


@pytest.fixture(scope="module")
def users() -> dict[str, list[Mapping[str, bytes]]]:
    """The files of the packages that something is left out for, in each of their generations."""
    found: dict[str, dict[str, Mapping[str, bytes]]] = {name: {} for name in USERS}
    for requirement in GENERATIONS:
        pins = compile_pins([requirement], {}, {}, sdk=None)
        for name in sorted(USERS & pins.keys()):
            [(version, filename, digest)] = download({name: (pins[name].version, pins[name].hashes)}).values()
            found[name][digest] = unpack(wheel_path(Locked(name, version, filename, digest, "index", ())))
    return {name: list(files.values()) for name, files in found.items()}


def importing(package: str, files: Mapping[str, bytes]) -> set[str]:
    """Return the modules that import a package, or that name it as `importlib.import_module` needs it."""
    [module] = modules_of([package])
    paths = {item.file for item in imports_named(module, files)}
    paths |= {path for path, data in files.items() if path.endswith(".py") and f'"{module}"'.encode() in data}
    return {path.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for path in paths}


@pytest.mark.extended
@pytest.mark.parametrize(
    ("name", "use"),
    [pytest.param(item.name, use, id=f"{item.name} of {use.of[0]}") for item in SPECIAL for use in item.uses],
)
def test_the_modules_that_are_named_import_it(name: str, use: Use, users: dict[str, list[Mapping[str, bytes]]]) -> None:
    assert all(users[who] for who in use.of), "no version of it was looked at"
    modules = {module for who in use.of for files in users[who] for module in importing(name, files)}
    for named in use.evidence:
        assert any(f"{module}.".startswith(f"{named}.") for module in modules), f"{named} is not in {sorted(modules)}"
    if not use.evidence:
        assert not modules


@pytest.mark.parametrize("requirement", newest_first(["fastmcp>=4", "fastmcp<4"]))
def test_a_bundle_is_without_it(requirement: str) -> None:
    lock = resolve([requirement], PyodidePackages(ensure_runtime(None)), inputs="")
    for package in lock.packages:
        assert set(package.required_by) & {SERVER, OWN} or not all(
            is_left_out(package.name, who) for who in package.required_by
        )
    names = {package.name for package in lock.packages}
    assert not names & {"authlib", "cryptography", "cyclopts", "httpx-sse", "joserfc", "uvicorn", "watchfiles"}


@pytest.mark.parametrize("package", [item for item in SPECIAL if item.without_native], ids=lambda package: package.name)
def test_a_package_whose_native_part_is_optional_works_without_it(package: Special, tmp_path: Path) -> None:
    pin = compile_pins([package.name], {}, {}, sdk=None)[package.name]
    [(version, filename, digest)] = download({package.name: (pin.version, pin.hashes)}, foreign={package.name}).values()
    assert is_foreign(filename)
    wheel = wheel_path(Locked(package.name, version, filename, digest, "index", ()))
    assert any(path.endswith(".so") for path in unpack(wheel))
    name, data = pure_wheel(wheel)
    (tmp_path / name).write_bytes(data)
    files = unpack(tmp_path / name)
    assert not any(path.endswith(".so") for path in files)
    native = [item for item in imports_named(package.module or package.name, files) if item.optional]
    assert native, "nothing is imported within try"
    code = f"import sys; sys.path.insert(0, {str(tmp_path / name)!r}); assert {package.without_native}"
    subprocess.run([sys.executable, "-I", "-S", "-c", code], check=True, timeout=60)
