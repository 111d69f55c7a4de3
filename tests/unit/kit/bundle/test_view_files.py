"""The view of a bundle as HTML text, in its two forms."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from mcpframe.kit.base.errors import ConfigError
from mcpframe.kit.bundle.page.csp import page_policy
from mcpframe.kit.bundle.page.view_files import inline_csp, unreachable_views, view_files
from mcpframe.kit.project.pyproject import AppConfig, CspConfig, read_config
from mcpframe.views.bundle_page import framing_html

URL = "https://tools.example/base/forecast/"
CSP = CspConfig(
    connect_src=["https://api.example", "'self'", "wss:"],
    img_src=["https://img.example"],
    font_src=["https://img.example", "data:"],
)


def linked(url: str) -> dict[str, Any]:
    return {"url": url, "integrity": "sha256-x", "bytes": 1}


def page() -> dict[str, Any]:
    files = {"wasm": linked("../_mcpframe/a.wasm"), "archives": [linked("server.zip")], "snapshot": None, "env": {}}
    return {
        "title": "A view",
        "generator": "test",
        "boot": {
            "files": files,
            "lazy": {"x": [{"url": "packages/x.whl", "sha256": "0"}]},
            "assets": {"base": "assets-0/", "files": []},
            "env": {"url": "../mine"},
        },
        "styles": [linked("../_mcpframe/frame.css")],
        "loader": linked("../_mcpframe/loader.js"),
        "modules": [],
        "preloads": [],
        "prefetch": False,
    }


def test_the_framing_form_is_the_shim() -> None:
    [framing, _], app = view_files(URL, "forecast", CSP, AppConfig(permissions=["camera"]), page_policy(CSP), page())
    assert framing.path == "forecast/app.html"
    assert framing.data.decode() == framing_html(URL)
    assert app["framing"] == {
        "file": "app.html",
        "_meta": {"ui": {"csp": {"frameDomains": ["https://tools.example"]}, "permissions": {"camera": {}}}},
    }


def test_the_inline_form_is_the_page_with_absolute_urls() -> None:
    original = page()
    app = AppConfig(prefers_border=True)
    [_, inline], entry = view_files(URL, "forecast", CSP, app, page_policy(CSP), original)
    text = inline.data.decode()
    assert original == page()
    assert re.findall(r'(?:src|href)="(?!data:)([^"]+)"', text) == [
        "https://tools.example/base/_mcpframe/frame.css",
        "https://tools.example/base/_mcpframe/loader.js",
    ]
    [boot] = re.findall(r'id="mcpframe-boot">(.*?)</script>', text)
    read = json.loads(boot)
    assert read["files"]["wasm"]["url"] == "https://tools.example/base/_mcpframe/a.wasm"
    assert read["files"]["archives"][0]["url"] == f"{URL}server.zip"
    assert read["lazy"]["x"][0]["url"] == f"{URL}packages/x.whl"
    assert read["assets"]["base"] == f"{URL}assets-0/"
    assert read["env"] == {"url": "../mine"}
    [policy] = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]+)"', text)
    assert "self" not in policy
    assert "script-src https://tools.example &#39;wasm-unsafe-eval&#39;" in policy
    assert entry["inline"]["_meta"]["ui"]["prefersBorder"] is True


def test_what_the_inline_form_asks_of_the_hosts_policy() -> None:
    assert inline_csp(URL, CSP) == {
        "connectDomains": ["https://tools.example", "https://api.example"],
        "resourceDomains": ["https://tools.example", "https://img.example"],
        "wasmUnsafeEval": True,
    }
    framed = CspConfig(frame_src=["https://map.example"])
    assert inline_csp(URL, framed)["frameDomains"] == ["https://map.example"]


def test_the_address_in_the_configuration() -> None:
    assert read_config({"url": "https://tools.example/forecast"}, "f").url == "https://tools.example/forecast/"
    for wrong in ("tools.example", "https://tools.example/?a", "https://tools.example/#a", "file:///x"):
        with pytest.raises(ConfigError, match=r"tool\.mcpframe\.url"):
            read_config({"url": wrong}, "f")


@pytest.mark.parametrize(
    ("url", "word"),
    [
        ("https://tools.example/forecast/", "no host"),
        ("https://www.example.com/", "no host"),
        ("http://localhost:8001/forecast/", "this machine"),
        ("http://tools.localhost/", "this machine"),
        ("http://[::1]:8001/", "this machine"),
        ("http://127.0.0.1/", "this machine"),
    ],
)
def test_a_view_that_few_can_reach_is_a_warning(url: str, word: str) -> None:
    (warning,) = unreachable_views({"ui://weather/forecast": url})
    for part in ("ui://weather/forecast", url, word, "View("):
        assert part in warning


@pytest.mark.parametrize("url", ["https://tools.example.fr/", "https://myexample.com/", "https://localhost.me/"])
def test_a_view_that_others_can_reach_is_none(url: str) -> None:
    assert unreachable_views({"ui://weather/forecast": url}) == []
