"""The text of the view that shows a bundle, and its `_meta`."""

from __future__ import annotations

import base64
import gzip
import hashlib
import re

import pytest

from mcpframe.views.html import view_html, view_meta

URL = "https://tools.example/forecast/"


def test_its_text_differs_by_the_url_only() -> None:
    text = view_html(URL)
    assert 'content="https://tools.example/forecast/"' in text
    assert "frame-src https://tools.example;" in text
    other = view_html("http://localhost:8000/a/?b=c&d")
    assert 'content="http://localhost:8000/a/?b=c&amp;d"' in other
    assert text.replace(URL, "").replace("https://tools.example", "") == other.replace(
        "http://localhost:8000/a/?b=c&amp;d", ""
    ).replace("http://localhost:8000", "")


def test_its_policy_allows_its_one_script() -> None:
    text = view_html(URL)
    [script] = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}' https://tools.example 'wasm-unsafe-eval';" in text


def test_an_address_may_have_the_name_of_a_placeholder() -> None:
    url = "https://tools.example/FORM/FIRST_PAINT/BARS_HEIGHT/"
    assert f'content="{url}" data-form="app"' in view_html(url, first_paint="<p>POLICY</p>", height=7)


def test_its_policy_has_the_authors_sources() -> None:
    sources = {
        "connect-src": ["https://api.example", "'self'"],
        "img-src": ["https://img.example"],
        "worker-src": ["'none'"],
    }
    text = view_html(URL, sources={**sources, "script-src": ["'unsafe-eval'"]})
    for part in (
        "connect-src https://tools.example https://api.example;",
        "img-src https://tools.example data: blob: https://img.example;",
        "worker-src 'none';",
        "'wasm-unsafe-eval' 'unsafe-eval';",
    ):
        assert part in text


def test_its_first_paint_is_the_authors_or_bars_of_a_height() -> None:
    assert "<p>Soon</p></div>" in view_html(URL, first_paint="<p>Soon</p>")
    assert "{ height: 320px; }" in view_html(URL, height=320)
    assert "mcpframe-bars" in view_html(URL)


def test_a_form_that_is_none() -> None:
    with pytest.raises(ValueError, match="app, inline"):
        view_html(URL, form="frame")  # type: ignore[arg-type]


def test_it_is_no_larger_than_16_kilobytes_and_5_compressed() -> None:
    text = view_html(URL).encode()
    assert len(text) <= 16_000 - 6_000  # an author's first paint may have 6 KB
    assert len(gzip.compress(text, 9)) <= 4608


@pytest.mark.parametrize(
    "url",
    [
        "",
        "/forecast/",
        "tools.example",
        "ftp://tools.example/",
        "https:///x",
        "https://me@tools.example/",
        "https://tools.example/#x",
        "https://tools.example/'\"><script>",
        "https://tools.example/ x",
        "https://tools.example/\n",
        "https://tools.example:99999/",
        "https://*.example/",
        "javascript:alert(1)",
    ],
)
def test_what_is_no_address_of_a_bundle(url: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        view_html(url)
    with pytest.raises(ValueError, match=r"."):
        view_meta(url)


CSP = {
    "frameDomains": ["https://tools.example"],
    "connectDomains": ["https://tools.example"],
    "resourceDomains": ["https://tools.example"],
    "wasmUnsafeEval": True,
}


def test_its_meta() -> None:
    assert view_meta(URL) == {"ui": {"csp": CSP}}
    assert view_meta("https://Tools.example:443/x", prefers_border=False, permissions=["geolocation", "camera"]) == {
        "ui": {"csp": CSP, "permissions": {"camera": {}, "geolocation": {}}, "prefersBorder": False}
    }
    with pytest.raises(ValueError, match="camera, microphone, geolocation, clipboardWrite"):
        view_meta(URL, permissions=["usb"])


def test_its_meta_names_the_authors_sources_that_a_host_can_allow() -> None:
    csp = view_meta(
        URL,
        sources={
            "connect-src": ["https://api.example", "'self'", "wss:"],
            "img-src": ["https://img.example"],
            "font-src": ["https://img.example", "data:"],
            "frame-src": ["https://map.example"],
        },
    )["ui"]["csp"]
    assert csp["connectDomains"] == ["https://tools.example", "https://api.example"]
    assert csp["resourceDomains"] == ["https://tools.example", "https://img.example"]
    assert csp["frameDomains"] == ["https://tools.example", "https://map.example"]
