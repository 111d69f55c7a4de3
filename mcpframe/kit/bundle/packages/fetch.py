"""The wheels of a lock as files in the cache, each checked against its hash."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from mcpframe.kit.base.errors import BuildError, HashMismatch
from mcpframe.kit.base.progress import count
from mcpframe.kit.bundle.packages.lock import Locked
from mcpframe.kit.bundle.packages.optional_native import is_foreign
from mcpframe.kit.bundle.packages.source_builds import rebuild
from mcpframe.kit.bundle.packages.wheels import NoWheel, download, is_good, wheel_path
from mcpframe.kit.bundle.pyodide.archive import check_sizes
from mcpframe.kit.bundle.pyodide.packages import PyodidePackages, Wanted


def fetch_wheels(packages: Iterable[Locked], pyodide: PyodidePackages) -> dict[str, Path]:
    """Fetch the wheels that the cache lacks, and return the files of all, by package name.

    Args:
        pyodide: Pyodide's own packages.

    Raises:
        BuildError: The package index no longer has a wheel, the distribution's folder lacks some, or the wheels unpack
            to too much.
        DownloadError: A wheel could not be fetched.
        HashMismatch: A wheel is not the locked one, or cannot be built again from its sources.
    """
    paths = {package.name: wheel_path(package) for package in packages}
    missing = [package for package in packages if not is_good(paths[package.name], package.sha256)]
    pyodide.fetch(
        Wanted(package.filename, package.sha256, paths[package.name])
        for package in missing
        if package.source == "pyodide"
    )
    for package in missing:
        if package.source == "sources":
            rebuild(package, pyodide.runtime)
    pinned = [package for package in missing if package.source == "index"]
    count(len(missing) - len(pinned), len(missing))
    pins = {package.name: (package.version, (package.sha256,)) for package in pinned}
    foreign = {package.name for package in pinned if is_foreign(package.filename)}
    if pinned:
        try:
            if pins.keys() - foreign:
                download({name: pin for name, pin in pins.items() if name not in foreign}, locked=True)
            if foreign:
                download({name: pins[name] for name in foreign}, foreign=foreign, locked=True)
        except NoWheel as error:
            raise BuildError(
                f"The package index has no wheel of {error.name} in the locked version; run the build with --upgrade."
            ) from error
        for package in pinned:
            if not paths[package.name].is_file():
                raise HashMismatch(
                    f"The package index sent another wheel of {package.name} {package.version} than the locked one; "
                    "run the build with --upgrade."
                )
    check_sizes(paths.values())
    return paths
