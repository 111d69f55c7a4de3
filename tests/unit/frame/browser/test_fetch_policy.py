"""Why a page's request has failed."""

from __future__ import annotations

import pytest

from mcpframe.frame.browser.fetch_policy import behind_proxy, by_proxy, connect_sources, is_allowed, reason, upgraded

PAGE = "https://bundle.example"


@pytest.mark.parametrize(
    ("source", "url", "expected"),
    [
        ("'self'", "https://bundle.example/x", True),
        ("'self'", "https://other.example/x", False),
        ("'none'", "https://api.example", False),
        ("*", "https://api.example", True),
        ("*", "ftp://api.example", False),
        ("https:", "https://api.example:8443/", True),
        ("https:", "http://api.example/", False),
        ("http:", "https://api.example/", True),
        ("https://api.example", "https://api.example/a?b", True),
        ("https://api.example", "https://API.example:443/", True),
        ("https://api.example", "https://api.example:444/", False),
        ("https://api.example", "https://www.api.example/", False),
        ("http://api.example", "https://api.example/", True),
        ("https://api.example", "http://api.example/", False),
        ("https://*.api.example", "https://www.api.example/", True),
        ("https://*.api.example", "https://api.example/", False),
        ("https://api.example:*", "https://api.example:1234/", True),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000/", True),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8001/", False),
        ("api.example", "https://api.example/", True),
        ("https://api.example/v1/", "https://api.example/v1/users", True),
        ("https://api.example/v1/", "https://api.example/v2/users", False),
    ],
)
def test_which_addresses_a_source_allows(source: str, url: str, expected: bool) -> None:
    assert is_allowed(url, [source], PAGE) == expected


def test_the_first_directive_counts_and_default_src_stands_in() -> None:
    assert connect_sources("connect-src 'self' https://a.example; connect-src *") == ["'self'", "https://a.example"]
    assert connect_sources("default-src 'none'; script-src 'self'") == ["'none'"]
    assert connect_sources("script-src 'self'") is None
    assert is_allowed("https://anything.example", None, PAGE)


@pytest.mark.parametrize(
    ("url", "page", "online", "part"),
    [
        (
            "https://api.example/v1?key=secret",
            PAGE,
            True,
            'csp = { connect_src = ["https://known.example", "https://api.example"] }',
        ),
        ("https://known.example/", PAGE, False, "offline"),
        ("http://known.example/", PAGE, True, "http"),
        ("https://known.example/", PAGE, True, f"does not allow pages of {PAGE} (CORS"),
    ],
)
def test_the_reason_says_what_to_do(url: str, page: str, online: bool, part: str) -> None:
    known = "https://known.example" if url.startswith("https") else "http://known.example"
    text = reason(url, policy=f"default-src 'none'; connect-src 'self' {known}", page=page, online=online)
    assert part in text
    assert "secret" not in text


def test_the_reason_names_the_proxy_that_does_not_answer() -> None:
    proxy = "http://127.0.0.1:8719"
    text = reason(f"{proxy}/https://api.example/x", policy="connect-src *", page=PAGE, online=True, proxy=f"{proxy}/")
    assert f"`mcpframe proxy --allow-host https://api.example`, and with --allow-origin {PAGE}" in text
    assert "CORS:" in reason("https://api.example/x", policy="connect-src *", page=PAGE, online=True, proxy="")
    listed = reason(f"{proxy}/https://api.example/x", policy="connect-src 'self'", page=PAGE, online=True, proxy=proxy)
    assert f'connect_src = ["{proxy}"]' in listed


@pytest.mark.parametrize(
    ("url", "contexts", "expected"),
    [
        ("http://api.example/a?b#c", [PAGE], "https://api.example/a?b#c"),
        ("http://api.example:80/", [PAGE], "https://api.example/"),
        ("http://api.example:8080/", [PAGE], "https://api.example:8080/"),
        ("http://api.example/", ["http://bundle.example", "https://host.example"], "https://api.example/"),
        ("http://api.example/", ["http://bundle.example", "http://host.example"], "http://api.example/"),
        ("http://127.0.0.1:8000/", [PAGE], "http://127.0.0.1:8000/"),
        ("http://api.localhost/", [PAGE], "http://api.localhost/"),
        ("https://api.example/", [PAGE], "https://api.example/"),
    ],
)
def test_an_address_that_would_be_mixed_content_is_upgraded(url: str, contexts: list[str], expected: str) -> None:
    assert upgraded(url, contexts) == expected


@pytest.mark.parametrize(
    ("url", "proxy", "sent"),
    [
        ("https://api.example/v1?q=1", "", "https://api.example/v1?q=1"),
        ("https://api.example/v1?q=1", "http://127.0.0.1:8719", "http://127.0.0.1:8719/https://api.example/v1?q=1"),
        ("https://api.example/", "http://127.0.0.1:8719/", "http://127.0.0.1:8719/https://api.example/"),
        ("https://page.example/data", "http://127.0.0.1:8719", "https://page.example/data"),
        ("http://127.0.0.1:8719/x", "http://127.0.0.1:8719", "http://127.0.0.1:8719/x"),
    ],
)
def test_a_proxy_takes_the_requests_to_other_origins(url: str, proxy: str, sent: str) -> None:
    assert by_proxy(url, proxy, "https://page.example") == sent
    if sent != url:
        assert behind_proxy(sent, proxy) == url


def test_a_server_that_does_not_allow_pages_is_reached_by_a_proxy() -> None:
    told = reason("https://api.example/", policy="connect-src *", page="https://page.example", online=True)
    assert "mcpframe proxy" in told
