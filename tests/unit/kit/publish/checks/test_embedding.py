"""The page's headers, policy, address and origins: what each finding is about, and how bad it is."""

from __future__ import annotations

from typing import Any

import pytest

from mcpframe.kit.publish.bundle_checks.embedding import check_page

HOST = "https://chat.example"
POLICY = f"default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; frame-ancestors 'self' {HOST}"
HEADERS = {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "cache-control": "no-cache",
}
MANIFEST: dict[str, Any] = {"allowed_origins": [HOST], "sizes": {"first_visit": 8_000_000, "total": 30_000_000}}
URL = "https://tools.example/pi/"


def found(url: str = URL, origins: list[str] | None = None, size: int = 0, **headers: str | None) -> list[Any]:
    """The findings for good headers with these changes; None takes one away."""
    changed: dict[str, str | None] = {**HEADERS, **{key.replace("_", "-"): value for key, value in headers.items()}}
    sent = {key: value for key, value in changed.items() if value is not None}
    manifest = {"allowed_origins": origins or [HOST], "sizes": {"first_visit": size}}
    return [(item.severity, item.subject) for item in check_page(url, sent, manifest)]


def test_a_good_page_has_no_finding() -> None:
    assert list(check_page(URL, HEADERS, MANIFEST)) == []


@pytest.mark.parametrize(
    ("headers", "finding"),
    [
        ({"content_type": "text/plain"}, ("error", "page")),
        ({"x_frame_options": "DENY"}, ("error", "X-Frame-Options")),
        ({"x_content_type_options": None}, ("warning", "X-Content-Type-Options")),
        ({"content_security_policy": None}, ("warning", "Content-Security-Policy")),
        ({"content_security_policy": "script-src 'self'"}, ("error", "Content-Security-Policy")),
        (
            {"content_security_policy": POLICY.replace(HOST, "https://other.example")},
            ("error", "Content-Security-Policy"),
        ),
        ({"content_security_policy": "object-src 'none'"}, ("warning", "Content-Security-Policy")),
        ({"cache_control": "public, max-age=86400"}, ("warning", "Cache-Control")),
    ],
)
def test_headers(headers: dict[str, str | None], finding: tuple[str, str]) -> None:
    assert finding in found(**headers)


@pytest.mark.parametrize(
    ("origins", "count"),
    [([HOST], 0), (["*"], 1), (["null", HOST], 1), (["http://chat.example"], 1), ([HOST, "http://localhost:8000"], 1)],
)
def test_origins(origins: list[str], count: int) -> None:
    findings = found(origins=origins, content_security_policy=POLICY.replace(HOST, "*"))
    assert findings == [("warning", "allowed_origins")] * count


def test_addresses_and_sizes() -> None:
    assert found(url="http://tools.example/pi/") == [("error", "address")]
    assert found(url="http://127.0.0.1:8000/pi/") == []
    assert found(size=20_000_000) == [("warning", "size")]


def test_origins_of_a_dialect() -> None:
    manifest = {**MANIFEST, "dialect_origins": {"mcp_apps": ["*"], "mcp_b": []}}
    headers = {**HEADERS, "content-security-policy": POLICY.replace(f"'self' {HOST}", "*")}
    assert [(item.severity, item.subject) for item in check_page(URL, headers, manifest)] == [
        ("warning", "allowed_origins.mcp_apps")
    ]
    manifest["dialect_origins"] = {"mcp_apps": ["https://sandbox.example"]}
    assert [item.subject for item in check_page(URL, HEADERS, manifest)] == ["Content-Security-Policy"]


def test_no_frame_ancestors_match_an_opaque_origin() -> None:
    policy = POLICY.partition("; frame-ancestors")[0]
    manifest = {**MANIFEST, "csp": policy, "dialect_origins": {"mcp_apps": ["null"]}}
    for sent, severities in ((policy, ["warning"]), (f"{policy}; frame-ancestors *", ["error", "warning"])):
        findings = list(check_page(URL, {**HEADERS, "content-security-policy": sent}, manifest))
        assert [item.severity for item in findings] == severities
