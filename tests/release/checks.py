"""The checks of the packages by the tools of their fields; each raises one error."""

from __future__ import annotations

import os
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hatch_build import ARCHIVE, PROJECTS
from mcpframe.kit.base.data import checkout_dir
from mcpframe.kit.base.errors import KitError, ToolFailed
from mcpframe.kit.base.node import find_node, install_locked
from mcpframe.kit.base.processes import run_tool
from mcpframe.kit.base.scratch import scratch
from mcpframe.kit.browser.chromium import ensure_chromium
from tests.release.packages import Packages, build_python
from tests.release.web_store import check_store

_TOOLS = Path(__file__).parent
"""The folder with the lock of the npm tools."""
_DATA = ("static", "templates")
"""What the wheel has in `mcpframe/_data`, as files or in an archive."""
_BUILT_INTO_SDIST = {"PKG-INFO", ".gitignore", "pyproject.toml", "hatch_build.py", "README.md", "LICENSE"}
_NOT_IN_WHEEL = ("static/globals.d.ts", "static/playground/", "static/site/")
"""Of pages that only the repository's site has."""


def check_metadata(packages: Packages) -> None:
    """Check the metadata and the README of the wheel and the sdist, as the index does: twine."""
    command = [sys.executable, "-m", "twine", "--no-color", "check", "--strict"]
    with _judged(packages.wheel, packages.sdist):
        run_tool([*command, str(packages.wheel), str(packages.sdist)], "twine")


def check_wheel(packages: Packages) -> None:
    """Check what the wheel has: check-wheel-contents, and the files of the repository."""
    root = checkout_dir()
    options = ["--config", str(root / "pyproject.toml"), "--package", str(root / "mcpframe")]
    command = [sys.executable, "-m", "check_wheel_contents", *options, str(packages.wheel)]
    with _judged(packages.wheel):
        run_tool(command, "check-wheel-contents", cwd=root)
    with zipfile.ZipFile(packages.wheel) as archive:
        inside = {name for name in archive.namelist() if ".dist-info/" not in name}
        with archive.open(ARCHIVE) as file, zipfile.ZipFile(file) as projects:
            inside |= {f"{ARCHIVE}/{name}" for name in projects.namelist()}
    expected = {in_wheel(path) for path in repository_files(root) if not path.startswith(_NOT_IN_WHEEL)}
    check_same(packages.wheel, inside, expected | {ARCHIVE})


def check_sdist(packages: Packages) -> None:
    """Check that the sdist has the files of the repository that it should, and that its wheel is the clone's."""
    with scratch("sdist") as folder:
        with tarfile.open(packages.sdist) as archive:
            archive.extractall(folder, filter="data")
        [unpacked] = folder.iterdir()
        inside = {path.relative_to(unpacked).as_posix() for path in unpacked.rglob("*") if path.is_file()}
        check_same(packages.sdist, inside, repository_files(checkout_dir()) | _BUILT_INTO_SDIST)
        built = build_python("wheel", unpacked, folder)
        if built.read_bytes() != packages.wheel.read_bytes():
            raise KitError(f"The wheel built from {packages.sdist.name} is not the one that the clone builds.")


def check_host(packages: Packages) -> None:
    """Check the npm package's files and exports: publint."""
    _run_npm_tool("publint", "src/cli.js", packages.host, "--strict")


def check_types(packages: Packages) -> None:
    """Check that each export of the npm package has types where resolvers look for them: attw."""
    options = ("--profile", "esm-only", "--format", "ascii", "--no-color")
    _run_npm_tool("@arethetypeswrong/cli", "dist/index.js", packages.host, *options)


def check_extension(packages: Packages) -> None:
    """Check that Chromium packs the unzipped extension: it reads its manifest and every file that this names."""
    _pack_in_chromium(packages.extension)


def check_store_package(packages: Packages) -> None:
    """Check the same of the Web Store's package, and that it is one that the store takes."""
    _pack_in_chromium(packages.store)
    with zipfile.ZipFile(packages.store) as archive:
        check_store({name: archive.read(name) for name in archive.namelist()})


def _pack_in_chromium(package: Path) -> None:
    with scratch("extension") as folder:
        with zipfile.ZipFile(package) as archive:
            archive.extractall(folder / "hub")
        options = ["--headless", "--disable-gpu", f"--user-data-dir={folder / 'profile'}"]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            options.append("--no-sandbox")
        command = [str(ensure_chromium()), *options, f"--pack-extension={folder / 'hub'}"]
        with _judged(package):
            run_tool(command, "Chromium", timeout=120)
        if not (folder / "hub.crx").is_file():
            raise KitError(f"Chromium did not pack {package.name}.")


def repository_files(root: Path) -> set[str]:
    """Return the paths of the files that git does not ignore below mcpframe, static and templates."""
    listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", "--", "mcpframe", *_DATA]
    paths = run_tool(listing, "git", cwd=root).split("\0")
    return {path for path in paths if path and (root / path).is_file()}


def in_wheel(path: str) -> str:
    """Return the path in the wheel of a file of the repository; in the archive of projects, a path below its name."""
    for folder, name in PROJECTS.items():
        if path.startswith(f"{folder}/"):
            return f"{ARCHIVE}/{name}{path.removeprefix(folder)}"
    return f"mcpframe/_data/{path}" if path.startswith("static/") else path


def check_same(package: Path, inside: set[str], expected: set[str]) -> None:
    """Raise `KitError` unless a package has exactly the expected files."""
    faults = [*(f"lacks {path}" for path in expected - inside), *(f"has {path}" for path in inside - expected)]
    if faults:
        more = f", and {len(faults) - 3} more" if len(faults) > 3 else ""
        raise KitError(f"{package.name} differs from the repository: it {', it '.join(sorted(faults)[:3])}{more}.")


def _run_npm_tool(package: str, script: str, archive: Path, *options: str) -> None:
    program = install_locked(_TOOLS) / package / script
    with _judged(archive):
        run_tool([str(find_node().executable), str(program), str(archive), *options], package, timeout=120)


@contextmanager
def _judged(*packages: Path) -> Iterator[None]:
    """Name the packages in the error of a tool that prints its own reasons."""
    try:
        yield
    except ToolFailed as error:
        if not error.output:
            raise
        names = " and ".join(path.name for path in packages)
        tool = str(error).partition(" failed")[0]
        raise ToolFailed(f"{tool} finds a fault in {names}: its reasons are above.", error.output) from error
