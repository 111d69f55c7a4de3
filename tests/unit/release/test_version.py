"""Decisions of a release before it builds anything."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from mcpframe.kit.base.errors import KitError
from tests.release.version import check_changelog, check_committed, project_version

TEXT = "# Changelog\n\n## 1.2.0 - {date}\n\nA change.\n\n## 1.1.0 - 2026-01-01\n\n## 1.0.0\n\nThe first.\n"


def changelog(folder: Path, date: str) -> Path:
    (folder / "CHANGELOG.md").write_text(TEXT.format(date=date), "utf-8")
    return folder


@pytest.mark.parametrize("version", ["1.2.3", "0.1.0", "10.0.65535"])
def test_a_version_of_three_numbers_fits_every_registry(tmp_path: Path, version: str) -> None:
    (tmp_path / "pyproject.toml").write_text(f'[project]\nversion = "{version}"\n')
    assert project_version(tmp_path) == version


@pytest.mark.parametrize("version", ["1.2", "1.2.3rc1", "1.2.3-rc.1", "1.2.3.4", "01.2.3", "1.2.100000", ""])
def test_another_version_is_refused(tmp_path: Path, version: str) -> None:
    (tmp_path / "pyproject.toml").write_text(f'[project]\nversion = "{version}"\n')
    with pytest.raises(KitError, match="three numbers"):
        project_version(tmp_path)


@pytest.mark.parametrize(("date", "final"), [("unreleased", False), ("2026-12-01", False), ("2026-12-01", True)])
def test_a_version_with_a_section_may_be_released(tmp_path: Path, date: str, final: bool) -> None:
    check_changelog(changelog(tmp_path, date), "1.2.0", final=final)


@pytest.mark.parametrize(
    ("version", "date", "final", "why"),
    [
        ("1.3.0", "2026-12-01", False, "no section for 1.3.0"),
        ("1.2", "2026-12-01", False, "no section for 1.2:"),
        ("1.1.0", "2026-12-01", False, "is empty"),
        ("1.0.0", "2026-12-01", False, "no date"),
        ("1.2.0", "soon", False, "no date"),
        ("1.2.0", "unreleased", True, "unreleased"),
    ],
)
def test_a_changelog_that_does_not_fit_is_refused(
    tmp_path: Path, version: str, date: str, final: bool, why: str
) -> None:
    with pytest.raises(KitError, match=why):
        check_changelog(changelog(tmp_path, date), version, final=final)


def test_only_a_checkout_without_changes_is_final(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True, timeout=60)
    check_committed(tmp_path)
    (tmp_path / "new.txt").touch()
    with pytest.raises(KitError, match=r"new\.txt"):
        check_committed(tmp_path)
