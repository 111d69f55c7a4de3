"""Faults of a web server for an installable page; a real browser has `test_installed_page.py`."""

from __future__ import annotations

import pytest

from mcpframe.kit.bundle.assembly.csp import page_policy
from mcpframe.kit.project.pyproject import CspConfig
from mcpframe.kit.publish.bundle_checks.installed import OfflineFiles, check_installable, offline_files


def test_the_policy_of_a_build_allows_the_worker_and_the_manifest() -> None:
    policy = page_policy(CspConfig(), url="https://tools.example/pi/", installable=True)
    assert not [*check_installable({"content-security-policy": policy})]
    assert not [*check_installable({})]
    plain = page_policy(CspConfig())
    assert "manifest-src" not in plain
    assert "worker-src 'none'" in plain


@pytest.mark.parametrize(
    ("policy", "lacking"),
    [
        ("default-src 'none'; worker-src 'self'", ["manifest-src"]),
        ("default-src 'self'; script-src 'none'", ["worker-src"]),
        ("worker-src blob:; manifest-src https://cdn.example", ["worker-src", "manifest-src"]),
        ("default-src *", []),
    ],
)
def test_another_policy_that_keeps_the_page_from_them(policy: str, lacking: list[str]) -> None:
    found = [*check_installable({"content-security-policy": policy})]
    assert [each.severity for each in found] == ["error"] * len(lacking)
    assert all(f"{name} lacks" in each.message for name, each in zip(lacking, found, strict=True))
    assert all(each.needs_headers for each in found)


def test_what_is_there_without_a_network() -> None:
    files = [{"path": "a/index.html", "bytes": 2}, {"path": "a/later.zip", "bytes": 4}]
    assert offline_files({"files": files}) is None
    assert offline_files({"files": files, "installable": {"kept": ["a/index.html"]}}) == OfflineFiles(1, 2)
