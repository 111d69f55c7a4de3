"""The shim: the text of the view that frames a bundle, and its `_meta`."""

from __future__ import annotations

import base64
import gzip
import hashlib
import re

import pytest

from mcpframe.views.bundle_page import framing_html, framing_meta

URL = "https://tools.example/forecast/"


def test_its_text_differs_by_the_url_only() -> None:
    text = framing_html(URL)
    assert 'content="https://tools.example/forecast/"' in text
    assert "frame-src https://tools.example;" in text
    other = framing_html("http://localhost:8000/a/?b=c&d")
    assert 'content="http://localhost:8000/a/?b=c&amp;d"' in other
    assert text.replace(URL, "").replace("https://tools.example", "") == other.replace(
        "http://localhost:8000/a/?b=c&amp;d", ""
    ).replace("http://localhost:8000", "")


def test_its_policy_allows_its_one_script() -> None:
    text = framing_html(URL)
    [script] = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}';" in text


def test_it_is_no_larger_than_four_kilobytes() -> None:
    assert len(gzip.compress(framing_html(URL).encode(), 9)) <= 4096


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
        framing_html(url)
    with pytest.raises(ValueError, match=r"."):
        framing_meta(url)


def test_its_meta() -> None:
    assert framing_meta(URL) == {"ui": {"csp": {"frameDomains": ["https://tools.example"]}}}
    assert framing_meta("https://Tools.example:443/x", prefers_border=False, permissions=["geolocation", "camera"]) == {
        "ui": {
            "csp": {"frameDomains": ["https://tools.example"]},
            "permissions": {"camera": {}, "geolocation": {}},
            "prefersBorder": False,
        }
    }
    with pytest.raises(ValueError, match="camera, microphone, geolocation, clipboardWrite"):
        framing_meta(URL, permissions=["usb"])
