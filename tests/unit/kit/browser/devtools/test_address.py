"""Addresses of DevTools: what is one, and what of it may be shown."""

from __future__ import annotations

import pytest

from mcpframe.kit.browser.devtools.address import DevToolsAddress

SECRET = "s3cret"


@pytest.mark.parametrize(
    ("text", "shown", "asked", "target"),
    [
        ("http://127.0.0.1:9222", "ws://127.0.0.1:9222", "/json/version", ""),
        ("http://[::1]:9222/json/version", "ws://[::1]:9222", "/json/version", ""),
        (f"https://farm.example/a/?token={SECRET}", "wss://farm.example", f"/a/json/version?token={SECRET}", ""),
        (f"wss://farm.example?apiKey={SECRET}", "wss://farm.example", None, f"/?apiKey={SECRET}"),
        (f"ws://chromium:80/devtools/browser/{SECRET}", "ws://chromium", None, f"/devtools/browser/{SECRET}"),
    ],
)
def test_an_address_is_shown_without_what_may_be_secret(text: str, shown: str, asked: str | None, target: str) -> None:
    address = DevToolsAddress.parse(text)
    assert str(address) == shown
    assert asked is None or address.with_query(address.version_path) == asked
    assert (address.with_query(address.path) if address.path else "") == target


@pytest.mark.parametrize(
    "text",
    [
        f"{SECRET}",
        f"ftp://x/{SECRET}",
        f"ws://x:99999/{SECRET}",
        f"wss://u:{SECRET}@x/p",
        f"wss://x/p#{SECRET}",
        f"wss://x/p?{SECRET} ",
        f"wss://x/p?{SECRET}\r\nHost: y",
        "ws://127.0.0.1:9222",
    ],
)
def test_what_is_none_is_refused_without_being_shown(text: str) -> None:
    with pytest.raises(ValueError, match=r"9222|query") as caught:
        DevToolsAddress.parse(text)
    assert SECRET not in str(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
