"""The setup phase: in a visible window, and remembered for the bridge. The window is a headless one here."""

from __future__ import annotations

import functools
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from mcpframe.kit.bridge.run import BridgeOptions, bridge_stdio
from mcpframe.kit.browser.devtools import browsers
from mcpframe.kit.browser.devtools.launch import launch
from tests.bridge.programs import PATIENCE


def test_a_setup_is_remembered(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    @functools.wraps(launch)
    def unseen(*arguments: object, visible: bool, **options: object) -> object:
        assert visible
        return launch(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(browsers, "launch", unseen)
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: True))  # so that it ends after the setup
    bridge_stdio(BridgeOptions(server, "a session of mine", tmp_path, PATIENCE, setup=True))
    [known] = json.loads((tmp_path / "sessions.json").read_text()).values()
    assert known == {
        "session_id": "a session of mine",
        "title": "Everything",
        "visibility": "hidden",
        "permissions": [],
    }
    told = capsys.readouterr()
    assert "Everything is set up." in told.err
    assert told.out == ""
