"""The web servers of the tests of authors. The build is stood in for."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from urllib.request import Request, urlopen

import pytest

from mcpframe.kit.testing import shared_browser


@pytest.mark.parametrize(
    ("allowed", "opaque"), [(["https://chat.example"], None), (["https://a.example", "null"], "null")]
)
def test_a_bundle_that_is_tested_is_read_by_no_other_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, allowed: list[str], opaque: str | None
) -> None:
    (tmp_path / "_headers").write_text("/*\n  Access-Control-Allow-Origin: *\n")
    (tmp_path / "adder").mkdir()
    (tmp_path / "adder" / "index.html").write_text("<p>")
    built = SimpleNamespace(manifest={"allowed_origins": allowed}, url_path="adder/")
    monkeypatch.setattr(shared_browser, "build_for_tests", lambda *_, **__: (built, tmp_path))
    with shared_browser.SharedBrowser() as browser:
        served = browser.serve(tmp_path / "project")
        assert served.host == allowed[0]
        for origin, reader in {"https://other.example": None, "null": opaque}.items():
            with urlopen(Request(served.url, headers={"Origin": origin}), timeout=20) as answer:
                assert answer.headers["access-control-allow-origin"] == reader


@pytest.mark.parametrize(
    ("own", "app_host"),
    [
        ({}, "https://chat.example"),
        ({"mcp_apps": ["https://apps.example", "*"]}, "https://apps.example"),
        ({"mcp_apps": ["*"]}, "https://host.example"),
    ],
)
def test_a_host_of_mcp_apps_has_an_origin_of_its_own_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own: dict[str, list[str]], app_host: str
) -> None:
    (tmp_path / "adder").mkdir()
    manifest = {"allowed_origins": ["https://chat.example"], "dialect_origins": own}
    built = SimpleNamespace(manifest=manifest, url_path="adder/")
    monkeypatch.setattr(shared_browser, "build_for_tests", lambda *_, **__: (built, tmp_path))
    with shared_browser.SharedBrowser() as browser:
        served = browser.serve(tmp_path / "project")
        assert (served.host, served.app_host) == ("https://chat.example", app_host)
