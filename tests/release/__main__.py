"""The command line of `build.py release`."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable, Sequence

from mcpframe.kit.base.data import checkout_dir
from mcpframe.kit.base.errors import KitError, ToolFailed
from mcpframe.kit.base.progress import step
from tests import release
from tests.release import checks, copied_line, installed, use
from tests.release.packages import Packages, build_packages
from tests.release.version import check_changelog, check_committed, project_version

CHECKS: dict[str, Callable[[Packages], None]] = {
    "Checking the metadata (twine)": checks.check_metadata,
    "Checking the wheel's files (check-wheel-contents)": checks.check_wheel,
    "Building the wheel from the source distribution": checks.check_sdist,
    "Checking the npm package (publint)": checks.check_host,
    "Checking the npm package's types (attw)": checks.check_types,
    "Packing the extension in Chromium": checks.check_extension,
    "Checking the package for the Chrome Web Store": checks.check_store_package,
    "Using the npm package in an empty project": use.use_host,
    "Using the wheel in an empty environment": use.use_wheel,
    "Measuring the wheel without extras": installed.check_size,
    "Running the line of the install page in an empty environment": copied_line.check_copied_line,
}


def main(arguments: Sequence[str]) -> int:
    """Build the packages into dist/ and check them; return 1 if one cannot be built, or any check fails."""
    parser = argparse.ArgumentParser(prog="build.py release", description=release.__doc__)
    parser.add_argument(
        "--final", action="store_true", help="refuse uncommitted changes, and a changelog without the release's date"
    )
    parser.add_argument("--only-version", action="store_true", help="check the version and the changelog, no more")
    options = parser.parse_args(arguments)
    root = checkout_dir()
    try:
        version = project_version(root)
        check_changelog(root, version, final=options.final)
        if options.final:
            check_committed(root)
        if options.only_version:
            return 0
        packages = build_packages(root, root / "dist", version)
    except KitError as error:
        _report(error)
        return 1
    failed = sum(not _holds(title, check, packages) for title, check in CHECKS.items())
    for path in packages.all:
        print(f"{path.relative_to(root)}: {path.stat().st_size / 1_000_000:.1f} MB")
    if failed:
        print(f"release: {failed} of {len(CHECKS)} checks failed.", file=sys.stderr)
    elif options.final:
        print("Nothing was published. To publish:")
        for command in (("twine", "upload", packages.wheel, packages.sdist), ("npm", "publish", packages.host)):
            print("   ", shlex.join(str(word) for word in command))
    return int(bool(failed))


def _holds(title: str, check: Callable[[Packages], None], packages: Packages) -> bool:
    try:
        with step(title):
            check(packages)
    except KitError as error:
        _report(error)
        return False
    return True


def _report(error: KitError) -> None:
    if isinstance(error, ToolFailed):
        print(error.output.rstrip(), file=sys.stderr)
    print(f"release: {error}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
