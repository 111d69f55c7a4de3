"""`mcpframe check` of a page on static hosts: what two visits cost there, and what to change at this host."""

from __future__ import annotations

import pytest

from mcpframe.kit.publish.bundle_checks import Finding, Report, check_url
from mcpframe.kit.publish.targets.costs import costs_of
from mcpframe.kit.static_hosts.github_pages import GITHUB_PAGES
from mcpframe.kit.static_hosts.netlify import NETLIFY
from mcpframe.kit.web.serve import serve_app
from tests.support.built import built
from tests.support.static_host_stand_in import StandIn


def check(app: StandIn) -> Report:
    with serve_app(app) as served:
        return check_url(f"{served.origin}/pi-calculator/", origin="https://chat.example")


def about(report: Report, subject: str) -> list[Finding]:
    return [finding for finding in report.findings if finding.subject == subject]


def test_github_pages() -> None:
    root, result = built("pi-calculator", allowed_origins=["https://chat.example"])
    report = check(StandIn(root, GITHUB_PAGES))
    assert (report.host, report.errors) == ("GitHub Pages", 0)
    [policy] = about(report, "Content-Security-Policy")
    assert "GitHub Pages has no headers of a site's own" in policy.remedy
    assert not [finding for finding in report.findings if "uncompressed" in finding.message]
    files = {entry["path"]: entry for entry in result.manifest["files"]}
    assert any(".zip." in path for path in files)
    assert not [*costs_of(GITHUB_PAGES, {"files": [{**each, "loaded": "later"} for each in files.values()]})]
    visits = report.visits
    assert visits is not None
    assert visits.call.tool == "calculate_pi"
    assert visits.call.milliseconds > 0
    assert result.sizes["first_visit"] * 0.9 < visits.first.size < result.sizes["first_visit"] * 1.2
    assert visits.first.encodings["gzip"] > 1_000_000, "WebAssembly and scripts"
    assert visits.second.size < 100_000
    assert not about(report, "second visit")
    assert not about(report, "snapshot")


@pytest.mark.extended
def test_a_host_whose_settings_forbid_caching() -> None:
    root, _ = built("pi-calculator", allowed_origins=["https://chat.example"])
    report = check(StandIn(root, NETLIFY, forgetful=True))
    assert report.host == "Netlify"
    [again] = about(report, "second visit")
    assert "files again that never change" in again.message
    assert "Netlify reads _headers" in again.remedy
    assert not about(report, "Content-Security-Policy")
    assert report.visits is not None
    assert report.visits.second.size > 1_000_000, "the page itself keeps its snapshot"
