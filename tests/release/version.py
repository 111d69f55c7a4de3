"""Decisions of a release before it builds: its version, its section in the changelog, and whether git has it all."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from mcpframe.kit.base.errors import KitError
from mcpframe.kit.base.processes import run_tool

UNRELEASED = "unreleased"
_VERSION = re.compile(r"(0|[1-9]\d{0,4})(\.(0|[1-9]\d{0,4})){2}")
_HEADING = re.compile(r"^## (?P<version>\S+)(?: - (?P<date>\S+))?[ \t]*$", re.MULTILINE)
_DATE = re.compile(r"\d{4}-\d\d-\d\d")


def project_version(root: Path) -> str:
    """Return the version in pyproject.toml.

    Raises:
        KitError: It is not three numbers, as Python's index, npm and Chrome all accept.
    """
    version: str = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    if not _VERSION.fullmatch(version):
        raise KitError(
            f"The version {version!r} in pyproject.toml is not three numbers, such as 1.2.3: npm needs that."
        )
    return version


def check_changelog(root: Path, version: str, *, final: bool) -> None:
    """Check that CHANGELOG.md has a section for the version, with text; `final` demands its date, too.

    Raises:
        KitError: It does not.
    """
    text = (root / "CHANGELOG.md").read_text("utf-8")
    headings = list(_HEADING.finditer(text))
    for heading, following in zip(headings, [*headings[1:], None], strict=True):
        if heading["version"] != version:
            continue
        if not text[heading.end() : following.start() if following else len(text)].strip():
            raise KitError(f"The section {version} of CHANGELOG.md is empty: write what users notice.")
        date = heading["date"] or ""
        if date != UNRELEASED and not _DATE.fullmatch(date):
            raise KitError(
                f"The heading of {version} in CHANGELOG.md has no date: write '## {version} - YYYY-MM-DD', or "
                f"'- {UNRELEASED}' until then."
            )
        if final and date == UNRELEASED:
            raise KitError(f"CHANGELOG.md calls {version} {UNRELEASED}: write the date of its release.")
        return
    raise KitError(f"CHANGELOG.md has no section for {version}: write '## {version} - {UNRELEASED}' and what changed.")


def check_committed(root: Path) -> None:
    """Check that the checkout is the last commit's.

    Raises:
        KitError: Files were changed or added since.
    """
    changed = run_tool(["git", "status", "--porcelain"], "git", cwd=root).splitlines()
    if changed:
        raise KitError(f"{len(changed)} files differ from the last commit ({changed[0].strip()}): commit them first.")
