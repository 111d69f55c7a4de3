"""The policy, permissions and links of a view, from its server's declaration."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpframe.frame.hosting.policy import (
    DOMAINS,
    MOST_DOMAINS,
    ViewPolicy,
    content_policy,
    granted,
    is_model_only,
    parse_domain,
    parse_link,
    public_suffixes,
    resource_uri,
)

DIRECTIVES = (
    *("default-src", "script-src", "style-src", "img-src", "font-src", "media-src", "connect-src", "frame-src"),
    *("worker-src", "base-uri", "form-action"),
)


@pytest.mark.parametrize(
    ("declared", "source"),
    [
        ("https://api.example.com", "https://api.example.com"),
        ("https://API.Example.com:8443", "https://api.example.com:8443"),
        ("https://*.example.com", "https://*.example.com"),
        ("https://*.Example.co.uk", "https://*.example.co.uk"),
        ("https://*.someone.github.io", "https://*.someone.github.io"),
        ("https://*.city.kobe.jp", "https://*.city.kobe.jp"),
        ("wss://live.example.com", "wss://live.example.com"),
        ("http://localhost:8000", "http://localhost:8000"),
        ("api.myapp.com", "https://api.myapp.com"),
        ("https://cdn.example.com/npm/", "https://cdn.example.com/npm/"),
        ("https://xn--bcher-kva.example", "https://xn--bcher-kva.example"),
    ],
)
def test_domains(declared: str, source: str) -> None:
    assert parse_domain(declared) == source


@pytest.mark.parametrize(
    "declared",
    [
        *(None, 7, True, [], {}, "", " "),
        *("*", "https:", "data:", "blob:", "https://*", "*.com", "https://*.com", "https://a.*.com", "'self'"),
        *("'unsafe-eval'", "https://x; script-src *", "https://x, https://y", "https://x https://y", "https://x\n"),
        *("https://x\t", "https://x\\", "https://x?q", "https://x#f", "https://u:p@x.example", "https://x:0"),
        *("https://x:65536", "https://x:*", "https://[::1]", "https://bücher.example", "https://x'", 'https://x"'),
        *("javascript://x", "ftp://x.example", "https://-x.example", "https://x..example", "https:/x.example"),
        *("https://\u212aiosk.example", "https://example.org:\u0661", "http\u017f://example.org"),
        *(
            "https://*.co.uk",
            "https://*.github.io",
            "*.example",
            "https://*.xn--p1ai",
            "https://*.kobe.jp",
            "*.s3.amazonaws.com",
        ),
        f"https://{'a' * 300}.example",
    ],
)
def test_what_is_no_domain_is_refused(declared: Any) -> None:
    assert parse_domain(declared) is None
    policy = ViewPolicy.read({"csp": {"connectDomains": [declared]}})
    assert policy.connect == ()
    assert len(policy.refused) == 1
    assert "connect-src 'none'" in content_policy(policy)


def test_without_the_public_suffix_list_no_wildcard_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "publicsuffixlist", None)
    public_suffixes.cache_clear()
    try:
        assert parse_domain("https://*.example.com") is None
        assert parse_domain("https://example.com") == "https://example.com"
    finally:
        public_suffixes.cache_clear()


@given(st.lists(st.text(), max_size=5))
def test_nothing_that_is_declared_breaks_out_of_its_directive(declared: list[str]) -> None:
    policy = content_policy(ViewPolicy.read({"csp": dict.fromkeys(DOMAINS, declared)}))
    parts = [part.split() for part in policy.split("; ")]
    assert tuple(part[0] for part in parts) == DIRECTIVES
    allowed = {"'none'", "'unsafe-inline'", "data:", "blob:"}
    assert all("://" in source for part in parts for source in part[1:] if source not in allowed)


def test_everything_is_denied_by_default() -> None:
    for nothing in (None, {}, [], "x", {"csp": None}, {"csp": []}, {"csp": {"connectDomains": "https://x.example"}}):
        policy = ViewPolicy.read(nothing)
        assert policy == ViewPolicy()
        assert content_policy(policy) == (
            "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; "
            "font-src data:; media-src data: blob:; connect-src 'none'; frame-src 'none'; worker-src blob:; "
            "base-uri 'none'; form-action 'none'"
        )


def test_every_kind_of_domain_has_its_directives() -> None:
    csp = {kind: [f"https://{kind}.example"] for kind in DOMAINS}
    policy = ViewPolicy.read({"csp": csp})
    assert policy.csp == {kind: [f"https://{kind.lower()}.example"] for kind in DOMAINS}
    text = content_policy(policy, wasm=True)
    for name in ("script", "style", "img", "font", "media", "worker"):
        [directive] = [part for part in text.split("; ") if part.startswith(f"{name}-src ")]
        assert directive.endswith(" https://resourcedomains.example")
    assert "script-src 'unsafe-inline' 'wasm-unsafe-eval' " in text
    assert "connect-src https://connectdomains.example;" in text
    assert "frame-src https://framedomains.example;" in text
    assert "base-uri https://baseuridomains.example;" in text


def test_a_host_can_refuse_domains_and_there_are_only_so_many() -> None:
    domains = [f"https://x{number}.example" for number in range(MOST_DOMAINS + 5)]
    policy = ViewPolicy.read({"csp": {"resourceDomains": domains}}, lambda kind, source: source != domains[3])
    assert len(policy.resources) == MOST_DOMAINS - 1
    assert policy.refused[0] == f"resourceDomains: {domains[3]}"
    assert len(policy.refused) == 6


def test_permissions_are_those_that_are_asked_for_and_granted() -> None:
    asked = {"camera": {}, "clipboardWrite": {}, "geolocation": True, "usb": {}}
    policy = ViewPolicy.read({"permissions": asked})
    assert policy.permissions == ("camera", "clipboardWrite")
    assert granted(policy, ()) == {}
    assert granted(policy, ["microphone", "clipboardWrite"]) == {"clipboardWrite": "clipboard-write"}
    assert granted(policy, ["clipboard-write", "camera"]) == {"camera": "camera", "clipboardWrite": "clipboard-write"}
    with pytest.raises(ValueError, match="'usb' is not a permission"):
        granted(policy, ["usb"])


OPENED = (
    "https://example.org/",
    "http://example.org/a?b=c#d",
    "https://example.org",
    "mailto:ada@example.org?subject=Hi",
)
NOT_OPENED: tuple[Any, ...] = (
    *("javascript:alert(1)", " javascript:alert(1)", "java\nscript:alert(1)", "JavaScript:x", "vbscript:x"),
    *("data:text/html,x", "file:///etc/passwd", "blob:https://x/1", "about:blank", "tel:123", "mailto:", ""),
    *("https://", "https:example.org", "//example.org", "/a", "https://u:p@example.org/", "https://a b/"),
    *("https://a\\b", "https://a\x00/", f"https://example.org/{'a' * 9000}", None, 7, ["https://a/"]),
)


def test_links() -> None:
    for url in OPENED:
        assert parse_link(url) == url
    for url in NOT_OPENED:
        with pytest.raises(ValueError, match="link"):
            parse_link(url)


def test_visibility_and_the_view_of_a_tool() -> None:
    for visibility, hidden in (
        (None, False),
        (["model", "app"], False),
        (["app"], False),
        (["model"], True),
        ([], True),
        ("model", True),
        ({"app": True}, True),
    ):
        assert is_model_only({"name": "t", "_meta": {"ui": {"visibility": visibility}}}) is hidden
    assert not is_model_only({"name": "t"})
    assert resource_uri({"_meta": {"ui": {"resourceUri": "ui://a/b"}}}) == "ui://a/b"
    assert resource_uri({"_meta": {"ui/resourceUri": "ui://a/b"}}) == "ui://a/b"
    for meta in (None, {}, {"ui": None}, {"ui": {"resourceUri": "https://a/b"}}, {"ui": {"resourceUri": 7}}):
        assert resource_uri({"_meta": meta}) is None
