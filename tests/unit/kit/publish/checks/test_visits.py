"""Findings of two visits, without a browser; `tests/browser/test_check_hosts.py` has real ones."""

from __future__ import annotations

from typing import Any

import pytest

from mcpframe.kit.base.errors import NoFramedServer
from mcpframe.kit.publish.bundle_checks import run
from mcpframe.kit.publish.bundle_checks.traffic import TabRequest
from mcpframe.kit.publish.bundle_checks.visits import Visit, Visits, again_fetched, without_snapshot
from mcpframe.kit.servers.published import Fetched

URL = "https://tools.example/pi/"
HASHED = "https://tools.example/_mcpframe/base.zip.0123456789abcdef.wasm"


def test_files_that_never_change_are_fetched_once() -> None:
    again = [TabRequest(HASHED, size=1_000_000, ended=True), TabRequest(URL, size=2_000_000, ended=True)]
    [finding] = again_fetched(URL, again)
    assert finding.message == ("It fetches 1 files again that never change: 1.0 MB, 800 ms on a line of 10 Mbit/s.")
    assert finding.needs_headers
    for fine in (
        [TabRequest(HASHED, cached=True, ended=True)],
        [TabRequest(HASHED, size=300, ended=True)],  # it was asked for again, and is unchanged
        [TabRequest("https://other.example/base.zip.0123456789abcdef.wasm", size=1_000_000, ended=True)],
    ):
        assert not [*again_fetched(URL, fine)]


def test_a_start_without_the_snapshot_is_noticed() -> None:
    layer = TabRequest("https://tools.example/_mcpframe/layer.0123456789abcdef.bin", cached=True)
    built = {"snapshot": {"layers": ["sdk"]}}
    assert not [*without_snapshot([layer], built)]
    [unused] = without_snapshot([TabRequest(HASHED)], built)
    [none] = without_snapshot([layer], {"snapshot": None})
    assert unused.subject == none.subject == "snapshot"
    assert unused.message != none.message


def test_the_tools_of_a_visit_are_checked_with_the_name_of_their_server(monkeypatch: pytest.MonkeyPatch) -> None:
    tools = [{"name": "t" * 50, "description": "A tool.", "inputSchema": {"type": "object"}}]
    manifest: dict[str, Any] = {
        "name": "s" * 10,
        "tools": tools,
        "allowed_origins": ["https://chat.example"],
        "sizes": {"first_visit": 1},
        "files": [],
    }

    async def two_visits(*_: object, **__: object) -> Visits:
        return Visits(Visit(1, 1, 1, {}), Visit(1, 1, 1, {}), tools)

    def fetch(url: str, **_: object) -> Fetched:
        return Fetched(url, 200, {"content-type": "text/html"}, b"")

    def read_manifest(*_: object, **__: object) -> dict[str, Any]:
        return manifest

    for name, stand_in in {"two_visits": two_visits, "fetch": fetch, "read_manifest": read_manifest}.items():
        monkeypatch.setattr(run, name, stand_in)
    findings = run.check_url(URL).findings
    assert any("60 characters together with the server's name" in finding.message for finding in findings)
    del manifest["sizes"]
    with pytest.raises(NoFramedServer, match="lacks sizes"):
        run.check_url(URL)
