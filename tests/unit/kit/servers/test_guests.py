"""Hosts that are added to a built page while it is served on its user's own machine, and nothing else of it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from mcpframe.kit.servers.bundle_site import BundleSite
from mcpframe.kit.servers.guests import with_ancestors, with_guests
from mcpframe.kit.static_hosts.known import host_files
from tests.support.bundles import write_bundle

CHAT, GUEST = "https://chat.example", "http://mcpframe-bridge.localhost"


def data(page: str, element: str) -> Any:
    return json.loads(re.findall(rf'id="mcpframe-{element}">(.*?)</script>', page)[0])


@pytest.mark.parametrize(
    ("manifest", "boot"),
    [
        ({"allowed_origins": [CHAT]}, {"allowed_origins": [CHAT, GUEST]}),
        ({"allowed_origins": ["*"]}, {"allowed_origins": ["*"]}),
        ({"allowed_origins": []}, {"allowed_origins": []}),
        (
            {"dialect_origins": {"sep": [CHAT], "mcp_apps": ["*"], "mcp_ui": []}},
            {"allowed_origins": [], "dialect_origins": {"sep": [CHAT, GUEST], "mcp_apps": ["*"], "mcp_ui": []}},
        ),
        (
            {"options": {"allow_opaque": True}},
            {"allowed_origins": [GUEST], "options": {"allow_opaque": True}},
        ),
    ],
)
def test_each_list_of_hosts_gets_them(tmp_path: Path, manifest: dict[str, Any], boot: dict[str, Any]) -> None:
    page = (write_bundle(tmp_path, "pi", **manifest) / "index.html").read_text()
    changed = with_guests(page, [GUEST])
    assert data(changed, "boot") == boot
    rest = re.compile(r">[^<]*</script>")
    assert rest.sub("", changed) == rest.sub("", page)


def test_the_page_s_script_hears_them_too() -> None:
    phase = {"fragment": "", "query": "", "hosts": [CHAT], "openings": [], "failures": []}
    anyone = {**phase, "hosts": ["*"], "standIn": {"id": 1, "hosts": [CHAT]}}
    inbox = {"phases": [phase, anyone], "most": 1, "patience": 1}
    page = f'<script type="application/json" id="mcpframe-inbox">{json.dumps(inbox)}</script>'
    assert data(with_guests(page, [GUEST]), "inbox")["phases"] == [
        {**phase, "hosts": [CHAT, GUEST]},
        {**anyone, "standIn": {"id": 1, "hosts": [CHAT, GUEST]}},
    ]


@pytest.mark.parametrize("page", ["", "<p>", '<script type="application/json" id="mcpframe-boot">{</script>'])
def test_other_pages_stay_as_they_are(page: str) -> None:
    assert with_guests(page, [GUEST]) == page


def test_the_policy_allows_them() -> None:
    assert with_ancestors(f"a b; frame-ancestors 'self' {CHAT}; c", [GUEST]) == (
        f"a b; frame-ancestors 'self' {CHAT} {GUEST}; c"
    )
    assert with_ancestors("frame-ancestors *", [GUEST]) == "frame-ancestors *"
    assert with_ancestors("default-src 'none'", [GUEST]) == "default-src 'none'"


def test_only_the_page_that_is_served_for_them_has_them(tmp_path: Path) -> None:
    folder = write_bundle(tmp_path, "pi", allowed_origins=[CHAT])
    (tmp_path / "_headers").write_bytes(host_files({"pi": f"frame-ancestors {CHAT}"})["_headers"])
    before = (folder / "index.html").read_text()
    for guests, allowed in (((), [CHAT]), ((GUEST,), [CHAT, GUEST])):
        answer = TestClient(BundleSite.of(folder, guests=guests)).get("/pi/")
        assert data(answer.text, "boot")["allowed_origins"] == allowed
        assert answer.headers["content-security-policy"] == f"frame-ancestors {' '.join(allowed)}"
    assert (folder / "index.html").read_text() == before
