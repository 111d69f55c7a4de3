"""Refusals before anything is loaded: addresses, sandboxes, permissions; and the hash that names the phase."""

from __future__ import annotations

from typing import Any

import pytest

from mcpframe.frame.core.errors import OriginError
from mcpframe.frame.core.places import SANDBOX
from mcpframe.frame.dialects.sep.messages import address_for
from mcpframe.frame.hosting.outer import OuterFrame

URL = "https://tools.example/pi/"


@pytest.mark.parametrize(
    ("url", "hint"),
    [
        ("file:///etc/passwd", "http and https"),
        ("data:text/html,hi", "http and https"),
        ("javascript:alert(1)", "http and https"),
        ("blob:https://tools.example/1", "http and https"),
        ("pi/", "http and https"),
        ("", "not the address"),
        ("https:// tools.example", "not the address"),
        ("https://tools.example\\@evil.example/", "not the address"),
        ("https://tools.example/\x00", "not the address"),
        ("https://user:secret@tools.example/", "user and password"),
        ("https://tools.example:99999/", "not the address"),
        ("https://*.example/", "wildcards"),
    ],
)
def test_addresses_that_cannot_be_framed(url: str, hint: str) -> None:
    with pytest.raises(OriginError, match=hint):
        OuterFrame(url)


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://tools.example/pi/#x", "https://tools.example"),
        ("HTTPS://Tools.Example:443/", "https://tools.example"),
        ("http://localhost:8000", "http://localhost:8000"),
        ("http://[::1]:8000/", "http://[::1]:8000"),
    ],
)
def test_the_origin_is_the_one_a_browser_reports(url: str, origin: str) -> None:
    assert OuterFrame(url).origin == origin


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        ({"sandbox": "strict"}, "opaque=True"),
        ({"opaque": True}, "only for a sandbox"),
        ({"sandbox": None, "opaque": True}, "only for a sandbox"),
        ({"sandbox": "allow-same-origin"}, "allow-scripts"),
        ({"sandbox": "strict", "opaque": True, "session_id": "known"}, "leave out session_id"),
        ({"permissions": ["camera; microphone"]}, "not the name"),
    ],
)
def test_options_that_cannot_work(options: dict[str, Any], hint: str) -> None:
    with pytest.raises(OriginError, match=hint):
        OuterFrame(URL, **options)


def test_session_ids_and_sandbox_presets() -> None:
    ids = {OuterFrame(URL).session_id for _ in range(100)}
    assert len(ids) == 100
    assert all(len(session_id) == 36 for session_id in ids)
    assert OuterFrame(URL, session_id="kept").session_id == "kept"
    assert SANDBOX == {
        "standard": "allow-scripts allow-same-origin allow-forms allow-downloads",
        "popups": "allow-scripts allow-same-origin allow-forms allow-downloads allow-popups "
        "allow-popups-to-escape-sandbox allow-modals",
        "strict": "allow-scripts",
    }


@pytest.mark.parametrize(
    ("typed", "setup", "connect"),
    [
        ("/x", "/x#setup", "/x"),
        ("/x#", "/x#setup", "/x"),
        ("/x#setup", "/x#setup", "/x"),
        ("/x#nosetup", "/x#setup,nosetup", "/x#nosetup"),
        ("/x?a#visible,setup", "/x?a#setup,visible", "/x?a#visible"),
    ],
)
def test_the_hash_says_the_phase(typed: str, setup: str, connect: str) -> None:
    assert address_for(typed, "setup") == setup
    assert address_for(typed, "transport") == connect
