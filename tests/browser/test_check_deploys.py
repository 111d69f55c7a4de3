"""`mcpframe check` of a deploy in Chromium: in a tab of its own, and of an upload that is not complete."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from mcpframe.kit.bundle.output_root import BuildResult
from mcpframe.kit.publish.bundle_checks import Finding, Report, check_url
from mcpframe.kit.publish.bundle_checks.installed import SUBJECT
from mcpframe.kit.web.serve import serve_folder
from tests.support.built import build_plain
from tests.support.deploys import deploy
from tests.support.suites import extended

HOST = "https://chat.example"
SERVER = """
from mcpframe import FrameServer

server = FrameServer("deployed")


@server.tool()
def which() -> str:
    return "build {number}"
"""
PATIENCE = 60.0
SOON = 8.0
"""Seconds for what never comes, and is waited for."""


def check(site: Path, path: str, timeout: float = SOON) -> Report:
    with serve_folder(site) as served:
        return check_url(f"{served.origin}/{path}", origin=HOST, timeout=timeout)


def about(report: Report, subject: str) -> list[Finding]:
    return [finding for finding in report.findings if finding.subject == subject]


# A page that can be installed, in a tab of its own


def test_a_page_is_visited_in_a_tab_of_its_own_until_it_has_all_files(tmp_path: Path) -> None:
    result = deploy(tmp_path, 1, installable=True)
    report = check(tmp_path / "site", result.url_path, PATIENCE)
    assert (report.errors, about(report, SUBJECT), report.session) == (0, [], False)
    kept = result.manifest["installable"]["kept"]
    assert report.installed is not None
    assert report.installed.files == len(set(kept))
    assert "late.js" in {Path(path).name for path in kept}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        extended("late.js", "does not work without a network"),
        extended("offline.js", "does not work without a network"),
        extended("icon.svg", "Chromium would not install it: no icon is large enough"),
        extended("installable.json", "Chromium would not install it: "),
    ],
)
def test_a_page_in_a_tab_of_its_own_whose_upload_lacks_a_file(tmp_path: Path, name: str, said: str) -> None:
    result = deploy(tmp_path, 1, installable=True)
    [missing] = [path for path in (tmp_path / "site").rglob(name) if path.is_file()]
    missing.unlink()
    report = check(tmp_path / "site", result.url_path)
    assert any(said in finding.message for finding in about(report, SUBJECT)), report.findings


# A server whose upload is not complete


def upload(folder: Path, number: int, keep: timedelta | None = None) -> BuildResult:
    """Build a server into `site`, in the place of an earlier build, whose files are gone unless they are kept."""
    project = folder / "deployed.py"
    project.write_text(SERVER.format(number=number))
    return build_plain(project, folder / "site", allowed_origins=[HOST], keep=keep)


@pytest.mark.extended
def test_a_server_with_all_its_files(tmp_path: Path) -> None:
    result = upload(tmp_path, 1)
    report = check(tmp_path / "site", result.url_path, PATIENCE)
    assert report.errors == 0, report.findings
    assert report.visits is not None
    assert report.visits.call.tool == "which"


def test_a_server_whose_new_files_are_not_all_there_yet(tmp_path: Path) -> None:
    result = upload(tmp_path, 1)
    missing = [entry["path"] for entry in result.manifest["files"] if "/server." in entry["path"]]
    for path in missing:
        (tmp_path / "site" / path).unlink()
    report = check(tmp_path / "site", result.url_path)
    assert {finding.subject for finding in report.findings if finding.severity == "error"} == {*missing, "handshake"}
    assert all("status 404" in finding.message for path in missing for finding in about(report, path))
    [handshake] = about(report, "handshake")
    assert "missing" in f"{handshake.message} {handshake.remedy}"
    assert report.visits is None


@pytest.mark.extended
@pytest.mark.parametrize("keep", [None, timedelta(hours=24)], ids=["gone", "kept"])
def test_a_page_that_is_older_than_its_files(tmp_path: Path, keep: timedelta | None) -> None:
    page = tmp_path / "site" / upload(tmp_path, 1).url_path / "index.html"
    older = page.read_bytes()
    result = upload(tmp_path, 2, keep)
    assert page.read_bytes() != older
    page.write_bytes(older)
    page.with_name("index.html.gz").unlink(missing_ok=True)
    report = check(tmp_path / "site", result.url_path, SOON if keep is None else PATIENCE)
    [finding] = about(report, f"{result.url_path}index.html")
    assert finding.message.startswith("It is not the file that was built")
    if keep is None:  # its own files are gone
        assert report.visits is None
        assert report.errors == 2
        [handshake] = about(report, "handshake")
        assert "missing" in f"{handshake.message} {handshake.remedy}"
    else:  # the page of the earlier build works as it did
        assert report.visits is not None
        assert report.errors == 1
